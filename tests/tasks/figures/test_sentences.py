"""Figures of sentences as minutes, notes and slides write them."""

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.figures.fiscal_calendar import learn_calendar
from tasks.language.numbers import amounts
from tests.cases import cases


def said(text: str) -> list[tuple[str, str, str, str]]:
    """(concept, value, unit, period) of a text."""
    found = find_figures(LedgerDocument(text, [], "minutes.txt"), taxonomy()).figures
    return [(each.concept, f"{each.value:f}", each.unit, each.period) for each in found]


def test_german_minutes() -> None:
    text = (
        "Protokoll der Sitzung vom 14. Februar 2025\n\n"
        "Der Umsatz stieg im Geschäftsjahr 2024 um 12 % auf 8,4 Mio. Euro (Vorjahr: 7,5 Mio. Euro).\n\n"
        "Das EBITDA betrug 2024 1,1 Mio. Euro. "
        "Die liquiden Mittel beliefen sich am 31. Dezember 2024 auf 402 TEUR.\n\n"
        "Die Gesellschaft beschäftigte zum 31.12.2024 71 Mitarbeiter.\n\n"
        "Für 2025 plant die Geschäftsführung einen Umsatz von 9,6 Mio. Euro.\n"
    )
    assert said(text) == [
        ("revenue", "8400000", "EUR", "2024-01-01/2024-12-31"),
        ("revenue", "7500000", "EUR", "2023-01-01/2023-12-31"),
        ("ebitda", "1100000", "EUR", "2024-01-01/2024-12-31"),
        ("cash", "402000", "EUR", "2024-12-31"),
        ("headcount", "71", "count", "2024-12-31"),
        ("revenue", "9600000", "EUR", "2025-01-01/2025-12-31"),
    ]


@cases(
    ("line", "figure"),
    [
        ("$24.7M ARR as of 31 December 2024", ("recurring_revenue", "24700000", "USD", "2024-12-31")),
        ("- $4.1M revenue in 2024", ("revenue", "4100000", "USD", "2024-01-01/2024-12-31")),
        ("• 118% net revenue retention in 2024", ("retention", "118", "percent", "2024-01-01/2024-12-31")),
        ("EBITDA was a loss of $0.4 million in FY2024.", ("ebitda", "-400000", "USD", "2024-01-01/2024-12-31")),
        (
            "It came at a pre-money valuation of $60 million (March 2025).",
            ("valuation", "60000000", "USD", "2025-03-31"),
        ),
    ],
)
def test_lines_of_slides_and_notes(line: str, figure: tuple[str, str, str, str]) -> None:
    assert said(line) == [figure]


@cases(
    ("line", "value"),
    [
        ("Revenue was from EUR 5 million to EUR 6 million in 2024.", None),
        ("Revenue was from 5 to 6 million euros in 2024.", None),
        ("Revenue will be from EUR 5 to 6 million in 2024.", None),
        ("Le chiffre d'affaires était de 5 à 6 millions d'euros en 2024.", None),
        ("Revenue went from EUR 5 to 6 million in 2024.", "6000000"),
        ("Le chiffre d'affaires est passé de 5 à 6 millions d'euros en 2024.", "6000000"),
    ],
)
def test_the_end_of_a_range_is_no_figure_and_that_of_a_change_is(line: str, value: str | None) -> None:
    assert [figure[1] for figure in said(line)] == ([value] if value else [])


@cases(("written", "value"), [("402 TEUR", 402_000), ("MEUR 8,4", 8_400_000), ("T€ 15", 15_000)])
def test_a_letter_before_the_currency_multiplies(written: str, value: int) -> None:
    (amount,) = amounts(written, comma_decimal=True)
    assert (int(amount.value), amount.unit) == (value, "EUR")


def test_a_month_and_year_is_no_day_of_the_month() -> None:
    assert (learn_calendar("ARR as of December 2024").month, learn_calendar("ARR as of December 2024").day) == (12, 31)


def test_the_year_before_in_brackets_is_not_the_period() -> None:
    assert said("In 2024 the group had revenue of DKK 86.4 million (2023: DKK 67.9 million).") == [
        ("revenue", "86400000", "DKK", "2024-01-01/2024-12-31"),
        ("revenue", "67900000", "DKK", "2023-01-01/2023-12-31"),
    ]


@cases(
    ("text", "figure"),
    [
        (
            "At December 31, 2019, we had approximately 9,200 total full-time and part-time employees.",
            ("headcount", "9200"),
        ),
        ("As of May 31, 2019 , we had approximately 76,700 employees worldwide.", ("headcount", "76700")),
        ("Customers at 31 December 2024: 3,450", ("customers", "3450")),
        ("Der Kassenbestand zum 31.12.2024 betrug 2,1 Mio. EUR.", ("cash", "2100000")),
        ("Der Umsatz lag 2023 bei 212,5 Mio. €.", ("revenue", "212500000")),
        ("Loss after tax was € 3.4 million in 2024.", ("net_income", "-3400000")),
        ("Revenue surged to EUR 1.1 million in 2021.", ("revenue", "1100000")),
        ("Cash held by the Group at 30 June 2024 was EUR 4.4 million.", ("cash", "4400000")),
        ("Quarterly revenue was EUR 3.6 million in Q4 2024.", ("revenue", "3600000")),
        ("Revenue of the consolidated group was EUR 5 million in 2024.", ("revenue", "5000000")),
        ("Revenue of the charity was EUR 5 million in 2024.", ("revenue", "5000000")),
    ],
)
def test_counts_and_amounts_as_reports_say_them(text: str, figure: tuple[str, str]) -> None:
    assert [row[:2] for row in said(text)] == [figure]


@cases(
    "text",
    [
        "In 2020 the company employed people worldwide, with 150,000 associates in Germany.",
        "Net revenues and operating income for the year ended December 31, 2019, include net effects of $101 million.",
        "During 2021, AWE generated an operating profit of $18 million, which are included in the results of Space.",
        "Cash held in escrow was EUR 0.4 million at 31 December 2024.",
        "On avait 1889€ en trésorerie au 31/12/2022 (1775,95€ LaBanquePostale, 88,24€ sur un compte).",
        "Cash at 31 December 2022 (€1,775.95 at Lloyds, €88.24 at Gandi) was €1,889.",
        "Cash pledged to the bank amounted to EUR 0.2 million at 31 December 2024.",
        "Cash in transit was EUR 0.1 million at 31 December 2024.",
        "Monthly revenue was EUR 1.2 million in 2024.",
        "Quarterly net revenue was EUR 3.6 million in 2024.",
        "Quarterly cash burn averaged EUR 800 thousand in 2024.",
        "Revenue at risk was EUR 1.1 million in 2024.",
        "Revenue of the cold store was EUR 4.4 million in 2024.",
        "Revenue of the enterprise segment was EUR 4.4 million in 2024.",
        "ARR lost was EUR 3.5 million in 2024.",
        "Cash needed was EUR 3.2 million at 31 December 2024.",
        "Headcount savings were 34 in 2024.",
        "Le chiffre d'affaires perdu était de 4,3 M€ en 2024.",
        "Der Umsatz pro Monat betrug 2024 EUR 4,7 Mio.",
        "Revenue was EUR 5.0 million a month in 2024.",
        "I ricavi sono stati pari a EUR 5,0 milioni al mese nel 2024.",
        "Revenue of the German subsidiary was EUR 4.1 million in 2024.",
        "Our German subsidiary generated revenue of EUR 4.1 million in 2024.",
        "EBITDA of the parent company was EUR 4.1 million in 2024.",
        "Der Umsatz der polnischen Tochtergesellschaft betrug 2024 4,1 Mio. EUR.",
        "Der Umsatz in Österreich betrug 2024 4,1 Mio. EUR.",
        "Le chiffre d'affaires de la filiale allemande était de 4,1 M€ en 2024.",
        "Le chiffre d'affaires en France s'élève à 4,1 M€ en 2024.",
        "Le chiffre d'affaires à l'international s'élève à 4,1 M€ en 2024.",
        "Los ingresos de la filial francesa fueron de 4,1 millones de euros en 2024.",
        "I ricavi della controllata tedesca sono stati pari a 4,1 milioni di euro nel 2024.",
        "De omzet van de Duitse dochter bedroeg in 2024 € 4,1 miljoen.",
        "One of our suppliers had revenue of EUR 90 million in 2024.",
        "Un de nos clients a réalisé un chiffre d'affaires de 90 M€ en 2024.",
        "Bank loans of EUR 2.0 million were repaid in 2024.",
        "Debt of EUR 2.0 million was refinanced in 2024.",
        "Bankdarlehen von 2,0 Mio. EUR wurden 2024 getilgt.",
        "Deudas bancarias de 2,0 millones de euros fueron amortizadas en 2024.",
    ],
)
def test_parts_and_effects_are_no_figures_of_the_company(text: str) -> None:
    assert said(text) == []


@cases(
    "text",
    [
        "The Company and its subsidiaries had revenue of EUR 4.1 million in 2024.",
        "The Company, a subsidiary of Beta AG, had revenue of EUR 4.1 million in 2024.",
        "The Company and its subsidiary had revenue of EUR 4.1 million in 2024.",
        "Together with its subsidiary Beta Ltd, the Company had revenue of EUR 4.1 million in 2024.",
        "Le chiffre d'affaires en Euros était de 4,1 M€ en 2024.",
        "Revenue of the parent company and its subsidiaries was EUR 4.1 million in 2024.",
        "Net revenue in January to June 2024 was EUR 4.1 million.",
        "Der Umsatz der Gesellschaft und ihrer Tochtergesellschaften betrug 2024 4,1 Mio. EUR.",
        "Le chiffre d'affaires de la société et de ses filiales était de 4,1 M€ en 2024.",
        "De omzet in Q3 2024 bedroeg € 4,1 miljoen.",
    ],
)
def test_the_company_with_its_subsidiaries_and_what_belongs_to_another_are_the_company(text: str) -> None:
    assert [(concept, value) for concept, value, *_ in said(text)] == [("revenue", "4100000")]


@cases(
    "text",
    [
        "Monthly cash burn averaged EUR 340 thousand in 2024.",
        "Cash burn averaged EUR 340 thousand a month in 2024.",
        "Der Cash Burn lag 2024 bei EUR 340 Tausend pro Monat.",
    ],
)
def test_burn_is_told_by_the_month(text: str) -> None:
    found = find_figures(LedgerDocument(text, [], "memo.txt"), taxonomy()).figures
    assert [(figure.concept, int(figure.value)) for figure in found] == [("monthly_burn", 340_000)]


def test_the_basis_of_one_clause_is_not_the_next_ones() -> None:
    text = "Pro forma revenue for 2024 was EUR 201 million, reported revenue was EUR 184 million in 2024."
    found = find_figures(LedgerDocument(text, [], "memo.txt"), taxonomy()).figures
    assert [figure.basis for figure in found] == ["pro_forma", None]


def test_what_is_expected_behind_its_amount_is_a_forecast() -> None:
    text = "Revenue of NOK 5.2 billion expected in 2025."
    (figure,) = find_figures(LedgerDocument(text, [], "deck.txt"), taxonomy()).figures
    assert figure.basis == "forecast"


@cases(
    ("text", "figures"),
    [
        (
            "L'EBITDA de l'exercice clos le 30 juin 2024 s'établit à 6,9 M€.",
            [("ebitda", "6900000", "EUR", "2023-07-01/2024-06-30")],
        ),
        (
            "Les dettes financières s'élevaient à 17,8 millions d'euros au 30 juin 2024.",
            [("debt", "17800000", "EUR", "2024-06-30")],
        ),
        (
            "La cifra de negocios ascendió a 48,3 millones de euros en 2023, frente a 45,9 millones en 2022.",
            [("revenue", "48300000", "EUR", "2023-01-01/2023-12-31")],
        ),
        (
            "Il fatturato 2023 è cresciuto del 10% a 18,9 milioni di euro.",
            [("revenue", "18900000", "EUR", "2023-01-01/2023-12-31")],
        ),
        (
            "A receita líquida atingiu R$ 412,9 milhões em 2024, alta de 16%.",
            [("revenue", "412900000", "BRL", "2024-01-01/2024-12-31")],
        ),
        (
            "De omzet over 2024 kwam uit op € 63,4 miljoen; het nettoresultaat bedroeg € 2,2 mln.",
            [
                ("revenue", "63400000", "EUR", "2024-01-01/2024-12-31"),
                ("net_income", "2200000", "EUR", "2024-01-01/2024-12-31"),
            ],
        ),
        ("Le chiffre d'affaires 2023 a augmenté de 3,1 M€.", []),
        (
            "L'effectif était de 342 salariés au 31 décembre 2023.",
            [("headcount", "342", "count", "2023-12-31")],
        ),
        ("Total borrowings as at 31 March 2024 stood at Rs. 56.2 crore.", [("debt", "562000000", "INR", "2024-03-31")]),
    ],
)  # fmt: skip
def test_sentences_of_other_languages(text: str, figures: list[tuple[str, str, str, str]]) -> None:
    assert said(text + "\n") == figures


def test_a_plan_of_another_language_is_a_forecast() -> None:
    (figure,) = find_figures(
        LedgerDocument("Le groupe prévoit un chiffre d'affaires de 33 M€ en 2023.\n", [], "note.txt"), taxonomy()
    ).figures
    assert figure.basis == "forecast"


def test_an_amounts_period_is_not_that_of_another_clauses_amount() -> None:
    text = (
        "Net sales for the year ended March 31, 2025 were JPY 52.9 billion, and guidance is JPY 56 billion for the year"
        " to March 2026.\n"
    )
    assert said(text)[0] == ("revenue", "52900000000", "JPY", "2024-04-01/2025-03-31")
    of_two = said("Cash was $5 million and $6 million as of June 30, 2024 and 2023.\n")
    assert of_two[0] == ("cash", "5000000", "USD", "2024-06-30")


@cases(
    ("text", "found"),
    [
        ("In 2024, revenue in the fourth quarter was EUR 4.1 million.", [(4_100_000, "2024-10-01/2024-12-31")]),
        ("For 2024 revenue excluding the fourth quarter was EUR 3.1 million.", []),
        ("In 2024 revenue, like the Q1 figures showed, was EUR 4.1 million.", []),
        ("In 2024 revenue despite a fall in the fourth quarter was EUR 4.1 million.", []),
        ("EBITDA 2024 (2023): 9 (7) Mio. EUR.", []),
        ("Q4 update: revenue for 2024 was EUR 15.2 million.", [(15_200_000, "2024-01-01/2024-12-31")]),
        ("Revenue in 2024 was EUR 4.1 million, with a strong fourth quarter.", [(4_100_000, "2024-01-01/2024-12-31")]),
        ("Revenue 2024 (2023): EUR 2.1 million (EUR 1.8 million).", [(2_100_000, "2024-01-01/2024-12-31")]),
        ("Revenue 2024 (unaudited): EUR 2.1 million.", [(2_100_000, "2024-01-01/2024-12-31")]),
        ("Revenue for the second half was EUR 4.1 million in 2024.", []),
        ("Revenue in the fourth quarter was EUR 4.1 million, and in the full year 2024 EUR 15.2 million.", []),
        ("Revenue in the second quarter was EUR 4.1 million compared with EUR 3.5 million in 2023.", []),
        ("Bank loans of EUR 2.0 million were outstanding at 31 December 2024.", [(2_000_000, "2024-12-31")]),
        ("One of the best years: revenue was EUR 90 million in 2024.", [(90_000_000, "2024-01-01/2024-12-31")]),
    ],
)  # fmt: skip
def test_a_part_of_a_year_before_an_amount_is_its_time_and_the_years_end_is_no_other(
    text: str, found: list[tuple[int, str]]
) -> None:
    figures = find_figures(LedgerDocument(text, [], "letter.txt"), taxonomy()).figures
    assert [(int(each.value), each.period) for each in figures] == found


@cases(
    ("text", "found"),
    [
        (
            "The average number of persons employed by the company (including directors) in 2024 was 22 (2023 - 19).",
            ["22", "19"],
        ),
        ("Im Jahr 2024 wurden durchschnittlich 48 Mitarbeiter beschäftigt (Vorjahr: 45).", ["48", "45"]),
        ("In 2024 waren gemiddeld 17 werknemers in dienst (2023: 15).", ["17", "15"]),
        ("Im Jahr 2024 wurden 12 Mitarbeiter eingestellt.", []),
        ("Im Jahr 2024 wurden im Durchschnitt 48 Mitarbeiter pro Monat eingestellt.", []),
        ("2024 waren durchschnittlich 5 Mitarbeiter krank.", []),
        ("In 2024 waren gemiddeld 17 werknemers ziek.", []),
        ("The number of people employed in the industry was 22,000 in 2024.", []),
        ("The number of people employed by banks was 22,000 in 2024.", []),
        ("Im Jahr 2024 waren 12 Mitarbeiter in Elternzeit.", []),
        ("The number of persons employed by the company's main supplier was 22 in 2024.", []),
        ("The average number of disabled persons employed was 3 in 2024.", []),
        ("The average number of persons employed increased by 3 in 2024.", []),
    ],
)
def test_notes_say_how_many_were_employed_on_average(text: str, found: list[str]) -> None:
    figures = find_figures(LedgerDocument(text, [], "notes.txt"), taxonomy()).figures
    assert [f"{each.value:f}" for each in figures] == found
    assert all("/" in each.period for each in figures)


def test_a_head_count_is_counted_once_and_an_average_is_no_stock() -> None:
    assert said("L'effectif moyen 2023 est de 300 salariés.\n") == [
        ("headcount", "300", "count", "2023-01-01/2023-12-31")
    ]
    assert said("Headcount stood at 74 on 31 December 2024.\n") == [("headcount", "74", "count", "2024-12-31")]


def test_the_loss_of_the_year_before_is_a_loss_too() -> None:
    assert said("Operating loss in 2022 totalled €3.3 million (2021: €34.0 million).\n") == [
        ("operating_income", "-3300000", "EUR", "2022-01-01/2022-12-31"),
        ("operating_income", "-34000000", "EUR", "2021-01-01/2021-12-31"),
    ]


@cases(
    ("bracket", "period"),
    [
        ("(fiscal year ended March 31, 2024)", "2023-04-01/2024-03-31"),
        ("(year to 31 March 2024)", "2023-04-01/2024-03-31"),
        ("(2024)", "2024-01-01/2024-12-31"),
    ],
)
def test_a_bracket_with_a_period_and_nothing_else_says_of_when_it_is(bracket: str, period: str) -> None:
    assert said(f"• Net sales: JPY 29.3 billion {bracket}\n") == [("revenue", "29300000000", "JPY", period)]


def test_a_bracket_with_another_years_amount_says_nothing_of_this_one() -> None:
    assert ("revenue", "9000000", "EUR", "2023-01-01/2023-12-31") not in said(
        "Revenue: EUR 9.0 million (2023: EUR 8.0 million).\n"
    )


def test_an_average_that_is_told_before_its_verb_is_no_days_count() -> None:
    text = "Bericht zum 31.12.2024\n\nIm Jahresdurchschnitt 2024 waren 131 Mitarbeiter beschäftigt.\n"
    assert said(text) == [("headcount", "131", "count", "2024-01-01/2024-12-31")]


@cases(
    "sentence",
    [
        "Alla data del 31 dicembre 2024 i dipendenti erano 412.",
        "The employees numbered 412 at 31 December 2024.",
        "Am 31. Dezember 2024 beschäftigte das Unternehmen 412 Mitarbeitende.",
        "Les salariés étaient 412 au 31 décembre 2024.",
    ],
)
def test_people_may_stand_before_their_number(sentence: str) -> None:
    assert said(sentence + "\n") == [("headcount", "412", "count", "2024-12-31")]


@cases(
    ("line", "period"),
    [
        ("Revenue to the end of September was EUR 62.7 million.", "2024-01-01/2024-09-30"),
        ("Revenue through September 2024 was EUR 62.7 million.", "2024-01-01/2024-09-30"),
        ("Revenue to the end of Q3 2024 was EUR 62.7 million.", "2024-01-01/2024-09-30"),
        ("Der Umsatz betrug bis Ende September 2024 62,7 Mio. EUR.", "2024-01-01/2024-09-30"),
        ("Le chiffre d'affaires jusqu'à fin septembre 2024 est de 62,7 M€.", "2024-01-01/2024-09-30"),
        ("Revenue to September was EUR 62.7 million.", "2024-01-01/2024-09-30"),
        ("Revenue in September was EUR 7.7 million.", "2024-09-01/2024-09-30"),
        ("Revenue for the nine months to the end of September 2024 was EUR 62.7 million.", "2024-01-01/2024-09-30"),
        ("Revenue for the three months to the end of September 2024 was EUR 22 million.", "2024-07-01/2024-09-30"),
    ],
)
def test_what_goes_to_the_end_of_a_month_began_with_the_fiscal_year(line: str, period: str) -> None:
    assert [each[3] for each in said(f"Minutes of the board, 14 November 2024\n\n{line}\n")] == [period]


def test_the_year_that_goes_to_a_month_is_the_documents() -> None:
    head = "Board, 14 November 2024. The fiscal year ends on 31 March."
    text = f"{head}\n\nRevenue to the end of September was EUR 5 million.\n"
    assert said(text) == [("revenue", "5000000", "EUR", "2024-04-01/2024-09-30")]


def test_cash_at_the_end_of_what_goes_to_a_month_is_of_its_last_day() -> None:
    text = "Board, 14 November 2024\n\nCash by the end of September 2024 was EUR 5 million.\n"
    assert said(text) == [("cash", "5000000", "EUR", "2024-09-30")]


def test_a_month_behind_a_semicolon_is_of_something_else() -> None:
    head = "Board minutes, 10 December 2024"
    assert said(f"{head}\n\nChurn in the year is close to 20 %; the outages in February weigh most.\n") == []
    assert said(f"{head}\n\nChurn in February was close to 20 %; the outages weigh most.\n") == [
        ("churn", "20", "percent", "2024-02-01/2024-02-29")
    ]


def test_the_period_of_half_year_results_is_no_year() -> None:
    text = "{} results for the {} ended 31 December 2025\n\nGroup revenue rose to €354.8k in the period.\n"
    assert said(text.format("Half year", "six months")) == []
    assert said(text.format("Annual", "year")) == [("revenue", "354800", "EUR", "2025-01-01/2025-12-31")]


@cases(
    ("sentence", "concept", "value"),
    [
        (
            "As of December 31, 2024, the group's total workforce was approximately 172,000 with 15% abroad.",
            "headcount",
            "172000",
        ),
        (
            "As of May 27, 2023, we employed 485 individuals, which included 34 part-time individuals.",
            "headcount",
            "485",
        ),
        ("On July 13, 2024, the facility employed 350 individuals and none was injured.", "headcount", None),
        ("As of December 31, 2024, our workforce included approximately 58,000 union members.", "headcount", None),
        ("Le aziende che nel 2023 hanno meno di 15 dipendenti non pagano.", "headcount", None),
        ("Entreprises de moins de 50 salariés en 2023.", "headcount", None),
        ("In 2023 the academy had 70 people trained in safety.", "headcount", None),
        ("70 persone formate per 232 ore nel 2023.", "headcount", None),
        (
            "Sales to one customer of $31.2 million accounted for 12 percent of net sales in 2023.",
            "largest_customer_share",
            "12",
        ),
        (
            "One customer represented 20 percent of our accounts receivable at December 31, 2023.",
            "largest_customer_share",
            None,
        ),
        ("No one customer accounted for more than 10 percent of net sales in 2023.", "largest_customer_share", None),
        (
            "Cash, cash equivalents and current marketable securities were $28.5 billion at December 31, 2023.",
            "cash",
            None,
        ),
        ("$511,474 of cash was used in financing activities during 2023.", "cash", None),
        ("Cash of $511,474 was used in operating activities during 2023.", "cash", None),
        ("U.S. net sales decreased to $29.06 million during 2023.", "revenue", None),
        ("At 31 December 2023 we had 25 customers × 5 seats × $200.", "customers", None),
        ("At 31 December 2023 we had 25 customers and 5 offices.", "customers", "25"),
    ],
)
def test_what_filings_say_of_people_customers_and_cash(sentence: str, concept: str, value: str | None) -> None:
    figures = find_figures(LedgerDocument(sentence, [], "annual report.txt"), taxonomy()).figures
    assert [f"{each.value:f}" for each in figures if each.concept == concept] == ([value] if value else [])


def test_a_line_that_ends_before_its_amount_goes_on_and_no_place_moves() -> None:
    text = "Annual recurring revenue of the group was EUR\n   6.8 million at 31 December\n2024.\n"
    (figure,) = find_figures(LedgerDocument(text, [], "accounts.txt"), taxonomy()).figures
    assert (int(figure.value), figure.period, text[figure.start : figure.end]) == (
        6_800_000,
        "2024-12-31",
        "6.8 million",
    )
    assert figure.place == "line 2"


@cases(
    "text",
    [
        "Revenue, gross profit and EBITDA for 2024 were EUR 20.0m and EUR 9.0m, respectively.",
        "In 2024 and 2023 revenue was EUR 5.0m.",
        "Revenue was EUR 5.0m, EUR 4.0m and EUR 3.0m in 2024 and 2023.",
    ],
)
def test_amounts_of_which_it_is_not_certain_what_they_are_of_are_counted(text: str) -> None:
    found = find_figures(LedgerDocument(text, [], "report.txt"), taxonomy())
    assert (found.figures, found.left_out) == ([], {"several figures in one sentence": 1})


@cases(
    ("text", "values"),
    [
        ("Revenue for 2024 and 2023 was $9.4 and $7.1 million, respectively.", {"2024": 9_400_000, "2023": 7_100_000}),
        (
            "Cash at December 31, 2024 and December 31, 2023 was $9.4 million and $7.1 million, respectively.",
            {"2024": 9_400_000, "2023": 7_100_000},
        ),
        ("Revenue in 2022 (EUR 5.0m), 2023 (EUR 7m) and 2024 (EUR 9m) grew.", {"2022": 5e6, "2023": 7e6, "2024": 9e6}),
        ("Le chiffre d'affaires était de 6,4 M€ en 2024 et de 5,9 M€ en 2023.", {"2024": 6_400_000, "2023": 5_900_000}),
        ("EBITDA was a loss of EUR 2m in 2024.", {"2024": -2_000_000}),
        ("Das EBITDA war 2024 mit 1,4 Mio. EUR negativ.", {"2024": -1_400_000}),
        ("Net income for 2024 was $3m compared to net income of $2m.", {"2024": 3_000_000}),
        ("Net income for 2024 was $3m compared to net income of $2m for 2023.", {"2024": 3_000_000, "2023": 2_000_000}),
        ("Revenue for 2024 rose to EUR 3m from revenue of EUR 2m for the same period last year.", {"2024": 3_000_000}),
    ],
)
def test_each_amount_has_its_own_time_and_sign(text: str, values: dict[str, float]) -> None:
    assert {period[:4]: float(value) for _, value, _, period in said(text)} == values


def test_a_segments_figure_names_its_segment_and_the_groups_does_not() -> None:
    text = (
        "Revenue of the Harbour division grew to $9.0 million in 2024, while group revenue was $31.0 million in 2024."
    )
    found = find_figures(LedgerDocument(text, [], "letter.txt"), taxonomy()).figures
    assert [(int(figure.value), figure.entity) for figure in found] == [(9_000_000, "Harbour"), (31_000_000, None)]


@cases(
    ("words", "end"),
    [
        ("The accounting reference date is 31 March.", (3, 31)),
        ("Das Geschäftsjahr läuft vom 1. Juli bis zum 30. Juni.", (6, 30)),
        ("Our financial year closes on 30\nSeptember.", (9, 30)),
        ("The financial year of our subsidiary ends on 31 March.", (12, 31)),
        ("The lease year ends on 30 June.", (12, 31)),
        ("Our fiscal year ends on the last day of June.", (6, 30)),
        ("The company's financial year ends at the end of February.", (2, 29)),
        ("The accounting period ends in the month of May.", (5, 31)),
        ("Das Geschäftsjahr endet Ende September.", (9, 30)),
        ("L'exercice social se termine fin mars.", (3, 31)),
        ("El ejercicio termina el último día de junio.", (6, 30)),
        ("The customer's fiscal year ends in March.", (12, 31)),
        ("The pension fund's financial year ends on the last day of June.", (12, 31)),
        ("The fiscal year ends on the Saturday nearest the end of January.", (12, 31)),
        ("The financial year ends in a loss.", (12, 31)),
        ("The fiscal year ends in June 2024.", (6, 30)),
        ("The business year ends at the end of June 2024.", (6, 30)),
        ("Our year ends in June.", (6, 30)),
        ("The financial year in which the contract ends in May is the last.", (12, 31)),
        ("In every financial year that ends in March the bank checks it.", (12, 31)),
    ],
)
def test_words_say_when_the_companys_year_ends(words: str, end: tuple[int, int]) -> None:
    calendar = learn_calendar(words)
    assert (calendar.month, calendar.day) == end


@cases("other", ["Cash Operating Expenses", "cash operating expenses", "Cash EBITDA", "Cash Taxes"])
def test_cash_before_another_name_is_no_cash(other: str) -> None:
    text = f"For the year ended June 30, 2025 the Company reported non-GAAP {other} of $666,861."
    assert "cash" not in {concept for concept, *_ in said(text)}


@cases("aside", ["down 7.1% from FY23", "FY23: $1,021 million"])
def test_a_year_in_brackets_that_compares_another_amount_is_not_that_of_the_next(aside: str) -> None:
    text = f"In FY24 the Company delivered order volume of $948.6 million ({aside}) and revenue of $53.1 million."
    assert [each for each in said(text) if each[0] == "revenue"] == [
        ("revenue", "53100000", "USD", "2024-01-01/2024-12-31")
    ]


@cases(
    ("text", "counts"),
    [
        ("5 Staff numbers and costs\nThe average was as follows\n\n6 Finance income", []),
        ("7\tEmployees and directors\nTheir number was as below.\n\n8. Taxation", []),
        ("5 Staff costs\nWages were paid.", []),
        ("# 4 Employees\n\n# 5 Tax\n\nAt 31 December 2024 the group had 40 employees.", ["40"]),
        ("5 Mitarbeiter\n\nIm Durchschnitt\n\n6 Steuern", []),
        ("12 Customers and contracts\n\n13 Leases", []),
        ("52 employees\n\n3 offices", ["52"]),
        ("52 Employees\n\n12 Countries", ["52"]),
        ("• 12 Employees\n• 13 Offices", ["12"]),
        ("We have 12 Customers and contracts with all.\n13 Offices", ["12"]),
        ("At 31 December 2024 we had 40 employees. Employee benefits rose.", ["40"]),
    ],
)
def test_the_number_of_a_heading_counts_nobody(text: str, counts: list[str]) -> None:
    assert [figure[1] for figure in said(f"Notes\n31 December 2024\n\n{text}\n")] == counts

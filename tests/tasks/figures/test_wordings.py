"""Wordings that rooms of other companies and new filings showed: of when, of what, in which language and currency."""

from datetime import date

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import guess_language, taxonomy
from tasks.figures.fiscal_calendar import learn_calendar
from tests.cases import cases

Said = tuple[str, str, str, str]


def said(text: str, name: str = "a.txt") -> list[Said]:
    """(concept, value, unit, last day) of a text's figures."""
    return [
        (figure.concept, f"{figure.value:f}", figure.unit, figure.period.rpartition("/")[2])
        for figure in find_figures(LedgerDocument(text, [], name), taxonomy()).figures
    ]


def bases(text: str) -> list[str | None]:
    return [figure.basis for figure in find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures]


@cases(
    ("sentence", "figures"),
    [
        (
            "We closed FY24 at $12.9M in revenue and $1.7M of EBITDA.",
            [("revenue", "12900000", "USD", "2024-12-31"), ("ebitda", "1700000", "USD", "2024-12-31")],
        ),
        ("In FY23 we did $9.9M in net sales.", [("revenue", "9900000", "USD", "2023-12-31")]),
        ("We recorded $9.9M in revenue from one customer in 2023.", []),
        ("In 2023 we had $4M of capex accrued at year end.", []),
        ("En México, ventas fueron de 95 millones de pesos en 2024.", [("revenue", "95000000", "MXN", "2024-12-31")]),
        ("Der Nettoerlös betrug im Jahr 2023 CHF 71,8 Mio.", [("revenue", "71800000", "CHF", "2023-12-31")]),
        (
            "Die liquiden Mittel betrugen zum 31. Dezember 2024 rund 2,9 Mio. €.",
            [("cash", "2900000", "EUR", "2024-12-31")],
        ),
        (
            "At 30 June 2024 there were 22,503,118 ordinary shares in issue.",
            [("shares", "22503118", "count", "2024-06-30")],
        ),
        ("Headline run rate: $18.4M ARR at 31 January 2025", [("recurring_revenue", "18400000", "USD", "2025-01-31")]),
        ("612 logos at 31 January 2025", [("customers", "612", "count", "2025-01-31")]),
    ],
)  # fmt: skip
def test_an_amount_may_stand_before_what_it_is_of(sentence: str, figures: list[Said]) -> None:
    assert said(sentence + "\n") == figures


def test_the_companys_own_name_in_the_genitive_is_no_part() -> None:
    text = "Subject: Banksia facilities\n\nBanksia's borrowings totalled A$21.3 million at 30 June 2024.\n"
    assert said(text) == [("debt", "21300000", "AUD", "2024-06-30")]
    assert said(text.replace("Subject: Banksia", "Subject: Acacia")) == []


def test_a_month_without_its_year_is_the_last_of_its_name() -> None:
    text = "Date: 2025-02-03T09:40:00-05:00\n\nWe had 140 FTEs at the end of January.\n"
    assert said(text) == [("headcount", "140", "count", "2025-01-31")]


def test_short_names_count_in_their_own_language_alone() -> None:
    french = "Exercice 2024, en K€\n\t2023\t2024\nCA\t12 840\t13 615\nMarge brute\t5 210\t5 540\n"
    assert [row[:2] for row in said(french)][:2] == [("revenue", "12840000"), ("revenue", "13615000")]
    english = "Revenue of the states, thousands of US$\n\t2023\t2024\nCA\t12,840\t13,615\nTX\t5,210\t5,540\n"
    assert said(english) == []
    assert said("Le CA de la société s'est élevé à 15,1 M€ en 2024.\n") == [
        ("revenue", "15100000", "EUR", "2024-12-31")
    ]


@cases(
    ("text", "language"),
    [
        ("Der Umsatz der Gesellschaft und das Ergebnis sind im Jahr gestiegen", "de"),
        ("Belopp i tkr. Nettoomsättning och årets resultat för räkenskapsåret", "sv"),
        ("12 345 67", ""),
    ],
)
def test_a_language_is_told_by_its_common_words(text: str, language: str) -> None:
    assert guess_language(text) == language


def test_crowns_are_of_the_language_that_the_document_is_written_in() -> None:
    swedish = "Belopp i tkr om inget annat anges\nÅrets resultat för bolaget\n\t2024\nNettoomsättning\t48 212\n"
    assert said(swedish) == [("revenue", "48212000", "SEK", "2024-12-31")]


@cases(
    ("words", "period"),
    [
        ("FY24/25", "2024-04-01/2025-03-31"),
        ("Exercice 2024/25", "2024-04-01/2025-03-31"),
        ("Mar25", "2025-03-01/2025-03-31"),
    ],
)
def test_periods_of_two_years_and_packed_months(words: str, period: str) -> None:
    text = f"Accounts for the year ended 31 March 2025, EUR thousand\n\t{words}\nRevenue\t48,212\n"
    (figure,) = find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    assert figure.period == period


def test_a_currencys_letter_beside_a_year_is_no_mark_of_an_actual() -> None:
    assert said("\t2024 A$'000\nTotal revenue\t54,370\n") == [("revenue", "54370000", "AUD", "2024-12-31")]


@cases(
    "text",
    [
        "Gewinn- und Verlustrechnung vom 1. Oktober 2023 bis 30. September 2024",
        "Compte de résultat du 1er octobre 2023 au 30 septembre 2024",
        "Erfolgsrechnung vom 01.10.2023 bis 30.09.2024",
    ],
)
def test_a_year_is_told_by_its_first_and_last_day(text: str) -> None:
    calendar = learn_calendar(text)
    assert (calendar.month, calendar.day, calendar.said) == (9, 30, True)


def test_the_days_of_a_quarterly_report_end_no_year() -> None:
    text = (
        "Form 10-Q for the quarterly period ended June 30, 2023\n\nRead with the Form 10-K for the year ended "
        "December 31, 2022.\n\nAssets as of June 30, 2023\n\nDebt as of June 30, 2023\n\nIn millions of dollars\n"
        "\tSecond Quarter 2023\nRevenue\t44,954\n"
    )
    assert learn_calendar(text).year_end(2023) == date(2023, 12, 31)
    assert said(text) == [("revenue", "44954000000", "USD", "2023-06-30")]


def test_a_plan_is_one_whatever_date_its_title_bears() -> None:
    assert bases("Budget, year ending 31 March 2026, EUR\n\t2026\nRevenue\t24,500,000\n") == ["budget"]
    months = "US$ forecast\tOct-24\tNov-24\nClosing cash\t12,500,000\t10,750,000\n"
    assert set(bases(months)) == {"forecast"}


def test_a_long_sentence_over_a_table_gives_its_units() -> None:
    lead = "The table gives a reconciliation of cash, cash equivalents and restricted cash that are reported " * 3
    text = f"Amounts in US dollars\n\n{lead}(in thousands):\n\tJune 30, 2023\nCash and cash equivalents\t$ 1,055,923\n"
    assert said(text) == [("cash", "1055923000", "USD", "2023-06-30")]


def test_billions_may_be_a_letter_behind_the_currency() -> None:
    assert said("\t2024\nRevenue ($B)\t40.2\n") == [("revenue", "40200000000", "USD", "2024-12-31")]


@cases(
    ("rows", "value"),
    [
        ("Total Intel stockholders' equity\t105,590\n{others}Total stockholders' equity\t105,612", "105590"),
        ("Acme Inc. stockholders' equity\t5,504\n{others}Total equity\t5,526", "5504"),
        ("Total equity for controlling interests\t200\n{others}Total shareowners' equity\t222", "200"),
    ],
)
def test_equity_is_that_of_the_companys_own_owners(rows: str, value: str) -> None:
    rows = rows.format(others="Non-controlling interests\t22\n")
    found = said(f"Balance sheet, in millions of dollars\n\tDecember 31, 2023\nTotal assets\t900,000\n{rows}\n")
    assert [row[1] for row in found if row[0] == "equity"] == [f"{value}000000"]


def test_all_operations_go_before_those_that_are_continued() -> None:
    rows = (
        "Cash from (used for) operating activities – continuing operations\t5,570\n"
        "Cash from (used for) operating activities – discontinued operations\t(391)\n"
        "Cash from (used for) operating activities\t5,179\n"
    )
    text = f"Statement of cash flows, in millions of dollars\n\t2023\n{rows}"
    assert said(text) == [("operating_cash_flow", "5179000000", "USD", "2023-12-31")]


def test_a_sentence_under_two_compared_periods_is_of_the_first() -> None:
    text = "Second quarter 2023 compared with second quarter 2022: revenue of $4.53 billion decreased.\n"
    assert said(text) == [("revenue", "4530000000", "USD", "2023-06-30")]

"""Headers that give columns more than a year: quarters beside years, shares beside amounts, groups of months, plans."""

from pathlib import Path

import pytest

from tasks.figures import read_figures
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Findings, taxonomy
from tests.cases import cases
from tests.written import workbook_of

SIX = "2024-01-01/2024-06-30"
YEAR = "2023-01-01/2023-12-31"
YEARS = ["2024-01-01/2024-12-31", "2025-01-01/2025-12-31"]


def findings(text: str, name: str = "a.txt") -> Findings:
    return find_figures(LedgerDocument(text, [], name), taxonomy())


def revenues(text: str) -> list[tuple[str, str, str]]:
    """(value, unit, period) of a text's revenue."""
    found = findings(text).figures
    return [(f"{each.value:f}", each.unit, each.period) for each in found if each.concept == "revenue"]


@cases(
    "header",
    [
        "\tThree months ended June 30,\t\tSix months ended June 30,\t\n",
        "\tThree months ended June 30,\tSix months ended June 30,\n",
        "Three months ended June 30, Six months ended June 30,\n",
        "Three months ended June 30,\nSix months ended June 30,\n",
        "\tDrei Monate zum 30. Juni\t\tSechs Monate zum 30. Juni\t\n",
        "\tTrois mois clos le 30 juin\t\tSix mois clos le 30 juin\t\n",
    ],
)
def test_each_group_of_columns_has_the_months_that_stand_over_it(header: str) -> None:
    found = revenues(f"EUR million\n{header}\t2024\t2023\t2024\t2023\nRevenue\t120\t110\t230\t215\n")
    assert [(value[:3], period) for value, _, period in found] == [
        ("120", "2024-04-01/2024-06-30"),
        ("110", "2023-04-01/2023-06-30"),
        ("230", SIX),
        ("215", "2023-01-01/2023-06-30"),
    ]


def test_a_line_with_more_times_than_groups_leaves_the_figures_out() -> None:
    text = "EUR million\nThree months ended June 30, Six months ended June 30,\n\t2024\t2023\nRevenue\t120\t110\n"
    assert (revenues(text), findings(text).left_out) == ([], {"headers that contradict themselves": 2})


@cases(
    "header",
    [
        "\t2023-03-31\t2023-06-30\t2023-09-30\t2023-12-31\t\t2022-12-31\t2023-12-31",
        "\t31.03.23\t30.06.23\t30.09.23\t31.12.23\t\tFY22\tFY23",
        "\tQ1 2023\tQ2 2023\tQ3 2023\tQ4 2023\t\t2022\t2023",
    ],
)
def test_quarters_and_years_stand_in_one_header(header: str) -> None:
    found = revenues(f"USD thousand\n{header}\nRevenue\t300\t310\t305\t319\t\t1102\t1234\n")
    assert ("305000", "USD", "2023-07-01/2023-09-30") in found
    assert ("1234000", "USD", YEAR) in found
    assert len(found) == 6


def test_quarters_that_end_in_no_order_are_left_out() -> None:
    text = "USD\n\tQ1\tQ2\tQ3\n\tAug-22\tNov-22\tFeb-22\nRevenue\t$1,000\t$2,000\t$3,000\n"
    assert findings(text).left_out == {"headers that contradict themselves": 3}


@cases(
    "header",
    [
        "\t2023 €m\t2023 %\t2022 €m\t2022 %",
        "\t2023\t\t2022\t\n\t€m\t%\t€m\t%",
        "\t€m 2023\tin % 2023\t€m 2022\tin % 2022",
    ],
)
def test_percentages_beside_amounts_are_none(header: str) -> None:
    found = revenues(f"Income statement\n{header}\nRevenue\t94.0\t100.0\t71.0\t100.0\nEBITDA\t20.0\t21.3\t14.0\t19.7\n")
    assert [value for value, _, _ in found] == ["94000000", "71000000"]


def test_two_currencies_beside_each_other() -> None:
    found = revenues("Income statement, million\n\t2023 EUR\t2023 USD\nRevenue\t94.0\t101.5\n")
    assert found == [("94000000", "EUR", YEAR), ("101500000", "USD", YEAR)]


def test_rows_with_a_note_have_a_cell_more_than_their_header() -> None:
    text = (
        "Accounts\n\t2023\t2022\nNote\t£\t£\n"
        "Turnover\t4\t41,210,900\t38,004,120\nGross profit\t\t1,100,500\t1,004,100\n"
    )
    assert revenues(text)[0] == ("41210900", "GBP", YEAR)


def test_a_round_amount_is_no_scale_and_a_cell_in_bold_is_a_number() -> None:
    text = "\t2023\t2022\n**Revenue**\t**$5000**\t**$1000**\nNet income\t$1000\t$900\n"
    assert [f"{each.value:f}" for each in findings(text).figures] == ["5000", "1000", "1000", "900"]


def test_a_column_of_units_beside_one_of_thousands_has_its_own_scale() -> None:
    text = "Gewinn- und Verlustrechnung\n\t2023\t2022\n\tEUR\tTEUR\nUmsatzerlöse\t12.345.678,90\t9.871\n"
    assert [value for value, _, _ in revenues(text)] == ["12345678.90", "9871000"]


def test_what_columns_rest_on_is_no_part_of_the_company() -> None:
    (figure,) = findings("Basis\tExit rate\n£\tFY2024\nRevenue\t3600000\n").figures
    assert figure.entity is None


def test_years_of_a_plan_count_from_its_start() -> None:
    plan = "Forecast, USD\n{start}\n\tYear 1\tYear 2\nRevenue\t120000\t980000\n"
    assert [period for _, _, period in revenues(plan.format(start="Start date: 1 July 2025"))] == [
        "2025-07-01/2026-06-30",
        "2026-07-01/2027-06-30",
    ]
    assert findings(plan.format(start="Model")).left_out == {"years of a plan without its start": 2}
    model = "USD thousand\nModel start\tJan 2025\n\tYear 1\tYear 2\tYear 3\nRevenue\t500\t600\t700\n"
    assert [period[:4] for _, _, period in revenues(model)] == ["2025", "2026", "2027"]


@cases(
    ("text", "value"),
    [
        ("Die Umsatzerlöse betrugen im Jahr 2023 12.345 TEUR.\n", "12345000"),
        ("Kennzahlen in Mio. EUR\n\n\t2023\t2022\nUmsatzerlöse\t1.234\t980\n", "1234000000"),
        ("Conto economico (migliaia di euro)\n\n\t2023\t2022\nRicavi\t1.234\t980\n", "1234000"),
        ("Cuenta de resultados (miles de euros)\n\n\t2023\t2022\nVentas\t1.234\t980\n", "1234000"),
        ("Resultatenrekening (x € 1.000)\n\n\t2023\t2022\nNetto-omzet\t1.234\t980\n", "1234000"),
        ("Revenue for the year 2023 was EUR 1.234 million.\n", "1234000"),
        ("Highlights, EUR million, of the group and its people\n\t2023\nRevenue\t1.234\nHeadcount\t12\n", "1234000"),
    ],
)
def test_a_point_before_three_digits(text: str, value: str) -> None:
    assert revenues(text)[0][0] == value


def test_a_format_that_shows_thousands_is_in_the_units_of_its_header(tmp_path: Path) -> None:
    rows = {"EUR thousand": "1234567", "in EUR m": "1234567000", "": "1234567"}
    for units, value in rows.items():
        book, sheet = workbook_of([units, 2023], ["Revenue", 1234567])
        sheet["B2"].number_format = "#,##0,"
        book.save(tmp_path / "book.xlsx")
        figures = read_figures(str(tmp_path / "book.xlsx"))
        assert [(figure["value"], figure["unit"]) for figure in figures] == [(value, "EUR" if units else "unknown")]


def test_numbers_of_two_columns_in_one_cell_are_left_out() -> None:
    text = "EUR\n\t2025\t2024\nRevenue\t2 812 300 2 105 700\nEquity\t1 020 300 871 400\nCash\t391 200\t502 800\n"
    found = findings(text)
    assert [figure.concept for figure in found.figures] == ["cash", "cash"]
    assert found.left_out["numbers that run together"] == 1
    whole = findings("EUR\n\t2025\t2024\nEquity\t1 020 300 871\t1 020 300 870\n")
    assert [str(figure.value) for figure in whole.figures] == ["1020300871", "1020300870"]


FORM = [
    ["", "", "Exercice N", "Exercice N-1"],
    ["Capital social", "DA", "100 000", "100 000"],
    ["Primes d'émission", "DB", "", ""],
    ["Réserve légale", "DD", "", ""],
    ["Report à nouveau", "DH", "-64 377", ""],
    ["RÉSULTAT DE L'EXERCICE (bénéfice ou perte)", "DI", "-96 675", "-64 377"],
    ["Subventions d'investissement", "DJ", "", ""],
    ["TOTAL (I)", "DL", "-61 052", "35 623"],
]
SCHEME = [
    ["", "Codes", "Boekjaar", "Vorig boekjaar"],
    ["VASTE ACTIVA", "21/28", "7.252.006", "4.952.175"],
    ["Oprichtingskosten", "20", "", ""],
    ["VLOTTENDE ACTIVA", "29/58", "2.021.674", "3.978.991"],
    ["Andere vorderingen", "41", "", ""],
    ["Liquide middelen", "54/58", "267.793", "242.699"],
    ["TOTAAL VAN DE ACTIVA", "20/58", "9.273.680", "8.931.167"],
]


@pytest.mark.parametrize(
    ("title", "rows", "wanted"),
    [
        (
            "Bilan passif, exercice du 01/07/2023 au 30/06/2024, en euros",
            FORM,
            {("equity", "-61052", "2024-06-30"), ("equity", "35623", "2023-06-30")},
        ),
        (
            "JAARREKENING, boekjaar van 01-01-2024 tot 31-12-2024, in EURO",
            SCHEME,
            {("cash", "267793", "2024-12-31"), ("cash", "242699", "2023-12-31")},
        ),
    ],
)
def test_this_and_the_last_year_of_a_form_are_those_of_the_document(
    title: str, rows: list[list[str]], wanted: set[tuple[str, str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "form.txt"
    path.write_text("\n".join([title, "", *("\t".join(row) for row in rows)]), "utf-8")
    found = {(figure["concept"], str(figure["value"]), figure["period"]) for figure in read_figures(str(path))}
    assert wanted <= found
    assert not any(figure["entity"] for figure in read_figures(str(path)))


def test_a_table_goes_on_over_a_page_under_its_running_title() -> None:
    text = (
        "Nota integrativa al 31/08/2025 Pag. 1\n\t31/08/2025\t31/12/2024\nRimanenze\t962.687\t864.916\n"
        "\fNota integrativa al 31/08/2025 Pag. 2\nPatrimonio netto\t\t\n"
        "Totale patrimonio netto\t1.283.488\t800.879\nValori espressi in euro\n"
    )
    found = {(each.concept, f"{each.value:f}", each.period) for each in findings(text, "bilancio.pdf").figures}
    assert {("equity", "1283488", "2025-08-31"), ("equity", "800879", "2024-12-31")} <= found


def test_numbers_side_by_side_without_a_head_are_of_no_date() -> None:
    text = "\fNota al 31/08/2025 Pag. 2\nB) Immobilizzazioni\t\t\nTotale attivo\t4.710.384\t4.822.052\nEuro\n"
    assert not findings(text, "bilancio.pdf").figures


def test_lines_of_a_page_head_name_no_part_of_a_company() -> None:
    text = (
        "EUR\nScheme\t31-12-2024 VAT 0259\tOrdinary regime\tCompany income\nVersion\tTaxonomy 2018\t\t\n"
        "\t\t31-12-2024\t31-12-2023\nRevenue\t4100\t3900\n"
    )
    found = [(f"{each.value:f}", each.period[-10:], each.entity) for each in findings(text).figures]
    assert found == [("4100", "2024-12-31", None), ("3900", "2023-12-31", None)]


def test_a_day_beside_the_end_of_a_year_ends_the_year_so_far() -> None:
    found = revenues("EUR\n\t31/08/2025\t31/12/2024\nRevenue\t4647\t6047\n")
    assert found == [("4647", "EUR", "2025-01-01/2025-08-31"), ("6047", "EUR", "2024-01-01/2024-12-31")]


@cases(
    ("head", "period"),
    [
        ("1.1.-30.9.2025", "2025-01-01/2025-09-30"),
        ("boekjaar 01-01-2024 tot 31-12-2024", "2024-01-01/2024-12-31"),
        ("01/01-30/09/2025 ANNO 2024", ""),
    ],
)
def test_a_head_gives_one_span_or_none(head: str, period: str) -> None:
    assert [each[2] for each in revenues(f"EUR\n\t{head}\nRevenue\t4647\n")] == ([period] if period else [])


@cases(
    ("first", "second", "period"),
    [
        ("2013-01-01 2013-12-31", "2012-01-01 2012-12-31", "2013-01-01/2013-12-31"),
        ("01.04.2023 30.06.2023", "01.01.2023 30.06.2023", "2023-04-01/2023-06-30"),
        ("1 Jan 2023 31 Dec 2023", "1 Jan 2022 31 Dec 2022", "2023-01-01/2023-12-31"),
        ("2013-12-31 2012-12-31", "2011-12-31 2010-12-31", ""),  # the heads of four columns
        ("2013-12-31 2014-12-31", "2011-12-31 2012-12-31", ""),
        ("2013-01-01 2013-12-31", "", ""),  # over one column, or at the beginning and the end of a year over two
        ("Jan 2013 Dec 2013", "Jan 2012 Dec 2012", ""),
    ],
)
def test_two_days_below_each_other_in_each_head_are_the_ends_of_its_span(first: str, second: str, period: str) -> None:
    found = [each[2] for each in revenues(f"EUR\n\t{first}\t{second}\nRevenue\t13 988 214\t13 543 369\n")]
    assert found[:1] == ([period] if period else [])


def test_numbers_whose_last_digits_stand_in_the_next_cell_are_left_out() -> None:
    cut = findings("SEK\n\t2020\t=\t2019\t\nRevenue\t16 736\t458\t16 528\t380\nNet income\t790 411\t\t-2 233\t736\n")
    assert [(each.concept, str(each.value)) for each in cut.figures] == [("net_income", "790411")]
    assert cut.left_out["numbers cut in two"] == 6
    beside = findings("EUR thousand\n\t2023\t2023\t2022\t2022\n\t\t\t\t\nRevenue\t7 736\t100\t6 616\t100\n")
    assert beside.figures == []
    loose = findings(
        "SEK thousand\nKey figures 2020 2019 2018\nRevenue 16 736 16 528 16 307\nEquity 4 791 4 738 4 102\n"
    )
    assert loose.figures == []
    for changed in (
        "2020\tChange\t2019\nRevenue\t16 736\t458\t16 278\n",
        "2020\t2019\t%\nRevenue\t16 736\t16 278\t103",
    ):
        assert [each[0] for each in revenues(f"SEK\n\t{changed}")] == ["16736", "16278"]


_BOXES = (
    "\t\tNIF\tA 1234567\t\tUNIDAD (1)\n\t\tDENOMINACIÓN SOCIAL\t\t\tEuros\t{}\n\t\t\t\t\tMiles\t{}\n"
    "\t\tPRUEBA S.A.\t\t\tMillones\t{}\n\t\tACTIVO\t\tNOTAS de la MEMORIA\t2013\t2012\n"
    "\t\tTOTAL ACTIVO (A + B)\t\t12\t262942\t261609\n"
)


@cases(("marks", "value"), [(("", "x", ""), 262_942_000), (("X", "", ""), 262_942), (("", "", "[x]"), 262_942_000_000)])
def test_of_a_forms_boxes_for_units_the_marked_one_counts(marks: tuple[str, str, str], value: int) -> None:
    newest, _ = findings(_BOXES.format(*marks), "cuentas.csv").figures
    assert (int(newest.value), newest.period, newest.entity) == (value, "2013-12-31", None)


@pytest.mark.parametrize("marks", [("", "", ""), ("x", "x", "")])
def test_amounts_of_a_form_without_one_marked_box_are_left_out(marks: tuple[str, str, str]) -> None:
    found = findings(_BOXES.format(*marks), "cuentas.csv")
    assert not found.figures
    assert found.left_out["units that contradict"] == 2


_SLIPPED = """ALPHA LTD, Sample Road, Hull HU27 1BN
BALANCE SHEET
	30 November 2024
	2024	2023
Notes	£ £	£ £
FIXED ASSETS
Tangible assets	9	1,470,992		1,094,275
1,470,992		1,094,275
CURRENT ASSETS
Stocks	10	1,306,137		1,020,714
Cash at bank and in hand	25,957		140,485
1,332,094		1,161,199
CREDITORS
Amounts falling due within one year	12	800,000		700,000
"""


def test_cells_that_slip_go_by_turns_past_notes_and_blanks() -> None:
    found = findings(_SLIPPED, "accounts.html")
    assert {(each.concept, int(each.value), each.period[:4]) for each in found.figures} == {
        ("inventories", 1_306_137, "2024"),
        ("inventories", 1_020_714, "2023"),
        ("cash", 25_957, "2024"),
        ("cash", 140_485, "2023"),
        ("current_assets", 1_332_094, "2024"),  # the sum of the rows below its heading
        ("current_assets", 1_161_199, "2023"),
        ("current_liabilities", 800_000, "2024"),  # a label on two lines
        ("current_liabilities", 700_000, "2023"),
    }


def test_a_company_beside_its_group_is_a_part() -> None:
    head = "\tGroup\t\tCompany\t\n\t2024\t2023\t2024\t2023\n\t£\t£\t£\t£\n"
    found = findings(f"Balance sheet\n{head}Cash at bank and in hand\t90,000\t80,000\t20,000\t10,000\n")
    assert [(int(each.value), each.entity) for each in found.figures] == [
        (90_000, None),
        (80_000, None),
        (20_000, "parent company"),
        (10_000, "parent company"),
    ]


def test_words_before_a_date_and_restated_name_no_part_of_the_company() -> None:
    head = "(w mln PLN)\tNota\tRok zakończony 31 grudnia 2022\tRok zakończony 31 grudnia 2021 dane przekształcone *\n"
    text = f"Sprawozdanie z zysków i strat za rok 2022\n{head}Przychody ze sprzedaży\t7.1\t73.435\t52.772\n"
    figures = find_figures(LedgerDocument(text, [], "a.html"), taxonomy()).figures
    assert [(int(each.value), each.unit, each.entity, each.variant) for each in figures] == [
        (73_435_000_000, "PLN", None, ""), (52_772_000_000, "PLN", None, "restated"),
    ]  # fmt: skip


def test_sales_below_the_net_turnover_are_a_part_of_it() -> None:
    rows = "1. Importe neto de la cifra de negocios\t149.775,86\na. Ventas\t145.969,34\n"
    text = f"Cuenta de pérdidas y ganancias en euros\n\t31/12/2021\n{rows}"
    (figure,) = find_figures(LedgerDocument(text, [], "a.html"), taxonomy()).figures
    assert figure.label.endswith("negocios")


def test_flows_under_a_day_within_the_year_of_an_interim_report_are_of_no_known_length() -> None:
    text = "Relazione finanziaria semestrale\n\neuro/1000\tal 30.06.2012\tal 30.06.2011\nRicavi\t36.789\t40.780\n"
    assert find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).left_out == {"years or quarters": 2}


def test_the_amount_of_the_year_before_may_stand_in_brackets_before_its_year() -> None:
    text = "Ricavi: 9,72 milioni di euro (8,74 milioni di euro nel 2020), Ebitda: 1,03 milioni di euro nel 2021.\n"
    figures = find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    assert [(each.period[:4], int(each.value)) for each in figures if each.concept == "revenue"] == [
        ("2021", 9_720_000), ("2020", 8_740_000),
    ]  # fmt: skip


_CZECH = """Rozvaha ke dni 31.12.2024 (v tisících Kč)
Označení\tAKTIVA\tČíslo řádku\tBěžné účetní období\t\t\tMinulé úč. období
\t\t\tBrutto\tKorekce\tNetto\tNetto
\tAKTIVA CELKEM\t001\t73 604\t-3 013\t70 591\t70 733
C.\tOběžná aktiva\t037\t9 900\t-10\t9 890\t10 900
C.I.\tZásoby\t038\t120\t0\t120\t110
"""
_FRENCH = """Bilan actif au 31/12/2024, en euros
Rubriques\tMontant brut\tAmort. Prov.\tNet 31/12/2024\tNet 31/12/2023
TOTAL ACTIF CIRCULANT\t445 460\t7 340\t438 120\t363 810
TOTAL GENERAL\t945 460\t207 340\t738 120\t683 810
"""


@pytest.mark.parametrize(
    ("text", "assets"),
    [
        (_CZECH, [("70591000", "2024-12-31"), ("70733000", "2023-12-31")]),
        (_FRENCH, [("738120", "2024-12-31"), ("683810", "2023-12-31")]),
    ],
)
def test_gross_amounts_and_numbers_of_lines_are_no_figures(text: str, assets: list[tuple[str, str]]) -> None:
    found = findings(text).figures
    assert [(f"{each.value:f}", each.period) for each in found if each.concept == "total_assets"] == assets
    assert {each.entity for each in found} == {None}


@cases(
    ("header", "periods"),
    [
        ("\t30/06/2024 31/12/2023\t\n", ["2024-06-30", "2023-12-31"]),
        ("\t\t31-12-2024 31-12-2023\n", ["2024-12-31", "2023-12-31"]),
        ("\tJune 30, 2024 and 2023\t\n", []),
    ],
)
def test_the_times_of_all_columns_in_one_cell_are_parted(header: str, periods: list[str]) -> None:
    found = findings(f"In euros\n{header}Total assets\t12034\t11034\nTotal equity\t2034\t1034\n").figures
    assert [each.period for each in found if each.concept == "total_assets"] == periods


_BELGIAN = """Reference number\t2025-001
Accounting period start date\t2023-07-01
Accounting period end date\t2024-06-30
Currency\tEUR
Entity address number\t172
General assembly date\t2024-12-27
1100/10\t4800
20/58\t95705.66
10/49\t95705.66
10/15\t64205.56
42/48\t6900
5811\t1
70\t6000
9904\t-1100.5
"""
_BRITISH = """Company\tAcme Tools Ltd
Registered number\t01234567
Financial year start\t1 July 2023
Financial year end\t30 June 2024
Currency\tGBP
Turnover\t4120
Net assets\t1200
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            _BELGIAN,
            "total_assets 95705.66, equity 64205.56, current_liabilities 6900, revenue 6000, net_income -1100.5",
        ),
        (_BRITISH, "revenue 4120, equity 1200"),
    ],
)
def test_a_head_of_names_and_values_gives_the_time_and_the_currency(text: str, expected: str) -> None:
    found = findings(text, "a.csv").figures
    assert ", ".join(dict.fromkeys(f"{each.concept} {each.value:f}" for each in found)) == expected
    assert {each.period for each in found} == {"2024-06-30", "2023-07-01/2024-06-30"}
    assert len({each.unit for each in found}) == 1


@pytest.mark.parametrize("header", ["\tin euros\n12\t\n", "\t31/12/2024\n12\t\n"])
def test_a_row_of_one_number_and_no_words_heads_nothing(header: str) -> None:
    assert [each.period for each in findings(f"{header}Total assets\t12034\n").figures] in ([], ["2024-12-31"])


def test_a_year_behind_the_last_day_of_a_span_is_that_of_the_first_too() -> None:
    text = "In euros\n\t\tPage 2\n\t01/01-30/09/2025 ANNO 2024\t\nNet income\t47,089\t15,247\n"
    assert [(each.period, each.entity) for each in findings(text).figures] == [
        ("2025-01-01/2025-09-30", None), ("2024-01-01/2024-12-31", None)
    ]  # fmt: skip


@cases(
    "head",
    [
        "Conto economico 31/12/2024 31/12/2023", "GuV 1.1.-31.12.2024 1.1.-31.12.2023",
        "P&L 01/01/2024 - 31/12/2024 01/01/2023 - 31/12/2023",
        "Alpha Oy, 1.1.2024 - 31.12.2024\nEUR\t1.1.2024 - 31.12.2024\t1.1.2023 - 31.12.2023",
    ],
)  # fmt: skip
def test_days_in_figures_behind_a_statements_name_head_its_columns(head: str) -> None:
    text = f"Alpha, EUR\n\n{head}\n1. Umsatzerlöse 812.400,00 790.100,00\n17. Jahresüberschuss 51.200,00 -8.300,00\n"
    assert revenues(text) == [("812400", "EUR", "2024-01-01/2024-12-31"), ("790100", "EUR", "2023-01-01/2023-12-31")]
    assert len(findings(text).figures) == 4


def test_what_customers_owe_is_no_number_of_them_and_marks_behind_labels_are_none_of_them() -> None:
    text = "\t31-12-2024\nInventários\t301 220,00\nClientes\t512 110,00\nTotal do ativo\t2 208 070,00\n"
    assert {each.concept for each in findings(text).figures} == {"inventories", "total_assets"}
    text = "KPIs\n\t2024\nRevenue\t10,000\nInventories\t90\nTotal assets\t9,000\nNumber of customers\t400\n"
    assert "customers" in {each.concept for each in findings(text).figures}
    assert revenues("TEUR\t2024\nUmsatzerlöse 1)\t4.120\n")[0][0] == "4120000"


def test_the_same_number_gross_and_net_under_one_day_is_one() -> None:
    rows = "Disponibilités\t11 120\t11 120\nClients\t12 300\t12 100\nCapitaux propres\t0\t0\n"
    text = f"Bilan actif (en euros) au 31/12/2024\n{rows}"
    found = findings(text).figures
    assert [(each.concept, int(each.value), each.period) for each in found] == [("cash", 11120, "2024-12-31")]


def test_a_header_without_the_cell_over_the_labels_names_the_columns_in_order() -> None:
    head = "Unaudited\tUnaudited\nSix months\tSix months\nto\tto\n31-Dec-25\t31-Dec-24\n\t€\t€\n"
    assert revenues(f"for the six months ended 31 December 2025\n{head}Turnover\t354,813\t340,931\n") == [
        ("354813", "EUR", "2025-07-01/2025-12-31"),
        ("340931", "EUR", "2024-07-01/2024-12-31"),
    ]


@cases("over", ["01/04/2024 – 31/03/2025", "01.04.2024 – 31.03.2025", "From 2024-04-01\nto: 2025-03-31"])
def test_both_ends_of_one_time_are_not_the_heads_of_two_columns(over: str) -> None:
    found = revenues(f"Profit & Loss\n{over}\n\nGBP\tActual\tPrior year\nTurnover\t912,000\t811,000")
    assert found == [("912000", "GBP", "2024-04-01/2025-03-31"), ("811000", "GBP", "2023-04-01/2024-03-31")]


def test_the_year_before_a_time_begins_a_year_before_it() -> None:
    found = revenues("GBP\t15/01/2024 - 31/12/2024\tPrior period\nTurnover\t912,000\t811,000")
    assert [period for *_, period in found] == ["2024-01-15/2024-12-31", "2023-01-15/2023-12-31"]


@cases(
    ("header", "period"),
    [
        ("2024-12-31 23:59:59", "2024-12-31"),
        ("31/12/2024 24:00", "2024-12-31"),
        ("As of 31 December 2024, 17:00", "2024-12-31"),
        ("31/12/2024 17:00", None),
        ("Printed 31 December 2024, 17:00", None),
    ],
)
def test_a_time_of_day_beside_a_date_is_a_stamp_unless_the_day_ends_then_or_figures_are_as_of_it(
    header: str, period: str | None
) -> None:
    found = findings(f"GBP\t{header}\nCash\t912,000").figures
    assert [each.period for each in found] == ([period] if period else [])


def test_a_planned_year_is_no_amount_in_pesos() -> None:
    assert revenues("EUR m\t2024A\t2025 P\nRevenue\t5.1\t6.2") == [
        ("5100000", "EUR", YEARS[0]),
        ("6200000", "EUR", YEARS[1]),
    ]


STATEMENT = (
    "\n"
    + "What the directors say about it, at length and in words.\n" * 12
    + "\nEUR\nRevenue\t900,000\nTotal assets\t70,000\n"
)


def dated_pages(*pages: str) -> list[tuple[str, str]]:
    """(concept, period) of the figures of a text of these pages."""
    starts = [sum(len(page) + 1 for page in pages[:at]) for at in range(len(pages))]
    places = [(start, start + len(page), "page", str(start)) for start, page in zip(starts, pages, strict=True)]
    found = find_figures(LedgerDocument("\f".join(pages), places, "a.pdf"), taxonomy()).figures
    return [(each.concept, each.period) for each in found]


@cases(
    ("line", "periods"),
    [
        ("Balance sheet 2024", [("revenue", YEARS[0]), ("total_assets", "2024-12-31")]),
        ("For the year ended 31 March 2025", [("revenue", "2024-04-01/2025-03-31"), ("total_assets", "2025-03-31")]),
        ("As of March 31, 2025", [("total_assets", "2025-03-31")]),
        ("Established 1998", []),
        ("Companies Act 2006", []),
        ("Page 1999", []),
        ("28 February 2025", []),
        ("Approved on 30 April 2025", []),
        ("Loan agreement of 15 June 2019", []),
        ("Balance sheet 2024\nBudget 2026", []),
    ],
)
def test_a_lone_column_is_of_the_time_in_a_statements_heading_on_its_page(
    line: str, periods: list[tuple[str, str]]
) -> None:
    assert dated_pages(f"Acme SA\n{line}{STATEMENT}") == periods


def test_a_lone_column_without_a_heading_is_of_the_year_of_the_whole_accounts() -> None:
    assert dated_pages("Annual accounts 2024\n", STATEMENT) == [("revenue", YEARS[0]), ("total_assets", "2024-12-31")]
    assert dated_pages("Established 1998\n", STATEMENT) == dated_pages("Balance sheet 2024\n", STATEMENT) == []


@cases("beside", ["Printed 12/05/2025", "Approved 12/05/2025"])
def test_the_day_of_a_print_or_approval_heads_no_column(beside: str) -> None:
    found = revenues(f"Profit & Loss\n31/03/2025\n{beside}\n\nGBP\tActual\tPrior year\nTurnover\t912,000\t811,000")
    assert found == [("912000", "GBP", "2024-04-01/2025-03-31"), ("811000", "GBP", "2023-04-01/2024-03-31")]


def test_a_year_in_the_cell_behind_its_day_belongs_to_the_day() -> None:
    text = "Balance sheet, EUR m\n\tDecember 31,\t2022 September 24,\t2022\nTotal assets\t346,747\t352,755\n"
    found = find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    assert [(int(figure.value), figure.period) for figure in found] == [
        (346747000000, "2022-12-31"),
        (352755000000, "2022-09-24"),
    ]
    plain = "Balance sheet, EUR m\n\tDecember 31,\t2022\t2021\nTotal assets\t\t346,747\t352,755\n"
    found = find_figures(LedgerDocument(plain, [], "a.txt"), taxonomy()).figures
    assert [figure.period for figure in found] == ["2022-12-31", "2021-12-31"]


@cases(
    ("heads", "periods"),
    [
        ("12 months to 28 Feb 2023\tto 28 Feb 2022", ["2022-03-01/2023-02-28"]),
        ("12 months to 28 5 months Feb 2023\tto 28 Feb 2022", ["2022-03-01/2023-02-28"]),
        ("12 Monate bis 28.02.2023\tbis 28.02.2022", ["2022-03-01/2023-02-28"]),
        ("12 months to 28 Feb 2023\t5 months to 28 Feb 2022", ["2021-10-01/2022-02-28", "2022-03-01/2023-02-28"]),
        ("Year\tYear\n\tto 28 Feb 2023\tto 28 Feb 2022", ["2021-03-01/2022-02-28", "2022-03-01/2023-02-28"]),
        ("to 28 Feb 2023\tto 28 Feb 2022", ["2021-03-01/2022-02-28", "2022-03-01/2023-02-28"]),
    ],
)
def test_a_column_that_has_lost_its_months_is_of_no_period(heads: str, periods: list[str]) -> None:
    text = f"Income statement for the year ended 28 February 2023\n\n\t{heads}\n\t£000\t£000\nRevenue\t30,005\t2,839\n"
    assert sorted(period for _, _, period in revenues(text)) == periods


CHANGES = (
    "Statement of changes in equity for the year ended 31 December 2024\n\n"
    "\tRetained earnings\tMinorities\tTotal equity\n\t£000\t£000\t£000\n"
    "{earlier}Balance at 31 December 2023\t(26,747)\t3,500\t(23,247)\n"
    "Loss for the year\t(4,307)\t1,270\t(3,037)\nBalance at 31 December 2024\t(31,054)\t4,770\t(26,284)\n"
)
EARLIER = "Balance at 1 January 2023\t(11,245)\t2,400\t(8,845)\nLoss for the year\t(15,502)\t1,100\t(14,402)\n"


@cases(("earlier", "losses"), [("", ["-4307000"]), (EARLIER, [])])
def test_what_stands_between_balances_is_of_their_year_and_a_gain_among_losses_is_none(
    earlier: str, losses: list[str]
) -> None:
    figures = findings(CHANGES.format(earlier=earlier)).figures
    assert [f"{figure.value:f}" for figure in figures if figure.concept == "net_income"] == losses
    assert ("equity", "2024-12-31", "-26284000") in [
        (figure.concept, figure.period, f"{figure.value:f}") for figure in figures
    ]


def test_years_over_the_columns_of_several_balances_count() -> None:
    first = "Balance at 1 January\t9,460\t2,450\nNet income\t5,000\t7,010\nBalance at 31 December\t14,460\t9,460\n"
    second = "Balance at 1 January\t4,600\t2,400\nAdded\t5,000\t7,000\nBalance at 31 December\t9,600\t9,400\n"
    found = findings(f"Reserves\n\n\t2024\t2023\n\t£000\t£000\n{first}{second}").figures
    assert [f"{figure.value:f}" for figure in found if figure.concept == "net_income"] == ["5000000", "7010000"]

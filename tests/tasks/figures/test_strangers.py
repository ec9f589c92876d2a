"""Series of days, labels over their numbers, columns of no part of the company, and times of no figure."""

import re
from pathlib import Path

from tasks.figures import read_figures
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tests.cases import cases

MONTH, YEAR = "2024-02-01/2024-02-29", "2024-01-01/2024-12-31"


def figures(text: str) -> list[tuple[str, str, str, str | None]]:
    """(concept, value, period, entity) of a text's figures, in order."""
    found = find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    return [(each.concept, f"{each.value:f}", each.period, each.entity) for each in found]


@cases(
    ("days", "period"),
    [
        (("2024-01-31", "2024-02-29", "2024-03-31"), MONTH),
        (("31.03.2024", "29.02.2024", "31.01.2024"), MONTH),
        (("2023-11-30", "2024-02-29", "2024-05-31"), "2023-12-01/2024-02-29"),
    ],
)
def test_a_row_of_a_series_is_as_long_as_the_step_to_the_next(days: tuple[str, ...], period: str) -> None:
    rows = "".join(f"{day}\t{number}2000\t{number}\n" for number, day in enumerate(days, 1))
    found = figures(f"Date\tRevenue\tTotal customers\n{rows}")
    assert ("revenue", "22000", period, None) in found
    assert ("customers", "2", "2024-02-29", None) in found


@cases(
    ("title", "head", "periods"),
    [
        ("Rolling 12 months", "Date\tRevenue", ["2023-07-01/2024-06-30", "2023-10-01/2024-09-30"]),
        ("Last twelve months to each date", "Date\tRevenue", ["2023-07-01/2024-06-30", "2023-10-01/2024-09-30"]),
        ("EUR", "LTM to\tRevenue", ["2023-07-01/2024-06-30", "2023-10-01/2024-09-30"]),
        ("EUR", "Date\tAnnualised revenue", ["2023-07-01/2024-06-30", "2023-10-01/2024-09-30"]),
        ("EUR", "Date\tRevenue run-rate", ["2023-07-01/2024-06-30", "2023-10-01/2024-09-30"]),
        ("Year to date figures", "Date\tRevenue", ["2024-01-01/2024-06-30", "2024-01-01/2024-09-30"]),
        ("Cumul depuis le 1er janvier", "Date\tRevenue", []),
        ("Kumulierte Werte", "Date\tRevenue", []),
        ("Up to date figures", "Date\tRevenue", ["2024-04-01/2024-06-30", "2024-07-01/2024-09-30"]),
    ],
)
def test_a_row_of_a_rolling_or_running_series_is_longer_than_its_step(
    title: str, head: str, periods: list[str]
) -> None:
    rows = "31 March 2024\t10,000\n30 June 2024\t20,000\n30 September 2024\t30,000\n"
    assert [period for *_, period, _ in figures(f"{title}\n{head}\n{rows}")][1:] == periods


@cases(
    ("head", "periods"),
    [
        ("I trimestre 2024\tIII trimestre 2024", ("2024-01-01/2024-03-31", "2024-07-01/2024-09-30")),
        ("kv 1 2024\tkv 2 2024", ("2024-01-01/2024-03-31", "2024-04-01/2024-06-30")),
        ("1. kvartal 2024\t1. halvår 2024", ("2024-01-01/2024-03-31", "2024-01-01/2024-06-30")),
        ("II kwartał 2024\tI półrocze 2024", ("2024-04-01/2024-06-30", "2024-01-01/2024-06-30")),
        ("Del 1ro de Enero al 31 de Julio de 2024\t2023", ("2024-01-01/2024-07-31", "2023-01-01/2023-12-31")),
        ("1 October to 30 June 2024\t2023", ("2023-10-01/2024-06-30", "2023-01-01/2023-12-31")),
    ],
)
def test_parts_of_years_are_known_by_their_names_and_days(head: str, periods: tuple[str, str]) -> None:
    found = figures(f"EUR thousand\n\t{head}\nRevenue\t300\t400\n")
    assert found == [
        ("revenue", value, period, None) for value, period in zip(("300000", "400000"), periods, strict=True)
    ]


def test_a_label_may_stand_on_the_line_above_its_numbers() -> None:
    found = figures("EUR\n\t2024\t2023\nTotal assets\n\t1,234\t1,102\nRevenue\n\t9,412\t7,100\n")
    assert [(concept, value) for concept, value, *_ in found] == [
        ("total_assets", "1234"), ("total_assets", "1102"), ("revenue", "9412"), ("revenue", "7100"),
    ]  # fmt: skip


def test_a_row_without_a_label_below_a_heading_is_not_the_headings() -> None:
    text = "EUR\n\t2024\t2023\nRevenue\n\t1,234\t1,102\nLicences\t400\t300\nServices\t834\t802\n"
    assert figures(text) == []


@cases(
    "rows",
    [
        "Equity\n\tShare capital\t100\t90\nDebt\n\tOverdraft\t10\t20\nCash\n\tPetty cash\t5\t6\n",
        "Equity\n\t1\tShare capital\t90\nDebt\n\t2\tOverdraft\t20\nCash\n\t3\tPetty cash\t6\n",
        "\t10,000\t9,000\nRevenue\n\t7,000\t6,000\nGross profit\n\t500\t400\nNet income\n",
        "Income statement\n\t10,000\t9,000\nRevenue\n\t7,000\t6,000\nGross profit\n\t500\t400\nNet income\n",
    ],
)
def test_items_and_labels_below_numbers_are_not_the_label_above(rows: str) -> None:
    assert figures(f"EUR thousand\n\t2024\t2023\n{rows}") == []


def test_years_that_name_rows_are_not_numbers_of_the_label_above() -> None:
    found = figures("EUR thousand\nRevenue\n\t2024\t100\n\t2023\t90\nNet income\n\t2024\t10\n\t2023\t9\n")
    assert [(concept, value) for concept, value, *_ in found] == [
        ("revenue", "100000"), ("revenue", "90000"), ("net_income", "10000"), ("net_income", "9000"),
    ]  # fmt: skip


@cases(("one", "other"), [("O2", "B2B"), ("A", "B"), ("日本", "米国"), ("한국", "미국")])
def test_a_short_name_over_a_column_is_a_part_of_the_company(one: str, other: str) -> None:
    found = figures(f"EUR\t{one} 2024\t{other} 2024\tTotal 2024\nRevenue\t4,000\t5,000\t9,000\n")
    assert [(value, entity) for _, value, _, entity in found] == [("4000", one), ("5000", other), ("9000", None)]


@cases(
    ("head", "values"),
    [
        ("Solde débiteur 2024\tSolde créditeur 2024\tTotaux 2024", ["1300"]),
        ("Zugänge 2024\tAbgänge 2024\t2024", ["1300"]),
        ("Exercice 2024 a\tEmplois 2024\tExercice 2023 b", ["1100", "1300"]),
        ("Real 2024\tVariations 2024\tReal 2023", ["1100", "1300"]),
    ],
)
def test_sides_and_movements_of_an_account_are_no_parts_of_the_company(head: str, values: list[str]) -> None:
    found = figures(
        f"Les montants sont en euros pour l'exercice clos et les comptes.\nEUR\n\t{head}\nRevenue\t1100\t1200\t1300\n"
    )
    assert [(value, entity) for _, value, _, entity in found] == [(value, None) for value in values]


@cases(
    "sentence",
    [
        "Founded in 2009 in Sheffield, the company employs a workforce of 312 people.",
        "Since 2011 the company's headcount has been 312 people.",
        "The market for such tools had revenue of EUR 94 billion in 2024.",
    ],
)
def test_a_founding_and_a_market_give_no_figure_its_time(sentence: str) -> None:
    assert figures(f"{sentence}\n") == []


def test_kroner_of_an_unknown_country_have_no_currency() -> None:
    found = find_figures(LedgerDocument("Tall i tusen kroner\n\t2024\nRevenue\t1 234\n", [], "a.txt"), taxonomy())
    assert [(str(each.value), each.unit) for each in found.figures] == [("1234000", "unknown")]


def test_a_first_column_of_sections_is_passed_over() -> None:
    rows = "P&L\tRevenue\tUSD\t12000\t15000\nP&L\tCOGS\tUSD\t3000\t4000\nP&L\tEBITDA\tUSD\t900\t1100\n"
    rows += "Cash\tEnding cash\tUSD\t5000\t6000\nPeople\tHeadcount\t#\t3\t4\nPeople\tCustomers\t#\t13\t14\n"
    found = figures(f"Section\tLine\tUnit\t2023\t2024\n{rows}")
    assert {concept for concept, *_ in found} == {
        "revenue",
        "cost_of_revenue",
        "ebitda",
        "cash",
        "headcount",
        "customers",
    }


@cases(
    ("head", "parts"),
    [
        ("Company", "Alpha GmbH, Beta GmbH"),
        ("Segment", "Retail, Wholesale"),
        ("Unit", "Nordics, Group"),
        ("Scenario", "Budget, Actual"),
    ],
)
def test_a_first_column_of_other_names_than_statements_gives_no_figure(head: str, parts: str) -> None:
    one, other = parts.split(", ")
    rows = f"{one}\tRevenue\t40\t45\n{one}\tEBITDA\t50\t55\n{one}\tNet income\t6\t7\n"
    rows += f"{other}\tCash\t70\t75\n{other}\tTotal assets\t80\t85\n{other}\tHeadcount\t9\t10\n"
    assert figures(f"EUR thousand\n{head}\tLine\t2024\t2023\n{rows}") == []


def test_a_first_column_of_parts_gives_no_figure_of_the_company() -> None:
    rows = "".join(
        f"{part}\tRevenue\tUSD\t1200\t1500\n{part}\tCOGS\tUSD\t300\t400\n" for part in ("Asia", "Europe", "Africa")
    )
    assert figures(f"Region\tLine\tUnit\t2023\t2024\n{rows}") == []


def test_an_amount_behind_another_companys_name_is_not_the_companys() -> None:
    assert figures("Comparable\tWhat it tells\nBeta Corp\tSimulation. $830M ARR (2025), 2x a year.\n") == []


def test_a_team_is_counted_and_a_targeted_one_is_not() -> None:
    assert figures("Update, 31 March 2026\n\n- Team: 14. One offer open.\n- Targeting: 15 team members by June.\n") == [
        ("headcount", "14", "2026-03-31", None)
    ]


JULY = "2024-07-01/2025-06-15"


@cases(
    ("text", "expected"),
    [
        # a first and a last day that are not whole months apart are both kept
        ("Profit and loss, 01/07/2024 - 15/06/2025\nEUR\nRevenue\t12,000\n", [("revenue", "12000", JULY)]),
        # when a report was printed is no period
        ("Profit and Loss\n31.12.2024 14:05\nEUR\nRevenue\t12,000\n", []),
        # a group of digits that text recognition broke is no number
        ("EUR\t2024\t2023\nRevenue\t16,927,079,00\t15,000,000\n", [("revenue", "15000000", "2023")]),
        # the total below a section's own total is of more than the section
        (
            "EUR\t31.12.2024\nEquity\nShare capital\t20,000\nTotal equity\t50,000\nTotal\t90,000\n",
            [("equity", "50000", "2024-12-31")],
        ),
        ("EUR\t31.12.2024\nCAPITAUX PROPRES I\t50,000\nTOTAL ACTIF I + II\t90,000\n", [
            ("equity", "50000", "2024-12-31"), ("total_assets", "90000", "2024-12-31"),
        ]),
        # sections are statements; parts of the company and scenarios are none, whatever their column is called
        ("Section\tItem\tEUR\t2024\nIncome statement\tRevenue\t\t5,000\n", [("revenue", "5000", "2024")]),
        ("Section\tItem\tEUR\t2024\nEurope\tRevenue\t\t5,000\n", []),
        ("Sheet\tMetric\tEUR\t2024\nBase case\tRevenue\t\t5,000\n", []),
        ("EUR\t2024\nUtilidad o pérdida de operación\t5,000\n", [("operating_income", "5000", "2024")]),
        ("EUR\t2024\t2023\nEBITDA I\t\t500\nRevenue I\t30,000\t20,000\nCustomers II\t300\t200\n", []),
        # "total income" is revenue above costs, and below neither a result nor other income
        ("EUR\t2024\nTuition\t50,000\nTotal income\t53,000\nStaff costs\t40,000\n", [("revenue", "53000", "2024")]),
        ("EUR\t2024\nOther income\nGrants\t50,000\nTotal income\t50,000\nStaff costs\t40,000\n", []),
        ("EUR\t2024\nInterest income\t50,000\nTotal income\t50,000\n", []),
        ("EUR\t2024\nNet income\t50,000\nTotal income\t53,000\nEmployee costs\t1,000\n", [
            ("net_income", "50000", "2024"),
        ]),
        ("Liabilities\nEUR\t31.12.2024\nBank accounts\t5,000\nTotal liabilities\t5,100\n", [
            ("total_liabilities", "5100", "2024-12-31"),
        ]),
        # an update is of the month that its first lines name
        ("Acme update, March 2025\n\n- Cash: $82,000\n", [("cash", "82000", "2025-03-31")]),
        ("Acme update, March 2025 (after February 2025)\n\n- Cash: $82,000\n", []),
        ("Acme update, March 2025\n\nWe aim for cash of $82,000.\n", []),
        ("Acme update, March 2025\n\n- Revenue YTD: $300,000\n- Annual revenue: $900,000\n", []),
        ("Acme update, March 2025\n\n- Cash at year end: $5,000\n- Average debt: $9,000\n", []),
        # as a report is of the time that its head states, in lists under headings on the whole company
        ("Acme\n\nReporting period: July 1 - September 30, 2025\n\n## Key metrics\n\n- Net Income: $9,000\n", [
            ("net_income", "9000", "2025-07-01/2025-09-30"),
        ]),
        ("date: 2017-10-01\ntitle: September Recap – $110 MRR\n\nUSD\tThis Month\tChange\nRevenue\t5,000\t+3%\n", [
            ("revenue", "5000", "2017-09-01/2017-09-30"),
        ]),
        ("Acme update, March 2025\n\n- Headcount: 40 by June\n- Customers: 12 new\n", []),
        ("Acme update, March 2025\n\n- Team: 35 employees by end of Q2\n", []),
        ("Acme\n\nYear ended 30 June 2025\n\n- Cash & cash equivalents: £1,200\n", [("cash", "1200", "2025-06-30")]),
        ("Update on the loan signed March 2019\n\n- Debt: $9,000\n", []),
        ("Update: the accounts were filed in March 2025\n\n- Net income: $9,000\n", []),
        ("FY2024 net income: ($20,000)\n\n2023 EBITDA: ($1.2m)\n", [
            ("net_income", "-20000", "2024"), ("ebitda", "-1200000", "2023"),
        ]),
    ],
)  # fmt: skip
def test_what_private_companies_write(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = [(concept, value, period) for concept, value, period, _ in figures(text)]
    wanted = [
        (concept, value, f"{time}-01-01/{time}-12-31" if len(time) == 4 else time) for concept, value, time in expected
    ]
    assert found == wanted


def test_lists_under_projections_are_planned_and_a_month_may_date_a_document(tmp_path: Path) -> None:
    text = "# Acme\n\nDate: December 2024\n\n## Financial projections\n\n### Growth\n\n- Revenue in {}: $5 million\n"
    for year, basis in ((2025, "forecast"), (2023, "management")):
        (tmp_path / "memo.md").write_text(text.format(year), encoding="utf-8")
        assert [figure["basis"] for figure in read_figures(str(tmp_path / "memo.md"))] == [basis]


NINE_MONTHS = "# Acme reports results for third quarter 2024\n\n{} September 30, 2024\n\n● Revenue was $5,000\n"


@cases(
    ("text", "expected"),
    [
        ("# Acme update, March 2025\n\n## Metrics\n\n### Finance KPIs\n\n- **Cash**: $5,000 (+3%)\n", ["5000"]),
        ("# Acme update, March 2025\n\n## Beta Ltd\n\n- Revenue: $5,000\n", []),
        ("# Acme update, March 2025\n\n## Goals\n\n### Growth\n\n- Revenue: $5,000\n", []),
        ("# Acme update, March 2025\n\n## Growth by segment\n\n- Revenue: $5,000\n", []),
        ("# Acme update, March 2025\n\n## Results of April 2025\n\n### Summary\n\n- Cash: $5,000\n", []),
        ("# Acme update, March 2025\n\n## Metrics\n\n- Cash: $5,000\n\n## Metrics of B\n\n- Cash: $7,000\n", ["5000"]),
        ("# Acme update, March 2025\n\n## Metrics\n\n- Cash: $5,000\n\n## Results\n\n- Cash: $7,000\n", []),
        ("# Acme update, March 2025\n\n## Beta Ltd\n\n### Financial highlights\n\n- Cash: $5,000\n", []),
        ("# Acme annual report 2024\n\n## Customer Beta at a glance\n\n- Revenue: $5,000\n", []),
        ("# Acme annual report 2024\n\n## Key figures\n\n**Beta Ltd**\n\n- Revenue: $5,000\n", []),
        ("# Acme annual report 2024\n\n## Key figures\n\n- Revenue: $5,000\n", ["5000"]),
        # a day alone may be that of writing, and not each title is of this time
        ("# Quarterly results, 30 September 2024\n\n- Revenue: $5,000\n", []),
        ("Acme\n\nReporting period: 30 September 2025\n\n- Revenue: $5,000\n", []),
        ("# Acme\n\nLast update: 2024\n\n- Revenue: $5,000\n", []),
        # accounts say of when they are in their title, which may stand in tags
        ("# Management accounts Q3 2024\n\nARR £5,000, up from last time.\n", ["5000"]),
        ("# Management accounts Q3 2024\n\n## Key metrics\n\n- Team: 14\n- Cash on hand: £5,000\n", ["14", "5000"]),
        ("<h1>Acme</h1>\n<h2>Annual report - Fiscal Year 2024</h2>\n\n## Key figures\n\n- Cash: £5,000\n", ["5000"]),
        ("# Acme\n\nSee also our quarterly report Q2 2024\n\n- Revenue: $5,000\n", []),
        ("# Acme\n\nDate: 12 September 2024\n\nWe may update these numbers.\n\n- Revenue: $5,000\n", []),
        ("# Acme update, 2 April 2025\n\nUSD\tThis month\nRevenue\t5,000\n", []),
        ("# Acme update, March 2025\n\n- Revenue: $5,000 (YTD)\n- Debt: $4 (LTM)\n", []),
        ("# Acme annual report 2024\n\n## Executive summary\n\n### Key Metrics\n\n- Revenue: $5,000\n", ["5000"]),
        ("# Acme\n\nReference: Annual report 2023\n\n- Revenue: $5,000\n", []),
        # a heading on another time, or a line that names somebody else or a plan, stands over what is not of this time
        ("# Management accounts Q3 2024\n\n## The quarter at a glance\n\n- Revenue: £5,000\n", ["5000"]),
        ("# Management accounts Q3 2024\n\n## Prior year\n\n- Revenue: £5,000\n- Team: 9\n", []),
        ("# Management accounts Q3 2024\n\n## Year to date\n\n- Revenue: £5,000\n- Team: 9\n", []),
        ("# Management accounts Q3 2024\n\n## Restated\n\n- Revenue: £5,000\n", []),
        ("# Management accounts Q3 2024\n\n## September 2024\n\n- Revenue: £5,000\n", []),
        ("# Acme annual report 2024\n\n## Fourth quarter\n\n- Revenue: £5,000\n", []),
        # a line of a list counts all people only where nothing else stands in it
        ("# Management accounts Q3 2024\n\n- Number of employees (FTE): 14\n- Customers: 30.\n", ["14", "30"]),
        ("# Management accounts Q3 2024\n\n- Staff turnover: 14\n- Customers: 30 lost\n", []),
        ("# Management accounts Q3 2024\n\n- Team: 14 engineers\n- Employees: 30+\n- Headcount: 9 (budget)\n", []),
        # a text on accounts is not of their time
        ("# Guide Annual Accounts 2024\n\n- Turnover: £632,000\n- Employees: 10\n", []),
        ("# Sample Audited Accounts 2024\n\n- Employees: 10\n", []),
        (NINE_MONTHS.format("The company: nine months ended"), ["5000"]),
        (NINE_MONTHS.format("Beta Inc., nine months ended"), []),
        (NINE_MONTHS.format("North America, nine months ended"), []),
        (NINE_MONTHS.format("Pro forma nine months ended"), []),
    ],
)
def test_lists_of_an_update_are_of_its_month_under_headings_on_the_company(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / "update.md").write_text(text, encoding="utf-8")
    assert [figure["value"] for figure in read_figures(str(tmp_path / "update.md"))] == expected


def test_each_list_of_a_release_is_of_the_time_on_the_line_over_it(tmp_path: Path) -> None:
    text = "# Acme reports results for third quarter 2024\n\n"
    for span, amount in (("Three", 2), ("Nine", 6)):
        text += f"{span} months ended September 30, 2024\n\n● Revenue was ${amount} million\n\n"
    (tmp_path / "release.md").write_text(text, encoding="utf-8")
    periods = [figure["period"] for figure in read_figures(str(tmp_path / "release.md"))]
    assert periods == ["2024-07-01/2024-09-30", "2024-01-01/2024-09-30"]


def pages(*texts: str) -> list[tuple[str, str]]:
    """(value, period) of the figures of these pages."""
    text, places = "", []
    for number, page in enumerate(texts, 1):
        places.append((len(text), len(text) + len(page), "page", str(number)))
        text += f"{page}\f"
    found = find_figures(LedgerDocument(text, places, "a.pdf"), taxonomy()).figures
    return [(f"{each.value:f}", each.period) for each in found]


def test_a_lone_column_has_the_only_time_that_the_lines_of_its_page_name() -> None:
    head = "Acme SA\nBalance sheet\n{}\n" + "What the directors say about it, at length and in words.\n" * 12
    balance = f"{head}\nEUR\nTotal assets\t900,000\n"
    assert pages(balance.format("As of 31 December 2024")) == [("900000", "2024-12-31")]
    assert pages(balance.format("As of 31 December 2024\n\nAs of 31 December 2023")) == []
    assert pages("Annual accounts 2024\n", balance.format("Page 2")) == [("900000", "2024-12-31")]
    assert pages("Annual accounts 2024\nand 2023\n", balance.format("Page 2")) == []


def test_a_page_that_begins_with_the_heading_of_the_page_before_has_its_day() -> None:
    balance = "Acme Ltd\nBalance Sheet\nBasis: Accrual\nAs of 31/03/2024\nAccount\tTotal\nTotal for Assets\t900,000\n"
    assert pages(balance, "Account\tTotal\nTotal for Equity\t700,000\n") == [
        ("900000", "2024-03-31"), ("700000", "2024-03-31"),
    ]  # fmt: skip
    assert pages(balance, "Beta Ltd\nAccount\tTotal\nTotal for Equity\t700,000\n") == [("900000", "2024-03-31")]


FISCAL = "2023-07-01/2024-06-30"


@cases(
    ("heading", "columns", "rows", "expected"),
    [
        # a statement's heading gives bare years their day
        ("Balance sheet as at 30 June 2024", "2024|2023", "Total assets|9|8", [
            ("total_assets", "9", "2024-06-30"), ("total_assets", "8", "2023-06-30"),
        ]),
        ("Gewinn- und Verlustrechnung vom 1.7.2023 bis 30.6.2024", "2023/24|Vorjahr", "Umsatzerlöse|9|8", [
            ("revenue", "9", FISCAL), ("revenue", "8", "2022-07-01/2023-06-30"),
        ]),
        ("Balance sheet as at 30 June 2024", "2023|2022", "Total assets|9|8", [
            ("total_assets", "9", "2023-12-31"), ("total_assets", "8", "2022-12-31"),
        ]),
        ("Approved with the balance sheet of 30 June 2024", "2024|2023", "Total assets|9|8", [
            ("total_assets", "9", "2024-12-31"), ("total_assets", "8", "2023-12-31"),
        ]),
        ("Balance sheet as at 31 March 2024 and projected income", "2024|2023", "Revenue|9|8", [
            ("revenue", "9", "2024-01-01/2024-12-31"), ("revenue", "8", "2023-01-01/2023-12-31"),
        ]),
        # a column of the prior year beside the only year; beside two it is nobody's
        ("Erfolgsrechnung", "2024|Vorjahr", "Nettoerlöse|9|8", [
            ("revenue", "9", "2024-01-01/2024-12-31"), ("revenue", "8", "2023-01-01/2023-12-31"),
        ]),
        ("Erfolgsrechnung", "2024|2023|Vorjahr", "Nettoerlöse|9|8|7", [
            ("revenue", "9", "2024-01-01/2024-12-31"), ("revenue", "8", "2023-01-01/2023-12-31"),
        ]),
        ("Bilan au 31 décembre 2024", "N|N-1", "Total actif|9|8", [
            ("total_assets", "9", "2024-12-31"), ("total_assets", "8", "2023-12-31"),
        ]),
        ("Income statement", "2024|vs prior year", "Revenue|9|2", [("revenue", "9", "2024-01-01/2024-12-31")]),
        # days of other calendars are no names, and the end of a date is no year
        ("Balance sheet", "31 December 2023 (18 Jumada II 1445H)", "Total assets|9", [
            ("total_assets", "9", "2023-12-31"),
        ]),
        ("Balance sheet", "As at Ashad 32, 2082 (July 16, 2025)", "Total assets|9", [
            ("total_assets", "9", "2025-07-16"),
        ]),
        ("As at Ashad 32, 2082 (July 16,", "2025) Total|Shares", "Profit for the year|9|8", []),
        # years in titles that are no time of figures
        ("Established 1998", "Amount", "Total assets|9", []),
        ("Registered under the Companies Act 2006", "Amount", "Total assets|9", []),
        # the result in a balance sheet may be that of the year so far
        ("Balance sheet", "October 31, 2024", "Total assets|9;Net income|5", [("total_assets", "9", "2024-10-31")]),
        ("Balance sheet", "December 31, 2024", "Total assets|9;Net income|5", [
            ("total_assets", "9", "2024-12-31"), ("net_income", "5", "2024-01-01/2024-12-31"),
        ]),
        # an item of a total is not the total
        ("Balance sheet", "2024", "Owner's equity|1;Retained earnings|5;Net income|2;Total equity|8", [
            ("net_income", "2", "2024-01-01/2024-12-31"), ("equity", "8", "2024-12-31"),
        ]),
        ("Balance sheet", "2024", "Owners' equity|7;Non-controlling interests|1;Total equity|8", [
            ("equity", "7", "2024-12-31"),
        ]),
        ("Balance sheet", "2024", "Domestic equities|5;Total equities|8", []),
        ("Balance sheet", "2024", "Owner's equity|1;Total for Equities|8", [("equity", "8", "2024-12-31")]),
        ("Profit and loss", "2024", "Sales|20;Services|10;Total income|30;Total cost of goods sold|5;Gross profit|25", [
            ("cost_of_revenue", "5", "2024-01-01/2024-12-31"), ("gross_profit", "25", "2024-01-01/2024-12-31"),
            ("revenue", "30", "2024-01-01/2024-12-31"),
        ]),
        ("Profit and loss", "2024", "Sales|20;Other income|1;Total income|21;Cost of sales|5;Gross profit|15", [
            ("revenue", "20", "2024-01-01/2024-12-31"), ("cost_of_revenue", "5", "2024-01-01/2024-12-31"),
            ("gross_profit", "15", "2024-01-01/2024-12-31"),
        ]),
        ("Profit and loss", "2024", "Sales|20;Total for Operating Income|21;Operating profit|3", [
            ("revenue", "21", "2024-01-01/2024-12-31"), ("operating_income", "3", "2024-01-01/2024-12-31"),
        ]),
    ],
)  # fmt: skip
def test_statements_by_their_headings_and_sums(
    heading: str, columns: str, rows: str, expected: list[tuple[str, str, str]]
) -> None:
    thousands = re.sub(r"\|(\d+)", r"|\1,000", rows).replace(";", "\n")
    text = f"{heading}\nEUR|{columns}\n{thousands}\n".replace("|", "\t")
    found = [(concept, value, period) for concept, value, period, _ in figures(text)]
    assert sorted(found) == sorted((concept, f"{value}000", period) for concept, value, period in expected)


def test_what_is_current_is_not_the_whole() -> None:
    found = figures("Debt at 31 December 2024\nEUR\tCurrent\tNon-current\tTotal\nTotal debt\t1,150\t1,200\t2,350\n")
    assert [(value, entity) for _, value, _, entity in found] == [
        ("1150", "Current"), ("1200", "Non-current"), ("2350", None),
    ]  # fmt: skip


def test_segments_have_their_current_and_previous_years() -> None:
    head = "Notes for the year ended 31 March 2025\nEUR\n\tRoads\t\tRails\t\n\tCurrent year\tPrevious year"
    assert figures(f"{head}\tCurrent year\tPrevious year\nRevenue\t9,000\t8,000\t7,000\t6,000\n") == [
        ("revenue", "9000", "2024-04-01/2025-03-31", "Roads"), ("revenue", "8000", "2023-04-01/2024-03-31", "Roads"),
        ("revenue", "7000", "2024-04-01/2025-03-31", "Rails"), ("revenue", "6000", "2023-04-01/2024-03-31", "Rails"),
    ]  # fmt: skip


@cases(
    ("text", "expected"),
    [
        ("貸借対照表\n(令和6年3月31日現在)\n(単位:千円)\n科目\t金額\n資産合計\t250,000\n", [
            ("total_assets", "250000000", "2024-03-31"),
        ]),
        ("損益計算書\n自令和5年4月1日至令和6年3月31日\n(単位：円)\n科目\t金額\nⅠ 売上高\t1,250,000\n", [
            ("revenue", "1250000", "2023-04-01/2024-03-31"),
        ]),
        ("平成30年3月期\n(単位：円)\n科目\t金額\n売上高\t1,250\n", [("revenue", "1250", "2017-04-01/2018-03-31")]),
        ("재무상태표\n2023년 12월 31일 현재\n(단위: 천원)\n\t제 2(당) 기\t제 1(전) 기\n자산총계\t9,000\t8,000\n", [
            ("total_assets", "9000000", "2023-12-31"), ("total_assets", "8000000", "2022-12-31"),
        ]),
        ("资产负债表\n2023年12月31日\n人民币千元\n项目\t期末余额\t期初余额\n货币资金\t9,000\t8,000\n", [
            ("cash", "9000000", "2023-12-31"), ("cash", "8000000", "2022-12-31"),
        ]),
        # parts of a year, the last year's end beside them, plans and the group are not told by a year or a day alone
        ("资产负债表\n2023年9月30日\n人民币千元\n项目\t期末余额\t年初余额\n货币资金\t9,000\t8,000\n", [
            ("cash", "9000000", "2023-09-30"),
        ]),
        ("人民币千元\n项目\t2023年上半年\t2022年上半年\n资产总计\t9,000\t8,000\n", []),
        ("截至2023年6月30日止六個月\n港幣千元\n\t2023年\t2022年\n資產總額\t9,000\t8,000\n", []),
        ("2025年预算\n人民币千元\n项目\t2025年\t2024年\n资产总计\t9,000\t8,000\n", []),
        ("(단위: 천원)\n\t2023년 연결\t2023년 별도\n자산총계\t9,000\t8,000\n", []),
        ("公司成立于2001年5月1日\n人民币千元\n项目\t金额\n资产总计\t9,000\n", []),
        ("2023年12月31日\n單位：新臺幣仟元\n項目\t2023年\n資產總額\t9,000\n營業收入\t9,000\n", [
            ("total_assets", "9000000", "2023-12-31"),
        ]),
        # columns that nothing tells apart
        ("Balance sheet as at 31 December 2023\n\tEUR\tEUR\nTotal assets\t9,000\t8,000\n", []),
    ],
)  # fmt: skip
def test_statements_of_eastern_asia_and_columns_alike(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [each[:3] for each in figures(text)] == expected


def test_a_sum_without_a_name_is_that_of_the_side_of_the_balance_sheet() -> None:
    rows = "I. Sachanlagen||12.345|15.000;B. Umlaufvermögen|||;1. Gold|30.000||28.000;2. Übriges|5.000|35.000|4.000"
    text = (
        f"BILANZ zum 31.12.2023\nAKTIVA\n|EUR|2023 EUR|2022 EUR\nA. Anlagevermögen|||\n{rows.replace(';', chr(10))}\n"
    )
    total = "||47.345|47.000\n"
    assert figures((text + total).replace("|", "\t")) == [
        ("total_assets", "47345", "2023-12-31", None), ("total_assets", "47000", "2022-12-31", None),
    ]  # fmt: skip
    assert figures((text + total.replace("47.345", "47.346")).replace("|", "\t")) == []


def test_a_sum_of_sections_is_not_what_the_first_of_them_is_called() -> None:
    head = "Equity\nEUR|2024\nShare capital|100,000\nReserves|300,000\n|400,000\n"
    other = "Liabilities\nLoans|100,000\nPayables|200,000\n|300,000\nTotal|700,000\n"
    equity = [("equity", "400000", "2024-12-31", None)]
    assert figures((head + other).replace("|", "\t")) == equity
    assert figures((head + other).replace("|400,000\n", "").replace("|", "\t")) == []


def test_the_months_of_a_report_are_not_the_heads_of_its_columns() -> None:
    head = "Profit and Loss\nFrom: Month 1, April 2023\nTo: Month 12, March 2024\n\tPeriod\tYear to Date\n"
    assert figures(f"{head}Sales\t120,000\t120,000\n") == []


def test_rows_that_bars_part_are_a_table_from_three_on() -> None:
    rows = "Income statement (USD)\n\n{0}Item | 2024 | 2023{1}\n{0}Revenue | 1,200,000 | 900,000{1}\n"
    more = "{0}Net income | 90,000 | 80,000{1}\n"
    for ends in (("", ""), ("| ", " |"), ("  2. ", "")):
        said = {(concept, value, period[-10:]) for concept, value, period, _ in figures((rows + more).format(*ends))}
        assert said >= {("revenue", "1200000", "2024-12-31"), ("net_income", "80000", "2023-12-31")}, ends
    assert not figures(rows.format("", ""))
    ruled = "| Metric | Beta Ltd |\n|---|---|\n| Revenue 2024 | 9,000,000 |\n| Cash | 90,000 |\n| Equity | 80,000 |\n"
    assert {entity for *_, entity in figures(ruled)} <= {"Beta Ltd"}


def test_what_every_page_states_counts_before_the_scale_of_a_few_tables() -> None:
    page = "(All amounts in Saudi Arabian Riyal (SAR), unless otherwise stated)\n"
    table = "Balance sheet\n\tNotes\t2023 SAR\nTotal assets\t\t19,422,450,754\n\n"
    scaled = "Dividends are stated below. All amounts in thousands SAR.\n"
    assert figures(table + page * 3 + scaled)[0][1] == "19422450754"
    assert figures(table + scaled)[0][1] == "19422450754000"


def test_the_people_of_an_item_of_a_list_are_not_all_people() -> None:
    text = "Update, 31 December 2024\n\n- **Team**: 25 employees\n- **Engineering**: 8 people (+2)\n- Sales: 6 people"
    assert [value for concept, value, _, _ in figures(text) if concept == "headcount"] == ["25"]


def test_numbers_of_years_name_no_part_of_the_company() -> None:
    found = figures("EUR\n\t2022 (Y0)\t2023 (Y1)\t2024 (Y2)\nRevenue\t120000\t140000\t190000\n")
    assert [entity for _, _, _, entity in found] == [None] * 3
    found = figures("EUR\n\t2024 (A1)\t2024 (O2)\t2024 (B)\nRevenue\t120000\t140000\t190000\n")
    assert [entity for _, _, _, entity in found] == ["A1", "O2", "B"]


@cases(
    ("title", "values"),
    [
        *((title, ["45000", "51000"]) for title in ("Summary", "SUMMARY VALUES", "BS", "Balance sheet")),
        *((title, []) for title in ("UK", "Best case", "M-Pharma", "Entry")),
    ],
)
def test_a_name_over_all_columns_is_of_nobody_unless_it_is_of_the_whole(title: str, values: list[str]) -> None:
    found = figures(f"EUR\t{title} 2023\t{title} 2024\nRevenue\t45,000\t51,000\n")
    assert [(value, entity) for _, value, _, entity in found] == [(value, None) for value in values]


@cases(
    ("rows", "kept"),
    [
        ("Net income\t950\t1,050\n", ["950", "1050"]),
        ("Revenue\t45,000\t51,000\nNet income\t465.69\t510\n", ["45000", "51000"]),
        ("Net income\t50\t1,050\n", ["1050"]),
        ("Net income\t450\t465\n", []),
        ("Net income\t950\t€1,050\n", ["1050"]),
        ("Sales (units)\t350\t410\nRevenue\t120,000\t130,000\n", ["120000", "130000"]),
        ("Sales (units)\t950\t1,050\nRevenue\t120,000\t\n", ["120000", "1050"]),
    ],
)
def test_a_small_amount_is_kept_beside_others_of_its_row_without_scale_and_currency(rows: str, kept: list[str]) -> None:
    assert sorted(value for _, value, *_ in figures("\t2022\t2023\n" + rows)) == sorted(kept)


def test_rows_of_several_companies_are_those_of_none_of_them_alone() -> None:
    head = "Year\tCompany\tRevenue\tTotal assets\n"
    rows = "2022\tAlpha\t$45,000\t$90,000\n2023\tAlpha\t$51,000\t$95,000\n"
    several = figures(f"{head}{rows}2022\tBeta\t$62,000\t$70,000\n2023\tBeta\t$66,000\t$75,000\n")
    assert {entity for *_, entity in several} == {"Alpha", "Beta"}
    symbols = figures("Date\tSymbol\tTotal assets\n2024-12-31\tAAA\t100000\n2024-12-31\tBBB\t90000\n")
    assert [entity for *_, entity in symbols] == ["AAA", "BBB"]
    items = "Środki pieniężne\tB.III\t40000\nNależności\tB.II\t9000\nNależności\tA.III\t4000\n"
    polish = figures(f"Bilans na dzień 31.12.2024, PLN\nPozycja\tSymbol\t31.12.2024\n{items}")
    assert polish == [("cash", "40000", "2024-12-31", None)]
    assert {entity for *_, entity in figures(head + rows)} == {None}
    market = figures("EUR\tCompany\t2023\nRevenue\tTotal\t1,000,000\nRevenue\tAlpha\t400,000\n")
    assert [(value, entity) for _, value, _, entity in market] == [("1000000", "Total"), ("400000", "Alpha")]


@cases(
    ("labels", "cells"),
    [
        ("Revenue Cash Equity", "Acme|Acme S.A.|ACME"),
        ("Revenue Cash Equity", "See note|Unaudited|Draft"),
        ("Revenue Revenue Revenue", "EUR|USD|GBP"),
        ("Revenue Revenue Revenue", "n/a|see note|unaudited"),
    ],
)
def test_a_column_of_companies_has_several_for_rows_of_one_label(labels: str, cells: str) -> None:
    rows = zip(labels.split(), cells.split("|"), strict=True)
    text = "EUR\tCompany\t2023\n" + "".join(f"{label}\t{cell}\t1,000,000\n" for label, cell in rows)
    assert {entity for *_, entity in figures(text)} == {None}


@cases(
    ("line", "counted"),
    [
        ("Team: 14", ["14"]),
        ("Team: 14 people", ["14"]),
        ("Team: 14 (2025: 12)", ["14"]),
        ("Team: 14 as of 31 March 2026", ["14"]),
        ("Mitarbeiter: 14 Beschäftigte", ["14"]),
        ("Team: 14 of whom 3 part-time", ["14"]),
        ("Mitarbeiter: 14 per 31.12.2025", ["14"]),
        ("Mitarbeiter: 14 Vollzeitkräfte", ["14"]),
        ("Team: 14 per user", []),
        ("Team: 14, billed monthly", []),
        ("Team: 14 (per month)", []),
        ("Team: 14 of 25 seats", []),
        ("Team: 14 days", []),
        ("Staff: 30-day notice", []),
        ("Staff: 30 calendar days", []),
        ("Mitarbeiter: 14 Werktage", []),
        ("Team: 14 GB", []),
        ("Team: 25 seats", []),
        ("Team: 14 €", []),
        ("Customers: 24h", []),
        ("Team: 14 on request", []),
        ("Team: 14 as needed", []),
        ("Team: 14 at $5", []),
        ("Team: 14 am", []),
        ("Team: 14 up to 20", []),
        ("Team: 14 – monthly", []),
        ("Team: 14 - 20", []),
        ("Team: 14 active days", []),
        ("Team: 14 (days)", []),
        ("Team: 14 [days]", []),
        ("Mitarbeiter: 14 im Monat", []),
        ("Staff: 14 part payments", []),
    ],
)
def test_a_line_of_a_list_counts_people_where_nothing_else_is_behind_the_number(line: str, counted: list[str]) -> None:
    assert [value for _, value, *_ in figures(f"Report, 31 March 2026\n\nSize:\n- {line}\n")][:1] == counted


def test_the_sections_of_a_balance_sheet_are_no_parts_of_the_company() -> None:
    rows = (
        "Assets\t90,000,000\nLångfristiga skulder\nBorrowings\t26,425,000\nKortfristiga skulder\nBorrowings\t300,000\n"
    )
    assert not figures(f"SEK\t2013-12-31\n{rows}")
    rows = "Other income\t5,000\nProducts\nRevenue\t9,000,000\nServices\nRevenue\t4,000,000\n"
    assert [entity for *_, entity in figures(f"EUR\t2024\n{rows}")] == ["Products", "Services"]


def test_nobody_is_no_count_of_people() -> None:
    assert not figures("Notes of 2 May 2025\n\nThe quotation is for a club with 0 employees.\n")
    assert figures("Notes of 2 May 2025\n\nThe quotation is for a club with 10 employees.\n")[0][1] == "10"


ACCOUNT_FORM = """AKTIVA\t\t\tPASSIVA
\t31.12.2024 EUR\t31.12.2023 EUR\t\t31.12.2024 EUR\t31.12.2023 EUR
B. Umlaufvermögen\t\t\tRücklagen\t46.379,97\t4.279,46
Kassenbestand, Guthaben bei Kreditinstituten\t286.844,04\t70.053,68\tVerbindlichkeiten\t41.180,43\t1.358,48
"""


@cases("behind", ["", "E. Rechnungsabgrenzungsposten 0,00 10.355,44\n556.708,40 71.003,52 556.708,40 71.003,52\n"])
def test_each_side_of_an_account_form_has_its_own_numbers(behind: str) -> None:
    cash = [("cash", "286844.04", "2024-12-31", None), ("cash", "70053.68", "2023-12-31", None)]
    assert figures(f"Bilanz zum 31. Dezember 2024\n{ACCOUNT_FORM}{behind}") == cash


def test_margins_behind_amounts_are_no_side_of_an_account_form() -> None:
    head = "\t2023\t2024\tMargins\t2023\t2024\n"
    rows = "Revenue\t100\t120\tGross margin\t60\t58\nGross profit\t60\t70\tEBITDA margin\t20\t21\n"
    assert figures(f"Income statement, EUR thousand\n{head}{rows}") == []


def test_names_of_accounts_head_no_column_of_numbers() -> None:
    rows = (
        "0630\tBetriebsausstattung\t369,00\t615,48\n0675\tWirtschaftsgüter\t250,00\t334,36\n1800\tBank\t286,00\t7,00\n"
    )
    head = "Kontennachweis zur Bilanz zum 31. Dezember 2024\nKonto\tBezeichnung\tGeschäftsjahr EUR\tVorjahr EUR\n"
    found = [("total_assets", "556708.40", "2024-12-31", None), ("total_assets", "71003.52", "2023-12-31", None)]
    assert figures(f"{head}{rows}Summe Aktiva 556.708,40 71.003,52\n") == found


def test_a_currency_may_be_written_to_the_day_of_a_column() -> None:
    found = figures("Bilanz\n\t31.12.2024EUR\t31.12.2023 EUR\nBilanzsumme\t597.102,82\t556.708,40\n")
    assert [value for _, value, *_ in found] == ["597102.82", "556708.40"]


@cases(
    ("rows", "years"),
    [
        ("Revenue\t42,794\t0\nStaff costs\t750\t0\nNet profit\t32,139\t0\n", ["2024", "2024"]),
        ("Revenue\t42,794\t0\nNet profit\t32,139\t0\n", ["2024", "2023", "2024", "2023"]),
        ("Revenue\t0\t0\nGross profit\t0\t0\nNet loss\t(5,000)\t(7,000)\n", ["2024", "2023"] * 3),
        ("Revenue\t42,794\t0\nCost of sales\t1,750\t0\nGross profit\t42,044\t0\n", ["2024", "2023"] * 3),
        ("Bank loans\t0\t10,000\nVenture debt\t0\t5,000\nTotal debt\t0\t15,000\n", ["2024", "2023"]),
    ],
)
def test_a_column_of_noughts_alone_was_not_filled_in(rows: str, years: list[str]) -> None:
    assert [period[:4] for *_, period, _ in figures(f"Profit and loss, EUR\n\t2024\t2023\n{rows}")] == years


@cases(
    ("months", "periods"),
    [
        (
            ("2022-03", "2023-03", "2024-03"),
            ["2021-04-01/2022-03-31", "2022-04-01/2023-03-31", "2023-04-01/2024-03-31"],
        ),
        (("2024-01", "2024-02"), ["2024-01-01/2024-01-31", "2024-02-01/2024-02-29"]),
        (("2023-03", "2024-03"), []),
        (("2022-01", "2023-01", "2024-01"), []),
    ],
)
def test_months_a_year_apart_may_end_fiscal_years(months: tuple[str, ...], periods: list[str]) -> None:
    amounts = "\t".join(f"{at}0,000" for at in range(1, len(months) + 1))
    rows = f"Revenue\t{amounts}\nCash\t{amounts}\n"
    found = figures("EUR\n\t" + "\t".join(months) + f"\n{rows}")
    assert [period for name, _, period, _ in found if name == "revenue"] == periods
    assert sum(name == "cash" for name, *_ in found) == len(months)


def test_a_title_of_years_makes_a_month_that_stands_twice_no_period() -> None:
    rows = "\t2023-06\t2024-06\nTurnover\t40,200\t50,300\n"
    assert figures(f"Year ended June, GBP\n{rows}") == []
    assert [period for *_, period, _ in figures(f"Monthly report June 2024, GBP\n{rows}")] == [
        *("2023-06-01/2023-06-30", "2024-06-01/2024-06-30"),
    ]


@cases(
    "head",
    """Förändring 2024|Ændring fra 2023|Wijziging t.o.v. 2023|Mutatie 2024|Variação 2024|Muutos 2024|Změna 2024
    Rozdíl 2024|Zmiana 2024|Änderung 2024|Écart 2024|Diferencia 2024|Index 2024""".replace("\n    ", "|").split("|"),
)
def test_a_column_of_changes_is_no_part_of_the_company(head: str) -> None:
    rows = "Revenue\t500,000\t400,000\t100,000\nEquity\t300,000\t200,000\t100,000\n"
    found = figures(f"EUR\n\t2024\t2023\t{head}\n{rows}")
    assert [value for _, value, *_ in found] == ["500000", "400000", "300000", "200000"]


QUARTERS, YEARS = ("2024-10-01/2024-12-31", "2025-10-01/2025-12-31"), (YEAR, "2025-01-01/2025-12-31")


@cases(
    ("head", "periods"),
    [
        ("\tQuarter ended\tDecember 31,\tYear ended December 31,\t\n\t2024\t2025\t2024\t2025", (*QUARTERS, *YEARS)),
        ("\tQuarter ended 2024\tDecember 31, 2025\tYear ended 2024\tDecember 31, 2025", (*QUARTERS, *YEARS)),
        ("\tQuarter ended\tDecember 31,\tYear ended\tDecember 31,\n\t2024\t2025\t2024\t2025", (*QUARTERS, *YEARS)),
        ("\tYear ended\tDecember 31,\n\t2024\t2025", YEARS),
        ("\tYear ended December 31, 2024\tDecember 31, 2025", YEARS),
    ],
)
def test_a_heading_over_two_columns_may_be_torn_at_its_day(head: str, periods: tuple[str, ...]) -> None:
    count = len(periods)
    amounts = "".join(f"\t{number}11,222" for number in range(1, count + 1))
    found = figures(f"EUR\n{head}\nRevenue{amounts}\nNet income{amounts}\n")
    assert [period for concept, _, period, _ in found if concept == "revenue"] == [*periods]


@cases(
    ("rows", "cash"),
    [
        (
            (
                "Cash\t7,413\t7,192",
                "Balances at central banks\t37,542\t36,275",
                "Total cash and cash equivalents\t44,955\t43,467",
            ),
            False,
        ),
        (("Cash\t7,413\t7,192", "Investments\t37,542\t36,275", "Total cash and investments\t44,955\t43,467"), True),
        (
            (
                "Cash\t7,413\t7,192",
                "Securities\t37,542\t36,275",
                "Total cash, cash equivalents and securities\t44,955\t43,467",
            ),
            True,
        ),
        (("Cash\t7,413\t7,192", "Total cash and cash equivalents at end of year\t7,413\t7,192"), True),
        (("Cash and cash equivalents\t7,413\t7,192", "Total current assets\t44,955\t43,467"), True),
        (("Efectivo\t7,413\t7,192", "Bancos\t37,542\t36,275", "Total efectivo y equivalentes\t44,955\t43,467"), False),
    ],
)
def test_cash_that_a_total_of_cash_holds_is_a_part_of_it(rows: tuple[str, ...], *, cash: bool) -> None:
    found = figures("EUR thousand\n\t31 December 2024\t31 December 2023\n" + "\n".join(rows) + "\n")
    assert any(concept == "cash" and value == "7413000" for concept, value, *_ in found) is cash


def test_funds_of_shareholders_without_other_comprehensive_income_are_not_all_equity() -> None:
    head = "EUR thousand\n\t31 December 2024\t31 December 2023\n"
    rows = "Shareholders' funds\t52,821\t50,639\nAccumulated other comprehensive income\t(5,458)\t(3,349)\n"
    rows += "Non-controlling interests\t8,064\t7,992\nTotal equity\t55,427\t55,282\n"
    assert {value for concept, value, *_ in figures(head + rows) if concept == "equity"} == {"55427000", "55282000"}

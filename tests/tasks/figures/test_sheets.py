"""Tables as finance teams write them: units of their own, blocks side by side, the year before, the year to date."""

import datetime as dt
from pathlib import Path

import openpyxl
import pytest

from tasks.figures import read_figures
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tests.cases import cases
from tests.written import workbook_of

Row = list[object]


def figures(text: str, name: str = "accounts.txt") -> list[tuple[str, str, str, str, str | None]]:
    """(concept, value, unit, period, entity) of a text."""
    return [
        (figure.concept, f"{figure.value:f}", figure.unit, figure.period, figure.entity)
        for figure in find_figures(LedgerDocument(text, [], name), taxonomy()).figures
    ]


def sheet(folder: Path, rows: list[Row]) -> list[tuple[str | None, ...]]:
    """(concept, value, period, entity, basis) of a workbook of these rows."""
    workbook_of(*rows)[0].save(folder / "book.xlsx")
    return [
        (figure["concept"], figure["value"], figure["period"], figure["entity"], figure["basis"])
        for figure in read_figures(str(folder / "book.xlsx"))
    ]


def test_a_month_beside_its_budget_the_year_before_and_the_year_to_date(tmp_path: Path) -> None:
    rows: list[Row] = [
        ["Management accounts, GBP thousands"],
        ["", "Jun-25", "Jun-25", "Jun-25", "Jun-25", "YTD Jun-25"],
        ["", "Actual", "Budget", "Variance", "Prior year", "Actual"],
        ["Revenue", 812, 790, 22, 701, 4730],
    ]
    assert sheet(tmp_path, rows) == [
        ("revenue", "812000", "2025-06-01/2025-06-30", None, "management"),
        ("revenue", "790000", "2025-06-01/2025-06-30", None, "budget"),
        ("revenue", "701000", "2024-06-01/2024-06-30", None, "management"),
        ("revenue", "4730000", "2025-01-01/2025-06-30", None, "management"),
    ]


def test_the_last_twelve_months_are_a_year_to_their_month_and_pro_forma_is_apart(tmp_path: Path) -> None:
    rows: list[Row] = [["£m", "FY23", "LTM Sep-24", "PF LTM Sep-24"], ["Revenue", 118.7, 126.3, 140.9]]
    assert sheet(tmp_path, rows)[1:] == [
        ("revenue", "126300000", "2023-10-01/2024-09-30", None, "management"),
        ("revenue", "140900000", "2023-10-01/2024-09-30", None, "pro_forma"),
    ]


def test_the_year_to_date_without_its_day_is_left_out() -> None:
    assert figures("EUR m\tYTD 2025\t2024\nRevenue\t4.1\t7.9\n") == [
        ("revenue", "7900000", "EUR", "2024-01-01/2024-12-31", None)
    ]


@cases(
    ("unit", "value", "currency"),
    [
        ("$000", "6300000", "USD"),
        ("CHF000", "6300000", "CHF"),
        ("in CHF 1’000", "6300000", "CHF"),
        ("kEUR", "6300000", "EUR"),
        ("TCHF", "6300000", "CHF"),
        ("$mm", "6300000000", "USD"),
        ("2024 $’m", "6300000000", "USD"),
        ("₹ Cr", "63000000000", "INR"),
        ("Rs. in lakhs", "630000000", "INR"),
    ],
)
def test_units_on_a_line_of_their_own_hold_for_the_table(unit: str, value: str, currency: str) -> None:
    text = f"Income statement\n{unit}\n\n\tFY24\tFY23\nRevenue\t6,300\t5,100\n"
    assert figures(text)[0] == ("revenue", value, currency, "2024-01-01/2024-12-31", None)


@pytest.mark.parametrize(("over", "assets"), [("Balance sheet", "50000000"), ("Balance sheet, USD", "50000")])
@pytest.mark.parametrize("gap", [[], [[""], ["Notes"]]])
def test_units_alone_at_the_top_of_a_sheet_hold_for_its_tables(
    tmp_path: Path, over: str, assets: str, gap: list[Row]
) -> None:
    rows: list[Row] = [["USD thousands"], ["", 2023], ["Revenue", 5000], [], *gap, [], [over], [], ["", 2023]]
    assert [figure[1] for figure in sheet(tmp_path, [*rows, ["Total assets", 50000]])] == ["5000000", assets]
    rows = [
        ["USD thousands"],
        ["", 2023],
        ["Revenue", 5000],
        [],
        ["Notes"],
        [],
        ["", 2023],
        ["Total assets", "$500,000"],
    ]
    assert sheet(tmp_path, rows)[-1][1] == "500000"


def test_units_beside_the_title_or_under_one_column_hold_for_all_columns() -> None:
    beside = "ARR bridge\t€m\n\tQ1 2025\tQ2 2025\nClosing ARR\t7.6\t8.2\n"
    under = "\tYears ended December 31,\n\t2024\t2023\n\t(USD in millions, except per share data)\nRevenue\t310\t280\n"
    assert [value for _, value, *_ in figures(beside)] == ["7600000", "8200000"]
    assert [value for _, value, *_ in figures(under)] == ["310000000", "280000000"]


def test_a_column_of_units_says_what_each_row_is_in() -> None:
    text = (
        "KPI\tUnit\tDec 2024\nARR\tEUR m\t7.3\nCustomers\t#\t149\nGross churn (annual)\t%\t6.6\n"
        "Employees (FTE)\t#\t71\nCash\tEUR k\t1890\n"
    )
    assert [(concept, value, unit) for concept, value, unit, *_ in figures(text)] == [
        ("recurring_revenue", "7300000", "EUR"),
        ("customers", "149", "count"),
        ("churn", "6.6", "percent"),
        ("headcount", "71", "count"),
        ("cash", "1890000", "EUR"),
    ]


def test_tables_side_by_side_are_two() -> None:
    text = (
        "Income statement\tCHF000\t\t\tBalance sheet\tCHF000\n\tFY24\tFY23\t\t\t31.12.2024\n"
        "Revenue\t15,400\t14,100\t\tCash and cash equivalents\t2,210\nEBITDA\t2,100\t1,750\t\tTotal assets\t9,900\n"
    )
    assert [(concept, value, period) for concept, value, _, period, _ in figures(text)] == [
        ("revenue", "15400000", "2024-01-01/2024-12-31"),
        ("revenue", "14100000", "2023-01-01/2023-12-31"),
        ("cash", "2210000", "2024-12-31"),
        ("ebitda", "2100000", "2024-01-01/2024-12-31"),
        ("ebitda", "1750000", "2023-01-01/2023-12-31"),
        ("total_assets", "9900000", "2024-12-31"),
    ]


def test_words_between_numbers_that_are_no_labels_begin_no_table() -> None:
    text = "EUR m\t2024\tComment\t2023\nRevenue\t9.4\tas audited\t7.1\nEBITDA\t1.4\tunder review\t1.1\n"
    assert [value for _, value, *_ in figures(text)] == ["9400000", "7100000", "1400000", "1100000"]


def test_a_rank_or_an_account_number_before_the_label_is_passed_by() -> None:
    customers = (
        "Top customers, USD k\nRank\tCustomer\tRevenue FY2024\t% of total\n1\tOrbis Retail\t2140\t0.268\n"
        "\tOther (41 customers)\t3979\t0.5\n\tTotal\t7984\t1\n"
    )
    accounts = "EUR k\t\t2024\t2023\n4000\tRevenue\t812\t790\n"
    assert [(value, entity) for _, value, _, _, entity in figures(customers)] == [
        ("2140000", "Orbis Retail"),
        ("3979000", "Other (41 customers)"),
        ("7984000", None),
    ]
    assert [value for _, value, *_ in figures(accounts)] == ["812000", "790000"]


def test_parts_under_the_title_that_says_what_they_are() -> None:
    text = "Revenue by segment, EUR million\nSegment\t2024\nLicences\t12.4\nMaintenance\t20.1\nTotal\t32.5\n"
    assert [(value, entity) for _, value, _, _, entity in figures(text)] == [
        ("12400000", "Licences"),
        ("20100000", "Maintenance"),
        ("32500000", None),
    ]


def test_a_share_is_no_number_of_shares() -> None:
    text = "Cap table as of 30 June 2025\nShareholder\tTotal\t% fully diluted\nTotal fully diluted\t10,000,000\t1\n"
    assert [value for _, value, *_ in figures(text)] == ["10000000"]


def test_points_are_thousands_where_nothing_else_is_written() -> None:
    text = "Beträge in TEUR\n\tJan–Dez 2024\tJan–Dez 2023\nUmsatzerlöse\t8.412\t7.655\nEBITDA\t1.105\t892\n"
    assert [(value, period) for _, value, _, period, _ in figures(text)][:3] == [
        ("8412000", "2024-01-01/2024-12-31"),
        ("7655000", "2023-01-01/2023-12-31"),
        ("1105000", "2024-01-01/2024-12-31"),
    ]


def test_what_happened_is_no_budget_in_a_budget(tmp_path: Path) -> None:
    rows: list[Row] = [["Budget 2026", "NOK million"], ["", "2026", "2025 actual"], ["Revenue", 66, 58.2]]
    assert [(value, basis) for _, value, _, _, basis in sheet(tmp_path, rows)] == [
        ("66000000", "budget"),
        ("58200000", "management"),
    ]


def test_columns_headed_by_the_first_day_of_a_month_are_months(tmp_path: Path) -> None:
    days: list[object] = [dt.date(2024, month, 1) for month in (1, 2, 3)]
    found = sheet(tmp_path, [["P&L by month (EUR k)"], ["", *days, "FY 2024"], ["Net revenue", 100, 101, 102, 1266]])
    assert [period for _, _, period, *_ in found] == [
        "2024-01-01/2024-01-31",
        "2024-02-01/2024-02-29",
        "2024-03-01/2024-03-31",
        "2024-01-01/2024-12-31",
    ]


def test_numbers_that_begin_like_years_are_numbers() -> None:
    assert figures("USD thousand\tJun-23\tJun-24\nEnding ARR\t14820\t19350\nHeadcount\t1840\t2012\n") == [
        ("recurring_revenue", "14820000", "USD", "2023-06-30", None),
        ("recurring_revenue", "19350000", "USD", "2024-06-30", None),
        ("headcount", "1840", "count", "2023-06-30", None),
        ("headcount", "2012", "count", "2024-06-30", None),
    ]


def test_a_count_that_looks_like_a_year_in_a_tables_only_row() -> None:
    assert figures("As at\t31-Mar-23\t31-Mar-24\nHeadcount\t1840\t2012\n")[1][1] == "2012"


@cases(
    ("header", "values"),
    [
        ("NOKm\t2023A\t2024A", ["4390000000", "4812000000"]),
        ("EURk\tFY23A\tFY24A", ["4390000", "4812000"]),
        ("in Mio. €\tGJ 2022/23\tGJ 2023/24", ["4390000000", "4812000000"]),
    ],
)
def test_years_and_units_as_models_write_them(header: str, values: list[str]) -> None:
    assert [(value, entity) for _, value, _, _, entity in figures(f"{header}\nEBITDA\t4390\t4812\n")] == [
        (value, None) for value in values
    ]


def test_segments_under_a_title_that_names_them() -> None:
    assert figures("Segment sales\nNet sales, CHF m\t2022\t2023\nImplants\t61.2\t72.5\n") == [
        ("revenue", "61200000", "CHF", "2022-01-01/2022-12-31", "Implants"),
        ("revenue", "72500000", "CHF", "2023-01-01/2023-12-31", "Implants"),
    ]


def test_german_points_are_thousands_beside_dates_and_words_that_a_cell_has_cut() -> None:
    text = "in T€\t31.12.2023\t31.12.2022\nSumme Aktiva\t141.020\t129.433\nFinanzverbindlichkeite n\t42.300\t47.100\n"
    assert [row[:2] for row in figures(text)] == [
        ("total_assets", "141020000"),
        ("total_assets", "129433000"),
        ("debt", "42300000"),
        ("debt", "47100000"),
    ]


def test_an_indian_year_of_two_years_ends_in_march() -> None:
    (figure,) = figures("₹ in lakhs\tFY 2023-24\nEBITDA\t2612\n")
    assert figure[1:4] == ("261200000", "INR", "2023-04-01/2024-03-31")


def test_what_a_header_calls_actual_is_no_forecast() -> None:
    found = find_figures(LedgerDocument("GBP m\tFY24 Actual\nEBITDA\t6.3\n", [], "Accounts Mar-24.txt"), taxonomy())
    assert [figure.basis for figure in found.figures] == [None]


def test_a_year_named_by_both_its_days_ends_on_the_second() -> None:
    text = "Boekjaar van 1 juli tot en met 30 juni\n€ x 1.000\t2022/2023\t2023/2024\nNettowinst\t1.240\t1.475\n"
    assert [(value, period) for _, value, _, period, _ in figures(text)] == [
        ("1240000", "2022-07-01/2023-06-30"),
        ("1475000", "2023-07-01/2024-06-30"),
    ]


@pytest.mark.parametrize(
    ("column", "basis"),
    [
        ("2026 (begroting)", "budget"),
        ("2026 orçado", "budget"),
        ("2026 previsto", "forecast"),
        ("2026 verwacht", "forecast"),
    ],
)
def test_a_plans_column_in_another_language_is_no_actual(column: str, basis: str, tmp_path: Path) -> None:
    found = sheet(tmp_path, [["EUR thousand", "2025", column], ["Omzet", 24905, 27000]])
    assert [each[4] for each in found] == ["management", basis]


def test_a_day_beside_its_name_and_counted_columns_head_no_amounts() -> None:
    head = "Valuation date\t2025-01-04\nStock\tACME\n\n(In Millions)\t1\t2\t3\n"
    rows = f"{head}\t2023\t2024\t2025\nRevenue\t4,682\t5,010\t5,300\n"
    assert [(value, period[-10:]) for _, value, _, period, _ in figures(rows)] == [
        ("4682000000", "2023-12-31"), ("5010000000", "2024-12-31"), ("5300000000", "2025-12-31"),
    ]  # fmt: skip
    counted = "USD Millions\tIncome statement\n\t1\t2\t3\n\t2023\t2024\t2025\nRevenue\t1,000\t1,100\t1,210\n"
    assert [value for _, value, *_ in figures(counted)] == ["1000000000", "1100000000", "1210000000"]


@cases(
    ("days", "first"),
    [
        ("\t2025-01-26\t2024-01-28\t2023-01-29", "2024-01-29/2025-01-26"),
        ("Year ended\t2025-06-30\t2024-06-30\t2023-06-30", "2024-07-01/2025-06-30"),
        ("\t2025-02-20\t2024-02-20\t2023-01-11", "2025-01-01/2025-12-31"),  # on which they were filed
        ("Dividend paid on\t2025-05-15\t2024-05-15\t2023-05-15", "2025-01-01/2025-12-31"),
    ],
)
def test_a_table_that_names_years_and_their_ends_dates_the_others(days: str, first: str) -> None:
    years = "\tFY 2025\tFY 2024\tFY 2023\n"
    text = f"EUR{years}{days}\nAssets\t700\t600\t500\n\n\nEUR{years}Revenue\t7,000\t6,000\t5,000\n"
    assert next(period for concept, _, _, period, _ in figures(text) if concept == "revenue") == first


def written(folder: Path, name: str, text: str) -> list[tuple[str | None, ...]]:
    """(concept, value, unit, period) of a file with this text."""
    (folder / name).write_text(text, encoding="utf-8")
    return [
        (figure["concept"], figure["value"], figure["unit"], figure["period"])
        for figure in read_figures(str(folder / name))
    ]


@cases(
    ("first", "second", "period"),
    [
        ("2024-01", "2024-02", "2024-02-01/2024-02-29"),
        ("2024M01", "2024M02", "2024-02-01/2024-02-29"),
        ("Jan 2024", "Feb 2024", "2024-02-01/2024-02-29"),
        ("2024-Q1", "2024-Q2", "2024-04-01/2024-06-30"),
        ("2024Q1", "2024Q2", "2024-04-01/2024-06-30"),
        ("2023-H2", "2024-H1", "2024-01-01/2024-06-30"),
        ("2023", "2024", "2024-01-01/2024-12-31"),
    ],
)
def test_columns_that_programs_name_are_read_for_the_periods_of_their_rows(
    first: str, second: str, period: str, tmp_path: Path
) -> None:
    rows = [
        ["period", "revenue_THB", "fixed_opex_THB", "cash_THB"],
        [first, "9000", "1", "8000"],
        [second, "9500", "2", "8100"],
    ]
    separated = "".join(f"{','.join(row)}\n" for row in rows)
    marked = "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], ["---"] * 4, *rows[1:]])
    for name, text in (("plan.csv", separated), ("plan.md", marked)):
        assert written(tmp_path, name, text)[-2:] == [
            ("revenue", "9500", "THB", period),
            ("cash", "8100", "THB", period.partition("/")[2]),
        ]


@pytest.mark.parametrize(
    ("other", "periods"),
    [
        (dt.date(2024, 1, 1), ["2023-01-01/2023-12-31", "2024-01-01/2024-12-31", "2023-01-01", "2024-01-01"]),
        (dt.date(2023, 12, 31), ["2022-01-02/2023-01-01", "2023-01-01/2023-12-31", "2023-01-01", "2023-12-31"]),
    ],
)
def test_columns_headed_by_the_first_day_of_each_year_are_years(
    tmp_path: Path, other: dt.date, periods: list[str]
) -> None:
    rows: list[Row] = [["USD", dt.date(2023, 1, 1), other], ["Revenue", 5000, 6000], ["Headcount", 90, 95]]
    assert [figure[2] for figure in sheet(tmp_path, rows)] == periods


def test_rows_named_by_the_first_day_of_their_month_are_of_that_month(tmp_path: Path) -> None:
    rows: list[Row] = [["Month", "Revenue EUR k", "Cash EUR k"]]
    rows += [[dt.date(2024, month, 1), 9_000 + month, 8_000] for month in (1, 2, 3)]
    found = sheet(tmp_path, rows)[-2:]
    assert [each[:3] for each in found] == [
        ("revenue", "9003000", "2024-03-01/2024-03-31"),
        ("cash", "8000000", "2024-03-31"),
    ]


@pytest.mark.parametrize(
    "days",
    [
        ["2024-05-01", "2024-05-02", "2024-05-03"],
        ["2024-05-03", "2024-05-10", "2024-05-17"],
        ["2024-01-17", "2024-02-29"],
    ],
)
def test_days_that_tell_no_period_give_stocks_alone(days: list[str], tmp_path: Path) -> None:
    text = "date,revenue_usd,cash_usd\n" + "".join(f"{day},9000,8000\n" for day in days)
    assert written(tmp_path, "days.csv", text) == [("cash", "8000", "USD", day) for day in days]


@cases("name", ["revenue_ALL_regions", "REVENUE_ALL", "revenue_per_usd", "revenue_usd_m", "revenue_usd_2023"])
def test_names_of_columns_that_end_in_something_else_mean_nothing(name: str, tmp_path: Path) -> None:
    assert not written(tmp_path, "months.csv", f"month,{name}\n2024-01,9000\n2024-02,9500\n")


def test_weeks_are_no_years(tmp_path: Path) -> None:
    assert not written(tmp_path, "weeks.csv", "week,revenue_usd,cash_usd\n2024-W01,9000,8000\n")


def test_accounts_in_several_currencies_are_not_all_the_cash(tmp_path: Path) -> None:
    text = "item,2023,2024\nCash USD,5000,6000\nCash EUR,7000,8000\nRevenue USD,50000,60000\n"
    assert {concept for concept, *_ in written(tmp_path, "accounts.csv", text)} == {"revenue"}


def test_columns_of_horizons_are_not_of_the_day_they_are_counted_from(tmp_path: Path) -> None:
    rows: list[Row] = [["USD thousand"], ["", "2019-12-31"], ["red >>", "policy limit inputs"]]
    rows += [["", "Actual", "Current", "30 days", "3 months", "4-6 Months", "7-12 Months"]]
    rows += [["Total assets", 732108, 710000, 729055, 741398, 759001, 785265]]
    assert [each[:4] for each in sheet(tmp_path, rows)] == [("total_assets", "732108000", "2019-12-31", None)]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (["Other revenue", 2000, 2000], ["2023", "2024"]),
        (["", 2023, 2022], ["2022", "2023"]),
        (["Cash flow", 2023, 2022], ["2022", "2023"]),
    ],
)
def test_amounts_that_look_like_years_head_no_columns(tmp_path: Path, row: Row, found: list[str]) -> None:
    rows: list[Row] = [["EUR", "FY23", "FY24"], ["Revenue", 363881, 455746], row, ["Net income", 7392, 48157]]
    income = [figure for figure in sheet(tmp_path, rows) if figure[0] == "net_income"]
    assert sorted(str(figure[2])[:4] for figure in income) == found


def test_one_expense_that_looks_like_a_year_dates_nothing(tmp_path: Path) -> None:
    rows: list[Row] = [
        ["Income statement 08/01/2024 to 10/31/2024"],
        ["Revenue", "", 492780],
        ["Hydro expenses", "", 2030],
        ["Net income", "", 350266],
    ]
    assert sheet(tmp_path, rows)[1] == ("net_income", "350266", "2024-08-01/2024-10-31", None, "management")


def test_formulas_whose_values_are_not_kept_head_no_columns(tmp_path: Path) -> None:
    rows: list[Row] = [
        ["(in thousands)", 2022, 2023],
        ["Revenue", 245282, 244552],
        ["Gross profit", "=IRR(B2:H2)", "=IRR(C2:Q1)"],
        ["Capital expenditures", 9639, 28276],
    ]
    assert sheet(tmp_path, rows)[2:] == [
        ("capital_expenditure", "9639000", "2022-01-01/2022-12-31", None, "management"),
        ("capital_expenditure", "28276000", "2023-01-01/2023-12-31", None, "management"),
    ]


def test_half_years_with_their_year_first_are_told_from_years_beside_them(tmp_path: Path) -> None:
    rows: list[Row] = [["EUR", "23H1", "23H2", "", 2023], ["Revenue", 223938, 280539, "", 504477]]
    assert [figure[2] for figure in sheet(tmp_path, rows)] == [
        "2023-01-01/2023-06-30", "2023-07-01/2023-12-31", "2023-01-01/2023-12-31",
    ]  # fmt: skip


def test_the_day_on_which_a_program_wrote_a_report_is_not_its_period(tmp_path: Path) -> None:
    rows: list[Row] = [["Balance Sheet As at 10/31/2024"], ["Total assets", "", 1593855], [], ["EQUITY"], []]
    rows += [["Total equity", "", 1092993], [], ["Generated On: 06/03/2025"]]
    assert [(figure[0], figure[2]) for figure in sheet(tmp_path, rows)] == [
        ("total_assets", "2024-10-31"), ("equity", "2024-10-31"),
    ]  # fmt: skip


def test_marks_that_markdown_escapes_are_read() -> None:
    text = "\tQ1 2025\n**Revenue**\t\\$150,000,000\n\\- Cash and cash equivalents\t\\$25\n"
    assert [figure[:3] for figure in figures(text, "update.md")] == [
        ("revenue", "150000000", "USD"), ("cash", "25", "USD"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (r"| Gross \| net | 100,000 |", ["5000"]),
        (r"| Revenue | 3\,250\,000 |", ["3250000", "5000"]),
    ],
)
def test_escapes_within_cells_and_numbers_part_neither(row: str, found: list[str]) -> None:
    text = f"| EUR | 2024 |\n| --- | --- |\n{row}\n| Net income | 5,000 |\n"
    assert [figure[1] for figure in figures(text, "update.md")] == found


def test_tables_of_a_short_report_contradict_each_other_but_of_many_or_of_two_companies_none_counts() -> None:
    page = "{}\nEUR\t2024\nRevenue\t{}\n\nThe text goes on over several lines before the next of them.\n\n"
    both = page.format("Note 1", "652,184") + page.format("Note 2", "925,386")
    assert [figure[1] for figure in figures(both)] == ["652184", "925386"]
    assert figures(both + page.format("Note 3", "777,000")) == []
    assert figures(page.format("Acme GmbH", "652,184") + page.format("Beta GmbH", "925,386")) == []
    rounded = page.format("Note 1", "652,184") + page.format("Note 2", "652").replace("EUR", "EUR thousand")
    assert [figure[1] for figure in figures(rounded)] == ["652184", "652000"]


@cases(
    ("section", "found"),
    [
        ("Changes in operating assets and liabilities:", {"total_assets", "trade_receivables"}),
        ("(Increase) / decrease in working capital", {"total_assets", "trade_receivables"}),
        ("Change in balance sheet", set()),
        ("Movements in equity", {"inventories", "total_assets", "trade_receivables"}),
        ("Current assets", {"inventories", "total_assets", "trade_receivables"}),
    ],
)
def test_a_change_of_a_balance_is_not_the_balance(tmp_path: Path, section: str, found: set[str]) -> None:
    rows: list[Row] = [["EUR", 2023, 2024], ["Net income", 5000, 6000], [section], ["Inventories", 2183, 12000]]
    rows += [["Total assets", 50000, 60000], ["Trade receivables", 3000, 4000]]
    rows.append(["Cash and cash equivalents at the end of the year", 9000, 9500])
    assert {figure[0] for figure in sheet(tmp_path, rows)} == found | {"net_income", "cash"}


def test_salaries_are_no_employees_but_in_french() -> None:
    english = "Income statement for the year 2024\n\t2024\nSalaries\t9200\nTotal revenue\t155978\n"
    assert [figure[0] for figure in figures(english)] == ["revenue"]
    french = "Rapport de gestion sur les comptes de la société pour l'exercice\n\t2024\nSalariés\t120\n"
    assert [figure[:2] for figure in figures(french)] == [("headcount", "120")]


def test_statements_below_each_other_in_a_sheet_have_the_years_of_the_first(tmp_path: Path) -> None:
    rows: list[Row] = [
        ["$ in millions"],
        ["", "Historical -->", "", "Forecast -->"],
        ["", "2022A", "2023A", "2031E"],
        ["Revenue", 1000, 1100, 1200],
        [],
        ["Balance sheet"],
        [],
        ["Total assets", 982, 1078, 1182],
        [],
        ["Europe"],
        [],
        ["EBITDA", 400, 410, 500],
    ]
    assert [figure[:3] for figure in sheet(tmp_path, rows)] == [
        ("revenue", "1000000000", "2022-01-01/2022-12-31"),
        ("revenue", "1100000000", "2023-01-01/2023-12-31"),
        ("revenue", "1200000000", "2031-01-01/2031-12-31"),
        ("total_assets", "982000000", "2022-12-31"),
        ("total_assets", "1078000000", "2023-12-31"),
        ("total_assets", "1182000000", "2031-12-31"),
    ]


def test_the_years_at_the_top_of_a_model_head_the_statements_below_its_drivers(tmp_path: Path) -> None:
    rows: list[Row] = [["USD m", "2022A", "2023A", "2024E"], ["Days", 365, 365, 366], [], ["Drivers"], []]
    rows += [["Inventories", "2%", "3%", "4%"], [], ["Balance sheet"], [], ["Total assets", 982, 1078, 1182], []]
    rows += [["Cash flow statement"], [], ["Trade receivables", 7, 8, 9], ["Cash flow from operations", 80, 90, 95]]
    assert [figure[:3] for figure in sheet(tmp_path, rows) if figure[4] == "forecast"] == [
        ("total_assets", "1182000000", "2024-12-31"),
        ("operating_cash_flow", "95000000", "2024-01-01/2024-12-31"),
    ]


@pytest.mark.parametrize("block", ["Best case", "Beta GmbH", "Germany"])
def test_a_block_of_a_scenario_or_of_others_parts_a_statement_from_the_first_years(tmp_path: Path, block: str) -> None:
    rows: list[Row] = [["USD m", 2022, 2023], ["Days", 365, 365], [], [block], [], ["Sales", 700, 710], []]
    assert sheet(tmp_path, [*rows, ["Balance sheet"], [], ["Total assets", 700, 710]]) == []


@pytest.mark.parametrize("revenue", [5000, 8000])
def test_a_second_statement_of_the_same_rows_is_another_scenario(tmp_path: Path, revenue: int) -> None:
    rows: list[Row] = [["EUR", 2022, 2023], ["Days", 365, 365], [], ["Income statement"], [], ["Revenue", 5000, 6000]]
    rows += [["EBITDA", 1500, 1600], [], ["Income statement"], [], ["Revenue", revenue, revenue + 1000]]
    rows += [["Wages", 2000, 2100], ["Rent", 1200, 1300], ["EBITDA", 2800, 2900]]
    assert [figure[1] for figure in sheet(tmp_path, rows)] == ["5000", "6000", "1500", "1600"]


def test_a_mark_beside_the_name_of_a_section_begins_no_other_columns(tmp_path: Path) -> None:
    rows: list[Row] = [["", "USD m", 2022, 2023], ["x", "Income statement"], ["", "Revenue", 900, 950]]
    rows += [["x", "Balance sheet"], ["", "Total assets", 982, 1078], ["x", "Beta GmbH"], ["", "Equity", 500, 600]]
    assert [figure[1] for figure in sheet(tmp_path, rows)] == ["900000000", "950000000", "982000000", "1078000000"]


def test_a_section_with_its_own_years_keeps_the_scale_and_actual_years_go_before_their_case(tmp_path: Path) -> None:
    rows: list[Row] = [["USD in thousands"], ["", "", "Base case"], ["x", "Income statement"]]
    rows += [["", "", "2023A", "2030E"], ["", "Revenue", 900, 950], ["x", "Balance sheet"]]
    rows += [["", "Year", "2023A", "2030E"], ["", "Total assets", 982, 1078]]
    assert [(figure[1], figure[4]) for figure in sheet(tmp_path, rows)] == [
        ("900000", "management"), ("950000", "forecast"), ("982000", "management"), ("1078000", "forecast"),
    ]  # fmt: skip


@cases(
    ("heading", "found"),
    [
        (["Balance sheet (EUR thousands)"], ["982000", "1078000"]),
        (["Balance sheet %"], []),
        (["Balance sheet budget"], []),
        (["Change in balance sheet"], []),
        (["Competitor balance sheet"], []),
        (["Balance sheet, Acme Germany GmbH"], []),
        (["Bilan prévisionnel"], []),
        (["Balance sheet", "Low", "High"], []),
    ],
)
def test_only_a_heading_that_is_a_statements_name_alone_has_the_years_of_another(
    tmp_path: Path, heading: Row, found: list[str]
) -> None:
    rows: list[Row] = [["Income statement, EUR"], ["", 2022, 2023], ["Revenue", 363881, 400000]]
    rows += [["Staff", -1000 * at, -2000 * at] for at in range(1, 7)]
    rows += [[], [], [], heading, [], ["Total assets", 982, 1078]]
    assert [figure[1] for figure in sheet(tmp_path, rows) if figure[0] == "total_assets"] == found


@pytest.mark.parametrize(
    ("head", "basis"), [("Plan", "budget"), ("Company", "management"), ("As at", "management"), ("Ist", "management")]
)
def test_one_year_beside_a_word_that_is_no_cost_heads_the_rows_below(tmp_path: Path, head: str, basis: str) -> None:
    year = "2026" if basis == "budget" else "2023"
    rows: list[Row] = [["EUR", 2022], ["Revenue", 363881], [head, int(year)], ["Net income", 500000]]
    found = [(str(figure[2])[:4], figure[4]) for figure in sheet(tmp_path, rows)]
    assert found == [("2022", "management"), (year, basis)]


def test_a_forecast_from_historical_figures_is_no_actual(tmp_path: Path) -> None:
    rows: list[Row] = [["Forecast based on historicals"], ["EUR", 2025, 2026], ["Revenue", 363881, 400000]]
    assert [figure[4] for figure in sheet(tmp_path, rows)] == ["forecast", "forecast"]


def test_recurring_revenue_of_a_month_is_no_year_of_it_but_twelve_times_it_is() -> None:
    text = "USD\tJan 2025\t2024\nMRR\t1817\t2000\nARR (MRR x 12)\t\t21804\n"
    assert [figure[1:4] for figure in figures(text)] == [("21804", "USD", "2024-12-31")]


def test_what_is_marked_as_actual_beside_its_own_budget_keeps_both(tmp_path: Path) -> None:
    found = sheet(tmp_path, [["USD", "2023A", "2023A budget"], ["Revenue", 90000, 95000]])
    assert [(figure[1], figure[4]) for figure in found] == [("90000", "management"), ("95000", "budget")]


@cases(
    ("title", "found"),
    [
        ("Consolidated cash flow statement for the years ended 31 December 2024 and 2023", []),
        ("Cash flow statement and balance", ["7000", "6000"]),
        ("Notes to the cash flow statement", ["7000", "6000"]),
        ("Income statement, cash flow statements, key data", ["7000", "6000"]),
    ],
)
def test_only_under_the_name_of_the_cash_flow_statement_is_a_balance_a_change(title: str, found: list[str]) -> None:
    text = f"{title}\n\nEUR\t2024\t2023\nEquity\t7,000\t6,000\n"
    assert [figure[1] for figure in figures(text)] == found


def test_tons_and_reclassified_amounts_are_no_figures() -> None:
    tons = "SAR\t2023 (ton)\t2023\nRevenue\t2,079\t9,434,419\n"
    moved = "SAR\t2023\t2022 before reclassification\t2022 restated\nRevenue\t5,000\t6,000\t7,000\n"
    assert [value for _, value, *_ in figures(tons)] == ["9434419"]
    assert [value for _, value, *_ in figures(moved)] == ["5000", "7000"]


def test_the_name_of_a_statement_or_comparison_over_a_column_is_no_part() -> None:
    text = "EUR\tBalance sheet as of Dec 2024\tComparison amount (as of Dec 2023)\nTotal assets\t5,000\t6,000\n"
    assert [figure[3:] for figure in figures(text)] == [("2024-12-31", None), ("2023-12-31", None)]
    opening = figures("EUR\tOpening balance sheet as of Jan 2024\tComparison to 2023\nTotal assets\t5,000\t6,000\n")
    assert all(figure[4] for figure in opening)


def test_the_cash_of_the_year_before_and_the_movements_of_an_account_are_none_of_this_years() -> None:
    cash = "Caixa e equivalentes de caixa\t{}\n"
    text = f"EXERCÍCIO: 2018\tR$\nSALDO DO EXERCÍCIO ANTERIOR (IV)\t128.500,43\n{cash.format('128.500,43')}"
    text += f"SALDO PARA O EXERCÍCIO SEGUINTE (IX)\t143.344,04\n{cash.format('143.344,04')}"
    assert [figure[1:] for figure in figures(text)] == [("143344.04", "BRL", "2018-12-31", None)]
    columns = "2018 Saldo Inicial\t2018 Movimento\t2018 Débito\t2018 Crédito\t2018 Saldo Final Valor"
    trial = f"Em R$\t{columns}\nPATRIMÔNIO LÍQUIDO\t636.275\t115.000\t350.366\t246.845\t531.754\n"
    assert [figure[1:] for figure in figures(trial)] == [("531754", "BRL", "2018-12-31", None)]


def test_this_year_in_portuguese_is_no_part_of_the_company() -> None:
    text = (
        "Balanço patrimonial em 31/12/2018\nEm R$\n\tExercício Atual\tExercício Anterior\nATIVO TOTAL\t5.000\t6.000\n"
    )
    assert [figure[1:] for figure in figures(text)] == [
        ("5000", "BRL", "2018-12-31", None),
        ("6000", "BRL", "2017-12-31", None),
    ]


def test_a_code_in_a_files_name_is_no_currency() -> None:
    assert figures("AMD\t2024\nRevenue\t5,000\n", "AMD.xlsx")[0][2] == "unknown"
    assert figures("AMD\t2024\nRevenue\t5,000\n", "Accounts.xlsx")[0][2] == "AMD"


def test_years_between_the_months_of_a_series_are_passed_by(tmp_path: Path) -> None:
    rows: list[Row] = [["USD", "Revenue"], [2023, 12000], *([dt.date(2023, month, 1), 5000] for month in (1, 2, 3))]
    rows += [[2024, 15000], *([dt.date(2024, month, 1), 5500] for month in (1, 2, 3))]
    assert {figure[1] for figure in sheet(tmp_path, rows)} == {"5000", "5500"}
    of_2022: list[Row] = [[2022, 60000]]
    assert "60000" in {figure[1] for figure in sheet(tmp_path, [*rows[:1], *of_2022, *rows[2:5]])}
    months: list[Row] = [[dt.date(2023, month, 1), 5000.4, 30 + month] for month in range(1, 13)]
    head: list[Row] = [["USD", "Revenue", "Headcount"]]
    of_2023: list[Row] = [[2023, 60005, 42]]
    for column in ([*of_2023, *months], [*months, *of_2023]):
        found = sheet(tmp_path, [*head, *column])
        assert ("revenue", "60005", "2023-01-01/2023-12-31", None, "management") in found


def test_rows_that_name_their_own_year_beside_their_label(tmp_path: Path) -> None:
    rows: list[Row] = [["Year", "Metric", "Value (INR Cr.)"]]
    rows += [[year, name, value] for year in (2023, 2024) for name, value in (("Revenue", 912.5), ("Net income", 88.1))]
    assert [found[:3] for found in sheet(tmp_path, rows)] == [
        ("revenue", "9125000000", "2023-01-01/2023-12-31"),
        ("net_income", "881000000", "2023-01-01/2023-12-31"),
        ("revenue", "9125000000", "2024-01-01/2024-12-31"),
        ("net_income", "881000000", "2024-01-01/2024-12-31"),
    ]
    assert not sheet(tmp_path, [["Founded", "Item", "Amount"], *rows[1:]])
    turned: list[Row] = [[name, year, value] for year, name, value in rows]
    assert len(sheet(tmp_path, turned)) == 4


@cases(
    ("why", "body"),
    [
        (
            "one label twice in a year",
            "2023\tRevenue\t5,500\n2023\tRevenue\t7,500\n2023\tCosts\t1,500\n2023\tCosts\t2,500\n",
        ),
        ("days", "2023-03-31\tRevenue\t5,500\n2023-06-30\tRevenue\t7,500\n2023-03-31\tCash\t2\n2023-06-30\tCash\t3\n"),
        ("parts", "2023\tRevenue\tRome\t5,500\n2024\tRevenue\tBonn\t7,500\n2023\tCash\tRome\t5\n2024\tCash\tBonn\t7\n"),
        ("others", "2023\tAcme Ltd\t5,500\n2024\tAcme Ltd\t7,500\n2023\tBeta Ltd\t5,500\n2024\tBeta Ltd\t7,500\n"),
    ],
)
def test_rows_of_a_list_name_no_years_of_their_own(why: str, body: str) -> None:
    assert not figures(f"EUR\nDate\tItem\tValue\n{body}"), why


def test_years_marked_as_historical_stand_before_those_of_the_forecast(tmp_path: Path) -> None:
    rows: list[Row] = [["USD thousands", "2022H", "2023H", "2060F"], ["Revenue", 25461, 26248, 26950]]
    assert [found[1:] for found in sheet(tmp_path, rows)] == [
        ("25461000", "2022-01-01/2022-12-31", None, "management"),
        ("26248000", "2023-01-01/2023-12-31", None, "management"),
        ("26950000", "2060-01-01/2060-12-31", None, "forecast"),
    ]


def test_names_that_a_program_wrote_are_read_as_words(tmp_path: Path) -> None:
    rows: list[Row] = [["", "2022", "2023"], ["costOfRevenue", 51337, 53177], ["CapEx", 70000, 80000]]
    assert {found[0] for found in sheet(tmp_path, rows)} == {"cost_of_revenue", "capital_expenditure"}


def test_a_trial_balance_tells_no_flow_of_a_month_and_its_account_codes_no_day() -> None:
    head = "Balancete de 01/09/2025 a 30/09/2025\n04.2.1.03 Uniformes\n"
    rows = "Conta\tDébito\tCrédito\tSaldo atual\nReceita líquida\t687.574,22\t10.906.515,54\t90.848.381,66\n"
    assert not figures(f"{head}{rows}")
    assert figures(rows.replace("Saldo atual", "30/09/2025").replace("Receita líquida", "Total do ativo"))


def test_the_number_of_a_row_is_no_year(tmp_path: Path) -> None:
    listed: list[Row] = [[at, f"60{at}.SZ", 150_000 + at] for at in range(2010)]
    assert not sheet(tmp_path, [["", "code", "total_assets"], *listed])
    assert len(sheet(tmp_path, [["Year", "Total assets"], [2023, 150_000], [2024, 160_000]])) == 2


def test_a_month_without_its_year_is_no_part_of_a_year_and_a_program_joins_days_by_bars(tmp_path: Path) -> None:
    assert not sheet(tmp_path, [["Budget 2017, USD"], ["", "January", "February"], ["Revenue", 121200, 131200]])
    months: list[Row] = [["USD"], ["", "2017", "2017"], ["", "May", "June"], ["Revenue", 121200, 131200]]
    assert [found[2:4] for found in sheet(tmp_path, months)] == [
        ("2017-05-01/2017-05-31", None),
        ("2017-06-01/2017-06-30", None),
    ]
    months = [
        ["USD"],
        ["", "2024", "2023"],
        ["", "June", "June"],
        ["Revenue", 121200, 131200],
        ["Total assets", 51212, 51312],
    ]
    assert [found[2:4] for found in sheet(tmp_path, months)] == [("2024-06-30", None), ("2023-06-30", None)]
    for heads in (["2024 March"], ["2024 March", "2023 March"], ["2024 Dec", "2023 Nov"], ["2024 Mar", "2024 Jun"]):
        columns: list[Row] = [["EUR"], ["", *heads], ["Revenue", *range(121200, 121200 + len(heads))]]
        assert not sheet(tmp_path, columns), heads
    text = "EUR million\n\t2024 December\t2023 December\nRevenue\t121\t112\n"
    assert [found[3] for found in figures(text)] == ["2024-01-01/2024-12-31", "2023-01-01/2023-12-31"]
    monthly = LedgerDocument(f"Income statement for the month\n{text}", [], "a.txt")
    assert find_figures(monthly, taxonomy()).left_out == {"no period": 2}
    assert not figures("Annual report 2024\nRevenue was EUR 5 million, with 2000h of overtime.\n")[1:]
    assert figures("\t2024 EUR (A)\t2023 EUR (B)\nRevenue\t12000\t11000\n")[1][1] == "11000"
    rows: list[Row] = [["", "jan_31_2026", "feb_28_2026"], ["Total assets", 150_000, 160_000]]
    assert [found[2:4] for found in sheet(tmp_path, rows)] == [("2026-01-31", None), ("2026-02-28", None)]


def workbook(folder: Path, **sheets: list[Row]) -> dict[tuple[str | None, ...], str | None]:
    """The values of a workbook's figures by concept, period and basis."""
    book = openpyxl.Workbook()
    assert book.active is not None
    book.remove(book.active)
    for name, rows in sheets.items():
        part = book.create_sheet(name.replace("_", " "))
        for row in rows:
            part.append(row)
    book.save(folder / "book.xlsx")
    found = read_figures(str(folder / "book.xlsx"))
    return {(figure["concept"], figure["period"], figure["basis"]): figure["value"] for figure in found}


def test_rows_under_a_heading_of_growth_are_no_amounts_whatever_the_units_above(tmp_path: Path) -> None:
    amounts: list[Row] = [["In USD million", "FY 2022", "FY 2023"], ["Revenue", 82.1, 90.4]]
    growth: list[Row] = [amounts[0], ["1 Year Growth"], ["Revenue", -7.7, 6.3], ["5 Year Growth"], ["Revenue", 4.7, 7]]
    assert set(workbook(tmp_path, P=amounts, Growth=growth).values()) == {"82100000", "90400000"}
    below: list[Row] = [["EUR", "2022", "2023"], ["Growth rates"], ["Churn", 3, 4], [], ["Revenue", 9100200, 9900300]]
    assert set(workbook(tmp_path, P=below).values()) == {"9100200", "9900300"}
    empty: list[Row] = [["EUR million", "2022", "2023"], ["Change in %"], ["Net income", 90, 110]]
    assert set(workbook(tmp_path, P=empty).values()) == {"90000000", "110000000"}, "a row without values"


def test_a_list_of_facts_gives_the_scale_of_sheets_that_say_no_units(tmp_path: Path) -> None:
    cover: list[Row] = [["Company", "Acme GmbH"], ["Currency", "EUR"], ["Reporting units", "000000s"]]
    bare: list[Row] = [["Year", "2022", "2023"], ["Revenue", 9100, 9900]]
    own: list[Row] = [["in EUR", "2022", "2023"], ["EBITDA", 1200300, 1400100]]
    values = set(workbook(tmp_path, Cover=cover, PL=bare, KPI=own).values())
    assert values == {"9100000000", "9900000000", "1200300", "1400100"}
    for name, units in (("Reporting units", "Mill M"), ("Display units", "000000s")):
        cover[-1] = [name, units]
        assert "9100000000" not in workbook(tmp_path, Cover=cover, PL=bare).values()


def test_a_forecast_sheet_that_repeats_a_historical_one_is_actual_there(tmp_path: Path) -> None:
    past: list[Row] = [["EUR", "2022", "2023"], ["Revenue", 9100200, 9900300]]
    plan: list[Row] = [["EUR", "2023", "2031"], ["Revenue", 9900300, 10100100]]
    found = workbook(tmp_path, Historical_PL=past, Forecast=plan)
    assert ("revenue", "2023-01-01/2023-12-31", "forecast") not in found
    assert ("revenue", "2031-01-01/2031-12-31", "forecast") in found


def test_columns_before_the_labels_are_passed_by_and_what_stands_over_labels_heads_no_column(tmp_path: Path) -> None:
    rows: list[Row] = [
        [None, None, "Output summary"],
        [None, None, "USD", 2023, 2024],
        [None, None, "Revenue", 5000000, 6000000],
    ]
    of_years = [
        ("revenue", "5000000", "2023-01-01/2023-12-31", None),
        ("revenue", "6000000", "2024-01-01/2024-12-31", None),
    ]
    assert [row[:4] for row in sheet(tmp_path, rows)] == of_years
    counted: list[Row] = [
        [None, "Date", "TotalAssets", "CashAndCashEquivalents"],
        [0, dt.date(2023, 12, 31), 9000000, 400000],
        [1, dt.date(2022, 12, 31), 9000001, 400001],
        [2, dt.date(2021, 12, 31), 9000002, 400002],
    ]
    found = [row[:3] for row in sheet(tmp_path, counted)]
    assert found[:2] == [("total_assets", "9000000", "2023-12-31"), ("cash", "400000", "2023-12-31")]
    of_levels: list[Row] = [["Level", "Revenue", "Year"], [0, 5000000, 2023], [1, 6000000, 2024], [2, 7000000, 2025]]
    assert sheet(tmp_path, of_levels) == []


def test_cases_of_a_model_that_differ_are_left_out(tmp_path: Path) -> None:
    def case(name: str, revenue: int) -> list[Row]:
        return [[None, name], [None, "USD", 2023, 2024], [None, "Revenue", revenue, revenue], [None]]

    assert sheet(tmp_path, [*case("Best case", 8000000), *case("Worst case", 5000000)]) == []


def test_units_in_the_place_of_a_label_scale_what_says_no_units_of_its_own(tmp_path: Path) -> None:
    units: list[Row] = [["Model"], [None, 2023, 2024], ["($ in thousands)", None, None, "CASE", 1]]
    rows: list[Row] = [*units, ["Revenue", "$500", "$600"], ["Net income", 40, 50]]
    assert [row[1] for row in sheet(tmp_path, rows)] == ["500000", "600000", "40000", "50000"]
    below: list[Row] = [
        ["USD", 2023, 2024],
        ["Revenue", 5000000, 6000000],
        ["($ in millions)"],
        ["Market size", 50, 60],
    ]
    assert [row[1] for row in sheet(tmp_path, below)] == ["5000000", "6000000"]


def test_units_in_the_place_of_a_label_are_not_those_of_the_next_table(tmp_path: Path) -> None:
    visits: list[Row] = [["A"], [None, 2023, 2024], ["(in thousands)"], ["Visitors", 5, 6], [None]]
    rows: list[Row] = [*visits, ["B"], [None, 2023, 2024], ["Revenue", 5000000, 6000000]]
    assert [row[1] for row in sheet(tmp_path, rows)] == ["5000000", "6000000"]


@cases(
    ("says", "bases"),
    [
        (["Audit status", "Not audited", "Not audited"], ["management", "management"]),
        (["Audit status", "Audited", "Audited"], ["audited", "audited"]),
        (["Consolidated", "Yes", "No"], []),
    ],
)
def test_a_row_that_says_of_whole_columns_what_they_are_names_no_company(
    tmp_path: Path, says: Row, bases: list[str]
) -> None:
    rows: list[Row] = [["EUR", "2024", "2023"], says, ["Revenue", 5000000, 2000000]]
    assert [(row[3], row[4]) for row in sheet(tmp_path, rows)] == [(None, basis) for basis in bases]


def test_new_equity_that_pays_for_something_is_not_all_equity() -> None:
    assert figures("Finansieringsplan, DKK\t2024\nBanklån\t3.000.000\nNy egenkapital\t2.000.000\n") == []
    whole = "Balance, DKK\t2024\nEgenkapital\t500.000\nNy egenkapital\t200.000\nEgenkapital i alt\t700.000\n"
    assert [row[:2] for row in figures(whole)] == [("equity", "700000")]


def test_a_row_of_all_as_100_percent_has_no_amounts(tmp_path: Path) -> None:
    rows: list[Row] = [["USD m", 2023, 2024], ["Revenue", 450, 470], ["Total revenue (100% TR)", 100, 100]]
    jointly: list[Row] = [["EUR m", 2023, 2024], ["Revenue (100% basis)", 450, 470]]
    assert sheet(tmp_path, jointly)[0][1] == "450000000"
    assert [row[1] for row in sheet(tmp_path, rows)] == ["450000000", "470000000"]


def test_a_budget_heads_the_columns_from_its_own_on_where_those_before_are_called_actual() -> None:
    head = "\t\t\tBudget\t\n\tRegnskab 2023\tRegnskab 2022\t2024\t2025\n"
    text = f"{head}Årets resultat\t500.000\t600.000\t700.000\t800.000\n"
    found = find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    assert [(figure.period[:4], figure.basis) for figure in found] == [
        ("2023", None), ("2022", None), ("2024", "budget"), ("2025", "budget"),
    ]  # fmt: skip
    over_all = "\tBudget\n\t2024\t2025\nRevenue\t5,000,000\t6,000,000\n"
    found = find_figures(LedgerDocument(over_all, [], "a.txt"), taxonomy()).figures
    assert {figure.basis for figure in found} == {"budget"}


@cases(
    "stated, currency",
    [
        ("Alla belopp redovisas i kronor om inget annat anges.", "SEK"),
        ("Alle bedragen in euro", "EUR"),
        ("Kwoty podano w PLN", "PLN"),
        ("Valores expressos em reais", "BRL"),
        ("Lånet har ett belopp i EUR.", None),
        ("Valores a receber em EUR", None),
        ("Belopp på valutakonto i EUR.", None),
    ],
)
def test_the_currency_that_a_document_is_stated_in_counts_before_marks(stated: str, currency: str | None) -> None:
    text = f"{stated}\nClient was: $signed_text$ Data $signed_text$\n"
    assert LedgerDocument(text, [], "a.txt").currency.usual == currency


def test_the_day_on_which_statutes_were_registered_dates_no_accounts() -> None:
    text = "Annual accounts\nRegistered on 2018-09-06\n\t2023-12-31\nTotal assets\tEUR 5,000,000\n"
    assert [row.basis for row in find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures] == [None]

"""Charts, hidden sheets, numbers as text, missing headers, contradicting units: a figure is right or left out."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tasks.figures import read_figures
from tasks.figures.conflicts import RoomFigure
from tasks.figures.derived import derive
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Findings, taxonomy
from tests.benchmarks.room_writing import chart, drawn
from tests.cases import cases
from tests.written import workbook_of


def findings(text: str) -> Findings:
    return find_figures(LedgerDocument(text, [], "report.txt"), taxonomy())


def values(text: str) -> list[tuple[str, str]]:
    return [(figure.concept, f"{figure.value:f}") for figure in findings(text).figures]


def workbook(
    folder: Path, rows: list[list[Any]], change: Callable[[Any], None] = lambda _: None
) -> list[tuple[str, str, str]]:
    """(concept, value, period) of a workbook of these rows, changed before it is saved."""
    book, _ = workbook_of(*rows)
    change(book)
    book.save(folder / "book.xlsx")
    found = read_figures(str(folder / "book.xlsx"))
    return [(str(each["concept"]), str(each["value"]), str(each["period"])) for each in found]


ROWS: list[list[Any]] = [["EUR thousand", 2023, 2024], ["Revenue", 3900, 6300]]
BOTH = [("revenue", "3900000", "2023-01-01/2023-12-31"), ("revenue", "6300000", "2024-01-01/2024-12-31")]


def test_each_series_of_a_native_chart_gives_its_figures(tmp_path: Path) -> None:
    chart(
        tmp_path / "chart.pptx",
        "Results (EUR million)",
        ["2023", "2024"],
        {"Revenue": [38.2, 43.9], "EBITDA": [4.1, 5.2]},
    )
    found = [
        (each["concept"], each["value"], str(each["period"])[:4]) for each in read_figures(str(tmp_path / "chart.pptx"))
    ]
    assert sorted(found) == [
        ("ebitda", "4100000", "2023"),
        ("ebitda", "5200000", "2024"),
        ("revenue", "38200000", "2023"),
        ("revenue", "43900000", "2024"),
    ]


def test_a_chart_with_a_series_a_year_gives_each_year_its_own(tmp_path: Path) -> None:
    chart(tmp_path / "chart.pptx", "Results, €m", ["Revenue", "EBITDA"], {"FY2023": [38.2, 4.1], "FY2024": [43.9, 5.2]})
    found = [
        (each["concept"], each["value"], str(each["period"])[:4]) for each in read_figures(str(tmp_path / "chart.pptx"))
    ]
    assert found == [
        ("revenue", "38200000", "2023"),
        ("ebitda", "4100000", "2023"),
        ("revenue", "43900000", "2024"),
        ("ebitda", "5200000", "2024"),
    ]


def test_a_hidden_sheet_is_read_like_the_others(tmp_path: Path) -> None:
    def hide(book: Any) -> None:
        book.active.sheet_state = "hidden"
        book.create_sheet("Cover").append(["Confidential"])

    assert workbook(tmp_path, ROWS, hide) == BOTH


def test_numbers_as_text_are_numbers(tmp_path: Path) -> None:
    assert workbook(tmp_path, [["EUR thousand", "2023", "2024"], ["Revenue", "3,900", "6 300"]]) == BOTH


def test_a_merged_header_holds_for_its_columns(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["EUR thousand", "Year ended 31 December", None],
        ["", 2023, 2024],
        ["Revenue", 3900, 6300],
    ]
    assert workbook(tmp_path, rows, lambda book: book.active.merge_cells("B1:C1")) == BOTH


def test_a_column_without_a_header_gives_nothing_and_is_counted() -> None:
    found = findings("EUR thousand\t2024\t\nRevenue\t6,300\t5,800\n")
    assert [f"{figure.value:f}" for figure in found.figures] == ["6300000"]
    assert sum(found.left_out.values()) == 1


def test_units_that_contradict_are_left_out_and_counted() -> None:
    found = findings("EUR thousand\t2024\nRevenue\t£6,300\nEBITDA\t900\n")
    assert [figure.concept for figure in found.figures] == ["ebitda"]
    assert found.left_out["units that contradict"] == 1


@cases(
    "text",
    [
        "P&L in EUR thousand\nEUR million\t2024\nRevenue\t6,300\n",
        "All amounts in EUR thousand\n\tFY2024 (€m)\nRevenue\t6,300\n",
        "EUR thousand\t2024\nRevenue\t$6,300\n",
    ],
)
def test_two_scales_or_currencies_for_one_number_leave_it_out(text: str) -> None:
    found = findings(text)
    assert found.figures == []
    assert found.left_out["units that contradict"] == 1


def test_a_rows_own_scale_and_a_line_with_exceptions_contradict_nothing() -> None:
    assert values("EUR thousand\t2024\nRevenue (EUR m)\t6.3\n") == [("revenue", "6300000")]
    assert values("EUR thousand\t2024\nRevenue (EUR m¹)\t6.3\n") == [("revenue", "6300000")]
    text = "EUR thousand unless stated otherwise\nEUR million\t2024\nRevenue\t6.3\n"
    assert values(text) == [("revenue", "6300000")]


def test_a_dollar_sign_is_of_the_dollar_that_the_header_names() -> None:
    assert [each.unit for each in findings("AUD thousand\t2024\nRevenue\t$6,300\n").figures] == ["AUD"]


@cases("cell", ["#REF!", "5,000-6,000", ">6,000", "6,3001)"])
def test_a_cell_that_is_no_single_number_is_left_out_and_counted(cell: str) -> None:
    found = findings(f"EUR thousand\t2023\t2024\nRevenue\t{cell}\t6,300\nEBITDA\t900\t950\n")
    assert [f"{figure.value:f}" for figure in found.figures] == ["6300000", "900000", "950000"]
    assert found.left_out == {"no single number": 1}


@cases("cell", ["n/a", "TBD", "#DIV/0!", "5-6", "six hundred"])
def test_a_row_without_numbers_heads_no_columns(cell: str) -> None:
    text = f"EUR thousand\t2023\t2024\nRevenue\t5,100\t6,300\nOther income\t{cell}\t{cell}\nEBITDA\t900\t950\n"
    periods = {figure.period[:4] for figure in findings(text).figures if figure.concept == "ebitda"}
    assert periods == {"2023", "2024"}


def test_a_row_of_numbers_that_could_be_years_heads_no_columns() -> None:
    rows = "EUR thousand\t2023\t2024\nRevenue\t51000\t63000\nMarketing\t2000\t2010\nEBITDA\t9000\t9500\n"
    assert {figure.period[:4] for figure in findings(rows).figures} == {"2023", "2024"}
    again = rows.replace("Marketing", "Balance sheet").replace("EBITDA", "Cash")
    assert {figure.period[:4] for figure in findings(again).figures if figure.concept == "cash"} == {"2000", "2010"}


def test_a_date_that_cannot_be_is_none() -> None:
    assert findings("EUR thousand\t31.12.2924\nCash\t5,100\n").left_out == {"no period": 1}


@cases(
    "text",
    [
        "Revenue contact in 2024: +49 30 1234567. Call about cash: 030 987 654.",
        "Headcount 2024: tel. 020 7946 0999",
        "4.2 Revenue in 2024 as defined in clause 12.3 and section 7.",
        "12.1 Cash at 31 December 2024, see 4.3.",
        "Cash account DE89 3704 0044 0532 0130 00 at 31 December 2024",
        "Clause\tSubject\t2024\n4.2\tRevenue\t12.3",
        "Name\tPhone\tEmployees 2024\nAnna\t+49 30 123456\t12",
        "Revenue ....... 12\nEBITDA 2024 ....... 15",
    ],
)
def test_phone_numbers_clauses_and_pages_are_no_figures(text: str) -> None:
    assert values(text + "\n") == []


def test_hidden_rows_and_columns_are_read_under_their_own_headers(tmp_path: Path) -> None:
    def hide(book: Any) -> None:
        book.active.column_dimensions["B"].hidden = True
        book.active.row_dimensions[2].hidden = True

    assert workbook(tmp_path, ROWS, hide) == BOTH


def test_a_printed_table_goes_on_over_the_page_without_its_header(tmp_path: Path) -> None:
    rows = [[f"Line {at}", f"{at},100", f"{at},200"] for at in range(1, 36)]
    head = ["Income statement (EUR thousand)", ["", "2023", "2024"]]
    over = [["EBITDA", "7,000", "8,000"], ["Profit for the year", "2,000", "3,000"]]
    drawn(tmp_path / "table.pdf", [*head, *rows, ["Revenue", "50,000", "60,000"]], over)
    found = [(each["concept"], str(each["period"])[:4]) for each in read_figures(str(tmp_path / "table.pdf"))]
    assert found == [(concept, year) for concept in ("revenue", "ebitda", "net_income") for year in ("2023", "2024")]


def test_a_column_of_account_numbers_is_no_figure() -> None:
    text = "EUR thousand\t\t2023\t2024\n4000\tRevenue\t3,900\t6,300\n1800\tCash\t700\t900\n"
    assert values(text) == [("revenue", "3900000"), ("revenue", "6300000"), ("cash", "700000"), ("cash", "900000")]


def test_a_list_of_holders_counts_shares_and_no_employees() -> None:
    rows = "Holder\tShares\nFounders\t9,200,000\nEmployees\t1,150,000\nTotal shares\t10,350,000\n"
    text = f"Cap table as of 30 June 2024\n\n{rows}"
    assert values(text) == [("shares", "10350000")]


@pytest.mark.parametrize(("change", "ties"), [("130", 0), ("180", 1)])
def test_cash_flows_are_held_against_the_change_of_cash(change: str, ties: int) -> None:
    rows = (
        "Cash flow statement, EUR thousand\t2024",
        "Net cash from operating activities\t400",
        "Net cash used in investing activities\t(220)",
        "Net cash used in financing activities\t(50)",
        f"Net increase in cash\t{change}",
        "Cash\t900",
    )
    found = findings("\n".join(rows)).ties
    assert [(tie.what, tie.computed) for tie in found] == ties * [
        ("the change of cash is the sum of the cash flows", Decimal(130))
    ]


def derived(text: str) -> dict[str, str]:
    rows = [
        RoomFigure(figure, figure.basis or "management", "a", "a", "", deck=False, dated=None)
        for figure in findings(text).figures
    ]
    return {each.name: f"{each.value:f}" for each in derive(rows) if each.period.endswith("2024-12-31")}


def test_ratios_are_computed_from_their_inputs() -> None:
    found = derived(
        "EUR thousand\t2023\t2024\nRevenue\t5,000\t6,000\nEBITDA\t1,000\t1,500\nCash\t600\t900\nDebt\t2,000\t2,100\n"
        "Net cash used in operating activities\t(300)\t(1,200)\n"
    )
    assert found["revenue_growth"] == "20.0"
    assert found["ebitda_margin"] == "25.0"
    assert found["rule_of_40"] == "45.0"
    assert found["net_debt"] == "1200000"
    assert found["runway"] == "9.0"


def test_the_largest_part_of_a_list_with_its_total_is_the_concentration() -> None:
    text = "Customer\tRevenue 2024\nAcme\t€3,000\nBell\t€2,000\nCorp\t€1,000\nTotal\t€6,000\n"
    assert derived(text)["concentration"] == "50.0"


def test_rough_amounts_in_a_row_name_no_parts() -> None:
    head = "EUR\n\nPlan 2024\tLow\tHigh\tView\nStaff\t~32 EUR a month\t~48 EUR a month\t{}\nRevenue\t12,000\t14,000\n"
    assert {figure.entity for figure in findings(head.format("")).figures} == {"Low", "High"}
    assert not findings(head.format("More people")).figures
    to_june = findings("EUR\n\tJan ~Jun 2024\tJan~Jun 2023\nRevenue\t12,000\t14,000\n").figures
    assert {figure.period for figure in to_june} == {"2024-01-01/2024-06-30", "2023-01-01/2023-06-30"}


@cases(
    ("title", "second", "values"),
    [
        ("Model, EUR", "Other", []),
        ("Income statement, EUR", "Other", [50_000]),
        ("Model, EUR", "Gross profit", [50_000, 20_000]),
        ("Model, EUR", "Headcount", [50_000, 20_000]),
    ],
)
def test_a_long_table_of_a_sheet_needs_more_than_one_name_that_is_known(
    title: str, second: str, values: list[int]
) -> None:
    rows = "".join(f"Bagel {at}\t{at}00\n" for at in range(1, 25))
    text = f"{title}\t2024\n{rows}Total revenue\t50,000\n{second}\t20,000\n"
    found = find_figures(LedgerDocument(text, [(0, len(text), "sheet", "Sheet1")], "a.xlsx"), taxonomy())
    assert [int(figure.value) for figure in found.figures] == values
    assert ("long tables that give one figure alone" in found.left_out) is not bool(values)


def test_numbers_of_rows_that_look_like_years_are_none() -> None:
    rows = "".join(f"{at}\t{at}000000\t{at}0000\t{at}500000\n" for at in range(1, 2100))
    found = find_figures(LedgerDocument(f"No\tRevenue\tNet income\tTotal assets\n{rows}", [], "a.csv"), taxonomy())
    assert found.figures == []


def test_of_sections_the_groups_gives_the_companys_figure() -> None:
    text = "EUR\t2024\nGroup\nRevenue\t9,100,200\nSubsidiary A\nRevenue\t3,100,200\n"
    figures = find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    assert (int(figures[0].value), figures[0].entity) == (9_100_200, None)


def test_a_share_behind_a_sentence_of_the_year_is_of_that_year() -> None:
    text = "Revenue was EUR 9.4 million in the year ended 31 December 2024. "
    text += "The largest customer accounted for 18 % of revenue.\n"
    figures = find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    assert [figure.period for figure in figures if figure.unit == "percent"] == ["2024-01-01/2024-12-31"]

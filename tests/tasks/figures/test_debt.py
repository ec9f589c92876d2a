"""Debt that no document states: the sum of its rows in the balance sheet, where all of them are understood."""

from tasks.figures.conflicts import RoomFigure
from tasks.figures.derived import derive, figure_values, read_expression
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tests.cases import cases

SHEET = """Consolidated balance sheets (in millions of dollars)
\tDecember 31, 2023\tDecember 31, 2022
Cash and cash equivalents\t120\t90
Loans to suppliers\t7\t8
Total assets\t2,900\t2,700
Short-term borrowings\t40\t—
Current maturities of long-term debt\t60\t55
Accounts payable\t210\t200
Total current liabilities\t390\t340
Long-term debt, less current maturities\t800\t850
Deferred income taxes\t30\t31
Total liabilities\t1,400\t1,390
Total shareholders' equity\t1,500\t1,310
"""
FLOWS = """
Consolidated statements of cash flows (in millions of dollars), years ended December 31,
\t2023\t2022
Net income\t300\t250
Depreciation and amortization\t110\t100
Net cash provided by operating activities\t390\t360
Capital expenditures\t(150)\t(140)
Net cash used in investing activities\t(150)\t(140)

Consolidated statements of income (in millions of dollars), years ended December 31,
\t2023\t2022
Revenue\t2,400\t2,200
Depreciation and amortization\t45\t40
Operating income\t410\t380
Income taxes\t90\t80
Net income\t300\t250
"""


def room(*texts: str) -> list[RoomFigure]:
    return [
        RoomFigure(figure, figure.basis or "audited", str(at), f"{at}.txt", "", deck=False, dated=None)
        for at, text in enumerate(texts)
        for figure in find_figures(LedgerDocument(text, [], f"{at}.txt"), taxonomy()).figures
    ]


def computed(rows: list[RoomFigure], name: str) -> dict[str, str]:
    return {each.period: f"{each.value / 10**6:f}" for each in derive(rows) if each.name == name}


def test_the_rows_of_a_balance_sheet_are_summed_with_their_inputs() -> None:
    rows = room(SHEET)
    assert computed(rows, "debt") == {"2023-12-31": "900", "2022-12-31": "905"}
    assert computed(rows, "net_debt") == {"2023-12-31": "780", "2022-12-31": "815"}
    (newest, *_) = [each for each in derive(rows) if each.name == "debt"]
    assert [row.figure.label for row in newest.inputs] == [
        "Short-term borrowings", "Current maturities of long-term debt", "Long-term debt, less current maturities",
    ]  # fmt: skip


@cases(
    ("before", "after"),
    [
        ("Short-term borrowings", "Loan notes of the founders"),  # a row of debt that is not understood
        ("Short-term borrowings\t40\t—\nCurrent maturities of long-term debt\t60\t55\n", ""),  # in other liabilities
        ("Total liabilities\t1,400\t1,390\nTotal shareholders' equity\t1,500\t1,310\n", ""),  # goes on elsewhere
        ("Total current liabilities\t390\t340\n", ""),  # a bank's
    ],
)
def test_a_sum_of_which_a_part_may_be_missing_is_none(before: str, after: str) -> None:
    assert computed(room(SHEET.replace(before, after)), "debt") == {}


def test_a_row_without_a_number_on_one_day_leaves_that_day_open() -> None:
    assert computed(room(SHEET.replace("40\t—", "40\t")), "debt") == {"2023-12-31": "900"}


def test_rows_of_one_name_are_told_by_where_they_stand() -> None:
    text = SHEET.replace("Short-term borrowings", "Term debt").replace(
        "Long-term debt, less current maturities", "Term debt"
    )
    assert computed(room(text), "debt") == {"2023-12-31": "900", "2022-12-31": "905"}


def test_a_total_that_a_note_counts_otherwise_gives_way_and_the_same_total_stays() -> None:
    other, same = (f"\nTotal debt at December 31, 2023: USD {amount} million\n" for amount in (1250, 900))
    assert computed(room(SHEET + other), "debt")["2023-12-31"] == "900"
    assert "2023-12-31" not in computed(room(SHEET + same), "debt")


def test_a_document_that_states_the_whole_needs_no_sum() -> None:
    rows = room(SHEET, "Total debt at December 31, 2023: USD 900 million\n")
    assert "2023-12-31" not in computed(rows, "debt")
    assert computed(rows, "net_debt")["2023-12-31"] == "780"


def test_ebitda_takes_what_the_cash_flow_statement_writes_off() -> None:
    rows = room(SHEET + FLOWS)
    assert computed(rows, "ebitda") == {"2023-01-01/2023-12-31": "520", "2022-01-01/2022-12-31": "480"}
    assert computed(rows, "free_cash_flow")["2023-01-01/2023-12-31"] == "240"
    (leverage, _) = figure_values(read_expression("net debt / EBITDA"), rows)
    assert f"{leverage.value:.2f}" == "1.50"


def test_what_is_owed_is_not_held_against_a_quarter() -> None:
    rows = room(SHEET + FLOWS.replace("years ended", "three months ended"))
    assert figure_values(read_expression("net debt / EBITDA"), rows) == []


def test_and_its_own_row_where_no_line_parts_the_statements() -> None:
    income = "Revenue\t2,400\t2,200\nDepreciation and amortization\t45\t40\nOperating income\t410\t380\n"
    rows = room(
        FLOWS[: FLOWS.index("\n\nConsolidated statements of income")].replace(
            "Net income\t300", income + "Net income\t300"
        )
    )
    assert computed(rows, "ebitda")["2023-01-01/2023-12-31"] == "520"


def test_a_row_of_the_statement_of_income_above_the_cash_flows_is_none_of_theirs() -> None:
    income = "Revenue\t2,400\t2,200\nDepreciation and amortization\t45\t40\nOperating income\t410\t380\n"
    flows = FLOWS[: FLOWS.index("\n\nConsolidated statements of income")]
    text = flows.replace("Net income\t300", income + "Net income\t300")
    assert computed(room(text.replace("Depreciation and amortization\t110\t100\n", "")), "ebitda") == {}

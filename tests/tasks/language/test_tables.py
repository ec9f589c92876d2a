"""Cells of a sheet as they are quoted: under the headers of their columns, behind what names their row."""

import pytest

from tasks.language.quotations import locate, verify
from tasks.language.tables import find_cells, quote_cells

SHEETS = """Profit and loss, EUR thousand
\tActual\t\tBudget\t
EUR k\tFY2023\tFY2024\tFY2025\tFY2026
Revenue\t1,000\t1,210\t1,300\t1,400
4000\t\t\t\t
Costs\t(800)\t(900)\t(1,000)\t(1,000)

Staff\t10\t12\t14\t15

Plan\tLow\tHigh
Staff\t16\t18
\fDay\tClient\tInvoice\tAmount
2024-01-05\tAcme\tINV-1\t450.00
2024-01-06\tBeta\tINV-2\t1,200
Balance\t\t2023-12-31\t2024-12-31
4000\tCash\t5\t7
\fSupplier\tTerm\tLaw
Alpha Ltd\tIt runs for three years and ends unless it is renewed in writing by both parties, each time for \
another year, or ended.\tEngland
Beta SA\tNo end\tFrance
\fRevenue\t5\t6
Costs\t3\t4
\fEUR\t2023\t2024
Costs\t3\t4
Tenant\tA. Berg\tB. Dahl
Rent\t8\t9
"""


def cells(words: str, behind: str = "") -> str | None:
    """The quotation of the first of these words that stand behind others."""
    start = SHEETS.index(words, SHEETS.index(behind))
    return quote_cells(SHEETS, start, start + len(words))


@pytest.mark.parametrize(
    ("words", "behind", "quoted"),
    [
        ("1,210", "", "\tActual\nEUR k\tFY2024\nRevenue\t1,210"),
        ("1,210\t1,300", "", "\tActual\tBudget\nEUR k\tFY2024\tFY2025\nRevenue\t1,210\t1,300"),
        ("1,400", "", "\tBudget\nEUR k\tFY2026\nRevenue\t1,400"),  # a heading that extends over two columns
        ("12", "Staff", "\tActual\nEUR k\tFY2024\nStaff\t12"),  # behind an empty line, under the header before it
        ("18", "Plan", "Plan\tHigh\nStaff\t18"),  # under a header of its own
        ("1,200", "Beta", "Day\tClient\tAmount\n2024-01-06\tBeta\t1,200"),  # a date does not name a row alone
        ("7", "Cash", "Day\tClient\tAmount\nBalance\t\t2024-12-31\n4000\tCash\t7"),  # another row of times
        ("England", "", "Supplier\tLaw\nAlpha Ltd\tEngland"),
        ("Beta SA", "Supplier", "Supplier\nBeta SA"),
        ("FY2024", "", "EUR k\tFY2024"),  # the header itself
        ("6", "\fRevenue", "Revenue\t6"),  # no header
    ],
)
def test_cells_are_quoted_under_their_headers_and_behind_their_label(words: str, behind: str, quoted: str) -> None:
    assert cells(words, behind) == quoted
    assert verify(quoted, SHEETS)


def test_a_quotation_of_cells_stands_where_the_cells_stand() -> None:
    start = SHEETS.index("18")
    assert locate("Plan\tHigh\nStaff\t18", SHEETS) == (start, start + 2)


@pytest.mark.parametrize(
    "invented",
    [
        "\tActual\nEUR k\tFY2023\nRevenue\t1,210",  # the header of another column
        "\tActual\nEUR k\tFY2024\nCosts\t1,210",  # the label of another row
        "\tActual\nEUR k\tFY2024\nRevenue\t1,211",  # another figure
        "\tActual\nEUR k\tFY2024\nRevenue\t1,000",  # the figure of another column
        "Revenue\t1,210",  # without the header that the column has
        "\tActual\nEUR k\tFY2024\n1,210",  # without the label that the row has
        "FY2024\nRevenue\t1,210",
        "\tBudget\nEUR k\tFY2024\nRevenue\t1,210",  # a heading that does not reach so far
        "\tActual\tBudget\nEUR k\tFY2023\tFY2025\nRevenue\t1,000\t1,300",  # cells that do not stand beside each other
        "\tActual\nEUR k\tFY2024\nStaff\t18",  # the header of another table
        "Day\tClient\tAmount\n4000\tCash\t7",  # without the row of times between
        "Supplier\tLaw\nAlpha Ltd\tFrance",
        "\tActual\nEUR k\tFY2024\nRevenue\t1,210\nCosts\t(900)",  # two rows under one header
        "\tActual\nEUR k\tFY2024\nRevenue\t1,21",  # a part of a figure
        "\tActual\nEUR k\tFY2024\nRevenue\t-1,210",
        "Supplier\tFY2024\nRevenue\t1,210",
        "EUR\t2024\nRent\t9",  # under the tenants, and not the year
        "\tActual\nEUR k\tFY2024\nRevenue\t1,210 may not be final",
        "EUR k\nProfit and loss, EUR thousand",  # a title, which is no row
    ],
)
def test_an_invented_quotation_of_cells_stands_nowhere(invented: str) -> None:
    assert not verify(invented, SHEETS)


@pytest.mark.parametrize(
    "words", ["Profit and loss", "ends unless it is renewed", "Costs\t(800)\n", "4000\t\t\t\t\nCosts"]
)
def test_what_is_no_cell_of_a_row_is_quoted_as_it_stands(words: str) -> None:
    start = SHEETS.index(words) if "\n" not in words else SHEETS.index("Revenue\t1,000")
    end = start + len(words) if "\n" not in words else SHEETS.index("(900)")
    assert quote_cells(SHEETS, start, end) is None


def test_a_wide_sheet_is_quoted_by_its_cell_and_not_by_its_row() -> None:
    years = range(1800, 2025)
    text = (
        "EUR\t" + "\t".join(f"FY{year}" for year in years) + "\nRevenue\t" + "\t".join(str(7 * year) for year in years)
    )
    start = text.index(str(7 * 1999))
    assert quote_cells(text, start, start + 5) == "EUR\tFY1999\nRevenue\t13993"


def test_a_row_deep_in_a_long_sheet_has_its_header() -> None:
    text = "Item\tPrice\n" + "".join(f"Item {n}\t{n}.50\n" for n in range(100_000))
    start = text.index("99999.50")
    assert quote_cells(text, start, start + 8) == "Item\tPrice\nItem 99999\t99999.50"
    assert locate("Item\tPrice\nItem 99999\t99999.50", text) == (start, start + 8)


def test_a_figure_before_its_label_has_no_header_of_the_last_column() -> None:
    text = "2021\t2022\tItem\n100\t200\tRevenue\n7\t9\tCosts\n" + "\f2021\t2022\n10\t20\n"
    assert quote_cells(text, text.index("100"), text.index("100") + 3) == "2021\n100"
    assert quote_cells(text, text.index("10\t20"), text.index("10\t20") + 2) == "2021\n10"
    assert not verify("2021\n2022\n10", text)


@pytest.mark.parametrize("above", ["", "Item\tPrice\nDesk\t1\n\n", "\tPlan\nItem\t2024\nDesk\t1\n\n"])
def test_each_cell_of_a_header_that_is_very_long_stands_over_its_own_column(above: str) -> None:
    names = [f"Column number {n}" for n in range(2000)]
    text = above + "\n".join(
        "\t".join([name, *row])
        for name, row in (("EUR", names), ("", names), ("Rent", [f"v{n}x" for n in range(2000)]))
    )
    for column in (0, *range(560, 600), 1999):
        start = text.index(f"v{column}x")
        quoted = quote_cells(text, start, start + len(f"v{column}x"))
        assert quoted == f"EUR\tColumn number {column}\n\tColumn number {column}\nRent\tv{column}x"
        assert locate(quoted, text) == (start, start + len(f"v{column}x"))


def test_cells_are_found_among_many_that_are_alike() -> None:
    head, row = "\t".join(f"FY{year}" for year in range(1900, 2100)), "\t".join(["5"] * 200)
    text = f"Item\t{head}\nRent\t{row}\n\fNo\tState\n" + "".join(f"C{n}\tTerminated by client\n" for n in range(2000))
    start = text.index("Rent") + len("Rent\t") + 2 * 150
    assert locate("Item\tFY2050\nRent\t5", text) == (start, start + 1)
    start = text.index("C1900\t") + len("C1900\t")
    assert locate("No\tState\nC1900\tTerminated by client", text) == (start, start + len("Terminated by client"))


def test_of_places_that_are_quoted_alike_the_one_that_is_near_is_found() -> None:
    text = "Item\tPrice\nDesk\t40\n\nItem\tPrice\nDesk\t40\n"
    first, second = text.index("40"), text.rindex("40")
    assert find_cells("Item\tPrice\nDesk\t40", text, second) == (second, second + 2)
    assert find_cells("Item\tPrice\nDesk\t40", text, len(text)) == (first, first + 2)


@pytest.mark.parametrize("row", [3, 1500])
def test_far_below_the_header_of_another_table_a_row_has_no_header_of_the_first_one(row: int) -> None:
    rows = "".join(f"Client {'abc'[n % 3]}{n}\t7{n}\n" for n in range(2000))
    text = f"Item\tPrice\nDesk\t40\nClient\tRevenue\n{rows}"
    start = text.index(f"\t7{row}\n") + 1
    assert quote_cells(text, start, start + len(f"7{row}")) is None

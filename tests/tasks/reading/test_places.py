"""Places of cells are derived from the text of a table: each knows the words of its row and column header."""

from tasks.reading import read_document
from tasks.reading.text_writer import (
    CELL,
    CELLS,
    SHEET,
    TABLE,
    Place,
    cells,
    comment_mark,
    make_label,
    page_numbers,
    with_cells,
)
from tests.cases import cases
from tests.written import saved, workbook_of


def labels(text: str, kind: str = TABLE, label: str = "") -> dict[str, str]:
    """What stands in each cell of a table, and the label of its place."""
    return {text[place.start : place.end]: place.label for place in cells(text, [Place(0, len(text), kind, label)])}


def test_a_cell_knows_the_headers_of_its_row_and_column() -> None:
    found = labels("EUR m\t2023\t2022\nRevenue\t120\t100\nCosts\t80\t\n")

    assert found["120"] == "row “Revenue”, column “2023”"
    assert found["80"] == "row “Costs”, column “2023”"
    assert found["Costs"] == "column “EUR m”"
    assert found["2022"] == ""


def test_a_header_of_several_rows_is_joined_and_reaches_over_empty_cells() -> None:
    found = labels("\tYear ended 31 March\t\n\t2023\t2022\n\tEUR\tEUR\nRevenue\t120\t100\n")

    assert found["120"] == "row “Revenue”, column “Year ended 31 March 2023 EUR”"
    assert found["100"] == "row “Revenue”, column “Year ended 31 March 2022 EUR”"


def test_a_title_over_the_headers_is_none() -> None:
    assert labels("Profit and loss account\n\t2023\nRevenue\t120\n")["120"] == "row “Revenue”, column “2023”"


def test_a_table_that_begins_with_figures_has_no_header() -> None:
    assert labels("Revenue\t120\nCosts\t80\n")["80"] == "row “Costs”"


def test_the_file_may_tell_how_many_rows_are_headers() -> None:
    text = "Item\t7\nRevenue\t120\n"
    assert labels(text, label="1")["120"] == "row “Revenue”, column “7”"
    assert labels(text, label="0")["120"] == "row “Revenue”"


def test_tables_of_a_sheet_that_an_empty_row_parts_keep_the_headers_above_unless_they_bring_their_own() -> None:
    text = "\t2023\t2022\nRevenue\t120\t100\n\nCosts\t80\t70\n\nPlan\t2024\nRevenue\t130\n"
    places = [Place(0, len(text), SHEET, "P&L"), Place(0, len(text), CELLS, "A1:C8")]
    found = {text[place.start : place.end]: place.label for place in cells(text, places)}

    assert found["70"] == "row “Costs”, column “2022”"
    assert found["130"] == "row “Revenue”, column “2024”"


def test_a_sheet_that_begins_where_another_ends_has_headers_of_its_own() -> None:
    text = "\t2023\nRevenue\t120\nOut\t5\nCosts\t80\n"
    half = text.index("Out")
    sheets = [Place(start, end, kind, "") for start, end in ((0, half), (half, len(text))) for kind in (SHEET, CELLS)]
    assert [place.label for place in cells(text, sheets)][-1] == "row “Costs”"


@cases("mark", ["[hidden row]", "[hidden column C]", "[comment: Why?]"])
def test_marks_between_rows_are_no_rows(mark: str) -> None:
    assert labels(f"\t2023\n{mark}\nRevenue\t120\n")["120"] == "row “Revenue”, column “2023”"


def test_places_of_cells_stand_among_the_others_in_order() -> None:
    text = "\t2023\nRevenue\t120\n"
    places = with_cells(text, [Place(0, len(text), TABLE, "")])

    assert [place.kind for place in places] == [TABLE, CELL, CELL, CELL]
    assert places[-1] == Place(14, 17, CELL, "row “Revenue”, column “2023”")
    assert len(places) == 4


def test_a_text_without_tables_has_the_places_it_had() -> None:
    assert with_cells("Words.\n", [Place(0, 7, "page", "1")]) == [Place(0, 7, "page", "1")]


def test_a_document_read_has_the_cells_of_its_sheets() -> None:
    workbook, _ = workbook_of(["", 2023], ["Revenue", 120])

    reading = read_document(saved(workbook), ".xlsx")

    labels = [place.label for place in reading.places if reading.text[place.start : place.end] == "120"]
    assert labels == ["row “Revenue”, column “2023”"]


def test_a_remark_is_marked_with_what_is_known_of_it() -> None:
    assert comment_mark("A. Author", "2024-05-01", "Why?") == "[comment, A. Author, 2024-05-01: Why?]"
    assert comment_mark("", "", "Why?") == "[comment: Why?]"
    assert make_label("A.\nAuthor", "") == "A. Author"


def test_pages_are_named_as_a_person_writes_them() -> None:
    assert page_numbers([2, 5, 6, 7]) == "pages 2, 5–7"
    assert page_numbers([3]) == "page 3"

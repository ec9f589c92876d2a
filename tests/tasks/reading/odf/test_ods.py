"""Spreadsheets of OpenDocument: values as they are shown, what is hidden, and bounds on what is repeated."""

import pytest

from tasks.reading import read_document
from tasks.reading.text_writer import Reading
from tests.cases import cases
from tests.tasks.reading.odf.packages import content, package


def cell(shown: str = "", **attributes: str) -> str:
    values = "".join(f' {name.replace("__", ":").replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<table:table-cell{values}>{f'<text:p>{shown}</text:p>' if shown else ''}</table:table-cell>"


def row(*cells: str, **attributes: str) -> str:
    values = "".join(f' {name.replace("__", ":").replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<table:table-row{values}>{''.join(cells)}</table:table-row>"


def sheet(*rows: str, name: str = "Sheet1", style: str = "") -> str:
    return f'<table:table table:name="{name}" table:style-name="{style}">{"".join(rows)}</table:table>'


def read(*sheets: str, styles: str = "") -> Reading:
    return read_document(package("spreadsheet", "".join(sheets), styles), ".ods")


def number(value: str, shown: str, kind: str = "float") -> str:
    return cell(shown, office__value_type=kind, office__value=value)


@cases(
    ("one", "text"),
    [
        (number("1234567.891", "1,234,567.89"), "1234567.891"),
        (number("0.30000000000000004", "0.3"), "0.3"),
        (number("0.62", "62%", "percentage"), "62%"),
        (number("0.6229", "62%", "percentage"), "62% (0.6229)"),
        (number("0.622933333333333", "62%", "percentage"), "62% (0.6229)"),
        (number("-0.622933333333333", "(62.3%)", "percentage"), "(62.3%) (-0.62293)"),
        (number("1234567.891", "1,235k"), "1,235k (1234567.891)"),
        (number("-1234567.891", "-1.2m"), "-1.2m (-1234567.891)"),
        (number("46619.579999999507", "46619.58"), "46619.58"),
        (number("1234.5", "1.234,50 €", "currency"), "1.234,50 €"),
        (number("1234.567", "1.234,57 €", "currency"), "1.234,57 € (1234.567)"),
        (number("-1200", "(1,200)"), "(1,200)"),
        (cell("05/01/24", office__value_type="date", office__date_value="2024-05-01"), "2024-05-01"),
        (cell("1 May", office__value_type="date", office__date_value="2024-05-01T10:30:00"), "2024-05-01 10:30:00"),
        (cell("10:30", office__value_type="time", office__time_value="PT26H30M05.5S"), "26:30:05.5"),
        (cell("TRUE", office__value_type="boolean", office__boolean_value="true"), "TRUE"),
        (cell("#DIV/0!", office__value_type="float", office__value="0", calcext__value_type="error"), "#DIV/0!"),
        (cell("words", office__value_type="string"), "words"),
        (cell(office__value_type="string", office__string_value="words"), "words"),
        (cell("12", office__value_type="float", office__value="12", table__formula="of:=[.A1]"), "12"),
    ],
)  # fmt: skip
def test_a_value_reads_as_it_is_shown(one: str, text: str) -> None:
    reading = read(sheet(row(one)))
    assert reading.text == f"Sheet1\n{text}\n"
    assert reading.warnings == []


def test_a_formula_without_a_value_stands_in_its_cell_and_a_warning_names_the_sheet() -> None:
    formula = cell(table__formula="of:=SUM([.A1:.B1])/[$Other.C2]")
    reading = read(sheet(row(number("1", "1"), formula), name="P&amp;L"))
    assert reading.text == "P&L\n1\t=SUM(A1:B1)/$Other.C2\n"
    assert any("P&L" in warning for warning in reading.warnings)


def test_sheets_are_pages_and_empty_rows_and_columns_count_in_the_places() -> None:
    gap = cell(table__number_columns_repeated="2")
    reading = read(
        sheet(
            row(table__number_rows_repeated="4"),
            row(gap, cell("a"), cell(table__number_columns_repeated="16381")),
            row(cell("b"), table__number_rows_repeated="2"),
            row(table__number_rows_repeated="1048000"),
            row(cell("c")),
        ),
        sheet(row(cell("d")), name="Second"),
    )
    assert reading.text == "Sheet1\n\t\ta\nb\nb\n\nc\n\fSecond\nd\n"
    assert [place.label for place in reading.places if place.kind == "cells"] == ["A5:C7", "A1048008:A1048008", "A1:A1"]


def test_hidden_sheets_rows_and_columns_carry_their_marks() -> None:
    properties = '<style:table-properties table:display="false"/>'
    styles = f'<style:style style:name="ta2" style:family="table">{properties}</style:style>'
    column = '<table:table-column table:visibility="collapse"/>'
    rows = row(cell("a"), cell("b")), row(cell("c"), cell("d"), table__visibility="filter")
    reading = read(sheet("<table:table-column/>", column, *rows, name="Plan", style="ta2"), styles=styles)
    assert reading.text == "[hidden sheet]\nPlan\n[hidden column B]\na\tb\n[hidden row]\nc\td\n"
    hidden = [(place.kind, place.label) for place in reading.places if place.kind.startswith("hidden")]
    assert sorted(hidden) == [
        ("hidden_column", "B"),
        ("hidden_column", "B"),
        ("hidden_row", "2"),
        ("hidden_sheet", "Plan"),
    ]


def test_remarks_and_shapes_come_after_the_cells() -> None:
    remark = (
        '<table:table-cell office:value-type="string"><office:annotation><dc:creator>A. Author</dc:creator>'
        "<text:p>Sure?</text:p></office:annotation><text:p>Rent</text:p></table:table-cell>"
    )
    box = "<table:shapes><draw:custom-shape><text:p>Box</text:p></draw:custom-shape></table:shapes>"
    assert read(sheet(box, row(cell("x"), remark), row(cell("y")))).text == (
        "Sheet1\nx\tRent\ny\nB1\t[comment, A. Author: Sure?]\nBox\n"
    )


def test_what_repeats_without_end_is_bounded() -> None:
    wide = cell("w", table__number_columns_repeated="999999999")
    reading = read(sheet(row(wide, table__number_rows_repeated="999999999")))
    assert len(reading.text) < 3_000_000
    assert any("1,000" in warning for warning in reading.warnings)


def test_a_flat_or_cut_off_workbook_is_read() -> None:
    flat = content("spreadsheet", sheet(row(cell("a"))), root="document").encode()
    assert read_document(flat, ".fods").text == "Sheet1\na\n"
    cut = read_document(flat[: flat.index(b"</table:table-row>") + 20], ".fods")
    assert cut.text == "Sheet1\na\n"
    assert cut.warnings


def test_bytes_that_are_no_characters_cost_no_words_beside_them() -> None:
    flat = content("spreadsheet", sheet(row(cell("Before"), cell("R*nt"), cell("After"))), root="document").encode()
    reading = read_document(flat.replace(b"R*nt", b"R\xe9n&#56000;t"), ".fods")
    assert reading.text == "Sheet1\nBefore\tR\ufffdn\ufffdt\tAfter\n"


@pytest.mark.slow
def test_repeats_of_many_rows_are_bounded_together_and_each_row_is_there() -> None:
    wide = [cell(f"{number} " + "w" * 98, table__number_columns_repeated="1000") for number in range(200)]
    reading = read(sheet(*(row(one, table__number_rows_repeated="1000000") for one in wide)))
    assert len(reading.text) < 40_000_000
    assert [number for number in range(200) if f"\n{number} w" not in reading.text] == []
    assert "written 1,000 times at most" in reading.warnings[0]

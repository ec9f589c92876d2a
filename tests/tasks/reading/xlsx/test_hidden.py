"""Sheets, rows and columns that a workbook hides: their words are read, and say that they are hidden."""

from pathlib import Path

import pytest

from tasks.reading.text_writer import Reading, with_cells
from tasks.reading.xlsx import reader
from tasks.reading.xlsx import rows as sheet_rows
from tests.cases import cases
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import OFFICE, SHEET


def row(number: int, *values: object, hidden: str = "") -> str:
    cells = "".join(
        f'<c r="{letter}{number}" t="str"><v>{value}</v></c>' for letter, value in zip("ABCDE", values, strict=False)
    )
    return f'<row r="{number}"{hidden}>{cells}</row>'


def hidden_row(number: int, *values: object) -> str:
    return row(number, *values, hidden=' hidden="1"')


def with_columns(path: Path, columns: str, rows: str) -> Reading:
    sheet = f'<worksheet xmlns="{SHEET}"><cols>{columns}</cols><sheetData>{rows}</sheetData></worksheet>'
    return reader.read(packages.xlsx(path / "a.xlsx", "", {"xl/worksheets/sheet1.xml": sheet}))


def at_places(reading: Reading, kind: str) -> list[tuple[str, str]]:
    return [(place.label, reading.text[place.start : place.end]) for place in reading.places if place.kind == kind]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_says_so(tmp_path: Path, state: str) -> None:
    book = (
        f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="Old" sheetId="1" state="{state}" '
        'r:id="rId1"/><sheet name="New" sheetId="2" state="visible" r:id="rId9"/></sheets></workbook>'
    )
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", row(1, "superseded"), {"xl/workbook.xml": book}))
    assert reading.text == "[hidden sheet]\nOld\nsuperseded\n\fNew\n"
    assert at_places(reading, "hidden_sheet") == [("Old", "[hidden sheet]\nOld\nsuperseded\n")]


@cases("attribute", [' hidden="1"', " hidden='true'", ' ht="0" hidden = "1" customHeight="1"',
                                       ' ht="0" customHeight="1"', ' ht="0.0"'])  # fmt: skip
def test_a_hidden_row_is_marked_before_it(tmp_path: Path, attribute: str) -> None:
    rows = row(1, "Item", "2024") + row(2, "Loss", "-9", hidden=attribute) + row(3, "Profit", "7")
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows))
    assert reading.text == "Ledger\nItem\t2024\n[hidden row]\nLoss\t-9\nProfit\t7\n"
    assert at_places(reading, "hidden_row") == [("2", "[hidden row]\nLoss\t-9\n")]
    assert at_places(reading, "cells") == [("A1:B1", "Item\t2024\n"), ("A2:B2", "Loss\t-9\n"), ("A3:B3", "Profit\t7\n")]


def test_cells_of_hidden_rows_have_the_headers_of_their_table(tmp_path: Path) -> None:
    rows = row(1, "Item", "Amount") + row(2, "Revenue", 5) + hidden_row(3, "Loss", 9)
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows))
    cells = with_cells(reading.text, reading.places)
    assert "row “Loss”, column “Amount”" in [place.label for place in cells if reading.text[place.start] == "9"]


def test_rows_hidden_one_after_the_other_have_one_mark_a_block(tmp_path: Path) -> None:
    rows = row(1, "a") + "".join(hidden_row(number, number) for number in range(2, 60)) + row(60, "z")
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows))
    assert [line for line in reading.text.splitlines() if "[" in line] == [
        "[hidden row] 2 to 21", "[hidden row] 22 to 41", "[hidden row] 42 to 59",
    ]  # fmt: skip
    assert [label for label, _ in at_places(reading, "hidden_row")] == ["2:21", "22:41", "42:59"]
    assert reading.text.endswith("\n59\nz\n")


def test_a_filtered_list_of_many_rows_stays_readable(tmp_path: Path) -> None:
    rows = "".join((hidden_row if number % 1000 else row)(number, number) for number in range(1, 20_001))
    text = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows)).text
    assert text.count("[hidden row]") == 20 * 50
    assert len([line for line in text.splitlines() if line.isdecimal()]) == 20_000


def test_cells_of_a_hidden_column_say_so(tmp_path: Path) -> None:
    columns = '<col min="1" max="1"/><col min="3" max="3" width="0" hidden="1"/><col min="7" max="16384" hidden="1"/>'
    rows = row(1, "Item", "2024", "Secret") + row(2, "Größe", "", "42", "7") + row(3, "Rest", "1")
    reading = with_columns(tmp_path, columns, rows)
    assert reading.text == "Ledger\n[hidden column C]\nItem\t2024\tSecret\nGröße\t\t42\t7\nRest\t1\n"
    assert at_places(reading, "hidden_column") == [("C", "Secret"), ("C", "42")]
    assert at_places(reading, "cells") == [("A1:D3", "Item\t2024\tSecret\nGröße\t\t42\t7\nRest\t1\n")]


def test_hidden_columns_without_words_have_no_mark(tmp_path: Path) -> None:
    assert with_columns(tmp_path, '<col min="3" max="9" hidden="1"/>', row(1, "a", "b")).text == "Ledger\na\tb\n"


def test_of_many_hidden_columns_side_by_side_the_first_and_the_last_are_named(tmp_path: Path) -> None:
    reading = with_columns(tmp_path, '<col min="2" max="5" hidden="true"/>', row(1, *"abcde"))
    assert reading.text == "Ledger\n[hidden column B] to [hidden column E]\na\tb\tc\td\te\n"
    assert at_places(reading, "hidden_column") == [("B", "b"), ("C", "c"), ("D", "d"), ("E", "e")]


def test_a_number_in_a_hidden_column_is_placed_as_it_is_shown(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{r}"><c r="A{r}"><v>0.30000000000000004</v></c><c r="B{r}"><v>1.0E7</v></c></row>'
        for r in range(1, 50)
    )
    reading = with_columns(tmp_path, '<col min="2" max="2" hidden="1"/>', rows)
    assert set(at_places(reading, "hidden_column")) == {("B", "10000000")}
    assert len(at_places(reading, "hidden_column")) == 49


def test_places_in_hidden_columns_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_rows, "_MOST_HIDDEN_CELLS", 50)
    rows = "".join(row(number, number) for number in range(1, 1000))
    reading = with_columns(tmp_path, '<col min="1" max="1" hidden="1"/>', rows)
    assert len(at_places(reading, "hidden_column")) == 50
    assert reading.text.count("[hidden column A]") == 50


@cases(
    "columns",
    ['<col min="0" max="99999" hidden="1"/>', '<col min="-1" max="x" hidden="1"/>', '<col hidden="1"/>',
     '<col min="5" max="2" hidden="1"/>', '<col min="16384" max="99999" hidden="1"/>' * 20_000, "<col " * 10_000],
)  # fmt: skip
def test_senseless_columns_do_no_harm(tmp_path: Path, columns: str) -> None:
    assert with_columns(tmp_path, columns, row(1, "kept")).text.endswith("kept\n")


def test_a_sign_in_an_attribute_ends_no_tag(tmp_path: Path) -> None:
    strings = {"xl/sharedStrings.xml": f'<sst xmlns="{SHEET}"><si><t>one</t></si><si><t>two</t></si></sst>'}
    rows = "".join(
        f'<row r="{r}" spans="a>b"><c r="A{r}" t="s" x="c>d"><v>0</v></c><c r="B{r}" x="e>f" t="s"><v>1</v></c></row>'
        for r in range(1, 9)
    )
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {**strings})).text == "Ledger\n" + "one\ttwo\n" * 8


@pytest.mark.parametrize("shown", [' ht="0.75"', ' ht="15"', ' hidden="0"', ' ht="0" '.replace("0", "09")])
def test_a_row_with_some_height_is_not_hidden(tmp_path: Path, shown: str) -> None:
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", row(1, "Loss", hidden=shown)))
    assert reading.text == "Ledger\nLoss\n"


@pytest.mark.parametrize("width", ["0", "0.0"])
def test_a_column_without_width_is_hidden(tmp_path: Path, width: str) -> None:
    columns = f'<col min="1" max="1" width="0.7"/><col min="2" max="2" width="{width}" customWidth="1"/>'
    reading = with_columns(tmp_path, columns, row(1, "Item", "secret"))
    assert reading.text.endswith("[hidden column B]\nItem\tsecret\n")
    assert at_places(reading, "hidden_column") == [("B", "secret")]

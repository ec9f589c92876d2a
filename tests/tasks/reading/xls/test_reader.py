"""Workbooks of Excel 97 to 2003: the same text as the same workbook gives as .xlsx."""

import datetime as dt
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from tasks.errors import Damaged, PasswordProtected
from tasks.reading import binary_workbooks as reader
from tasks.reading.formats import find_format
from tasks.reading.formats import reader as reader_of
from tasks.reading.xlsx import reader as xlsx
from tasks.reading.xlsx.sheet import FULL
from tests.cases import cases
from tests.written import workbook_of

DOCUMENTS = Path(__file__).parents[3] / "documents"


def record(number: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", number, len(data)) + data


def text(words: str, *, wide: bool = False) -> bytes:
    return struct.pack("<HB", len(words), wide) + words.encode("utf-16-le" if wide else "latin-1")


BEGIN = record(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0, 0, 0, 0))
SHEET = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x10, 0, 0, 0, 0))
END = record(0x000A)


def stream(cells: bytes, before: bytes = b"", state: int = 0) -> bytes:
    """A workbook's stream of one sheet, "Ledger"."""
    bound = len(record(0x0085, bytes(6) + b"\6\0Ledger"))
    start = len(BEGIN) + len(before) + bound + len(END)
    sheet = record(0x0085, struct.pack("<IBB", start, state, 0) + b"\6\0Ledger")
    return BEGIN + before + sheet + END + SHEET + cells + END


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x0203, struct.pack("<HHHd", row, column, style, value))


def test_a_workbook_reads_as_it_does_in_the_newer_format(tmp_path: Path) -> None:
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    rows: list[list[Any]] = [
        ["EUR m", "Größe", "Umsatz 2024 – 東京", "When", "Is it"],
        ["Revenue", 1200, 1234.5, dt.date(2024, 1, 31), True],
        ["Margin", 0.62293333333333334, -0.25, dt.datetime(2024, 1, 31, 14, 30), False],  # noqa: DTZ001 - as in sheets
        [None, "hidden", 7, "=A1&A2", "=1/0"],
        *([f"Row {row} " + "word " * 50, row, row / 8, row * 1e9, None] for row in range(300)),
    ]
    book, sheet = workbook_of(*rows, title="P&L")
    sheet["B3"].number_format = sheet["C3"].number_format = "0%"
    sheet["C2"].number_format = '"$"#,##0.00'
    sheet.row_dimensions[4].hidden = True
    sheet.column_dimensions["C"].hidden = True
    old = book.create_sheet("Old")
    old["B2"] = "superseded"
    old.sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    for kind in ("xlsx", "xls"):
        command = [
            office,
            profile,
            "--headless",
            "--convert-to",
            kind,
            "--outdir",
            tmp_path / "out",
            tmp_path / "a.xlsx",
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=200)
    expected = xlsx.read(tmp_path / "out" / "a.xlsx")
    reading = reader.read_xls(tmp_path / "out" / "a.xls")
    assert "62% (0.6229)" in reading.text
    assert "[hidden column C]" in reading.text
    assert reading.text == expected.text
    assert reading.places == expected.places


@pytest.mark.parametrize("name", ["types-of-cells.xls"])
def test_an_independent_reader_finds_the_same_sheets_and_texts(name: str) -> None:
    reading = reader.read_xls(DOCUMENTS / name)
    workbook = CalamineWorkbook.from_path(DOCUMENTS / name)
    assert [place.label for place in reading.places if place.kind == "sheet"] == workbook.sheet_names
    for sheet in workbook.sheet_names:
        for row in workbook.get_sheet_by_name(sheet).to_python():
            assert all(value in reading.text for value in row if isinstance(value, str))


def test_numbers_are_shown_by_their_formats() -> None:
    styles = record(0x041E, struct.pack("<H", 164) + text('"€" 0.0', wide=True))
    styles += b"".join(record(0x00E0, struct.pack("<HH16x", 0, format_)) for format_ in (0, 9, 14, 164))
    cells = b"".join(
        number(0, column, value, column) for column, value in enumerate((1.0, 0.62293333333333334, 45322.0, 2.25))
    )
    cells += record(0x027E, struct.pack("<HHHI", 1, 0, 1, 25 << 2 | 3)) + record(
        0x027E, struct.pack("<HHHi", 1, 1, 0, -7 << 2 | 2)
    )
    cells += record(0x00BD, struct.pack("<HHHIHIH", 2, 1, 0, 5 << 2 | 2, 1, 50 << 2 | 3, 2))
    assert (
        reader.read_xls(stream(cells, styles)).text
        == "Ledger\n1\t62% (0.6229)\t2024-01-31\t€ 2.3 (2.25)\n25%\t-7\n\t5\t50%\n"
    )


def test_formulas_have_what_they_came_to() -> None:
    def formula(column: int, result: bytes) -> bytes:
        return record(0x0006, struct.pack("<HHH", 0, column, 0) + result + bytes(8))

    cells = formula(0, struct.pack("<d", 2.5)) + formula(1, b"\0\0\0\0\0\0\xff\xff") + record(0x0207, text("words"))
    cells += (
        formula(2, b"\1\0\1\0\0\0\xff\xff")
        + formula(3, b"\2\0\x07\0\0\0\xff\xff")
        + formula(4, b"\3\0\0\0\0\0\xff\xff")
    )
    cells += record(0x0205, struct.pack("<HHHBB", 0, 5, 0, 42, 1)) + record(
        0x0205, struct.pack("<HHHBB", 0, 6, 0, 0, 0)
    )
    assert reader.read_xls(stream(cells)).text == "Ledger\n2.5\twords\tTRUE\t#DIV/0!\t\t#N/A\tFALSE\n"


def test_strings_go_on_in_further_records() -> None:
    words = ["first", "wide – text", "split", "rich"]
    table = struct.pack("<II", 4, 4) + text(words[0]) + text(words[1], wide=True) + text(words[2])[:5]
    rest = b"\1" + "lit".encode("utf-16-le") + struct.pack("<HBH", 4, 8, 1) + b"rich" + bytes(4)
    cells = b"".join(record(0x00FD, struct.pack("<HHHI", 0, column, 0, column)) for column in range(4))
    assert (
        reader.read_xls(stream(cells, record(0x00FC, table) + record(0x003C, rest))).text
        == "Ledger\n" + "\t".join(words) + "\n"
    )


def test_comments_boxes_and_what_is_hidden_say_so() -> None:
    def object_(number: int, words: str) -> bytes:
        drawn = record(0x005D, struct.pack("<HHHH", 0x15, 18, 25, number) + bytes(14))
        drawn += record(0x01B6, struct.pack("<HHHHHHHHH", 0, 0, 0, 0, 0, len(words), 16, 0, 0))
        return drawn + record(0x003C, b"\0" + words.encode("latin-1")) + record(0x003C, bytes(16))

    cells = record(0x007D, struct.pack("<HHHHHH", 1, 1, 0, 0, 1, 0)) + record(0x0208, struct.pack("<H10xI", 1, 0x20))
    cells += number(0, 0, 1) + number(0, 1, 2) + number(1, 0, 3)
    cells += object_(1, "Ada:\nIs this final?") + object_(2, "A box\nof two lines")
    cells += record(0x001C, struct.pack("<HHHH", 0, 1, 0, 1) + text("Ada"))
    reading = reader.read_xls(stream(cells, state=2))
    assert reading.text == (
        "[hidden sheet]\nLedger\n[hidden column B]\n1\t2\n[hidden row]\n3\nB1\t[comment, Ada: Is this final?]\n"
    )
    assert [place.kind for place in reading.places] == [
        "sheet", "hidden_sheet", "cells", "hidden_column", "hidden_row", "cells", "comment",
    ]  # fmt: skip
    assert reading.warnings == [reader.LEFT_OUT]


def test_two_cells_in_opposite_corners_cost_nothing() -> None:
    assert reader.read_xls(stream(number(0, 0, 1) + number(65535, 255, 2))).text == "Ledger\n1\n\n\t2\n"


def test_a_workbook_with_a_password_says_so() -> None:
    with pytest.raises(PasswordProtected, match="password"):
        reader.read_xls(Path(__file__).with_name("password.xls"))


@cases("data", [b"", b"no workbook", b"\x09\x08", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", BEGIN, BEGIN + END])
def test_what_is_no_workbook_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        reader.read_xls(data)


def test_a_workbook_that_is_cut_off_gives_what_is_left() -> None:
    data = stream(b"".join(number(row, 0, row) for row in range(100)))
    reading = reader.read_xls(data[: len(data) // 2])
    assert reading.text.startswith("Ledger\n0\n1\n2\n")
    assert len(reading.warnings) == 1


def test_more_cells_than_the_limit_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MOST_CELLS", 100)
    cells = b"".join(number(row, column, 1) for row in range(40) for column in range(40))
    assert reader.read_xls(stream(cells)).warnings == [FULL]


@cases("page", [10008, 10001, 10000, 61000, 708])
def test_a_code_page_that_the_reader_does_not_know_is_no_damage(page: int) -> None:
    """As a workbook of a Mac has it. The newer texts are Unicode whatever it says."""
    named = record(0x0042, struct.pack("<H", page))
    assert reader.read_xls(stream(number(0, 0, 7), named)).text == "Ledger\n7\n"
    old = record(0x0809, struct.pack("<HHHH", 0x0500, 5, 0, 0))
    sheet = record(0x0809, struct.pack("<HHHH", 0x0500, 0x10, 0, 0))
    bound = record(0x0085, struct.pack("<IBB", 0, 0, 0) + b"\6Ledger")
    start = len(old + named + bound + END)
    bound = record(0x0085, struct.pack("<IBB", start, 0, 0) + b"\6Ledger")
    label = record(0x0204, struct.pack("<HHHH", 0, 0, 0, 4) + b"Cash")
    assert reader.read_xls(old + named + bound + END + sheet + label + END).text == "Ledger\nCash\n"


def test_old_workbooks_are_known_by_their_names() -> None:
    assert find_format("a.XLS") == ".xls"
    assert find_format("a.xlt") == ".xls"
    assert reader_of(".xls") is reader.read_xls

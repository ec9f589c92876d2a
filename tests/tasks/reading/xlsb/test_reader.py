"""Binary workbooks: the same text as the same workbook gives as .xlsx."""

import struct
import zipfile
from pathlib import Path

import pytest

from tasks.errors import Damaged
from tasks.reading import binary_workbooks as reader
from tasks.reading.xlsx.sheet import FULL
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import relationships


def record(number: int, data: bytes = b"") -> bytes:
    """A record; its number takes two bytes from 128 on, its length as many as it needs."""
    head = bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80, number >> 7])
    length = len(data)
    while length >= 128:
        head, length = head + bytes([length & 0x7F | 0x80]), length >> 7
    return head + bytes([length]) + data


def text(words: str) -> bytes:
    return struct.pack("<I", len(words)) + words.encode("utf-16-le")


def row(number: int, *, hidden: bool = False) -> bytes:
    return record(0, struct.pack("<IIHBBB", number, 0, 300, 0, 0x10 if hidden else 0, 0))


def number(column: int, value: float, style: int = 0) -> bytes:
    return record(5, struct.pack("<IId", column, style, value))


def book(path: Path, cells: bytes, parts: dict[str, str | bytes] | None = None, state: int = 0) -> Path:
    """A workbook of one sheet, "Ledger"."""
    bound = record(156, struct.pack("<II", state, 1) + text("rId1") + text("Ledger"))
    return packages.package(
        path / "a.xlsb",
        "xl/workbook.bin",
        {
            "xl/workbook.bin": record(131) + record(153, bytes(8)) + bound + record(132),
            "xl/_rels/workbook.bin.rels": relationships(
                ("worksheet", "worksheets/sheet1.bin"), ("styles", "styles.bin"), ("sharedStrings", "sharedStrings.bin")
            ),
            "xl/worksheets/sheet1.bin": record(129) + cells + record(130),
            **(parts or {}),
        },
    )


def test_every_type_of_cell_is_read(tmp_path: Path) -> None:
    strings = (
        record(159, struct.pack("<II", 2, 2)) + record(19, b"\0" + text("first")) + record(19, b"\0" + text("Größe –"))
    )
    cells = row(0) + record(2, struct.pack("<III", 0, 0, 25 << 2 | 3)) + record(3, struct.pack("<IIB", 1, 0, 7))
    cells += (
        record(4, struct.pack("<IIB", 2, 0, 1))
        + number(3, -1.5)
        + record(6, struct.pack("<II", 4, 0) + text("in cell"))
    )
    cells += record(7, struct.pack("<III", 5, 0, 1)) + record(7, struct.pack("<III", 6, 0, 99)) + row(2)
    cells += record(8, struct.pack("<II", 0, 0) + text("formula")) + record(
        9, struct.pack("<IId", 1, 0, 2.0) + bytes(20)
    )
    cells += record(62, struct.pack("<IIB", 2, 0, 0) + text("rich"))
    path = book(tmp_path, cells, {"xl/sharedStrings.bin": strings})
    assert reader.read_xlsb(path).text == ("Ledger\n0.25\t#DIV/0!\tTRUE\t-1.5\tin cell\tGröße –\n\nformula\t2\trich\n")


def test_numbers_are_shown_by_their_formats(tmp_path: Path) -> None:
    styles = (
        record(44, struct.pack("<H", 164) + text('"€" 0.0'))
        + record(626)
        + record(47, bytes(16))
        + record(627)
        + record(617)
    )
    styles += b"".join(record(47, struct.pack("<HH12x", 0, format_)) for format_ in (0, 9, 14, 164)) + record(618)
    cells = row(0) + b"".join(
        number(column, value, column) for column, value in enumerate((1.0, 0.62293333333333334, 45322.0, 2.25))
    )
    path = book(tmp_path, cells, {"xl/styles.bin": styles})
    assert reader.read_xlsb(path).text == "Ledger\n1\t62% (0.6229)\t2024-01-31\t€ 2.3 (2.25)\n"


def test_comments_and_what_is_hidden_say_so(tmp_path: Path) -> None:
    cells = (
        record(60, struct.pack("<IIIIH", 1, 1, 0, 0, 1)) + row(0) + number(0, 1) + number(1, 2) + row(1, hidden=True)
    )
    cells += number(0, 3) + record(
        479, struct.pack("<H", 0) + text("&LDraft") + text("&CEnd") + b"\xff\xff\xff\xff" * 4
    )
    comments = (
        record(632, text("Ada"))
        + record(635, struct.pack("<IIIII16x", 0, 0, 0, 1, 1))
        + record(637, b"\0" + text("Ada:\nWhy?"))
    )
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.bin.rels": relationships(("comments", "../comments1.bin")),
        "xl/comments1.bin": comments,
    }
    reading = reader.read_xlsb(book(tmp_path, cells, parts, state=1))
    assert reading.text == (
        "[hidden sheet]\nLedger\n[hidden column B]\n1\t2\n[hidden row]\n3\nB1\t[comment, Ada: Why?]\nDraft\nEnd\n"
    )


def test_parts_whose_relationships_are_lost_or_unknown_are_read_by_their_places(tmp_path: Path) -> None:
    unknown: dict[str, str | bytes] = {
        "xl/_rels/workbook.bin.rels": relationships(("macrosheet", "worksheets/sheet1.bin"))
    }
    path = book(tmp_path, row(0) + number(0, 1) + number(1, -0.0), unknown)
    assert reader.read_xlsb(path).text == "Ledger\n1\t0\n"
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "b.xlsb", "w") as part:
        for name in whole.namelist():
            if name != "_rels/.rels":
                part.writestr(name, whole.read(name))
    assert reader.read_xlsb(tmp_path / "b.xlsb").text == "Ledger\n1\t0\n"


def test_two_cells_in_opposite_corners_cost_nothing(tmp_path: Path) -> None:
    cells = row(0) + number(0, 1) + row(1048575) + number(16383, 2)
    assert reader.read_xlsb(book(tmp_path, cells)).text == "Ledger\n1\n\n\t2\n"


@pytest.mark.parametrize("cells", [number(0, 1), record(999), row(9, hidden=True), record(60, bytes(18))])
def test_more_records_than_the_limit_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: bytes
) -> None:
    monkeypatch.setattr(reader, "MOST_CELLS", 100)
    reading = reader.read_xlsb(
        book(tmp_path, row(0) + record(6, struct.pack("<II", 0, 0) + text("kept")) + cells * 1000)
    )
    assert reading.warnings == [FULL]
    assert reading.text.startswith("Ledger\nkept\n") or "kept" in reading.text


def test_a_package_without_sheets_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        reader.read_xlsb(packages.package(tmp_path / "a.xlsb", "xl/workbook.bin", {"xl/workbook.bin": record(131)}))

"""Binary workbooks: as LibreOffice shows them, or without it their cells alone."""

import struct
from pathlib import Path

import pytest

from tasks.errors import Damaged
from tasks.reading import formats, read_document
from tasks.reading.libreoffice import XLSB
from tasks.reading.ooxml.package import MACROS
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import relationships

KIND = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    f'<Default Extension="bin" ContentType="{KIND}"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.bin" ContentType="application/vnd.ms-excel.worksheet"/></Types>'
)


def record(number: int, data: bytes = b"") -> bytes:
    """A record; its number takes two bytes from 128 on, its length as many as it needs."""
    head = bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80, number >> 7])
    length = len(data)
    while length >= 128:
        head, length = head + bytes([length & 0x7F | 0x80]), length >> 7
    return head + bytes([length]) + data


def text(words: str) -> bytes:
    return struct.pack("<I", len(words)) + words.encode("utf-16-le")


def row(number: int) -> bytes:
    return record(0, struct.pack("<IIHBBB", number, 0, 300, 0, 0, 0))


def number(column: int, value: float) -> bytes:
    return record(5, struct.pack("<IId", column, 0, value))


def book(path: Path, cells: bytes, parts: dict[str, str | bytes] | None = None, state: int = 0) -> Path:
    """A workbook of one sheet, "Ledger"."""
    bound = record(143) + record(156, struct.pack("<II", state, 1) + text("rId1") + text("Ledger")) + record(144)
    return packages.package(
        path / "a.xlsb",
        "xl/workbook.bin",
        {
            "[Content_Types].xml": TYPES,
            "xl/workbook.bin": record(131) + record(153, bytes(12)) + bound + record(132),
            "xl/_rels/workbook.bin.rels": relationships(("worksheet", "worksheets/sheet1.bin")),
            "xl/worksheets/sheet1.bin": record(129)
            + record(148, struct.pack("<4I", 0, 2, 0, 1))
            + record(145)
            + cells
            + record(146)
            + record(130),
            **(parts or {}),
        },
    )


CELLS = row(0) + record(6, struct.pack("<II", 0, 0) + text("Größe")) + number(1, -1.5) + row(2) + number(0, 0.12)


@pytest.mark.skipif(formats.program(XLSB.library) is None, reason="needs LibreOffice (libreoffice-calc)")
def test_libreoffice_reads_the_cells_where_it_is_installed(tmp_path: Path) -> None:
    reading = read_document(book(tmp_path, CELLS), ".xlsb")
    assert (reading.text, reading.warnings) == ("Ledger\nGröße\t-1.5\n\n0.12\n", [])


@pytest.mark.parametrize(("state", "mark"), [(0, ""), (1, "[hidden sheet]\n")])
def test_without_libreoffice_the_cells_are_read_and_a_warning_says_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: int, mark: str
) -> None:
    monkeypatch.setenv("PATH", "")
    reading = read_document(book(tmp_path, CELLS, state=state), ".xlsb")
    assert reading.text == f"{mark}Ledger\nGröße\t-1.5\n0.12\n"
    assert reading.warnings == [
        f"LibreOffice is not installed (package libreoffice-calc): it was read without it. {XLSB.lost}"
    ]


def test_macros_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    parts = ("worksheet", "worksheets/sheet1.bin"), ("vbaProject", "vbaProject.bin")
    with_macros: dict[str, str | bytes] = {"xl/_rels/workbook.bin.rels": relationships(*parts)}
    assert MACROS in read_document(book(tmp_path, CELLS, with_macros), ".xlsb").warnings


@pytest.mark.parametrize("parts", [{"xl/workbook.bin": record(131)}, {"xl/other.bin": b""}])
def test_a_package_without_sheets_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: dict[str, str | bytes]
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Damaged):
        read_document(packages.package(tmp_path / "a.xlsb", next(iter(parts)), parts), ".xlsb")

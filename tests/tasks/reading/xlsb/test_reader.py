"""Binary workbooks of Excel 2007: by LibreOffice where it is installed, else their cells."""

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.errors import Damaged
from tasks.reading import formats, libreoffice, read_document
from tasks.reading.binary_workbooks import ONLY_LIBREOFFICE
from tests.cases import cases
from tests.tasks.reading.ooxml import packages

PATH = Path(__file__).parents[3] / "documents/hidden-sheets.xlsb"
CELLS = "Visible\n1\t2\n3\t4\n5\t6\n"


def test_the_cells_are_read_without_libreoffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    reading = read_document(PATH.read_bytes(), ".xlsb")
    assert reading.text.startswith(CELLS)
    assert "[hidden sheet]\nVeryHidden\n" in reading.text
    assert "package libreoffice-calc" in reading.warnings[0]


@pytest.mark.skipif(formats.program("libsclo.so") is None, reason="needs LibreOffice (libreoffice-calc)")
def test_libreoffice_reads_what_stands_on_sheets() -> None:
    reading = read_document(PATH.read_bytes(), ".xlsb")
    assert reading.text.startswith(CELLS)
    assert "[hidden sheet]\nVeryHidden\n" in reading.text
    assert reading.text.endswith("Chart Title\n1\n3\n5\n2\n4\n6\n")
    assert reading.warnings == []


def changed(path: Path, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """The workbook with one part of it changed."""
    with zipfile.ZipFile(PATH) as whole, zipfile.ZipFile(path / "a.xlsb", "w") as part:
        for each in whole.namelist():
            part.writestr(each, change(whole.read(each)) if each == name else whole.read(each))
    return (path / "a.xlsb").read_bytes()


def with_far_cell(sheet: bytes) -> bytes:
    """A 2 in the last cell that a sheet may have: a reader that wants room for all between needs 550 GB."""
    row = bytes([0, 25]) + struct.pack("<IIHBBBIII", 1048575, 0, 300, 0, 0, 0, 1, 0, 63)
    end_of_cells = bytes([0x92, 0x01, 0])
    return sheet.replace(end_of_cells, row + bytes([5, 16]) + struct.pack("<IId", 16383, 0, 2.0) + end_of_cells)


@pytest.mark.skipif(formats.program("libsclo.so") is None, reason="needs LibreOffice (libreoffice-calc)")
@cases(
    "change, text",
    [
        (with_far_cell, CELLS + "\nThis workbook contains 4 sheets: Visible, Hidden, VeryHidden and Chart\n\n\t2\n"),
        (lambda sheet: sheet[: len(sheet) // 2], "Visible\n1\t2\n\f[hidden sheet]\n"),  # cut off
    ],
)
def test_what_only_libreoffice_reads_is_read(tmp_path: Path, change: Callable[[bytes], bytes], text: str) -> None:
    reading = read_document(changed(tmp_path, "xl/worksheets/sheet1.bin", change), ".xlsb")
    assert reading.text.startswith(text)
    assert reading.warnings == [ONLY_LIBREOFFICE]


def test_the_cells_are_read_where_libreoffice_gives_an_empty_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    footer = "<headerFooter><oddFooter>Page</oddFooter></headerFooter>"
    empty = packages.xlsx(tmp_path / "empty.xlsx", "", after=footer).read_bytes()
    monkeypatch.setattr(libreoffice, "convert", lambda *_: empty)
    assert read_document(PATH.read_bytes(), ".xlsb").text.startswith(CELLS)
    cut_off = changed(tmp_path, "xl/workbook.bin", lambda part: part[: len(part) // 2])
    with pytest.raises(Damaged):
        read_document(cut_off, ".xlsb")


def test_a_package_without_sheets_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        read_document(packages.package(tmp_path / "a.xlsb", "xl/workbook.bin", {"xl/workbook.bin": b"\x83\x01\0"}))

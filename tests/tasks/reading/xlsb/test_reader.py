"""Binary workbooks of Excel 2007: by LibreOffice where it is installed, else their cells."""

import zipfile
from pathlib import Path

import pytest

from tasks.errors import Damaged
from tasks.reading import formats, read_document
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


def test_the_cells_are_read_where_libreoffice_gives_less(tmp_path: Path) -> None:
    with zipfile.ZipFile(PATH) as whole, zipfile.ZipFile(tmp_path / "a.xlsb", "w") as part:
        for name in whole.namelist():
            if name != "[Content_Types].xml":
                part.writestr(name, whole.read(name))
    reading = read_document(tmp_path / "a.xlsb", ".xlsb")
    assert reading.text.startswith(CELLS)


def test_a_package_without_sheets_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(Damaged):
        read_document(packages.package(tmp_path / "a.xlsb", "xl/workbook.bin", {"xl/workbook.bin": b"\x83\x01\0"}))

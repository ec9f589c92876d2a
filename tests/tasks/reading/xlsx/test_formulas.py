"""Formulas without a stored value: LibreOffice computes them where it is installed, else they stand in their cells."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook

from tasks.reading import formats
from tasks.reading.text_writer import Reading
from tasks.reading.xlsx import missing_values, reader
from tests.cases import cases
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import OFFICE, SHEET
from tests.written import workbook_of

Recalculates = Callable[[str], None]


@pytest.fixture(autouse=True)
def recalculates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recalculates:
    """No LibreOffice is installed; or one whose recalculated workbook has the rows that are given."""
    path = os.environ["PATH"]
    office = tmp_path / "office"
    office.mkdir()
    monkeypatch.setenv("PATH", str(office))

    def installed(rows: str) -> None:
        made = packages.xlsx(tmp_path / "made.xlsx", rows)
        (office / "libsclo.so").touch()
        for name in ("soffice", "soffice.bin"):
            (office / name).write_text(f"#!/bin/sh\nPATH={path}; mkdir -p made; cp {made} made/document.xlsx\n")
            (office / name).chmod(0o755)

    return installed


def read(path: Path, rows: str) -> Reading:
    return reader.read(packages.xlsx(path / "a.xlsx", rows))


@pytest.mark.parametrize(
    ("recalculated", "text"),
    [
        ("<f>A1+1</f><v>3</v>", "3 [computed]"),
        ("<f>A1+1</f><v>0.29333333333333333</v>", "29% (0.2933) [computed]"),
        ("t='str'><f>A1+1</f><v>a&lt;b</v>", "a<b [computed]"),
        ("t='str'><f>A1+1</f><v></v>", ""),
        ("t='b'><f>A1+1</f><v>1</v>", "TRUE [computed]"),
        ("t='e'><f>A1+1</f><v>#NAME?</v>", "=A1+1"),  # LibreOffice does not know the function
        ("<f>A1+1</f>", "=A1+1"),
        ("<f>A1+TODAY()-TODAY()</f><v>3</v>", "=A1+1"),  # another day, another value
    ],
)
def test_libreoffice_computes_what_has_no_value(
    tmp_path: Path, recalculates: Recalculates, recalculated: str, text: str
) -> None:
    cell = f"<c r='B1' {recalculated}" if recalculated.startswith("t=") else f"<c r='B1'>{recalculated}"
    recalculates(f'<row r="1"><c r="A1"><v>99</v></c>{cell}</c></row>')
    percent = "29%" in text
    styles = f'<styleSheet xmlns="{SHEET}"><cellXfs><xf numFmtId="0"/><xf numFmtId="9"/></cellXfs></styleSheet>'
    rows = f'<row r="1"><c r="A1"><v>2</v></c><c r="B1" s="{int(percent)}"><f>A1+1</f></c></row>'
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {"xl/styles.xml": styles}))
    assert reading.text == f"Ledger\n2\t{text}".rstrip() + "\n"  # the stored 2 stays, whatever was recalculated
    assert len(reading.warnings) == 1
    assert ("computed by LibreOffice" in reading.warnings[0]) is not text.startswith("=")


@pytest.mark.skipif(formats.program("libsclo.so") is None, reason="needs LibreOffice (libreoffice-calc)")
def test_an_account_whose_margins_are_formulas_reads_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As openpyxl writes it, which computes nothing."""
    monkeypatch.undo()
    book, account = workbook_of(title="P&L")
    rates = book.create_sheet("Ra'tes")
    rates["B1"] = 0.25
    for line in (
        ["EUR m", 2023, 2024],
        ["Revenue", 120, 150],
        ["Costs", -80, "=B3*1.1"],
        ["EBITDA", "=SUM(B2:B3)", "=SUM(C2:C3)"],
        ["Margin", "=B4/B2", "=C4/C2"],
        ["Tax", "=-B4*'Ra''tes'!$B$1", "=-C4*'Ra''tes'!$B$1"],
    ):
        account.append(line)
    for cell in ("B5", "C5"):
        account[cell].number_format = "0%"
    book.save(tmp_path / "a.xlsx")
    reading = reader.read(tmp_path / "a.xlsx")
    assert reading.text == (
        "P&L\nEUR m\t2023\t2024\nRevenue\t120\t150\nCosts\t-80\t-88 [computed]\nEBITDA\t40 [computed]\t62 [computed]\n"
        "Margin\t33% (0.3333) [computed]\t41% (0.4133) [computed]\nTax\t-10 [computed]\t-15.5 [computed]\n"
        "\fRa'tes\n\t0.25\n"
    )
    assert len(reading.warnings) == 1


@cases(
    ("stored", "text"),
    [
        ("<f>A1+1</f>", "=A1+1"),
        ("<f>A1+1</f><v></v>", "=A1+1"),
        ("<f>A1+1</f><v/>", "=A1+1"),
        ("<f>A1+1</f><v />", "=A1+1"),
        ('<f ca="1" b="a>b/>">A1+1</f><v b="a>b/>"></v>', "=A1+1"),
        ("<f ca='1'>A1+1</f>\n <v> </v>", ""),
        ("\n  <f>A1+1</f>\n  ", "=A1+1"),
        ("<f></f>", "=…"),
        ("<f>A1+1</f><v>7</v>", "7"),
        ("<f>_xlfn.XLOOKUP(A1,B:B,C:C)</f>", "=XLOOKUP(A1,B:B,C:C)"),
        ("<f t='array' ref='B1:B3'>SUM(A1*{1;2})</f>", "{=SUM(A1*{1;2})}"),
        ("<f t='dataTable' ref='B1:B3' r1='C1' r2='D1'/>", "{=TABLE(C1,D1)}"),
        ('<f>IF(A1&lt;2,"&amp;",1)</f>', '=IF(A1<2,"&",1)'),
        ("<f t='shared' si='0'/>", "=…"),
    ],
)
def test_a_formula_without_a_value_is_known_however_it_is_written(tmp_path: Path, stored: str, text: str) -> None:
    rows = f'<row r="1"><c r="A1"><v>2</v></c><c r="B1">{stored}</c></row>'
    assert read(tmp_path, rows).text == f"Ledger\n2\t{text}\n" if text else "Ledger\n2\n"


@pytest.mark.parametrize("stored", ["<v></v>", "<v/>", "<v />"])
def test_an_empty_text_that_a_formula_gave_stays_empty(tmp_path: Path, stored: str) -> None:
    rows = f'<row r="1"><c r="A1"><v>2</v></c><c r="B1" t="str"><f>NOW()</f>{stored}</c><c r="C1"><v>3</v></c></row>'
    reading = read(tmp_path, rows * 3)
    assert reading.text.startswith("Ledger\n2\t\t3\n")
    assert reading.warnings == []


def test_cells_beyond_the_limit_are_not_computed(
    tmp_path: Path, recalculates: Recalculates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_values, "MOST_CELLS", 10)
    rows = "".join(f'<row r="{r}"><c r="B{r}"><f>A{r}+1</f>%s</c></row>' for r in range(1, 20))
    recalculates(rows.replace("%s", "<v>2</v>"))
    assert read(tmp_path, rows.replace("%s", "")).text.count("[computed]") == 10


def test_a_long_formula_is_cut(tmp_path: Path) -> None:
    text = read(tmp_path, f'<row r="1"><c r="A1"><f>{"A1+" * 20_000}1</f></c></row>').text
    assert len(text) < 1100


def test_sheets_are_named_in_the_warning_up_to_a_limit(tmp_path: Path) -> None:
    book = Workbook()
    for number in range(30):
        book.create_sheet(f"S{number}")["A1"] = "=NOW()"
    book.save(tmp_path / "a.xlsx")
    (warning,) = reader.read(tmp_path / "a.xlsx").warnings
    assert "“S0”, “S1”" in warning
    assert "“S19” and 10 more" in warning
    assert len(warning) < 500


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ('calcId="124519" fullCalcOnLoad="1"', "=2+3\t7\t=NOW()"),
        ('calcId="191029" fullCalcOnLoad="1"', "0\t7\t0"),
        ('calcId="124519"', "0\t7\t0"),
    ],
)
def test_a_zero_that_xlsxwriter_gives_each_formula_is_no_value(tmp_path: Path, settings: str, text: str) -> None:
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="Ledger" sheetId="1" '
        f'r:id="rId1"/></sheets><calcPr {settings}/></workbook>'
    }
    cells = (("A", "2+3", 0), ("B", "3+4", 7), ("C", "NOW()", 0))
    rows = "".join(f'<c r="{letter}1"><f>{formula}</f><v>{value}</v></c>' for letter, formula, value in cells)
    rows = f'<row r="1">{rows}</row>'
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {**parts})).text == f"Ledger\n{text}\n"

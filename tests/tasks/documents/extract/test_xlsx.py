"""Workbooks: sheets row by row, as a person sees them."""

import datetime as dt
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from tasks.documents.extract.readers import xlsx
from tasks.errors import Damaged
from tests.tasks.documents.extract import packages
from tests.tasks.documents.extract.packages import CHART, CHART_LINES, NAMES, SHEET, relationships


def test_a_real_workbook_comes_as_its_sheets_show_it(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Cap table"
    sheet.append(["Holder", "Since", "Share", "Value", "Active"])
    sheet.append(["Ada\nFounder", dt.date(2019, 5, 2), 0.6125, 1234.5, True])
    sheet["C2"].number_format = "0.0%"
    sheet["D2"].number_format = '"$"#,##0.00'
    sheet["A2"].comment = Comment("Vested in full.", "A. Reader")
    sheet["F2"] = dt.datetime(2024, 1, 31, 14, 30)  # noqa: DTZ001 - a workbook has no time zones
    assert sheet.oddHeader is not None
    sheet.oddHeader.center.text = "Strictly &A confidential"
    hidden = workbook.create_sheet("Old")
    hidden.sheet_state = "hidden"
    hidden["B3"] = "superseded"
    workbook.save(tmp_path / "a.xlsx")

    reading = xlsx.read(tmp_path / "a.xlsx")

    assert reading.text == (
        "Cap table\nHolder\tSince\tShare\tValue\tActive\n"
        "Ada Founder\t2019-05-02\t61.3%\t$1,234.50\tTRUE\t2024-01-31 14:30:00\n"
        "Strictly confidential\nA2\tVested in full.\n"
        "\fOld\n\tsuperseded\n"
    )
    assert [(place.kind, place.label) for place in reading.places] == [
        ("sheet", "Cap table"), ("cells", "A1:F2"), ("sheet", "Old"), ("cells", "B3:B3"),
    ]  # fmt: skip
    assert reading.warnings == []


def test_cells_are_placed_in_blocks_of_twenty_rows(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{r}"><c r="B{r}"><v>{r}</v></c><c r="D{r}"><v>1</v></c></row>' for r in (*range(3, 45), 90)
    )
    reading = xlsx.read(packages.xlsx(tmp_path / "a.xlsx", rows))
    cells = [place for place in reading.places if place.kind == "cells"]
    assert [place.label for place in cells] == ["B3:D22", "B23:D42", "B43:D44", "B90:D90"]
    assert reading.text[cells[1].start : cells[1].end].startswith("\t23\t\t1\n\t24\t\t1\n")
    assert reading.text.endswith("\t44\t\t1\n\n\t90\t\t1\n")


def test_every_type_of_cell_is_read(tmp_path: Path) -> None:
    rows = (
        '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>99</v></c><c t="inlineStr"><is><r><t>in</t></r>'
        '<r><t>line</t></r></is></c><c t="str"><f>A1</f><v>formula</v></c><c><f>1+1</f><v>2</v></c>'
        '<c t="b"><v>0</v></c><c t="e"><v>#DIV/0!</v></c><c t="d"><v>2024-01-31</v></c><c><f>NOW()</f></c></row>'
    )
    strings = (
        f'<sst xmlns="{SHEET}"><si><t>shared</t></si><si><r><t>ri</t></r><r><t>ch_x0020_text</t></r>'
        "<rPh><t>reading aid</t></rPh></si></sst>"
    )
    text = xlsx.read(packages.xlsx(tmp_path / "a.xlsx", rows, {"xl/sharedStrings.xml": strings})).text
    assert text == "Ledger\nshared\trich text\t\tinline\tformula\t2\tFALSE\t#DIV/0!\t2024-01-31\n"


def test_text_boxes_and_charts_stand_after_the_cells(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(("drawing", "../drawings/d.xml")),
        "xl/drawings/d.xml": f"<xdr:wsDr {NAMES}><xdr:sp><xdr:txBody><a:p><a:r><a:t>In a box</a:t></a:r></a:p>"
        "</xdr:txBody></xdr:sp><c:chart r:id='rId1'/></xdr:wsDr>",
        "xl/drawings/_rels/d.xml.rels": relationships(("chart", "../charts/c.xml")),
        "xl/charts/c.xml": CHART,
    }
    rows = '<row r="1"><c r="A1"><v>7</v></c></row>'
    assert xlsx.read(packages.xlsx(tmp_path / "a.xlsx", rows, parts)).text == f"Ledger\n7\nIn a box\n{CHART_LINES}"


def test_two_cells_in_opposite_corners_cost_nothing(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row>'
    rows += '<row r="1048576"><c r="A1048576"><v>2</v></c><c r="XFD1048576"><v>3</v></c></row>'
    reading = xlsx.read(packages.xlsx(tmp_path / "a.xlsx", rows))
    assert reading.text == "Ledger\n1\n\n2\t3\n"
    assert [place.label for place in reading.places] == ["Ledger", "A1:A1", "A1048576:XFD1048576"]


@pytest.mark.parametrize("reference", ["ZZZZZZZZZZ1", "A99999999999999999999", "1A", "", "é1", "A-1"])
def test_senseless_references_do_no_harm(tmp_path: Path, reference: str) -> None:
    rows = f'<row r="{reference}"><c r="{reference}" s="77"><v>kept</v></c></row>'
    assert "kept" in xlsx.read(packages.xlsx(tmp_path / "a.xlsx", rows)).text


def test_a_sheet_that_is_cut_off_gives_the_rows_that_are_left(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{r}"><c r="A{r}"><v>{hash(str(r))}</v></c></row>' for r in range(1, 5000))
    path = packages.xlsx(tmp_path / "a.xlsx", rows)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    reading = xlsx.read(path)
    assert 500 < reading.text.count("\n") < 5000
    assert "cut off" in reading.warnings[0]


def test_a_document_under_a_workbook_s_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="no workbook"):
        xlsx.read(packages.docx(tmp_path / "a.xlsx", packages.p("words")))

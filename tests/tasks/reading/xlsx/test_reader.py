"""Workbooks: sheets row by row, as a person sees them."""

import datetime as dt
import random
from pathlib import Path

import pytest
from openpyxl.comments import Comment

from tasks.errors import Damaged
from tasks.reading.ooxml.number_formats import show_number
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.xlsx import reader
from tests.cases import cases
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import CHART, CHART_LINES, NAMES, SHEET, relationships
from tests.written import workbook_of


def test_a_real_workbook_comes_as_its_sheets_show_it(tmp_path: Path) -> None:
    rows = ["Holder", "Since", "Share", "Value", "Active"], ["Ada\nFounder", dt.date(2019, 5, 2), 0.6125, 1234.5, True]
    workbook, sheet = workbook_of(*rows, title="Cap table")
    sheet["C2"].number_format = "0.0%"
    sheet["D2"].number_format = '"$"#,##0.00'
    sheet["A2"].comment = Comment("Vested in full.", "A. Reader")
    sheet["F2"] = dt.datetime(2024, 1, 31, 14, 30)  # noqa: DTZ001 - a workbook has no time zones
    sheet.oddHeader.center.text = "Strictly &A confidential"
    hidden = workbook.create_sheet("Old")
    hidden.sheet_state = "hidden"
    hidden["B3"] = "superseded"
    workbook.save(tmp_path / "a.xlsx")

    reading = reader.read(tmp_path / "a.xlsx")

    assert reading.text == (
        "Cap table\nHolder\tSince\tShare\tValue\tActive\n"
        "Ada Founder\t2019-05-02\t61.3% (0.6125)\t$1,234.50\tTRUE\t2024-01-31 14:30:00\n"
        "A2\t[comment, A. Reader: Vested in full.]\nStrictly confidential\n"
        "\f[hidden sheet]\nOld\n\tsuperseded\n"
    )
    assert [(place.kind, place.label) for place in reading.places[1:]] == [
        ("sheet", "Cap table"), ("cells", "A1:F2"), ("comment", "A. Reader"), ("header", ""),
        ("sheet", "Old"), ("hidden_sheet", "Old"), ("cells", "B3:B3"),
    ]  # fmt: skip
    assert reading.warnings == []


def test_cells_are_placed_in_blocks_of_twenty_rows(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{r}"><c r="B{r}"><v>{r}</v></c><c r="D{r}"><v>1</v></c></row>' for r in (*range(3, 45), 90)
    )
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows))
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
    text = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {"xl/sharedStrings.xml": strings})).text
    assert text == "Ledger\nshared\trich text\t\tinline\tformula\t2\tFALSE\t#DIV/0!\t2024-01-31\t=NOW()\n"


def test_numbers_stand_as_they_are_stored_but_for_noise(tmp_path: Path) -> None:
    values = ["0.30000000000000004", "9.4999999999999998E-3", "0.99715151175097994", "1.0E7", "12.0", "100000", "-7.5"]
    row = "".join(f"<c><v>{value}</v></c>" for value in values)
    text = reader.read(packages.xlsx(tmp_path / "a.xlsx", f"<row>{row}</row>" * 3)).text
    assert text == "Ledger\n" + "0.3\t0.0095\t0.99715151175098\t10000000\t12\t100000\t-7.5\n" * 3


def test_rows_of_a_table_are_read_like_any_others(tmp_path: Path) -> None:
    """What tags say is known from rows before: what is different in a row must not be lost, such as its styles."""
    chance = random.Random(3)
    rows, lines = "", ["Ledger"]
    for number in range(1, 700):
        cells, texts = "", []
        for letter in "ABCDE":
            value = f"{chance.randrange(1000) / 8:g}"
            style = number % 50 if letter == "C" else 3
            lot = chance.random() if 400 < number < 500 else 0.5
            if lot < 0.1:
                texts.append("")
                cells += f'<c r="{letter}{number}" s="{style}"/>'
            elif lot < 0.3:
                texts.append(f"<{value}>")
                cells += f'<c r="{letter}{number}" t="str"><f>A&amp;{number}</f><v>&lt;{value}&gt;</v></c>'
            else:
                texts.append(show_number(value, "0%") if style % 2 else value)
                cells += f'<c r="{letter}{number}" s="{style}"><v>{value}</v></c>'
        height = ' ht="30"' if number % 100 == 7 else ""
        rows += f'<row r="{number}"{height}>{cells}</row>'
        lines.append("\t".join(texts).rstrip("\t"))
    formats = '<xf numFmtId="0"/><xf numFmtId="9"/>' * 30
    styles = f'<styleSheet xmlns="{SHEET}"><cellXfs>{formats}</cellXfs></styleSheet>'
    text = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {"xl/styles.xml": styles})).text
    assert text.splitlines() == lines


def test_an_empty_result_of_a_formula_leaves_its_cell_empty(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{r}"><c r="A{r}"><v>{r}</v></c><c r="B{r}" t="str"><f>X</f><v>{"" if r % 3 else "x"}</v></c>'
        f'<c r="C{r}"><v>1</v></c></row>'
        for r in range(1, 100)
    )
    lines = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows)).text.splitlines()
    assert lines[1:] == [f"{r}\t{'' if r % 3 else 'x'}\t1" for r in range(1, 100)]


def test_text_boxes_and_charts_stand_after_the_cells(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(("drawing", "../drawings/d.xml")),
        "xl/drawings/d.xml": f"<xdr:wsDr {NAMES}><xdr:sp><xdr:txBody><a:p><a:r><a:t>In a box</a:t></a:r></a:p>"
        "</xdr:txBody></xdr:sp><c:chart r:id='rId1'/></xdr:wsDr>",
        "xl/drawings/_rels/d.xml.rels": relationships(("chart", "../charts/c.xml")),
        "xl/charts/c.xml": CHART,
    }
    rows = '<row r="1"><c r="A1"><v>7</v></c></row>'
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, parts)).text == f"Ledger\n7\nIn a box\n{CHART_LINES}"


def test_alternative_texts_are_read_but_names_of_files_and_decoration(tmp_path: Path) -> None:
    said = ["Sunset.jpg", "C:\\Program Files\\j02.wmf", "Revenue > costs since 2021", "Wavy line"]
    pictures = "".join(f'<xdr:pic><xdr:cNvPr id="1" name="Picture" descr="{words}"/></xdr:pic>' for words in said[:3])
    pictures += (
        f'<xdr:pic><xdr:cNvPr id="2" name="Line" descr="{said[3]}"><a:ext><adec:decorative val="1"/></a:ext>'
        '</xdr:cNvPr></xdr:pic><xdr:pic><xdr:cNvPr id="3" name="Map" title="Our plants"/></xdr:pic>'
    )
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(("drawing", "../drawings/d.xml")),
        "xl/drawings/d.xml": f"<xdr:wsDr {NAMES} xmlns:adec='urn:decorative'>{pictures}</xdr:wsDr>",
    }
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", "", parts))
    assert reading.text == "Ledger\nRevenue > costs since 2021\nOur plants\n"
    assert [place.label for place in reading.places if place.kind == "alternative_text"] == ["Picture", "Map"]


def test_controls_of_the_old_kind_say_what_is_on_them(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(("vmlDrawing", "../drawings/v.vml")),
        "xl/drawings/v.vml": "<xml xmlns:v='urn:schemas-microsoft-com:vml'><v:shape><v:textbox style='x'>"
        "<div><font>Run the <b>model</b></font></div></v:textbox></v:shape></xml>",
    }
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", "", parts)).text == "Ledger\nRun the model\n"


def test_printed_headers_and_footers_come_without_their_codes(tmp_path: Path) -> None:
    stored = (
        '&L&"-,Bold"&12&K000000C2 General&C&K05+000Deal &amp;&amp; Co &amp;&amp;Ltd&RPage &P of &N',
        "&LDraft&CDraft",
    )
    after = f"<headerFooter><oddHeader>{stored[0]}</oddHeader><oddFooter>{stored[1]}</oddFooter></headerFooter>"
    text = reader.read(
        packages.xlsx(tmp_path / "a.xlsx", "", after=after.replace("&", "&amp;").replace("amp;amp;", "amp;"))
    ).text
    assert text == "Ledger\nC2 General\nDeal & Co &Ltd\nPage of\nDraft\n"


def test_embedded_documents_are_handed_on(tmp_path: Path) -> None:
    inner = packages.docx(tmp_path / "inner.docx", packages.p("Side letter")).read_bytes()
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(
            ("package", "../embeddings/Letter.docx"),
            ("oleObject", "../embeddings/ole1.bin"),
            ("image", "../media/i.png"),
        ),
        "xl/embeddings/Letter.docx": inner,
        "xl/embeddings/ole1.bin": b"OLE",
        "xl/media/i.png": b"PNG",
    }
    path = packages.xlsx(tmp_path / "a.xlsx", "", parts)
    assert reader.read(path).attachments == [("Letter.docx", inner), ("ole1.bin", b"OLE")]


def test_of_an_embedded_document_that_is_lost_comes_the_name(tmp_path: Path) -> None:
    lost: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(("package", "../embeddings/Letter.docx"))
    }
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", "", lost))
    assert (reading.attachments, reading.warnings) == ([("Letter.docx", None)], [])


def test_a_sheet_of_a_chart_alone_gives_its_words(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "xl/worksheets/sheet1.xml": f"<chartsheet xmlns='{SHEET}'><drawing/></chartsheet>",
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(("drawing", "../drawings/d.xml")),
        "xl/drawings/d.xml": f"<xdr:wsDr {NAMES}><c:chart r:id='rId1'/></xdr:wsDr>",
        "xl/drawings/_rels/d.xml.rels": relationships(("chart", "../charts/c.xml")),
        "xl/charts/c.xml": CHART,
    }
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", "", parts))
    assert (reading.text, reading.warnings) == (f"Ledger\n{CHART_LINES}", [])


def test_a_sheet_that_is_cut_off_gives_the_rows_that_are_left(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{r}"><c r="A{r}"><v>{hash(str(r))}</v></c></row>' for r in range(1, 5000))
    path = packages.xlsx(tmp_path / "a.xlsx", rows)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    reading = reader.read(path)
    assert 500 < reading.text.count("\n") < 5000
    assert reading.warnings == [CUT_OFF]


def test_a_sheet_that_was_not_written_to_its_end_says_so(tmp_path: Path) -> None:
    sheet = f'<worksheet xmlns="{SHEET}"><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2'
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", "", {"xl/worksheets/sheet1.xml": sheet}))
    assert (reading.text, reading.warnings) == ("Ledger\n1\n", [CUT_OFF])


def test_a_document_under_a_workbook_s_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="no workbook"):
        reader.read(packages.docx(tmp_path / "a.xlsx", packages.p("words")))


@cases(
    ("stored", "shown"),
    [
        ("2024-05-06", "2024-05-06"), ("2024-05-06T00:00:00", "2024-05-06"), ("2024-05-06T00:00:00.000", "2024-05-06"),
        ("2024-05-06T14:30:00Z", "2024-05-06 14:30:00"), ("14:30:00", "14:30:00"), ("x", "x"),
    ],
)  # fmt: skip
def test_a_date_in_iso_form_stands_as_other_dates_do(tmp_path: Path, stored: str, shown: str) -> None:
    row = f'<row r="1"><c r="A1" t="d"><v>{stored}</v></c></row>'
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", row)).text == f"Ledger\n{shown}\n"

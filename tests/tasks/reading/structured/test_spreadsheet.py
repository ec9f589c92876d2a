"""Workbooks that are one XML file: their cells as rows, with what is hidden, remarked and printed."""

from pathlib import Path

from tasks.reading import detect, xml_text
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.xml_text import STANDING
from tests.cases import cases

HEAD = (
    '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n'
    '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:html="http://www.w3.org/TR/REC-html40"'
    ' xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">'
)
STYLES = (
    '<Styles><Style ss:ID="Default"/><Style ss:ID="s2" ss:Parent="s1"/>'
    '<Style ss:ID="s1"><NumberFormat ss:Format="Percent"/></Style></Styles>'
)
END = "</Workbook>"
INDEX_3, STYLE_2, MERGED = 'ss:Index="3"', 'ss:StyleID="s2"', 'ss:MergeAcross="1"'


def sheet(rows: str, name: str = "Ledger", options: str = "") -> str:
    behind = f'<WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">{options}</WorksheetOptions>'
    return f'<Worksheet ss:Name="{name}"><Table>{rows}</Table>{behind}</Worksheet>'


def cell(kind: str, stored: str, attributes: str = "") -> str:
    return f'<Cell {attributes}><Data ss:Type="{kind}">{stored}</Data></Cell>'


BOOK = (
    HEAD
    + STYLES
    + sheet(
        f"<Row>{cell('String', 'Größe &amp; Maß')}{cell('Number', '1.5', INDEX_3)}</Row>"
        f"<Row>{cell('Number', '0.125', STYLE_2)}{cell('Boolean', '1')}</Row>"
    )
    + END
)
TEXT = "Ledger\nGröße & Maß\t\t1.5\n12.50%\tTRUE\n"


@cases("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_cells_stand_in_rows_and_sheets_in_any_encoding(encoding: str) -> None:
    declared = BOOK.replace('"1.0"', f'"1.0" encoding="{encoding.removesuffix("-sig")}"', 1)
    reading = xml_text.read(declared.encode(encoding))
    assert (reading.text, reading.warnings) == (TEXT, [])
    assert [(place.kind, place.label) for place in reading.places] == [("sheet", "Ledger"), ("cells", "A1:C2")]


def test_other_xml_stays_the_text_that_it_is() -> None:
    other = '<?xml version="1.0"?>\n<Workbook><Row>1</Row></Workbook>\n'
    assert xml_text.read(other.encode()).text == other


@cases("name", [".xls", ".xlsx", ".xml"])
def test_a_workbook_in_xml_is_known_under_the_names_of_workbooks(name: str) -> None:
    assert detect.detect_format(BOOK.encode(), name) == ".xml"


def test_dates_errors_and_rich_text_stand_as_they_are_shown() -> None:
    rich = '<Cell><ss:Data ss:Type="String" xmlns="http://www.w3.org/TR/REC-html40"><B>bold</B> text</ss:Data></Cell>'
    row = (
        cell("DateTime", "2004-05-01T00:00:00.000")
        + cell("DateTime", "2004-05-01T14:30:00.000")
        + cell("DateTime", "1899-12-31T08:30:00.000")
        + cell("Error", "#DIV/0!", 'ss:Formula="=1/0"')
        + rich
    )
    text = xml_text.read((HEAD + sheet(f"<Row>{row}</Row>") + END).encode()).text
    assert text == "Ledger\n2004-05-01\t2004-05-01 14:30:00\t08:30:00\t#DIV/0!\tbold text\n"


def test_merged_cells_and_rows_that_are_left_out_keep_their_places() -> None:
    rows = (
        f"<Row>{cell('String', 'over two', MERGED)}{cell('Number', '3')}</Row>"
        f'<Row ss:Index="3" ss:Span="2">{cell("Number", "4")}</Row><Row>{cell("Number", "5")}</Row>'
    )
    reading = xml_text.read((HEAD + sheet(rows) + END).encode())
    assert reading.text == "Ledger\nover two\t\t3\n\n4\n\n5\n"
    assert [place.label for place in reading.places if place.kind == "cells"] == ["A1:C6"]


def test_what_is_hidden_remarked_and_printed_says_so() -> None:
    said = '<ss:Data xmlns="http://www.w3.org/TR/REC-html40"><B>R&amp;D:</B> Is it?</ss:Data>'
    remark = f'<Comment ss:Author="R&amp;D">{said}</Comment>'
    rows = (
        '<Column ss:Index="2" ss:Hidden="1"/>'
        f"<Row>{cell('Number', '1')}{cell('Number', '2')}</Row>"
        f'<Row ss:Hidden="1"><Cell><Data ss:Type="Number">3</Data>{remark}</Cell></Row>'
    )
    options = '<PageSetup><Header x:Data="&amp;LConfidential"/></PageSetup><Visible>SheetHidden</Visible>'
    reading = xml_text.read((HEAD + sheet("", "R&amp;D") + sheet(rows, "Old", options) + END).encode())
    assert reading.text == (
        "R&D\n\f[hidden sheet]\nOld\n[hidden column B]\n1\t2\n[hidden row]\n3\n"
        "A2\t[comment, R&D: Is it?]\nConfidential\n"
    )
    assert " ".join(place.kind for place in reading.places) == (
        "sheet sheet hidden_sheet cells hidden_column hidden_row cells comment header"
    )


def test_a_formula_without_a_value_stands_in_its_cell() -> None:
    row = f'{cell("Number", "2")}<Cell ss:Formula="=RC[-1]&amp;&quot;x&quot;"/><Cell ss:StyleID="s1"/>'
    reading = xml_text.read((HEAD + sheet(f"<Row>{row}</Row>") + END).encode())
    assert (reading.text, reading.warnings) == ('Ledger\n2\t=RC[-1]&"x"\n', [STANDING])


def test_a_workbook_that_is_cut_off_gives_the_cells_before() -> None:
    cut = BOOK[: BOOK.index("0.125")]
    reading = xml_text.read(cut.encode())
    assert reading.text.startswith("Ledger\nGröße & Maß\t\t1.5\n")
    assert reading.warnings == [CUT_OFF]


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    declared = f'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "{secret.as_uri()}">]>'
    book = HEAD + sheet(f"<Row>{cell('String', '&a;&b;')}{cell('String', 'after')}</Row>") + END
    text = xml_text.read((book[:22] + declared + book[22:]).encode()).text
    assert "aaaa" not in text.replace(declared, "")
    assert "after" in text
    assert xml_text.read(book.encode()).text == "Ledger\n\tafter\n"


@cases("index", ["0", "-1", "99999999999", "16385", "x"])
def test_a_place_that_no_sheet_has_ends_nothing(index: str) -> None:
    place = f'ss:Index="{index}"'
    rows = f"<Row>{cell('Number', '7', place)}</Row><Row {place}>{cell('Number', '8')}</Row>"
    last = f'<Row ss:Index="40">{cell("Number", "9")}</Row>'
    assert "9" in xml_text.read((HEAD + sheet(rows + last) + END).encode()).text


def test_bytes_that_are_no_characters_cost_no_words_beside_them() -> None:
    rows = f"<Row>{cell('String', 'Before')}{cell('String', 'R*nt')}{cell('String', 'After')}</Row>"
    book = (HEAD + sheet(rows) + END).encode().replace(b"R*nt", b"R\xe9n&#xD800;t")
    assert xml_text.read(book).text == "Ledger\nBefore\tR\ufffdn\ufffdt\tAfter\n"

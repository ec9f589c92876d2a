"""Sheets in the forms that writers give them: prefixes, encodings, comments, white space, no references."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.reading.ooxml.drawings import chart_values
from tasks.reading.xlsx import reader, sheet
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import SHEET

STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
STRINGS = (
    f'<sst xmlns="{SHEET}"><si><t>Größe</t></si><si/>'
    '<si><r><t xml:space="preserve">a </t></r><r><t>b</t></r></si></sst>'
)
SHEET_XML = (
    f'<worksheet xmlns="{SHEET}"><dimension ref="A1:C2"/><sheetData>'
    '<row r="1" spans="1:3"><c r="A1" s="1" t="s"><v>0</v></c><c r="C1" t="s"><v>2</v></c></row>'
    '<row r="2"><c r="A2"><f t="shared" si="0"/><v>1.5</v></c><c r="B2" t="inlineStr"><is><t>in &lt; line</t></is></c>'
    '<c r="C2" t="b"><v>1</v></c></row></sheetData></worksheet>'
)
TEXT = "Ledger\nGröße\t\ta b\n1.5\tin < line\tTRUE\n"


def prefixed(xml: str) -> str:
    """As the .NET libraries write it: every element with a prefix."""
    xml = xml.replace("</", "\0").replace("<", "<x:").replace("\0", "</x:")
    return xml.replace(" xmlns=", " xmlns:x=")


def spread(xml: str) -> str:
    """Each element on a line of its own."""
    return xml.replace("><", ">\n    <")


def unnumbered(xml: str) -> str:
    """Without references: empty cells keep the places."""
    for name in ("A", "B", "C"):
        for row in "12":
            xml = xml.replace(f' r="{name}{row}"', "")
    return xml.replace(' r="1"', "").replace(' r="2"', "").replace("</v></c><c t", "</v></c><c/><c t", 1)


def commented(xml: str) -> str:
    """With comments, one of them over the end of a row, an instruction and character data."""
    xml = xml.replace("</row><row", "<!-- <? tool <c r='B1'><v>no</v></c></row><row> --></row><?go on?><row", 1)
    return xml.replace("in &lt; line", "in <![CDATA[< ]]>line").replace("<v>1.5", "<v><!-- old -->1.5")


def with_signs(xml: str) -> str:
    """With a `>` and what looks like the end of an empty tag in an attribute of each tag but those with a prefix."""
    return re.sub(r"<(\w+)(?=[\s/>])", r'<\1 note="a>b/>"', xml)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda xml: xml.encode(), id="usual"),
        pytest.param(lambda xml: b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\r\n" + xml.encode(), id="prolog"),
        pytest.param(lambda xml: prefixed(xml).encode(), id="prefixes"),
        pytest.param(lambda xml: xml.replace(SHEET, STRICT).encode(), id="strict"),
        pytest.param(lambda xml: xml.encode("utf-16"), id="UTF-16"),
        pytest.param(lambda xml: xml.encode("utf-16-be"), id="UTF-16, no mark"),
        pytest.param(lambda xml: b"<?xml version='1.0' encoding='utf-16'?>" + xml.encode(), id="UTF-8 called UTF-16"),
        pytest.param(lambda xml: b"<?xml version='1.0' encoding='ISO-8859-1'?>" + xml.encode("latin-1"), id="Latin-1"),
        pytest.param(lambda xml: b"<?xml version='1.0' encoding='no-such'?>" + xml.encode(), id="unknown encoding"),
        pytest.param(lambda xml: spread(xml).encode(), id="lines"),
        pytest.param(lambda xml: unnumbered(xml).encode(), id="no references"),
        pytest.param(lambda xml: commented(xml).encode(), id="comments"),
        pytest.param(lambda xml: xml.replace('"', "'").encode(), id="other quotes"),
        pytest.param(lambda xml: with_signs(xml).encode(), id="signs in attributes"),
        pytest.param(lambda xml: with_signs(xml).replace('"', "'").encode(), id="signs in attributes, other quotes"),
        pytest.param(lambda xml: xml.replace('r="A1" s="1" t="s"', 't="s" s="1" r="A1"').encode(), id="other order"),
        pytest.param(
            lambda xml: b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>' + xml.encode(), id="document type"
        ),
    ],
)
def test_every_form_gives_the_same_text(form: Callable[[str], bytes], tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {"xl/worksheets/sheet1.xml": form(SHEET_XML), "xl/sharedStrings.xml": form(STRINGS)}
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", "", parts))
    assert (reading.text, reading.warnings) == (TEXT, [])


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_part_is_cut_behind_rows_wherever_its_chunks_end(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet, "SHORTEST_PIECE", 16)
    data = commented(SHEET_XML.replace("<row", "<row r='9'/><row")).encode()
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    got = list(sheet.pieces(chunks, b"row"))
    assert all(piece.endswith(b"</row>") for piece in got[:-1])
    assert b"".join(got) == b"".join(sheet.pieces(iter([data]), b"row"))
    assert b"<!" not in b"".join(got)


@pytest.mark.parametrize("attributes", ['hidden="1" note="/>"', 'note="a>" hidden="1"', 'note=">" hidden="1"'])
def test_a_sign_in_an_attribute_of_a_row_or_column_hides_nothing_of_it(attributes: str, tmp_path: Path) -> None:
    rows = f'<row r="3" {attributes}><c r="A3"><v>7</v></c><c r="B3"><v>8</v></c></row>'
    sheet = (
        f'<worksheet xmlns="{SHEET}"><cols><col {attributes} min="2" max="2"/></cols>'
        f"<sheetData>{rows}</sheetData></worksheet>"
    )
    path = packages.xlsx(tmp_path / "a.xlsx", "", {"xl/worksheets/sheet1.xml": sheet})
    assert reader.read(path).text == "Ledger\n[hidden column B]\n[hidden row]\n7\t8\n"


def test_a_sign_in_an_attribute_of_a_style_or_chart_changes_nothing(tmp_path: Path) -> None:
    styles = f'<styleSheet xmlns="{SHEET}"><cellXfs count="1"><xf note="a>b/>" numFmtId="9"/></cellXfs></styleSheet>'
    path = packages.xlsx(tmp_path / "a.xlsx", '<row r="1"><c r="A1"><v>0.5</v></c></row>', {"xl/styles.xml": styles})
    assert reader.read(path).text == "Ledger\n50%\n"
    point = '<c:pt note="a>b/>" idx="0"><c:v note="a>b/>">7</c:v></c:pt>'
    assert list(chart_values(f'<c:ser note="a>b/>"><c:val note=">">{point}</c:val></c:ser>'.encode())) == ["7"]


def test_a_tag_whose_quotes_are_damaged_ends_where_it_ends(tmp_path: Path) -> None:
    rows = '<row r="1 spans="1:2"><c r="A1"><v a="b>5</v></c><c r="B1" t="inlineStr"><is><t b=">x</t></is></c></row>'
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", rows)).text == "Ledger\n5\tx\n"


def test_rich_inline_text_comes_without_reading_aids(tmp_path: Path) -> None:
    cell = (
        '<c t="inlineStr"><is><r><rPr><b/></rPr><t>東</t></r><rPh sb="0" eb="1"><t>ヒガシ</t></rPh><r><t xml:space='
        '"preserve">京 Tower</t></r><phoneticPr fontId="1"/></is></c><c><v>7</v></c>'
    )
    text = reader.read(packages.xlsx(tmp_path / "a.xlsx", f"<row>{cell}</row>" * 3)).text
    assert text == "Ledger\n" + "東京 Tower\t7\n" * 3


@pytest.mark.parametrize(
    "cell", ["<v/>", "<v></v>", "<v />", "<is><t/></is>"], ids=["self-closed", "empty", "spaced", "inline"]
)
def test_alike_rows_whose_only_value_is_empty_come_to_an_end(cell: str, tmp_path: Path) -> None:
    kind = ' t="inlineStr"' if cell.startswith("<is>") else ""
    rows = "".join(f'<row r="{row}"><c r="A{row}"><v>{row}</v></c></row>' for row in range(1, 18))
    rows += "".join(f'<row r="{row}"><c r="A{row}"{kind}>{cell}</c></row>' for row in range(18, 60))
    rows += '<row r="60"><c r="A60"><v>6060</v></c></row>'
    text = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows)).text
    assert text.split() == ["Ledger", *map(str, range(1, 18)), "6060"]


@pytest.mark.parametrize(
    "empty",
    ["<si/>", "<si />", "<si\n/>", "<si></si>", "<si><t/></si>"],
    ids=["tight", "space", "line", "pair", "text"],
)
def test_an_empty_shared_string_keeps_its_number(empty: str, tmp_path: Path) -> None:
    strings = f'<sst xmlns="{SHEET}"><si><t>first</t></si>{empty}<si ><t>third</t></si ></sst>'
    cells = "".join(f'<c r="{column}1" t="s"><v>{number}</v></c>' for number, column in enumerate("ABC"))
    path = packages.xlsx(tmp_path / "a.xlsx", f'<row r="1">{cells}</row>', {"xl/sharedStrings.xml": strings})
    assert reader.read(path).text == "Ledger\nfirst\t\tthird\n"


def test_a_prefix_may_be_declared_below_the_root(tmp_path: Path) -> None:
    sheet = (
        f'<worksheet xmlns="{SHEET}"><q:sheetData xmlns:q="{SHEET}"><q:row r="1"><q:c r="A1"><q:v>7</q:v></q:c></q:row>'
        "</q:sheetData></worksheet>"
    )
    path = packages.xlsx(tmp_path / "a.xlsx", "", {"xl/worksheets/sheet1.xml": sheet})
    assert reader.read(path).text == "Ledger\n7\n"


def test_a_value_may_be_written_with_references_to_characters(tmp_path: Path) -> None:
    rows = (
        '<row r="1"><c r="A1" t="s"><v>&#49;</v></c><c r="B1" t="b"><v>&#x31;</v></c>'
        '<c r="C1"><v>0.6666600000000000&#51;</v></c></row>'
    )
    strings = f'<sst xmlns="{SHEET}"><si><t>zero</t></si><si><t>one</t></si></sst>'
    file = packages.xlsx(tmp_path / "a.xlsx", rows, {"xl/sharedStrings.xml": strings})
    assert reader.read(file).text == "Ledger\none\tTRUE\t0.66666\n"

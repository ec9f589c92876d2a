"""Word documents: everything in them, in the order that a person reads."""

import re
from pathlib import Path

import pytest
from docx import Document

from tasks.errors import Damaged, TooLarge
from tasks.reading.docx import reader
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import CHART, CHART_LINES, DIAGRAM, NAMES, WORD, p, relationships


def note(kind: str, name: str, *notes: tuple[int, str]) -> str:
    items = "".join(f'<w:{name} w:id="{number}">{p(text)}</w:{name}>' for number, text in notes)
    return f"<w:{kind} {WORD}>{items}</w:{kind}>"


def test_a_real_document_comes_with_headings_tables_header_and_comment(tmp_path: Path) -> None:
    document = Document()
    document.sections[0].header.paragraphs[0].text = "Confidential"
    document.sections[0].footer.paragraphs[0].text = "Page footer"
    document.add_heading("Services", 1)
    first = document.add_paragraph("The supplier delivers\tmonthly.")
    document.add_comment(first.runs, "Check this with the client.", "A. Reader")
    table = document.add_table(2, 3)
    for row, words in zip(table.rows, (("Year", "Revenue", "Note"), ("2024", "1.2 m", "")), strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    document.add_heading("Fees", 2)
    document.add_paragraph("Paid quarterly.")
    document.save(str(tmp_path / "a.docx"))

    reading = reader.read(tmp_path / "a.docx")

    remark = next(place.label for place in reading.places if place.kind == "comment")
    assert re.fullmatch(r"A\. Reader, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", remark)
    assert reading.text == (
        f"Confidential\nServices\nThe supplier delivers\tmonthly.\n[comment, {remark}: Check this with the client.]\n"
        "Year\tRevenue\tNote\n2024\t1.2 m\nFees\nPaid quarterly.\nPage footer\n"
    )
    places = {place.label: reading.text[place.start : place.end] for place in reading.places}
    assert places["Fees"] == "Fees\nPaid quarterly.\n"
    assert places["Services"].startswith("Services\nThe supplier")
    assert places["Services"].endswith("1.2 m\n")
    assert {place.kind for place in reading.places} == {"header", "body", "heading", "comment", "table", "footer"}
    assert reading.warnings == []


def test_notes_stand_after_their_paragraph_and_those_without_reference_at_the_end(tmp_path: Path) -> None:
    body = f'<w:p><w:r><w:t>Revenue grew.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>{p("Costs fell.")}'
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("footnotes", "notes.xml"), ("endnotes", "/word/ends.xml")),
        "word/notes.xml": note("footnotes", "footnote", (2, "As audited."), (2, "And filed.")),
        "word/ends.xml": note("endnotes", "endnote", (1, "Nobody refers to this.")),
    }
    text = reader.read(packages.docx(tmp_path / "a.docx", body, parts)).text
    assert text == "Revenue grew.\nAs audited.\nAnd filed.\nCosts fell.\nNobody refers to this.\n"


def test_text_boxes_charts_and_diagrams_stand_once_after_their_paragraph(tmp_path: Path) -> None:
    box = f"<wps:txbx><w:txbxContent>{p('In a box')}</w:txbxContent></wps:txbx>"
    body = (
        "<w:p><w:r><w:t>Look:</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>"
        f"{box}</w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>{p('In a box')}"
        "</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        "<w:r><w:drawing><c:chart r:id='rId1'/></w:drawing></w:r>"
        "<w:r><w:drawing><dgm:relIds r:dm='rId2'/></w:drawing></w:r></w:p>"
    )
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("chart", "charts/c.xml"), ("diagramData", "d.xml")),
        "word/charts/c.xml": CHART,
        "word/d.xml": DIAGRAM,
    }
    text = reader.read(packages.docx(tmp_path / "a.docx", body, parts)).text
    assert text == f"Look:\nIn a box\n{CHART_LINES}Board\nAuditor\n"


def test_what_was_deleted_is_not_text_and_what_was_inserted_is(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Price </w:t></w:r><w:del><w:r><w:delText>100</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>120</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:hyperlink><w:r><w:t> EUR</w:t><w:noBreakHyphen/><w:t>net</w:t><w:br/><w:t>plus tax</w:t>"
        "</w:r></w:hyperlink></w:p>"
    )
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "Price 120 EUR-net\nplus tax\n"


def test_what_was_deleted_may_be_marked_inside_what_was_deleted(tmp_path: Path) -> None:
    gone = '<w:del w:author="A > B"><w:r><w:rPr><w:del w:id="1"/></w:rPr><w:t>gone</w:t></w:r></w:del>'
    moved = "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>"
    body = f"<w:p><w:r><w:t>before </w:t></w:r>{gone}{moved}{p('after')}</w:p>"
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "before \nafter\n"


def test_tab_stops_are_no_tabs(tmp_path: Path) -> None:
    stops = "<w:pPr><w:tabs><w:tab w:val='left' w:pos='720'/></w:tabs></w:pPr>"
    body = f"<w:p>{stops}<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:tab></w:tab><w:t>c</w:t></w:r></w:p>"
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "a\tb\tc\n"


def test_text_is_as_it_was_written(tmp_path: Path) -> None:
    body = (
        "<w:p w:note='a > b' w:rsidR=\"1\"><w:r><w:t xml:space='preserve' w:x='>'> 1 &lt; 2 &amp;amp; </w:t>"
        "<w:t xml:space=\"preserve\"/>\n<w:t/>\n<w:t >&#65;&#x3b2; </w:t><w:sym w:font='Symbol' w:char='03B3'/>"
        "<w:sym w:font='Wingdings' w:char='F0B7'/></w:r></w:p ><w:r><w:t>outside</w:t></w:r><w:p/><w:p>\n</w:p>"
    )
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == " 1 < 2 &amp; Aβ γ\noutside\n"


def test_text_boxes_in_text_boxes_in_a_table_stand_below_its_row(tmp_path: Path) -> None:
    def box(content: str) -> str:
        inside = f"<v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox>"
        return f"<w:r><w:pict><v:shape>{inside}</v:shape></w:pict></w:r>"

    inner = box("<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc>" + p("cell") + "</w:tc></w:tr></w:tbl>")
    outer = box(f"<w:p><w:r><w:t>box</w:t></w:r>{inner}</w:p>" + p("more"))
    cells = f"<w:tc><w:p><w:r><w:t>a</w:t></w:r>{outer}</w:p></w:tc><w:tc>{p('b')}</w:tc>"
    body = f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>{p('c')}"
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "a\tb\nbox\n\tcell\nmore\nc\n"


def test_words_drawn_and_words_as_a_picture_are_text(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Seen:</w:t><w:drawing><a:p><a:r><a:t>drawn</a:t></a:r><a:br/><a:fld><a:t>twice</a:t></a:fld></a:p>"
        "</w:drawing><w:pict><v:shape><v:textpath style='a' string='DRAFT &amp; more'/></v:shape></w:pict></w:r></w:p>"
    )
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "Seen:\ndrawn\ntwice\nDRAFT & more\n"


def test_formulas_read_as_a_person_would_say_them(tmp_path: Path) -> None:
    body = (
        "<w:p><m:oMath><m:r><m:t>A=π</m:t></m:r><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r>"
        "</m:sup></m:sSup><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
        "</m:oMath></w:p>"
    )
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "A=πr²1/2\n"


def test_a_table_as_a_frame_keeps_its_paragraphs_apart(tmp_path: Path) -> None:
    inner = f"<w:tbl><w:tr><w:tc>{p('a')}</w:tc><w:tc>{p('b')}{p('c')}</w:tc></w:tr></w:tbl>"
    body = f"<w:tbl><w:tr><w:tc>{p('Heading')}{inner}</w:tc></w:tr></w:tbl>"
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "Heading\na\tb c\n"


def test_strict_namespaces_are_read_too(tmp_path: Path) -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    document = f'<w:document xmlns:w="{strict}"><w:body>{p("Strictly speaking")}</w:body></w:document>'
    path = packages.package(tmp_path / "a.docx", "word/document.xml", {"word/document.xml": document})
    assert reader.read(path).text == "Strictly speaking\n"


def test_relationships_into_nowhere_are_passed_over(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(
            ("header", "NULL"), ("header", "#bookmark"), ("footer", "https://elsewhere.example/x"),
            ("comments", "../../../../etc/passwd"), ("styles", "missing.xml"),
        ),
    }  # fmt: skip
    assert reader.read(packages.docx(tmp_path / "a.docx", p("Body"), parts)).text == "Body\n"


@pytest.mark.parametrize("kind", ["entity bomb", "external entity"])
def test_entities_are_not_expanded(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hostname of the machine")
    bomb = '<!ENTITY e0 "lol">' + "".join(f'<!ENTITY e{n} "' + f"&e{n - 1};" * 10 + '">' for n in range(1, 10))
    entities = bomb if kind == "entity bomb" else f'<!ENTITY e9 SYSTEM "{secret.as_uri()}">'
    body = p("before &e9; after") + p("last")
    document = f"<!DOCTYPE x [{entities}]><w:document {NAMES}><w:body>{body}</w:body></w:document>"
    path = packages.package(tmp_path / "a.docx", "word/document.xml", {"word/document.xml": document})
    text = reader.read(path).text
    assert "lol" not in text
    assert "hostname" not in text


def test_deep_nesting_costs_neither_words_nor_their_order(tmp_path: Path) -> None:
    opened = "".join(f"<w:tbl><w:tr><w:tc>{p(f'level {number}')}" for number in range(10_000))
    body = opened + "<w:p/></w:tc></w:tr></w:tbl>" * 10_000 + p("after")
    reading = reader.read(packages.docx(tmp_path / "a.docx", body))
    assert reading.text.splitlines() == [f"level {number}" for number in range(10_000)] + ["after"]
    assert reading.warnings == []


def test_notes_that_refer_to_each_other_end(tmp_path: Path) -> None:
    def referring(number: int) -> str:
        return f'<w:p><w:r><w:t>Note {number}</w:t><w:footnoteReference w:id="{number % 3000 + 1}"/></w:r></w:p>'

    notes = "".join(f'<w:footnote w:id="{number}">{referring(number)}</w:footnote>' for number in range(1, 3001))
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("footnotes", "notes.xml")),
        "word/notes.xml": f"<w:footnotes {NAMES}>{notes}</w:footnotes>",
    }
    text = reader.read(packages.docx(tmp_path / "a.docx", referring(0), parts)).text
    assert sorted(text.splitlines()) == sorted(f"Note {number}" for number in range(3001))


@pytest.mark.slow
def test_a_bomb_is_too_large(tmp_path: Path) -> None:
    body = p("A" * 1000) * 250_000
    with pytest.raises(TooLarge):
        reader.read(packages.docx(tmp_path / "a.docx", body))


def test_a_file_that_is_cut_off_gives_what_is_left(tmp_path: Path) -> None:
    path = packages.docx(
        tmp_path / "a.docx", "".join(p(f"Clause {number} {hash(str(number))}") for number in range(5000))
    )
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    reading = reader.read(path)
    assert reading.text.startswith("Clause 0 ")
    assert 1000 < reading.text.count("Clause") < 5000
    assert "cut off" in reading.warnings[0]


def test_a_document_without_text_is_empty_and_says_so(tmp_path: Path) -> None:
    reading = reader.read(packages.docx(tmp_path / "a.docx", "<w:p/>"))
    assert (reading.text, len(reading.warnings)) == ("", 1)
    assert "No text was found" in reading.warnings[0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no zip at all" * 100,
        b"PK\x05\x06" + bytes(18),
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(data)
    with pytest.raises(Damaged):
        reader.read(path)


def test_a_workbook_under_a_document_s_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="no Word document"):
        reader.read(packages.xlsx(tmp_path / "a.docx", ""))


STYLES = (
    f"<w:styles {NAMES}><w:style w:type='paragraph' w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style>"
    '<w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/><w:basedOn w:val="berschrift1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Plain"><w:name w:val="Plain"/></w:style></w:styles>'
)


def styled(style: str, text: str, more: str = "") -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{more}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def test_headings_are_known_by_their_styles_whatever_these_are_called(tmp_path: Path) -> None:
    earlier = "<w:pPrChange><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr></w:pPrChange>"
    body = (
        styled("berschrift1", "One") + styled("Clause", "Two") + styled("Plain", "Three", earlier)
        + styled("Plain", "Four", "<w:outlineLvl w:val='2'/>") + styled("berschrift1", "")
        + f"<w:tbl><w:tr><w:tc>{styled('berschrift1', 'Five')}</w:tc></w:tr></w:tbl>" + p("Six")
    )  # fmt: skip
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("styles", "styles.xml")),
        "word/styles.xml": STYLES,
    }
    reading = reader.read(packages.docx(tmp_path / "a.docx", body, parts))
    assert [place.label for place in reading.places if place.kind == "heading"] == ["One", "Two", "Four"]
    assert reading.text.endswith("Four\nFive\nSix\n")


def test_styles_are_not_read_where_only_word_s_own_are_used(tmp_path: Path) -> None:
    body = styled("Heading1", "One") + styled("ListParagraph", "item") + styled("Title", "Two")
    broken: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("styles", "styles.xml")),
        "word/styles.xml": "<w:styles",
    }
    reading = reader.read(packages.docx(tmp_path / "a.docx", body, broken))
    assert [place.label for place in reading.places if place.kind == "heading"] == ["One", "Two"]
    assert reading.warnings == []


def test_the_line_above_the_notes_is_no_note(tmp_path: Path) -> None:
    notes = (
        '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
        f'<w:footnote w:type="continuationSeparator" w:id="0">{p("continued overleaf")}</w:footnote>'
    )
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("footnotes", "notes.xml")),
        "word/notes.xml": f"<w:footnotes {NAMES}>{notes}</w:footnotes>",
    }
    text = reader.read(packages.docx(tmp_path / "a.docx", p("Body"), parts)).text
    assert text == "Body\ncontinued overleaf\n"


def test_documents_inside_are_handed_on_but_not_the_workbooks_of_charts(tmp_path: Path) -> None:
    header = f"<w:hdr {NAMES}><w:p><w:r><w:object><o:OLEObject r:id='rId1'/></w:object></w:r></w:p></w:hdr>"
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(
            ("package", "embeddings/Fees.xlsx"), ("oleObject", "embeddings/oleObject1.bin"), ("header", "header1.xml"),
            ("chart", "charts/chart1.xml"), ("aFChunk", "part.docx"), ("package", "embeddings/lost.pptx"),
        ),
        "word/_rels/header1.xml.rels": relationships(("oleObject", "embeddings/oleObject2.bin")),
        "word/header1.xml": header,
        "word/charts/chart1.xml": CHART,
        "word/charts/_rels/chart1.xml.rels": relationships(("package", "../embeddings/numbers.xlsx")),
        "word/embeddings/Fees.xlsx": b"fees", "word/embeddings/numbers.xlsx": b"numbers", "word/part.docx": b"part",
        "word/embeddings/oleObject1.bin": b"one", "word/embeddings/oleObject2.bin": b"two",
    }  # fmt: skip
    body = "<w:p><w:r><w:drawing><c:chart r:id='rId4'/></w:drawing></w:r></w:p>"
    reading = reader.read(packages.docx(tmp_path / "a.docx", body, parts))
    assert sorted(reading.attachments, key=str) == [
        ("Fees.xlsx", b"fees"),
        ("lost.pptx", None),
        ("oleObject1.bin", b"one"),
        ("oleObject2.bin", b"two"),
        ("part.docx", b"part"),
    ]
    assert reading.text == CHART_LINES


def test_another_prefix_and_a_document_in_memory_are_read_too(tmp_path: Path) -> None:
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    document = f'<document xmlns="{namespace}"><body><p><r><t>Plain</t><tab/><t>names</t></r></p></body></document>'
    path = packages.package(tmp_path / "a.docx", "word/document.xml", {"word/document.xml": document})
    assert reader.read(path.read_bytes()).text == "Plain\tnames\n"

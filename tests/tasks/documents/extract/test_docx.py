"""Word documents: everything in them, in the order that a person reads."""

from pathlib import Path

import pytest
from docx import Document

from tasks.documents.extract.readers import docx
from tasks.errors import Damaged, PasswordProtected, TooLarge
from tests.tasks.documents.extract import packages
from tests.tasks.documents.extract.packages import CHART, CHART_LINES, DIAGRAM, NAMES, WORD, p, relationships


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

    reading = docx.read(tmp_path / "a.docx")

    assert reading.text == (
        "Confidential\nServices\nThe supplier delivers\tmonthly.\nCheck this with the client.\n"
        "Year\tRevenue\tNote\n2024\t1.2 m\nFees\nPaid quarterly.\nPage footer\n"
    )
    places = {place.label: reading.text[place.start : place.end] for place in reading.places}
    assert places["Fees"] == "Fees\nPaid quarterly.\n"
    assert places["Services"].startswith("Services\nThe supplier")
    assert places["Services"].endswith("1.2 m\n")
    assert {place.kind for place in reading.places} == {"heading"}
    assert reading.warnings == []


def test_notes_stand_after_their_paragraph_and_those_without_reference_at_the_end(tmp_path: Path) -> None:
    body = f'<w:p><w:r><w:t>Revenue grew.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>{p("Costs fell.")}'
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("footnotes", "notes.xml"), ("endnotes", "/word/ends.xml")),
        "word/notes.xml": note("footnotes", "footnote", (2, "As audited."), (2, "And filed.")),
        "word/ends.xml": note("endnotes", "endnote", (1, "Nobody refers to this.")),
    }
    text = docx.read(packages.docx(tmp_path / "a.docx", body, parts)).text
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
    text = docx.read(packages.docx(tmp_path / "a.docx", body, parts)).text
    assert text == f"Look:\nIn a box\n{CHART_LINES}Board\nAuditor\n"


def test_what_was_deleted_is_not_text_and_what_was_inserted_is(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Price </w:t></w:r><w:del><w:r><w:delText>100</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>120</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:hyperlink><w:r><w:t> EUR</w:t><w:noBreakHyphen/><w:t>net</w:t><w:br/><w:t>plus tax</w:t>"
        "</w:r></w:hyperlink></w:p>"
    )
    assert docx.read(packages.docx(tmp_path / "a.docx", body)).text == "Price 120 EUR-net\nplus tax\n"


def test_formulas_read_as_a_person_would_say_them(tmp_path: Path) -> None:
    body = (
        "<w:p><m:oMath><m:r><m:t>A=π</m:t></m:r><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r>"
        "</m:sup></m:sSup><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
        "</m:oMath></w:p>"
    )
    assert docx.read(packages.docx(tmp_path / "a.docx", body)).text == "A=πr²1/2\n"


def test_a_table_as_a_frame_keeps_its_paragraphs_apart(tmp_path: Path) -> None:
    inner = f"<w:tbl><w:tr><w:tc>{p('a')}</w:tc><w:tc>{p('b')}{p('c')}</w:tc></w:tr></w:tbl>"
    body = f"<w:tbl><w:tr><w:tc>{p('Heading')}{inner}</w:tc></w:tr></w:tbl>"
    assert docx.read(packages.docx(tmp_path / "a.docx", body)).text == "Heading\na\tb c\n"


def test_strict_namespaces_are_read_too(tmp_path: Path) -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    document = f'<w:document xmlns:w="{strict}"><w:body>{p("Strictly speaking")}</w:body></w:document>'
    path = packages.package(tmp_path / "a.docx", "word/document.xml", {"word/document.xml": document})
    assert docx.read(path).text == "Strictly speaking\n"


def test_relationships_into_nowhere_are_passed_over(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(
            ("header", "NULL"), ("header", "#bookmark"), ("footer", "https://elsewhere.example/x"),
            ("comments", "../../../../etc/passwd"), ("styles", "missing.xml"),
        ),
    }  # fmt: skip
    assert docx.read(packages.docx(tmp_path / "a.docx", p("Body"), parts)).text == "Body\n"


@pytest.mark.parametrize("kind", ["entity bomb", "external entity"])
def test_entities_are_not_expanded(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hostname of the machine")
    bomb = '<!ENTITY e0 "lol">' + "".join(f'<!ENTITY e{n} "' + f"&e{n - 1};" * 10 + '">' for n in range(1, 10))
    entities = bomb if kind == "entity bomb" else f'<!ENTITY e9 SYSTEM "{secret.as_uri()}">'
    body = p("before &e9; after") + p("last")
    document = f"<!DOCTYPE x [{entities}]><w:document {NAMES}><w:body>{body}</w:body></w:document>"
    path = packages.package(tmp_path / "a.docx", "word/document.xml", {"word/document.xml": document})
    text = docx.read(path).text
    assert "lol" not in text
    assert "hostname" not in text


def test_deep_nesting_ends_in_a_bounded_text_and_a_warning(tmp_path: Path) -> None:
    body = f"<w:tbl><w:tr><w:tc>{p('deep')}" * 5000 + "<w:p/></w:tc></w:tr></w:tbl>" * 5000
    reading = docx.read(packages.docx(tmp_path / "a.docx", body))
    assert "deep" in reading.text
    assert "damaged" in reading.warnings[0]


def test_a_bomb_is_too_large(tmp_path: Path) -> None:
    body = p("A" * 1000) * 250_000
    with pytest.raises(TooLarge):
        docx.read(packages.docx(tmp_path / "a.docx", body))


def test_a_file_that_is_cut_off_gives_what_is_left(tmp_path: Path) -> None:
    path = packages.docx(
        tmp_path / "a.docx", "".join(p(f"Clause {number} {hash(str(number))}") for number in range(5000))
    )
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    reading = docx.read(path)
    assert reading.text.startswith("Clause 0 ")
    assert 1000 < reading.text.count("Clause") < 5000
    assert "cut off" in reading.warnings[0]


def test_a_document_without_text_is_empty_and_says_so(tmp_path: Path) -> None:
    reading = docx.read(packages.docx(tmp_path / "a.docx", "<w:p/>"))
    assert (reading.text, len(reading.warnings)) == ("", 1)
    assert "No text was found" in reading.warnings[0]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", Damaged),
        (b"no zip at all" * 100, Damaged),
        (b"PK\x05\x06" + bytes(18), Damaged),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), Damaged),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"), PasswordProtected),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, data: bytes, error: type[Exception]) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(data)
    with pytest.raises(error):
        docx.read(path)


def test_a_workbook_under_a_document_s_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="no Word document"):
        docx.read(packages.xlsx(tmp_path / "a.docx", ""))

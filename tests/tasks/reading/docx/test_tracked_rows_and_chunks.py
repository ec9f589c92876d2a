"""Rows that were inserted or deleted, pages of HTML within a document, symbols and boxes of forms."""

from pathlib import Path

import pytest

from tasks.reading.docx import reader
from tasks.reading.docx.styles import symbol
from tasks.reading.embedded import read_with_embedded
from tests.cases import cases
from tests.tasks.reading.docx.test_marked_text import EDITED, NUMBERING, item, read
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import p, relationships

DELETED = "Deleted text was left out (B. Editor, 2024-06-01T10:00:00Z)."


def row(*cells: str, changed: str = "") -> str:
    properties = f"<w:trPr>{changed}</w:trPr>" if changed else ""
    return f"<w:tr>{properties}{''.join(f'<w:tc>{p(cell)}</w:tc>' for cell in cells)}</w:tr>"


@pytest.mark.parametrize("change", [f'<w:ins w:id="1" {EDITED}/>', f'<w:ins w:id="1" {EDITED}></w:ins>'])
def test_an_inserted_row_stays_in_its_table(tmp_path: Path, change: str) -> None:
    reading = read(tmp_path, f"<w:tbl>{row('a', 'b')}{row('c', 'd', changed=change)}</w:tbl>")
    assert reading.text == "a\tb\nc\td\n"
    assert [place.kind for place in reading.places] == ["body", "table"]


@pytest.mark.parametrize("change", [f'<w:del w:id="1" {EDITED}/>', f'<w:del w:id="1" {EDITED}>\n</w:del>'])
@pytest.mark.parametrize("more", ["", '<w:trPrChange w:id="2"><w:trPr/></w:trPrChange>'])
def test_a_deleted_row_is_deleted_text(tmp_path: Path, change: str, more: str) -> None:
    rows = row("a", "b") + row("gone", "lost", changed=change + more) + row("c", "d")
    reading = read(tmp_path, f"<w:tbl>{rows}</w:tbl>{p('end')}")
    assert reading.text == "a\tb\nc\td\nend\n"
    assert reading.warnings == [DELETED]


def test_a_deleted_row_in_the_table_of_a_cell_leaves_the_others(tmp_path: Path) -> None:
    inner = f"<w:tbl>{row('gone', changed=f'<w:del {EDITED}/>')}{row('kept')}</w:tbl>"
    reading = read(tmp_path, f"<w:tbl><w:tr><w:tc>{inner}<w:p/></w:tc><w:tc>{p('b')}</w:tc></w:tr></w:tbl>")
    assert reading.text == "kept\tb\n"


def test_an_empty_deleted_row_is_no_deleted_text(tmp_path: Path) -> None:
    rows = f"<w:tr><w:trPr><w:del {EDITED}/></w:trPr><w:tc><w:p/></w:tc></w:tr>{row('a')}"
    reading = read(tmp_path, f"<w:tbl>{rows}</w:tbl>")
    assert (reading.text, reading.warnings) == ("a\n", [])


def test_the_deleted_end_of_a_paragraph_deletes_no_row(tmp_path: Path) -> None:
    ended = f"<w:p><w:pPr><w:rPr><w:del {EDITED}/></w:rPr></w:pPr><w:r><w:t>kept</w:t></w:r></w:p>"
    reading = read(tmp_path, f"<w:tbl><w:tr><w:tc>{ended}</w:tc></w:tr></w:tbl>")
    assert (reading.text, reading.warnings) == ("kept\n", [])


ARCHIVE = (
    "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\n"
    "Content-Type: text/html; charset={0}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n<p>Größe</p>\r\n"
    "--b\r\nContent-Type: image/png\r\nContent-Location: a.png\r\n\r\nx\r\n--b--\r\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("chunk.mht", ARCHIVE.format("utf-8").encode()),
        ("chunk.mht", ARCHIVE.format("iso-8859-1").encode("latin-1")),
        ("chunk.dat", ARCHIVE.format("utf-8").encode()),
        ("chunk.xml", '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><p>Größe</p></html>'.encode()),
    ],
    ids=["archive", "archive in Latin-1", "archive by its content", "page of XHTML by its content"],
)
def test_a_page_of_any_form_is_read_in_its_place(tmp_path: Path, name: str, content: bytes) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("aFChunk", name)),
        f"word/{name}": content,
    }
    body = p("Before") + '<w:altChunk r:id="rId1"/>' + p("Behind")
    reading = read_with_embedded(packages.docx(tmp_path / "a.docx", body, parts))
    assert (reading.text, reading.warnings) == ("Before\nGröße\nBehind\n", [])


def test_an_archive_without_a_page_is_named(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("aFChunk", "chunk.mht")),
        "word/chunk.mht": "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b--",
    }
    reading = read_with_embedded(packages.docx(tmp_path / "a.docx", p("x") + '<w:altChunk r:id="rId1"/>', parts))
    assert reading.text == "x\n"
    assert any("chunk.mht" in warning for warning in reading.warnings)


@cases(
    ("font", "code", "shown"),
    [
        ("Symbol", 0xF0A3, "≤"), ("Symbol", 0xF0B3, "≥"), ("Symbol", 0xF061, "α"), ("Symbol", 0xF0B7, "•"),
        ("Symbol", 0xF0AE, "→"), ("Symbol", 0xF0D3, "©"), ("Symbol", 0xF0E5, "∑"), ("Symbol", 0xF07E, "∼"),
        ("Wingdings", 0xF0FE, "☑"), ("WINGDINGS", 0xF0A8, "☐"), ("Wingdings", 0xF0FD, "☒"),
        ("Wingdings 2", 0xF052, "☑"), ("Wingdings 2", 0xF0A3, "☐"), ("Wingdings", 0xF04A, ""), ("Other", 0xF061, ""),
        ("Symbol", 0x3B3, "γ"), ("Arial", 0x20AC, "€"), ("Symbol", 0xD800, ""), ("Symbol", 0x110000, ""),
    ],
)  # fmt: skip
def test_characters_of_symbol_fonts_are_those_that_they_show(font: str, code: int, shown: str) -> None:
    assert symbol(font, code) == shown


def test_a_tick_and_a_limit_are_read_in_a_document(tmp_path: Path) -> None:
    signs = '<w:sym w:font="Wingdings" w:char="F0FE"/><w:t> Yes, </w:t><w:sym w:char="F0A3" w:font="Symbol"/>'
    body = f"<w:p><w:r>{signs}<w:t> 3.0x</w:t></w:r></w:p>"
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == "☑ Yes, ≤ 3.0x\n"


@cases(
    ("state", "shown"),
    [
        ('<w:default w:val="0"/>', "☐"), ('<w:default w:val="1"/>', "☒"), ("<w:default/><w:checked/>", "☒"),
        ('<w:default w:val="1"/><w:checked w:val="0"/>', "☐"), ("<w:sizeAuto/>", "☐"),
    ],
)  # fmt: skip
def test_a_box_of_a_form_shows_whether_it_is_ticked(tmp_path: Path, state: str, shown: str) -> None:
    field = f'<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{state}</w:checkBox></w:ffData></w:fldChar>'
    body = (
        f"<w:p><w:r>{field}</w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> Yes</w:t></w:r></w:p>'
    )
    assert reader.read(packages.docx(tmp_path / "a.docx", body)).text == f"{shown} Yes\n"


def ended(words: str, listed: str = "", change: str = f"<w:del {EDITED}/>") -> str:
    """A paragraph whose end was deleted."""
    return f"<w:p><w:pPr>{listed}<w:rPr>{change}</w:rPr></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


@cases("between", ["", "\n  ", '<w:bookmarkStart w:id="1"/>'])
@cases("change", [f"<w:del {EDITED}/>", f"<w:ins {EDITED}/><w:moveFrom {EDITED}></w:moveFrom>"])
def test_a_paragraph_whose_end_was_deleted_goes_on_with_the_next(tmp_path: Path, between: str, change: str) -> None:
    body = ended("Not ", change=change) + between + ended("later ", change=change) + between + p("than") + p("May")
    assert read(tmp_path, body).text == "Not later than\nMay\n"


def test_an_empty_paragraph_is_the_next_one_too(tmp_path: Path) -> None:
    assert read(tmp_path, f"{ended('first')}<w:p/>{p('second')}").text == "first\nsecond\n"


def test_joined_paragraphs_have_one_number(tmp_path: Path) -> None:
    listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    body = item(0, "One") + ended("Two ", listed) + item(0, "and a half") + item(0, "Three") + ended("end", listed)
    words = read(tmp_path, body, numbering=NUMBERING).text
    assert words == "1. One\n2. Two and a half\n3. Three\nend\n"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (row("a", "1") + row("b", "2"), "Fees\tas below\n\na\t1\nb\t2\n\n\tor more\tend\nnext\n"),
        (row("a", "1"), "Fees\tas below a 1 or more\tend\nnext\n"),
        (row("a") + row("b"), "Fees\tas below a b or more\tend\nnext\n"),
    ],
    ids=["rows", "one row", "one column"],
)
def test_a_table_in_a_cell_keeps_its_rows(tmp_path: Path, inner: str, text: str) -> None:
    cells = ("Fees", "as below", "end")
    outer = "".join(f"<w:tc>{p(cell)}</w:tc>" for cell in cells).replace(
        p("as below"), f"{p('as below')}<w:tbl>{inner}</w:tbl>{p('or more')}"
    )
    reading = read(tmp_path, f"<w:tbl><w:tr>{outer}</w:tr></w:tbl>{p('next')}")
    assert reading.text == text
    tables = [reading.text[place.start : place.end] for place in reading.places if place.kind == "table"]
    assert tables == [part.removesuffix("\nnext\n").strip("\n") for part in text.split("\n\n")]


def test_a_table_in_the_last_cell_ends_the_row(tmp_path: Path) -> None:
    inner = f"<w:tbl>{row('a', '1')}{row('b', '2')}</w:tbl>"
    cells = f"<w:tc>{p('Fees')}</w:tc><w:tc>{inner}<w:p/></w:tc>"
    reading = read(tmp_path, f"<w:tbl><w:tr>{cells}</w:tr>{row('Term', 'a year')}</w:tbl>")
    assert reading.text == "Fees\n\na\t1\nb\t2\n\nTerm\ta year\n"

"""PDF: pages in order, the outline, passwords, claims that are not true."""

from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from tasks.errors import Damaged, PasswordProtected
from tasks.reading.pdf import document, reader
from tests.tasks.reading.pdf import pdfs


def pages(path: Path, *texts: str) -> Path:
    """A PDF with these texts on its pages, and an outline."""
    canvas = Canvas(str(path), A4, pageCompression=1)
    for number, text in enumerate(texts):
        canvas.bookmarkPage(str(number))
        canvas.addOutlineEntry(f"Chapter {number + 1}", str(number))
        for line, words in enumerate(text.split("\n")):
            canvas.drawString(72, 700 - 20 * line, words)
        canvas.showPage()
    canvas.save()
    return path


def test_pages_come_in_order_with_the_outline_at_the_end(tmp_path: Path) -> None:
    reading = reader.read(pages(tmp_path / "a.pdf", "Page one\nof two", "Page two"))
    assert reading.text == "Page one\nof two\n\fPage two\nChapter 1\nChapter 2\n"
    assert [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places[1:]] == [
        ("page", "1", "Page one\nof two\n"),
        ("page", "2", "Page two\n"),
    ]
    assert reading.warnings == []


def test_a_pdf_in_memory_and_one_read_from_its_file_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pages(tmp_path / "a.pdf", "Page one", "Page two")
    whole = reader.read(path)
    assert reader.read(path.read_bytes()) == whole
    monkeypatch.setattr(document, "READ_AT_ONCE", 0)
    assert reader.read(path) == whole


def test_a_page_of_more_text_than_the_buffer_holds_is_whole(tmp_path: Path) -> None:
    lines = [f"line {number} of a long page" for number in range(3_000)]
    content = b"BT /F1 2 Tf 3 TL 10 9990 Td %s ET" % b" ".join(b"(%s) ' " % line.encode() for line in lines)
    objects = pdfs.one_page(b"")
    objects[3] = pdfs.stream(content)
    objects[2] = objects[2].replace(b"[0 0 612 792]", b"[0 0 612 10000]")
    (tmp_path / "a.pdf").write_bytes(pdfs.pdf(objects))
    assert reader.read(tmp_path / "a.pdf").text.split("\n")[:-1] == lines


def test_an_outline_that_runs_in_a_circle_ends() -> None:
    objects = pdfs.one_page(
        b"Only page",
        b"<< /First 7 0 R >>",
        b"<< /Title (One) /Next 8 0 R /First 9 0 R >>",
        b"<< /Title (Two) /Next 7 0 R >>",
        b"<< /Title (Below one) /First 7 0 R >>",
        catalog=b"/Outlines 6 0 R",
    )
    assert reader.read(pdfs.pdf(objects)).text == "Only page\nOne\nBelow one\nTwo\n"


def test_a_paragraph_that_is_a_title_of_the_outline_comes_once(tmp_path: Path) -> None:
    lines = (
        "No Publicity. Neither party makes any announcement on this",
        "Agreement without the other's consent, but as",
    )
    clause = f"{' '.join(lines)} applicable law requires."
    elsewhere = clause.replace("requires", "forbids")
    canvas = Canvas(str(tmp_path / "a.pdf"), A4)
    for title in ("Agreement", clause, elsewhere):
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title)
    for line, words in enumerate((f"14.1 {lines[0]}", lines[1], "applicable law requires.")):
        canvas.drawString(72, 700 - 14 * line, words)
    canvas.save()
    assert reader.read(tmp_path / "a.pdf").text.splitlines()[3:] == ["Agreement", elsewhere]


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256"])
def test_an_empty_password_opens_silently_and_another_is_asked_for(tmp_path: Path, algorithm: str) -> None:
    plain = pages(tmp_path / "a.pdf", "Within")
    for name, password in (("open.pdf", ""), ("shut.pdf", "secret")):
        writer = PdfWriter(clone_from=plain)
        writer.encrypt(password, "owner", algorithm=algorithm)
        writer.write(tmp_path / name)
    reading = reader.read(tmp_path / "open.pdf")
    assert reading.text.startswith("Within\n")
    assert reading.warnings == []
    with pytest.raises(PasswordProtected, match="password"):
        reader.read(tmp_path / "shut.pdf")


def test_a_page_tree_that_runs_in_a_circle_ends() -> None:
    objects = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1000000 /Kids [2 0 R 2 0 R] >>"
    with pytest.raises(Damaged):
        reader.read(pdfs.pdf(objects))


def test_pages_that_are_lost_are_named() -> None:
    objects = pdfs.one_page(b"Only page")
    kids = b" ".join(b"%d 0 R" % number for number in (3, *range(6, 505)))
    objects[1] = b"<< /Type /Pages /Count 500 /Kids [%s] >>" % kids
    reading = reader.read(pdfs.pdf(objects))
    assert reading.text == "Only page\n"
    assert "pages 2–500 could not be read" in reading.warnings[-1]


@pytest.mark.nightly
@pytest.mark.slow
def test_one_page_shown_a_million_times_is_a_bounded_text() -> None:
    objects = pdfs.one_page(b"Again")
    objects[1] = b"<< /Type /Pages /Count 1000000 /Kids [%s] >>" % (b"3 0 R " * 1_000_000)
    reading = reader.read(pdfs.pdf(objects))
    assert reading.text.count("Again") == 100_000
    assert "up to page 100000 of 1000000" in reading.warnings[0]


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\nnothing", b"\0" * 5000, b"<html>not found</html>"])
def test_what_is_no_pdf_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(Damaged):
        reader.read(tmp_path / "a.pdf")


def test_pypdf_is_asked_where_pdfium_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Damaged("PDFium gave up.")

    path = pages(tmp_path / "a.pdf", "Second opinion")
    assert PdfReader(path).pages[0].extract_text().strip() == "Second opinion"
    monkeypatch.setattr(reader, "PdfDocument", refuse)
    reading = reader.read(path)
    assert reading.text.startswith("Second opinion")
    assert "second reader" in reading.warnings[0]

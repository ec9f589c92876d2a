"""PDF: pages, notes, form values, outline; repairs, passwords and scans."""

from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Text
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from tasks.documents.extract.pages import mended
from tasks.documents.extract.readers import pdf
from tasks.errors import Damaged, PasswordProtected


def pages(path: Path, *texts: str, form: bool = False) -> Path:
    """A PDF with these texts on its pages; "" is a page with a picture on it alone."""
    canvas = Canvas(str(path), A4, pageCompression=1)
    for number, text in enumerate(texts):
        canvas.bookmarkPage(str(number))
        canvas.addOutlineEntry(f"Chapter {number + 1}", str(number))
        for line, words in enumerate(text.split("\n")):
            canvas.drawString(72, 700 - 20 * line, words)
        if not text:
            picture = path.with_suffix(".ppm")
            picture.write_bytes(b"P6 2 2 255 " + bytes(range(12)))
            canvas.drawImage(str(picture), 10, 10, 500, 700)
        if form:
            canvas.acroForm.textfield(name="signatory", value="Ada Alpha", x=72, y=500)
        canvas.showPage()
    canvas.save()
    return path


def hand_written(*objects: bytes) -> bytes:
    """A PDF of these objects, numbered from 1, without table or trailer."""
    return b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in enumerate(objects, 1))


def test_pages_come_in_order_with_the_outline_at_the_end(tmp_path: Path) -> None:
    reading = pdf.read(pages(tmp_path / "a.pdf", "Page one\nof two", "Page two"))
    assert reading.text == "Page one\nof two\n\fPage two\nChapter 1\nChapter 2\n"
    assert [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places] == [
        ("page", "1", "Page one\nof two\n"),
        ("page", "2", "Page two\n"),
    ]
    assert reading.warnings == []


def test_form_values_and_notes_stand_on_their_page_once(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=pages(tmp_path / "a.pdf", "Signed by", "Next", form=True))
    writer.add_annotation(0, Text(rect=(50, 550, 200, 650), text="Ask for the original.", open=True))
    writer.add_annotation(0, FreeText(text="Stamped 2024", rect=(50, 350, 200, 450)))
    writer.write(tmp_path / "b.pdf")
    text = pdf.read(tmp_path / "b.pdf").text
    first = text.partition("\f")[0]
    for words in ("Signed by", "Ada Alpha", "Ask for the original.", "Stamped 2024"):
        assert first.count(words) == 1


def test_a_word_split_at_a_line_s_end_is_mended() -> None:
    assert mended("indemni\ufffe\r\nfication and war\x02ranty") == "indemnification and warranty"


def test_a_scan_is_an_empty_text_with_a_warning(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    (tmp_path / "a.ppm").write_bytes(b"P6 2 2 255 " + bytes(range(12)))
    for _ in range(3):
        canvas.drawImage(str(tmp_path / "a.ppm"), 10, 10, 500, 700)
        canvas.showPage()
    canvas.save()
    reading = pdf.read(tmp_path / "a.pdf")
    assert (reading.text, reading.places) == ("", [])
    assert "seems to be a scan: no text was found" in reading.warnings[0]


def test_the_pages_that_are_scans_are_named(tmp_path: Path) -> None:
    reading = pdf.read(pages(tmp_path / "a.pdf", "words", "", "", "words", ""))
    assert "pages 2–3, 5." in reading.warnings[0]
    assert reading.text.count("\f") == 4


def test_an_empty_password_opens_silently_and_another_is_asked_for(tmp_path: Path) -> None:
    plain = pages(tmp_path / "a.pdf", "Within")
    for name, password in (("open.pdf", ""), ("shut.pdf", "secret")):
        writer = PdfWriter(clone_from=plain)
        writer.encrypt(password, "owner", algorithm="AES-256")
        writer.write(tmp_path / name)
    reading = pdf.read(tmp_path / "open.pdf")
    assert reading.text.startswith("Within\n")
    assert reading.warnings == []
    with pytest.raises(PasswordProtected, match="password"):
        pdf.read(tmp_path / "shut.pdf")


def test_a_pdf_without_table_and_trailer_is_repaired(tmp_path: Path) -> None:
    path = pages(tmp_path / "a.pdf", "Saved from the wreck")
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"xref\n0")])
    reading = pdf.read(path)
    assert "Saved from the wreck" in reading.text
    assert "rebuilt" in reading.warnings[0]


def test_a_page_tree_that_runs_in_a_circle_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    objects = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1000000 /Kids [2 0 R 2 0 R] >>"
    path.write_bytes(hand_written(*objects) + b"trailer\n<< /Size 3 /Root 1 0 R >>\n%%EOF")
    with pytest.raises(Damaged):
        pdf.read(path)


def test_pages_that_are_lost_are_named(tmp_path: Path) -> None:
    content = b"BT /F1 12 Tf 72 700 Td (Only page) Tj ET"
    path = tmp_path / "a.pdf"
    path.write_bytes(
        hand_written(
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 500 /Kids [%s] >>"
            % b" ".join(b"%d 0 R" % number for number in (3, *range(5, 504))),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        )
        + b"trailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF"
    )
    reading = pdf.read(path)
    assert reading.text.startswith("Only page\n")
    assert "pages 2–500 could not be read" in reading.warnings[-1]


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\nnothing", b"\0" * 5000, b"<html>not found</html>"])
def test_what_is_no_pdf_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    with pytest.raises(Damaged):
        pdf.read(path)


def test_pypdf_is_asked_where_pdfium_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Damaged("PDFium gave up.")

    path = pages(tmp_path / "a.pdf", "Second opinion")
    assert PdfReader(path).pages[0].extract_text().strip() == "Second opinion"
    monkeypatch.setattr(pdf, "_reading", refuse)
    reading = pdf.read(path)
    assert reading.text.startswith("Second opinion")
    assert "second reader" in reading.warnings[0]

"""Pages that are pictures: recognised where Tesseract is there, named where not."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.ocr import recognise
from tasks.reading.pdf import reader
from tests.tasks.reading.ocr import scans
from tests.tasks.reading.ocr.scans import CLAUSE, needs_tesseract


@pytest.fixture
def tesseract() -> Iterator[None]:
    recognise.configure("eng")
    yield
    recognise.configure(None)


def pages(*drawn: tuple[Image.Image | None, str]) -> bytes:
    """A PDF of pages with a picture all over them or none, and a text."""
    out = BytesIO()
    canvas = Canvas(out, A4)
    for picture, text in drawn:
        if picture is not None:
            canvas.drawImage(ImageReader(picture), 0, 0, *A4)
        canvas.drawString(40, 20, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def blank() -> Image.Image:
    return Image.new("L", (300, 400), 255)


def test_without_recognition_a_scan_is_an_empty_text_with_a_warning() -> None:
    reading = reader.read(pages((blank(), ""), (blank(), "")))
    assert (reading.text, reading.places, reading.recognised) == ("", [], False)
    assert reading.warnings == [f"This PDF seems to be a scan: no text was found. {recognise.ADVICE}"]


def test_without_recognition_the_pages_that_are_scans_are_named() -> None:
    reading = reader.read(pages((None, "words"), (blank(), ""), (blank(), ""), (None, "words"), (blank(), "")))
    assert "pages 2–3, 5." in reading.warnings[0]
    assert reading.text.count("\f") == 4


def test_an_empty_page_and_a_page_of_text_with_a_picture_are_no_scans() -> None:
    reading = reader.read(
        pages((None, ""), (blank(), "A caption that is long enough to be the text of the page. " * 3))
    )
    assert (reading.warnings, reading.recognised) == ([], None)


@needs_tesseract
@pytest.mark.usefixtures("tesseract")
def test_a_scan_is_recognised_on_its_page() -> None:
    reading = reader.read(pages((None, "Cover"), (scans.picture(CLAUSE), "")))
    assert "The lender may call the whole of the loan" in reading.text
    assert [(place.kind, place.label) for place in reading.places[1:]] == [("page", "1"), ("page", "2"), ("ocr", "eng")]
    assert reading.text[reading.places[2].start : reading.places[2].end].startswith("The lender")
    assert reading.warnings == ["Scans, whose text was recognised (OCR) and may be wrong: page 2."]
    assert reading.recognised is True


@needs_tesseract
@pytest.mark.usefixtures("tesseract")
def test_a_scan_with_a_stamp_is_recognised_and_the_stamp_read_once() -> None:
    reading = reader.read(pages((scans.picture(CLAUSE), "ABC-000123")))
    assert reading.text.startswith("ABC-000123\n")
    assert "with a notice of thirty days in writing" in reading.text
    assert reading.text.count("ABC-000123") == 1


@needs_tesseract
@pytest.mark.usefixtures("tesseract")
def test_a_picture_without_words_is_named() -> None:
    reading = reader.read(pages((blank(), "")))
    assert reading.warnings == ["Pictures in which text recognition (OCR) found no text: page 1."]
    assert reading.recognised is True


@needs_tesseract
def test_what_there_was_no_time_for_is_named_and_the_rest_is_kept() -> None:
    recognise.configure("eng", seconds=0)
    try:
        reading = reader.read(pages((None, "Cover"), (scans.picture(CLAUSE), ""), (scans.picture(CLAUSE), "")))
    finally:
        recognise.configure(None)
    assert reading.text.startswith("Cover\n")
    assert "time was up" in reading.warnings[0]
    assert "pages 2–3." in reading.warnings[0]
    assert reading.recognised is False


def test_a_picture_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(scans.program(tmp_path / "bin", "exit 1")), prepend=":")
    recognise.configure("eng")
    try:
        reading = reader.read(pages((blank(), "")))
    finally:
        recognise.configure(None)
    assert reading.warnings == ["Pictures that text recognition (OCR) failed on: page 1."]

"""Scans with a hidden layer of text: a sample of their pages is compared with what recognition reads."""

from collections.abc import Sequence

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.ocr.page import FilledReading, RecognisedPage, RecognisedWord, ScanState, fill, scanned_pages
from tasks.reading.pdf import reader
from tasks.reading.text_writer import Reading
from tests.written import saved

LINES = ("The lender may call the whole of the loan.", "Interest of 4.75 per cent is due each quarter.") * 3
FIGURES = ("Revenue 812400 790100 778300", "Costs 611200 598700 590100") * 3
MISREAD = ("Tlie 1ender rnay ca11 tlie wlio1e oftlie 1oan.", "lnterest of 4.15 per ceut is due eacli quaiter.") * 3
MISREAD_FIGURES = ("Revenue 872400 190100 118300", "Costs 671200 593700 590700") * 3


def layered(pages: Sequence[Sequence[str]], *, mode: int = 3, has_picture: bool = True) -> Reading:
    """What the reader gives of pages with these lines, without ink unless `mode` says otherwise, over a picture."""
    canvas = Canvas("", A4)
    for lines in pages:
        if has_picture:
            canvas.drawImage(ImageReader(Image.new("L", (200, 280), 250)), 0, 0, *A4)
        text = canvas.beginText(72, 700)
        text.setTextRenderMode(mode)
        for line in lines:
            text.textLine(line)
        canvas.drawText(text)
        canvas.showPage()
    return reader.read(saved(canvas))


def recognised(lines: Sequence[str]) -> RecognisedPage:
    words = [
        RecognisedWord(word, 100 + 60 * column, 100 + 30 * row, 150 + 60 * column, 120 + 30 * row, 0.97, row)
        for row, line in enumerate(lines)
        for column, word in enumerate(line.split())
    ]
    return RecognisedPage(ScanState.READ, "rapidocr", 1000, 1400, 0, words)


def finish(reading: Reading, page: RecognisedPage) -> tuple[FilledReading, int]:
    """The reading once nothing waits, if each page says that, and how many pages were recognised."""
    pages: dict[str, RecognisedPage] = {}
    while (filled := fill(reading, pages)).waiting:
        pages |= dict.fromkeys(filled.waiting, page)
    return filled, len(pages)


@pytest.mark.parametrize("lines", [LINES, FIGURES], ids=["words", "figures"])
def test_a_layer_that_says_what_a_page_shows_stays(lines: Sequence[str]) -> None:
    reading = layered([lines] * 9)
    filled, count = finish(reading, recognised(lines))
    assert (filled.reading.text, filled.reading.warnings, count) == (reading.text, [], 1)
    assert (filled.scanned, filled.unread, scanned_pages(filled.reading)) == (0, 0, [])


@pytest.mark.parametrize(("lines", "misread"), [(LINES, MISREAD), (FIGURES, MISREAD_FIGURES)], ids=["words", "figures"])
def test_a_layer_that_was_misread_is_recognised_anew(lines: Sequence[str], misread: Sequence[str]) -> None:
    filled, count = finish(layered([misread] * 5), recognised(lines))
    assert "".join(filled.reading.text.split()) == "".join("".join(lines).split()) * 5
    assert (filled.scanned, count) == (5, 5)
    (warning,) = filled.reading.warnings
    assert "hidden text that is not what they show" in warning
    assert "pages 1–5" in warning


def test_without_recognition_the_layer_stays_and_nothing_is_said() -> None:
    reading = layered([LINES] * 3)
    filled = fill(reading, {}, "DILIGENCE_OCR is off.")
    assert (filled.reading.text, filled.reading.warnings, filled.unread) == (reading.text, [], 0)


def test_text_in_ink_over_a_picture_is_no_hidden_layer() -> None:
    assert scanned_pages(layered([LINES], mode=0)) == []


def test_text_without_ink_where_no_picture_is_gets_a_warning() -> None:
    reading = layered([LINES], has_picture=False)
    assert scanned_pages(reading) == []
    assert reading.text == f"[hidden: {' '.join(LINES)}]\n"
    assert "Words that a reader cannot see" in reading.warnings[0]

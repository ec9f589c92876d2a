"""Pages of PDFs drawn with the boxes of quotations: what is printed lies in the box, whatever the page is like."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from storage.texts import Outcome, StoredText
from tasks.evidence import page as evidence_page
from tasks.evidence.boxes import Box, BoxedPage
from tasks.evidence.company import find_page_parts
from tasks.evidence.page import draw_page
from tasks.reading import read_document
from tasks.reading.ocr import tesseract
from tasks.reading.ocr.page import WordBox
from tasks.reading.ocr.recognise import Engines, draw_pdf_page, recognise
from tasks.reading.pdf.document import PdfDocument
from tests.cases import cases
from tests.tasks.evidence.test_boxes import content
from tests.tasks.reading.ocr import scans
from tests.tasks.reading.ocr.scans import CLAUSE, needs_tesseract
from tests.tasks.reading.pdf import east_asian, pdfs
from tests.written import saved

LARGEST = 150_000
SHADE = 140
"""Darker than that is print."""


class Drawn:
    """The pages that a quotation stands on, drawn."""

    def __init__(
        self, folder: Path, data: bytes, quotation: str, occurrence: int = 0, recognised: Sequence[WordBox] = ()
    ) -> None:
        reading = read_document(data, ".pdf")
        places = [(*place,) for place in reading.places]
        text = StoredText(content_hash="", reader="pdf-1", outcome=Outcome.READ, text=reading.text, places=places)
        start = -1
        for _ in range(occurrence + 1):
            start = text.text.index(quotation, start + 1)
        self.pages: list[BoxedPage] = []
        self.pictures: list[Path] = []
        with PdfDocument(data) as pdf:
            for part in find_page_parts(text, start, start + len(quotation)):
                stem = folder / f"{part.page}"
                spans = [(part.start, part.end)]
                page = draw_page(pdf, part.page, part.text, spans, str(stem), recognised if part.is_scan else ())
                assert page.is_drawn
                (picture,) = folder.glob(f"{stem.name}.*")
                assert picture.stat().st_size <= LARGEST
                self.pages.append(page)
                self.pictures.append(picture)

    @property
    def boxes(self) -> list[Box]:
        """Those of the only page."""
        (page,) = self.pages
        return page.boxes[0]

    def print_outside(self, boxes: Sequence[Box], margin: float = 1.5) -> tuple[int, int]:
        """How many dots of the only page's picture are print in the boxes, and how many besides them."""
        (page,) = self.pages
        with Image.open(self.pictures[0]) as picture:
            grey = picture.convert("L").point([255 * (value < SHADE) for value in range(256)])
        scale = grey.width / page.width
        total = grey.histogram()[255]
        painter = ImageDraw.Draw(grey)
        for box in boxes:
            sides = (box.left - margin, box.top - margin, box.right + margin, box.bottom + margin)
            painter.rectangle([scale * side for side in sides], fill=0)
        outside = grey.histogram()[255]
        return total - outside, outside


def one_page(*lines: tuple[int, int, str], entries: bytes = b"") -> bytes:
    objects = pdfs.one_page(b"", entries=entries)
    objects[3] = content(*lines)
    return pdfs.pdf(objects)


@cases("turn", [0, 90, 180, 270])
@cases("crop", [b"", b"/CropBox [50 500 500 750]"])
def test_the_print_of_a_turned_or_cropped_page_lies_in_its_box(tmp_path: Path, turn: int, crop: bytes) -> None:
    words = "The only words of this page."
    drawn = Drawn(tmp_path, one_page((172, 600, words), entries=b"/Rotate %d %s" % (turn, crop)), words)
    assert len(drawn.boxes) == 1
    inside, outside = drawn.print_outside(drawn.boxes)
    assert inside > 200
    assert outside == 0


def test_a_page_is_a_scan_where_its_own_words_were_recognised() -> None:
    places = [
        (0, 4, "page", "1"),
        (4, 8, "page", "2"),
        (4, 8, "ocr", ""),
        (8, 12, "page", "3"),
        (0, 12, "heading", "2024"),
    ]
    text = StoredText(content_hash="", reader="pdf-1", outcome=Outcome.READ, text="One\fTwo\fSix.", places=places)
    assert [part.is_scan for part in find_page_parts(text, 0, 12)] == [False, True, False]


@pytest.mark.parametrize(("width", "height"), [(0.0, 700.0), (500.0, 0.0)])
def test_a_page_without_a_side_has_no_picture(width: float, height: float) -> None:
    assert evidence_page.draw_picture(None, width, height) is None


def test_words_that_go_on_in_the_next_column_are_boxed_in_both(tmp_path: Path) -> None:
    left = [(72, 700 - 14 * row, f"Left column, row {row} of the first half,") for row in range(12)]
    right = [(330, 700 - 14 * row, f"right column, row {row} of the second half,") for row in range(12)]
    drawn = Drawn(tmp_path, one_page(*left, *right), "row 11 of the first half,\nright column, row 0")
    first, second = drawn.boxes
    assert first.right < 330 < second.left + 3
    assert first.top > second.top
    assert drawn.print_outside(drawn.boxes)[0] > 200


def test_words_on_two_pages_are_boxed_on_both(tmp_path: Path) -> None:
    canvas = Canvas("", (612, 792))
    canvas.drawString(72, 60, "The loan is repaid when the borrower")
    canvas.showPage()
    canvas.drawString(72, 740, "comes under the control of another company.")
    drawn = Drawn(tmp_path, saved(canvas), "when the borrower\n\fcomes under the control")
    assert [(page.number, len(page.boxes[0])) for page in drawn.pages] == [(1, 1), (2, 1)]
    (below,), (above,) = (page.boxes[0] for page in drawn.pages)
    assert below.top > 700
    assert above.bottom < 100


def test_a_header_of_every_page_is_boxed_on_the_page_that_is_quoted(tmp_path: Path) -> None:
    canvas = Canvas("", (612, 792))
    for number in range(3):
        canvas.drawString(72, 740, "Annual report of Alpha plc")
        canvas.drawString(72, 400, f"Body of page {number} says: Annual report of Alpha plc")
        canvas.showPage()
    data = saved(canvas)
    header, body = (Drawn(tmp_path, data, "Annual report of Alpha plc", occurrence) for occurrence in (2, 3))
    assert [page.number for page in (*header.pages, *body.pages)] == [2, 2]
    assert header.boxes[0].bottom < 100
    assert body.boxes[0].top > 300


def test_a_page_of_three_by_five_metres_is_drawn_small_and_boxed(tmp_path: Path) -> None:
    canvas = Canvas("", (8504, 14173))
    canvas.setFont("Helvetica", 300)
    canvas.drawString(1000, 9000, "A very large plan")
    drawn = Drawn(tmp_path, saved(canvas), "A very large plan")
    inside, outside = drawn.print_outside(drawn.boxes, margin=20)
    assert inside > 200
    assert outside == 0
    with Image.open(drawn.pictures[0]) as picture:
        assert picture.width * picture.height <= 2_010_000


def crowded() -> bytes:
    """A page with 100,000 glyphs, in lines of which each has words of its own."""
    rows = [(20, 780 - 2 * row, f"row {row:03} " + "x" * 243) for row in range(400)]
    objects = pdfs.one_page(b"")
    objects[3] = pdfs.stream(b"".join(b"BT /F1 2 Tf %d %d Td (%s) Tj ET\n" % (x, y, t.encode()) for x, y, t in rows))
    return pdfs.pdf(objects)


def test_a_page_of_a_hundred_thousand_glyphs_is_boxed(tmp_path: Path) -> None:
    drawn = Drawn(tmp_path, crowded(), "row 390 xxx"[:7] + " " + "x" * 243)
    (box,) = drawn.boxes
    assert box.bottom == pytest.approx(792, abs=5)
    assert box.bottom - box.top < 3


def test_of_a_page_with_more_glyphs_than_are_looked_at_no_place_is_certain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = one_page((72, 700, "Said here, and said again."), (72, 600, "Said here, and no more."))
    monkeypatch.setattr(evidence_page, "_MOST_GLYPHS", 25)
    assert Drawn(tmp_path, data, "Said here").boxes == []


def test_vertical_columns_have_a_box_a_column(tmp_path: Path) -> None:
    columns = east_asian.lines("Japan1", "UniJIS-UCS2-V")
    drawn = Drawn(tmp_path, east_asian.pdf("Japan1", "UniJIS-UCS2-V"), columns[2])
    (box,) = drawn.boxes
    assert box.right - box.left < 20
    assert box.bottom - box.top > 80
    assert box.left == pytest.approx(500 - 60, abs=10)


def test_words_printed_twice_to_look_bold_have_one_box(tmp_path: Path) -> None:
    words = "Bold by being printed twice"
    drawn = Drawn(tmp_path, one_page((72, 700, words), (72, 700, words), (72, 600, "Plain words.")), words)
    (box,) = drawn.boxes
    assert box.bottom < 100


def test_characters_beyond_sixteen_bits_are_boxed(tmp_path: Path) -> None:
    cmap = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <56> <D835DC49> endbfchar"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"The voltage V is at most five", pdfs.stream(cmap), font=font)
    drawn = Drawn(tmp_path, pdfs.pdf(objects), "voltage \U0001d449 is")
    assert len(drawn.boxes) == 1


def test_ligatures_that_only_their_names_tell_are_boxed(tmp_path: Path) -> None:
    differences = b"<< /Type /Encoding /Differences [30 /f_l /f_i 36 /dollar] >>"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding %s >>" % differences
    drawn = Drawn(
        tmp_path, pdfs.pdf(pdfs.one_page(rb"Con\037rmed by the of\037ce", font=font)), "Confirmed by the office"
    )
    assert len(drawn.boxes) == 1


def test_the_letters_of_an_arabic_ligature_are_boxed(tmp_path: Path) -> None:
    cmap = b"1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <61> <06440627> <62> <062E> endbfchar"
    font = b"<< /Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"bbabb bb", pdfs.stream(b"begincmap " + cmap + b" endcmap"), font=font)
    drawn = Drawn(tmp_path, pdfs.pdf(objects), "خخلاخخ")
    assert len(drawn.boxes) == 1


def test_noise_is_no_larger_than_other_pictures(tmp_path: Path) -> None:
    chance = random.Random(1)
    noise = Image.frombytes("RGB", (600, 800), chance.randbytes(3 * 600 * 800))
    canvas = Canvas("", (612, 792))
    canvas.drawImage(ImageReader(noise), 0, 0, 612, 700)
    canvas.drawString(72, 740, "Words above a picture")
    assert len(Drawn(tmp_path, saved(canvas), "Words above a picture").boxes) == 1  # and Drawn looks at the size


@needs_tesseract
@pytest.mark.parametrize("turned", [0, pytest.param(180, marks=pytest.mark.slow)])
def test_the_words_of_a_scan_are_boxed_where_they_are_recognised(
    tmp_path: Path, turned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", "tesseract")
    data = scans.scan(tmp_path / "scan.pdf", [scans.picture(CLAUSE, turned=turned)]).read_bytes()
    picture = draw_pdf_page(data, 0)
    assert picture is not None
    page = recognise(picture, Engines("eng", rapidocr=False, program=tesseract.program()))
    drawn = Drawn(tmp_path, data, "interest of 4.75 per cent is due each quarter.", recognised=page.boxes())
    (box,) = drawn.boxes
    _, height = 595, 842
    middle = (box.top + box.bottom) / 2
    line = height - 740 + 36 - 4  # the third line's middle
    assert middle == pytest.approx(height - line if turned else line, abs=4)
    assert drawn.print_outside(drawn.boxes)[0] > 200


def test_a_scan_that_is_not_recognised_again_is_not_boxed(tmp_path: Path) -> None:
    data = scans.scan(tmp_path / "scan.pdf", [scans.picture(CLAUSE)]).read_bytes()
    with PdfDocument(data) as pdf:
        assert draw_page(pdf, 1, CLAUSE, [(0, 10)], None).boxes == [[]]

"""Pages that are pictures: what was recognised stands on its page, what was not is named."""

from dataclasses import replace
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from io import BytesIO

from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.embedded import read_with_embedded
from tasks.reading.ocr.page import FilledReading, RecognisedPage, RecognisedWord, ScanState, fill, scanned_pages
from tasks.reading.pdf import reader
from tests.cases import cases
from tests.tasks.reading.ocr import scans
from tests.tasks.reading.ocr.scans import CLAUSE


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


WORDS = RecognisedPage(ScanState.READ, "rapidocr", 100, 100, 0, [RecognisedWord("Loan", 10, 10, 40, 20, 0.914, 0)])
EMPTY = RecognisedPage(ScanState.EMPTY, "rapidocr", 100, 100)
BLANK = RecognisedPage(ScanState.EMPTY, "rapidocr")
LATE = RecognisedPage(ScanState.LATE, "rapidocr")
FAILED = RecognisedPage(ScanState.FAILED, "rapidocr")


def filled(data: bytes, **recognised: RecognisedPage) -> FilledReading:
    """A PDF with what was recognised, by "page2"."""
    pages = {name.removeprefix("page"): page for name, page in recognised.items()}
    return fill(reader.read(data), pages, "Ask again.")


def test_scans_that_nobody_has_read_are_named_and_counted() -> None:
    found = filled(pages((None, "words"), (blank(), ""), (blank(), ""), (None, "words"), (blank(), "")), page2=WORDS)
    assert (found.scanned, found.unread, found.waiting) == (3, 2, ["3", "5"])
    assert found.reading.pages == 5
    assert found.reading.warnings[-1] == (
        "3 of 5 pages were read. Pages that were not recognised (OCR): pages 3, 5. Ask again."
    )
    assert found.reading.text == "words\n\fLoan\n\f\fwords\n\f"


def test_a_document_of_scans_alone_has_no_text_before_they_are_read() -> None:
    found = filled(pages((blank(), ""), (blank(), "")))
    assert (found.reading.text, found.reading.places) == ("", [])


def test_an_empty_page_and_a_page_of_text_with_a_picture_are_no_scans() -> None:
    found = filled(pages((None, ""), (blank(), "A caption that is long enough to be the text of the page. " * 3)))
    assert (found.reading.warnings, found.scanned) == ([], 0)


def test_a_scan_is_recognised_on_its_page() -> None:
    reading = filled(pages((None, "Cover"), (scans.picture(CLAUSE), "")), page2=WORDS).reading
    assert [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places[1:]] == [
        ("page", "1", "Cover\n"),
        ("page", "2", "Loan\n"),
        ("ocr", "91 %", "Loan\n"),
    ]
    assert reading.warnings == ["Scans, whose text was recognised (OCR) and may be wrong: page 2."]


def test_a_scan_with_a_stamp_is_recognised_and_the_stamp_read_once() -> None:
    stamp = RecognisedWord("ABC-000123", 10, 80, 60, 90, 0.9, 1)
    page = replace(WORDS, words=[*WORDS.words, stamp])
    assert filled(pages((scans.picture(CLAUSE), "ABC-000123")), page1=page).reading.text == "ABC-000123\nLoan\n"
    found = filled(pages((scans.picture(CLAUSE), "ABC-000123")), page1=replace(WORDS, words=[stamp]))
    assert (found.reading.text, found.reading.warnings) == ("ABC-000123\n", [])


def outlines(text: str, sizes: int, *, count: int = 240, height: float = 8, corners: int = 9, value: str = "") -> bytes:
    """A page with words, and with shapes of so many widths beside each other, as letters are drawn as outlines."""
    out = BytesIO()
    canvas = Canvas(out, A4)
    canvas.drawString(40, 20, text)
    for number in range(count):
        x, y = 40 + 12 * (number % 40), 700 - 2 * height * (number // 40)
        path = canvas.beginPath()
        path.moveTo(x, y)
        for corner in range(1, corners):
            path.lineTo(x + (4 + 0.2 * (number % sizes)) * corner / corners, y + height * (corner % 2))
        path.close()
        canvas.drawPath(path, stroke=0, fill=1)
    if value:
        canvas.acroForm.textfield(name="name", value=value, x=40, y=300, width=500, height=14, fontSize=6)
    canvas.save()
    return out.getvalue()


@cases(
    ("data", "is_scan"),
    [
        (outlines("Form 7, page 2", 30), True),
        (
            outlines("Form 7, page 2", 30, value="Ada Alpha of Long Lane in Oslo " * 5),
            True,
        ),  # values are no words of it
        (outlines("A caption of the page. " * 8, 30), False),  # its words are text
        (outlines("Team", 3), False),  # icons
        (outlines("Sales", 30, corners=4), False),  # bars
        (outlines("Map", 30, height=40), False),
        (outlines("Logo", 30, count=60), False),
    ],
)
def test_a_page_whose_letters_are_drawn_as_shapes_is_a_scan_beside_a_few_words(data: bytes, is_scan: bool) -> None:
    assert [place.label for place in scanned_pages(reader.read(data))] == (["1"] if is_scan else [])


def test_values_of_fields_are_no_text_of_a_scan() -> None:
    out = BytesIO()
    canvas = Canvas(out, A4)
    canvas.drawImage(ImageReader(scans.picture(CLAUSE)), 0, 0, *A4)
    for number in range(5):
        value = f"Ada Alpha of Long Lane {number} in Oslo"
        canvas.acroForm.textfield(name=value, value=value, x=40, y=600 - 40 * number, width=300, height=14, fontSize=8)
    canvas.save()
    assert [place.label for place in scanned_pages(reader.read(out.getvalue()))] == ["1"]


@cases(
    ("page", "unread", "warning"),
    [
        (EMPTY, 0, "Pictures in which text recognition (OCR) found no text: page 1."),
        (BLANK, 0, ""),
        (FAILED, 1, "Pictures that text recognition (OCR) failed on: page 1."),
        (LATE, 1, "Scans that text recognition (OCR) took too long for (DILIGENCE_OCR_PAGE_TIMEOUT): page 1."),
    ],
)
def test_what_became_of_a_page_is_told(page: RecognisedPage, unread: int, warning: str) -> None:
    found = filled(pages((blank(), "")), page1=page)
    assert (found.unread, found.waiting, found.has_failures) == (unread, [], bool(unread))
    assert found.reading.warnings == [*filter(None, [warning]), *["0 of 1 pages were read."] * unread]


def test_a_page_that_was_read_in_part_counts_and_is_told() -> None:
    found = filled(pages((blank(), "")), page1=replace(WORDS, state=ScanState.PARTLY))
    assert (found.reading.text, found.unread, found.has_failures) == ("Loan\n", 0, True)
    (warning,) = found.reading.warnings
    assert warning.endswith("RapidOCR failed or cannot be loaded; words may be wrong or missing: page 1.")


def test_the_pages_of_an_attachment_are_told_from_the_hosts() -> None:
    mail = MIMEMultipart()
    mail.attach(MIMEText("The deed is attached."))
    deed = MIMEApplication(pages((blank(), "")), "pdf")
    deed.add_header("Content-Disposition", "attachment", filename="Deed.pdf")
    mail.attach(deed)
    reading = read_with_embedded(mail.as_bytes(), ".eml")
    (scan,) = scanned_pages(reading)
    whole = fill(reading, {scan.label: WORDS}).reading
    assert whole.text.endswith("Embedded document: Deed.pdf\nLoan\n")
    assert "may be wrong: page 1 in “Deed.pdf”." in whole.warnings[-1]

"""Pages whose fonts draw glyphs without saying which characters they are: recognised, or a warning."""

from pathlib import Path

import reportlab
from reportlab.pdfbase.ttfonts import TTFont

from tasks.reading.ocr.page import OFF, RecognisedPage, RecognisedWord, ScanState, fill
from tasks.reading.pdf import defects, reader
from tests.tasks.reading.pdf import pdfs

LINES = ("The annual report of the company", "shows that revenue grew by ten percent")
VERA = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"


def without_names(*, also: str = "", times: int = 1) -> bytes:
    """A page in a font whose glyphs have numbers alone: the lines so often, or one and `also` in Helvetica."""
    face = TTFont("Vera", str(VERA)).face
    known = {character: face.charToGlyph[ord(character)] for line in LINES for character in line}
    widths = b" ".join(b"%d [%d]" % (known[one], face.charWidths[ord(one)]) for one in sorted(known))
    content = [f"BT /F2 12 Tf 60 400 Td ({also}) Tj ET"] if also else []
    for number, line in enumerate(LINES[:1] if also else LINES * times):
        shown = "".join(f"{known[character]:04x}" for character in (line[:5] if also else line))
        content.append(f"BT /F1 14 Tf 60 {700 - 30 * number} Td <{shown}> Tj ET")
    descriptor = (
        b"/Flags 4 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 752 /Descent -271 /CapHeight 737 /StemV 58"
    )
    return pdfs.pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            pdfs.page(4, 5).replace(b"/F1 5 0 R", b"/F1 5 0 R /F2 9 0 R"),
            pdfs.stream("\n".join(content).encode()),
            b"<< /Type /Font /Subtype /Type0 /BaseFont /Vera /Encoding /Identity-H /DescendantFonts [6 0 R] >>",
            b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Vera /DW 600 /W [%s] /CIDToGIDMap /Identity "
            b"/FontDescriptor 7 0 R "
            b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>" % widths,
            b"<< /Type /FontDescriptor /FontName /Vera %s /FontFile2 8 0 R >>" % descriptor,
            pdfs.stream(VERA.read_bytes(), packed=True),
            pdfs.HELVETICA,
        ]
    )


def test_without_recognition_a_page_of_such_glyphs_is_named() -> None:
    found = fill(reader.read(without_names()), {}, OFF)
    assert found.reading.warnings == [
        "The fonts do not name most of the characters, which may be wrong: page 1.",
        "0 of 1 pages were read. Pages that were not recognised (OCR): page 1. DILIGENCE_OCR is off.",
    ]
    assert (found.waiting, found.unread) == (["1"], 1)


def test_a_page_of_such_glyphs_is_recognised_instead() -> None:
    words = [
        RecognisedWord(word, 60 * at, 20 * line, 60 * at + 50, 20 * line + 12, 0.9, line)
        for line, words in enumerate(LINES)
        for at, word in enumerate(words.split())
    ]
    page = RecognisedPage(ScanState.READ, "rapidocr", 600, 100, 0, words)
    reading = fill(reader.read(without_names()), {"1": page}).reading
    assert reading.text.split() == " ".join(LINES).split()
    assert [place.kind for place in reading.places] == ["page", "ocr"]
    assert "recognised (OCR) instead" in reading.warnings[0]


def test_a_few_such_glyphs_are_a_warning_and_the_rest_of_the_page_stays() -> None:
    reading = reader.read(without_names(also="The rest of this page is in a font that names its characters as usual."))
    assert "names its characters as usual" in reading.text
    assert reading.warnings == ["Characters that their fonts do not name are missing or may be wrong: page 1."]


def test_text_that_says_what_was_recognised_is_taken_to_be_right() -> None:
    assert defects.are_confirmed("The annual report 2023", "The annua1 report 2023")
    assert not defects.are_confirmed("7KHDQQXDOUHSRUW", "The annual report")
    assert not defects.are_confirmed("7KHDQQXDOUHSRUW", "")


def test_a_minus_that_its_font_does_not_name_leaves_no_positive_figure() -> None:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [3 /C0] >> >>"
    reading = reader.read(pdfs.pdf(pdfs.one_page(b"Potential (V) \\0030.9393 at rest", font=font)))
    assert reading.text.strip() == "Potential (V) \ufffd0.9393 at rest"
    assert reading.warnings == ["Characters that their fonts do not name are missing or may be wrong: page 1."]

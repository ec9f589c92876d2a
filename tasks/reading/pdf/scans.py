"""Pages of a PDF that are pictures, or draw glyphs without saying which characters they are: recognised, or named.

A page is a scan if it has hardly any text and pictures cover it, or so many shapes that its letters may be drawn.
"""

import ctypes
from enum import Enum
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.language.normalise import clean
from tasks.reading.ocr import recognise
from tasks.reading.pdf import defects
from tasks.reading.pdf.document import PdfDocument
from tasks.reading.places import page_numbers
from tasks.reading.text_writer import Writer

_STAMP: Final = 100
"""Characters that a scan may have as text: a running number or an envelope's name is stamped on many."""

_COVERED: Final = 0.7
"""The share of a stamped page that pictures cover if it is a scan."""

_OUTLINES: Final = 100
"""A page without text that has so many shapes may have its letters drawn."""

_CONFIRMED: Final = 2
"""Pages in a row whose text is what was recognised on them: that of the others is then taken to be right."""

_MOST_OBJECTS: Final = 1_000
"""Objects of a page, and of each group of them, that are looked at."""


class ScanOutcome(Enum):
    """What became of pages that are pictures, or whose characters are not known, in the words of the warning."""

    RECOGNISED = "Scans, whose text was recognised (OCR) and may be wrong: {}."
    LATE = "Scans that were not recognised (OCR), for the time was up (DILIGENCE_DOCUMENT_TIMEOUT): {}."
    FAILED = "Pictures that text recognition (OCR) failed on: {}."
    EMPTY = "Pictures in which text recognition (OCR) found no text: {}."
    UNREAD = "Without text, perhaps scans: {}. " + recognise.ADVICE
    UNKNOWN = "Characters that their fonts do not name are missing or may be wrong: {}."
    UNKNOWN_RECOGNISED = (
        "Text whose characters its fonts do not name was recognised (OCR) instead and may be wrong: {}."
    )
    UNKNOWN_UNREAD = "The fonts do not name most of the characters, which may be wrong: {}. " + recognise.ADVICE


class Scans:
    """Recognises the text of pages that are pictures or do not say what they draw, and warns of what is uncertain."""

    def __init__(self, document: PdfDocument, writer: Writer) -> None:
        self._document = document
        self._writer = writer
        self._pages: dict[ScanOutcome, list[int]] = {}
        self._recognised: dict[int, tuple[str, str]] = {}
        self._confirmed = 0

    def add(self, index: int, page: Any, text: str) -> None:
        """Recognise an open page, if it is a scan; `text` is what it has as text."""
        squeezed = "".join(clean(text).split())
        if len(squeezed) > _STAMP:
            return
        covered, shapes = _drawn(page)
        if covered >= _COVERED if squeezed else covered or shapes >= _OUTLINES:
            outcome = self._outcome(index, squeezed)
            if outcome is not ScanOutcome.EMPTY or not squeezed:
                self._pages.setdefault(outcome, []).append(index + 1)
            self._writer.note_picture(recognised=outcome not in {ScanOutcome.LATE, ScanOutcome.UNREAD})

    def add_unknown(self, index: int) -> None:
        """Warn of a page some of whose characters are not known."""
        self._pages.setdefault(ScanOutcome.UNKNOWN, []).append(index + 1)

    def instead_of(self, index: int, text: str) -> str:
        """What to keep of the text of a page most of whose characters are not known.

        All of it where nothing can be recognised, and without a warning where the same words are: then the numbers that
        glyphs have in the fonts are those of their characters.
        """
        if self._confirmed == _CONFIRMED:
            return text
        outcome = self._outcome(index, "")
        if outcome is ScanOutcome.RECOGNISED:
            if defects.are_confirmed(text, self._recognised[index][0]):
                del self._recognised[index]
                self._confirmed += 1
                return text
            self._confirmed = 0
            self._pages.setdefault(ScanOutcome.UNKNOWN_RECOGNISED, []).append(index + 1)
            text = ""
        else:
            unread = outcome is ScanOutcome.UNREAD
            self._pages.setdefault(ScanOutcome.UNKNOWN_UNREAD if unread else ScanOutcome.UNKNOWN, []).append(index + 1)
        self._writer.note_picture(recognised=outcome not in {ScanOutcome.LATE, ScanOutcome.UNREAD})
        return text

    def write(self, index: int) -> None:
        """Write what was recognised on a page."""
        if index in self._recognised:
            text, languages = self._recognised[index]
            with self._writer.place("ocr", languages):
                self._writer.text(text)

    def warn(self) -> None:
        """Warn of the pages that are scans, once all are written."""
        if ScanOutcome.UNREAD in self._pages and not self._writer.written:
            self._writer.warn(f"This PDF seems to be a scan: no text was found. {recognise.ADVICE}")
            return
        for outcome, numbers in self._pages.items():
            self._writer.warn(outcome.value.format(page_numbers(numbers)))

    def _outcome(self, index: int, known: str) -> ScanOutcome:
        recogniser = recognise.active()
        if recogniser is None:
            return ScanOutcome.UNREAD
        try:
            page = self._document.page(index)
        except pypdfium2.PdfiumError:
            return ScanOutcome.FAILED
        try:
            text = recogniser.page_text(page)
        except recognise.OutOfTime:
            return ScanOutcome.LATE
        except recognise.NotRecognised:
            return ScanOutcome.FAILED
        finally:
            page.close()
        lines = [line for line in text.split("\n") if not line or "".join(line.split()) not in known]
        if not any(lines):
            return ScanOutcome.EMPTY
        self._recognised[index] = "\n".join(lines), recogniser.languages
        return ScanOutcome.RECOGNISED


def _drawn(page: Any) -> tuple[float, int]:
    """The share of the page that pictures cover, and how many shapes there are besides."""
    covered, shapes = 0.0, 0
    for index in range(min(_MOST_OBJECTS, pdfium.FPDFPage_CountObjects(page))):
        item = pdfium.FPDFPage_GetObject(page, index)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            shapes += 1
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE or (kind == pdfium.FPDF_PAGEOBJ_FORM and _holds_picture(item)):
            covered += _size(item)
    if covered:
        covered /= pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page) or 1
    return covered, shapes


def _holds_picture(form: Any, deepest: int = 3) -> bool:
    """Whether a picture is among the objects that are drawn as one, or among those within them, so many levels down."""
    for index in range(min(_MOST_OBJECTS, pdfium.FPDFFormObj_CountObjects(form))):
        item = pdfium.FPDFFormObj_GetObject(form, index)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            return True
        if kind == pdfium.FPDF_PAGEOBJ_FORM and deepest and _holds_picture(item, deepest - 1):
            return True
    return False


def _size(item: Any) -> float:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
        return 0.0
    return (right.value - left.value) * (top.value - bottom.value)

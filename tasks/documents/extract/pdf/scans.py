"""The pages of a PDF that are pictures: their text is recognised where that is possible, and what became of it told."""

import ctypes
from enum import Enum
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.documents.extract.ocr import recognition
from tasks.documents.extract.pdf.pages import named
from tasks.documents.extract.pdf.pdfium import Document
from tasks.documents.extract.reading import Writer, clean

_STAMP: Final = 100
"""Characters that a scan may have as text: a running number or an envelope's name is stamped on many."""
_COVERED: Final = 0.7
"""The share of a stamped page that pictures cover if it is a scan."""
_OUTLINES: Final = 100
"""A page without text that has so many shapes may have its letters drawn."""
_MOST_OBJECTS: Final = 1_000
"""Objects of a page, and of each group of them, that are looked at."""


class Outcome(Enum):
    """What became of pages that are pictures, as the user is told of it."""

    RECOGNISED = "Scans, whose text was recognised (OCR) and may be wrong: {}."
    LATE = "Scans that were not recognised (OCR), for the time was up (DILIGENCE_DOCUMENT_TIMEOUT): {}."
    FAILED = "Pictures that text recognition (OCR) failed on: {}."
    EMPTY = "Pictures in which text recognition (OCR) found no text: {}."
    UNREAD = "Without text, perhaps scans: {}. " + recognition.ADVICE


class Scans:
    """Recognises the text of a document's scans, page by page, and warns of what is uncertain or missing."""

    def __init__(self, document: Document, writer: Writer) -> None:
        self._document = document
        self._writer = writer
        self._pages: dict[Outcome, list[int]] = {}
        self._recognised: dict[int, tuple[str, str]] = {}

    def take(self, index: int, page: Any, text: str) -> None:
        """Recognise an open page, if it is a scan; `text` is what it has as text."""
        squeezed = "".join(clean(text).split())
        if len(squeezed) > _STAMP:
            return
        covered, shapes = _drawn(page)
        if covered >= _COVERED if squeezed else covered or shapes >= _OUTLINES:
            outcome = self._outcome(index, squeezed)
            if outcome is not Outcome.EMPTY or not squeezed:
                self._pages.setdefault(outcome, []).append(index + 1)
            self._writer.note_picture(recognised=outcome not in {Outcome.LATE, Outcome.UNREAD})

    def write(self, index: int) -> None:
        """Write what was recognised on a page."""
        if index in self._recognised:
            text, languages = self._recognised[index]
            with self._writer.place("ocr", languages):
                self._writer.text(text)

    def tell(self) -> None:
        """Warn of the pages that are scans, once all are written."""
        if Outcome.UNREAD in self._pages and not self._writer.written:
            self._writer.warn(f"This PDF seems to be a scan: no text was found. {recognition.ADVICE}")
            return
        for outcome, numbers in self._pages.items():
            self._writer.warn(outcome.value.format(named(numbers)))

    def _outcome(self, index: int, known: str) -> Outcome:
        recogniser = recognition.active()
        if recogniser is None:
            return Outcome.UNREAD
        try:
            page = self._document.page(index)
        except pypdfium2.PdfiumError:
            return Outcome.FAILED
        try:
            found = recogniser.page_text(page)
        except recognition.OutOfTime:
            return Outcome.LATE
        except recognition.NotRecognised:
            return Outcome.FAILED
        finally:
            page.close()
        lines = [line for line in found.split("\n") if not line or "".join(line.split()) not in known]
        if not any(lines):
            return Outcome.EMPTY
        self._recognised[index] = "\n".join(lines), recogniser.languages
        return Outcome.RECOGNISED


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

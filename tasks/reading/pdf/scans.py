"""Finds pages of a PDF that are pictures, or whose glyphs do not say which characters they are; it does not read them.

A page is a scan if it has hardly any text and is covered by pictures, or by so many shapes that they may be letters.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.language.normalise import clean
from tasks.reading.places import DOUBTFUL_SCAN, HIDDEN_SCAN, page_numbers
from tasks.reading.text_writer import Writer

_STAMP: Final = 100
"""Characters that a scan may have as text: a running number or an envelope's name is stamped on many."""

_COVERED: Final = 0.7
"""The share of a stamped page that pictures cover if it is a scan."""

_OUTLINES: Final = 100
"""A page without text that has so many shapes may have its letters drawn."""

_MOST_OBJECTS: Final = 1_000
"""Objects of a page, and of each group of them, that are looked at."""

UNKNOWN: Final = "Characters that their fonts do not name are missing or may be wrong: {}."


class Scans:
    """Which pages need recognition: those that are pictures, and those that do not say what they draw."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._pictures: set[int] = set()
        self._kinds: dict[int, str] = {}
        self._unknown: list[int] = []

    def add(self, index: int, page: Any, text: str) -> None:
        """Record an open page if it is a scan; `text` is its text."""
        squeezed = "".join(clean(text).split())
        if len(squeezed) > _STAMP:
            return
        covered, shapes = _measure_drawing(page)
        if covered >= _COVERED if squeezed else covered or shapes >= _OUTLINES:
            self._pictures.add(index)

    def add_doubtful(self, index: int) -> None:
        """Record a page most of whose characters are unknown: what is recognised replaces them."""
        self._kinds[index] = DOUBTFUL_SCAN

    def is_doubtful(self, index: int) -> bool:
        """Whether most characters of a page are unknown."""
        return self._kinds.get(index) == DOUBTFUL_SCAN

    def add_hidden(self, index: int, page: Any) -> None:
        """Record an open page with hidden text if pictures cover it: some are compared with what is recognised."""
        if index not in self._pictures and _measure_drawing(page)[0] >= _COVERED:
            self._kinds[index] = HIDDEN_SCAN

    def add_unknown(self, index: int) -> None:
        """Warn about a page with some unknown characters."""
        self._unknown.append(index + 1)

    @contextmanager
    def around(self, index: int) -> Iterator[None]:
        """What is written in the block is the page's text."""
        kind = self._kinds.get(index)
        with self._writer.place(kind, str(index + 1)) if kind else nullcontext():
            yield
        if index in self._pictures:
            self._writer.picture(index + 1)

    def warn(self) -> None:
        """Warn about the pages with some unknown characters."""
        if self._unknown:
            self._writer.warn(UNKNOWN.format(page_numbers(self._unknown)))


def _measure_drawing(page: Any) -> tuple[float, int]:
    """The share of the page that pictures cover, and the number of other shapes."""
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
    """Whether a form contains a picture, directly or in forms within it, down to `deepest` levels."""
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

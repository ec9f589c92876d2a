"""A page of a PDF: its glyphs with their boxes, and its picture. PDFium reads and draws it."""

import ctypes
import io
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium
from PIL.Image import Image

from tasks.documents.extract.pdf.document import NotOpened, PdfDocument
from tasks.errors import Damaged
from tasks.evidence.boxes import Box, Glyph, boxes_of
from tasks.evidence.page_orders import DrawnPage, PageOrder

_WIDE: Final = 1_100
"""Pixels across a page of usual form."""
_MOST_PIXELS: Final = 2_000_000
_SHARPEST: Final = 4.0
"""Pixels a point at most: a page of a stamp's size is not blown up."""
_LARGEST: Final = 150_000
"""Bytes of a picture at most."""
_QUALITIES: Final = (70, 50, 35, 20)
_SMALLER: Final = 0.7

_MOST_GLYPHS: Final = 30_000
"""Characters of a page that are looked at."""
_FINE: Final = 100.0
"""Units of a point in which PDFium tells places on the page as shown."""


@dataclass(frozen=True, slots=True)
class PageGlyphs:
    """The glyphs of a page, and its size in points as it is shown."""

    glyphs: list[Glyph]
    width: float
    height: float


def read_glyphs(pdf: PdfDocument, index: int) -> PageGlyphs:
    """The glyphs of the page with that index, in the order in which they are drawn, with tight boxes."""
    page = pdfium.FPDF_LoadPage(pdf.handle, index)
    try:
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        textpage = pdfium.FPDFText_LoadPage(page)
        try:
            return PageGlyphs(list(_glyphs(textpage, _Shown(page, width, height))), width, height)
        finally:
            pdfium.FPDFText_ClosePage(textpage)
    finally:
        pdfium.FPDF_ClosePage(page)


class _Shown:
    """From a page's own places to those of the page as it is shown: cropped, turned, from its upper left corner."""

    def __init__(self, page: Any, width: float, height: float) -> None:
        origin, right, up = (_device(page, width, height, *at) for at in ((0, 0), (1000, 0), (0, 1000)))
        self._origin = origin
        self._right = ((right[0] - origin[0]) / 1000, (right[1] - origin[1]) / 1000)
        self._up = ((up[0] - origin[0]) / 1000, (up[1] - origin[1]) / 1000)

    def box(self, left: float, right: float, bottom: float, top: float) -> Box:
        """The box on the page as it is shown."""
        x = [self._origin[0] + self._right[0] * x + self._up[0] * y for x, y in ((left, bottom), (right, top))]
        y = [self._origin[1] + self._right[1] * x + self._up[1] * y for x, y in ((left, bottom), (right, top))]
        return Box(min(x), min(y), max(x), max(y))


def _device(page: Any, width: float, height: float, x: float, y: float) -> tuple[float, float]:
    across, down = ctypes.c_int(), ctypes.c_int()
    size = round(width * _FINE), round(height * _FINE)
    pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, across, down)
    return across.value / _FINE, down.value / _FINE


def _glyphs(textpage: Any, shown: _Shown) -> Iterator[Glyph]:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    begins = True
    for index in range(min(pdfium.FPDFText_CountChars(textpage), _MOST_GLYPHS)):
        code = pdfium.FPDFText_GetUnicode(textpage, index)
        character = chr(code) if code < 0x110000 else "\ufffd"
        if code in (0x02, 0xFFFE):  # a hyphen at a line's end: the word goes on
            continue
        if character.isspace() or code < 0x20:
            begins = True
            continue
        if not pdfium.FPDFText_GetCharBox(textpage, index, left, right, bottom, top):
            continue
        yield Glyph(character, shown.box(left.value, right.value, bottom.value, top.value), begins)
        begins = False


def open_pdf(path: Path) -> PdfDocument:
    """The PDF at `path`, to be used in a `with` block.

    Raises:
        Damaged: PDFium cannot open it.
    """
    try:
        return PdfDocument(path)
    except NotOpened as error:
        raise Damaged("The PDF cannot be opened. Ask for it again.") from error


def draw_page(pdf: PdfDocument, order: PageOrder) -> DrawnPage:
    """Draw one page and find the boxes of its spans."""
    page = read_glyphs(pdf, order.page - 1)
    boxes = [boxes_of(page.glyphs, order.text, span.start, span.end) for span in order.spans]
    drawn = order.picture is not None and _draw(pdf, order.page - 1, page, Path(order.picture))
    return DrawnPage(order.page, page.width, page.height, boxes, drawn)


def _draw(pdf: PdfDocument, index: int, size: PageGlyphs, target: Path) -> bool:
    """Write the picture of a page, in one step; gives whether it could be drawn."""
    if size.width <= 0 or size.height <= 0:
        return False
    scale = min(_WIDE / size.width, sqrt(_MOST_PIXELS / (size.width * size.height)), _SHARPEST)
    try:
        page = pdf.page(index)
        try:
            picture = page.render(scale=scale).to_pil()
        finally:
            page.close()
    except pypdfium2.PdfiumError:
        return False
    part = target.with_suffix(".part")
    part.write_bytes(_packed(picture.convert("RGB")))
    part.replace(target)
    return True


def _packed(picture: Image) -> bytes:
    """The picture as WebP, coarser and in the end smaller until it is no larger than a page may be."""
    while True:
        for quality in _QUALITIES:
            file = io.BytesIO()
            picture.save(file, "WEBP", quality=quality, method=3)
            if file.tell() <= _LARGEST:
                return file.getvalue()
        width, height = (max(1, int(_SMALLER * side)) for side in picture.size)
        if (width, height) == picture.size:
            return file.getvalue()
        picture = picture.resize((width, height))

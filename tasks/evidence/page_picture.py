"""The picture of a page of a PDF: PDFium draws it, and it is packed so that it takes little time and little room."""

import ctypes
import io
from functools import cache
from math import ceil, sqrt
from typing import Any, Final

import pypdfium2.raw as pdfium
from PIL import Image, ImageChops

from tasks.reading.pdf import document

_WIDE: Final = 912
"""Dots across a page of usual form: as many as a page of evidence gives it on a usual screen, so that none is mixed."""
_MOST_DOTS: Final = 2_000_000
_ROUNDED: Final = 60_000
"""Dots more that a page may have whose sides are no whole numbers of dots."""
_BYTES: Final = 4
"""Of a dot in colours."""
_SHARPEST: Final = 4.0
"""Dots a point at most: a page of a stamp's size is not blown up."""
_LEVEL: Final = 2
"""zlib's: a page of print takes 62 KB, with 1 84 KB and with 3 56 KB."""
_LARGEST: Final = 150_000
"""Bytes of a picture at most."""
_WHITE: Final = 0xFFFFFFFF
_SHADES: Final = [(value + 8) // 17 for value in range(256)]
"""The nearest of sixteen shades of a colour, by its number."""
_FEW_SHADES: Final = [17 * shade for shade in _SHADES] * 3
_GREYS: Final = [17 * shade for shade in range(16) for _ in "RGB"]
"""A palette of the sixteen shades of grey."""
_MOST_COLOURS: Final = 256
_QUALITIES: Final = (60, 30)
_SMALLER: Final = 0.7

_MOST_OBJECTS: Final = 3_000
"""Pieces of a page whose colours are asked after (1 µs each); of a page with more, the dots are looked at."""
_MOST_ANNOTATIONS: Final = 300
_PRINT: Final = frozenset({pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_PATH})
_OF_PATTERNS: Final = frozenset({0xBF, 0xFF})
"""The shades that PDFium gives for patterns, whatever their colours are."""


def picture_of(page: Any, width: float, height: float) -> tuple[bytes, str] | None:
    """The picture of an open page of that size in points, and the suffix of its format; None if it cannot be drawn.

    Print in sixteen shades, of grey or of few colours, stays sharp as PNG: a full page takes 62 KB, as WebP without
    loss 99 KB and many times as long. Photographs are WebP with loss, and smaller in the end.
    """
    if width <= 0 or height <= 0:
        return None
    scale = min(_WIDE / width, sqrt(_MOST_DOTS / (width * height)), _SHARPEST)
    across, down = ceil(scale * width), ceil(scale * height)
    if is_grey(page):
        packed = _grey_png(page, across, down)
        if len(packed) <= _LARGEST:
            return packed, ".png"
    dots = _dots(_BYTES * across * down)
    if not _draw(page, dots, across, down, pdfium.FPDFBitmap_BGRx):
        return None
    # Four bytes a dot, red first: so Pillow takes the dots as they are.
    return _packed(Image.frombuffer("RGBX", (across, down), dots, "raw", "RGBX", 0, 1))


def is_grey(page: Any) -> bool:
    """Whether an open page is certain to have no colours: print and lines in black, white and grey."""
    if pdfium.FPDFPage_HasTransparency(page) or not _has_links_alone(page):
        return False
    count = pdfium.FPDFPage_CountObjects(page)
    if count > _MOST_OBJECTS:
        return False
    objects = document.page_objects(page, count)
    if not _PRINT.issuperset(document.object_kinds(objects)):
        return False
    return all(map(_are_grey, document.object_colours(objects)))


def _are_grey(colour: tuple[float, float, float]) -> bool:
    red, green, blue = colour
    return red == green == blue and red not in _OF_PATTERNS


def _has_links_alone(page: Any) -> bool:
    """Whether nothing is laid upon the page but links, of which nothing is drawn."""
    count = pdfium.FPDFPage_GetAnnotCount(page)
    if not count:
        return True
    if count > _MOST_ANNOTATIONS:
        return False
    return all(kind == pdfium.FPDF_ANNOT_LINK for kind in document.annotation_kinds(page, count))


def _grey_png(page: Any, across: int, down: int) -> bytes:
    """The page in sixteen shades of grey."""
    dots = _dots(across * down)
    _draw(page, dots, across, down, pdfium.FPDFBitmap_Gray)
    shades = Image.frombuffer("L", (across, down), dots, "raw", "L", 0, 1).point(_SHADES)
    return _png(_with_greys(shades))


def _draw(page: Any, dots: bytearray, across: int, down: int, form: int) -> bool:
    """Draw a page into `dots`, the rows one behind the other."""
    is_grey = form == pdfium.FPDFBitmap_Gray
    stride = across if is_grey else _BYTES * across
    start = ctypes.addressof(ctypes.c_ubyte.from_buffer(dots))
    bitmap = pdfium.FPDFBitmap_CreateEx(across, down, form, start, stride)
    if not bitmap:
        return False
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, _WHITE)
        order = 0 if is_grey else pdfium.FPDF_REVERSE_BYTE_ORDER
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, pdfium.FPDF_ANNOT | order)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    return True


def _dots(size: int) -> bytearray:
    """Memory that all pages share: fresh memory takes longer than the drawing (7 ms for 3)."""
    shared = _shared_dots()
    return shared if size <= len(shared) else bytearray(size)


@cache
def _shared_dots() -> bytearray:
    return bytearray(_BYTES * (_MOST_DOTS + _ROUNDED))


def _packed(picture: Image.Image) -> tuple[bytes, str]:
    """The picture of no more bytes than a page may have, and the suffix of its format."""
    drawing = _few_colours(picture)
    if drawing is not None:
        packed = _png(drawing)
        if len(packed) <= _LARGEST:
            return packed, ".png"
    picture = picture.convert("RGB")
    while True:
        for quality in _QUALITIES:
            file = io.BytesIO()
            picture.save(file, "WEBP", quality=quality, method=0)
            if file.tell() <= _LARGEST:
                return file.getvalue(), ".webp"
        picture = picture.resize([max(1, int(_SMALLER * side)) for side in picture.size])


def _png(picture: Image.Image) -> bytes:
    """A picture with a palette as the bytes of a PNG file; of sixteen colours Pillow writes four bits a dot."""
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=_LEVEL)
    return file.getvalue()


def _with_greys(shades: Image.Image) -> Image.Image:
    shades.putpalette(_GREYS)
    return shades


def _few_colours(picture: Image.Image) -> Image.Image | None:
    """The picture in sixteen shades of each colour with a palette; None if that is too small for it."""
    red, green, blue = picture.split()[:3]
    if not any(ImageChops.difference(red, other).getbbox() for other in (green, blue)):
        return _with_greys(red.point(_SHADES))
    few = picture.convert("RGB").point(_FEW_SHADES)
    if few.getcolors(_MOST_COLOURS) is None:
        return None
    return few.quantize(_MOST_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)

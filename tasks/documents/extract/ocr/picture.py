"""A page of a PDF as a grey picture, of a size that text recognition reads well and that no page's claim can swell."""

from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite, sqrt
from struct import Struct
from typing import Final

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.documents.extract.apart import made_apart

DOTS_AN_INCH: Final = 250

_USUAL_EDGE: Final = 3000
"""Dots of the long edge of a sheet of paper at that resolution."""

_LONGEST_EDGE: Final = 30_000
"""Tesseract counts in 16 bits."""

_MOST_DOTS: Final = 25_000_000

_MOST_SCANNED_DOTS: Final = 100_000_000
"""Of the pictures on one page. PDFium takes four bytes for each of them: 370 MB were measured."""


_SECONDS: Final = 10.0
_SIZE: Final = Struct("II")
_MOST_OBJECTS: Final = 10_000
"""Objects on a page among which pictures are looked for."""


@dataclass(frozen=True)
class Picture:
    """A grey picture: a byte a dot, row by row from the top."""

    width: int
    height: int
    dots: bytes

    def file(self) -> bytes:
        """The picture as a file: a portable grey map (PGM)."""
        return b"P5 %d %d 255\n%s" % (self.width, self.height, self.dots)

    def upside_down(self) -> "Picture":
        """The picture turned by half a circle."""
        return replace(self, dots=self.dots[::-1])


def picture_of(page: pypdfium2.PdfPage, seconds: float = _SECONDS) -> Picture | None:
    """The page as it looks, without the notes on it; None when it is too large or cannot be drawn in time. 0.03 s.

    It is drawn in a process of its own: patterns and layers can keep PDFium for hours.
    """
    scale = _scale(page)
    if scale is None:
        return None
    try:
        drawn = made_apart(lambda: _drawn(page, scale), seconds)
    except (TimeoutError, ChildProcessError):
        return None
    width, height = _SIZE.unpack_from(drawn)
    return Picture(width, height, drawn[_SIZE.size :])


def _drawn(page: pypdfium2.PdfPage, scale: float) -> bytes:
    """The width and height of the picture, and its dots."""
    bitmap = page.render(scale=scale, grayscale=True, draw_annots=False, may_draw_forms=False)
    width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    dots = bytes(bitmap.buffer)
    if stride != width:
        dots = b"".join(dots[start : start + width] for start in range(0, stride * height, stride))
    return _SIZE.pack(width, height) + dots


def _scale(page: pypdfium2.PdfPage) -> float | None:
    """Dots for a point of the page's claimed size.

    The claim is often made up: a point for each dot of the scan, a page of an inch. So the long edge takes the
    middle one of three: what the claim asks for, what the scan on the page has, and what a page usually takes.
    """
    width, height = page.get_size()
    scanned_density = _scanned_density(page)
    if scanned_density is None or not (isfinite(width * height) and width * height > 0):
        return None
    edge = max(width, height)
    claimed = edge * DOTS_AN_INCH / 72
    scanned = edge * scanned_density or claimed
    chosen = sorted((claimed, scanned, _USUAL_EDGE))[1]
    return float(min(chosen / edge, sqrt(_MOST_DOTS / (width * height)), _LONGEST_EDGE / edge))


def _scanned_density(page: pypdfium2.PdfPage) -> float | None:
    """Dots that the largest picture on the page has for a point; 0 where there is none, None when it has too many."""
    dots = 0
    largest, density = 0.0, 0.0
    for image in islice(page.get_objects(max_depth=3), _MOST_OBJECTS):
        if image.type != pdfium.FPDF_PAGEOBJ_IMAGE:
            continue
        try:
            across, down = image.get_px_size()
            left, bottom, right, top = image.get_bounds()
        except pypdfium2.PdfiumError:
            continue
        dots += across * down
        if dots > _MOST_SCANNED_DOTS:
            return None
        area = (right - left) * (top - bottom)
        if area > largest:
            largest, density = area, sqrt(across * down / area)
    return density

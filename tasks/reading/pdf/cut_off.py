"""Text of a PDF's page that nobody sees, as the frame in which it is placed cuts it off.

Layout programs place a drawing of many charts and show one of them through a frame: the figures of the others, often
those of last year, are in the file. PDFium gives them all.
"""

import ctypes
import re
from bisect import bisect_left
from math import inf
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.document import PageText

_SAMPLE: Final = 8
"""Characters of a page that are asked for first: what a frame cuts off of a drawing is much, and drawn in one go."""
_NEAR: Final = 0.5
"""Points by which text may stand outside of its frame and is taken to be within."""
_MOST_SEGMENTS: Final = 100
"""Segments of a frame: one with more is taken to cut nothing off."""
_MOST: Final = 60_000
"""Characters of a page that are looked at."""
_ALL: Final = 0.95
"""The share of a page's characters from which they are the layer of text of a scan, which some programs hide so."""
_INK: Final = re.compile(r"[^\s\U00010000-\U0010ffff]")
_WIDE: Final = re.compile("[\U00010000-\U0010ffff]")
_EMPTY_LINES: Final = re.compile(r"(?<! ) *+\r\n(?: *+\r\n)++")
_SPACES: Final = re.compile("  +")

_frame_of: Final = document.plain(pdfium.FPDFPageObj_GetClipPath)
_count_paths: Final = document.plain(pdfium.FPDFClipPath_CountPaths)
_sides = [ctypes.c_float() for _ in range(4)]
_x, _y = ctypes.c_float(), ctypes.c_float()


def blanked(textpage: Any, page_text: PageText) -> PageText | None:
    """The text of a page with spaces for what is cut off; None where nothing is."""
    count = page_text.characters
    step = max(1, count // _SAMPLE)
    sample = document.text_objects(textpage, range(step // 2, count, step))
    if count > _MOST or not any(_is_cut_off(piece) for piece in sample if piece):
        return None
    text = page_text.text
    spots = [match.start() for match in _INK.finditer(text)]
    pieces = document.text_objects(textpage, _characters(textpage, page_text, spots))
    cut_off = {piece: _is_cut_off(piece) for piece in set(pieces) if piece}
    hidden = [spot for spot, piece in zip(spots, pieces, strict=True) if piece and cut_off[piece]]
    if len(hidden) > _ALL * len(spots):
        return None
    characters = list(text)
    for spot in hidden:
        characters[spot] = " "
    return page_text._replace(text="".join(characters))


def without_blanks(text: str) -> str:
    """A page's text without the empty lines and the white that `blanked` leaves."""
    return _EMPTY_LINES.sub("\r\n", _SPACES.sub(" ", text))


def _characters(textpage: Any, page_text: PageText, spots: list[int]) -> list[int]:
    """PDFium's numbers of some characters of a page's text."""
    if len(page_text.text) != page_text.units:  # PDFium counts characters beyond 16 bits twice
        wide = [match.start() for match in _WIDE.finditer(page_text.text)]
        spots = [spot + bisect_left(wide, spot) for spot in spots]
    if page_text.units != page_text.characters:
        spots = [document.character_at(textpage, spot) for spot in spots]
    return spots


def _is_cut_off(address: int) -> bool:
    """Whether a piece of text stands outside of the frame that it is drawn in."""
    frame_address = _frame_of(address)
    paths = _count_paths(frame_address) if frame_address else 0
    if paths <= 0:  # the usual
        return False
    frame = ctypes.cast(frame_address, pdfium.FPDF_CLIPPATH)
    if not pdfium.FPDFPageObj_GetBounds(ctypes.cast(address, pdfium.FPDF_PAGEOBJECT), *_sides):
        return False
    left, bottom, right, top = (side.value for side in _sides)
    for path in range(paths):
        count = pdfium.FPDFClipPath_CountPathSegments(frame, path)
        if not 0 < count <= _MOST_SEGMENTS:
            continue
        low_x, low_y, high_x, high_y = inf, inf, -inf, -inf
        for index in range(count):
            pdfium.FPDFPathSegment_GetPoint(pdfium.FPDFClipPath_GetPathSegment(frame, path, index), _x, _y)
            low_x, high_x = min(low_x, _x.value), max(high_x, _x.value)
            low_y, high_y = min(low_y, _y.value), max(high_y, _y.value)
        if left > high_x + _NEAR or right < low_x - _NEAR or bottom > high_y + _NEAR or top < low_y - _NEAR:
            return True
    return False

"""A page of a PDF: its glyphs with their boxes, and its picture. PDFium reads and draws it."""

import ctypes
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import sqrt
from pathlib import Path
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import ImageChops
from PIL.Image import Dither, Image, Quantize

from tasks.documents.extract.ocr import recognise
from tasks.documents.extract.pdf import pages
from tasks.documents.extract.pdf.document import NotOpened, PdfDocument, character_codes, tight_boxes
from tasks.documents.extract.pdf.right_to_left import turned_ligatures
from tasks.errors import Damaged
from tasks.evidence import png
from tasks.evidence.boxes import BoxedPage, PageBoxes
from tasks.evidence.glyphs import Glyphs, Sides

_WIDE: Final = 1_100
"""Pixels across a page of usual form."""
_MOST_PIXELS: Final = 2_000_000
_BYTES: Final = 4
"""Of a dot."""
_ROUNDED: Final = 60_000
"""Dots more that a page may have whose sides are no whole numbers of dots."""
_SHARPEST: Final = 4.0
"""Pixels a point at most: a page of a stamp's size is not blown up."""
_LARGEST: Final = 150_000
"""Bytes of a picture at most."""
_SHADES: Final = [(value + 8) // 17 for value in range(256)]
"""The nearest of sixteen shades of a colour, by its number."""
_FEW_SHADES: Final = [17 * shade for shade in _SHADES] * 3
_GREYS: Final = [17 * shade for shade in range(16) for _ in "RGB"]
"""A palette of the sixteen shades of grey."""
_MOST_COLOURS: Final = 256
_QUALITIES: Final = (60, 30)
_SMALLER: Final = 0.7

_MOST_GLYPHS: Final = 200_000
"""Characters of a page that are looked at; of a page with more, no place is certain."""
_FINE: Final = 100.0
"""Units of a point in which PDFium tells places on the page as shown."""
_NO_GLYPHS: Final = frozenset({0x02, 0xFFFE})
"""What PDFium gives for a hyphen at a line's end: the word goes on."""


_LIGATURES: Final = frozenset(range(0x1C, 0x20))
"""What PDFium gives for ligatures whose letters their fonts name."""


@dataclass(frozen=True, slots=True)
class PageGlyphs:
    """The glyphs of a page, and its size in points as it is shown."""

    glyphs: Glyphs
    width: float
    height: float


def read_glyphs(pdf: PdfDocument, index: int) -> PageGlyphs:
    """The glyphs of the page with that index, in the order in which they are drawn, with tight boxes."""
    page = pdfium.FPDF_LoadPage(pdf.handle, index)
    try:
        width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        textpage = pdfium.FPDFText_LoadPage(page)
        try:
            return PageGlyphs(_glyphs(pdf, textpage, _Shown(page, width, height)), width, height)
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
        self._is_upright = self._right[1] == self._up[0] == 0 and self._right[0] > 0 > self._up[1]

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]]) -> list[Sides]:
        """Boxes on the page as it is shown; they come as left, right, bottom and top."""
        (x, y), (right_x, right_y), (up_x, up_y) = self._origin, self._right, self._up
        if self._is_upright:  # as nearly all pages are: in half the time
            return [
                (x + right_x * left, y + up_y * top, x + right_x * right, y + up_y * bottom)
                for left, right, bottom, top in boxes
            ]
        shown: list[Sides] = []
        for left, right, bottom, top in boxes:
            x1, y1 = x + right_x * left + up_x * bottom, y + right_y * left + up_y * bottom
            x2, y2 = x + right_x * right + up_x * top, y + right_y * right + up_y * top
            shown.append((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)))
        return shown


def _device(page: Any, width: float, height: float, x: float, y: float) -> tuple[float, float]:
    across, down = ctypes.c_int(), ctypes.c_int()
    size = round(width * _FINE), round(height * _FINE)
    pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, across, down)
    return across.value / _FINE, down.value / _FINE


def _glyphs(pdf: PdfDocument, textpage: Any, shown: _Shown) -> Glyphs:
    count = pdfium.FPDFText_CountChars(textpage)
    if count > _MOST_GLYPHS:
        return Glyphs([], [], [])
    codes, drawn = character_codes(textpage, count), tight_boxes(textpage, count)
    for at in turned_ligatures(codes, drawn):
        codes[at : at + 2] = codes[at + 1], codes[at]
    ligatures = _ligatures(pdf) if not _LIGATURES.isdisjoint(codes) else {}
    texts: list[str] = []
    boxes: list[tuple[float, float, float, float]] = []
    begins: list[bool] = []
    is_first = True
    high = 0
    for code, box in zip(codes, drawn, strict=True):
        if 0x20 < code < 0x7F and box is not None:
            texts.append(chr(code))
            boxes.append(box)
            begins.append(is_first)
            is_first = False
            continue
        if code in _NO_GLYPHS or (code in _LIGATURES and chr(code) not in ligatures):
            continue
        if 0xD800 <= code < 0xDC00:  # PDFium gives characters beyond 16 bits in two halves, both with one box
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0xFFFD  # noqa: PLW2901
            high = 0
        character = chr(code) if code < 0x110000 else "\ufffd"
        character = ligatures.get(character, character)
        if character.isspace() or character < " ":
            is_first = True
        elif box is not None:
            texts.append(character)
            boxes.append(box)
            begins.append(is_first)
            is_first = False
    return Glyphs(texts, shown.boxes(boxes), begins)


@lru_cache(maxsize=1)
def _ligatures(pdf: PdfDocument) -> dict[str, str]:
    return pages.lost_letters(pdf.data)


def open_pdf(path: Path) -> PdfDocument:
    """The PDF at `path`, to be used in a `with` block.

    Raises:
        Damaged: PDFium cannot open it.
    """
    try:
        return PdfDocument(path)
    except NotOpened as error:
        raise Damaged("The PDF cannot be opened. Ask for it again.") from error


def draw_page(
    pdf: PdfDocument,
    number: int,
    text: str,
    spans: Iterable[tuple[int, int]],
    picture: str | None,
    *,
    is_scan: bool = False,
) -> BoxedPage:
    """Find the boxes of spans of a page's text, and write its picture to a file, unless that is None.

    `picture` is the file's name without the suffix of its format, which is put behind it.
    Of a scan the words are recognised again where recognition is configured: that takes 1 to 3 s.

    Raises:
        OSError: the picture cannot be written.
    """
    page = read_glyphs(pdf, number - 1)
    finders = [PageBoxes(page.glyphs)]
    if is_scan:
        finders.append(PageBoxes(_recognised_glyphs(pdf, number - 1, page)))
    boxes = [next(filter(None, (finder.of(text, *span) for finder in finders)), []) for span in spans]
    is_drawn = picture is not None and _draw(pdf, number - 1, page, Path(picture))
    return BoxedPage(number, page.width, page.height, boxes, is_drawn)


def _recognised_glyphs(pdf: PdfDocument, index: int, size: PageGlyphs) -> Glyphs:
    """The letters of the words that are recognised on a page, each with its share of the word's box."""
    recogniser = recognise.active()
    if recogniser is None:
        return Glyphs([], [], [])
    try:
        page = pdf.page(index)
        try:
            words = recogniser.word_boxes(page)
        finally:
            page.close()
    except (pypdfium2.PdfiumError, recognise.OutOfTime, recognise.NotRecognised):
        return Glyphs([], [], [])
    return Glyphs.of(glyph for word in words for glyph in _letters_of(word, size))


def _letters_of(word: recognise.WordBox, size: PageGlyphs) -> Iterator[tuple[str, Sides, bool]]:
    left, right = word.left * size.width, word.right * size.width
    top, bottom = word.top * size.height, word.bottom * size.height
    across, down = (right - left) / len(word.text), (bottom - top) / len(word.text)
    for place, letter in enumerate(word.text):
        if bottom - top > right - left and len(word.text) > 1:  # the line runs downwards
            box = left, top + place * down, right, top + (place + 1) * down
        else:
            box = left + place * across, top, left + (place + 1) * across, bottom
        yield letter, box, not place


def _draw(pdf: PdfDocument, index: int, size: PageGlyphs, stem: Path) -> bool:
    """Write the picture of a page, in one step, to `stem` with a suffix; gives whether it could be drawn."""
    if size.width <= 0 or size.height <= 0:
        return False
    scale = min(_WIDE / size.width, sqrt(_MOST_PIXELS / (size.width * size.height)), _SHARPEST)
    try:
        page = pdf.page(index)
        try:
            # Four bytes a dot, red first: so Pillow takes the dots as they are (10 ms with the copies, 4 without).
            picture = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=True, bitmap_maker=_bitmap).to_pil()
        finally:
            page.close()
    except pypdfium2.PdfiumError:
        return False
    packed, suffix = _packed(picture)
    part = stem.with_suffix(".part")
    part.write_bytes(packed)
    part.replace(stem.with_suffix(suffix))
    return True


def _bitmap(width: int, height: int, format: int, **order: bool) -> pypdfium2.PdfBitmap:  # noqa: A002 - the name that pypdfium2 calls it by
    """A bitmap for one page in memory that all pages share: fresh memory takes longer than the drawing (7 ms for 3)."""
    dots = _dots()
    is_enough = len(dots) >= width * height * _BYTES
    return pypdfium2.PdfBitmap.new_native(width, height, format, buffer=dots if is_enough else None, **order)


@cache
def _dots() -> Any:
    return (ctypes.c_ubyte * (_BYTES * (_MOST_PIXELS + _ROUNDED)))()


def _packed(picture: Image) -> tuple[bytes, str]:
    """The picture of no more bytes than a page may have, and the suffix of its format.

    Print in sixteen shades, of grey or of few colours, stays sharp as PNG: a full page takes 12 ms and 57 KB, as WebP
    without loss 50 ms and 99 KB. Photographs are WebP with loss, and smaller in the end.
    """
    drawing = _few_colours(picture)
    if drawing is not None:
        packed = png.packed(drawing)
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


def _few_colours(picture: Image) -> Image | None:
    """The picture in sixteen shades of each colour with a palette; None if that is too small for it."""
    red, green, blue = picture.split()[:3]
    if not any(ImageChops.difference(red, other).getbbox() for other in (green, blue)):
        grey = red.point(_SHADES)
        grey.putpalette(_GREYS)  # of sixteen colours Pillow writes four bits a dot
        return grey
    few = picture.convert("RGB").point(_FEW_SHADES)
    if few.getcolors(_MOST_COLOURS) is None:
        return None
    return few.quantize(_MOST_COLOURS, Quantize.FASTOCTREE, dither=Dither.NONE)

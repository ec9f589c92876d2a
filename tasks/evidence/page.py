"""A page of a PDF: the boxes of words on it, and its picture, both from one reading by PDFium.

Pages are drawn in reading processes, under their limits. Such a process runs `draw`: it writes the pictures itself, so
that nothing large goes through its pipe, and returns the boxes as JSON in place of a reading's text.
"""

import ctypes
import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from math import ceil, sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image, ImageChops

from storage import database, texts
from tasks.errors import Damaged
from tasks.evidence.boxes import Box, BoxedPage, Glyphs, PageBoxes, Sides
from tasks.reading.configuration import ReadingSettings, make_reading_limits
from tasks.reading.ocr.page import WordBox
from tasks.reading.pdf import pages
from tasks.reading.pdf.defects import find_turned_ligatures
from tasks.reading.pdf.document import NotOpened, PdfDocument, character_codes, tight_boxes
from tasks.reading.pdf.repair import with_parted_ranges
from tasks.reading.pool.pool import ExtractionPool, Limits, processors
from tasks.reading.text_writer import Reading

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


def draw_picture(page: Any, width: float, height: float) -> tuple[bytes, str] | None:
    """The picture of an open page of that size in points, and the suffix of its format; None if it cannot be drawn.

    Print in sixteen shades, of grey or of few colours, stays sharp as PNG: a full page takes 62 KB, as lossless WebP 99
    KB and many times as long. Photographs are lossy WebP, which is smaller for them.
    """
    if width <= 0 or height <= 0:
        return None
    scale = min(_WIDE / width, sqrt(_MOST_DOTS / (width * height)), _SHARPEST)
    across, down = ceil(scale * width), ceil(scale * height)
    dots = _dots(_BYTES * across * down)
    if not _draw(page, dots, across, down):
        return None
    # Four bytes a dot, red first: so Pillow takes the dots as they are.
    return _pack(Image.frombuffer("RGBX", (across, down), dots, "raw", "RGBX", 0, 1))


def _draw(page: Any, dots: bytearray, across: int, down: int) -> bool:
    """Draw a page into `dots`, row after row."""
    start = ctypes.addressof(ctypes.c_ubyte.from_buffer(dots))
    bitmap = pdfium.FPDFBitmap_CreateEx(across, down, pdfium.FPDFBitmap_BGRx, start, _BYTES * across)
    if not bitmap:
        return False
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, _WHITE)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, flags)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    return True


def _dots(size: int) -> bytearray:
    """A buffer that all pages share: allocating a new one takes longer than the drawing (7 ms versus 3)."""
    shared = _share_dots()
    return shared if size <= len(shared) else bytearray(size)


@cache
def _share_dots() -> bytearray:
    return bytearray(_BYTES * (_MOST_DOTS + _ROUNDED))


def _pack(picture: Image.Image) -> tuple[bytes, str]:
    """The picture in no more bytes than a page may have, and the suffix of its format."""
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
    """A picture with a palette as a PNG file; with sixteen colours Pillow writes four bits per pixel."""
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=_LEVEL)
    return file.getvalue()


def _with_greys(shades: Image.Image) -> Image.Image:
    shades.putpalette(_GREYS)
    return shades


def _few_colours(picture: Image.Image) -> Image.Image | None:
    """The picture in sixteen shades of each colour, with a palette; None if a palette is too small for it."""
    red, green, blue = picture.split()[:3]
    if not any(ImageChops.difference(red, other).getbbox() for other in (green, blue)):
        return _with_greys(red.point(_SHADES))
    few = picture.convert("RGB").point(_FEW_SHADES)
    if few.getcolors(_MOST_COLOURS) is None:
        return None
    return few.quantize(_MOST_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


_MOST_GLYPHS: Final = 200_000
"""Characters of a page that are looked at; of a page with more, no place is certain."""
_FINE: Final = 100.0
"""Units of a point in which PDFium tells places on the page as shown."""
_NO_GLYPHS: Final = frozenset({0x02, 0xFFFE})
"""What PDFium gives for a hyphen at a line's end: the word goes on."""


_LIGATURES: Final = frozenset(range(0x1C, 0x20))
"""What PDFium gives for ligatures whose letters their fonts name."""


class PdfPage:
    """An open page of a PDF, by its number from 1; use it in a `with` block."""

    def __init__(self, pdf: PdfDocument, number: int) -> None:
        self._pdf = pdf
        self._index = number - 1
        self._letters: PageBoxes | None = None

    def __enter__(self) -> Self:
        self._page = pdfium.FPDF_LoadPage(self._pdf.handle, self._index)
        self._textpage = pdfium.FPDFText_LoadPage(self._page)
        self.width, self.height = pdfium.FPDF_GetPageWidthF(self._page), pdfium.FPDF_GetPageHeightF(self._page)
        return self

    def __exit__(self, *_: object) -> None:
        pdfium.FPDFText_ClosePage(self._textpage)
        pdfium.FPDF_ClosePage(self._page)

    @cached_property
    def glyphs(self) -> Glyphs:
        """Its glyphs in drawing order, with tight boxes."""
        return _glyphs(self._pdf, self._textpage, self._shown)

    def boxes(self, text: str, start: int, end: int, recognised: Sequence[WordBox] = ()) -> list[Box]:
        """The boxes of `text[start:end]`, one per line, in reading order; empty if its place is not certain.

        `text` is the page's text as it was read, `recognised` the words that were recognised in its picture.
        """
        boxes = self._by_glyphs.of(text, start, end)
        if boxes or not recognised:
            return boxes
        if self._letters is None:
            letters = (letter for word in recognised for letter in _place_letters(word, self.width, self.height))
            self._letters = PageBoxes(Glyphs.of(letters))
        return self._letters.of(text, start, end)

    def write_picture(self, stem: Path) -> bool:
        """Write its picture atomically to `stem` with the suffix of its format; returns whether it could be drawn.

        Raises:
            OSError: it cannot be written.
        """
        packed = self._picture()
        if packed is None:
            return False
        content, suffix = packed
        part = stem.with_suffix(".part")
        part.write_bytes(content)
        part.replace(stem.with_suffix(suffix))
        return True

    def _picture(self) -> tuple[bytes, str] | None:
        if not self._pdf.uses_stand_in:
            return draw_picture(self._page, self.width, self.height)
        try:
            page = self._pdf.page(self._index)  # the stand-in would be drawn as squares
        except pypdfium2.PdfiumError:
            return None
        try:
            return draw_picture(page.raw, self.width, self.height)
        finally:
            page.close()

    @cached_property
    def _shown(self) -> "_Shown":
        return _Shown(self._page, self.width, self.height)

    @cached_property
    def _by_glyphs(self) -> PageBoxes:
        return PageBoxes(self.glyphs)


class _Shown:
    """Converts a page's own coordinates to those of the page as shown: cropped, turned, from its upper left corner."""

    def __init__(self, page: Any, width: float, height: float) -> None:
        origin, right, up = (_device(page, width, height, *at) for at in ((0, 0), (1000, 0), (0, 1000)))
        self._origin = origin
        self._right = ((right[0] - origin[0]) / 1000, (right[1] - origin[1]) / 1000)
        self._up = ((up[0] - origin[0]) / 1000, (up[1] - origin[1]) / 1000)
        self.is_upright = self._right[1] == self._up[0] == 0 and self._right[0] > 0 > self._up[1]

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]]) -> list[Sides]:
        """Boxes on the page as shown; they are given as left, right, bottom and top."""
        (x, y), (right_x, right_y), (up_x, up_y) = self._origin, self._right, self._up
        if self.is_upright:  # as nearly all pages are: in half the time
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
    count = max(0, pdfium.FPDFText_CountChars(textpage))
    if count > _MOST_GLYPHS:
        return Glyphs([], [], [])
    codes, drawn = character_codes(textpage, count), tight_boxes(textpage, count)
    for at in find_turned_ligatures(codes, drawn):
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
    return pages.find_lost_letters(pdf.data)


def open_pdf(path: Path) -> PdfDocument:
    """The PDF at `path`, to be used in a `with` block.

    Raises:
        Damaged: PDFium cannot open it.
    """
    try:
        return PdfDocument(with_parted_ranges(path))
    except NotOpened as error:
        raise Damaged("The PDF cannot be opened. Ask for it again.") from error


def draw_page(
    pdf: PdfDocument,
    number: int,
    text: str,
    spans: Iterable[tuple[int, int]],
    picture: str | None,
    recognised: Sequence[WordBox] = (),
) -> BoxedPage:
    """Find the boxes of spans of a page's text, and write its picture to a file, unless that is None.

    `picture` is the file's name without the suffix of its format, which is appended. `recognised` as in `boxes`.

    Raises:
        OSError: the picture cannot be written.
    """
    with PdfPage(pdf, number) as page:
        boxes = [page.boxes(text, *span, recognised) for span in spans]
        is_drawn = picture is not None and page.write_picture(Path(picture))
        return BoxedPage(number, page.width, page.height, boxes, is_drawn)


def _place_letters(word: WordBox, page_width: float, page_height: float) -> Iterator[tuple[str, Sides, bool]]:
    left, right = word.left * page_width, word.right * page_width
    top, bottom = word.top * page_height, word.bottom * page_height
    across, down = (right - left) / len(word.text), (bottom - top) / len(word.text)
    for place, letter in enumerate(word.text):
        if bottom - top > right - left and len(word.text) > 1:  # the line runs downwards
            box = left, top + place * down, right, top + (place + 1) * down
        else:
            box = left + place * across, top, left + (place + 1) * across, bottom
        yield letter, box, not place


VERSION: Final = "4"
"""Of the pictures and boxes: with another one they are made again."""
_AT_ONCE: Final = 20
"""Pages that are drawn in one go, under the limits of one document."""
_PROCESSES: Final = 2


class CitedSpan(NamedTuple):
    """A quotation's part on one page, as offsets in the page's text."""

    start: int
    end: int


class PageOrder(NamedTuple):
    """A page to draw: its number from 1, its text, the spans to box, and the file to write, None for no picture.

    The file's name has no suffix: that of the picture's format is appended. `recognised`: its words that were
    recognised in a picture, as `ocr.page.WordBox`.
    """

    number: int
    text: str
    spans: Sequence[CitedSpan]
    picture: str | None
    recognised: Sequence[WordBox] = ()


def draw_pages(path: Path, orders: Sequence[PageOrder]) -> list[BoxedPage]:
    """Draw pages of the PDF at `path`; a page that cannot be drawn has no picture.

    Raises:
        Unreadable, TookTooLong, Unavailable: the PDF cannot be opened within the limits.
    """
    pool = _pool(make_reading_limits(ReadingSettings.current()))
    pages: list[BoxedPage] = []
    for first in range(0, len(orders), _AT_ONCE):
        part = json.dumps([list(order) for order in orders[first : first + _AT_ONCE]])
        pages += map(_page, json.loads(pool.read(path, part).text))
    return pages


@lru_cache(maxsize=4)
def _pool(limits: Limits) -> ExtractionPool:
    return ExtractionPool(min(_PROCESSES, processors()), limits, draw)


def _page(values: list[Any]) -> BoxedPage:
    number, width, height, spans, is_drawn = values
    return BoxedPage(number, width, height, [[Box(*box) for box in boxes] for boxes in spans], is_drawn)


def draw(path: Path, orders: str) -> Reading:
    """What the processes run: the pages in `orders`, a list of `PageOrder` as JSON.

    Raises:
        Damaged: PDFium cannot open the document.
    """
    with open_pdf(path) as pdf:
        pages = [
            draw_page(pdf, number, text, spans, picture, [WordBox(*word) for word in recognised])
            for number, text, spans, picture, recognised in json.loads(orders)
        ]
    return Reading(json.dumps([[page.number, page.width, page.height, page.boxes, page.is_drawn] for page in pages]))


SUFFIXES: Final = (".png", ".webp")
"""Of the formats of pictures: by `pdf_page` the one or the other, by what is on the page."""

_REMOVED_AT_ONCE = 500  # contents that are looked up together


def picture_stem(content_hash: str, page: int) -> Path:
    """Where to draw the picture of a document's page, without the suffix of its format."""
    return _folder() / f"{content_hash[:2]}" / f"{content_hash}-{VERSION}-{page}"


def find_picture(content_hash: str, page: int) -> Path | None:
    """The picture of a document's page; None if it has not been drawn."""
    stem = picture_stem(content_hash, page)
    return next((path for suffix in SUFFIXES if (path := stem.with_suffix(suffix)).exists()), None)


def remove_pictures(without: Collection[int] = (), *, dry_run: bool = False) -> tuple[int, int]:
    """Remove pictures of an earlier version, or of contents without a text; returns their number and bytes.

    Args:
        without: the ids of texts that count as gone.
        dry_run: whether only to count.
    """
    by_content: dict[str, list[Path]] = {}
    for picture in (path for path in _folder().glob("??/*") if path.suffix in SUFFIXES):
        by_content.setdefault(picture.name.partition("-")[0], []).append(picture)
    contents = sorted(by_content)
    count = size = 0
    for start in range(0, len(contents), _REMOVED_AT_ONCE):
        some = contents[start : start + _REMOVED_AT_ONCE]
        with database.reading() as session:
            known = texts.contents_with_text(session, some, without)
        for content in some:
            for picture in by_content[content]:
                if content in known and picture.name.startswith(f"{content}-{VERSION}-"):
                    continue
                count, size = count + 1, size + picture.stat().st_size
                if not dry_run:
                    picture.unlink(missing_ok=True)
    return count, size


def _folder() -> Path:
    return database.home() / "evidence"

"""PDFium's own functions in Python's types: a document, and the text that PDFium extracts from it.

pypdfium2's classes are bypassed where they cost: reading the text of all pages through them takes 1.15 times as long.
pypdfium2 also gives each kind of pointer its own class: a call takes 0.5 µs through those and 0.2 µs through plain
prototypes, which are used here for calls made for each annotation and each comma. What these open is a number that only
they accept. Calls made for each glyph take 0.12 µs: none of their arguments is created or inspected for the call.

PDFium is not safe to call from several threads, and neither is this module.

Chinese, Japanese and Korean fonts that a PDF names without embedding them have a substitute. PDFium knows the character
maps of these fonts, but ignores a piece of text if none of its glyphs covers an area, and a missing font has no glyphs:
if each character is drawn by itself, or vertically, all are lost. PDFium asks for such a font by a callback. The answer
is a font of 400 bytes whose only glyph, a square, stands for every character: so the text and its position depend on
the PDF alone, not on the machine's fonts.

Pages that are drawn, for text recognition, need real fonts: see `left_out`.
"""

import contextlib
import ctypes
import os
import re
import struct
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress, repeat
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.reading.limits import keep_memory
from tasks.reading.pdf.repair import looks_like_bomb, without_bombs
from tasks.reading.text_writer import Source

_CHARSETS: Final = frozenset({128, 129, 134, 136})
"""Shift JIS, Hangul, GB 2312 and Big 5, as the callback has them (fpdf_sysfontinfo.h)."""

_NAME: Final = b"Stand-in\0"
"""PDFium keeps fonts by their names: no real one may have this."""

_EM: Final = 1000
_BOTTOM, _TOP = -120, 880
_CHARACTERS: Final = ((0x20, 0xD7FF, 1), (0xE000, 0x10FFFF, 1))
_ONE: Final = 1 << 16


def _font(characters: Sequence[tuple[int, int, int]], width: int) -> bytes:
    """A TrueType font of squares; the tables and their fields are those of the OpenType specification.

    `characters`: the first and the last of those for which a glyph stands, and its number; `width`: that of each.
    """
    count = characters[-1][2] + 1  # the first is that of characters without one
    points = struct.pack(">8h", 0, 0, width, 0, _BOTTOM, _TOP - _BOTTOM, 0, _BOTTOM - _TOP)
    square = struct.pack(">5hHH", 1, 0, _BOTTOM, width, _TOP, 3, 0) + bytes([1] * 4) + points + bytes(2)
    groups = b"".join(struct.pack(">III", *group) for group in characters)
    many_to_one = struct.pack(">HHIII", 13, 0, 16 + len(groups), 0, len(characters)) + groups
    tables = {
        b"cmap": struct.pack(">4HI", 0, 1, 3, 10, 12) + many_to_one,
        b"glyf": square * count,
        b"head": struct.pack(
            ">4I2H2Q4h2H3h", _ONE, _ONE, 0, 0x5F0F3CF5, 0, _EM, 0, 0, 0, _BOTTOM, width, _TOP, 0, 8, 2, 0, 0
        ),
        b"hhea": struct.pack(">I3hH11hH", _ONE, _TOP, _BOTTOM, 0, width, 0, 0, width, 1, *[0] * 7, 1),
        b"hmtx": struct.pack(">Hh", width, 0) + bytes(2 * count - 2),
        b"loca": struct.pack(f">{count + 1}H", *range(0, (count + 1) * len(square) // 2, len(square) // 2)),
        b"maxp": struct.pack(">I14H", _ONE, count, 4, 1, 0, 0, 1, *[0] * 8),
    }
    directory, content = struct.pack(">I4H", _ONE, len(tables), 64, 2, 16 * len(tables) - 64), b""
    start = len(directory) + 16 * len(tables)
    for name, table in tables.items():
        directory += name + struct.pack(">3I", 0, start + len(content), len(table))
        content += table + bytes(-len(table) % 4)
    return directory + content


class _FontSource:
    """Where PDFium asks for fonts that a document does not hold: those that it finds by itself, and the stand-in."""

    def __init__(self) -> None:
        self.uses = 0
        self.gives_stand_in = True
        self._data = ctypes.create_string_buffer(_font(_CHARACTERS, _EM))
        self._size = len(self._data) - 1
        self._handle = ctypes.addressof(self._data)  # what PDFium calls the font by: no other one has this address
        source = pdfium.FPDF_GetDefaultSystemFontInfo()
        if not source:
            return
        kinds = dict(pdfium.FPDF_SYSFONTINFO._fields_)
        self._callbacks: list[Any] = []  # kept: PDFium calls them
        for name, instead in (
            ("MapFont", self._font_for),
            ("GetFontData", self._font_data),
            ("GetFaceName", self._name),
            ("GetFontCharset", self._charset),
            ("DeleteFont", self._delete),
        ):
            own = kinds[name](ctypes.cast(getattr(source.contents, name), ctypes.c_void_p).value)
            self._callbacks.append(kinds[name](partial(instead, own)))
            setattr(source.contents, name, self._callbacks[-1])
        pdfium.FPDF_SetSystemFontInfo(source)

    def _font_for(self, own: Any, source: Any, weight: int, italic: int, charset: int, *names: Any) -> Any:
        if charset in _CHARSETS and self.gives_stand_in:
            self.uses += 1
            return self._handle
        return own(source, weight, italic, charset, *names)

    def _font_data(self, own: Any, source: Any, font: int, table: int, buffer: Any, size: int) -> Any:
        if font != self._handle:
            return own(source, font, table, buffer, size)
        if table:  # a single one is asked for to see whether this is a collection of fonts
            return 0
        if buffer and size >= self._size:
            ctypes.memmove(buffer, self._data, self._size)
        return self._size

    def _name(self, own: Any, source: Any, font: int, buffer: Any, size: int) -> Any:
        if font != self._handle:
            return own(source, font, buffer, size)
        if buffer and size >= len(_NAME):
            ctypes.memmove(buffer, _NAME, len(_NAME))
        return len(_NAME)

    def _charset(self, own: Any, source: Any, font: int) -> Any:
        return min(_CHARSETS) if font == self._handle else own(source, font)

    def _delete(self, own: Any, source: Any, font: int) -> None:
        if font != self._handle:
            own(source, font)


_source: Final = _FontSource()


def uses() -> int:
    """How often the substitute has been given to a document in this process."""
    return _source.uses


@contextlib.contextmanager
def left_out() -> Iterator[None]:
    """Documents opened in the block get the machine's fonts, if any, for those that they do not embed."""
    _source.gives_stand_in = False
    try:
        yield
    finally:
        _source.gives_stand_in = True


def new_text(document: Any, characters: str, size: float) -> Any:
    """A text object in a font that has these characters; all are squares, half as wide as high."""
    codes = enumerate(sorted(map(ord, set(characters))), 1)
    data = _font([(code, code, glyph) for glyph, code in codes], _EM // 2)
    buffer = (ctypes.c_uint8 * len(data))(*data)
    font = pdfium.FPDFText_LoadFont(document, buffer, len(data), pdfium.FPDF_FONT_TRUETYPE, 1)
    item = pdfium.FPDFPageObj_CreateTextObj(document, font, size)
    pdfium.FPDFFont_Close(font)
    return item


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in points of the page, whose y grows upwards."""
_HALVES: Final = re.compile("[\ud800-\udfff]")
_WIDE: Final = re.compile("[\U00010000-\U0010ffff]")


def plain(function: Any) -> Any:
    """The same function with pointers passed and returned as mere addresses.

    It keeps the interpreter's lock, because releasing that takes longer than these calls.
    """
    prototype = ctypes.PYFUNCTYPE(_plain_type(function.restype), *map(_plain_type, function.argtypes))
    return prototype(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _quick(function: Any) -> Any:
    """The same function without type checks: it takes integers, references and results of other quick functions."""
    kind = _Opened if _plain_type(function.restype) is ctypes.c_void_p else function.restype
    return ctypes.PYFUNCTYPE(kind)(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _plain_type(kind: Any) -> Any:
    return ctypes.c_void_p if isinstance(kind, type) and issubclass(kind, ctypes._Pointer) else kind  # noqa: SLF001


class _Opened(ctypes.c_void_p):
    """A handle from PDFium, as quick functions return and take it."""


class _Numbers:
    """Memory where PDFium writes several numbers per call, with references to it: creating one
    takes as long as a call.
    """

    def __init__(self, kind: Any, width: int, *, references: int) -> None:
        self._width = width
        self._values = (kind * (width * _AT_ONCE))()
        step = ctypes.sizeof(kind)
        self._references = [
            [ctypes.byref(self._values, step * at) for at in range(first, width * _AT_ONCE, width)]
            for first in range(references)
        ]

    def written(self, function: Any, items: Sequence[Any], *pointers: Any) -> tuple[list[list[float]], list[int]]:
        """What a function writes for each item, and what it returns.

        The first numbers of all items are in one list, the second ones in the next; 0 if it writes nothing.
        """
        columns: list[list[float]] = [[] for _ in range(self._width)]
        returned: list[int] = []
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            ctypes.memset(self._values, 0, ctypes.sizeof(self._values))
            returned += map(function, *map(repeat, pointers), part, *self._references)
            values = self._values[: self._width * len(part)]
            for at, column in enumerate(columns):
                column.extend(values[at :: self._width])
        return columns, returned


class _Buffer:
    """The buffer where PDFium writes strings, as UTF-16 units: one for all, which grows with the longest."""

    def __init__(self) -> None:
        self.written = 0
        self.grow(1 << 14)

    def grow(self, units: int) -> None:
        self.size = units
        self.units = (ctypes.c_ushort * units)()

    def text(self, units: int) -> str:
        """The text, with a space for half a character: PDFium returns only the first unit of icons beyond 16 bits."""
        data = ctypes.string_at(self.units, 2 * units)
        try:
            return data.decode("utf-16-le")
        except UnicodeDecodeError:
            return _HALVES.sub(" ", data.decode("utf-16-le", "surrogatepass"))


open_annotation: Final = plain(pdfium.FPDFPage_GetAnnot)
close_annotation: Final = plain(pdfium.FPDFPage_CloseAnnot)
kind_of: Final = plain(pdfium.FPDFAnnot_GetSubtype)
has_key: Final = plain(pdfium.FPDFAnnot_HasKey)
string_value: Final = plain(pdfium.FPDFAnnot_GetStringValue)
appearance: Final = plain(pdfium.FPDFAnnot_GetAP)
rectangle: Final = plain(pdfium.FPDFAnnot_GetRect)
set_flags: Final = plain(pdfium.FPDFAnnot_SetFlags)
field_kind: Final = plain(pdfium.FPDFAnnot_GetFormFieldType)
field_label: Final = plain(pdfium.FPDFAnnot_GetFormFieldAlternateName)
field_value: Final = plain(pdfium.FPDFAnnot_GetFormFieldValue)
count_options: Final = plain(pdfium.FPDFAnnot_GetOptionCount)
option_label: Final = plain(pdfium.FPDFAnnot_GetOptionLabel)
option_chosen: Final = plain(pdfium.FPDFAnnot_IsOptionSelected)
character_at: Final = plain(pdfium.FPDFText_GetCharIndexFromTextIndex)
character_angle: Final = plain(pdfium.FPDFText_GetCharAngle)
font: Final = plain(pdfium.FPDFTextObj_GetFont)
render_mode: Final = plain(pdfium.FPDFTextObj_GetTextRenderMode)

object_matrix: Final = _quick(pdfium.FPDFPageObj_GetMatrix)
draw_mode: Final = _quick(pdfium.FPDFPath_GetDrawMode)
count_segments: Final = _quick(pdfium.FPDFPath_CountSegments)
_path_segment: Final = _quick(pdfium.FPDFPath_GetPathSegment)
_segment_kind: Final = _quick(pdfium.FPDFPathSegment_GetType)
_segment_point: Final = _quick(pdfium.FPDFPathSegment_GetPoint)
_closes: Final = _quick(pdfium.FPDFPathSegment_GetClose)
_page_object: Final = _quick(pdfium.FPDFPage_GetObject)
object_kind: Final = _quick(pdfium.FPDFPageObj_GetType)
_count_in_form: Final = _quick(pdfium.FPDFFormObj_CountObjects)
_object_in_form: Final = _quick(pdfium.FPDFFormObj_GetObject)
_object_bounds: Final = _quick(pdfium.FPDFPageObj_GetBounds)
_loose_box: Final = _quick(pdfium.FPDFText_GetLooseCharBox)
_tight_box: Final = _quick(pdfium.FPDFText_GetCharBox)
_run_box: Final = _quick(pdfium.FPDFText_GetRect)
_origin: Final = _quick(pdfium.FPDFText_GetCharOrigin)
_code: Final = _quick(pdfium.FPDFText_GetUnicode)
_character_colour: Final = _quick(pdfium.FPDFText_GetFillColor)
_has_no_character: Final = _quick(pdfium.FPDFText_HasUnicodeMapError)
_is_generated: Final = _quick(pdfium.FPDFText_IsGenerated)
_angle: Final = _quick(pdfium.FPDFText_GetCharAngle)
_text_object: Final = plain(pdfium.FPDFText_GetTextObject)
_AT_ONCE: Final = 1024
_rectangles: Final = _Numbers(ctypes.c_float, 4, references=1)
_bounds: Final = _Numbers(ctypes.c_float, 4, references=4)
_boxes: Final = _Numbers(ctypes.c_double, 4, references=4)
_colours: Final = _Numbers(ctypes.c_uint, 4, references=4)
_points: Final = _Numbers(ctypes.c_double, 2, references=2)
_corners: Final = _Numbers(ctypes.c_float, 2, references=2)

READ_AT_ONCE: Final = 8 << 20
"""Bytes of a file that is read before PDFium opens it: it reads by half a kilobyte otherwise."""

_LAYERS_OFF: Final = re.compile(rb"/OFF\s{0,9}\[\s{0,9}\d|/BaseState\s{0,9}/OFF")
_LOCKED: Final = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
_buffer: Final = _Buffer()
_SHEETS: Final = re.compile(r"^Calc$|\bExcel\b")
_LONGEST: Final = 1 << 23
"""Units of a string or of a page's text; a longer one is not real."""

keep_memory()


class NotOpened(Exception):
    """PDFium cannot open the document; `locked` if that is for want of a password."""

    def __init__(self, code: int) -> None:
        super().__init__(f"PDFium's error {code}")
        self.locked = code in _LOCKED


@dataclass(slots=True)
class TagBudget:
    """How many children of elements of a document's structure are still looked at, for all its pages together.

    The children of one element may be on all pages, and PDFium looks at each of them for each page.
    """

    children: int = 1_000_000


class PdfDocument:
    """An open PDF of `size` bytes. One that is encrypted with an empty user password opens like any other.

    `bombed`: parts of it were left out, because PDFium ends the process when it unpacks more than fits into memory.

    Raises:
        NotOpened: PDFium cannot open it.
    """

    def __init__(self, source: Source) -> None:
        self.size = len(source) if isinstance(source, bytes) else source.stat().st_size
        if isinstance(source, Path) and self.size <= READ_AT_ONCE:
            source = source.read_bytes()
        self.bombed = False
        if isinstance(source, bytes):
            if looks_like_bomb(source) and (harmless := without_bombs(source)) is not None:
                source, self.bombed = harmless, True
            self.handle = pdfium.FPDF_LoadMemDocument64(source, len(source), None)
        else:
            self.handle = pdfium.FPDF_LoadDocument(os.fsencode(source), None)
        if not self.handle:
            raise NotOpened(pdfium.FPDF_GetLastError())
        self._stand_ins = uses()
        self._source = source  # PDFium reads from these bytes as long as the document is open
        self._forms: Any = None
        self._settings: Any = None
        self._classes: pypdfium2.PdfDocument | None = None
        self._is_drawn_from_copy = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._forms is not None:
            pdfium.FPDFDOC_ExitFormFillEnvironment(self._forms)
        if self._classes is not None:
            self._classes.close()
        if self._classes is None or self._is_drawn_from_copy:
            pdfium.FPDF_CloseDocument(self.handle)

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self._source if isinstance(self._source, bytes) else self._source.read_bytes()

    @cached_property
    def has_layers_off(self) -> bool:
        """Whether layers are switched off (ISO 32000-1, 8.11.4.3), if the file says so uncompressed."""
        return b"/OCProperties" in self.data and _LAYERS_OFF.search(self.data) is not None

    @cached_property
    def is_sheet(self) -> bool:
        """Whether Excel or LibreOffice Calc printed it, as it says of its creator (ISO 32000-1, 14.3.3)."""
        return _SHEETS.search(string(pdfium.FPDF_GetMetaText, self.handle, b"Creator")) is not None

    @cached_property
    def tags(self) -> TagBudget | None:
        """What may be looked at of its structure, if it says that its content is tagged (ISO 32000-1, 14.7.1)."""
        return TagBudget() if pdfium.FPDFCatalog_IsTagged(self.handle) else None

    @property
    def uses_stand_in(self) -> bool:
        """Whether the stand-in font has been used for one of the document's fonts so far."""
        return uses() > self._stand_ins

    @property
    def forms(self) -> Any:
        """PDFium's form handle: created on demand, None if the document has no form."""
        if self._forms is None and pdfium.FPDF_GetFormType(self.handle) != pdfium.FORMTYPE_NONE:
            self._settings = pdfium.FPDF_FORMFILLINFO(version=2)
            self._forms = pdfium.FPDFDOC_InitFormFillEnvironment(self.handle, self._settings)
        return self._forms

    def page(self, index: int) -> pypdfium2.PdfPage:
        """A page as a pypdfium2 object, for drawing; the caller closes it.

        Raises:
            pypdfium2.PdfiumError: it cannot be opened.
        """
        with left_out():  # it would be drawn as squares
            if self._classes is None:
                self._is_drawn_from_copy = self.uses_stand_in
                self._classes = pypdfium2.PdfDocument(self._source if self._is_drawn_from_copy else self.handle)
            return self._classes[index]


class PageText(NamedTuple):
    """The text of a page, its length in UTF-16 units, and how many characters PDFium counts."""

    text: str
    units: int
    characters: int

    @property
    def is_in_step(self) -> bool:
        """Whether PDFium's characters correspond one to one to those of the text."""
        return self.units == self.characters == len(self.text)


def page_text(textpage: Any) -> PageText:
    """The text of an open text page."""
    count = min(pdfium.FPDFText_CountChars(textpage), _LONGEST)
    if 2 * count >= _buffer.size:  # twice the room: what PDFium counts as one character may be two units
        _buffer.grow(3 * count)
    units = max(0, pdfium.FPDFText_GetText(textpage, 0, count, _buffer.units) - 1)  # without the NUL
    return PageText(_buffer.text(units), units, count)


def find_characters(textpage: Any, page_text: PageText, spots: list[int]) -> list[int]:
    """PDFium's numbers for some characters of a page's text."""
    if len(page_text.text) != page_text.units:  # PDFium counts characters beyond 16 bits twice
        wide = [match.start() for match in _WIDE.finditer(page_text.text)]
        spots = [spot + bisect_left(wide, spot) for spot in spots]
    if page_text.units != page_text.characters:
        spots = [character_at(textpage, spot) for spot in spots]
    return spots


def box_sides(textpage: Any, indices: Sequence[int]) -> list[list[float]]:
    """Left, top, right and bottom of the boxes of some characters of a page, one list each; 0 for
    those without a box.
    """
    return _rectangles.written(_loose_box, indices, _reference(textpage))[0]


def character_boxes(textpage: Any, indices: Sequence[int]) -> Iterator[Box]:
    """The boxes of some characters of a page; all 0 for those without one."""
    return zip(*box_sides(textpage, indices), strict=True)


def tight_boxes(textpage: Any, count: int) -> list[tuple[float, float, float, float] | None]:
    """The tight boxes of the first `count` characters of a page: left, right, bottom, top; None without one."""
    sides, have_box = _boxes.written(_tight_box, range(count), _reference(textpage))
    boxes: Iterator[Any] = zip(*sides, strict=True)
    return [box if has_box else None for box, has_box in zip(boxes, have_box, strict=True)]


def character_origins(textpage: Any, indices: Sequence[int]) -> Iterator[tuple[float, float]]:
    """The pen positions of some characters of a page."""
    xs, ys = _points.written(_origin, indices, _reference(textpage))[0]
    return zip(xs, ys, strict=True)


def character_angles(textpage: Any, indices: Iterable[int]) -> list[float]:
    """The rotation of some characters of a page, in radians."""
    return list(map(_angle, repeat(_reference(textpage)), indices))


def text_objects(textpage: Any, indices: Iterable[int]) -> list[int | None]:
    """The text objects that draw some characters of a page; None for characters that PDFium inserted."""
    return list(map(_text_object, repeat(_address(textpage)), indices))


def character_codes(textpage: Any, count: int) -> list[int]:
    """The code points of the first `count` characters of a page."""
    return list(map(_code, repeat(_reference(textpage)), range(count)))


def are_generated(textpage: Any, indices: Iterable[int]) -> list[int]:
    """1 for each of some characters of a page that PDFium inserted."""
    return list(map(_is_generated, repeat(_reference(textpage)), indices))


def have_no_character(textpage: Any, indices: Iterable[int]) -> list[int]:
    """1 for each of some characters of a page whose glyph its font does not name."""
    return list(map(_has_no_character, repeat(_reference(textpage)), indices))


def list_objects(page: Any, kinds: Collection[int], most: int) -> list[tuple[Any, Box]]:
    """Those of a page's first `most` objects that are of some kinds, with their boxes."""
    objects = page_objects(page, min(most, pdfium.FPDFPage_CountObjects(page)))
    wanted = list(compress(objects, map(kinds.__contains__, map(object_kind, objects))))
    (lefts, bottoms, rights, tops), have_box = _bounds.written(_object_bounds, wanted)
    return list(compress(zip(wanted, zip(lefts, tops, rights, bottoms, strict=True), strict=True), have_box))


def page_objects(page: Any, count: int) -> list[Any]:
    """The first so many objects of a page."""
    return list(map(_page_object, repeat(_reference(page)), range(count)))


def objects_in_form(form: Any, most: int) -> list[Any]:
    """The first `most` objects of a form."""
    return list(map(_object_in_form, repeat(form), range(min(most, _count_in_form(form)))))


def character_colours(textpage: Any, indices: Sequence[int]) -> list[tuple[float, ...] | None]:
    """The fill colours of some characters: red, green and blue up to 255; () if transparent, None if none is set."""
    (*colours, alphas), are_said = _colours.written(_character_colour, indices, _reference(textpage))
    every = zip(zip(*colours, strict=True), alphas, are_said, strict=True)
    return [(colour if alpha else ()) if is_said else None for colour, alpha, is_said in every]


def annotation_kinds(page: Any, count: int) -> Iterator[int]:
    """The kinds of the first so many annotations of a page."""
    address = _address(page)
    for index in range(count):
        annotation = open_annotation(address, index)
        yield kind_of(annotation) if annotation else pdfium.FPDF_ANNOT_UNKNOWN
        close_annotation(annotation)


def straight_segments(path: Any, count: int) -> Iterator[tuple[int, float, float, int]]:
    """The segments of a path up to its first curve: kind, end point, and whether they close a figure."""
    segments = list(map(_path_segment, repeat(path), range(count)))
    kinds = list(map(_segment_kind, segments))
    if pdfium.FPDF_SEGMENT_BEZIERTO in kinds:
        del segments[kinds.index(pdfium.FPDF_SEGMENT_BEZIERTO) :]
    (xs, ys), _ = _corners.written(_segment_point, segments)
    return zip(kinds, xs, ys, map(_closes, segments), strict=False)


def turn_upright(box: Box, turn: int) -> Box:
    """A box on a page whose words are turned by `turn` quarters, where it stands once the page is turned back."""
    left, top, right, bottom = box
    match turn:
        case 1:
            return -top, right, -bottom, left
        case 2:
            return -right, -bottom, -left, -top
        case 3:
            return bottom, -left, top, -right
        case _:
            return box


def run_boxes(textpage: Any, count: int, turn: int) -> list[Box]:
    """The boxes of the first so many runs of text of a page, after they were counted, turned upright."""
    sides, _ = _boxes.written(_run_box, range(count), _reference(textpage))
    boxes: list[Box] = list(zip(*sides, strict=True))
    return [turn_upright(box, turn) for box in boxes] if turn else boxes


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _reference(pointer: Any) -> Any:
    """A pointer in the form that quick functions take."""
    return ctypes.byref(pointer.contents)


def string(function: Any, *arguments: Any) -> str:
    """The string that `function` writes into a buffer as UTF-16, without half characters; "" for one above 16 MB."""
    size = function(*arguments, _buffer.units, 2 * _buffer.size)
    _buffer.written += size
    if size <= 2 or size > 2 * _LONGEST:
        return ""
    if size > 2 * _buffer.size:
        _buffer.grow(size)
        function(*arguments, _buffer.units, size)
    return _buffer.text(size // 2 - 1)


def count_written() -> int:
    """The bytes of all strings that PDFium has produced so far: a string with many references is produced each time."""
    return _buffer.written

"""PDFium's own calls in Python's types: a document, its outline, and the strings that PDFium writes.

pypdfium2's classes are left out where they cost: reading the text of all pages through them takes 1.15 times as long
as through the calls themselves. pypdfium2 also gives each kind of pointer a class of its own: a call takes 0.5 µs
through those and 0.2 µs through plain prototypes, which the calls have here that are made for each annotation and each
comma. What these open is a number, which only they take.

PDFium is not safe to call from several threads, nor is what is here.
"""

import ctypes
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.documents.extract.limits import keep_memory
from tasks.documents.extract.pdf import stand_in_font
from tasks.documents.extract.pdf.repair import looks_like_bomb, without_bombs
from tasks.documents.extract.text_writer import Source
from tasks.text.normalise import one_line

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in points of the page, whose y grows upwards."""


def _plain(function: Any) -> Any:
    """The same function, whose pointers, handed over and returned, are mere addresses.

    It keeps the interpreter's lock, for giving that up takes longer than what these do.
    """
    prototype = ctypes.PYFUNCTYPE(_plain_type(function.restype), *map(_plain_type, function.argtypes))
    return prototype(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _plain_type(kind: Any) -> Any:
    return ctypes.c_void_p if isinstance(kind, type) and issubclass(kind, ctypes._Pointer) else kind  # noqa: SLF001


class _Buffer:
    """Where PDFium writes strings, as UTF-16 units: one for all, which grows to the longest."""

    def __init__(self) -> None:
        self.written = 0
        self.grow(1 << 14)

    def grow(self, units: int) -> None:
        self.size = units
        self.units = (ctypes.c_ushort * units)()

    def text(self, units: int) -> str:
        return ctypes.string_at(self.units, 2 * units).decode("utf-16-le", "ignore")


open_annotation: Final = _plain(pdfium.FPDFPage_GetAnnot)
close_annotation: Final = _plain(pdfium.FPDFPage_CloseAnnot)
kind_of: Final = _plain(pdfium.FPDFAnnot_GetSubtype)
has_key: Final = _plain(pdfium.FPDFAnnot_HasKey)
string_value: Final = _plain(pdfium.FPDFAnnot_GetStringValue)
appearance: Final = _plain(pdfium.FPDFAnnot_GetAP)
rectangle: Final = _plain(pdfium.FPDFAnnot_GetRect)
set_flags: Final = _plain(pdfium.FPDFAnnot_SetFlags)
field_kind: Final = _plain(pdfium.FPDFAnnot_GetFormFieldType)
field_value: Final = _plain(pdfium.FPDFAnnot_GetFormFieldValue)
count_options: Final = _plain(pdfium.FPDFAnnot_GetOptionCount)
option_label: Final = _plain(pdfium.FPDFAnnot_GetOptionLabel)
option_chosen: Final = _plain(pdfium.FPDFAnnot_IsOptionSelected)
character_at: Final = _plain(pdfium.FPDFText_GetCharIndexFromTextIndex)
character_box: Final = _plain(pdfium.FPDFText_GetLooseCharBox)
tight_box: Final = _plain(pdfium.FPDFText_GetCharBox)
run_box: Final = _plain(pdfium.FPDFText_GetRect)
character_code: Final = _plain(pdfium.FPDFText_GetUnicode)
character_angle: Final = _plain(pdfium.FPDFText_GetCharAngle)
text_object: Final = _plain(pdfium.FPDFText_GetTextObject)
is_generated: Final = _plain(pdfium.FPDFText_IsGenerated)
page_object: Final = _plain(pdfium.FPDFPage_GetObject)
object_kind: Final = _plain(pdfium.FPDFPageObj_GetType)
object_bounds: Final = _plain(pdfium.FPDFPageObj_GetBounds)
object_matrix: Final = _plain(pdfium.FPDFPageObj_GetMatrix)
draw_mode: Final = _plain(pdfium.FPDFPath_GetDrawMode)
count_segments: Final = _plain(pdfium.FPDFPath_CountSegments)
path_segment: Final = _plain(pdfium.FPDFPath_GetPathSegment)
segment_point: Final = _plain(pdfium.FPDFPathSegment_GetPoint)
segment_kind: Final = _plain(pdfium.FPDFPathSegment_GetType)
closes: Final = _plain(pdfium.FPDFPathSegment_GetClose)
character_origin: Final = _plain(pdfium.FPDFText_GetCharOrigin)
has_no_character: Final = _plain(pdfium.FPDFText_HasUnicodeMapError)
READ_AT_ONCE: Final = 8 << 20
"""Bytes of a file that is read before PDFium opens it: it reads by half a kilobyte otherwise."""

_LOCKED: Final = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
_buffer: Final = _Buffer()
_LONGEST: Final = 1 << 23
"""Units of a string or of a page's text; a longer one is not real."""

_MOST_OUTLINE_ITEMS: Final = 20_000
_DEEPEST: Final = 64
_MOST_OUTLINE_BYTES: Final = 8 << 20
keep_memory()


class NotOpened(Exception):
    """PDFium does not open the document; `locked` where that is for want of a password."""

    def __init__(self, code: int) -> None:
        super().__init__(f"PDFium's error {code}")
        self.locked = code in _LOCKED


class PdfDocument:
    """An open PDF of `size` bytes. One that is encrypted with an empty user password opens like any other.

    `bombed`: parts of it were left out, for PDFium ends the process when it unpacks more than memory holds.

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
        self._stand_ins = stand_in_font.uses()
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

    @property
    def uses_stand_in(self) -> bool:
        """Whether a font stood in for one of the document's so far."""
        return stand_in_font.uses() > self._stand_ins

    @property
    def forms(self) -> Any:
        """What PDFium asks for with a form field: made when first wanted, None where the document has no form."""
        if self._forms is None and pdfium.FPDF_GetFormType(self.handle) != pdfium.FORMTYPE_NONE:
            self._settings = pdfium.FPDF_FORMFILLINFO(version=2)
            self._forms = pdfium.FPDFDOC_InitFormFillEnvironment(self.handle, self._settings)
        return self._forms

    def page(self, index: int) -> pypdfium2.PdfPage:
        """A page as pypdfium2 has it, to be drawn; the caller closes it.

        Raises:
            pypdfium2.PdfiumError: it cannot be opened.
        """
        with stand_in_font.left_out():  # it would be drawn as squares
            if self._classes is None:
                self._is_drawn_from_copy = self.uses_stand_in
                self._classes = pypdfium2.PdfDocument(self._source if self._is_drawn_from_copy else self.handle)
            return self._classes[index]


def titles(document: PdfDocument) -> Iterator[str]:
    """The titles in order, at most 20,000 of 8 MB, 64 levels deep; an outline that runs in a circle ends."""
    end = written() + _MOST_OUTLINE_BYTES
    seen: set[int] = set()
    above: list[Any] = []
    bookmark = pdfium.FPDFBookmark_GetFirstChild(document.handle, None)
    while bookmark or above:
        if not bookmark:
            bookmark = pdfium.FPDFBookmark_GetNextSibling(document.handle, above.pop())
            continue
        address = ctypes.addressof(bookmark.contents)
        if address in seen or len(seen) == _MOST_OUTLINE_ITEMS or written() > end:
            bookmark = None
            continue
        seen.add(address)
        yield one_line(string(pdfium.FPDFBookmark_GetTitle, bookmark))
        above.append(bookmark)
        deeper = len(above) <= _DEEPEST
        bookmark = pdfium.FPDFBookmark_GetFirstChild(document.handle, bookmark) if deeper else None


class PageText(NamedTuple):
    """The text of a page, its length in UTF-16 units, and how many characters PDFium counts."""

    text: str
    units: int
    characters: int


def page_text(textpage: Any) -> PageText:
    """The text of an open text page."""
    count = min(pdfium.FPDFText_CountChars(textpage), _LONGEST)
    if 2 * count >= _buffer.size:  # twice the room: what PDFium counts as one character may be two units
        _buffer.grow(3 * count)
    units = max(0, pdfium.FPDFText_GetText(textpage, 0, count, _buffer.units) - 1)  # without the NUL
    return PageText(_buffer.text(units), units, count)


def character_boxes(textpage: Any, indices: Sequence[int]) -> Iterator[Box]:
    """The boxes of some characters of a page; all is 0 of one that has none. A third of the time of single calls."""
    count = len(indices)
    floats = (ctypes.c_float * (4 * count))()
    start = ctypes.addressof(floats)
    _run(map(character_box, repeat(_address(textpage)), indices, range(start, start + 16 * count, 16)))
    values = floats[:]
    return zip(values[0::4], values[1::4], values[2::4], values[3::4], strict=True)


def tight_boxes(textpage: Any, count: int) -> list[tuple[float, float, float, float] | None]:
    """The boxes that just hold the first so many characters of a page: left, right, bottom, top; None without one."""
    doubles = (ctypes.c_double * (4 * count))()
    start = ctypes.addressof(doubles)
    sides = (range(start + at, start + at + 32 * count, 32) for at in (0, 8, 16, 24))
    have_box = list(map(tight_box, repeat(_address(textpage)), range(count), *sides))
    values = doubles[:]
    boxes = zip(values[0::4], values[1::4], values[2::4], values[3::4], strict=True)
    return [box if has_box else None for box, has_box in zip(boxes, have_box, strict=True)]


def character_origins(textpage: Any, indices: Sequence[int]) -> Iterator[tuple[float, float]]:
    """Where the pen stood for some characters of a page."""
    count = len(indices)
    doubles = (ctypes.c_double * (2 * count))()
    start = ctypes.addressof(doubles)
    xs, ys = range(start, start + 16 * count, 16), range(start + 8, start + 8 + 16 * count, 16)
    _run(map(character_origin, repeat(_address(textpage)), indices, xs, ys))
    values = doubles[:]
    return zip(values[0::2], values[1::2], strict=True)


def character_angles(textpage: Any, indices: Iterable[int]) -> list[float]:
    """By how much some characters of a page are turned, in radians."""
    return list(map(character_angle, repeat(_address(textpage)), indices))


def text_objects(textpage: Any, indices: Iterable[int]) -> list[int | None]:
    """The pieces of text that draw some characters of a page; None for one that PDFium puts in."""
    return list(map(text_object, repeat(_address(textpage)), indices))


def character_codes(textpage: Any, count: int) -> list[int]:
    """The first so many characters of a page, as their numbers."""
    return list(map(character_code, repeat(_address(textpage)), range(count)))


def objects_of(page: Any, kind: int, most: int) -> list[tuple[int, Box]]:
    """Those among the first so many objects of a page that are of a kind, and their boxes."""
    count = min(most, pdfium.FPDFPage_CountObjects(page))
    objects = list(map(page_object, repeat(_address(page)), range(count)))
    wanted = [item for item, its_kind in zip(objects, map(object_kind, objects), strict=True) if its_kind == kind]
    count = len(wanted)
    floats = (ctypes.c_float * (4 * count))()
    start = ctypes.addressof(floats)
    lefts, bottoms, rights, tops = (range(start + at, start + at + 16 * count, 16) for at in (0, 4, 8, 12))
    have_box = list(map(object_bounds, wanted, lefts, bottoms, rights, tops))
    values = floats[:]
    boxes = zip(values[0::4], values[3::4], values[2::4], values[1::4], strict=True)
    return [(item, box) for item, box, has_box in zip(wanted, boxes, have_box, strict=True) if has_box]


def run_boxes(textpage: Any, count: int) -> list[Box]:
    """The boxes of the first so many runs of text of a page, after they were counted."""
    doubles = (ctypes.c_double * (4 * count))()
    start = ctypes.addressof(doubles)
    corners = (range(start + at, start + at + 32 * count, 32) for at in (0, 8, 16, 24))
    _run(map(run_box, repeat(_address(textpage)), range(count), *corners))
    values = doubles[:]
    return list(zip(values[0::4], values[1::4], values[2::4], values[3::4], strict=True))


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _run(calls: Iterable[Any]) -> None:
    deque(calls, maxlen=0)


def string(function: Any, *arguments: Any) -> str:
    """The string that `function` writes into a buffer, as UTF-16, without halves of characters; "" for one of 16 MB."""
    size = function(*arguments, _buffer.units, 2 * _buffer.size)
    _buffer.written += size
    if size <= 2 or size > 2 * _LONGEST:
        return ""
    if size > 2 * _buffer.size:
        _buffer.grow(size)
        function(*arguments, _buffer.units, size)
    return _buffer.text(size // 2 - 1)


def written() -> int:
    """Bytes of all strings that PDFium has made here so far: one that is meant very often is made each time."""
    return _buffer.written


def attached_file(annotation: int) -> Any:
    """The file that an annotation pins to the page, as pypdfium2's own prototypes take it."""
    return pdfium.FPDFAnnot_GetFileAttachment(ctypes.cast(annotation, pdfium.FPDF_ANNOTATION))

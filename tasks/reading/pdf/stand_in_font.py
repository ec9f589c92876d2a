"""A substitute for Chinese, Japanese and Korean fonts that a PDF names without embedding them.

PDFium knows the character maps of these fonts, but ignores a piece of text if none of its glyphs covers an area, and a
missing font has no glyphs: if each character is drawn by itself, or vertically, all are lost. PDFium asks for such a
font by a callback. The answer is a font of 400 bytes whose only glyph, a square, stands for every character: so the
text and its position depend on the PDF alone, not on the machine's fonts.

Pages that are drawn, for text recognition, need real fonts: see `left_out`.
"""

import contextlib
import ctypes
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pypdfium2  # noqa: F401 - starts PDFium
import pypdfium2.raw as pdfium

_CHARSETS: Final = frozenset({128, 129, 134, 136})
"""Shift JIS, Hangul, GB 2312 and Big 5, as the callback has them (fpdf_sysfontinfo.h)."""

_NAME: Final = b"Stand-in\0"
"""PDFium keeps fonts by their names: no real one may have this."""

_EM: Final = 1000
_BOTTOM, _TOP = -120, 880
_CHARACTERS: Final = ((0x20, 0xD7FF), (0xE000, 0x10FFFF))
_ONE: Final = 1 << 16


def _font() -> bytes:
    """A TrueType font; the tables and their fields are those of the OpenType specification."""
    points = struct.pack(">8h", 0, 0, _EM, 0, _BOTTOM, _TOP - _BOTTOM, 0, _BOTTOM - _TOP)
    square = struct.pack(">5hHH", 1, 0, _BOTTOM, _EM, _TOP, 3, 0) + bytes([1] * 4) + points + bytes(2)
    groups = b"".join(struct.pack(">III", first, last, 1) for first, last in _CHARACTERS)
    many_to_one = struct.pack(">HHIII", 13, 0, 16 + len(groups), 0, len(_CHARACTERS)) + groups
    tables = {
        b"cmap": struct.pack(">4HI", 0, 1, 3, 10, 12) + many_to_one,
        b"glyf": square * 2,  # the first is that of characters without one
        b"head": struct.pack(
            ">4I2H2Q4h2H3h", _ONE, _ONE, 0, 0x5F0F3CF5, 0, _EM, 0, 0, 0, _BOTTOM, _EM, _TOP, 0, 8, 2, 0, 0
        ),
        b"hhea": struct.pack(">I3hH11hH", _ONE, _TOP, _BOTTOM, 0, _EM, 0, 0, _EM, 1, *[0] * 7, 1),
        b"hmtx": struct.pack(">H2h", _EM, 0, 0),
        b"loca": struct.pack(">3H", 0, len(square) // 2, len(square)),
        b"maxp": struct.pack(">I14H", _ONE, 2, 4, 1, 0, 0, 1, *[0] * 8),
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
        self._data = ctypes.create_string_buffer(_font())
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

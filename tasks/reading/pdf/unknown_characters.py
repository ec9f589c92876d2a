"""Characters of a page that nobody knows: its fonts draw glyphs and do not say which characters they are.

PDFium gives the number that such a glyph has in its font as if it were a character. In fonts of one's own that is the
right one often ("A" is number 65), and anything else as often: who reads it cannot tell.
"""

import re
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.document import PageText

_STEP: Final = 24
"""Of so many characters one is asked for first: a font without names has more of them than that."""

_NOT_CHARACTERS: Final = re.compile("[\x00\x01\x03-\x08\x0e-\x1f\ufffd\ue000-\uefff\uf100-\uf8ff]")
"""Numbers of glyphs, and characters for private use; those from U+F000 are symbols, such as bullets.

PDFium marks hyphens with U+0002.
"""

_CONTROLS: Final = bytes([0, 1, *range(3, 9), *range(14, 32)])
_CONTROLS_OF_SYMBOLS: Final = range(0x80, 0xA0)
"""Controls that are glyphs of fonts for symbols: arrows for quotation marks."""
UNKNOWN: Final = "\ufffd"
_LONGEST: Final = 1_000_000
_FEW: Final = 10
_MANY: Final = 0.3
"""The share of a page's characters."""

_WORD: Final = re.compile(r"[^\W_]{3,}")
_ALIKE: Final = 0.5
"""The share of recognised words that a page has itself where its text is right."""


def count_in(textpage: Any, count: int) -> int:
    """How many of the characters of an open text page have no name, of `count` in all; 8 µs where all have one."""
    if 1 not in document.have_no_character(textpage, range(0, count, _STEP)):
        return 0
    unknown = document.have_no_character(textpage, range(count))
    codes = document.character_codes(textpage, count)
    return sum(has_none == 1 and code > ord(" ") for has_none, code in zip(unknown, codes, strict=True))


def with_left_out(textpage: Any, page_text: PageText) -> PageText:
    """The text of a page with what PDFium leaves out of it for being a control character.

    A glyph that its font does not name is U+FFFD: in articles it is the minus before a figure, which must not read as
    positive.
    """
    count = page_text.characters
    if page_text.units >= count or len(page_text.text) != page_text.units:  # the usual
        return page_text
    text: list[str] = []
    at = 0
    for index, code in enumerate(document.character_codes(textpage, count)):
        is_control = code < ord(" ") or code in _CONTROLS_OF_SYMBOLS
        if not is_control or pdfium.FPDFText_GetTextIndexFromCharIndex(textpage, index) >= 0:
            text.append(page_text.text[at : at + 1])
            at += 1
        elif code in _CONTROLS_OF_SYMBOLS or document.have_no_character(textpage, [index]) == [1]:
            text.append(UNKNOWN)
        else:
            return page_text
    return PageText("".join(text), count, count) if len(text) == count else page_text


def are_left_in(text: str) -> bool:
    """Whether numbers stand in a text that are no characters, as far as a page of any use goes."""
    text = text[:_LONGEST]
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw.translate(None, _CONTROLS)) == len(raw) and b"\xee" not in raw and b"\xef" not in raw:  # the usual
        return False
    return _NOT_CHARACTERS.search(text) is not None


def are_many(count: int, text: str) -> bool:
    """Whether so many characters are too many for the page's text to be kept without asking."""
    return count >= max(_FEW, _MANY * len("".join(text.split())))


def are_confirmed(text: str, recognised: str) -> bool:
    """Whether a page says what was recognised on it."""
    words = {word.casefold() for word in _WORD.findall(text)}
    found = [word.casefold() for word in _WORD.findall(recognised)]
    return bool(found) and sum(word in words for word in found) >= _ALIKE * len(found)

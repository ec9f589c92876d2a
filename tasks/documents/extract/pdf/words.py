"""The words and lines of a PDF's page, by the places of their characters.

PDFium gives the characters of a page in the order in which they are drawn, with a space or a line break where it takes
one for meant. Words come from that text; where it has come apart, letter by letter, they come from the gaps between the
boxes of the glyphs. All lengths are points; `base` grows from the top of the page to its bottom.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import pi
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf import document
from tasks.documents.extract.pdf.document import PageText

_WORD: Final = re.compile(r"\S+")
_LETTERS: Final = 0.85
"""A font's size as a share of the height of its characters' boxes."""
_WORD_GAP: Final = 0.13
"""Glyphs whose gap is wider, as a share of the size, are of two words. A space is 0.2 to 0.3."""
_CELL_GAP: Final = 0.9
"""Words whose gap is wider, as a share of the size, stand in cells of their own where other lines agree."""
_SAME_LINE: Final = 0.35
"""How far a word may be raised or lowered, as a share of the size, to belong to the line: an exponent is 0.33."""
_FEW: Final = 6
"""Lines above that a word is held against: those of columns side by side come in turns."""
_MOST: Final = 30_000
"""Characters of a page that are looked at; pages that print more hold no table for people."""


@dataclass(slots=True)
class Word:
    """Characters `first` up to `end` of the page, as PDFium counts them, without white space among them."""

    text: str
    left: float
    right: float
    base: float
    size: float
    first: int
    end: int


@dataclass(slots=True)
class Cell:
    """Words of a line that stand together."""

    words: list[Word]

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.words[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.words[-1].right

    @property
    def text(self) -> str:
        """Its words with single spaces."""
        return " ".join(word.text for word in self.words)


@dataclass(slots=True)
class Line:
    """Words side by side, from left to right; `cells` are those that wide gaps part."""

    words: list[Word]
    base: float
    size: float
    cells: list[Cell]

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.words[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(word.right for word in self.words)


def words_of_text(textpage: Any, page_text: PageText) -> list[Word]:
    """The words of a page as PDFium parts them. A page whose characters it counts otherwise than its text has none."""
    if page_text.units != page_text.characters or page_text.characters > _MOST:
        return []
    before, after = pdfium.FS_RECTF(), pdfium.FS_RECTF()
    boxes = ctypes.byref(before), ctypes.byref(after)
    words: list[Word] = []
    for match in _WORD.finditer(page_text.text):
        first, end = match.span()
        if not (
            document.character_box(textpage, first, boxes[0]) and document.character_box(textpage, end - 1, boxes[1])
        ):
            continue
        size = _LETTERS * (before.top - before.bottom)
        if size > 0 and abs(before.bottom - after.bottom) < size and after.right > before.left:
            words.append(Word(match[0], before.left, after.right, -before.bottom, size, first, end))
    return words


def words_of_glyphs(textpage: Any) -> list[Word]:
    """The words of a page by the gaps between its glyphs, turned upright where most of them lie on their side."""
    words: list[Word] = []
    last: Word | None = None
    glyphs = list(_glyphs(textpage))
    turns = Counter(turn for *_, turn in glyphs)
    upright = turns.most_common(1)[0][0] if turns else 0
    for index, character, box, origin, turn in glyphs:
        if turn != upright or character.isspace():
            last = None
            continue
        left, right, base, height = _turned(box, origin, turn)
        size = _LETTERS * height
        if (
            last is not None
            and abs(base - last.base) < _WORD_GAP * size
            and -size / 2 < left - last.right < _WORD_GAP * min(size, last.size)
        ):
            last.text += character
            last.right, last.end = max(last.right, right), index + 1
        else:
            last = Word(character, left, right, base, size, index, index + 1)
            words.append(last)
    return words


def _glyphs(textpage: Any) -> Iterator[tuple[int, str, Any, tuple[float, float], int]]:
    """Each drawn character: its number, itself, its box, its origin, and by how many quarters it is turned."""
    x, y = ctypes.c_double(), ctypes.c_double()
    for index in range(min(pdfium.FPDFText_CountChars(textpage), _MOST)):
        code = pdfium.FPDFText_GetUnicode(textpage, index)
        if code < ord(" ") or pdfium.FPDFText_IsGenerated(textpage, index):
            continue
        box = pdfium.FS_RECTF()
        document.character_box(textpage, index, ctypes.byref(box))
        pdfium.FPDFText_GetCharOrigin(textpage, index, x, y)
        turn = round(pdfium.FPDFText_GetCharAngle(textpage, index) / (pi / 2)) % 4
        yield index, chr(code), box, (x.value, y.value), turn


def _turned(box: Any, origin: tuple[float, float], turn: int) -> tuple[float, float, float, float]:
    """Left, right, base and height of a glyph's box after its line was turned upright."""
    match turn:
        case 1:
            return -box.top, -box.bottom, -origin[0], box.right - box.left
        case 2:
            return -box.right, -box.left, origin[1], box.top - box.bottom
        case 3:
            return box.bottom, box.top, origin[0], box.right - box.left
        case _:
            return box.left, box.right, -origin[1], box.top - box.bottom


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Words put into lines, from the top of the page to its bottom. Exponents join the line beside them."""
    lines: list[Line] = []
    for word in sorted(words, key=lambda word: (word.base, word.left)):
        for line in lines[: -_FEW - 1 : -1]:
            if abs(word.base - line.base) <= _SAME_LINE * min(word.size, line.size):
                line.words.append(word)
                if word.size > line.size:
                    line.size, line.base = word.size, word.base
                break
        else:
            lines.append(Line([word], word.base, word.size, []))
    for line in lines:
        line.words.sort(key=lambda word: word.left)
        line.words = _joined(line.words)
        line.cells = _cells(line.words)
    lines.sort(key=lambda line: line.base)
    return lines


def _joined(words: list[Word]) -> list[Word]:
    """The words of a line, pieces without a gap between them in one."""
    joined = [words[0]]
    for word in words[1:]:
        last = joined[-1]
        near = -word.size / 2 < word.left - last.right < _WORD_GAP * min(word.size, last.size)
        if near and abs(word.base - last.base) < _WORD_GAP * word.size:
            last.text += word.text
            last.right, last.end = max(last.right, word.right), word.end
        else:
            joined.append(word)
    return joined


def _cells(words: list[Word]) -> list[Cell]:
    cells = [Cell([words[0]])]
    for word in words[1:]:
        last = cells[-1].words[-1]
        if word.left - last.right > _CELL_GAP * min(word.size, last.size):
            cells.append(Cell([word]))
        else:
            cells[-1].words.append(word)
    return cells

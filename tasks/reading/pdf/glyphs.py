"""The words of a PDF's page by the gaps between its glyphs, where its text has come apart or is printed twice."""

from collections import deque
from collections.abc import Iterable
from math import pi
from operator import itemgetter
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.document import Box
from tasks.reading.pdf.words import FARTHEST, LETTERS, MOST, WORD_GAP, Word, upright

_SAME: Final = 0.6
"""How far two equal glyphs stand apart that are one, as a share of their width."""
_MOST_ALIKE: Final = 64
"""Equal glyphs of a line that a glyph is held against."""
_Glyph = tuple[int, str, Box, tuple[float, float]]
"""A character's number, itself, its box and its origin."""


def words_by_turn(textpage: Any, *, twice: bool = False) -> dict[int, list[Word]]:
    """The words of a page by the gaps between its glyphs, and by how many quarters these are turned.

    `twice`: some are drawn on top of each other, and are taken once and from left to right.
    """
    glyphs = _glyphs(textpage)
    return {turn: _words(_once(held, turn) if twice else held, turn) for turn, held in glyphs.items()}


def _words(glyphs: Iterable[_Glyph], turn: int) -> list[Word]:
    """The words of glyphs, in their order."""
    words: list[Word] = []
    last: Word | None = None
    for index, character, box, origin in glyphs:
        if character.isspace():
            last = None
            continue
        left, right, base, height = upright(box, origin, turn)
        size = LETTERS * height
        if (
            last is not None
            and abs(base - last.base) < WORD_GAP * size
            and -size / 2 < left - last.right < WORD_GAP * min(size, last.size)
        ):
            last.text += character
            last.right, last.end = max(last.right, right), index + 1
        else:
            last = Word(character, left, right, base, size, index, index + 1)
            words.append(last)
    return words


def _glyphs(textpage: Any) -> dict[int, list[_Glyph]]:
    """The drawn characters of a page, by how many quarters they are turned."""
    count = min(pdfium.FPDFText_CountChars(textpage), MOST)
    drawn = [
        (index, code)
        for index, code in enumerate(document.character_codes(textpage, count))
        if code >= ord(" ") and not document.is_generated(textpage, index)
    ]
    indices = [index for index, _ in drawn]
    boxes, origins = document.character_boxes(textpage, indices), document.character_origins(textpage, indices)
    angles = document.character_angles(textpage, indices)
    by_turn: dict[int, list[_Glyph]] = {}
    for (index, code), box, origin, angle in zip(drawn, boxes, origins, angles, strict=True):
        by_turn.setdefault(round(angle / (pi / 2)) % 4, []).append((index, chr(code), box, origin))
    return by_turn


def _once(glyphs: Iterable[_Glyph], turn: int) -> list[_Glyph]:
    """Each of the glyphs that stand on top of each other once, from left to right in lines from the top."""
    seen: dict[tuple[str, int], deque[float]] = {}
    placed: list[tuple[float, float, _Glyph]] = []
    for glyph in glyphs:
        _, character, box, origin = glyph
        left, right, base, _ = upright(box, origin, turn)
        level, near = round(base), _SAME * (right - left)
        others = [place for y in (level - 1, level, level + 1) for place in seen.get((character, y), ())]
        if not character.isspace() and any(abs(place - left) < near for place in others):
            continue
        seen.setdefault((character, level), deque(maxlen=_MOST_ALIKE)).append(left)
        placed.append((base, left, glyph))
    placed.sort(key=itemgetter(0))
    lines: list[list[tuple[float, float, _Glyph]]] = []
    for item in placed:
        if lines and item[0] - lines[-1][-1][0] < FARTHEST / 2:
            lines[-1].append(item)
        else:
            lines.append([item])
    return [glyph for line in lines for _, _, glyph in sorted(line, key=itemgetter(1))]

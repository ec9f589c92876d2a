"""Pages written from top to bottom, in columns from right to left, as Japanese and Chinese ones are.

PDFium gives each column as a line, but in no certain order, and columns whose glyphs are drawn one by one as rows
across them. Here the order in which the page draws its glyphs tells which are written downwards; the white between
them tells the columns and what stands beside, above and below them. Digits side by side in a column stay together,
and marks drawn for this direction (U+FE12) become the ordinary ones.

A page of rows is left as it is, at the cost of a look at its text and, where that is East Asian, at some glyphs.
"""

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import atan2, pi
from operator import attrgetter
from statistics import median
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document

_EAST_ASIAN: Final = re.compile(
    "[\u2e80-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe10-\ufe4f\uff01-\uff9f\U00020000-\U0003ffff]"
)
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_SAMPLES: Final = 32
"""Characters that are looked at first."""

_PLAIN: Final = 0.9
"""Their share that have the next one beside them on a page of rows: the others end a line."""

_MOST_GLYPHS: Final = 10_000
"""Of a page; one of more is left as PDFium has it. A newspaper's has 8,000."""

_MOST_OBJECTS: Final = 20_000
_DEEPEST: Final = 3
_STEP: Final = 1.35
"""The longest step down a column between glyphs that are drawn one by one, in heights of a glyph; rows have longer."""

_BESIDE: Final = 0.35
"""How far two glyphs of a column may be from one line, as a share of a glyph."""

_COLUMN: Final = 4
"""Glyphs one below the other that surely are a column."""

_SHARE: Final = 0.3
"""Of a page's East Asian glyphs, those in columns where the page is one of columns."""

_BAND: Final = 1.2
"""The white across the page that parts columns above from columns below, in heights of a glyph."""

_GUTTER: Final = 2.5
"""The white that parts columns to the right from those to the left."""

_MOST_CUTS: Final = 60
_ORDINARY: Final = str.maketrans(
    "︐︑︒︓︔︕︖︗︘︙︰︱︲︳︵︶︷︸︹︺︻︼︽︾︿﹀﹁﹂﹃﹄﹇﹈",
    "，、。：；！？〖〗…‥—–＿（）｛｝〔〕【】《》〈〉「」『』［］",
)
"""The marks of vertical writing (Unicode's Vertical Forms and CJK Compatibility Forms) and what they are in a row."""


@dataclass(slots=True)
class _Glyph:
    """A character and its box, in a frame in which it stands upright.

    `piece` is the piece of text that draws it, `line` the one where PDFium has it, `spaced`: behind a space there.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    piece: int
    index: int
    line: int
    spaced: bool
    down: bool = False

    @property
    def across(self) -> float:
        return (self.left + self.right) / 2

    @property
    def height(self) -> float:
        return (self.bottom + self.top) / 2

    @property
    def size(self) -> float:
        return min(self.right - self.left, self.top - self.bottom)


@dataclass(slots=True)
class _Block:
    """A box on the page: a glyph of a column, or a row."""

    left: float
    bottom: float
    right: float
    top: float
    glyphs: list[_Glyph]
    down: bool


def text_of(page: Any, textpage: Any, text: str) -> str | None:
    """The text of an open page, a column or row a line, where PDFium has its lines in false order; None elsewhere.

    `text` is what PDFium gives.
    """
    turned = pdfium.FPDFPage_GetRotation(page)
    if not turned and not is_east_asian(text):
        return None
    count = pdfium.FPDFText_CountChars(textpage)
    if count > _MOST_GLYPHS:
        return None
    quarters = _quarter_turns(textpage, count)
    if quarters == turned and _is_plain(textpage, text):
        return None
    glyphs = _glyphs(page, textpage, count, quarters)
    _mark_columns(glyphs)
    if _is_vertical(glyphs):
        size = median(glyph.size for glyph in glyphs if glyph.down)
        lines = list(_lines(_blocks(glyphs), size)) if size > 0 else []
    elif quarters != turned:
        lines = _turned_rows(glyphs)
    else:
        lines = []
    return "\n".join(filter(None, lines)) if lines else None


def is_east_asian(text: str) -> bool:
    """Whether some characters of a text are Chinese, Japanese or Korean."""
    return not text.isascii() and _EAST_ASIAN.search(text) is not None


def _turned_rows(glyphs: Sequence[_Glyph]) -> list[str]:
    """The rows of a page that lies on its side or upside down; none where they are as PDFium has them.

    PDFium gives the rows of one on its side from bottom to top, and those of one upside down from right to left where
    each glyph is a piece of its own.
    """
    by_line = groupby(sorted(glyphs, key=attrgetter("index")), key=attrgetter("line"))
    rows = [list(row) for _, row in by_line]
    backwards = [row[0].across > row[-1].across and not _RIGHT_TO_LEFT.search(row[0].text) for row in rows]
    steps = [one[0].height < other[0].height for one, other in pairwise(rows)]
    upwards = sum(steps) > len(steps) / 2
    if not any(backwards) and not upwards:
        return []
    lines = [_row_text(row, backwards=back) for row, back in zip(rows, backwards, strict=True)]
    ordered: list[str] = []
    start = 0
    for end, up in enumerate([*steps, False], 1):
        if not (up and upwards):
            ordered += reversed(lines[start:end])
            start = end
    return ordered


def _is_plain(textpage: Any, text: str) -> bool:
    """Whether nearly all of some East Asian characters have the next one beside them, in one piece of text."""
    spots = [match.start() for match in _EAST_ASIAN.finditer(text)]
    spots = spots[:: max(1, len(spots) // _SAMPLES)]
    one, other = (ctypes.c_double(), ctypes.c_double()), (ctypes.c_double(), ctypes.c_double())
    side_by_side = 0
    for spot in spots:
        index = document.character_at(textpage, spot)
        piece = pdfium.FPDFText_GetTextObject(textpage, index)
        following = pdfium.FPDFText_GetTextObject(textpage, index + 1)
        if piece and following and ctypes.addressof(piece.contents) == ctypes.addressof(following.contents):
            pdfium.FPDFText_GetCharOrigin(textpage, index, *one)
            pdfium.FPDFText_GetCharOrigin(textpage, index + 1, *other)
            side_by_side += abs(one[1].value - other[1].value) < abs(one[0].value - other[0].value)
    return side_by_side >= _PLAIN * len(spots)


def _glyphs(page: Any, textpage: Any, count: int, quarters: int) -> list[_Glyph]:
    """The page's characters in the order in which they are drawn, without those that PDFium adds.

    The page is turned to the right by so many quarters of a circle, in which they stand upright.
    """
    order = _order_of_pieces(page)
    box = pdfium.FS_RECTF()
    reference = ctypes.byref(box)
    glyphs: list[_Glyph] = []
    line, spaced = 0, False
    for index in range(count):
        code = pdfium.FPDFText_GetUnicode(textpage, index)
        if pdfium.FPDFText_IsGenerated(textpage, index) == 1:
            line += code == ord("\n")
            spaced = code == ord(" ")
            continue
        if not (0 < code < 0x110000) or not document.character_box(textpage, index, reference):
            continue
        piece = pdfium.FPDFText_GetTextObject(textpage, index)
        place = order.get(ctypes.addressof(piece.contents), len(order)) if piece else len(order)
        glyphs.append(_Glyph(chr(code), *_turned(box, quarters), place, index, line, spaced))
        spaced = False
    glyphs.sort(key=attrgetter("piece"))
    return glyphs


def _order_of_pieces(page: Any) -> dict[int, int]:
    """The number of each piece of text of a page, by its address."""
    order: dict[int, int] = {}

    def add(count: int, get: Any, owner: Any, deeper: int) -> None:
        for index in range(min(count, _MOST_OBJECTS - len(order))):
            item = get(owner, index)
            kind = pdfium.FPDFPageObj_GetType(item)
            if kind == pdfium.FPDF_PAGEOBJ_TEXT:
                order.setdefault(ctypes.addressof(item.contents), len(order))
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and deeper:
                add(pdfium.FPDFFormObj_CountObjects(item), pdfium.FPDFFormObj_GetObject, item, deeper - 1)

    add(pdfium.FPDFPage_CountObjects(page), pdfium.FPDFPage_GetObject, page, _DEEPEST)
    return order


def _quarter_turns(textpage: Any, count: int) -> int:
    """By how many quarters of a circle most characters are turned to the left."""
    matrix = pdfium.FS_MATRIX()
    turns = [0, 0, 0, 0]
    step = max(1, count // _SAMPLES)
    for index in range(0, count, step):
        if pdfium.FPDFText_GetTextObject(textpage, index) and pdfium.FPDFText_GetMatrix(textpage, index, matrix):
            turns[round(atan2(matrix.b, matrix.a) / (pi / 2)) % 4] += 1
    return turns.index(max(turns))


def _turned(box: Any, quarters: int) -> tuple[float, float, float, float]:
    """The left, bottom, right and top of a box, once the page is turned to the right by so many quarters."""
    left, bottom, right, top = box.left, box.bottom, box.right, box.top
    for _ in range(quarters):
        left, bottom, right, top = bottom, -right, top, -left
    return left, bottom, right, top


def _mark_columns(glyphs: Sequence[_Glyph]) -> None:
    """Mark the glyphs that stand one below the other, as they are drawn."""
    for one, other, behind in zip(glyphs, glyphs[1:], [*glyphs[2:], None], strict=False):
        if behind is not None and _begins_row(other, behind):
            continue
        size = max(one.size, other.size)
        step = one.height - other.height
        longest = 3 * _STEP if one.piece == other.piece else _STEP
        if abs(one.across - other.across) <= _BESIDE * size and 0.3 * size <= step <= longest * size:
            one.down = other.down = True
    for before, glyph, behind in zip(glyphs, glyphs[1:], glyphs[2:], strict=False):
        # digits side by side within a column: the second is neither below the first nor above the next
        if before.down and behind.down and not glyph.down and abs(glyph.height - before.height) < glyph.size / 2:
            glyph.down = abs(glyph.across - before.across) < max(before.size, behind.size)


def _begins_row(glyph: _Glyph, behind: _Glyph) -> bool:
    """Whether two glyphs are letters of one piece that stand side by side: a word below a column."""
    letters = glyph.text.isascii() and glyph.text.isalpha() and behind.text.isalpha()
    return letters and glyph.piece == behind.piece and abs(glyph.height - behind.height) < glyph.size / 4


def _is_vertical(glyphs: Sequence[_Glyph]) -> bool:
    east_asian = [glyph for glyph in glyphs if _EAST_ASIAN.match(glyph.text)]
    down = sum(glyph.down for glyph in east_asian)
    if down < 2:
        return False
    longest = max(sum(1 for _ in run) for is_down, run in groupby(glyphs, key=attrgetter("down")) if is_down)
    return longest >= _COLUMN and down >= _SHARE * len(east_asian)


def _blocks(glyphs: Sequence[_Glyph]) -> list[_Block]:
    """The glyphs of columns, and the rows; what stands alone in line with a column belongs to it."""
    columns = [glyph for glyph in glyphs if glyph.down]
    rows: dict[int, list[_Glyph]] = {}
    alone: dict[int, int] = {}
    for glyph in glyphs:
        alone[glyph.line] = alone.get(glyph.line, 0) + (not glyph.down)
    for glyph in glyphs:
        if not glyph.down and alone[glyph.line] == 1 and _EAST_ASIAN.match(glyph.text):
            glyph.down = True
            columns.append(glyph)
        elif not glyph.down:
            rows.setdefault(glyph.line, []).append(glyph)
    blocks = [_Block(glyph.left, glyph.bottom, glyph.right, glyph.top, [glyph], True) for glyph in columns]
    blocks += (_row(row) for row in rows.values())
    return blocks


def _row(glyphs: list[_Glyph]) -> _Block:
    return _Block(
        min(glyph.left for glyph in glyphs),
        min(glyph.bottom for glyph in glyphs),
        max(glyph.right for glyph in glyphs),
        max(glyph.top for glyph in glyphs),
        glyphs,
        False,
    )


def _lines(blocks: list[_Block], size: float) -> Iterator[str]:
    """The lines of the blocks: what is above first, and on one height what is to the right."""
    waiting, cuts = [blocks], 0
    while waiting:
        part = waiting.pop()
        cuts += 1
        split = _split(part, size) if cuts < _MOST_CUTS else None
        if split is not None:
            waiting += reversed(split)
            continue
        columns = [glyph for block in part if block.down for glyph in block.glyphs]
        top = max((glyph.top for glyph in columns), default=0.0)
        rows = [block for block in part if not block.down]
        yield from (_row_text(block.glyphs) for block in rows if block.bottom > top - size)
        yield from _columns(columns, size)
        yield from (_row_text(block.glyphs) for block in rows if block.bottom <= top - size)


def _split(blocks: list[_Block], size: float) -> tuple[list[_Block], list[_Block]] | None:
    """The blocks above and below the widest white band, or to the right and to the left of it, if there is any."""
    if len(blocks) < 2 or not _has_columns(blocks):
        return None
    high, high_at = _widest_gap([(block.bottom, block.top) for block in blocks])
    wide, wide_at = _widest_gap([(block.left, block.right) for block in blocks])
    high, wide = high / (_BAND * size), wide / (_GUTTER * size)
    if max(high, wide) < 1:
        return None
    above = [block for block in blocks if block.bottom > high_at]
    below = [block for block in blocks if block.bottom <= high_at]
    if high >= wide or (high >= 1 and not (_has_columns(above) and _has_columns(below))):  # a heading or footing
        return above, below
    return [block for block in blocks if block.left > wide_at], [block for block in blocks if block.left <= wide_at]


def _has_columns(blocks: list[_Block]) -> bool:
    return any(block.down for block in blocks)


def _widest_gap(spans: list[tuple[float, float]]) -> tuple[float, float]:
    """The widest gap between spans, and its middle."""
    spans = sorted(spans)
    widest, middle = 0.0, 0.0
    end = spans[0][1]
    for start, stop in spans:
        if start - end > widest:
            widest, middle = start - end, (start + end) / 2
        end = max(end, stop)
    return widest, middle


def _columns(glyphs: list[_Glyph], size: float) -> Iterator[str]:
    """The columns from right to left."""
    column: list[_Glyph] = []
    for glyph in sorted(glyphs, key=lambda glyph: -glyph.across):
        if (
            column
            and median(other.across for other in column[-9:]) - glyph.across > max(glyph.size, column[-1].size) / 2
        ):
            yield _column_text(column, size)
            column = []
        column.append(glyph)
    if column:
        yield _column_text(column, size)


def _column_text(glyphs: list[_Glyph], size: float) -> str:
    """The glyphs of a column from top to bottom, those on one height from left to right."""
    glyphs.sort(key=lambda glyph: -glyph.height)
    heights: list[list[_Glyph]] = []
    for glyph in glyphs:
        if heights and heights[-1][0].height - glyph.height < glyph.size / 4:
            heights[-1].append(glyph)
        else:
            heights.append([glyph])
    pieces: list[str] = []
    for above, level in zip([None, *heights], heights, strict=False):
        if above is not None and above[0].bottom - level[0].top > 0.8 * size:
            pieces.append(" ")
        pieces += (glyph.text for glyph in sorted(level, key=attrgetter("left")))
    return "".join(pieces).translate(_ORDINARY).strip()


def _row_text(glyphs: list[_Glyph], *, backwards: bool = False) -> str:
    """The characters of a row, as PDFium has them or the other way round."""
    glyphs = sorted(glyphs, key=attrgetter("index"))
    pieces = [piece for glyph in glyphs for piece in (" " * glyph.spaced, glyph.text)]
    return "".join(reversed(pieces) if backwards else pieces).strip()

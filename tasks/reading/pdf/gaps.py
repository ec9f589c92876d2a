"""The white space on a PDF's page: spaces that PDFium misses, and gutters that may separate columns.

On a page that is drawn word by word, or glyph by glyph, only the gaps between the characters' boxes show where words
end. PDFium expects wider gaps than some programs leave: it joins words, or ends a line after each letter.
"""

import re
from bisect import bisect, bisect_left
from collections.abc import Collection, Sequence
from itertools import chain, pairwise, starmap
from math import inf
from operator import sub
from typing import Any, Final

from tasks.reading.pdf import document
from tasks.reading.pdf.document import Box, PageText

_ALONE: Final = re.compile(r"(?m)^[^\W\d_]\r?$")
"""A letter that is a line."""
_FEWEST_ALONE: Final = 8
_SHARE_ALONE: Final = 0.15
"""The share of a page's lines that are a letter each where the text came apart."""
_RUNS_A_WORD: Final = 0.5
"""Runs of text for each word from which a page is drawn word by word."""
_RUNS_A_LINE: Final = 2
_WORD: Final = re.compile(r"\S{4,}")
_GAP: Final = 0.11
"""The white between two words, as a share of the height of their letters' boxes."""
_OVER_OTHERS: Final = 2.5
"""How much wider it is than most gaps between the letters: letters may all be set apart."""
_CELLS: Final = 0.75
"""The white between two runs of a line that may part cells, as a share of their height."""
_STRETCHED: Final = 1.5
"""The same at most, on pages whose words are drawn one by one."""
_SAMPLE: Final = 300
"""Runs whose gaps tell how wide words stand apart."""
_MARK: Final = 2.2
"""The width of a list's mark at most, as a share of its height."""
_NEAREST: Final = 17
_NEAR: Final = 16
"""How far gaps stand from each other, in heights of a line, that are of one gutter."""
_SHARED: Final = 0.3
"""The white that they share at least."""
_OPEN: Final = 3
"""The white from which two lines are enough, as they are where they share two gaps."""
_ROWS: Final = 2
_ROWS_OF_WORDS: Final = 3
"""The same where words are drawn one by one, and sentences stand apart as far as cells."""
_COLUMNS: Final = 3
"""Columns from which a table may be drawn one after the other: pages of prose have two."""
_ALIGNED: Final = 0.5
"""Points by which cells of a column begin apart."""
_JOINED: Final = 0.04
"""How far a part of a cell in another font begins from the end of the one before at most, as a share of the height."""
_MOST: Final = 20_000
"""Characters whose boxes are asked for."""


def is_in_letters(text: str) -> bool:
    """Whether PDFium's text of a page consists of single letters: one letter a line in places."""
    lines = text.count("\r\n") + 1
    if lines < _FEWEST_ALONE or len(text) > 10 * lines:
        return False
    return len(_ALONE.findall(text.replace("\r\n", "\n"))) >= max(_FEWEST_ALONE, _SHARE_ALONE * lines)


def is_drawn_by_words(text: str, runs: int) -> bool:
    """Whether a page with that many runs of text is drawn word by word, or in smaller pieces."""
    return runs > _RUNS_A_LINE * (text.count("\r\n") + 1) and runs > _RUNS_A_WORD * (text.count(" ") + 1)


def find_missing_spaces(textpage: Any, page_text: PageText) -> list[int]:
    """Where spaces must be inserted into the text of a page: between letters with a wider gap than others."""
    text = page_text.text
    if page_text.units != page_text.characters or len(text) != page_text.units or len(text) > _MOST:
        return []
    words = _find_split_words(textpage, [match.span() for match in _WORD.finditer(text)])
    within = list(chain.from_iterable(starmap(range, words)))  # a box costs a call
    boxes = list(document.character_boxes(textpage, within))
    narrowest = _GAP * min((top - bottom for _, top, _, bottom in boxes if top > bottom), default=0.0)
    lefts, rights = [box[0] for box in boxes], [box[2] for box in boxes]
    spots: list[int] = []
    behind = 0
    for begin, stop in words:
        first, end = behind, behind + stop - begin
        behind = end
        if max(map(sub, lefts[first + 1 : end], rights[first : end - 1])) <= narrowest:
            continue
        gaps: list[float] = []
        _, top, last_right, last_bottom = boxes[first]
        for left, top, right, bottom in boxes[first + 1 : end]:
            height = top - bottom
            if height <= 0:
                break
            gaps.append((left - last_right) / height if abs(bottom - last_bottom) < height / 4 else 0.0)
            last_right, last_bottom = right, bottom
        wide = [index for index, gap in enumerate(gaps) if _GAP < gap < 1]
        if wide and 3 * len(wide) <= len(gaps) and min(gaps[index] for index in wide) > _OVER_OTHERS * _middle(gaps):
            spots += (begin + index + 1 for index in wide)
    return spots


def find_touching_cells(textpage: Any, page_text: PageText) -> list[int]:
    """Where spaces must be inserted into the text of a printed sheet, as a cell begins within what looks like a word.

    Cells are drawn one by one, and begin where those of other rows do: what is cut off at its cell's end runs into the
    next. Parts of a cell in other letters do too, but most begin where the letter before them ends. Where letters are
    drawn one by one too, for want of a font, nothing tells the cells.
    """
    text = page_text.text
    if page_text.units != page_text.characters or len(text) != page_text.units or len(text) > _MOST:
        return []
    drawn = [index for index, character in enumerate(text) if not character.isspace()]
    objects = document.text_objects(textpage, drawn)
    begins = [index for index, last, item in zip(drawn[1:], objects, objects[1:], strict=False) if last != item]
    places = [box[0] for box in document.character_boxes(textpage, begins)]
    lefts = sorted(places)
    touching = [(index, left) for index, left in zip(begins, places, strict=True) if text[index - 1].isalnum()]
    joined = sorted(left for index, left in touching if _goes_on_in_other_letters(textpage, index))
    within = [index for index, left in touching if _count(lefts, left) > max(_ROWS_OF_WORDS, 2 * _count(joined, left))]
    return within if len(within) < len(text.split()) else []


def _count(ordered: Sequence[float], left: float) -> int:
    return bisect(ordered, left + _ALIGNED) - bisect_left(ordered, left - _ALIGNED)


def _goes_on_in_other_letters(textpage: Any, index: int) -> bool:
    """Whether a character begins where the one before it ends, in another font, size or colour."""
    last, here = document.character_boxes(textpage, [index - 1, index])
    height = here[1] - here[3]
    if abs(here[0] - last[2]) > _JOINED * height:
        return False
    fonts = {document.font(item) for item in document.text_objects(textpage, [index - 1, index])}
    colours = set(document.character_colours(textpage, [index - 1, index]))
    return max(len(fonts), len(colours)) > 1 or abs(last[1] - last[3] - height) > _JOINED * height


def _find_split_words(textpage: Any, words: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The words (each from one character up to another) whose first and last characters are drawn separately."""
    firsts = document.text_objects(textpage, [begin for begin, _ in words])
    lasts = document.text_objects(textpage, [end - 1 for _, end in words])
    return [word for word, first, last in zip(words, firsts, lasts, strict=True) if first != last]


def _middle(gaps: list[float]) -> float:
    return sorted(gaps)[len(gaps) // 2]


def find_turned_runs(textpage: Any, count: int, turn: int) -> list[Box]:
    """The first `count` runs of text of a page whose words are rotated by `turn` quarters, turned upright."""
    return [document.turn_upright(box, turn) for box in document.run_boxes(textpage, count)]


def has_gutters(runs: Sequence[Box], text: str) -> bool:
    """Whether a page with these runs of text, in drawing order, may contain a table.

    That is so if wide gaps are below each other and what follows them is aligned. A run above and to the right of the
    one before counts too: a cell after one of several lines. Space after a list mark does not count.
    """
    wide = _least_gap(runs, text)
    enough = _ROWS if wide == _CELLS else _ROWS_OF_WORDS
    gaps: list[tuple[float, float, float, float]] = []
    rows: set[int] = set()
    last_begin = last_right = last_low = last_high = inf
    within = False
    for begin, high, end, low in runs:
        beside = begin > last_right and high > last_low
        if beside:
            height = max(high - low, last_high - last_low)
            if begin - last_right > wide * height and (within or last_right - last_begin > _MARK * height):
                gap = (low, last_right, begin, end)
                rows |= _find_rows(gap, gaps, rows, height)
                if len(rows) >= enough:
                    return True
                gaps.append(gap)
        within = beside and low < last_high
        last_begin, last_right, last_low, last_high = begin, end, low, high
    return False


def _find_rows(gap: Box, gaps: Sequence[Box], rows: Collection[int], height: float) -> set[int]:
    """The rows, by level, that a gap forms with the nearest gap of the same gutter; none if there is none.

    A gap is its level, its beginning and end, and the end of the run after it. `rows` are those known already.
    """
    low, last_right, begin, end = gap
    for other, left, right, its_end in gaps[:-_NEAREST:-1]:
        shared = min(right, begin) - max(left, last_right)
        if not (shared > _SHARED * height and height / 2 < abs(other - low) < _NEAR * height):
            continue
        row = round(low / 4)
        if shared > _OPEN * height:
            return {row, round(other / 4)}
        if _is_below(begin, end, right, its_end):
            return {row, round(other / 4)} if row in rows else {row}
    return set()


def by_height(runs: Sequence[Box]) -> list[Box]:
    """The runs of a page whose table is drawn column by column, sorted by line from the top; empty for other pages."""
    passes: dict[int, set[int]] = {}
    number = 0
    for (_, last_high, last_end, _), (begin, high, _, low) in pairwise(runs):
        number += high > last_high + (high - low) and begin > last_end
        passes.setdefault(round(low / 4), set()).add(number)
    rows = sum(len(held) >= _COLUMNS for held in passes.values())
    return sorted(runs, key=lambda run: (-round(run[3] / 4), run[0])) if rows >= _ROWS_OF_WORDS else []


def are_printed_over(runs: Sequence[Box]) -> bool:
    """Whether a run of text begins where the one before it began: some programs print bold text twice."""
    for (last_begin, last_high, _, last_low), (begin, high, _, low) in pairwise(runs):
        if abs(begin - last_begin) < 1 and 2 * (min(high, last_high) - max(low, last_low)) > high - low > 0:
            return True
    return False


def _is_below(begin: float, end: float, other_begin: float, other_end: float) -> bool:
    """Whether a run begins or ends where another one does, or has the same middle."""
    before, behind = begin - other_begin, end - other_end
    return min(abs(before), abs(behind), abs(before + behind) / 2) < 1


def _least_gap(runs: Sequence[Box], text: str) -> float:
    """The smallest gap that may separate cells, as a share of the height: more than between words
    of stretched lines.
    """
    if len(runs) <= _RUNS_A_WORD * (text.count(" ") + text.count("\n")):
        return _CELLS
    gaps = [
        (begin - end) / max(0.1, min(high - low, top - bottom))
        for (_, top, end, bottom), (begin, high, _, low) in pairwise(runs[:_SAMPLE])
        if begin > end and bottom < high and low < top
    ]
    return min(_STRETCHED, max(_CELLS, 2.2 * _middle(gaps))) if gaps else _CELLS

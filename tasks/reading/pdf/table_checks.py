"""What looks like a table on a PDF's page and is none: lists, glossaries of prose, columns of prose, notes."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import and_
from typing import Final

from tasks.reading.pdf.figures import is_figure
from tasks.reading.pdf.lines import Interval, Line, LineCell, over
from tasks.reading.pdf.words import Word

FEWEST: Final = 3
"""Lines of several cells that make a table."""
_RUNS_ON: Final = 4
"""A table has more than so many rows for each cell that goes on below it."""
_ENDS: Final = ".:;!?"
_LEVEL: Final = 0.4
"""The share of the lines of a table's columns that stand on one level with one in another column, at least."""
_BESIDE: Final = 6
"""Lines beside prose at least."""
_AT_SIDE: Final = 0.75
"""The share of a table's lines that a caption at its side stands beside, at most."""
_CAPTION: Final = 4
"""Lines of a caption at a table's side, at least: a cell may have fewer."""
_PIECE: Final = 3
"""Lines that are drawn one after the other, at least, where they are no cells of rows."""
_MARK: Final = re.compile(
    r"[o*]|\(?[^\w\s]{1,2}\)?|\(?([0-9]{1,3}|[a-zA-Z]|[ivx]{1,5}|[IVX]{1,5})[.)]|\[\d+\]|\d+(\.\d+)+\.?|§+ ?\d+"
)
_ITEM: Final = re.compile(r"\(?([0-9]{1,2}|[a-z]|[ivx]{1,5})[.)]")
_DIGIT: Final = re.compile(r"\d")
_DASHES: Final = re.compile("[$€£¥]? ?[-–—−]+")
_PROSE: Final = 5
"""A cell of more words may be a line of prose."""
_FULL_LINE: Final = 8
"""Words of a line of prose, at least, that fills its column."""
_STRETCHED: Final = 2.0
"""The white between words of such a line at most, as a share of their size."""
_NEXT_LINE: Final = 2.2
"""The distance of a line and the one below it at most, in sizes."""


def is_table(rows: Sequence[Line]) -> bool:
    """Whether lines of several cells hold figures or short entries, and no prose in columns."""
    cells = [cell for line in rows for cell in line.cells]
    texts = [cell.text for cell in cells]
    figures = sum(map(is_figure, texts))
    digits = len([text for text in texts if _DIGIT.search(text)])
    long = len([cell for cell in cells if len(cell.words) > _PROSE])
    overlaps = 0
    for line in rows:
        for before, after in itertools.pairwise(line.words):
            overlaps += after.left < before.right - 0.3 * after.size
    if overlaps > 0.05 * len(cells):  # letters set twice, or on top of each other
        return False
    if _is_stretched(rows):
        return False
    if figures >= 0.25 * len(cells) and digits > 0.5 * figures:
        return True
    dashes = len([text for text in texts if _DASHES.fullmatch(text)])
    if len(cells) >= FEWEST * len(rows) and figures - dashes >= 0.25 * (len(cells) - dashes) > 0:
        return True  # changes in equity: most cells hold a dash for nothing
    words = len([text for text in texts if len(text) > 2])
    if long <= 0.2 * len(cells):
        return words > 0.5 * len(cells)
    return _is_glossary(rows)


def _is_stretched(rows: Sequence[Line]) -> bool:
    """Whether lines are prose whose words are set apart to fill the line, so that some stand as far apart as cells."""
    if sum(len(line.words) for line in rows) <= _FULL_LINE * len(rows):
        return False
    pairs = [(line.size, *pair) for line in rows for pair in itertools.pairwise(line.cells)]
    near = [behind.text for size, cell, behind in pairs if behind.left - cell.right < _STRETCHED * size]
    return sum(text[0].islower() for text in near) > len(pairs) / 2


def _is_glossary(rows: Sequence[Line]) -> bool:
    """Whether lines are names, each with what is said of it beside it: both begin at places of their own."""
    for index in (0, 1):
        lefts = sorted(line.cells[index].left for line in rows)
        if lefts[-1] - lefts[0] > rows[0].size / 2 or any(len(line.cells) != 2 for line in rows):
            return False
    return all(len(line.cells[0].words) < _PROSE for line in rows)


def is_list(rows: Sequence[Line]) -> bool:
    """Whether each line is a mark and what it stands for; notes may have a word and a colon instead of one."""
    if any(len(line.cells) > 2 for line in rows):
        return False
    marked = sum(_MARK.fullmatch(line.cells[0].text) is not None for line in rows)
    items = [line for line in rows if _ITEM.fullmatch(line.cells[0].text) and len(line.cells[1].words) > _PROSE]
    if len(items) > max(1, len(rows) - FEWEST):
        return True  # with what is printed beside it by chance: the name of a chart, the page's header
    named = sum(line.cells[0].text.endswith(":") for line in rows)
    return marked > 0.8 * len(rows) or (marked > 0 and marked + named == len(rows))


def following(lines: Iterable[Line]) -> dict[int, Word]:
    """The word that is drawn behind each word, by where that begins."""
    drawn = sorted((word for line in lines for word in line.words), key=lambda word: word.first)
    return {word.first: behind for word, behind in itertools.pairwise(drawn)}


def runs_on(block: Sequence[Line], rows: int, following: Mapping[int, Word]) -> bool:
    """Whether cells of so many rows go on in lines below that are no part of the table, as columns of prose do."""
    held = {word.first for line in block for word in line.words}
    count = 0
    for line in block:
        for index, cell in enumerate(line.cells):
            last = cell.words[-1]
            behind = following.get(last.first)
            if behind is None or behind.first in held or last.text[-1:] in _ENDS or is_figure(cell.text):
                continue
            below = 0 < behind.base - last.base < _NEXT_LINE * last.size and behind.left < last.left
            inside = index > 0 and behind.left > cell.left - last.size
            count += below and (inside or behind.text[:1].islower())
    return _RUNS_ON * count >= rows


def without_notes(block: list[Line], columns: Sequence[Interval]) -> list[Line]:
    """The lines of a table without the notes below it, if some of those run over several of its columns."""
    table = without_tail(block)
    notes = any(over(cell, columns) > 1 for line in block[len(table) :] for cell in line.cells[1:])
    return table if notes else block


def without_tail(block: list[Line]) -> list[Line]:
    """The lines of a table of three columns or more up to the last one that has more than two cells."""
    end = max((index for index, line in enumerate(block, 1) if len(line.cells) >= FEWEST), default=0)
    return block[:end] if end >= FEWEST else block


def beside_caption(block: Sequence[Line], columns: Sequence[Interval]) -> list[Word]:
    """The words of a table without what stands at its side and is no column of it; none where nothing does.

    A caption at the side is drawn in one piece and beside some of the rows, the columns row by row.
    """
    drawn = sorted((word for line in block for word in line.words), key=lambda word: word.first)
    begin, end = columns[0][0], columns[-1][1]
    sides: list[tuple[Callable[[LineCell], bool], Sequence[Interval]]] = [
        (lambda cell: cell.left < columns[0][1] and begin < cell.right, columns[1:]),
        (lambda cell: cell.left < end and columns[-1][0] < cell.right, columns[:-1]),
        (lambda cell: cell.right <= begin, columns),
        (lambda cell: cell.left >= end, columns),
    ]
    for stands_there, others in sides:
        cells = [[cell for cell in line.cells if stands_there(cell)] for line in block]
        lines = [[word for cell in held for word in cell.words] for held in cells if held]
        if not _CAPTION <= len(lines) <= _AT_SIDE * len(block):
            continue
        aside = {word.first for words in lines for word in words}
        named = sum(any(map(str.isalpha, word.text)) for words in lines for word in words)
        if named <= len(lines) or _pieces(aside, drawn) > max(1, len(lines) // _PIECE):
            continue
        if all(_is_drawn_by_rows(column, block, drawn) for column in others):
            return [word for word in drawn if word.first not in aside]
    return []


def _is_drawn_by_rows(column: Interval, block: Sequence[Line], drawn: Sequence[Word]) -> bool:
    """Whether most of what stands in a column is drawn line by line, with words of other columns in between."""
    held = [[word.first for word in line.words if column[0] - 1 <= word.left < column[1]] for line in block]
    lines = sum(map(bool, held))
    return _pieces({first for firsts in held for first in firsts}, drawn) > max(1, lines // _PIECE)


def _pieces(firsts: AbstractSet[int], words: Iterable[Word]) -> int:
    """In how many pieces some of the words, given by where they begin, are drawn; `words` come as they are drawn."""
    drawn = [word.first in firsts for word in words]
    return sum(one and not other for one, other in itertools.pairwise([*drawn, False]))


def beside_prose(block: Sequence[Line], columns: Sequence[Interval]) -> list[list[Word]]:
    """The words on both sides of a gutter if one of them is prose whose lines are not level with those of the other."""
    gutters = [(end + begin) / 2 for (_, end), (begin, _) in itertools.pairwise(columns)]
    for middle in (columns[0][0] - 1, *gutters, columns[-1][1] + 1):
        before = [line.words[0].right < middle for line in block]
        behind = [line.words[-1].left > middle for line in block]
        if sum(map(and_, before, behind)) >= _LEVEL * min(sum(before), sum(behind)):
            continue
        halves = [
            ([word for word in line.words if word.right < middle], [word for word in line.words if word.left > middle])
            for line in block
        ]
        left, right = ([words for words in side if words] for side in zip(*halves, strict=True))
        level = sum(bool(one and other) for one, other in halves)
        if level < _LEVEL * min(len(left), len(right)) and min(len(left), len(right)) >= _BESIDE:
            prose = [side for side in (left, right) if sum(map(len, side)) > _PROSE * len(side)]
            if prose:
                return [[word for words in side for word in words] for side in (left, right) if side not in prose]
    return []

"""The rows between two rules of a table: one, or one a line where the lines of its cells say so."""

import itertools
import math
from collections.abc import Sequence
from typing import Final

from tasks.reading.pdf.figures import is_figure, is_sign
from tasks.reading.pdf.lines import Line
from tasks.reading.pdf.rows import TableRow
from tasks.reading.pdf.words import text_of
from tasks.reading.pdf.wrapped_cells import joined_lines

_MOST_LINES: Final = 30
"""Lines of a cell: one with more is a part of the page."""
TABLE_LINES: Final = 3
"""Lines of a cell with several figures each: such a cell is a table that rules part otherwise."""
STACKED: Final = 3
"""Lines below each other, at least, that may be rows without rules between."""
LEVEL: Final = 0.6
"""The share of such rows that hold something in a column that tells them."""
_SAME_LEVEL: Final = 0.4
"""How far lines of one row may be raised, as a share of their size."""
_APART: Final = 1.5
"""How much further apart than the lines of a cell rows are of which some cell has two lines."""
_ROOMY: Final = 0.5
"""The share of lines that leave room for the next word where they are no text that wraps."""


def is_too_much(cell: Sequence[Line]) -> bool:
    """Whether a cell of several lines holds a part of the page, or a table of its own."""
    if len(cell) > _MOST_LINES and not _are_figures(cell):
        return True
    return sum(sum(is_figure(part.text) for part in line.cells) > 1 for line in cell) >= TABLE_LINES


def rows_between_rules(cells: Sequence[Sequence[Line]], ends: Sequence[float]) -> list[TableRow]:
    """The rows between two rules, given each cell's lines: one, or one a line where the lines of figures say so."""
    count = max(map(len, cells), default=0)
    several = [cell for cell in cells if cell]
    if count > 1 and len(several) > 1 and all(len(cell) == count for cell in several) and any(map(_are_figures, cells)):
        return [_row([cell[index : index + 1] for cell in cells], ends) for index in range(count)]
    if count >= STACKED and len(several) > 1 and (levels := _levels(cells, ends)):
        return [_row([[line for line in cell if _is_level(line, level)] for cell in cells], ends) for level in levels]
    if count >= STACKED and (items := _items(several)):
        return [
            _row([[line for line in cell if first <= line.base < end] for cell in cells], ends) for first, end in items
        ]
    if _is_below_heading(cells, ends):
        heading = [cells[0][:1], *([] for _ in cells[1:])]
        return [_row(heading, ends), _row([cells[0][1:], *cells[1:]], ends)]
    return [_row(cells, ends)] if several else []


def label_and_figures(line: Line) -> tuple[float, float] | None:
    """Where the label of a line ends and the figures behind it begin, with their signs; None for other lines."""
    cells = line.cells
    at = len(cells)
    while at and (is_figure(cells[at - 1].text) or is_sign(cells[at - 1].text)):
        at -= 1
    if not 0 < at < len(cells) or not is_figure(cells[-1].text):
        return None
    return cells[at - 1].right, cells[at].left


def _is_below_heading(cells: Sequence[Sequence[Line]], ends: Sequence[float]) -> bool:
    """Whether the first of the two lines of a label heads the rows below: the label's first word had room on it.

    The figures stand beside its second line.
    """
    others = [cell for cell in cells[1:] if cell]
    if len(cells[0]) != 2 or not others or any(len(cell) > 1 or not _is_level(cell[0], cells[0][1]) for cell in others):
        return False
    figures = sum(is_figure(text_of(cell[0].words)) for cell in others)
    return 2 * figures > len(others) and have_room(cells[0], ends[0])


def _items(cells: Sequence[Sequence[Line]]) -> list[tuple[float, float]]:
    """From where to where each row reaches, if two columns or more hold a figure a row beside other cells that wrap.

    What stands in the others begins level with the figures, and some of these stand further apart than lines do: a
    long figure that is broken has none such.
    """
    figures = [cell for cell in cells if len(cell) >= STACKED and _are_figures(cell)]
    spine = max(figures, key=len, default=[])
    if sum(len(cell) == len(spine) for cell in figures) < 2:
        return []
    nearest = min(below.base - line.base for cell in cells for line, below in itertools.pairwise(cell))
    if max(below.base - line.base for line, below in itertools.pairwise(spine)) < _APART * nearest:
        return []
    firsts = [line.base - _SAME_LEVEL * line.size for line in spine]
    items = [*itertools.pairwise(firsts), (firsts[-1], math.inf)]
    for cell in cells:
        if cell[0].base < firsts[0]:
            return []
        for (first, end), level in zip(items, spine, strict=True):
            lines = [line for line in cell if first <= line.base < end]
            if lines and not _is_level(lines[0], level):
                return []
    return items


def _levels(cells: Sequence[Sequence[Line]], ends: Sequence[float]) -> list[Line]:
    """The lines of the fullest cell, if those of the others are level with them and are rows; else none.

    They are rows where the lines of most cells leave room for what comes next, and where a cell holds a figure in most
    of them or all cells hold as many lines.
    """
    spine = max(cells, key=len)
    if not all(sum(_is_level(line, level) for level in spine) == 1 for cell in cells for line in cell):
        return []
    figures = any(_are_figures(cell) and len(cell) >= max(STACKED, LEVEL * len(spine)) for cell in cells)
    alike = all(len(cell) in (0, len(spine)) for cell in cells)
    held = [(cell, end) for cell, end in zip(cells, ends, strict=True) if len(cell) > 1]
    roomy = [have_room(cell, end) for cell, end in held]
    if any(roomy):  # figures that end at one place leave no room behind them; a long one that is broken stands alone
        roomy = [has_room or _are_figures(cell) for has_room, (cell, _) in zip(roomy, held, strict=True)]
    return list(spine) if (figures or alike) and 2 * sum(roomy) > len(roomy) else []


def _is_level(line: Line, other: Line) -> bool:
    return abs(line.base - other.base) < _SAME_LEVEL * max(line.size, other.size)


def have_room(lines: Sequence[Line], end: float) -> bool:
    """Whether the first word of most lines would have had room behind the line above: so they are no one text."""
    roomy = [
        line.right + 0.25 * line.size + below.words[0].right - below.words[0].left < end
        for line, below in itertools.pairwise(lines)
    ]
    return sum(roomy) >= _ROOMY * len(roomy)


def _row(cells: Sequence[Sequence[Line]], ends: Sequence[float]) -> TableRow:
    words = [word for cell in cells for line in cell for word in line.words]
    return TableRow([_text(cell, end) for cell, end in zip(cells, ends, strict=True)], words)


def _text(lines: Sequence[Line], end: float) -> str:
    """The text of a cell whose lines may end there."""
    if len(lines) < 2:
        return text_of(lines[0].words) if lines else ""
    size = max(line.size for line in lines)
    return joined_lines([(text_of(line.words), line.words) for line in lines], end, size)


def _are_figures(lines: Sequence[Line]) -> bool:
    """Whether each line of a cell is a figure."""
    return len(lines) > 1 and all(is_figure(text_of(line.words)) for line in lines)

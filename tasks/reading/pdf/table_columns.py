"""Where the columns of a table stand that no rules part: where most of its lines have something."""

import itertools
import math
from bisect import bisect, bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from tasks.reading.pdf.figures import CLOSING_SIGN, LEADING_SIGN, is_figure, is_sign
from tasks.reading.pdf.lines import GUTTER, Interval, Line, LineCell, is_header
from tasks.reading.pdf.table_checks import FEWEST
from tasks.reading.pdf.words import Word

_ACROSS: Final = 0.1
"""The share of a table's lines that may run over a gutter: headings over several columns."""
_MOST_TITLES: Final = 6
"""Lines at the top of a table that may run over gutters."""
_FULL: Final = 0.45
"""The share of the cells of its fullest line that a line has below the titles: signs may be cells of their own."""
_TITLED: Final = 2
"""Rows below them that tell the columns, at least."""
_FULL_ROWS: Final = 0.3
"""The share of a table's lines that have a cell in each column where labels of totals run over gutters."""
_FIGURES: Final = 0.4
"""The share of their cells that are figures, at least."""
_EDGED: Final = 0.25
"""The share of a column's lines that have two cells where it is two columns."""
_ALIGNED: Final = 0.8
"""The share of those whose right cells begin at one place."""
_AT_ONE_PLACE: Final = 0.6
"""The share of a column's lines that have an edge or their middle at one place."""


def several_cells(lines: Iterable[Line]) -> list[Line]:
    """Those of the lines that have several cells."""
    return [line for line in lines if len(line.cells) > 1]


def columns_below_titles(lines: Sequence[Line], columns: list[Interval], size: float) -> list[Interval]:
    """The columns of a table; more of them where figures have these and titles above them run over their gutters."""
    counts = [len(line.cells) for line in lines]
    usual = sorted(counts)[len(counts) // 2]
    titles = _titles(counts, usual) or _titles(counts, _FULL * max(counts))
    if not 0 < titles <= _MOST_TITLES or len(lines) - titles < _TITLED:
        return columns
    cells = [cell for line in lines[titles:] for cell in line.cells if not is_sign(cell.text)]
    if sum(is_figure(cell.text) for cell in cells) < _FIGURES * len(cells):
        return columns
    below = columns_of(lines[titles:], size)
    return below if len(below) > len(columns) else columns


def columns_of_full_rows(lines: Sequence[Line], columns: list[Interval], size: float) -> list[Interval]:
    """The columns of a table; more of them where labels of totals, in lines of few cells, run over their gutters."""
    held = {id(line): sum(not is_sign(cell.text) for cell in line.cells) for line in lines}
    counts = sorted(held.values(), reverse=True)
    most = counts[max(_TITLED, math.ceil(_FULL_ROWS * len(counts))) - 1]
    if most <= max(_TITLED, len(columns)) or counts[-1] > most / 2:
        return columns
    full = columns_of([line for line in lines if held[id(line)] >= most], size)
    return full if len(full) > len(columns) else columns


def columns_of(lines: Sequence[Line], size: float) -> list[Interval]:
    """Where most lines have something, from left to right; between two columns some line has cells on both sides."""
    votes = [(cell.left, 1) for line in lines for cell in line.cells]
    votes += [(cell.right, -1) for line in lines for cell in line.cells]
    votes.sort()
    columns: list[list[float]] = []
    allowed = _ACROSS * len(lines)
    count = 0
    for (at, vote), (until, _) in itertools.pairwise(votes):
        count += vote
        if count > allowed and until > at:
            if columns and at - columns[-1][1] < GUTTER * size:
                columns[-1][1] = until
            else:
                columns.append([at, until])
    parted = columns[:1]
    for index, (left, right) in enumerate(columns[1:], 1):
        gap = left - parted[-1][1]
        middle = (parted[-1][1] + left) / 2
        if any(_on_both_sides(line, middle, (parted[-1][0], right)) for line in lines):
            parted.append([left, right])
        elif (
            index == 1 and len(columns) > 2 and columns[2][0] - right < gap
        ):  # a header nearer to figures than to labels
            parted.append([left, right])
        else:
            parted[-1][1] = right
    return [(left, right) for left, right in parted]


def with_signs(columns: Iterable[Interval], lines: Sequence[Line]) -> list[Interval]:
    """The columns; those that hold signs alone are part of the next one (`$`) or of the one before (`%`)."""
    joined: list[Interval] = []
    begin: float | None = None
    lines = list(itertools.dropwhile(is_header, lines))  # headers stand over signs and figures
    for left, right in columns:
        texts = [cell.text for line in lines for cell in line.cells if left <= cell.left and cell.right <= right]
        if texts and all(map(LEADING_SIGN.fullmatch, texts)):
            begin = left if begin is None else begin
        elif joined and texts and all(map(CLOSING_SIGN.fullmatch, texts)):
            joined[-1] = joined[-1][0], right
        else:
            joined.append((left if begin is None else begin, right))
            begin = None
    return joined


def _titles(counts: Sequence[int], usual: float) -> int:
    """How many lines at the top of a table have fewer cells than is usual."""
    return sum(1 for _ in itertools.takewhile(lambda count: count < usual, counts[: _MOST_TITLES + 1]))


def _on_both_sides(line: Line, middle: float, within: Interval) -> bool:
    """Whether a line has a cell on each side of a place, and none over it."""
    left = right = False
    for cell in line.cells:
        if cell.left < middle < cell.right:
            return False
        left |= within[0] <= cell.right < middle
        right |= middle < cell.left <= within[1]
    return left and right


def part_at_rivers(block: Sequence[Line], columns: Sequence[Interval], size: float) -> bool:
    """Part cells at white that is narrower than between cells but stands open in every line; tells whether any was."""
    rows = several_cells(block)
    if len(rows) < FEWEST:
        return False
    parted = False
    lefts = [[word.left for word in line.words] for line in rows]
    for left, right in columns:
        near = [
            line.words[bisect_left(begins, left - 1) : bisect(begins, right + 1)]
            for line, begins in zip(rows, lefts, strict=True)
        ]
        lines = [[word for word in words if word.right <= right + 1] for words in near]
        lines = [words for words in lines if words]
        several = [words for words in lines if len(words) > 1]  # headers of two columns are no part of them
        spans = _merged(((word.left, word.right) for words in several for word in words), GUTTER * size)
        for (_, begin), (end, _) in itertools.pairwise(spans):
            gaps = [gap for words in lines if (gap := _gap(words, begin, end)) is not None]
            if len(gaps) < max(3, 0.7 * len(lines)) or max(right - left for left, right in gaps) < 0.6 * size:
                continue
            behind = [[word for word in words if word.left >= end - 0.1] for words in several]
            if _are_aligned([left for left, _ in gaps], [words for words in behind if words]):
                parted = True
                for line in block:
                    line.cells = [part for cell in line.cells for part in _parted(cell, begin, end)]
    return parted


def part_at_edges(block: Sequence[Line], columns: Sequence[Interval]) -> list[Interval]:
    """The columns; one in which many lines have two cells is two, if the right ones of those begin at one place.

    Other cells reach up to that place, so that no gutter runs down the table.
    """
    parted: list[Interval] = []
    for left, right in columns:
        held = [[cell for cell in line.cells if left <= cell.left and cell.right <= right] for line in block]
        held = [cells for cells in held if cells]
        edges = sorted(cells[1].left for cells in held if len(cells) == 2)
        edge = edges[len(edges) // 2] if edges else 0.0
        aligned = sum(abs(other - edge) < 1 for other in edges)
        if aligned >= max(FEWEST, _EDGED * len(held)) and aligned > _ALIGNED * len(edges):
            for line in block:
                line.cells = [part for cell in line.cells for part in _parted_at(cell, edge)]
            parted += (left, edge - 1), (edge, right)
        else:
            parted.append((left, right))
    return parted


def _parted_at(cell: LineCell, edge: float) -> list[LineCell]:
    """A cell whose words run over an edge, in two if one of them begins there."""
    for index, word in enumerate(cell.words[1:], 1):
        if abs(word.left - edge) < 1:
            return [LineCell(cell.words[:index]), LineCell(cell.words[index:])]
    return [cell]


def _merged(intervals: Iterable[Interval], gap: float) -> list[Interval]:
    merged: list[list[float]] = []
    for left, right in sorted(intervals):
        if merged and left - merged[-1][1] < gap:
            merged[-1][1] = max(merged[-1][1], right)
        else:
            merged.append([left, right])
    return [(left, right) for left, right in merged]


def _gap(words: Sequence[Word], begin: float, end: float) -> Interval | None:
    """The white of a line between two places, both of which it has words beyond."""
    before = [word.right for word in words if word.right <= begin + 0.1]
    behind = [word.left for word in words if word.left >= end - 0.1]
    return (max(before), min(behind)) if before and behind else None


def _are_aligned(ends: Sequence[float], behind: Sequence[Sequence[Word]]) -> bool:
    """Whether what stands before the white of lines ends at one place, or what stands behind it has one edge or middle.

    White that runs down lines of prose by chance has neither.
    """
    lefts, rights = [words[0].left for words in behind], [words[-1].right for words in behind]
    middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    for places in (ends, lefts, rights, middles):
        middle = sorted(places)[len(places) // 2]
        if sum(abs(place - middle) < 1 for place in places) >= _AT_ONE_PLACE * len(places):
            return True
    return False


def _parted(cell: LineCell, begin: float, end: float) -> list[LineCell]:
    for index in range(1, len(cell.words)):
        if cell.words[index - 1].right <= begin + 0.1 and cell.words[index].left >= end - 0.1:
            return [LineCell(cell.words[:index]), LineCell(cell.words[index:])]
    return [cell]

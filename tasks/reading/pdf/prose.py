"""Columns of prose on a PDF's page: a table is looked for within each of them, not across."""

import itertools
from bisect import bisect
from collections.abc import Sequence
from typing import Final

from tasks.reading.pdf.lines import Interval, Line, LineCell, lines_of
from tasks.reading.pdf.rows import TableRow
from tasks.reading.pdf.tables import Table
from tasks.reading.pdf.words import Word, text_of

_FEWEST: Final = 8
"""Lines side by side that make columns of prose."""
_SHARE: Final = 0.25
"""The least share of a page's lines that stand side by side where it has columns."""
_FULL: Final = 0.75
"""The share of a column's width that most of its lines fill."""
_MOST: Final = 0.7
_PROSE: Final = 3
"""More words than that side by side, most of them letters, are prose."""


def columns_of_prose(lines: list[Line]) -> list[list[Line]]:
    """The lines of each column of prose, and those that run across; all lines where the page has one column."""
    gutters = _gutters(lines)
    if not gutters:
        return [lines]
    across: list[Word] = []
    columns: list[list[Word]] = [[] for _ in range(len(gutters) + 1)]
    for line in lines:
        parts: list[list[Word]] = [[] for _ in columns]
        for word in line.words:
            parts[bisect(gutters, (word.left + word.right) / 2)].append(word)
        runs = any(word.left < gutter < word.right for word in line.words for gutter in gutters)
        held = [part for part in parts if part]
        if runs or any(_follows(before, after) for before, after in itertools.pairwise(held)):
            across += line.words
        else:
            for column, part in zip(columns, parts, strict=True):
                column.extend(part)
    return [lines_of(column) for column in (across, *columns) if column]


def merged_columns(lines: Sequence[Line]) -> list[Table]:
    """Columns of prose that are drawn line by line across, each line of a column as a row: read one after the other."""
    gutters = _gutters(lines, drawn_across=True)
    if not gutters:
        return []
    columns: list[list[Line]] = [[] for _ in range(len(gutters) + 1)]
    for line in lines:
        parts: list[list[Word]] = [[] for _ in columns]
        for word in line.words:
            parts[bisect(gutters, (word.left + word.right) / 2)].append(word)
        if sum(map(bool, parts)) < 2 or any(word.left < at < word.right for word in line.words for at in gutters):
            continue
        for column, part in zip(columns, parts, strict=True):
            if part:
                column.append(Line(part, line.base, line.size, []))
    if not all(_has_one_edge(column) for column in columns):
        return []
    rows = [TableRow([text_of(line.words)], line.words) for column in columns for line in column]
    return [Table(lines[0].base, rows, is_prose=True)]


def _has_one_edge(column: Sequence[Line]) -> bool:
    """Whether the lines of a column begin at one place and most of them fill it, as prose does and cells do not."""
    if len(column) < _FEWEST:
        return False
    lefts = sorted(line.left for line in column)
    left = lefts[len(lefts) // 2]
    right = max(line.right for line in column)
    aligned = sum(abs(line.left - left) < line.size / 4 for line in column)
    full = sum(line.right - left > _FULL * (right - left) for line in column)
    return aligned >= _MOST * len(column) and full >= _MOST * len(column)


def _gutters(lines: Sequence[Line], *, drawn_across: bool = False) -> list[float]:
    """Where the page is parted into columns of prose: between lines of several words on both sides, on many lines."""
    gaps: list[Interval] = []
    for line in lines:
        for cell, other in itertools.pairwise(line.cells):
            if _is_prose(cell) and _is_prose(other) and _follows(cell.words, other.words) == drawn_across:
                gaps.append((cell.right, other.left))
    least = max(_FEWEST, _SHARE * len(lines))
    gutters: list[float] = []
    while len(gaps) >= least:
        middle = (
            max((right for _, right in gaps), key=lambda at: sum(left < at - 1 <= right for left, right in gaps)) - 1
        )
        here = [gap for gap in gaps if gap[0] < middle <= gap[1]]
        if len(here) < least:
            break
        gutters.append(middle)
        gaps = [gap for gap in gaps if gap not in here]
    return sorted(gutters)


def _is_prose(cell: LineCell) -> bool:
    return len(cell.words) > _PROSE and 3 * sum(word.text[:1].isalpha() for word in cell.words) > 2 * len(cell.words)


def _follows(before: Sequence[Word], after: Sequence[Word]) -> bool:
    """Whether words were drawn right behind those to their left."""
    return 0 <= min(word.first for word in after) - max(word.end for word in before) <= 2

"""The rows of a table: which lines of a page form one row, and what is in each of its cells.

Most programs draw a table cell by cell, so that the lines of a wrapped cell come before those of the next cell: lines
that are drawn alternately are one row. In tables drawn line by line, a line continues the row above if its first word
had no room there. Signs in columns of their own (`$`, `%`, a closing parenthesis) join their figures.
"""

import itertools
import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tasks.reading.pdf.grouping import HYPHENS, ColumnCells, Grouping, TableLine
from tasks.reading.pdf.lines import (
    CLOSING_SIGN,
    GUTTER,
    LEADING_SIGN,
    VALUE,
    Interval,
    Line,
    LineCell,
    is_figure,
    over,
)
from tasks.reading.pdf.table_columns import find_column, with_signs
from tasks.reading.pdf.words import PageWord, is_right_to_left, write_words

_LONG: Final = 7
"""Letters of a name from which it may be too long for its cell."""
_DIGITS: Final = "0123456789.,-–−"
_NAME: Final = re.compile(r"[_/\\.@=]|[a-z][A-Z]|\d")
"""Names of files and the like, which people do not part at the end of a line."""
_CHOICE: Final = re.compile(r"[_\\.@=]|[a-z][A-Z]|\d")
"""The same without strokes, which part words too: `Indian/Alaskan Native`."""
_LETTER: Final = 0.65
"""A letter's width as a share of the size: a cell with so much room takes no more of a word."""
_STACKED: Final = 0.8
"""The least distance of two lines of a cell, as a share of the size."""
_SOFT_BREAK: Final = re.compile(r"\S[-/\\]$|^[-–−]$|\w_$")
_GOES_ON: Final = re.compile(r"_\w")
"""What begins so goes on the name in the line above: `I2C_SLV0` and `_NACK`."""


_FIGURES: Final = re.compile(r"[(−–-]?\d{1,3}(?:[ .,'’]\d{3}){0,5}(?:[.,]\d{1,9})?\)?(?= |$)")
"""Figures one behind the other; digits of three groups have blanks between them, or nothing."""


def join_lines(lines: Sequence[tuple[str, Sequence[PageWord]]], full: float, size: float) -> str:
    """The lines of a cell joined, each given by its text and its words.

    A name longer than the cell, whose lines may end at `full`, is broken without a hyphen and joined again, like words
    that are split at a hyphen or a slash.
    """
    text = ""
    lines = _as_drawn([line for line in lines if line[0]], size)
    for index, (words, _) in enumerate(lines):
        if not text:
            text = words
            continue
        last, drawn = lines[index - 1]
        broken = len(drawn) == 1 and _is_broken(last, words, (full - drawn[0].right) / size)
        broken = broken or text.endswith(HYPHENS) or _SOFT_BREAK.search(text) is not None
        parted = VALUE if max(drawn[-1].piece, lines[index][1][0].piece) > 0 else " "
        text += words if broken or (_GOES_ON.match(words) and text[-1].isalnum()) else f"{parted}{words}"
    return text


def _as_drawn(lines: Sequence[tuple[str, Sequence[PageWord]]], size: float) -> Sequence[tuple[str, Sequence[PageWord]]]:
    """The lines of a cell; if some are closer together than lines can be, in the order in which they were drawn.

    Such lines are exponents, or two cells with nothing between them.
    """
    if not any(below[0].base - above[0].base < _STACKED * size for (_, above), (_, below) in itertools.pairwise(lines)):
        return lines
    ordered = sorted(lines, key=lambda line: line[1][0].first)
    ends = [max(word.first for word in words) for _, words in ordered]
    starts = [min(word.first for word in words) for _, words in ordered]
    if all(end < start for end, start in zip(ends, starts[1:], strict=False)):
        return ordered
    runs: list[list[PageWord]] = []
    for _, words in lines:
        for index, word in enumerate(words):
            if word.glued and index:
                runs[-1].append(word)
            else:
                runs.append([word])
    drawn = [word for run in sorted(runs, key=lambda run: run[0].first) for word in run]
    return [(write_words(drawn), drawn)]


def _is_broken(last: str, words: str, room: float) -> bool:
    """Whether a line continues the figure or name before it, given the room left there as a share of the size.

    A single word that fills its line proves nothing: columns are often as wide as their longest word.
    """
    if room >= _LETTER:
        return False
    if last[-1] in _DIGITS and words[0].isdigit():
        return True
    name = _CHOICE if last[-1].islower() and words[0].isupper() else _NAME
    return name.search(last) is not None and len(last) >= _LONG and words[0].isalnum()


_NEXT: Final = 2.2
"""White before the next column, as a share of the size, that a broken word leaves at most: the margins of two cells."""


@dataclass(slots=True)
class TableRow:
    """A row's cells from left to right, "" for an empty one, and the words that they are made of."""

    cells: list[str]
    words: list[PageWord] = field(default_factory=list)


def figures_in_one_cell(rows: Iterable[TableRow]) -> int:
    """How many figures share a cell with one before them: a sign that the columns of a table were misread.

    Spaces between groups of three digits separate thousands.
    """
    shared = 0
    for cell in (cell for row in rows for cell in row.cells):
        figures = _FIGURES.findall(cell)
        shared += len(figures) - 1 if len(figures) > 1 and " ".join(figures) == cell else 0
    return shared


def begins_at_the_right(rows: Sequence[TableRow]) -> bool:
    """Whether a table is of a script that is written to the left, and most right cells are drawn before left ones."""
    if not is_right_to_left("".join([cell for row in rows for cell in row.cells])):
        return False
    several = [row for row in rows if sum(map(bool, row.cells)) > 1]
    return 2 * sum(row.words[-1].first < row.words[0].first for row in several) > len(several)


class Rows:
    """Reads the rows of a table from its lines, from top to bottom, and the places of its columns.

    `rules`: where rules run across the table. `underlined`: the lines with a rule above them.
    """

    def __init__(
        self,
        lines: Sequence[Line],
        columns: Sequence[Interval],
        size: float,
        rules: Sequence[float] = (),
        underlined: Collection[int] = (),
    ) -> None:
        self._lines = lines
        self._columns = with_signs(columns, lines)
        self._size = size
        self._count = len(self._columns)
        self._entries = [self._find_entries(line) for line in lines]
        self._lefts = [0.0] * self._count
        self._rights = [0.0] * self._count
        self._measure()
        levels = [TableLine(line.base, entries) for line, entries in zip(lines, self._entries, strict=True)]
        self._grouping = Grouping(levels, self._ends(), size, rules, underlined)

    def read(self) -> list[TableRow]:
        """The rows from the top of the table to its bottom; of a script written to the left, the first column is the
        right one.
        """
        read = [self._row(row) for row in self._grouping.rows()[0]]
        if begins_at_the_right(read):
            for row in read:
                row.cells.reverse()
        return read

    def _ends(self) -> list[float]:
        """Where the text of each column may end."""
        nexts = [left - GUTTER * self._size for left in self._lefts[1:]]
        return [min(pair) - 0.15 * self._size for pair in zip(self._rights, [*nexts, math.inf], strict=True)]

    def _row(self, group: Sequence[int]) -> TableRow:
        cells: list[str] = []
        for column in range(self._count):
            entries = [entry for index in group if (entry := self._entries[index].get(column)) is not None]
            if len(entries) < 2:
                cells.append(entries[0].text if entries else "")
                continue
            lines = [(entry.text, entry.words) for entry in entries]
            cells.append(join_lines(lines, self._full(column), self._size))
        return TableRow(cells, [word for index in group for word in self._lines[index].words])

    def _full(self, column: int) -> float:
        """Where lines of a column end if a word is too long for it; infinity unless the next column is close."""
        if column + 1 < self._count and self._lefts[column + 1] - self._rights[column] < _NEXT * self._size:
            return self._rights[column]
        return math.inf

    def _find_entries(self, line: Line) -> dict[int, ColumnCells]:
        """What a line has in each column; a sign beside a figure counts to the figure's column."""
        entries: dict[int, ColumnCells] = {}
        for index, cell in enumerate(line.cells):
            home = cell
            if LEADING_SIGN.fullmatch(cell.text) and index + 1 < len(line.cells):
                behind = line.cells[index + 1]
                home = cell if self._is_code(cell, behind) else behind
            elif CLOSING_SIGN.fullmatch(cell.text) and index:
                home = line.cells[index - 1]
            home = home if is_figure(home.text) or home.text.startswith("(") else cell
            entry = entries.setdefault(find_column(home, self._columns), ColumnCells([]))
            entry.cells.append(cell)
            entry.spans = max(entry.spans, over(cell, self._columns))
        return entries

    def _is_code(self, cell: LineCell, behind: LineCell) -> bool:
        """Whether a cell is a currency code in letters, in a column of its own beside that of the next cell."""
        is_alone = over(cell, self._columns) == 1 and find_column(cell, self._columns) != find_column(
            behind, self._columns
        )
        return cell.text.isalpha() and is_alone

    def _measure(self) -> None:
        """Record how far left and right the cells of each column extend."""
        for line in self._lines:
            for cell in line.cells:
                if len(line.cells) > 1 or over(cell, self._columns) <= 1:
                    index = find_column(cell, self._columns)
                    self._lefts[index] = min(self._lefts[index] or cell.left, cell.left)
                    self._rights[index] = max(self._rights[index], cell.right)

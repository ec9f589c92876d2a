"""The rows of a table: which lines of a page form one row, and what is in each of its cells.

Most programs draw a table cell by cell, so that the lines of a wrapped cell come before those of the next cell: lines
that are drawn alternately are one row. In tables drawn line by line, a line continues the row above if its first word
had no room there. Signs in columns of their own (`$`, `%`, a closing parenthesis) join their figures.

Of all ways to group lines into rows, the one with the fewest irregularities counts. Evidence for one row are lines
without room for the next word, a label that goes on in small letters, lines closer together than others, and words that
are drawn by turns, as where cells are drawn one by one. Evidence against it are figures below each other, a line that
had room, a heading, and a rule. Each way is counted line by line, so that the least irregular one is found without
trying all.
"""

import itertools
import math
import re
from bisect import bisect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tasks.reading.pdf.lines import (
    CLOSING_SIGN,
    GUTTER,
    LEADING_SIGN,
    VALUE,
    Interval,
    Line,
    LineCell,
    is_amount,
    is_figure,
    is_like_figure,
    is_sign,
    offset,
    over,
)
from tasks.reading.pdf.table_columns import find_column, with_signs
from tasks.reading.pdf.words import PageWord, is_right_to_left, write_words

HYPHENS: Final = ("\x02", "\ufffe")
"""What PDFium gives for a hyphen at a line's end."""
_LEADING: Final = 1.6
"""Lines nearer than so many sizes may be of one cell; twice as far where they are drawn by turns."""
_NEAR: Final = 1.08
"""Lines nearer than that share of the least distance of lines are close together."""
_FAR: Final = 0.92
"""Lines further than that share of the least distance of two rows are as far apart as rows."""
_EVEN: Final = 1.12
"""The largest distance of lines as a share of the least where they all stand equally far."""
_MOST_HEADERS: Final = 6
"""Lines at the top of a table that may be headers."""
_ALIGNED: Final = 3.0
"""Points by which the lines of a header stand apart at most, at one of their sides or in their middle."""
_TORN: Final = re.compile(r"\d([,.'’ ])\d{3}\1\d{0,2}$|\d[,.]$")
"""A figure of which a part stands in the next line: `5,000,0`."""
_NARROW: Final = 3
"""Columns of a table in which two figures below each other are two rows."""
_MOST_LINES: Final = 15
"""Lines of a row: more that are drawn by turns are a table that is drawn column by column."""
_FULL: Final = 0.5
"""The share of lines that end where there is no more room, among those of cells that are drawn one by one."""
_MARK: Final = 4
"""Characters of a mark or a number before a label, at most."""
_FEW: Final = 3
"""Lines of a cell that may all have room for more."""
_TOO_MANY: Final = 8.0
"""Faults of a row to which no more lines are added."""
_LARGER: Final = 1.15
"""How much larger the letters of a heading are than those of the row below it."""


class _Fault:
    """How irregular a way to group lines is; below 0 is what speaks for it."""

    STACKED_FIGURES: Final = 6.0
    FIGURE_AND_TEXT: Final = 3.0  # in one cell
    ROOM: Final = 2.75  # for the next word, which stands a line lower all the same
    NO_ROOM: Final = -0.5
    GOES_ON: Final = -1.5  # in small letters, or behind a hyphen
    SAME: Final = 4.0  # a mark or a label again
    NEW_LABEL: Final = 1.25  # one that begins like others
    BY_TURNS: Final = -3.0  # words of each of the lines are drawn between those of the other
    CLOSE: Final = -0.75  # closer than most lines
    APART: Final = 0.75  # as far as two rows
    ONE_FIELD: Final = -2.0  # of a grid, whose rules may enclose one row
    BORDER: Final = 2.0  # of a cell, or a rule under a header, between two lines of a row
    NO_LABEL: Final = 0.75
    HEADING: Final = 1.0  # a label alone above rows, or one cell above all of them
    STRAY: Final = 3.0  # any other cell alone


@dataclass
class ColumnCells:
    """The cells that a line has in one column, and over how many columns one of them extends."""

    cells: list[LineCell]
    spans: int = 1

    @property
    def left(self) -> float:
        return self.cells[0].left

    @property
    def right(self) -> float:
        return self.cells[-1].right

    @property
    def sides(self) -> Interval:
        """Where they begin and end."""
        return self.left, self.right

    @property
    def words(self) -> list[PageWord]:
        return [word for cell in self.cells for word in cell.words]

    @property
    def has_value(self) -> bool:
        """Whether one of them is the value of a form's field."""
        return any(cell.words[0].piece > 0 for cell in self.cells)

    @cached_property
    def text(self) -> str:
        """The text of the cells, without a space between signs and their figures: once all of them are there."""
        if len(self.cells) == 1:
            return self.cells[0].text
        text = ""
        for cell in self.cells:
            words = cell.text
            tight = not text or CLOSING_SIGN.fullmatch(words) or LEADING_SIGN.fullmatch(text)
            text += words if tight else f"{VALUE if self.has_value else ' '}{words}"
        return text


@dataclass(slots=True)
class TableLine:
    """What stands on one line of a table, by column."""

    base: float
    entries: dict[int, ColumnCells]

    @property
    def drawn(self) -> Interval:
        """The first and the last of its words, in drawing order."""
        firsts = [word.first for entry in self.entries.values() for word in entry.words]
        return min(firsts), max(firsts)


class Grouping:
    """The levels of a table, from its top, whose columns' texts end at `ends` and whose letters are of that size.

    `rules`: where rules run across the table. `underlined`: the levels with a rule above them.
    """

    def __init__(
        self,
        levels: Sequence[TableLine],
        ends: Sequence[float],
        size: float,
        rules: Sequence[float] = (),
        underlined: Collection[int] = (),
        *,
        label: int | None = None,
    ) -> None:
        self._levels = levels
        self._ends = ends
        self._size = size
        self._bands = [bisect(rules, level.base - size / 3) for level in levels]
        self._is_grid = label is not None
        figures = [x for level in levels for x, entry in level.entries.items() if is_like_figure(entry.text)]
        self._is_field = self._is_grid and len(set(figures)) == len(figures) and not self._is_roomy()
        self._has_values = any(entry.has_value for level in levels for entry in level.entries.values())
        self._underlined = underlined
        self._label = _find_label_column(levels, len(ends)) if label is None else label
        apart = [below.base - above.base for above, below in itertools.pairwise(levels)]
        pitches = sorted(pitch for pitch in apart if pitch > 0.9 * size)
        self._near = _NEAR * pitches[0] if pitches and pitches[-1] > _EVEN * pitches[0] else 0.0
        rows = [len(level.entries) > 1 and self._label in level.entries for level in levels]
        self._far = _FAR * min(
            (pitch for pitch, pair in zip(apart, itertools.pairwise(rows), strict=True) if all(pair)), default=math.inf
        )
        full = [at for at, has_label in enumerate(rows) if has_label]
        self._first, self._last = (full[0], full[-1]) if full else (0, 0)
        told = [
            any(_is_amount(entry.text) or entry.text.endswith(":") for entry in level.entries.values())
            for level in levels
        ]
        self._headers = told.index(True) if True in told[: _MOST_HEADERS + 1] else 0
        self._turns = self._find_turns()

    def _is_roomy(self) -> bool:
        """Whether one of the columns holds a list: several lines, most of which had room for the next word."""
        for column in range(len(self._ends)):
            held = [level.entries[column] for level in self._levels if column in level.entries]
            roomy = sum(not self._is_full(*pair, column) for pair in itertools.pairwise(held))
            if len(held) > _FEW and roomy >= _FULL * len(held):
                return True
        return False

    def rows(self) -> tuple[list[range], float]:
        """The levels of each row in the least irregular grouping, and how irregular it is."""
        count = len(self._levels)
        least = [0.0, *[math.inf] * count]
        starts = [0] * (count + 1)
        for first in range(count):
            faults = least[first]
            held: dict[int, ColumnCells] = {}
            for index in range(first, min(count, first + _MOST_LINES)):
                faults += self._join_faults(index, held) if held else 0.0
                if faults > least[first] + _TOO_MANY:
                    break
                held |= self._levels[index].entries
                total = faults + self._row_faults(held, first, index + 1)
                if total < least[index + 1]:
                    least[index + 1], starts[index + 1] = total, first
        rows: list[range] = []
        end = count
        while end:
            rows.append(range(starts[end], end))
            end = starts[end]
        return rows[::-1], least[count]

    def _row_faults(self, held: Mapping[int, ColumnCells], first: int, end: int) -> float:
        """How irregular it is that a row, from one level to another, holds something in these columns alone."""
        bands = [-1, *self._bands, math.inf]
        if len(held) > 1 or (self._is_grid and bands[first] < bands[first + 1] and bands[end] < bands[end + 1]):
            return 0.0 if self._label in held else _Fault.NO_LABEL
        is_heading = first < self._first or (min(held) <= self._label and (end <= self._last or not self._is_field))
        return _Fault.HEADING if is_heading else _Fault.STRAY

    def _join_faults(self, index: int, held: Mapping[int, ColumnCells]) -> float:
        """How irregular it is that a level belongs to the row above it, which holds these entries."""
        level = self._levels[index]
        pitch = level.base - self._levels[index - 1].base
        by_turns = self._turns[index] == self._turns[index - 1]
        is_ruled_off = self._bands[index] != self._bands[index - 1]
        if not self._is_grid and (is_ruled_off or pitch > _LEADING * self._size * (1 + by_turns)):
            return math.inf
        faults = _Fault.BY_TURNS if by_turns else 0.0
        if is_ruled_off or index in self._underlined:
            faults += _Fault.BORDER
        elif self._is_field:
            faults += _Fault.ONE_FIELD
        has_label = self._label in level.entries
        is_header = index < self._headers and len(level.entries) > has_label
        is_row = has_label or not level.entries.keys() <= held.keys()
        for column in level.entries.keys() & held.keys():
            faults += self._column_faults(column, held, level, is_header=is_header, is_row=is_row)
            if faults > _TOO_MANY:
                return math.inf
        begins_anew = held.keys().isdisjoint(level.entries) or (has_label and self._label not in held)
        if begins_anew and pitch >= self._size and not (is_header or self._is_field):
            faults += _Fault.NEW_LABEL
        if self._near and pitch > self._far:
            faults += _Fault.APART
        elif pitch < self._near:
            faults += _Fault.CLOSE
        return faults

    def _column_faults(
        self, column: int, held: Mapping[int, ColumnCells], level: TableLine, *, is_header: bool, is_row: bool
    ) -> float:
        """How irregular it is that a row has in a column what it held so far and what the line has there."""
        upper, lower = held[column], level.entries[column]
        if any(beside in level.entries for beside in range(column + 1, column + upper.spans)):
            return _Fault.ROOM  # it heads the columns below it
        if len(held) == 1 and not self._is_grid and upper.words[-1].size > _LARGER * lower.words[0].size:
            return _Fault.SAME  # a heading above the table
        if is_header and upper.spans == lower.spans and offset(upper.sides, lower.sides) < _ALIGNED:
            return _Fault.NO_ROOM
        if column == self._label:
            return self._label_faults(upper, lower, is_first=len(held) == 1)
        return self._stack_faults(upper, lower, column, is_row=is_row)

    def _stack_faults(self, upper: ColumnCells, lower: ColumnCells, column: int, *, is_row: bool) -> float:
        """How irregular it is that one cell holds both texts; `is_row`: the lower one may be in a row of its own."""
        if self._has_values and upper.has_value and lower.has_value:
            return _Fault.STACKED_FIGURES
        above, below = upper.text, lower.text
        if is_like_figure(above) and is_like_figure(below):
            return _Fault.GOES_ON if _TORN.search(above) else _Fault.STACKED_FIGURES
        if upper.words[-1].text.endswith(HYPHENS) or (is_amount(above) and is_sign(below)):
            return _Fault.GOES_ON
        if column > self._label and (is_amount(above) or is_amount(below)):
            return _Fault.FIGURE_AND_TEXT
        is_across = lower.spans > upper.spans or (upper.spans > 1 and is_like_figure(below))
        if is_across or above.endswith(":"):
            return _Fault.ROOM
        if column <= self._label and above == below:
            return _Fault.SAME
        if self._is_full(upper, lower, column):
            return _Fault.NO_ROOM
        return _Fault.ROOM if is_row or column < self._label else 0.0

    def _label_faults(self, upper: ColumnCells, lower: ColumnCells, *, is_first: bool) -> float:
        """The same of a label; `is_first`: nothing stands beside its upper line."""
        faults = self._stack_faults(upper, lower, self._label, is_row=True)
        is_small = lower.text[:1].islower()
        if faults > _Fault.ROOM or max(upper.spans, lower.spans) > 1 or upper.text.endswith(":"):
            return faults
        if is_small or (is_first and upper.text.endswith(",")):
            return _Fault.GOES_ON
        return faults + _Fault.NEW_LABEL

    def _is_full(self, upper: ColumnCells, lower: ColumnCells, column: int) -> bool:
        """Whether the first word below had no room after what is in the column."""
        word = lower.words[0]
        return upper.right + 0.25 * self._size + word.right - word.left > self._ends[column]

    def _find_turns(self) -> list[int]:
        """For each level the number of a group of levels that are drawn by turns, a cell after the other."""
        groups: list[list[int]] = []
        reach: Interval = (0, -1)
        for index, level in enumerate(self._levels):
            span = level.drawn
            if groups and span[0] < reach[1] and reach[0] < span[1]:
                groups[-1].append(index)
                reach = min(reach[0], span[0]), max(reach[1], span[1])
            else:
                groups.append([index])
                reach = span
        turns = list(range(len(self._levels)))
        for group in groups:
            if len(group) <= _MOST_LINES and not self._are_rows(group):
                turns[group[0] : group[-1] + 1] = [group[0]] * len(group)
        return turns

    def _are_rows(self, group: Sequence[int]) -> bool:
        """Whether levels are separate rows: figures are below each other, or words had room on the line above."""
        held: dict[int, list[ColumnCells]] = {}
        for index in group:
            for column, entry in self._levels[index].entries.items():
                held.setdefault(column, []).append(entry)
        if any(sum(entry.text.endswith(":") for entry in entries) > 1 for entries in held.values()):
            return True
        stacked = [sum(is_like_figure(entry.text) for entry in entries) > 1 for entries in held.values()]
        if sum(stacked) > 1 or any(stacked[:1]) or (any(stacked) and len(stacked) <= _NARROW):
            return True
        full = [
            self._is_full(entry, below, column)
            for column, entries in held.items()
            for entry, below in itertools.pairwise(entries)
        ]
        return len(full) > 1 and sum(full) < _FULL * len(full)


def _is_amount(text: str) -> bool:
    """Whether a text is a figure that no header has: neither a year nor a single digit."""
    return len(text) > 1 and is_like_figure(text) and (is_amount(text) or not is_figure(text))


def _find_label_column(levels: Sequence[TableLine], count: int) -> int:
    """The column of labels: the first with words in rows with figures; headers have none, and marks are shorter."""
    figures = [level.entries for level in levels if any(_is_amount(entry.text) for entry in level.entries.values())]
    for column in range(count if figures else 0):
        texts = [row[column].text for row in figures if column in row]
        if 2 * sum(len(text) > _MARK and not is_like_figure(text) for text in texts) > len(figures):
            return column
    return find_label_column(figures or [level.entries for level in levels], count)


def find_label_column(rows: Sequence[Collection[int]], count: int) -> int:
    """The first column that most rows use, given the columns of each; those before it hold marks, or what spans all."""
    several = [row for row in rows if len(row) > 1]
    for column in range(count):
        if 2 * sum(column in row for row in several) > len(several):
            return column
    return 0


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


_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d|[0-3]?\d([./-])[01]?\d\1(?:19|20)\d\d")
"""A whole day, which does not go on in the day below it: "2013-01-01" over "2013-12-31"."""
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

    Such lines are exponents, or two cells with nothing between them. The value of a form's field, which is drawn after
    all others, stays behind a word right before it.
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
            if index and (word.glued or (word.piece > 0 and word.left - words[index - 1].right < _NEXT * word.size)):
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
        return not (_DAY.fullmatch(last) and _DAY.match(words))
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

    def read(self, *, are_rows: bool = False) -> list[TableRow]:
        """The rows from the top of the table to its bottom; of a script written to the left, the first column is the
        right one. `are_rows`: each line is one.
        """
        groups = [[index] for index in range(len(self._lines))] if are_rows else self._grouping.rows()[0]
        read = [self._row(row) for row in groups]
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

"""The rows of a table: which lines of a page form one row, and what is in each of its cells.

Most programs draw a table cell by cell, so that the lines of a wrapped cell come before those of the next cell: lines
that are drawn alternately are one row. In tables drawn line by line, a line continues the row above if its first word
had no room there. Signs in columns of their own (`$`, `%`, a closing parenthesis) join their figures.
"""

import itertools
import math
import re
from bisect import bisect
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tasks.reading.pdf.lines import (
    CLOSING_SIGN,
    GUTTER,
    LEADING_SIGN,
    Interval,
    Line,
    LineCell,
    is_figure,
    is_header,
    is_like_figure,
    offset,
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
_HYPHENS: Final = ("\x02", "\ufffe")
"""What PDFium gives for a hyphen at a line's end."""


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
        broken = broken or text.endswith(_HYPHENS) or _SOFT_BREAK.search(text) is not None
        text += words if broken or (_GOES_ON.match(words) and text[-1].isalnum()) else f" {words}"
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
    drawn = sorted((word for _, words in lines for word in words), key=lambda word: word.first)
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


_LEADING: Final = 1.6
"""Lines nearer than so many sizes may be of one cell."""
_WRAPPED: Final = 1.15
"""How far apart the lines of a label may be, as a share of the least distance of lines."""
_NEARER: Final = 0.92
"""The same as a share of the least distance of two rows."""
_MOST_HEADERS: Final = 6
"""Lines at the top of a table that may be headers."""
_ALIGNED: Final = 1.5
"""Points by which the lines of a header stand apart at most, at one of their sides or in their middle."""
_AMOUNT: Final = re.compile(r"[$€£¥] ?\d|\d ?%")
_STAGGERED: Final = 1.0
"""How far below a line of a label its figures stand at most, in sizes, where they have a level of their own."""
_STEP: Final = 0.1
"""By how much, in sizes, figures may stand nearer to the label below them and belong to the one above."""
_FEWEST_BANDS: Final = 3
"""Rows from which the rules between them tell all rows."""
_MOST_BAND: Final = 6
"""Lines of such a row: forms have rules round parts of many lines."""
_NARROW: Final = 3
"""Columns of a table in which two figures below each other are two rows."""
_MOST_LINES: Final = 15
"""Lines of a row: more that are drawn by turns are a table that is drawn column by column."""
_FULL: Final = 0.5
"""The share of a row's lines that end where there is no more room."""
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


@dataclass(slots=True)
class _Entry:
    """The cells that a line has in one column."""

    cells: list[LineCell]

    @property
    def left(self) -> float:
        return self.cells[0].left

    @property
    def right(self) -> float:
        return self.cells[-1].right

    @property
    def sides(self) -> Interval:
        return self.left, self.right

    @property
    def words(self) -> list[PageWord]:
        return [word for cell in self.cells for word in cell.words]

    @property
    def text(self) -> str:
        """The text of the cells, without a space between signs and their figures."""
        if len(self.cells) == 1:
            return self.cells[0].text
        text = ""
        for cell in self.cells:
            words = cell.text
            tight = not text or CLOSING_SIGN.fullmatch(words) or LEADING_SIGN.fullmatch(text)
            text += words if tight else f" {words}"
        return text


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
        underlined: Container[int] = (),
    ) -> None:
        self._rules = rules
        self._underlined = underlined
        self._lines = lines
        self._columns = with_signs(columns, lines)
        self._size = size
        self._count = len(self._columns)
        self._entries = [self._find_entries(line) for line in lines]
        self._label = self._find_label_column()
        self._lefts = [0.0] * self._count
        self._rights = [0.0] * self._count
        self._measure()
        pitches = sorted(
            pitch for before, after in itertools.pairwise(lines) if (pitch := after.base - before.base) > 0.9 * size
        )
        self._pitch = pitches[0] if pitches else 0.0
        least = min(
            (
                below.base - above.base
                for (above, entries), (below, others) in itertools.pairwise(zip(lines, self._entries, strict=True))
                if min(len(entries), len(others)) > 1 and self._label in entries and self._label in others
            ),
            default=0.0,
        )
        self._nearest = max(_WRAPPED * self._pitch, _NEARER * least)
        self._even = not pitches or pitches[-1] < 1.12 * pitches[0]

    def read(self) -> list[TableRow]:
        """The rows from the top of the table to its bottom."""
        if bands := self._between_rules():
            return self._read_cells(bands)
        groups = self._group_by_turns()
        by_cells = any(len(group) > 1 for group in groups)
        rows: list[list[int]] = []
        for number, group in enumerate(groups):
            if rows and (
                self._goes_on(rows[-1], group, by_cells=by_cells)
                or self._is_header(rows[-1], group)
                or self._is_beside(rows[-1], group, groups[number + 1] if number + 1 < len(groups) else ())
            ):
                rows[-1] += group
            else:
                rows.append(group)
        return self._read_cells(rows)

    def _read_cells(self, rows: Sequence[Sequence[int]]) -> list[TableRow]:
        """The rows of these lines; of a script that is written to the left, the first column is the right one."""
        read = [self._row(row) for row in rows]
        if is_right_to_left("".join(cell for row in read for cell in row.cells)) and self._is_drawn_to_the_left():
            for row in read:
                row.cells.reverse()
        return read

    def _is_drawn_to_the_left(self) -> bool:
        """Whether the right cell of most lines is drawn before the left one."""
        lines = [line for line in self._lines if len(line.cells) > 1]
        backwards = sum(line.cells[-1].words[0].first < line.cells[0].words[0].first for line in lines)
        return 2 * backwards > len(lines)

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

    def _group_by_turns(self) -> list[list[int]]:
        """The lines in groups: lines whose words were drawn in alternation belong together."""
        spans = [
            (min(word.first for word in line.words), max(word.first for word in line.words)) for line in self._lines
        ]
        groups: list[list[int]] = []
        reach: Interval = (0, -1)
        for index, span in enumerate(spans):
            if groups and span[0] < reach[1] and reach[0] < span[1] and self._is_near(groups[-1][-1], index):
                groups[-1].append(index)
                reach = min(reach[0], span[0]), max(reach[1], span[1])
            else:
                groups.append([index])
                reach = span
        parted: list[list[int]] = []
        for group in groups:
            if len(group) > _MOST_LINES or self._are_rows(group):
                parted += [[index] for index in group]
            else:
                parted.append(group)
        return parted

    def _between_rules(self) -> list[list[int]]:
        """The lines between each two rules if that forms rows: at least three, none with figures below each other."""
        bands: dict[int, list[int]] = {}
        for index, line in enumerate(self._lines):
            bands.setdefault(bisect(self._rules, line.base - line.size / 3), []).append(index)
        rows = list(bands.values())
        if len(rows) < _FEWEST_BANDS or any(len(row) > _MOST_BAND or self._are_figures(row) for row in rows):
            return []
        return rows

    def _are_figures(self, group: Sequence[int]) -> bool:
        """Whether several of the lines have figures in the same column."""
        columns = [column for index in group for column, entry in self._entries[index].items() if is_figure(entry.text)]
        return len(columns) > len(set(columns))

    def _is_near(self, above: int, below: int) -> bool:
        return self._lines[below].base - self._lines[above].base < 2 * _LEADING * self._size

    def _are_rows(self, group: Sequence[int]) -> bool:
        """Whether lines are separate rows: figures are below each other, or words had room on the line above."""
        held: dict[int, list[_Entry]] = {}
        for index in group:
            for column, entry in self._entries[index].items():
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

    def _find_entries(self, line: Line) -> dict[int, _Entry]:
        """What a line has in each column; a sign beside a figure counts to the figure's column."""
        entries: dict[int, _Entry] = {}
        for index, cell in enumerate(line.cells):
            home = cell
            if LEADING_SIGN.fullmatch(cell.text) and index + 1 < len(line.cells):
                behind = line.cells[index + 1]
                home = cell if self._is_code(cell, behind) else behind
            elif CLOSING_SIGN.fullmatch(cell.text) and index:
                home = line.cells[index - 1]
            home = home if is_figure(home.text) or home.text.startswith("(") else cell
            entries.setdefault(find_column(home, self._columns), _Entry([])).cells.append(cell)
        return entries

    def _is_code(self, cell: LineCell, behind: LineCell) -> bool:
        """Whether a cell is a currency code in letters, in a column of its own beside that of the next cell."""
        is_alone = over(cell, self._columns) == 1 and find_column(cell, self._columns) != find_column(
            behind, self._columns
        )
        return cell.text.isalpha() and is_alone

    def _find_label_column(self) -> int:
        """The first column that most rows use; columns before it hold marks, or what spans the table."""
        several = [entries for entries in self._entries if len(entries) > 1]
        for column in range(self._count):
            if 2 * sum(column in entries for entries in several) > len(several):
                return column
        return 0

    def _measure(self) -> None:
        """Record how far left and right the cells of each column extend."""
        for line in self._lines:
            for cell in line.cells:
                if len(line.cells) > 1 or over(cell, self._columns) <= 1:
                    index = find_column(cell, self._columns)
                    self._lefts[index] = min(self._lefts[index] or cell.left, cell.left)
                    self._rights[index] = max(self._rights[index], cell.right)

    def _goes_on(self, row: Sequence[int], group: Sequence[int], *, by_cells: bool) -> bool:
        """Whether lines continue the row above them with what did not fit there.

        `by_cells`: the table is drawn cell by cell, so that only the last cell of a row can continue out of turn, or a
        label whose figures are beside its last line.
        """
        above, line = self._lines[row[-1]], self._lines[group[0]]
        cells = self._entries[group[0]]
        pitch = line.base - above.base
        if pitch > _LEADING * self._size or not cells:
            return False
        last: dict[int, _Entry] = {}
        for index in row:
            last.update(self._entries[index])
        if self._carries_on(last, cells):
            return True
        if by_cells and not set(last) == {0} <= set(cells):
            end = max(last)
            return set(cells) == {end} and len(group) == 1 and self._is_full(last[end], cells[end], end, strict=True)
        if set(last) == {0} and 0 in cells:  # a label that fills its column, its figures below
            indented = cells[0].left > last[0].left + 2.5 * self._size
            near = (self._even or pitch < self._nearest) and not last[0].text.endswith(":")
            return near and self._over(last[0]) <= 1 and not indented and self._is_full(last[0], cells[0], 0)
        near = self._even or pitch < 1.08 * self._pitch
        return near and cells.keys() <= last.keys() and self._is_wrapped(last, cells)

    def _carries_on(self, last: Mapping[int, _Entry], cells: Mapping[int, _Entry]) -> bool:
        """Whether what stands below a row goes on its text, as a hyphen, a comma or a small letter shows."""
        if any(column in last and last[column].words[-1].text.endswith(_HYPHENS) for column in cells):
            return True
        label, below = last.get(self._label), cells.get(self._label)
        if label is None or below is None or min(cells) < self._label or self._over(label) > 1:
            return False
        if any(is_figure(entry.text) for column, entry in last.items() if column > self._label):
            return False
        aligned = abs(label.left - below.left) < 1 and not label.text.endswith((":", "."))
        return label.text.endswith(",") or (aligned and below.text[:1].islower())

    def _is_wrapped(self, last: Mapping[int, _Entry], cells: Mapping[int, _Entry]) -> bool:
        """Whether cells without figures had no room in the row above, which has something in each of their columns."""
        pairs = [(last[index], entry, index) for index, entry in cells.items()]
        if any(is_like_figure(entry.text) for entry in cells.values()):
            return False
        if any(above.text.endswith(":") and entry.text.endswith(":") for above, entry, _ in pairs):
            return False
        if min(cells) > self._label:
            # a unit in the middle below headers is none of them
            return all(self._over(entry) <= max(1, self._over(above)) for above, entry, _ in pairs)
        full = all(
            self._is_full(above, entry, index)
            and (entry.left > above.left - _ALIGNED or entry.text[:1].islower() or index > self._label)
            for above, entry, index in pairs
        )
        return full and (len(cells) < len(last) or not self._even)

    def _is_header(self, row: Sequence[int], group: Sequence[int]) -> bool:
        """Whether lines are the last ones of headers that all end on one level; those with more lines begin higher."""
        above, line = self._lines[row[-1]], self._lines[group[0]]
        last = {column for index in row for column in self._entries[index]}
        cells = {column for index in group for column in self._entries[index]}
        if self._label in last or not last <= cells or group[0] in self._underlined or row[0] > _MOST_HEADERS:
            return False
        lines = [self._lines[index] for index in (*row, *group)]
        entries = [self._entries[row[-1]], self._entries[group[0]]]
        return (
            line.base - above.base < _LEADING * self._size
            and all(is_header(line) and not _AMOUNT.search(cell.text) for line in lines for cell in line.cells)
            and all(over(cell, self._columns) <= 1 for line in lines for cell in line.cells)
            and all(
                column in entries[1] and offset(entry.sides, entries[1][column].sides) < _ALIGNED
                for column, entry in entries[0].items()
            )
        )

    def _is_beside(self, row: Sequence[int], group: Sequence[int], below: Sequence[int]) -> bool:
        """Whether lines stand lower than the row above by less than a line, in other columns, so that both are one row.

        `below`: the lines of the next group. The lines belong to those if these are nearer and in other columns too.
        """
        above, line = self._lines[row[-1]], self._lines[group[0]]
        cells = {column for index in group for column in self._entries[index]}
        raised = line.base - above.base
        taken = {column for index in row for column in self._entries[index]} - {self._label}
        if raised > _STAGGERED * self._size or not cells.isdisjoint(taken.union(self._entries[row[-1]])):
            return False
        if not below or not cells.isdisjoint(self._entries[below[0]]):
            return True
        nearer = self._lines[below[0]].base - line.base - raised
        return nearer > _STEP * self._size if self._label in cells else nearer > -_STEP * self._size

    def _over(self, entry: _Entry) -> int:
        return max(over(cell, self._columns) for cell in entry.cells)

    def _is_full(self, entry: _Entry, below: _Entry, column: int, *, strict: bool = False) -> bool:
        """Whether the first word below had no room after what is in the column."""
        room = self._rights[column]
        if column + 1 < self._count and not strict:
            room = min(room, self._lefts[column + 1] - GUTTER * self._size)
        word = below.words[0]
        return entry.right + 0.25 * self._size + (word.right - word.left) > room - 0.15 * self._size

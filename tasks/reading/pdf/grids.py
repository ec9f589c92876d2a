"""Tables on a PDF's page that are drawn with rules: the lines between their cells show which words belong together.

Crossing rules form a grid; cells without a rule between them are one cell. All lengths are points; `y` grows from the
top of the page to its bottom.
"""

import itertools
import math
import re
from bisect import bisect, bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from operator import itemgetter
from typing import Final

from tasks.reading.pdf.lines import LEADING_SIGN, VALUE, Line, LineCell, build_lines, is_figure, is_sign
from tasks.reading.pdf.rows import (
    ColumnCells,
    Grouping,
    TableLine,
    TableRow,
    begins_at_the_right,
    find_label_column,
    join_lines,
)
from tasks.reading.pdf.rules import THIN, RuledLine, Rules, close_grid, find_covered, group_rules, place_rules
from tasks.reading.pdf.table_columns import find_columns, several_cells, with_signs
from tasks.reading.pdf.tables import Table
from tasks.reading.pdf.words import PageWord, middle, write_words

_MOST_LINES: Final = 30
"""Lines of a cell: one with more is a part of the page."""
TABLE_LINES: Final = 3
"""Lines of a cell with several figures each: such a cell is a table that rules part otherwise."""
STACKED: Final = 3
"""Lines below each other, at least, that may be rows without rules between."""
LEVEL: Final = 0.6
"""The share of such rows that hold something in a column that tells them."""
_SAME_LEVEL: Final = 0.5
"""How far lines of one row may be raised, as a share of their size."""
_LED: Final = re.compile(r"[.…]{4}$")
"""Dots at the end of a label that lead to what stands in its row."""
_ROOMY: Final = 0.5
"""The share of lines that leave room for the next word where they are no text that wraps."""


def is_too_much(cell: Sequence[Line]) -> bool:
    """Whether a cell of several lines contains a part of the page, or a table of its own."""
    if len(cell) > _MOST_LINES and not all(is_figure(write_words(line.words)) for line in cell):
        return True
    figures = (sum(is_figure(part.text) and part.words[0].piece <= 0 for part in line.cells) for line in cell)
    return sum(count > 1 for count in figures) >= TABLE_LINES


def rows_between_rules(
    cells: Sequence[Sequence[Line]], ends: Sequence[float], spans: Sequence[int], seams: Sequence[float], label: int
) -> tuple[list[TableRow], float]:
    """The rows between two rules, from each cell's lines, right edge and columns, and how irregular they are.

    Rules may enclose several rows, as on forms. `seams`: where the borders or the grounds of cells meet.
    """
    if not any(cells):
        return [], 0.0
    if max(map(len, cells)) == 1:
        return [_row(cells, ends)], 0.0
    if _hold_one_value_each(cells):
        return [_row(cells, ends)], 0.0
    size = max(line.size for cell in cells for line in cell)
    levels, lines = _levels(cells, spans)
    groups, faults = Grouping(levels, ends, size, seams, label=label).rows()
    rows = [
        [[line for at in group if (line := lines[at].get(x)) is not None] for x in range(len(cells))]
        for group in groups
    ]
    return [_row(row, ends) for row in rows], min(max(0.0, faults), len(rows))


def _hold_one_value_each(cells: Sequence[Sequence[Line]]) -> bool:
    """Whether the values of a form's fields stand in one row: one in each cell, each beside other words of it or none.

    Fields of several lines hold their value on another level than those beside them.
    """
    filled = [cell for cell in cells if any(word.piece > 0 for line in cell for word in line.words)]
    values = [line for cell in filled for line in cell]
    if len(filled) < 2 or max(map(len, filled)) > 1:
        return False
    others = [cell for cell in cells[: cells.index(filled[0])] if cell]
    beside = [{_nearest(value, cell) for value in values if _are_level([value], cell)} for cell in others]
    return max(map(len, beside), default=1) < 2


def _nearest(line: Line, others: Sequence[Line]) -> float:
    """The baseline of that of other lines which is nearest to the one of a line."""
    return min((other.base for other in others), key=lambda base: abs(base - line.base))


def _levels(cells: Sequence[Sequence[Line]], spans: Sequence[int]) -> tuple[list[TableLine], list[dict[int, Line]]]:
    """What stands on each level of the cells, and the lines that it is made of, which may be raised a little."""
    held: list[dict[int, Line]] = []
    bases: list[float] = []
    for base, x, line in sorted(
        ((line.base, x, line) for x, cell in enumerate(cells) for line in cell), key=itemgetter(0)
    ):
        if held and base - bases[-1] <= _SAME_LEVEL * line.size and x not in held[-1]:
            held[-1][x] = line
        else:
            held.append({x: line})
            bases.append(base)
    levels = [
        TableLine(base, {x: ColumnCells(line.cells, spans[x]) for x, line in sorted(lines.items())})
        for base, lines in zip(bases, held, strict=True)
    ]
    return levels, held


def label_and_figures(line: Line) -> tuple[float, float] | None:
    """Where the label of a line ends and the figures after it begin, with their signs; None for other lines."""
    cells = line.cells
    at = len(cells)
    while at and (is_figure(cells[at - 1].text) or is_sign(cells[at - 1].text)):
        at -= 1
    if not 0 < at < len(cells) or not is_figure(cells[-1].text):
        return None
    return cells[at - 1].right, cells[at].left


def have_room(pairs: Iterable[tuple[Line, Line]], end: float) -> bool:
    """Whether most lines had room for the first word of the line below, or end in dots: they are no running text."""
    roomy = [
        above.words[-1].text == "."
        or above.right + 0.25 * above.size + below.words[0].right - below.words[0].left < end
        for above, below in pairs
    ]
    return sum(roomy) >= _ROOMY * len(roomy)


def _are_level(lines: Iterable[Line], others: Sequence[Line]) -> bool:
    """Whether one of the lines stands on one level with one of the others."""
    return any(abs(line.base - other.base) <= _SAME_LEVEL * line.size for line in lines for other in others)


def _row(cells: Sequence[Sequence[Line]], ends: Sequence[float]) -> TableRow:
    words = [word for cell in cells for line in cell for word in line.words]
    return TableRow([_text(cell, end) for cell, end in zip(cells, ends, strict=True)], words)


def _text(lines: Sequence[Line], end: float) -> str:
    """The text of a cell whose lines may end at `end`."""
    if len(lines) < 2:
        return _write_line(lines[0]) if lines else ""
    size = max(line.size for line in lines)
    return join_lines([(_write_line(line), line.words) for line in lines], end, size)


def _write_line(line: Line) -> str:
    """The words of a line, with marks around the values of a form's fields."""
    if len(line.cells) > 1 and any(cell.words[0].piece > 0 for cell in line.cells):
        return VALUE.join([cell.text for cell in line.cells])
    return write_words(line.words)


_MOST_CELLS: Final = 20_000
_FEWEST_FIELDS: Final = 3
_BESIDE: Final = 0.5
"""The share of a grid's lines that may have words at its sides."""
_FILLED: Final = 0.3
"""The share of a grid's fields that hold something where it is a table."""
_FULL: Final = 0.5
"""The share of a form's rows that have something in its columns of labels and codes, and of its words in these."""
_FEWEST_OF_FORM: Final = 6
"""Rows of a form, most of whose fields are empty, at least."""
_ABOVE: Final = 24.0
_BELOW: Final = 40.0
"""Points below a grid in which totals may stand in its columns."""
_NEAR_GRID: Final = 2.0
"""Points above a grid in which its header may stand without a rule, and how many sizes it stands above at most."""
_IRREGULAR: Final = 0.3
"""How irregular its rows are at most, by the row."""
_MOST_EMPTY: Final = 20
"""Fields of a grid for each of its words: one with more is a drawing."""
_OPEN_ROWS: Final = 3
"""Rows without rules between their cells that are parted where the rules above them stand, at least."""
_FAR: Final = 2.0
"""How many sizes figures stand behind their labels, at least, where no rule parts the two."""
_FIGURES: Final = 0.7
"""The share of the cells behind the first ones that are figures, where a column has several without rules between."""


def find_ruled_tables(rules: Rules, words: Sequence[PageWord]) -> list[Table]:
    """The tables that rules draw around these words of a page."""
    tables: list[Table] = []
    groups = [group for group in group_rules(rules) if group.vertical and len(group.horizontal) > 1]
    grids = [grid for grid in map(_Grid, groups) if grid.fields >= _FEWEST_FIELDS]
    if not grids:
        return []
    middles = [middle(word) for word in words]
    order = sorted(range(len(words)), key=middles.__getitem__)
    words = [words[index] for index in order]
    middles = [middles[index] for index in order]
    holders = _find_holders(grids, words, middles)
    for grid in grids:
        first, last = bisect(middles, grid.top), bisect(middles, grid.bottom)
        above = words[bisect(middles, grid.top - _ABOVE) : first]
        beside = {number for number in set(holders[first:last]) if number >= 0 and grids[number].is_beside(grid)}
        near = [
            word for word, holder in zip(words[first:last], holders[first:last], strict=True) if holder not in beside
        ]
        rows = _read_grid(grid, near, above)
        if rows:
            following = min((other.top for other in grids if other.top > grid.bottom), default=math.inf)
            below = bisect(middles, min(grid.bottom + _BELOW, following))
            rows += grid.totals(words[last:below], rows)
            tables.append(Table(grid.top, rows))
    return tables


def _find_holders(grids: Sequence["_Grid"], words: Sequence[PageWord], middles: Sequence[float]) -> list[int]:
    """The number of the narrowest grid of several columns that each word stands in, or -1; words in order of height."""
    holders = [-1] * len(words)
    sums = [word.left + word.right for word in words]
    for number in sorted(range(len(grids)), key=lambda number: grids[number].left - grids[number].right):
        grid = grids[number]
        left, right = grid.left, grid.right
        if grid.has_columns:
            for index in range(bisect(middles, grid.top), bisect_left(middles, grid.bottom)):
                if left < sums[index] < right:
                    holders[index] = number
    return holders


def _read_grid(grid: "_Grid", near: Sequence[PageWord], above: Sequence[PageWord]) -> list[TableRow]:
    """The rows of a grid, given the words on its level and those right above it; none if it is not a table."""
    inside = [word for word in near if grid.left < word.left + word.right < grid.right]
    rows = grid.rows(inside) if len(inside) > 1 and not _is_part(inside, near) else []
    if len(rows) < 2 or not (_is_filled(rows) or (_is_form(rows) and grid.faults < _IRREGULAR * len(rows))):
        return []
    if any(map(str.isdecimal, "".join(rows[0].cells))) and (header := grid.header(above)) is not None:
        rows = [header, *rows] if len(header.cells) == len(rows[0].cells) else rows
    _join_signs(rows)
    held = [any(cells) for cells in zip(*(row.cells for row in rows), strict=True)]
    grid.held = list(compress(range(len(held)), held))
    is_turned = begins_at_the_right(rows)
    for row in rows:
        row.cells = list(compress(row.cells, held))
        if is_turned:
            row.cells.reverse()
    return rows


def _join_signs(rows: Sequence[TableRow]) -> None:
    """Put signs that have cells of their own into those of the figures beside them; a lone one may be a unit."""
    for cells in (row.cells for row in rows):
        signs = [x for x in range(1, len(cells)) if LEADING_SIGN.fullmatch(cells[x - 1]) and is_figure(cells[x])]
        for x in signs if len(signs) > 1 else ():
            cells[x - 1 : x + 1] = "", cells[x - 1] + cells[x]


def _is_part(inside: Sequence[PageWord], near: Sequence[PageWord]) -> bool:
    """Whether most lines of a grid continue beside it: rules around only some columns of a table mean too little."""
    if len(inside) == len(near):
        return False
    held = {word.first for word in inside}
    levels = [line.words for line in build_lines(near)]
    lines = [words for words in levels if any(word.first in held for word in words)]
    return sum(any(word.first not in held for word in words) for words in lines) > _BESIDE * len(lines)


def _is_filled(rows: Sequence[TableRow]) -> bool:
    """Whether enough cells have content: the areas between rules in charts are not tables."""
    filled = [sum(map(bool, row.cells)) for row in rows]
    return max(filled) > 1 and sum(filled) >= _FILLED * sum(len(row.cells) for row in rows)


def _is_form(rows: Sequence[TableRow]) -> bool:
    """Whether most fields are empty, and most of the others are in columns that most rows have."""
    if len(rows) < _FEWEST_OF_FORM:
        return False
    columns = [list(filter(None, cells)) for cells in zip(*(row.cells for row in rows), strict=True)]
    full = [len(column) for column in columns if len(column) >= _FULL * len(rows)]
    figures = sum(all(map(is_figure, column[1:])) for column in columns if len(column) > 1)
    return len(full) + figures > 1 and sum(full) >= _FULL * sum(map(len, columns))


class _Grid:
    """The cells between the rules of one group."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._seams = rules.seams
        self.faults = 0.0
        self.held: Sequence[int] = ()
        """The columns with words, of its rows as they are given."""
        self._ys, self._horizontal = place_rules(rules.horizontal)
        self._xs, self._vertical = place_rules(close_grid(rules))
        self._height = max(len(self._ys) - 1, 0)
        self._width = max(len(self._xs) - 1, 0)

    @property
    def fields(self) -> int:
        """The largest number of fields that its rules can form."""
        return self._height * self._width

    @property
    def top(self) -> float:
        """The position of its highest rule."""
        return self._ys[0] if self._ys else 0.0

    @property
    def bottom(self) -> float:
        """The position of its lowest rule."""
        return self._ys[-1] if self._ys else 0.0

    @property
    def left(self) -> float:
        """Twice the position where its first column begins, to compare with the sum of a word's sides."""
        return 2 * self._xs[0]

    @property
    def right(self) -> float:
        """Twice the position where its last column ends."""
        return 2 * self._xs[-1]

    @property
    def has_columns(self) -> bool:
        """Whether it has several columns."""
        return self._width > 1

    def is_beside(self, other: "_Grid") -> bool:
        """Whether it stands to the left or the right of another grid."""
        is_level = self.top < other.bottom and other.top < self.bottom
        return is_level and (self.right <= other.left or other.right <= self.left)

    def rows(self, words: Sequence[PageWord], *, parted: bool = False) -> list[TableRow]:
        """The rows with words, each with a text for every column; `parted` if open rows are already split."""
        if not 0 < self._height * self._width <= min(_MOST_CELLS, _MOST_EMPTY * len(words)):
            return []
        cells = self._cells()
        fields = self._fields(words, cells)
        if not parted and (gutters := self._open_columns(fields, cells)):
            return self._with(gutters, words)
        rows: list[TableRow] = []
        label = find_label_column([[x for x, lines in enumerate(band) if lines] for band in fields], self._width)
        for y, band in enumerate(fields):
            seams = self._seams[bisect(self._seams, self._ys[y] + THIN) : bisect(self._seams, self._ys[y + 1] - THIN)]
            ends = [self._end(lines, cells, y, x) if len(lines) > 1 else math.inf for x, lines in enumerate(band)]
            is_stacked = max(map(len, band)) > 1
            spans = [self._last(cells, y, x) + 1 - x for x in range(self._width)] if is_stacked else []
            more, faults = rows_between_rules(band, ends, spans, seams, label)
            rows += more
            self.faults += faults
        if not parted and rows and _is_filled(rows) and (gutters := self._beside_labels(fields, cells)):
            return self._with(gutters, words)
        return rows

    def _fields(self, words: Iterable[PageWord], cells: Sequence[int]) -> list[list[list[Line]]]:
        """The lines in each field, by row and column; none at all if one holds a part of the page."""
        held: dict[int, list[PageWord]] = {}
        for word in words:
            column = bisect(self._xs, (word.left + word.right) / 2) - 1
            row = bisect(self._ys, middle(word)) - 1
            if 0 <= row < self._height and 0 <= column < self._width:
                held.setdefault(cells[row * self._width + column], []).append(word)
        fields: list[list[list[Line]]] = [[[] for _ in range(self._width)] for _ in range(self._height)]
        for field, its_words in sorted(held.items()):
            y, x = divmod(field, self._width)
            last = self._last(cells, y, x)
            if last == x + 1 and min(word.left for word in its_words) > self._xs[last]:
                x = last  # a header over a column of codes and one of figures stands over the figures
            lines = build_lines(its_words)
            if last == x or not self._distribute(lines, fields[y]):
                fields[y][x] = lines
        for y, x in itertools.product(range(self._height), range(self._width)):
            lines = fields[y][x]
            if lines and not self._part_stack(fields, cells, y, x) and len(lines) >= TABLE_LINES and is_too_much(lines):
                return []
        return fields

    def _distribute(self, lines: Sequence[Line], band: list[list[Line]]) -> bool:
        """Put the parts of lines that share a field into the columns where they stand; returns whether each has one.

        Rules part the rows above or below, and not these.
        """
        parts = [(line, [part for cell in line.cells for part in self._figures(cell)]) for line in lines]
        for _, held in parts:
            sides = [self._columns(part) for part in held]
            if len(held) < 2 or any(one[1] >= other[0] for one, other in itertools.pairwise(sides)):
                return False
        for line, held in parts:
            for part in held:
                x = self._columns(part)[0]
                band[x] = [*band[x], Line(part.words, line.base, line.size, [part])]
        return True

    def _columns(self, part: LineCell) -> tuple[int, int]:
        """The first and the last column in which a part of a line stands."""
        return bisect(self._xs, part.left + 1) - 1, bisect(self._xs, part.right - 1) - 1

    def _figures(self, cell: LineCell) -> list[LineCell]:
        """A cell of figures that stand in columns of their own, split into those; else the cell."""
        if len(cell.words) == 1:
            return [cell]
        held = itertools.groupby(cell.words, lambda word: bisect(self._xs, (word.left + word.right) / 2))
        parts = [LineCell(list(words)) for _, words in held]
        return parts if all(is_figure(part.text) for part in parts) else [cell]

    def header(self, above: Sequence[PageWord]) -> TableRow | None:
        """The line right above the grid, if its words are above several columns: a header without a rule."""
        lines = build_lines(word for word in above if self.left < word.left + word.right < self.right)
        line = lines[-1] if lines else None
        if line is None or line.left < self._xs[0] or self.top - line.base > _NEAR_GRID * line.size:
            return None
        cells: dict[int, list[PageWord]] = {}
        for word in line.words:
            first, last = bisect(self._xs, word.left + 1), bisect(self._xs, word.right - 1)
            if first != last or is_figure(word.text):
                return None
            cells.setdefault(first - 1, []).append(word)
        row = [write_words(cells.get(x, [])) for x in range(self._width)]
        return TableRow(row, list(line.words)) if len(cells) > 1 else None

    def totals(self, below: Sequence[PageWord], rows: Sequence[TableRow]) -> list[TableRow]:
        """The lines right below the grid whose figures stand below those of its columns, such as totals in a box."""
        held = [word for row in rows for word in row.words if is_figure(word.text)]
        sides = {round(side) for word in held for side in (word.left, word.right)}
        totals: list[TableRow] = []
        for line in build_lines(word for word in below if self.left < word.left + word.right < self.right):
            cells = {bisect(self._xs, cell.left + 1) - 1: cell for cell in line.cells}
            figures = [cell for cell in line.cells if is_figure(cell.text)]
            if not figures or len(cells) < len(line.cells) or len(cells) < 2 or not self.held:
                break
            if not all(sides.intersection(map(round, (cell.left, cell.right))) for cell in figures):
                break
            totals.append(TableRow([cells[x].text if x in cells else "" for x in self.held], line.words))
        return totals

    def _with(self, gutters: Sequence[RuledLine], words: Sequence[PageWord]) -> list[TableRow]:
        """The rows, with rules added that are not drawn."""
        grid = _Grid(Rules(self._rules.horizontal, [*self._rules.vertical, *gutters], self._seams))
        rows = grid.rows(words, parted=True)
        self.faults = grid.faults
        return rows

    def _part_stack(self, fields: Sequence[list[list[Line]]], cells: Sequence[int], y: int, x: int) -> bool:
        """Put the lines of a cell spanning several rows into the rows where they stand; returns whether it did.

        Some programs draw rules between the figures of a table but not between their labels.
        """
        lines, last = fields[y][x], self._last_row(cells, y, x)
        if last == y:
            return False
        rows: dict[int, list[Line]] = {}
        for line in lines:
            rows.setdefault(bisect(self._ys, middle(line.words[0])) - 1, []).append(line)
        beside = {row: [cell for cell in fields[row] if cell is not lines] for row in rows}
        if not _is_stack(rows, beside, range(y, last + 1), self._end(lines, cells, y, x)):
            return False
        fields[y][x] = []
        for row, held in rows.items():
            fields[row][x] = held
        return True

    def _end(self, lines: Sequence[Line], cells: Sequence[int], y: int, x: int) -> float:
        """Where the lines of a cell may end: its right side, minus a margin as wide as that on its left.

        Lines that all end at one place would have used the room on their left.
        """
        if len(lines) < 2:
            return math.inf
        lefts, rights = [line.left for line in lines], [line.right for line in lines]
        margin = max(0.0, min(lefts) - self._xs[x])
        if max(rights) - min(rights) < 1 < max(lefts) - min(lefts):
            return max(rights) + margin
        return self._xs[self._last(cells, y, x) + 1] - margin

    def _last(self, cells: Sequence[int], y: int, x: int) -> int:
        """The last column that a cell spans."""
        start = y * self._width
        while x + 1 < self._width and cells[start + x + 1] == cells[start + x]:
            x += 1
        return x

    def _beside_labels(self, fields: Sequence[Sequence[Sequence[Line]]], cells: Sequence[int]) -> list[RuledLine]:
        """Undrawn rules between labels and the figures that share their cells, far to the right of them."""
        gutters: list[RuledLine] = []
        for x in range(self._width):
            held = [y for y, row in enumerate(fields) if row[x] and self._last(cells, y, x) == x]
            lines = [(y, line) for y in held for line in fields[y][x]]
            pairs = [(y, *parts) for y, line in lines if (parts := label_and_figures(line)) is not None]
            if len(pairs) < 2 or 2 * len(pairs) < len(lines):
                continue
            rows, labels, figures = zip(*pairs, strict=True)
            begin, end = max(labels), min(figures)
            if end - begin > _FAR * lines[0][1].size:
                ends = {y: self._ys[self._last_row(cells, y, x) + 1] for y in rows}
                gutters += (RuledLine((begin + end) / 2, self._ys[y], ends[y]) for y in ends)
        return gutters

    def _open_columns(self, fields: Sequence[Sequence[Sequence[Line]]], cells: Sequence[int]) -> list[RuledLine]:
        """Undrawn rules down the table: between the figures on many lines of one of its columns."""
        gutters: list[RuledLine] = []
        for x in range(self._width):
            rows = [row[x] for y, row in enumerate(fields) if row[x] and self._last(cells, y, x) == x]
            lines = [line for row in rows for line in row]
            several = several_cells(lines)
            behind = [cell.text for line in several for cell in line.cells[1:]]
            figures = sum(is_figure(text) or is_sign(text) for text in behind)
            if len(several) < _OPEN_ROWS or figures < _FIGURES * len(behind):
                continue
            columns = with_signs(find_columns(lines, several[0].size), lines)
            places = ((end + begin) / 2 for (_, end), (begin, _) in itertools.pairwise(columns))
            gutters += (RuledLine(at, self._ys[0], self._ys[-1]) for at in places)
        return gutters

    def _last_row(self, cells: Sequence[int], y: int, x: int) -> int:
        """The last row that a cell spans."""
        while y + 1 < self._height and cells[(y + 1) * self._width + x] == cells[y * self._width + x]:
            y += 1
        return y

    def _cells(self) -> list[int]:
        """For each field of the grid, row by row, the first field of its cell."""
        width = self._width
        first = list(range(self._height * width))

        def root(field: int) -> int:
            while (parent := first[field]) != field:
                first[field] = field = first[parent]
            return field

        def join(field: int, other: int) -> None:
            one, two = root(field), root(other)
            first[max(one, two)] = min(one, two)

        parted = [find_covered(rules, self._ys) for rules in self._vertical[: width + 1]]
        for y in range(self._height):
            below = find_covered(self._horizontal[y], self._xs)
            for x in range(width):
                field = y * width + x
                if x and not parted[x][y]:
                    join(field, field - 1)
                if y and not below[x]:
                    join(field, field - width)
        return list(map(root, first))


def _is_stack(
    rows: Mapping[int, list[Line]], beside: Mapping[int, Sequence[Sequence[Line]]], span: range, end: float
) -> bool:
    """Whether the lines of a cell belong to the rows where they stand, and not to all that the cell spans (`span`).

    Either each line is a label, or most rows have a line on the level of one of the cells `beside`, or it is a figure
    at the foot. `end` is where the lines may end.
    """
    lines = [line for held in rows.values() for line in held]
    level = sum(any(_are_level(held, cell) for cell in beside[row]) for row, held in rows.items())
    stood = [line for cells in beside.values() for cell in cells for line in cell]
    figures = [line for line in stood if all(is_figure(cell.text) for cell in line.cells)]
    most = max(sum(_are_level([line], figures) for line in held) for held in rows.values())
    least = LEVEL * len(span)
    led = sum(_LED.search(held[-1].words[-1].text) is not None for held in rows.values())
    if led >= max(STACKED, LEVEL * len(rows)):
        return True
    if len(lines) < STACKED:
        return len(lines) == level == 1 and span[-1] in rows and is_figure(write_words(lines[0].words))
    if most >= STACKED and len(rows) > 1 and not any(line.words[0].text[:1].islower() for line in lines):
        return have_room(itertools.pairwise(lines), end)
    if len(rows) < least or (len(rows) < len(lines) and level < max(STACKED, least)):
        return False
    return have_room([(above[-1], below[0]) for above, below in itertools.pairwise(rows.values())], end)

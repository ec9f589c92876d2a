"""Tables of a PDF's page that rules draw: the lines between their cells say which words belong together.

Rules are straight lines and thin boxes. Where they cross they make a grid; a cell that no rule parts from its neighbour
spans both. All lengths are points; `y` grows from the top of the page to its bottom.
"""

import ctypes
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf.tables import Row, Table, is_figure
from tasks.documents.extract.pdf.words import Line, Word, lines_of

_THIN: Final = 2.5
"""The thickest rule; rules as near as that to each other are one."""
_SHORT: Final = 3.0
"""Shorter rules are part of a drawing."""
_MOST_OBJECTS: Final = 20_000
_MOST_SEGMENTS: Final = 400
"""Segments of a path: more are a drawing's."""
_MOST_RULES: Final = 3_000
_MOST_CELLS: Final = 20_000
_MOST_LINES: Final = 8
"""Lines of a cell: one with more is a part of the page, and its words are none of the table."""
_LONG: Final = 12
"""Characters of a word from which it may be too long for its cell."""
_HYPHENS: Final = ("\x02", "\ufffe")
"""What PDFium gives for a hyphen at a line's end."""
_FILLED: Final = 0.3
"""The share of a grid's fields that hold something where it is a table."""
_MOST_EMPTY: Final = 20
"""Fields of a grid for each of its words: one with more is a drawing."""
_SPANNED: Final = 0.6
"""The share of a cell's edge that a rule must cover to part it from its neighbour."""


class Rule(NamedTuple):
    """A line at `at`, from `begin` to `end`: at y where it is horizontal, at x where it is not."""

    at: float
    begin: float
    end: float


@dataclass(slots=True)
class Rules:
    """The rules of a page, or those of one grid."""

    horizontal: list[Rule]
    vertical: list[Rule]


def rules_of(page: Any) -> Rules:
    """The rules that are drawn on an open page."""
    rules = Rules([], [])
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
        path = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(path) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(path, left, bottom, right, top):
            continue
        width, height = right.value - left.value, top.value - bottom.value
        if width > _THIN and height > _THIN:
            for (x, y), (other_x, other_y) in _stroked_segments(path):
                _add(rules, x, y, other_x, other_y)
        else:
            middle_x, middle_y = (left.value + right.value) / 2, (top.value + bottom.value) / 2
            if width > height:
                _add(rules, left.value, middle_y, right.value, middle_y)
            else:
                _add(rules, middle_x, bottom.value, middle_x, top.value)
    return rules


def _add(rules: Rules, x: float, y: float, other_x: float, other_y: float) -> None:
    """Note a line between two points of the page, whose y grows upwards, if it is straight and long enough."""
    if abs(y - other_y) < 1 and abs(x - other_x) > _SHORT:
        rules.horizontal.append(Rule(-(y + other_y) / 2, min(x, other_x), max(x, other_x)))
    elif abs(x - other_x) < 1 and abs(y - other_y) > _SHORT:
        rules.vertical.append(Rule((x + other_x) / 2, -max(y, other_y), -min(y, other_y)))


def _stroked_segments(path: Any) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The straight segments of a path that is stroked, by their two ends."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    count = pdfium.FPDFPath_CountSegments(path)
    if not stroke.value or count > _MOST_SEGMENTS:
        return
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    start = last = (0.0, 0.0)
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield last, point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield point, start
        last = point


def find_ruled_tables(rules: Rules, words: Sequence[Word]) -> list[Table]:
    """The tables that rules draw round these words of a page."""
    tables = []
    for group in _grids(rules):
        grid = _Grid(group)
        inside = [word for word in words if grid.holds(word)]
        rows = grid.rows(inside) if len(inside) > 1 else []
        if len(rows) > 1 and _is_filled(rows):
            tables.append(Table(grid.top, rows))
    return tables


def _is_filled(rows: Sequence[Row]) -> bool:
    """Whether enough cells hold something: what rules part in charts and forms is no table."""
    filled = [sum(map(bool, row.cells)) for row in rows]
    return max(filled) > 1 and sum(filled) >= _FILLED * sum(len(row.cells) for row in rows)


def _grids(rules: Rules) -> list[Rules]:
    """Rules that cross or touch each other, group by group."""
    if len(rules.horizontal) + len(rules.vertical) > _MOST_RULES:
        return []
    groups: list[Rules] = [Rules([rule], []) for rule in _joined(rules.horizontal)]
    for rule in _joined(rules.vertical):
        apart: list[Rules] = []
        joined = Rules([], [rule])
        for group in groups:
            if any(_touch(other, rule) for other in group.horizontal):
                joined.horizontal += group.horizontal
                joined.vertical += group.vertical
            else:
                apart.append(group)
        groups = [*apart, joined]
    return groups


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Rules that go on each other as one."""
    joined: list[Rule] = []
    for rule in sorted(rules):
        last = joined[-1] if joined else None
        if (
            last is not None
            and rule.at - last.at < _THIN / 2
            and rule.begin - last.end < _THIN
            and rule.begin >= last.begin
        ):
            joined[-1] = Rule(last.at, last.begin, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


def _touch(horizontal: Rule, vertical: Rule) -> bool:
    return (
        horizontal.begin - _THIN <= vertical.at <= horizontal.end + _THIN
        and vertical.begin - _THIN <= horizontal.at <= vertical.end + _THIN
    )


class _Grid:
    """The cells between the rules of one group."""

    def __init__(self, rules: Rules) -> None:
        self._ys, self._horizontal = _places(rules.horizontal)
        self._xs, self._vertical = _places(rules.vertical)
        self._height = max(len(self._ys) - 1, 0)
        self._width = max(len(self._xs) - 1, 0)

    @property
    def top(self) -> float:
        """Where its highest rule stands."""
        return self._ys[0] if self._ys else 0.0

    def holds(self, word: Word) -> bool:
        """Whether a word stands within it."""
        return self._at(word) is not None

    def rows(self, words: Iterable[Word]) -> list[Row]:
        """The rows that hold words, each with a text for every column."""
        words = list(words)
        if not 0 < self._height * self._width <= min(_MOST_CELLS, _MOST_EMPTY * len(words)):
            return []
        cells = self._cells()
        held: dict[tuple[int, int], list[Word]] = {}
        for word in words:
            if (at := self._at(word)) is not None:
                held.setdefault(cells[at], []).append(word)
        rows: list[Row] = []
        for y in range(self._height):
            lines = [lines_of(held.get((y, x), [])) if cells[y, x] == (y, x) else [] for x in range(self._width)]
            rows += _rows([cell if len(cell) <= _MOST_LINES or _are_figures(cell) else [] for cell in lines])
        return rows

    def _at(self, word: Word) -> tuple[int, int] | None:
        """The row and the column that the middle of a word stands in."""
        column = bisect(self._xs, (word.left + word.right) / 2) - 1
        row = bisect(self._ys, word.base - 0.3 * word.size) - 1
        return (row, column) if 0 <= row < self._height and 0 <= column < self._width else None

    def _cells(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Each field of the grid, and the first field of the cell that it belongs to."""
        first = {(y, x): (y, x) for y in range(self._height) for x in range(self._width)}

        def root(field: tuple[int, int]) -> tuple[int, int]:
            while first[field] != field:
                field = first[field]
            return field

        def join(field: tuple[int, int], other: tuple[int, int]) -> None:
            low, high = sorted((root(field), root(other)))
            first[high] = low

        for y, x in first:
            if x and not _covers(self._vertical[x], self._ys[y], self._ys[y + 1]):
                join((y, x), (y, x - 1))
            if y and not _covers(self._horizontal[y], self._xs[x], self._xs[x + 1]):
                join((y, x), (y - 1, x))
        return {field: root(field) for field in first}


def _rows(cells: Sequence[Sequence[Line]]) -> list[Row]:
    """The rows between two rules, given each cell's lines: one, or one a line where the lines of figures say so."""
    count = max(map(len, cells), default=0)
    several = [cell for cell in cells if cell]
    if count > 1 and len(several) > 1 and all(len(cell) == count for cell in several) and any(map(_are_figures, cells)):
        return [_row([cell[index : index + 1] for cell in cells]) for index in range(count)]
    return [_row(cells)] if several else []


def _row(cells: Sequence[Sequence[Line]]) -> Row:
    words = [word for cell in cells for line in cell for word in line.words]
    return Row([_text(cell) for cell in cells], words)


def _text(lines: Sequence[Line]) -> str:
    """The text of a cell. A word that is longer than the cell is broken without a hyphen: it is put together again."""
    text = ""
    widest = max((line.right for line in lines), default=0.0)
    for index, line in enumerate(lines):
        words = " ".join(word.text for word in line.words)
        last = lines[index - 1] if index else None
        broken = last is not None and len(last.words) == 1 and len(text) > _LONG and widest - last.right < line.size
        text += words if not text or broken or text.endswith(_HYPHENS) else f" {words}"
    return text


def _are_figures(lines: Sequence[Line]) -> bool:
    """Whether each line of a cell is a figure."""
    return len(lines) > 1 and all(is_figure(" ".join(word.text for word in line.words)) for line in lines)


def _places(rules: Iterable[Rule]) -> tuple[list[float], list[list[Rule]]]:
    """Where rules stand, those next to each other as one, and the rules of each place."""
    places: list[list[Rule]] = []
    for rule in sorted(rules):
        if places and rule.at - places[-1][-1].at <= _THIN:
            places[-1].append(rule)
        else:
            places.append([rule])
    return [sum(rule.at for rule in near) / len(near) for near in places], places


def _covers(rules: Iterable[Rule], begin: float, end: float) -> bool:
    """Whether rules of a place cover most of the way from `begin` to `end`."""
    covered = sum(max(0.0, min(rule.end, end) - max(rule.begin, begin)) for rule in rules)
    return covered >= _SPANNED * (end - begin)

"""What a PDF itself says of its layout: the fields of its forms with their labels, and the tags of its tables.

A label of a form's value stands above it in a cell that rules enclose, before it, or over the beginning of its field.
It is the label of one value. All lengths are points; `base` grows from the top of the page.

The tags of a PDF's structure say which marked words are cells of which row of a table. They count only where they agree
with the page: rows stand below each other, their cells in columns, and nothing else stands among them. See ISO 32000-1,
14.7 and 14.8.4.3.4.
"""

import ctypes
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from math import inf
from operator import attrgetter
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.document import Box, TagBudget
from tasks.reading.pdf.grids import is_too_much
from tasks.reading.pdf.lines import TOUCH, Interval, Line, LineCell, build_lines, is_amount, is_figure, is_sign, over
from tasks.reading.pdf.rows import Rows, join_lines
from tasks.reading.pdf.rules import THIN, RuledLine, Rules, join_rules
from tasks.reading.pdf.table_columns import find_column, find_sheet_columns
from tasks.reading.pdf.tables import Table
from tasks.reading.pdf.words import MARK, PageWord, middle, write_words

_HIGHEST: Final = 60.0
"""The height of a cell of labels and their values at most."""
_ALIGNED: Final = 4.0
"""Points between the beginnings of values in one column at most."""
_BLANK: Final = 0.3
"""The space between a label and its value, in sizes."""
_BESIDE: Final = 200.0
"""How far from a field the words before it stand at most."""
_NEARER: Final = 1.5
"""How much nearer the words before a box stand than those behind it if they say what it means."""
_BELOW: Final = 2.0
"""Points by which they may stand lower than its box."""
_LEVELS: Final = 0.8
"""How much higher or lower they may stand, in heights of the value."""
_STEEP: Final = 4
"""Points to the left for one up or down."""
_OVER: Final = 1.3
_WITHIN: Final = 0.4
"""How far above the top of a field its label stands at most, and how far in it, in sizes of the label."""
_BEGINS: Final = 12.0
"""Points between the beginnings of a field and of the label over it at most."""
_LARGER: Final = 0.85
"""The size of words over a field that head more than it, as a share of its height; or that of its value of theirs."""
_CAPITAL: Final = 0.75
"""The height of a capital letter as a share of its size."""
_HEADS: Final = 3
"""More words than so many for each value of a row are the heads of a table that is nearly empty."""
_FAR: Final = 9.0
"""Points below a field from which words are no caption of it."""
_COLUMN: Final = 3
"""Fields below each other that tell whether the words before them are their labels."""
_REGULAR: Final = 2.0
"""Points by which some of them are raised and others lowered where they are not."""

Values = Mapping[int, Sequence[PageWord]]
Places = dict[int, tuple[LineCell, float]]
"""By a value's number its label, and where it has to end behind it."""


def place_values(words: Sequence[PageWord], fields: Sequence[tuple[Box, str]], rules: Rules) -> None:
    """Move the words of each value, whose `piece` is the number of its field, behind its label.

    The marks of boxes stay before or behind theirs.
    """
    values = _gather_values(words, fields)
    _level_columns(values, words, fields)
    across, down = join_rules(rules.horizontal), join_rules(rules.vertical)
    cells: dict[Box, dict[int, list[PageWord]]] = {}
    for number, value in values.items():
        cell = _find_cell(value[0], across, down)
        if cell is not None:
            cells.setdefault(cell, {})[number] = value
    found = {cell: _find_above(cell, its_values, words) for cell, its_values in cells.items()}
    places: Places = {}
    for cell, labels in found.items():
        _, top, _, bottom = cell
        below = [
            value
            for other in cells
            if not found[other] and abs(other[1] - bottom) < THIN
            for value in cells[other].values()
        ]
        first = min(other for other in cells if other[1] == top)
        its_values = [cells[cell][number] for number in labels]
        if not (_follows_row_label(first, cells[first], words) or _head_columns(its_values, below)):
            places |= labels
    boxes = {number: fields[number - 1][0] for number in values if number not in places}
    places |= _find_over_rows(values, boxes, words, down, len(places))
    for number, (label, end) in places.items():
        _move(values[number], label, end)


def _gather_values(words: Sequence[PageWord], fields: Sequence[tuple[Box, str]]) -> dict[int, list[PageWord]]:
    """The words of each value by its number; marks are placed."""
    values: dict[int, list[PageWord]] = {}
    for word in words:
        if word.piece > 0 and not fields[word.piece - 1][1].startswith(MARK):
            values.setdefault(word.piece, []).append(word)
        elif word.piece > 0 and word.text == MARK:
            _place_mark(word, fields[word.piece - 1][0], words)
    return values


def _place_mark(mark: PageWord, box: Box, words: Iterable[PageWord]) -> None:
    """Put the mark of a box on the level of the nearer words beside it; against those before it, if others follow.

    Its name, which the file has for it, is left out: it may be that of another box.
    """
    left, _, right, _ = box
    beside = [word for word in words if not word.piece and abs(word.base - mark.base) < _LEVELS * mark.size]
    before = max([word for word in beside if word.right < right], key=attrgetter("right"), default=None)
    behind = min([word for word in beside if word.left > left], key=attrgetter("left"), default=None)
    gap = left - before.right if before is not None and not before.text.endswith(":") else _BESIDE
    gap_behind = behind.left - right if behind is not None else _BESIDE
    if min(gap, gap_behind) > _BESIDE or not beside:
        return
    mark.left = (left + right) / 2
    for word in words:
        if word.piece == mark.piece:
            word.left, word.right = max(word.left, mark.left), right
            word.text, word.glued = ("", True) if word is not mark else (MARK, False)
    if behind is not None and (before is None or _NEARER * gap > gap_behind):
        mark.base = behind.base
    elif before is not None:
        mark.base = before.base
        if behind is not None:
            before.text += MARK
            mark.text, mark.glued = "", True


def _find_cell(value: PageWord, across: Iterable[RuledLine], down: Iterable[RuledLine]) -> Box | None:
    """Left, top, right and bottom of the cell around a value: rules above and below it, and one that joins these."""
    rules = [rule for rule in across if rule.begin < value.left + THIN < rule.end]
    top = max([rule for rule in rules if rule.at < middle(value)], default=None)
    bottom = min([rule for rule in rules if rule.at > middle(value)], default=None)
    if top is None or bottom is None or bottom.at - top.at > _HIGHEST:
        return None
    begin, end = max(top.begin, bottom.begin) - THIN, min(top.end, bottom.end) + THIN
    tall = [rule for rule in down if rule.begin < top.at + THIN and rule.end > bottom.at - THIN]
    sides = [rule.at for rule in tall if begin < rule.at < end]
    ends = [one for one, other in ((top.begin, bottom.begin), (top.end, bottom.end)) if abs(one - other) < THIN]
    left = max([at for at in [*sides, *ends] if at < value.left + THIN], default=None)
    right = min([at for at in [*sides, *ends] if at > value.left + THIN], default=None)
    return (left, top.at, right, bottom.at) if sides and left is not None and right is not None else None


def _find_above(cell: Box, values: Values, words: Iterable[PageWord]) -> Places:
    """The labels of the values in a cell, each above its own; none if anything else is there."""
    left, top, right, bottom = cell
    inside = [
        word
        for word in words
        if not word.piece and left < (word.left + word.right) / 2 < right and top < middle(word) < bottom
    ]
    highest = min(word.base - word.size / 2 for value in values.values() for word in value)
    if not inside or any(word.base > highest for word in inside):
        return {}
    labels = build_lines(inside)[-1].cells
    places: Places = {}
    for number, value in values.items():
        over = [label for label in labels if label.left < value[-1].right and value[0].left < label.right]
        over = labels if len(labels) == len(values) == 1 else over
        if len(over) != 1 or not any(map(str.isalpha, over[0].text)):
            return {}
        places[number] = over[0], min([label.left for label in labels if label.left > over[0].left], default=right)
    return places if len({label.left for label, _ in places.values()}) == len(places) else {}


def _follows_row_label(cell: Box, values: Values, words: Iterable[PageWord]) -> bool:
    """Whether words stand before the first cell of a row on the level of its values alone."""
    left, top, _, bottom = cell
    before = [word.base for word in words if not word.piece and word.right < left and top < middle(word) < bottom]
    value = next(iter(values.values()))[0]
    return bool(before) and all(abs(base - value.base) < value.size / 2 for base in before)


def _head_columns(values: Iterable[Sequence[PageWord]], below: Sequence[Sequence[PageWord]]) -> bool:
    """Whether what stands above values heads columns: values without labels of their own begin below them."""
    return any(abs(value[0].left - other[0].left) < _ALIGNED for value in values for other in below)


def _find_over_rows(
    values: Values, boxes: Mapping[int, Box], words: Iterable[PageWord], down: Sequence[RuledLine], known: int
) -> Places:
    """The labels that stand over the boxes of values, where each value of a row has one.

    Where words stand below a row too, what the page's other rows have counts, and the `known` labels above values.
    """
    printed, filled = [word for word in words if not word.piece], [word for value in values.values() for word in value]
    rows: list[dict[int, Box]] = []
    lowest = -inf
    for number, box in sorted(boxes.items(), key=lambda item: -item[1][1] - item[1][3]):
        if -(box[1] + box[3]) / 2 > lowest:
            rows.append({})
            lowest = -box[1]
        rows[-1][number] = box
    places: Places = {}
    doubtful: Places = {}
    captions = 0
    for row in rows:
        found = (
            (number, _find_over(values[number], box, printed, filled, down, len(row))) for number, box in row.items()
        )
        over = {number: label for number, label in found if label}
        below = min(_measure_below(box, [*printed, *filled]) for box in row.values())
        if below == -inf:
            continue
        if len({label.left for label, _ in over.values()}) == len(row) and not _stand_before(row.values(), printed):
            are_titled = all(label.text.endswith(":") for label, _ in over.values())
            (places if below > _FAR or are_titled else doubtful).update(over)
        elif not over:
            captions += below <= _FAR
    return places | doubtful if known + len(places) > captions else {}


def _find_over(
    value: Sequence[PageWord],
    box: Box,
    printed: Iterable[PageWord],
    filled: Iterable[PageWord],
    down: Iterable[RuledLine],
    count: int,
) -> tuple[LineCell, float] | None:
    """The one label over the beginning of a field, of `count` in a row, and where its value has to end behind it."""
    left, bottom, right, top = box
    near = (word for word in printed if -_OVER * word.size < word.base + top < _WITHIN * word.size)
    lines = [line.cells for line in build_lines(near)]
    over = [[cell for cell in cells if cell.left < right and left < cell.right] for cells in lines]
    at = max((at for at, cells in enumerate(over) if cells), default=None)
    if (
        at is None
        or len(over[at]) > 1
        or len(lines[at]) > _HEADS * count
        or max(word.base for word in value) - value[0].base > value[0].size / 2
    ):
        return None
    label, last = over[at][0], over[at][0].words[-1]
    end = min([cell.left for cell in lines[at] if cell.left > label.left], default=right)
    others = [word for word in filled if word.piece != value[0].piece and label.left < word.left < end]
    is_shared = any(
        abs(word.base - last.base) < last.size / 2 or (word.left < label.right and -top < middle(word) < -bottom)
        for word in others
    ) or any(label.left < rule.at < label.right and rule.begin < last.base - THIN < rule.end for rule in down)
    is_label = any(map(str.isalpha, label.text)) and last.size < max(_LARGER * (top - bottom), value[0].size / _LARGER)
    return (label, end) if is_label and not is_shared and abs(label.left - left) < _BEGINS else None


def _measure_below(box: Box, words: Iterable[PageWord]) -> float:
    """How far below a box the next words stand; less than anything where they are another value's."""
    left, bottom, right, _ = box
    below = (word for word in words if word.left < right and left < word.right and word.base - word.size / 3 > -bottom)
    first = min(below, key=attrgetter("base"), default=None)
    if first is None or first.base + bottom > _HIGHEST:
        return inf
    return -inf if first.piece else first.base - _CAPITAL * first.size + bottom


def _stand_before(boxes: Iterable[Box], printed: Iterable[PageWord]) -> bool:
    """Whether a word with a letter stands on the level of one of a row of fields, not far before it."""
    return any(
        -top < middle(word) < -bottom and 0 < left - word.right < _BESIDE and any(map(str.isalpha, word.text))
        for left, bottom, _, top in boxes
        for word in printed
    )


def _move(value: Sequence[PageWord], label: LineCell, end: float) -> None:
    """Put the words of a value behind its label, before `end`: closer together where there is little room."""
    first, last = value[0].left, max(word.right for word in value)
    furthest = label.right + _BLANK * label.words[-1].size
    left = max(label.right + TOUCH, min(furthest, end - (last - first) - 1))
    share = min(1.0, max(TOUCH, end - left - 1) / max(1.0, last - first))
    for word in value:
        word.left, word.right = left + share * (word.left - first), left + share * (word.right - first)
        word.base = label.words[-1].base


def _level_columns(values: Values, words: Sequence[PageWord], fields: Sequence[tuple[Box, str]]) -> None:
    """Put values on the level of the words before them."""
    columns: dict[int, list[tuple[float, Sequence[PageWord]]]] = {}
    for number, value in values.items():
        box = fields[number - 1][0]
        columns.setdefault(round(box[0]), []).append((_find_lower(value, words, box), value))
    for column in columns.values():
        lowers = [lower for lower, _ in column]
        # beside words that go on in lines of their own, some fields would be raised and others lowered
        if len(lowers) < _COLUMN or min(lowers) > -_REGULAR or max(lowers) < _REGULAR:
            for word, lower in ((word, lower) for lower, value in column for word in value):
                word.base += lower


def _find_lower(value: Sequence[PageWord], words: Iterable[PageWord], box: Box) -> float:
    """How much lower the words before a field stand than those in it, if there are any."""
    _, bottom, _, top = box
    first = next((word for word in value if word.text), value[0])
    room = _LEVELS * first.size
    highest, lowest = min(first.base - room, room - top), max(first.base + room, _BELOW - bottom)
    left = value[0].left + 1
    beside = [word for word in words if not word.piece and word.right < left and highest < word.base < lowest]
    nearest = max(beside, key=lambda word: word.right - _STEEP * abs(word.base - first.base), default=first)
    return nearest.base - first.base if first.left - nearest.right < _BESIDE else 0.0


_MOST_CHILDREN: Final = 100_000
"""Children of elements that are looked at for a page, most of which may be on other pages."""
_DEEPEST: Final = 40
_LEVEL: Final = 0.5
"""How far beyond the first and the last row a word still stands among them, as a share of its size."""
_LONE_SIGN: Final = re.compile(r"[$€£¥]\D{0,3}$")
_TORN_FIGURE: Final = re.compile(r"\(?[-−–]?\d{1,3}([,.])\d{3}(?:\1\d{3}){0,4}\1(?:\d \d\d|\d\d \d| \d{3})\)?")
"""A figure whose last group of three digits goes on in the next line."""
_NEXT: Final = 2.2
"""White before the next column, as a share of the size, that a broken word leaves at most."""
_MOST_LINES: Final = 15
"""Lines of a cell at most: one with more is prose that is set in a frame."""
_PARTS: Final = 2
"""Parts of a line of a cell that are far from each other, at most."""
_LARGE: Final = 1.5
"""How much larger than a table's letters those of a watermark are, at least."""

_count: Final = document.plain(pdfium.FPDF_StructElement_CountChildren)
_child: Final = document.plain(pdfium.FPDF_StructElement_GetChildAtIndex)
_child_mark: Final = document.plain(pdfium.FPDF_StructElement_GetChildMarkedContentID)
_kind: Final = document.plain(pdfium.FPDF_StructElement_GetType)
_mark: Final = document.plain(pdfium.FPDFPageObj_GetMarkedContentID)


class _Row(NamedTuple):
    """The numbers of the marked content in each cell of a row; `is_heading`: there is one for the whole row."""

    cells: list[list[int]]
    is_heading: bool


class _Structure:
    """The tables that the structure of an open page names; none if it has more children than may be looked at.

    Those that hold other tables are left out.
    """

    def __init__(self, page: Any, budget: TagBudget) -> None:
        self.tables: list[list[_Row]] = []
        self._seen: set[int] = set()
        self._left = before = min(_MOST_CHILDREN, budget.children)
        tree = pdfium.FPDF_StructTree_GetForPage(page) if before > 0 else None
        if tree:
            self._left -= (count := pdfium.FPDF_StructTree_CountChildren(tree))
            for index in range(count if self._left > 0 else 0):
                element = ctypes.cast(pdfium.FPDF_StructTree_GetChildAtIndex(tree, index), ctypes.c_void_p).value
                if element:
                    self._find(element, 0)
            pdfium.FPDF_StructTree_Close(tree)
            budget.children -= before - self._left
            if self._left <= 0:
                self.tables = []

    def _look(self, get: Callable[[int, int], Any], parent: int) -> list[Any]:
        """What `get` says of each child of an element, none if they are too many."""
        count = _count(parent)
        self._left -= count
        return list(map(get, repeat(parent), range(count))) if self._left > 0 else []

    def _children(self, parent: int, depth: int) -> list[int]:
        """The elements within one that have content on the page, each the first time that it is met."""
        met = dict.fromkeys(child for child in self._look(_child, parent) if child and child not in self._seen)
        self._seen.update(met)
        return list(met) if depth < _DEEPEST else []

    def _find(self, element: int, depth: int) -> None:
        """Add the tables in an element."""
        if document.string(_kind, element) != "Table":
            for child in self._children(element, depth):
                self._find(child, depth + 1)
            return
        before = len(self.tables)
        rows = list(self._rows(element, depth))
        if len(self.tables) == before and sum(len(row.cells) > 1 for row in rows) > 1:
            self.tables.append(rows)

    def _rows(self, table: int, depth: int) -> Iterator[_Row]:
        for child in self._children(table, depth):
            kind = document.string(_kind, child)
            if kind == "TR":
                cells = [list(self._marks(cell, depth + 2)) for cell in self._children(child, depth + 1)]
                yield _Row(cells, is_heading=_count(child) == 1)
            elif kind in {"THead", "TBody", "TFoot"}:
                yield from self._rows(child, depth + 1)

    def _marks(self, element: int, depth: int) -> Iterator[int]:
        """The numbers of the marked content in an element; tables in it are added."""
        yield from (mark for mark in self._look(_child_mark, element) if mark >= 0)
        for child in self._children(element, depth):
            if document.string(_kind, child) == "Table":
                self._find(child, depth)
            else:
                yield from self._marks(child, depth + 1)


class _Cell(LineCell):
    """A cell of several lines as one of a line."""

    __slots__ = ("_is_torn", "lines")

    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__([word for line in lines for word in line.words])
        self.lines = lines
        self.left = min(word.left for word in self.words)
        self.right = max(word.right for word in self.words)
        self.join()

    def join(self, end: float = math.inf) -> None:
        """Put its lines together, which may reach up to `end`. A figure that it has no room for is one again."""
        texts = [write_words(line.words) for line in self.lines]
        self._is_torn = _TORN_FIGURE.fullmatch(" ".join(texts)) is not None
        if self._is_torn:
            self._text = "".join(texts)
            return
        end = math.inf if any(text[-1:].isdecimal() for text in texts) else end
        lines = [(text, line.words) for text, line in zip(texts, self.lines, strict=True)]
        self._text = join_lines(lines, end, max(word.size for word in self.words))

    @property
    def is_one(self) -> bool:
        """Whether it is neither several cells nor a part of the page."""
        several = len(self.amounts) > 1 or max(len(line.cells) for line in self.lines) > _PARTS
        return not several and len(self.lines) <= _MOST_LINES and not is_too_much(self.lines)

    @property
    def amounts(self) -> list[float]:
        """The baseline of each figure in it; a figure that it has no room for is one, and a year is none."""
        bases = [line.base for line in self.lines for cell in line.cells if is_amount(cell.text)]
        return bases[:1] if self._is_torn else bases


def find_tagged_tables(page: Any, textpage: Any, words: Sequence[PageWord], budget: TagBudget) -> list[Table]:
    """The tables of an open page by its tags, given its words, where the two agree."""
    tables = _Structure(page, budget).tables
    if not tables:
        return []
    marks = _find_marks(textpage, [index for word in words for index in (word.first, word.end - 1)])
    by_mark: dict[int, list[PageWord]] = {}
    for word in words:
        by_mark.setdefault(marks[word.first], []).append(word)
    found: list[Table] = []
    for tags in tables:
        rows = _read_rows(tags, by_mark)
        if not _has_parted_words(tags, rows, marks) and _are_rows(rows) and not _are_others_among(rows, words, marks):
            columns = find_sheet_columns(rows)
            if len(columns) > 1 and all(_fits(row, columns) for row in rows):
                found.append(_read_table(rows, columns))
    return found


def _has_parted_words(tags: Sequence[_Row], rows: Sequence[Line], marks: Mapping[int, int]) -> bool:
    """Whether a word of the rows begins in one cell and ends in another."""
    home = {mark: number for number, cell in enumerate(cell for row in tags for cell in row.cells) for mark in cell}
    held = (word for row in rows for word in row.words)
    return any(home.get(marks[word.first]) != home.get(marks[word.end - 1]) for word in held)


def _find_marks(textpage: Any, characters: Sequence[int]) -> dict[int, int]:
    """The number of the marked content that each of some characters is part of, -1 for none."""
    objects = document.text_objects(textpage, characters)
    numbers = {item: _mark(item) if item else -1 for item in set(objects)}
    return {character: numbers[item] for character, item in zip(characters, objects, strict=True)}


def _read_rows(tags: Sequence[_Row], by_mark: dict[int, list[PageWord]]) -> list[Line]:
    """Each row with words, which are taken out, as one line. A heading is as wide as the table."""
    rows: list[Line] = []
    headings: list[_Cell] = []
    for cells, is_heading in tags:
        parts = sorted(_read_cells(cells, by_mark), key=attrgetter("left"))
        words = [word for cell in parts for word in cell.words]
        if parts:
            rows.append(Line(words, min(word.base for word in words), max(word.size for word in words), list(parts)))
            headings += parts if is_heading else ()
    for cell in headings:
        cell.left = min(row.left for row in rows)
        cell.right = max(row.right for row in rows)
    return rows


def _read_cells(cells: Iterable[Iterable[int]], by_mark: dict[int, list[PageWord]]) -> Iterator[_Cell]:
    """The cells with words, which are taken out."""
    for cell in cells:
        words = [word for mark in cell for word in by_mark.pop(mark, ())]
        if words:
            yield _Cell(build_lines(words))


def _are_rows(rows: Sequence[Line]) -> bool:
    """Whether rows stand below each other, several of them with several cells, and the figures of each are level."""
    if sum(len(row.cells) > 1 for row in rows) < 2:
        return False
    for row in rows:
        cells = [cell for cell in row.cells if isinstance(cell, _Cell)]
        bases = [base for cell in cells for base in cell.amounts]
        if not all(cell.is_one for cell in cells) or (bases and max(bases) - min(bases) > _LEVEL * row.size):
            return False
    return all(max(word.base for word in above.words) < below.base for above, below in itertools.pairwise(rows))


def _are_others_among(rows: Sequence[Line], words: Sequence[PageWord], marks: Mapping[int, int]) -> bool:
    """Whether other words stand between the rows or beside them; a watermark, which is no content, may."""
    held = {word.first for row in rows for word in row.words}
    large = _LARGE * max(row.size for row in rows)
    top, bottom = rows[0].base, max(word.base for word in rows[-1].words)
    return any(
        top - _LEVEL * word.size < word.base < bottom + _LEVEL * word.size
        and (word.size < large or marks[word.first] >= 0)
        for word in words
        if word.first not in held
    )


def _fits(row: Line, columns: Sequence[Interval]) -> bool:
    """Whether the cells of a row stand in columns of their own, its figures in one each.

    A sign beside a figure and not before one is a form's box for an amount, and the figure may be the box's number.
    """
    cells = [cell for cell in row.cells if not is_sign(cell.text)]
    figures = [is_figure(cell.text) for cell in row.cells]
    if any(figures) and any(
        _LONE_SIGN.match(cell.text) and not is_before
        for cell, is_before in zip(row.cells, [*figures[1:], False], strict=True)
    ):
        return False
    places = [find_column(cell, columns) for cell in cells]
    beside = all(cell.right < other.left + 1 for cell, other in itertools.pairwise(row.cells))
    apart = all(one < other for one, other in itertools.pairwise(places))
    return beside and apart and not any(is_figure(cell.text) and over(cell, columns) > 1 for cell in cells)


def _read_table(rows: list[Line], columns: Sequence[Interval]) -> Table:
    """The table of these rows. A name that is broken where its column ends, near the next one, is joined."""
    size = sorted(row.size for row in rows)[len(rows) // 2]
    near = {right for (_, right), (left, _) in itertools.pairwise(columns) if left - right < _NEXT * size}
    for cell in (cell for row in rows for cell in row.cells if over(cell, columns) == 1):
        right = columns[find_column(cell, columns)][1]
        if isinstance(cell, _Cell) and right in near:
            cell.join(right)
    return Table(rows[0].base, Rows(rows, columns, size).read(are_rows=True))

"""Tables that a PDF itself names: the tags of its structure say which marked words are cells of which row.

Tags count only where they agree with the page: rows stand below each other, their cells in columns, and nothing else
stands among them. See ISO 32000-1, 14.7 and 14.8.4.3.4.
"""

import ctypes
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.document import TagBudget
from tasks.reading.pdf.grids import is_too_much
from tasks.reading.pdf.lines import Interval, Line, LineCell, build_lines, is_amount, is_figure, is_sign, over
from tasks.reading.pdf.rows import Rows, join_lines
from tasks.reading.pdf.table_columns import find_column, find_sheet_columns
from tasks.reading.pdf.tables import Table
from tasks.reading.pdf.words import PageWord, write_words

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

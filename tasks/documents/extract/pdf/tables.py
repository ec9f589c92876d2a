"""Tables of a PDF's page that no rules draw: financial statements above all, told by their gutters.

Lines of several cells that stand below each other are a table where gutters of white run through them. A column is
where most lines have something. Signs in columns of their own (`$`, `%`, a closing parenthesis) join their figures, a
label that fills its column and goes on in the next line is one cell, a cell that is empty keeps its place.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tasks.documents.extract.pdf.words import Cell, Line, Word

Interval = tuple[float, float]

_GUTTER: Final = 0.35
"""The least width of the white between two columns, as a share of the size."""
_APART: Final = 3.4
"""Lines further apart than so many sizes are not of one table."""
_LONE: Final = 2
"""Lines of one cell in a row that a table goes on behind: headings within it, labels that wrap."""
_COLUMN: Final = 8
"""Lines side by side that make columns of prose."""
_FEWEST: Final = 3
"""Lines of several cells that make a table."""
_ACROSS: Final = 0.1
"""The share of a table's lines that may run over a gutter: headings over several columns."""
_LEADING: Final = 1.6
"""Lines nearer than so many sizes may be of one cell."""

_FIGURE: Final = re.compile(
    r"[(\[−–+-]? ?(US\$|[$€£¥])? ?[(−–-]?\d[\d,.'’ ]*\)? ?(%|x|[kKmMbB]n?)?\)?[*†‡]?|[-–—−]+|n/?[am]\.?|N/?[AM]"
)
_LEADING_SIGN: Final = re.compile(r"US\$|[A-Z]{0,2}[$€£¥]|\(")
_CLOSING_SIGN: Final = re.compile(r"%|\)|%\)|\)%")
_MARK: Final = re.compile(r"[•·▪■●○o*–—-]|\(?([0-9]{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]|\[\d+\]")
_PROSE: Final = 5
"""A cell of more words may be a line of prose."""
_LEADERS: Final = re.compile(r"[.…·_]{4,}$")


@dataclass(slots=True)
class Row:
    """A row's cells from left to right, "" for an empty one, and the words that they were made of."""

    cells: list[str]
    words: list[Word]


@dataclass(slots=True)
class Table:
    """The rows of a table whose highest line stands at `base`."""

    base: float
    rows: list[Row]


def find_tables(lines: list[Line]) -> list[Table]:
    """The tables among these lines of a page, which come in order from its top."""
    for line in lines:
        _part_at_leaders(line)
    tables: list[Table] = []
    waiting = _blocks(lines)[::-1]
    while waiting:
        block = waiting.pop()
        end = _end(block)
        if end < len(block):
            waiting += _blocks(block[end:])[::-1]
            block = _trimmed(block[:end])
        rows = _several(block)
        if len(rows) < _FEWEST or not _is_table(rows):
            continue
        size = sorted(line.size for line in rows)[len(rows) // 2]
        columns = _columns(rows, size)
        if _part_at_rivers(block, columns, size):
            columns = _columns(_several(block), size)
        if len(columns) > 1 and _is_table(_several(block)) and not _is_list(rows):
            tables.append(Table(block[0].base, _Rows(block, columns, size).read()))
    return tables


def prose_gutters(lines: Sequence[Line]) -> list[float]:
    """Where the page is parted into columns of prose: between lines of several words on both sides, on many lines."""
    gaps: list[Interval] = []
    for line in lines:
        for cell, other in zip(line.cells, line.cells[1:], strict=False):
            if len(cell.words) > 3 and len(other.words) > 3:
                gaps.append((cell.right, other.left))
    gutters: list[float] = []
    while len(gaps) >= max(_COLUMN, 0.25 * len(lines)):
        middle = (
            max((right for _, right in gaps), key=lambda at: sum(left < at - 1 <= right for left, right in gaps)) - 1
        )
        here = [gap for gap in gaps if gap[0] < middle <= gap[1]]
        if len(here) < max(_COLUMN, 0.25 * len(lines)):
            break
        gutters.append(middle)
        gaps = [gap for gap in gaps if gap not in here]
    return sorted(gutters)


def _several(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if len(line.cells) > 1]


def _trimmed(block: list[Line]) -> list[Line]:
    """The block up to its last line of several cells."""
    while block and len(block[-1].cells) < 2:
        block = block[:-1]
    return block


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Runs of lines that begin and end with several cells, with no more than a few lines of one cell in between."""
    blocks: list[list[Line]] = []
    run: list[Line] = []
    for line in lines:
        if run and (line.base - run[-1].base > _APART * max(line.size, run[-1].size)):
            blocks.append(run)
            run = []
        if run or len(line.cells) > 1:
            run.append(line)
        if len(run) > _LONE and not _several(run[-_LONE - 1 :]):
            blocks.append(run)
            run = []
    return [block for block in map(_trimmed, [*blocks, run]) if block]


def _end(block: Sequence[Line]) -> int:
    """Where a table ends within a block: at the first line that runs over the gutters of those above."""
    rows: list[Line] = []
    columns: list[Interval] = []
    for index, line in enumerate(block):
        across = any(_over(cell, columns) > 1 for cell in line.cells)
        if len(line.cells) > 1:
            rows.append(line)
            fits = not across and all(_over(cell, columns) == 1 for cell in line.cells)
            if fits:
                continue
            before, columns = columns, _columns(rows, line.size)
            if across and len(rows) > 2 and len(columns) < max(2, 0.6 * len(before)):
                return index
        elif across and rows:
            return index
    return len(block)


def _over(cell: Cell, columns: Iterable[Interval]) -> int:
    """How many columns a cell stands in."""
    return sum(min(cell.right, right) - max(cell.left, left) > 0.2 for left, right in columns)


def _columns(lines: Sequence[Line], size: float) -> list[Interval]:
    """Where most lines have something, from left to right; between two columns some line has cells on both sides."""
    votes: list[tuple[float, int]] = []
    for line in lines:
        for cell in line.cells:
            votes += (cell.left, 1), (cell.right, -1)
    votes.sort()
    columns: list[list[float]] = []
    allowed = _ACROSS * len(lines)
    count = 0
    for (at, vote), (until, _) in itertools.pairwise(votes):
        count += vote
        if count > allowed and until > at:
            if columns and at - columns[-1][1] < _GUTTER * size:
                columns[-1][1] = until
            else:
                columns.append([at, until])
    parted = columns[:1]
    for left, right in columns[1:]:
        middle = (parted[-1][1] + left) / 2
        if any(_on_both_sides(line, middle, (parted[-1][0], right)) for line in lines):
            parted.append([left, right])
        else:
            parted[-1][1] = right
    return [(left, right) for left, right in parted]


def _on_both_sides(line: Line, middle: float, within: Interval) -> bool:
    """Whether a line has a cell on each side of a place, and none over it."""
    left = right = False
    for cell in line.cells:
        if cell.left < middle < cell.right:
            return False
        left |= within[0] <= cell.right < middle
        right |= middle < cell.left <= within[1]
    return left and right


def _part_at_leaders(line: Line) -> None:
    """Part the cells of a line where dots lead from a label to its figure; the dots go."""
    if not any(_LEADERS.search(word.text) for word in line.words):
        return
    cells: list[Cell] = []
    for cell in line.cells:
        words: list[Word] = []
        for word in cell.words:
            dots = _LEADERS.search(word.text)
            if dots:
                word.text = word.text[: dots.start()]
            if word.text:
                words.append(word)
            if dots and words:
                cells.append(Cell(words))
                words = []
        if words:
            cells.append(Cell(words))
    line.cells = cells or line.cells


def _part_at_rivers(block: Sequence[Line], columns: Sequence[Interval], size: float) -> bool:
    """Part cells at white that is narrower than between cells but stands open in every line; tells whether any was."""
    rows = _several(block)
    if len(rows) < _FEWEST:
        return False
    parted = False
    for left, right in columns:
        lines = [[word for word in line.words if word.left >= left - 1 and word.right <= right + 1] for line in rows]
        lines = [words for words in lines if words]
        spans = _merged(((word.left, word.right) for words in lines for word in words), _GUTTER * size)
        for (_, begin), (end, _) in itertools.pairwise(spans):
            gaps = [gap for words in lines if (gap := _gap(words, begin, end)) is not None]
            if len(gaps) >= max(3, 0.7 * len(lines)) and max(gaps) > 0.6 * size:
                parted = True
                for line in block:
                    line.cells = [part for cell in line.cells for part in _parted(cell, begin, end)]
    return parted


def _merged(intervals: Iterable[Interval], gap: float) -> list[Interval]:
    merged: list[list[float]] = []
    for left, right in sorted(intervals):
        if merged and left - merged[-1][1] < gap:
            merged[-1][1] = max(merged[-1][1], right)
        else:
            merged.append([left, right])
    return [(left, right) for left, right in merged]


def _gap(words: Sequence[Word], begin: float, end: float) -> float | None:
    """The white of a line between two places, both of which it has words beyond."""
    before = [word.right for word in words if word.right <= begin + 0.1]
    behind = [word.left for word in words if word.left >= end - 0.1]
    return min(behind) - max(before) if before and behind else None


def _parted(cell: Cell, begin: float, end: float) -> list[Cell]:
    for index in range(1, len(cell.words)):
        if cell.words[index - 1].right <= begin + 0.1 and cell.words[index].left >= end - 0.1:
            return [Cell(cell.words[:index]), Cell(cell.words[index:])]
    return [cell]


def _is_table(rows: Sequence[Line]) -> bool:
    """Whether lines of several cells hold figures or short entries, and no prose in columns."""
    cells = [cell for line in rows for cell in line.cells]
    figures = sum(is_figure(cell.text) for cell in cells)
    digits = sum(any(map(str.isdigit, cell.text)) for cell in cells)
    long = sum(len(cell.words) > _PROSE for cell in cells)
    overlaps = sum(
        after.left < before.right - 0.3 * after.size
        for line in rows
        for before, after in zip(line.words, line.words[1:], strict=False)
    )
    if overlaps > 0.05 * len(cells):  # letters set twice, or on top of each other
        return False
    if figures >= 0.25 * len(cells) and digits > 0.5 * figures:
        return True
    words = sum(len(cell.text) > 2 for cell in cells)
    return long <= 0.2 * len(cells) and words > 0.5 * len(cells)


def is_figure(text: str) -> bool:
    """Whether a cell's text is a figure, or a dash for none."""
    return _FIGURE.fullmatch(text) is not None


def _is_list(rows: Sequence[Line]) -> bool:
    """Whether each line is a mark and what it stands for."""
    marked = sum(len(line.cells) == 2 and _MARK.fullmatch(line.cells[0].text) is not None for line in rows)
    return marked > 0.8 * len(rows)


class _Rows:
    """Reads the rows of a table from its lines."""

    def __init__(self, lines: Sequence[Line], columns: Sequence[Interval], size: float) -> None:
        self._lines = lines
        self._columns = columns
        self._size = size
        joins = self._signs()
        kept = [index for index in range(len(columns)) if index not in joins]
        self._target = [kept.index(_end_of(joins, index)) for index in range(len(columns))]
        self._count = len(kept)
        self._lefts = [0.0] * self._count
        self._rights = [0.0] * self._count
        self._measure()
        pitches = sorted(after.base - before.base for before, after in itertools.pairwise(lines))
        self._pitch = pitches[0] if pitches else 0.0
        self._even = not pitches or pitches[-1] < 1.12 * pitches[0]

    def read(self) -> list[Row]:
        """The rows from the top of the table to its bottom."""
        rows: list[Row] = []
        last: dict[int, Cell] = {}  # the lowest cell of each column of the last row
        above: Line | None = None
        for line in self._lines:
            texts, cells = self._texts(line)
            words = [word for cell in line.cells for word in cell.words]
            if above is not None and self._goes_on(above, last, line, texts, cells):
                for index, text in enumerate(texts):
                    rows[-1].cells[index] = f"{rows[-1].cells[index]} {text}".strip()
                rows[-1].words += words
                last.update(cells)
            else:
                rows.append(Row(texts, words))
                last = cells
            above = line
        return rows

    def _signs(self) -> dict[int, int]:
        """Columns that hold signs alone, and the column that each joins: the next for `$`, the one before for `%`."""
        texts: dict[int, list[str]] = {}
        for line in self._lines:
            for cell in line.cells:
                if _over(cell, self._columns) < 2:
                    texts.setdefault(self._column(cell), []).append(cell.text)
        joins: dict[int, int] = {}
        for index, held in texts.items():
            if index + 1 < len(self._columns) and all(map(_LEADING_SIGN.fullmatch, held)):
                joins[index] = index + 1
            elif index and all(map(_CLOSING_SIGN.fullmatch, held)):
                joins[index] = index - 1
        return joins

    def _column(self, cell: Cell) -> int:
        """The column that a cell stands in; the first of those that it spans."""
        shares = [min(cell.right, right) - max(cell.left, left) for left, right in self._columns]
        return next((index for index, share in enumerate(shares) if share > 0.2), shares.index(max(shares)))

    def _measure(self) -> None:
        """Note how far the cells of each column reach."""
        for line in self._lines:
            for cell in line.cells:
                if len(line.cells) > 1 or _over(cell, self._columns) < 2:
                    index = self._target[self._column(cell)]
                    self._lefts[index] = min(self._lefts[index] or cell.left, cell.left)
                    self._rights[index] = max(self._rights[index], cell.right)

    def _texts(self, line: Line) -> tuple[list[str], dict[int, Cell]]:
        """A line's text in each column, and the last cell that stands in it."""
        texts = [""] * self._count
        cells: dict[int, Cell] = {}
        for cell in line.cells:
            index = self._target[self._column(cell)]
            text = texts[index]
            tight = not text or _CLOSING_SIGN.fullmatch(cell.text) or _LEADING_SIGN.fullmatch(text)
            texts[index] = text + cell.text if tight else f"{text} {cell.text}"
            cells[index] = cell
        return texts, cells

    def _goes_on(
        self, above: Line, last: dict[int, Cell], line: Line, texts: Sequence[str], cells: dict[int, Cell]
    ) -> bool:
        """Whether a line holds what did not fit into the row above it."""
        pitch = line.base - above.base
        if pitch > _LEADING * self._size or not last:
            return False
        figures = [text for text in texts if text and is_figure(text)]
        if set(last) == {0} and 0 in cells:  # a label that fills its column, its figures below
            indented = cells[0].left > last[0].left + 2.5 * self._size
            return _over(last[0], self._columns) < 2 and not indented and self._is_full(last[0], cells[0], 0)
        near = self._even or pitch < 1.08 * self._pitch
        if not near or len(figures) == len(cells) or not all(index in last for index in cells):
            return False
        if 0 not in cells and not figures:
            return True
        full = all(self._is_full(last[index], cell, index) for index, cell in cells.items())
        return full and (len(cells) < len(last) or not self._even)

    def _is_full(self, cell: Cell, below: Cell, column: int) -> bool:
        """Whether the first word below had no room behind the cell."""
        room = self._rights[column]
        if column + 1 < self._count:
            room = min(room, self._lefts[column + 1] - _GUTTER * self._size)
        word = below.words[0]
        return cell.right + 0.25 * self._size + (word.right - word.left) > room - 0.15 * self._size


def _end_of(joins: dict[int, int], index: int) -> int:
    """The column that a column of signs joins in the end; itself where signs join each other."""
    seen: set[int] = set()
    while index in joins and index not in seen:
        seen.add(index)
        index = joins[index]
    return index

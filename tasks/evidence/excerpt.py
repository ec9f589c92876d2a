"""The words around a quotation as a reader sees them: paragraphs, and rows of tables, with the quotation marked."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from tasks.language.tables import header_rows

_AROUND: Final = 1_500
"""Characters that are shown before and behind what is marked."""
_MOST: Final = 20_000
"""Characters of one stretch; a quotation that is longer is shown up to there."""
_LEFT_OUT: Final = "…"
_MOST_COLUMNS: Final = 12
"""Columns of a table that is shown whole."""
_BESIDE: Final = 3
"""Columns on each side of a marked cell that are shown of a wider one."""
_FAR: Final = 400
"""How much further a stretch may reach to begin and end with a line."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of a text to mark, and the id by which a link finds it."""

    start: int
    end: int
    anchor: str


class MarkedWords(NamedTuple):
    """A run of words, marked or not; the first run of a mark has its anchor among its `anchors`."""

    text: str
    marked: bool = False
    anchors: tuple[str, ...] = ()


class Block(NamedTuple):
    """Paragraphs, one per line, as a single cell; or the rows of a table.

    Consecutive paragraphs in which no mark begins or ends share a block: most of a page is like that, and is written in
    one go.
    """

    kind: Literal["paragraphs", "table"]
    rows: list[list[list[MarkedWords]]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text in blocks; `before` and `behind` say whether the text continues there."""

    blocks: list[Block] = field(default_factory=list)
    before: bool = False
    behind: bool = False


def stretches(text: str, first: int, last: int, marks: Sequence[Mark]) -> list[Stretch]:
    """The stretches of `text[first:last]` around the marks, in order; marks close to each other share one.

    A long table shows its header rows above, a wide one its labels beside.

    Args:
        text: the whole text of a document.
        first: where the page, slide, sheet or other part begins that the marks lie in.
        last: where it ends.
        marks: spans within it.
    """
    spans: list[tuple[int, int]] = []
    for mark in sorted(marks, key=lambda mark: mark.start):
        begin = _row_start(text, line_start(text, max(mark.start - _AROUND, first), first), mark, first)
        end = _line_end(text, min(min(mark.end, mark.start + _MOST) + _AROUND, last), last)
        if spans and begin <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((begin, end))
    left = {mark.anchor for mark in marks if mark.anchor}
    found: list[Stretch] = []
    for begin, end in spans:
        held = list(_blocks(text, begin, end, marks, left))
        if held and held[0].kind == "table":
            held[0] = held[0]._replace(rows=[*_rows_above(text, first, begin), *held[0].rows])
        found.append(Stretch(list(map(_narrow, held)), before=begin > first, behind=end < last))
    return found


def _rows_above(text: str, first: int, begin: int) -> list[list[list[MarkedWords]]]:
    """The header rows of a table that continues at `begin`, and a row for those left out; none if it begins there."""
    blank = text.rfind("\n\n", first, begin)
    for start in [blank + 2, first] if blank >= 0 else [first]:
        lines = text[start:begin].split("\n")[:-1]
        rows = [line for line in lines[: header_rows(text, start, len(text))] if "\t" in line]
        if rows:
            gap = [_LEFT_OUT] if lines[-1] not in rows else []
            return [[[MarkedWords(cell)] for cell in line.split("\t")] for line in [*rows, *gap]]
    return []


def _narrow(block: Block) -> Block:
    """A block; if its table is wide, only the label columns and the marked columns with some neighbours."""
    width = max(map(len, block.rows))
    marked = [(row, at) for row in block.rows for at, cell in enumerate(row) if any(words.marked for words in cell)]
    if width <= _MOST_COLUMNS or not marked:
        return block
    labels = min(at for row, _ in marked for at, cell in enumerate(row) if any(words.text.strip() for words in cell))
    kept = {*range(labels + 1), *(near for _, at in marked for near in range(at - _BESIDE, at + _BESIDE + 1))}
    columns = sorted(kept.intersection(range(width)))
    return block._replace(rows=[list(_cells_of(row, columns)) for row in block.rows])


def _cells_of(row: list[list[MarkedWords]], columns: Sequence[int]) -> Iterator[list[MarkedWords]]:
    """The cells of a row in these columns, with one cell in place of each run of omitted ones."""
    for before, at in pairwise([-1, *columns]):
        if at > before + 1:
            yield [MarkedWords(_LEFT_OUT)]
        yield row[at] if at < len(row) else []


def blocks(text: str, begin: int, end: int, marks: Sequence[Mark]) -> list[Block]:
    """All of `text[begin:end]`, with the marks that reach into it."""
    near = [mark for mark in marks if mark.start < end and begin < mark.end]
    return list(_blocks(text, begin, end, near, {mark.anchor for mark in near if mark.anchor}))


def line_start(text: str, at: int, first: int) -> int:
    """The start of the line around an offset, not before `first`; the offset itself if that is far away."""
    start = text.rfind("\n", max(at - _FAR, first), at)
    if start < 0:
        return first if at - first <= _FAR else at
    return start + 1


def _row_start(text: str, begin: int, mark: Mark, first: int) -> int:
    """An offset, or in a long row, whose cells would stand under other headers, the next row or the marked one."""
    behind = text.find("\n", begin, mark.start)
    if begin == first or text[begin - 1] in "\n\f" or "\t" not in text[begin : mark.end if behind < 0 else behind]:
        return begin
    return behind + 1 if behind >= 0 else text.rfind("\n", first, begin) + 1 or first


def _line_end(text: str, at: int, last: int) -> int:
    end = text.find("\n", at, min(at + _FAR, last))
    if end < 0:
        return last if last - at <= _FAR else at
    return end


def _blocks(text: str, begin: int, end: int, marks: Sequence[Mark], left: set[str]) -> Iterator[Block]:
    rows: list[list[list[MarkedWords]]] = []
    plain: list[str] = []
    bounds = [*sorted({side for mark in marks for side in (mark.start, mark.end)}), end]
    until, is_marked = begin, False  # lines up to there are marked as a whole, or not at all
    at = begin
    for line in text[begin:end].replace("\f", "\n").split("\n"):
        behind = at + len(line)
        is_row = "\t" in line
        if not is_row:
            yield from _table(rows)
            rows = []
        if is_row or behind > until:
            yield from _paragraphs(plain, is_marked)
            plain = []
        if is_row:
            rows.append(_cells(text, at, line, marks, left))
        elif not line or line.isspace():
            pass
        elif behind <= until:
            plain.append(line)
        else:
            yield Block("paragraphs", [[_runs(text, at, behind, marks, left)]])
            over = [mark for mark in marks if mark.start <= behind < mark.end]
            is_marked = bool(over)
            if left.isdisjoint(mark.anchor for mark in over):
                until = bounds[bisect_right(bounds, behind, hi=len(bounds) - 1)]
        at = behind + 1
    yield from _table(rows)
    yield from _paragraphs(plain, is_marked)


def _cells(text: str, at: int, line: str, marks: Sequence[Mark], left: set[str]) -> list[list[MarkedWords]]:
    """The cells of a row that begins at this offset."""
    cells = []
    for cell in line.split("\t"):
        cells.append(_runs(text, at, at + len(cell), marks, left))
        at += len(cell) + 1
    return cells


def _table(rows: list[list[list[MarkedWords]]]) -> list[Block]:
    return [Block("table", rows)] if rows else []


def _paragraphs(lines: Sequence[str], is_marked: bool) -> list[Block]:
    return [Block("paragraphs", [[[MarkedWords("\n".join(lines), is_marked)]]])] if lines else []


def _runs(text: str, begin: int, end: int, marks: Sequence[Mark], left: set[str]) -> list[MarkedWords]:
    """Words split where marks begin and end. The first words of a mark get its anchor, if it is one of those `left`."""
    near = [mark for mark in marks if mark.start < end and begin < mark.end]
    if not near:
        return [MarkedWords(text[begin:end])] if begin < end else []
    cuts = sorted({begin, end, *(max(mark.start, begin) for mark in near), *(min(mark.end, end) for mark in near)})
    runs: list[MarkedWords] = []
    for start, stop in pairwise(cuts):
        over = [mark for mark in near if mark.start <= start and stop <= mark.end]
        anchors = tuple(dict.fromkeys(mark.anchor for mark in over if mark.anchor in left))
        left.difference_update(anchors)
        runs.append(MarkedWords(text[start:stop], marked=bool(over), anchors=anchors))
    return runs

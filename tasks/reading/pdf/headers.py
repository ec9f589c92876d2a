"""Headers of a PDF's table that no rules draw: lines above its first row, and cells side by side that look like one."""

import itertools
from collections.abc import Sequence
from operator import attrgetter, itemgetter
from typing import Final

from tasks.reading.pdf.figures import is_figure
from tasks.reading.pdf.lines import Interval, Line, LineCell, offset, over
from tasks.reading.pdf.table_columns import with_signs

_LEADING: Final = 2.2
"""Headers no further above a table than so many sizes are part of it."""
_MOST: Final = 4
"""Lines above a table that are looked at."""
_LONGEST: Final = 12
"""Words of a line that is a header at most: one with more is prose."""
_LEVEL: Final = 0.7
"""Lines of a header that stand nearer than so many sizes are one: some programs set each heading a little higher."""
_CENTRED: Final = 0.15
"""How far a heading's middle is from that of the columns below it, as a share of their width."""
_ALIGNED: Final = 1.0
"""Points by which the lines of a header stand apart at most, at one of their sides or in their middle."""
_NEAR: Final = 0.5
"""The same in sizes, for headers a space apart."""


def headers_above(lines: Sequence[Line], first: Line, columns: Sequence[Interval]) -> list[Line]:
    """The lines right above a table whose first line is this that hold a single cell, above columns but the first.

    One that is several columns' headers with a space between is parted, one that stands over the middle of several is
    theirs.
    """
    headers: list[Line] = []
    for line in reversed([line for line in lines if line.base < first.base][-_MOST:]):
        below = headers[0] if headers else first
        near = below.base - line.base < _LEADING * max(line.size, below.size)
        if not near or len(line.cells) > 1 or line.left < columns[1][0] - line.size:
            break
        _part(line, below, columns)
        beside = bool(headers) and _are_beside(line, below)
        under = [*headers, first][1] if beside else below
        if len(line.cells) == 1 and over(line.cells[0], columns) != 1 and not _is_centred(line, under, columns):
            break
        if beside:
            headers[0] = _joined(line, below)
        else:
            headers.insert(0, line)
    return headers


def _is_centred(line: Line, below: Line, columns: Sequence[Interval]) -> bool:
    """Whether a line of one cell stands over the middle of several columns, or of a cell below it."""
    if len(line.words) > _LONGEST:
        return False
    middle = (line.left + line.right) / 2
    if any(abs(cell.left + cell.right - 2 * middle) / 2 < _ALIGNED for cell in below.cells):
        return True
    spanned = [(left, right) for left, right in columns if left < line.right and line.left < right]
    if len(spanned) < 2:
        return False
    left, right = spanned[0][0], spanned[-1][1]
    return abs(left + right - 2 * middle) / 2 < _CENTRED * (right - left)


def _are_beside(line: Line, other: Line) -> bool:
    """Whether two lines of a header stand nearly on one level, and their words beside each other."""
    near = other.base - line.base < _LEVEL * max(line.size, other.size)
    return near and (line.right < other.left or other.right < line.left)


def _joined(line: Line, other: Line) -> Line:
    first, second = sorted((line, other), key=attrgetter("left"))
    return Line([*first.words, *second.words], other.base, max(line.size, other.size), [*first.cells, *second.cells])


def part_headers(block: Sequence[Line], columns: Sequence[Interval]) -> None:
    """Part the cells of a table's header that stand side by side with no more than a space between them.

    The line above or below tells them: what stands on both sides of the space stands in line with its like there, and
    in a column of its own.
    """
    figures = [_has_figures(line) for line in block]
    if all(figures):
        return
    columns = with_signs(columns, block)
    for (above, is_row), (below, is_row_below) in itertools.pairwise(zip(block, figures, strict=True)):
        if not is_row:
            _part(above, below, columns)
            _part(below, above, columns)
            if is_row_below:
                _part_above_figures(above, columns)


def _has_figures(line: Line) -> bool:
    """Whether a line has a figure of more than one digit; most rows end with one."""
    return any(len(cell.text) > 1 and is_figure(cell.text) for cell in reversed(line.cells))


def _part_above_figures(line: Line, columns: Sequence[Interval]) -> None:
    """Part the cells of the line right above a table's figures that are two columns' headers.

    Only where each other column has its own: a heading over several has a line of headers below it.
    """
    wide = [cell for cell in line.cells if over(cell, columns) == 2]
    if not wide or len(line.cells) + len(wide) < len(columns) - 1:
        return
    for cell in wide:
        first = next(index for index, (_, right) in enumerate(columns) if right > cell.left + 1)
        pair = columns[first : first + 2]
        apart = [
            (round(sum(map(_distance, parts, pair))), parts)
            for parts in _partings(cell)
            if max(map(_distance, parts, pair)) < _NEAR * line.size and all(over(part, columns) == 1 for part in parts)
        ]
        if apart:
            at = line.cells.index(cell)
            line.cells[at : at + 1] = min(apart, key=itemgetter(0))[1]


def _distance(part: LineCell, column: Interval) -> float:
    """How far an edge or the middle of a part of a line is from that of a column."""
    return offset((part.left, part.right), column)


def _part(line: Line, beside: Line, columns: Sequence[Interval]) -> None:
    """Part the cells of a line that stand in several columns as those of the line beside it are, or can be."""
    pairs = list(itertools.pairwise(beside.cells))
    pairs += (
        parts
        for cell in beside.cells
        if over(cell, columns) > 1
        for parts in _partings(cell)
        if all(_is_set_in_a_column(part, columns) for part in parts)
    )
    for cell in [cell for cell in line.cells if over(cell, columns) > 1]:
        at = line.cells.index(cell)
        for parts, others in itertools.product(_partings(cell), pairs):
            apart = max(parts[0].right, others[0].right) < min(parts[1].left, others[1].left)
            if apart and all(map(are_aligned, parts, others)) and all(over(part, columns) == 1 for part in parts):
                line.cells[at : at + 1] = parts
                break


def _is_set_in_a_column(part: LineCell, columns: Sequence[Interval]) -> bool:
    """Whether a part of a line has an edge or its middle where a column has its own."""
    return any(_distance(part, column) < _ALIGNED for column in columns)


def _partings(cell: LineCell) -> list[tuple[LineCell, LineCell]]:
    return [(LineCell(cell.words[:at]), LineCell(cell.words[at:])) for at in range(1, len(cell.words))]


def are_aligned(one: LineCell, other: LineCell) -> bool:
    """Whether two cells begin or end at one place, or have their middles there."""
    return _distance(one, (other.left, other.right)) < _ALIGNED

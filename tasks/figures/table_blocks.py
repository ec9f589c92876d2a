"""Tables that stand side by side: a sheet's income statement beside its balance sheet is read as two."""

from typing import Final

from tasks.figures.table_labels import LabelReader
from tasks.figures.table_rows import Grid, Row, is_number

_MOST_ROWS: Final = 400
"""Rows of a table that may be two; what is longer is a list."""

_NARROWEST: Final = 4
"""Columns of two tables: a label and a number each."""


def blocks(grid: Grid, reader: LabelReader) -> list[Grid]:
    """The tables of which a grid consists, from left to right; mostly itself.

    A table begins behind the first where a column has words beside numbers on both its sides: below an empty column,
    or where two of its words or more are what the taxonomy knows.
    """
    if len(grid.rows) > _MOST_ROWS:
        return [grid]
    width = max(row.width for row in grid.rows)
    if width < _NARROWEST or any(row.loose for row in grid.rows):
        return [grid]
    starts = [0]
    for at in range(2, width - 1):
        if at > starts[-1] + 1 and _begins(grid, at, starts[-1], reader):
            starts.append(at)
    if len(starts) == 1:
        return [grid]
    return [
        Grid(list(grid.titles), _cut(grid, first, last))
        for first, last in zip(starts, [*starts[1:], width], strict=True)
    ]


def _begins(grid: Grid, at: int, start: int, reader: LabelReader) -> bool:
    """Whether a table begins at a column, behind one that begins at `start`."""
    labels = meant = left = 0
    for row in grid.rows:
        cell = row.cells[at] if at < len(row.cells) else ""
        if (
            not cell
            or is_number(cell)
            or not any(map(str.isalpha, cell))
            or not row.has_number_between(at + 1, row.width)
        ):
            continue
        labels += 1
        meant += reader.speaks(cell)
        left += row.has_number_between(start + 1, at)
    apart = all(at - 1 >= len(row.cells) or not row.cells[at - 1] for row in grid.rows)
    return left > 0 and (meant >= 2 or (apart and labels >= 2 and meant > 0))


def _cut(grid: Grid, first: int, last: int) -> list[Row]:
    """The rows between two columns, without those that are empty there."""
    rows = (Row(row.start, row.cells[first:last], row.starts[first:last]) for row in grid.rows if row.width > first)
    kept = [row for row in rows if any(row.cells)]
    for row in kept:
        while len(row.cells) > 1 and not row.cells[-1]:
            row.cells.pop()
            row.starts.pop()
    return kept

"""Tables that a page break cuts from their headings: the headings of the page before hold for them too."""

from collections.abc import Iterator
from typing import Final

from tasks.figures.table_rows import Grid, Row, grids
from tasks.language.periods import find_periods

_MOST_BETWEEN: Final = 500
"""Characters of feet and heads between the parts of a table."""

_LONGEST_TITLE: Final = 110
"""Characters of a line that may be a part's own heading."""

_MOST_HEADER_ROWS: Final = 8
_MOST_TITLES: Final = 40
"""Lines over the parts of a table that are kept."""


def whole_grids(text: str, *, of_pages: bool = True) -> Iterator[Grid]:
    """The tables of a text; one that goes on after a page break has the heading of its beginning.

    Not so where the text is not `of_pages`: the sheet or slide that follows begins anew.
    """
    before: Grid | None = None
    end = 0
    for grid in grids(text):
        between = text[end : grid.rows[0].start + 1]  # a break may be the row's own first character
        if of_pages and before is not None and _goes_on(before, grid, between):
            titles = [*before.titles, *grid.titles][-_MOST_TITLES:]
            whole = Grid(titles, [*_heading(before), *grid.rows])
        else:
            whole = grid
        last = whole.rows[-1]
        end = last.starts[-1] + len(last.cells[-1])
        before = whole
        yield whole


def _goes_on(before: Grid, grid: Grid, between: str) -> bool:
    if between.count("\f") != 1 or len(between) > _MOST_BETWEEN or _width(before) != _width(grid) or _width(grid) < 2:
        return False
    if any(len(list(filter(None, row.cells))) > 1 or _speaks_of_time(row) for row in _heading(grid)):
        return False  # it has a heading of its own
    if not any(map(_has_numbers, grid.rows)):
        return False
    if any(len(title) < _LONGEST_TITLE and find_periods(title) for title in grid.titles):
        return False
    return any(_speaks_of_time(row) for row in _heading(before))


def _heading(grid: Grid) -> list[Row]:
    """The rows over the first one with a number beside its label; all where there is none."""
    at = next((at for at, row in enumerate(grid.rows) if _has_numbers(row)), len(grid.rows))
    return grid.rows[max(0, at - _MOST_HEADER_ROWS) : at]


def _has_numbers(row: Row) -> bool:
    return row.has_number(comma_decimal=False)


def _speaks_of_time(row: Row) -> bool:
    return any(find_periods(cell) for cell in row.cells)


def _width(grid: Grid) -> int:
    return max(row.width for row in grid.rows)

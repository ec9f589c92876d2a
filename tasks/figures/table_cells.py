"""What the cells of a row say beside their numbers: percentages, years, parts of what their column is called."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from tasks.figures.concepts import Meaning
from tasks.figures.numbers import Units, units_of
from tasks.figures.table_columns import Column
from tasks.figures.table_parts import TOTAL
from tasks.figures.table_rows import Row, is_year

_COMPARED_YEARS: Final = 2


def is_of_column(column: Column, meaning: Meaning, name: str) -> bool:
    """Whether a row is a part or a change of what its column is called, and no figure of the whole.

    "Cash" under "Cash and cash equivalents", "Net income" under "Total shareholders' equity".
    """
    over = column.label.meaning
    if over is not None and over.kind == "instant" and meaning.kind == "duration":
        return True
    if over is None or over.concept is not meaning.concept or "money" not in meaning.concept.units:
        return False
    return meaning.rank > 0 and not TOTAL.match(name)


def slipped(row: Row, columns: Sequence[Column], corner: str) -> bool:
    """Whether a row fills one cell more than columns are named: the first of them stands over the labels."""
    named = sum(1 for column in columns[1:] if column.words)
    filled = sum(1 for cell in row.cells[1:] if cell)
    return bool(corner) and units_of(corner) == Units() and 0 < named == filled - 1


def is_of_four_digits(row: Row) -> bool:
    """Whether a row deep in a table holds numbers that could be years and head no columns: "Item 2001 | 2001"."""
    filled = [cell for cell in row.cells[1:] if cell]
    if not filled or not all(map(is_year, filled)) or units_of(row.name) != Units():
        return False
    return not any(abs(int(one[:4]) - int(other[:4])) == 1 for one, other in pairwise(filled))


def lines_of_units(header: Sequence[Row]) -> Iterator[str]:
    """The lines of one cell in a header that give units to all of the table."""
    for row in header:
        filled = [cell for cell in row.cells if cell]
        if len(filled) == 1 and units_of(filled[0]) != Units():
            yield filled[0]


def are_two_years(columns: Sequence[Column]) -> bool:
    return len({column.when.year for column in columns if column.when and column.when.year}) <= _COMPARED_YEARS


def of_percents(row: Row, numbers: Sequence[int]) -> Iterator[int]:
    """The columns that hold percentages beside amounts: "2,110 | 30% | 2,196 | 33%"."""
    for left, index in pairwise(numbers):
        if index == left + 1 and row.cells[index].endswith("%") and not row.cells[left].endswith("%"):
            yield index

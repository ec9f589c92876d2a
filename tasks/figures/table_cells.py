"""What the columns over the cells of a row say of them: parts of what a column is called, a column too far, years."""

from collections.abc import Sequence
from typing import Final

from tasks.figures.concepts import Meaning
from tasks.figures.table_columns import Column
from tasks.figures.table_parts import TOTAL
from tasks.figures.table_rows import Row
from tasks.language.numbers import Units, units_of

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


def are_two_years(columns: Sequence[Column]) -> bool:
    """Whether columns are of two years at most."""
    return len({column.when.year for column in columns if column.when and column.when.year}) <= _COMPARED_YEARS

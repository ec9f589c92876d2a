"""What kind of row a row of a table is: without a number, of numbers that could be years, of units, of percentages."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from tasks.figures.table_rows import Row, is_year
from tasks.language.numbers import Units, units_of
from tasks.language.periods import find_periods

_NOT_KNOWN: Final = re.compile(
    r"[^\w]*|n/?\.?a\.?|n\.?m\.?|nil|none|t\.?b\.?[acd]\.?|pending|unknown|k\. ?a\.?|n\. ?v\. ?t\.?|s\. ?o\.?|n\. ?d\.?"
    r"|#[A-Z][A-Z/0-9]*[!?]?|"
    r"(?:(?:minus|and|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundred|thousand|million|billion)\b[\s-]*){2,}",
    re.IGNORECASE,
)
"""A cell that says that there is no number, that a formula failed, or a number in words."""


_LONGEST: Final = 30
_NOT_ONE: Final = re.compile(
    r"#[A-Z][A-Z/0-9]*[!?]?|[<>≤≥±].*\d.*"
    r"|[$€£]?\d[\d.,]*[.,]\d{4,}\)|[$€£]?\d[\d.,]*[a-z]{0,2} ?(?:[-–—]|to|bis) ?[$€£]?\d[\d.,]*[a-z]{0,2}",
    re.IGNORECASE,
)
"""A failed formula, a bound, a number with a note's mark in it, or a range."""


_HEADS: Final = re.compile(
    r"sheet|statement|account|summary|overview|figures|data|metric|kpi|flow|position|p ?& ?l|profit and loss|years?\b"
    r"|fy|bilan|rechnung|jahr|compte|exercice|balance|cuenta|ejercicio|bilancio|conto|esercizio|balans|rekening",
    re.IGNORECASE,
)


def has_no_number(filled: Sequence[str]) -> bool:
    """Whether a row of these filled cells names something and gives no number for it: dashes, "n/a", "#REF!"."""
    return len(filled) > 1 and all(
        _NOT_KNOWN.fullmatch(cell) or (_NOT_ONE.fullmatch(cell) and not find_periods(cell)) for cell in filled[1:]
    )


def not_one_number(row: Row, numbers: Sequence[int]) -> int:
    """How many cells of a row hold something with digits, or a failed formula, that is no single number: "5-6"."""
    known = {0, *numbers}
    others = (cell for index, cell in enumerate(row.cells) if index not in known and len(cell) <= _LONGEST)
    return sum(1 for cell in others if _NOT_ONE.fullmatch(cell) and not find_periods(cell))


def is_of_four_digits(row: Row) -> bool:
    """Whether a row deep in a table holds numbers that could be years and head no columns: "Item 2001 | 2001"."""
    filled = [cell for cell in row.cells[1:] if cell]
    if not filled or not all(map(is_year, filled)) or units_of(row.name) != Units():
        return False
    return not any(abs(int(one[:4]) - int(other[:4])) == 1 for one, other in pairwise(filled))


def is_between_years(row: Row) -> bool:
    """Whether a row right below others holds numbers that could be years far apart: "Marketing | 2000 | 2010".

    What is called a statement or a summary heads columns anew.
    """
    numbers = sum(1 for cell in row.cells[1:] if cell)
    return numbers > 1 and any(map(str.isalpha, row.name)) and not _HEADS.search(row.name) and is_of_four_digits(row)


def lines_of_units(header: Sequence[Row]) -> Iterator[str]:
    """The lines of one cell in a header that give units to all of the table."""
    for row in header:
        filled = [cell for cell in row.cells if cell]
        if len(filled) == 1 and units_of(filled[0]) != Units():
            yield filled[0]


def of_percents(row: Row, numbers: Sequence[int]) -> Iterator[int]:
    """The columns that hold percentages beside amounts: "2,110 | 30% | 2,196 | 33%"."""
    for left, index in pairwise(numbers):
        if index == left + 1 and row.cells[index].endswith("%") and not row.cells[left].endswith("%"):
            yield index

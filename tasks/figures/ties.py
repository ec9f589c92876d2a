"""Sums that a table states, checked: its rows against their total, both sides of a balance sheet, the change of cash.

What does not come out is a finding and no error: the document may be wrong, and so may a table that was read wrongly.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from tasks.figures.concepts import plain_label
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Tie
from tasks.figures.table_rows import Grid, Row, is_number, is_year
from tasks.language.numbers import PERCENT, Amount, cell_amount

_ASSETS: Final = re.compile(
    r"total assets|assets total|bilanzsumme|total activo|total actif|summe aktiva|total de l actif"
)
_BOTH: Final = re.compile(
    r"(?:total )?(?:liabilities|equity)(?: \w+){0,5} (?:and|&) (?:\w+ ){0,3}(?:equity|liabilities|deficit)"
    r"|summe passiva|total passif|total pasivo(?: y patrimonio neto)?"
)
_FLOWS: Final = tuple(
    re.compile(rf"(?:net |total )*cash .*\b{kind}")
    for kind in (r"operat(?:ing activities|ions)", "investing activities", "financing activities")
)
_CHANGE: Final = re.compile(
    r"(?:net )?(?:increase|decrease|change)(?: \w+){0,3} in cash(?!.*\b(?:classified|held for sale|discontinued)\b).*"
)
_TOTAL: Final = re.compile(r"(?:total|summe|gesamt|totale|sum)(?: \d+ \w+)?")
_ANY_TOTAL: Final = re.compile(r"(?:sub)?total\b|summe\b|gesamt\b|net\b|gross\b|ebit|operating (?:profit|income)")
_MOST_ROWS: Final = 400
_BOUND: Final = 3
"""Units of the last digit by which rounded parts may miss their total, and one more for every four parts."""

_Cells = dict[int, Amount]


def untied(document: LedgerDocument, grid: Grid) -> Iterator[Tie]:
    """The sums of one table that do not come out."""
    if len(grid.rows) > _MOST_ROWS:
        return
    rows = [(row, plain_label(row.label), _amounts(row, document)) for row in grid.rows]
    yield from _two_sides(document, rows)
    yield from _cash(document, rows)
    yield from _totals(document, rows)


def _amounts(row: Row, document: LedgerDocument) -> _Cells:
    found: _Cells = {}
    for index, cell in enumerate(row.cells):
        if index and is_number(cell, comma_decimal=document.comma_decimal):
            amount = cell_amount(cell, comma_decimal=document.comma_decimal)
            if amount is not None and amount.unit != PERCENT:
                found[index] = amount
    return found


_Read = tuple[Row, str, _Cells]


def _two_sides(document: LedgerDocument, rows: Sequence[_Read]) -> Iterator[Tie]:
    assets = next((read for read in rows if read[2] and _ASSETS.fullmatch(read[1])), None)
    both = next((read for read in rows if read[2] and _BOTH.fullmatch(read[1])), None)
    if assets is None or both is None:
        return
    for index in assets[2].keys() & both[2].keys():
        stated, computed = assets[2][index], both[2][index]
        if abs(stated.value - computed.value) > 2 * stated.step:
            yield _tie(document, "total assets are equity and liabilities", assets[0], index, stated, computed.value)


def _cash(document: LedgerDocument, rows: Sequence[_Read]) -> Iterator[Tie]:
    end = next((at for at, read in enumerate(rows) if read[2] and _CHANGE.fullmatch(read[1])), None)
    if end is None:
        return
    above = [read for read in rows[:end] if read[2]]
    last = [max((at for at, read in enumerate(above) if flow.fullmatch(read[1])), default=None) for flow in _FLOWS]
    known = [at for at in last if at is not None]
    change, changes = rows[end][0], rows[end][2]
    if len(known) < len(_FLOWS) or any(above[at][2].keys() != changes.keys() for at in known):
        return  # a row whose first figure stands in its label says too little
    between = [cells for _, _, cells in above[max(known) + 1 :]]  # currencies, cash that is restricted or held for sale
    for index, stated in changes.items():
        computed = sum((above[at][2][index].value for at in known), Decimal(0))
        others = [cells[index].value for cells in between if index in cells]
        misses = (abs(stated.value - computed - part) for part in (Decimal(0), sum(others, Decimal(0)), *others))
        if min(misses) > _BOUND * stated.step:
            yield _tie(document, "the change of cash is the sum of the cash flows", change, index, stated, computed)


def _totals(document: LedgerDocument, rows: Sequence[_Read]) -> Iterator[Tie]:
    parts: list[_Cells] = []
    for row, label, found in rows:
        cells = found
        if parts:  # below numbers, 2050 is a number and no year
            years = {index: cell_amount(cell) for index, cell in enumerate(row.cells) if index and is_year(cell)}
            cells = {**{index: amount for index, amount in years.items() if amount}, **found}
        if not cells:
            parts = [] if len([cell for cell in row.cells if cell]) > 1 else parts
            continue
        if not _TOTAL.fullmatch(label):
            parts = [] if _ANY_TOTAL.match(label) else [*parts, cells]
            continue
        for index, stated in cells.items():
            column = [part[index] for part in parts if index in part]
            if len(column) < 2 or len(column) < len(parts) or any(part.unit != stated.unit for part in column):
                continue
            computed = sum((part.value for part in column), Decimal(0))
            if abs(computed - stated.value) > stated.step * (_BOUND + len(column) // 4):
                yield _tie(document, "the total is the sum of its rows", row, index, stated, computed)
        parts = []


def _tie(document: LedgerDocument, what: str, row: Row, index: int, stated: Amount, computed: Decimal) -> Tie:
    start = row.starts[index]
    return Tie(what, stated.value, computed, document.place(start, row.label), start)

"""What the main statements say about their own figures: sums that add up, and figures that only one statement gives.

The sums are rows against their total, both sides of a balance sheet, and the change in cash. Figures given by one
statement only are the parts of debt, inventories, and write-offs.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import WORDS, Figure, Findings, Tie, plain_label
from tasks.figures.table_figures import WRITTEN_OUT, TableCandidate
from tasks.figures.table_grids import Grid
from tasks.figures.table_labels import WEAK
from tasks.figures.table_rows import Row, is_number, is_year
from tasks.language.numbers import PERCENT, Amount, cell_amount

_FLOWS: Final = tuple(
    re.compile(rf"(?:net |total )*cash .*\b{kind}")
    for kind in (r"operat(?:ing activities|ions)", "investing activities", "financing activities")
)
_MOST_ROWS: Final = 400
_TWO: Final = 2
_SHORT: Final = 20
"""Rows up to which a table is short."""
_BOUND: Final = 3
"""Units of the last digit by which rounded parts may miss their total, and one more for every four parts."""

_Cells = dict[int, Amount]


def _amounts(row: Row, document: LedgerDocument) -> _Cells:
    found: _Cells = {}
    for index, cell in enumerate(row.cells):
        if index and is_number(cell, comma_decimal=document.comma_decimal):
            amount = cell_amount(cell, comma_decimal=document.comma_decimal)
            if amount is not None and amount.unit != PERCENT:
                found[index] = amount
    return found


_Read = tuple[Row, str, _Cells]
_Untied = tuple[str, Row, int, Amount, Decimal]
"""What the sum is, in words, its row and column, what it states, and what its parts give."""


def _two_sides(rows: Sequence[_Read]) -> Iterator[_Untied]:
    assets = next((read for read in rows if read[2] and WORDS.total_assets.fullmatch(read[1])), None)
    both = next((read for read in rows if read[2] and WORDS.equity_and_liabilities.fullmatch(read[1])), None)
    if assets is None or both is None:
        return
    for index in assets[2].keys() & both[2].keys():
        stated, computed = assets[2][index], both[2][index]
        if abs(stated.value - computed.value) > 2 * stated.step:
            yield "total assets are equity and liabilities", assets[0], index, stated, computed.value


def _cash(rows: Sequence[_Read]) -> Iterator[_Untied]:
    end = next((at for at, read in enumerate(rows) if read[2] and WORDS.change_of_cash.fullmatch(read[1])), None)
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
            yield "the change of cash is the sum of the cash flows", change, index, stated, computed


def _totals(rows: Sequence[_Read]) -> Iterator[_Untied]:
    parts: list[_Cells] = []
    for row, label, found in rows:
        cells = {**_year_like(row), **found} if parts else found  # below numbers, 2050 is a number and no year
        if WORDS.statement_total.fullmatch(label) and cells:
            for index, stated in cells.items():
                computed = _sum_parts(parts, index, stated)
                if computed is not None:
                    yield "the total is the sum of its rows", row, index, stated, computed
            parts = []
        elif cells:
            parts = [] if WORDS.statement_any_total.match(label) else [*parts, cells]
        elif sum(map(bool, row.cells)) > 1:
            parts = []


def _year_like(row: Row) -> _Cells:
    """The cells in a row that could be years, read as amounts."""
    amounts = ((index, cell_amount(cell)) for index, cell in enumerate(row.cells) if index and is_year(cell))
    return {index: amount for index, amount in amounts if amount}


def _sum_parts(parts: Sequence[_Cells], index: int, stated: Amount) -> Decimal | None:
    """The sum of the parts above a total in its column; None unless all have a number and it differs."""
    column = [part[index] for part in parts if index in part]
    if len(column) < _TWO or len(column) < len(parts) or any(part.unit != stated.unit for part in column):
        return None
    computed = sum((part.value for part in column), Decimal(0))
    return computed if abs(computed - stated.value) > stated.step * (_BOUND + len(column) // 4) else None


CURRENT_DEBT: Final = "current_debt"
LONG_TERM_DEBT: Final = "long_term_debt"
DEBT_PARTS: Final = (CURRENT_DEBT, LONG_TERM_DEBT)
WRITTEN_OFF: Final = "depreciation_and_amortization"
INVENTORIES: Final = "inventories"
OF_STATEMENTS: Final = frozenset({*DEBT_PARTS, WRITTEN_OFF, INVENTORIES})
"""Concepts whose figures count in their own statement alone."""
_OF_BALANCE_SHEETS: Final = frozenset({"total_assets", "current_assets", "current_liabilities", "equity"})
_DASH: Final = re.compile(r"[$€£]? ?[—–-]+")


def may_be_concept(grid: Grid, candidate: TableCandidate) -> bool:
    """Whether a row may be what it is called by its place: "Total income" is above costs, below no result or other
    income, "Ny egenkapital" below "Egenkapital", from which the year leads to it: alone it is what is raised.
    """
    figure = candidate.figure
    label = plain_label(figure.label)
    if figure.concept in {"cash", "equity"} and _is_part(grid, candidate, label):
        return False
    if label.startswith("ny "):
        return any(plain_label(row.label) == label[3:] for row in grid.rows if row.start < figure.start)
    if figure.concept != "revenue" or not label.startswith("total income"):
        return True
    rows = [(row, plain_label(row.label)) for row in grid.rows]
    above = [label for row, label in rows if row.start < figure.start]
    heads = [plain_label(title) for title in grid.titles[-1:]]
    heads += [label for row, label in rows if row.start < figure.start and not any(row.cells[1:])]
    has_costs = any(WORDS.row_of_costs.search(label) for row, label in rows if row.start > figure.start)
    return has_costs and not (
        any(map(WORDS.result_row.fullmatch, above)) or any(map(WORDS.heading_of_other_income.match, heads))
    )


def _is_part(grid: Grid, candidate: TableCandidate, label: str) -> bool:
    """Whether a total further down holds more: "Cash" above "Total cash and cash equivalents", or "Shareholders' funds"
    with other comprehensive income between them and "Total equity".
    """
    rows = grid.rows if len(grid.rows) <= _MOST_ROWS else ()
    own = next((row.cells[1:] for row in reversed(rows) if row.start <= candidate.figure.start), [])
    more = (row for row in rows if row.start > candidate.figure.start and row.cells[1:] != own)
    below = [plain_label(row.label) for row in more]
    if candidate.figure.concept == "cash":
        return any(
            re.match(rf"total {re.escape(label)} (and|y|et|e|und|en|og|och) .*equivalen", each) for each in below
        )
    totals = (at for at, each in enumerate(below) if each.startswith("total") and WORDS.plain_equity.fullmatch(each))
    return any("other comprehensive " in each or "resultado global" in each for each in below[: next(totals, 0)])


def is_recognised(grid: Grid, found: Sequence[TableCandidate]) -> bool:
    """Whether a table is short, of people, a statement or of two concepts: a long one of a sheet may be of anything."""
    heads = [*grid.titles, *(row.name for row in grid.rows[:3])]
    is_named = any(WORDS.statement_heading.search(head) or WORDS.trial_balance.search(head) for head in heads)
    is_sure = is_named or any(each.weight >= STATEMENT_WEIGHT or each.figure.unit == "count" for each in found)
    return is_sure or len(grid.rows) <= _SHORT or len({each.figure.concept for each in found if each.rank < WEAK}) > 1


def without_items(grid: Grid, found: Sequence[TableCandidate]) -> list[TableCandidate]:
    """The candidates without rows that a total further down, of the same concept, sums with other rows.

    "Owner's equity" above "Retained earnings" and "Total equity", unless others own a part; "Sales" above "Total
    income", if gross profit and cost of revenue are together as much as the total.
    """
    totals = [each for each in found if each.rank == WEAK and WORDS.total_row.match(each.figure.label)]
    if not totals:
        return list(found)
    of_others = any(WORDS.owners_of_others.search(row.label) for row in grid.rows)
    sums = {_key(each): each for each in totals if each.figure.concept == "equity" and not of_others}
    values = {_key(each): each.figure.value for each in found}
    for total in (each for each in totals if each.figure.concept == "revenue"):
        _, *key = _key(total)
        gross, cost = values.get(("gross_profit", *key)), values.get(("cost_of_revenue", *key), Decimal(0))
        if gross is not None and gross + cost == total.figure.value:
            sums[_key(total)] = total
    return [each for each in found if each.rank != 1 or not _is_item(grid, each, sums.get(_key(each)))]


def _is_item(grid: Grid, candidate: TableCandidate, total: TableCandidate | None) -> bool:
    """Whether a row differs from a total below it, with other numbers between them."""
    if total is None or candidate.figure.value == total.figure.value:
        return False
    start, end = candidate.figure.start, total.figure.start
    return any(start < row.start < end and any(map(is_number, row.cells[1:])) for row in grid.rows)


def _key(candidate: TableCandidate) -> tuple[str, ...]:
    figure = candidate.figure
    return figure.concept, figure.period, figure.unit, figure.entity or ""


STATEMENT_WEIGHT: Final = 6
"""From here on a table is one of the document's main statements: what its heading weighs, in rows of a statement."""


def of_statement(grid: Grid, found: Sequence[TableCandidate]) -> Iterator[TableCandidate]:
    """The candidates for these concepts that the table's statement gives; the parts of debt are told by their place."""
    labels = [plain_label(row.label) for row in grid.rows]
    rows = list(zip(grid.rows, labels, strict=True))
    invested = next((row.start for row, label in rows if WORDS.statement_investing.fullmatch(label)), 0)
    begun = max(
        (row.start for row, label in rows if row.start < invested and WORDS.result_row.fullmatch(label)),
        default=invested,
    )
    has_flows = any(map(WORDS.statement_operating.fullmatch, labels))
    if has_flows:  # between the result, with which it begins, and what was invested
        written_off = (each for each in found if each.figure.concept == WRITTEN_OFF)
        yield from (each for each in written_off if begun < each.figure.start < invested)
    is_of_flows = has_flows and not any(map(WORDS.statement_asset_parts.fullmatch, labels))
    if not is_of_flows and not _OF_BALANCE_SHEETS.isdisjoint(each.figure.concept for each in found):
        yield from (each for each in found if each.figure.concept == INVENTORIES)
    yield from _debt(grid.rows, labels, [each for each in found if each.figure.concept in DEBT_PARTS])


def _debt(rows: Sequence[Row], labels: Sequence[str], found: Sequence[TableCandidate]) -> Iterator[TableCandidate]:
    """The rows of debt in a balance sheet, current or long-term by position, for days on which all are known."""
    middle, lines = _find_debt_lines(rows, labels) if found else (0, [])
    by_start: dict[int, list[TableCandidate]] = defaultdict(list)
    for each in found:
        if not each.figure.entity:
            by_start[each.figure.start].append(each)
    by_row = {
        at: {each.figure.period: each for start in rows[at].starts for each in by_start.get(start, ())} for at in lines
    }
    if not all(by_row.values()) or all(at > middle for at in by_row):
        return  # what is due within a year may stand among other liabilities
    known = {day for of_row in by_row.values() for day in of_row}
    for at, of_row in by_row.items():
        if not any(map(_DASH.fullmatch, rows[at].cells[1:])):  # it says that there was nothing on one of its days
            known &= of_row.keys()
    for at, of_row in by_row.items():
        concept = CURRENT_DEBT if at < middle else LONG_TERM_DEBT
        kept = [each for day, each in of_row.items() if day in known]
        yield from (replace(each, figure=replace(each.figure, concept=concept)) for each in kept)


def _find_debt_lines(rows: Sequence[Row], labels: Sequence[str]) -> tuple[int, list[int]]:
    """The row where current liabilities end, and the rows of debt; none if the liabilities end elsewhere."""
    middle = next((at for at, label in enumerate(labels) if WORDS.statement_current.fullmatch(label)), 0)
    below = range(middle + 1, len(rows)) if middle else ()
    end = next((at for at in below if WORDS.end_of_liabilities.fullmatch(labels[at])), 0)
    first = max(
        (at + 1 for at, label in enumerate(labels[:middle]) if WORDS.statement_asset_parts.fullmatch(label)), default=0
    )
    among = (at for at in range(first, end) if at != middle)
    return middle, [at for at in among if _is_debt(labels[at]) and any(rows[at].cells[1:])]


def _is_debt(label: str) -> bool:
    return WORDS.debt_row.search(label) is not None and not (
        WORDS.no_debt_row.search(label)
        or (WORDS.statement_of_leases.search(label) and not re.search(r"\b(?:debt|borrowings?)\b", label))
    )


def surest(tables: Sequence[Sequence[TableCandidate]]) -> list[TableCandidate]:
    """Of several statements that give these figures, the most certain one for each day or period."""
    taken: dict[tuple[str, str], list[TableCandidate]] = {}
    for table in sorted(
        tables, key=lambda table: max(((each.consolidated, each.weight) for each in table), default=(False, 0))
    ):
        groups: dict[tuple[str, str], list[TableCandidate]] = {}
        for each in table:
            if not each.figure.entity and not each.figure.variant:
                concept = each.figure.concept
                group = ("debt" if concept in DEBT_PARTS else concept, each.figure.period)
                groups.setdefault(group, []).append(each)
        taken |= groups
    return [each for group in taken.values() for each in group]


_TELLING: Final = 4
"""So many digits of two amounts of one concept and period are the same by no chance."""
_FAR_BELOW: Final = 100
"""So many times below those in a scale, an amount without one is in it too, rather than that much less."""


def without_unscaled(tables: list[list[TableCandidate]], findings: Findings) -> list[list[TableCandidate]]:
    """The tables of a workbook without the small amounts that another one gives, by their digits, in a scale, nor those
    whose currency no words say and that are far below all of their concept in a scale.
    """
    scaled: dict[tuple[str, str, tuple[int, ...]], set[Decimal]] = defaultdict(set)
    sizes: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    for figure in (each.figure for each in chain.from_iterable(tables) if each.figure.scale):
        scaled[_digits(figure)].add(figure.value)
        sizes[figure.concept, figure.unit] += [abs(figure.value)] if figure.value and figure.unit != "count" else []

    def is_unscaled(figure: Figure, *, has_units: bool) -> bool:
        if figure.scale or not 0 < abs(figure.value) < WRITTEN_OUT:
            return False
        others, size = scaled.get(_digits(figure), ()), min(sizes[figure.concept, figure.unit], default=0)
        repeats = bool(others) and len(_digits(figure)[2]) >= _TELLING and figure.value not in others
        return repeats or (not has_units and abs(figure.value) * _FAR_BELOW < size)

    kept = [[each for each in table if not is_unscaled(each.figure, has_units=each.has_units)] for table in tables]
    findings.leave_out("no scale", sum(map(len, tables)) - sum(map(len, kept)))
    return kept


def _digits(figure: Figure) -> tuple[str, str, tuple[int, ...]]:
    return figure.concept, figure.period, figure.value.normalize().as_tuple().digits


_Sums = dict[int, tuple[int, Decimal]]
"""By column, of how many numbers it is the sum, and the sum."""


class RunningSums:
    """The sums of a table's numbers down to a row: since the last sum of its section, and since the header."""

    def __init__(self) -> None:
        self._above: _Sums = {}
        self._below_header: _Sums = {}

    def begin_section(self) -> None:
        self._above = {}

    def add(self, values: Mapping[int, Decimal]) -> tuple[bool, bool]:
        """Add a row's numbers by column; whether each of them sums those above, in its section and below the header."""
        is_sum, above = _add(self._above, values)
        is_sum_of_all, below_header = _add(self._below_header, values)
        self._above = {} if is_sum else above
        self._below_header = self._below_header if is_sum else below_header
        return is_sum, is_sum_of_all


def _add(sums: _Sums, values: Mapping[int, Decimal]) -> tuple[bool, _Sums]:
    """Whether each value is the sum above it, and the sums with the values."""
    above = {at: sums.get(at, (0, Decimal(0))) for at in values}
    is_sum = bool(values) and all(above[at][0] > 1 and above[at][1] == value for at, value in values.items())
    return is_sum, {**sums, **{at: (above[at][0] + 1, above[at][1] + value) for at, value in values.items()}}


MOST_TIES: Final = 1_000
"""Sums of a document that do not tie; the rest is counted."""


def keep_ties(document: LedgerDocument, grid: Grid, findings: Findings) -> None:
    """Add the sums of a table that do not tie to the findings; those above the limit are counted."""
    if len(grid.rows) > _MOST_ROWS:
        return
    rows = [(row, plain_label(row.label), _amounts(row, document)) for row in grid.rows]
    for what, row, index, stated, computed in (*_two_sides(rows), *_cash(rows), *_totals(rows)):
        if len(findings.ties) < MOST_TIES:
            start = row.starts[index]
            findings.ties.append(Tie(what, stated.value, computed, document.place(start, row.label), start))
        else:
            findings.leave_out("more sums that do not tie than are kept")

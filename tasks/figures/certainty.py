"""Which of the figures that were read are certain enough to be stated; the others are left out, counted by reason.

What a file of tags says needs nothing else, and what statements print needs little. A cell of a workbook or a CSV file
can be anything, so its table and its scale have to bear it out. How the conditions were chosen, and how many
wrong and right figures each leaves out, is in `tests/benchmarks/records/figures.md`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import ACTUAL, WORDS, Figure, Findings
from tasks.figures.statement_checks import STATEMENT_WEIGHT
from tasks.figures.table_figures import WRITTEN_OUT, TableCandidate
from tasks.language.periods import last_day
from tasks.reading.text_writer import today

_SHORT: Final = 20
"""Rows up to which a table speaks for itself."""
_TOGETHER: Final = 3
"""Different concepts of one day or period by which a longer table is one of the company's figures."""
_OTHER_UNITS: Final = frozenset({"count", "percent", "ratio", "months"})
_TELLING: Final = 4
"""So many digits of two amounts of one concept and period are the same by no chance."""
_Digits = tuple[str, str, tuple[int, ...]]
"""Concept, period and digits of an amount."""
_MILLION: Final = 10**6
"""A long table that has so large an amount is written out in full."""


def keep_tables(tables: Sequence[tuple[int, list[TableCandidate]]], findings: Findings) -> list[list[TableCandidate]]:
    """The certain candidates of a workbook's tables, each given with its number of rows."""
    together = [(rows > _SHORT, _stand_together(table, findings) if rows > _SHORT else table) for rows, table in tables]
    amounts = (each.figure for _, table in together for each in table if each.figure.unit not in _OTHER_UNITS)
    scaled = {_digits(figure): figure.value for figure in amounts if figure.scale}
    kept = [_keep_written_out(table, scaled, is_long=is_long) for is_long, table in together]
    findings.leave_out("no scale", sum(len(table) for _, table in together) - sum(map(len, kept)))
    return kept


def _stand_together(table: Sequence[TableCandidate], findings: Findings) -> list[TableCandidate]:
    """The candidates of a statement, or beside enough others of their day or period."""
    if any(each.weight >= STATEMENT_WEIGHT for each in table):
        return list(table)
    concepts: dict[str, set[str]] = defaultdict(set)
    for each in table:
        concepts[last_day(each.figure.period)].add(each.figure.concept)
    kept = [each for each in table if len(concepts[last_day(each.figure.period)]) >= _TOGETHER]
    findings.leave_out("long tables of few figures", len(table) - len(kept))
    return kept


def _keep_written_out(
    table: Sequence[TableCandidate], scaled: Mapping[_Digits, Decimal], *, is_long: bool
) -> list[TableCandidate]:
    """The candidates of a table without amounts that may be in a scale that it does not state, beside others in one.

    Those are in a long table all if none of them is large; in a short one the small ones whose currency no words say
    or whose digits are those of an amount in a scale. `scaled` has the values of those by their digits.
    """
    amounts = (abs(each.figure.value) for each in table if each.figure.unit not in _OTHER_UNITS)
    largest = max(amounts, default=_MILLION)

    def is_written_out(each: TableCandidate) -> bool:
        figure, digits = each.figure, _digits(each.figure)
        if figure.scale or figure.unit in _OTHER_UNITS or not figure.value:
            return True
        if is_long or abs(figure.value) >= WRITTEN_OUT:
            return not is_long or largest >= _MILLION
        repeats = len(digits[-1]) >= _TELLING and scaled.get(digits, figure.value) != figure.value
        return each.has_units and not repeats

    return list(filter(is_written_out, table)) if scaled else list(table)


def _digits(figure: Figure) -> _Digits:
    return figure.concept, figure.period, figure.value.normalize().as_tuple().digits


def is_ahead(document: LedgerDocument, figure: Figure) -> bool:
    """Whether a figure's period ended after its file was last changed, or has not ended yet."""
    return last_day(figure.period) > (document.file_dates(figure.start)[1] or today().isoformat())


def has_happened(figure: Figure) -> bool:
    """Whether the words or the columns beside a figure say that it is an actual one."""
    return figure.basis in ACTUAL or WORDS.actual_heading.search(figure.place) is not None


def agree(one: Figure, other: Figure) -> bool:
    """Whether two figures say the same, given how they are rounded: 9.4 m and 9,412,345 do, 9.4 and 7.1 m do not."""
    return agrees(one.value, one.step, other.value, other.step)


def agrees(value: Decimal, step: Decimal, other: Decimal, other_step: Decimal) -> bool:
    """As `agree`, for values and the worth of their last digits."""
    return abs(value - other) <= max(step, other_step) / 2 + min(step, other_step) / 2

"""One number of a table as a figure: its period by the document's calendar, its value in base units, sign and basis."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from tasks.figures.concepts import Meaning
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Basis, Figure, Findings, basis_of, variant_of
from tasks.figures.measures import NEVER_NEGATIVE, is_loss, measured, planned, used_only
from tasks.figures.table_columns import Column
from tasks.figures.table_labels import Label, without_dates
from tasks.figures.table_rows import Row
from tasks.figures.table_titles import HAPPENED
from tasks.language.numbers import Amount, Units
from tasks.language.periods import When, find_periods, last_day

_IN_PERCENT: Final = re.compile(r"\s[(\[]?%[)\]]?$")
"""A label of percentages."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with what is known of it: where it stands, what it means, and of when and of whom it is.

    `is_of_two_years`: the table compares two years at most, as tables of quarters do.
    """

    row: Row
    index: int
    amount: Amount
    meaning: Meaning
    label: Label | None
    column: Column | None
    when: When | None
    entity: str | None
    is_of_two_years: bool = False


def cell_figure(
    document: LedgerDocument,
    findings: Findings,
    cell: Cell,
    table_basis: Basis | None,
    series: str,
    table_ends: date | None = None,
) -> Figure | None:
    """The figure of a cell in base units; None, counted in `findings`, where its period or its units are not sure.

    `table_basis` is what the titles give to all of the table, `series` the title that names a series of dated rows,
    `table_ends` the newest day of its columns: a document that is dated by that day alone may be older.
    """
    row, index, amount, meaning, label = cell.row, cell.index, cell.amount, cell.meaning, cell.label
    column, when, entity = cell.column, cell.when, cell.entity
    concept = meaning.concept
    instant = meaning.kind == "instant" or (meaning.kind == "either" and not (label and label.average))
    if when is None:
        findings.leave_out("no period")
        return None
    calendar = document.calendar
    if cell.is_of_two_years and when.is_bare_year and not when.months and document.is_of_a_quarter:
        findings.leave_out("years or quarters")
        return None
    period = calendar.resolve(when, instant=instant)
    if period is None:
        findings.leave_out("no period")
        return None
    if label and "money" in concept.units and _IN_PERCENT.search(label.words):
        return None  # "EBITDA %" under euros
    row_units = (label.units if label else Units()).over(row.units)
    column_units = column.units if column else Units()
    header_units = row_units.over(column_units)
    if column and column.contradicts and not row_units.multiplier and not amount.scale and "money" in concept.units:
        findings.leave_out("units that contradict")
        return None
    in_base_units = measured(document, findings, amount, concept.units, header_units, row_units)
    if in_base_units is None:
        return None
    value, step, unit, scale = in_base_units
    words = label.words if label else ""
    if concept.sign == "positive":
        value = abs(value)
    elif (concept.sign == "loss" and value > 0 and is_loss(words)) or (
        concept.id == "operating_cash_flow" and value > 0 and used_only(words)
    ):
        value = -value
    if value < 0 and concept.id in NEVER_NEGATIVE:
        findings.leave_out("below zero")
        return None
    column_words = column.words if column else ""
    basis = basis_of(column_words) or (label.basis if label else None)
    dated = calendar.dated
    if (
        basis is None
        and not HAPPENED.search(column_words)
        and not (
            table_basis in {"budget", "forecast"}
            and dated
            and dated != table_ends
            and last_day(period) <= dated.isoformat()
        )
    ):
        basis = table_basis  # of a plan's years those that are over are actual
    if when.forecast:
        basis = "budget" if when.forecast == "b" else "forecast"
    if not HAPPENED.search(column_words):
        basis = planned(basis, period, calendar.dated)
    variant = variant_of(column_words)
    start = row.starts[index]
    name = words or column_words
    if meaning is not (label.meaning if label else None) and find_periods(name) and not without_dates(name):
        name = series or name
    return Figure(
        concept.id, f"{name}, {variant}" if variant else name, value, unit, scale, step, period, entity, basis,
        variant, document.place(start, words, column_words), start, start + len(row.cells[index]),
    )  # fmt: skip

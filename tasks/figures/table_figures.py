"""The numbers of tables as figures: tables side by side are separated, and doubtful numbers are left out.

The document's calendar gives a figure its period; it gets its value in base units (from its unit, scale and sign) and
its basis.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import takewhile
from typing import Final

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import (
    UNKNOWN,
    WORDS,
    Basis,
    Concept,
    Figure,
    Findings,
    Meaning,
    count_words,
    find_basis,
    find_variant,
    plain_label,
)
from tasks.figures.fiscal_calendar import MOST_PLAN_YEARS
from tasks.figures.table_columns import FigureColumn
from tasks.figures.table_grids import LONGEST_STATEMENT, Grid
from tasks.figures.table_labels import Label, LabelReader, without_dates
from tasks.figures.table_rows import Row, is_dated, is_number
from tasks.language.numbers import PERCENT, RATIO, Amount, Units, read_units, scale_name, thousands_mark
from tasks.language.periods import When, find_periods, last_day
from tasks.language.words import DOLLARS, NAMED

NEVER_NEGATIVE: Final = frozenset({"revenue", "recurring_revenue", "total_assets", "cash"})
"""Concepts whose figure is a change or an adjustment where it is below zero."""
_WITH_DOLLAR_SIGN: Final = frozenset({"USD", *DOLLARS})
"""Currencies that a bare "$" may be of, under a header that says which."""
_UNTOLD: Final = "?"
"""The scale of an amount that is too small to be written out in full, where nothing tells another."""
_THOUSAND: Final = 1000
_MOST_PERCENT: Final = Decimal(200)
"""Up to here a number under "%" is a percentage, and above it money."""
WRITTEN_OUT: Final = 100_000
_MOST_MONEY: Final = Decimal(10) ** 14
_THREE_DECIMALS: Final = Decimal("0.001")


def measure(
    document: LedgerDocument,
    findings: Findings,
    amount: Amount,
    allowed: frozenset[str],
    units: Units,
    row_units: Units,
) -> tuple[Decimal, Decimal, str, str] | None:
    """The value in base units with its step, unit and scale; None if the units do not suit the concept."""
    if amount.unit == PERCENT or (amount.unit is None and units.percent and "percent" in allowed):
        return (amount.value, amount.step, PERCENT, "") if "percent" in allowed else None
    if amount.unit == RATIO:
        return (amount.value, amount.step, RATIO, "") if "ratio" in allowed else None
    if "money" not in allowed:
        return _measure_count(amount, allowed, units, row_units)
    if units == Units(percent=True) and amount.unit is None and abs(amount.value) <= _MOST_PERCENT:
        return None
    currency = _find_currency(document, findings, amount, units)
    if currency is None:
        return None
    multiplier = _find_multiplier(document, amount, units)
    if multiplier is None and (currency != UNKNOWN or document.usual_multiplier > 1):
        findings.leave_out("no scale")
        return None
    scale = amount.scale or scale_name(multiplier) if multiplier else _UNTOLD
    multiplier = multiplier or 1
    if multiplier == _THOUSAND and amount.step == _THREE_DECIMALS and not document.stores_numbers:
        amount = replace(amount, value=amount.value * _THOUSAND, step=Decimal(1))  # "1.234" in thousands
    value = amount.value * multiplier
    if abs(value) > _MOST_MONEY:
        findings.leave_out("units that contradict")
        return None
    if value == value.to_integral_value():
        value = Decimal(int(value))
    return value, amount.step * multiplier, document.currency.resolve(currency), scale


def keep_in_scale(candidates: list["TableCandidate"], findings: Findings) -> list["TableCandidate"]:
    """The candidates of a table, of amounts too small to be written out those whose row has larger ones of no scale."""
    told = [each.figure for each in candidates if each.figure.scale != _UNTOLD]
    known = {(figure.concept, figure.period) for figure in told}
    largest: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for figure in told:
        if figure.unit == UNKNOWN and not figure.scale:
            row = figure.concept, figure.label
            largest[row] = max(largest[row], abs(figure.value))
    kept = []
    for each in candidates:
        figure = each.figure
        if figure.scale != _UNTOLD:
            kept.append(each)
        elif (
            0 < largest[figure.concept, figure.label] < abs(figure.value).scaleb(1)
            and (figure.concept, figure.period) not in known
        ):
            kept.append(replace(each, figure=replace(figure, scale="")))
        else:
            findings.leave_out("no scale")
    return kept


def _measure_count(
    amount: Amount, allowed: frozenset[str], units: Units, row_units: Units
) -> tuple[Decimal, Decimal, str, str] | None:
    """The value of a count, or of a share stored as a fraction of one without a percent format."""
    if "percent" in allowed and "count" not in allowed:
        is_part = not units.percent and amount.unit is None and 0 < abs(amount.value) < 1
        return (amount.value * 100, amount.step * 100, PERCENT, "") if is_part else None
    multiplier = row_units.multiplier or 1
    value = amount.value * multiplier
    is_whole = value == value.to_integral_value() or "count" not in allowed
    if units.percent or amount.unit is not None or amount.value < 0 or not is_whole:
        return None
    unit = "count" if "count" in allowed else next(iter(allowed))
    return value, amount.step * multiplier, unit, amount.scale or scale_name(multiplier)


def _find_currency(document: LedgerDocument, findings: Findings, amount: Amount, units: Units) -> str | None:
    """The currency of an amount as written, in the header or stated; None if two contradict."""
    written, header = (
        document.currency.resolve(of) if of in {"kr", "pesos"} else of for of in (amount.unit, units.currency)
    )
    header = None if header not in NAMED and count_words(document.name, header or "?") else header  # AMD of AMD.xlsx
    of_dollars = written == "USD" and header in _WITH_DOLLAR_SIGN
    currency = (None if of_dollars else written) or header or document.currency.usual
    if currency is None and document.currency.named:
        findings.leave_out("no currency")
        return None
    currencies = {written, header} - {None}
    if len(currencies) > 1 and not currencies <= _WITH_DOLLAR_SIGN:
        findings.leave_out("units that contradict")
        return None
    return currency or UNKNOWN


def _find_multiplier(document: LedgerDocument, amount: Amount, units: Units) -> int | None:
    """The scale of an amount that has none itself; None if it is too small to be written out in full."""
    if amount.scale:
        return 1
    of_sheets = None if units.currency else document.sheets_multiplier  # a table "in EUR" has units of its own
    multiplier = units.multiplier or document.general_multiplier or of_sheets or amount.shown_in
    exact = amount.step < 1 and amount.value == amount.value.to_integral_value() and amount.unit
    if multiplier > _THOUSAND and exact and WRITTEN_OUT <= abs(amount.value) < 10 * WRITTEN_OUT:
        return None  # in millions, or written out
    if multiplier > 1 and exact and abs(amount.value) >= WRITTEN_OUT:
        multiplier = 1  # "18,600,000.00 €" under "EUR thousand" is written out
    if multiplier > 1 or units.multiplier is not None or not amount.value:
        return multiplier
    usual = document.usual_multiplier
    in_scale = usual > 1 and abs(amount.value) < _THOUSAND * usual
    return None if in_scale or (abs(amount.value) < _THOUSAND and (amount.step < 1 or not amount.unit)) else 1


def sign_value(concept: Concept, value: Decimal, words: str, *, is_loss: bool) -> Decimal:
    """A value with the sign of its concept: outflows are positive; what words call a loss or a use is negative."""
    if concept.sign == "positive":
        return abs(value)
    is_below = concept.sign == "loss" and is_loss
    is_used = (  # of cash that was used, and none that came in
        concept.id == "operating_cash_flow" and WORDS.sign_used.search(words) and not WORDS.sign_provided.search(words)
    )
    return -value if value > 0 and (is_below or is_used) else value


def is_loss(words: str) -> bool:
    """Whether a label mentions a loss and no gain."""
    return WORDS.sign_loss.search(words) is not None and WORDS.gain.search(words) is None


_MOST_ROWS: Final = 400
"""Rows of a table that may be two; what is longer is a list."""
_FEWEST_NAMES: Final = 8
"""Different words in a column, with numbers behind them, that are the names of another table."""
_MOST_TIMES: Final = 12
"""Columns of a side of an account form at most."""
_NARROWEST: Final = 4
"""Columns of two tables: a label and a number each."""


def blocks(grid: Grid, reader: LabelReader) -> list[Grid]:
    """The separate tables in a grid, from left to right; usually just the grid itself.

    A second table begins where a column has words and there are numbers on both sides: below an empty column, or if the
    taxonomy knows at least two of its words, or where each of many rows has a name of its own, or if its times are
    those of the first: an account form.
    """
    if len(grid.rows) > _MOST_ROWS:
        return [grid]
    width = max(row.width for row in grid.rows)
    if width < _NARROWEST:
        return [grid]
    starts = [0]
    is_loose = any(row.loose for row in grid.rows)
    heads = [*takewhile(lambda row: not row.has_number(), grid.rows)]
    for at in range(2, width - 1):
        if at > starts[-1] + 1 and (
            _mirrors(grid, heads, at, starts[-1], reader) or (not is_loose and _begins(grid, at, starts[-1], reader))
        ):
            starts.append(at)
    if len(starts) == 1:
        return [grid]
    alone = [row.label for row in heads if sum(map(bool, row.cells)) == 1]  # they stand over all of them
    return [
        Grid([*grid.titles, *alone], _cut(grid, first, last), grid.units)
        for first, last in zip(starts, [*starts[1:], width], strict=True)
    ]


def _begins(grid: Grid, at: int, start: int, reader: LabelReader) -> bool:
    """Whether a new table begins at a column, to the right of one that begins at `start`."""
    rows = [*_labelled(grid, at)]
    labels = [row.cells[at] for row in rows]
    meant = sum(map(reader.speaks, labels))
    left = sum(row.has_number_between(start + 1, at) for row in rows)
    apart = all(at - 1 >= len(row.cells) or not row.cells[at - 1] for row in grid.rows)
    names = {label for label in labels if not any(map(str.isdigit, label))}
    listed = len(names) >= max(_FEWEST_NAMES, 0.9 * len(labels))
    return left > 0 and (meant >= 2 or listed or (apart and len(labels) >= 2 and meant > 0))


def _labelled(grid: Grid, at: int) -> Iterator[Row]:
    """The rows with words in a column and a number behind it."""
    for row in grid.rows:
        cell = row.cells[at] if at < row.width else ""
        if cell and not is_number(cell) and any(map(str.isalpha, cell)) and row.has_number_between(at + 1, row.width):
            yield row


def _mirrors(grid: Grid, heads: list[Row], at: int, start: int, reader: LabelReader) -> bool:
    """Whether a header has the times of a table's columns again behind a column, which holds labels of its own.

    They are of a balance sheet: margins stand behind amounts in the same way.
    """
    pairs = ((row.cells[start + 1 : at], row.cells[at + 1 : 2 * at - start]) for row in heads)
    if at - start > _MOST_TIMES or not any(one and one == other and all(map(is_dated, one)) for one, other in pairs):
        return False
    meant = [reader.meaning(row.cells[at]) for row in _labelled(grid, at)]
    flows = (each for each in meant if each and each.kind == "duration" and each.concept.id != "net_income")
    return len(meant) > 1 and not any(flows)


def _cut(grid: Grid, first: int, last: int) -> list[Row]:
    """The rows between two columns, without those that are empty in that range or were split at spaces."""
    whole = (row for row in grid.rows if row.width > first and not row.loose)
    rows = (Row(row.start, row.cells[first:last], row.starts[first:last]) for row in whole)
    kept = [row for row in rows if any(row.cells)]
    for row in kept:
        while len(row.cells) > 1 and not row.cells[-1]:
            row.cells.pop()
            row.starts.pop()
    return kept


@dataclass(frozen=True, slots=True)
class TableCandidate:
    """A possible figure, with how certain its label is, its section, where its row begins, whether its label names a
    currency, whether that or words beside or over it do, and its table.
    """

    figure: Figure
    rank: int
    section: str
    weight: int
    consolidated: bool = False
    row: int = -1
    in_currency: bool = False
    has_units: bool = False
    table: int = -1


def settle_candidates(candidates: list[TableCandidate], findings: Findings) -> list[TableCandidate]:
    """The candidates of one table, without those that another one for the same concept and period makes doubtful."""
    strong = {candidate.figure.concept for candidate in candidates if candidate.rank < 2}
    groups: dict[tuple[str, str, str, str | None, Basis | None, str], list[TableCandidate]] = defaultdict(list)
    currencies: dict[tuple[str, str], set[str]] = defaultdict(set)
    for candidate in candidates:
        if candidate.in_currency:
            currencies[candidate.figure.concept, candidate.figure.period].add(candidate.figure.unit)
    for candidate in candidates:
        figure = candidate.figure
        if candidate.rank == 2 and figure.concept in strong:
            continue
        if candidate.in_currency and "/" not in figure.period and len(currencies[figure.concept, figure.period]) > 1:
            findings.leave_out("rows of one concept that differ")  # accounts: "Cash EUR", "Cash USD"
            continue
        groups[figure.concept, figure.unit, figure.period, figure.entity, figure.basis, figure.variant].append(
            candidate
        )
    return [each for group in groups.values() for each in _settle_group(group, findings)]


SCENARIO: Final = re.compile(r"\bcase\b|\b(?:e?s[cz]|c)[eé]n[aá]ri", re.IGNORECASE)
"""What calls a table one of several cases of a model."""


def _settle_group(candidates: list[TableCandidate], findings: Findings) -> Iterator[TableCandidate]:
    """The reliable candidates of one concept and period, with each part under its own name."""
    # Figures of all operations where there are some, otherwise those of continuing ones.
    of_all = [each for each in candidates if not WORDS.continuing.search(each.figure.label)]
    group = _of_the_owners(of_all or candidates)
    best = min(candidate.rank for candidate in group)
    sure = [candidate for candidate in group if candidate.rank == best]
    differ = len({candidate.figure.value for candidate in sure}) > 1
    of_cases = differ and SCENARIO.search(" ".join(each.section for each in sure))
    if of_cases or len({(each.row, each.figure.value) for each in group}) > len({each.row for each in group}):
        findings.leave_out("rows of one concept that differ", len(group))  # columns or cases that nothing tells apart
        return
    if not differ:
        yield sure[0]
        return
    whole = (
        [candidate for candidate in sure if WORDS.whole_company.match(candidate.section.rstrip(": "))]
        if best
        else sure[-1:]
    )
    if len({candidate.figure.value for candidate in whole}) == 1:
        yield whole[0]
        sure.remove(whole[0])
    by_section: dict[str, list[TableCandidate]] = defaultdict(list)
    for candidate in sure:
        by_section[candidate.section.rstrip(": ")].append(candidate)
    for section, members in by_section.items():
        is_named = section and not WORDS.whole_company.match(section) and "/" in members[0].figure.period
        if is_named and len(members) == 1 and best and len(by_section) > 1:  # sections of a balance sheet are no parts
            yield replace(members[0], figure=replace(members[0].figure, entity=section[:80]))
        else:
            findings.leave_out("rows of one concept that differ", len(members))


def _of_the_owners(group: list[TableCandidate]) -> list[TableCandidate]:
    """Of differing equity rows, those that name the owners: the row for other owners' equity is added below them."""
    if group[0].figure.concept != "equity" or len({candidate.figure.value for candidate in group}) == 1:
        return group
    named = [candidate for candidate in group if not WORDS.plain_equity.fullmatch(plain_label(candidate.figure.label))]
    return named or group


_IN_BRACKETS: Final = re.compile(r"\(\d[\d., ]*\)")
_GROUPS: Final = re.compile(r"[-–−(]?\d{1,3}(?: \d{3})++\)?")


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A number with what is known about it: its place, meaning, time, and the entity that it concerns.

    `units` are those of a cell beside it. `is_of_two_years`: the table compares two years at most, as tables of
    quarters do. `is_of_balance`: it is a balance sheet, whose result may be that of the year so far.
    """

    row: Row
    units: Units
    index: int
    amount: Amount
    meaning: Meaning
    label: Label | None
    column: FigureColumn | None
    when: When | None
    entity: str | None
    is_of_two_years: bool = False
    is_of_balance: bool = False


def cell_figure(
    document: LedgerDocument,
    findings: Findings,
    cell: FigureCell,
    table_basis: Basis | None,
    series: str,
    table_ends: date | None = None,
) -> Figure | None:
    """The figure of a cell in base units; None, counted in `findings`, if its period or units are not certain.

    `table_basis` is what the titles give to the whole table, `series` the title of a series of dated rows, `table_ends`
    the newest day of its columns: a document dated only by that day may be older.
    """
    row, index, concept, label, column = cell.row, cell.index, cell.meaning.concept, cell.label, cell.column
    groups = row.cells[index].count(" ") + 1 if _GROUPS.fullmatch(row.cells[index]) else 1
    if cell.when is not None and groups > (3 if document.runs_together else 4):
        findings.leave_out("numbers that run together")
        return None
    period, why = _find_period(document, cell)
    if period is None:
        findings.leave_out(why)
        return None
    if label and "money" in concept.units and WORDS.figure_in_percent.search(label.words):
        return None  # "EBITDA %" under euros
    row_units = (label.units if label else Units()).over(cell.units)
    scaled = row_units.multiplier or cell.amount.scale or "money" not in concept.units
    if column and column.contradicts and not scaled:
        findings.leave_out("units that contradict")
        return None
    units = row_units.over(column.units if column else Units())
    in_base_units = measure(document, findings, cell.amount, concept.units, units, row_units)
    if in_base_units is None:
        return None
    value, step, unit, scale = in_base_units
    words, column_words = label.words if label else "", column.words if column else ""
    value = sign_value(concept, value, words, is_loss=is_loss(words))
    if cell.entity and cell.amount.value > 0 > value and any(map(_IN_BRACKETS.fullmatch, row.cells)):
        findings.leave_out("signs that differ in a row")  # "Loss for the year | (15,502) | 101"
        return None
    if value < 0 and concept.id in NEVER_NEGATIVE:
        findings.leave_out("below zero")
        return None
    basis = _find_basis(document, cell, period, table_basis, table_ends)
    variant = find_variant(column_words)
    start = row.starts[index]
    name = words or column_words
    if cell.meaning is not (label.meaning if label else None) and find_periods(name) and not without_dates(name):
        name = series or name
    return Figure(
        concept.id, f"{name}, {variant}" if variant else name, value, unit, scale, step, period, cell.entity, basis,
        variant, document.place(start, words, column_words), start, start + len(row.cells[index]),
    )  # fmt: skip


def _find_period(document: LedgerDocument, cell: FigureCell) -> tuple[str | None, str]:
    """The period of a cell as it is stored, or None; and the reason to give if there is none."""
    when, concept, kind = cell.when, cell.meaning.concept, cell.meaning.kind
    unclear = cell.column if cell.column and cell.column.unclear else None
    if when is None or (unclear and kind == "duration" and when == unclear.when):
        return None, "headers that contradict themselves" if unclear and when is None else "no period"
    if cell.is_of_two_years and when.is_bare_year and not when.months and document.is_of_a_quarter:
        return None, "years or quarters"
    if concept.id == "monthly_burn" and when.end is not None and not when.months:
        when = replace(when, months=1)  # under a day: the month that ends then
    instant = kind == "instant" or (kind == "either" and not (cell.label is not None and cell.label.average))
    day = None if instant or when.months or when.to_date else when.end
    if day and (document.is_of_a_quarter or cell.is_of_balance) and day != document.calendar.year_end(day.year):
        return None, "years or quarters"
    of_plan = (when.year or MOST_PLAN_YEARS + 1) <= MOST_PLAN_YEARS
    why = "years of a plan without its start" if of_plan else "no period"
    return document.calendar.resolve(when, instant=instant), why


_YEAR_OF_ACTUALS: Final = re.compile(r"\b(?:19|20)\d\dA\b")
"""A year marked as actual goes before words over all columns, "Base case" over 2023A and 2026E; not before those of its
own column: "2023A budget"."""


def _find_basis(
    document: LedgerDocument, cell: FigureCell, period: str, table_basis: Basis | None, table_ends: date | None
) -> Basis | None:
    """The basis of a cell from its column, row and table, and from the day on which the document was written."""
    words, dated = cell.column.words if cell.column else "", document.calendar.dated
    happened = WORDS.actual_heading.search(words) is not None
    basis = find_basis(words) or (cell.label.basis if cell.label else None)
    actual = _YEAR_OF_ACTUALS.search(words) if basis in {"budget", "forecast"} else None
    basis = None if actual and find_basis(words[actual.end() :]) is None else basis
    is_over = dated is not None and dated != table_ends and last_day(period) <= dated.isoformat()
    is_past = cell.column is not None and cell.column.is_past and document.stores_numbers
    if basis is None and is_past and (happened or table_basis in {None, "forecast"}):
        return "management"
    if basis is None and not happened and not (table_basis in {"budget", "forecast"} and is_over):
        basis = table_basis  # of a plan's years those that are over are actual
    if cell.when is not None and cell.when.forecast:
        basis = "budget" if cell.when.forecast == "b" else "forecast"
    return basis


_HEADS: Final = 4
_MILLION: Final = 10**6


def has_decimal_comma(document: LedgerDocument, grid: Grid) -> bool:
    """Whether a table writes decimals with a comma, judging by the thousands separators in its whole numbers.

    In millions, "1.234" may be a decimal even next to 12 people; the document's language then decides.
    """
    usual = document.comma_decimal
    if document.stores_numbers:
        return usual
    rows = grid.rows[:LONGEST_STATEMENT]
    mark = thousands_mark(cell for row in rows for cell in row.cells[1:])
    heads = [*grid.titles[-_HEADS:], *(cell for row in rows[:_HEADS] for cell in row.cells)]
    in_millions = any((read_units(words).multiplier or 1) >= _MILLION for words in heads)
    if not mark or (in_millions and (mark == "," or document.language == "en")):
        return usual
    return mark == "."

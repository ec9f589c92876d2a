"""Figures that follow from others, computed with their inputs: growth, margins, runway, debt, concentration."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from operator import add, sub
from typing import Final

from tasks.figures.conflicts import RULE, RoomFigure, Step, best, groups
from tasks.figures.figure import ACTUAL
from tasks.figures.statement_checks import DEBT_PARTS, WRITTEN_OFF
from tasks.language.numbers import MONTHS, PERCENT
from tasks.language.periods import count_months, last_day

_PAIRS: Final = (
    ("gross_margin", "gross_profit", "÷", "revenue"),
    ("ebitda_margin", "ebitda", "÷", "revenue"),
    ("operating_margin", "operating_income", "÷", "revenue"),
    ("net_margin", "net_income", "÷", "revenue"),
    ("ebitda", "operating_income", "+", WRITTEN_OFF),
    ("free_cash_flow", "operating_cash_flow", "−", "capital_expenditure"),
    ("net_debt", "debt", "−", "cash"),
    ("rule_of_40", "revenue_growth", "+", "ebitda_margin"),
)
"""What follows from two figures of one period, where no document states it: a share in percent, a sum, a difference."""

_GROWING: Final = ("revenue", "recurring_revenue", "customers", "headcount", "ebitda", "gross_profit")
_A_YEAR: Final = range(358, 374)
"""Days between the ends of a period and of the same one of the year before."""

_TENTH: Final = Decimal("0.1")

DERIVED_UNITS: Final = {
    **{name: PERCENT for name, _, sign, _ in _PAIRS if sign == "÷"}, "net_debt": "money", "free_cash_flow": "money",
    "runway": MONTHS, "rule_of_40": PERCENT, "concentration": PERCENT,
}  # fmt: skip
"""What is computed here, growth aside, and what it is measured in."""

COMPUTED_CONCEPTS: Final = frozenset({"debt", "ebitda"})
"""Concepts that are computed for the days and periods for which no document states them."""


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """A figure that no document states: its value, unit and period, how it is computed, and from which figures."""

    name: str
    value: Decimal
    unit: str
    period: str
    formula: str
    inputs: tuple[RoomFigure, ...]


def choose_counted_figures(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> list[RoomFigure]:
    """Of the figures that must agree the one that counts: the actual ones of the company as a whole."""
    actual = [row for row in figures if row.figure.entity is None and row.basis in ACTUAL]
    return [best(group, rule) for group in groups(actual).values()]


def derive(figures: Sequence[RoomFigure], rule: Sequence[Step] = RULE) -> list[DerivedFigure]:
    """What follows from the figures of a room, the newest period first."""
    counted = choose_counted_figures(figures, rule)
    stated = {
        (row.figure.concept, row.figure.period): DerivedFigure(
            row.figure.concept, row.figure.value, row.figure.unit, row.figure.period, row.figure.concept, (row,)
        )
        for row in counted
    }
    found = [*_growth(counted), *_runway(counted), *_concentration(figures), *_debt(figures, stated, rule)]
    known = stated | {(each.name, each.period): each for each in found}
    found += _join_pairs(known)
    return sorted(found, key=lambda derived: (last_day(derived.period), derived.name), reverse=True)


def _join_pairs(known: dict[tuple[str, str], DerivedFigure]) -> Iterator[DerivedFigure]:
    """What follows from two known figures of one period and unit; it is then known too."""
    for name, one, sign, other in _PAIRS:
        for first in [figure for (known_name, _), figure in known.items() if known_name == one]:
            second = known.get((other, first.period))
            if second is None or second.unit != first.unit or (name, first.period) in known:
                continue
            if sign == "÷" and second.value <= 0:
                continue
            value = _COMPUTE[sign](first.value, second.value)
            words = [each.formula if each.name == "debt" else each.name for each in (first, second)]
            unit = PERCENT if sign == "÷" else first.unit
            joined = DerivedFigure(
                name, value, unit, first.period, f" {sign} ".join(words), (*first.inputs, *second.inputs)
            )
            known[name, first.period] = joined
            yield joined


def _share(part: Decimal, whole: Decimal) -> Decimal:
    """In percent."""
    return (part / whole * 100).quantize(_TENTH)


_COMPUTE: Final = {"÷": _share, "+": add, "−": sub}


def _growth(counted: Sequence[RoomFigure]) -> Iterable[DerivedFigure]:
    for concept in _GROWING:
        rows = [row for row in counted if row.figure.concept == concept]
        periods = [(row.figure.period, "") for row in rows]
        for row, place in zip(rows, find_years_before(periods, periods), strict=True):
            before = rows[place] if place is not None else None
            if before is None or before.figure.value <= 0 or before.figure.unit != row.figure.unit:
                continue
            value = ((row.figure.value / before.figure.value - 1) * 100).quantize(_TENTH)
            formula = f"{concept} ÷ {concept} of the year before − 1"
            yield DerivedFigure(f"{concept}_growth", value, PERCENT, row.figure.period, formula, (row, before))


def year_before(before: str, period: str) -> bool:
    """Whether the first period is the second of the year before: as long, and ended about a year earlier."""
    (length, end), (other_length, other_end) = _length_and_end(period), _length_and_end(before)
    return end - other_end in _A_YEAR and length == other_length


def find_years_before(asked: Iterable[tuple[str, str]], among: Iterable[tuple[str, str]]) -> Iterator[int | None]:
    """For each period and unit that is asked for the place of the first one `among` others of the year before."""
    places: dict[tuple[int, int, str], int] = {}
    for place, (period, unit) in enumerate(among):
        places.setdefault((*_length_and_end(period), unit), place)
    for period, unit in asked:
        months, end = _length_and_end(period)
        found = (places.get((months, end - days, unit)) for days in _A_YEAR)
        yield min((place for place in found if place is not None), default=None)


def _length_and_end(period: str) -> tuple[int, int]:
    """How many months a period has, and its last day as a number."""
    return count_months(period), date.fromisoformat(last_day(period)).toordinal()


def _debt(
    figures: Iterable[RoomFigure], stated: Container[tuple[str, str]], rule: Sequence[Step]
) -> Iterator[DerivedFigure]:
    """The sum of a balance sheet's rows of debt, of days for which no document states the whole."""
    sheets: dict[str, dict[str, list[RoomFigure]]] = defaultdict(lambda: defaultdict(list))
    for row in figures:
        if row.figure.concept in DEBT_PARTS and row.figure.entity is None and row.basis in ACTUAL:
            sheets[row.figure.period][row.document_id].append(row)
    for day, documents in sheets.items():
        if ("debt", day) in stated:
            continue
        of_best = best((rows[0] for rows in documents.values()), rule).document_id
        parts = list({row.figure.start: row for row in documents[of_best]}.values())
        if len({row.figure.unit for row in parts}) == 1:
            value = sum((row.figure.value for row in parts), Decimal(0))
            yield DerivedFigure("debt", value, parts[0].figure.unit, day, "current_debt + long_term_debt", tuple(parts))


def find_burn(counted: Iterable[RoomFigure]) -> list[RoomFigure]:
    """The cash flows of operations that used cash, of those that ended after the last that brought some."""
    flows = [row for row in counted if row.figure.concept == "operating_cash_flow"]
    brought = max((last_day(row.figure.period) for row in flows if row.figure.value >= 0), default="")
    return [row for row in flows if last_day(row.figure.period) > brought]


def _runway(counted: Sequence[RoomFigure]) -> Iterable[DerivedFigure]:
    """Cash ÷ monthly burn: the burn of a period that ends with the cash's day, else what operations used a month."""
    burns = {id(row) for row in find_burn(counted)}
    spent: dict[tuple[str, str], list[RoomFigure]] = defaultdict(list)
    stated = set[str]()  # days for which the burn itself is given
    for row in counted:
        if row.figure.concept in {"monthly_burn", "operating_cash_flow"}:
            spent[last_day(row.figure.period), row.figure.unit].append(row)
        if row.figure.concept == "monthly_burn":
            stated.add(last_day(row.figure.period))
    for cash in (row for row in counted if row.figure.concept == "cash"):
        end = last_day(cash.figure.period)
        for row in spent[end, cash.figure.unit]:
            burn = row.figure.value
            formula = "cash ÷ monthly_burn"
            if row.figure.concept == "operating_cash_flow":
                if id(row) not in burns or end in stated:
                    continue
                burn = -burn / (count_months(row.figure.period) or 12)
                formula = "cash ÷ (−operating_cash_flow ÷ its months)"
            if burn > 0:
                months = (cash.figure.value / burn).quantize(_TENTH)
                yield DerivedFigure("runway", months, MONTHS, cash.figure.period, formula, (cash, row))


def _concentration(figures: Sequence[RoomFigure]) -> Iterable[DerivedFigure]:
    """The largest part of revenue (of recurring revenue) in the documents that list the parts with their total."""
    tables: dict[tuple[str, str, str], list[RoomFigure]] = defaultdict(list)
    for row in figures:
        if row.figure.concept in {"revenue", "recurring_revenue"} and row.basis in ACTUAL:
            tables[row.document_id, row.figure.concept, row.figure.period].append(row)
    for (_, concept, _), rows in tables.items():
        parts = [row for row in rows if row.figure.entity is not None and "further" not in row.figure.entity.lower()]
        whole = next((row for row in rows if row.figure.entity is None), None)
        if len(parts) < 3 or whole is None:
            continue
        part = max(parts, key=lambda row: row.figure.value)
        if part.figure.unit == whole.figure.unit and 0 < whole.figure.value >= part.figure.value:
            share, formula = _share(part.figure.value, whole.figure.value), f"largest part of {concept} ÷ {concept}"
            yield DerivedFigure("concentration", share, PERCENT, part.figure.period, formula, (part, whole))

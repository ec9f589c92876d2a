"""Figures that follow from others, computed with their inputs: growth, margins, runway, net debt, concentration."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from tasks.figures.conflicts import RULE, RoomFigure, Step, best, groups
from tasks.figures.figure import ACTUAL
from tasks.figures.numbers import MONTHS, PERCENT
from tasks.figures.periods import last_day, months_of

_MARGINS: Final = {
    "gross_margin": "gross_profit", "ebitda_margin": "ebitda", "operating_margin": "operating_income",
    "net_margin": "net_income",
}  # fmt: skip
_GROWING: Final = ("revenue", "recurring_revenue", "customers", "headcount", "ebitda", "gross_profit")
_TENTH: Final = Decimal("0.1")

DERIVED_UNITS: Final = {
    **dict.fromkeys(_MARGINS, PERCENT), "net_debt": "money", "runway": MONTHS, "rule_of_40": PERCENT,
    "concentration": PERCENT,
}  # fmt: skip
"""What is computed here, growth aside, and what it is measured in."""


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """A figure that no document states: its value, unit and period, how it is computed, and from which figures."""

    name: str
    value: Decimal
    unit: str
    period: str
    formula: str
    inputs: tuple[RoomFigure, ...]


def counted_figures(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> list[RoomFigure]:
    """Of the figures that must agree the one that counts: the actual ones of the company as a whole."""
    actual = [row for row in figures if row.figure.entity is None and row.basis in ACTUAL]
    return [best(group, rule) for group in groups(actual).values()]


def derive(figures: Sequence[RoomFigure], rule: Sequence[Step] = RULE) -> list[DerivedFigure]:
    """What follows from the figures of a room, the newest period first."""
    counted = counted_figures(figures, rule)
    by_period: dict[tuple[str, str], RoomFigure] = {}
    for row in counted:
        by_period[row.figure.concept, row.figure.period] = row
    found = [*_growth(counted), *_margins(by_period), *_balance(by_period), *_runway(counted), *_concentration(figures)]
    found += _rule_of_40(found)
    return sorted(found, key=lambda derived: (last_day(derived.period), derived.name), reverse=True)


def _ratio(name: str, part: RoomFigure, whole: RoomFigure, formula: str) -> DerivedFigure | None:
    if part.figure.unit != whole.figure.unit or whole.figure.value <= 0:
        return None
    value = (part.figure.value / whole.figure.value * 100).quantize(_TENTH)
    return DerivedFigure(name, value, PERCENT, part.figure.period, formula, (part, whole))


def _growth(counted: Sequence[RoomFigure]) -> Iterable[DerivedFigure]:
    for concept in _GROWING:
        rows = [row for row in counted if row.figure.concept == concept]
        for row in rows:
            before = next((other for other in rows if year_before(other.figure.period, row.figure.period)), None)
            if before is None or before.figure.value <= 0 or before.figure.unit != row.figure.unit:
                continue
            value = ((row.figure.value / before.figure.value - 1) * 100).quantize(_TENTH)
            formula = f"{concept} ÷ {concept} of the year before − 1"
            yield DerivedFigure(f"{concept}_growth", value, PERCENT, row.figure.period, formula, (row, before))


def year_before(before: str, period: str) -> bool:
    """Whether the first period is the second of the year before: as long, and ended about a year earlier."""
    days = (date.fromisoformat(last_day(period)) - date.fromisoformat(last_day(before))).days
    return 358 <= days <= 373 and months_of(before) == months_of(period)


def _margins(by_period: Mapping[tuple[str, str], RoomFigure]) -> Iterable[DerivedFigure]:
    for (concept, period), revenue in by_period.items():
        if concept != "revenue":
            continue
        for name, part in _MARGINS.items():
            row = by_period.get((part, period))
            derived = _ratio(name, row, revenue, f"{part} ÷ revenue") if row else None
            if derived:
                yield derived


def _balance(by_period: Mapping[tuple[str, str], RoomFigure]) -> Iterable[DerivedFigure]:
    for (concept, period), debt in by_period.items():
        cash = by_period.get(("cash", period)) if concept == "debt" else None
        if cash and cash.figure.unit == debt.figure.unit:
            value = debt.figure.value - cash.figure.value
            yield DerivedFigure("net_debt", value, cash.figure.unit, period, "debt − cash", (debt, cash))


def _runway(counted: Sequence[RoomFigure]) -> Iterable[DerivedFigure]:
    """Cash ÷ monthly burn: the burn of a period that ends with the cash's day, else what operations used a month."""
    for cash in (row for row in counted if row.figure.concept == "cash"):
        end = last_day(cash.figure.period)
        for row in counted:
            same = last_day(row.figure.period) == end and row.figure.unit == cash.figure.unit
            if not same or row.figure.concept not in {"monthly_burn", "operating_cash_flow"}:
                continue
            burn = row.figure.value
            formula = "cash ÷ monthly_burn"
            if row.figure.concept == "operating_cash_flow":
                if any(
                    other.figure.concept == "monthly_burn" and last_day(other.figure.period) == end for other in counted
                ):
                    continue
                burn = -burn / (months_of(row.figure.period) or 12)
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
        largest = max(parts, key=lambda row: row.figure.value)
        derived = _ratio("concentration", largest, whole, f"largest part of {concept} ÷ {concept}")
        if derived and derived.value <= 100:
            yield derived


def _rule_of_40(found: Sequence[DerivedFigure]) -> list[DerivedFigure]:
    margins = {derived.period: derived for derived in found if derived.name == "ebitda_margin"}
    return [
        DerivedFigure(
            "rule_of_40", growth.value + margins[growth.period].value, PERCENT, growth.period,
            "revenue_growth + ebitda_margin", (*growth.inputs, *margins[growth.period].inputs),
        )
        for growth in found
        if growth.name == "revenue_growth" and growth.period in margins
    ]  # fmt: skip

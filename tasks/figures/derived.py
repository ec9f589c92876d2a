"""Figures that follow from others, computed with their inputs: growth, margins, runway, debt, concentration."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from operator import add, sub
from typing import Any, Final

from tasks.figures.conflicts import RULE, RoomFigure, Step, best, decimal_text, groups, room_row
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
class FigureValue:
    """A value of a room, stated or derived: with its unit and period, how it is computed, and from which figures."""

    name: str
    value: Decimal
    unit: str
    period: str
    formula: str
    inputs: tuple[RoomFigure, ...]


def choose_counted_figures(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> list[RoomFigure]:
    """From each group of figures that must agree, the one that counts: actual figures of the company as a whole."""
    actual = [row for row in figures if row.figure.entity is None and row.basis in ACTUAL]
    return [best(group, rule) for group in groups(actual).values()]


def derive(figures: Sequence[RoomFigure], rule: Sequence[Step] = RULE) -> list[FigureValue]:
    """The figures that follow from those of a room, newest period first."""
    counted = choose_counted_figures(figures, rule)
    stated = {(row.figure.concept, row.figure.period): state(row) for row in counted}
    found = [*_growth(counted), *_runway(counted), *_concentration(figures), *_debt(figures, stated, rule)]
    known = {(each.name, each.period): each for each in reversed(found)} | stated
    found += _join_pairs(known)
    return sorted(found, key=lambda derived: (last_day(derived.period), derived.name), reverse=True)


def _join_pairs(known: dict[tuple[str, str], FigureValue]) -> Iterator[FigureValue]:
    """Compute figures from pairs of known ones of one period and unit; each result is known from then on."""
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
            joined = FigureValue(
                name, value, unit, first.period, f" {sign} ".join(words), (*first.inputs, *second.inputs)
            )
            known[name, first.period] = joined
            yield joined


def _share(part: Decimal, whole: Decimal) -> Decimal:
    """The part as a percentage of the whole."""
    return (part / whole * 100).quantize(_TENTH)


_COMPUTE: Final = {"÷": _share, "+": add, "−": sub}


def state(row: RoomFigure) -> FigureValue:
    """The value that a figure of a room states."""
    figure = row.figure
    return FigureValue(figure.concept, figure.value, figure.unit, figure.period, figure.concept, (row,))


def grow(values: Sequence[FigureValue]) -> Iterator[FigureValue]:
    """The growth of values of one name over those of the year before, in percent."""
    positive = [value for value in values if value.value > 0]
    periods, before = ([(value.period, value.unit) for value in of] for of in (values, positive))
    for value, place in zip(values, find_years_before(periods, before), strict=True):
        if place is not None:
            grown = (value.value / positive[place].value - 1) * 100
            formula = f"{value.name} ÷ {value.name} of the year before − 1"
            inputs = (*value.inputs, *positive[place].inputs)
            yield FigureValue(f"{value.name}_growth", grown, PERCENT, value.period, formula, inputs)


def _growth(counted: Sequence[RoomFigure]) -> Iterator[FigureValue]:
    for concept in _GROWING:
        for value in grow([state(row) for row in counted if row.figure.concept == concept]):
            yield replace(value, value=value.value.quantize(_TENTH))


def year_before(before: str, period: str) -> bool:
    """Whether the first period is one year before the second: equally long, ending about a year earlier."""
    (length, end), (other_length, other_end) = _length_and_end(period), _length_and_end(before)
    return end - other_end in _A_YEAR and length == other_length


def find_years_before(asked: Iterable[tuple[str, str]], among: Iterable[tuple[str, str]]) -> Iterator[int | None]:
    """For each period and unit in `asked`, the index of the first one in `among` that is one year before."""
    places: dict[tuple[int, int, str], int] = {}
    for place, (period, unit) in enumerate(among):
        places.setdefault((*_length_and_end(period), unit), place)
    for period, unit in asked:
        months, end = _length_and_end(period)
        found = (places.get((months, end - days, unit)) for days in _A_YEAR)
        yield min((place for place in found if place is not None), default=None)


def _length_and_end(period: str) -> tuple[int, int]:
    """The length of a period in months, and its last day as a number."""
    return count_months(period), date.fromisoformat(last_day(period)).toordinal()


def _debt(
    figures: Iterable[RoomFigure], stated: Container[tuple[str, str]], rule: Sequence[Step]
) -> Iterator[FigureValue]:
    """The sum of a balance sheet's rows of debt, for the days for which no document states the total."""
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
            yield FigureValue("debt", value, parts[0].figure.unit, day, "current_debt + long_term_debt", tuple(parts))


def burn_a_month(counted: Iterable[RoomFigure]) -> Iterator[FigureValue]:
    """What operations used a month, in the cash flows that ended after the last that brought some."""
    flows = [state(row) for row in counted if row.figure.concept == "operating_cash_flow"]
    brought = max((last_day(flow.period) for flow in flows if flow.value >= 0), default="")
    for flow in flows:
        if last_day(flow.period) > brought:
            yield replace(flow, value=-flow.value / (count_months(flow.period) or 12))


def _runway(counted: Sequence[RoomFigure]) -> Iterator[FigureValue]:
    """Cash ÷ the burn of a period that ends on its day, else ÷ the monthly cash used in operations."""
    stated = [state(row) for row in counted if row.figure.concept == "monthly_burn"]
    told = {last_day(burn.period) for burn in stated}
    burns: dict[tuple[str, str], list[FigureValue]] = defaultdict(list)
    for burn in (*stated, *(flow for flow in burn_a_month(counted) if last_day(flow.period) not in told)):
        burns[last_day(burn.period), burn.unit].append(burn)
    for cash in (state(row) for row in counted if row.figure.concept == "cash"):
        for burn in burns[cash.period, cash.unit]:
            if burn.value > 0:
                months = (cash.value / burn.value).quantize(_TENTH)
                of_burn = "monthly_burn" if burn.name == "monthly_burn" else "(−operating_cash_flow ÷ its months)"
                inputs = (*cash.inputs, *burn.inputs)
                yield FigureValue("runway", months, MONTHS, cash.period, f"cash ÷ {of_burn}", inputs)


def _concentration(figures: Sequence[RoomFigure]) -> Iterable[FigureValue]:
    """The largest part of revenue (or recurring revenue), from the documents that list the parts with their total."""
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
            yield FigureValue("concentration", share, PERCENT, part.figure.period, formula, (part, whole))


def make_derived_row(derived: FigureValue) -> dict[str, Any]:
    """The mapping of a derived figure: what it is, how it is computed, and from which figures."""
    return {
        "name": derived.name,
        "value": decimal_text(derived.value),
        "unit": derived.unit,
        "period": derived.period,
        "formula": derived.formula,
        "inputs": [room_row(row) for row in derived.inputs],
    }

"""Figures that follow from others, computed with their inputs: growth, margins, runway, debt, concentration."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from tasks.figures.conflicts import RULE, RoomFigure, Step, best, groups
from tasks.figures.figure import ACTUAL
from tasks.figures.statement_checks import DEBT_PARTS, WRITTEN_OFF
from tasks.language.numbers import MONTHS, PERCENT
from tasks.language.periods import count_months, last_day

_MARGINS: Final = {
    "gross_margin": "gross_profit", "ebitda_margin": "ebitda", "operating_margin": "operating_income",
    "net_margin": "net_income",
}  # fmt: skip
_GROWING: Final = ("revenue", "recurring_revenue", "customers", "headcount", "ebitda", "gross_profit")
_A_YEAR: Final = range(358, 374)
"""Days between the ends of a period and of the same one of the year before."""

_TENTH: Final = Decimal("0.1")

DERIVED_UNITS: Final = {
    **dict.fromkeys(_MARGINS, PERCENT), "net_debt": "money", "free_cash_flow": "money", "runway": MONTHS,
    "rule_of_40": PERCENT, "concentration": PERCENT,
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
    by_period: dict[tuple[str, str], RoomFigure] = {}
    for row in counted:
        by_period[row.figure.concept, row.figure.period] = row
    found = [*_growth(counted), *_margins(by_period), *_runway(counted), *_concentration(figures)]
    debts = list(_debt(figures, by_period, rule))
    found += [*debts, *_ebitda(by_period), *_free_cash_flow(by_period)]
    found += [*_net_debt(by_period, debts), *_rule_of_40(found)]
    return sorted(found, key=lambda derived: (last_day(derived.period), derived.name), reverse=True)


def _ratio(name: str, part: RoomFigure, whole: RoomFigure, formula: str) -> DerivedFigure | None:
    if part.figure.unit != whole.figure.unit or whole.figure.value <= 0:
        return None
    value = (part.figure.value / whole.figure.value * 100).quantize(_TENTH)
    return DerivedFigure(name, value, PERCENT, part.figure.period, formula, (part, whole))


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


def _margins(by_period: Mapping[tuple[str, str], RoomFigure]) -> Iterable[DerivedFigure]:
    for (concept, period), revenue in by_period.items():
        if concept != "revenue":
            continue
        for name, part in _MARGINS.items():
            row = by_period.get((part, period))
            derived = _ratio(name, row, revenue, f"{part} ÷ revenue") if row else None
            if derived:
                yield derived


def _debt(
    figures: Iterable[RoomFigure], by_period: Mapping[tuple[str, str], RoomFigure], rule: Sequence[Step]
) -> Iterator[DerivedFigure]:
    """The sum of a balance sheet's rows of debt, of days for which no document states the whole."""
    sheets: dict[str, dict[str, list[RoomFigure]]] = defaultdict(lambda: defaultdict(list))
    for row in figures:
        if row.figure.concept in DEBT_PARTS and row.figure.entity is None and row.basis in ACTUAL:
            sheets[row.figure.period][row.document_id].append(row)
    for day, documents in sheets.items():
        if ("debt", day) in by_period:
            continue
        of_best = best((rows[0] for rows in documents.values()), rule).document_id
        parts = list({row.figure.start: row for row in documents[of_best]}.values())
        if len({row.figure.unit for row in parts}) == 1:
            value = sum((row.figure.value for row in parts), Decimal(0))
            yield DerivedFigure("debt", value, parts[0].figure.unit, day, "current_debt + long_term_debt", tuple(parts))


def _ebitda(by_period: Mapping[tuple[str, str], RoomFigure]) -> Iterator[DerivedFigure]:
    for (concept, period), income in by_period.items():
        written_off = by_period.get((WRITTEN_OFF, period)) if concept == "operating_income" else None
        if written_off and ("ebitda", period) not in by_period and written_off.figure.unit == income.figure.unit:
            value = income.figure.value + written_off.figure.value
            formula = f"operating_income + {WRITTEN_OFF}"
            yield DerivedFigure("ebitda", value, income.figure.unit, period, formula, (income, written_off))


def _free_cash_flow(by_period: Mapping[tuple[str, str], RoomFigure]) -> Iterator[DerivedFigure]:
    for (concept, period), flow in by_period.items():
        spent = by_period.get(("capital_expenditure", period)) if concept == "operating_cash_flow" else None
        if spent and spent.figure.unit == flow.figure.unit:
            value = flow.figure.value - spent.figure.value
            formula = "operating_cash_flow − capital_expenditure"
            yield DerivedFigure("free_cash_flow", value, flow.figure.unit, period, formula, (flow, spent))


def _net_debt(
    by_period: Mapping[tuple[str, str], RoomFigure], computed: Iterable[DerivedFigure]
) -> Iterator[DerivedFigure]:
    stated = (
        DerivedFigure("debt", row.figure.value, row.figure.unit, period, "debt", (row,))
        for (concept, period), row in by_period.items()
        if concept == "debt"
    )
    for debt in (*stated, *computed):
        cash = by_period.get(("cash", debt.period))
        if cash and cash.figure.unit == debt.unit:
            value = debt.value - cash.figure.value
            yield DerivedFigure(
                "net_debt", value, debt.unit, debt.period, f"{debt.formula} − cash", (*debt.inputs, cash)
            )


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

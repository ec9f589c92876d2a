"""Figures that contradict each other and which of them counts, and figures that follow from those that count.

Two figures contradict each other if concept, entity, unit and period are the same, both are actual (audited, reported
or management), and they differ by more than rounding. Plans that differ are versions of each other. Which one counts is
decided in this order (that of the documentation), unless the criteria file gives another:

basis       audited before reported before management before a deck
authority   signed, final, executed before others before drafts, by the document's name and folder
newer       the document with the later date

Growth, margins, runway, debt and concentration follow from others and are computed with their inputs. `RoomFigure` and
its rows are the form in which reports, commands and other programs get figures.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from operator import add, sub
from typing import Any, Final, Literal

from tasks.figures.document_figures import agrees
from tasks.figures.figure import ACTUAL, UNKNOWN, WORDS, Figure
from tasks.figures.statement_checks import DEBT_PARTS, WRITTEN_OFF
from tasks.language.normalise import plain
from tasks.language.numbers import MONTHS, PERCENT
from tasks.language.periods import count_months, last_day

Step = Literal["basis", "authority", "newer"]
RULE: Final[tuple[Step, ...]] = ("basis", "authority", "newer")
"""What decides, first to last."""

_ROUND: Final = 2
"""Noughts at the end of a number that is written out from which on it may be rounded…"""

_TOLD: Final = 3
"""… where so many digits stand before them."""

_SCALES: Final = (1000, 10**6, 10**9)
_DAYS: Final = date.max.toordinal()
_MEASURE: Final = re.compile(r"month|quarter")
_NOT_FINAL: Final = re.compile(r"\bv\d+ final\b|\bfinal \(\d\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RoomFigure:
    """A figure in a data room, with its document, its settled basis, and what gives the document authority.

    `basis` is never None here; `dated` is the document's own date, `changed` that of its file (ISO).
    """

    figure: Figure
    basis: str
    document_id: str
    document_name: str
    path: str
    deck: bool
    dated: str | None
    text_id: int = 0
    changed: str | None = None


@dataclass(frozen=True, slots=True)
class FigureConflict:
    """Differing figures for one concept and period: the one that counts, the others, and the rule that decided.

    `step` is the rule's step, and `kinds` describes the two in its terms where that is informative.
    """

    concept: str
    period: str
    counted: RoomFigure
    others: tuple[RoomFigure, ...]
    rule: str
    step: Step | None = None
    kinds: tuple[str, str] = ("", "")


def find_conflicts(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> list[FigureConflict]:
    """The conflicts among the actual figures of a room, by concept and period; each differing place is listed once."""
    return _find_differences((row for row in figures if row.basis in ACTUAL), rule)


def find_versions(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> list[FigureConflict]:
    """Plans in a room's documents that differ for the same concept and period; none of them is wrong."""
    found = _find_differences((row for row in figures if row.basis not in ACTUAL), rule)
    of_several = ((one, [row for row in one.others if row.document_id != one.counted.document_id]) for one in found)
    return [replace(one, others=tuple(others)) for one, others in of_several if others]


def _find_differences(figures: Iterable[RoomFigure], rule: Sequence[Step]) -> list[FigureConflict]:
    found: list[FigureConflict] = []
    for group in groups(figures).values():
        if group[0].figure.unit == UNKNOWN or all(row.figure.value == group[0].figure.value for row in group):
            continue
        ranked = rank_figures(group, rule)
        counted = ranked[0]
        others: dict[tuple[str, Decimal], RoomFigure] = {}
        for other in ranked[1:]:
            if _contradicts(counted, other):
                others.setdefault((other.document_id, other.figure.value), other)
        if others:
            listed = tuple(others.values())
            step = find_deciding_step(counted, listed[0], rule)
            why, kinds = say_step(step, counted, listed[0]), kinds_by_step(step, counted, listed[0])
            told = (counted.figure.concept, counted.figure.period, counted, listed, why, step, kinds)
            found.append(FigureConflict(*told))
    return sorted(found, key=lambda conflict: (conflict.concept, conflict.period))


def _contradicts(counted: RoomFigure, other: RoomFigure) -> bool:
    """Whether two figures differ by more than rounding and scale. Two figures of a part in one document never do: they
    may be of two different parts.
    """
    of_a_part = counted.figure.entity is not None and counted.document_id == other.document_id
    return not of_a_part and not agree(counted, other) and not _differ_by_scale(counted, other)


_Key = tuple[str, str, str, str, str]


def groups(figures: Iterable[RoomFigure]) -> Mapping[_Key, list[RoomFigure]]:
    """Figures that must agree, because concept, entity, unit, period and kind of basis are the same.

    Restated figures are grouped separately: the earlier value is known to differ.
    """
    grouped: dict[_Key, list[RoomFigure]] = defaultdict(list)
    for row in figures:
        kind = "actual" if row.basis in ACTUAL else row.basis
        entity = plain(row.figure.entity).casefold() if row.figure.entity else ""
        key = (
            row.figure.concept + _measure(row.figure),
            entity,
            row.figure.unit,
            same_period(row.figure.period),
            kind + row.figure.variant,
        )
        grouped[key].append(row)
    return grouped


def _measure(figure: Figure) -> str:
    """Which measure of the same name a figure is: monthly or quarterly churn, or one of the rows of debt."""
    if figure.concept in DEBT_PARTS:
        return figure.label.lower()
    return " ".join(_MEASURE.findall(figure.label.lower())) if figure.concept == "churn" else ""


@lru_cache(maxsize=10_000)  # a room has thousands of figures of a dozen periods
def same_period(period: str) -> str:
    """A period normalised for 52-week calendars: its months and its last day, moved to the end of a month."""
    first, _, last = period.rpartition("/")
    if not first:
        return last
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days
    return f"{round(days / 30.4)} months to {last}"


def agree(one: RoomFigure, other: RoomFigure) -> bool:
    """Whether two figures of a room say the same, given how they are rounded."""
    return agrees(one.figure.value, _step(one.figure), other.figure.value, _step(other.figure))


def _differ_by_scale(one: RoomFigure, other: RoomFigure) -> bool:
    """Whether two figures are the same number at different scales, such as units and thousands: one
    was then misread.
    """
    low, high = sorted((one.figure, other.figure), key=lambda figure: abs(figure.value))
    scaled = ((abs(low.value) * scale, low.step * scale) for scale in _SCALES)
    return low.value != 0 and any(agrees(*of_low, abs(high.value), high.step) for of_low in scaled)


def _step(figure: Figure) -> Decimal:
    """The step to which a number is rounded: one written out in full may still end in rounding zeros ("48,100
    customers").
    """
    digits = f"{abs(figure.value):f}"
    noughts = len(digits) - len(digits.rstrip("0"))
    if figure.step != 1 or "." in digits or noughts < _ROUND or len(digits) - noughts < _TOLD:
        return figure.step
    return Decimal(10) ** noughts


def rank_figures(figures: Sequence[RoomFigure], rule: Sequence[Step] = RULE) -> list[RoomFigure]:
    """The figures in the order in which the rule lets them count; among equal ones the more precise comes first."""
    return sorted(figures, key=_order(rule))


def best(figures: Iterable[RoomFigure], rule: Sequence[Step] = RULE) -> RoomFigure:
    """The figure that ranks first."""
    return min(figures, key=_order(rule))


def _order(rule: Sequence[Step]) -> Callable[[RoomFigure], tuple[object, ...]]:
    steps = [_STEPS[step] for step in rule]

    def key(row: RoomFigure) -> tuple[object, ...]:
        place = row.document_name, row.path, row.document_id, row.figure.start
        return *(step(row) for step in steps), row.figure.step, *place

    return key


def find_deciding_step(counted: RoomFigure, other: RoomFigure, rule: Sequence[Step] = RULE) -> Step | None:
    """The step of the rule that makes one figure count rather than another; None if none does."""
    return next((step for step in rule if _STEPS[step](counted) != _STEPS[step](other)), None)


def say_step(step: Step | None, counted: RoomFigure, other: RoomFigure) -> str:
    """Why one figure counts rather than another, in words."""
    if step in {"basis", "authority"}:
        return f"{step}: {' before '.join(kinds_by_step(step, counted, other))}"
    return "newer: the document with the later date" if step else "none decides: the more exact, then the first by name"


def kinds_by_step(step: Step | None, counted: RoomFigure, other: RoomFigure) -> tuple[str, str]:
    """How a step of the rule describes both figures: their basis, or how final their documents are; otherwise empty."""
    if step == "basis":
        return _basis_words(counted), _basis_words(other)
    if step == "authority":
        return _AUTHORITY[_authority(counted)], _AUTHORITY[_authority(other)]
    return "", ""


def _basis(row: RoomFigure) -> int:
    if row.basis not in ACTUAL:
        return 0
    return len(ACTUAL) if row.deck else [*ACTUAL].index(row.basis)


def _basis_words(row: RoomFigure) -> str:
    return "deck" if row.deck else row.basis


_AUTHORITY: Final = ("signed or final", "neither signed nor draft", "draft")


def _authority(row: RoomFigure) -> int:
    return _rank_authority(f"{row.path} {row.document_name}")


@lru_cache(maxsize=10_000)  # a document has many figures
def _rank_authority(name: str) -> int:
    words = name.replace("_", " ").replace("-", " ")
    if WORDS.draft_document.search(words):
        return 2
    return 0 if WORDS.sure_document.search(words) and not _NOT_FINAL.search(words) else 1


def _newer(row: RoomFigure) -> int:
    """The sort key for the newer document. A date that it states counts before its file's date, which copying or
    opening may have changed.
    """
    return -_day_number(row.dated) * _DAYS if row.dated else -_day_number(row.changed) if row.changed else 0


@lru_cache(maxsize=10_000)
def _day_number(day: str) -> int:
    return date.fromisoformat(day).toordinal()


_STEPS: Final[Mapping[Step, Callable[[RoomFigure], int]]] = {"basis": _basis, "authority": _authority, "newer": _newer}


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
    """Compute figures from pairs of known figures with the same period and unit; each result counts as known from then
    on.
    """
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
    """Cash ÷ monthly burn, with the burn of a period that ends on the day of the cash; if none is stated, the monthly
    cash used in operations.
    """
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


def decimal_text(value: Decimal) -> str:
    """A value as plain decimal text: "9400000", "22", "0.5"; never with an exponent."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure_row(figure: Figure, document_id: str | None, document_name: str, basis: str) -> dict[str, str | None]:
    """A figure as a mapping: concept, value, unit, period, entity, settled basis, place and document."""
    return {
        "concept": figure.concept,
        "label": figure.label,
        "value": decimal_text(figure.value),
        "unit": figure.unit,
        "period": figure.period,
        "entity": figure.entity,
        "basis": basis,
        "document_id": document_id,
        "document_name": document_name,
        "place": figure.place,
    }


def room_row(row: RoomFigure) -> dict[str, str | None]:
    """The mapping of a figure of a room."""
    return figure_row(row.figure, row.document_id, row.document_name, row.basis)


def conflict_row(conflict: FigureConflict) -> dict[str, Any]:
    """The mapping of a conflict: the figure that counts, the others, and the rule that decided."""
    return {
        "concept": conflict.concept,
        "period": conflict.period,
        "counted": room_row(conflict.counted),
        "others": [room_row(other) for other in conflict.others],
        "rule": conflict.rule,
    }


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

"""Figures that follow from others, and what a criterion asks of the figures of a room.

derive             growth, margins, runway, debt, concentration, each with the figures that it is computed from
read_expression    reads `revenue`, `revenue growth`, `cash / monthly burn`, `debt - cash`
figure_values      its values in a room: a figure, its growth, or two figures divided or subtracted
value_at           the one of a period
newest_day         of the newest figures of a room
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice
from operator import add, sub
from typing import Any, Final, Literal

from tasks.figures.conflicts import (
    RULE,
    RoomFigure,
    Step,
    best,
    decimal_text,
    groups,
    rank_figures,
    room_row,
    same_period,
)
from tasks.figures.figure import ACTUAL, UNKNOWN, name_in_words, plain_label, taxonomy
from tasks.figures.statement_checks import DEBT_PARTS, WRITTEN_OFF
from tasks.language.numbers import MONTHS, PERCENT, RATIO
from tasks.language.periods import count_months, last_day, make_day
from tasks.user_file import nearest

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


LATEST: Final = "latest"
_OPERATORS: Final = re.compile(r"\s*[/÷]\s*|\s+[-−–]\s+")
_GROWTH_OF: Final = re.compile(r"growth (?:of|in) (.+)|(.+?)[ _]growth", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?:FY ?)?((?:19|20)\d\d)|FY ?['’]?(\d\d)", re.IGNORECASE)
_PART: Final = re.compile(r"((?:19|20)\d\d)[ -]?([QH][1-4])|([QH][1-4])[ /-]?((?:19|20)\d\d)", re.IGNORECASE)
_MONTHS_OF_PARTS: Final = {"Q": 3, "H": 6}
_WEEK: Final = 8
"""Days by which a quarter of weeks may end before or after one of months."""
_DAY: Final = r"\d{4}-\d\d-\d\d"
_PERIOD: Final = re.compile(rf"{_DAY}(?:/{_DAY})?")
_ONE_OR_TWO: Final = "must be one figure, or two with / or - between them, such as cash / monthly burn"
_VARIANTS: Final = ("restated", "", "as previously reported")
_RATES: Final = frozenset({"monthly_burn", "churn", "retention"})
"""Concepts of which a month says as much as a year."""
_FIRST_WEEK: Final = timedelta(days=7)
_LATEST: Final = timedelta(days=550)
"""What ended so long before the newest figure of a room is not the latest."""
_NEAR: Final = 92
"""Days that may lie between the end of a monthly burn and the day of the cash that it is compared with."""
_NEVER: Final = "9999-12-31"
NO_VALUE: Final = Decimal("NaN")
"""Of a figure divided by zero, or by a loss: that of an earlier period says nothing of the latest."""

Operation = Literal["value", "growth", "ratio", "difference"]


@dataclass(frozen=True, slots=True)
class Expression:
    """A figure that is asked for: a name, or two that are divided or subtracted; `growth` is over the year before."""

    operation: Operation
    names: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """`revenue growth`, `cash ÷ monthly burn`."""
        words = [*map(name_in_words, self.names)]
        if self.operation == "growth":
            return f"{words[0]} growth"
        return f" {'÷' if self.operation == 'ratio' else '−'} ".join(words)

    @property
    def units(self) -> frozenset[str]:
        """The units that it can be measured in: money, percent, count, ratio, months."""
        if self.operation == "growth":
            return frozenset({PERCENT})
        units = [_list_units(name) for name in self.names]
        if self.operation != "ratio":
            return units[0]
        if self.names[1] == "monthly_burn":
            return frozenset({MONTHS})
        return frozenset({RATIO, PERCENT} if units[0] & units[1] else units[0])


def read_expression(written: str) -> Expression:
    """Parse what a user asks for.

    Raises:
        ValueError: a figure has no such name, or two are joined that cannot be; the message says what is allowed.
    """
    growth = _GROWTH_OF.fullmatch(written.strip())
    if growth:
        return make_growth(Expression("value", (_name(growth[1] or growth[2]),)))
    parts = _OPERATORS.split(written.strip())
    if re.search(r"[+*×]", written):
        raise ValueError(f"{_ONE_OR_TWO}; a sum or a product is not computed")
    if len(parts) == 1:
        return Expression("value", (_name(written),))
    if len(parts) != 2:
        raise ValueError(_ONE_OR_TWO)
    sign = "ratio" if re.search("[/÷]", written) else "difference"
    names = (_name(parts[0]), _name(parts[1]))
    if sign == "difference" and not _list_units(names[0]) & _list_units(names[1]):
        raise ValueError(f"{names[0]} and {names[1]} are not measured in the same unit")
    return Expression("ratio" if sign == "ratio" else "difference", names)


def make_growth(expression: Expression) -> Expression:
    """The growth of a figure over the year before.

    Raises:
        ValueError: it is no single figure that documents state.
    """
    if expression.operation != "value" or expression.names[0] not in taxonomy().concepts:
        raise ValueError(f"growth needs one figure that documents state, such as revenue, not {expression.in_words}")
    return Expression("growth", expression.names)


def read_period(written: str) -> str:
    """A period as a user writes it: `latest`, a year, a quarter or half of the calendar year, a day or `start/end`.

    Raises:
        ValueError: it is none of them.
    """
    plain = written.strip().lower()
    year = _YEAR.fullmatch(plain)
    if plain == LATEST or year:
        return (year[1] or f"20{year[2]}") if year else LATEST
    part = _PART.fullmatch(plain)
    if part and (name := (part[2] or part[3]).upper()) not in {"H3", "H4"}:
        return f"{part[1] or part[4]}-{name}"
    try:
        days = [date.fromisoformat(day) for day in plain.split("/")] if _PERIOD.fullmatch(plain) else []
    except ValueError:
        days = []
    if not days or days != sorted(days):
        raise ValueError(
            "must be latest, a year (2024), a quarter or half of the calendar year (2024-Q3, 2024-H1), "
            "a day (2025-03-31) or both days (2024-04-01/2025-03-31)"
        )
    return plain


def figure_values(
    expression: Expression, figures: Sequence[RoomFigure], rule: Sequence[Step] = RULE
) -> list[FigureValue]:
    """The values in a room of what is asked: from the figures that count, actual and of the company as a whole."""
    counted = rank_figures(choose_counted_figures(figures, rule), rule)
    counted.sort(key=lambda row: _VARIANTS.index(row.figure.variant))
    values = [_values(name, counted, figures, rule) for name in expression.names]
    if expression.operation == "value":
        return values[0]
    if expression.operation == "growth":
        return list(grow(values[0]))
    return list(_combine(expression, values[0], values[1]))


def value_at(
    values: Sequence[FigureValue], period: str, expression: Expression, newest_day: str = ""
) -> FigureValue | None:
    """The value for a period, the first if there are several. `latest` is the newest; whole years precede their parts.

    Given the `newest_day` of the room's actual figures, a value from long before it is not the latest.
    """
    if period != LATEST:
        values = [value for value in values if _matches_period(value.period, period)]
    elif newest_day:
        since = (date.fromisoformat(newest_day) - _LATEST).isoformat()
        values = [value for value in values if last_day(value.period) >= since]
    if expression.names[0] not in _RATES and not _PART.fullmatch(period):
        values = [value for value in values if count_months(value.period) in {0, 12}] or values
    newest = max(values, key=lambda value: (last_day(value.period), count_months(value.period)), default=None)
    return None if newest is None or newest.value.is_nan() else newest


def newest_day(figures: Iterable[RoomFigure]) -> str:
    """The last day of the newest actual figures of the company; at least two must agree if there are two; "" without
    any.

    A single figure may have been misread, and would make the others look old.
    """
    days = Counter(last_day(row.figure.period) for row in figures if row.basis in ACTUAL and row.figure.entity is None)
    several = [day for day, count in days.items() if count > 1]
    return max(several or days, default="")


def drop_undated_after(figures: Sequence[RoomFigure]) -> list[RoomFigure]:
    """The figures without those of undated documents that are newer than all dated ones for their concept.

    Nothing shows that their period was over when they were written, so they are not the latest.
    """
    newest: dict[str, str] = {}
    for row in figures:
        if (row.dated or row.changed) and row.basis in ACTUAL:
            newest[row.figure.concept] = max(newest.get(row.figure.concept, ""), last_day(row.figure.period))
    return [
        row for row in figures if row.dated or last_day(row.figure.period) <= newest.get(row.figure.concept, _NEVER)
    ]


def _matches_period(period: str, asked: str) -> bool:
    if "/" in asked:
        return same_period(period) == same_period(asked)
    if part := _PART.fullmatch(asked):
        months = _MONTHS_OF_PARTS[part[2][0]]
        end = make_day(int(part[1]), months * int(part[2][1]), 31)
        ends = abs((date.fromisoformat(last_day(period)) - end).days) <= _WEEK
        return ends and count_months(period) in {0, months}
    if _YEAR.fullmatch(asked):  # what ended on 1 January 2023 is of 2022
        return (date.fromisoformat(last_day(period)) - _FIRST_WEEK).year == int(asked)
    return last_day(period).startswith(asked)


def _name(written: str) -> str:
    """The name of the concept or derived figure that a user means."""
    label = plain_label(written.replace("_", " ").replace("-", " "))
    name = label.replace(" ", "_")
    concepts = taxonomy().concepts
    if name in concepts or name in DERIVED_UNITS:
        return name
    meaning = taxonomy().meaning(label)
    if meaning is None:
        raise ValueError(f"there is no figure {written.strip()!r}{nearest(name, [*concepts, *DERIVED_UNITS])}")
    return meaning.concept.id


def _list_units(name: str) -> frozenset[str]:
    concept = taxonomy().concepts.get(name)
    return concept.units if concept else frozenset({DERIVED_UNITS[name]})


def _values(
    name: str, counted: Sequence[RoomFigure], figures: Sequence[RoomFigure], rule: Sequence[Step]
) -> list[FigureValue]:
    is_stated = name in taxonomy().concepts
    computed = derive(figures, rule) if not is_stated or name in COMPUTED_CONCEPTS else []
    computed = [value for value in computed if value.name == name]
    if not is_stated:
        return computed
    stated = [state(row) for row in counted if row.figure.concept == name]
    values: dict[tuple[str, str], FigureValue] = {}
    for value in (*stated, *computed):
        values.setdefault((same_period(value.period), value.unit), value)
    return list(values.values()) or (list(burn_a_month(counted)) if name == "monthly_burn" else [])


def _combine(expression: Expression, one: Sequence[FigureValue], other: Sequence[FigureValue]) -> Iterator[FigureValue]:
    by_day: dict[int, list[tuple[int, FigureValue]]] = defaultdict(list)
    for place, second in enumerate(other):
        by_day[_end(second)].append((place, second))
    for first in one:
        near = (second for second in _nearest(first, by_day) if _at_one_time(first, second, expression.names[1]))
        joined = (_of_two(expression, first, second) for second in near)
        yield from islice(filter(None, joined), 1)


def _nearest(first: FigureValue, by_day: Mapping[int, Sequence[tuple[int, FigureValue]]]) -> Iterator[FigureValue]:
    """The values whose periods end near this one's: nearest first, then those of the same length."""
    end = _end(first)
    for apart in range(_NEAR + 1):
        days = {end - apart, end + apart}
        found = [pair for day in days for pair in by_day.get(day, ())]
        found.sort(key=lambda pair: (count_months(pair[1].period) != count_months(first.period), pair[0]))
        yield from (second for _, second in found)


def _of_two(expression: Expression, first: FigureValue, second: FigureValue) -> FigureValue | None:
    inputs = (*first.inputs, *second.inputs)
    if expression.operation == "difference":
        same = first.unit == second.unit
        return replace(first, value=first.value - second.value, inputs=inputs) if same else None
    if first.unit != second.unit and (
        len(second.unit) == 3 or UNKNOWN in {first.unit, second.unit}
    ):  # another currency
        return None
    if second.value <= 0:
        return replace(first, value=NO_VALUE, unit=RATIO, inputs=inputs)
    unit = first.unit if first.unit != second.unit else MONTHS if expression.names[1] == "monthly_burn" else RATIO
    return replace(first, value=first.value / second.value, unit=unit, inputs=inputs)


def _at_one_time(first: FigureValue, second: FigureValue, name: str) -> bool:
    if name == "monthly_burn":
        return abs(_end(first) - _end(second)) <= _NEAR
    lengths = {count_months(first.period), count_months(second.period)}
    if 0 in lengths and first.unit == second.unit:  # what is owed or owned is compared with a whole year's flow
        return last_day(first.period) == last_day(second.period) and lengths <= {0, 12}
    return last_day(first.period) == last_day(second.period) and len(lengths - {0}) <= 1


def _end(value: FigureValue) -> int:
    return date.fromisoformat(last_day(value.period)).toordinal()

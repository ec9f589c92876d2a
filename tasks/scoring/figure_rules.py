"""Rules on figures: `growth >= 20 %`, `>= 12`, `<= 25 %`, `>= EUR 5 million`, `between 1 and 3`.

A rule stands behind a figure of the room, or two of them (`cash / monthly burn`), and holds or does not.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

from tasks.figures.expressions import Expression, growth_of, read_expression
from tasks.language.numbers import MONTHS, PERCENT, RATIO, amounts

_RULE: Final = re.compile(r"\s*(growth\s+)?(<=|>=|≤|≥|==|!=|=(?![<>=])|<(?!=)|>(?!=))\s*(.*\S)", re.IGNORECASE)
_SIGNS: Final = {"≤": "<=", "≥": ">=", "=": "=="}
_BETWEEN: Final = re.compile(
    r"\s*(growth\s+)?(?:between\s+(.*\d.*?)\s+and\s+(.*\d.*)|(?:from\s+)?(.*\d.*?)\s*(?:to|–|\s-\s)\s*(.*\d.*))",
    re.IGNORECASE,
)
_MONTHS: Final = re.compile(r"(.*\d)\s*(month|year)s?", re.IGNORECASE)
_ALLOWED: Final = (
    "a rule on a figure is one of <= < >= > == != with a number, such as '<= 25 %', '>= EUR 5 million', '>= 12', "
    "or 'between 1 and 3', and `growth` in front of it for the growth over the year before"
)
_KINDS: Final = {PERCENT: "a percentage", "count": "a count", RATIO: "a ratio", MONTHS: "a number of months"}


@dataclass(frozen=True, slots=True)
class FigureCondition:
    """What a rule asks for: a figure, an operator, a number in base units, and its unit where the rule names one.

    Of `between` the number is the lower one, and `most` the upper one; both belong to it.
    """

    expression: Expression
    sign: str
    value: Decimal
    unit: str | None
    most: Decimal | None = None

    def fits(self, unit: str) -> bool:
        """Whether a figure of this unit can be held against the rule."""
        return self.unit is None or self.unit == unit or (self.unit == PERCENT and unit == RATIO)

    def comparable(self, value: Decimal, unit: str) -> Decimal:
        """A figure's value in the unit of the rule: a ratio as percent where the rule says %."""
        return value * 100 if self.unit == PERCENT and unit == RATIO else value

    def holds(self, value: Decimal) -> bool:
        """Whether a comparable value meets the rule."""
        if self.most is not None:
            return self.value <= value <= self.most
        return {
            "<=": value <= self.value, ">=": value >= self.value, "<": value < self.value, ">": value > self.value,
            "==": value == self.value, "!=": value != self.value,
        }[self.sign]  # fmt: skip


def parse_condition(figure: str, written: str) -> FigureCondition:
    """The rule that a user wrote for a figure, which `read_expression` reads.

    Raises:
        ValueError: the text is no rule, or does not go with the figure's unit; the message says what is allowed.
    """
    expression = read_expression(figure)
    match, between = _RULE.fullmatch(written), _BETWEEN.fullmatch(written)
    if match is None and between is None:
        raise ValueError(f"{written!r} is no rule: {_ALLOWED}")
    of_growth = (match or between)[1]  # type: ignore[index] # one of them is there
    if of_growth and expression.operation != "growth":
        expression = growth_of(expression)
    if match is not None:
        value, unit = _number(match[3])
        _check_unit(expression, unit, written)
        return FigureCondition(expression, _SIGNS.get(match[2], match[2]), value, unit)
    assert between is not None
    lower, upper = (part.strip() for part in between.groups()[1:] if part)
    if lower[-1].isdigit():  # "between 20 and 40 %", "between EUR 1 and 3 million"
        lower += re.split(r"\d", upper)[-1]
    (least, unit), (most, of_most) = _number(lower), _number(upper)
    if unit and of_most and unit != of_most:
        raise ValueError(f"{written!r} has two units")
    if least > most:
        raise ValueError(f"{written!r} must name the lower number first")
    _check_unit(expression, unit or of_most, written)
    return FigureCondition(expression, "between", least, unit or of_most, most)


def _number(written: str) -> tuple[Decimal, str | None]:
    """A number in base units, and its unit where it names one; years are told in months.

    Raises:
        ValueError: it is no number.
    """
    months = _MONTHS.fullmatch(written)
    number = months[1] if months else written
    found = list(amounts(number))
    rest = re.sub(r"[\d.,\s]|[-−]", "", number)
    if len(found) != 1 or not found[0].value.is_finite() or (rest and not found[0].unit and not found[0].scale):
        raise ValueError(f"{written!r} is no number: {_ALLOWED}")
    times = 12 if months and months[2].lower() == "year" else 1
    return found[0].value * times, MONTHS if months else found[0].unit


def _check_unit(expression: Expression, unit: str | None, written: str) -> None:
    kind = unit if unit is None or unit in _KINDS else "money"
    if kind is None or kind in expression.units or (kind == PERCENT and RATIO in expression.units):
        return
    measured = " or ".join(sorted(_KINDS.get(known, "money") for known in expression.units))
    hint = "; for its growth write 'growth >= 20 %'" if kind == PERCENT and expression.operation == "value" else ""
    raise ValueError(f"{expression.in_words} is {measured}, which {written!r} does not go with{hint}")


def score_of_bands(
    bands: Mapping[float, FigureCondition], value: Decimal, lowest: float
) -> tuple[float, FigureCondition | None]:
    """The score of a comparable value, and the rule that gives it.

    The rules are tried from the best score to the worst, and the first that holds counts. Where none holds, the value
    lies between the numbers of two rules, and its score between theirs, in proportion; beyond all numbers it is
    the scale's lowest.
    """
    for score in sorted(bands, reverse=True):
        if bands[score].holds(value):
            return score, bands[score]
    points = sorted(
        (value, score)
        for score, condition in bands.items()
        for value in {condition.value, condition.value if condition.most is None else condition.most}
    )
    for (low, low_score), (high, high_score) in pairwise(points):
        if low < high and low <= value <= high:
            share = float((value - low) / (high - low))
            return round(low_score + share * (high_score - low_score), 6), None
    return lowest, None

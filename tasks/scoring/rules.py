"""Rules on facts and figures: `<= 2018`, `in [DE, NO]`, `growth >= 20 %`, `>= EUR 5 million`, `between 1 and 3`."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from math import isfinite
from typing import Any, Final

from tasks.companies.profile import FieldType, field_type, fields
from tasks.figures.derived import Expression, make_growth, read_expression
from tasks.figures.figure import UNKNOWN
from tasks.language.normalise import caseless
from tasks.language.numbers import MONTHS, PERCENT, RATIO, amounts
from tasks.user_file import yaml_value

_FIGURE_RULE: Final = re.compile(r"\s*(growth\s+)?(<=|>=|≤|≥|==|!=|=(?![<>=])|<(?!=)|>(?!=))\s*(.*\S)", re.IGNORECASE)
_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_SIGNS: Final = {"≤": "<=", "≥": ">=", "=": "=="}
_SIGNS_IN_WORDS: Final = {
    "<=": "at most {}", ">=": "at least {}", "<": "below {}", ">": "above {}", "==": "{}", "!=": "other than {}",
}  # fmt: skip
_TIMES_IN_WORDS: Final = {"<=": "{} or earlier", ">=": "{} or later", "<": "before {}", ">": "after {}"}
_LISTS_IN_WORDS: Final = {"in": "one of", "not in": "none of", "contains": "text that contains"}
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
    """What a rule asks for: a figure, an operator, a number in base units, and its unit if the rule names one.

    For `between`, the number is the lower bound and `most` the upper one, both inclusive.
    """

    expression: Expression
    sign: str
    value: Decimal
    unit: str | None
    most: Decimal | None = None

    def fits(self, unit: str) -> bool:
        """Whether a figure in this unit can be compared with the rule."""
        if unit == UNKNOWN:
            return False
        return self.unit is None or self.unit == unit or (self.unit == PERCENT and unit == RATIO)

    def comparable(self, value: Decimal, unit: str) -> Decimal:
        """A figure's value in the unit of the rule: a ratio as a percentage if the rule says %."""
        return value * 100 if self.unit == PERCENT and unit == RATIO else value

    def holds(self, value: Decimal) -> bool:
        """Whether a comparable value meets the rule."""
        if self.most is not None:
            return self.value <= value <= self.most
        return _COMPARE[self.sign](value, self.value)


def parse_condition(figure: str, written: str) -> FigureCondition:
    """Parse the rule that a user wrote for a figure, which `read_expression` parses.

    Raises:
        ValueError: the text is not a rule, or does not go with the figure's unit; the message says what is allowed.
    """
    expression = read_expression(figure)
    match, between = _FIGURE_RULE.fullmatch(written), _BETWEEN.fullmatch(written)
    if match is None and between is None:
        raise ValueError(f"{written!r} is not a rule: {_ALLOWED}")
    of_growth = (match or between)[1]  # type: ignore[index] # one of them is there
    if of_growth and expression.operation != "growth":
        expression = make_growth(expression)
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
        ValueError: it is not a number.
    """
    months = _MONTHS.fullmatch(written)
    number = months[1] if months else written
    found = list(amounts(number))
    rest = re.sub(r"[\d.,\s]|[-−]", "", number)
    is_one = len(found) == 1 and "(" not in number  # "10 % (0)" would give points, which bands do
    if not is_one or not found[0].value.is_finite() or (rest and not found[0].unit and not found[0].scale):
        raise ValueError(f"{written!r} is not a number: {_ALLOWED}")
    times = 12 if months and months[2].lower() == "year" else 1
    return found[0].value * times, MONTHS if months else found[0].unit


def _check_unit(expression: Expression, unit: str | None, written: str) -> None:
    kind = unit if unit is None or unit in _KINDS else "money"
    if kind is None or kind in expression.units or (kind == PERCENT and RATIO in expression.units):
        return
    measured = " or ".join(sorted(_KINDS.get(known, "money") for known in expression.units))
    hint = "; for its growth write 'growth >= 20 %'" if kind == PERCENT and expression.operation == "value" else ""
    raise ValueError(f"{expression.in_words} is {measured}, so {written!r} cannot be used{hint}")


def score_bands(bands: Mapping[float, FigureCondition], value: Decimal, lowest: float) -> tuple[float, float | None]:
    """The score of a comparable value, and the band that gives it.

    The rules are tried from the best score to the worst, and the first that holds counts. If none holds, a value
    between the numbers of two rules gets a proportional score between theirs; beyond all numbers it gets the bottom of
    the scale.
    """
    for score in sorted(bands, reverse=True):
        if bands[score].holds(value):
            return score, score
    between = points_around(bands, value)
    if between is None:
        return lowest, None
    (low, low_score), (high, high_score) = between
    share = float((value - low) / (high - low))
    return round(low_score + share * (high_score - low_score), 6), None


def points_around(
    bands: Mapping[float, FigureCondition], value: Decimal
) -> tuple[tuple[Decimal, float], tuple[Decimal, float]] | None:
    """The numbers of the bands between which a value lies, each with its score; None if it lies beyond them all."""
    points = sorted(
        (value, score)
        for score, condition in bands.items()
        for value in {condition.value, condition.value if condition.most is None else condition.most}
    )
    return next(
        ((low, high) for low, high in pairwise(points) if low[0] < high[0] and low[0] <= value <= high[0]), None
    )


_ORDER: Final = frozenset({"<=", ">=", "<", ">"})
_FACT_RULE = re.compile(
    r"\s*(<=|>=|==|!=|=(?![<>=])|<(?!=)|>(?!=)|not\s+in\b|in\b|contains\b)\s*(.*\S)", re.DOTALL | re.IGNORECASE
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBERS = {FieldType.INTEGER, FieldType.NUMBER}
_SINGLE = {FieldType.TEXT, FieldType.BOOLEAN, FieldType.TIME, *_NUMBERS}

ALLOWED = "a rule is one of <= < >= > == != with a value, in [a, b], not in [a, b], contains text"


def rule_in_words(written: str, *, is_of_time: bool = False) -> str:
    """A rule as its reader would say it: `growth of at most 5 %`, `one of DE, NO`, `2018 or earlier`."""
    if (compared := _FIGURE_RULE.fullmatch(written)) is not None:
        growth, sign, value = compared.groups()
        words = _SIGNS_IN_WORDS | (_TIMES_IN_WORDS if is_of_time else {})
        return ("growth of " if growth else "") + words[_SIGNS.get(sign, sign)].format(value)
    if (listed := _FACT_RULE.fullmatch(written)) is not None:
        return f"{_LISTS_IN_WORDS[' '.join(listed[1].lower().split())]} {listed[2].strip('[]')}"
    return written


def verdict_in_words(
    written: Mapping[float, str],
    met: float | None,
    scale: tuple[float, float],
    between: str = "",
    *,
    is_of_time: bool = False,
) -> str:
    """Which of a user's rules, by the points that each gives, a value meets, as a sentence.

    Without a rule that is met, `between` may name the two rules that the value lies between.
    """
    if met is None and between:
        return between
    asked = {points: rule_in_words(rule, is_of_time=is_of_time) for points, rule in written.items()}
    if len(asked) == 1 and scale[1] in asked:
        return f"You asked for {asked[scale[1]]}: {'not met' if met is None else 'met'}."
    if met is not None:
        return f"That earns {points_in_words(met)}: {asked[met]}."
    bands = ", ".join(f"{rule} ({points_in_words(points)})" for points, rule in asked.items())
    return f"That is in none of your bands: {bands}."


def points_in_words(points: float) -> str:
    """`3 points`, `1 point`."""
    return f"{points:g} {'point' if points == 1 else 'points'}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A field of the profile, an operator, and the value or values to compare with."""

    field: str
    sign: str
    value: Any

    def holds(self, fact: Any) -> bool:
        """Whether a known fact, as JSON, meets the rule."""
        if self.sign == "contains":
            parts = fact if isinstance(fact, list) else [fact]
            return any(caseless(self.value) in caseless(str(part)) for part in parts)
        if self.sign in {"in", "not in"}:
            return any(_same(fact, value) for value in self.value) == (self.sign == "in")
        if self.sign in _ORDER:
            return _COMPARE[self.sign](_like(fact, self.value), self.value)
        return _same(fact, self.value) == (self.sign == "==")


def parse(field: str, written: str) -> Rule:
    """Parse the rule that a user wrote for a field of the profile.

    Raises:
        BadRequest: the profile has no such field.
        ValueError: the text is not a rule, or the rule does not go with the field's type; the message says what is
            allowed.
    """
    kind = field_type(field)
    match = _FACT_RULE.fullmatch(written.strip())
    if match is None:
        raise ValueError(f"{written!r} is not a rule: {ALLOWED}")
    sign, value = " ".join(match[1].lower().split()), match[2]
    if sign == "contains":
        if kind is not FieldType.TEXT and fields().get(f"{field}.0") is not FieldType.TEXT:
            raise ValueError(f"{field} is {_read_kind(kind)}: `contains` works with text and lists of text only")
        return Rule(field, sign, _unquote(value))
    if kind not in _SINGLE:
        example = next(path for path in fields() if path.startswith(f"{field}.") and fields()[path] in _SINGLE)
        alternative = " or use `contains`" if fields()[example] is FieldType.TEXT and kind is FieldType.LIST else ""
        raise ValueError(
            f"{field} is {_read_kind(kind)}: put the rule on one of its parts, such as {example}{alternative}"
        )
    if sign in {"in", "not in"}:
        return Rule(field, sign, _list_values(field, kind, sign, value))
    if sign in _ORDER and kind not in {*_NUMBERS, FieldType.TIME}:
        raise ValueError(f"{field} is {_read_kind(kind)}: `{sign}` works with numbers and times only")
    if kind in {FieldType.TEXT, FieldType.TIME}:
        return Rule(field, "==" if sign == "=" else sign, _read(field, kind, _unquote(value)))
    return Rule(field, "==" if sign == "=" else sign, _read(field, kind, yaml_value(value)))


def _list_values(field: str, kind: FieldType, sign: str, written: str) -> list[Any]:
    values = yaml_value(written, as_text=kind in {FieldType.TEXT, FieldType.TIME}) if written.startswith("[") else None
    if not isinstance(values, list) or not values:
        raise ValueError(f"`{sign}` needs a list in square brackets, such as {sign} [DE, NL]")
    return [_read(field, kind, value) for value in values]


def _read(field: str, kind: FieldType, value: Any) -> Any:
    """A value of the rule in the field's type."""
    # A file can spell infinity and no number out: !!float .nan
    if kind in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value)):
        raise ValueError(f"{field} is a number: {value!r} is not (digits only, such as 1500000 or 0.5)")
    if kind is FieldType.BOOLEAN and not isinstance(value, bool):
        raise ValueError(f"{field} is true or false: {value!r} is neither")
    if kind in {FieldType.TEXT, FieldType.TIME} and not isinstance(value, str):
        raise ValueError(f"{field} is {_read_kind(kind)}: {value!r} is not")
    if kind is FieldType.TIME:
        try:
            return date.fromisoformat(value) if _DAY.fullmatch(value) else _time(value)
        except ValueError:
            raise ValueError(f"{field} is a time: {value!r} is not (such as 2024-12-31)") from None
    return value


def _same(fact: Any, value: Any) -> bool:
    """Whether a fact equals the rule's value; case and spacing of a text do not count."""
    fact = _like(fact, value)
    return bool(caseless(fact) == caseless(value)) if isinstance(value, str) else bool(fact == value)


def _like(fact: Any, value: Any) -> Any:
    """The fact in the type of the rule's value: a time as a moment, or as its day where the rule names a day."""
    if isinstance(value, datetime):
        return _time(fact)
    if isinstance(value, date):
        return _time(fact).date()
    return str(fact) if isinstance(value, str) else fact


def _time(written: str) -> datetime:
    time = datetime.fromisoformat(written)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _unquote(written: str) -> str:
    quoted = len(written) > 1 and written[0] == written[-1] and written[0] in "'\""
    return written[1:-1] if quoted else written


def _read_kind(kind: FieldType) -> str:
    if kind in _NUMBERS:
        return "a number"
    return {FieldType.LIST: "a list", FieldType.OBJECT: "a group", FieldType.TEXT: "text"}.get(kind, f"a {kind.value}")

"""Rules on facts: `<= 2018`, `== Active`, `in [DE, NO]`, `contains software`.

A rule stands behind a field of the company profile and is either met or not. Its value is read as the field's type
demands: for a text field, NO is the country and 700 is a text.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

from tasks.companies.profile import FieldType, field_type, fields
from tasks.language.normalise import caseless
from tasks.user_file import yaml_value

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_RULE = re.compile(
    r"\s*(<=|>=|==|!=|=(?![<>=])|<(?!=)|>(?!=)|not\s+in\b|in\b|contains\b)\s*(.*\S)", re.DOTALL | re.IGNORECASE
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBERS = {FieldType.INTEGER, FieldType.NUMBER}
_SINGLE = {FieldType.TEXT, FieldType.BOOLEAN, FieldType.TIME, *_NUMBERS}

ALLOWED = "a rule is one of <= < >= > == != with a value, in [a, b], not in [a, b], contains text"


@dataclass(frozen=True, slots=True)
class Rule:
    """A field of the profile, an operator, and the value or values to compare with."""

    field: str
    sign: str
    value: Any

    def holds(self, fact: Any) -> bool:
        """Whether a known fact, as JSON has it, meets the rule."""
        if self.sign == "contains":
            parts = fact if isinstance(fact, list) else [fact]
            return any(caseless(self.value) in caseless(str(part)) for part in parts)
        if self.sign in {"in", "not in"}:
            return any(_same(fact, value) for value in self.value) == (self.sign == "in")
        if self.sign in _ORDER:
            return _ORDER[self.sign](_like(fact, self.value), self.value)
        return _same(fact, self.value) == (self.sign == "==")


def parse(field: str, written: str) -> Rule:
    """The rule that a user wrote for a field of the profile.

    Raises:
        BadRequest: the profile has no such field.
        ValueError: the text is not a rule, or the rule does not go with the field's type; the message says what is
            allowed.
    """
    kind = field_type(field)
    match = _RULE.fullmatch(written.strip())
    if match is None:
        raise ValueError(f"{written!r} is no rule: {ALLOWED}")
    sign, value = " ".join(match[1].lower().split()), match[2]
    if sign == "contains":
        if kind is not FieldType.TEXT and fields().get(f"{field}.0") is not FieldType.TEXT:
            raise ValueError(f"{field} is {_named(kind)}: `contains` goes with text and lists of text")
        return Rule(field, sign, _unquoted(value))
    if kind not in _SINGLE:
        example = next(path for path in fields() if path.startswith(f"{field}.") and fields()[path] in _SINGLE)
        alternative = " or use `contains`" if fields()[example] is FieldType.TEXT and kind is FieldType.LIST else ""
        raise ValueError(f"{field} is {_named(kind)}: put the rule on one of its parts, such as {example}{alternative}")
    if sign in {"in", "not in"}:
        return Rule(field, sign, _listed(field, kind, sign, value))
    if sign in _ORDER and kind not in {*_NUMBERS, FieldType.TIME}:
        raise ValueError(f"{field} is {_named(kind)}: `{sign}` goes with numbers and times")
    if kind in {FieldType.TEXT, FieldType.TIME}:
        return Rule(field, "==" if sign == "=" else sign, _read(field, kind, _unquoted(value)))
    return Rule(field, "==" if sign == "=" else sign, _read(field, kind, yaml_value(value)))


def _listed(field: str, kind: FieldType, sign: str, written: str) -> list[Any]:
    values = yaml_value(written, as_text=kind in {FieldType.TEXT, FieldType.TIME}) if written.startswith("[") else None
    if not isinstance(values, list) or not values:
        raise ValueError(f"`{sign}` needs a list in square brackets, such as {sign} [DE, NL]")
    return [_read(field, kind, value) for value in values]


def _read(field: str, kind: FieldType, value: Any) -> Any:
    """A value of the rule in the field's type."""
    # A file can spell infinity and no number out: !!float .nan
    if kind in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value)):
        raise ValueError(f"{field} is a number: {value!r} is none (digits only, such as 1500000 or 0.5)")
    if kind is FieldType.BOOLEAN and not isinstance(value, bool):
        raise ValueError(f"{field} is true or false: {value!r} is neither")
    if kind in {FieldType.TEXT, FieldType.TIME} and not isinstance(value, str):
        raise ValueError(f"{field} is {_named(kind)}: {value!r} is none")
    if kind is FieldType.TIME:
        try:
            return date.fromisoformat(value) if _DAY.fullmatch(value) else _time(value)
        except ValueError:
            raise ValueError(f"{field} is a time: {value!r} is none (such as 2024-12-31)") from None
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


def _unquoted(written: str) -> str:
    quoted = len(written) > 1 and written[0] == written[-1] and written[0] in "'\""
    return written[1:-1] if quoted else written


def _named(kind: FieldType) -> str:
    if kind in _NUMBERS:
        return "a number"
    return {FieldType.LIST: "a list", FieldType.OBJECT: "a group", FieldType.TEXT: "text"}.get(kind, f"a {kind.value}")

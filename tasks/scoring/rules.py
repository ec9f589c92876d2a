"""Rules on facts: `<= 2018`, `== Active`, `in [DE, NL]`, `contains software`.

A rule is written behind a field of the company profile and is either met or not; a fact that is
unknown meets nothing and breaks nothing.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from tasks.companies.profile import FieldType, field_type

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_RULE = re.compile(r"\s*(<=|>=|==|!=|=|<|>|not in\b|in\b|contains\b)\s*(.+?)\s*$", re.DOTALL)
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
        """Whether a known fact meets the rule."""
        if self.sign in _ORDER:
            return _ORDER[self.sign](_comparable(fact), _comparable(self.value))
        if self.sign in {"in", "not in"}:
            return (_plain(fact) in [_plain(each) for each in self.value]) == (self.sign == "in")
        if self.sign == "contains":
            parts = fact if isinstance(fact, list) else [fact]
            return any(_plain(self.value) in _plain(part) for part in parts)
        return bool(_plain(fact) == _plain(self.value)) == (self.sign == "==")


def parse(field: str, written: str) -> Rule:
    """The rule that a user wrote for a field of the profile.

    Raises:
        BadRequest: the profile has no such field.
        ValueError: the rule is none, or does not go with the field's type; the message says what is allowed.
    """
    kind = field_type(field)
    found = _RULE.match(written)
    if found is None:
        raise ValueError(f"{written!r} is no rule: {ALLOWED}")
    sign = "==" if found[1] == "=" else found[1]
    try:
        value = yaml.safe_load(found[2])
    except yaml.YAMLError as error:
        raise ValueError(f"{found[2]!r} is no value") from error
    if sign == "contains":
        if kind not in {FieldType.TEXT, FieldType.LIST}:
            raise ValueError(f"{field} is {kind.value}: `contains` goes with text and lists of text")
        return Rule(field, sign, found[2].strip("'\""))
    if kind not in _SINGLE:
        raise ValueError(f"{field} is {kind.value}: compare one of its parts, such as {field}.0 or {field}.year")
    if sign in {"in", "not in"}:
        if not isinstance(value, list) or not value:
            raise ValueError(f"`{sign}` needs a list in square brackets, such as {sign} [DE, NL]")
        for each in value:
            _check(field, kind, each)
        return Rule(field, sign, value)
    if sign in _ORDER and kind not in {*_NUMBERS, FieldType.TIME}:
        raise ValueError(f"{field} is {kind.value}: `{sign}` goes with numbers and times")
    _check(field, kind, value)
    return Rule(field, sign, found[2].strip("'\"") if kind in {FieldType.TEXT, FieldType.TIME} else value)


def _check(field: str, kind: FieldType, value: Any) -> None:
    if kind in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ValueError(f"{field} is a number: {value!r} is none")
    if kind is FieldType.BOOLEAN and not isinstance(value, bool):
        raise ValueError(f"{field} is true or false: {value!r} is neither")


def _comparable(value: Any) -> Any:
    return value if isinstance(value, int | float) else str(value)


def _plain(value: Any) -> Any:
    """What counts when facts are compared: case and outer spaces of a text do not.

    YAML reads the country NO as false and a date as a date; both mean what was written.
    """
    if isinstance(value, bool | int | float):
        return {False: "no", True: "yes"}.get(value, value) if isinstance(value, bool) else value
    return " ".join(str(value).split()).casefold()

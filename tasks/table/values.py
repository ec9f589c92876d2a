"""The values of cells, as people and models write them and as people read them."""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final

from tasks.language.numbers import amounts, numbers
from tasks.language.periods import dates
from tasks.table.columns import ColumnType
from tasks.table.contract import PERPETUAL
from tasks.table.spans import find_durations, flatten

_LONGEST: Final = 1000
_ISO_DURATION: Final = re.compile(r"P[1-9]\d{0,4}[DWMY]")
_YES_NO: Final = {"yes": True, "true": True, "no": False, "false": False}
ALLOWED: Final[dict[ColumnType, str]] = {
    "text": "words",
    "names": "names, with a semicolon between them",
    "date": "a day such as 2027-12-31, or perpetual",
    "duration": "a duration such as 3 months or P3M",
    "money": "an amount with its currency, such as EUR 12,000",
    "percent": "a percentage such as 2.5 %",
    "choice": "one of the choices",
    "yes_no": "yes or no",
}


def parse_value(type_: ColumnType, written: str, choices: Sequence[str] | None = None) -> Any:
    """The value of these words in the form for a cell of this type; None if they are no such value.

    A day without its year, an amount without its currency, and two different values are rejected.
    """
    words = " ".join(written.split())
    if not words or len(words) > _LONGEST:
        return None
    match type_:
        case "text":
            return words
        case "names":
            return [name for part in words.split(";") if (name := part.strip())] or None
        case "choice":
            return next((choice for choice in choices or () if choice.casefold() == words.casefold()), None)
        case "yes_no":
            return _YES_NO.get(words.casefold())
        case "date":
            return _day(words)
        case "duration":
            return _duration(words)
        case "money" | "percent":
            return _amount(type_, words)


def _day(words: str) -> str | None:
    if words.casefold() == PERPETUAL:
        return PERPETUAL
    try:
        return date.fromisoformat(words).isoformat()
    except ValueError:
        days = {when.end for when in dates(words) if when.end and when.months is None}
        return days.pop().isoformat() if len(days) == 1 else None


def _duration(words: str) -> str | None:
    if _ISO_DURATION.fullmatch(words):
        return words
    durations = {duration.value for duration in find_durations(flatten(words), 0, len(words))}
    return durations.pop() if len(durations) == 1 else None


def _amount(type_: ColumnType, words: str) -> Any:
    if type_ == "percent":
        shares = [one for one in numbers(words) if one.unit == "percent" or words.replace(".", "").isdigit()]
        return f"{shares[0].value.normalize():f}" if len(shares) == 1 else None
    sums = [one for one in amounts(words) if one.unit and len(one.unit) == 3]
    return {"value": f"{sums[0].value.normalize():f}", "unit": sums[0].unit} if len(sums) == 1 else None


def value_in_words(value: Any) -> str:
    """A cell's value for people; `parse_value` parses it again."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if isinstance(value, dict):
        return f"{value['unit']} {Decimal(value['value']):,f}"
    match = re.fullmatch(r"P(\d+)([DWMY])", str(value))
    if match:
        unit = {"D": "day", "W": "week", "M": "month", "Y": "year"}[match[2]]
        return f"{match[1]} {unit}{'' if match[1] == '1' else 's'}"
    return str(value)

"""Dates of three numbers whose month may be either: 9/3/2022 is of September where the document says 12/31/2022."""

import re
from typing import Final

from tasks.language.periods import MONTH_NAMES, YEAR

_DATE: Final = re.compile(rf"(?<![\d/])([0-3]?\d)/([0-3]?\d)/({YEAR}|\d\d)(?![\d/])")
_MONTHS: Final = 12


def month_first(text: str) -> bool | None:
    """Whether a document writes the month before the day; None where no date of it tells, or two tell otherwise."""
    orders = set[bool]()
    for match in _DATE.finditer(text):
        first, second = int(match[1]), int(match[2])
        if (first > _MONTHS) != (second > _MONTHS):
            orders.add(second > _MONTHS)
    return orders.pop() if len(orders) == 1 else None


def spelled(words: str, order: bool | None) -> str:
    """Words with the months of such dates by name, in a document that writes the month first, or the day."""
    if order is None or "/" not in words:
        return words

    def named(match: re.Match[str]) -> str:
        month, day = (int(match[1]), int(match[2])) if order else (int(match[2]), int(match[1]))
        year = match[3] if len(match[3]) == 4 else f"20{match[3]}"
        if not 1 <= month <= _MONTHS:
            return match.group()
        return f"{MONTH_NAMES[month - 1].split()[0]} {day}, {year}"

    return _DATE.sub(named, words)

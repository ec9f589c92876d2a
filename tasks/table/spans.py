"""Dates and durations as contracts write them, and the clauses around them.

Offsets are those of the text: `flatten` replaces each line break with a space, so that words can be found across it.
"""

import re
import tomllib
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tasks.language.periods import dates

_BREAK: Final = re.compile(r"[^\S ]")
_DATA: Final = tomllib.loads(Path(__file__).with_name("durations.toml").read_text(encoding="utf-8"))
_NUMBERS: Final = {word: int(number) for number, words in _DATA["numbers"].items() for word in words}
_UNITS: Final = {word: unit for unit, words in _DATA["units"].items() for word in words}
ORDINALS: Final[dict[str, int]] = _DATA["ordinals"]
_ORDINAL: Final = "|".join(sorted(ORDINALS, key=len, reverse=True)).replace("-", "[ -]")
_ORDINAL_DAY: Final = re.compile(  # a raised "th" may come apart: "20t h day of December 2018"
    rf"(?<![\w-])(?P<day>\d{{1,2}}|{_ORDINAL}) *(?:st|nd|rd|th|s t|n d|r d|t h)? +day +of +"
    r"(?P<month>[A-Z]{3,9})[ .,]*(?:in the year )?(?P<year>\d{4})",
    re.IGNORECASE,
)
_NUMBER: Final = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
DURATION: Final = (
    rf"(?<![\w.,])(?:(?P<words>{_NUMBER})[ -]*(?:\(? *(?P<beside>\d{{1,3}}) *\)?)?|(?P<digits>\d{{1,3}})(?: *\([a-z -]+\))?)"
    rf"[ -]*(?:full |consecutive |additional |successive |more |weitere[rn]? )?"
    rf"(?P<unit>(?:business |calendar |working )?(?:day|week|month|year)s?['’]?|Tage?n?|Wochen?|Monat[es]?n?|Jahre?[ns]?"
    rf"|jours?|mois|ans?|années?)(?!\w)"
)


_CENTURY: Final = 2070


class Span(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int


class Dated(NamedTuple):
    """A day and its place in the text."""

    day: date
    start: int
    end: int


class Duration(NamedTuple):
    """A duration in ISO 8601 and its place in the text."""

    value: str
    start: int
    end: int


def flatten(text: str) -> str:
    """The text with a space in place of each line break and tab; its length stays the same."""
    return _BREAK.sub(" ", text)


def find_dates(flat: str, start: int, end: int) -> list[Dated]:
    """The days between two offsets of a flat text, in order."""
    stretch = flat[max(0, start) : end]
    found: list[Dated] = []
    for match in _ORDINAL_DAY.finditer(stretch):
        day = ORDINALS.get(match["day"].casefold().replace(" ", "-")) or int(match["day"])
        named = dates(f"{match['month'].title()} {day}, {match['year']}")
        if named and named[0].end:
            found.append(Dated(named[0].end, match.start(), match.end()))
    # several blanks are one to the reader of dates: they are put off to the end of the word before them
    for when in dates(_narrow(stretch)):
        if (
            when.end
            and when.months is None
            and not any(other.start < when.stop and when.start < other.end for other in found)
        ):
            is_full = str(when.end.year) in stretch[when.start : when.stop]
            found.append(Dated(when.end if is_full else _not_to_come(when.end), when.start, when.stop))
    return sorted(
        (Dated(one.day, one.start + max(0, start), one.end + max(0, start)) for one in found), key=lambda one: one.start
    )


def _not_to_come(day: date) -> date:
    """A date written with a two-digit year, in the right century: 05/05/98 is in 1998."""
    return day.replace(year=day.year - 100) if day.year >= _CENTURY else day


def _narrow(stretch: str) -> str:
    """A stretch of the same length in which no two blanks split a date."""
    return re.sub(
        r"(\w,?)( +) (?=\w)", lambda match: f"{match[1]} {match[2][1:]}"[: len(match[0])].ljust(len(match[0])), stretch
    )


def find_durations(flat: str, start: int, end: int) -> Iterator[Duration]:
    """The durations between two offsets of a flat text, in order."""
    for match in _duration().finditer(flat, max(0, start), end):
        number = match["beside"] or match["digits"]
        count = int(number) if number else _NUMBERS[" ".join(match["words"].casefold().split())]
        unit = _UNITS[_singular(match["unit"])]
        if count:
            yield Duration(f"P{count}{unit}", match.start(), match.end())


@cache
def _duration() -> re.Pattern[str]:
    return re.compile(DURATION, re.IGNORECASE)


def _singular(unit: str) -> str:
    plain = unit.casefold().rstrip("'’").split()[-1]
    return plain if plain in _UNITS else plain.rstrip("s")


def add_duration(day: date, duration: str) -> date:
    """The day that much later: a year after 1 March 2024 is 1 March 2025."""
    count, unit = int(duration[1:-1]), duration[-1]
    if unit in "DW":
        return day + timedelta(days=count * (7 if unit == "W" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "Y" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def subtract_duration(day: date, duration: str) -> date:
    """The day that much earlier."""
    return add_duration(day, f"P-{duration[1:]}")


_SENTENCE_END: Final = re.compile(
    r"(?<![A-Z]\.[A-Z])(?<!\b(?:No|Co|Mr|Ms|Dr))(?<!\b(?:Inc|Ltd|Art|Sec|Abs))[.;]['\"”)]* +(?=[\"“(A-ZÄÖÜ\d])"
)


def clause_around(text: str, flat: str, start: int, end: int, most: int = 700) -> Span:
    """The sentence around a stretch, at most `most` characters on each side."""
    low, high = max(0, start - most), min(len(text), end + most)
    first = max((match.end() for match in _SENTENCE_END.finditer(flat, low, start)), default=low)
    blank = text.rfind("\n\n", first, start)
    first = blank + 2 if blank >= 0 else first
    stop = _SENTENCE_END.search(flat, max(start, end - 1), high)
    last = stop.start() + 1 if stop else high
    blank = text.find("\n\n", end, last)
    last = blank if blank >= 0 else last
    while first < start and flat[first] == " ":
        first += 1
    while last > end and flat[last - 1] == " ":
        last -= 1
    return Span(first, last)

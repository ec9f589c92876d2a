"""A contract as the finders of its clauses see it: its dates and durations, and the clauses around them.

Offsets are those of the text: `flatten` replaces each line break with a space, so that words can be found across it. Finders
look for the patterns of `clauses.toml`.
"""

import re
import tomllib
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from storage.scores import Absence
from tasks.figures.figure import guess_language
from tasks.language.numbers import uses_decimal_comma
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
            year = when.end.year  # of two digits, in the right century: 05/05/98 is in 1998
            is_past = year >= _CENTURY and str(year) not in stretch[when.start : when.stop]
            found.append(Dated(when.end.replace(year=year - 100 * is_past), when.start, when.stop))
    return sorted(
        (Dated(one.day, one.start + max(0, start), one.end + max(0, start)) for one in found), key=lambda one: one.start
    )


_CLOCK: Final = re.compile(r"[\s,]*(?:at |um |à |@)?\s*\d ?\d? ?: ?\d(?!\d? ?Uhr)")
_STAMP: Final = re.compile(r"\b(?:fax|clerk|recorded|filed|received|docusign)|\d ?[ap]\.?m\b", re.IGNORECASE)
"""Words around the day and the time of a register, a fax or an electronic signature. Deeds state a time as well."""


def is_stamped(flat: str, dated: Dated) -> bool:
    """Whether a day with a time behind it is in figures, or has words of a stamp around it."""
    if not _CLOCK.match(flat, dated.end):
        return False
    is_in_figures = not re.search(r"[^\W\d_]", flat[dated.start : dated.end])
    return is_in_figures or _STAMP.search(flat, max(0, dated.start - 40), dated.end + 30) is not None


def fills_line(text: str, dated: Dated) -> bool:
    """Whether a day stands alone on its line, as over a letter."""
    around = text[: dated.start].rpartition("\n")[2] + text[dated.end :].partition("\n")[0]
    return not around.strip()


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
        named = match["unit"].casefold().rstrip("'’").split()[-1]
        unit = _UNITS.get(named) or _UNITS[named.rstrip("s")]
        if count:
            yield Duration(f"P{count}{unit}", match.start(), match.end())


@cache
def _duration() -> re.Pattern[str]:
    return re.compile(DURATION, re.IGNORECASE)


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


OPENING: Final = 6000
"""Characters in which a contract names its parties."""
PERPETUAL: Final = "perpetual"
"""The value of an expiry where a contract has no end."""


@cache
def clause_words() -> Mapping[str, Any]:
    """The words of `clauses.toml` by entry."""
    return tomllib.loads(Path(__file__).with_name("clauses.toml").read_text(encoding="utf-8"))


def written(name: str) -> str:
    """A pattern from `clauses.toml` that matches any of the entry's lines."""
    return "|".join(clause_words()[name])


@cache
def _searched(name: str) -> re.Pattern[str]:
    return re.compile(written(name), re.IGNORECASE)


def says(name: str, words: str) -> bool:
    """Whether words match any of the lines of an entry of `clauses.toml`."""
    return _searched(name).search(words) is not None


@cache
def pattern(expression: str) -> re.Pattern[str]:
    """A compiled pattern in which a space stands for any amount of white space."""
    return re.compile(expression.replace(" ", r"\s+"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value with the stretches of text that say so; without a value, `absence` says why there is none."""

    value: Any
    spans: tuple[Span, ...]
    sure: float = 0.8
    absence: Absence | None = None


_EMPHASIS: Final = re.compile(r"(?<![*\[])\*\*(?![*\s\]])([^*\n]{1,1000})(?<!\s)\*\*(?!\*)")


@dataclass
class Contract:
    """A text for finders to look at; `finders` are all of them by name, because some ask others."""

    text: str
    finders: Mapping[str, "Finder"]
    known: dict[str, FoundValue | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Blank the stars of Markdown around words; all places stay the same."""
        self.text = _EMPHASIS.sub(r"  \1  ", self.text)

    @cached_property
    def flat(self) -> str:
        """The text with spaces in place of line breaks."""
        return flatten(self.text)

    @cached_property
    def comma_decimal(self) -> bool:
        """Whether it writes decimals with a comma."""
        return uses_decimal_comma(self.text, guess_language(self.text))

    def clause(self, start: int, end: int) -> Span:
        """The sentence around a stretch."""
        return clause_around(self.text, self.flat, start, end)

    def words(self, span: Span) -> str:
        """The words of a stretch, single-spaced."""
        return " ".join(self.flat[span.start : span.end].split())

    def find(self, name: str) -> FoundValue | None:
        """What a finder finds, cached."""
        if name not in self.known:
            self.known[name] = self.finders[name](self)
        return self.known[name]


Finder = Callable[[Contract], FoundValue | None]
"""Finds one thing that a contract states; None if it does not."""


def find_all(contract: Contract, expression: str, end: int | None = None) -> Iterator[re.Match[str]]:
    """The matches of a pattern in a contract, up to `end`."""
    return pattern(expression).finditer(contract.flat, 0, len(contract.flat) if end is None else end)


def heads_line(text: str, match: re.Match[str]) -> bool:
    """Whether words are a label at the beginning of a line of the contract's head: `Effective Date: 1 March 2024`."""
    before = text[: match.start()].rpartition("\n")[2]
    return match.end() < OPENING and match[0].endswith(":") and not before.strip(" \t*-•|")


def is_of_another(text: str, match: re.Match[str]) -> bool:
    """Whether the lines above a label, or what follows it, name a contract that is not the one of the title."""
    title, _, above = text[: match.start()].lstrip().partition("\n")
    around = f"{above[-300:]} {text[match.end() :][:60]}"
    is_master = says("master", around) and not says("master", title)
    return match[0].endswith(":") and (is_master or says("of_another", f"{title} {around}"))

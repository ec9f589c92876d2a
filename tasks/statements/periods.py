"""Periods that a text names otherwise than a statement: quarters by the day on which they end, a year as the last one.

A company's second quarter need not end in June: what a text says decides. It must name the quarter with its number and
its year, and the quarter by its end, in the same sentence, or everywhere by the calendar.
"""

import re
from functools import lru_cache
from typing import Final

from tasks.language.locales import month_names
from tasks.language.periods import MONTH_NAME

_ORDINALS: Final = ("first", "second", "third", "fourth")
_COUNTED: Final = re.compile(
    r"\b(?:the )?(?:(?P<ordinal>first|second|third|fourth)[ -]quarter(?: of)?|Q(?P<number>[1-4]))"
    r"(?: (?:of )?(?:fiscal )?(?:year )?(?P<year>20\d\d))?\b",
    re.IGNORECASE,
)
_ENDED: Final = re.compile(
    rf"\bquarters? ended (?P<day>(?P<month>{MONTH_NAME}) \d{{1,2}}),? ?(?P<year>20\d\d)?",
    re.IGNORECASE,
)
_YEAR_BEFORE: Final = re.compile(
    r"(?P<same>(?:in |for |of |to )?the (?:same|corresponding|comparable) (?:period|quarter) )?"
    r"(?:in |for |of )?(?:the )?(?:last|prior|previous) (?:fiscal )?year(?:['’]s)?(?! (?:quarter|period|end)|-)",
    re.IGNORECASE,
)
_COMPARES: Final = re.compile(r",? (?:and|which) compares? (?:with|to)\b", re.IGNORECASE)
_YEAR: Final = re.compile(r"\b(?P<fiscal>fiscal )?(?:year )?(?P<year>20\d\d)\b", re.IGNORECASE)
_BY_CALENDAR: Final = {month: number for number, month in enumerate(map(str.lower, month_names()[2::3]), 1)}


def with_ends_of_quarters(statement: str, text: str) -> str:
    """The statement with `the quarter ended June 30, 2023` for `the second quarter of 2023`, where the text says so."""
    match = _COUNTED.search(statement)
    if match is None:
        return statement
    number, year = _number(match), match["year"]
    days, years = _quarters(text)
    day = days.get(number)
    year = year or years.get(number)
    if day is None or not year:
        return statement
    before, behind = statement[: match.start()], statement[match.end() :]
    period = f"quarter ended {day}, {year}"
    if (
        behind.startswith(" ")
        and re.match(r" (?!and\b|or\b|from\b|than\b|of\b|to\b|in\b)[a-z]", behind)
        and not before.strip()
    ):
        return f"In the {period}, {behind.strip()}"  # "Second-quarter revenue was"
    return f"{before}the {period}{behind}"


def _number(match: re.Match[str]) -> int:
    return int(match["number"]) if match["number"] else _ORDINALS.index(match["ordinal"].lower()) + 1


@lru_cache(maxsize=16)
def _quarters(text: str) -> tuple[dict[int, str], dict[int, str]]:
    """The day on which each quarter ends that a text counts, and its year where that is one year alone."""
    counted: dict[int, set[str]] = {}
    for match in _COUNTED.finditer(text):
        if match["year"]:
            counted.setdefault(_number(match), set()).add(match["year"])
    days: dict[int, set[str]] = {}
    for match in _ENDED.finditer(text):
        number = _BY_CALENDAR.get(match["month"].lower())
        if number in counted:
            days.setdefault(number, set()).add(match["day"])
    if not _agrees(text):
        return {}, {}
    years = {number: next(iter(each)) for number, each in counted.items() if len(each) == 1}
    return {number: next(iter(each)) for number, each in days.items() if len(each) == 1}, years


def _agrees(text: str) -> bool:
    """Whether no sentence of a text has a quarter with the end of another one."""
    for match in _ENDED.finditer(text):
        near = [_number(other) for other in _COUNTED.finditer(text, max(match.start() - 120, 0), match.start())]
        number = _BY_CALENDAR.get(match["month"].lower())
        if number is None or (near and number not in near):
            return False
    return True


def with_year_before(sentence: str) -> str:
    """The sentence with `in fiscal 2022` for `last year`, and `the first quarter of 2022` for the same one last year.

    It must name one year, and for a quarter that quarter. What it compares with is named as such.
    """
    sentence = _COMPARES.sub(", compared with", sentence)
    if not _YEAR_BEFORE.search(sentence):
        return sentence
    years = {match["year"]: match["fiscal"] or "" for match in _YEAR.finditer(sentence)}
    if len(years) != 1:
        return sentence
    (year, fiscal), *_ = years.items()
    before = f"{fiscal}{int(year) - 1}"
    quarters = {_number(match): match["ordinal"] or f"Q{match['number']}" for match in _COUNTED.finditer(sentence)}

    def named(match: re.Match[str]) -> str:
        if not match["same"]:
            return f"in {before}"
        if len(quarters) != 1:
            return match[0]
        quarter = next(iter(quarters.values()))
        return f"in {quarter} {before}" if quarter.startswith("Q") else f"in the {quarter} quarter of {before}"

    return _YEAR_BEFORE.sub(named, sentence)

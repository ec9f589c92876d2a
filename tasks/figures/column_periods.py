"""The time of each column of a table: from the words over it, the columns beside it, and the titles above."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from tasks.figures.figure import WORDS, Kind
from tasks.figures.fiscal_calendar import is_out_of_step
from tasks.figures.table_labels import is_date, without_periods
from tasks.figures.table_rows import Row
from tasks.language.numbers import Amount, cell_amount, only_units
from tasks.language.periods import (
    When,
    find_periods,
    header_period,
    header_words,
    make_day,
    says_to_date,
    spell_months,
    spoken_span,
)
from tasks.language.words import alternation, look_up

PRIOR: Final = re.compile(
    rf"\b(?:{alternation(header_words('prior_year'))})\b".replace("\\ ", "[- ]") + r"|\(전\)", re.IGNORECASE
)
_THIS: Final = re.compile(
    rf"\b(?:{alternation(header_words('this_year'))})\b".replace("\\ ", "[- ]") + r"|\(당\)", re.IGNORECASE
)
_LONGEST_SPAN: Final = 40
QUARTER: Final = 3
_LENGTHS: Final = {"month": 1, "quarter": QUARTER, "monat": 1, "quartal": QUARTER, "mois": 1, "mes": 1}


def opens_part_of_year(words: str, when: When | None, titles: Sequence[str]) -> bool:
    """Whether a column of a Chinese or Korean statement is of a part of a year that its time does not tell, or of the
    last year's end beside such a part.
    """
    if when is None or when.end is None:
        return any(map(WORDS.eastern_part_of_year.search, [words, *titles]))
    return (when.end.month, when.end.day) != (12, 31) and WORDS.eastern_prior.search(words) is not None


_ASIDE: Final = re.compile(r"\([^()]*\)")


def remove_time(words: str) -> str:
    """The words over a column without those that say this year's, last year's or this month's."""
    words = WORDS.year_before_month.sub(r"\2 \1", words)
    for pattern in (PRIOR, _THIS, WORDS.this_year_alone, WORDS.this_time):
        words = pattern.sub(" ", words)
    return words


def spell_heading(line: str, month_first: bool | None) -> str:
    """A line over a table with its dates as `spell_months` writes them; not where one beside other words may be that of
    a print or an approval.
    """
    spelled = spell_months(line, month_first)
    if spelled == line:
        return line
    words = _ISO_DAY.sub("#", spelled)
    heads = words.count("#") > 1 or words.strip() == "#" or WORDS.dated_statement.fullmatch(words)
    return spelled if heads else line


_ISO_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")


class Times(NamedTuple):
    """What the columns of a header refer to: its days, its only year, its title, the newest year, and this month."""

    dated: When | None
    year: When | None
    of_title: When | None
    newest: date | None
    of_document: When | None


def refer_to(
    words: Sequence[str], own: Sequence[When | None], of_title: When | None, newest: date | None, document: When | None
) -> Times:
    """What columns without a time of their own refer to."""
    known = [when for when in own if when is not None and when.dated]
    dated = next((when for when in known if when.end is not None), None)
    year = known[0] if len(known) == 1 and known[0].is_bare_year else None
    return Times(dated, year, of_title, newest if any(map(_THIS.search, words)) else None, document)


def find_when(text: str, when: When | None, step: int | None, times: Times) -> When | None:
    """The period of a column: from its words (`when`), the columns beside it, the title, or the newest year."""
    this = WORDS.this_time.search(text)
    if this and when is None:
        return _find_this(look_up(_LENGTHS, this[1]), times)
    is_prior = PRIOR.search(text) is not None
    if when is None and is_prior and (not (rest := _ASIDE.sub(" ", PRIOR.sub(" ", text)).strip()) or only_units(rest)):
        when = times.year
    if step and when is not None and when.end is not None:
        first_day = step == 1 and when.end.day == 1  # a column of January is headed by its first day
        when = replace(when, months=step, end=make_day(when.end.year, when.end.month, 31) if first_day else when.end)
    elif when is None and times.dated is not None:
        when = times.dated if is_prior else None  # the header has its own days
    elif when is None or not (when.is_bare_year and when.months):
        when = _join_period(when, times.of_title)
    if times.newest and (when is None or not when.dated) and (is_prior or _THIS.search(text)):
        when = When(end=times.newest, months=12)
    return replace(when, to_date=True) if when is not None and when.dated and says_to_date(text) else when


def _find_this(months: int, times: Times) -> When | None:
    """The month or quarter that a document or a title is of, or that ends on the title's day."""
    if times.of_document and times.of_document.months == months:
        return times.of_document
    title = times.of_title
    if title is None or (title.part[:1] == "Q" and months == QUARTER):
        return title
    is_end = title.end is not None and title.end == make_day(title.end.year, title.end.month, 31)
    return replace(title, months=months) if is_end and title.months in {None, months} else None


_FIRST_DAY: Final = re.compile(r"\d{4}-01-01")
_UP_TO: Final = re.compile(r"(?:to|bis|au|al|tot|til|till) ", re.IGNORECASE)
"""How the words over a column begin that have lost how long its period is."""


def read_periods(words: Sequence[str]) -> list[When | None]:
    """The period in the words above each column; beside quarters and halves, a year means the full year."""
    own = _without_torn(words, [_plan_year(text) or header_period(text) for text in words])
    days = {text: when for text, when in zip(words, own, strict=True) if when is not None and when.end is not None}
    if len(days) > 1 and all(map(_FIRST_DAY.fullmatch, days)):  # for flows, years that a workbook holds as dates
        return [
            replace(when, begun=when.end, end=None, year=int(text[:4])) if text in days and when else when
            for text, when in zip(words, own, strict=True)
        ]
    if not any(when is not None and when.part and when.dated for when in own):
        return own
    return [
        replace(when, months=12) if when is not None and when.is_bare_year and not when.months else when for when in own
    ]


def _without_torn(words: Sequence[str], own: list[When | None]) -> list[When | None]:
    """The periods without ends that lost their months: "12 months to 5 months 28 Feb 2023 | to 28 Feb 2022"."""
    if not any(when is not None and when.months for when in own):
        return own
    return [
        None if when is not None and not when.months and _UP_TO.match(text) else when
        for text, when in zip(words, own, strict=True)
    ]


_MONTH: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


def may_end_years(words: Sequence[str], of_title: When | None) -> bool:
    """Whether months head columns, one month of two years or all of them January: a fiscal year ends in it, or not."""
    is_part = of_title is not None and of_title.months not in {None, YEAR}
    months = [match[1] for match in map(_MONTH.fullmatch, words) if match]
    return not is_part and len({*months}) == 1 and (len(months) == TWO_YEARS or (len(months) > 1 and months[0] == "01"))


def _plan_year(text: str) -> When | None:
    """A numbered year of a plan, "Year 3", or a part of one; None if the text also states its date."""
    match = _PLAN_YEAR.search(text)
    if match is None or any(when.dated for when in find_periods(text)):
        return None
    part = next((when.part for when in find_periods(text) if when.part), "")
    return When(year=int(match[1]), months=None if part else 12, part=part, forecast="f")


_PLAN_YEAR: Final = re.compile(
    rf"\b(?:{alternation(header_words('plan_year'))})[ -]?([1-9]|[12]\d|30)\b(?![.,]?\d)", re.IGNORECASE
)


def contradicts_order(own: Sequence[When | None], words: Sequence[str]) -> bool:
    """Whether a header contradicts itself: its quarters or years are consecutive, but the days on which they end are
    not.
    """
    dated = [(when.end, find_periods(text)) for when, text in zip(own, words, strict=True) if when and when.end]
    of_parts = [({each.part for each in found if each.part}, end) for end, found in dated]
    of_years = [({each.year for each in found if each.year and not each.part}, end) for end, found in dated]
    named = [(names.pop(), end) for names, end in of_parts if len(names) == 1]
    years = [(names.pop(), end) for names, end in of_years if len(names) == 1]
    return is_out_of_step(years) or any(
        (one[0], other[0]) in {("Q1", "Q2"), ("Q2", "Q3"), ("Q3", "Q4")} and not 80 < (other[1] - one[1]).days < 100
        for one, other in pairwise(named)
    )


_UNTIL: Final = re.compile(rf"\b(?:{alternation(header_words('until'))})\b", re.IGNORECASE)


def stack_dates(lines: Sequence[str], width: int) -> list[str]:
    """The words above the columns of a table without a header, if each date is on lines of its own above it."""
    stacked = " ".join(line for line in lines if len(line) <= _LONGEST_SPAN)
    dates = [when for when in find_periods(stacked) if when.dated]
    if len(dates) != width - 1 or len({(when.end, when.year) for when in dates}) != len(dates) or len(dates) < 2:
        return []
    if any(
        header_period(stacked[first.start : last.stop]) or _UNTIL.search(stacked, first.stop, last.start)
        for first, last in pairwise(dates)
    ):
        return []  # both ends of one time
    return ["", *(stacked[when.start : when.stop] for when in dates)]


def title_when(titles: Sequence[str], corner: str) -> When | None:
    """The period that the titles give to all columns, or the day and length that columns leave open."""
    for title in (corner, *reversed(titles[-5:])):
        if (len(title) > 90 or title.endswith(".")) and not WORDS.column_dated_title.search(title):
            continue
        is_other = WORDS.founded.search(title) or WORDS.column_other_year.search(title)
        when = header_period(title) if title and not is_other else None
        if when is not None:
            return when
        span = spoken_span(title) if title else None
        if span:
            return When(months=span)
    return None


def add_statement_day(of_title: When | None, titles: Sequence[str], own: Sequence[When | None]) -> When | None:
    """A title's period with the month and day in the heading of a statement whose columns are bare years, the newest of
    them that of the day: "Balance sheet as at 30 June 2024" above 2024 and 2023.
    """
    years = [when.year for when in own if when is not None and when.is_bare_year and when.year is not None]
    for title in reversed(titles[-5:]):
        when = header_period(title) if years and _heads_statement(title) else None
        if when and when.end and when.end.year == max(years) and when.months in {None, YEAR}:
            return replace(of_title or When(), month_day=(when.end.month, when.end.day))
    return of_title


def _heads_statement(title: str) -> bool:
    """Whether a title says nothing but which statement it is and its time: no approval, and no plan beside it."""
    title = without_periods(title, "#")
    return WORDS.statement_heading.search(title) is not None and WORDS.dated_statement.fullmatch(title) is not None


def _join_period(when: When | None, title: When | None) -> When | None:
    """A column's period completed from the title: the day and month, the length, or the whole period."""
    if title is None or (title.months == 1 and when is not None and when.dated):  # "February 2025" at a slide's foot
        return when
    if when is None or not when.dated:
        return _date_by_title(when, title)
    if when.is_bare_year and when.months is None and title.part and not title.dated:
        return replace(when, part=title.part)
    months = when.months or title.months
    of_part = title.end if title.months and title.months < YEAR else None
    day = title.month_day or ((of_part.month, of_part.day) if of_part else None)
    if when.is_bare_year and when.year is not None and day:
        return When(end=make_day(when.year, *day), months=months, forecast=when.forecast)
    return replace(when, months=None if when.part else months)


def _date_by_title(when: When | None, title: When) -> When | None:
    """A column's period without a year, with the title's year, or the title's whole period."""
    if when is not None and when.part and title.end and title.months != YEAR:
        return None  # quarters under the day of a print
    if title.dated and (when is None or not when.month_day):
        months, part = (when.months, when.part) if when else (None, "")
        return replace(title, months=months or title.months, part=part or title.part)
    if when is not None and when.month_day and title.year is not None:
        return When(end=make_day(title.year, *when.month_day), months=when.months or title.months)
    return when


def find_steps(headers: Sequence[When | None]) -> list[int | None]:
    """For each column, the months between its bare date and the dates beside it: 3 for quarters, 12 for years.

    Columns for quarters and for years may be side by side: a new run begins if the dates go back or their spacing
    changes.
    """
    steps: list[int | None] = [None] * len(headers)
    dated = [(at, when.end) for at, when in enumerate(headers) if when and when.end and when.months in {None, 1}]
    gaps = [(round((day - before).days / 30.4), at - left) for (left, before), (at, day) in pairwise(dated)]
    usual = min((places for _, places in gaps), default=0)
    runs: list[range] = []  # positions in `dated`
    at = 0
    while at < len(dated):
        end = at + 1
        while end < len(dated) and gaps[end - 1] == (gaps[at][0], usual):
            end += 1
        runs.append(range(at, end))
        at = end
    paces = [abs(gaps[run[0]][0]) if len(run) > 1 else 0 for run in runs]
    shortest = min((pace for run, pace in zip(runs, paces, strict=True) if len(run) > TWO_YEARS), default=12)
    for run, pace in zip(runs, paces, strict=True):
        if pace in _STEPS and (len(run) > TWO_YEARS or shortest < pace):
            for position in run:
                steps[dated[position][0]] = pace
    return steps


_STEPS: Final = frozenset({1, 3, 6, 12})
_MOST_DATES: Final = 200
"""Rows of a series by which the step is told."""
_LONGEST_SERIES: Final = 2000


def _find_pace(names: Sequence[str]) -> int | None:
    """The months between the days that rows of a series are named by: 1 for a row each month; None if it varies, 0 if
    some are less than a year apart, so that no row tells how long it is.
    """
    read = [header_period(name) for name in names if is_date(name)]
    dated = [when for when in read if when is None or not when.is_bare_year] or read  # years part the days of each
    paces = {*find_steps(dated)}
    if len(paces) == 1 and (pace := paces.pop()):
        return pace
    days = sorted({when.end for when in dated if when and when.end and not when.months})
    return 0 if any((day - before).days < _SHORTEST_YEAR for before, day in pairwise(days)) else None


_SHORTEST_YEAR: Final = 357
"""Days between the ends of two fiscal years of whole weeks."""


class Series:
    """The rows of a table that days, months or years name, and the step from one to the next."""

    def __init__(self, rows: Sequence[Row], *, comma_decimal: bool) -> None:
        self.pace: Final = _find_pace([row.name for row in rows[:_MOST_DATES]])
        self._rows: Final = rows
        self._comma: Final = comma_decimal

    def find_period(self, when: When, kind: Kind, over: str) -> When | None:
        """The period of a row, as long as the step to the next, with the words `over` it; None if it is not certain."""
        if not when.end or when.months is not None:
            return when
        if not self.pace:
            return when if kind == "instant" else None
        if when.end.day == 1:
            if self.pace > 1:
                return None
            when = replace(when, end=make_day(when.end.year, when.end.month, 31))  # a month by its first day
        if says_to_date(over):
            return replace(when, to_date=True)
        if kind == "duration" and WORDS.running_total.search(over):
            return None
        return when if WORDS.longer_than_its_step.search(over) else replace(when, months=self.pace)

    @cached_property
    def _months(self) -> Mapping[int, list[Row]]:
        """The rows that are named by a day or a month, by its year."""
        months = defaultdict(list)
        for row in self._rows[:_LONGEST_SERIES]:
            when = header_period(row.name) if is_date(row.name) else None
            if when and when.end:
                months[when.end.year].append(row)
        return months

    def is_beside_months(self, year: When, at: int, amount: Amount) -> bool:
        """Whether months of a year are named in other rows, and an amount in a column is not the sum of twelve."""
        if self.pace != 1:
            return False
        months = self._months[year.year or 0]
        cells = (cell_amount(row.cells[at], comma_decimal=self._comma) for row in months if at < row.width)
        values = [each.value for each in cells if each is not None]
        return bool(months) and (len(values) != YEAR or abs(sum(values) - amount.value) > 2 * amount.step)


def find_year_so_far(headers: Sequence[When | None]) -> list[int | None]:
    """For the later of two days less than a year apart, the months between them: the year so far
    since the earlier one.
    """
    dated = sorted((when.end, at) for at, when in enumerate(headers) if when and when.end and when.months is None)
    months: list[int | None] = [None] * len(headers)
    if len(dated) == TWO_YEARS:
        apart = round((dated[1][0] - dated[0][0]).days / 30.4)
        months[dated[1][1]] = apart if 0 < apart < YEAR else None
    return months


YEAR: Final = 12


TWO_YEARS: Final = 2

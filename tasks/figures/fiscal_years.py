"""A company's fiscal year, where only some of its documents say when it ends.

"FY24" in a deck is the year that the accounts say ends on 31 March 2024. A document that does not say its own year is
read by the calendar year; in a room whose other documents all end their years in another month, it is put right here.
What names a month or a day itself stays as it is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePath
from typing import Final

from tasks.figures.conflicts import RoomFigure
from tasks.figures.document import kind_by_name
from tasks.figures.figure import ACTUAL, find_basis
from tasks.figures.fiscal_calendar import Calendar, learn_calendar
from tasks.figures.vocabulary import WORDS
from tasks.language.periods import When, count_months, find_periods, last_day

_TRAILING: Final = re.compile(r"\b(?:ltm|ttm|trailing|last twelve|twelve months|12 months)\b", re.IGNORECASE)
_COLUMN: Final = ", column “"
_AROUND: Final = 200
"""Characters before a number in a sentence that may say of when it is; as many behind it."""

_WEEK: Final = 8
"""Days by which the ends of years of 52 and 53 weeks differ."""

_CALENDAR_YEAR: Final = "12-31"
_OF_YEAR: Final = 1000
"""What a whole year weighs beside a day when it is asked when a text's years end."""

_FIRST_OF_WEEKS: Final = "12-24"
"""After this day of December years of weeks end that are as good as calendar years."""

_MOST_CALENDARS: Final = 20
"""Documents of a room that are asked when their years end, those with most figures first."""

_FIRST_SURE_MONTH: Final = 3
"""A year that ends in January or February may bear the name of the year before."""


def by_the_rooms_year(rows: Sequence[RoomFigure], text_of: Callable[[int], str]) -> Sequence[RoomFigure]:
    """The figures of a room; those of bare years in documents that say no year's end, by the end that the others say.

    `text_of` gives a document's text by its id; it is asked for documents of calendar years alone, and only in rooms
    that have others.
    """
    ends = _year_ends(rows)
    of_calendar_years = {text_id for text_id, (end, _) in ends.items() if end == _CALENDAR_YEAR}
    if len(of_calendar_years) == len(ends):
        return rows
    silent: dict[int, str] = {}
    for text_id in of_calendar_years:
        text = text_of(text_id)
        if not learn_calendar(text, ends[text_id][1]).said:
            silent[text_id] = text
    others = [row for row in rows if row.text_id in ends and row.text_id not in of_calendar_years]
    calendar = _calendar(others)
    said_december = len(silent) < len(of_calendar_years)
    if calendar is None or said_december or not silent:
        return rows
    return [_put_right(row, silent[row.text_id], calendar) if row.text_id in silent else row for row in rows]


def learn_room_calendar(rows: Sequence[RoomFigure], text_of: Callable[[int], str]) -> Calendar:
    """The fiscal year of the documents of a room, for what speaks of them and does not say it: a memo.

    Its date is the newest of those documents that have most figures, and of the times that their actual figures are of.
    Where they end their years on different days it is the calendar year.
    """
    names = {row.text_id: row.document_name for row in rows}
    most = Counter(row.text_id for row in rows).most_common(_MOST_CALENDARS)
    learnt = [learn_calendar(text_of(text_id), names[text_id]) for text_id, _ in most]
    actual = [date.fromisoformat(last_day(row.figure.period)) for row in rows if row.basis in ACTUAL]
    dated = max([*actual, *(calendar.dated for calendar in learnt if calendar.dated)], default=None)
    said = [calendar for calendar in learnt if calendar.said]
    if len({(calendar.month, calendar.shift) for calendar in said}) != 1:
        return Calendar(dated=dated)
    ends = {year: end for calendar in said for year, end in calendar.ends.items()}
    return replace(said[0], ends=ends, dated=dated)


def _year_ends(rows: Iterable[RoomFigure]) -> Mapping[int, tuple[str, str]]:
    """Month and day on which most whole years of each text end, and its name; days stand in where it has none.

    A text of years of weeks has an end of its own ("12-30") in one year at least: that stands for it.
    """
    days: dict[int, Counter[str]] = defaultdict(Counter)
    names: dict[int, str] = {}
    for row in rows:
        if row.figure.unit == "year" or _TRAILING.search(row.figure.place):
            continue
        names[row.text_id] = row.document_name
        of_year = 11 <= count_months(row.figure.period) <= 13
        if of_year or "/" not in row.figure.period:
            days[row.text_id][last_day(row.figure.period)[5:]] += _OF_YEAR if of_year else 1
    return {text_id: (_find_usual_end(counts), names[text_id]) for text_id, counts in days.items()}


def _find_usual_end(days: Counter[str]) -> str:
    """The day on which most of these years end; of years of weeks near the end of a calendar year, the one they own."""
    most = days.most_common(1)[0][0]
    of_weeks = (day for day in days if _FIRST_OF_WEEKS < day < _CALENDAR_YEAR and days[day] >= _OF_YEAR)
    return next(of_weeks, most) if most == _CALENDAR_YEAR else most


def _calendar(rows: Iterable[RoomFigure]) -> Calendar | None:
    """The year that actual figures of whole years are of; None where they are of several."""
    ends = Counter(
        date.fromisoformat(last_day(row.figure.period))
        for row in rows
        if row.basis in ACTUAL
        and 11 <= count_months(row.figure.period) <= 13
        and not _TRAILING.search(row.figure.place)
        and (row.figure.period[5:7] != "01" or _FIRST_OF_WEEKS < last_day(row.figure.period)[5:] < _CALENDAR_YEAR)
    )
    newest = max(ends, default=None)
    if newest is None or newest.month < _FIRST_SURE_MONTH:
        return None
    if any(abs((newest - end).days - 365.25 * (newest.year - end.year)) > _WEEK for end in ends):
        return None
    return Calendar(month=newest.month, day=newest.day, ends={end.year: end for end in ends})


def _put_right(row: RoomFigure, text: str, calendar: Calendar) -> RoomFigure:
    """A figure of a bare year, by the year's own end."""
    figure = row.figure
    of_year = figure.period.endswith("-12-31") and ("/" not in figure.period or 11 <= count_months(figure.period) <= 13)
    if not of_year or any(when.end or when.month_day for when in find_periods(_words(row, text))):
        return row
    when = When(year=int(last_day(figure.period)[:4]), months=12)
    if calendar.month == 12 and when.year not in calendar.ends:  # a year of weeks ends where the others say
        return row
    period = calendar.resolve(when, instant="/" not in figure.period)
    if period is None:
        return row
    if _had_ended(row, period, _words(row, text)):  # no forecast, as it was taken for by the calendar year
        kind = kind_by_name(row.document_name, PurePath(row.document_name).suffix.lower())
        basis = kind.basis if kind else "management"
        return replace(row, figure=replace(figure, period=period, basis=None), basis=basis)
    return replace(row, figure=replace(figure, period=period))


def _had_ended(row: RoomFigure, period: str, words: str) -> bool:
    """Whether a figure of which no word says that it is planned is of a time that was over."""
    written = row.dated or row.changed
    if row.basis != "forecast" or written is None or last_day(period) > written:
        return False
    return find_basis(words) is None and WORDS.said_plan.search(words) is None


def _words(row: RoomFigure, text: str) -> str:
    """What says of when a figure is: its row and its column, or the sentence around it."""
    figure = row.figure
    if _COLUMN in figure.place:
        return figure.place[figure.place.index("“") :]
    before = text[max(0, figure.start - _AROUND) : figure.start]
    behind = text[figure.end : figure.end + _AROUND]
    return re.split(r"\n|[.;] (?=[A-ZÄÖÜ])", before)[-1] + " " + re.split(r"\n|[.;] (?=[A-ZÄÖÜ])", behind)[0]

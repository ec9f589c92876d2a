"""A company's fiscal year, if only some of its documents say when it ends.

"FY24" in a deck is the year that the accounts say ends on 31 March 2024. A document that does not say when its year
ends is first read by the calendar year; if all other documents in the room end their years in another month, that is
corrected here. Anything that names a month or day itself is left alone.
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
from tasks.figures.figure import ACTUAL, WORDS, find_basis
from tasks.figures.fiscal_calendar import Calendar, learn_calendar
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
    """The figures of a room, with bare years corrected in documents that do not say when their year ends.

    `text_of` returns a document's text by its id; it is only called for documents with calendar years, and only in
    rooms that have others.
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
    """The fiscal year of a room's documents, for a memo or other text that refers to it without saying when it ends.

    Its date is the newest of the documents with most figures, and of the periods of their actual figures. If their
    years end on different days it is the calendar year.
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
    """The month and day on which most full years of each text end, and its name; if it has no full years, its single
    days count.

    A text with 52- or 53-week years has an end other than 31 December ("12-30") in at least one year, and that one is
    used.
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
    """The day on which most of these years end. If that is 31 December but 52- or 53-week years end near it, the end of
    those.
    """
    most = days.most_common(1)[0][0]
    of_weeks = (day for day in days if _FIRST_OF_WEEKS < day < _CALENDAR_YEAR and days[day] >= _OF_YEAR)
    return next(of_weeks, most) if most == _CALENDAR_YEAR else most


def _calendar(rows: Iterable[RoomFigure]) -> Calendar | None:
    """The fiscal year of the actual full-year figures; None if they belong to several."""
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
    """The figure with its period corrected if it only names a year: the fiscal year instead of the calendar year."""
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
    """Whether a forecast that no words mark as planned is for a period that was over when the document was written."""
    written = row.dated or row.changed
    if row.basis != "forecast" or written is None or last_day(period) > written:
        return False
    return find_basis(words) is None and WORDS.said_plan.search(words) is None


def _words(row: RoomFigure, text: str) -> str:
    """The words that tell a figure's period: its row and column, or the sentence around it."""
    figure = row.figure
    if _COLUMN in figure.place:
        return figure.place[figure.place.index("“") :]
    before = text[max(0, figure.start - _AROUND) : figure.start]
    behind = text[figure.end : figure.end + _AROUND]
    return re.split(r"\n|[.;] (?=[A-ZÄÖÜ])", before)[-1] + " " + re.split(r"\n|[.;] (?=[A-ZÄÖÜ])", behind)[0]

"""A document's fiscal calendar: when its years end, learned from its own words, and which periods words mean by it.

"FY24" is the year that the document says ends on 31 March 2024. `ledger.py` handles rooms in which only some
documents say when their year ends.
"""

import re
from calendar import monthrange
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tasks.figures.figure import WORDS, holds, lower_text, matches, plain_blanks, spots, words_in
from tasks.language.periods import (
    MONTH,
    YEAR,
    When,
    dates_in,
    find_periods,
    header_period,
    header_words,
    make_day,
    months_back,
)
from tasks.language.words import look_up, months
from tasks.reading.text_writer import sure_day, today

MOST_PLAN_YEARS: Final = 30
"""Up to which number a year is one of a plan, "Year 3", and no calendar year."""
_START_WORDS: Final = header_words("plan_start")
_FIRST_PAGES: Final = 8000
"""Characters in which a release on a quarter names the quarter and the day on which it ended."""
_NEAR: Final = 10
"""Days by which a quarter's end may differ from the third, sixth or ninth month of its year."""
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_CUT: Final = re.compile(r"\n(?<=\S\n)(?=\S)")
_NAMED_YEAR_WORDS: Final = ("fiscal", "fy", "ended", "ending")
_YEAR_WORDS: Final = ("year", "jahr", "exercice", "ejercicio", "esercizio", "exercício", "boekjaar")
_AHEAD: Final = 20
"""Characters before "period ended" that may say that it is no year."""
_DATE_LINE: Final = 3000
_TITLE_LINES: Final = 3
_TWO_DIGITS: Final = re.compile(r"\d\d")
_SENTENCE_END: Final = re.compile(r"(?<=[.;]) ")
_FIRST_WEEK: Final = 7
_INDIAN_WORDS: Final = ("₹", "inr", "lakh", "crore")
_MONTHS_OF_TWO_NAMES: Final = 2
"""A year that ends in January or February is called by some after the year before."""
_YEAR_DAYS: Final = frozenset({363, 364, 365, 366, 371})
"""How long a year is, of whole weeks or of the calendar; the first one of weeks may follow 31 December."""
_ANY_YEAR: Final = 2023
_SURE: Final = 5
"""What a year's end counts that is stated in so many words; one that is named with its date counts 3."""
_FIRST_LINES: Final = 2500
_LONGEST_HEAD: Final = 50_000
"""Characters that are looked at for the days that balance sheets are of."""


@dataclass(frozen=True)
class Calendar:
    """When a document's fiscal years end.

    Attributes:
        month, day: the usual end of the year.
        ends: the exact ends that the document names, by their year.
        shift: how many years the end lies behind the year's name: 1 where fiscal 2024 ends in February 2025.
        dated: the document's own date, if it says one.
        said: the document says when its years end; else they are taken to be calendar years.
        newest: the last day of the newest year that the document names by its end.
        started: the day on which the years of its plan begin to count: "Start date: 1 July 2025" over "Year 1".
    """

    month: int = 12
    day: int = 31
    ends: dict[int, date] = field(default_factory=dict)
    shift: int = 0
    dated: date | None = None
    said: bool = False
    newest: date | None = None
    started: date | None = None

    def year_end(self, year: int) -> date:
        """The last day of a fiscal year by its name, or of the first, second … year of a plan."""
        if year <= MOST_PLAN_YEARS and self.started:
            return months_back(self.started, -12 * year) - timedelta(days=1)
        return self.ends.get(year + self.shift) or make_day(year + self.shift, self.month, self.day)

    def year_before(self, end: date) -> date:
        """The last day of the fiscal year before the one that ends on this day."""
        known = self.ends.get(end.year - 1)
        if known is not None and (end - known).days in _YEAR_DAYS:
            return known
        return months_back(end, 12)

    def resolve(self, when: When, *, instant: bool) -> str | None:
        """The period in its stored form; None if the words do not determine it."""
        end, months = when.end, when.months
        if when.year is not None:
            if when.year <= MOST_PLAN_YEARS and self.started is None:
                return None
            year_end = self.year_end(when.year)
            end, months = year_end, months or 12
            if when.part:
                kind, number = when.part[0], when.part[-1]
                months = {"Q": 3, "H": 6, "9": 9}[kind]
                ahead = {"Q": 4 - int(number), "H": 2 - int(number), "9": 1}[kind] if kind != "9" else 1
                end = months_back(year_end, ahead * (6 if kind == "H" else 3))
        if end is None:
            return None
        if instant:  # what a column headed by the first day of a year says of a balance is of that day
            return (when.begun if when.begun and when.year is not None else end).isoformat()
        if when.to_date:
            if when.year is not None and not when.part:  # "YTD 2025": to which day is not said
                return None
            months = (end.month - self.month - 1) % 12 + 1
        months = months or 12
        if when.begun and round((end - when.begun).days / 30.4) == months:
            return f"{when.begun.isoformat()}/{end.isoformat()}"
        before = self.year_before(end) if months == 12 else months_back(end, months)
        return f"{(before + timedelta(days=1)).isoformat()}/{end.isoformat()}"


def learn_calendar(text: str, name: str = "") -> Calendar:
    """What a document says about its fiscal year, and the newest date on its first page or in its name."""
    text = plain_blanks(text)
    head = WORDS.year_cut_day.sub(" ", text[:400_000])
    lower = lower_text(head)
    headed = [*_headed_years(head)]
    named = _count_ends(head, lower, headed, quarterly=reports_on_quarter(text, name))
    ends = named.all
    if named.annual.total() > 1:  # "as of January 30" beside "year ended December 31" ends no year
        ends = named.annual
    elif not named.annual.total() and ends.total() == 1:
        ends = Counter()  # one day alone that something is as of
    shifts = Counter(end.year - year for year, end in (*_find_years(head, lower), *headed) if 0 <= end.year - year <= 1)
    dated = _document_date(text, name)
    if dated is not None:  # a date on the first page may be old; accounts are written after the years that they are of
        told = named.dates + Counter(_compared_days(head, lower, min(today(), months_back(dated, -12))))
        dated = max([dated, *(end for end, count in told.items() if count > _TWO)])
    calendar = Calendar(
        shift=shifts.most_common(1)[0][0] if shifts else 0,
        dated=dated,
        newest=max(named.dates, default=None),
        started=_plan_start(head, lower),
    )
    months: Counter[int] = Counter()
    for (month, _), count in ends.items():
        months[month] += count
    if not months:
        if (
            any(word in lower for word in _INDIAN_WORDS)
            and WORDS.year_indian.search(head)
            and WORDS.year_split_year.search(head)
        ):
            return replace(calendar, month=3, said=True)
        end = _find_split_year_end(head)
        return calendar if end is None else replace(calendar, month=end[0], day=end[1], said=True)
    month = months.most_common(1)[0][0]
    day = max(((count, day) for (at, day), count in ends.items() if at == month))[1]
    if not shifts and month == 1 and day <= _FIRST_WEEK:  # the 52 weeks to 1 January 2023 are the year 2022
        calendar = replace(calendar, shift=1)
    elif not shifts and month <= _MONTHS_OF_TWO_NAMES:
        calendar = replace(calendar, shift=_find_quarter_shift(text[:_FIRST_PAGES], month, day))
    exact = {**_find_exact_ends(lower, month, day), **_ends_in_next_year(head, lower, month, day)}
    exact |= {end.year: end for _, end in headed}
    return replace(calendar, ends=exact, month=month, day=day, said=True)


_TWO: Final = 2
_Day = tuple[int, int]
"""Month and day."""


@dataclass(frozen=True, slots=True)
class _Ends:
    """How often a text names ends of periods by month and day, of all and of years, and year ends by date."""

    all: Counter[_Day] = field(default_factory=Counter)
    annual: Counter[_Day] = field(default_factory=Counter)
    dates: Counter[date] = field(default_factory=Counter)

    def add(self, day: _Day, times: int, *, annual: int = 1) -> None:
        """Count another mention of a day: `times` is its weight, `annual` how surely years end on it."""
        self.all[day] += times
        self.annual[day] += annual


def _count_ends(head: str, lower: str, headed: Iterable[tuple[int, date]], *, quarterly: bool) -> _Ends:
    """Count the ends of periods that a text names, but for a quarterly report's; `headed` are years over columns."""
    ends = _Ends()
    interim = _count_ended(head, lower, ends, quarterly=quarterly)
    joined = _CUT.sub(" ", head[:_LONGEST_HEAD])
    lower_joined = lower_text(joined)
    said = [*matches(WORDS.own_end, joined, spots(lower_joined, words_in("own_end_words")))]
    if "year end" in lower_joined or "year-end" in lower_joined:
        said += WORDS.day_of_year_end.finditer(joined)
    own = {day for match in said if (day := _own_end(match.groupdict(), head, match.start()))}
    for day in own if len(own) == 1 else ():
        ends.add(day, _SURE)
    for match in matches(WORDS.year_to_month, head, spots(lower, ("year", "fy", "fiscal", "financial", "business"))):
        end = next((when.end for when in find_periods(f"{match[1]} {_ANY_YEAR}") if when.end), None)
        if end is not None:
            ends.add((end.month, end.day), 1)
    interim = {day for day in interim if not ends.annual[day]}
    if ends.all.keys() - interim:  # a quarterly report is of days that end no year
        for day in interim:
            del ends.all[day]
    whole = [last for first, last in _spans(head, lower) if abs((last - first).days - 365) <= _FIRST_WEEK]
    for last in (*whole, *(end for _, end in headed)):
        ends.add((last.month, last.day), 3)
        ends.dates[last] += 1
    return ends


def _headed_years(head: str) -> Iterator[tuple[int, date]]:
    """The fiscal years over columns for which a table names their ends too: "FY 2024" over "28-Jan-24"."""
    for match in WORDS.row_of_years.finditer(head if "\t" in head else ""):
        (_, *fiscal), (label, *days) = (line.split("\t") for line in match.groups())
        if label.strip() and not (WORDS.name_of_ends.fullmatch(label) or WORDS.period_end_name.fullmatch(label)):
            continue  # days on which something was paid, filed or due
        cells = zip(fiscal, days, strict=False)
        named = [(header_period(name), header_period(day)) for name, day in cells if name and day]
        years = [(name.year, day.end) for name, day in named if name and name.year and day and day.end]
        if len(years) > 1 and not is_out_of_step(years):
            yield from years


def _compared_days(head: str, lower: str, until: date) -> Iterator[date]:
    """The days, up to this one, over columns of audited accounts that have the year before beside them."""
    for match in WORDS.compared_days.finditer(head if holds(lower, "auditors_words") else ""):
        days = dates_in("\n".join(match.groups()))
        of_plan = WORDS.of_plans.search(head, max(0, match.start() - 100), match.end())
        if days and days[1:] == [months_back(days[0], 12)] and days[0] <= until and not of_plan:
            yield days[0]


def is_out_of_step(years: Iterable[tuple[int, date]]) -> bool:
    """Whether days cannot be the ends of the years that they are named with, as those on which accounts were filed.

    The ends of two years running are a year or 52 or 53 weeks apart, or both the last day of a month.
    """
    return any(
        later == year + 1
        and abs((day - end).days) not in _LENGTHS_OF_YEARS
        and not (day + timedelta(days=1)).day == (end + timedelta(days=1)).day == 1
        for (year, end), (later, day) in pairwise(sorted(years))
    )


_LENGTHS_OF_YEARS: Final = frozenset({364, 365, 366, 371})


def _count_ended(head: str, lower: str, ends: _Ends, *, quarterly: bool) -> set[_Day]:
    """Count the days on which something ended or as of which it was; returns those that ended part of a year."""
    interim: set[_Day] = set()
    year_ends = sorted({*spots(lower, words_in("year_ended_words")), *spots(lower, (" to ", " to:"), before=1)})
    for match in matches(WORDS.year_ended, head, year_ends):
        words = match.group(0).lower()
        of_weeks = "weeks" in words and WORDS.year_years_weeks.search(head, max(0, match.start() - 12), match.start())
        of_year = bool(of_weeks) or any(word in words for word in _YEAR_WORDS)
        when = next(iter(find_periods(match.group(1))), None)
        if when is None or (not of_year and quarterly):
            continue
        if words.startswith("as ") and WORDS.counted_shares.match(head, match.end()):
            continue
        ends_on = _find_day(when, words, of_year=of_year)
        if (
            ends_on
            and not of_year
            and WORDS.year_interim.search(head, max(0, match.start() - _AHEAD), match.start() + 7)
        ):
            interim.add(ends_on)
        elif ends_on:
            ends.add(ends_on, 3 if of_year else 1, annual=of_year)
        if when.end:
            ends.dates[when.end] += of_year
    return interim


def _find_day(when: When, words: str, *, of_year: bool) -> _Day | None:
    """The day on which something ended; None within a month without words of a year: "Stand 4. März" is of writing."""
    day = (when.end.month, when.end.day) if when.end else when.month_day
    is_in_month = day is not None and day[1] < make_day(_ANY_YEAR, day[0], 31).day
    return day if of_year or not is_in_month or (when.end and words.startswith("as ")) else None


def _find_exact_ends(lower: str, month: int, day: int) -> dict[int, date]:
    """The actual end of each year as the lower-case text names it most often: years of weeks vary."""
    near_months = {month, month % 12 + 1 if day > 23 else (month - 2) % 12 + 1 if day < 9 else month}
    dates = sum((_exact_ends(lower, near) for near in near_months), Counter[date]())
    if day == monthrange(2024, month)[1] or (month, day) == (2, 28):  # 1 July is where a year begins
        dates = Counter({end: count for end, count in dates.items() if end.day != 1})
    near_end = [end for end in dates if abs((end - make_day(end.year, month, day)).days) <= _FIRST_WEEK]
    years = {end.year for end in near_end}
    return {year: max((end for end in near_end if end.year == year), key=lambda end: dates[end]) for year in years}


def _own_end(said: Mapping[str, str | None], head: str, start: int) -> tuple[int, int] | None:
    """The month and day of a year end that a text states; None if the year is another company's, or is not a year."""
    of = said.get("of") or ""
    if WORDS.year_of_another.search(head[max(0, start - _AHEAD) : start] + of):
        return None
    if said.get("before") and WORDS.year_in_clause.search(of):
        return None
    named, begin = said.get("end") or said.get("last") or said.get("before"), said.get("first")
    last, first = (next(iter(find_periods(f"{words} {_ANY_YEAR}")), None) for words in (named, begin or named))
    if last is None or last.end is None or first is None or first.end is None:
        return None
    begins = (last.end + timedelta(days=1)).replace(year=last.end.year)  # a year that ends there
    whole = begin is None or first.end == begins
    is_leap_day = last.months == 1 and last.end.month == 2
    return (last.end.month, 29 if is_leap_day else last.end.day) if whole else None


@lru_cache(maxsize=4)
def reports_on_quarter(text: str, name: str) -> bool:
    """Whether a document reports on a quarter or half-year, so that its reporting date is not a year's end."""
    head = f"{name.replace('_', ' ')} {text[:_FIRST_LINES]}".replace("\n", " ")
    return any(matches(WORDS.of_a_quarter, head, spots(lower_text(head), words_in("of_a_quarter_words"))))


def _spans(head: str, lower: str) -> Iterator[tuple[date, date]]:
    """The first and last days of the periods for which the text states both."""
    for match in matches(WORDS.year_from, head, spots(lower, words_in("year_from_words"))):
        days = [when.end for words in match.groups() for when in find_periods(words)]
        if len(days) == 2 and days[0] and days[1]:
            yield days[0], days[1]


def _find_years(head: str, lower: str) -> Iterator[tuple[int, date]]:
    """The years whose end the text names, each with that end: 2023 for "fiscal 2023 ended February 3, 2024"."""
    named = [
        (match[1] or match[4], match[2] or match[3])
        for match in matches(WORDS.named_year, head, spots(lower, _NAMED_YEAR_WORDS))
    ]
    if "weeks ended" in lower:
        for match in WORDS.years_of_weeks.finditer(head):
            years, ends = re.findall(YEAR, match[1]), re.findall(rf"{MONTH} [0-3]?\d, {YEAR}", match[2], re.IGNORECASE)
            if len(years) == len(ends):
                named += zip(years, ends, strict=True)
    for year, words in named:
        when = next(iter(find_periods(words)), None)
        if when is not None and when.end is not None:
            yield int(year), when.end


def _ends_in_next_year(head: str, lower: str, month: int, day: int) -> dict[int, date]:
    """The listed ends that fall into the next year, by their year: fiscal 2022 ended on January 1, 2023."""
    listed = Counter(
        when.end
        for match in matches(WORDS.listed_ends, head, spots(lower, ("years ended", "year ended")))
        for words in match.groups()
        for when in find_periods(words or "")
        if when.end is not None
    )
    return {
        end.year - 1: end
        for end, count in listed.items()
        if count > 1 and 0 < (end - make_day(end.year - 1, month, day)).days <= _FIRST_WEEK and end.month != month
    }


def _plan_start(head: str, lower: str) -> date | None:
    """The day on which the document says that its plan starts; None if it names none, or two different ones."""
    found = (match[1] for match in matches(WORDS.year_starts, head, spots(lower, _START_WORDS)))
    days = {
        when.end.replace(day=1 if when.months == 1 else when.end.day) if when.end else date(when.year or 0, 1, 1)
        for words in found
        for when in find_periods(words)
        if when.end or when.is_bare_year
    }
    return days.pop() if len(days) == 1 else None


def _find_quarter_shift(text: str, month: int, day: int) -> int:
    """1 if the text names quarters by the year before the one in which their fiscal year ends, otherwise 0.

    If the year ends in January, a "second quarter fiscal 2023" that ended on July 29, 2023 belongs to the year to
    January 2024.
    """
    named = {
        (int(match[2] or match[3]), look_up(_QUARTERS, match[1] or match[4]))
        for match in WORDS.named_quarter.finditer(text.replace("\n", " "))
    }
    ended = {when.end for match in WORDS.period_ended.finditer(text) for when in find_periods(match[1]) if when.end}
    votes = {
        shift
        for shift in (0, 1)
        for year, quarter in named
        for end in ended
        if abs((months_back(make_day(year + shift, month, day), 3 * (4 - quarter)) - end).days) <= _NEAR
    }
    return 1 if votes == {1} else 0


def _find_split_year_end(text: str) -> tuple[int, int] | None:
    """The month-end that a text with split years ("2023/24") names in most years, two at least; not 31 December."""
    if "/" not in text:
        return None
    years = (match for match in WORDS.year_bare_split_year.finditer(text))
    if not any(int(match[1]) % 100 + 1 == int(match[2][-2:]) for match in years):
        return None
    ends: dict[tuple[int, int], set[int]] = defaultdict(set)
    for end in dates_in(text[:_LONGEST_HEAD]):
        if end == make_day(end.year, end.month, 31):
            ends[end.month, end.day].add(end.year)
    usual = max(ends, key=lambda end: len(ends[end]), default=None)
    return usual if usual is not None and usual[0] != 12 and len(ends[usual]) > 1 else None


def _exact_ends(lower: str, month: int) -> Counter[date]:
    """The days of a month that a lower-case text names, with counts: years of 52 or 53 weeks end on varying days."""
    names = sorted((name for name, number in months().items() if number == month), key=len, reverse=True)
    stems = {name for name in names if not any(name != other and name.startswith(other) for other in names)}
    behind = re.compile(
        rf"(?:{'|'.join(map(re.escape, names))})(?:\.? (?P<d1>[0-3]?\d), (?P<y1>{YEAR})| (?P<y2>{YEAR}))\b"
    )
    dates: Counter[date] = Counter()
    for at in spots(lower, stems):
        match = behind.match(lower, at)
        if match is None:
            continue
        before = _DAY_BEFORE.search(lower, max(0, at - 5), at)
        if match["d1"] and (at == 0 or not (lower[at - 1].isalnum() or lower[at - 1] == "_")):
            day, year = int(match["d1"]), int(match["y1"])
        elif match["y2"] and before:
            day, year = int(before[1]), int(match["y2"])
        else:
            continue
        if 1 <= day <= 31:
            dates[make_day(year, month, day)] += 1
    return dates


_DAY_BEFORE: Final = re.compile(r"\b([0-3]?\d)\.? \Z")


def _document_date(text: str, name: str) -> date | None:
    mailed = WORDS.year_mailed.match(text)
    if mailed is not None and (sent := sure_day(date.fromisoformat(mailed["day"]))):
        return sent
    text = text[:_DATE_LINE]
    first, lines = (
        [WORDS.year_due.sub(" ", line) for line in some if _TWO_DIGITS.search(line)]
        for some in (text.strip().split("\n")[:_TITLE_LINES], text.split("\n"))
    )
    first += filter(WORDS.date_key.match, lines)
    told = [part for line in lines for part in _SENTENCE_END.split(line) if not WORDS.to_come.search(part)]
    head, prose, body = (
        "\n".join(line for line in some if "\t" not in line) for some in (first, told, lines)
    )  # what stands in a table dates nothing but itself
    for names, words in ((name.replace("_", " "), ""), (head, prose), (head, body)):  # a month in the body is spoken of
        dates = [*dates_in(names, of_any_span=True), *dates_in(words, of_any_span=True, of_months=False)]
        sure = [day for day in dates if day.replace(day=1) <= today()]  # the month may be under way
        if sure:
            return max(sure)
    return None

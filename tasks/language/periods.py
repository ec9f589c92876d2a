"""Periods of figures: from the words of headers and sentences to dates.

A period is written as in storage and reports: a point in time as its date ("2025-03-31"), a duration as its first and
last day ("2024-04-01/2025-03-31"). Words that leave the year's end open ("FY24", "2024") are resolved by the document's
own fiscal calendar (`fiscal_calendar.py`).
"""

import re
import tomllib
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from tasks.language.words import alternation, look_up, month_names, months, words_ahead

_MONTHS: Final = months()
MONTH: Final = rf"(?:{alternation(_MONTHS)})\b\.?"
MONTH_NAME: Final = "(?:" + "|".join(month_names()) + ")"
SHORT_MONTH: Final = "(?:" + "|".join(name[:3] for name in month_names()) + ")"
"""Months in English, whole and by their first letters, as they begin with a capital."""

YEAR: Final = r"(?:19[89]\d|20[0-6]\d)"
_FULL_YEAR: Final = r"(?:1[89]\d\d|20\d\d)"
"""A year in a date with its month, where no amount is meant."""


_DATA: Final = tomllib.loads(files("tasks.language").joinpath("spans.toml").read_text(encoding="utf-8"))
_ORDINAL_NUMBERS: Final = {word: int(number) for number, words in _DATA["ordinals"].items() for word in words.split()}
_ORDINALS: Final = "|".join(map(re.escape, _ORDINAL_NUMBERS))
_QUARTER_NAMES: Final = alternation(_DATA["quarters"].split())
_HALF_NAMES: Final = alternation(_DATA["halves"].split())

_FISCAL_YEAR: Final = (
    "fiscal year|fiscal|financial year|business year|geschäftsjahr|exercice|ejercicio|esercizio|exercício|boekjaar"
)
_BEGINS: Final = {
    word[:3]
    for words in (_MONTHS, _ORDINAL_NUMBERS, *(_DATA[name].split() for name in ("times", "quarters", "halves")))
    for word in words
}
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}
"""The years of Japanese emperors, by the year before their first."""

_OF_ERAS: Final = "|".join(rf"(?P<era{before}>(?<={era})\d{{1,2}})" for era, before in _ERAS.items())
_TOKEN: Final = re.compile(
    rf"{words_ahead(_BEGINS)}(?:"
    rf"(?P<iso>\b(?P<iy>{_FULL_YEAR})-(?P<im>0[1-9]|1[0-2])(?:-(?P<id>[0-3]\d)|(?!-\d(?!\d{{3}}-)))(?:\b|(?=T\d)))"
    rf"|(?P<cjk>(?<!\d)(?:(?P<cy>{YEAR})|{_OF_ERAS})[年년]"
    r"(?: ?(?P<cm>\d{1,2})[月월](?: ?(?P<cd>\d{1,2})[日일]|(?P<ck>期)(?! ?第)|(?!期))|(?! ?\d|[度間前])))"
    rf"|(?P<dmy>\b(?P<dd>[0-3]?\d)(?:st|nd|rd|th|er|ro|º|°)?\.? (?:de |of )?(?P<dm>{MONTH})"
    rf"(?:,? (?:de )?(?P<dy>{_FULL_YEAR})\b"
    rf"| (?P<dyy>\d\d)\b(?! ?[\w.,:%-]))?)"
    rf"|(?P<mdy>\b(?P<mm>{MONTH}) (?P<md>[0-3]?\d)(?:st|nd|rd|th)?\b"
    rf"(?!\d|[.,]\d{{1,3}}(?!\d)| ?(?:%|percent|million|billion))"
    rf"(?:,? ?(?P<my>{_FULL_YEAR})\b)?)"
    rf"|(?P<num>(?<!\d\.)\b(?P<n1>[0-3]?\d)(?P<sep>[./-])(?P<n2>[0-3]?\d)(?P=sep)(?P<ny>{_FULL_YEAR}"
    r"|(?:(?<!-)|(?<=31-(?:0[13578]|1[02])-)|(?<=30-(?:0[469]|11)-)|(?<=2[89]-02-))\d\d)\b(?![-.]\d))"
    r"|(?P<spaced>(?<![\d./-])(?P<xd>2[89](?=/0?2)|30(?=/0?[469]|/11)|31|0?1(?=/\d\d?[ -]\d{4} ?[-–]))"
    r"/(?P<xm>0?[1-9]|1[0-2])[ -]"
    rf"(?P<xy>{YEAR})\b)"
    r"|(?P<sixes>(?<![\w.,/-])(?P<s1>\d\d(?:0[1-9]|1[0-2])[0-3]\d) ?[-–] ?(?P<s2>\d\d(?:0[1-9]|1[0-2])[0-3]\d)\b"
    r"(?![.,/-]\d))"
    rf"|(?P<monthyear>\b(?P<ymm>{MONTH})(?:[ -/’']{{1,2}}| of )"
    rf"(?P<ymy>{_FULL_YEAR}|(?<=[-’'])\d\d)(?P<mkind>[aefbp])?\b)"
    rf"|(?P<packed>\b(?P<pm>{SHORT_MONTH})t?(?P<py>(?:20)?[0-6]\d)\b(?![.,/-]?\d))"
    rf"|(?P<months>\b(?P<ma>{MONTH}) ?(?:[-–—~/]|to|bis|through) ?(?P<mb>{MONTH})[ -/’']{{1,2}}(?P<mby>{YEAR}"
    rf"|(?<=[-’'])\d\d)\b)"
    rf"|(?P<yearfirst>\b(?P<yf>{YEAR}|^[0-4]\d(?=(?-i:[QH])\d$))[/-]?"
    r"(?:(?P<yfp>q[1-4]|h[12])|m(?P<yfm>0[1-9]|1[0-2]))\b)"
    rf"|(?P<quarter>\b(?:q(?P<qa>[1-4])|(?P<qb>[1-4])q|(?P<qw>first|second|third|fourth)[ -]quarter(?: of"
    rf"| ended)?)(?:[ /-]?(?:fiscal |fy ?)?['’]?(?P<qy>{YEAR}|\d\d(?![.,\d%]))\b)?(?!\w))"
    rf"|(?P<half>\b(?:h(?P<ha>[12])|(?P<hb>[12])h|(?P<hw>first|second)[ -]half(?: of| year)?)(?:[ /-]?(?:fiscal "
    rf"|fy ?)?['’]?(?P<hy>{YEAR}|\d\d(?![.,\d%]))\b)?(?!\w))"
    rf"|(?P<season>\b(?:(?P<sn>[1-4])(?:(?P<st>t)|s)|(?:(?P<tt>t)|s)(?P<tn>[1-4])"
    rf"|(?P<so>{_ORDINALS}) (?:(?P<sq>{_QUARTER_NAMES})|{_HALF_NAMES})"
    rf"|(?:(?P<nq>{_QUARTER_NAMES})|{_HALF_NAMES})\.? ?(?P<no>[1-4]))(?: (?:de|del|van))?,?"
    rf" ?(?P<sy>{YEAR})\b)"
    rf"|(?P<nine>\b9m[ -]?['’]?(?P<niney>{YEAR}|\d\d)\b)"
    rf"|(?P<split>(?:\b(?:fy|gj|{_FISCAL_YEAR}) ?|\b)(?P<sa>{YEAR}) ?[/–-] ?(?P<sb>{YEAR}|\d\d)\b(?!-\d)"
    r"|\b(?:fy|gj) ?['’]?(?P<sc>\d\d) ?[/–-] ?(?:fy ?)?['’]?(?P<sd>\d\d)\b(?![.,/-]?\d))"
    rf"|(?P<fy>\b(?:fy|cy|gj|{_FISCAL_YEAR})[ -]?['’]?(?P<fyy>{YEAR}|\d\d)"
    r"(?:[ ]?(?P<fkind>(?<=\d)[aefbp]|(?<= )(?-i:[AEFBP])))?\b(?![.,/-]\d))"
    rf"|(?P<year>(?<![\d.,/$€£-])(?P<yy>{YEAR})(?-i:G)?"
    r"(?:[ ]?(?P<kind>(?<=\d)(?:[aefbp]|(?-i:H))|(?<= )(?-i:[AEFBP]))(?!\$))?\b(?![.,]\d|[/-]\d|-w\d)))",
    re.IGNORECASE,
)
_NUMBERS: Final = {word: int(number) for number, words in _DATA["numbers"].items() for word in words.split()}
NUMBER_WORDS: Final = frozenset(word for word, number in _NUMBERS.items() if number > 1) - {"to", "due", "sei"}
"""Words for numbers above one, of several languages, without those that mean something else in another."""


def header_words(name: str) -> tuple[str, ...]:
    """One of the word lists for headers and their surroundings: "note", "basis", "plan_start"."""
    return tuple(word.replace("_", " ") for word in _DATA[name].split())


_NUMBER_WORDS: Final = {*_NUMBERS, *(word.replace("-", " ") for word in _NUMBERS)}
_COUNT: Final = rf"(?:\d{{1,2}}|{alternation(_NUMBER_WORDS)})"
_BEFORE_END: Final = rf"(?=,? (?:then )?(?:{alternation(header_words('ended'))})\b)"
_SPAN: Final = re.compile(
    rf"{words_ahead({*_NUMBER_WORDS, *header_words('lengths')})}(?:"
    rf"\b(?P<usual>3|6|9|12|three|six|nine|twelve)[- ]months?\b"
    rf"|\b(?P<months>{_COUNT})[- ](?:{alternation(header_words('months'))})\b"
    rf"(?:(?: period)?{_BEFORE_END}|(?=,? ?(?:$|\d)))"
    rf"|\b(?P<weeks>1[2-7]|2[4-8]|3[6-9]|40|5[23]|{_COUNT})[- ](?:{alternation(header_words('weeks'))})\b"
    rf"|(?P<m3>\bquarters? (?:ended|ending)\b|\bquartale? (?:zum|bis)\b"
    rf"|\bquarters? to (?=[0-3]?\d\b|{MONTH})|\btrimestre (?:clos|cerrado|terminado|chiuso|findo)\b)"
    r"|(?P<m6>\bhalf[- ]year\b)"
    r"|(?P<m12>\byears? (?:then )?(?:ended|to|ending|from)\b|\bfiscal years?\b|\bfinancial years?\b"
    r"|\bbusiness year\b|\bgeschäftsjahr\b|\bannual\b|\bexercice clos\b|\bejercicio (?:cerrado|terminado)\b"
    r"|\besercizio chiuso\b|\bexercício findo\b|\bboekjaar\b|\bregnskabsår\w*|\bräkenskapsår\w*|\bfor the years?\b)"
    r"|(?P<m1>\bmonths? end(?:ed|ing)\b|\bone month\b))",
    re.IGNORECASE,
)
_MOST_MONTHS: Final = 18
_WEEKS_OF_MONTHS: Final = {
    **dict.fromkeys((4, 5), 1), **dict.fromkeys(range(12, 18), 3), **dict.fromkeys(range(24, 29), 6),
    **dict.fromkeys(range(36, 41), 9), 52: 12, 53: 12,
}  # fmt: skip
_BESIDE: Final = re.compile(r"(?:['’]s)?,?[ \n]{1,2}(?:of )?(?:the )?")
"""What stands between a quarter and the year that it is of: "second quarter of the fiscal year 2023"."""

_TWO_YEARS: Final = re.compile(rf"(?<![\d/–-]){YEAR} {YEAR}\b(?! ?[/–-])")

_TRAILING: Final = re.compile(r"\b(?:ltm|ttm|(?:last|trailing) (?:twelve|12) months)\b", re.IGNORECASE)
"""Twelve months to the date that stands beside it."""

_TO_DATE: Final = re.compile(r"\bytd\b|\byear[- ]to[- ]date\b|\bkumuliert\b", re.IGNORECASE)
"""From the beginning of the fiscal year to the date that stands beside it."""

_QUARTER_WORDS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}
HINT: Final = re.compile(
    rf"{YEAR}|\b{SHORT_MONTH}t?\d\d\b|\b(?:fy|cy|gj|q[1-4]|[1-4]q|h[12]|[12]h|ltm|ttm|\d\d[qh][1-4])|{MONTH}|quarter|half|months|weeks"
    rf"|{'|'.join(_ERAS)}|\b(?:{alternation(header_words('months'))})\b|\b\d{{1,2}}([./-])\d{{1,2}}\1\d\d\b"
    r"|\b\d{6} ?[-–] ?\d{6}\b",
    re.IGNORECASE,
)
"""What a text must hold to speak of a period."""

_ANY_YEAR: Final = 2023
_HALVES: Final = 2


@dataclass(frozen=True, slots=True)
class When:
    """What words say about a period; None for what they leave open.

    Attributes:
        end: the last day, or the day itself.
        months: how long it is, in months.
        year: a fiscal year by its name (2024), with `part` a quarter or half of it: "Q1" to "Q4", "H1", "H2", "9M".
        month_day: month and day without a year ("December 31,").
        forecast: the year is marked as no actual one ("2025E"); "b" for a budget.
        to_date: it begins with the fiscal year ("YTD June 2025").
        begun: its first day, where that is named and is not whole months before its end.
        start, stop: where the words stand.
    """

    end: date | None = None
    months: int | None = None
    year: int | None = None
    part: str = ""
    month_day: tuple[int, int] | None = None
    forecast: str = ""
    to_date: bool = False
    begun: date | None = None
    start: int = 0
    stop: int = 0

    @property
    def dated(self) -> bool:
        """Whether it names a year."""
        return self.end is not None or self.year is not None

    @property
    def is_bare_year(self) -> bool:
        """Whether it is a fiscal year and nothing else."""
        return self.year is not None and not self.part and self.end is None


def last_day(period: str) -> str:
    """The last day of a stored period."""
    return period.rpartition("/")[2]


def count_months(period: str) -> int:
    """How many months a stored period lasts; 0 for an instant."""
    first, _, last = period.rpartition("/")
    if not first:
        return 0
    return round((date.fromisoformat(last) - date.fromisoformat(first)).days / 30.4)


@lru_cache(maxsize=8192)
def find_periods(text: str) -> tuple[When, ...]:
    """The periods that a text names, in order. A sentence with several figures is asked for them again and again."""
    found = dates(text)
    if not found or not HINT.search(text):
        return ()
    if span := spoken_span(text):
        found = tuple(
            replace(when, months=span if _ends_span(text, when) else when.months or span) if not when.part else when
            for when in found
        )
    if _TRAILING.search(text):
        found = tuple(replace(when, months=12) for when in found)
    if says_to_date(text):
        found = tuple(replace(when, to_date=True) for when in found)
    return found


@lru_cache(maxsize=1024)  # the first lines of a text are asked for them several times
def dates(text: str) -> tuple[When, ...]:
    """As `find_periods`, but without the lengths that the text gives to periods.

    A quarter or half and the year beside it are one: "second quarter, fiscal 2023", "2022 Q4".
    """
    found: list[When] = []
    for when in filter(None, map(_when, _TOKEN.finditer(text))):
        before = found[-1] if found else None
        if before is not None and _BESIDE.fullmatch(text, before.stop, when.start):
            year, part = (before, when) if before.is_bare_year else (when, before)
            if year.is_bare_year and part.part and part.year is None:
                found[-1] = replace(year, part=part.part, start=before.start, stop=when.stop)
                continue
        found.append(when)
    return tuple(found)


def _ends_span(text: str, when: When) -> bool:
    """Whether a month is the end of a longer period: "the year to March 2026", "to the end of March 2026"."""
    return (
        when.months == 1
        and _SPAN.search(text[max(0, when.start - 31) : when.start].removesuffix("the end of ")[-20:]) is not None
    )


_YEAR_OF_BOTH: Final = re.compile(
    r"(?<![\d./])(\d{1,2}([./])\d{1,2})\2? ?(?:[-–]|bis|to|al|au|a|t/m) ?(?=\d{1,2}\2\d{1,2}\2((?:19|20)\d\d)\b)"
)
"""A day whose year stands at the end of the span alone: "1.1.-30.9.2025"."""


def header_period(text: str) -> When | None:
    """The one period that a column's header names: "Three months ended June 30, 2024", "December 31, 2022".

    A month and day without a year are combined with the year beside them ("Year ended December 31, … 2022").
    """
    text = _YEAR_OF_BOTH.sub(r"\1\2\3 - ", text)
    found = find_periods(text)
    dated = [when for when in found if when.dated and not _is_stamp(text, when)]
    loose = _year_end([when.month_day for when in found if when.month_day])
    if not dated:
        span = spoken_span(text)
        part = found[0].part if len(found) == 1 else ""
        return When(month_day=loose, months=None if part else span, part=part) if loose or span or part else None
    if _TWO_YEARS.search(text):  # headers of two columns that were not parted
        return None
    if len(dated) == 1 and (begun := _first_day(found, dated[0])) is not None:
        dated = [begun, *dated]
    if len(dated) == _TWO and (both := _from_to(text, *dated)) is not None:
        return both
    when = _only_time(text, dated)
    if when is None:
        return None
    if loose and when.is_bare_year and when.year is not None:
        when = replace(when, end=make_day(when.year, *loose), year=None)
    parts = {found.part for found in found if found.part}
    if when.end is not None and when.months in {None, 1} and len(parts) == 1:  # "ended June 30, 2023 Second Quarter"
        when = replace(when, months=_MONTHS_OF_PART[parts.pop()[0]])
    elif when.months is None and not parts and _NAMED_FISCAL.search(text):  # "FY23", "2023-12-31 FY23"
        when = replace(when, months=12)
    return when


def _is_stamp(text: str, when: When) -> bool:
    """Whether a day has the time beside it at which something was printed or saved, which is no period of figures."""
    return _CLOCK.match(text, when.stop) is not None and _AS_OF.search(text, 0, when.start) is None


def _only_time(text: str, dated: Sequence[When]) -> When | None:
    """The period that a header's dates name: all the same one, or one day together with its year; otherwise None."""
    if len({(when.end, when.year, when.part) for when in dated}) == 1:
        return dated[0]
    exact = [when for when in dated if when.end]
    if len({when.end for when in exact}) != 1:
        return None
    years = {when.year for when in dated if when.is_bare_year and f"{when.year}" in text}
    of_two = years and exact[0].end and exact[0].end.year not in years and not _NAMED_FISCAL.search(text)
    return None if of_two else exact[0]  # "30/09/2025 ANNO 2024": the heads of two columns


def _first_day(found: Sequence[When], last: When) -> When | None:
    """The first day of a span whose year stands at its end alone: "1 January to 31 July 2026"."""
    first = next((when for when in found if when.month_day and when.stop <= last.start), None)
    if first is None or first.month_day is None or last.end is None or last.months:
        return None
    begun = make_day(last.end.year, *first.month_day)
    return replace(first, end=begun if begun <= last.end else months_back(begun, 12), month_day=None)


def _from_to(text: str, first: When, last: When) -> When | None:
    """The period between two days or months joined by a word, "1.6.23 to 30.6.24", or between days of whole months."""
    is_joined = _UNTIL.fullmatch(text, first.stop, last.start) is not None
    if first.end is None or last.end is None or not (is_joined or text[first.stop : last.start].isspace()):
        return None
    begun = first.end.replace(day=1) if first.months == 1 else first.end
    both = _between(begun, last.end)
    if both is None or both.months is None:
        return None
    follows = not first.months and not last.months and (begun - months_back(last.end, both.months)).days == _A_DAY
    return replace(last, months=both.months, begun=both.begun) if is_joined or follows else None


def _between(begun: date, end: date) -> When | None:
    """The period between two days, at most a year and a half."""
    months = round((end - begun).days / 30.4)
    apart = (begun - months_back(end, months)).days
    return When(end, months, begun=None if abs(apart) <= _A_DAY else begun) if 0 < months <= _MOST_MONTHS else None


_CLOCK: Final = re.compile(r",? (?:at )?(?!0?0:00|23:59|24:00)\d{1,2}:\d\d")
"""A time behind a day, unless the day begins or ends then."""

_AS_OF: Final = re.compile(r"\bas (?:of|at) \Z", re.IGNORECASE)

_A_DAY: Final = 1
_TWO: Final = 2
_UNTIL: Final = re.compile(rf" ?(?:[-–—]|{alternation(header_words('until'))}):? ?", re.IGNORECASE)
_MONTHS_OF_PART: Final = {"Q": 3, "H": 6, "9": 9}
_NAMED_FISCAL: Final = re.compile(r"\b(?:fy|gj|full year)[ -]?['’]?\d\d|\bfull[- ]year\b", re.IGNORECASE)


def _year_end(days: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The first of these days; for a year named by both its days ("1 July to 30 June"), the second."""
    if len(days) > 1 and make_day(_ANY_YEAR, *days[0]) in {
        make_day(_ANY_YEAR, *days[1]) + timedelta(days=1),
        make_day(_ANY_YEAR - 1, *days[1]) + timedelta(days=1),
    }:
        return days[1]
    return days[0] if days else None


def says_to_date(text: str) -> bool:
    """Whether a header's period begins with the fiscal year: "YTD"."""
    return _TO_DATE.search(text) is not None


def a_year_before(period: str) -> str:
    """The stored form of a period one year before another."""
    return "/".join(months_back(date.fromisoformat(day), 12).isoformat() for day in period.split("/"))


def year_earlier(when: When) -> When:
    """The same period one year earlier."""
    if when.end is not None:
        return replace(when, end=months_back(when.end, 12), begun=when.begun and months_back(when.begun, 12))
    return replace(when, year=when.year - 1) if when.year is not None else when


def spoken_span(text: str) -> int | None:
    """The number of months that a text gives a period: 3 in "three months ended"."""
    if _TRAILING.search(text):
        return 12
    for match in _SPAN.finditer(text):
        kind, words = match.lastgroup or "", match[match.lastgroup or 0]
        number = int(words) if words.isdecimal() else _NUMBERS.get(words.lower().replace(" ", "-"))
        if kind == "weeks" and number is not None:
            if number in _WEEKS_OF_MONTHS:
                return _WEEKS_OF_MONTHS[number]
        elif kind in {"usual", "months"} and number and number <= _MOST_MONTHS:
            return number
        elif kind[1:].isdecimal():
            return int(kind[1:])
    return None


def parts_by_span(text: str) -> list[str]:
    """A heading split where its periods begin: "Three months ended June 30," and "Six months ended June 30,"."""
    starts = [match.start() for match in _SPAN.finditer(text)]
    return [text[start:stop].strip(" |/;") for start, stop in pairwise([*starts, len(text)])]


def without_spans(text: str) -> str:
    """The words with a space in place of each length of time."""
    return _SPAN.sub(" ", text)


def _when(match: re.Match[str]) -> When | None:
    part = {name: value for name, value in match.groupdict().items() if value is not None}
    read = next((read for form, read in _FORMS.items() if form in part), None)
    when = read(part) if read else None
    of_era = len(next(iter(_ERAS))) if when and any(name.startswith("era") for name in part) else 0
    return when and replace(when, start=match.start() - of_era, stop=match.end())


_Part = dict[str, str]
"""The groups of `_TOKEN` that a time has, by name."""


def _iso_day(part: _Part) -> When | None:
    year, month = int(part["iy"]), int(part["im"])
    if "id" not in part:
        return When(make_day(year, month, 31), 1)
    return _make_when(year, month, int(part["id"]))


def _spelled_day(day: int, month_name: str, year: str | None) -> When | None:
    month = look_up(_MONTHS, month_name.rstrip("."))
    if not 1 <= day <= 31:
        return None
    return When(month_day=(month, day)) if year is None else _make_when(_full(year), month, day)


def _day_in_figures(part: _Part) -> When | None:
    first, second, year = int(part["n1"]), int(part["n2"]), _full(part["ny"])
    day, month = (first, second) if part["sep"] == "." or (second <= 12 and first > 12) else (second, first)
    if part["sep"] in "/-" and first <= 12 and second <= 12 and first != second and day not in {30, 31}:
        return None
    return _make_when(year, month, day) if 1 <= month <= 12 else None


def _six_digits(part: _Part) -> When | None:
    """The time between two days as Swedish accounts write them: "240101-241231"."""
    first, last = (_make_when(_full(day[:2]), int(day[2:4]), int(day[4:])) for day in (part["s1"], part["s2"]))
    if not (first and first.end and last and last.end and first.end.day == (last.end + timedelta(days=1)).day == 1):
        return None  # numbers that are no first and last day of months
    return _between(first.end, last.end)


def _month(part: _Part) -> When:
    mark = part.get("mkind", "")  # "Mar-25E" is a year to March
    end = make_day(_full(part["ymy"]), look_up(_MONTHS, part["ymm"].rstrip(".")), 31)
    return When(end, None if mark else 1, forecast=_forecast(mark))


def _japanese_day(part: _Part) -> When | None:
    """A day, month or year in Japanese; "2024年3月期" is the fiscal year that ends in that month."""
    of_eras = (before + int(part[name]) for before in _ERAS.values() if (name := f"era{before}") in part)
    year = next(of_eras, None) or int(part["cy"])
    if "cm" not in part:
        return When(year=year)
    month = int(part["cm"])
    if not 1 <= month <= 12:
        return None
    if "cd" in part:
        return _make_when(year, month, int(part["cd"]))
    return When(make_day(year, month, 31), 12 if "ck" in part else 1)


def _several_months(part: _Part) -> When:
    first, last = (look_up(_MONTHS, part[name].rstrip(".")) for name in ("ma", "mb"))
    return When(make_day(_full(part["mby"]), last, 31), (last - first) % 12 + 1)


def _year_and_part(part: _Part) -> When:
    """A quarter, half or month as statistics offices write it: "2025-Q1", "2025Q1", "2025M01"."""
    year = _full(part["yf"])
    return When(year=year, part=part["yfp"].upper()) if "yfp" in part else When(make_day(year, int(part["yfm"]), 31), 1)


def _quarter(part: _Part) -> When:
    number = part.get("qa") or part.get("qb") or look_up(_QUARTER_WORDS, part["qw"])
    return When(year=_full(part["qy"]) if "qy" in part else None, part=f"Q{number}")


def _half(part: _Part) -> When:
    number = part.get("ha") or part.get("hb") or look_up(_QUARTER_WORDS, part["hw"])
    return When(year=_full(part["hy"]) if "hy" in part else None, part=f"H{number}")


def _season(part: _Part) -> When | None:
    number = int(part.get("sn") or part.get("tn") or part.get("no") or look_up(_ORDINAL_NUMBERS, part["so"]))
    of_quarter = not {"st", "tt", "sq", "nq"}.isdisjoint(part)
    if not of_quarter and number > _HALVES:
        return None
    return When(year=int(part["sy"]), part=f"{'Q' if of_quarter else 'H'}{number}")


def _split_year(part: _Part) -> When | None:
    first, second = _full(part.get("sa") or part["sc"]), _full(part.get("sb") or part["sd"])
    return When(year=second) if second == first + 1 else None


def _forecast(mark: str) -> str:
    """The letter after a year that says what its figures are: "e" for 2025E; empty for "a" and "h", which
    mark them as actual and historical.
    """
    return mark.lower() if mark.lower() in set("efbp") else ""


_FORMS: Final[Mapping[str, Callable[[_Part], When | None]]] = {
    "iso": _iso_day,
    "cjk": _japanese_day,
    "dmy": lambda part: _spelled_day(int(part["dd"]), part["dm"], part.get("dy") or part.get("dyy")),
    "mdy": lambda part: _spelled_day(int(part["md"]), part["mm"], part.get("my") or part.get("dyy")),
    "num": _day_in_figures,
    "spaced": lambda part: _make_when(int(part["xy"]), int(part["xm"]), int(part["xd"])),
    "sixes": _six_digits,
    "monthyear": _month,
    "packed": lambda part: When(make_day(_full(part["py"]), look_up(_MONTHS, part["pm"]), 31), 1),
    "months": _several_months,
    "yearfirst": _year_and_part,
    "quarter": _quarter,
    "half": _half,
    "season": _season,
    "nine": lambda part: When(year=_full(part["niney"]), part="9M"),
    "split": _split_year,
    "fy": lambda part: When(year=_full(part["fyy"]), forecast=_forecast(part.get("fkind", ""))),
    "year": lambda part: When(year=int(part["yy"]), forecast=_forecast(part.get("kind", ""))),
}
"""How times are written, by the groups of `_TOKEN`, and what reads each."""


def _make_when(year: int, month: int, day: int) -> When | None:
    return When(make_day(year, month, day)) if 1 <= day <= 31 else None


def _full(year: str) -> int:
    return int(year) if len(year) == 4 else 2000 + int(year)


def make_day(year: int, month: int, day: int) -> date:
    """The day of a month, or the last day if the month is shorter."""
    return date(year, month, min(day, monthrange(year, month)[1]))


def months_back(end: date, months: int) -> date:
    """The same day that many months earlier; the last of a month stays the last."""
    at = end.year * 12 + end.month - 1 - months
    is_last = end.day == monthrange(end.year, end.month)[1]
    return make_day(at // 12, at % 12 + 1, 31 if is_last else end.day)


def dates_in(text: str, *, of_any_span: bool = False, of_months: bool = True) -> list[date]:
    """The days and (`of_months`) months that a text names, without (unless `of_any_span`) those of periods other than a
    year.

    No date continues over a line end, and most lines of a page obviously contain none.
    """
    span = None if of_any_span else spoken_span(text)
    lines = (line for line in text.split("\n") if _TWO_DIGITS.search(line) and _MAY_DATE.search(line))
    named = (when for line in lines for when in dates(line))
    return [
        when.end
        for when in named
        if when.end
        and (of_any_span or (when.months or span) in {None, 1, 12})
        and not when.forecast
        and (of_months or when.months != 1)
    ]


_TWO_DIGITS: Final = re.compile(r"\d\d")
_MAY_DATE: Final = re.compile(rf"\d[./-]\d|\b(?:{alternation({name[:3] for name in _MONTHS})})", re.IGNORECASE)
"""All dates have a month's name or digits on both sides of a mark."""

_SLASH_DATE: Final = re.compile(rf"(?<![\d/])([0-3]?\d)/([0-3]?\d)/({YEAR}|\d\d)(?![\d/])")


def month_first(text: str) -> bool | None:
    """Whether a document writes the month before the day; None if no date tells, or two disagree.

    "9/3/2022" is in September if the document says "12/31/2022".
    """
    orders = set[bool]()
    for match in _SLASH_DATE.finditer(text):
        first, second = int(match[1]), int(match[2])
        if (first > 12) != (second > 12):
            orders.add(second > 12)
    return orders.pop() if len(orders) == 1 else None


def spell_months(words: str, order: bool | None) -> str:
    """The words with numeric dates in the order of ISO 8601, given whether the document writes the month first."""
    if order is None or "/" not in words:
        return words

    def named(match: re.Match[str]) -> str:
        month, day = (int(match[1]), int(match[2])) if order else (int(match[2]), int(match[1]))
        year = match[3] if len(match[3]) == 4 else f"20{match[3]}"
        if not 1 <= month <= 12:
            return match.group()
        return f"{year}-{month:02}-{day:02}"

    return _SLASH_DATE.sub(named, _YEAR_OF_BOTH.sub(r"\1\2\3 - ", words))

"""The figures of a sentence: amounts, shares, counts and dates, each with unit, scale, sign and limit.

`5,000 thousand euros`, `EUR 5.0 million` and `€5m` are one figure; `5 %` and `5 percentage points` are two. Dates are
figures too: `31 March 2024`, `March 31, 2024` and `2024-03-31` are one, and `March 2024` says less than these.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Final

from tasks.language.numbers import PERCENT, POINTS, RATIO, Amount, numbers
from tasks.language.periods import MONTH_NAME, When, dates
from tasks.language.words import currency_names, figure_words, look_up, month_names, stem

DATE: Final = "date"
QUARTER: Final = "quarter"
TIMES: Final = RATIO
COUNT: Final = ""
_HALF, _NINE_MONTHS = 10, 20
"""What is added to the number of a half-year, and to 9 months, beside which a quarter has its own."""

_YEAR: Final = re.compile(r"(?:1[89]|20|21)\d\d")
_MONTH_ALONE: Final = re.compile(rf"\b(?:[io]n|by) (?P<month>{MONTH_NAME})\b")
_NO_MONTH: Final = re.compile(r"\b(?:may|march)\b")
"""Verbs that are months with a capital."""

_DASH: Final = re.compile(r"[^\W\d] [-–—−] (?=[$€£¥A-Z\d])")
"""A dash between a label and its figure, and no sign: "EBITDA - £2.4 million"."""

_COUNTS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_PARTS: Final = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_FRACTION: Final = re.compile(
    r"\b(?:(?P<count>a|one|two|three|four)[ -](?P<part>third|quarter|fourth|fifth|tenth)s?(?= (?:of|more|less)\b)"
    r"|(?P<half>half)(?= (?:of|the|its|our|their)\b))",
    re.IGNORECASE,
)
_MIXED: Final = re.compile(r"(?<![\d/.,])(?:(?P<whole>\d{1,3})[ -])?(?P<part>[1-7])/(?P<of>[2348])\s?(?:%|per ?cent\b)")

_ONES: Final = figure_words("ones").split()
_TENS: Final = figure_words("tens").split()
_NUMBER_WORDS: Final = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WORDS_OF_UNITS: Final = {"times": TIMES, "point": POINTS, "percent": PERCENT, "per cent": PERCENT}
_MEASURES: Final = frozenset(figure_words("measures").split())
_ONE_OF: Final = {
    "people": "employee",
    "employee": "employee",
    "gigawatt": "gw",
    "megawatt": "mw",
    "kilometer": "km",
    "kilometre": "km",
}

_TO_99: Final = rf"(?:(?:{'|'.join(_TENS)})[ -](?:{'|'.join(_ONES[1:10])})|{'|'.join([*_TENS, *_ONES])})\b"
_TO_999: Final = rf"{_TO_99}(?:[ -]hundred\b(?:(?: and)? {_TO_99})?)?"
_LARGE: Final = ("thousand", "million", "billion", "trillion")
_BEFORE_LESS: Final = "|".join(
    rf"{scale}\b,?(?: and)? (?!{_TO_999}[ -](?:{'|'.join(_LARGE[at:])})\b)" for at, scale in enumerate(_LARGE[:-1])
)
"""A scale and what leads on to a smaller one: "two million and three million" are two numbers."""
_NUMBER_WORD: Final = re.compile(
    rf"\b(?P<number>(?:{_TO_999}[ -](?:{_BEFORE_LESS}))*{_TO_999}"
    r"(?:[ -](?:thousand|million|billion|trillion)\b)?)"
    r"(?P<unit>\s+(?:percentage points?|percent|per cent|basis points?|times)\b)?"
    r"(?P<behind>\s+(?:and 00/100 )?(?:U\.?S\.? )?(?P<currency>dollars|euros|yen|rupees|francs|pounds sterling)\b)?",
    re.IGNORECASE,
)
_IN_BRACKETS: Final = re.compile(rf"(?i:\s*\(([^()]{{1,30}}?)(?:\)|(?=\s+(?:{'|'.join(_MEASURES)})\b)))")
_LOW: Final = (
    r"at least|not less than|no less than|no fewer than|not fewer than|a minimum of|minimum of|more than|over|in excess"
    r" of|exceed(?:s|ed|ing)?|greater than|higher than|above|upwards of|≥|>=?"
    r"|surpass(?:es|ed|ing)?|north of|longer than"
)
_HIGH: Final = (
    r"at most|up to|no more than|not more than|not over|(?:shall |may |will |must |can )?not exceed(?:ing)?"
    r"|a maximum of|maximum of|less than|fewer than"
    r"|below|under|≤|<=?|lower than|within|shorter than|(?:capped|limited) (?:at|to)"
)
_SHORT: Final = r"nearly|almost|just under|close to|slightly less than|slightly below"
_NEAR: Final = r"approximately|about|around|roughly|circa|ca\.?|some|~|≈"
_LIMITS: Final = [
    (name, re.compile(rf"(?:^|[\s(])(?:{pattern})\s*(?:the\s|an?\s)?$", re.IGNORECASE))
    for name, pattern in (
        ("low", _LOW),
        ("high", _HIGH),
        ("short", _SHORT),
        ("exact", "exactly|precisely"),
        ("near", _NEAR),
    )
]
"""What stands in front of a figure and limits it: its kind, and its words."""
_LIMITS_ALIKE: Final = ({"", "near"}, {"", "exact"}, {"near", "short"}, {"low"}, {"high"})
_LIMITS_BEHIND: Final = [
    ("low", re.compile(r"\s*(?:or|and) (?:more|above|over|greater|longer|higher)\b|\+(?=\s|$)", re.IGNORECASE)),
    ("high", re.compile(r"\s*or (?:less|fewer|below|under)\b", re.IGNORECASE)),
]


_FINE: Final = Decimal("0.01")
"""The part of an amount that its last digit may be worth where it may be cut off."""


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A figure of a sentence.

    `unit` is an ISO currency (USD where it is not said which dollar), `percent`, `points`, `ratio`, `date`, `quarter`
    or empty for a plain number. `value` is in single units: `EUR 5 million` is 5,000,000. `digits` counts the digits
    that are written, `limit` is `low` (at least, more than), `high`, `short` (nearly), `near` (about), `exact` or
    empty. `date` is (year, month, day), each None where it is not said; for a quarter (year, quarter, None).
    """

    start: int
    end: int
    unit: str
    value: Decimal = Decimal(0)
    digits: int = 0
    limit: str = ""
    date: tuple[int | None, int | None, int | None] = (None, None, None)
    measure: str = ""
    is_scaled: bool = False

    @property
    def is_date(self) -> bool:
        return self.unit in {DATE, QUARTER}

    @property
    def step(self) -> Decimal:
        """The value of its last digit that counts: 100,000 of `4.2 million`."""
        return Decimal(10) ** (self.value.copy_abs().adjusted() - max(self.digits, 1) + 1)

    @property
    def kind(self) -> str:
        """What it may be compared with: `money`, `date`, or its unit."""
        if self.is_date:
            return DATE
        return self.unit if self.unit in {PERCENT, POINTS, TIMES, COUNT} else "money"


def figures(text: str) -> list[StatedFigure]:
    """The figures of a text, in order. They do not overlap."""
    found = sorted(_dates(text), key=lambda figure: figure.start)
    for pattern, make in ((_MIXED, _from_mixed), (_NUMBER_WORD, _from_word), (_FRACTION, _from_fraction)):
        found = _add_apart(found, ((*match.span(), partial(make, text, match)) for match in pattern.finditer(text)))
    written = ((number.first, number.stop, partial(_figure, text, number)) for number in numbers(text))
    return _add_range_units(text, _add_apart(found, written))


def _add_apart(
    found: list[StatedFigure], others: Iterable[tuple[int, int, Callable[[], StatedFigure | None]]]
) -> list[StatedFigure]:
    """The figures with those of the others that do not overlap them, in order; the others are spans with what reads
    them.
    """
    starts, ends = [figure.start for figure in found], [figure.end for figure in found]
    apart = [
        read() for start, end, read in others if (at := bisect_right(ends, start)) == len(ends) or starts[at] >= end
    ]
    return sorted([*found, *filter(None, apart)], key=lambda figure: figure.start)


def _from_mixed(text: str, match: re.Match[str]) -> StatedFigure:
    """A percentage with a common fraction: "1-1/2 %"."""
    value = Decimal(match["whole"] or 0) + Decimal(match["part"]) / Decimal(match["of"])
    return StatedFigure(match.start(), match.end(), PERCENT, value, 2, _limit(text, match.start(), match.end()))


def _from_fraction(text: str, match: re.Match[str]) -> StatedFigure:
    """A part of a whole as a percentage: "two thirds of", "half of"."""
    value = look_up(_COUNTS, match["count"] or "one") * Decimal(100) / look_up(_PARTS, match["part"] or "half")
    return StatedFigure(match.start(), match.end(), PERCENT, value, 2, _limit(text, match.start(), match.end()))


def _add_range_units(text: str, found: list[StatedFigure]) -> list[StatedFigure]:
    """The figures; the first figure of a range gets the unit of the last: `5 to 6 %`, `$5-7 million`."""
    result = list(found)
    for at in range(len(result) - 2, -1, -1):
        figure, behind = result[at], result[at + 1]
        joined = re.fullmatch(r"\s*(?:to|and|or|-|–|—)\s*", text[figure.end : behind.start])
        if joined is None or figure.is_date or behind.is_date:
            continue
        if figure.kind == "money" and behind.unit == COUNT:
            result[at + 1] = behind = replace(behind, unit=figure.unit)
        if figure.unit not in {COUNT, behind.unit}:
            continue
        if figure.unit == COUNT and not figure.measure:
            figure = replace(figure, unit=behind.unit, measure=behind.measure)
        if behind.is_scaled and not figure.is_scaled and abs(figure.value) < 1000:
            scale = next(
                scale for scale in (10**12, 10**9, 10**7, 10**6, 10**5, 1000, 100) if abs(behind.value) >= scale
            )
            figure = replace(figure, value=figure.value * scale, is_scaled=True)
        result[at] = figure
    return result


def _dates(text: str) -> Iterator[StatedFigure]:
    last = 0
    for when in dates(text):
        words = text[when.start : when.stop]
        if when.is_bare_year and words.isdigit():
            continue  # a number, where a measure stands behind it
        if not _NO_MONTH.search(words) and when.start >= last:
            unit, day = _day(when)
            last = when.stop
            yield StatedFigure(when.start, when.stop, unit, date=day)
    for match in _MONTH_ALONE.finditer(text):
        if not re.match(r",? ?\d", text[match.end() :][:4]):
            yield StatedFigure(*match.span("month"), DATE, date=(None, month_names().index(match["month"]) + 1, None))


def _day(when: When) -> tuple[str, tuple[int | None, int | None, int | None]]:
    if when.part:
        kind, number = when.part[0], int(when.part[0] if when.part == "9M" else when.part[1])
        return QUARTER, (when.year, number + {"Q": 0, "H": _HALF}.get(kind, _NINE_MONTHS), None)
    if when.end is not None:
        return DATE, (when.end.year, when.end.month, when.end.day if when.months is None else None)
    return DATE, (when.year, *(when.month_day or (None, None)))


def _figure(text: str, number: Amount) -> StatedFigure:
    if number.value < 0 and _DASH.search(text[max(number.first - 2, 0) : number.first + 3]):
        first = re.compile(r"[^-–—−\s]").search(text, number.first)
        number = replace(number, value=-number.value, first=first.start() if first else number.first)
    measure = _measure(text, number.stop) if number.unit is None else ""
    if number.unit is None and not number.scale and not measure and _YEAR.fullmatch(text[number.start : number.end]):
        return StatedFigure(number.first, number.stop, DATE, date=(int(number.value), None, None))
    limit = _limit(text, number.first, number.stop)
    return StatedFigure(
        number.first, number.stop, number.unit or COUNT, number.value, number.digits, limit, measure=measure,
        is_scaled=bool(number.scale),
    )  # fmt: skip


def _from_word(text: str, match: re.Match[str]) -> StatedFigure | None:
    before = text[max(match.start() - 20, 0) : match.start()].rstrip().lower()
    behind = text[match.end() : match.end() + 20].lower()
    words, unit_words, currency = match["number"].lower(), (match["unit"] or "").lower(), match["currency"]
    is_pronoun = before.endswith((" no", " any", " every", " which", " the")) or re.match(
        r"\s+(?:another|or more|of)", behind
    )
    if words == "one" and not (unit_words or currency) and is_pronoun:
        return None
    value = last = Decimal(0)
    for part in re.split(r",? (?:and )?|-", words):
        last = last * _SCALES[part] if part in _SCALES else last + _NUMBER_WORDS[part]
        if _SCALES.get(part, 0) > _SCALES["hundred"]:
            value, last = value + last, Decimal(0)
    value += last
    unit = next((unit for word, unit in _WORDS_OF_UNITS.items() if word in unit_words), COUNT)
    if "basis" in unit_words:
        value /= 100
    elif currency:
        unit = look_up(currency_names(), currency)
    beside = _IN_BRACKETS.match(text, match.end())
    repeated = [number.value for number in numbers(beside[1]) if number.unit in {None, unit}] if beside else []
    end = beside.end() if beside and repeated == [value] else match.end()
    measure = _measure(text, end) if unit == COUNT else ""
    return StatedFigure(match.start(), end, unit, value, 2, _limit(text, match.start(), end), measure=measure)


def _measure(text: str, end: int) -> str:
    """The measure after a number: `day` in `30 days`."""
    match = re.match(
        r"[\s-]+(?:(?:calendar|business|consecutive|full|additional|square|metric|working|further)[\s-]+)?([A-Za-z]+)",
        text[end : end + 40],
    )
    word = match[1].lower() if match else ""
    return _ONE_OF.get(word.removesuffix("s"), stem(word)) if word in _MEASURES else ""


def _limit(text: str, start: int, end: int) -> str:
    behind = next((name for name, pattern in _LIMITS_BEHIND if pattern.match(text[end : end + 20])), "")
    return behind or _limit_before(text, start)[2]


def _limit_before(text: str, start: int) -> tuple[int, int, str]:
    """Where the words stand that limit the figure behind them, and how: the longest, "not more than"."""
    begin = max(start - 30, 0)
    found = [(*match.span(), name) for name, pattern in _LIMITS if (match := pattern.search(text[begin:start]))]
    first, last, name = min(found, default=(0, 0, ""))
    return begin + first, begin + last if name else 0, name


def limit_words(text: str, figure: StatedFigure) -> tuple[int, int] | None:
    """The span of the words in front of a figure that limit it: `not more than`."""
    first, last, name = _limit_before(text, figure.start)
    return (first, last) if name else None


def same(stated: StatedFigure, source: StatedFigure) -> bool:
    """Whether a figure that is stated is the source's: value, unit, sign, measure and limit; dates may say less."""
    if stated.is_date or source.is_date:
        return stated.is_date and source.is_date and _same_date(stated, source)
    is_alike = stated.unit == source.unit and (
        not (stated.measure and source.measure) or stated.measure == source.measure
    )
    is_limited_alike = any({stated.limit, source.limit} <= alike for alike in _LIMITS_ALIKE)
    return is_alike and is_limited_alike and (stated.value == source.value or _is_rounded(stated, source))


def _is_rounded(stated: StatedFigure, source: StatedFigure) -> bool:
    """Whether it is the source's figure, rounded: `94.8 billion` for `94,836 million`."""
    fewest = 2 if stated.is_scaled and source.digits > 3 and _has_decimals(stated) else 3
    if stated.digits < fewest or stated.digits >= source.digits or stated.value == 0:
        return False
    return abs(stated.value - source.value) * 2 <= stated.step and (stated.value < 0) == (source.value < 0)


def is_cut_off(stated: Decimal, step: Decimal, actual: Decimal) -> bool:
    """Whether an amount with that last digit is the first digits of the actual one, not rounded: 735.1 of 735.189."""
    is_alike = (stated < 0) == (actual < 0)
    return is_alike and 0 <= abs(actual) - abs(stated) < step <= abs(stated) * _FINE


def _has_decimals(figure: StatedFigure) -> bool:
    """Whether a scaled figure is written with decimals: `4.2 billion`, but not `95 billion`."""
    scale = next((scale for scale in (10**12, 10**9, 10**6, 1000) if abs(figure.value) >= scale), 1)
    return bool(figure.value % scale)


def _same_date(stated: StatedFigure, source: StatedFigure) -> bool:
    if QUARTER in {stated.unit, source.unit}:
        if stated.unit != source.unit:
            return stated.unit == DATE and stated.date[1:] == (None, None) and stated.date[0] == source.date[0]
        return stated.date[1] == source.date[1] and stated.date[0] in {None, source.date[0]}
    return all(part is None or part == other for part, other in zip(stated.date, source.date, strict=True))

"""The figures of a sentence: amounts, shares, counts and dates, each with unit, scale, sign and limit.

`5,000 thousand euros`, `EUR 5.0 million` and `€5m` are one figure; `5 %` and `5 percentage points` are two. Dates are
figures too: `31 March 2024`, `March 31, 2024` and `2024-03-31` are one, and `March 2024` says less than these.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from tasks.statements.notation import (
    CURRENCIES,
    FIGURE,
    LIMITS,
    LIMITS_BEHIND,
    MEASURES,
    MONTHS,
    NUMBER_WORD,
    NUMBER_WORDS,
    ONE_OF,
    SCALES,
    YEAR,
)

DATE: Final = "date"
QUARTER: Final = "quarter"
PERCENT: Final = "percent"
POINTS: Final = "points"
TIMES: Final = "times"
COUNT: Final = ""


_ENDS_AS_FIGURE: Final = re.compile(r"(?:[\d%]|illion|thousand)\s$")
"""What stands before the dash of a range, `7.0% - 8.0%`."""
_GLUED: Final = re.compile(r"[a-z]{4}")


_COUNTS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_PARTS: Final = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_FRACTION: Final = re.compile(
    r"\b(?P<count>a|one|two|three|four)[ -](?P<part>third|quarter|fourth|fifth|tenth)s?(?= (?:of|more|less)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a sentence.

    `unit` is an ISO currency (`$` where it is not said which dollar), `percent`, `points`, `times`, `date`, `quarter`
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
    def kind(self) -> str:
        """What it may be compared with: `money`, `date`, or its unit."""
        if self.is_date:
            return DATE
        return self.unit if self.unit in {PERCENT, POINTS, TIMES, COUNT} else "money"


def figures(text: str) -> list[Figure]:
    """The figures of a text, in order. They do not overlap."""
    found = list(_written(text))
    ends = [figure.end for figure in found]
    starts = [figure.start for figure in found]

    def is_taken(match: re.Match[str]) -> bool:
        at = bisect_right(ends, match.start())
        return at < len(ends) and starts[at] < match.end()

    for match in NUMBER_WORD.finditer(text):
        if not is_taken(match):
            figure = _from_word(text, match)
            if figure is not None:
                found.append(figure)
    for match in re.finditer(r"\bhalf (?=of\b|the\b|its\b|our\b|their\b)", text, re.IGNORECASE):
        if not is_taken(match):
            end = match.start() + 4
            found.append(Figure(match.start(), end, PERCENT, Decimal(50), 2, _limit(text, match.start(), end)))
    found.sort(key=lambda figure: figure.start)
    starts, ends = [figure.start for figure in found], [figure.end for figure in found]
    for match in _FRACTION.finditer(text):
        if not is_taken(match):
            value = _COUNTS[match["count"].lower()] * Decimal(100) / _PARTS[match["part"].lower().removesuffix("s")]
            limit = _limit(text, match.start(), match.end())
            found.append(Figure(match.start(), match.end(), PERCENT, value, 2, limit))
    found = _without_repeats(text, sorted(found, key=lambda figure: figure.start))
    return _with_units_of_ranges(text, sorted(found, key=lambda figure: figure.start))


def _without_repeats(text: str, found: list[Figure]) -> list[Figure]:
    """The figures, those in words without their digits in brackets: `ninety (90) days`."""
    result: list[Figure] = []
    for figure in found:
        last = result[-1] if result else None
        is_repeat = (
            last is not None
            and not figure.is_date
            and abs(figure.value) == last.value
            and text[last.end : figure.start].strip() in {"", "("}
        )
        if last is not None and is_repeat and text[figure.start - 1 : figure.start + 1].find("(") >= 0:
            result[-1] = replace(last, end=figure.end, measure=last.measure or _measure(text, figure.end))
        else:
            result.append(figure)
    return result


def _with_units_of_ranges(text: str, found: list[Figure]) -> list[Figure]:
    """The figures, those at the beginning of a range with the unit of its end: `5 to 6 %`, `$5-7 million`."""
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


def _written(text: str) -> Iterator[Figure]:
    for match in FIGURE.finditer(text):
        if match["date"]:
            yield Figure(match.start(), match.end(), DATE, date=_date(match["date"]))
        elif match["quarter"]:
            year = _year(match["of"])
            words = match["quarter"].lower()
            number = next(
                (n for n, w in enumerate(("first", "second", "third", "fourth"), 1) if words.startswith(w)), 0
            )
            number = number or int("".join(re.findall(r"[1-4]", words))[:1])
            half = 10 if "half" in words or words.startswith("h") else 0
            yield Figure(match.start(), match.end(), QUARTER, date=(year, number + half, None))
        elif match["fiscal"]:
            yield Figure(match.start(), match.end(), DATE, date=(_year(match["fiscal_year"]), None, None))
        else:
            yield from _amount(text, match)


def _amount(text: str, match: re.Match[str]) -> Iterator[Figure]:
    number = match["number"]
    if re.fullmatch(r"[\d.]*,\d{1,2}|\d{1,3}(?:\.\d{3}){2,}", number):  # as in most of Europe
        plain = number.replace(".", "").replace(",", ".")
    else:
        plain = re.sub(r"[,\u00a0\u2009\u202f']", "", number)
    currency = (match["currency"] or match["behind"] or "").strip().lower().rstrip(".").split()
    unit_words = re.sub(r"\s+", " ", (match["unit"] or "").strip().lower())
    start, end = match.start(), match.end()
    is_enclosed = bool((match["open"] or (match["inner"] or "").startswith("(")) and match["close"])
    if match["open"] and not match["close"]:
        start += len(match["open"])
    if match["close"] and not is_enclosed:
        end = match.end("number") if not (match["scale"] or match["unit"] or match["behind"]) else end
    bare = not (currency or unit_words or match["scale"] or is_enclosed or match["minus"])
    if re.fullmatch(YEAR, number) and (bare or (is_enclosed and not currency)) and not _measure(text, end):
        yield Figure(start, end, DATE, date=(int(number), None, None))
        return
    is_range = (
        bool(match["minus"])
        and match["minus"][-1].isspace()
        and _ENDS_AS_FIGURE.search(text[max(start - 9, 0) : start]) is not None
    )
    if is_range:
        start += len(match["minus"])
    if not (match["scale"] or unit_words or match["behind"]) and _GLUED.match(text, match.end("number")):
        return  # the digits of a name: 37signals
    value = Decimal(plain if not plain.startswith(".") else f"0{plain}")
    for name in ("scale", "second"):
        value *= SCALES.get((match[name] or "").lower().rstrip("."), 1)
    is_list_number = is_enclosed and not (currency or unit_words or match["scale"]) and value < 30 and "." not in number
    if is_list_number:
        return  # "(2)" is a number of a list or a note
    if is_enclosed or (match["minus"] and not is_range) or match["inner"] or match["tail"]:
        value = -value
    unit = COUNT
    if currency:
        unit = CURRENCIES.get(currency[0] if currency[0] != "us" else "us$", "$")
    if unit_words:
        if "basis" in unit_words or unit_words.startswith("bp"):
            unit, value = POINTS, value / 100
        elif "point" in unit_words or unit_words.startswith(("pp", "% p", "%p", "%-p")):
            unit = POINTS
        elif unit_words in {"x", "×", "times"}:
            unit = TIMES
        elif unit_words == "‰":
            unit, value = PERCENT, value / 10
        else:
            unit = PERCENT
    digits = len(plain.replace(".", "").lstrip("0"))
    figure = Figure(start, end, unit, value, digits, _limit(text, start, end), is_scaled=bool(match["scale"]))
    yield replace(figure, measure=_measure(text, end)) if unit == COUNT else figure


def _from_word(text: str, match: re.Match[str]) -> Figure | None:
    word = match.group().lower()
    before = text[max(match.start() - 20, 0) : match.start()].rstrip().lower()
    behind = text[match.end() : match.end() + 20].lower()
    if word == "one" and (
        before.endswith((" no", " any", " every", " which", " the")) or re.match(r"\s+(?:another|or more|of)", behind)
    ):
        return None
    value = Decimal(0)
    for part in re.split(
        r"[ -]",
        re.split(r"(?<!\s)\s++(?:percent|per cent|basis|times|dollars|euros|pounds|yen|rupees|francs)", word)[0],
    ):
        value = value * SCALES[part] if part in SCALES else value + NUMBER_WORDS.get(part, 0)
    unit_words = (match["unit"] or "").strip().lower()
    unit = COUNT
    if unit_words:
        unit = TIMES if unit_words == "times" else POINTS if "point" in unit_words else PERCENT
        value = value / 100 if "basis" in unit_words else value
    elif match["behind"]:
        unit = CURRENCIES[match["behind"].strip().lower()]
    figure = Figure(match.start(), match.end(), unit, value, 2, _limit(text, match.start(), match.end()))
    return replace(figure, measure=_measure(text, match.end())) if unit == COUNT else figure


def _date(words: str) -> tuple[int | None, int | None, int | None]:
    numbers = [int(number) for number in re.findall(r"\d+", words)]
    year = next((number for number in numbers if number > 1000), None)
    month = re.search(r"[A-Za-z]{3,}", re.sub(r"\b(?:of|st|nd|rd|th)\b", "", words))
    if month is None:
        if "-" in words:
            return numbers[0], numbers[1], numbers[2]
        first, second = numbers[0], numbers[1]
        if "." in words or first > 12:
            return year, second, first
        return year, first, second
    day = next((number for number in numbers if number <= 31), None)
    return year, MONTHS.index(month[0].lower()[:3]) + 1, day


def _year(digits: str | None) -> int | None:
    if digits is None:
        return None
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def _measure(text: str, end: int) -> str:
    """The measure behind a number: `days` of `30 days`."""
    match = re.match(
        r"[\s-]+(?:(?:calendar|business|consecutive|full|additional|square|metric|working|further)[\s-]+)?([A-Za-z]+)",
        text[end : end + 40],
    )
    word = match[1].lower() if match else ""
    if word not in MEASURES:
        return ""
    word = ONE_OF.get(word, word)
    return word.removesuffix("s")


def _limit(text: str, start: int, end: int) -> str:
    before = text[max(start - 30, 0) : start]
    for name, pattern in LIMITS_BEHIND:
        if pattern.match(text[end : end + 20]):
            return name
    matches = [(match.start(), name) for name, pattern in LIMITS if (match := pattern.search(before))]
    return min(matches, default=(0, ""))[1]  # the longest: "not more than" holds "more than"


def limit_words(text: str, figure: Figure) -> tuple[int, int] | None:
    """The span of the words in front of a figure that limit it: `not more than`."""
    begin = max(figure.start - 30, 0)
    matches = [match.span() for _, pattern in LIMITS if (match := pattern.search(text[begin : figure.start]))]
    first, last = min(matches, default=(0, 0))
    return (begin + first, begin + last) if last else None


def same(stated: Figure, source: Figure) -> bool:
    """Whether a figure that is stated is the source's: value, unit, sign, measure and limit; dates may say less."""
    if stated.is_date or source.is_date:
        return _same_date(stated, source)
    if not _same_unit(stated.unit, source.unit):
        return False
    if stated.measure and source.measure and stated.measure != source.measure:
        return False
    if not _same_limit(stated.limit, source.limit):
        return False
    if stated.value == source.value:
        return True
    return _rounded(stated, source)


def same_size(stated: Figure, source: Figure) -> bool:
    """The same but for the sign: a loss of 5 and -5."""
    return same(replace(stated, value=abs(stated.value)), replace(source, value=abs(source.value)))


def _rounded(stated: Figure, source: Figure) -> bool:
    """Whether it is the source's figure, rounded: `94.8 billion` for `94,836 million`."""
    fewest = 2 if stated.is_scaled and source.digits > 3 and _has_decimals(stated) else 3
    if stated.digits < fewest or stated.digits >= source.digits or stated.value == 0:
        return False
    step = Decimal(10) ** (stated.value.copy_abs().adjusted() - stated.digits + 1)
    return abs(stated.value - source.value) * 2 <= step and (stated.value < 0) == (source.value < 0)


def _has_decimals(figure: Figure) -> bool:
    """Whether a scaled figure is written with a fraction: `4.2 billion`, and not `95 billion`."""
    scale = next((scale for scale in (10**12, 10**9, 10**6, 1000) if abs(figure.value) >= scale), 1)
    return bool(figure.value % scale)


def _same_unit(stated: str, source: str) -> bool:
    if stated == source:
        return True
    return {stated, source} == {"$", "USD"}


def _same_limit(stated: str, source: str) -> bool:
    if stated == source:
        return True
    loose = {"", "near"}
    if stated in loose and source in loose:
        return True
    return {stated, source} in ({"exact", ""}, {"short", "near"})


def _same_date(stated: Figure, source: Figure) -> bool:
    if not (stated.is_date and source.is_date):
        return False
    if QUARTER in {stated.unit, source.unit}:
        if stated.unit != source.unit:
            return stated.unit == DATE and stated.date[1:] == (None, None) and stated.date[0] == source.date[0]
        return stated.date[1] == source.date[1] and stated.date[0] in {None, source.date[0]}
    return all(part is None or part == other for part, other in zip(stated.date, source.date, strict=True))

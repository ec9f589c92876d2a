"""Numbers as Office shows them: cells of workbooks and labels of charts.

A number is shown in its format if that changes its meaning: dates, times, percent, currency, marks of its own ("2024E",
"FY2023", "5.3x", "25 bps"). With any other format (thousands separators, decimals, whole words: "12 months") it is
written as stored, which a search for figures can read. If a format rounds digits away, the stored number follows what
is shown, with as many digits as matter: `12.5% (0.12478)`, `62% (0.6229)`. It always does if a format shows thousands
or millions: `1,235 (1234567)`. So the text contains what a person sees in the sheet, and loses nothing that the sheet
holds.
"""

import datetime as dt
import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Final, Literal, NamedTuple

BUILT_IN: Final = {
    5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00', 8: '"$"#,##0.00', 9: "0%", 10: "0.00%",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 42: '"$"#,##0', 44: '"$"#,##0.00',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", **dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"),
}  # fmt: skip
"""Format codes that a workbook refers to by number without writing them down (ECMA-376, part 1, 18.8.30)."""

_LITERAL: Final = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*+)[^\]]*+\]|\[(?![hms])[^\]]*+\]', re.IGNORECASE)
_CURRENCY: Final = re.compile(r"[$€£¥₹₩₽₺₴₪₫฿¢₦₱₿]|\b(?:[A-Z]{3}|kr|zł|Kč|Fr|CHF|R\$)\b")
_DIGITS: Final = re.compile(r"[0#?][0#?,. ]*")
_MARK: Final = re.compile(r"(?:[\W\d_]*+[^\W\d_]){1,3}[\W\d_]*+|[^\w%‰]*+[%‰]\W*+")
"""At most three letters round the digits, or a percent sign that is none of the format's own."""

_YEAR_ALONE: Final = re.compile(
    r"""(?P<before>(?:\[\$-[^\]]*\]|\\.|"[^"]*"| )*)(?P<month>m{2,4}(?:\\?[-/ ]|"[-/ ]"))?yy(?:yy)?"""
    r"""(?P<after>(?:\\.|"[^"]*"| )*)""",
    re.IGNORECASE,
)
"""A format of dates that shows no day, with the words around it."""

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CONDITION: Final = re.compile(r"\[[<>=]")
_HIDDEN: Final = {ord(sign): 0xE000 + ord(sign) for sign in "0#?"}
_SHOWN: Final = {hidden: sign for sign, hidden in _HIDDEN.items()}
_LONGEST: Final = 400
"""Characters of a number and of a format code; Excel takes 255 in a code. A longer one is no number, or general."""

_EXACT: Final = Context(prec=_LONGEST + 20, rounding=ROUND_HALF_UP)
_UNITS: Final = [Decimal(1).scaleb(-decimals) for decimals in range(13)]
_MORE_DECIMALS: Final = 2
_DIGITS_THAT_TELL: Final = 4
_TELLING_DIGITS: Final = 15
_TELLING: Final = Context(prec=_TELLING_DIGITS, rounding=ROUND_HALF_UP)
"""Cuts a number to the digits that tell: a tenth of the time that it takes as a number of 64 bits."""

_CERTAIN_DIGITS: Final = 12
_NOISE: Final = re.compile("(?:000[0-9]{0,2}|999[0-9]{0,2}|0000[0-9]{3}|9999[0-9]{3})(?=e|$)")
"""How a number of fifteen digits ends, if the last of them are what sums leave behind."""

TELLING_LENGTH: Final = 16
"""Characters of a stored number from which it may have digits that tell nothing: fifteen digits and a point."""

_DIGITS_OF_GROUP: Final = 3
_LONGEST_FRACTION: Final = 10
_MOST_SERIAL: Final = 2_958_466
"""The serial number of the first day of the year 10000, beyond what a date can be."""

_FIRST_1904: Final = dt.date(1904, 1, 1).toordinal()
_FIRST_1900: Final = dt.date(1899, 12, 31).toordinal()
_LAST: Final = dt.date.max.toordinal()
Kind = Literal["plain", "date", "time", "duration", "percent", "currency", "marked", "padded", "scaled"]
"""What a format code makes of a number."""


def without_noise(raw: str) -> str:
    """A stored number with its significant digits: 0.30000000000000004 is 0.3, 1.0E7 is 10000000.

    A 64-bit number holds fifteen decimal digits, and Excel shows no more: 0.99715151175097994 is 0.99715151175098.
    Rounding errors in the last of these are dropped too: 46619.579999999507 is 46619.58.
    """
    try:
        number = float(raw) if len(raw) <= _LONGEST else math.nan
    except ValueError:
        return raw
    return _without_noise(raw, number) if math.isfinite(number) else raw


def _without_noise(raw: str, number: float) -> str:
    if number.is_integer() and -1e15 < number < 1e15:
        return str(int(number))
    if "e" in raw or "E" in raw:
        short = min(f"{number:.{_TELLING_DIGITS}g}", repr(number), key=len)  # the smallest numbers have fewer digits
    elif len(raw) < TELLING_LENGTH:
        return raw
    else:
        short = str(_TELLING.create_decimal(raw))
        if "E" in short:  # a long number without a point: a code, which keeps its digits
            return raw
        short = short.rstrip("0").rstrip(".") if "." in short else short
    is_noisy = ("000" in short or "999" in short) and _NOISE.search(short) is not None
    return (f"{number:.{_CERTAIN_DIGITS}g}" if is_noisy else short).upper()


class NumberFormat(NamedTuple):
    """One section of a format code: `before` and `after` are the words around the digits,
    `decimals` is their number.
    """

    kind: Kind
    before: str = ""
    after: str = ""
    decimals: int = 0
    thousands: bool = False
    width: int = 0  # digits before the point at least, with zeros in front
    groups: int = 0  # groups of three digits that are not shown: 1 of a number in thousands
    without_day: str = ""  # what a date shows that shows no day: "y", "my" with words, or "m" for a month alone


def show_number(raw: str, code: str, *, from_1904: bool = False, of_chart: bool = False) -> str:
    """The stored number `raw` as the format `code` shows it; text that is not a number is returned unchanged.

    Dates become `2024-01-31`, with a time of day `2024-01-31 14:30:00`, times `14:30:00`: to the second, or to the
    thousandth if the format shows fractions. Charts (`of_chart`) have days on their axes where cells have months.
    """
    try:
        number = float(raw) if len(raw) <= _LONGEST else math.nan
    except ValueError:
        return raw
    if not math.isfinite(number):
        return raw
    number_format, below = _formats(code)
    if of_chart and number_format.without_day == "m":
        number_format = NumberFormat("date")
    if number_format.kind in ("date", "time", "duration"):
        return _moment(number, number_format, from_1904) or _without_noise(raw, number)
    stored = _without_noise(raw, number)
    if number_format.kind == "plain" or not -1e15 < number < 1e15:
        return stored
    signed = "-" if number < 0 else ""
    if signed and below is not None:
        number_format, signed = below, ""
    if number_format.kind == "plain":
        return stored
    if number_format.kind == "padded":
        exact = Decimal(stored).copy_abs()
        rounded = exact.quantize(_UNITS[0], context=_EXACT)
        shown, decimals = signed + f"{rounded:f}".zfill(number_format.decimals), 0
    else:
        exact = Decimal(stored).copy_abs()
        decimals = number_format.decimals
        if number_format.kind == "percent":
            exact, decimals = exact.scaleb(2, _EXACT), decimals + 2
        exact = exact.scaleb(-_DIGITS_OF_GROUP * number_format.groups, _EXACT)
        rounded = exact.quantize(_UNITS[number_format.decimals], context=_EXACT)
        digits = f"{rounded:,f}" if number_format.thousands else f"{rounded:f}"
        if number_format.width > 1:
            digits = digits.zfill(number_format.width + len(digits) - len(digits.partition(".")[0]))
        shown = f"{signed}{number_format.before}{digits}{number_format.after}".strip()
    if number_format.groups:
        return f"{shown} ({stored})" if exact else shown
    return shown if rounded == exact else with_stored(shown, Decimal(stored), decimals)


def changes_numbers(code: str) -> bool:
    """Whether the format shows any number differently from how it is stored."""
    number_format, below = _formats(code)
    return number_format.kind != "plain" or (below is not None and below.kind != "plain")


def with_stored(shown: str, stored: Decimal, decimals: int) -> str:
    """What is shown, followed by the stored number with two more decimals than shown, and at least four digits.

    `decimals` are those of the stored number that are visible in what is shown; negative if thousands are shown. The
    stored number is left out if it adds nothing.
    """
    enough = max(decimals + _MORE_DECIMALS, _DIGITS_THAT_TELL - 1 - stored.adjusted())
    told = stored.quantize(Decimal(1).scaleb(-enough), context=_EXACT)
    if told == stored.quantize(Decimal(1).scaleb(-decimals), context=_EXACT):
        return shown
    digits = f"{told:f}" if stored.adjusted() > -_LONGEST_FRACTION else f"{told.normalize():E}"
    return f"{shown} ({digits.rstrip('0').rstrip('.') if '.' in digits else digits})"


@lru_cache(maxsize=4096)
def _formats(code: str) -> tuple[NumberFormat, NumberFormat | None]:
    """The format of numbers, and that of negative ones if the code has one of its own, which includes their sign."""
    if len(code) > _LONGEST:
        return NumberFormat("plain"), None
    sections = code.split(";")
    if len(sections) > 1 and _CONDITION.search(code) and len(set(map(_means, sections))) > 1:
        return NumberFormat("plain"), None  # which of them is followed depends on the number
    if len(sections) > 1 and ("(" in sections[1] or "-" in sections[1]):
        return _format(sections[0]), _format(sections[1])
    return _format(sections[0]), None


def _means(section: str) -> tuple[Kind, int]:
    shape = _format(section)
    return shape.kind, shape.groups


def _format(section: str) -> NumberFormat:
    """The effect of one section of a format code."""
    bare = _LITERAL.sub("", section)
    if section.lower() == "general" or not bare:
        return NumberFormat("plain")
    if re.search(r"\[[hms]+\]", bare, re.IGNORECASE):
        return NumberFormat("duration", decimals=_fractions(bare))
    if "general" not in bare.lower() and re.search(r"[ymdhs]", bare, re.IGNORECASE):
        clock = re.search(r"[hs]", bare, re.IGNORECASE) and not re.search(r"[yd]|mmm", bare, re.IGNORECASE)
        return _format_year(section) or NumberFormat("time" if clock else "date", decimals=_fractions(bare))
    words = re.sub(r"\s+", " ", _LITERAL.sub(_literal, section))
    digits = _DIGITS.search(words)
    if digits is None or "E" in bare:
        return NumberFormat("plain")
    before, after = (part.translate(_SHOWN) for part in (words[: digits.start()], words[digits.end() :]))
    inner = digits.group()
    decimals = min(len(re.sub(r"[^0#?]", "", inner.partition(".")[2])), len(_UNITS) - 1)
    thousands = "," in inner.strip(", ")
    whole = inner.rstrip(". ")
    groups = len(whole) - len(whole.rstrip(","))
    kind: Kind = "scaled" if groups and not before.strip("( -") and not after.strip(") ") else "plain"
    if "%" in bare:
        kind = "percent"
    elif _CURRENCY.search(before + " " + after):
        kind = "currency"
    elif _MARK.fullmatch(before + after) and "/" not in bare and len(_DIGITS.findall(words)) == 1:
        kind = "marked"
    if kind != "plain":
        width = inner.partition(".")[0].count("0")
        after = inner[len(inner.rstrip()) :] + after
        return NumberFormat(kind, before, after, decimals, thousands, width, groups)
    if re.fullmatch("0{2,}", section):
        return NumberFormat("padded", decimals=len(section))
    return NumberFormat("plain")


def _format_year(section: str) -> NumberFormat | None:
    """The format of dates that shows a year or a month alone, or with words of its own: `yyyy"E"`, `mmm-yy"A"`."""
    shown = _YEAR_ALONE.fullmatch(section)
    if shown is None:
        return None
    before, after = (_LITERAL.sub(_literal, words).translate(_SHOWN) for words in shown.group("before", "after"))
    if shown["month"] and not after.strip():
        return None if before.strip() else NumberFormat("date", without_day="m")
    return NumberFormat("date", before, after, without_day="my" if shown["month"] else "y")


def _literal(match: re.Match[str]) -> str:
    """The literal words of a format code, in a form that cannot be taken for digits."""
    return (match[1] or match[2] or match[3] or "").translate(_HIDDEN)


def _fractions(bare: str) -> int:
    return 3 if re.search(r"s\]?[.,]0", bare, re.IGNORECASE) else 0


def _moment(number: float, number_format: NumberFormat, from_1904: bool) -> str | None:
    """A serial number of days as a date, a time or both; None if it is outside the calendar."""
    if number < 0 or number >= _MOST_SERIAL:
        return None
    unit = 1000 if number_format.decimals else 1
    days, rest = divmod(round(number * 86400 * unit), 86400 * unit)
    # The calendar of 1900 counts a 29 February that there was not: from 1 March on, days stand one too far.
    day = _day((_FIRST_1904 if from_1904 else _FIRST_1900 - (number >= 60)) + days)
    has_day = number >= 1 or (from_1904 and number_format.kind == "date")  # which begins with a day 0
    if not rest and number_format.kind == "date" and has_day:
        return _show_year(day, number_format) if day and number_format.without_day else day
    seconds, parts = divmod(rest, unit)
    fraction = f".{parts:03}".rstrip("0") if parts else ""
    clock = f"{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    if number_format.kind == "duration":
        return f"{days * 24 + seconds // 3600}:{clock}"
    if not has_day:
        return f"{days * 24 + seconds // 3600:02}:{clock}"
    clock = f"{seconds // 3600:02}:{clock}"
    return f"{day} {clock}" if day else None


def _show_year(day: str, number_format: NumberFormat) -> str:
    """A date that shows no day as it is shown: "2022E", "Dec-22A"; the first day of a month alone as "2022-12".

    Where a year alone is shown, days other than 1 January and those of December stay: fiscal years begin and end on
    them.
    """
    date = dt.date.fromisoformat(day)
    if number_format.without_day == "m":
        return day[:7] if date.day == 1 else day
    if number_format.without_day == "my":
        return f"{number_format.before}{_MONTHS[date.month - 1]}-{date:%y}{number_format.after}".strip()
    is_calendar_year = date.month == 12 or (date.month, date.day) == (1, 1)
    return f"{number_format.before}{day[:4]}{number_format.after}".strip() if is_calendar_year else day


@lru_cache(maxsize=4096)
def _day(ordinal: int) -> str | None:
    return dt.date.fromordinal(ordinal).isoformat() if ordinal <= _LAST else None

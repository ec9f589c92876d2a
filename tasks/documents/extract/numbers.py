"""Numbers as a workbook shows them where their format changes what they mean: dates, times, percent, currency.

Any other format (thousands separators, decimals) leaves the number as it is stored.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

BUILT_IN: Final = {
    5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00', 8: '"$"#,##0.00', 9: "0%", 10: "0.00%",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 42: '"$"#,##0', 44: '"$"#,##0.00',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", **dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"),
}  # fmt: skip
"""Format codes that a workbook refers to by number without writing them down (ECMA-376, part 1, 18.8.30)."""

_LITERAL: Final = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[(?![hms])[^\]]*\]', re.IGNORECASE)
_CURRENCY: Final = re.compile(r"[$€£¥₹₩₽₺₴₪₫฿¢₦₱₿]|\b(?:[A-Z]{3}|kr|zł|Kč|Fr|CHF|R\$)\b")
_MOST_SERIAL: Final = 2_958_466
"""The serial number of the first day of the year 10000, beyond what a date can be."""


class Kind(Enum):
    """What a format code makes of a number."""

    PLAIN = "plain"
    DATE = "date"
    MOMENT = "moment"
    TIME = "time"
    DURATION = "duration"
    PERCENT = "percent"
    CURRENCY = "currency"
    PADDED = "padded"


class Shape(NamedTuple):
    """One section of a format code: `before` and `after` are the words round the digits."""

    kind: Kind
    before: str = ""
    after: str = ""
    decimals: int = 0
    thousands: bool = False


def show(raw: str, code: str, *, from_1904: bool = False) -> str:
    """The stored number `raw` as the format `code` shows it; text that is no number stays as it is.

    Dates come as `2024-01-31`, moments as `2024-01-31 14:30:00`, times as `14:30:00`.
    """
    try:
        number = float(raw)
    except ValueError:
        return raw
    if not math.isfinite(number):
        return raw
    sections = code.split(";")
    if number < 0 and len(sections) > 1 and ("(" in sections[1] or "-" in sections[1]):
        shape, signed, number = _shape(sections[1]), "", -number
    else:
        shape, signed = _shape(sections[0]), "-" if number < 0 else ""
    if shape.kind in (Kind.DATE, Kind.MOMENT, Kind.TIME, Kind.DURATION):
        return _moment(number, shape.kind, from_1904) or plain(raw)
    if shape.kind is Kind.PLAIN or abs(number) > 1e15:
        return plain(raw)
    if shape.kind is Kind.PADDED:
        return signed + f"{abs(number):.0f}".zfill(shape.decimals)
    exact = abs(Decimal(raw.strip())) * (100 if shape.kind is Kind.PERCENT else 1)
    exact = exact.quantize(Decimal(1).scaleb(-shape.decimals), ROUND_HALF_UP)
    digits = f"{exact:{',' if shape.thousands else ''}f}"
    return f"{signed}{shape.before}{digits}{shape.after}".strip()


def plain(raw: str) -> str:
    """A stored number without the noise of its last binary digit: 0.30000000000000004 is 0.3."""
    try:
        number = float(raw)
    except ValueError:
        return raw
    if not math.isfinite(number):
        return raw
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.15g}".upper() if "." in raw or "e" in raw.lower() else raw


@lru_cache(maxsize=4096)
def _shape(section: str) -> Shape:
    """What one section of a format code does."""
    bare = _LITERAL.sub("", section)
    if section.lower() == "general" or not bare:
        return Shape(Kind.PLAIN)
    if re.search(r"\[[hms]+\]", bare, re.IGNORECASE):
        return Shape(Kind.DURATION)
    if "general" not in bare.lower() and re.search(r"[ymdhs]", bare, re.IGNORECASE):
        day = re.search(r"[yd]|mmm", bare, re.IGNORECASE)
        clock = re.search(r"[hs]", bare, re.IGNORECASE)
        if not clock:
            return Shape(Kind.DATE)
        return Shape(Kind.MOMENT if day else Kind.TIME)
    words = _LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", section)
    digits = re.search(r"[0#?][0#?,. ]*", words)
    if digits is None or "E" in bare:
        return Shape(Kind.PLAIN)
    before, after, inner = words[: digits.start()], words[digits.end() :], digits.group()
    decimals = len(re.sub(r"[^0#?]", "", inner.partition(".")[2]))
    thousands = "," in inner.strip(", ")
    if inner.rstrip(". ").endswith(","):
        return Shape(Kind.PLAIN)  # shown in thousands or millions: the stored number says more
    if "%" in bare:
        return Shape(Kind.PERCENT, before, inner[len(inner.rstrip()) :] + after, decimals, thousands)
    if _CURRENCY.search(before + " " + after):
        return Shape(Kind.CURRENCY, before, inner[len(inner.rstrip()) :] + after, decimals, thousands)
    if re.fullmatch("0{2,}", section):
        return Shape(Kind.PADDED, decimals=len(section))
    return Shape(Kind.PLAIN)


def _moment(number: float, kind: Kind, from_1904: bool) -> str | None:
    """A serial number of days as a date, a time or both; None when it is beyond the calendar."""
    if number < 0 or number >= _MOST_SERIAL:
        return None
    seconds = round(number * 86400)
    if kind is Kind.DURATION:
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if kind is Kind.TIME and seconds < 86400:
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    # The calendar of 1900 counts a 29 February that there was not: days before 1 March stand one off.
    start = (
        datetime(1904, 1, 1, tzinfo=UTC) if from_1904 else datetime(1899, 12, 30 if number >= 60 else 31, tzinfo=UTC)
    )
    moment = start + timedelta(seconds=seconds)
    if kind is Kind.DATE or (kind is Kind.MOMENT and seconds % 86400 == 0):
        return moment.strftime("%Y-%m-%d") if number >= 1 else f"{moment:%H:%M:%S}"
    return moment.strftime("%Y-%m-%d %H:%M:%S")

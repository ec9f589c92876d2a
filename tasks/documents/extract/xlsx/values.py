"""How the cells of a workbook are shown: each kind of cell (its type and format) has its texts by stored value.

Values repeat, so what one is shown as is worked out once and kept. Texts are bytes of UTF-8, as they are joined to
rows many at a time before they are decoded.

Numbers are shown as a workbook shows them where their format changes what they mean: dates, times, percent, currency.
Any other format (thousands separators, decimals) leaves the number as it is stored. Where a format rounds digits away,
the stored number stands behind what is shown: `12.5% (0.12478)`. A person finds in the text what the sheet shows, and
nothing that the sheet holds is lost.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache, partial
from typing import Final, Literal, NamedTuple

from tasks.documents.extract.ooxml.xml import unescaped
from tasks.text.normalise import one_line

BUILT_IN: Final = {
    5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00', 8: '"$"#,##0.00', 9: "0%", 10: "0.00%",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 42: '"$"#,##0', 44: '"$"#,##0.00',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", **dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"),
}  # fmt: skip
"""Format codes that a workbook refers to by number without writing them down (ECMA-376, part 1, 18.8.30)."""

_LITERAL: Final = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[(?![hms])[^\]]*\]', re.IGNORECASE)
_CURRENCY: Final = re.compile(r"[$€£¥₹₩₽₺₴₪₫฿¢₦₱₿]|\b(?:[A-Z]{3}|kr|zł|Kč|Fr|CHF|R\$)\b")
_LONGEST: Final = 400
"""Characters of a number and of a format code; Excel takes 255 in a code. A longer one is no number, or general."""

_EXACT: Final = Context(prec=_LONGEST + 20, rounding=ROUND_HALF_UP)
_UNITS: Final = [Decimal(1).scaleb(-decimals) for decimals in range(13)]
_MOST_SERIAL: Final = 2_958_466
"""The serial number of the first day of the year 10000, beyond what a date can be."""

_FIRST_1904: Final = dt.date(1904, 1, 1).toordinal()
_FIRST_1900: Final = dt.date(1899, 12, 31).toordinal()
_LAST: Final = dt.date.max.toordinal()
Kind = Literal["plain", "date", "time", "duration", "percent", "currency", "padded"]
"""What a format code makes of a number."""

LONGEST: Final = 1 << 20
"""Bytes of a cell that are read. Excel lets one hold 32,767 characters."""

_ROOM: Final = 64 << 20
"""Bytes of texts that are kept at a time."""

_ENTRY: Final = 200
"""What keeping a text costs besides its characters, and those of its value, in bytes."""

_MOST_KNOWN: Final = 50_000
_ATTRIBUTE: Final = re.compile(rb"""\s([ts])\s*+=\s*+["']([^"'<]*)["']""")

_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_PHONETIC: Final = re.compile(rb"<rPh(?=[\s>])[^<>]*+>\s*+(?:<t(?=[\s>])[^<>]*+>[^<]*+</t>\s*+)?+</rPh>")
_WORDS: Final = re.compile(rb"<t(?:\s[^<>]*+)?+>([^<]*+)")
_MENDABLE: Final = re.compile(rb"[E&]|(?:0000|9999)\d\d?$|\.0$")
_INDICES: Final[list[bytes]] = []


class CellTexts(dict[bytes, bytes]):
    """The texts of one kind of cell by stored value."""

    def __init__(self, work_out: Callable[[bytes], bytes], kinds: "CellKinds") -> None:
        super().__init__()
        self._work_out = work_out
        self._kinds = kinds

    def __missing__(self, value: bytes) -> bytes:
        text = self[value] = self._work_out(value)
        kinds = self._kinds
        kinds.bytes_held += len(value) + len(text) + _ENTRY
        if kinds.bytes_held > _ROOM:
            kinds.forget()
        if len(value) > LONGEST:
            kinds.clipped = True
        return text


class CellKinds(dict[bytes, CellTexts | None]):
    """The texts of a cell by its attributes, such as ` s="3" t="s">`; None where numbers stand as they are stored.

    `strings` and `codes` (see `Workbook`) are called when the first cell needs them. `longest` is the number of
    bytes in the longest string that cells refer to, `bytes_held` that of the texts kept; `clipped`: a cell held
    more than LONGEST.
    """

    def __init__(
        self,
        strings: Callable[[], Sequence[bytes]],
        codes: Callable[[], Mapping[bytes, str]],
        *,
        from_1904: bool,
    ) -> None:
        super().__init__()
        self.longest = 0
        self.clipped = False
        self.bytes_held = 0
        self._strings = strings
        self._codes = codes
        self._from_1904 = from_1904
        self._texts: dict[tuple[bytes, str], CellTexts] = {}

    def __missing__(self, attributes: bytes) -> CellTexts | None:
        pairs = dict(_ATTRIBUTE.findall(attributes))
        kind = pairs.get(b"t", b"n")
        code = self._codes().get(pairs.get(b"s", b"0"), "") if kind == b"n" else ""
        texts = self._of(kind, code) if kind != b"n" or code else None
        self.bytes_held += len(attributes) + _ENTRY
        if self.bytes_held > _ROOM:
            self.forget()
        self[attributes] = texts
        return texts

    def _of(self, kind: bytes, code: str) -> CellTexts:
        if (kind, code) in self._texts:
            return self._texts[kind, code]
        work_out: Callable[[bytes], bytes] = characters
        if kind == b"s":
            work_out = self._string
            self.longest = max(map(len, self._strings()), default=0)
        elif kind == b"b":
            work_out = _truth
        elif kind == b"n":
            work_out = partial(_formatted, code=code, from_1904=self._from_1904)
        texts = self._texts[kind, code] = CellTexts(work_out, self)
        if kind == b"s" and len(self._strings()) <= _MOST_KNOWN:
            texts.update(zip(_indices(len(self._strings())), self._strings(), strict=False))
        return texts

    def _string(self, index: bytes) -> bytes:
        index, strings = index.strip(), self._strings()
        return strings[int(index)] if index.isdigit() and len(index) < 9 and int(index) < len(strings) else b""

    def forget(self) -> None:
        """Forget all texts: they took more than _ROOM."""
        self.bytes_held = 0
        self.clear()
        for texts in self._texts.values():
            texts.clear()


def _indices(count: int) -> list[bytes]:
    """At least so many indices as cells have them, made once: they are the same in all workbooks."""
    if len(_INDICES) < count:
        _INDICES.extend(b"%d" % index for index in range(len(_INDICES), count))
    return _INDICES


def _formatted(raw: bytes, *, code: str, from_1904: bool) -> bytes:
    stored = raw.decode("utf-8", "replace")
    shown = show_number(stored, code, from_1904=from_1904)
    return shown.encode() if shown is not stored else characters(raw)


def _truth(raw: bytes) -> bytes:
    return b"TRUE" if raw.strip() in (b"1", b"true") else b"FALSE" if raw else b""


def characters(raw: bytes) -> bytes:
    """What stands as `raw` in a part, on one line: entities and `_x000D_` as the characters that they are."""
    raw = raw[:LONGEST]
    if raw.isascii() and b"&" not in raw and b"_x" not in raw:
        return b" ".join(raw.split())
    text = unescaped(raw.decode("utf-8", "replace"))
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return one_line(text).encode("utf-8", "replace")


def rich_text(item: bytes) -> bytes:
    """What a string item (`si`, `is`, `text`) says, as it stands there, without the reading aids of East Asian text."""
    if b"<rPh" in item:
        item = _PHONETIC.sub(b"", item)
    return b"".join(_WORDS.findall(item))


def number(raw: bytes) -> bytes:
    """A stored number that no format changes."""
    if _MENDABLE.search(raw) is None:
        return raw
    return characters(raw) if b"&" in raw else without_noise(raw.decode("utf-8", "replace")).encode()


def without_noise(raw: str) -> str:
    """A stored number without the noise of its last binary digits: 0.30000000000000004 is 0.3, 1.0E7 is 10000000.

    What is no noise stays: 0.99715151175097994 keeps all its digits.
    """
    try:
        number = float(raw) if len(raw) <= _LONGEST else math.nan
    except ValueError:
        return raw
    return _without_noise(raw, number) if math.isfinite(number) else raw


def _without_noise(raw: str, number: float) -> str:
    if number.is_integer() and -1e15 < number < 1e15:
        return str(int(number))
    scientific = "e" in raw or "E" in raw
    if len(raw) < 17 and not scientific:
        return raw
    short = f"{number:.15g}"
    if len(short) + 5 < len(raw) and (scientific or "e" not in short):
        return short.upper()
    return repr(number).upper() if scientific else raw


class NumberFormat(NamedTuple):
    """One section of a format code: `before` and `after` are the words round the digits, `decimals` their number."""

    kind: Kind
    before: str = ""
    after: str = ""
    decimals: int = 0
    thousands: bool = False


def show_number(raw: str, code: str, *, from_1904: bool = False) -> str:
    """The stored number `raw` as the format `code` shows it; text that is no number stays as it is.

    Dates come as `2024-01-31`, with the time of day where they have one as `2024-01-31 14:30:00`, times as
    `14:30:00`: to the second, or to the thousandth where the format shows fractions of one.
    """
    try:
        number = float(raw) if len(raw) <= _LONGEST else math.nan
    except ValueError:
        return raw
    if not math.isfinite(number):
        return raw
    number_format, below = _formats(code)
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
        shown, lost = signed + f"{abs(number):.0f}".zfill(number_format.decimals), not number.is_integer()
    else:
        exact = Decimal(stored).copy_abs()
        if number_format.kind == "percent":
            exact = exact.scaleb(2, _EXACT)
        rounded = exact.quantize(_UNITS[number_format.decimals], context=_EXACT)
        digits = f"{rounded:,f}" if number_format.thousands else f"{rounded:f}"
        shown, lost = f"{signed}{number_format.before}{digits}{number_format.after}".strip(), rounded != exact
    return f"{shown} ({stored})" if lost else shown


@lru_cache(maxsize=4096)
def _formats(code: str) -> tuple[NumberFormat, NumberFormat | None]:
    """The shape of numbers and, where the code has one of its own, of those below zero, which brings their sign."""
    if len(code) > _LONGEST:
        return NumberFormat("plain"), None
    sections = code.split(";")
    if len(sections) > 1 and ("(" in sections[1] or "-" in sections[1]):
        return _format(sections[0]), _format(sections[1])
    return _format(sections[0]), None


def _format(section: str) -> NumberFormat:
    """What one section of a format code does."""
    bare = _LITERAL.sub("", section)
    if section.lower() == "general" or not bare:
        return NumberFormat("plain")
    if re.search(r"\[[hms]+\]", bare, re.IGNORECASE):
        return NumberFormat("duration", decimals=_fractions(bare))
    if "general" not in bare.lower() and re.search(r"[ymdhs]", bare, re.IGNORECASE):
        clock = re.search(r"[hs]", bare, re.IGNORECASE) and not re.search(r"[yd]|mmm", bare, re.IGNORECASE)
        return NumberFormat("time" if clock else "date", decimals=_fractions(bare))
    words = re.sub(r"\s+", " ", _LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", section))
    digits = re.search(r"[0#?][0#?,. ]*", words)
    if digits is None or "E" in bare:
        return NumberFormat("plain")
    before, after, inner = words[: digits.start()], words[digits.end() :], digits.group()
    decimals = min(len(re.sub(r"[^0#?]", "", inner.partition(".")[2])), len(_UNITS) - 1)
    thousands = "," in inner.strip(", ")
    if inner.rstrip(". ").endswith(","):
        return NumberFormat("plain")  # shown in thousands or millions: the stored number says more
    if "%" in bare:
        return NumberFormat("percent", before, inner[len(inner.rstrip()) :] + after, decimals, thousands)
    if _CURRENCY.search(before + " " + after):
        return NumberFormat("currency", before, inner[len(inner.rstrip()) :] + after, decimals, thousands)
    if re.fullmatch("0{2,}", section):
        return NumberFormat("padded", decimals=len(section))
    return NumberFormat("plain")


def _fractions(bare: str) -> int:
    return 3 if re.search(r"s\]?[.,]0", bare, re.IGNORECASE) else 0


def _moment(number: float, number_format: NumberFormat, from_1904: bool) -> str | None:
    """A serial number of days as a date, a time or both; None when it is beyond the calendar."""
    if number < 0 or number >= _MOST_SERIAL:
        return None
    unit = 1000 if number_format.decimals else 1
    days, rest = divmod(round(number * 86400 * unit), 86400 * unit)
    # The calendar of 1900 counts a 29 February that there was not: from 1 March on, days stand one too far.
    day = _day((_FIRST_1904 if from_1904 else _FIRST_1900 - (number >= 60)) + days)
    if not rest and number_format.kind == "date" and number >= 1:
        return day
    seconds, parts = divmod(rest, unit)
    fraction = f".{parts:03}".rstrip("0") if parts else ""
    clock = f"{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    if number_format.kind == "duration":
        return f"{days * 24 + seconds // 3600}:{clock}"
    if number < 1:
        return f"{days * 24 + seconds // 3600:02}:{clock}"
    clock = f"{seconds // 3600:02}:{clock}"
    return f"{day} {clock}" if day else None


@lru_cache(maxsize=4096)
def _day(ordinal: int) -> str | None:
    return dt.date.fromordinal(ordinal).isoformat() if ordinal <= _LAST else None

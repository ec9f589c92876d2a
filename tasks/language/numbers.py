"""Numbers as people write them, in any locale: an exact decimal, its unit, its scale, and the worth of its last digit.

`cell_amount` reads a cell that contains a number and nothing else, `numbers` all numbers of a sentence: both use the
same signs, separators, scales, currencies and units, so that a figure in a table equals the same one in a sentence.
`amounts` returns those of `numbers` that may be figures of a company. `read_units` reads the units of a header.

Whether a number is a figure at all, and what it means, is decided in `from_cells` and `from_sentences`.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from tasks.language.words import alternation, currency_codes, currency_marks, currency_names, decimal_mark, look_up

PERCENT: Final = "percent"
COUNT: Final = "count"
RATIO: Final = "ratio"
MONTHS: Final = "months"
POINTS: Final = "points"
CENTS: Final = "cents"

_DATA: Final = tomllib.loads(files("tasks.language").joinpath("units.toml").read_text(encoding="utf-8"))
_SCALES: Final = _DATA["scale"]
_MULTIPLIER: Final = {
    word: scale["multiplier"]
    for scale in _SCALES
    for word in f"{scale.get('words', '')} {scale.get('behind', '')}".split()
}
_NAMES: Final[dict[int, str]] = {1: "", **{scale["multiplier"]: scale["name"] for scale in _SCALES}}
_DOTTED: Final = frozenset("tsd mio mill mln mrd mld".split())  # noqa: SIM905 - a list of words reads best as words
_CONDITIONS: Final = {"miles": "(?= de )", "t": r"(?=\.? ?(?:€|EUR|kr|SEK|NOK|DKK))"}
"""Scales that are one only before these words: "5 miles" is a way, "5 t" a weight."""


_CODE: Final = f"(?:(?-i:{alternation(currency_codes(), as_written=True)})|USD|EUR|GBP|CHF|JPY|INR|SEK|NOK|DKK|AUD|CAD)"
_WORDLIKE: Final = [
    mark for mark in currency_marks() if mark[0].isalpha() and mark not in {"Rs", "Rs.", "R", "kr", "kr."}
]
_RAND: Final = (
    r"(?-i:\AR\Z|(?<![\w&])R(?= ?\d{1,3}(?:[ ,.\u00a0]\d{3})+|['’]000| ?\d+(?:[.,]\d+)? ?(?:mn?|bn|million|billion)\b))"
)
"""One letter is a currency only before an amount, or alone in its cell."""

_CROWNS: Final = (
    r"(?<![A-Za-z.])(?-i:kr\.?)(?=[ \u00a0]?[-(]?\d)"
    r"|(?:(?<=\d)|(?<=\d[ \u00a0])|(?<=mio\.[ \u00a0]))(?-i:kr\.?)(?![A-Za-zÀ-ž])"
)
"""Crowns beside an amount; of which country is told by the document."""

_SIGNS: Final = "".join(mark for mark in currency_marks() if len(mark) == 1 and not mark.isalpha())
CURRENCY: Final = (
    rf"(?:(?<![A-Za-z])(?-i:{alternation((mark for mark in _WORDLIKE if not mark[-1].isalpha()), as_written=True)})"
    r"|(?<![A-Za-z])"
    rf"(?-i:{alternation((mark for mark in _WORDLIKE if mark[-1].isalpha()), as_written=True)})(?![A-Za-zÀ-ž])"
    rf"|{_RAND}|{_CROWNS}"
    rf"|[{_SIGNS}]|\bRs\.?(?![A-Za-z])|\b[TkM][€$£]"
    rf"|(?<![A-Za-zÀ-ž_])[TkM]?{_CODE}(?=(?:k|mn?|mm|bn)?(?![A-Za-zÀ-ž])))"
)
_CUR_NAME: Final = rf"(?:{alternation(currency_names())})\b"
_SPACES: Final = " \u00a0\u2009\u202f"
_SPACE: Final = f"[{_SPACES}]"
_DIGITS: Final = (
    rf"(?:\d{{1,3}}(?:[.,'’{_SPACES}]\d{{3}})+(?:[.,]\d+)?|\d{{1,2}}(?:,\d\d)+,\d{{3}}(?:\.\d+)?"
    r"|\d+(?:[.,]\d+)?|[.,]\d+)(?!\d)"
)
_SCALE: Final = (
    "(?:"
    + "|".join(
        re.escape(word) + (r"\.?" if word in _DOTTED else "") + _CONDITIONS.get(word, "")
        for word in sorted(_MULTIPLIER, key=len, reverse=True)
        if word[0].isalpha()
    )
    + ")(?![A-Za-zà-ÿ²³])"
)
_PERCENT: Final = r"(?:[%‰]|per ?cent\b|percent\b|pct\b|prozent\b|p\. ?c\.)"
_POINTS: Final = (
    r"(?:%[ -]?(?:points?|pts?|p)\b|per ?cent(?:age)?[ -]points?\b|pp(?:ts?|s)?\b"
    r"|basis[ -]points?\b|bps?\b|prozentpunkte?\b)"
)

_CELL: Final = re.compile(
    rf"(?P<open>[-–−+(~≈]*)\s*(?P<scale0>[kKmMT](?=\s*[€$£]))?(?P<before>{CURRENCY})?"
    rf"(?-i:P ?(?=\d{{1,3}}[,.]\d{{3}}))?\s?(?P<mega>[mkMKT](?=\s?\d))?\s*(?P<sign>[-–−(]*)\s*"
    rf"(?P<digits>{_DIGITS})\s?(?P<scale>{_SCALE})?\s?(?P<after>{CURRENCY}|euros?\b|dollars\b)?\s?"
    rf"(?:(?P<points>{_POINTS})|(?P<percent>{_PERCENT})|(?P<times>[x×]))?\s?(?P<close>\)|-(?!\d)|CR\b"
    rf"|DR\b)?\s?(?P<late>{_PERCENT})?"
    r"(?: \((?P<stored>-?\d+(?:\.\d+)?(?:E[+-]?\d+)?)\))?(?: \[computed\])?",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    rf"(?<![\w.,])(?<![A-Za-z][-(])(?=\D{{0,30}}+\d)(?P<open>\({_SPACE}?)?(?P<minus>(?<![)\]%])[-−–‐‑]{_SPACE}?|\b(?:minus|negative){_SPACE})?"
    rf"(?:(?P<before>{CURRENCY}){_SPACE}?(?P<mega>(?:k|mn?|bn)(?={_SPACE}?\d))?{_SPACE}?(?P<inner>[-−–(]{_SPACE}?)?)?"
    rf"(?P<digits>(?!,){_DIGITS})(?!-[A-Z]\b)(?P<close>{_SPACE}?\))?(?P<tail>[-−](?=\s*$))?"
    rf"(?:[{_SPACES}-]?(?P<scale>{_SCALE})(?:{_SPACE}(?P<second>thousand|lakh|crores?|millions?|billions?)\b)?)?"
    rf"(?:{_SPACE}?(?P<points>{_POINTS})|{_SPACE}?(?P<percent>{_PERCENT})|(?P<times>[x×](?!\w)|{_SPACE}times\b))?"
    rf"(?:{_SPACE}?(?:d['’] ?|de |di |of )?(?P<after>{CURRENCY}|{_CUR_NAME}|cents\b|pence\b)(?!{_SPACE}?[\d(]))?",
    re.IGNORECASE,
)
_RANGE_BEFORE: Final = re.compile(r"(?:[\d%]|illion|thousand)\s$")
_NAME_OR_RANGE_BEFORE: Final = re.compile(r"(?:[\d%]|illion|thousand|\b[A-Z][\w&]{1,18}|\A)\s$")
"""Before a dash that is not a sign. "EBITDA - £2.4 million" names what follows, which would be written -£2.4 else."""
"""What stands before the dash of a range, `7.0% - 8.0%`."""

_NAMED_BEFORE: Final = re.compile(r":\*{0,2} ?$")
_NAME_BEHIND: Final = re.compile(r"[A-Za-z]{4}")
_COMPOUND_BEFORE: Final = re.compile(r"(?:[/–-]|\d:)$")
_COMPOUND_BEHIND: Final = re.compile(r"[-/:]?\d")
"""What joins two numbers to one thing, which is not an amount: "2023-24", "10:1"."""

_NO_CURRENCY: Final = frozenset({"Lei", "real", "Real", "REAL"})
"""Italian for "she", and Spanish for what happened: "Real 2024 | Presupuesto 2024"."""

_MOST_DIGITS: Final = 30
_THOUSAND: Final = 1000
_GROUP: Final = 3
"""Digits of a group, as thousands are parted."""

_LIST_NUMBER: Final = 30
"""Below it a bare number in brackets is that of a note or a list."""

_UNSEEN: Final = re.compile("[\u200b-\u200f\u2060\ufeff]")
"""Marks without a width that a page's maker has put beside a number."""

_MINUS: Final = str.maketrans("−△▲", "---")
"""Signs of minus: Japanese accounts have a triangle."""

_FOOTNOTE: Final = re.compile(r"(?<=[\d)%])\s*(?:\((?:\d{1,2}|[a-z])\)|\[\d{1,2}\]|\*|†){1,9}$")
_GLUED: Final = re.compile(r"[.,]\d{4,}\)$")
"""A note's mark that has become a part of its number: "5,1001)"."""

_NOTHING: Final = re.compile(
    rf"[-–—−.\s$€£]*|n/?a\.?|n\.?m\.?|nil|{CURRENCY}\s?\(?['’]?000(?:,000)?['’]?s?\)?", re.IGNORECASE
)
"""Cells without an amount: dashes, words for none, and the units "CHF000"."""

_ROUND: Final = re.compile(rf"{CURRENCY} ?1(?:[.,'’ ]?000){{1,2}}|1(?:[.,'’ ]?000){{1,2}} ?{CURRENCY}", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[-(]?[$€£]? ?[1-9]\d{0,2}(?:,\d{3})+\)?$")

_UNIT_CURRENCY: Final = re.compile(rf"{CURRENCY}|\b{_CUR_NAME}", re.IGNORECASE)
_UNIT_PERCENT: Final = re.compile(r"%|\bper ?cent(?:age)?\b|\bprozent\b|\bpourcentage\b", re.IGNORECASE)
_RESPELT: Final = [(re.compile(written), spelt) for written, spelt in _DATA["respelt"].items()]
_OF_OTHERS: Final = re.compile(
    r"(?<!and )(?<!& )\b(?:shares|units|employees|headcount|persons)(?: data)?,? in (?:\w+ of )?\w+"
    r"|\b(?:in|of) \w+ of shares\b",
    re.IGNORECASE,
)
"""The scale of what is no money: "$ in Millions, shares in Thousands"; "dollars and shares in millions" scales both."""


def _heading_scale(scale: dict[str, Any]) -> str:
    """The pattern for a scale's words and patterns in a header in which the sign ¤ stands for each currency."""
    words = f"{scale.get('words', '')} {scale.get('headings', '')}".split()
    beside = "|".join(scale.get("beside", "").split())
    near = [rf"¤ ?(?:in |/)?(?:{beside})(?![^\W\d_])", rf"(?<![^\W\d_])(?:{beside})\.? ?(?:de |d')?¤"] if beside else []
    plain = [rf"(?<![^\W_])(?:(?<![\d.,])1 )?(?:{alternation(words)})(?![^\W_])"] if words else []  # not BN27
    return "|".join([*scale.get("patterns", []), *near, *plain])


_UNIT_SCALE: Final = re.compile(
    "|".join(f"(?P<x{scale['multiplier']}>{words})" for scale in _SCALES if (words := _heading_scale(scale))),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as written.

    Attributes:
        value: signed, multiplied by the scale written at the number itself (9400000 for "9.4m").
        step: what one unit of the last digit is worth, likewise (100000 for "9.4m").
        unit: an ISO currency, `percent`, `ratio` ("3.2x"), `points` (of a percentage), `cents`; None where only the
            surroundings tell. A bare dollar sign is USD.
        scale: "thousand", "million" … as written at the number; "" where nothing stands there.
        start, end: where it stands in the text that was searched: from its first digit to its units.
        first, stop: the same with all that belongs to it: its currency, its sign and its brackets.
        shown_in: what its cell's format shows it in: 1,000 where "1,235" stands for 1234567. The value is in that unit.
    """

    value: Decimal
    step: Decimal
    unit: str | None
    scale: str
    start: int = 0
    end: int = 0
    first: int = 0
    stop: int = 0
    shown_in: int = 1

    @property
    def digits(self) -> int:
        """How many digits are written, without leading zeros."""
        return len(str(int(abs(self.value / self.step)))) if self.value else 0


@dataclass(frozen=True, slots=True)
class Units:
    """What a header or note says about the numbers below it; None where it says nothing."""

    currency: str | None = None
    multiplier: int | None = None
    percent: bool = False

    def over(self, other: "Units") -> "Units":
        """These units, completed from `other`."""
        return Units(
            self.currency or other.currency, self.multiplier or other.multiplier, self.percent or other.percent
        )


def scale_name(multiplier: int) -> str:
    """The word for a multiplier: "thousand" for 1,000; "" for 1."""
    return _NAMES.get(multiplier, "")


def find_currency(written: str) -> str | None:
    """The ISO code for a mark, code or name, also after the letter of a scale: EUR for "TEUR"."""
    plain = written.strip()
    if plain in _NO_CURRENCY:
        return None
    return (
        currency_marks().get(plain)
        or (plain.upper() if plain.upper() in currency_codes() else None)
        or currency_names().get(plain.lower())
        or {"rs": "INR", "rs.": "INR"}.get(plain.lower())
        or (find_currency(plain[1:]) if _find_scale(plain) else None)
    )


def _find_scale(currency: str) -> int | None:
    """The multiplier of the letter before a currency: 1,000 for TEUR and k€, a million for MEUR; None if there is no
    letter.
    """
    if (len(currency) == 4 and currency[1:].upper() in currency_codes()) or (
        len(currency) == 2 and currency[1] in "€$£"
    ):
        return {"T": 1000, "K": 1000, "M": 10**6}.get(currency[0].upper())
    return None


_PESOS_BEHIND: Final = re.compile(r"(?<!^(?:19|20)\d\d) P$")
"""The mark of pesos in the next column; "2025 P" is a year that is planned."""

_BROKEN_GROUP: Final = re.compile(r"[.,](?!\d{3}$)\d*$")
"""A last group that has not three digits: "16,927,079,00", as text recognition reads it."""


def parse_decimal(digits: str, *, comma_decimal: bool = False) -> tuple[Decimal, int] | None:
    """The value of digits with separators, and the number of decimals; None if the groups make no sense.

    With `comma_decimal`, a single comma before three digits is a decimal comma, and a single point separates thousands.
    """
    if digits.isdecimal():
        return (Decimal(digits), 0) if len(digits) <= _MOST_DIGITS else None
    plain = re.sub(rf"[{_SPACES}'’]", "", digits)
    points, commas = plain.count("."), plain.count(",")
    if points and commas:
        mark = "." if plain.rfind(".") > plain.rfind(",") else ","
        if plain.count(mark) > 1:
            return None
    elif points + commas > 1:
        mark = ""
    elif points + commas == 1:
        mark = "." if points else ","
        behind = len(plain) - plain.index(mark) - 1
        thousands = behind == 3 and not plain.startswith(("0", mark)) and comma_decimal == (mark == ".")
        mark = "" if thousands else mark
    else:
        mark = ""
    whole, _, part = plain.partition(mark) if mark else (plain, "", "")
    if _BROKEN_GROUP.search(whole):
        return None
    whole = re.sub(r"[.,]", "", whole)
    if not (whole + part).isdecimal() or len(whole + part) > _MOST_DIGITS:
        return None
    return Decimal(f"{whole or 0}.{part}" if part else whole), len(part)


def may_be_scale(cell: str) -> bool:
    """Whether a cell gives the scale of its column rather than an amount among amounts: "CHF 1,000"."""
    return "000" in cell and _ROUND.fullmatch(cell) is not None


@lru_cache(maxsize=16384)
def cell_amount(text: str, *, comma_decimal: bool = False) -> Amount | None:
    """The amount that is a cell's only content; None if it contains words, a dash or nothing.

    Stored digits after the shown ones ("23.9% (0.23944)") give the value; the shown ones give the step.
    """
    if text.isascii() and text.isdecimal() and len(text) <= 30:
        return Amount(Decimal(text), Decimal(1), None, "", 0, len(text))
    if not comma_decimal and _PLAIN.match(text):
        value = Decimal("".join(filter(str.isdecimal, text)))
        currency = next((find_currency(mark) for mark in "$€£" if mark in text), None)
        return Amount(-value if text[0] in "-(" else value, Decimal(1), currency, "", 0, len(text))
    if _NOTHING.fullmatch(text) or len(text) > 60:
        return None
    plain = _FOOTNOTE.sub("", _PESOS_BEHIND.sub("", _normal(text)))
    match = _CELL.fullmatch(plain)
    if match is None or (_GLUED.search(plain) and "(" not in plain) or match["points"]:
        return None
    return _amount(match.groupdict(), match.start("digits"), match.end(), comma_decimal=comma_decimal)


def numbers(text: str, *, comma_decimal: bool = False) -> Iterator[Amount]:
    """The numbers in a sentence, in order, with their signs, scales and units.

    Brackets make a number negative if they are used as in accounts: "(1,234)", "$(1.2) million"; "(94)" is 94. Numbers
    of notes and lists, "(2)", and digits in names, "10-K", are left out.
    """
    for match in _NUMBER.finditer(text):
        span = match.span("digits")
        if match.span() != span:
            amount = _of_sentence(match, comma_decimal=comma_decimal)
        else:  # most stand alone
            value = parse_decimal(match["digits"], comma_decimal=comma_decimal)
            is_name = value is None or _NAME_BEHIND.match(text, span[1])  # "37signals"
            amount = None if is_name or value is None else Amount(*_round_value(*value), None, "", *span, *span)
        if amount is not None:
            yield amount


def _round_value(value: Decimal, decimals: int) -> tuple[Decimal, Decimal]:
    """The value, without decimals if they are zeros, and the value of one unit in its last digit."""
    return Decimal(int(value)) if decimals and value == value.to_integral_value() else value, Decimal(1).scaleb(
        -decimals
    )


def _is_in_brackets(match: re.Match[str], parts: Mapping[str, Any], *, held: bool, is_written: bool) -> bool:
    """Whether brackets make an amount negative: they hold the number alone, or right behind a name its currency too."""
    if parts["open"] and parts["before"]:  # "EBITDA: ($20k)"
        is_held = held or match.string.startswith(")", match.end())
        start = match.start()
        return is_held and _NAMED_BEFORE.search(match.string, max(0, start - 4), start) is not None
    return held and (not parts["open"] or is_written)


def _of_sentence(match: re.Match[str], *, comma_decimal: bool) -> Amount | None:
    parts = match.groupdict()
    first, end, stop = match.start(), match.end(), match.end()
    inner = parts["inner"] or ""
    held = bool(parts["close"]) and (bool(parts["open"]) or "(" in inner)
    if parts["close"] and not held:  # the bracket is another's, and so is what follows it
        parts |= dict.fromkeys(_UNITS)
    is_bare = not any(parts[name] for name in _UNITS)
    if is_bare and _NAME_BEHIND.match(match.string, match.end("digits")):
        return None
    if is_bare and parts["close"]:
        end, stop = match.end("digits"), stop if held else match.end("digits")
    first += 0 if held and "(" not in inner else len(parts["open"] or "")
    minus = _find_minus(match, parts["before"])
    first = match.end("minus") if len(minus) < len(parts["minus"] or "") else first
    is_written = not is_bare or any(mark in parts["digits"] for mark in ".,'’ ")
    in_brackets = _is_in_brackets(match, parts, held=held, is_written=is_written)
    signed = [minus, in_brackets, parts["tail"] and is_bare, not {*inner}.isdisjoint("-−–")]
    parts["sign"] = "-" if any(signed) else None
    amount = _amount(parts, match.start("digits"), end, comma_decimal=comma_decimal)
    is_note = held and is_bare and not parts["before"] and "." not in parts["digits"]
    if amount is None or (is_note and abs(amount.value) < _LIST_NUMBER):
        return None
    return replace(amount, first=first, stop=stop)


def _find_minus(match: re.Match[str], currency: str | None) -> str:
    """The minus before a number; "" if it is the dash of a range or follows a name."""
    minus = match["minus"] or ""
    no_sign = _NAME_OR_RANGE_BEFORE if currency else _RANGE_BEFORE
    is_dash = minus[-1:].isspace() and no_sign.search(
        match.string, max(0, match.start("minus") - 20), match.start("minus")
    )
    return "" if is_dash else minus


_UNITS: Final = ("scale", "second", "percent", "points", "times", "after")
"""Groups of `_NUMBER` that say what it is a number of."""


@lru_cache(maxsize=64)
def amounts(text: str, *, comma_decimal: bool = False) -> tuple[Amount, ...]:
    """The numbers that may be figures, without points, cents, and parts of a range, a ratio or "2023-24".

    A sentence is asked for them again for each thing that it names.
    """
    return tuple(
        amount
        for amount in numbers(text, comma_decimal=comma_decimal)
        if amount.unit not in {POINTS, CENTS}
        and not _COMPOUND_BEFORE.search(text[max(0, amount.first - 2) : amount.first])
        and not _COMPOUND_BEHIND.match(text, amount.end)
    )


def _normal(text: str) -> str:
    if text.isascii():
        return text.strip()
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFKC", text)).translate(_MINUS).split())


def _amount(parts: dict[str, str | None], start: int, end: int, *, comma_decimal: bool) -> Amount | None:
    """The amount in a pattern's match, at `start` to `end`."""
    found = parse_decimal(parts["digits"] or "", comma_decimal=comma_decimal)
    if found is None:
        return None
    value, decimals = found
    written = [mark for mark in (parts["before"], parts["after"]) if mark]
    unit = next(filter(None, map(find_currency, written)), None)
    if any(mark.lower() in {"cents", "pence"} for mark in written):
        unit = CENTS
    multiplier = _find_multiplier(parts, written, unit)
    if multiplier == _THOUSAND and decimals == _GROUP and "," not in (parts["digits"] or ""):  # "12.345 TEUR"
        value, decimals = value * 1000, 0
    step = Decimal(1).scaleb(-decimals)
    if parts["points"]:
        unit, step = POINTS, step / 100 if parts["points"].lower().startswith(("b", "bp")) else step
    elif parts["percent"] or parts.get("late"):
        unit, step = PERCENT, step / 10 if parts["percent"] == "‰" else step
    elif parts["times"]:
        unit = RATIO
    value, step = value * step.scaleb(decimals) * multiplier, step * multiplier
    if _is_negative(parts):
        value = -value
    groups = 0
    if stored := Decimal(parts.get("stored") or 0):
        groups = 0 if unit == PERCENT or not value else max(0, round((stored / value).copy_abs().log10() / _GROUP))
        value = stored * 100 if unit == PERCENT else stored / _THOUSAND**groups
    if unit not in {PERCENT, POINTS} and value == value.to_integral_value():
        value = Decimal(int(value))
    return Amount(value, step, unit, scale_name(multiplier), start, end, start, end, _THOUSAND**groups)


def _find_multiplier(parts: dict[str, str | None], written: Iterable[str], unit: str | None) -> int:
    """The factor by which the words and letters at a number multiply it."""
    word = (parts["scale"] or parts.get("scale0") or parts.get("mega") or "").lower().rstrip(".")
    multiplier = next(filter(None, map(_find_scale, written)), 0) if not word else 0
    multiplier = multiplier or (1 if word == "cr" and unit != "INR" else _MULTIPLIER.get(word, 1))  # else: a credit
    return int(multiplier * (look_up(_MULTIPLIER, second) if (second := parts.get("second")) else 1))


def _is_negative(parts: dict[str, str | None]) -> bool:
    """Whether a number has a minus, is in brackets, or is a debit."""
    signs, close = (parts.get("open") or "") + (parts["sign"] or ""), (parts["close"] or "").upper()
    in_brackets = "(" in signs and ")" in close and parts.get("inner", "") == ""
    return any(mark in signs for mark in "-–−") or in_brackets or close in {"-", "DR"}


@lru_cache(maxsize=8192)
def read_units(text: str) -> Units:
    """What a header says about units: "EUR thousand", "$'000", "(in millions, except per share data)"."""
    text = _OF_OTHERS.sub(" ", _respelt(text))
    match = _UNIT_SCALE.search(_mask_currencies(text))
    multiplier = int((match.lastgroup or "x1")[1:]) if match else None
    found = _UNIT_CURRENCY.findall(text)
    found.sort(key=lambda written: written not in currency_codes())  # "kr. (DKK)"
    currency = next(filter(None, map(find_currency, found)), None)
    return Units(currency, multiplier, _UNIT_PERCENT.search(text) is not None)


def _respelt(text: str) -> str:
    for written, spelt in _RESPELT:
        text = written.sub(spelt, text)
    return text.strip()


def _mask_currencies(text: str) -> str:
    """A header with the sign ¤ in place of each currency, also after the letter of a scale: "T¤" for "TEUR"."""
    return _UNIT_CURRENCY.sub(lambda found: f"{found[0][0]}¤" if _find_scale(found[0]) else "¤", text)


def without_units(text: str) -> str:
    """A header without its words of units: "Revenue" of "Revenue, EUR m"."""
    plain = _BRACKETS.sub(lambda found: " " if _IN_BRACKETS.match(found[1]) or only_units(found[1]) else found[0], text)
    match = _TRAILING.search(plain)
    if match and only_units(match["units"]):
        plain = plain[: match.start()]
    return plain.strip(" ,:;–-")


_BRACKETS: Final = re.compile(r"[(\[]([^()\[\]]{1,60})[)\]]")
_IN_BRACKETS: Final = re.compile(r"(?:in|en|expressed in|amounts in) .{2}", re.IGNORECASE)
_TRAILING: Final = re.compile(r"(?:[,:;–]\s?|\s(?=in\s)|(?<=\w) (?=%))(?P<units>[^,:;–]{1,30})$", re.IGNORECASE)
GENERAL_WORDS: Final[tuple[str, ...]] = tuple(_DATA["general"])
"""With one of these begins what says the units of a whole document."""

_FILLERS: Final = frozenset(_DATA["fillers"].split())
_LETTERS: Final = frozenset("k m mm mn bn cr # %".split())  # noqa: SIM905 - a list of words reads best as words
"""What is a unit where it stands alone, or in brackets."""

_WORD: Final = re.compile(r"[^\W_]+(?:'s)?|#|%")


@lru_cache(maxsize=8192)
def only_units(text: str) -> bool:
    """Whether a cell contains units and nothing else: "EUR m", "%", "CHF000", "#"."""
    if len(text) > _LONGEST_UNITS or not text.strip():
        return False
    plain = _UNIT_SCALE.sub(" ¤ ", _mask_currencies(_respelt(text)))
    left = set(_WORD.findall(plain.lower()))
    return left <= _FILLERS | _LETTERS and ("¤" in plain or not left <= _FILLERS)


def read_leading_units(text: str) -> Units:
    """The units with which a text begins: those of "thousands of euros unless stated otherwise"."""
    words = text.split(maxsplit=4)[:4]
    begun = (" ".join(words[:at]).rstrip(".,;:") for at in range(len(words), 0, -1))
    return next((read_units(units) for units in begun if only_units(units)), Units())


_LONGEST_UNITS: Final = 40


def uses_decimal_comma(text: str, language: str = "") -> bool:
    """Whether a text writes decimals with a comma, judging by unambiguous numbers (first 200,000 characters).

    A point before three digits ("8.412") separates thousands in a `language` (ISO 639) that writes decimals with a
    comma; in others if at least three numbers have it and none has another point or a comma.
    """
    text = text[:200_000]
    commas = points = thousands = other = 0
    for written, count in Counter(_WITH_MARKS.findall(_SECTION.sub(" ", f"\n{text}"))).items():
        commas += count if _SURELY_COMMA.match(written) else 0
        points += count if _SURELY_POINT.match(written) else 0
        if _DATE.match(written):
            continue
        if "." in written.rstrip(".") or "," in written.rstrip(","):
            single = _POINT_OF_THOUSANDS.fullmatch(written.rstrip(".,")) is not None
            thousands, other = thousands + single * count, other + (not single)
    if decimal_mark(language) == ",":
        return commas + thousands > points or not points
    return commas > points if commas or points else thousands >= 3 and not other


def thousands_mark(cells: Iterable[str]) -> str:
    """The mark before three digits in cells that otherwise contain whole numbers: "." in "1.234" and "980"; else ""."""
    marks, whole = set[str](), 0
    for cell in cells:
        for written in _WITH_MARKS.findall(cell):
            plain = written.strip(".,")
            if _YEAR.fullmatch(plain) or _DATE.match(written):
                continue
            if plain.isdecimal():
                whole += 1
                marks |= {"?"} if len(plain) > _GROUP else set()
            elif plain:
                marks |= {plain.lstrip("0123456789")[0]} if _OF_THOUSANDS.fullmatch(plain) else {"?"}
    return marks.pop() if whole and len(marks) == 1 and marks != {"?"} else ""


_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_OF_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+)")
_SECTION: Final = re.compile(r"\n {0,4}\d{1,2}(?:\.\d{1,2}){1,3}\.? {1,4}(?=[^\W\d_])")
"""The number of a heading: "2.1 Umsatz"."""

_WITH_MARKS: Final = re.compile(r"[\d.,]+")
_DATE: Final = re.compile(r"[0-3]?\d\.[01]?\d\.(?:\d{4}|\d\d)?[.,]?$")
_SURELY_COMMA: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d|\d{1,3}(?:\.\d{3}){2,}$|\d+,\d{1,2}$")
_POINT_OF_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_SURELY_POINT: Final = re.compile(r"\d{1,3}(?:,\d{3})+\.\d|\d{1,3}(?:,\d{3}){2,}$|\d+\.\d{1,2}$")

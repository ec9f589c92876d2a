"""Numbers as people write them, in any locale: an exact decimal, its unit, its scale, and what its last digit is worth.

`cell_amount` reads a cell that holds a number and nothing else, `numbers` all numbers of a sentence: both by the same
signs, separators, scales, currencies and units, so that a figure of a table and one of a sentence are one. `amounts`
gives those of `numbers` that may be figures of a company. `units_of` reads the units of a header.

Not here: whether a number is a figure at all, and what it means. `from_cells` and `from_sentences` decide that.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Final

from tasks.language.locales import alternation, currency_codes, currency_marks, currency_names

PERCENT: Final = "percent"
COUNT: Final = "count"
RATIO: Final = "ratio"
MONTHS: Final = "months"
POINTS: Final = "points"
CENTS: Final = "cents"

SCALES: Final = {
    100: "hundred",
    1_000: "k tsd thousand thousands tausend '000 ’000 000s 000's milliers mille miles mil milhares migliaia mila"
    " duizend tkr t",
    1_000_000: "m mm mn mio mill mln million millions millionen millón millon millones milione milioni"
    " milhão milhões miljoen miljoner millioner mkr",
    1_000_000_000: "b bn mrd mld md billion billions milliarde milliarden milliard milliards miliardo"
    " miliardi miljard miljarder milliarder",
    1_000_000_000_000: "tn trillion trillions",
    100_000: "lakh lakhs lac",
    10_000_000: "crore crores cr",
}
"""Words behind a number by what they multiply it with."""

_MULTIPLIER: Final = {word: scale for scale, words in SCALES.items() for word in words.split()}
_NAMES: Final = {
    1: "", 100: "hundred", 1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion",
    1_000_000_000_000: "trillion", 100_000: "lakh", 10_000_000: "crore",
}  # fmt: skip
_DOTTED: Final = frozenset("tsd mio mill mln mrd mld".split())  # noqa: SIM905 - a list of words reads best as words
_CONDITIONS: Final = {"miles": "(?= de )", "t": r"(?=\.? ?(?:€|EUR|kr|SEK|NOK|DKK))"}
"""Scales that are one only before these words: "5 miles" is a way, "5 t" a weight."""


_CODE: Final = f"(?:(?-i:{alternation(currency_codes())})|USD|EUR|GBP|CHF|JPY|INR|SEK|NOK|DKK|AUD|CAD)"
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
    rf"(?:(?<![A-Za-z])(?-i:{alternation(mark for mark in _WORDLIKE if not mark[-1].isalpha())})"
    rf"|(?<![A-Za-z])(?-i:{alternation(mark for mark in _WORDLIKE if mark[-1].isalpha())})(?![A-Za-zÀ-ž])"
    rf"|{_RAND}|{_CROWNS}"
    rf"|[{_SIGNS}]|\bRs\.?(?![A-Za-z])|\b[TkM][€$£]"
    rf"|(?<![A-Za-z_])[TkM]?{_CODE}(?=(?:k|mn?|mm|bn)?(?![A-Za-z])))"
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
    rf"(?P<open>[-–−+(~≈]*)\s*(?P<scale0>[kKmMT](?=\s*[€$£]))?(?P<before>{CURRENCY})?\s?(?P<mega>[mkMKT](?=\s?\d))?\s*(?P"
    rf"<sign>[-–−(]*)\s*"
    rf"(?P<digits>{_DIGITS})\s?(?P<scale>{_SCALE})?\s?(?P<after>{CURRENCY}|euros?\b|dollars\b)?\s?"
    rf"(?:(?P<points>{_POINTS})|(?P<percent>{_PERCENT})|(?P<times>[x×]))?\s?(?P<close>\)|-(?!\d)|CR\b"
    rf"|DR\b)?\s?(?P<late>{_PERCENT})?"
    r"(?: \((?P<stored>-?\d[\d.E+-]*)\))?(?: \[computed\])?",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    rf"(?<![\w.,])(?<![A-Za-z][-(])(?P<open>\({_SPACE}?)?(?P<minus>(?<![)\]%])[-−–‐‑]{_SPACE}?|\b(?:minus|negative){_SPACE})?"
    rf"(?:(?P<before>{CURRENCY}){_SPACE}?(?P<mega>(?:k|mn?|bn)(?={_SPACE}?\d))?{_SPACE}?(?P<inner>[-−–(]{_SPACE}?)?)?"
    rf"(?P<digits>(?!,){_DIGITS})(?!-[A-Z]\b)(?P<close>{_SPACE}?\))?(?P<tail>[-−](?=\s*$))?"
    rf"(?:[{_SPACES}-]?(?P<scale>{_SCALE})(?:{_SPACE}(?P<second>thousand|lakh|crores?|millions?|billions?)\b)?)?"
    rf"(?:{_SPACE}?(?P<points>{_POINTS})|{_SPACE}?(?P<percent>{_PERCENT})|(?P<times>[x×](?!\w)|{_SPACE}times\b))?"
    rf"(?:{_SPACE}?(?:d['’] ?|de |di |of )?(?P<after>{CURRENCY}|{_CUR_NAME}|cents\b|pence\b)(?!{_SPACE}?[\d(]))?",
    re.IGNORECASE,
)
_RANGE_BEFORE: Final = re.compile(r"(?:[\d%]|illion|thousand)\s$")
"""What stands before the dash of a range, `7.0% - 8.0%`."""

_NAME_BEHIND: Final = re.compile(r"[A-Za-z]{4}")
_COMPOUND_BEFORE: Final = re.compile(r"(?:[/–-]|\d:)$")
_COMPOUND_BEHIND: Final = re.compile(r"[-/:]?\d")
"""What joins two numbers to one thing, which is no amount: "2023-24", "10:1"."""

_MOST_DIGITS: Final = 30
_LIST_NUMBER: Final = 30
"""Below it a bare number in brackets is that of a note or a list."""

_UNSEEN: Final = re.compile("[\u200b-\u200f\u2060\ufeff]")
"""Marks without a width that a page's maker has put beside a number."""

_FOOTNOTE: Final = re.compile(r"(?<=[\d)%])\s*(?:\((?:\d{1,2}|[a-z])\)|\[\d{1,2}\]|\*+|†)+$")
_GLUED: Final = re.compile(r"[.,]\d{4,}\)$")
"""A note's mark that has become a part of its number: "5,1001)"."""

_NOTHING: Final = re.compile(
    rf"[-–—−.\s$€£]*|n/?a\.?|n\.?m\.?|nil|{CURRENCY}\s?(?:1[.,'’ ]?|['’])?000s?", re.IGNORECASE
)
"""Cells without an amount: dashes, words for none, and the units "CHF000" and "CHF 1,000"."""
_PLAIN: Final = re.compile(r"[-(]?[$€£]? ?[1-9]\d{0,2}(?:,\d{3})+\)?$")

_UNIT_SCALE: Final = re.compile(
    r"(?P<thousand>\b(?:thousands?|tausend|milliers|miles de|milhares|migliaia|duizend(?:en)?|tusen(?:tal)?|tsd)\b"
    rf"|\bx ?[€$£]? ?1[.,’']?000\b|^{CURRENCY} ?1[.,’' ]?000s?$|^1[.,’' ]?000s? ?{CURRENCY}$"
    r"|[€$] ?mil\b|\bmil (?:reais|euros|pesos)\b|\bt\.? ?kr\b"
    r"|['’]000|(?<=[A-Za-z$£€¥])/ ?000\b|(?<=[A-Z$£€¥]) ?000s?(?!\d)"
    rf"|\b000s\b|\b[Tk](?:[€$£]|{_CODE}\b)|[€$£] ?k\b|\b{_CODE} ?k\b)"
    r"|(?P<lakh>\blakhs?\b|\blacs\b)|(?P<crore>\bcrores?\b|(?:₹|\bINR|\bRs\.?)(?: in)? ?crs?\b)"
    r"|(?P<billion>\bbillions?\b|\bmilliarden\b|\bmilliards\b|\bmiliardi\b|\bmiljard\w*|\bmrd\b|\bbn\b|[€$£] ?bn?\b)"
    r"|(?P<million>\bmillions?\b|\bmillionen\b|\bmillones\b|\bmilioni\b|\bmilhões\b|\bmiljoe?n\w*|\bmillioner\b|\bmkr\b|\bmio\b|\bmln\b|\bmn\b"
    r"|[€$£¥₹] ?['’]?m(?:n|m"
    rf"|illion)?\b|\bm ?(?:[€$£]|{_CODE}\b)|\b{_CODE} ?m(?:n|m|illion)?\b|\(m\)|, ?m\b)",
    re.IGNORECASE,
)
_UNIT_CURRENCY: Final = re.compile(rf"{CURRENCY}|T(?=€)|\b[TkM]{_CODE}\b|\b{_CUR_NAME}", re.IGNORECASE)
_UNIT_PERCENT: Final = re.compile(r"%|\bper ?cent(?:age)?\b|\bprozent\b|\bpourcentage\b", re.IGNORECASE)
UNIT_HINT: Final = re.compile(
    rf"[$€£¥₹%]|000|\b[tm]\.? ?kr\b|\b[TkM]?{_CODE}(?:k|mn?|mm|bn)?(?![A-Z])"
    r"|\b(?:in|en|T€|thousands?|millions?|billions?|euros?"
    r"|dollars|crores?|lakhs?|mio|mln|mrd|mld|milliers|milhares|milhões|migliaia|milioni|duizend(?:en)?|miljoen|tusen(?:tal)?"
    r"|miljoner|yen|reais|kroner|kronor)\b",
    re.IGNORECASE,
)
"""What a text must hold to speak of units."""


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
    """

    value: Decimal
    step: Decimal
    unit: str | None
    scale: str
    start: int = 0
    end: int = 0
    first: int = 0
    stop: int = 0

    @property
    def digits(self) -> int:
        """How many digits are written, without zeros in front."""
        return len(str(int(abs(self.value / self.step)))) if self.value else 0


@dataclass(frozen=True, slots=True)
class Units:
    """What a header or a note says of the numbers under it; None where it says nothing."""

    currency: str | None = None
    multiplier: int | None = None
    percent: bool = False

    def over(self, other: "Units") -> "Units":
        """These units; what they leave open as in the other."""
        return Units(
            self.currency or other.currency, self.multiplier or other.multiplier, self.percent or other.percent
        )


def scale_name(multiplier: int) -> str:
    """The word "thousand" of 1,000; "" of 1."""
    return _NAMES.get(multiplier, "")


def currency_of(written: str) -> str | None:
    """The ISO code of a mark, a code or a name, also behind the letter of a scale: EUR of "TEUR"."""
    plain = written.strip()
    return (
        currency_marks().get(plain)
        or (plain.upper() if plain.upper() in currency_codes() else None)
        or currency_names().get(plain.lower())
        or {"rs": "INR", "rs.": "INR"}.get(plain.lower())
        or (currency_of(plain[1:]) if _scaled(plain) else None)
    )


def _scaled(currency: str) -> int | None:
    """What the letter before a currency multiplies with: 1,000 of TEUR and k€, a million of MEUR; None without one."""
    if (len(currency) == 4 and currency[1:].upper() in currency_codes()) or (
        len(currency) == 2 and currency[1] in "€$£"
    ):
        return {"T": 1000, "K": 1000, "M": 10**6}.get(currency[0].upper())
    return None


def decimal_of(digits: str, *, comma_decimal: bool = False) -> tuple[Decimal, int] | None:
    """The value of digits with separators, and how many decimals stand there; None where the groups make no sense.

    With `comma_decimal` a lone comma before three digits begins decimals, and a lone point separates thousands.
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
    whole = re.sub(r"[.,]", "", whole)
    if not (whole + part).isdecimal() or len(whole + part) > _MOST_DIGITS:
        return None
    return Decimal(f"{whole or 0}.{part}" if part else whole), len(part)


@lru_cache(maxsize=16384)
def cell_amount(text: str, *, comma_decimal: bool = False) -> Amount | None:
    """The amount that a cell holds and nothing else; None where it holds words, a dash or nothing.

    Stored digits behind what is shown ("23.9% (0.23944)") give the value, what is shown gives the step.
    """
    if text.isascii() and text.isdecimal() and len(text) <= 30:
        return Amount(Decimal(text), Decimal(1), None, "", 0, len(text))
    if not comma_decimal and _PLAIN.match(text):
        value = Decimal("".join(filter(str.isdecimal, text)))
        currency = next((currency_of(mark) for mark in "$€£" if mark in text), None)
        return Amount(-value if text[0] in "-(" else value, Decimal(1), currency, "", 0, len(text))
    if _NOTHING.fullmatch(text) or len(text) > 60:
        return None
    plain = _FOOTNOTE.sub("", _normal(text))
    match = _CELL.fullmatch(plain)
    if match is None or (_GLUED.search(plain) and "(" not in plain) or match["points"]:
        return None
    return _amount(match.groupdict(), match.start("digits"), match.end(), comma_decimal=comma_decimal)


def numbers(text: str, *, comma_decimal: bool = False) -> Iterator[Amount]:
    """The numbers in a sentence, in order, with the signs, scales and units that stand at them.

    Brackets make a number negative where they hold it as accounts do: "(1,234)", "$(1.2) million"; "(94)" is 94.
    Numbers of notes and lists, "(2)", and digits in names, "10-K", are none.
    """
    for match in _NUMBER.finditer(text):
        span = match.span("digits")
        if match.span() != span:
            amount = _of_sentence(match, comma_decimal=comma_decimal)
        else:  # most stand alone
            value = decimal_of(match["digits"], comma_decimal=comma_decimal)
            is_name = value is None or _NAME_BEHIND.match(text, span[1])  # "37signals"
            amount = None if is_name or value is None else Amount(*_rounded(*value), None, "", *span, *span)
        if amount is not None:
            yield amount


def _rounded(value: Decimal, decimals: int) -> tuple[Decimal, Decimal]:
    """The value, without decimals where these are zeros, and what its last digit is worth."""
    return Decimal(int(value)) if decimals and value == value.to_integral_value() else value, Decimal(1).scaleb(
        -decimals
    )


def _of_sentence(match: re.Match[str], *, comma_decimal: bool) -> Amount | None:
    parts = match.groupdict()
    first, end, stop = match.start(), match.end(), match.end()
    units = ("scale", "second", "percent", "points", "times", "after")
    held = bool(parts["close"]) and (bool(parts["open"]) or "(" in (parts["inner"] or ""))
    if parts["close"] and not held:  # the bracket is another's, and so is what follows it
        parts |= dict.fromkeys(units)
    is_bare = not any(parts[name] for name in units)
    if is_bare and _NAME_BEHIND.match(match.string, match.end("digits")):
        return None
    if is_bare and parts["close"]:
        end, stop = match.end("digits"), stop if held else match.end("digits")
    if parts["open"] and (not held or "(" in (parts["inner"] or "")):
        first += len(parts["open"])
    minus = parts["minus"] or ""
    if minus[-1:].isspace() and _RANGE_BEFORE.search(
        match.string, max(0, match.start("minus") - 9), match.start("minus")
    ):
        first, minus = match.end("minus"), ""
    is_written = not is_bare or any(mark in parts["digits"] for mark in ".,'’ ")
    brackets = held and (not parts["open"] or (is_written and not parts["before"]))
    is_negative = (
        bool(minus or (parts["tail"] and is_bare)) or brackets or any(sign in (parts["inner"] or "") for sign in "-−–")
    )
    parts["sign"] = "-" if is_negative else None
    amount = _amount(parts, match.start("digits"), end, comma_decimal=comma_decimal)
    if amount is None or (
        held and is_bare and not parts["before"] and abs(amount.value) < _LIST_NUMBER and "." not in parts["digits"]
    ):
        return None
    return replace(amount, first=first, stop=stop)


def amounts(text: str, *, comma_decimal: bool = False) -> Iterator[Amount]:
    """Those of the numbers that may be figures: no points, no cents, and no part of a range, a ratio or "2023-24"."""
    for amount in numbers(text, comma_decimal=comma_decimal):
        is_joined = _COMPOUND_BEFORE.search(text[max(0, amount.first - 2) : amount.first]) or _COMPOUND_BEHIND.match(
            text, amount.end
        )
        if amount.unit not in {POINTS, CENTS} and not is_joined:
            yield amount


def _normal(text: str) -> str:
    if text.isascii():
        return text.strip()
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFKC", text)).replace("−", "-").split())


def _amount(parts: dict[str, str | None], start: int, end: int, *, comma_decimal: bool) -> Amount | None:
    """The number of what a pattern has found, which stands from `start` to `end`."""
    found = decimal_of(parts["digits"] or "", comma_decimal=comma_decimal)
    if found is None:
        return None
    value, decimals = found
    word = (parts["scale"] or parts.get("scale0") or parts.get("mega") or "").lower().rstrip(".")
    written = [mark for mark in (parts["before"], parts["after"]) if mark]
    unit = next(filter(None, map(currency_of, written)), None)
    multiplier = next(filter(None, map(_scaled, written)), 0) if not word else 0
    multiplier = multiplier or (1 if word == "cr" and unit != "INR" else _MULTIPLIER.get(word, 1))  # else: a credit
    multiplier *= _MULTIPLIER[second.lower()] if (second := parts.get("second")) else 1
    step = Decimal(1).scaleb(-decimals)
    if any(mark.lower() in {"cents", "pence"} for mark in written):
        unit = CENTS
    if parts["points"]:
        unit, step = POINTS, step / 100 if parts["points"].lower().startswith(("b", "bp")) else step
    elif parts["percent"] or parts.get("late"):
        unit, step = PERCENT, step / 10 if parts["percent"] == "‰" else step
    elif parts["times"]:
        unit = RATIO
    value, step = value * step.scaleb(decimals) * multiplier, step * multiplier
    signs = (parts.get("open") or "") + (parts["sign"] or "")
    close = (parts["close"] or "").upper()
    if (
        any(mark in signs for mark in "-–−")
        or ("(" in signs and ")" in close and parts.get("inner", "") == "")
        or close in {"-", "DR"}
    ):
        value = -value
    if unit == PERCENT and (stored := parts.get("stored")):
        value = Decimal(stored) * 100
    if unit not in {PERCENT, POINTS} and value == value.to_integral_value():
        value = Decimal(int(value))
    return Amount(value, step, unit, scale_name(multiplier), start, end, start, end)


@lru_cache(maxsize=8192)
def units_of(text: str) -> Units:
    """What a header says of units: "EUR thousand", "$'000", "(in millions, except per share data)"."""
    if not UNIT_HINT.search(text):
        return Units()
    match = _UNIT_SCALE.search(text)
    multiplier = None
    if match:
        multiplier = {
            "thousand": 1000, "million": 10**6, "billion": 10**9, "lakh": 10**5, "crore": 10**7,
        }[match.lastgroup or "thousand"]  # fmt: skip
    currency = next(filter(None, (currency_of(found.group()) for found in _UNIT_CURRENCY.finditer(text))), None)
    return Units(currency, multiplier, _UNIT_PERCENT.search(text) is not None)


def without_units(text: str) -> str:
    """A header without its words of units: "Revenue" of "Revenue, EUR m"."""
    plain = _BRACKETED_UNIT.sub(" ", text)
    return _TRAILING_UNIT.sub("", plain).strip(" ,:;–-")


_UNIT_WORDS: Final = (
    rf"(?:in |en |als )?(?:{CURRENCY}|T€|[TkM]{_CODE}|euros?|dollars)?\s?(?:in\s)?(?:/?1?['’]?000['’]?s?|k|m|mm|mn|bn"
    rf"|mio\.?|mrd\.?|cr"
    rf"|tsd\.?|thousands?|"
    r"millions?|billions?|tausend|millionen|millones|crores?|lakhs?)?\s?(?:(?:of |de |d['’] ?)?"
    rf"(?:{CURRENCY}|euros?|(?:us |u\.s\. )?dollars))?"
)
_BRACKETED_UNIT: Final = re.compile(
    rf"[(\[](?:{_UNIT_WORDS}|%|(?:in|en|expressed in|amounts in) [^()\[\]]{{2,60}})[)\]]", re.IGNORECASE
)
_TRAILING_UNIT: Final = re.compile(rf"[,:;–]\s?(?:{_UNIT_WORDS}|%)\s?$|\sin\s{_UNIT_WORDS}$|(?<=\w) %$", re.IGNORECASE)


_ONLY_UNITS: Final = re.compile(rf"[(\[]?(?:{_UNIT_WORDS}|%|#|in %)[)\]]?", re.IGNORECASE)


def only_units(text: str) -> bool:
    """Whether a cell holds units and nothing else: "EUR m", "%", "CHF000", "#"."""
    return len(text) <= 30 and bool(text.strip()) and _ONLY_UNITS.fullmatch(text.strip()) is not None


def uses_decimal_comma(text: str) -> bool:
    """Whether a text writes decimals with a comma, by what cannot be read otherwise (first 200,000 characters).

    Where nothing is sure, three numbers or more with a point before three digits ("8.412") and none with another point
    or with a comma are thousands.
    """
    commas = points = thousands = other = 0
    pieces = Counter(text[:200_000].split())  # most bear no mark, and many stand there often
    marked = ((piece, count) for piece, count in pieces.items() if "." in piece or "," in piece)
    for written, count in ((written, count) for piece, count in marked for written in _WITH_MARKS.findall(piece)):
        commas += count if _SURELY_COMMA.match(written) else 0
        points += count if _SURELY_POINT.match(written) else 0
        if _DATE.match(written):
            continue
        if "." in written.rstrip(".") or "," in written.rstrip(","):
            single = _POINT_OF_THOUSANDS.fullmatch(written) is not None
            thousands, other = thousands + single, other + (not single)
    return commas > points if commas or points else thousands >= 3 and not other


_WITH_MARKS: Final = re.compile(r"[\d.,]+")
_DATE: Final = re.compile(r"[0-3]?\d\.[01]?\d\.(?:\d{4}|\d\d)?[.,]?$")
_SURELY_COMMA: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d|\d{1,3}(?:\.\d{3}){2,}$|\d+,\d{1,2}$")
_POINT_OF_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_SURELY_POINT: Final = re.compile(r"\d{1,3}(?:,\d{3})+\.\d|\d{1,3}(?:,\d{3}){2,}$|\d+\.\d{1,2}$")

"""Numbers as people write them, in any locale: an exact decimal, its unit, its scale, and what its last digit is worth.

Not here: whether a number is a figure at all, and what it means. `from_cells` and `from_sentences` decide that.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

PERCENT: Final = "percent"
COUNT: Final = "count"
RATIO: Final = "ratio"
MONTHS: Final = "months"

_CODES: Final = [
    "USD",
    "EUR",
    "GBP",
    "CHF",
    "DKK",
    "SEK",
    "NOK",
    "ISK",
    "JPY",
    "CNY",
    "INR",
    "AUD",
    "CAD",
    "NZD",
    "SGD",
    "HKD",
    "BRL",
    "MXN",
    "ZAR",
    "PLN",
    "CZK",
    "HUF",
    "TRY",
    "ILS",
    "KRW",
    "AED",
    "SAR",
    "RUB",
    "RON",
    "BGN",
    "TWD",
    "THB",
    "IDR",
    "MYR",
    "PHP",
    "CLP",
    "COP",
    "ARS",
]
_SYMBOLS: Final = {
    "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₪": "ILS", "₩": "KRW", "₺": "TRY", "$": "USD",
    "US$": "USD", "U.S.$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "S$": "SGD",
    "HK$": "HKD", "R$": "BRL", "Rs.": "INR", "Rs": "INR", "RMB": "CNY", "Fr.": "CHF", "SFr.": "CHF",
}  # fmt: skip
_CURRENCY_WORDS: Final = {
    "euro": "EUR", "euros": "EUR", "australian dollars": "AUD", "canadian dollars": "CAD", "new zealand dollars": "NZD",
    "singapore dollars": "SGD", "hong kong dollars": "HKD", "us dollars": "USD", "u.s. dollars": "USD",
    "united states dollars": "USD", "dollars": "USD", "pounds sterling": "GBP", "sterling": "GBP",
    "swiss francs": "CHF",
    "schweizer franken": "CHF", "danish kroner": "DKK", "norwegian kroner": "NOK", "swedish kronor": "SEK",
    "reais": "BRL", "brazilian reais": "BRL", "kronor": "SEK", "pesos": "MXN",
    "dólares": "USD", "francs suisses": "CHF",
    "indian rupees": "INR", "rupees": "INR", "japanese yen": "JPY", "yen": "JPY", "renminbi": "CNY",
}  # fmt: skip
SCALES: Final = {
    1_000: "k tsd tsd. thousand thousands tausend '000 ’000 000s 000's milliers mille miles mil milhares migliaia mila"
    " duizend t",
    1_000_000: "m mm mn mio mio. mill mill. mln mln. million millions millionen millón millones milione milioni"
    " milhão milhões miljoen miljoner millioner",
    1_000_000_000: "b bn mrd mrd. mld mld. md billion billions milliarde milliarden milliard milliards miliardo"
    " miliardi miljard miljarder milliarder",
    1_000_000_000_000: "tn trillion trillions",
    100_000: "lakh lakhs lac",
    10_000_000: "crore crores cr",
}
"""Words behind a number by what they multiply it with."""

_MULTIPLIER: Final = {word: scale for scale, words in SCALES.items() for word in words.split()}
_NAMES: Final = {
    1: "", 1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion", 1_000_000_000_000: "trillion",
    100_000: "lakh", 10_000_000: "crore",
}  # fmt: skip

_CUR: Final = (
    r"(?:U\.S\.\$|US\$|AU?\$|CA?\$|NZ\$|S\$|HK\$|R\$|[$€£¥₹₪₩₺]|\bRs\.?(?![A-Za-z])|\bRMB|\bS?Fr\.|\b[TkM][€$]|\b[TkM]?(?:"
    + "|".join(_CODES)
    + r")(?=(?:k|mn?|mm|bn)?(?![A-Za-z])))"
)
_DIGITS: Final = (
    r"(?:\d{1,3}(?:[.,'’ ]\d{3})+(?:[.,]\d+)?|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?|\d+(?:[.,]\d+)?|[.,]\d+)(?![\d])"
)
_SCALE: Final = (
    r"(?:k|m|mm|mn|bn|b|tn|t|tsd\.?|thousand|tausend|milliers|mille|miles|mil|milhares|migliaia|mila|duizend|mio\.?|mill\.?"
    r"|mln\.?|millions?|millionen|mill[oó]n|millones|milione|milioni|milhão|milhões|miljoen|miljoner|millioner"
    r"|mrd\.?|mld\.?|md|billions?|milliarden?|milliards?|miliardo|miliardi|miljard(?:er)?|milliarder|trillions?"
    r"|lakhs?|lac|crores?|cr)(?![A-Za-zà-ÿ])"
)
_PERCENT: Final = r"(?:%|per ?cent\b|percent\b|prozent\b|p\. ?c\.)"
_POINTS: Final = r"(?:%-points?\b|percentage points?\b|pp\b|ppts?\b|basis points\b|bps\b|prozentpunkte?\b)"

_CELL: Final = re.compile(
    rf"(?P<open>[-–−+(~≈]*)\s*(?P<scale0>[kKmMT](?=\s*[€$£]))?(?P<before>{_CUR})?\s?(?P<mega>[mkMKT](?=\s?\d))?\s*(?P"
    rf"<sign>[-–−(]*)\s*"
    rf"(?P<digits>{_DIGITS})\s?(?P<scale>{_SCALE})?\s?(?P<after>{_CUR}|euros?\b|dollars\b)?\s?"
    rf"(?:(?P<percent>{_PERCENT})|(?P<points>{_POINTS})|(?P<times>[x×]))?\s?(?P<close>\)|-(?!\d)|CR\b"
    rf"|DR\b)?\s?(?P<late>{_PERCENT})?"
    r"(?: \((?P<stored>-?\d[\d.E+-]*)\))?(?: \[computed\])?",
    re.IGNORECASE,
)
_AMOUNT: Final = re.compile(
    rf"(?<![\w.,/–-])(?P<before>{_CUR})?\s?(?P<sign>[-–−(])?(?P<before2>{_CUR})?\s?(?P<digits>{_DIGITS})(?![-/:]?\d)"
    rf"(?:[ -]?(?P<scale>{_SCALE}))?(?:\s?(?P<after>{_CUR}|(?:(?:thousand|million) |d['’] ?|de |di )?euros?\b"
    rf"|dollars\b|kroner\b|kronor\b|(?:de )?(?:reais|pesos|dólares)\b)(?!\s?\d))?"
    rf"(?:\s?(?P<percent>{_PERCENT})|\s?(?P<points>{_POINTS})|(?P<times>[x×](?!\w)))?",
    re.IGNORECASE,
)
_UNSEEN: Final = re.compile("[\u200b-\u200f\u2060\ufeff]")
"""Marks without a width that a page's maker has put beside a number."""

_FOOTNOTE: Final = re.compile(r"(?<=[\d)%])\s*(?:\((?:\d{1,2}|[a-z])\)|\[\d{1,2}\]|\*+|†)+$")
_GLUED: Final = re.compile(r"[.,]\d{4,}\)$")
"""A note's mark that has become a part of its number: "5,1001)"."""

_NOTHING: Final = re.compile(rf"[-–—−.\s$€£]*|n/?a\.?|n\.?m\.?|nil|{_CUR}\s?(?:1[.,'’ ]?|['’])?000s?", re.IGNORECASE)
"""Cells without an amount: dashes, words for none, and the units "CHF000" and "CHF 1,000"."""
_PLAIN: Final = re.compile(r"[-(]?[$€£]? ?\d{1,3}(?:,\d{3})+\)?$")

_CODE: Final = "(?:" + "|".join(_CODES) + ")"
_UNIT_SCALE: Final = re.compile(
    r"(?P<thousand>\b(?:thousands?|tausend|milliers|miles de|milhares|migliaia|duizend(?:en)?|tusen(?:tal)?|tsd)\b"
    rf"|\bx ?[€$£]? ?1[.,’']?000\b|^{_CUR} ?1[.,’' ]?000s?$|^1[.,’' ]?000s? ?{_CUR}$"
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
_UNIT_CURRENCY: Final = re.compile(
    rf"{_CUR}|T(?=€)|\b[TkM]{_CODE}\b|\b(?:{'|'.join(sorted(_CURRENCY_WORDS, key=len, reverse=True))})\b", re.IGNORECASE
)
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
        unit: an ISO currency, `percent`, `ratio` ("3.2x"); None where only the surroundings tell.
        scale: "thousand", "million" … as written at the number; "" where nothing stands there.
        start, end: where it stands in the text that was searched.
    """

    value: Decimal
    step: Decimal
    unit: str | None
    scale: str
    start: int = 0
    end: int = 0


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
    """The ISO code of a symbol, a code or a word."""
    plain = written.strip()
    return (
        _SYMBOLS.get(plain)
        or _CURRENCY_WORDS.get(plain.lower())
        or (plain.upper() if plain.upper() in _CODES else None)
        or {"KRONER": "DKK"}.get(plain.upper())
        or (currency_of(plain[1:]) if _scaled(plain) else None)
        or {symbol.upper(): code for symbol, code in _SYMBOLS.items()}.get(plain.upper())
    )


def _scaled(currency: str) -> int | None:
    """What the letter before a currency multiplies with: 1,000 of TEUR and k€, a million of MEUR; None without one."""
    if (len(currency) == 4 and currency[1:].upper() in _CODES) or (len(currency) == 2 and currency[1] in "€$"):
        return {"T": 1000, "K": 1000, "M": 10**6}.get(currency[0].upper())
    return None


def decimal_of(digits: str, *, comma_decimal: bool = False) -> tuple[Decimal, int] | None:
    """The value of digits with separators, and how many decimals stand there; None where the groups make no sense.

    With `comma_decimal` a lone comma before three digits begins decimals, and a lone point separates thousands.
    """
    plain = re.sub(r"[ '’]", "", digits)
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
    if not (whole + part).isdecimal() or len(whole + part) > 30:
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
        currency = next((_SYMBOLS[mark] for mark in "$€£" if mark in text), None)
        return Amount(-value if text[0] in "-(" else value, Decimal(1), currency, "", 0, len(text))
    if _NOTHING.fullmatch(text) or len(text) > 60:
        return None
    plain = _FOOTNOTE.sub("", _normal(text))
    match = _CELL.fullmatch(plain)
    if match is None or (_GLUED.search(plain) and "(" not in plain):
        return None
    return _amount(match, comma_decimal=comma_decimal)


def amounts(text: str, *, comma_decimal: bool = False) -> Iterator[Amount]:
    """The numbers in a sentence, in order, with their units where those stand beside them."""
    for match in _AMOUNT.finditer(text):
        amount = _amount(match, comma_decimal=comma_decimal)
        if amount is not None:
            yield amount


def _normal(text: str) -> str:
    if text.isascii():
        return text.strip()
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFKC", text)).replace("−", "-").split())


def _amount(match: re.Match[str], *, comma_decimal: bool) -> Amount | None:
    parts = match.groupdict()
    found = decimal_of(parts["digits"], comma_decimal=comma_decimal)
    if found is None or parts.get("points"):
        return None
    value, decimals = found
    word = (parts["scale"] or parts.get("scale0") or parts.get("mega") or "").lower()
    after = re.sub(r"^(?:d['’] ?|de |di )", "", (parts["after"] or "").lower())
    if " " in after and not word:
        word, after = after.split()
    unit = next(filter(None, map(currency_of, filter(None, (parts["before"], parts.get("before2"), after)))), None)
    signs_of = filter(None, (parts["before"], parts.get("before2"), after))
    multiplier = next(filter(None, map(_scaled, signs_of)), 0) if not word else 0
    multiplier = multiplier or (1 if word == "cr" and unit != "INR" else _MULTIPLIER.get(word, 1))  # else: a credit
    step = Decimal(1).scaleb(-decimals) * multiplier
    value *= multiplier
    signs = (parts.get("open") or "") + (parts["sign"] or "")
    close = (parts.get("close") or "").upper()
    if any(mark in signs for mark in "-–−") or ("(" in signs and ")" in close) or close in {"-", "DR"}:
        value = -value
    if parts["percent"] or parts.get("late"):
        unit = PERCENT
        stored = parts.get("stored")
        if stored:
            value = Decimal(stored) * 100
    elif parts.get("times"):
        unit = RATIO
    if unit != PERCENT and value == value.to_integral_value():
        value = Decimal(int(value))
    return Amount(value, step, unit, scale_name(multiplier), match.start("digits"), match.end())


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
    rf"(?:in |en |als )?(?:{_CUR}|T€|[TkM]{_CODE}|euros?|dollars)?\s?(?:in\s)?(?:/?1?['’]?000['’]?s?|k|m|mm|mn|bn"
    rf"|mio\.?|mrd\.?|cr"
    rf"|tsd\.?|thousands?|"
    r"millions?|billions?|tausend|millionen|millones|crores?|lakhs?)?\s?(?:(?:of |de |d['’] ?)?"
    rf"(?:{_CUR}|euros?|(?:us |u\.s\. )?dollars))?"
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

"""The currency of a document: the one that it is stated in, names most, or that its country and language tell.

A bare "$", "Rs.", "pesos" and "kr" are of several countries: which one a document means is told by what it names.
Where nothing does, the currency is unknown, which is good for ratios and growth, but not for amounts.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from tasks.figures.figure import (
    UNKNOWN,
    WORDS,
    count_words,
    matches,
    spots,
    words_in,
)
from tasks.language.numbers import amounts, find_currency, read_units
from tasks.language.words import (
    CROWNS,
    DOLLARS,
    NAMED,
    ORDINARY_NAMES,
    PESOS,
    RUPEES,
    currency_marks,
    currency_names,
)

_US_DOLLAR: Final = (
    *("united states dollar", "u.s. dollar", "us dollar", "u.s dollar", "us. dollar", "us$", "usd"),
    *("united states dollars", "u.s. dollars", "us dollars", "dólar", "dólares", "dolares"),
)
_BARE_SIGNS: Final = 10
"""So many bare signs to one of HK$, and the bare ones are of another dollar."""
_SURE_CODE: Final = 3
"""So often a document has the code of a currency that its rupees are that one's, where it names nothing of India."""
_SURE_COUNTRY: Final = 3
"""Times as often as any other a country is named whose pesos a document's are."""
_MARKS: Final = {
    mark: code for mark, code in currency_marks().items() if not mark[-1].isalpha() and mark not in {"kr.", "S/"}
}
_WORDLIKE: Final = {
    mark: re.compile(
        rf"(?<!\w){mark}\.?(?= ?\(?\d| -\d)|(?<=\d) ?{mark}(?!\w)|(?:^|(?<=\t)){mark}(?=\t|$)", re.MULTILINE
    )
    for mark in currency_marks()
    if mark[-1].isalpha() and mark not in {"R", "kr"}
} | {"R": re.compile(r"(?<![\w&])R ?\d{1,3}(?:[ ,.]\d{3})+"), "S/": re.compile(r"(?<![\w&+/])S/\.?(?! ?[A-Za-z])")}
"""Marks that are words too, which count beside a number or alone in their cell: "Ft", "lei", and not "S/E"."""
_CODES: Final = (*NAMED, "TEUR", "euro", "euros", "yen", "reais", "rupees", "kronor")
_WORDS_BESIDE: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{4,}")


class DocumentCurrency:
    """The currencies that a document is in."""

    def __init__(self, text: str, lower: str, language: str, *, is_of_sheets: bool) -> None:
        """`text` is its beginning, `lower` the same in lower case, `language` an ISO 639 code, "" if not certain."""
        self._text = text
        self._lower = lower
        self._language = language
        self._is_of_sheets = is_of_sheets

    @cached_property
    def _stated(self) -> str | None:
        """The currency in which the document says it is stated."""
        for match in matches(WORDS.stated_currency, self._text, spots(self._lower, words_in("stated_currency_words"))):
            currency = (
                find_currency(match["currency"]) or read_units(match["currency"].lower().rstrip("s") + "s").currency
            )
            currency = CROWNS.get(self._language) if currency == "kr" else currency
            currency = self._peso if currency == "pesos" else currency
            if currency:
                return currency if self._is_written(currency) else None
        return None

    def _is_written(self, currency: str) -> bool:
        """Whether amounts carry this currency's sign: reports in dollars also have notes "denominated in euros"."""
        signs = {sign: self._text.count(sign) for sign in "$€£"}
        own = {"EUR": "€", "GBP": "£"}.get(currency, "$" if currency in {"USD", *DOLLARS} else "")
        others = max(count for sign, count in signs.items() if sign != own)
        return others < 50 or others < 10 * (signs.get(own, 0) + count_words(self._text, currency))

    @cached_property
    def named(self) -> Counter[str]:
        """How often it names each currency: by marks and codes, else by names. A mark inside another does not count."""
        counts: Counter[str] = Counter()
        for mark in sorted((mark for mark in _MARKS if mark in self._text), key=len, reverse=True):
            found = count_words(self._text, mark)
            counts[_MARKS[mark]] += found
            for within in (other for other in _MARKS if other != mark and other in mark and not other[0].isalpha()):
                counts[_MARKS[within]] -= found
        for mark, written in ((mark, written) for mark, written in _WORDLIKE.items() if mark in self._text):
            counts[currency_marks()[mark]] += sum(1 for _ in written.finditer(self._text))
        for code in (code for code in _CODES if code in self._text):
            counts[find_currency(code) or ""] += count_words(self._text, code)
        if +counts:
            return Counter() if counts.total() == 1 and self._is_of_one_line() else +counts
        counts = Counter()
        for name, code in currency_names().items():
            if code in NAMED and name in self._lower and name not in ORDINARY_NAMES:
                counts[code] += count_words(self._lower, name)
        return +counts

    def _is_of_one_line(self) -> bool:
        """Whether a sheet's only currency stands beside an amount among other words: "Hosting, USD 18"."""
        named = [mark for mark in (*_MARKS, *_WORDLIKE, *_CODES) if mark in self._text]
        cells = re.split(r"[\t\n]", self._text) if self._is_of_sheets else []
        cells = [cell for cell in cells if any(mark in cell for mark in named) and _WORDS_BESIDE.search(cell)]
        return any(amount.unit for cell in cells for amount in amounts(cell))

    @cached_property
    def usual(self) -> str | None:
        """The currency of amounts that name none: the one that it says it is stated in, else by far
        the most frequent.
        """
        if self._stated:
            return self.resolve(self._stated)
        counts = self.named
        if not counts:
            return self._national
        (best, count), *rest = counts.most_common(2)
        return (
            self.resolve(best)
            if not rest or count >= 5 * rest[0][1] or (count > 20 and count >= 3 * rest[0][1])
            else None
        )

    @property
    def _national(self) -> str | None:
        """The currency of a document that names none: by its values or its grouping of digits, or crowns."""
        if WORDS.document_in_reais.search(self._lower):
            return "BRL"
        if (
            len(WORDS.document_lakhs.findall(self._lower)) > 1
            and WORDS.document_of_india.search(self._lower)
            and not WORDS.document_not_of_india.search(self._lower)
            and not any(self._count(words) for code, words in RUPEES.items() if code != "INR")
        ):
            return "INR"
        return CROWNS.get(self._language) if WORDS.document_in_crowns.search(self._lower) else None

    @cached_property
    def _dollar(self) -> str:
        """The dollar that it names most. If it marks another dollar and never names the US dollar, it is that one."""
        counts = {code: sum(self._mentions(word) for word in words) for code, words in DOLLARS.items()}
        best = max(counts, key=lambda code: counts[code])
        own = self._count(_US_DOLLAR)
        marked = any(self._mentions(word) for word in DOLLARS[best] if word.endswith("$"))
        if counts[best] > max(10, 2 * own) or (marked and not own):
            return best
        if own or self._language != "es":
            return "USD"
        return self._peso if self._mentions("pesos") else UNKNOWN  # in Spanish the sign is that of many pesos

    @cached_property
    def _peso(self) -> str:
        """The peso of the country that it names far more often than any other that has one; otherwise unknown."""
        counts = Counter({code: self._count(words) for code, words in PESOS.items()})
        (best, most), (_, second) = counts.most_common(2)
        return best if most > _SURE_COUNTRY * second else UNKNOWN

    @cached_property
    def _rupee(self) -> str:
        """The rupee of "Rs.": another country's where the document is stated or written in it, else India's where it
        names no other country that has one, or India no less often; otherwise unknown.
        """
        stated = self._stated or "INR"
        if stated != "INR" and stated in RUPEES:
            return stated
        counts = {code: self._count(words) for code, words in RUPEES.items()}
        written = max(RUPEES, key=lambda code: count_words(self._text, code))
        if not counts["INR"] and count_words(self._text, written) >= _SURE_CODE:
            return written
        is_marked = "₹" in self._text or not count_words(self._lower, "rs")
        return "INR" if is_marked or counts["INR"] >= max(counts.values()) else UNKNOWN

    def _count(self, words: Iterable[str]) -> int:
        return sum(count_words(self._lower, word) for word in words)

    def _mentions(self, dollar: str) -> int:
        """How often a dollar is named; 0 for a sign such as HK$ that marks exceptions among bare ones."""
        found = count_words(self._lower, dollar)
        if dollar.endswith("$") and self._text.count("$") > _BARE_SIGNS * found:
            return 0
        return found

    def resolve(self, currency: str) -> str:
        """Which dollar a bare "$" means here, and which rupee, peso or crown "Rs.", "pesos" or "kr"; others stay."""
        if currency == "kr":
            crowns = self.usual or ""
            return crowns if crowns in CROWNS.values() else CROWNS.get(self._language, UNKNOWN)
        if currency == "pesos":
            return self._stated or self._peso
        if currency == "INR":
            return self._rupee
        if currency != "USD":
            return currency
        stated = self._stated or ""
        return stated if stated in {"USD", *DOLLARS} else self._dollar

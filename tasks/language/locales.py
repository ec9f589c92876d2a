"""What the Unicode CLDR says of the languages of documents: their months, and the world's currencies.

Babel brings the data (https://babel.pocoo.org/en/latest/api/localedata.html); a language takes some 5 ms of processor
time, once a process. What is ours stands here too: what people write and the CLDR does not list.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any, Final

from babel.core import get_global
from babel.localedata import LocaleDataDict, load

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb")
"""The languages in which numbers and periods are read."""

_AUSTRIAN: Final = {"jänner": 1, "jän": 1, "feber": 2}
_ALSO_WRITTEN: Final = {"sept": 9, "märz": 3, **_AUSTRIAN}
_OTHER_WORDS: Final = frozenset({"des", "marco", "maer", "set", "out", "mag", "gen", "ago", "lug", "ene"})
"""Short forms of months that are ordinary words of another language, or names: "set 5 targets"."""

_HOMES: Final = {
    "PLN": "pl", "CZK": "cs", "HUF": "hu", "TRY": "tr", "RUB": "ru", "UAH": "uk", "THB": "th", "IDR": "id", "MYR": "ms",
    "KES": "sw_KE", "NGN": "en_NG",
}  # fmt: skip
"""Currencies whose mark is used at home alone, and the language that has it."""

_MARKS: Final = {
    "US$": "USD", "U.S.$": "USD", "US $": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD",
    "S$": "SGD", "HK$": "HKD", "R$": "BRL", "MX$": "MXN", "NT$": "TWD", "¥": "JPY", "P=": "PHP", "₦": "NGN", "₽": "RUB",
    "Rs.": "INR", "Rs": "INR", "RMB": "CNY", "Fr.": "CHF", "SFr.": "CHF", "KSh": "KES",
}  # fmt: skip
"""Marks that are in use and not in the CLDR of `LANGUAGES`, or there for another currency."""

_NAMES: Final = {
    "euro": "EUR", "dollar": "USD", "dollars": "USD", "dólares": "USD", "united states dollars": "USD",
    "u.s. dollars": "USD", "pounds sterling": "GBP", "pound sterling": "GBP", "sterling": "GBP",
    "yen": "JPY", "rupee": "INR", "rupees": "INR", "rouble": "RUB", "roubles": "RUB", "rubles": "RUB",
    "francs": "CHF", "franken": "CHF", "yuan": "CNY", "renminbi": "CNY", "kroner": "DKK", "kronor": "SEK",
    "reais": "BRL", "pesos": "MXN", "zloty": "PLN", "schweizer franken": "CHF",
}  # fmt: skip
"""What currencies are called for short, where one of several of that name is meant most."""

_NAMED: Final = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "KRW", "AUD", "CAD", "NZD", "SGD", "HKD", "BRL", "MXN", "DKK",
    "SEK", "NOK", "ISK", "PLN", "CZK", "HUF", "RON", "TRY", "ILS", "ZAR", "AED", "SAR", "THB", "IDR", "MYR", "PHP",
    "TWD",
)  # fmt: skip
"""Currencies that are known by their whole names too: "Swiss francs", "dollars canadiens"."""

_ALSO_WORDS: Final = frozenset({"ALL", "TOP", "XXX", "XTS"})
"""Codes of currencies that are words of headings in capitals, or of none."""


def alternation(words: Iterable[str]) -> str:
    """A pattern that matches any of the words, the longest that fits; quick for hundreds of them."""
    groups = groupby(sorted(words, key=lambda word: (word[0], -len(word), word)), key=lambda word: word[0])
    return "|".join(f"{re.escape(first)}(?:{'|'.join(re.escape(word[1:]) for word in same)})" for first, same in groups)


@cache
def _data(language: str) -> Mapping[str, Any]:
    return LocaleDataDict(load(language))  # type: ignore[arg-type] # its keys are words here


@cache
def months() -> Mapping[str, int]:
    """The number of each month by its names in lower case, also without accents: "march", "maerz", "déc", "fevrier"."""
    found = dict(_ALSO_WRITTEN)
    for language in LANGUAGES:
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in _data(language)["months"][form][width].items():
                    found.update(dict.fromkeys(_spellings(name.lower().rstrip(".")), number))
    return {name: number for name, number in found.items() if name not in _OTHER_WORDS}


def _spellings(name: str) -> Iterator[str]:
    yield name
    plain = "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))
    if plain != name:
        yield name.replace("ä", "ae") if "ä" in name else plain


@cache
def month_names(language: str = "en", width: str = "wide") -> tuple[str, ...]:
    """The names of the months of a year, January first; with a width of `abbreviated` "Jan", "Feb"."""
    return tuple(_data(language)["months"]["format"][width][number] for number in range(1, 13))


@cache
def currency_codes() -> frozenset[str]:
    """The codes of ISO 4217 that are legal tender somewhere today, but for those that are words."""
    current = (
        code for entries in get_global("territory_currencies").values() for code, _, end, tender in entries
        if end is None and tender
    )  # fmt: skip
    return frozenset(current) - _ALSO_WORDS


@cache
def currency_marks() -> Mapping[str, str]:
    """The code of each mark as it is written: "€", "US$", "zł"; a bare dollar sign is USD."""
    marks = {
        _data("en")["currency_symbols"][code]: code
        for code in currency_codes() & _data("en")["currency_symbols"].keys()
    }
    marks |= {_data(language)["currency_symbols"][code]: code for code, language in _HOMES.items()}
    return {mark: code for mark, code in marks.items() if mark != code and mark.isprintable()} | _MARKS


@cache
def currency_names() -> Mapping[str, str]:
    """The code of each currency by its names in lower case, singular and plural: "swiss francs", "dólares"."""
    names: dict[str, str] = {}
    for language in LANGUAGES:
        data = _data(language)
        for code in _NAMED:
            written = {data["currency_names"].get(code, ""), *data["currency_names_plural"].get(code, {}).values()}
            names |= {name.lower(): code for name in written if name and name != code}
    return names | _NAMES

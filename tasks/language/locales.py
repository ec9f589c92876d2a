"""What the Unicode CLDR says about the languages of documents: their months, and the world's currencies.

The data comes with Babel (https://babel.pocoo.org/en/latest/api/localedata.html); a language takes some 5 ms of
processor time, once per process. What people write and the CLDR does not list is in `currencies.toml`.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

from babel.core import get_global
from babel.localedata import LocaleDataDict, load

_Entry = TypeVar("_Entry")

_SHORT_MONTHS: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb")
LANGUAGES: Final = (*_SHORT_MONTHS, "pl", "cs", "fi")
"""The languages in which numbers and periods are read; short months of the last are words of others: "led 2023"."""

_AUSTRIAN: Final = {"jänner": 1, "jän": 1, "feber": 2}
_ALSO_WRITTEN: Final = {"sept": 9, "märz": 3, **_AUSTRIAN}
_OTHER_WORDS: Final = frozenset(
    {"des", "marco", "marca", "maja", "maer", "set", "out", "mag", "gen", "ago", "lug", "ene"}
)
"""Forms of months that are ordinary words of another language, or names: "set 5 targets", "marca 1" (a brand)."""

_DATA: Final = tomllib.loads(Path(__file__).with_name("currencies.toml").read_text("utf-8"))

NAMED: Final[Sequence[str]] = tuple(_DATA["named"])
"""Currencies that are known by their whole names too: "Swiss francs", "dollars canadiens"."""

ORDINARY_NAMES: Final = frozenset(_DATA["ordinary"])
"""Names of currencies, in lower case, that are other words too: "diritti reali", "we won"."""

DOLLARS: Final[Mapping[str, Sequence[str]]] = _DATA["dollars"]
"""By currency that is written with a bare dollar sign how it is named where that is told apart, in lower case."""

RUPEES: Final[Mapping[str, Sequence[str]]] = _DATA["rupees"]
"""By currency of rupees how it is named, in lower case: by its code or mark, and by its country."""

PESOS: Final[Mapping[str, Sequence[str]]] = _DATA["pesos"]
"""By currency of pesos how it is named, in lower case: by its code or mark, and by its country."""

CROWNS: Final[Mapping[str, str]] = _DATA["crowns"]
"""By language the currency of crowns whose country nobody names."""

_NAME_LANGUAGES: Final = (*LANGUAGES, "hu", "ro", "tr")
_ALSO_WORDS: Final = frozenset({"ALL", "TOP", "XXX", "XTS"})
"""Codes of currencies that are words of headings in capitals, or of none."""


def look_up(table: Mapping[str, _Entry], word: str) -> _Entry:
    """The entry of a word that a pattern of the table's words has found in any case.

    `re.IGNORECASE` takes some letters for others that `str.lower` keeps: "ı" for "i", "ſ" for "s", "σ" for "ς".
    """
    found = table.get(word.lower())
    return found if found is not None else {_fold(name): entry for name, entry in table.items()}[_fold(word)]


def _fold(word: str) -> str:
    return word.casefold().replace("ı", "i").replace("\u0307", "")


def alternation(words: Iterable[str], *, as_written: bool = False) -> str:
    """A pattern that matches any of the words, in capitals or not, preferring the longest; fast for hundreds of them.

    A search looks at the first letter alone, unless the words are meant `as_written`, where capitals count anyway.
    """
    groups = groupby(sorted(words, key=lambda word: (word[0], -len(word), word)), key=lambda word: word[0])
    return "|".join(
        (re.escape(first) if as_written or not first.isalpha() else f"(?-i:[{first.lower()}{first.upper()}])")
        + f"(?:{'|'.join(re.escape(word[1:]) for word in same)})"
        for first, same in groups
    )


def spell_out(words: Iterable[str]) -> str:
    """A pattern that matches the longest of the words as written; it takes longer to compile, and less to search."""
    behind: dict[str, list[str]] = {}
    for word in words:
        behind.setdefault(word[:1], []).append(word[1:])
    may_end = "?" * (behind.pop("", None) is not None)
    rest = "|".join(re.escape(letter) + spell_out(tails) for letter, tails in behind.items())
    return f"(?:{rest}){may_end}" if rest else ""


def words_ahead(words: Iterable[str]) -> str:
    """A pattern for where one of the words begins, in capitals or not, or a number."""
    return rf"(?:(?=\d)|(?<!\w)(?={alternation(words)}))"


@cache
def _data(language: str) -> Mapping[str, Any]:
    return LocaleDataDict(load(language))  # type: ignore[arg-type] # its keys are words here


@cache
def months() -> Mapping[str, int]:
    """The number of each month by its lower-case names, also without accents: "march", "maerz", "déc", "fevrier"."""
    found = dict(_ALSO_WRITTEN)
    for language in LANGUAGES:
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated") if language in _SHORT_MONTHS else ("wide",):
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
    """The names of the months, January first; with a width of `abbreviated` "Jan", "Feb"."""
    return tuple(_data(language)["months"]["format"][width][number] for number in range(1, 13))


def decimal_mark(language: str) -> str:
    """The decimal mark of a language by its code ("de": ","); "" if it is not one of `LANGUAGES`."""
    language = {"no": "nb"}.get(language, language)
    return f"{_data(language)['number_symbols']['latn']['decimal']}" if language in LANGUAGES else ""


@cache
def currency_codes() -> frozenset[str]:
    """The ISO 4217 codes of present legal tender, without those that are also words."""
    current = (
        code for entries in get_global("territory_currencies").values() for code, _, end, tender in entries
        if end is None and tender
    )  # fmt: skip
    return frozenset(current) - _ALSO_WORDS


@cache
def currency_marks() -> Mapping[str, str]:
    """The currency code for each mark: "€", "US$", "zł"; a bare dollar sign is USD."""
    marks = {
        _data("en")["currency_symbols"][code]: code
        for code in currency_codes() & _data("en")["currency_symbols"].keys()
    }
    marks |= {_data(language)["currency_symbols"][code]: code for code, language in _DATA["homes"].items()}
    written: Mapping[str, str] = _DATA["marks"]
    return {**{mark: code for mark, code in marks.items() if mark != code and mark.isprintable()}, **written}


@cache
def currency_names() -> Mapping[str, str]:
    """The currency code for each lower-case name, singular and plural: "swiss francs", "dólares"."""
    names: dict[str, str] = {}
    for language in _NAME_LANGUAGES:
        data = _data(language)
        for code in NAMED:
            written = {data["currency_names"].get(code, ""), *data["currency_names_plural"].get(code, {}).values()}
            names |= {name.lower(): code for name in written if name and name != code}
    short: Mapping[str, str] = _DATA["names"]
    return {**names, **short}

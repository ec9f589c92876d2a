"""A figure: one number of a document with its meaning and place, and the words that give it a basis.

The words by which documents, tables and sentences are read are in `vocabulary.toml` and `sentence_words.toml`. An
entry lists alternatives as regular expressions, or has such a list for each language. `(?&name)` refers to another
entry, or to a month, a year or a currency.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any, Final, Literal

from tasks.language.locales import alternation, currency_names
from tasks.language.numbers import CURRENCY
from tasks.language.periods import MONTH, SHORT_MONTH, YEAR, header_words

_READ: Final[dict[str, Any]] = {
    name: entry
    for file in ("vocabulary.toml", "sentence_words.toml")
    for name, entry in tomllib.loads(files("tasks.figures").joinpath(file).read_text(encoding="utf-8")).items()
}
_WHOLE: Final = frozenset(_READ.pop("whole_words").split())
_AS_WRITTEN: Final = frozenset(_READ.pop("as_written").split())
DATA: Final[Mapping[str, Any]] = _READ
_PARTS: Final = {
    "MONTH": MONTH, "SHORT_MONTH": SHORT_MONTH, "YEAR": YEAR, "CURRENCY": CURRENCY,
    "CURRENCY_NAMES": alternation(currency_names()), "PLAN_START": "|".join(header_words("plan_start")),
}  # fmt: skip
_REFERENCE: Final = re.compile(r"\(\?&(\w+)\)")
_INDENT: Final = re.compile(r"(?:\A|\n) {6}")
"""What parts the lines of a long pattern, which are one."""


@cache
def words_in(name: str) -> tuple[str, ...]:
    """The words of an entry in all languages."""
    return tuple(chain.from_iterable(DATA[name].values()) if isinstance(DATA[name], dict) else DATA[name])


def holds(lower: str, name: str) -> bool:
    """Whether a lower-case text holds one of an entry's words, which stand for nothing but themselves."""
    return any(word in lower for word in words_in(name))


@cache
def either(name: str) -> str:
    """A group that matches one of an entry's words; for entries by language, the longest come first."""
    by_language = isinstance(DATA[name], dict)
    return (
        f"(?:{_join(sorted(dict.fromkeys(words_in(name)), key=len, reverse=True) if by_language else words_in(name))})"
    )


class Patterns:
    """What finds one of an entry's words, by the entry's name; it is compiled when it is first asked for."""

    def __getattr__(self, name: str) -> re.Pattern[str]:
        words = rf"\b{either(name)}\b" if name in _WHOLE else _join(words_in(name))
        compiled = re.compile(words, re.NOFLAG if name in _AS_WRITTEN else re.IGNORECASE)
        setattr(self, name, compiled)
        return compiled


WORDS: Final = Patterns()
"""`WORDS.enumerator.match(label)`."""


def _join(words: Iterable[str]) -> str:
    joined = "|".join(_INDENT.sub("", word) for word in words)
    return _REFERENCE.sub(lambda match: _PARTS.get(match[1]) or either(match[1]), joined)


Basis = Literal["audited", "reported", "management", "budget", "forecast", "pro_forma", "adjusted"]

PARENT: Final = "parent company"
"""The entity of what the parent company has alone, beside or without its group."""

UNKNOWN: Final = "unknown"
"""The unit of an amount of money whose currency its document does not name: it is good for ratios and growth alone."""

ACTUAL: Final[tuple[Basis, ...]] = ("audited", "reported", "management")
"""What happened, as opposed to what is planned or recomputed; the surest first."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        concept: its id in the taxonomy.
        label: the words that name it, as written: the row's, or the sentence's.
        value: exact, in base units (9400000; 22 for 22 %).
        unit: an ISO currency, `unknown` for one that is not named, `percent`, `count`, `ratio` or `months`.
        scale: the scale as written ("thousand", "million"; "" where there is none).
        step: what one unit of the last digit shown is worth, in base units: how far it may be rounded.
        period: a day ("2025-03-31") or the first and last day of a duration ("2024-04-01/2025-03-31").
        entity: None for the company as a whole, else the part's name.
        basis: told by the words around it; None where only the document's kind tells.
        variant: "restated" or "as previously reported", where the column says so.
        place: where it stands, in words.
        start, end: the characters of the number in the document's text.
    """

    concept: str
    label: str
    value: Decimal
    unit: str
    scale: str
    step: Decimal
    period: str
    entity: str | None
    basis: Basis | None
    variant: str
    place: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Tie:
    """A sum in a document that does not add up.

    Attributes:
        what: the rule in words: "total assets are equity and liabilities".
        stated, computed: what the document says, and what its parts give, in the table's own units.
        start: where the stated number stands; `place` says it in words.
    """

    what: str
    stated: Decimal
    computed: Decimal
    place: str
    start: int


@dataclass(slots=True)
class Findings:
    """What was found in a document: its figures, sums that do not add up, and how many numbers were left out, and why.

    `founded` says when the company was founded. `rows` counts the table rows that were looked at, `looked_at` the
    numbers in them for which a concept was found.
    """

    figures: list[Figure] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    founded: list[Figure] = field(default_factory=list)
    rows: int = 0
    looked_at: int = 0

    def leave_out(self, why: str, count: int = 1) -> None:
        """Count numbers that were left out."""
        if count:
            self.left_out[why] = self.left_out.get(why, 0) + count


_BASES: Final[tuple[Basis, ...]] = ("pro_forma", "adjusted", "budget", "forecast", "management", "audited")
_BASIS: Final = tuple((basis, getattr(WORDS, f"basis_{basis}")) for basis in _BASES)


@lru_cache(maxsize=8192)
def find_basis(text: str) -> Basis | None:
    """The basis that words give a figure: "Budget 2025", "Adjusted EBITDA", "unaudited"; None if they give none."""
    if not WORDS.basis_stems.search(text.lower()):
        return None
    return next((basis for basis, words in _BASIS if words.search(text)), None)


def without_basis(text: str) -> str:
    """The text without its words of basis: "EBITDA" of "Adjusted EBITDA"."""
    for _, words in _BASIS:
        text = words.sub(" ", text)
    return " ".join(WORDS.no_basis.sub(" ", text).split()).strip(" ,:()-–")


def find_variant(header: str) -> str:
    """The variant "restated" or "as previously reported", if a column's header says so, otherwise ""."""
    if WORDS.as_before.search(header):
        return "as previously reported"
    return "restated" if WORDS.restated.search(header) else ""

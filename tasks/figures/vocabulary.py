"""The words by which documents, tables and sentences are read, from `vocabulary.toml` and `sentence_words.toml`.

An entry lists alternatives as regular expressions, or has such a list for each language. `(?&name)` refers to another
entry, or to a month, a year or a currency.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, Final

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

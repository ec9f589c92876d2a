"""A contract as the finders of its clauses see it, and the patterns of `clauses.toml` that they look for."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from storage.scores import Absence
from tasks.figures.concepts import guess_language
from tasks.language.numbers import uses_decimal_comma
from tasks.table.spans import Span, clause_around, flatten

OPENING: Final = 6000
"""Characters in which a contract names its parties."""
PERPETUAL: Final = "perpetual"
"""The value of an expiry where a contract has no end."""


@cache
def clause_words() -> Mapping[str, Any]:
    """The words of `clauses.toml` by entry."""
    return tomllib.loads(Path(__file__).with_name("clauses.toml").read_text(encoding="utf-8"))


def written(name: str) -> str:
    """A pattern from `clauses.toml` that matches any of the entry's lines."""
    return "|".join(clause_words()[name])


@cache
def _searched(name: str) -> re.Pattern[str]:
    return re.compile(written(name), re.IGNORECASE)


def says(name: str, words: str) -> bool:
    """Whether words match any of the lines of an entry of `clauses.toml`."""
    return _searched(name).search(words) is not None


@cache
def pattern(expression: str) -> re.Pattern[str]:
    """A compiled pattern in which a space stands for any amount of white space."""
    return re.compile(expression.replace(" ", r"\s+"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value with the stretches of text that say so; without a value, `absence` says why there is none."""

    value: Any
    spans: tuple[Span, ...]
    sure: float = 0.8
    absence: Absence | None = None


@dataclass
class Contract:
    """A text for finders to look at; `finders` are all of them by name, because some ask others."""

    text: str
    finders: Mapping[str, "Finder"]
    known: dict[str, FoundValue | None] = field(default_factory=dict)

    @cached_property
    def flat(self) -> str:
        """The text with spaces in place of line breaks."""
        return flatten(self.text)

    @cached_property
    def comma_decimal(self) -> bool:
        """Whether it writes decimals with a comma."""
        return uses_decimal_comma(self.text, guess_language(self.text))

    def clause(self, start: int, end: int) -> Span:
        """The sentence around a stretch."""
        return clause_around(self.text, self.flat, start, end)

    def words(self, span: Span) -> str:
        """The words of a stretch, single-spaced."""
        return " ".join(self.flat[span.start : span.end].split())

    def find(self, name: str) -> FoundValue | None:
        """What a finder finds, cached."""
        if name not in self.known:
            self.known[name] = self.finders[name](self)
        return self.known[name]


Finder = Callable[[Contract], FoundValue | None]
"""Finds one thing that a contract states; None if it does not."""


def find_all(contract: Contract, expression: str, end: int | None = None) -> Iterator[re.Match[str]]:
    """The matches of a pattern in a contract, up to `end`."""
    return pattern(expression).finditer(contract.flat, 0, len(contract.flat) if end is None else end)

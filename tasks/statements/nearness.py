"""Which words may stand for each other: the same stem, the same group of the vocabulary, or near in the thesaurus.

The groups of `tasks.language.words` say the same anywhere. Those of `thesaurus.toml`, and words of one family
(`resolve`, `resolution`), say it where all around them agrees.

`Difference` is what a sentence says otherwise than a statement: kinds for code, sentences for people.
"""

import tomllib
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from typing import Final

from tasks.language.words import are_opposite, say_the_same, stem

_DATA: Final = tomllib.loads(files("tasks.statements").joinpath("thesaurus.toml").read_text(encoding="utf-8"))
_GROUPS: Final = [frozenset(stem(word) for word in group.split()) for group in _DATA["near"]]
_GROUPS_OF: Final[dict[str, frozenset[int]]] = {
    word: frozenset(number for number, group in enumerate(_GROUPS) if word in group)
    for word in frozenset().union(*_GROUPS)
}
_NONE: Final[frozenset[int]] = frozenset()
_OPPOSITES: Final = frozenset(frozenset(stem(word) for word in pair.split()) for pair in _DATA["opposite"])
LIGHT: Final = frozenset(stem(word) for word in _DATA["light"].split())
"""Verbs that say little by themselves: "made" of "made a payment"."""
CHANGES: Final = frozenset(stem(word) for word in _DATA["changes"].split())
"""Words of which way, or how often as much, something went."""

SAME: Final = 1.0
ALIKE: Final = 0.9
NEAR: Final = 0.7
FAMILY: Final = 0.8
"""How near two words are: one stem, one group, one group of the thesaurus, one family."""
_BEGINNING: Final = 5
_LONGEST_ENDING: Final = 4
"""Letters that two words of one family begin with, at least, and that each has behind them, at most."""


@lru_cache(maxsize=200_000)
def nearness(one: str, other: str) -> float:
    """How near two stems are, from 0 to 1."""
    if one == other:
        return SAME
    if are_confused(one, other):
        return 0
    if say_the_same(one, other):
        return ALIKE
    if _are_family(one, other):
        return FAMILY
    return 0 if _GROUPS_OF.get(one, _NONE).isdisjoint(_GROUPS_OF.get(other, _NONE)) else NEAR


@lru_cache(maxsize=200_000)
def are_confused(one: str, other: str) -> bool:
    """Whether two stems say the opposite of each other, or must not stand for each other."""
    return frozenset((one, other)) in _OPPOSITES or are_opposite(one, other)


def _are_family(one: str, other: str) -> bool:
    common = next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
    return common >= _BEGINNING and max(len(one), len(other)) - common <= _LONGEST_ENDING and (one + other).isalpha()


def is_near_something(word: str) -> bool:
    """Whether the thesaurus has a stem."""
    return word in _GROUPS_OF


class DifferenceKind(Enum):
    """A way in which a sentence differs from a statement, with the words that say so."""

    FIGURE = "The source gives “{theirs}”, the statement “{ours}”."
    NAME = "The source names “{theirs}”, the statement “{ours}”."
    DENIED = "The source denies what the statement says."
    NOT_DENIED = "The statement denies what the source says."
    OPPOSITE = "The source says “{theirs}”, the statement the opposite: “{ours}”."
    MISSING = "The nearest sentence of the source does not say “{ours}”."
    NO_FIGURE = "The nearest sentence of the source does not give “{ours}”."
    OTHER_FIGURE = "The source gives “{ours}” for something else."
    OTHER_PERIOD = "The source speaks of another time: “{theirs}”."
    LIMITED = "The source limits what it says: “{theirs}”."
    NOT_LIMITED = "The statement limits what the source does not: “{ours}”."
    PART = "The source speaks of a part, or of something narrower: “{theirs}”."
    ROLES = "The source says it the other way round."
    SOMEBODY_ELSE = "The source says it of somebody else: “{theirs}”."
    TOO_LONG = "It is too long to be one statement."


@dataclass(frozen=True, slots=True)
class Difference:
    """What a sentence says otherwise, or does not say: the words of the statement and those of the sentence."""

    kind: DifferenceKind
    ours: str = ""
    theirs: str = ""

    @property
    def why(self) -> str:
        """The difference as a sentence."""
        return self.kind.value.format(ours=self.ours, theirs=self.theirs)

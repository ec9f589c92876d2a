"""Which words may stand for each other where all around them agrees: a thesaurus, families of words, and opposites.

Only `free_wording` uses this. The groups of `words` say the same anywhere; these say it in one sentence that has all
else of a statement.
"""

import tomllib
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
DENYING: Final = frozenset(stem(word) for word in _DATA["deny"].split())
CHANGES: Final = frozenset(stem(word) for word in _DATA["changes"].split())
_FAMILY: Final = 5
_ENDINGS: Final = frozenset(
    (
        "",
        "e",
        "i",
        "y",
        "t",
        "v",
        "d",
        "s",
        "al",
        "an",
        "ian",
        "ut",
        "ution",
        "it",
        "ition",
        "at",
        "ation",
        "ion",
        "iv",
        "ic",
        "ical",
        "is",
        "iz",
        "ist",
        "ism",
        "ity",
        "ness",
        "ful",
        "ous",
        "able",
        "abl",
        "ibl",
        "ment",
        "anc",
        "enc",
        "ant",
        "ent",
        "ly",
        "age",
        "ur",
        "ure",
        "ship",
        "ish",
        "ed",
        "ing",
        "th",
        "en",
        "er",
        "est",
        "ional",
        "tion",
        "sion",
        "tiv",
        "siv",
        "ll",
    )
)
"""What is left of two words behind their common beginning, where they are of one family."""


@lru_cache(maxsize=200_000)
def confused(one: str, other: str) -> bool:
    """Whether two stems must not stand for each other."""
    return frozenset((one, other)) in _OPPOSITES or are_opposite(one, other)


@lru_cache(maxsize=200_000)
def near(one: str, other: str) -> bool:
    """Whether two stems may stand for each other in one sentence."""
    if say_the_same(one, other):
        return True
    is_grouped = not _GROUPS_OF.get(one, _NONE).isdisjoint(_GROUPS_OF.get(other, _NONE))
    return (is_grouped or are_family(one, other)) and not confused(one, other)


def are_family(one: str, other: str) -> bool:
    """Whether two stems are derived from each other: `resolve`, `resolution`; `Mexico`, `Mexican`."""
    if one[:_FAMILY] != other[:_FAMILY] or len(one) < _FAMILY:
        return False
    common = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        common += 1
    return one[common:] in _ENDINGS and other[common:] in _ENDINGS


def is_known(word: str) -> bool:
    """Whether the thesaurus has a stem."""
    return word in _GROUPS_OF

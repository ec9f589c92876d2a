"""The words of English business prose: their stems, synonyms and opposites, and words that only connect.

The words are in `vocabulary.toml`. A statement in another language is only supported by its source's own words, because
no synonyms are known for it.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from tasks.language.locales import look_up

_DATA: Final = tomllib.loads(files("tasks.language").joinpath("vocabulary.toml").read_text(encoding="utf-8"))


def _irregular_forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    waiting: list[str] = []
    for word in _DATA["irregular"].split():
        form, _, stem = word.partition("=")
        waiting.append(form)
        if stem:
            forms.update(dict.fromkeys(waiting, stem))
            waiting.clear()
    return forms


_IRREGULAR: Final = _irregular_forms()
_SUFFIXES: Final = tuple(_DATA["lists"]["suffixes"].split())
_NO_ADVERBS: Final = frozenset(_DATA["lists"]["no_adverbs"].split())
_KEPT: Final = frozenset(_DATA["lists"]["kept"].split())


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word without its ending: `acquired`, `acquires`, `acquiring` and `acquisition` have one stem.

    Words of opposite meaning keep different stems: prefixes (`un-`, `non-`) are not removed.
    """
    word = word.lower().replace("’", "'").removesuffix("'s").rstrip("'")
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
    if len(word) <= 3 or not word.isalpha() or word in _KEPT:
        return word
    if word.endswith("ional") and len(word) > 8:
        word = word.removesuffix("al")
    if word.endswith("ceed"):
        return word
    if word.endswith("quisition"):
        return word.removesuffix("isition") + "ir"
    for suffix in _SUFFIXES:
        if suffix == "ly" and word in _NO_ADVERBS:
            continue
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= 3 and re.search("[aeiouy]", rest):
            if suffix in {"ies", "ied"}:
                rest += "y"
            elif suffix == "ss":
                rest = word
            elif suffix == "sses":
                rest += "ss"
            elif len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsze":
                rest = rest[:-1]
            word = rest
            break
    word = word.removesuffix("e")
    if word.endswith("at") and len(word) > 5:  # terminate, termination
        word = word.removesuffix("at")
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_GROUPS: Final = [_stems(group) for group in _DATA["same"]]
_GROUPS_OF: Final[dict[str, frozenset[int]]] = {
    word: frozenset(number for number, group in enumerate(_GROUPS) if word in group)
    for word in frozenset().union(*_GROUPS)
}
FREE: Final = frozenset(_DATA["free"].split())
FREE_VERBS: Final = _stems(_DATA["free_verbs"])
RESTRICTING: Final = frozenset(_DATA["restrict"].split())
ACTING: Final = _stems(_DATA["act"])
CHANGING: Final = _stems(_DATA["change"])
_PAIRS: Final = [tuple(stem(word) for word in pair.split()) for pair in _DATA["opposite"]]
_OPPOSITES: Final[dict[str, set[str]]] = {}
for _one, _other in _PAIRS:
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)
_PHRASES: Final = {
    before.strip(): after.strip() for before, _, after in (entry.partition("=") for entry in _DATA["phrases"])
}
_PHRASE: Final = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(phrase) for phrase in sorted(_PHRASES, key=len, reverse=True)) + r")(?!\w)",
    re.IGNORECASE,
)


def load_words(name: str) -> frozenset[str]:
    """One of the vocabulary's word lists."""
    return frozenset(_DATA["lists"][name].split())


def load_stems(name: str) -> frozenset[str]:
    """One of the vocabulary's word lists as stems."""
    return _stems(_DATA["lists"][name])


def figure_words(name: str) -> str:
    """One of the vocabulary's lists of words used with figures."""
    words: str = _DATA["figures"][name]
    return words


def limits() -> Mapping[str, str]:
    """The kinds of words that limit a statement, each with its words."""
    by_kind: Mapping[str, str] = _DATA["limits"]
    return by_kind


def in_one_word(text: str) -> str:
    """The text with each known phrase as one word (`per cent` becomes `percent`, `set up` becomes `set_up`)."""
    return _PHRASE.sub(lambda match: look_up(_PHRASES, match.group()), text)


def write_out(text: str, start: int, end: int) -> str:
    """What a text has where `in_one_word` of it has the stretch from `start` to `end`."""
    first, last, longer = start, end, 0
    for match in _PHRASE.finditer(text):
        word = _PHRASES[match.group().lower()]
        opens, extra = match.start() - longer, len(match.group()) - len(word)
        first += extra * (opens < start)
        last += extra * (opens < end)
        longer += extra
    return text[first:last]


def is_known(word: str) -> bool:
    """Whether the vocabulary contains a stem."""
    return (
        word in _GROUPS_OF
        or word in _OPPOSITES
        or word in FREE
        or word in FREE_VERBS
        or word in ACTING
        or word in RESTRICTING
    )


@lru_cache(maxsize=100_000)
def say_the_same(one: str, other: str) -> bool:
    """Whether two stems are synonyms."""
    return one == other or not _GROUPS_OF.get(one, frozenset()).isdisjoint(_GROUPS_OF.get(other, frozenset()))


@lru_cache(maxsize=100_000)
def are_opposite(one: str, other: str) -> bool:
    """Whether two stems, or synonyms of them, are opposites."""
    if one == other:
        return False
    for word in _alike(one):
        for against in _OPPOSITES.get(word, ()):
            if against == other or (say_the_same(against, other) and word == one) or (against in _alike(other)):
                return True
    return any(
        one == prefix + other or other == prefix + one
        for prefix in ("un", "non", "in", "im", "dis", "ir", "il", "de", "mis")
    )


def has_opposite(word: str) -> bool:
    """Whether a stem has an opposite, so that it must not be taken from elsewhere in a sentence."""
    return any(alike in _OPPOSITES for alike in _alike(word))


@lru_cache(maxsize=100_000)
def _alike(word: str) -> frozenset[str]:
    return frozenset({word}).union(*(_GROUPS[number] for number in _GROUPS_OF.get(word, ())))

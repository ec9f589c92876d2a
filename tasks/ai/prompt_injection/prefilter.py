"""Says which words a text must have for a pattern to match in it, so that few patterns are searched in most texts.

A search takes 15 µs for each pattern in a passage of 1,100 characters. Reading the passage's words takes as long as
three searches, and leaves a few of the sixty patterns: 0.22 ms a passage in the place of 1.10.
"""

import re
from collections.abc import Iterable
from re import _constants as sre
from re import _parser
from string import ascii_lowercase
from typing import Any, Final

_LETTERS: Final = 4
"""Of a word, its beginning."""
_WORD: Final = re.compile("[a-z]+")


def word_beginnings(text: str) -> set[str]:
    """The first two, three and four letters of each word of a normalised text."""
    return {word[:length] for word in set(_WORD.findall(text)) for length in range(2, _LETTERS + 1)}


def find_needed(pattern: str) -> tuple[frozenset[str], ...]:
    """Sets of beginnings of words: text that the pattern matches has one of each set."""
    sets, _ = _needed(_parser.parse(pattern), begins=False)
    return tuple(sorted((words for words in sets if min(map(len, words)) > 1), key=_frequency))


def _frequency(words: Iterable[str]) -> float:
    """How many words of a text begin with one of these, if all letters were equally frequent."""
    return sum(26.0 ** -len(word) for word in words)


def _needed(parsed: Iterable[tuple[Any, Any]], *, begins: bool) -> tuple[list[frozenset[str]], bool]:
    """As `find_needed`, and whether a letter behind it begins a word; `begins`: whether the first letter does."""
    sets: list[frozenset[str]] = []
    word = ""
    for operation, argument in parsed:
        if operation is sre.LITERAL and chr(argument) in ascii_lowercase and (word or begins):
            word, begins = word + chr(argument), False
            continue
        if word:
            sets.append(frozenset({word[:_LETTERS]}))
            word = ""
        if operation is sre.SUBPATTERN:
            inside, begins = _needed(argument[-1], begins=begins)
            sets += inside
        elif operation in {sre.MAX_REPEAT, sre.MIN_REPEAT}:
            inside, begins_behind = _needed(argument[-1], begins=begins)
            sets += inside if argument[0] else []
            begins = begins_behind and (begins or argument[0] > 0)
        elif operation is sre.BRANCH:
            branches = [_needed(branch, begins=begins) for branch in argument[-1]]
            if all(inside for inside, _ in branches):
                sets.append(frozenset().union(*(min(inside, key=_frequency) for inside, _ in branches)))
            begins = all(begins_behind for _, begins_behind in branches)
        elif operation not in {sre.ASSERT, sre.ASSERT_NOT}:
            begins = _is_border(operation, argument) or (operation is sre.AT and begins)
    return [*sets, *([frozenset({word[:_LETTERS]})] if word else [])], begins


def _is_border(operation: Any, argument: Any) -> bool:
    """Whether a letter behind this part of a pattern begins a word."""
    if operation is sre.IN:
        return all(_is_border(*item) for item in argument)
    if operation is sre.LITERAL:
        return chr(argument) not in ascii_lowercase
    return (operation, argument) in {
        (sre.AT, sre.AT_BOUNDARY),
        (sre.AT, sre.AT_BEGINNING),
        (sre.CATEGORY, sre.CATEGORY_SPACE),
    }

"""Patterns for whole documents, tried only where a match may begin.

A search in any case for many alternatives tries them all at every character. Looking for the words with which a match
begins costs a tenth of that or less, and the pattern is then held against few places.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_BLANKS: Final = "\xa0\u202f\u2009"
_RAISED: Final = re.compile(
    r"(?<![\d.,])10[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|(?<!\b[kcd]m)(?<!\bm)(?<!\bft)[⁽⁰¹²³⁴⁵⁶⁷⁸⁹]+[,⁰¹²³⁴⁵⁶⁷⁸⁹⁾]*"
)


def plain_blanks(text: str) -> str:
    """The text with plain blanks for those that hold words together, and for raised marks.

    Each character keeps the offset that it has. A raised mark is a footnote's, but for the exponent of a power of ten,
    which falls away with its ten, and that of an area ("m²").
    """
    if text.isascii():
        return text
    for mark in _BLANKS:
        text = text.replace(mark, " ")
    return _RAISED.sub(lambda match: " " * len(match[0]), text)


def lower_text(text: str) -> str:
    """The text in lower case, each character at the offset that it has in the text."""
    return text.replace("İ", "i").lower()  # the one character whose small form is longer


def spots(lower: str, words: Iterable[str], *, before: int = 0) -> list[int]:
    """Where any of the words stand in a text of lower case, in order; `before` so many characters before each."""
    found: set[int] = set()
    for word in words:
        at = lower.find(word)
        while at >= 0:
            if at >= before:
                found.add(at - before)
            at = lower.find(word, at + 1)
    return sorted(found)


def matches(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """What `pattern.finditer(text)` gives, where each match begins at one of these offsets, which are in order."""
    end = 0
    for start in starts:
        if start >= end:
            match = pattern.match(text, start)
            if match is not None:
                yield match
                end = match.end()


def count_words(text: str, word: str) -> int:
    """How often a word stands in a text and not within another."""
    count, at = 0, text.find(word)
    while at >= 0:
        end = at + len(word)
        inside = (word[0].isalnum() and at and _in_word(text[at - 1])) or (
            word[-1].isalnum() and _in_word(text[end : end + 1])
        )
        count += not inside
        at = text.find(word, at + 1)
    return count


def _in_word(mark: str) -> bool:
    return mark.isalnum() or mark == "_"

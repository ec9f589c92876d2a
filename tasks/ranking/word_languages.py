"""The language of each word of an index: that of most texts that contain it.

A text's language is recognised by its commonest words. It decides which endings a word can have (`words.stem`), and
whether it may be a compound (`compounds`). Rooms have filings in one language and their attachments in another.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.language.languages import COMMON_WORDS
from tasks.ranking.lexicon import Ints

LANGUAGES: Final = tuple(COMMON_WORDS)
_MASKS: Final[dict[str, int]] = {}
for _number, _words in enumerate(COMMON_WORDS.values()):
    for _word in _words:
        _MASKS[_word] = _MASKS.get(_word, 0) | 1 << _number
_LEAST_WORDS = 4  # common words of a language that a text must have to be in it
_LEAST_SHARE = 1 / 12  # of its words


def find_language_mask(form: str) -> int:
    """The languages, one bit each, in which a form is one of the commonest words."""
    return _MASKS.get(form, 0)


class WordLanguages:
    """How often each word occurs in texts of each language; texts are added in order, in batches."""

    def __init__(self) -> None:
        self._counts: dict[int, Ints] = {}

    def add(self, masks: NDArray[np.int32], ends: Ints, words: NDArray[np.int32], before: Ints) -> None:
        """Add texts.

        Args:
            masks: the `find_language_mask` each form of the texts.
            ends: where each text ends among these.
            words: the texts' words by their numbers.
            before: how many of them stand before each form and behind the last.
        """
        lengths = np.diff(ends, prepend=0)
        counts = np.zeros((len(LANGUAGES), len(ends)), np.int64)
        for number in range(len(LANGUAGES)):
            sums = np.concatenate([[0], np.cumsum(masks >> number & 1)])
            counts[number] = np.diff(sums[ends], prepend=0)
        best = counts.argmax(axis=0)
        tells = counts.max(axis=0) >= np.maximum(_LEAST_WORDS, lengths * _LEAST_SHARE)
        of_words = np.repeat(np.where(tells, best, -1), np.diff(before[ends], prepend=0))
        for number in np.unique(best[tells]):
            added = np.bincount(words[of_words == number])
            known = self._counts.get(int(number), np.zeros(0, np.int64))
            longer, shorter = (added, known) if len(added) > len(known) else (known, added)
            longer[: len(shorter)] += shorter
            self._counts[int(number)] = longer

    def of_words(self, count: int) -> tuple[str, ...]:
        """The language of each word up to that number; for words in no text of a known language, that of most texts."""
        order = sorted(self._counts, key=lambda number: -int(self._counts[number].sum())) or [0]
        table = np.zeros((len(order), count), np.int64)
        for row, number in enumerate(order):
            if number in self._counts:
                table[row, : len(self._counts[number])] = self._counts[number]
        return tuple(LANGUAGES[order[row]] for row in table.argmax(axis=0))

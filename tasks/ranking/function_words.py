"""How often each text has each function word: "may", "they", "from", "what".

They say nothing about a text's subject, so the index of positions leaves them out. But everyday questions consist of
them ("What may they keep for themselves?"), and clauses differ in them: a duty says "shall", a permission "may". If a
question has few other words, plain BM25 counts them, at less than their rarity (`plain.FUNCTION_WORDS`).

Those that every text has ("the", "of", "is") do not separate texts and are left out. Only counts are kept, 5 bytes for
each word of each text.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.language.tokens import STOP_WORDS
from tasks.ranking.lexicon import IN_MEMORY, GrowingRow, Ints, empty_row

NONE: Final = -1
_EVERYWHERE: Final = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "  # noqa: SIM905 - as in tasks.language.tokens
    "to was will with".split()
)
FUNCTION_WORDS: Final = STOP_WORDS - _EVERYWHERE
_NUMBERS: Final = {word: number for number, word in enumerate(sorted(FUNCTION_WORDS))}
_MOST: Final = 255  # of a word in one text that are counted


def find_number(form: str) -> int:
    """The number of a function word, or NONE."""
    return _NUMBERS.get(form, NONE)


class FunctionWords:
    """The function words of texts, which are added in order, in batches."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        """Anything above `in_memory` bytes is kept on disk."""
        self._in_memory = in_memory
        self._added = GrowingRow(in_memory), GrowingRow(in_memory)
        self._of_words: list[Ints] = []  # how many of the added texts have each word
        self._texts: NDArray[np.int32] = np.empty(0, np.int32)
        self._counts: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._starts = np.zeros(len(_NUMBERS) + 1, np.int64)

    def add(self, first: int, numbers: NDArray[np.int16], ends: NDArray[np.int64]) -> None:
        """Add the texts from number `first` on: the `find_number` of each word, and where each text
        ends among these.
        """
        lengths = np.concatenate([ends[:1], ends[1:] - ends[:-1]])
        texts = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        is_one = numbers != NONE
        keys, counts = np.unique(numbers[is_one].astype(np.int64) * len(lengths) + texts[is_one], return_counts=True)
        words, where = keys // len(lengths), keys % len(lengths) + first
        self._added[0].append(where.astype(np.int32))
        self._added[1].append(np.minimum(counts, _MOST).astype(np.uint8))
        self._of_words.append(np.bincount(words, minlength=len(_NUMBERS)))

    def close(self) -> None:
        """Call this when all texts are added: it groups the texts by word."""
        if not self._of_words:
            return
        np.cumsum(np.sum(self._of_words, axis=0), out=self._starts[1:])
        texts, counts = self._added[0].row(np.int32), self._added[1].row(np.uint8)
        self._texts = empty_row(len(texts), np.int32, self._in_memory)
        self._counts = empty_row(len(texts), np.uint8, self._in_memory)
        free, begin = self._starts[:-1].copy(), 0
        for of_words in self._of_words:
            end = begin + int(of_words.sum())
            before = np.cumsum(of_words) - of_words
            to = np.repeat(free - before, of_words) + np.arange(end - begin)
            self._texts[to], self._counts[to] = texts[begin:end], counts[begin:end]
            free += of_words
            begin = end
        self._of_words.clear()
        del self._added

    def counts(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The texts that have a function word, in order, and how often each has it."""
        number = find_number(word)
        if number == NONE:
            return self._texts[:0], self._counts[:0]
        span = slice(self._starts[number], self._starts[number + 1])
        return self._texts[span], self._counts[span]

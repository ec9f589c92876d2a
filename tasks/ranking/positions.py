"""Where each word stands in each of many texts: what ranking reads everything from, the texts themselves not kept.

All texts are one row of words, and a text is a span of it. Kept are the places of each word, sorted: 4 bytes for each
word that counts. 100,000 passages of 1,000 characters (12 million words) take 60 MB.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.encoder import encode
from tasks.ranking.vocabulary import NUMBER

Ints = NDArray[np.int64]

_AT_ONCE = 1_000_000  # words
_NONE = np.empty(0, np.int64)


class Positions:
    """The places of words in texts.

    Attributes:
        bounds: where each text begins in the row of words, and behind the last one, where it ends.
        numbers: for each text, how many of its words are numbers.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words, self.bounds, self._ids = encode(texts)
        self._starts = np.zeros(len(self._ids) + 1, np.int64)
        np.cumsum(np.bincount(words, minlength=len(self._ids)), out=self._starts[1:])
        figures = np.fromiter((word[0].isdigit() for word in self._ids), np.bool_, len(self._ids))
        before = np.zeros(len(words) + 1, np.int32)
        if len(words):
            np.cumsum(figures[words], out=before[1:])
        self.numbers: Ints = np.diff(before[self.bounds]).astype(np.int64)
        self._places = _sorted_places(words, self._starts)
        self._numbers = np.flatnonzero(figures[words]).astype(np.int32) if len(words) else self._places

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self.bounds) - 1

    def of(self, word: str) -> NDArray[np.int32]:
        """All places of a word, sorted; of `#`, those of all numbers."""
        if word == NUMBER:
            return self._numbers
        known = self._ids.get(word)
        return self._places[:0] if known is None else self._places[self._starts[known] : self._starts[known + 1]]

    def counts(self, word: str) -> tuple[Ints, Ints]:
        """The texts that hold a word, and how often each holds it."""
        places = self.of(word)
        if len(places) < len(self):
            return np.unique(np.searchsorted(self.bounds, places, side="right") - 1, return_counts=True)
        counted = np.diff(np.searchsorted(places, self.bounds))
        held = np.flatnonzero(counted)
        return held, counted[held]

    def within(self, word: str, texts: Ints) -> Ints:
        """The places of a word in some of the texts (given in order), sorted."""
        places = self.of(word)
        if not len(places):
            return _NONE
        if len(texts) == len(self):
            return places.astype(np.int64)
        first = np.searchsorted(places, self.bounds[texts])
        counted = np.searchsorted(places, self.bounds[texts + 1]) - first
        total = int(counted.sum())
        if not total:
            return _NONE
        skipped = first - np.cumsum(counted) + counted
        return places[np.repeat(skipped, counted) + np.arange(total)].astype(np.int64)


def _sorted_places(words: NDArray[np.int32], starts: Ints) -> NDArray[np.int32]:
    """Each word's places, word after word. Sorted in parts: at once, 12 million words would take 200 MB meanwhile."""
    places = np.empty(len(words), np.int32)
    free = starts[:-1].copy()
    for begin in range(0, len(words), _AT_ONCE):
        part = words[begin : begin + _AT_ONCE]
        order = np.argsort(part, kind="stable")
        placed = part[order]
        first = np.flatnonzero(np.diff(placed, prepend=-1))
        counted = np.diff(first, append=len(placed))
        met = placed[first]
        places[np.repeat(free[met] - first, counted) + np.arange(len(placed))] = order + begin
        free[met] += counted
    return places

"""Some of the texts: the likeliest of many for a question, and where phrases stand in them."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.positions import Ints, Positions
from tasks.ranking.question import Asked
from tasks.ranking.vocabulary import Phrase

_BLOCK = 25  # words that count; a window is two blocks, about two sentences or six lines of a table
_GAP = 3  # words of a phrase stand at most so far apart: "purchases of new equipment" are "purchases of equipment"
_EVERYWHERE = 0.4  # words met more often than this share of the texts do not tell which are likely


class Part:
    """Some of the texts (all, or the likeliest), in which the terms of one question are looked up.

    Attributes:
        positions: where words stand in all texts.
        texts: the numbers of these texts, in order.
        lengths: how many words that count each has.
        blocks: how many blocks they have all together.
    """

    def __init__(self, positions: Positions, texts: Ints) -> None:
        self.positions, self.texts = positions, texts
        self._starts = positions.bounds[texts]
        self.lengths: Ints = positions.bounds[texts + 1] - self._starts
        self._ends = np.cumsum(np.maximum(-(-self.lengths // _BLOCK), 1))
        self._first = np.concatenate([[0], self._ends[:-1]])
        self.blocks = int(self._ends[-1])
        self._words: dict[str, Ints] = {}

    def places(self, phrase: Phrase) -> Ints:
        """Where a phrase stands: the places of its last word, sorted."""
        at = self._word(phrase[0])
        for word in phrase[1:]:
            following = self._word(word)
            if not len(at) or not len(following):
                return at[:0]
            here = np.searchsorted(following, at, side="right")
            then = following[np.minimum(here, len(following) - 1)]
            # The next word must stand close, and in the same text.
            near = (here < len(following)) & (then - at <= _GAP) & (self._text(then) == self._text(at))
            at = np.unique(then[near])
        return at

    def counts(self, places: Ints) -> tuple[Ints, Ints]:
        """How often a term that stands at `places` is met in each text, and in each block and the one after it."""
        texts = self._text(places)
        block = self._first[texts] + (places - self._starts[texts]) // _BLOCK
        window = np.bincount(block, minlength=self.blocks)
        behind = np.append(window[1:], 0)
        behind[self._ends - 1] = 0
        return np.bincount(texts, minlength=len(self.texts)), window + behind

    def holding(self, places: Ints, within: int | None = None) -> Ints:
        """Which of these texts (by their place among them) a term stands in, at all or within their first words."""
        texts = self._text(places)
        return np.unique(texts if within is None else texts[places - self._starts[texts] < within])

    def best(self, windows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The highest of what the windows of each text have."""
        return np.maximum.reduceat(windows, self._first)

    @cached_property
    def figures(self) -> NDArray[np.float64]:
        """The share of each text's words that are numbers."""
        return self.positions.numbers[self.texts] / np.maximum(self.lengths, 1)

    def held(self, phrase: Phrase, here: int) -> int:
        """In how many of all texts a phrase stands, when in `here` of these; about, where these are not all."""
        if len(phrase) > 1 or len(self.texts) == len(self.positions):
            return here
        return min(len(self.positions.of(phrase[0])), len(self.positions))

    def _word(self, word: str) -> Ints:
        if word not in self._words:
            self._words[word] = self.positions.within(word, self.texts)
        return self._words[word]

    def _text(self, places: Ints) -> Ints:
        return np.searchsorted(self._starts, places, side="right") - 1


def likeliest(positions: Positions, asked: Asked, most: int) -> Part:
    """The `most` texts that hold most of what is asked, by the words of its terms; all where there are no more."""
    count = len(positions)
    if count <= most:
        return Part(positions, np.arange(count))
    words: dict[str, float] = {}
    for term, share in asked.weighed():
        for word in term.phrase:
            words[word] = words.get(word, 0.0) + share / len(term.phrase)
    met = {word: len(positions.of(word)) for word in words}
    likely = np.zeros(count, np.float32)
    for word in [word for word in words if met[word] <= _EVERYWHERE * count] or words:
        texts, often = positions.counts(word)
        likely[texts] += words[word] * (often / (often + 1.0))
    least = np.partition(likely, count - most)[count - most]
    above = np.flatnonzero(likely > least)
    level = np.flatnonzero(likely == least)[: most - len(above)]  # in order: the first of equals come first
    return Part(positions, np.sort(np.concatenate([above, level])))

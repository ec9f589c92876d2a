"""Texts as one row of numbers, each the number of a word that counts.

Each form of a word is read once ("Leases" and "leases" are one word); all others of the form are looked up in it.

Some of the texts: the likeliest of many for a question, and where phrases stand in them.

Where each word stands in each of many texts: what ranking reads everything from, the texts themselves not kept.

All texts are one row of words, and a text is a span of it. Kept are the places of each word, sorted: 4 bytes for each
word that counts. 100,000 passages of 1,000 characters (12 million words) take 60 MB.
"""

from array import array
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.query import Asked
from tasks.ranking.vocabulary import NUMBER, Phrase
from tasks.text.tokens import tokens_of_form, word_forms

_TEXTS_AT_ONCE = 1000  # texts


class _Forms(dict[str, int]):
    """The forms met, numbered, and the words that each stands for: none, one, or several."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, int] = {}
        self.read, self.ends = array("i"), array("i", [0])

    def __missing__(self, form: str) -> int:
        for word in tokens_of_form(form):
            self.read.append(self.words.setdefault(word, len(self.words)))
        self.ends.append(len(self.read))
        self[form] = number = len(self)
        return number


def encode(texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64], dict[str, int]]:
    """All texts as one row of word numbers, where each begins in it (and the last one ends), and the words' numbers."""
    forms = _Forms()
    row, bounds = array("i"), [np.zeros(1, np.int64)]
    for first in range(0, len(texts), _TEXTS_AT_ONCE):
        met = [[forms[form] for form in word_forms(text)] for text in texts[first : first + _TEXTS_AT_ONCE]]
        numbers = np.fromiter((number for each in met for number in each), np.int32)
        ends = np.cumsum([len(each) for each in met])
        words, before = _words(numbers, forms)
        bounds.append(before[ends] + len(row))
        row.frombytes(words.tobytes())
    return np.frombuffer(row, np.int32) if row else np.zeros(0, np.int32), np.concatenate(bounds), forms.words


def _words(numbers: NDArray[np.int32], forms: _Forms) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The words of forms, and how many stand before each form and behind the last."""
    ends = np.array(forms.ends)
    counted = np.diff(ends)[numbers]
    before = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(counted, out=before[1:])
    at = np.repeat(ends[numbers] - before[:-1], counted) + np.arange(before[-1])
    return np.array(forms.read, np.int32)[at], before


Ints = NDArray[np.int64]

_WORDS_AT_ONCE = 1_000_000  # words
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
    for begin in range(0, len(words), _WORDS_AT_ONCE):
        part = words[begin : begin + _WORDS_AT_ONCE]
        order = np.argsort(part, kind="stable")
        placed = part[order]
        first = np.flatnonzero(np.diff(placed, prepend=-1))
        counted = np.diff(first, append=len(placed))
        met = placed[first]
        places[np.repeat(free[met] - first, counted) + np.arange(len(placed))] = order + begin
        free[met] += counted
    return places


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

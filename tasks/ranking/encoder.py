"""Texts as one row of numbers, each the number of a word that counts.

Each form of a word is read once ("Leases" and "leases" are one word); all others of the form are looked up in it.
"""

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.words import read, spelled

_AT_ONCE = 1000  # texts


class _Forms(dict[str, int]):
    """The forms met, numbered, and the words that each stands for: none, one, or several."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, int] = {}
        self.read, self.ends = array("i"), array("i", [0])

    def __missing__(self, form: str) -> int:
        for word in read(form):
            self.read.append(self.words.setdefault(word, len(self.words)))
        self.ends.append(len(self.read))
        self[form] = number = len(self)
        return number


def encode(texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64], dict[str, int]]:
    """All texts as one row of word numbers, where each begins in it (and the last one ends), and the words' numbers."""
    forms = _Forms()
    row, bounds = array("i"), [np.zeros(1, np.int64)]
    for first in range(0, len(texts), _AT_ONCE):
        met = [[forms[form] for form in spelled(text)] for text in texts[first : first + _AT_ONCE]]
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

"""Plain BM25: how well texts answer a question by its own words, without any knowledge of a field.

A word counts by how rare it is among the texts at hand. That is what is left where the vocabulary says nothing about a
question: framing words, names and years count like all others, since some rooms differ in nothing else. Function words
count half: everyday questions have hardly any others (ContractNLI, asked plainly, first five: .498 without them, .554
with them; measured on the development part of `tests/benchmarks`).
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.index import TextSubset

SATURATION = 1.2  # BM25's k1 and b
LENGTH = 0.75
FUNCTION_WORDS = 0.5


def score(subset: TextSubset, words: Iterable[str], function_words: Iterable[str] = ()) -> NDArray[np.float64]:
    """The score of each text of `subset`; 0 for one that has none of the words."""
    positions = subset.positions
    mean_length = max(float(positions.bounds[-1]) / len(positions), 1.0)
    saturation = SATURATION * (1 - LENGTH + LENGTH * subset.lengths / mean_length)
    scores = np.zeros(len(subset.texts))
    for word in words:
        occurrences = subset.occurrences((word,))
        if len(occurrences):
            counts, _in_windows = subset.counts(occurrences)
            having = subset.texts_in_all((word,), int(np.count_nonzero(counts)))
            scores += _rarity(having, len(positions)) * (counts / (counts + saturation))
    for word in function_words:
        counts = subset.function_word_counts(word)
        if counts.any():
            having = len(positions.function_words.counts(word)[0])
            scores += FUNCTION_WORDS * _rarity(having, len(positions)) * (counts / (counts + saturation))
    return scores


def _rarity(having: int, count: int) -> float:
    """The inverse document frequency of a word that `having` of `count` texts have; above 0."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))

"""Plain BM25: how well texts answer a question by its own words, without any knowledge of a field.

A word counts by its rarity among the texts. This is what is left if the vocabulary says nothing about a question:
framing words, names and years count like all others, since some rooms differ in nothing else. Function words count
half, because everyday questions have hardly any others (ContractNLI, asked plainly, first five: .498 without them, .554
with them; measured on the development part of `tests/benchmarks`).

Each word of the question counts as its family, and a little more if spelled as in the question; two neighbouring words
of the question count extra where they are neighbours in a text. Compounds with a word of the question count half as
much ("Meldepflicht" for "melden"; chosen on German regulations and XQuAD's first half). A text that has any of it gains
a little from the texts beside it: the passages of a document are in order.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.index import COMPOUNDS, TextSubset, rarity
from tasks.ranking.lexicon import Ints
from tasks.ranking.words import Word

SATURATION = 1.2  # BM25's k1 and b
LENGTH = 0.75
FUNCTION_WORDS = 0.5
_FAMILY, _SPELLING = 0.8, 0.2  # the weights of a word as its family and as it is spelled
_NEIGHBOURS = 0.25
_CONTEXT = (
    0.1  # the weight of the better of the two texts before and behind: a passage under its heading, a table's part
)
_ANY = 0.1  # what a text gets for having a word at all, long or short: of two texts the one with more of the question


def score(subset: TextSubset, words: Sequence[Word], function_words: Iterable[str] = ()) -> NDArray[np.float64]:
    """The score of each text of `subset`; 0 for texts without any of the words. `words` are in the question's order."""
    positions = subset.positions
    mean_length = max(float(positions.bounds[-1]) / len(positions), 1.0)
    saturation = SATURATION * (1 - LENGTH + LENGTH * subset.lengths / mean_length)
    scores = np.zeros(len(subset.texts))
    for weight, counts, having in _terms(subset, words):
        scores += weight * rarity(having, len(positions)) * (counts / (counts + saturation) + _ANY * (counts > 0))
    for word in function_words:
        counts = subset.function_word_counts(word)
        if counts.any():
            having = len(positions.function_words.counts(word)[0])
            scores += FUNCTION_WORDS * rarity(having, len(positions)) * (counts / (counts + saturation))
    return scores + _CONTEXT * _beside(subset, scores) * (scores > 0)


def _beside(subset: TextSubset, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each text in `subset`, the better score of the texts directly before and after it."""
    adjoining = np.diff(subset.texts) == 1
    before, behind = np.zeros(len(scores)), np.zeros(len(scores))
    before[1:], behind[:-1] = adjoining * scores[:-1], adjoining * scores[1:]
    return np.maximum(before, behind)


def _terms(subset: TextSubset, words: Sequence[Word]) -> Iterator[tuple[float, Ints, int]]:
    """What is counted for a question: each term's weight, how often each text has it, and how many of all texts have
    it.
    """
    families = [subset.positions.family(word) for word in words]
    spellings = dict.fromkeys(subset.positions.spelling(word) for word in words)
    for weight, spans in ((_FAMILY, dict.fromkeys(families)), (_SPELLING, spellings)):
        for span in spans:
            occurrences = subset.at(span)
            if len(occurrences):
                counts = subset.text_counts(occurrences)
                yield weight, counts, subset.texts_in_all(span[1] - span[0], int(np.count_nonzero(counts)))
    for word in dict.fromkeys(words):
        occurrences = subset.compounds(word)
        if len(occurrences):
            counts = subset.text_counts(occurrences)
            yield COMPOUNDS, counts, subset.texts_in_all(len(occurrences), int(np.count_nonzero(counts)))
    for pair in dict.fromkeys(itertools.pairwise(families)):
        occurrences = subset.neighbours(*pair)
        if len(occurrences):
            counts = subset.text_counts(occurrences)
            yield _NEIGHBOURS, counts, int(np.count_nonzero(counts))

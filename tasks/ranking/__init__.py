"""Which of many texts answer a question best, by their words: without a model and without a network.

query       a question as weighted words, phrases and meanings, and the vocabulary that it is told by
lexicon     the words of an index, each with its language
index       the positions of words in texts; the likeliest texts for a query, and the score of each of them
coverage    how much of what a question asks a text speaks to
semantic    the best texts put in order by meaning, where an embedding model is chosen; `embedders` makes it
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.language.words import tokens
from tasks.ranking.index import WordPositions, likeliest, score
from tasks.ranking.lexicon import IN_MEMORY
from tasks.ranking.query import read_query

__all__ = ["WordIndex", "rank"]

_SCORED = 2000  # texts that are scored; of more texts, only the likeliest are
_WORDINGS = 0.8  # the weight of the wordings of a search plan beside the question

Scores = tuple[NDArray[np.int64], NDArray[np.float64]]


class WordIndex:
    """Texts prepared for many questions. Building takes time in proportion to their length, a question hardly any.

    The index keeps the positions of the texts' words rather than the texts: 1.6 MB for 1,000 passages of 1,000
    characters, on disk above some 250,000 passages.
    """

    def __init__(self, texts: Iterable[str], in_memory: int = IN_MEMORY) -> None:
        """Read the texts one after the other; anything above `in_memory` bytes is kept on disk.

        Raises:
            Unavailable: they are very many, and the disk has no room for the index.
        """
        self._positions = WordPositions(texts, in_memory=in_memory)

    def rank(
        self, question: str, k: int, wordings: Sequence[str] = (), *, guess: bool = True, share: float = _WORDINGS
    ) -> list[tuple[int, float]]:
        """The `k` best texts as (position in `texts`, score), best first.

        Only texts are returned that share a word with the question, or with what documents call something that it asks
        for, so there may be fewer or none. If no text shares more than function words ("may", "from"), they determine
        the order, which is a guess; without `guess` nothing is returned then. Equal scores keep the order of the texts.
        Scores are above 0 and mostly below 1; for one question about a clause they are comparable between texts of
        different contracts.

        `wordings` are phrases that documents would use, if they are known (from a search plan): together they form a
        second question, which has that `share` of the score.
        """
        positions, scores = self._scores(question, k, guess=guess and not wordings)
        if wordings:
            positions, scores = _fuse((positions, scores), self._scores(". ".join(wordings), k), share)
        positive = np.flatnonzero(scores > 0)
        order = positive[np.argsort(-scores[positive], kind="stable")][: max(k, 0)]
        return [(int(positions[index]), float(scores[index])) for index in order]

    def _scores(self, question: str, k: int, *, guess: bool = False) -> Scores:
        """The most likely texts for a question, in order, each with its score."""
        query = read_query(question)
        if not len(self._positions) or not query.terms or k <= 0:
            return np.empty(0, np.int64), np.empty(0)
        subset = likeliest(self._positions, query, max(k, _SCORED))
        return subset.texts, score(subset, query, guess=guess)

    def texts_with_words(self, words: str, k: int) -> list[int]:
        """The `k` texts that have most of these words, with rare words counting most: candidates for a quotation.

        Positions in `texts`, best first; only texts that have any of the words.
        """
        count = len(self._positions)
        scores = np.zeros(count)
        for word in dict.fromkeys(tokens(words)):
            texts, _ = self._positions.counts(self._positions.of(word))
            scores[texts] += np.log1p(count / max(len(texts), 1))
        positive = np.flatnonzero(scores)
        return [int(position) for position in positive[np.argsort(-scores[positive], kind="stable")][: max(k, 0)]]


def _fuse(question: Scores, wordings: Scores, share: float) -> Scores:
    """Both rankings merged into one: each score counts by its share of the best score in its ranking."""
    weights = (1 - share, share) if wordings[1].any() else (1.0, 0.0)
    positions = np.union1d(question[0], wordings[0])
    fused = np.zeros(len(positions))
    for weight, (texts, scores) in zip(weights, (question, wordings), strict=True):
        best = float(scores.max(initial=0.0))
        if best and weight:
            fused[np.searchsorted(positions, texts)] += weight * scores / best
    return positions, fused


def rank(texts: Sequence[str], question: str, k: int) -> list[tuple[int, float]]:
    """`WordIndex(texts).rank(question, k)` for a single question, without guesses."""
    return WordIndex(texts).rank(question, k, guess=False)

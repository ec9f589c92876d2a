"""Which of many texts answer a question best, by their words: without a model and without a network.

vocabulary    what documents call the things that questions ask for: files, and how they are read
query         a question as weighted words, phrases and meanings
index         the positions of words in texts; the likeliest texts for a query
bm25          the score of each of these texts: by the vocabulary and by plain BM25 in one
plain         plain BM25
semantic      the best texts put in order by meaning, where an embedding model is chosen; `embedders` makes it
"""

from collections.abc import Sequence

import numpy as np

from tasks.ranking.bm25 import score
from tasks.ranking.index import WordPositions, likeliest
from tasks.ranking.query import read_query
from tasks.text.tokens import tokens

__all__ = ["Index", "rank"]

_SCORED = 2000  # texts that are scored; of more texts, only the likeliest are


class Index:
    """Texts made ready for many questions. Building takes time with their length, a question hardly any.

    The index does not keep the texts but the positions of their words: 1.3 MB for 1,000 passages of 1,000 characters.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._positions = WordPositions(texts)

    def rank(self, question: str, k: int) -> list[tuple[int, float]]:
        """The `k` best texts as (position in `texts`, score), best first.

        Only texts that share a word with the question, or with what documents call a thing that it asks for, are
        returned, so there may be fewer, or none. Equal scores keep the order of the texts. Scores are above 0 and
        mostly below 1; those of one question for a clause compare between the texts of different contracts.
        """
        query = read_query(question)
        if not len(self._positions) or not query.terms or k <= 0:
            return []
        subset = likeliest(self._positions, query, max(k, _SCORED))
        scores = score(subset, query)
        positive = np.flatnonzero(scores > 0)
        order = positive[np.argsort(-scores[positive], kind="stable")][:k]
        return [(int(subset.texts[index]), float(scores[index])) for index in order]

    def texts_with_words(self, words: str, k: int) -> list[int]:
        """The `k` texts that have most of these words, rare words counting most: where a quotation may stand.

        Positions in `texts`, best first; only texts that have any of the words.
        """
        count = len(self._positions)
        scores = np.zeros(count)
        for word in dict.fromkeys(tokens(words)):
            texts, _ = self._positions.counts(word)
            scores[texts] += np.log1p(count / max(len(texts), 1))
        positive = np.flatnonzero(scores)
        return [int(position) for position in positive[np.argsort(-scores[positive], kind="stable")][: max(k, 0)]]


def rank(texts: Sequence[str], question: str, k: int) -> list[tuple[int, float]]:
    """`Index(texts).rank(question, k)` for a single question."""
    return Index(texts).rank(question, k)

"""Which of many texts speak to a question, without a model and without a network.

words       what counts as a word
encoder, positions    texts as places of words: all that is kept of them
vocabulary  what documents call the things that questions ask for; its files and their format
question    a question as weighted words, phrases and meanings
part        the likeliest texts, and where phrases stand in them
layout      the pages of an annual report's statements
scores      all of it as one score for each text
"""

from collections.abc import Sequence

from tasks.text.tokens import STOP_WORDS, tokens

__all__ = ["STOP_WORDS", "Index", "rank", "tokens"]

_ALL = 2000  # texts that are looked at closely; of more, only the likeliest are


class Index:
    """Texts made ready for many questions. Building takes time with their length, a question hardly any.

    The texts are not kept, only where their words stand: 1.3 MB for 1,000 passages of 1,000 characters.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        from tasks.ranking.index import Positions  # noqa: PLC0415 - numpy: 0.1 s for commands that rank nothing

        self._positions = Positions(texts)

    def rank(self, question: str, k: int) -> list[tuple[int, float]]:
        """The `k` best texts as (position in `texts`, score), best first.

        Only texts that share a word with the question, or with what documents call a thing that it asks for, are
        given, so there may be fewer, or none. Equal scores keep the order of the texts. Scores are above 0 and mostly
        below 1; those of one question for a clause compare between the texts of different contracts.
        """
        import numpy as np  # noqa: PLC0415 - as above

        from tasks.ranking.bm25 import score  # noqa: PLC0415
        from tasks.ranking.index import likeliest  # noqa: PLC0415
        from tasks.ranking.query import read  # noqa: PLC0415

        asked = read(question)
        if not len(self._positions) or not asked.terms or k <= 0:
            return []
        part = likeliest(self._positions, asked, max(k, _ALL))
        scores = score(part, asked)
        positive = np.flatnonzero(scores > 0)
        order = positive[np.argsort(-scores[positive], kind="stable")][:k]
        return [(int(part.texts[position]), float(scores[position])) for position in order]

    def holding(self, words: str, k: int) -> list[int]:
        """The `k` texts that hold most of these words, the rare ones counting most: where a quotation may stand.

        Best first, by position in `texts`; only those that hold any.
        """
        import numpy as np  # noqa: PLC0415 - as above

        count = len(self._positions)
        held = np.zeros(count)
        for word in dict.fromkeys(tokens(words)):
            texts, _ = self._positions.counts(word)
            held[texts] += np.log1p(count / max(len(texts), 1))
        some = np.flatnonzero(held)
        return [int(position) for position in some[np.argsort(-held[some], kind="stable")][: max(k, 0)]]


def rank(texts: Sequence[str], question: str, k: int) -> list[tuple[int, float]]:
    """`Index(texts).rank(question, k)` for a single question."""
    return Index(texts).rank(question, k)

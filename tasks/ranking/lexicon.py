"""The words of an index: in what order their positions stand in it, and where those of each begin and end."""

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.words import Word, stem

Span = tuple[int, int]
"""Where positions stand in an index: from one number to another."""

_NOWHERE: Span = 0, 0


class Lexicon:
    """The words of an index in the order in which their positions stand, and where those of each begin and end.

    All spellings of a token belong to one family, that of the shortest: words that only look alike in some of their
    forms ("hoped" and "hops" are one token) stay together.
    """

    def __init__(self, words: Sequence[Word], counts: NDArray[np.int64]) -> None:
        shortest: dict[str, str] = {}
        for word in words:
            known = shortest.setdefault(word.token, word.spelling)
            if (len(word.spelling), word.spelling) < (len(known), known):
                shortest[word.token] = word.spelling
        families = {token: stem(spelling) for token, spelling in shortest.items()}
        order = sorted(range(len(words)), key=lambda number: (families[words[number].token], *words[number][::-1]))
        self.ranks = np.empty(len(words), np.int32)
        self.ranks[order] = np.arange(len(words), dtype=np.int32)
        self.starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum(counts[order], out=self.starts[1:])
        self._spellings: dict[str, int] = {}
        self._tokens: dict[str, int] = {}
        self._families: dict[str, int] = {}
        firsts: tuple[array[int], array[int]] = array("i"), array("i")
        family_of_token = array("i")
        for rank, number in enumerate(order):
            spelling, token = words[number]
            self._spellings[spelling] = rank
            if token not in self._tokens:
                if families[token] not in self._families:
                    self._families[families[token]] = len(firsts[1])
                    firsts[1].append(rank)
                self._tokens[token] = len(firsts[0])
                firsts[0].append(rank)
                family_of_token.append(len(firsts[1]) - 1)
        self._token_starts, self._family_starts = (
            self.starts[np.append(np.array(first, np.int64), len(words))] for first in firsts
        )
        self._family_of_token = family_of_token
        figures = np.fromiter((words[number].token[0].isdigit() for number in order), np.bool_, len(words))
        self.figures = figures

    def spelling(self, word: Word) -> Span:
        """Where the positions of a word stand that is spelled so."""
        rank = self._spellings.get(word.spelling)
        return _NOWHERE if rank is None else (int(self.starts[rank]), int(self.starts[rank + 1]))

    def token(self, token: str) -> Span:
        """Where the positions of a token stand, each spelling's behind the other."""
        return self._span(self._token_starts, self._tokens.get(token))

    def family(self, word: Word) -> Span:
        """Where the positions of all words of a family stand, each spelling's behind the other."""
        token = self._tokens.get(word.token)
        number = self._families.get(word.stem) if token is None else self._family_of_token[token]
        return self._span(self._family_starts, number)

    @staticmethod
    def _span(starts: NDArray[np.int64], number: int | None) -> Span:
        return _NOWHERE if number is None else (int(starts[number]), int(starts[number + 1]))

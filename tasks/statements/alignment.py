"""A statement and a sentence of a source, word by word: which word of the one is which of the other."""

from collections.abc import Callable
from typing import Final

from tasks.language.words import has_opposite, say_the_same, stems_of
from tasks.statements.figures import same, same_size
from tasks.statements.reading import Sentence

_LOSS: Final = stems_of("loss")


_NEAR: Final = 0.7
"""The weight of two words that are only near to each other, beside .9 of two that say the same."""
_FEWEST: Final = 2
"""Words or figures that two sentences must share to speak of the same matter."""


class Comparison:
    """A statement and a sentence, word by word: `to` gives each token of the statement its token of the sentence."""

    def __init__(
        self,
        stated: Sentence,
        source: Sentence,
        names: frozenset[str],
        near: Callable[[str, str], bool] | None = None,
    ) -> None:
        self.stated, self.source, self.names, self._near = stated, source, names, near
        self.to: dict[int, int] = {}
        self.missing: list[int] = []
        self._align()
        self._gather()
        self.used = set(self.to.values())

    def _align(self) -> None:
        """The longest common sequence first, so that a word that comes twice finds its own place; then the rest."""
        mine = [
            at
            for at, token in enumerate(self.stated.tokens)
            if token.figure is not None or token.is_content or token.operator
        ]
        theirs = [
            at
            for at, token in enumerate(self.source.tokens)
            if token.figure is not None or token.is_content or token.operator
        ]
        scores = [[0.0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
        weights: dict[tuple[int, int], float] = {}
        for i in range(len(mine) - 1, -1, -1):
            for j in range(len(theirs) - 1, -1, -1):
                weight = self._weight(mine[i], theirs[j])
                if weight:
                    weights[i, j] = weight
                scores[i][j] = max(scores[i + 1][j], scores[i][j + 1], scores[i + 1][j + 1] + weight if weight else 0)
        i = j = 0
        while i < len(mine) and j < len(theirs):
            if (i, j) in weights and scores[i][j] == scores[i + 1][j + 1] + weights[i, j]:
                self.to[mine[i]] = theirs[j]
                i, j = i + 1, j + 1
            elif scores[i][j] == scores[i + 1][j]:
                i += 1
            else:
                j += 1
        taken = set(self.to.values())
        for at in mine:
            if at in self.to:
                continue
            places = [
                (self._weight(at, other), other not in taken, -abs(other - at), other)
                for other in theirs
                if self._weight(at, other)
            ]
            token = self.stated.tokens[at]
            free = [place for place in places if place[1]]
            is_own_name = token.is_name and token.stem in self.names
            once = token.figure is not None or has_opposite(token.stem) or bool(token.operator) or is_own_name
            if token.figure is not None and token.figure.is_date:
                once = any(self._is_date(other) and other not in taken for other in theirs)
            if once and not free and token.is_content and self._is_said_again(at):
                once = False
            chosen = max(free or ([] if once else places), default=None)
            if chosen is not None:
                self.to[at] = chosen[3]
                taken.add(chosen[3])
            elif token.is_content or token.figure is not None:
                self.missing.append(at)

    def _is_said_again(self, at: int) -> bool:
        """Whether a word near it, which found its place, says the same: `employed 1,146 people`."""
        word = self.stated.tokens[at].stem
        near = (mine for mine in range(max(at - 3, 0), at + 4) if mine != at and mine in self.to)
        return any(
            say_the_same(word, self.stated.tokens[mine].stem)
            and self.stated.tokens[mine].figure is None
            and self.stated.tokens[mine].stem != word
            for mine in near
        )

    def _gather(self) -> None:
        """Move words to the nearest place that is as good: beside the words that follow them."""
        order = sorted(self.to)
        for index in range(len(order) - 2, -1, -1):
            mine, following = order[index], self.to[order[index + 1]]
            place = self.to[mine]
            if self.stated.tokens[mine].figure is not None or not place < following - 1:
                continue
            taken = set(self.to.values())
            for other in range(following - 1, place, -1):
                if (
                    other not in taken
                    and self.source.tokens[other].stem == self.stated.tokens[mine].stem
                    and self._weight(mine, other) >= self._weight(mine, place)
                ):
                    self.to[mine] = other
                    break

    def _is_date(self, theirs: int) -> bool:
        figure = self.source.tokens[theirs].figure
        return figure is not None and figure.is_date

    def _weight(self, mine: int, theirs: int) -> float:
        one, other = self.stated.tokens[mine], self.source.tokens[theirs]
        if one.figure is not None or other.figure is not None:
            if one.figure is None or other.figure is None:
                return 0
            if same(one.figure, other.figure):
                return 1.5
            return 1.2 if same_size(one.figure, other.figure) and self._is_loss(mine, theirs) else 0
        if one.operator or other.operator:
            if one.operator and one.operator == other.operator:
                return 1.01 if one.stem == other.stem else 0.9
            return 0
        if one.is_name and not other.is_name and one.stem in self.names:
            return 0
        if one.stem == other.stem:
            return 1.02 if one.text == other.text else 1.01
        if say_the_same(one.stem, other.stem):
            return 0.9
        if self._near is None or (one.is_name and other.is_name and one.stem[:4] != other.stem[:4]):
            return 0
        return _NEAR if self._near(one.stem, other.stem) else 0

    def _is_loss(self, mine: int, theirs: int) -> bool:
        """Whether -5 is said as a loss of 5: the figure without a sign stands beside a word of loss."""
        one, other = self.stated.tokens[mine].figure, self.source.tokens[theirs].figure
        assert one is not None
        assert other is not None
        if one.value < 0:
            return False
        return any(token.stem in _LOSS for token in self.stated.tokens) and other.value < 0

    # --- what each side has

    @property
    def share(self) -> float:
        content = [
            at for at in (*self.stated.content, *self.stated.figures) if self.stated.tokens[at].stem not in self.names
        ]
        return sum(at in self.to for at in content) / len(content) if content else 0.0

    def share_but(self, differences: int) -> float:
        """The same without as many of the missing words: those that the sentence contradicts."""
        content = [
            at for at in (*self.stated.content, *self.stated.figures) if self.stated.tokens[at].stem not in self.names
        ]
        held = sum(at in self.to for at in content)
        if held < _FEWEST:
            return 0.0
        return held / max(len(content) - min(differences, len(self.missing)), 1)

    def clauses(self) -> set[int]:
        """The clauses of the sentence in which the statement stands."""
        counts: dict[int, int] = {}
        for mine, theirs in self.to.items():
            own = self.stated.tokens[mine]
            if (own.is_content or own.operator) and self.source.tokens[theirs].figure is None:
                clause = self.source.tokens[theirs].clause
                counts[clause] = counts.get(clause, 0) + 1
        return set(counts)

    def back(self, theirs: int) -> int | None:
        return next((mine for mine, other in self.to.items() if other == theirs), None)

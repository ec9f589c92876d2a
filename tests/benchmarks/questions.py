"""Questions whose answering passages are known, and how far up rankings have them: ours beside plain BM25 (bm25s)."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Final

import bm25s

from tasks.ranking import WordIndex

PLANS: Final = Path(__file__).with_name("search_plans.json")
PARTS: Final = ("development", "shut")
"""Constants are chosen on the first; the second was written before and is only measured."""

DEEP: Final = 100  # a passage behind these counts as not found
NDCG: Final = 5  # passages that the normalised discounted gain looks at

Ranker = Callable[[str, int], list[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the passages among which it is asked, which of them answer it, and its search plan, if it has one."""

    text: str
    passages: list[str]
    answers: frozenset[int]
    plan: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions.

    Attributes:
        ranks: of each question the rank of its first answering passage, from 1; None behind `DEEP`.
        ndcg: normalised discounted cumulative gain of the first `NDCG`.
    """

    ranks: list[int | None]
    ndcg: float

    def within(self, first: int) -> float:
        """The share of questions with an answering passage among the first ones."""
        return mean(rank is not None and rank <= first for rank in self.ranks)

    @property
    def reciprocal(self) -> float:
        """Mean reciprocal rank."""
        return mean(1 / rank if rank else 0.0 for rank in self.ranks)


def ours(passages: list[str]) -> Ranker:
    """The ranking of the product."""
    return WordIndex(passages).rank


def plain(passages: list[str]) -> Ranker:
    """BM25 as the library gives it: its own words, its own stop words, its own constants."""
    scorer = bm25s.BM25()
    scorer.index(bm25s.tokenize(passages, stopwords="en", show_progress=False), show_progress=False)

    def rank(question: str, k: int) -> list[tuple[int, float]]:
        words = bm25s.tokenize([question], stopwords="en", return_ids=False, show_progress=False)[0]
        known = [scorer.vocab_dict[word] for word in words if word in scorer.vocab_dict]
        scores = scorer.get_scores_from_ids(known) if known else []
        order = sorted(range(len(scores)), key=lambda position: -scores[position])
        return [(position, float(scores[position])) for position in order[:k] if scores[position] > 0]

    return rank


@cache
def plans() -> dict[str, tuple[str, ...]]:
    """The search plans of `search_plans.json` by their questions: what a model would search by."""
    content = json.loads(PLANS.read_text("utf-8"))
    return {question: tuple(plan) for part in PARTS for question, plan in content[part].items()}


def figures_with_plans(questions: Sequence[Question]) -> Figures:
    """How well the product's ranking answers where it has a search plan."""
    planned = {question.text: question.plan for question in questions}

    def index(passages: list[str]) -> Ranker:
        built = WordIndex(passages)
        return lambda text, k: built.rank(text, k, planned[text])

    return figures(questions, index)


def figures(questions: Sequence[Question], index: Callable[[list[str]], Ranker]) -> Figures:
    """How well a ranking answers; each list of passages is indexed once."""
    rankers: dict[int, Ranker] = {}
    ranks: list[int | None] = []
    gains: list[float] = []
    for question in questions:
        if id(question.passages) not in rankers:
            rankers[id(question.passages)] = index(question.passages)
        order = [position for position, _score in rankers[id(question.passages)](question.text, DEEP)]
        places = [place for place, position in enumerate(order) if position in question.answers]
        ranks.append(places[0] + 1 if places else None)
        best = sum(1 / math.log2(place + 2) for place in range(min(NDCG, len(question.answers))))
        gains.append(sum(1 / math.log2(place + 2) for place in places if place < NDCG) / best)
    return Figures(ranks, mean(gains))


def compared(what: str, questions: Sequence[Question], first: int, target: str) -> Iterator[tuple[str, str, str]]:
    """Two rows of (what, figure, target): the share answered within the first passages, and how high up."""
    if not questions:
        return
    both = figures(questions, ours), figures(questions, plain)
    what = f"{what} ({len(questions)} questions)"
    yield f"{what}: within the first {first}", _beside(*(measured.within(first) for measured in both)), target
    yield f"{what}: mean reciprocal rank", _beside(*(measured.reciprocal for measured in both)), "–"
    if all(question.plan for question in questions):
        yield f"{what}: within the first {first}, with a search plan", _share(questions, first), "0.85"


def _share(questions: Sequence[Question], first: int) -> str:
    return f"{figures_with_plans(questions).within(first):.3f}"


def _beside(figure: float, baseline: float) -> str:
    return f"{figure:.3f} (plain BM25 {baseline:.3f})"

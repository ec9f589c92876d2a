"""Ranking by words and by meaning beside plain BM25 (Okapi, k1 1.5, b .75), on clauses and policies.

The documents lie in the folder that DILIGENCE_BENCH_QUESTIONS names: those of `contracts.py`, and

acord/{corpus,queries}.jsonl, acord/test.tsv
    ACORD (TheAtticusProject/acord, CC BY 4.0): questions of lawyers, and for each some 1,100 clauses with ratings.
"""

import csv
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from typing import Final

from storage.settings import override_settings
from tasks.language.words import word_forms
from tasks.scoring.passages import Index
from tests.benchmarks import contracts
from tests.benchmarks.contracts import FOLDER
from tests.benchmarks.questions import PARTS, Ranker, figures

K1: Final = 1.5
B: Final = 0.75
CONTRACTS: Final = 10
"""Of each part: embedding a passage takes .02 s of a processor."""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); none where there are no documents."""
    folder = Path(os.environ.get(FOLDER, ""))
    for wording in ("plainly", "in_terms"):
        rooms = [
            contract
            for number in range(len(PARTS))
            for contract in contracts.ledgar(folder, number, wording)[:CONTRACTS]
        ]
        questions = [question for room in rooms for question in room.questions()]
        for name, index in RANKERS.items() if questions else ():
            measured = figures(questions, index)
            yield (
                f"LEDGAR {wording} ({len(questions)}), {name}: first 5; NDCG@5",
                f"{measured.within(5):.3f}; {measured.ndcg:.3f}",
                "0.45" if wording == "plainly" else "–",
            )
    rated = list(acord(folder / "acord"))
    for name in ("plain BM25", "words") if rated else ():
        gains = [graded(RANKERS[name](texts)(question, 5), ratings) for question, texts, ratings in rated]
        yield f"ACORD ({len(rated)}), {name}: NDCG@5", f"{mean(gains):.3f}", "0.65"


def chosen(embeddings: str) -> Callable[[list[str]], Ranker]:
    """The ranking of the product with that setting."""

    def index(passages: list[str]) -> Ranker:
        with override_settings({"embeddings": embeddings}):
            return Index(passages).rank

    return index


def okapi(passages: list[str]) -> Ranker:
    """BM25 of all words as they are spelled."""
    counts = [Counter(word_forms(passage)) for passage in passages]
    lengths = [count.total() for count in counts]
    usual = mean(lengths)
    having = Counter(word for count in counts for word in count)
    rarity = {word: math.log(1 + (len(passages) - many + 0.5) / (many + 0.5)) for word, many in having.items()}

    def rank(question: str, k: int) -> list[tuple[int, float]]:
        words = word_forms(question)
        scores = [
            sum(
                rarity.get(word, 0.0) * count[word] * (K1 + 1) / (count[word] + K1 * (1 - B + B * length / usual))
                for word in words
                if count[word]
            )
            for count, length in zip(counts, lengths, strict=True)
        ]
        order = sorted(range(len(scores)), key=lambda position: -scores[position])
        return [(position, scores[position]) for position in order[:k] if scores[position] > 0]

    return rank


RANKERS: Final = {"plain BM25": okapi, "words": chosen("off"), "words and meaning": chosen("local")}


def acord(folder: Path) -> Iterator[tuple[str, list[str], list[int]]]:
    """The questions of the test part, each with its clauses and their ratings, 0 to 4."""
    if not (folder / "test.tsv").is_file():
        return
    clauses = {row["_id"]: row["text"] for row in _rows(folder / "corpus.jsonl")}
    asked = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    ratings: dict[str, dict[str, int]] = {}
    with (folder / "test.tsv").open(encoding="utf-8", newline="") as file:
        for question, clause, rating in list(csv.reader(file, delimiter="\t"))[1:]:
            if question in asked and clause in clauses:
                ratings.setdefault(question, {})[clause] = int(float(rating))
    for question, rated in ratings.items():
        ids = sorted(rated)
        yield asked[question], [clauses[clause] for clause in ids], [rated[clause] for clause in ids]


def _rows(file: Path) -> Iterator[dict[str, str]]:
    return map(json.loads, file.read_text("utf-8").splitlines())


def graded(ranked: list[tuple[int, float]], ratings: list[int]) -> float:
    """The normalised discounted gain of the first five by their ratings."""
    best = sum(rating / math.log2(place + 2) for place, rating in enumerate(sorted(ratings, reverse=True)[:5]))
    return sum(ratings[position] / math.log2(place + 2) for place, (position, _) in enumerate(ranked)) / best

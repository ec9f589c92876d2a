"""Finding clauses in contracts, and telling contracts that lack one: `tasks.ranking` beside plain BM25 (bm25s).

The contracts lie in the folder that DILIGENCE_BENCH_QUESTIONS names, as their repositories hold them:

contract-nli/dev.json, contract-nli/test.json
    ContractNLI (Koreeda and Manning 2021, CC BY 4.0): 184 NDAs; for each of 17 hypotheses the spans that speak to it,
    or that it is not mentioned.
ledgar/ledgar.jsonl
    1,000 provisions of LEDGAR (Tuggener et al. 2020) with their labels, in the form of coastalcph/zeroshot_lexglue
    (data/instruction-following-examples).

A passage of ContractNLI is as many of its spans as go into 450 characters: about 35 to a contract. From LEDGAR
contracts are put together, each of 45 provisions, of which half of the kinds in `contract_kinds.toml` are left out.
"""

import json
import os
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

import bm25s

from tasks.ranking import Index

FOLDER: Final = "DILIGENCE_BENCH_QUESTIONS"
KINDS: Final = Path(__file__).with_name("contract_kinds.toml")
LONGEST: Final = 450  # characters of a passage of ContractNLI
CONTRACTS: Final = 60
PROVISIONS: Final = 45
FIRST: Final = 5

Ranker = Callable[[str, int], list[tuple[int, float]]]


@dataclass(frozen=True)
class Contract:
    """Passages, and for each question the positions of those that answer it: none where the contract lacks it."""

    passages: list[str]
    answers: dict[str, set[int]]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); none where there are no contracts."""
    folder = Path(os.environ.get(FOLDER, ""))
    sets = (("ContractNLI", contract_nli(folder)), ("LEDGAR", ledgar(folder)))
    for name, contracts in sets:
        if not contracts:
            continue
        found, told = figures(contracts, lambda passages: Index(passages).rank)
        found_plain, told_plain = figures(contracts, plain)
        what = f"{name}, {len(contracts)} contracts, {len(contracts[0].answers)} kinds of clauses"
        yield f"{what}: one within the first {FIRST}", f"{found:.3f} (plain BM25 {found_plain:.3f})", "0.78"
        yield f"{what}: lacking told from having, AUC", f"{told:.3f} (plain BM25 {told_plain:.3f})", "0.85"


def figures(contracts: Sequence[Contract], index: Callable[[list[str]], Ranker]) -> tuple[float, float]:
    """The share of clauses with a passage among the first five, and the area under the curve of the best scores.

    Both are means over the questions.
    """
    ranked = [(contract, index(contract.passages)) for contract in contracts]
    found: list[float] = []
    told: list[float] = []
    for question in contracts[0].answers:
        hits: list[bool] = []
        have: list[float] = []
        lack: list[float] = []
        for contract, rank in ranked:
            best = rank(question, FIRST)
            answers = contract.answers[question]
            (have if answers else lack).append(best[0][1] if best else 0.0)
            if answers:
                hits.append(any(position in answers for position, _ in best))
        if hits:
            found.append(mean(hits))
        if have and lack:
            told.append(area(have, lack))
    return mean(found), mean(told)


def area(have: Sequence[float], lack: Sequence[float]) -> float:
    """How often a contract that has the clause scores above one that lacks it; equal scores count half."""
    wins = sum((one > other) + 0.5 * (one == other) for one in have for other in lack)
    return wins / (len(have) * len(lack))


def plain(passages: list[str]) -> Ranker:
    """BM25 as the library gives it: its own words, its own stop words, its own constants."""
    scorer = bm25s.BM25()
    scorer.index(bm25s.tokenize(passages, stopwords="en", show_progress=False), show_progress=False)

    def rank(question: str, k: int) -> list[tuple[int, float]]:
        asked = bm25s.tokenize([question], stopwords="en", return_ids=False, show_progress=False)[0]
        known = [scorer.vocab_dict[word] for word in asked if word in scorer.vocab_dict]
        scores = scorer.get_scores_from_ids(known) if known else []
        order = sorted(range(len(scores)), key=lambda position: -scores[position])
        return [(position, float(scores[position])) for position in order[:k] if scores[position] > 0]

    return rank


def contract_nli(folder: Path) -> list[Contract]:
    """The NDAs of ContractNLI, asked by its hypotheses."""
    found: list[Contract] = []
    for name in ("dev.json", "test.json"):
        file = folder / "contract-nli" / name
        content: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {"documents": []}
        found.extend(_nda(document, content["labels"]) for document in content["documents"])
    return found


def _nda(document: dict[str, Any], labels: dict[str, dict[str, str]]) -> Contract:
    pieces: list[list[int]] = []
    for start, end in document["spans"]:
        if pieces and end - pieces[-1][0] <= LONGEST:
            pieces[-1][1] = end
        else:
            pieces.append([start, end])
    answers: dict[str, set[int]] = {}
    for label, annotation in document["annotation_sets"][0]["annotations"].items():
        shown = [document["spans"][number] for number in annotation["spans"]]
        answers[labels[label]["hypothesis"]] = {
            position
            for position, (start, end) in enumerate(pieces)
            if any(start < last and first < end for first, last in shown)
        }
    return Contract([document["text"][start:end] for start, end in pieces], answers)


def ledgar(folder: Path) -> list[Contract]:
    """Contracts of provisions of LEDGAR, at most two of a label; the same ones every time."""
    file = folder / "ledgar" / "ledgar.jsonl"
    if not file.is_file():
        return []
    provisions = [_provision(line) for line in file.read_text("utf-8").splitlines()]
    kinds = tomllib.loads(KINDS.read_text("utf-8"))["kind"]
    return [_drafted(provisions, kinds, random.Random(number)) for number in range(CONTRACTS)]


def _provision(line: str) -> tuple[str, str]:
    row = json.loads(line)
    quoted = row["input_text"].split("\n\n", 1)[0]
    return quoted[quoted.index('"') + 1 : quoted.rindex('"')], row["answer"]


def _drafted(provisions: list[tuple[str, str]], kinds: list[dict[str, Any]], chance: random.Random) -> Contract:
    left_out = {label for kind in kinds if chance.random() < 0.5 for label in kind["labels"]}
    often: Counter[str] = Counter()
    taken: list[tuple[str, str]] = []
    for text, label in chance.sample(provisions, len(provisions)):
        if label not in left_out and often[label] < 2 and len(taken) < PROVISIONS:
            often[label] += 1
            taken.append((text, label))
    answers = {
        kind["asks"]: {position for position, (_, label) in enumerate(taken) if label in kind["labels"]}
        for kind in kinds
    }
    return Contract([text for text, _ in taken], answers)

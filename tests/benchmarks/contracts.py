"""Finding clauses in contracts, and telling contracts that lack one: `tasks.ranking` beside plain BM25 (bm25s).

The contracts lie in the folder that DILIGENCE_BENCH_QUESTIONS names, as their repositories hold them:

contract-nli/dev.json, contract-nli/test.json
    ContractNLI (Koreeda and Manning 2021, CC BY 4.0): 184 NDAs; for each of 17 hypotheses the spans that speak to it,
    or that it is not mentioned.
ledgar/ledgar.jsonl
    1,000 provisions of LEDGAR (Tuggener et al. 2020) with their labels, in the form of coastalcph/zeroshot_lexglue
    (data/instruction-following-examples).

Of both only the documents and their labels are used. `contract_kinds.toml` has our questions: in terms of drafting, and
plainly, as someone says it who has never drafted a contract. Every second kind is for development, on the contracts of
`dev.json` and the first half of the provisions; the other kinds are asked of the other contracts.

A passage of ContractNLI is as many of its spans as go into 450 characters: about 35 to a contract. From LEDGAR
contracts are put together, each of 45 provisions, of which half of the kinds are left out; and the provisions of a part
are ranked together, as the clauses of a collection.
"""

import json
import os
import random
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from tests.benchmarks.questions import PARTS, Question, compared, figures, ours, plain, plans

FOLDER: Final = "DILIGENCE_BENCH_QUESTIONS"
KINDS: Final = Path(__file__).with_name("contract_kinds.toml")
WORDINGS: Final = {"in_terms": ("in terms", "0.80"), "plainly": ("plainly", "plain BM25 + 0.05")}
LONGEST: Final = 450  # characters of a passage of ContractNLI
CONTRACTS: Final = 30  # of a part
PROVISIONS: Final = 45
FIRST: Final = 5


@dataclass(frozen=True)
class Contract:
    """Passages, and for each question the positions of those that answer it: none where the contract lacks it."""

    passages: list[str]
    answers: dict[str, set[int]]

    def questions(self) -> Iterator[Question]:
        """Those that it answers."""
        for text, positions in self.answers.items():
            if positions:
                yield Question(text, self.passages, frozenset(positions), plans().get(text, ()))


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); none where there are no contracts."""
    folder = Path(os.environ.get(FOLDER, ""))
    for wording, (called, target) in WORDINGS.items():
        for number, part in enumerate(PARTS):
            ndas, drafted, collection = (
                read(folder, number, wording) for read in (contract_nli, ledgar, ledgar_collection)
            )
            for name, contracts in (("ContractNLI", ndas), ("LEDGAR", drafted)):
                questions = [question for contract in contracts for question in contract.questions()]
                what = f"{name}, {len(contracts)} contracts, {called}, {part}"
                yield from compared(what, questions, FIRST, target)
                if contracts and wording == "in_terms":
                    both = lacking_told(contracts)
                    yield f"{what}: lacking told from having, AUC", f"{both[0]:.3f} (plain BM25 {both[1]:.3f})", "0.85"
            questions = [question for contract in collection for question in contract.questions()]
            if questions:
                gains = figures(questions, ours).ndcg, figures(questions, plain).ndcg
                what = f"LEDGAR, {len(questions[0].passages)} clauses together, {called}, {part}: NDCG@5"
                yield what, f"{gains[0]:.3f} (plain BM25 {gains[1]:.3f})", "0.66" if wording == "in_terms" else "–"


def lacking_told(contracts: Sequence[Contract]) -> tuple[float, float]:
    """The area under the curve of the best scores, mean over questions: ours, plain BM25's."""
    areas: list[float] = []
    for index in (ours, plain):
        rankers = [(contract, index(contract.passages)) for contract in contracts]
        of_questions: list[float] = []
        for question in contracts[0].answers:
            have: list[float] = []
            lack: list[float] = []
            for contract, rank in rankers:
                best = rank(question, 1)
                (have if contract.answers[question] else lack).append(best[0][1] if best else 0.0)
            if have and lack:
                of_questions.append(area(have, lack))
        areas.append(mean(of_questions))
    return areas[0], areas[1]


def area(have: Sequence[float], lack: Sequence[float]) -> float:
    """How often a contract that has the clause scores above one that lacks it; equal scores count half."""
    wins = sum((one > other) + 0.5 * (one == other) for one in have for other in lack)
    return wins / (len(have) * len(lack))


def kinds(table: str, part: int) -> list[dict[str, Any]]:
    """The kinds that are asked for in one of the `PARTS`."""
    listed: list[dict[str, Any]] = tomllib.loads(KINDS.read_text("utf-8"))[table]
    return listed[part::2]


def contract_nli(folder: Path, part: int, wording: str) -> list[Contract]:
    """The NDAs of a part, asked for what its hypotheses are about."""
    file = folder / "contract-nli" / ("dev.json", "test.json")[part]
    if not file.is_file():
        return []
    asks = {kind["label"]: kind[wording] for kind in kinds("hypothesis", part)}
    return [_nda(document, asks) for document in json.loads(file.read_text("utf-8"))["documents"]]


def _nda(document: dict[str, Any], asks: dict[str, list[str]]) -> Contract:
    pieces: list[list[int]] = []
    for start, end in document["spans"]:
        if pieces and end - pieces[-1][0] <= LONGEST:
            pieces[-1][1] = end
        else:
            pieces.append([start, end])
    answers: dict[str, set[int]] = {}
    for label, annotation in document["annotation_sets"][0]["annotations"].items():
        if label in asks:
            shown = [document["spans"][number] for number in annotation["spans"]]
            positions = {
                position
                for position, (start, end) in enumerate(pieces)
                if any(start < last and first < end for first, last in shown)
            }
            answers |= dict.fromkeys(asks[label], positions)
    return Contract([document["text"][start:end] for start, end in pieces], answers)


def ledgar(folder: Path, part: int, wording: str) -> list[Contract]:
    """Contracts of a part's provisions, at most two of a label; the same ones every time."""
    provisions, clauses = _provisions(folder, part), kinds("provision", part)
    if not provisions:
        return []
    return [_drafted(provisions, clauses, wording, random.Random(number)) for number in range(CONTRACTS)]


def ledgar_collection(folder: Path, part: int, wording: str) -> list[Contract]:
    """All provisions of a part together."""
    provisions = _provisions(folder, part)
    return [_with_answers(provisions, kinds("provision", part), wording)] if provisions else []


def _provisions(folder: Path, part: int) -> list[tuple[str, str]]:
    file = folder / "ledgar" / "ledgar.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    half = len(lines) // 2
    return [_provision(line) for line in (lines[half:] if part else lines[:half])]


def _provision(line: str) -> tuple[str, str]:
    row = json.loads(line)
    quoted = row["input_text"].split("\n\n", 1)[0]
    return quoted[quoted.index('"') + 1 : quoted.rindex('"')], row["answer"]


def _drafted(
    provisions: list[tuple[str, str]], clauses: list[dict[str, Any]], wording: str, chance: random.Random
) -> Contract:
    left_out = {label for kind in clauses if chance.random() < 0.5 for label in kind["labels"]}
    often: Counter[str] = Counter()
    taken: list[tuple[str, str]] = []
    for text, label in chance.sample(provisions, len(provisions)):
        if label not in left_out and often[label] < 2 and len(taken) < PROVISIONS:
            often[label] += 1
            taken.append((text, label))
    return _with_answers(taken, clauses, wording)


def _with_answers(provisions: list[tuple[str, str]], clauses: list[dict[str, Any]], wording: str) -> Contract:
    answers = {
        text: {position for position, (_, label) in enumerate(provisions) if label in kind["labels"]}
        for kind in clauses
        for text in kind[wording]
    }
    return Contract([text for text, _ in provisions], answers)

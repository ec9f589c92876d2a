"""Carrying decisions over: seeded changes of each kind open exactly what rests on them; overrides; undo."""

import random
from itertools import product
from typing import Any

from storage.runs import Run
from storage.scores import WHOLE_COMPANY, CriterionOutcome, Decision, DecisionKind, Quote, ScoreStatus
from tasks.review import CompanyReview
from tests.cases import cases

NAMES = [f"c{number}" for number in range(6)]
Cells = dict[str, tuple[CriterionOutcome, list[Quote]]]


def run(names: list[str] = NAMES, scale: tuple[float, float] = (0, 5)) -> Run:
    criteria: dict[str, Any] = {"scale": scale, "criteria": [{"id": name, "kind": "judged"} for name in names]}
    return Run(id="r", batch="b", fingerprint="", answerer="", criteria=criteria)


def cells() -> Cells:
    made = {}
    for number, name in enumerate(NAMES, 1):
        fields: dict[str, Any] = {"kind": "judged", "weight": 1, "reason": "because", "evidence": "room hash"}
        outcome = CriterionOutcome(
            id=number, company_id=1, ordinal=number, criterion_id=name, score=3, status=ScoreStatus.SCORED, **fields
        )
        quotes = [
            Quote(outcome_id=number, ordinal=at, text=f"words {at} of {name}", verified=True, document_id=f"d{at}")
            for at in range(2)
        ]
        made[name] = (outcome, quotes)
    return made


def review(found: Cells, log: list[Decision], of: Run | None = None) -> CompanyReview:
    quotes = {outcome.id or 0: rows for outcome, rows in found.values()}
    return CompanyReview(of or run(), log, [outcome for outcome, _ in found.values()], quotes)


def decision(number: int, kind: DecisionKind, criterion: str, seen: CompanyReview, value: object = None) -> Decision:
    return Decision(
        id=number, batch="b", domain="d", criterion_id=criterion, kind=kind, by="ann", value=value, run_id="r",
        evidence=seen.cells[criterion],
    )  # fmt: skip


EVIDENCE = {"score", "status", "words", "document", "less", "more"}
OTHERS = {"reason", "warning", "hash", "place"}


def change(kind: str, seed: random.Random, found: Cells) -> str | None:
    """Change one thing of one cell; gives the cell whose evidence it is, or None where it is no evidence."""
    outcome, quotes = found[seed.choice(NAMES)]
    if kind == "score":
        outcome.score = seed.choice([0, 1, 2, 4, 5])
    elif kind == "status":
        outcome.status = seed.choice([ScoreStatus.CONTESTED, ScoreStatus.UNSUPPORTED, ScoreStatus.MISSING])
    elif kind in {"words", "document"}:
        setattr(seed.choice(quotes), "text" if kind == "words" else "document_id", f"other {seed.random()}")
    elif kind == "less":
        quotes.pop()
    elif kind == "more":
        quotes.append(Quote(outcome_id=0, ordinal=2, text="new words", verified=True, document_id="d9"))
    elif kind == "place":  # the document has a page more in front: its words are the same
        quotes[0].place = f"page {seed.random()}"
    else:  # the model's wording, a warning, a document of the room that no cell quotes
        setattr(outcome, {"reason": "reason", "warning": "warning", "hash": "evidence"}[kind], f"other {seed.random()}")
    return outcome.criterion_id if kind in EVIDENCE else None


@cases(("kind", "seed"), product(sorted(EVIDENCE | OTHERS), range(3)))
def test_a_change_opens_exactly_what_rests_on_it(kind: str, seed: int) -> None:
    seen = review(cells(), [])
    signed = [*NAMES, WHOLE_COMPANY]
    log = [decision(number, DecisionKind.SIGN_OFF, name, seen) for number, name in enumerate(signed, 1)]
    assert not any(state.is_open for state in review(cells(), log).states())
    now = cells()
    touched = change(kind, random.Random(seed), now)
    opened = {state.decision.criterion_id for state in review(now, log).states() if state.is_open}
    assert opened == (set() if touched is None else {touched, WHOLE_COMPANY})


def test_a_later_decision_replaces_and_an_undo_brings_back_what_was_before() -> None:
    seen = review(cells(), [])
    log = [decision(number, DecisionKind.OVERRIDE, "c1", seen, number) for number in (1, 2)]
    assert review(cells(), log).overrides == {"c1": 2}
    undo = decision(3, DecisionKind.UNDO, "c1", seen)
    undo.undoes = 2
    assert review(cells(), [*log, undo]).overrides == {"c1": 1}


def test_an_override_that_a_run_cannot_take_is_open_and_counts_nowhere() -> None:
    log = [decision(1, DecisionKind.OVERRIDE, "c1", review(cells(), []), 4)]
    for of in (run(NAMES[2:]), run(scale=(0, 1))):
        now = review(cells(), log, of)
        assert (now.overrides, [state.is_open for state in now.states()]) == ({}, [True])


def test_what_a_viewer_may_not_see_has_no_decision() -> None:
    log = [decision(1, DecisionKind.COMMENT, "c1", review(cells(), []))]
    hidden = cells()
    hidden["c1"][0].status = ScoreStatus.WITHHELD
    assert (review(hidden, log).states(), review(hidden, log).log) == ([], [])

"""The decisions about a company in a run: which are in force, which are open again, and what they do to its scores.

A score that a person set counts in place of the program's, which stays beside it. A sign-off reopens as soon as the run
shows other evidence than it saw. A flag or an assignment is open until the cell is signed off.

The evidence that a person saw is kept as a digest, which tells whether a later run shows the same.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from sqlmodel import Session

from storage import decisions, runs, scores
from storage.decisions import WHOLE_COMPANY, Decision, DecisionKind
from storage.runs import CompanyStatus, Run, RunCompany
from storage.scores import Absence, CriterionOutcome, Quote, ScoreStatus
from tasks.errors import NotFound
from tasks.scoring.criteria import Criteria
from tasks.scoring.standing import rank_companies, stand

NOTHING_YET: Final[Mapping[str, Any]] = {"score": None, "status": None, "quotes": [], "digest": "nothing yet"}
"""The evidence of a cell that a run has not come to."""


def name_evidence(outcome: CriterionOutcome, quotes: Sequence[Quote]) -> dict[str, Any]:
    """The evidence of a cell as JSON: its outcome, its quotations with their places, and a digest of all of it.

    What the program says about its own work (a confidence, a warning) is not evidence. A rule's reason names the fact
    or figure that it was compared with; a model's reason is its own words.
    """
    shown: dict[str, Any] = {
        "score": outcome.score,
        "status": outcome.status.value,
        "absence": outcome.absence and outcome.absence.value,
        "reason": None if outcome.kind == "judged" else outcome.reason,
        "contradictions": [contradiction.get("about") for contradiction in outcome.contradictions],
        "quotes": [
            {"document_id": quote.document_id, "document_name": quote.document_name, "text": quote.text}
            for quote in quotes
        ],
    }
    digest = _digest(shown)
    for entry, quote in zip(shown["quotes"], quotes, strict=True):
        entry["place"] = quote.place
    return shown | {"digest": digest}


def name_cell(value: Any, absence: Absence | None, quotes: Sequence[str]) -> dict[str, Any]:
    """The evidence of a cell of a table as JSON: what the program says, the words that say so, and their digest."""
    shown = {"value": value, "absence": absence and absence.value, "quotes": list(quotes)}
    return shown | {"digest": _digest(shown)}


def _digest(shown: Mapping[str, Any]) -> str:
    return sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:24]


def quote_key(document_id: str | None, text: str) -> str:
    """What identifies a quotation in decisions: its words and its document, wherever they stand in it."""
    return sha256(f"{document_id or ''}\0{text}".encode(errors="surrogatepass")).hexdigest()[:16]


def name_company(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The evidence of a whole company: the digest of each of its cells, by the criterion's id."""
    return {"cells": {criterion_id: cell["digest"] for criterion_id, cell in cells.items()}}


def is_same(seen: Mapping[str, Any], now: Mapping[str, Any] | None) -> bool:
    """Whether evidence is what a person saw; `now` is None if the run has no such cell."""
    if now is None:
        return False
    return bool(seen.get("cells") == now.get("cells") if "cells" in now else seen.get("digest") == now.get("digest"))


def named_run(session: Session, reference: str) -> Run:
    """The run that an id, a batch's name (its latest run) or `latest` stands for.

    Raises:
        NotFound: there is no such run.
    """
    run = runs.find_run(session, reference)
    if run is None:
        raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
    return run


@dataclass(frozen=True)
class DecisionState:
    """A decision that is in force, and whether somebody must look at it."""

    decision: Decision
    is_open: bool


class CompanyReview:
    """The decisions about one company, compared with what a run says about it.

    Args:
        run: the run.
        log: all decisions about the company, oldest first.
        outcomes: those of the company in the run, as far as whoever looks may see them.
        quotes: by outcome id.
    """

    def __init__(
        self,
        run: Run,
        log: Sequence[Decision],
        outcomes: Sequence[CriterionOutcome],
        quotes: Mapping[int, Sequence[Quote]],
    ) -> None:
        hidden = {outcome.criterion_id for outcome in outcomes if outcome.status is ScoreStatus.WITHHELD}
        known = {criterion["id"] for criterion in run.criteria["criteria"]}
        self.log = [
            decision
            for decision in log
            if decision.criterion_id not in hidden and (not hidden or decision.criterion_id in known)
        ]
        self._outcomes, self._quotes, self._known = outcomes, quotes, known - hidden
        self.overrides = applicable_overrides(run, self.log)
        self.held = decisions.in_force(self.log)
        self._signed = {
            decision.criterion_id: decision.id or 0
            for decision in self.held
            if decision.kind is DecisionKind.SIGN_OFF and self._rests_on_the_same(decision)
        }

    @cached_property
    def cells(self) -> dict[str, dict[str, Any]]:
        """The evidence of each cell by its criterion's id, and that of the whole company."""
        cells = {
            outcome.criterion_id: name_evidence(outcome, self._quotes.get(outcome.id or 0, ()))
            for outcome in self._outcomes
            if outcome.status is not ScoreStatus.WITHHELD
        }
        cells |= {name: dict(NOTHING_YET) for name in self._known - set(cells)}
        return cells | {WHOLE_COMPANY: name_company(cells)}

    def states(self) -> list[DecisionState]:
        """The decisions in force, oldest first."""
        return [DecisionState(decision, self._is_open(decision)) for decision in self.held]

    def is_signed(self, criterion_id: str) -> bool:
        """Whether the cell, or the company, has a sign-off that has not reopened."""
        return criterion_id in self._signed

    def newest(self, criterion_id: str) -> int:
        """The id of the newest decision on a cell, undone or not, which the next one follows; 0 without one."""
        return max((decision.id or 0 for decision in self.log if decision.criterion_id == criterion_id), default=0)

    def _rests_on_the_same(self, decision: Decision) -> bool:
        return is_same(decision.evidence, self.cells.get(decision.criterion_id))

    def _is_open(self, decision: Decision) -> bool:
        match decision.kind:
            case DecisionKind.SIGN_OFF:
                return not self.is_signed(decision.criterion_id)
            case DecisionKind.FLAG | DecisionKind.ASSIGNMENT:
                return self._signed.get(decision.criterion_id, 0) < (decision.id or 0)
            case DecisionKind.OVERRIDE:
                return decision.criterion_id not in self.overrides
            case _:
                return False


def applicable_overrides(run: Run, log: Sequence[Decision]) -> dict[str, float]:
    """The scores that people set, by criterion, if the run has the criterion and its scale includes the score."""
    low, high = run.criteria["scale"]
    known = {criterion["id"] for criterion in run.criteria["criteria"]}
    return {
        decision.criterion_id: float(decision.value)
        for decision in decisions.in_force(log)
        if decision.kind is DecisionKind.OVERRIDE
        and decision.criterion_id in known
        and isinstance(decision.value, int | float)
        and low <= decision.value <= high
    }


def stand_with(
    company: RunCompany, run: Run, outcomes: Sequence[CriterionOutcome], overrides: Mapping[str, float]
) -> None:
    """Compute a company's standing with the scores that people set; withheld outcomes stay withheld."""
    counted = {outcome.criterion_id: outcome for outcome in outcomes}
    for criterion_id, score in overrides.items():
        outcome = counted.get(criterion_id)
        if outcome is None or outcome.status is not ScoreStatus.WITHHELD:
            counted[criterion_id] = CriterionOutcome(
                company_id=company.id or 0,
                ordinal=0,
                criterion_id=criterion_id,
                kind="",
                weight=0,
                score=score,
                status=ScoreStatus.SCORED,
                reason="",
                evidence="",
            )
    stand(company, counted.values(), Criteria.from_json(run.criteria))


def decided_companies(session: Session, run: Run) -> list[RunCompany]:
    """The companies of a run in the batch's order, with standing and rank by the scores that count, as new rows."""
    companies = list(runs.run_companies(session, run.id))
    log = decisions.decisions_of(session, run.batch)
    if not any(decision.kind is DecisionKind.OVERRIDE for decision in log):
        return companies
    companies = [RunCompany.model_validate(company.model_dump()) for company in companies]
    for company in companies:
        overrides = applicable_overrides(run, [one for one in log if one.domain == company.domain])
        if overrides and company.id is not None and company.status is not CompanyStatus.PENDING:
            stand_with(company, run, scores.company_outcomes(session, company.id), overrides)
    rank_companies(companies)
    return companies

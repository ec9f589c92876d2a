"""Decisions of people on a cell (also of a table) or a company: making them, and which of them hold in a run.

A person's request is checked and written to the log. Of the decisions about a cell or a company some are in force and
some are open again. A value that a person set counts in place of the program's, which stays beside it. If the document
later says something else, that value stays but is open: somebody must look at it. A sign-off reopens then, too.

People's labels for cells are compared with the program's scores, to say how far they agree. A score that a person set
counts in place of the program's, which stays beside it. A sign-off reopens as soon as the run shows other evidence than
it saw. A flag or an assignment is open until the cell is signed off.

The evidence that a person saw is kept as a digest, which tells whether a later run shows the same.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from sqlmodel import Session

from storage import database, runs, scores
from storage.runs import CompanyStatus, Run, RunCompany
from storage.scores import (
    WHOLE_COMPANY,
    Absence,
    CriterionOutcome,
    Decision,
    DecisionKind,
    Quote,
    ScoreStatus,
    add_decision,
    in_force,
)
from tasks.errors import BadRequest, Conflict, NotFound
from tasks.scoring.criteria import Criteria
from tasks.scoring.results import rank_companies, stand
from tasks.table.columns import ALLOWED, Column, parse_value

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
        other = "no such run. Give a run's id, a batch's name or `latest`."
        raise NotFound(f"There is {'no run yet: `diligence run` makes one.' if reference == 'latest' else other}")
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
        self.held = scores.in_force(self.log)
        self._signed = {
            decision.criterion_id: decision.id or 0
            for decision in self.held
            if decision.kind is DecisionKind.SIGN_OFF
            and is_same(decision.evidence, self.cells.get(decision.criterion_id))
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
        return cells | {
            WHOLE_COMPANY: {"cells": {criterion_id: cell["digest"] for criterion_id, cell in cells.items()}}
        }

    def states(self) -> list[DecisionState]:
        """The decisions in force, oldest first."""
        return [DecisionState(decision, self._is_open(decision)) for decision in self.held]

    def is_signed(self, criterion_id: str) -> bool:
        """Whether the cell, or the company, has a sign-off that has not reopened."""
        return criterion_id in self._signed

    def newest(self, criterion_id: str) -> int:
        """The id of the newest decision on a cell, undone or not, which the next one follows; 0 without one."""
        return max((decision.id or 0 for decision in self.log if decision.criterion_id == criterion_id), default=0)

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
        for decision in scores.in_force(log)
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
    log = scores.decisions_of(session, run.batch)
    if not any(decision.kind is DecisionKind.OVERRIDE for decision in log):
        return companies
    companies = [RunCompany.model_validate(company.model_dump()) for company in companies]
    for company in companies:
        overrides = applicable_overrides(run, [one for one in log if one.domain == company.domain])
        if overrides and company.id is not None and company.status is not CompanyStatus.PENDING:
            stand_with(company, run, scores.company_outcomes(session, company.id), overrides)
    rank_companies(companies)
    return companies


@dataclass(frozen=True)
class CellReview:
    """A cell's decisions, oldest first, compared with its `evidence` (see `tasks.review.name_cell`)."""

    column: Column
    evidence: Mapping[str, Any]
    log: Sequence[Decision]

    @cached_property
    def held(self) -> list[Decision]:
        """The decisions in force, oldest first."""
        return in_force(self.log)

    @property
    def newest(self) -> int:
        """The id of the newest decision, undone or not, which the next one follows; 0 without one."""
        return max((decision.id or 0 for decision in self.log), default=0)

    @property
    def override(self) -> Decision | None:
        """The decision whose value counts."""
        return next((one for one in self.held if one.kind is DecisionKind.OVERRIDE), None)

    @cached_property
    def signed(self) -> int:
        """The id of the sign-off of what is now shown; 0 without one."""
        overridden = self.override.id or 0 if self.override else 0
        signed = [one for one in self.held if one.kind is DecisionKind.SIGN_OFF and (one.id or 0) > overridden]
        return next((one.id or 0 for one in signed if is_same(one.evidence, self.evidence)), 0)

    def is_open(self, decision: Decision) -> bool:
        """Whether somebody must look at a decision that is in force."""
        match decision.kind:
            case DecisionKind.SIGN_OFF:
                return decision.id != self.signed
            case DecisionKind.OVERRIDE:
                return not is_same(decision.evidence, self.evidence) and not self.signed
            case DecisionKind.FLAG | DecisionKind.ASSIGNMENT:
                return self.signed < (decision.id or 0)
            case _:
                return False


_LONGEST: Final = 10_000
_MEANWHILE: Final = (
    "{} on this meanwhile, so nothing was written. Look at it as it is now, and decide again if you still want to."
)
REJECTED: Final = "rejected"
"""In place of an absence: what the program says is wrong, and nothing is put in its place."""
_NEEDS_REASON: Final = {DecisionKind.OVERRIDE: "Say why", DecisionKind.COMMENT: "Write the comment"}


@dataclass(frozen=True)
class Act:
    """What a person asks for. `saw` is the digest of the evidence on the page, `follows` the newest decision on it.

    `value` is the score of an override, the name of an assignee, `accepted` or `rejected`, or the id of what an undo
    cancels; `quote` is the key of a quotation. For a cell of a table, `criterion_id` is the column and `document_id`
    its document; an override has its value in words, otherwise its absence, or `rejected` for no value.
    """

    criterion_id: str
    kind: DecisionKind
    follows: int
    saw: str | None = None
    value: str = ""
    reason: str = ""
    quote: str = ""
    document_id: str = ""
    absence: str = ""


def decide(run: Run, domain: str, review: CompanyReview, act: Act, by: str) -> Decision:
    """Write an act to the log.

    Args:
        run: the run that is looked at.
        domain: the company's.
        review: the company's review as it is now.
        act: what is asked for.
        by: who asks.

    Raises:
        BadRequest: something is missing, or is no value.
        Conflict: somebody else decided on the cell, or the evidence changed, since the person looked.
        NotFound: there is no such cell, quotation or decision.
    """
    evidence = review.cells.get(act.criterion_id)
    if evidence is None:
        raise NotFound("There is no such criterion in this run, or you may not see it.")
    is_whole = act.criterion_id == WHOLE_COMPANY
    reason = _check(act, act.saw is None or is_whole or is_same({"digest": act.saw}, evidence))
    undoes = _undone(review.held, act) if act.kind is DecisionKind.UNDO else None
    value = None if undoes is not None else _value(run, evidence, act)
    seen = evidence if act.kind is not DecisionKind.QUOTE else evidence | {"quote": act.quote}
    return _write(run, domain, act, by, value=value, reason=reason, evidence=seen, undoes=undoes)


def decide_cell(run: Run, domain: str, cell: CellReview, act: Act, by: str) -> Decision:
    """Write an act on a cell of a table to the log; arguments and errors are those of `decide`."""
    reason = _check(act, is_same({"digest": act.saw}, cell.evidence), needs_reason=act.kind is DecisionKind.COMMENT)
    undoes = _undone(cell.held, act) if act.kind is DecisionKind.UNDO else None
    if act.kind is DecisionKind.QUOTE:
        raise BadRequest("Reject the value: its quotations go with it.", {"kind": "must not be quote"})
    value = _cell_value(cell, act) if act.kind is DecisionKind.OVERRIDE else _value(run, {}, act)
    return _write(run, domain, act, by, value=value, reason=reason, evidence=dict(cell.evidence), undoes=undoes)


def _check(act: Act, is_as_seen: bool, *, needs_reason: bool | None = None) -> str:
    """The reason of an act on evidence that is still as the person saw it."""
    if not is_as_seen:
        raise Conflict(_MEANWHILE.format("The run found other evidence"))
    reason = act.reason.strip()
    if len(reason) > _LONGEST:
        raise BadRequest(f"The text is longer than {_LONGEST:,} characters.", {"reason": "too long"})
    if not reason and (act.kind in _NEEDS_REASON if needs_reason is None else needs_reason):
        raise BadRequest(f"{_NEEDS_REASON[act.kind]}: it stands beside the decision.", {"reason": "must not be empty"})
    return reason


def _write(run: Run, domain: str, act: Act, by: str, **fields: Any) -> Decision:
    fields |= {"document_id": act.document_id, "criterion_id": act.criterion_id}
    decision = Decision(
        batch=run.batch, domain=domain, follows=act.follows, kind=act.kind, by=by, run_id=run.id, **fields
    )
    with database.writing() as session:
        if not add_decision(session, decision):
            raise Conflict(_MEANWHILE.format("Somebody else decided"))
    return decision


def _cell_value(cell: CellReview, act: Act) -> Mapping[str, Any]:
    """The value that a person gives to a cell, or why it has none; without both the program's is rejected."""
    if act.absence:
        if act.absence not in {REJECTED, *Absence}:
            raise BadRequest("That is not a reason for a missing value.", {"absence": ", ".join(Absence)})
        return {"value": None, "absence": None if act.absence == REJECTED else act.absence}
    value = parse_value(cell.column.type, act.value, cell.column.choices)
    if value is None:
        allowed = ", ".join(cell.column.choices or ()) or ALLOWED[cell.column.type]
        raise BadRequest(f"Write the value as {allowed}, or say why there is none.", {"value": allowed})
    return {"value": value, "absence": None}


def _undone(held: Sequence[Decision], act: Act) -> int:
    for decision in held:
        if decision.id is not None and str(decision.id) == act.value and decision.criterion_id == act.criterion_id:
            return decision.id
    raise NotFound("There is no such decision to undo, or it was undone already.")


def _value(run: Run, evidence: dict[str, Any], act: Act) -> Any:
    value = act.value.strip()
    match act.kind:
        case DecisionKind.OVERRIDE if act.criterion_id != WHOLE_COMPANY:
            return _score(run, value)
        case DecisionKind.OVERRIDE:
            raise BadRequest("A company has no score of its own: override one of its criteria.", {"kind": "override"})
        case DecisionKind.ASSIGNMENT:
            return _assignee(value)
        case DecisionKind.QUOTE:
            keys = {quote_key(quote["document_id"], quote["text"]) for quote in evidence.get("quotes", ())}
            if act.quote not in keys:
                raise NotFound("The criterion has no such quotation any more.")
            if value not in {"accepted", "rejected"}:
                raise BadRequest("A quotation is accepted or rejected.", {"value": "accepted or rejected"})
            return value
        case _:
            return None


def _assignee(name: str) -> str:
    if not name or len(name) > 200:
        raise BadRequest("Say who is to look at it.", {"value": "must be a name"})
    return name


def _score(run: Run, value: str) -> float:
    low, high = run.criteria["scale"]
    try:
        score = float(value.replace(",", "."))
    except ValueError:
        score = low - 1
    if not low <= score <= high:
        raise BadRequest(f"The score must be a number from {low:g} to {high:g}.", {"value": f"{low:g} to {high:g}"})
    return score


_SAME: Final = 1e-9


@dataclass(frozen=True)
class JudgedLabel:
    """A person's opinion of a cell's score. `program` and `person` are None if there is no score.

    `distance` is the difference as a share of the scale; 1 if only one of the two gives a score.
    """

    company: str
    domain: str
    criterion: str
    program: float | None
    person: float | None
    distance: float
    by: str
    at: str
    reason: str


@dataclass(frozen=True)
class CriterionAgreement:
    """How far a criterion's labels agree: the mean of 1 minus their distance. `is_below`: less than was demanded."""

    criterion: str
    labels: int
    agreement: float
    same: int
    is_below: bool


def read_labels(reference: str) -> tuple[Run, list[JudgedLabel]]:
    """The run meant by an id, a batch's name or `latest`, and its labels, worst disagreement first.

    A score that a person set is a label; so is a sign-off of a cell, which agrees with what the program said.

    Raises:
        NotFound: there is no such run.
    """
    with database.reading() as session:
        run = named_run(session, reference)
        log = scores.in_force(scores.decisions_of(session, run.batch))
        labels: list[JudgedLabel] = []
        for company in runs.run_companies(session, run.id):
            outcomes = {one.criterion_id: one for one in scores.company_outcomes(session, company.id or 0)}
            said = [one for one in log if one.domain == company.domain and one.criterion_id in outcomes]
            given = {one.criterion_id: one for one in said if one.kind is DecisionKind.SIGN_OFF}
            given |= {one.criterion_id: one for one in said if one.kind is DecisionKind.OVERRIDE}
            labels += [_label(run, company.name, one, outcomes[one.criterion_id]) for one in given.values()]
    return run, sorted(labels, key=lambda label: (-label.distance, label.criterion, label.company))


def agreement(labels: Sequence[JudgedLabel], below: float) -> list[CriterionAgreement]:
    """The agreement for each criterion with labels, lowest first; `below` is the lowest that is good enough."""
    by_criterion: dict[str, list[JudgedLabel]] = {}
    for label in labels:
        by_criterion.setdefault(label.criterion, []).append(label)
    rows = []
    for criterion, given in by_criterion.items():
        share = 1 - sum(label.distance for label in given) / len(given)
        same = sum(label.distance < _SAME for label in given)
        rows.append(CriterionAgreement(criterion, len(given), round(share, 4), same, share < below - _SAME))
    return sorted(rows, key=lambda row: (row.agreement, row.criterion))


def _label(run: Run, company: str, decision: Decision, outcome: CriterionOutcome) -> JudgedLabel:
    """A label beside what the program says in this run; a sign-off is of the score that it saw."""
    low, high = run.criteria["scale"]
    program = outcome.score if outcome.status.counts else None
    person = float(decision.value) if decision.kind is DecisionKind.OVERRIDE else decision.evidence.get("score")
    if person is None or program is None:
        distance = 0.0 if person is program else 1.0
    else:
        distance = min(abs(person - program) / (high - low), 1.0)
    return JudgedLabel(
        *(company, decision.domain, decision.criterion_id, program, person, round(distance, 4)),
        *(decision.by, f"{decision.at:%Y-%m-%dT%H:%M:%SZ}", decision.reason),
    )

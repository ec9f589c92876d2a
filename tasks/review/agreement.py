"""How far people and the program agree: people's labels for cells, compared with the program's scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage import database, decisions, runs, scores
from storage.decisions import Decision, DecisionKind
from storage.runs import Run
from storage.scores import CriterionOutcome
from tasks.review.state import named_run

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
        log = decisions.in_force(decisions.decisions_of(session, run.batch))
        labels = []
        for company in runs.run_companies(session, run.id):
            outcomes = {one.criterion_id: one for one in scores.company_outcomes(session, company.id or 0)}
            said = {one.criterion_id: one for one in log if one.domain == company.domain and _is_label(one)}
            said |= {one.criterion_id: one for one in log if one.domain == company.domain and _is_override(one)}
            for criterion_id, decision in said.items():
                if criterion_id in outcomes:
                    labels.append(_label(run, company.name, decision, outcomes[criterion_id]))
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


def _is_override(decision: Decision) -> bool:
    return decision.kind is DecisionKind.OVERRIDE


def _is_label(decision: Decision) -> bool:
    return decision.kind is DecisionKind.SIGN_OFF and bool(decision.criterion_id)


def _label(run: Run, company: str, decision: Decision, outcome: CriterionOutcome) -> JudgedLabel:
    """A label beside what the program says in this run; a sign-off is of the score that it saw."""
    low, high = run.criteria["scale"]
    program = outcome.score if outcome.status.counts else None
    person = float(decision.value) if _is_override(decision) else decision.evidence.get("score")
    if person is None or program is None:
        distance = 0.0 if person is program else 1.0
    else:
        distance = min(abs(person - program) / (high - low), 1.0)
    return JudgedLabel(
        *(company, decision.domain, decision.criterion_id, program, person, round(distance, 4)),
        *(decision.by, f"{decision.at:%Y-%m-%dT%H:%M:%SZ}", decision.reason),
    )

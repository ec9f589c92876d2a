"""Deciding on a cell or a company: what a person asks for, checked, and written into the log."""

from dataclasses import dataclass
from typing import Any, Final

from storage import database
from storage.decisions import WHOLE_COMPANY, Decision, DecisionKind, add_decision
from storage.runs import Run
from tasks.errors import BadRequest, Conflict, NotFound
from tasks.review.evidence import is_same, quote_key
from tasks.review.state import CompanyReview

_LONGEST: Final = 10_000
_MEANWHILE: Final = (
    "{} on this meanwhile, so nothing was written. Look at it as it is now, and decide again if you still want to."
)
_NEEDS_REASON: Final = {DecisionKind.OVERRIDE: "Say why", DecisionKind.COMMENT: "Write the comment"}


@dataclass(frozen=True)
class Act:
    """What a person asks for. `saw` is the digest of the evidence on the page, `follows` the newest decision on it.

    `value` is the score of an override, who an assignment is for, `accepted` or `rejected`, or the id of what an undo
    takes back; `quote` is the key of a quotation.
    """

    criterion_id: str
    kind: DecisionKind
    follows: int
    saw: str | None = None
    value: str = ""
    reason: str = ""
    quote: str = ""


def decide(run: Run, domain: str, review: CompanyReview, act: Act, by: str) -> Decision:
    """Write an act into the log.

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
    if act.saw is not None and act.criterion_id != WHOLE_COMPANY and not is_same({"digest": act.saw}, evidence):
        raise Conflict(_MEANWHILE.format("The run found other evidence"))
    reason = act.reason.strip()
    if len(reason) > _LONGEST:
        raise BadRequest(f"The text is longer than {_LONGEST:,} characters.", {"reason": "too long"})
    if not reason and act.kind in _NEEDS_REASON:
        raise BadRequest(f"{_NEEDS_REASON[act.kind]}: it stands beside the decision.", {"reason": "must not be empty"})
    undoes = _undone(review, act) if act.kind is DecisionKind.UNDO else None
    decision = Decision(
        batch=run.batch,
        domain=domain,
        criterion_id=act.criterion_id,
        follows=act.follows,
        kind=act.kind,
        by=by,
        value=None if undoes is not None else _value(run, evidence, act),
        reason=reason,
        evidence=evidence if act.kind is not DecisionKind.QUOTE else evidence | {"quote": act.quote},
        run_id=run.id,
        undoes=undoes,
    )
    with database.writing() as session:
        if not add_decision(session, decision):
            raise Conflict(_MEANWHILE.format("Somebody else decided"))
    return decision


def _undone(review: CompanyReview, act: Act) -> int:
    ids = {str(decision.id): decision for decision in review.held if decision.criterion_id == act.criterion_id}
    decision = ids.get(act.value)
    if decision is None or decision.id is None:
        raise NotFound("There is no such decision to undo, or it was undone already.")
    return decision.id


def _value(run: Run, evidence: dict[str, Any], act: Act) -> Any:
    value = act.value.strip()
    match act.kind:
        case DecisionKind.OVERRIDE if act.criterion_id != WHOLE_COMPANY:
            return _score(run, value)
        case DecisionKind.OVERRIDE:
            raise BadRequest("A company has no score of its own: override one of its criteria.", {"kind": "override"})
        case DecisionKind.ASSIGNMENT:
            if not value or len(value) > 200:
                raise BadRequest("Say who is to look at it.", {"value": "must be a name"})
            return value
        case DecisionKind.QUOTE:
            keys = {quote_key(quote["document_id"], quote["text"]) for quote in evidence.get("quotes", ())}
            if act.quote not in keys:
                raise NotFound("The criterion has no such quotation any more.")
            if value not in {"accepted", "rejected"}:
                raise BadRequest("A quotation is accepted or rejected.", {"value": "accepted or rejected"})
            return value
        case _:
            return None


def _score(run: Run, value: str) -> float:
    low, high = run.criteria["scale"]
    try:
        score = float(value.replace(",", "."))
    except ValueError:
        score = low - 1
    if not low <= score <= high:
        raise BadRequest(f"The score must be a number from {low:g} to {high:g}.", {"value": f"{low:g} to {high:g}"})
    return score

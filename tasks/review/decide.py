"""Makes decisions on a cell (also of a table) or a company: a person's request is checked and written to the log.

For a cell of a table it also finds which decisions are in force, and which are open again. A value that a person set
counts in place of the program's, which stays beside it. If the document later says something else, that value stays
but is open: somebody must look at it. A sign-off reopens then, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from storage import database
from storage.decisions import WHOLE_COMPANY, Decision, DecisionKind, add_decision, in_force
from storage.runs import Run
from storage.scores import Absence
from tasks.errors import BadRequest, Conflict, NotFound
from tasks.review.state import CompanyReview, is_same, quote_key
from tasks.table.columns import ALLOWED, Column, parse_value


@dataclass(frozen=True)
class CellReview:
    """A cell's decisions, oldest first, compared with its `evidence` (see `tasks.review.state.name_cell`)."""

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
    ids = {str(decision.id): decision for decision in held if decision.criterion_id == act.criterion_id}
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

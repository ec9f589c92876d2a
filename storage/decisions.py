"""Decisions: what people decided about the companies of a batch, in an append-only log.

A decision is about a cell (a company and a criterion), about a whole company, or about what one of its documents says
in a column of a table. It belongs to the batch rather than to a run, so it also holds in the next run. `follows` is the
previous decision on the same cell: when two people decide on a cell at the same moment, only one of them follows what
both saw, and the other is told.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import JSON, Column, Text, func
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import UtcDateTime, now, put_new, string_enum

WHOLE_COMPANY: Final = ""
"""The criterion's id of a decision about a company as a whole."""


class DecisionKind(StrEnum):
    """The kinds of decision. `quote` accepts or rejects a quotation; `undo` cancels an earlier decision."""

    OVERRIDE = "override"
    COMMENT = "comment"
    SIGN_OFF = "sign_off"
    FLAG = "flag"
    ASSIGNMENT = "assignment"
    QUOTE = "quote"
    UNDO = "undo"


_CELL: Final = ("batch", "domain", "document_id", "criterion_id")


class Decision(SQLModel, table=True):
    """One act by one person, `by`, on a cell.

    For a cell of a table, `document_id` is the document and `criterion_id` the column. `value` is the score of an
    override (for a cell of a table its value, or null where the document has none), the name of an assignee, or
    `accepted` or `rejected` for a quotation. `evidence` names what the person saw, in the form that
    `tasks.review.state` writes. `run_id` is the run that they looked at, `undoes` the id of the decision that an
    undo cancels.
    """

    __tablename__ = "decisions"
    __table_args__ = (UniqueConstraint(*_CELL, "follows"),)

    id: int | None = Field(default=None, primary_key=True)
    batch: str
    domain: str
    document_id: str = ""
    criterion_id: str = WHOLE_COMPANY
    follows: int = 0
    kind: DecisionKind = Field(sa_type=string_enum(DecisionKind))
    by: str
    at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    value: Any = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    reason: str = Field(default="", sa_column=Column(Text, nullable=False))
    evidence: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    run_id: str
    undoes: int | None = None


def add_decision(session: Session, decision: Decision) -> bool:
    """Add a decision; False if `follows` is not the newest on its cell, because somebody else was first."""
    newest = session.exec(
        select(func.max(Decision.id)).where(*(getattr(Decision, name) == getattr(decision, name) for name in _CELL))
    ).one()
    if decision.follows != (newest or 0):
        return False
    decision.id = put_new(session, decision, *_CELL, "follows")
    return decision.id is not None


def decisions_of(session: Session, batch: str, domain: str | None = None) -> Sequence[Decision]:
    """The decisions about criteria and whole companies, for a batch or one of its companies, oldest first."""
    query = select(Decision).where(Decision.batch == batch, Decision.document_id == "").order_by(col(Decision.id))
    return session.exec(query if domain is None else query.where(Decision.domain == domain)).all()


def table_decisions(session: Session, batch: str, domain: str | None = None) -> Sequence[Decision]:
    """The decisions about cells of tables, for a batch or one of its companies, oldest first."""
    query = select(Decision).where(Decision.batch == batch, Decision.document_id != "").order_by(col(Decision.id))
    return session.exec(query if domain is None else query.where(Decision.domain == domain)).all()


def in_force(log: Sequence[Decision]) -> list[Decision]:
    """The decisions of a log that hold now: undone ones, undos, and those that a newer one replaces are left out.

    A later override, sign-off or assignment replaces the earlier one on its cell; so does a later verdict on a
    quotation.
    """
    undone = {decision.undoes for decision in log if decision.undoes is not None}
    last: dict[tuple[object, ...], int | None] = {}
    held = [decision for decision in log if decision.id not in undone and decision.kind is not DecisionKind.UNDO]
    for decision in held:
        last[_place(decision)] = decision.id
    return [decision for decision in held if last[_place(decision)] == decision.id]


def _place(decision: Decision) -> tuple[object, ...]:
    """What two decisions have in common if the later one replaces the earlier: comments and flags coexist."""
    adds = decision.kind in {DecisionKind.COMMENT, DecisionKind.FLAG}
    own = decision.id if adds else decision.evidence.get("quote") if decision.kind is DecisionKind.QUOTE else None
    return decision.domain, decision.document_id, decision.criterion_id, decision.kind, own

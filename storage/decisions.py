"""Decisions: what people decided about the companies of a batch, in a log to which rows are only added.

A decision is about a cell (a company and a criterion), about a company as a whole, or about what one of its documents
says of a column of a table. It belongs to the batch, not to a run, so that it holds in the next run too. `follows` is
the decision on the same cell before it: of two people who decide on one cell at the same moment only one follows what
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
    """`quote`: a quotation was accepted or rejected. `undo`: an earlier decision holds no longer."""

    OVERRIDE = "override"
    COMMENT = "comment"
    SIGN_OFF = "sign_off"
    FLAG = "flag"
    ASSIGNMENT = "assignment"
    QUOTE = "quote"
    UNDO = "undo"


_CELL: Final = ("batch", "domain", "document_id", "criterion_id")


class Decision(SQLModel, table=True):
    """One act of one person, called `by`, on a cell.

    Of a cell of a table `document_id` is its document and `criterion_id` its column. `value` is the score of an
    override (of a cell of a table its value and, without one, its absence), the name of an assignment, `accepted` or
    `rejected` of a quotation. `evidence`
    names what the person saw, as `tasks.review.evidence` writes it. `run_id` is the run that was looked at, `undoes`
    the id of the decision that an undo takes back.
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
    """Add a decision; False where `follows` is not the newest on its cell: somebody else was there first."""
    newest = session.exec(
        select(func.max(Decision.id)).where(*(getattr(Decision, name) == getattr(decision, name) for name in _CELL))
    ).one()
    if decision.follows != (newest or 0):
        return False
    decision.id = put_new(session, decision, *_CELL, "follows")
    return decision.id is not None


def decisions_of(session: Session, batch: str, domain: str | None = None) -> Sequence[Decision]:
    """The log of a batch, or of one of its companies, oldest first: what is about criteria and whole companies."""
    query = select(Decision).where(Decision.batch == batch, Decision.document_id == "").order_by(col(Decision.id))
    return session.exec(query if domain is None else query.where(Decision.domain == domain)).all()


def table_decisions(session: Session, batch: str, domain: str | None = None) -> Sequence[Decision]:
    """The log of a batch, or of one of its companies, oldest first: what is about the cells of its tables."""
    query = select(Decision).where(Decision.batch == batch, Decision.document_id != "").order_by(col(Decision.id))
    return session.exec(query if domain is None else query.where(Decision.domain == domain)).all()


def in_force(log: Sequence[Decision]) -> list[Decision]:
    """The decisions of a log that hold: none that was undone, no undo, and only the newest of what replaces.

    A later override, sign-off or assignment replaces the earlier one of its cell; so does a later word on a quotation.
    """
    undone = {decision.undoes for decision in log if decision.undoes is not None}
    last: dict[tuple[object, ...], int | None] = {}
    held = [decision for decision in log if decision.id not in undone and decision.kind is not DecisionKind.UNDO]
    for decision in held:
        last[_place(decision)] = decision.id
    return [decision for decision in held if last[_place(decision)] == decision.id]


def _place(decision: Decision) -> tuple[object, ...]:
    """What two decisions share where the later one replaces the earlier: comments and flags stand beside each other."""
    adds = decision.kind in {DecisionKind.COMMENT, DecisionKind.FLAG}
    own = decision.id if adds else decision.evidence.get("quote") if decision.kind is DecisionKind.QUOTE else None
    return decision.domain, decision.document_id, decision.criterion_id, decision.kind, own

"""Calls of a model whose answers a run does not know: written down before a call, taken away with its answer.

A process that is killed, or a connection that breaks, leaves its row: the call may have been billed.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, insert
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import UtcDateTime, now
from storage.upserts import table_of


class UnansweredCall(SQLModel, table=True):
    """One call. `request` is the SHA-256 of what was asked, in hex; `key` the idempotency key that was sent with it."""

    __tablename__ = "unanswered_calls"

    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="runs.id", ondelete="CASCADE", index=True)
    key: str
    request: str
    asked_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def add_call(session: Session, run_id: str, key: str, request: str) -> int:
    """Write down that a call is about to be made; gives its id."""
    call = insert(table_of(UnansweredCall)).values(run_id=run_id, key=key, request=request, asked_at=now())
    inserted = session.connection().execute(call).inserted_primary_key
    assert inserted is not None
    return int(inserted[0])


def remove_call(session: Session, call_id: int) -> None:
    """The call was answered, or the server said that it did nothing."""
    session.exec(delete(UnansweredCall).where(col(UnansweredCall.id) == call_id))


def unanswered_calls(session: Session, run_id: str) -> Sequence[UnansweredCall]:
    """The run's calls without a known answer, in the order in which they were made."""
    return session.exec(
        select(UnansweredCall).where(UnansweredCall.run_id == run_id).order_by(col(UnansweredCall.id))
    ).all()


def count_unanswered(session: Session, run_id: str) -> int:
    """How many of the run's calls have no known answer."""
    return session.exec(select(func.count()).where(col(UnansweredCall.run_id) == run_id)).one()

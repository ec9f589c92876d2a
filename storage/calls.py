"""A write-ahead record of model calls: a row is added before each call and removed with its answer.

The row of a killed process or a broken connection stays: the call may have been billed.
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
    """Record that a call is about to be made; gives the row's id."""
    call = insert(table_of(UnansweredCall)).values(run_id=run_id, key=key, request=request, asked_at=now())
    inserted = session.connection().execute(call).inserted_primary_key
    assert inserted is not None
    return int(inserted[0])


def remove_call(session: Session, call_id: int) -> None:
    """Remove the record of a call that was answered, or that the server refused without doing anything."""
    session.exec(delete(UnansweredCall).where(col(UnansweredCall.id) == call_id))


def unanswered_calls(session: Session, run_id: str) -> Sequence[UnansweredCall]:
    """The run's calls without a known answer, in the order in which they were made."""
    return session.exec(
        select(UnansweredCall).where(UnansweredCall.run_id == run_id).order_by(col(UnansweredCall.id))
    ).all()


def count_unanswered(session: Session, run_id: str) -> int:
    """How many of the run's calls have no known answer."""
    return session.exec(select(func.count()).where(col(UnansweredCall.run_id) == run_id)).one()

"""Requests for runs: people make them in the service, and `diligence run` or a worker carries them out."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from sqlalchemy import update
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import UtcDateTime, now, string_enum


class RequestKind(StrEnum):
    START = "start"
    STOP = "stop"


class RunRequest(SQLModel, table=True):
    """A request to start the batch in `batch_file`, or to stop the run `run_id`; `outcome` says how it ended."""

    __tablename__ = "run_requests"

    id: int | None = Field(default=None, primary_key=True)
    kind: RequestKind = Field(sa_type=string_enum(RequestKind))
    by: str
    at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    batch_file: str | None = None
    run_id: str | None = None
    taken_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    outcome: str | None = None


def add_request(session: Session, request: RunRequest) -> None:
    """Add a request."""
    session.add(request)


def take_request(session: Session) -> RunRequest | None:
    """Take the oldest request to start a run, so that no other process takes it; None if there is none."""
    waiting = select(RunRequest).where(RunRequest.kind == RequestKind.START, col(RunRequest.taken_at).is_(None))
    for request in session.exec(waiting.order_by(col(RunRequest.id))).all():
        taken = update(RunRequest).where(col(RunRequest.id) == request.id, col(RunRequest.taken_at).is_(None))
        if session.connection().execute(taken.values(taken_at=now())).rowcount:
            session.refresh(request)
            return request
    return None


def note_outcome(session: Session, request_id: int, outcome: str) -> None:
    """Store how a request ended, in words."""
    session.connection().execute(update(RunRequest).where(col(RunRequest.id) == request_id).values(outcome=outcome))


def is_to_stop(session: Session, run_id: str, since: datetime) -> bool:
    """Whether anybody has asked for that run to stop since then."""
    query = select(RunRequest.id).where(RunRequest.kind == RequestKind.STOP, RunRequest.run_id == run_id)
    return session.exec(query.where(col(RunRequest.at) >= since)).first() is not None


def newest_requests(session: Session, most: int) -> Sequence[RunRequest]:
    """The newest requests to start a run, newest first, at most that many."""
    starts = select(RunRequest).where(RunRequest.kind == RequestKind.START)
    return session.exec(starts.order_by(col(RunRequest.id).desc()).limit(most)).all()

"""Calls: answers and vectors of models that were paid for once, calls that got no answer, and how many calls may begin.

An answer's key is a hash of everything that was sent to the model. Until an answer is judged, the model's replies stand
under its key. A vector is what an embedding model made of a span of one text; a text that is read again by another
reader version has a new id, and so gets new vectors.

A row is added before each call and removed when it is answered. If the process is killed or the connection breaks, the
row stays: the call may have been billed.

Rate limits of outside servers are shared by processes in the database. Each is a bucket of the generic cell rate
algorithm (GCRA): a call may begin `burst` calls ahead of an even rate, so that in any window at most
`burst + window / interval` calls begin. Times are those of one clock, the database's own, so that machines whose clocks
differ share a budget too.

The service's callers are counted in a sliding window, in memory, or by several processes in a file that is deleted
with the service: they do not belong in backups, and a restarted service begins a new window.
"""

import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import JSON, Column, ColumnElement, LargeBinary, Text, cast, delete, func, insert, text, update
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import UtcDateTime, find_rows, find_table, now, put, put_new, put_new_rows, put_rows, row_values


class StoredAnswer(SQLModel, table=True):
    """An answer and what it cost. `key` is the SHA-256 of prompt, schema, model and evidence, in hex.

    `used_at` is when it was last used, to within a day (`USE_STEP`).
    """

    __tablename__ = "answers"

    key: str = Field(primary_key=True)
    model: str
    answer: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    input_tokens: int = 0
    output_tokens: int = 0
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    used_at: datetime | None = Field(default_factory=now, sa_type=UtcDateTime, index=True)

    @property
    def replies(self) -> dict[str, str] | None:
        """What stands here in place of an answer that is not judged yet: the bodies of `Replies`."""
        return self.answer[_REPLIES] if set(self.answer) == {_REPLIES} else None


_REPLIES: Final = "replies that are not judged"


@dataclass
class Replies:
    """What the model has replied to the requests of one answer, until the answer is judged.

    `key` is the answer's. `bodies` are the replies as the server sent them, by the requests' hashes.
    """

    key: str
    model: str
    bodies: dict[str, str] = field(default_factory=dict)


USE_STEP = timedelta(days=1)
"""How exactly an answer's last use is known: a write for each use would be too many."""


def wants_noting(answer: StoredAnswer) -> bool:
    """Whether the last recorded use of the answer is old enough to be updated."""
    return answer.used_at is None or answer.used_at < now() - USE_STEP


def note_use(session: Session, key: str) -> None:
    """Record that the answer is in use."""
    session.exec(update(StoredAnswer).where(col(StoredAnswer.key) == key).values(used_at=now()))


def find_answer(session: Session, key: str) -> StoredAnswer | None:
    """The answer stored under that key."""
    return session.get(StoredAnswer, key)


def save_answer(session: Session, answer: StoredAnswer) -> None:
    """Store an answer in place of an earlier one with the same key."""
    put(session, answer, "key")


def save_replies(session: Session, replies: Replies) -> None:
    """Store replies in the place of the answer that is made of them, unless another process has finished it."""
    row = StoredAnswer(key=replies.key, model=replies.model, answer={_REPLIES: replies.bodies})
    put_new_rows(session, StoredAnswer, [row_values(row)], "key")
    session.exec(update(StoredAnswer).where(*_holding_replies(replies.key)).values(answer=row.answer))


def delete_replies(session: Session, key: str) -> None:
    """Delete the replies that stand in the place of the answer under that key; a finished answer stays."""
    session.exec(delete(StoredAnswer).where(*_holding_replies(key)))


def _holding_replies(key: str) -> tuple[ColumnElement[bool], ...]:
    stored = cast(col(StoredAnswer.answer), Text)
    return col(StoredAnswer.key) == key, stored.startswith(f'{{"{_REPLIES}":', autoescape=True)


Span = tuple[int, int]


class TextVector(SQLModel, table=True):
    """The vector of the characters `start` to `end` of a text by one model: 32-bit floats, little-endian."""

    __tablename__ = "text_vectors"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    model: str = Field(primary_key=True)
    start: int = Field(primary_key=True)
    end: int = Field(primary_key=True)
    vector: bytes = Field(sa_type=LargeBinary)


def find_vectors(session: Session, text_ids: Sequence[int], model: str) -> dict[tuple[int, int, int], bytes]:
    """The stored vectors of these texts by that model, by (text id, start, end)."""
    of_model = find_table(TextVector).select().where(col(TextVector.model) == model)
    rows = find_rows(session, of_model, col(TextVector.text_id), text_ids)
    return {(row.text_id, row.start, row.end): row.vector for row in rows}


def save_vectors(session: Session, vectors: Iterable[TextVector]) -> None:
    """Store vectors, replacing those that are stored already."""
    ordered = sorted(vectors, key=lambda vector: (vector.text_id, vector.model, vector.start, vector.end))
    put_rows(session, TextVector, list(map(row_values, ordered)), "text_id", "model", "start", "end")


class UnansweredCall(SQLModel, table=True):
    """A call without an answer yet. `request` is the SHA-256 of what was asked, in hex; `key` is the idempotency key
    that was sent.
    """

    __tablename__ = "unanswered_calls"

    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="runs.id", ondelete="CASCADE", index=True)
    key: str
    request: str
    asked_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def add_call(session: Session, run_id: str, key: str, request: str) -> int:
    """Record that a call is about to be made; gives the row's id."""
    call = insert(find_table(UnansweredCall)).values(run_id=run_id, key=key, request=request, asked_at=now())
    inserted = session.connection().execute(call).inserted_primary_key
    assert inserted is not None
    return int(inserted[0])


def remove_call(session: Session, call_id: int) -> None:
    """Remove the record of a call that was answered, or that the server refused without doing anything."""
    session.exec(delete(UnansweredCall).where(col(UnansweredCall.id) == call_id))


def list_unanswered_calls(session: Session, run_id: str) -> Sequence[UnansweredCall]:
    """The run's calls without a known answer, in the order in which they were made."""
    return session.exec(
        select(UnansweredCall).where(UnansweredCall.run_id == run_id).order_by(col(UnansweredCall.id))
    ).all()


def count_unanswered(session: Session, run_id: str) -> int:
    """How many of the run's calls have no known answer."""
    return session.exec(select(func.count()).where(col(UnansweredCall.run_id) == run_id)).one()


class SourceBudget(SQLModel, table=True):
    """The rate limit of a server. `next_at` is when the next call at an even rate may begin, `held_until` when a pause
    ends.

    Both are seconds since 1970 by the database's clock.
    """

    __tablename__ = "source_budgets"

    id: int | None = Field(default=None, primary_key=True)
    server: str = Field(unique=True)
    next_at: float = 0.0
    held_until: float = 0.0


def reserve_call(session: Session, server: str, interval: float, burst: int, most: float) -> tuple[float, bool]:
    """Reserve a time slot for the next call to a server, if one is free soon enough.

    Args:
        session: one that writes.
        server: its name.
        interval: seconds between calls of an even rate.
        burst: calls that may begin at once after a pause.
        most: seconds that the caller waits at most; where the call may begin later only, nothing is reserved.

    Returns:
        Seconds until the call may begin, and whether it was reserved.
    """
    row = _row(session, server)
    now = _now(session)  # after the wait for the row
    begins = max(now, row.next_at - (burst - 1) * interval, row.held_until)
    if begins - now > most:
        return begins - now, False
    row.next_at = max(row.next_at, begins) + interval
    session.add(row)
    return begins - now, True


def hold_calls(session: Session, server: str, seconds: float) -> None:
    """Pause calls to the server, in all processes, for that many seconds; a longer pause stays in force."""
    row = _row(session, server)
    row.held_until = max(row.held_until, _now(session) + seconds)
    session.add(row)


def _row(session: Session, server: str) -> SourceBudget:
    """The server's row, which no other process changes until the session ends."""
    put_new(session, SourceBudget(server=server), "server")
    return session.exec(select(SourceBudget).where(SourceBudget.server == server).with_for_update()).one()


def _now(session: Session) -> float:
    connection = session.connection()
    if connection.dialect.name == "sqlite":  # a file of this machine
        return time.time()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


_CALLS = """
CREATE TABLE IF NOT EXISTS calls (caller TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS calls_of_caller ON calls (caller, at);
CREATE INDEX IF NOT EXISTS calls_by_time ON calls (at);
"""


class CallCounts:
    """The calls of each caller within a window of time. Safe between threads and processes; a call takes 0.1 ms."""

    def __init__(self, path: Path) -> None:
        """`path` is the file, created if missing.

        Raises:
            sqlite3.Error: it cannot be made or opened.
        """
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=OFF")  # what a power cut takes, the service's end takes too
        self._database.executescript(_CALLS)

    def add(self, caller: str, most: int, seconds: float) -> float:
        """Count a call, provided that it is one of at most `most` in `seconds`.

        Returns:
            0 where it was counted, else the seconds until the next call may be made.
        """
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                return self._add(caller, most, seconds)
            finally:
                self._database.execute("COMMIT")

    def _add(self, caller: str, most: int, seconds: float) -> float:
        now = time.monotonic()  # of the machine: the same in all its processes
        self._database.execute("DELETE FROM calls WHERE at <= ?", (now - seconds,))
        of_caller = "FROM calls WHERE caller = ?"
        count, first = self._database.execute(f"SELECT count(*), min(at) {of_caller}", (caller,)).fetchone()
        if count >= most:
            return float(first + seconds - now)
        self._database.execute("INSERT INTO calls VALUES (?, ?)", (caller, now))
        return 0.0

    def close(self) -> None:
        """Close the file."""
        self._database.close()

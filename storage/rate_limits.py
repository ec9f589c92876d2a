"""Rate limits that processes share: of outside servers, in the database, and of the service's callers, in a file.

The limit of a server is a bucket of the generic cell rate algorithm (GCRA): a call may begin `burst` calls ahead of an
even rate, so that in any window at most `burst + window / interval` calls begin. Times are those of one clock, the
database's own, so that machines whose clocks differ share a budget too.

The service's callers are counted in a sliding window, in memory, or by several processes in a file that is deleted
with the service: they do not belong in backups, and a restarted service begins a new window.
"""

import sqlite3
import threading
import time
from pathlib import Path

from sqlalchemy import text
from sqlmodel import Field, Session, SQLModel, select

from storage.columns import put_new


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

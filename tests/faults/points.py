"""The seams in the process of a run: what comes by them is counted, and at the chosen point the fault happens.

Nothing of the program is replaced. Databases are reached through connections of our own classes, which SQLAlchemy asks
for at its event `do_connect`; files through Python's audit events and the raw file below `open`; the clock through
`time.time` and the classes `datetime` in the few modules that ask for the time.
"""

import errno
import fcntl
import importlib
import io
import os
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy import event
from sqlalchemy.engine import Engine

from tests.faults.faults import Fault, Kind, Plan, without_numbers

_READS: Final = ("SELECT", "PRAGMA", "SAVEPOINT", "RELEASE", "SHOW", "WITH")
_SQLITE_ERRORS: Final = {
    Fault.NO_SPACE: (sqlite3.SQLITE_FULL, "database or disk is full"),
    Fault.IO_ERROR: (sqlite3.SQLITE_IOERR, "disk I/O error"),
    Fault.LOCK: (sqlite3.SQLITE_BUSY, "database is locked"),
}
_POSTGRES_ERRORS: Final = {
    Fault.NO_SPACE: psycopg.errors.DiskFull("could not extend file: No space left on device"),
    Fault.IO_ERROR: psycopg.errors.IoError("could not read block: Input/output error"),
    Fault.LOCK: psycopg.errors.DeadlockDetected("deadlock detected"),
}
_CLOCKS: Final = ("storage.columns", "storage.logins", "google.oauth2.credentials", "google.auth.credentials")
"""Modules that ask a class `datetime` for the time; those that do not exist, or do not ask, are passed by."""


class Points:
    """Counts the points that a process comes by, notes each in the file `trace`, and knows the chosen one."""

    def __init__(self, trace: Path, plan: Plan | None) -> None:
        self._trace = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._plan = plan
        self._counts: Counter[tuple[Kind, str]] = Counter()
        self._lock = threading.Lock()
        self.offset = 0.0

    def reach(self, kind: Kind, label: str) -> Fault | None:
        """A point is reached; gives the fault that is to happen there. The clock is set here."""
        with self._lock:
            self._counts[kind, label] += 1
            nth = self._counts[kind, label]
        os.write(self._trace, f"{kind}\t{label}\n".encode())
        plan = self._plan
        if plan is None or (plan.kind, plan.label, plan.nth) != (kind, label, nth):
            return None
        os.write(self._trace, b"struck\n")
        if plan.fault is Fault.CLOCK:
            self.set_clock()
            return None
        return plan.fault

    def set_clock(self) -> None:
        assert self._plan is not None
        self.offset = self._plan.step


def kill() -> None:
    """End this process as the kernel's out-of-memory killer does."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def install(points: Points, watched: Path) -> None:
    """Install every seam in this process; files count below the folder `watched`."""
    _install_clock(points)
    _install_databases(points)
    _install_files(points, f"{watched}/")


# The clock


def _install_clock(points: Points) -> None:
    real = time.time

    class SetDatetime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.fromtimestamp(real() + points.offset, tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(UTC).replace(tzinfo=None)

    time.time = lambda: real() + points.offset
    for name in _CLOCKS:
        module = importlib.import_module(name)
        if getattr(module, "datetime", None) is datetime:
            module.datetime = SetDatetime  # type: ignore[attr-defined]
    signal.signal(signal.SIGUSR1, lambda *_: points.set_clock())


# Databases


def label_of(statement: str) -> str | None:
    """`INSERT runs`, `COMMIT`; None for what only reads."""
    words = statement.replace('"', "").replace("(", " ").split()
    first = words[0].upper()
    if first in _READS:
        return None
    if first == "BEGIN":
        return "BEGIN IMMEDIATE" if len(words) > 1 else None
    tables = [word for word in words[1:4] if word.islower() and word not in {"into", "from", "table"}]
    return f"{first} {without_numbers(tables[0])}" if tables else first


def _install_databases(points: Points) -> None:
    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *parameters: Any) -> Any:
            _before_sqlite(points, self.connection, label_of(sql))
            return super().execute(sql, *parameters)

        def executemany(self, sql: str, *parameters: Any) -> Any:
            _before_sqlite(points, self.connection, label_of(sql))
            return super().executemany(sql, *parameters)

    class Connection(sqlite3.Connection):
        def cursor(self, *_: Any) -> Any:
            return super().cursor(Cursor)

        def commit(self) -> None:
            if self.in_transaction:
                _before_sqlite(points, self, "COMMIT")
            super().commit()

    class PostgresCursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, *parameters: Any, **options: Any) -> Any:
            _before_postgres(points, self.connection, label_of(str(query)))
            return super().execute(query, *parameters, **options)

        def executemany(self, query: Any, *parameters: Any, **options: Any) -> Any:
            _before_postgres(points, self.connection, label_of(str(query)))
            return super().executemany(query, *parameters, **options)

    class PostgresConnection(psycopg.Connection[Any]):
        def commit(self) -> None:
            writes = self.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
            if writes:
                _before_postgres(points, self, "COMMIT")
            super().commit()
            if writes:
                _before_postgres(points, self, "COMMITTED")

    @event.listens_for(Engine, "do_connect")
    def connect(dialect: Any, _record: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        if dialect.name == "sqlite":
            options["factory"] = Connection
            return None
        return PostgresConnection.connect(*arguments, **options, cursor_factory=PostgresCursor)


def _before_sqlite(points: Points, connection: sqlite3.Connection, label: str | None) -> None:
    fault = points.reach(Kind.SQLITE, label) if label else None
    if fault is Fault.KILL:
        kill()
    if fault is not None:
        if fault is not Fault.LOCK and connection.in_transaction:
            sqlite3.Connection.rollback(connection)  # as SQLite itself does then
        code, words = _SQLITE_ERRORS[fault]
        error = sqlite3.OperationalError(words)
        error.sqlite_errorcode = code
        raise error


def _before_postgres(points: Points, connection: "psycopg.Connection[Any]", label: str | None) -> None:
    fault = points.reach(Kind.POSTGRES, label) if label else None
    if fault is Fault.KILL:
        kill()
    if fault is Fault.DROP:
        with socket.socket(fileno=os.dup(connection.fileno())) as theirs:
            theirs.shutdown(socket.SHUT_RDWR)
        if label == "COMMITTED":  # what is lost then is the server's word that it is done
            raise psycopg.OperationalError("server closed the connection unexpectedly")
    elif fault is not None and label != "COMMITTED":
        if label == "COMMIT":
            psycopg.Connection.rollback(connection)  # a COMMIT that fails ends its transaction too
        raise _POSTGRES_ERRORS[fault]


# Files


def _install_files(points: Points, watched: str) -> None:
    real_open = io.open
    calls = {"os.rename": 1, "os.remove": 0, "os.mkdir": 0, "os.rmdir": 0}

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "open":
            path, mode, flags = arguments
            if mode is None and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and _is_watched(path, watched):
                _strike(points, f"open {_name(path)}")
        elif name in calls:
            path = arguments[calls[name]]
            if _is_watched(path, watched):
                _strike(points, f"{name.removeprefix('os.')} {_name(path)}")
        elif name == "fcntl.flock":
            _strike_lock(points, arguments[0], arguments[1], watched)

    class Raw(io.FileIO):
        """A file whose nth piece is not written, or half."""

        def write(self, data: Any) -> int:
            fault = points.reach(Kind.FILE, f"write {_name(self.name)}")
            if fault is not None:
                super().write(memoryview(data).cast("B")[: len(data) // 2])
                _fail(fault)
            return super().write(data)

    def watched_open(
        file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None,
        closefd: bool = True, opener: Any = None,
    ) -> Any:  # fmt: skip
        if not set(mode) & set("wax+") or not _is_watched(file, watched):
            return real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        _strike(points, f"open {_name(file)}")
        raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        text = io.TextIOWrapper(buffered, encoding, errors, newline)
        text.mode = mode  # type: ignore[misc]
        return text

    import builtins

    builtins.open = io.open = watched_open
    sys.addaudithook(watch)


def _is_watched(path: Any, watched: str) -> bool:
    if isinstance(path, int):
        return False
    name = os.fspath(path)
    name = os.fsdecode(name) if isinstance(name, bytes) else name
    return name.startswith(watched) and "/trace" not in name


def _name(path: Any) -> str:
    """The last two parts of a path, without numbers. A temporary file has none: its name is its descriptor."""
    if isinstance(path, int):
        return "a temporary file"
    path = Path(os.fsdecode(path))
    return without_numbers(f"{path.parent.name}/{path.name}")


def _strike(points: Points, label: str) -> None:
    fault = points.reach(Kind.FILE, label)
    if fault is not None:
        _fail(fault)


def _strike_lock(points: Points, handle: int, operation: int, watched: str) -> None:
    path = Path(f"/proc/self/fd/{handle}").readlink()
    if not operation & fcntl.LOCK_EX or not _is_watched(path, watched):
        return
    without_waiting = bool(operation & fcntl.LOCK_NB)
    fault = points.reach(Kind.FILE, f"flock {'without waiting ' if without_waiting else ''}{_name(path)}")
    if fault is Fault.KILL:
        kill()
    if fault is Fault.LOCK:
        if without_waiting:
            raise BlockingIOError(errno.EWOULDBLOCK, os.strerror(errno.EWOULDBLOCK))
        time.sleep(0.2)  # another process has it for a moment


def _fail(fault: Fault) -> None:
    if fault is Fault.KILL:
        kill()
    number = errno.ENOSPC if fault is Fault.NO_SPACE else errno.EIO
    raise OSError(number, os.strerror(number))

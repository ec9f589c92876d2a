"""Incremental vacuum: returns the space of deleted rows while a service goes on."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import inspect, make_url, text
from sqlmodel import Session

from storage import database

_PAGES_AT_ONCE = 2000  # pages that SQLite gives back in a transaction: 8 MB
_PAUSE = 0.02  # seconds in which others may write
_TRIES = 10  # of writing the log back, each up to a second
_QUICKLY_REWRITTEN = 512 * 1024**2  # bytes: SQLite writes such a file anew in some 5 s, and a writer waits up to 30
_TOO_LARGE = (
    "The database is of an earlier release, and too large to be written anew beside others. To give its room back, "
    "have nobody use the home and call `sqlite3 diligence.db 'PRAGMA auto_vacuum=INCREMENTAL; VACUUM'`, once. Until "
    "then later rows take the room."
)


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The bytes of the database before and after, and a sentence where not all that is free could be given back."""

    before: int
    after: int
    problem: str | None = None


def give_back() -> GivenBack:
    """Give the room of deleted rows back: to the disk (SQLite), or to later rows (PostgreSQL).

    Raises:
        DatabaseUnavailable: the database cannot be used.
    """
    with database.reading() as session:
        if session.connection().dialect.name == "postgresql":
            before = _size_of_tables(session)
            session.rollback()
            connection = session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
            connection.execute(text(f"VACUUM (ANALYZE) {', '.join(_tables(session))}"))  # beside all others
            return GivenBack(before, _size_of_tables(session))
    return give_back_of(Path(make_url(database.url()).database or ""))


def give_back_of(path: Path) -> GivenBack:
    """As `give_back`, of an SQLite file."""
    before = _size_of_file(path)
    problem = None
    try:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
            if connection.execute("PRAGMA auto_vacuum").fetchone()[0]:
                while connection.execute("PRAGMA freelist_count").fetchone()[0]:
                    # As a script: it steps until the end, where `execute` stops after the first page.
                    connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
                    time.sleep(_PAUSE)
            elif before <= _QUICKLY_REWRITTEN:
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # from now on, a little at a time
                connection.execute("VACUUM")
            else:
                problem = _TOO_LARGE
        _empty_log(path)
    except sqlite3.OperationalError as error:
        problem = f"The room stays with the database for now ({error}); later rows take it."
    return GivenBack(before, _size_of_file(path), problem)


def _empty_log(path: Path) -> None:
    """Checkpoint and truncate the write-ahead log, waiting for readers and writers without blocking them for long.

    A busy checkpoint raises nothing: its first column says so (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
    """
    with closing(sqlite3.connect(path, timeout=1)) as connection:
        for _ in range(_TRIES):
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return
            time.sleep(_PAUSE)


def _size_of_file(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists())


def _tables(session: Session) -> list[str]:
    return [f'"{name}"' for name in inspect(session.connection()).get_table_names()]


def _size_of_tables(session: Session) -> int:
    size = text("SELECT pg_total_relation_size(CAST(:name AS regclass))")
    return sum(int(session.connection().execute(size, {"name": name}).scalar_one()) for name in _tables(session))

"""Turns database errors into messages for users: the reason, and the setting to check.

Drivers' own messages are not passed on: they contain hosts, user names, sockets and paths.
"""

import re
import sqlite3
from collections.abc import Sequence

from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    InterfaceError,
    InternalError,
    OperationalError,
    SQLAlchemyError,
    TimeoutError,  # noqa: A004 - of the pool of connections
)

_NAMES = re.compile(r"""\s*("[^"]*"|'[^']*'|\[Errno [^]]*\]|\bon socket \S+)""")


class DatabaseUnavailable(Exception):
    """The database cannot be opened or used; the message names the setting, never the address."""


class ConnectionLost(DatabaseUnavailable):
    """The connection broke during a transaction, of which nothing is kept: the work may be done again."""


class DatabaseInUse(DatabaseUnavailable):
    """A service or another command has the database open and must be closed first."""

    def __init__(self, others: Sequence[str] = ()) -> None:
        by = f" by {', '.join(others)}" if others else ""
        super().__init__(
            f"The home is in use{by}. Stop the service and wait for runs to end, or stop them; then try again."
        )


def unavailable(reason: str | Exception) -> DatabaseUnavailable:
    """The error that users see, from a reason in words or from the driver's exception."""
    if isinstance(reason, Exception):
        reason = _reason(reason)
    return DatabaseUnavailable(
        f"The database cannot be used: {reason}. Check DILIGENCE_DATABASE_URL or DILIGENCE_HOME (`diligence doctor`)."
    )


def is_the_database(error: SQLAlchemyError) -> bool:
    """Whether the database is at fault (gone, full, locked, damaged) rather than our SQL."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, OperationalError | InterfaceError | InternalError | TimeoutError) or (
        type(error) is DatabaseError  # "file is not a database"; its other kinds are mistakes
    )


def _reason(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, ImportError):
        return f"{cause.name or 'its driver'} is not installed; PostgreSQL's address begins with postgresql://"
    if isinstance(cause, ArgumentError):
        return "its address is not of a known kind; PostgreSQL's begins with postgresql://, SQLite's with sqlite:///"
    if isinstance(cause, TimeoutError):
        return "all its connections were in use"
    if isinstance(cause, OSError):
        return cause.strerror or type(cause).__name__
    words = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    if not isinstance(cause, sqlite3.Error):
        # PostgreSQL: "connection to server at …, port … failed: FATAL:  password authentication failed for user …"
        words = words.rsplit(": ", 1)[-1]
    return _NAMES.sub("", words).strip()

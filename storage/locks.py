"""Locks that one process holds against all others that use the same database.

A lock ends with the process that holds it, however it ends: a file lock beside SQLite, an advisory
lock in PostgreSQL.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from zlib import crc32

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from storage.failures import unavailable


@contextmanager
def hold(engine: Engine, name: str, *, wait: bool) -> Iterator[bool]:
    """Hold the lock `name`; gives False when somebody else has it and `wait` is off.

    Raises:
        DatabaseUnavailable: the lock cannot be asked for.
    """
    key = crc32(name.encode())
    with (
        _file(f"{engine.url.database}.{key:08x}.lock", wait)
        if engine.dialect.name == "sqlite"
        else _advisory(engine, key, wait) as taken
    ):
        yield taken


@contextmanager
def _file(path: str, wait: bool) -> Iterator[bool]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unavailable(error) from None
    try:
        yield _flock(handle, wait)
    finally:
        os.close(handle)


def _flock(handle: int, wait: bool) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:  # a file system without locks
        raise unavailable(error) from None
    return True


@contextmanager
def _advisory(engine: Engine, key: int, wait: bool) -> Iterator[bool]:
    try:
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        taken = _ask(connection, key, wait)
    except SQLAlchemyError as error:
        raise unavailable(error) from None
    try:
        yield taken
    finally:
        with suppress(SQLAlchemyError):  # a connection that broke has given the lock back already
            if taken:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": key})
            connection.close()


def _ask(connection: Connection, key: int, wait: bool) -> bool:
    if wait:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": key})
        return True
    return bool(connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar())

"""Named locks between all processes that use the same database.

A file lock beside SQLite, an advisory lock in PostgreSQL. Both end with the process that holds them, even if it is
killed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from storage.errors import unavailable


@contextmanager
def hold(engine: Engine, name: str, *, wait: bool) -> Iterator[bool]:
    """Hold the lock `name`; gives False when another holder has it and `wait` is off.

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
    """A lock on a file, which goes with the lock."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unavailable(error) from None
        try:
            is_locked = _flock(handle, wait)
            if is_locked and not _is_at(handle, path):  # its last holder has removed it: others lock a new one
                continue
            try:
                yield is_locked
            finally:
                if is_locked:
                    with suppress(OSError):
                        Path(path).unlink()
            return
        finally:
            os.close(handle)


def _is_at(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), Path(path).stat())
    except FileNotFoundError:
        return False


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
        taken = _lock(connection, key, wait)
    except SQLAlchemyError as error:
        raise unavailable(error) from None
    try:
        yield taken
    finally:
        with suppress(SQLAlchemyError):  # a connection that broke has given the lock back already
            if taken:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": key})
            connection.close()


def _lock(connection: Connection, key: int, wait: bool) -> bool:
    if wait:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": key})
        return True
    return bool(connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar())

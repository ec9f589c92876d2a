"""The database: opened once, brought to the newest schema, reached through `reading` and `writing`."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from sqlalchemy import DateTime, Dialect, Engine, Enum, TypeDecorator, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlmodel import Session

from storage.settings import StorageSettings


class DatabaseUnavailable(Exception):
    """The database cannot be opened or used; the message names the setting, never the address."""


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC: stored without a zone (SQLite has none), given back with it."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.replace(tzinfo=UTC)


def string_enum(values: type[StrEnum]) -> Enum:
    """A column that holds the value of a string enum as text: a new value needs no migration."""
    return Enum(values, native_enum=False, length=32, values_callable=lambda kind: [member.value for member in kind])


def now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


def home() -> Path:
    """The folder of database, spool and Prefect's home; made when it is missing, for its owner only."""
    path = StorageSettings.current().home.absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnavailable(
            f"DILIGENCE_HOME cannot be made or used as a folder ({error.strerror}). Set it to one you may write in."
        ) from error
    return path


def url() -> str:
    """The address of the database in force: `DILIGENCE_DATABASE_URL`, else the SQLite file in the home."""
    return StorageSettings.current().database_url or f"sqlite:///{home() / 'diligence.db'}"


@contextmanager
def reading() -> Iterator[Session]:
    """A session that only reads.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    with _session(_engine(url())) as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """A session whose changes are committed together when the block ends, or not at all.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    with _session(_engine(url()).execution_options(write=True)) as session:
        yield session
        session.commit()


@contextmanager
def _session(engine: Engine) -> Iterator[Session]:
    try:
        with Session(engine, expire_on_commit=False) as session:
            yield session
    except OperationalError as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> DatabaseUnavailable:
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0] if str(error) else type(error).__name__
    return DatabaseUnavailable(
        f"The database cannot be used: {reason}. Check DILIGENCE_DATABASE_URL or DILIGENCE_HOME (`diligence doctor`)."
    )


@lru_cache(maxsize=8)
def _engine(address: str) -> Engine:
    """One engine for each address and process, its schema brought up to date before first use."""
    from storage.migrations import upgrade  # noqa: PLC0415 - migrations import the tables, which import this module

    try:
        engine = (
            _sqlite(address)
            if make_url(address).get_backend_name() == "sqlite"
            else create_engine(address, pool_pre_ping=True)
        )
        with locked("schema", engine):
            upgrade(engine)
    except (SQLAlchemyError, ArgumentError, ImportError, OSError) as error:
        raise _unavailable(error) from error
    return engine


def _sqlite(address: str) -> Engine:
    """SQLite in WAL: 0.24 ms a committed row instead of 15.9, readers beside a writer."""
    engine = create_engine(address, connect_args={"timeout": 30, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we begin transactions ourselves, below
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A transaction that reads first and writes later fails at once under WAL when another one
        # wrote in between (SQLITE_BUSY_SNAPSHOT, no waiting): writers take their place at the start.
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


@contextmanager
def locked(name: str, engine: Engine | None = None, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock `name` of this database; gives False when it is taken and `wait` is off.

    The lock ends with the process that holds it, however it ends: a file lock beside SQLite,
    an advisory lock in PostgreSQL.
    """
    engine = engine or _engine(url())
    if engine.dialect.name == "sqlite":
        path = f"{engine.url.database}.{crc32(name.encode()):08x}.lock"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(handle)
        return
    key = crc32(name.encode())
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if wait:
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": key})
            taken = True
        else:
            taken = bool(connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar())
        try:
            yield taken
        finally:
            if taken:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": key})


def close() -> None:
    """Close every connection (tests, and before a fork)."""
    _engine.cache_clear()

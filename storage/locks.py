"""Named locks between all processes that use the same database.

A lock is a file lock for SQLite and an advisory lock for PostgreSQL. Both end with the process that holds them, even if
it is killed. `Claims` holds the locks of a process that works on a run, and notices when PostgreSQL has given them to
another process.
"""

import fcntl
import logging
import os
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self
from weakref import WeakKeyDictionary
from zlib import crc32

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from storage.errors import DatabaseUnavailable, unavailable

log = logging.getLogger(__name__)


@contextmanager
def hold(engine: Engine, name: str, *, wait: bool) -> Iterator[bool]:
    """Hold the lock `name`; gives False when another holder has it and `wait` is off.

    Raises:
        DatabaseUnavailable: the lock cannot be asked for.
    """
    with _file(engine, name, wait) if engine.dialect.name == "sqlite" else _advisory(engine, name, wait) as taken:
        yield taken


def is_any_held(engine: Engine, names: Iterable[str]) -> bool:
    """Whether a process holds one of these locks. Asking does not keep them from whoever waits a moment for one.

    Raises:
        DatabaseUnavailable: it cannot be asked.
    """
    if engine.dialect.name == "sqlite":
        return any(map(_is_locked, (_path(engine, name) for name in names)))
    try:
        with engine.connect() as connection:
            return bool(connection.execute(_HELD, {"keys": [_key(name) for name in names]}).scalar())
    except SQLAlchemyError as error:
        raise unavailable(error) from None


def remove_left(engine: Engine) -> None:
    """Remove the files of locks whose holders were killed before they removed them."""
    database = Path(engine.url.database or "")
    for path in database.parent.glob("*.lock"):
        if path.name.startswith(f"{database.name}."):
            with suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(file.fileno(), str(path)):
                    path.unlink()


def _key(name: str) -> int:
    return crc32(name.encode())


def _path(engine: Engine, name: str) -> str:
    return f"{engine.url.database}.{_key(name):08x}.lock"


def _is_locked(path: str) -> bool:
    with suppress(FileNotFoundError), Path(path).open("rb") as file:
        return not _flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB, tries=1)
    return False


@contextmanager
def _file(engine: Engine, name: str, wait: bool, tries: int = 200) -> Iterator[bool]:
    """A lock on a file, which is deleted with the lock. It is tried `tries` times, half a millisecond apart."""
    path = _path(engine, name)
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unavailable(error) from None
        try:
            is_locked = _flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), tries)
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


def _flock(handle: int, operation: int, tries: int) -> bool:
    for _ in range(tries):
        try:
            fcntl.flock(handle, operation)
        except BlockingIOError:
            time.sleep(0.0005)  # who asks for it, or removes the files of the killed, has it for a moment
        except OSError as error:  # a file system without locks
            raise unavailable(error) from None
        else:
            return True
    return False


class _Session:
    """The connection on which the threads of this process hold advisory locks; open while one of them wants a lock.

    It is none of the pool's: threads that each held a lock on one of those would all wait for another to work with.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._connection: Connection | None = None
        self._driver: Any = None
        self._wanted = 0
        self._held: set[int] = set()

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """Keep the connection open, once it is made."""
        with self._mutex:
            self._wanted += 1
        try:
            yield
        finally:
            with self._mutex:
                self._wanted -= 1
                if not self._wanted:
                    self._held.clear()
                    self._close()

    def take(self, engine: Engine, key: int) -> bool:
        """Take a lock, if no other thread or process has it."""
        with self._mutex:
            if key in self._held:
                return False
            if self._connection is not None:
                with suppress(SQLAlchemyError):
                    return self._take(self._connection, key)
            self._close()  # it broke, and what it held is free
            try:
                return self._take(self._connect(engine), key)
            except SQLAlchemyError as error:
                self._close()
                raise unavailable(error) from None

    def release(self, key: int) -> None:
        """Release a lock that was taken."""
        with self._mutex:
            self._held.discard(key)
            if self._connection is not None:
                with suppress(SQLAlchemyError):  # a connection that broke has given it back already
                    self._connection.execute(_UNLOCK, {"key": key})

    def _take(self, connection: Connection, key: int) -> bool:
        is_taken = _lock(connection, key)
        if is_taken:
            self._held.add(key)
        return is_taken

    def _connect(self, engine: Engine) -> Connection:
        self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._driver = self._connection.connection.driver_connection
        self._connection.detach()
        _lock_again(self._connection, self._held)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            with suppress(SQLAlchemyError):
                self._connection.close()
            self._driver.close()  # SQLAlchemy leaves a broken one open that it has detached
            self._connection = None


_sessions: WeakKeyDictionary[Engine, _Session] = WeakKeyDictionary()
_HELD: Final = text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 0 AND objsubid = 1"
    " AND objid::bigint = ANY(:keys)"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
)
"""A lock of one number is in `objid`, with 1 in `objsubid` (PostgreSQL, the view pg_locks)."""
_UNLOCK: Final = text("SELECT pg_advisory_unlock(:key)")
_AGAIN: Final = 0.05, 1.0
"""Seconds after which a lock that another holds is asked for again: at first, and after a long time."""


@contextmanager
def _advisory(engine: Engine, name: str, wait: bool) -> Iterator[bool]:
    session, key = _sessions.setdefault(engine, _Session()), _key(name)
    pause, longest = _AGAIN
    with session.wanted():
        while not (taken := session.take(engine, key)) and wait:
            time.sleep(pause)
            pause = min(pause * 1.1, longest)
        try:
            yield taken
        finally:
            if taken:
                session.release(key)


def _lock(connection: Connection, key: int) -> bool:
    return bool(connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar())


def _lock_again(connection: Connection, keys: Iterable[int]) -> set[int]:
    """Take locks of a session that has ended, which takes PostgreSQL a moment; returns those that another one has."""
    lost, until = set(keys), time.monotonic() + _ENDS_IN
    while lost := {key for key in lost if not _lock(connection, key)}:
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    return lost


_ASKED_EVERY: Final = 10.0
"""Seconds between two questions to the connection that holds the locks: a broken one may say nothing by itself."""
_WHO: Final = "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
_END: Final = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :pid AND backend_start = :started"
_ENDS_IN: Final = 2.0
"""Seconds in which PostgreSQL has ended a session of ours that it took for alive."""


class Claims:
    """The locks of a process that works on a run, as a context manager that releases them all at its end.

    In PostgreSQL one connection holds them, and it is watched. If it breaks, the locks are requested again at once on a
    new connection: whoever holds one by then owns the work, and the lock's `on_loss` is called.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._files: dict[str, ExitStack] = {}
        self._held: dict[str, Callable[[], object]] = {}
        self._mutex = threading.RLock()
        self._closed = threading.Event()
        self._connection: Connection | None = None
        self._driver: Any = None
        self._session: Any = None

    def __enter__(self) -> Self:
        """Start watching the connection.

        Raises:
            DatabaseUnavailable: it cannot be made.
        """
        if self._engine.dialect.name != "sqlite":
            try:
                self._connect()
            except SQLAlchemyError as error:
                self._disconnect()
                raise unavailable(error) from None
            threading.Thread(target=self._watch, name="claims", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        """Release all locks."""
        self._closed.set()
        with self._mutex:
            self._held.clear()
            for file in self._files.values():
                file.close()
            self._disconnect()

    def take(self, name: str, on_loss: Callable[[], object] = lambda: None) -> bool:
        """Take a lock; returns whether it was free. `on_loss` is called in another thread if the lock is lost.

        Raises:
            DatabaseUnavailable: it cannot be asked for.
        """
        with self._mutex:
            if name in self._held:
                return False
            if self._engine.dialect.name == "sqlite":
                file = ExitStack()
                if not file.enter_context(_file(self._engine, name, wait=False, tries=2)):
                    file.close()
                    return False
                self._files[name] = file
            elif not self._try_lock(name):
                return False
            self._held[name] = on_loss
            return True

    def release(self, name: str) -> None:
        """Release a lock; one that was lost need not be released."""
        with self._mutex:
            if self._held.pop(name, None) is None:
                return
            if name in self._files:
                self._files.pop(name).close()
            elif self._connection is not None:
                with suppress(SQLAlchemyError):  # a connection that broke has given it back already
                    self._connection.execute(_UNLOCK, {"key": _key(name)})

    def holds(self, name: str) -> bool:
        """Whether this process holds the lock."""
        with self._mutex:
            return name in self._held

    def _try_lock(self, name: str) -> bool:
        try:
            return self._connection is not None and _lock(self._connection, _key(name))
        except SQLAlchemyError:
            self._renew()
        try:
            return self._connection is not None and _lock(self._connection, _key(name))
        except SQLAlchemyError as error:
            raise unavailable(error) from None

    def _connect(self) -> None:
        self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._driver = self._connection.connection.driver_connection
        self._connection.detach()  # it is none of the pool's
        self._session = self._connection.exec_driver_sql(_WHO).one()

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(SQLAlchemyError):
                self._connection.close()
            self._driver.close()  # SQLAlchemy leaves a broken one open that it has detached
            self._connection = None

    def _watch(self) -> None:
        while not self._closed.is_set():
            with self._mutex:
                socket = None if self._connection is None else self._driver.fileno()
            if socket is None:
                self._closed.wait(_ASKED_EVERY)
            else:
                with suppress(OSError, ValueError):  # it is closed
                    select.select([socket], [], [], _ASKED_EVERY)  # readable at once where PostgreSQL ends the session
            with self._mutex:
                if not self._closed.is_set() and not self._answers():
                    self._renew()

    def _answers(self) -> bool:
        try:
            return self._connection is not None and self._connection.exec_driver_sql("SELECT 1").scalar() == 1
        except SQLAlchemyError:
            return False

    def _renew(self) -> None:
        """Request all locks on a new connection. Those that another process has taken by then are lost."""
        before = self._session
        self._disconnect()
        try:
            self._connect()
            assert self._connection is not None
            # Behind a network that was cut, PostgreSQL may take the session for alive.
            self._connection.execute(text(_END), {"pid": before.pid, "started": before.backend_start})
            keys = _lock_again(self._connection, map(_key, self._held))
            lost = {name: on_loss for name, on_loss in self._held.items() if _key(name) in keys}
        except (SQLAlchemyError, DatabaseUnavailable):
            lost = dict(self._held)
            self._disconnect()
        for name, on_loss in lost.items():
            log.warning("PostgreSQL has given the lock %s to another process, which continues that work.", name)
            del self._held[name]
            on_loss()


def check_sessions(engine: Engine) -> None:
    """Check that PostgreSQL's sessions hold locks.

    Raises:
        DatabaseUnavailable: a pooler gives them to others after each transaction.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("SELECT 1")
        _refuse_pooler(engine, connection.connection.driver_connection)


def _refuse_pooler(engine: Engine, ours: Any) -> None:
    """Refuse a pooler that gives the session to another client after each transaction: locks would go with it.

    Raises:
        DatabaseUnavailable: there is such a pooler.
    """
    before = ours.execute("SELECT pg_backend_pid()").fetchone()[0]
    with engine.connect() as other:  # whose transaction keeps its session busy
        theirs = other.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        after = ours.execute("SELECT pg_backend_pid()").fetchone()[0]
    if theirs == before or before != after:
        raise unavailable(
            "a pooler in transaction mode is in front of it, where locks do not work. Name PostgreSQL itself, or a "
            "pooler in session mode"
        )

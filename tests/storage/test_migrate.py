"""A database on a server is migrated by command alone, while nothing else uses it."""

from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, inspect, make_url, text

from storage import database, migrations
from storage.columns import DatabaseInUse, DatabaseUnavailable
from tests.storage import rows  # noqa: F401 - the tables that it needs


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

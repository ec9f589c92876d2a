"""A database that cannot be used: the error says why and what to look at, and never where it lies."""

import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, text
from sqlalchemy.exc import IntegrityError

from storage import database, runs, texts
from storage.columns import DatabaseUnavailable
from storage.runs import Run
from tests.storage import rows


def failure() -> str:
    """Open the database and give the message that users see."""
    with pytest.raises(DatabaseUnavailable) as raised, database.reading() as session:
        session.connection()
    message = str(raised.value)
    assert raised.value.__cause__ is None, "the driver's words hold the address"
    assert "DILIGENCE_DATABASE_URL" in message or "DILIGENCE_HOME" in message
    return message


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("sqlite:////no/such/secret-folder/x.db", "No such file or directory"),
        ("sqlite://", "name a file"),
        ("sqlite:///:memory:", "name a file"),
        ("postgresql+psycopg://secret-user:secret-word@127.0.0.1:1/secret-name", "Connection refused"),
        ("postgresql+psycopg://secret-user:secret-word@secret-host.invalid/x", "not known"),
        ("postgresql+psycopg://u@127.0.0.1/x?secret-option=1", "invalid connection option"),
        ("mysql://secret-user:secret-word@secret-host/x", "MySQLdb is not installed"),
        ("secret://secret-user:secret-word@secret-host/x", "begins with postgresql+psycopg://"),
        ("secret-words", "begins with postgresql+psycopg://"),
    ],
)
def test_a_wrong_address_is_named_by_its_setting_alone(
    address: str, reason: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", address)
    message = failure()
    assert reason in message
    assert "secret" not in message
    assert "127.0.0.1" not in message


def test_a_home_that_is_a_file(new_home: Path) -> None:
    new_home.write_text("not a folder")
    message = failure()
    assert "DILIGENCE_HOME cannot be made" in message
    assert str(new_home) not in message


def test_a_file_that_is_no_database(home: Path) -> None:
    (home / "diligence.db").write_text("minutes of the board " * 100)
    assert "file is not a database" in failure()
    assert (home / "diligence.db").read_text().startswith("minutes"), "it was somebody's file"


def test_a_database_of_a_newer_release(database_url: str) -> None:
    with database.writing() as session:
        session.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    assert "newer release" in failure()
    with pytest.raises(DatabaseUnavailable, match="Update diligence"), database.writing():
        pass


def test_a_wrong_password(
    postgres: URL, postgres_admin: Engine, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres_admin.connect() as connection:
        rules = Path(str(connection.execute(text("SHOW hba_file")).scalar()))
        if not rules.exists():
            pytest.skip("the server given for tests lies elsewhere: its login rules cannot be changed")
        trusting = rules.read_text()
        connection.execute(text("CREATE ROLE guarded LOGIN PASSWORD 'right-word'"))
        try:
            rules.write_text(f"local all guarded scram-sha-256\n{trusting}")
            connection.execute(text("SELECT pg_reload_conf()"))
            address = postgres.set(username="guarded", password="wrong-word")
            monkeypatch.setenv("DILIGENCE_DATABASE_URL", address.render_as_string(hide_password=False))
            message = failure()
        finally:
            rules.write_text(trusting)
            connection.execute(text("SELECT pg_reload_conf()"))
            connection.execute(text("DROP ROLE guarded"))
    assert "password authentication failed" in message
    assert "guarded" not in message
    assert "word@" not in message
    assert "wrong-word" not in message


def test_a_failed_opening_is_tried_again(new_home: Path) -> None:
    new_home.write_text("not a folder")
    failure()
    new_home.unlink()
    with database.reading() as session:
        session.connection()


def test_a_full_disk_keeps_what_was_there(home: Path) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    with pytest.raises(DatabaseUnavailable, match="full"), database.writing() as session:  # noqa: PT012 - one block
        session.connection().exec_driver_sql("PRAGMA max_page_count = 1")  # as much as there is now
        texts.save_text(session, rows.text(text="Revenue grew. " * 100_000))
    with database.reading() as session:
        assert runs.find_run(session, "latest") is not None


def test_a_lock_that_is_not_given_up(home: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="database is locked"), database.reading() as session:  # noqa: PT012 - one block
        assert runs.find_run(session, "latest") is None
        writer = threading.Thread(target=_write)
        writer.start()
        writer.join()
        session.add(rows.run("mine"))  # a reader that writes: SQLite refuses it at once
        session.flush()


def test_a_damaged_database(home: Path) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [rows.company(ordinal=ordinal) for ordinal in range(200)])
    database.close()
    content = bytearray((home / "diligence.db").read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (home / "diligence.db").write_bytes(content)
    with pytest.raises(DatabaseUnavailable), database.reading() as session:
        runs.run_companies(session, "r1")


def test_a_lost_connection_is_an_error_once_and_then_made_anew(
    postgres_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", postgres_url)
    with pytest.raises(DatabaseUnavailable, match="terminating connection"), database.writing() as session:
        session.connection().execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    with database.reading() as session:
        assert runs.find_run(session, "latest") is None


def test_a_mistake_of_ours_is_not_put_down_to_the_database(database_url: str) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    with pytest.raises(IntegrityError) as raised, database.writing() as session:  # noqa: PT012 - one block
        session.add(Run(**rows.run(batch="words of a document").model_dump()))
        session.flush()
    assert "words of a document" not in str(raised.value), "errors are logged"


def test_sqlite_stays_readable_beside_another_program(home: Path) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    other = sqlite3.connect(home / "diligence.db")
    other.execute("BEGIN IMMEDIATE")
    with database.reading() as session:
        assert runs.find_run(session, "latest") is not None
    other.close()


def _write() -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run("theirs"), [])

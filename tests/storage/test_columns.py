"""The same row from many sides at once: one row in the end, and no error for anybody.

A database that cannot be used: the error says why and what to look at, and never where it lies.
"""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, text
from sqlalchemy import text as sql
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from storage import database, documents, model_calls, runs, texts
from storage.columns import row_values
from storage.documents import Content
from storage.errors import DatabaseUnavailable
from storage.model_calls import StoredAnswer
from storage.runs import Run
from storage.texts import Passage
from tests.storage import rows

_THREADS = 6
_TURNS = 10


def race(write: Callable[[Session, int, int], object]) -> list[object]:
    """Run `write(session, thread, turn)` in all threads, turn by turn at the same moment; gives what came of it."""
    with database.reading():  # open it beforehand
        pass
    together = threading.Barrier(_THREADS, timeout=30)

    def run(thread: int) -> list[object]:
        found = []
        for turn in range(_TURNS):
            together.wait()
            with database.writing() as session:
                found.append(write(session, thread, turn))
        return found

    with ThreadPoolExecutor(_THREADS) as threads:
        return [each for found in threads.map(run, range(_THREADS)) for each in found]


def count(table: str) -> int:
    with database.reading() as session:
        return int(session.connection().execute(sql(f"SELECT count(*) FROM {table}")).scalar_one())


def test_one_answer_from_many(database_url: str) -> None:
    race(
        lambda session, thread, turn: model_calls.save_answer(
            session, StoredAnswer(key=f"question {turn}", model="m", answer={"thread": thread})
        )
    )
    assert count("answers") == _TURNS


def test_one_content_from_many(database_url: str) -> None:
    def write(session: Session, thread: int, turn: int) -> None:
        hashed = f"hash of {thread}"
        content = Content(
            drive="d", document_id=f"{turn}", version=f"{thread}", content_hash=hashed, fetched_at=rows.MORNING
        )
        rows.keep_content(session, content)

    race(write)
    assert count("contents") == _TURNS


def test_one_text_from_many_and_all_get_its_id(database_url: str) -> None:
    ids = race(lambda session, thread, turn: (turn, texts.save_text(session, rows.text(f"content {turn}")).id))
    assert count("texts") == _TURNS
    assert len(set(ids)) == _TURNS


def test_one_room_from_many_with_the_entries_of_one(database_url: str) -> None:
    def write(session: Session, thread: int, turn: int) -> int:
        entries = [rows.document(f"{turn} {number}", version=f"{thread}") for number in range(5)]
        return documents.replace_room(session, rows.room(), [], map(row_values, entries))

    assert len(set(race(write))) == 1
    assert count("rooms") == 1
    with database.reading() as session:
        left = session.connection().execute(sql("SELECT DISTINCT version FROM room_documents")).all()
    assert len(left) == 1
    assert count("room_documents") == 5


def test_one_set_of_passages_from_many(database_url: str) -> None:
    with database.writing() as session:
        text_id = texts.save_text(session, rows.text()).id
    assert text_id is not None

    def write(session: Session, thread: int, turn: int) -> None:
        passages = [Passage(text_id=text_id, ordinal=number, start=0, end=1, place="") for number in range(4)]
        texts.save_passages(session, f"cutter-{turn}", {text_id: passages})

    race(write)
    assert count("passages") == 4


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
        ("postgresql://secret-user:secret-word@127.0.0.1:1/secret-name", "Connection refused"),
        ("postgres://secret-user:secret-word@secret-host.invalid/x", "not known"),
        ("postgresql+psycopg://u@127.0.0.1/x?secret-option=1", "invalid connection option"),
        ("mysql://secret-user:secret-word@secret-host/x", "MySQLdb is not installed"),
        ("secret://secret-user:secret-word@secret-host/x", "begins with postgresql://"),
        ("secret-words", "begins with postgresql://"),
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

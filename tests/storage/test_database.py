"""Opening the database, what a block of `writing` keeps, and many at once.

One holder at a time, in whatever process, and a lock that its holder's death frees.
"""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, text

from storage import database, model_calls, runs
from storage.errors import DatabaseUnavailable
from storage.locks import _key
from storage.model_calls import StoredAnswer
from storage.scores import StoredProfile, latest_profile, save_profile
from tests.servers.database_server import DatabaseServer
from tests.storage import processes, rows


def test_the_home_is_made_for_its_owner_only(new_home: Path) -> None:
    with database.writing() as session:
        session.connection()
    assert new_home.stat().st_mode & 0o777 == 0o700
    assert (new_home / "diligence.db").is_file()


def test_the_database_is_its_owners_whatever_the_mode_of_the_home(new_home: Path) -> None:
    new_home.mkdir(parents=True, exist_ok=True)
    new_home.chmod(0o777)
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
        assert {file.stat().st_mode & 0o777 for file in new_home.glob("diligence.db*")} == {0o600}
    database.close()
    (new_home / "diligence.db").chmod(0o644)  # as an earlier release left it
    with database.reading() as session:
        session.connection()
        assert {file.stat().st_mode & 0o777 for file in new_home.glob("diligence.db*")} == {0o600}


def test_what_a_block_wrote_is_kept_when_it_ends(database_url: str) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    with database.reading() as session:
        assert runs.get_run(session, "r1").batch == "Screen"


def test_a_block_that_fails_leaves_nothing(database_url: str) -> None:
    with pytest.raises(RuntimeError, match="half way"), database.writing() as session:  # noqa: PT012 - it ends there
        runs.add_run(session, rows.run(), [])
        raise RuntimeError("half way")
    with database.reading() as session:
        assert runs.find_run(session, "latest") is None


def test_rows_stay_usable_after_their_session(database_url: str) -> None:
    with database.writing() as session:
        run = rows.run()
        runs.add_run(session, run, [])
    assert run.started_at == rows.MORNING


def test_times_come_back_in_utc(database_url: str) -> None:
    noon_in_berlin = datetime(2026, 3, 31, 12, tzinfo=timezone(timedelta(hours=2)))
    with database.writing() as session:
        runs.add_run(session, rows.run(started_at=noon_in_berlin), [])
    with database.reading() as session:
        assert runs.get_run(session, "r1").started_at == datetime(2026, 3, 31, 10, tzinfo=UTC)
        assert runs.get_run(session, "r1").started_at.tzinfo is UTC


def test_sqlite_runs_in_wal_with_foreign_keys_and_patience(home: Path) -> None:
    with database.reading() as session:
        pragmas = {
            name: session.connection().exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 30000}


def test_readers_do_not_wait_for_a_writer(database_url: str) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
        session.flush()
        with ThreadPoolExecutor(1) as others:
            assert others.submit(_latest_run).result(timeout=10) is None
    assert _latest_run() == "r1"


def test_eight_threads_write_and_nothing_is_lost(database_url: str) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])

    def work(worker: int) -> None:
        for turn in range(25):
            with database.writing() as session:
                assert runs.get_run(session, "r1").batch == "Screen"  # reads first and writes later
                runs.add_cost(session, "r1", 1, 10, 0)
                model_calls.save_answer(session, StoredAnswer(key=f"{worker}-{turn}", model="m", answer={}))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    with database.reading() as session:
        run = runs.get_run(session, "r1")
        assert (run.calls, run.input_tokens) == (200, 2000)
        assert session.connection().execute(text("SELECT count(*) FROM answers")).scalar() == 200


def test_sixty_four_threads_read_at_the_same_moment_on_sqlite(home: Path) -> None:
    together = threading.Barrier(64, timeout=20)

    def read(_: int) -> None:
        with database.reading() as session:
            session.connection()
            together.wait()  # all hold their connection now

    with ThreadPoolExecutor(64) as threads:
        list(threads.map(read, range(64)))


def test_threads_that_come_first_together_open_the_database_once(new_home: Path) -> None:
    together = threading.Barrier(8, timeout=20)

    def engine(_: int) -> int:
        together.wait()
        with database.reading() as session:
            return id(session.get_bind())

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(engine, range(8)))) == 1


def test_what_no_database_takes_is_mended_on_the_way(database_url: str) -> None:
    """NUL and half characters come from documents' names, models and web pages."""
    odd = "a\0b\ud83dc é 🙂"
    with database.writing() as session:
        runs.add_run(session, rows.run(batch=odd, criteria={odd: odd}), [rows.company(name=odd)])
        model_calls.save_answer(session, StoredAnswer(key=odd, model=odd, answer={"text": odd}))
        save_profile(session, StoredProfile(domain=odd, retrieved_at=rows.MORNING, profile={}), [])
    with database.reading() as session:
        assert runs.get_run(session, "r1").batch == "ab\ufffdc é 🙂"
        assert runs.run_companies(session, "r1")[0].name == "ab\ufffdc é 🙂"
        answer = model_calls.find_answer(session, odd)
        assert answer is not None
        assert answer.answer == {"text": odd}  # JSON has its own way to write them
        assert latest_profile(session, odd) is not None


def test_a_closed_database_lets_go_of_its_files_and_opens_again(home: Path) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    assert _open_files(home)
    database.close()
    assert _open_files(home) == []
    assert _latest_run() == "r1"


def test_a_closed_database_leaves_no_connection_on_the_server(
    postgres_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", f"{postgres_url}&application_name=leaving")
    count = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'leaving'")
    with database.reading() as session:
        assert session.connection().execute(count).scalar()
    database.close()
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", postgres_url)
    for _ in range(300):
        with database.reading() as session:
            if session.connection().execute(count).scalar() == 0:
                return
        threading.Event().wait(0.1)
    pytest.fail("the connection is still there")


def _latest_run() -> str | None:
    with database.reading() as session:
        run = runs.find_run(session, "latest")
    return run.id if run else None


def _open_files(below: Path) -> list[Path]:
    found = []
    for handle in Path("/dev/fd").iterdir():
        with suppress(OSError):  # the one that lists them
            if (target := handle.readlink()).is_relative_to(below):
                found.append(target)
    return found


HOLD = """
import sys
from storage import database
with database.locked({name!r}) as mine:
    print(mine, flush=True)
    sys.stdin.read() if {wait} else None
    __import__("time").sleep(600)
"""


def test_a_second_holder_is_refused_and_the_next_is_not(database_url: str) -> None:
    with database.locked("batch Alpha", wait=False) as mine:
        assert mine
        with database.locked("batch Alpha", wait=False) as second:
            assert not second
        with database.locked("batch Beta", wait=False) as other:
            assert other
        with database.locked("batch Alpha", wait=False) as still_second:
            assert not still_second, "a refused holder must not free it"
    with database.locked("batch Alpha", wait=False) as again:
        assert again


def test_a_lock_leaves_no_file_behind(home: Path) -> None:
    with database.locked("batch Alpha", wait=False), database.locked("batch Alpha", wait=False) as second:
        assert not second
        assert len(list(home.glob("*.lock"))) == 1
    assert list(home.glob("*.lock")) == []


def test_files_that_killed_processes_left_of_their_locks_go_when_the_database_is_opened(home: Path) -> None:
    with database.locked("batch Alpha"):
        held = set(home.glob("*.lock"))
        (home / "diligence.db.0a1b2c3d.lock").touch()
        (home / "other.db.0a1b2c3d.lock").touch()
        database.close()
        database.check()
        assert set(home.glob("*.lock")) == held | {home / "other.db.0a1b2c3d.lock"}


def test_the_lock_of_a_killed_process_is_free(database_url: str) -> None:
    holder = processes.start(HOLD.format(name="batch Alpha", wait=False))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    with database.locked("batch Alpha", wait=False) as mine:
        assert not mine
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert _comes_free("batch Alpha")


def test_who_waits_gets_it_next(database_url: str) -> None:
    order: list[str] = []

    def second() -> None:
        with database.locked("batch Alpha") as mine:
            order.append(f"second {mine}")

    with database.locked("batch Alpha"):
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(0.3)
        order.append("first")
    waiting.join(10)
    assert order == ["first", "second True"]


def test_more_threads_hold_locks_than_there_are_connections_and_each_reads_and_writes(database_url: str) -> None:
    count = 20  # a pool has 15; a model is asked for that many search plans at the same time
    all_hold = threading.Barrier(count, timeout=25)  # less than a connection is waited for

    def work(number: int) -> None:
        with database.locked(f"answer {number}") as mine:
            assert mine
            all_hold.wait()
            database.check()

    with ThreadPoolExecutor(count) as threads:
        for done in [threads.submit(work, number) for number in range(count)]:
            done.result()


def test_a_lock_whose_connection_breaks_is_no_hindrance_to_the_next(
    postgres_url: str, home: Path, monkeypatch: pytest.MonkeyPatch, postgres_admin: Engine
) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", f"{postgres_url}&application_name=cut")
    with database.locked("batch Alpha"):
        with postgres_admin.connect() as admin:
            admin.execute(text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'"))
        with database.locked("batch Beta") as other, database.locked("batch Alpha", wait=False) as second:
            assert other
            assert not second, "threads of this process keep out of each other's way"
            with postgres_admin.connect() as admin:
                taken = admin.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _key("batch Alpha")}).scalar()
            assert not taken, "it is locked again"
    with database.locked("batch Alpha", wait=False) as again:
        assert again


@pytest.mark.slow  # a server of its own
def test_threads_that_want_locks_wait_together_for_a_server_that_is_gone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_PATIENCE", "2")

    def want(number: int) -> None:
        with pytest.raises(DatabaseUnavailable), database.locked(f"answer {number}"):
            pytest.fail("it is held")

    with DatabaseServer() as server:
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", server.url())
        database.migrate()
        database.check()
        server.stop()
        begun = time.monotonic()
        with ThreadPoolExecutor(8) as threads:
            for done in [threads.submit(want, number) for number in range(8)]:
                done.result()
        assert time.monotonic() - begun < 8 * 2
        server.start()
        with database.locked("answer 0") as mine:
            assert mine
        database.close()


@pytest.mark.slow  # a server of its own
def test_a_server_that_is_gone_is_waited_for_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_PATIENCE", "2")
    with DatabaseServer() as server:
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", server.url())
        database.migrate()
        for _ in range(2):
            database.check()
            server.stop()
            begun = time.monotonic()
            for _ in range(4):
                with pytest.raises(DatabaseUnavailable):
                    database.check()
            assert 2 <= time.monotonic() - begun < 2 * 2, "what is tried again does not wait again"
            server.start()
        database.check()
        database.close()


@pytest.mark.slow  # a server of its own
def test_a_connection_that_only_others_get_is_waited_for_no_longer(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_PATIENCE", "2")
    connect, refused = psycopg.connect, threading.current_thread()

    def connect_others(*given: Any, **options: Any) -> Any:
        if threading.current_thread() is refused:
            raise psycopg.OperationalError("sorry, too many clients already")
        return connect(*given, **options)

    def connect_anew() -> None:
        for _ in range(100):
            with suppress(DatabaseUnavailable), database.reading() as session:
                session.connection().execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
            if over.wait(0.1):
                break

    with DatabaseServer() as server, ThreadPoolExecutor(1) as others:
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", server.url())
        database.migrate()
        database.check()
        monkeypatch.setattr(psycopg, "connect", connect_others)
        over = threading.Event()
        going_on = others.submit(connect_anew)
        begun = time.monotonic()
        try:
            with suppress(DatabaseUnavailable):
                while time.monotonic() - begun < 20:
                    database.check()
        finally:
            over.set()
        assert time.monotonic() - begun < 2 * 3
        going_on.result(20)
        database.close()


def test_what_goes_wrong_under_the_lock_comes_out_as_it_is(database_url: str) -> None:
    with pytest.raises(OSError, match="disk"), database.locked("batch Alpha"):
        raise OSError("disk")
    with database.locked("batch Alpha", wait=False) as mine:
        assert mine


def test_a_lock_in_a_database_that_cannot_be_opened(new_home: Path) -> None:
    new_home.write_text("not a folder")
    with pytest.raises(DatabaseUnavailable), database.locked("batch Alpha"):
        pass


def _comes_free(name: str) -> bool:
    """PostgreSQL notices a client's death when its connection breaks, a moment later."""
    for _ in range(100):
        with database.locked(name, wait=False) as mine:
            if mine:
                return True
        time.sleep(0.05)
    return False

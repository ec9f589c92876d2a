"""A backup has all of the home as it was at one moment, and goes back whole or not at all."""

import io
import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import warnings
import zipfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from storage import backup, database, logins, migrations, runs
from storage.backup import BackupUnusable, HomeNotEmpty, restore
from storage.errors import DatabaseInUse
from tests.homes import make_home
from tests.matrices import quick_cases
from tests.storage import filled, processes
from tests.waiting import wait_for

OPEN = """
import sys
from storage import database, runs
with database.reading() as session:
    runs.find_run(session, "latest")
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A backup of a home with something in every table."""
    filled.fill()
    path = tmp_path / "a.backup"
    backup.make(path)
    return path


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that nothing has made yet, with SQLite: call it to go there."""
    return tmp_path / "elsewhere"


def go_to(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database.close()
    monkeypatch.setenv("DILIGENCE_HOME", str(home))
    monkeypatch.delenv("DILIGENCE_DATABASE_URL", raising=False)


def test_every_row_and_the_key_come_back(
    database_url: str, file: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.contents()
    assert all(before.values()), [name for name, found in before.items() if not found]
    go_to(elsewhere, monkeypatch)
    restored = restore(file)
    assert restored.kept is None
    assert filled.contents() == before
    with database.reading() as session:
        found = logins.find_session(session, "cookie")
    assert found is not None
    assert logins.unseal(found[1].refresh_token, "refresh") == filled.REFRESH_TOKEN
    assert stat.S_IMODE((elsewhere / "diligence.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((elsewhere / "secret.key").stat().st_mode) == 0o600


def test_a_home_moves_from_sqlite_to_postgresql(
    home: Path, file: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.contents()
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", postgres_url)
    restore(file)
    assert filled.contents() == before
    filled.add_finished("r2", document="d2", content="c2")  # ids go on after the restored ones
    with pytest.raises(HomeNotEmpty):
        restore(file)
    restored = restore(file, replace=True)
    assert restored.kept is not None
    assert filled.contents() == before
    assert restore(restored.kept / "diligence.backup", replace=True).kept
    assert filled.run_ids() == ["r1", "r2"]


def test_only_its_owner_reads_it_and_the_next_takes_its_place(home: Path, file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    filled.add_finished("r2")
    backup.make(file)
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.backup", "home"]
    restore(file, replace=True)
    assert filled.run_ids() == ["r1", "r2"]


def test_another_file_is_never_overwritten(home: Path, tmp_path: Path) -> None:
    filled.fill()
    other = tmp_path / "thesis.zip"
    other.write_bytes(b"years of work")
    with pytest.raises(BackupUnusable, match=r"thesis.zip exists, and is not a backup"):
        backup.make(other)
    assert other.read_bytes() == b"years of work"


def test_a_backup_is_of_one_moment_while_a_run_writes(database_url: str, tmp_path: Path) -> None:
    """Each run is written with its one company in one transaction: no backup has the one without the other."""
    ended = threading.Event()
    written: list[str] = []

    def write() -> None:
        while not ended.is_set():
            filled.add_finished(f"r{len(written)}", document=f"d{len(written)}", content=f"c{len(written)}")
            written.append("")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            count = len(written)
            wait_for(lambda count=count: len(written) > count, pause=0.01)  # type: ignore[misc]
            backup.make(tmp_path / f"{number}.backup")
            assert len(written) > count
    finally:
        ended.set()
        writer.join()
    seen = []
    for number in range(3):
        (folder := tmp_path / f"{number}").mkdir()
        backup.unpack(tmp_path / f"{number}.backup", folder)
        with closing(sqlite3.connect(folder / "diligence.db")) as connection:
            counts = {
                connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("runs", "run_companies", "run_documents", "quotes", "texts")
            }
        assert len(counts) == 1
        seen.append(counts.pop())
    assert seen == sorted(set(seen))


def test_a_home_that_has_something_is_kept_aside_or_left_alone(home: Path, file: Path) -> None:
    filled.add_finished("r2")
    with pytest.raises(HomeNotEmpty):
        restore(file)
    assert filled.run_ids() == ["r1", "r2"]
    restored = restore(file, replace=True)
    assert filled.run_ids() == ["r1"]
    assert restored.kept is not None
    with closing(sqlite3.connect(restored.kept / "diligence.db")) as connection:
        assert connection.execute("SELECT id FROM runs ORDER BY id").fetchall() == [("r1",), ("r2",)]


def test_secrets_of_another_home_stay_readable(home: Path, file: Path, tmp_path: Path, monkeypatch: Any) -> None:
    go_to(tmp_path / "other", monkeypatch)
    sealed = logins.seal("older", "refresh")
    restore(file)
    assert logins.unseal(sealed, "refresh") == "older"
    with database.reading() as session:
        found = logins.find_session(session, "cookie")
    assert found is not None
    assert logins.unseal(found[1].refresh_token, "refresh") == filled.REFRESH_TOKEN


def test_a_damaged_database_is_replaced_and_kept(home: Path, file: Path) -> None:
    database.close()
    (home / "diligence.db").write_bytes(b"This is no database. " * 500)
    restored = restore(file, replace=True)
    assert filled.run_ids() == ["r1"]
    assert restored.kept is not None
    assert (restored.kept / "diligence.db").read_bytes().startswith(b"This is no database")


def test_a_damaged_database_makes_no_backup(home: Path, file: Path) -> None:
    good = file.read_bytes()
    with database.writing() as session:  # a row that refers to none: what a lost page leaves
        session.connection().exec_driver_sql("PRAGMA defer_foreign_keys=ON")
    database.close()
    with closing(sqlite3.connect(home / "diligence.db")) as connection:
        connection.execute("DELETE FROM texts")
        connection.commit()
    with pytest.raises(BackupUnusable, match="damaged"):
        backup.make(file)
    assert file.read_bytes() == good


def test_a_home_in_use_is_not_replaced(database_url: str, file: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", OPEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=processes.PROJECT
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(DatabaseInUse, match="Stop the service"):
            restore(file, replace=True)
        assert filled.run_ids() == ["r1"]
        database.close()
        other.kill()
    restore(file, replace=True)
    assert filled.run_ids() == ["r1"]


def test_a_backup_of_an_earlier_schema_is_brought_to_the_newest(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.storage.test_migrations import EARLIER_COMPANY, make_earlier

    old = tmp_path / "old.db"
    make_earlier(f"sqlite:///{old}", "0012", {"runs": [{"id": "earlier"}], "run_companies": [EARLIER_COMPANY]})
    file = tmp_path / "old.backup"
    file.write_bytes(archive({"diligence.db": old.read_bytes()}, schema="0012"))
    go_to(tmp_path / "elsewhere", monkeypatch)
    restore(file)
    with database.reading() as session:
        assert [company.name for company in runs.run_companies(session, "earlier")] == ["Alpha"]


def archive(members: dict[str, bytes], more: dict[str, bytes] | None = None, **said: Any) -> bytes:
    """A backup made by hand: its members, members that the manifest does not name, and what else the manifest says."""
    files = {name: {"size": len(data), "sha256": sha256(data).hexdigest()} for name, data in members.items()}
    manifest = {"format": 1, "program": "0.1.0", "schema": migrations.HEAD, "made_at": "2026-01-01T00:00:00Z"}
    whole = {**members, **(more or {}), "manifest.json": json.dumps(manifest | {"files": files} | said).encode()}
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as packed:
        warnings.simplefilter("ignore")  # of names that stand twice
        for name, data in whole.items():
            packed.writestr(name, data)
    return made.getvalue()


def empty_database(folder: Path, revision: str = migrations.HEAD) -> bytes:
    make_home(folder)
    with closing(sqlite3.connect(folder / "diligence.db")) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        connection.commit()
    return (folder / "diligence.db").read_bytes()


def unusable(name: str, folder: Path) -> bytes:
    data = empty_database(folder)
    good = archive({"diligence.db": data})
    newer = empty_database(folder.with_name("newer"), "9999")
    return {
        "empty": b"",
        "no archive": b"This is a letter. " * 100,
        "cut short": good[: len(good) // 2],
        "a bit turned": good[:5000] + bytes([good[5000] ^ 1]) + good[5001:],
        "another archive": archive({}, {"letter.txt": b"Dear"})[:],
        "no database": archive({"diligence.db": b"SQLite format 3\0" + b"x" * 5000}),
        "a newer schema": archive({"diligence.db": newer}, schema="9999"),
        "a newer format": archive({"diligence.db": data}, format=2, something="new"),
        "another hash": archive(
            {"diligence.db": data}, files={"diligence.db": {"size": len(data), "sha256": "0" * 64}}
        ),
        "larger than said": archive(
            {"diligence.db": data}, files={"diligence.db": {"size": 10, "sha256": sha256(data[:10]).hexdigest()}}
        ),
        "a path upwards": archive({"diligence.db": data, "../../evil": b"x"}),
        "an absolute path": archive({"diligence.db": data, "/tmp/evil": b"x"}),
        "more than it says": archive({"diligence.db": data}, {"evil": b"x"}),
        "another schema": archive({"diligence.db": data}, schema="0001"),
        "a manifest that is a list": archive({}, {"manifest.json": b"[]"}),
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        "empty",
        "no archive",
        "cut short",
        "a bit turned",
        "another archive",
        "no database",
        "a newer schema",
        "a newer format",
        "another hash",
        "larger than said",
        "a path upwards",
        "an absolute path",
        "more than it says",
        "another schema",
        "a manifest that is a list",
    ],
)
def test_what_is_no_whole_backup_changes_nothing(name: str, new_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.backup"
    file.write_bytes(unusable(name, tmp_path / "made"))
    with pytest.raises(BackupUnusable) as refused:
        restore(file)
    assert str(tmp_path) not in str(refused.value)
    assert not new_home.exists() or list(new_home.iterdir()) == []
    assert not (tmp_path / "evil").exists()


def test_a_member_that_is_a_link_is_written_as_a_file_of_its_own(new_home: Path, tmp_path: Path) -> None:
    data = b"/etc/passwd"
    made = io.BytesIO(archive({"diligence.db": empty_database(tmp_path / "made")}, files={}))
    with zipfile.ZipFile(made, "a") as packed:
        link = zipfile.ZipInfo("secret.key")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, data)
    file = tmp_path / "a.backup"
    file.write_bytes(made.getvalue())
    with pytest.raises(BackupUnusable):
        restore(file)
    assert not new_home.exists()


def test_two_backups_into_one_file_do_not_meet(home: Path, file: Path) -> None:
    with backup.workspace(file.parent, f".{file.name}.new"), pytest.raises(BackupUnusable, match="Another process"):
        backup.make(file)
    backup.make(file)


@pytest.mark.parametrize("what", quick_cases(["backup", "restore", "prune"], quick=(1,)))
def test_a_kill_at_any_moment_leaves_a_whole_state(what: str, home: Path, tmp_path: Path) -> None:
    database.close()
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.killed", what, str(tmp_path / "a.backup")],
        cwd=processes.PROJECT, capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip
    outcomes = [line.split() for line in done.stdout.splitlines()]
    states = [state for _, state in outcomes]
    assert [ended for ended, _ in outcomes[:-1]] == ["killed"] * (len(outcomes) - 1)
    assert outcomes[-1] == ["ended", "new"]
    assert len(outcomes) > 5
    assert set(states) <= {"old", "new"} if what != "prune" else set(states) <= {"old", "part", "new"}
    assert states[0] == "old"

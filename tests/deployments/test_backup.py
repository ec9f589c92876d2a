"""`diligence backup` and `diligence restore`: what they say, and how they end.

`diligence prune`: what it says that it freed, in the home and in Prefect's history.
"""

import os
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from deployments.cli import errors_reported
from deployments.home import backup, prune, restore
from flows import prefect_server
from storage import database, logins
from storage.columns import now
from tasks.documents.drive.spool import spool
from tasks.evidence.page import picture_stem
from tests.storage import filled


def ended(capsys: pytest.CaptureFixture[str], file: Path, *, replace: bool = False) -> tuple[int, str]:
    """The exit status of `diligence restore`, and the one sentence on stderr."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end, errors_reported():
        restore(file, replace=replace)
    told = capsys.readouterr().err.strip()
    assert "\n" not in told
    assert isinstance(end.value.code, int)
    return end.value.code, told


def test_a_home_goes_into_a_file_and_comes_back(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled.fill()
    file = tmp_path / "a.backup"
    backup(file)
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{file}: 0.")
    assert "key that opens stored logins" in printed.err
    status, told = ended(capsys, file)
    assert (status, "--replace" in told) == (2, True)
    restore(file, replace=True)
    assert str(home / "before-restore-") in capsys.readouterr().err
    assert filled.run_ids() == ["r1"]


def test_a_folder_that_is_not_there_is_named(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), errors_reported():
        backup(tmp_path / "none" / "saved")
    assert f"{tmp_path / 'none' / 'saved'} cannot be written (No such file" in capsys.readouterr().err


def test_a_key_of_the_environment_is_not_in_it_and_it_says_so(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", "A" * 43 + "=")
    filled.fill()
    backup(tmp_path / "a.backup")
    assert "DILIGENCE_SECRET_KEY" in capsys.readouterr().err
    assert not (home / logins.KEY_FILE).exists()


@pytest.mark.parametrize("content", [b"", b"This is a letter.", None], ids=["empty", "a letter", "none"])
def test_what_is_no_backup_is_wrong_use(
    content: bytes | None, new_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "letter.txt"
    if content is not None:
        file.write_bytes(content)
    status, told = ended(capsys, file)
    assert (status, "letter.txt" in told) == (2, True)
    assert not new_home.exists()


def test_a_backup_without_a_home_makes_none(new_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), errors_reported():
        backup(tmp_path / "a.backup")
    assert "no runs in" in capsys.readouterr().err
    assert not new_home.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_home_in_use_is_told(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled.fill()
    file = tmp_path / "a.backup"
    backup(file)
    with closing(sqlite3.connect(home / "diligence.db")) as other:
        other.execute("SELECT count(*) FROM runs").fetchone()
        status, told = ended(capsys, file, replace=True)
    assert (status, told) == (
        1, "The home is in use. Stop the service and wait for runs to end, or stop them; then try again."
    )  # fmt: skip
    assert [path.name for path in home.iterdir() if path.name.startswith(("before", ".restore"))] == []
    restore(file, replace=True)


@pytest.fixture
def own_prefect(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Prefect's home of this test is; there is nothing in it."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(home / "prefect"))
    return home / "prefect"


def lines(text: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in text.splitlines())


def test_it_says_what_it_freed(own_prefect: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2, 3):
        content = f"c{number}".ljust(64, "0")
        filled.add_finished(f"r{number}", document=f"d{number}", content=content, text="word " * 300_000)
        picture = picture_stem(content, 1).with_suffix(".png" if number % 2 else ".webp")
        picture.parent.mkdir(parents=True)
        picture.write_bytes(b"x" * 2**20)
    (left := home / "spool" / "1-killed").mkdir(parents=True)
    (left / "document").write_bytes(b"x" * 2**20)
    with spool() as in_use:
        (left := home / "spool" / "2-killed").mkdir()
        (left / "document").write_bytes(b"x" * 2**20)
        prune(keep=1, dry_run=True)
        would = capsys.readouterr().out
        assert would.startswith("2 runs would be deleted (nothing was):\n")
        assert filled.run_ids() == ["r1", "r2", "r3"]
        prune(keep=1)
        freed = capsys.readouterr().out
        assert in_use.exists()
    assert freed.startswith("2 runs deleted; what this freed:\n")
    said = lines(freed.split("\n", 1)[1])
    assert said.items() >= lines(would.split("\n", 1)[1].rsplit("\n", 2)[0]).items()
    assert said["texts"] == "14 rows, 2.9 MB"
    assert said["pictures"] == "2 files, 2.0 MB"
    assert said["spool"] == "1 files, 1.0 MB"
    before, now_ = (float(part.split()[0]) for part in said["database"].split(", "))
    assert now_ < before - 2
    assert picture.exists()


def test_pictures_that_an_earlier_version_drew_are_removed(
    own_prefect: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = "c1".ljust(64, "0")
    filled.add_finished("r1", document="d1", content=content)
    picture = picture_stem(content, 1).with_suffix(".png")
    picture.parent.mkdir(parents=True)
    older = picture.with_name(f"{content}-1-1.png")
    for path in (picture, older):
        path.write_bytes(b"x")
    prune(keep=1)
    assert "pictures" in capsys.readouterr().out
    assert [path.exists() for path in (picture, older)] == [True, False]


def test_a_server_of_the_users_that_is_away_keeps_its_history(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    filled.add_finished("r1")
    from prefect import settings

    with settings.temporary_settings({settings.PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        prune(keep=1)
    assert "PREFECT_API_URL" in capsys.readouterr().err


def work_twice() -> datetime:
    """Two flow runs, each with a task, a line in its log and an artifact; gives a time between them."""
    from prefect import flow, get_run_logger, task
    from prefect.artifacts import create_markdown_artifact

    @task
    def step() -> None:
        get_run_logger().info("A line.")
        create_markdown_artifact("Found.", key="found-to-be-pruned")

    @flow(name="to be pruned")
    def work() -> None:
        step()

    work()
    between = now() + timedelta(milliseconds=1)
    work()
    return between


def test_prefects_history_of_old_runs_goes_and_that_of_kept_ones_stays(prefect_url: str) -> None:
    from prefect.client.orchestration import get_client

    def seen() -> tuple[int, int]:
        own = {"name": {"any_": ["to be pruned"]}}
        flow_runs = client.request("POST", "/flow_runs/filter", json={"flows": own}).json()
        key = {"artifacts": {"key": {"any_": ["found-to-be-pruned"]}}}
        return len(flow_runs), len(client.request("POST", "/artifacts/filter", json=key).json())

    with get_client(sync_client=True) as client:
        between = work_twice()
        assert seen() == (2, 2)
        prefect_server.delete_history(client, between, "diligence")
        assert seen() == (2, 2), "they are others' runs"
        assert seen() == (2, 2)
        flow_runs, artifacts = prefect_server.delete_history(client, between)
        assert min(flow_runs, artifacts) >= 1  # of tests before this one too
        assert seen() == (1, 1)
        assert prefect_server.delete_history(client, between) == (0, 0)


@pytest.mark.slow
def test_the_embedded_server_keeps_nothing_of_old_runs_and_its_file_shrinks(own_prefect: Path) -> None:
    with prefect_server.server():
        between = work_twice()
    assert _count(own_prefect) == {"flow_run": 2, "artifact": 2, "task_run of none": 0, "log of none": 0}
    pruned = prefect_server.prune_history(between)
    assert pruned is not None
    assert pruned.room is not None
    assert (pruned.flow_runs, pruned.artifacts, pruned.room.problem) == (1, 1, None)
    assert _count(own_prefect) == {"flow_run": 1, "artifact": 1, "task_run of none": 0, "log of none": 0}


def _count(prefect_home: Path) -> dict[str, int]:
    """The rows of Prefect's tables, and those of tasks and logs whose flow run is gone."""
    of_none = "flow_run_id NOT IN (SELECT id FROM flow_run)"
    with closing(sqlite3.connect(prefect_home / "prefect.db")) as connection:
        return {
            f"{table}{' of none' if rows != 'true' else ''}": connection.execute(
                f"SELECT count(*) FROM {table} WHERE {rows}"
            ).fetchone()[0]
            for table, rows in (("flow_run", "true"), ("artifact", "true"), ("task_run", of_none), ("log", of_none))
        }


def test_a_home_without_a_history_gets_none(own_prefect: Path) -> None:
    assert prefect_server.prune_history(now()) is None
    assert not own_prefect.exists()
    assert os.environ["PREFECT_HOME"] == str(own_prefect)
    database.close()

"""`diligence prune`: what it says that it freed, in the home and in Prefect's history."""

import os
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from deployments.administration import prune
from flows import prefect_server
from storage import database
from storage.columns import now
from tasks.documents.drive.spool import spool
from tasks.evidence.drawing import picture_stem
from tests.storage import filled


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

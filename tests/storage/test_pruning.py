"""What only old runs needed goes; what a kept run, a document or a run that can go on needs stays."""

import sqlite3
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import SQLModel

from storage import database, documents, logins, model_calls, pruning, runs
from storage.columns import find_table, now, row_values
from storage.logins import AuditedCall
from storage.model_calls import StoredAnswer
from storage.runs import RunStatus
from storage.texts import StoredText
from tests.storage import filled, rows


def add_runs(count: int, **given: Any) -> None:
    """Runs whose only document is another one each time."""
    for number in range(1, count + 1):
        filled.add_finished(f"r{number}", document=f"d{number}", content=f"c{number}", **given)


def kept_contents() -> list[str]:
    with database.reading() as session:
        contents = find_table(StoredText).c
        return list(session.connection().execute(select(contents.content_hash).order_by(contents.id)).scalars())


def counts() -> dict[str, int]:
    with database.reading() as session:
        return {
            table.name: session.connection().execute(select(func.count()).select_from(table)).scalar_one()
            for table in SQLModel.metadata.sorted_tables
        }


def test_the_newest_runs_stay_with_all_that_they_need(database_url: str) -> None:
    add_runs(2)
    before = counts()
    filled.add_finished("r3", document="d3", content="c3")
    filled.add_finished("r4", document="d4", content="c4")
    pruned = pruning.prune(2)
    assert pruned.runs == ["r2", "r1"]
    assert filled.run_ids() == ["r3", "r4"]
    assert kept_contents() == ["c3", "c4"]
    assert counts() == before | {"room_documents": 1, "room_folders": 1}
    assert all(pruned.rows[kind] for kind in ("runs", "texts", "vectors", "evidence", "profiles"))
    assert all(pruned.size[kind] for kind in ("runs", "texts", "vectors", "evidence", "profiles"))


def test_a_dry_run_counts_the_same_and_deletes_nothing(database_url: str) -> None:
    add_runs(3, started_at=now())
    with database.writing() as session:
        answer = StoredAnswer(key="old", model="m", answer={}, used_at=now() - timedelta(days=40))
        model_calls.save_answer(session, answer)
    before = filled.contents()
    would = pruning.prune(1, dry_run=True)
    assert filled.contents() == before
    assert pruning.prune(1) == would
    assert would.rows["answers"] == 1
    assert pruning.prune(1).rows.total() == 0


def test_the_newest_run_of_each_batch_stays(database_url: str) -> None:
    filled.add_finished("other", document="d0", content="c0", batch="Other")
    add_runs(3)
    pruning.prune(1)
    assert filled.run_ids() == ["other", "r3"]
    assert kept_contents() == ["c0", "c3"]


def test_a_run_that_can_go_on_stays_and_one_that_was_superseded_goes(database_url: str) -> None:
    filled.add_finished("killed", document="dk", content="ck", reported_at=None, batch="Killed")
    filled.add_finished("running", document="dr", content="cr", status=RunStatus.RUNNING, reported_at=None)
    changed: dict[str, Any] = {"status": RunStatus.SUPERSEDED, "reported_at": None}
    estimate = changed | {"finished_at": None, "started_at": now()}
    filled.add_finished("estimate", document="de", content="ce", **estimate)
    filled.add_finished("changed", document="dc", content="cc", **changed)
    add_runs(2)
    pruning.prune(1)
    assert filled.run_ids() == ["killed", "running", "estimate", "r2"]
    assert kept_contents() == ["ck", "cr", "ce", "c2"]


def test_a_text_stays_while_an_indexed_folder_has_its_document(database_url: str) -> None:
    add_runs(1)
    filled.add_finished("r2", document="d2", content="c2")
    listed = [row_values(rows.document(name)) for name in ("d1", "d2")]
    with database.writing() as session:
        documents.replace_room(session, rows.room(), [], [{**row, "room_id": None} for row in listed])
    pruning.prune(1)
    assert kept_contents() == ["c1", "c2"]
    with database.writing() as session:
        documents.replace_room(session, rows.room(), [], [])
    assert pruning.prune(1).texts
    assert kept_contents() == ["c2"]


def test_an_answer_that_a_kept_run_may_have_used_is_not_paid_for_again(database_url: str) -> None:
    with database.writing() as session:
        for name, days in (("unused", 9), ("before the kept run", 6)):
            used = now() - timedelta(days=days)
            model_calls.save_answer(
                session, StoredAnswer(key=name, model="m", answer={}, created_at=used, used_at=used)
            )
    filled.add_finished("r1", started_at=now() - timedelta(days=7))
    filled.add_finished("r2", started_at=now() - timedelta(days=6))
    pruning.prune(1)
    with database.reading() as session:
        assert model_calls.find_answer(session, "unused") is None
        assert model_calls.find_answer(session, "before the kept run") is not None


def test_the_use_of_an_answer_is_noted_once_a_day(database_url: str) -> None:
    answer = StoredAnswer(key="k", model="m", answer={}, used_at=now() - timedelta(days=2))
    with database.writing() as session:
        model_calls.save_answer(session, answer)
        model_calls.note_use(session, "k")
    assert model_calls.wants_noting(answer)
    with database.reading() as session:
        noted = model_calls.find_answer(session, "k")
    assert noted is not None
    assert not model_calls.wants_noting(noted)


NOISE = "".join(sha256(str(number).encode()).hexdigest() for number in range(6000))  # which no database compresses


def add_large(numbers: Iterable[int]) -> None:
    for number in numbers:
        filled.add_finished(f"r{number}", document=f"d{number}", content=f"c{number}", text=f"{NOISE}{number}")


def test_room_is_given_back_to_the_disk_while_others_have_it_open(home: Path) -> None:
    add_large(range(8))
    before = pruning.give_back()
    pruning.prune(1)
    with database.reading() as session, ThreadPoolExecutor() as others:
        assert runs.find_run(session, "latest")
        session.rollback()  # its connection stays open
        vacuuming = others.submit(pruning.give_back)
        filled.add_finished("meanwhile")
    after = vacuuming.result()
    assert (before.problem, after.problem) == (None, None)
    assert after.after < before.after / 2
    assert filled.run_ids() == ["r7", "meanwhile"]


def test_in_postgresql_later_rows_take_the_room(home: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DATABASE_URL", postgres_url)
    add_large(range(8))
    pruning.prune(1)
    before = pruning.give_back()
    add_large(range(10, 15))
    after = pruning.give_back()
    assert (before.problem, after.problem) == (None, None)
    assert after.after < before.after + len(NOISE)


def test_a_database_of_an_earlier_release_gives_its_room_back_too(home: Path) -> None:
    database.close()
    path = home / "diligence.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum=NONE")
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    filled.add_finished("r1", text="word " * 200_000)
    filled.add_finished("r2", document="d2", content="c2")
    pruning.prune(1)
    given_back = pruning.give_back()
    assert given_back.problem is None
    assert given_back.after < 900_000 < given_back.before


@pytest.mark.parametrize("keep", [1, 2])
def test_prune_without_runs_does_nothing(keep: int, database_url: str) -> None:
    assert pruning.prune(keep).rows.total() == 0


def test_the_record_of_calls_is_kept_for_as_long_as_it_is_wanted(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_CALLS_AT_ONCE", 3)  # so that it takes several transactions
    add_runs(1)
    with database.writing() as session:
        for days in (400, 300, 200, 100, 90, 80, 70, 1):
            call = AuditedCall(
                key="reporting", operation="POST /v1/ai/question", status=200, at=now() - timedelta(days)
            )
            logins.add_audited_call(session, call)

    def kept() -> int:
        with database.reading() as session:
            return len(rows.audited_calls(session, "reporting"))

    before = now() - timedelta(days=75)
    assert pruning.prune(1).rows["calls"] == 0
    assert pruning.prune(1, calls_before=before, dry_run=True).rows["calls"] == 6
    assert kept() == 8
    assert pruning.prune(1, calls_before=before).rows["calls"] == 6
    assert kept() == 2
    assert pruning.prune(1, calls_before=before).rows["calls"] == 0


def test_definitions_go_that_no_run_has_and_no_deployment_uses(database_url: str) -> None:
    filled.add_finished("r1")
    with database.writing() as session:
        used, of_run, unused = (
            runs.save_definition(session, {"name": name}) for name in ("used", "of a run", "unused")
        )
        table = find_table(runs.StoredDefinition)
        session.connection().execute(table.update().values(kept_at=now() - timedelta(days=500)))
        session.get_one(runs.Run, "r1").definition = of_run
        runs.use_definition(session, used)
    pruning.prune(1)
    with database.reading() as session:
        found = {digest: runs.find_definition(session, digest) for digest in (used, of_run, unused)}
    assert [bool(found[digest]) for digest in (used, of_run, unused)] == [True, True, False]

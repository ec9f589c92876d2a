"""Many documents of a run: each one's outcome, whatever the others do.

How a batch's documents are fetched: side by side from afar, one by one from a disk, never too many.
"""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text as sql

from storage import database, documents
from storage.columns import now
from storage.documents import DocumentOutcome, DocumentStatus, RunDocument
from storage.settings import override_settings
from storage.texts import find_signs
from tasks.documents import batch, texts
from tasks.documents.batch import read_documents
from tasks.documents.drive.drive import Drive, Fetched
from tasks.documents.drive.local.drive import LocalDrive
from tasks.documents.index import index_room
from tasks.documents.kinds.signs import signs_version
from tasks.documents.texts import document_text
from tasks.errors import NotConfigured
from tasks.reading.configuration import ReadingSettings
from tasks.reading.pool.pool import ExtractionPool
from tests.storage import processes, rows
from tests.tasks.documents.conftest import CountingPool
from tests.tasks.documents.readers import while_it_is_written

Write = Callable[..., str]


def read(room_id: int, since: datetime | None = None, company_id: int | None = None) -> dict[str, DocumentOutcome]:
    """Read all of a room; gives the outcomes by the documents' names."""
    with database.reading() as session:
        names = {document.document_id: document.name for document in documents.room_documents(session, room_id)}
    outcomes = read_documents(room_id, list(names), company_id, since)
    assert len(outcomes) == len(names)
    return {names[outcome.document_id]: outcome for outcome in outcomes}


def statuses(outcomes: dict[str, DocumentOutcome]) -> dict[str, str]:
    return {name: outcome.status.value for name, outcome in sorted(outcomes.items())}


def test_each_document_has_its_outcome(write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DOCUMENT_MAX_MB", "1")
    contents = {
        "read.txt": "Umsätze",
        "blank.txt": " \n",
        "empty.txt": "",
        "damaged.pdf": "no pdf",
        "hangs.txt": "hang",
        "crashes.txt": "crash",
        "film.mp4": "x",
        "large.txt": "x" * (1024 * 1024 + 1),
    }
    for name, content in contents.items():
        write(name, content)
    outcomes = read(index_room("root"))
    assert statuses(outcomes) == {
        "blank.txt": "empty",
        "crashes.txt": "failed",
        "damaged.pdf": "failed",
        "empty.txt": "empty",
        "hangs.txt": "failed",
        "large.txt": "failed",
        "film.mp4": "unsupported",
        "read.txt": "read",
    }
    assert outcomes["read.txt"].characters == len("Umsätze")
    assert outcomes["read.txt"].text_id is not None
    assert outcomes["read.txt"].warning is None
    assert "DILIGENCE_DOCUMENT_MAX_MB" in (outcomes["large.txt"].warning or "")
    assert "DILIGENCE_DOCUMENT_TIMEOUT" in (outcomes["hangs.txt"].warning or "")
    assert all(outcomes[name].warning for name in ("damaged.pdf", "crashes.txt", "film.mp4"))


def test_what_a_text_shows_of_its_kind_is_stored_when_it_is_read(write: Write) -> None:
    write("scan 12.txt", "Lease Agreement\n\nThe landlord lets the premises to the tenant.")
    text_id = read(index_room("root"))["scan 12.txt"].text_id
    with database.reading() as session:
        ((signs, _),) = find_signs(session, [text_id or 0], signs_version()).values()
    assert signs["title"] == "lease"


def test_an_unchanged_room_is_neither_fetched_nor_read_again(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        write(f"{number}.txt", f"words {number}")
    write("damaged.pdf", "no pdf")
    time.sleep(0.06)
    room_id = index_room("root")
    read(room_id)
    assert pool.count == 31
    monkeypatch.setattr(LocalDrive, "fetch", None)
    again = read(index_room("root"), since=now())
    assert Counter(statuses(again).values()) == {"unchanged": 30, "failed": 1}
    assert pool.count == 31


def test_a_text_read_since_the_run_began_is_the_runs_own(write: Write, pool: CountingPool) -> None:
    write("a.txt")
    room_id, began = index_room("root"), now()
    assert statuses(read(room_id, since=began)) == {"a.txt": "read"}
    assert statuses(read(room_id, since=began)) == {"a.txt": "read"}, "after an interruption"
    assert statuses(read(room_id, since=now() + timedelta(seconds=1))) == {"a.txt": "unchanged"}
    assert pool.count == 1


def test_what_changed_is_read_and_the_rest_is_not(write: Write, pool: CountingPool) -> None:
    for name in ("a.txt", "b.txt"):
        write(name, name)
    read(index_room("root"))
    write("b.txt", "other words")
    write("c.txt", "new")
    again = read(index_room("root"), since=now())
    assert statuses(again) == {"a.txt": "unchanged", "b.txt": "read", "c.txt": "read"}
    assert pool.count == 4


def test_a_text_that_the_service_has_read_is_not_read_for_the_run(write: Write, pool: CountingPool) -> None:
    document_text(write("a.txt"))
    assert statuses(read(index_room("root"), since=now())) == {"a.txt": "unchanged"}
    assert pool.count == 1


def test_documents_with_the_same_content_share_a_text(write: Write, pool: CountingPool) -> None:
    for name in ("a.txt", "b.txt", "Legal/c.txt"):
        write(name, "the same")
    outcomes = read(index_room("root"))
    assert set(statuses(outcomes).values()) == {"read"}
    assert len({outcome.text_id for outcome in outcomes.values()}) == 1
    assert pool.count == 1


def test_a_document_that_vanishes_after_the_index_is_its_own_failure(
    write: Write, pool: CountingPool, drive_root: Path
) -> None:
    write("gone.txt")
    write("here.txt", "still here")
    room_id = index_room("root")
    (drive_root / "gone.txt").unlink()
    outcomes = read(room_id)
    assert statuses(outcomes) == {"gone.txt": "failed", "here.txt": "read"}
    assert "No such document" in (outcomes["gone.txt"].warning or "")


def test_a_document_that_changes_after_the_index_is_read_as_it_is_now(write: Write, pool: CountingPool) -> None:
    write("a.txt", "as listed")
    room_id = index_room("root")
    document_id = write("a.txt", "as it is now")
    read(room_id)
    assert document_text(document_id).text == "as it is now"


def test_a_document_that_has_left_the_room_is_a_failure(write: Write, pool: CountingPool) -> None:
    document_id = write("a.txt")
    outcomes = read_documents(index_room("root"), [document_id, "left"])
    assert {outcome.document_id: outcome.status.value for outcome in outcomes} == {
        document_id: "read",
        "left": "failed",
    }


def test_a_link_without_an_extension_is_read_as_what_it_leads_to(
    write: Write, pool: CountingPool, drive_root: Path
) -> None:
    write("Archive/lease.txt", "the lease")
    (drive_root / "Room").mkdir()
    (drive_root / "Room/our lease").symlink_to("../Archive/lease.txt")
    outcomes = read(index_room("Room"))
    assert statuses(outcomes) == {"our lease": "read"}


def test_outcomes_are_written_down_for_the_runs_company(write: Write, pool: CountingPool) -> None:
    for name, content in (("a.txt", "words"), ("b.txt", "damaged"), ("c.mp4", "x")):
        write(name, content)
    room_id, company_id = index_room("root"), rows.stored_company()
    with database.writing() as session:
        listed = documents.room_documents(session, room_id)
        documents.place_documents(
            session,
            company_id,
            [
                RunDocument(company_id=company_id, document_id=each.document_id, name=each.name, path="", url="")
                for each in listed
            ],
        )
    outcomes = read(room_id, company_id=company_id)
    with database.reading() as session:
        kept = {document.name: document for document in documents.company_documents(session, company_id)}
    assert [kept[name].status for name in sorted(kept)] == [
        DocumentStatus.READ,
        DocumentStatus.FAILED,
        DocumentStatus.UNSUPPORTED,
    ]
    assert {row.warning for row in kept.values() if row.status is DocumentStatus.UNSUPPORTED} == {
        'No reader for ".mp4".'
    }, "the formats that can be read are not told with each"
    for name, outcome in outcomes.items():
        row = kept[name]
        assert (row.text_id, row.content_hash, row.characters, row.warning) == (
            outcome.text_id,
            outcome.content_hash,
            outcome.characters,
            outcome.warning,
        )


def test_the_spool_is_empty_afterwards(write: Write, pool: CountingPool, home: Path) -> None:
    for number in range(20):
        write(f"{number}.txt", f"words {number}")
    write("hangs.txt", "hang")
    read(index_room("root"))
    assert list((home / "spool").iterdir()) == []


@pytest.mark.parametrize("in_a_run", [True, False])
def test_a_document_that_is_written_while_it_is_read_is_read_again(
    write: Write, monkeypatch: pytest.MonkeyPatch, in_a_run: bool
) -> None:
    document_id = write("a.txt", "words")
    time.sleep(0.06)  # a file that lies still is read where it lies
    with ExtractionPool(workers=1, read=while_it_is_written) as pool:
        monkeypatch.setattr(texts, "share_pool", lambda *_: pool)
        if in_a_run:
            assert statuses(read(index_room("root"))) == {"a.txt": "read"}
        assert document_text(document_id).text == "words and later words"


def test_a_batch_acts_for_the_account_of_runs(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.txt")
    room_id = index_room("root")

    def nobody() -> Drive:
        raise NotConfigured("No account is configured for runs.")

    monkeypatch.setattr(batch, "open_run_drive", nobody)
    with pytest.raises(NotConfigured):
        read(room_id)


KILLED = """
from tasks.documents import texts as reading
from tasks.documents.batch import read_documents
from tasks.reading.pool.pool import ExtractionPool
from tests.tasks.documents.readers import slowly

pool = ExtractionPool(workers=2, read=slowly)
reading.share_pool = lambda _: pool
read_documents({room_id}, {ids})
"""


def test_a_killed_run_goes_on_where_it_stood_and_reads_nothing_twice(
    write: Write, pool: CountingPool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [write(f"{number}.txt", f"words {number}") for number in range(80)]
    time.sleep(0.06)
    room_id = index_room("root")
    running = processes.start(KILLED.format(room_id=room_id, ids=ids))
    while not (done := _texts()):
        assert running.poll() is None, "it ended before it could be killed"
        time.sleep(0.005)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    done = _texts()
    assert 0 < done < 80, "it was killed on its way"
    outcomes = read(room_id)
    assert set(statuses(outcomes).values()) <= {"read", "unchanged"}
    assert pool.count == 80 - done
    assert list((home / "spool").iterdir()) == [], "what the killed process fetched is gone"


def _texts() -> int:
    with database.reading() as session:
        return int(session.connection().execute(sql("SELECT count(*) FROM texts")).scalar_one())


class FarDrive(LocalDrive):
    """The drive's root as if it lay far away: a fetch waits for `company` others, and notes what lies in the spool."""

    max_parallel_fetches = 4

    def __init__(self, root: Path, company: int = 1) -> None:
        super().__init__(root, "http://127.0.0.1:8000")
        self.together = threading.Barrier(company)
        self.threads: set[str] = set()
        self.files: list[int] = []
        self.settings: set[int] = set()

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        self.together.wait(20)
        self.threads.add(threading.current_thread().name)
        self.settings.add(ReadingSettings.current().document_max_mb)
        with self.open(document_id) as file:
            content = file.read()
        copy = spool / uuid4().hex  # what lies far away is always copied
        copy.write_bytes(content)
        self.files.append(sum(1 for _ in spool.iterdir()))
        return Fetched(copy, sha256(content).hexdigest(), self.document(document_id).version)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch, drive_root: Path) -> Callable[..., FarDrive]:
    """Puts the documents far away."""

    def move(company: int = 1) -> FarDrive:
        drive = FarDrive(drive_root, company)
        monkeypatch.setattr(batch, "open_run_drive", lambda: drive)
        return drive

    return move


def test_documents_far_away_are_fetched_side_by_side(
    write: Write, pool: CountingPool, far: Callable[..., FarDrive]
) -> None:
    for number in range(12):
        write(f"{number}.txt", f"words {number}")
    room_id = index_room("root")
    drive = far(company=4)
    assert set(statuses(read(room_id)).values()) == {"read"}
    assert len(drive.threads) == 4
    assert threading.current_thread().name not in drive.threads


def test_documents_of_a_disk_are_fetched_by_the_task_itself(
    write: Write, pool: CountingPool, far: Callable[..., FarDrive]
) -> None:
    write("a.txt")
    room_id = index_room("root")
    drive = far()
    drive.max_parallel_fetches = 1
    read(room_id)
    assert drive.threads == {threading.current_thread().name}


def test_the_settings_of_a_batch_file_hold_while_documents_are_fetched(
    write: Write, pool: CountingPool, far: Callable[..., FarDrive]
) -> None:
    write("a.txt")
    room_id = index_room("root")
    drive = far()
    with override_settings({"document_max_mb": 3}):
        read(room_id)
    assert drive.settings == {3}


def test_a_document_that_cannot_be_fetched_is_its_own_failure(
    write: Write, pool: CountingPool, far: Callable[..., FarDrive], drive_root: Path
) -> None:
    for name in ("a.txt", "gone.txt", "z.txt"):
        write(name, name)
    room_id = index_room("root")
    (drive_root / "gone.txt").unlink()
    far()
    outcomes = read(room_id)
    assert statuses(outcomes) == {"a.txt": "read", "gone.txt": "failed", "z.txt": "read"}
    assert "No such document" in (outcomes["gone.txt"].warning or "")


@pytest.mark.parametrize("max_parallel_fetches", [1, 4])
def test_no_more_lies_in_the_spool_than_may(
    write: Write,
    pool: CountingPool,
    far: Callable[..., FarDrive],
    monkeypatch: pytest.MonkeyPatch,
    max_parallel_fetches: int,
) -> None:
    monkeypatch.setattr(batch, "MAX_PENDING", 6)
    monkeypatch.setattr(batch, "BATCH_SIZE", 2)
    for number in range(30):
        write(f"{number}.txt", f"words {number}")
    room_id = index_room("root")
    drive = far()
    drive.max_parallel_fetches = max_parallel_fetches
    assert len(read(room_id)) == 30
    assert max(drive.files) <= 6
    monkeypatch.setattr(batch, "MAX_PENDING_BYTES", 1)
    drive.files.clear()
    for number in range(30):
        write(f"{number}.txt", f"other words {number}")
    read(index_room("root"))
    assert max(drive.files) == 1, "large documents come one by one"


def test_documents_are_fetched_in_the_order_given(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [write(f"{number}.txt", "x" * number) for number in (3, 9, 6)]
    asked: list[str] = []
    fetch = LocalDrive.fetch

    def noted(drive: LocalDrive, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        asked.append(document_id)
        return fetch(drive, document_id, spool, max_bytes)

    monkeypatch.setattr(LocalDrive, "fetch", noted)
    in_order = [ids[1], ids[2], ids[0]]
    read_documents(index_room("root"), in_order)
    assert asked == in_order

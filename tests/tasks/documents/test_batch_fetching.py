"""How a batch's documents are fetched: side by side from afar, one by one from a disk, never too many."""

import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from storage.settings import override_settings
from tasks.documents import batch
from tasks.documents.batch import read_documents
from tasks.documents.drive.drive import Fetched
from tasks.documents.drive.local.drive import LocalDrive
from tasks.documents.index import index_room
from tasks.reading.configuration import ReadingSettings
from tests.tasks.documents.conftest import CountingPool
from tests.tasks.documents.test_batch import read, statuses

Write = Callable[..., str]


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

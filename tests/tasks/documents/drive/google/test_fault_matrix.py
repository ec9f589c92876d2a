"""A whole data room indexed and read while Google fails: the same rows and texts as without, and no error."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import database, documents, texts
from storage.documents import DocumentStatus
from tasks.documents.batch import read_documents
from tasks.documents.drive.google import client
from tasks.documents.index import index_room
from tests.google.credentials import authorised_user_file
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.natives import DOCUMENT, SPREADSHEET
from tests.google.server import DriveEmulator
from tests.matrices import quick_cases
from tests.tasks.documents.conftest import CountingPool
from tests.tasks.documents.drive.google.connection import ADA
from tests.tasks.documents.drive.google.emulated import point_at

FAULTS = {
    "403 rate": Fault(every=5, reason="userRateLimitExceeded"),
    "429": Fault(every=5, reason="rateLimitExceeded", status=429),
    "429 Retry-After": Fault(every=5, reason="rateLimitExceeded", status=429, retry_after=0.05),
    "500": Fault(every=5, reason="backendError"),
    "502 HTML": Fault(every=5, reason="badGateway", html=True),
    "503 Retry-After": Fault(every=5, reason="serviceUnavailable", retry_after=0.05),
    "reset": Fault(every=5, do="reset"),
    "reset in a body": Fault(every=5, do="reset_body"),
    "truncated": Fault(every=5, do="truncate"),
    "slow body": Fault(every=5, do="drip", seconds=8),
    "slow answer": Fault(every=5, do="delay", seconds=2),
    # Twice: a file that arrives damaged three times is given up, and the fifth calls of several threads may be one's.
    "corrupted file": Fault(every=5, on="files.media", do="corrupt", times=2),
    "token endpoint": Fault(on="token", reason="serviceUnavailable", times=1),
}

pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture
def emulator(pool: CountingPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DriveEmulator]:
    """A Drive that the account of runs reads."""
    with DriveEmulator() as found:
        point_at(found, monkeypatch)
        file = authorised_user_file(found, tmp_path / "login.json", ADA)
        monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(file))
        yield found


@pytest.fixture
def room(emulator: DriveEmulator) -> Item:
    """A folder with 12 folders, 36 text files and 4 native documents."""
    world = emulator.world
    top = world.folder("Room", world.root(ADA))
    for number in range(12):
        folder = world.folder(f"Folder {number}", top)
        for other in range(3):
            world.file(f"{other}.txt", folder, f"words {number} {other}".encode() * 500)
    for number in range(2):
        world.native(f"Plan {number}", top, DOCUMENT, f"the plan {number}")
        world.native(f"Table {number}", top, SPREADSHEET, f"the table {number}")
    return top


def read(room: Item) -> dict[str, tuple[DocumentStatus, str | None]]:
    """Index and read the room: the status and text of each document, by its path."""
    room_id = index_room(room.id)
    with database.reading() as session:
        paths = {
            document.document_id: f"{document.path}/{document.name}"
            for document in documents.room_documents(session, room_id)
        }
    outcomes = read_documents(room_id, list(paths))
    with database.reading() as session:
        found = {
            outcome.document_id: texts.get_text(session, outcome.text_id).text if outcome.text_id else None
            for outcome in outcomes
        }
    return {paths[outcome.document_id]: (outcome.status, found[outcome.document_id]) for outcome in outcomes}


@pytest.mark.parametrize("fault", quick_cases(FAULTS.values(), quick=(0, 7, 11)), ids=FAULTS.keys())
def test_fault_at_every_fifth_call_changes_no_row_and_no_text(
    emulator: DriveEmulator, room: Item, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault.do in {"drip", "delay"}:  # a tenth of the patience that a slow server is given
        monkeypatch.setattr(client, "FIRST_BYTE", 0.5)
        monkeypatch.setattr(client, "WINDOW", 0.2)
    emulator.faults.set(fault)
    found = read(room)
    assert emulator.counts.faults
    expected = {
        f"Folder {number}/{other}.txt": f"words {number} {other}" * 500 for number in range(12) for other in range(3)
    }
    expected |= {f"/Plan {number}.docx": f"the plan {number}" for number in range(2)}
    expected |= {f"/Table {number}.xlsx": f"Sheet\nthe table {number}" for number in range(2)}
    assert {status for status, _ in found.values()} == {DocumentStatus.READ}
    assert {path: text and text.strip() for path, (_, text) in found.items()} == expected


@pytest.mark.slow
@pytest.mark.parametrize("retry_after", [False, True])
def test_quota_slows_a_run_down_and_lets_it_finish(emulator: DriveEmulator, room: Item, retry_after: bool) -> None:
    emulator.settings.quota, emulator.settings.quota_window = 20, 1.0  # 60 a minute, in a third of the time a call
    emulator.settings.quota_retry_after = retry_after
    found = read(room)
    assert [status for status, _ in found.values()] == [DocumentStatus.READ] * 40
    assert emulator.counts.by_status[403]


REFUSALS = {
    "cannotDownloadFile": "does not let this account download",
    "cannotDownloadAbusiveFile": "malware",
    "fileNotDownloadable": "no content",
    "downloadQuotaExceeded": "tomorrow",
    "insufficientFilePermissions": "share it",
    "appNotAuthorizedToFile": "Log in again",
}


def test_permanent_failures_of_documents_are_their_outcomes(emulator: DriveEmulator, room: Item) -> None:
    refused = {}
    for reason, says in REFUSALS.items():
        item = emulator.world.file(f"{reason}.txt", room, b"never read")
        item.refusal = reason
        refused[item.id] = says
    room_id = index_room(room.id)
    with database.reading() as session:
        names = [document.document_id for document in documents.room_documents(session, room_id)]
    outcomes = {document.document_id: document for document in read_documents(room_id, names)}
    for item_id, says in refused.items():
        bad = outcomes.pop(item_id)
        assert bad.status in {DocumentStatus.FAILED, DocumentStatus.UNSUPPORTED}
        assert says in (bad.warning or "")
    assert {outcome.status for outcome in outcomes.values()} == {DocumentStatus.READ}
    assert emulator.counts.by_method["files.media"] == 36 + len(REFUSALS)  # each was asked for once


def test_server_error_that_stays_with_one_document_is_its_outcome(emulator: DriveEmulator, room: Item) -> None:
    item = emulator.world.file("bad.txt", room, b"never read")
    emulator.faults.set(Fault(file=item.id))
    found = read(room)
    assert found.pop("/bad.txt") == (DocumentStatus.FAILED, None)
    assert {status for status, _ in found.values()} == {DocumentStatus.READ}

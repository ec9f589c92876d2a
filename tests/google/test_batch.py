"""The batch endpoint through Google's own BatchHttpRequest."""

from typing import Any

import pytest
from googleapiclient.errors import BatchError, HttpError
from googleapiclient.http import BatchHttpRequest

from tests.google.conftest import ADA, BOB, Connect
from tests.google.faults import Fault
from tests.google.server import DriveEmulator


class Batch:
    """A batch that keeps what each call came to."""

    def __init__(self, drive: DriveEmulator) -> None:
        self.answers: dict[str, Any] = {}
        self.request = BatchHttpRequest(callback=self._keep, batch_uri=drive.batch_uri)

    def _keep(self, name: str, answer: Any, error: HttpError | None) -> None:
        self.answers[name] = (error.resp.status, error.reason) if error else answer


def test_each_part_has_its_own_answer_and_the_whole_is_one_request(drive: DriveEmulator, connect: Connect) -> None:
    world, service = drive.world, connect()
    folders = [world.folder(f"{number}", world.root(ADA)) for number in range(3)]
    for folder in folders[:2]:
        world.file(f"in {folder.name}.txt", folder)
    batch = Batch(drive)
    for folder in folders:
        batch.request.add(
            service.files().list(q=f"'{folder.id}' in parents", fields="files(name)"), request_id=folder.name
        )
    batch.request.add(service.files().get(fileId="unknown"), request_id="unknown")
    drive.reset()
    batch.request.execute()
    assert batch.answers == {
        "0": {"files": [{"name": "in 0.txt"}]},
        "1": {"files": [{"name": "in 1.txt"}]},
        "2": {"files": []},
        "unknown": (404, "File not found: unknown."),
    }
    counts = drive.counts
    assert (counts.requests, counts.calls) == (1, 4)
    assert counts.by_method == {"batch": 1, "files.list": 3, "files.get": 1}


def test_a_part_acts_for_the_user_it_names(drive: DriveEmulator, connect: Connect) -> None:
    batch = Batch(drive)
    for email in (ADA, BOB):
        request = connect(email).about().get(fields="user/emailAddress")
        request.headers["Authorization"] = f"Bearer {drive.token(email)}"
        batch.request.add(request, request_id=email)
    batch.request.execute(http=connect(ADA)._http)
    assert batch.answers == {email: {"user": {"emailAddress": email}} for email in (ADA, BOB)}


def test_100_parts_and_no_more(drive: DriveEmulator, connect: Connect) -> None:
    service = connect()
    for size in (100, 101):
        batch = Batch(drive)
        for _ in range(size):
            batch.request.add(service.files().get(fileId="root", fields="name"))
        if size > 100:
            with pytest.raises((HttpError, BatchError)):
                batch.request.execute()
        else:
            batch.request.execute()
            assert len(batch.answers) == 100


def test_a_part_can_be_refused_and_spends_quota(drive: DriveEmulator, connect: Connect) -> None:
    drive.settings.quota = 3
    batch = Batch(drive)
    drive.faults.set(Fault(on="files.get", at=[1], reason="backendError", status=503))
    for _ in range(5):
        batch.request.add(connect().files().get(fileId="root", fields="name"))
    batch.request.execute()
    statuses = [answer[0] if isinstance(answer, tuple) else 200 for answer in batch.answers.values()]
    assert statuses == [503, 200, 200, 403, 403]


def test_downloads_are_not_for_batches(drive: DriveEmulator, connect: Connect) -> None:
    file = drive.world.file("a.txt", drive.world.root(ADA), b"x")
    batch = Batch(drive)
    batch.request.add(connect().files().get_media(fileId=file.id), request_id="media")
    batch.request.execute()
    assert batch.answers["media"][0] == 400

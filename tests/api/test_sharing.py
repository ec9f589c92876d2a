"""Many clients ask for the index of the same folder: it is made for all of them at once, and none gets an old one."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tasks.documents.drive.local.drive import LocalDrive
from tests.api.conftest import serving

INDEX = "/v1/drive/document-index"


def names(answer: httpx.Response) -> set[str]:
    return {one["document_name"] for one in answer.json()["document_index"][0]["documents"]}


def test_what_many_ask_for_is_listed_twice_at_most_and_is_as_new_as_the_question(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "old.txt").write_text("old")
    begun, go_on, listings = threading.Event(), threading.Event(), []
    listed = LocalDrive.list_folder

    def slowly(*args: Any, **kwargs: Any) -> Any:
        listing = listed(*args, **kwargs)
        listings.append(listing)
        begun.set()
        assert go_on.wait(60)
        return listing

    monkeypatch.setattr(LocalDrive, "list_folder", slowly)
    with serving() as client, ThreadPoolExecutor(20) as threads:

        def ask() -> httpx.Response:
            return client.post(INDEX, json={"cloud_drive_folder": "root"}, timeout=60)

        first = threads.submit(ask)
        assert begun.wait(60)
        (room / "new.txt").write_text("new")
        later = [threads.submit(ask) for _ in range(12)]
        threading.Event().wait(1.5)
        go_on.set()
        assert names(first.result()) == {"old.txt"}
        assert [names(answer.result()) for answer in later] == [{"old.txt", "new.txt"}] * 12
    assert len(listings) == 2


def test_a_failure_is_that_of_all_who_wait_and_of_nobody_later(room: Path) -> None:
    with serving() as client, ThreadPoolExecutor(6) as threads:

        def ask(_: int) -> int:
            return client.post(INDEX, json={"cloud_drive_folder": "root/missing"}).status_code

        statuses = list(threads.map(ask, range(6)))
        assert len(set(statuses)) == 1
        assert statuses[0] in {400, 404}
        assert client.post(INDEX, json={"cloud_drive_folder": "root"}).status_code == 200

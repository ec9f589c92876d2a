"""A service on Google Drive: what `test_rights` cannot ask of every drive."""

from pathlib import Path

import httpx
import pytest

from storage.logins import Whose
from tests.api.google import ADA, BOB, bearer
from tests.api.test_problems import problem
from tests.google.credentials import service_account_file
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import stored_login

INDEX, TEXT = "/v1/drive/document-index", "/v1/drive/document-text"


@pytest.fixture
def folder(google: DriveEmulator) -> Item:
    """A folder of Ada's."""
    return google.world.folder("Board", google.world.root(ADA))


@pytest.fixture
def plan(google: DriveEmulator, folder: Item) -> Item:
    """A document of Ada's in that folder."""
    return google.world.file("plan.txt", folder, b"The merger is planned for May.")


def read(service: httpx.Client, item: Item, headers: dict[str, str]) -> httpx.Response:
    return service.post(TEXT, json={"document_id": item.id}, headers=headers)


def index(service: httpx.Client, item: Item, headers: dict[str, str]) -> httpx.Response:
    return service.post(INDEX, json={"cloud_drive_folder": item.id}, headers=headers)


def test_with_drive_out_of_reach_stored_text_is_not_given(
    google: DriveEmulator, service: httpx.Client, folder: Item, plan: Item, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer(google, ADA)
    assert read(service, plan, headers).status_code == 200
    assert index(service, folder, headers).status_code == 200
    google.stop()
    for answer in (read(service, plan, headers), index(service, folder, headers)):
        problem(answer, 503, "unavailable")
        assert "merger" not in answer.text
    google.start()


def test_neither_the_service_account_nor_a_stored_login_answers_for_a_caller(
    google: DriveEmulator,
    service: httpx.Client,
    folder: Item,
    plan: Item,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored_login(google, ADA, Whose.MACHINE)
    stored_login(google, ADA, Whose.WEB)
    key = service_account_file(google, tmp_path / "key.json", delegates=["*"])
    monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(key))
    monkeypatch.setenv("DILIGENCE_GOOGLE_SUBJECT", ADA)
    for headers, status in (({}, 401), ({"Authorization": "Bearer gone"}, 401), (bearer(google, BOB), 404)):
        for answer in (read(service, plan, headers), index(service, folder, headers)):
            assert answer.status_code == status
    assert google.service.oauth.refreshes == 0


def test_a_drive_out_of_reach_is_not_ready(google: DriveEmulator, service: httpx.Client) -> None:
    google.stop()
    assert [each["field"] for each in problem(service.get("/health/ready"), 503, "unavailable")["errors"]] == ["drive"]
    google.start()


def test_a_drive_that_answers_with_an_error_is_within_reach(google: DriveEmulator, service: httpx.Client) -> None:
    google.faults.set(Fault(on="*", status=500))
    assert service.get("/health/ready").status_code == 200


def test_the_schema_says_which_token_is_meant(service: httpx.Client) -> None:
    schemes = service.get("/schema/openapi.json").json()["components"]["securitySchemes"]
    assert "Google account with the scope drive.readonly" in schemes["Bearer"]["description"]

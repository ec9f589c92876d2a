"""Two users of one service: each sees what Google Drive shows to that user now, and nothing of the other's."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from storage.logins import Whose
from tests.api.google import ADA, BOB, bearer, log_in
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


def names(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["document_name"] for category in answer.json()["document_index"] for each in category["documents"]]


def test_what_one_user_had_read_is_unknown_to_the_other(
    google: DriveEmulator, service: httpx.Client, folder: Item, plan: Item
) -> None:
    assert "merger" in read(service, plan, bearer(google, ADA)).json()["text"]
    assert names(index(service, folder, bearer(google, ADA))) == ["plan.txt"]
    for answer in (read(service, plan, bearer(google, BOB)), index(service, folder, bearer(google, BOB))):
        problem(answer, 404, "not-found")
        assert "merger" not in answer.text
        assert "plan" not in answer.text


def test_each_user_is_shown_their_own_view_of_a_shared_folder(
    google: DriveEmulator, service: httpx.Client, folder: Item, plan: Item
) -> None:
    google.world.share(folder, BOB)
    secret = google.world.file("minutes.txt", folder, b"secret")
    google.world.restrict(secret)
    google.world.share(secret, ADA)
    for _ in range(2):
        assert names(index(service, folder, bearer(google, ADA))) == ["minutes.txt", "plan.txt"]
        assert names(index(service, folder, bearer(google, BOB))) == ["plan.txt"]
    assert read(service, secret, bearer(google, ADA)).status_code == 200
    problem(read(service, secret, bearer(google, BOB)), 404, "not-found")


def test_sessions_are_views_of_their_own_too(
    google: DriveEmulator, service: httpx.Client, folder: Item, plan: Item
) -> None:
    with httpx.Client(base_url=service.base_url, timeout=60) as other:
        log_in(service, ADA)
        log_in(other, BOB)
        assert names(index(service, folder, {})) == ["plan.txt"]
        assert read(service, plan, {}).status_code == 200
        problem(index(other, folder, {}), 404, "not-found")
        problem(read(other, plan, {}), 404, "not-found")


def test_a_token_goes_before_a_session_and_a_bad_one_is_not_made_good_by_it(
    google: DriveEmulator, service: httpx.Client, plan: Item
) -> None:
    log_in(service, ADA)
    assert read(service, plan, {}).status_code == 200
    problem(read(service, plan, bearer(google, BOB)), 404, "not-found")
    problem(read(service, plan, {"Authorization": "Bearer gone"}), 401, "not-logged-in")


def test_lost_access_is_lost_for_stored_text_too(
    google: DriveEmulator, service: httpx.Client, folder: Item, plan: Item
) -> None:
    google.world.share(folder, BOB)
    headers = bearer(google, BOB)
    assert read(service, plan, headers).status_code == 200
    assert index(service, folder, headers).status_code == 200
    google.world.unshare(folder, BOB)
    problem(read(service, plan, headers), 404, "not-found")
    problem(index(service, folder, headers), 404, "not-found")
    assert read(service, plan, bearer(google, ADA)).status_code == 200


def test_a_document_that_may_not_be_downloaded_any_more_is_403(
    google: DriveEmulator, service: httpx.Client, folder: Item, plan: Item
) -> None:
    google.world.share(folder, BOB)
    assert read(service, plan, bearer(google, BOB)).status_code == 200
    google.world.forbid_download(plan)
    answer = read(service, plan, bearer(google, BOB))
    problem(answer, 403, "not-allowed")
    assert "merger" not in answer.text


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


def test_nobody_is_answered_without_a_login(google: DriveEmulator, service: httpx.Client, plan: Item) -> None:
    answer = read(service, plan, {})
    assert "/login" in problem(answer, 401, "not-logged-in")["detail"]
    assert answer.headers["www-authenticate"] == "Bearer"


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


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Basic dXNlcjpwYXNz", "Bearer a b", "Bearer ä", "Token x", "Bearer " + "x" * 9000]
)
def test_a_malformed_authorization_is_401(google: DriveEmulator, service: httpx.Client, plan: Item, value: str) -> None:
    log_in(service, ADA)
    answer = service.post(TEXT, json={"document_id": plan.id}, headers={b"Authorization": value.encode()})
    problem(answer, 401, "not-logged-in")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_two_authorizations_are_none(google: DriveEmulator, service: httpx.Client, plan: Item) -> None:
    both = [(b"Authorization", f"Bearer {google.token(each)}".encode()) for each in (ADA, BOB)]
    problem(service.post(TEXT, json={"document_id": plan.id}, headers=both), 401, "not-logged-in")


def test_an_expired_token_is_401(google: DriveEmulator, service: httpx.Client, plan: Item) -> None:
    headers = bearer(google, ADA)
    assert read(service, plan, headers).status_code == 200
    google.accounts.expire(headers["Authorization"].removeprefix("Bearer "))
    answer = read(service, plan, headers)
    problem(answer, 401, "not-logged-in")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_calls_side_by_side_keep_their_callers_apart(google: DriveEmulator, service: httpx.Client, plan: Item) -> None:
    letter = google.world.file("letter.txt", google.world.root(BOB), b"Dear Ada")
    headers = {each: bearer(google, each) for each in (ADA, BOB)}

    def ask(number: int) -> tuple[str, str, int]:
        email, item = (ADA, BOB)[number % 2], (plan, letter)[number // 2 % 2]
        return email, item.name, read(service, item, headers[email]).status_code

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(ask, range(48)))
    assert found == {(ADA, "plan.txt", 200), (ADA, "letter.txt", 404), (BOB, "plan.txt", 404), (BOB, "letter.txt", 200)}


def test_documents_of_google_are_shown_by_google(
    google: DriveEmulator, service: httpx.Client, folder: Item, plan: Item
) -> None:
    found = index(service, folder, bearer(google, ADA)).json()["document_index"][0]["documents"][0]
    assert not found["document_url"].startswith(str(service.base_url))
    assert plan.id in found["document_url"]
    problem(service.get(f"/file/d/{plan.id}/view", headers=bearer(google, ADA)), 404, "not-found")


def test_the_schema_names_both_ways_to_be_known(service: httpx.Client) -> None:
    document = service.get("/schema/openapi.json").json()
    assert document["paths"][TEXT]["post"]["security"] == [{"Bearer": []}, {"Session": []}]
    schemes = document["components"]["securitySchemes"]
    assert (schemes["Bearer"]["type"], schemes["Bearer"]["scheme"]) == ("http", "bearer")
    assert (schemes["Session"]["in"], schemes["Session"]["name"]) == ("cookie", "diligence-session")
    assert "security" not in document["paths"]["/v1/ai/question"]["post"]


def test_a_service_that_nobody_is_logged_in_to_is_ready(google: DriveEmulator, service: httpx.Client) -> None:
    assert service.get("/health/ready").status_code == 200
    google.faults.set(Fault(on="*", status=500))
    assert service.get("/health/ready").status_code == 200, "Drive answers"


def test_a_drive_out_of_reach_is_not_ready(google: DriveEmulator, service: httpx.Client) -> None:
    google.stop()
    assert [each["field"] for each in problem(service.get("/health/ready"), 503, "unavailable")["errors"]] == ["drive"]
    google.start()

"""Two users of one service: each sees what the drive shows to that user now, and nothing of the other's."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.api.conftest import serving
from tests.api.google import ADA, BOB
from tests.api.test_problems import problem
from tests.api.users.drives import Users, bearer

INDEX, TEXT = "/v1/drive/document-index", "/v1/drive/document-text"


@pytest.fixture
def folder(users: Users) -> str:
    """A folder of Ada's."""
    return users.folder("Board", ADA)


@pytest.fixture
def plan(users: Users, folder: str) -> str:
    """A document of Ada's in that folder."""
    return users.file("plan.txt", b"The merger is planned for May.", folder=folder)


def read(client: httpx.Client, document_id: str, headers: dict[str, str]) -> httpx.Response:
    return client.post(TEXT, json={"document_id": document_id}, headers=headers)


def index(client: httpx.Client, folder_id: str, headers: dict[str, str]) -> httpx.Response:
    return client.post(INDEX, json={"cloud_drive_folder": folder_id}, headers=headers)


def names(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    categories = answer.json()["document_index"]
    return [document["document_name"] for category in categories for document in category["documents"]]


def log_in(users: Users, client: httpx.Client, email: str) -> None:
    """Log in as the user's browser does."""
    answer = users.agree(client.get("/login").headers["location"], email)
    assert answer.pop("to") == str(client.base_url.join("/login/callback"))
    assert client.get("/login/callback", params=answer).status_code == 303


def test_what_one_user_had_read_is_unknown_to_the_other(
    users: Users, client: httpx.Client, folder: str, plan: str
) -> None:
    assert "merger" in read(client, plan, bearer(users, ADA)).json()["text"]
    assert names(index(client, folder, bearer(users, ADA))) == ["plan.txt"]
    for answer in (read(client, plan, bearer(users, BOB)), index(client, folder, bearer(users, BOB))):
        problem(answer, 404, "not-found")
        assert "merger" not in answer.text
        assert "plan" not in answer.text


def test_users_are_shown_their_own_views_of_a_shared_folder(
    users: Users, client: httpx.Client, folder: str, plan: str
) -> None:
    users.share(folder, BOB)
    secret = users.file("minutes.txt", b"secret", folder=folder)
    users.restrict(secret)
    users.share(secret, ADA)
    for _ in range(2):
        assert names(index(client, folder, bearer(users, ADA))) == ["minutes.txt", "plan.txt"]
        assert names(index(client, folder, bearer(users, BOB))) == ["plan.txt"]
    assert read(client, secret, bearer(users, ADA)).status_code == 200
    problem(read(client, secret, bearer(users, BOB)), 404, "not-found")


def test_sessions_are_views_of_their_own_too(users: Users, client: httpx.Client, folder: str, plan: str) -> None:
    with httpx.Client(base_url=client.base_url, timeout=60) as other:
        log_in(users, client, ADA)
        log_in(users, other, BOB)
        assert names(index(client, folder, {})) == ["plan.txt"]
        assert read(client, plan, {}).status_code == 200
        problem(index(other, folder, {}), 404, "not-found")
        problem(read(other, plan, {}), 404, "not-found")


def test_a_token_goes_before_a_session_and_a_bad_one_is_not_made_good_by_it(
    users: Users, client: httpx.Client, plan: str
) -> None:
    log_in(users, client, ADA)
    assert read(client, plan, {}).status_code == 200
    problem(read(client, plan, bearer(users, BOB)), 404, "not-found")
    problem(read(client, plan, {"Authorization": "Bearer gone"}), 401, "not-logged-in")


def test_a_user_who_logged_out_is_not_answered(users: Users, client: httpx.Client, plan: str) -> None:
    log_in(users, client, ADA)
    assert ADA in client.get("/login/you").text
    client.post("/logout", headers={"Origin": str(client.base_url).rstrip("/")})
    problem(read(client, plan, {}), 401, "not-logged-in")


def test_an_answer_in_another_browser_logs_nobody_in(users: Users, client: httpx.Client, plan: str) -> None:
    answer = users.agree(client.get("/login").headers["location"], ADA)
    del answer["to"]
    with httpx.Client(base_url=client.base_url) as victim:
        assert victim.get("/login/callback", params=answer).status_code == 400
        problem(read(victim, plan, {}), 401, "not-logged-in")


def test_lost_access_is_lost_for_stored_text_too(users: Users, client: httpx.Client, folder: str, plan: str) -> None:
    users.share(folder, BOB)
    headers = bearer(users, BOB)
    assert read(client, plan, headers).status_code == 200
    assert index(client, folder, headers).status_code == 200
    users.unshare(folder, BOB)
    problem(read(client, plan, headers), 404, "not-found")
    problem(index(client, folder, headers), 404, "not-found")
    assert read(client, plan, bearer(users, ADA)).status_code == 200


def test_a_document_that_may_not_be_downloaded_any_more_is_403(
    users: Users, client: httpx.Client, folder: str, plan: str
) -> None:
    users.share(folder, BOB)
    assert read(client, plan, bearer(users, BOB)).status_code == 200
    users.forbid_download(plan)
    answer = read(client, plan, bearer(users, BOB))
    problem(answer, 403, "not-allowed")
    assert "merger" not in answer.text


def test_nobody_is_answered_without_a_login(users: Users, client: httpx.Client, plan: str) -> None:
    answer = read(client, plan, {})
    assert "/login" in problem(answer, 401, "not-logged-in")["detail"]
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Basic dXNlcjpwYXNz", "Bearer a b", "Bearer ä", "Token x", "Bearer " + "x" * 9000]
)
def test_a_malformed_authorization_is_401(users: Users, client: httpx.Client, plan: str, value: str) -> None:
    log_in(users, client, ADA)
    answer = client.post(TEXT, json={"document_id": plan}, headers={b"Authorization": value.encode()})
    problem(answer, 401, "not-logged-in")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_two_authorizations_are_refused(users: Users, client: httpx.Client, plan: str) -> None:
    both = [(b"Authorization", f"Bearer {users.token(email)}".encode()) for email in (ADA, BOB)]
    problem(client.post(TEXT, json={"document_id": plan}, headers=both), 400, "bad-request")


def test_an_expired_token_is_401(users: Users, client: httpx.Client, plan: str) -> None:
    headers = bearer(users, ADA)
    assert read(client, plan, headers).status_code == 200
    users.expire(headers["Authorization"].removeprefix("Bearer "))
    answer = read(client, plan, headers)
    problem(answer, 401, "not-logged-in")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_calls_side_by_side_are_answered_to_their_own_callers(users: Users, client: httpx.Client, plan: str) -> None:
    letter = users.file("letter.txt", b"Dear Ada", owner=BOB)
    headers = {email: bearer(users, email) for email in (ADA, BOB)}

    def ask(number: int) -> tuple[str, str, int]:
        email, document_id = (ADA, BOB)[number % 2], (plan, letter)[number // 2 % 2]
        return email, document_id, read(client, document_id, headers[email]).status_code

    with ThreadPoolExecutor(8) as threads:
        answers = set(threads.map(ask, range(48)))
    assert answers == {(ADA, plan, 200), (ADA, letter, 404), (BOB, plan, 404), (BOB, letter, 200)}


def test_documents_are_shown_by_the_drive_itself(users: Users, client: httpx.Client, folder: str, plan: str) -> None:
    document = index(client, folder, bearer(users, ADA)).json()["document_index"][0]["documents"][0]
    assert not document["document_url"].startswith(str(client.base_url))
    assert plan in document["document_url"]
    problem(client.get(f"/file/d/{plan}/view", headers=bearer(users, ADA)), 404, "not-found")


@pytest.mark.usefixtures("users")
def test_the_schema_names_both_ways_to_be_known() -> None:
    with serving() as client:
        document = client.get("/schema/openapi.json").json()
    assert document["paths"][TEXT]["post"]["security"] == [{"Bearer": []}, {"Session": []}]
    schemes = document["components"]["securitySchemes"]
    assert (schemes["Bearer"]["type"], schemes["Bearer"]["scheme"]) == ("http", "bearer")
    assert (schemes["Session"]["in"], schemes["Session"]["name"]) == ("cookie", "diligence-session")
    assert "security" not in document["paths"]["/v1/ai/question"]["post"]


def test_a_service_that_nobody_is_logged_in_to_is_ready(users: Users, client: httpx.Client) -> None:
    assert client.get("/health/ready").status_code == 200


def test_the_start_page_leads_to_the_login(users: Users, client: httpx.Client) -> None:
    there = client.get("/", headers={"Accept": "text/html"}, follow_redirects=False)
    assert there.headers["location"] == "/login?next=/"

"""Logging in with the browser: to Google and back, and nobody in between."""

import shutil
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from sqlmodel import select

from storage import database
from storage.logins import StoredLogin, WebSession
from tests.api.google import ADA, BOB, google_service, log_in
from tests.api.test_problems import problem
from tests.google.faults import Fault
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import agree

INDEX = "/v1/drive/document-index"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ROOT = {"cloud_drive_folder": "root"}


def logins() -> list[StoredLogin]:
    with database.reading() as session:
        return list(session.exec(select(StoredLogin)))


def sessions() -> list[WebSession]:
    with database.reading() as session:
        return list(session.exec(select(WebSession)))


def is_in(client: httpx.Client) -> bool:
    status = client.post(INDEX, json=ROOT).status_code
    assert status in (200, 401)
    return status == 200


def test_login_asks_google_for_reading_alone_with_state_and_pkce(service: httpx.Client) -> None:
    there = service.get("/login")
    asked = {name: value[0] for name, value in parse_qs(urlsplit(there.headers["location"]).query).items()}
    assert asked["scope"] == "https://www.googleapis.com/auth/drive.readonly"
    assert asked["response_type"] == "code"
    assert asked["access_type"] == "offline"
    assert asked["prompt"] == "consent"
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["code_challenge"]) == 43
    assert len(asked["state"]) >= 43
    assert asked["redirect_uri"] == str(service.base_url.join("/login/callback"))
    assert asked["state"] not in there.headers["set-cookie"], "the note is sealed"


def test_a_login_opens_document_operations(service: httpx.Client) -> None:
    assert not is_in(service)
    back = log_in(service, ADA)
    assert back.status_code == 303
    assert "ada@example.com" in service.get(back.headers["location"]).text
    assert is_in(service)


def test_a_login_leads_on_to_where_the_user_was(service: httpx.Client) -> None:
    assert log_in(service, ADA, "/login?next=/schema%3Fa=1").headers["location"] == "/schema?a=1"


@pytest.mark.parametrize(
    "path", ["https://evil.example/", "//evil.example", "/\\evil.example", "evil", "/\t/evil.example", "", "/a\nb"]
)
def test_a_login_leads_to_no_other_site(service: httpx.Client, path: str) -> None:
    problem(service.get("/login", params={"next": path}), 400, "bad-request")


def test_the_cookies_are_out_of_reach_of_scripts_and_other_sites(service: httpx.Client) -> None:
    for answer in (service.get("/login"), log_in(service, ADA)):
        set_now = [each for each in answer.headers.get_list("set-cookie") if "Max-Age=0" not in each]
        assert len(set_now) == 1
        parts = {each.strip().lower() for each in set_now[0].split(";")}
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert not any(part.startswith("domain") for part in parts)


def test_over_https_the_cookies_are_bound_to_the_host(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with google_service(monkeypatch, DILIGENCE_BASE_URL="https://rooms.example") as (_, client):
        set_now = client.get("/login").headers["set-cookie"]
        assert set_now.startswith("__Host-")
        assert "secure" in set_now.lower()
        asked = parse_qs(urlsplit(client.get("/login").headers["location"]).query)
        assert asked["redirect_uri"] == ["https://rooms.example/login/callback"]


def test_a_session_is_never_one_that_the_browser_brought(service: httpx.Client) -> None:
    service.cookies.set("diligence-session", "chosen-by-somebody-else")
    log_in(service, ADA)
    given = [each.value for each in service.cookies.jar if each.name == "diligence-session" and each.value]
    assert "chosen-by-somebody-else" not in {session.key for session in sessions()}
    assert any(value and value != "chosen-by-somebody-else" for value in given)
    with httpx.Client(base_url=service.base_url, cookies={"diligence-session": "chosen-by-somebody-else"}) as other:
        assert not is_in(other)


def test_logging_in_again_ends_the_session_before(service: httpx.Client) -> None:
    log_in(service, ADA)
    before = dict(service.cookies)
    log_in(service, BOB)
    assert "bob@example.com" in service.get("/login/you").text
    with httpx.Client(base_url=service.base_url, cookies=before) as stale:
        assert not is_in(stale)
    assert [login.account for login in logins()] == [BOB]


def test_an_answer_in_another_browser_is_refused(service: httpx.Client) -> None:
    answer = agree(service.get("/login").headers["location"], ADA)
    answer.pop("to")
    with httpx.Client(base_url=service.base_url) as victim:
        assert victim.get("/login/callback", params=answer).status_code == 400
        victim.get("/login")  # a login of its own does not help
        assert victim.get("/login/callback", params=answer).status_code == 400
        assert not is_in(victim)
    assert logins() == []


@pytest.mark.parametrize("change", [{"state": "forged"}, {"state": ""}, {"code": ""}, {"code": "forged"}])
def test_a_forged_answer_is_refused(service: httpx.Client, change: dict[str, str]) -> None:
    answer = agree(service.get("/login").headers["location"], ADA)
    answer.pop("to")
    refused = service.get("/login/callback", params=answer | change)
    assert refused.status_code == 400
    assert "forged" not in refused.text
    assert logins() == []


def test_an_answer_is_good_once(google: DriveEmulator, service: httpx.Client) -> None:
    there = service.get("/login")
    note = dict(service.cookies)
    answer = agree(there.headers["location"], ADA)
    answer.pop("to")
    assert service.get("/login/callback", params=answer).status_code == 303
    new_code = agree(there.headers["location"], BOB)["code"]
    with httpx.Client(base_url=service.base_url, cookies=note) as replaying:
        for each in (answer, answer | {"code": new_code}):
            assert replaying.get("/login/callback", params=each).status_code == 400
    assert [login.account for login in logins()] == [ADA]


def test_a_user_who_does_not_agree_is_told_so(google: DriveEmulator, service: httpx.Client) -> None:
    google.accounts.consent = "deny"
    answer = log_in(service, ADA)
    assert answer.status_code == 403
    assert "denied" in answer.text
    assert not is_in(service)


def test_what_google_says_is_not_shown_as_it_is(service: httpx.Client) -> None:
    state = parse_qs(urlsplit(service.get("/login").headers["location"]).query)["state"][0]
    answer = service.get("/login/callback", params={"state": state, "error": "<script>alert(1)</script>"})
    assert answer.status_code == 403
    assert "script" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_name_is_escaped(google: DriveEmulator, service: httpx.Client) -> None:
    google.world.user("<b>x</b>@example.com")
    log_in(service, "<b>x</b>@example.com")
    assert "&lt;b&gt;x" in service.get("/login/you").text


def test_an_account_that_google_does_not_name_is_logged_in_all_the_same(
    google: DriveEmulator, service: httpx.Client
) -> None:
    google.faults.set(Fault(on="about.get", status=403, reason="accessNotConfigured", times=1))
    log_in(service, ADA)
    assert [login.account for login in logins()] == [None]
    assert "You are logged in." in service.get("/login/you").text
    assert is_in(service)


def test_a_token_endpoint_that_fails_once_is_asked_again(google: DriveEmulator, service: httpx.Client) -> None:
    google.faults.set(Fault(on="token", status=503, at=[1]))
    assert log_in(service, ADA).status_code == 303


def test_the_refresh_token_rests_sealed(google: DriveEmulator, service: httpx.Client) -> None:
    log_in(service, ADA)
    is_in(service)
    database.close()
    kept = b"".join(path.read_bytes() for path in database.home().rglob("*") if path.is_file())
    for token in [*google.accounts.refresh, *google.accounts.access, *service.cookies.values()]:
        assert token.encode() not in kept


def test_logging_out_ends_the_session_and_forgets_the_token(service: httpx.Client) -> None:
    log_in(service, ADA)
    cookies = dict(service.cookies)
    assert "logged out" in service.post("/logout", headers={"Origin": str(service.base_url).rstrip("/")}).text
    assert (logins(), sessions()) == ([], [])
    assert not is_in(service)
    with httpx.Client(base_url=service.base_url, cookies=cookies) as stale:
        assert not is_in(stale)


CROSS_SITE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", CROSS_SITE)
@pytest.mark.parametrize("path", [INDEX, "/v1/drive/document-text", "/logout"])
def test_pages_of_other_sites_cannot_use_the_session(service: httpx.Client, path: str, headers: dict[str, str]) -> None:
    log_in(service, ADA)
    problem(service.post(path, json={**ROOT, "document_id": "x"}, headers=headers), 403, "not-allowed")
    assert is_in(service)


def test_pages_of_the_service_can_use_the_session(service: httpx.Client) -> None:
    log_in(service, ADA)
    headers = {"Origin": str(service.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert service.post(INDEX, json=ROOT, headers=headers).status_code == 200


def test_a_session_opens_nothing_but_documents(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with google_service(monkeypatch, DILIGENCE_API_KEYS="first-key") as (_, client):
        log_in(client, ADA)
        assert is_in(client), "no API key is needed for documents"
        for path in ("/v1/ai/question", "/v1/companies/get-core-fields", "/v1/companies/get-answer"):
            answer = client.post(path, json={"question": "What?", "domain": "alpha.example"})
            problem(answer, 401, "not-logged-in")
            assert answer.headers["www-authenticate"] == "ApiKey"


def test_a_revoked_login_is_401_until_the_user_logs_in_again(google: DriveEmulator, service: httpx.Client) -> None:
    log_in(service, ADA)
    assert is_in(service)
    google.accounts.revoke_user(ADA)
    for _ in range(2):
        answer = service.post(INDEX, json=ROOT)
        assert "/login" in problem(answer, 401, "not-logged-in")["detail"]
        assert answer.headers["www-authenticate"] == "Bearer"
    assert [login.revoked_at is not None for login in logins()] == [True]
    log_in(service, ADA)
    assert is_in(service)


@pytest.mark.parametrize("name", ["ID", "SECRET"])
def test_a_service_without_an_oauth_client_says_which_setting(
    service: httpx.Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv(f"DILIGENCE_GOOGLE_CLIENT_{name}")
    assert f"DILIGENCE_GOOGLE_CLIENT_{name}" in problem(service.get("/login"), 503, "not-configured")["detail"]


def test_a_wrong_client_secret_is_told(service: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_GOOGLE_CLIENT_SECRET", "hush-hush")
    answer = log_in(service, ADA)
    assert "DILIGENCE_GOOGLE_CLIENT_ID" in problem(answer, 503, "not-configured")["detail"]
    assert "hush" not in answer.text


def test_with_local_documents_nobody_logs_in(room: Path, default_service: httpx.Client) -> None:
    assert default_service.get("/login").headers["location"] == "/login/password"  # with a name and a password
    problem(default_service.get("/login/callback"), 404, "not-found")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_browser_finds_its_way_there_and_back(google: DriveEmulator, service: httpx.Client, tmp_path: Path) -> None:
    google.accounts.chosen = BOB
    assert CHROMIUM is not None
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    command = [CHROMIUM, *options.split(), "--virtual-time-budget=5000", "--dump-dom"]
    shown = subprocess.run(
        [*command, f"--user-data-dir={tmp_path / 'profile'}", str(service.base_url.join("/login"))],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "You are logged in as bob@example.com." in shown.stdout

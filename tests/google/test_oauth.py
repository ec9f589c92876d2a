"""Signing in, driven by google-auth, google-auth-oauthlib and the documented errors of the endpoints."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import google.auth.exceptions
import httpx
import pytest
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account
from google.oauth2.credentials import Credentials
from google_auth_oauthlib.flow import Flow  # type: ignore[import-untyped]

from tests.google.accounts import READONLY, Client
from tests.google.conftest import ADA, BOB, Connect
from tests.google.credentials import SERVICE, authorised_user_file, client_config, service_account_file
from tests.google.server import DriveEmulator
from tests.google.test_listing import refusal

BACK = "http://localhost:8765/login/google"


@pytest.fixture(autouse=True)
def plain_http_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """oauthlib refuses a token address without TLS; the emulator's is on loopback."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


def flow_of(drive: DriveEmulator) -> Any:
    return Flow.from_client_config(client_config(drive), [READONLY], redirect_uri=BACK, autogenerate_code_verifier=True)


def back_from(address: str) -> str:
    """Where the browser is sent after the sign-in page."""
    answer = httpx.get(address)
    assert answer.status_code == 302
    return str(answer.headers["location"])


def test_the_whole_code_flow(drive: DriveEmulator, connect: Connect) -> None:
    flow = flow_of(drive)
    address, state = flow.authorization_url(access_type="offline", login_hint=BOB, prompt="consent")
    assert "code_challenge_method=S256" in address
    back = back_from(address)
    assert back.startswith(BACK + "?")
    assert parse_qs(urlsplit(back).query)["state"] == [state]
    flow.fetch_token(authorization_response=back)
    credentials = flow.credentials
    assert credentials.refresh_token
    about = connect(credentials=credentials).about().get(fields="user/emailAddress").execute()
    assert about == {"user": {"emailAddress": BOB}}


def test_a_refusal_of_the_user_comes_back_as_access_denied(drive: DriveEmulator) -> None:
    drive.accounts.consent = "deny"
    address, state = flow_of(drive).authorization_url()
    assert dict(parse_qsl(urlsplit(back_from(address)).query)) == {"error": "access_denied", "state": state}


def test_a_refresh_token_comes_at_the_first_consent_or_when_asked_again(drive: DriveEmulator) -> None:
    def refresh_token(**extra: str) -> str | None:
        flow = flow_of(drive)
        address, _ = flow.authorization_url(login_hint=ADA, **extra)
        flow.fetch_token(authorization_response=back_from(address))
        found: str | None = flow.credentials.refresh_token
        return found

    # google-auth-oauthlib asks for offline access unless told otherwise
    assert refresh_token(access_type="online") is None
    drive.accounts.consented.clear()
    assert refresh_token(access_type="offline")
    assert refresh_token(access_type="offline") is None
    assert refresh_token(access_type="offline", prompt="consent")


def code_and_verifier(drive: DriveEmulator) -> tuple[str, str]:
    flow = flow_of(drive)
    address, _ = flow.authorization_url(login_hint=ADA)
    return parse_qs(urlsplit(back_from(address)).query)["code"][0], flow.code_verifier


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({}, 200, None),
        ({"code_verifier": "x" * 43}, 400, "invalid_grant"),
        ({"code_verifier": ""}, 400, "invalid_grant"),
        ({"redirect_uri": "http://localhost/other"}, 400, "redirect_uri_mismatch"),
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_id": "unknown"}, 401, "invalid_client"),
        ({"code": "4/unknown"}, 400, "invalid_grant"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
    ],
)
def test_what_a_code_is_good_for(drive: DriveEmulator, change: dict[str, str], status: int, error: str | None) -> None:
    client = Client()
    code, verifier = code_and_verifier(drive)
    form = {
        "grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "client_id": client.id,
        "client_secret": client.secret, "code_verifier": verifier,
    }  # fmt: skip
    answer = httpx.post(drive.token_uri, data=form | change)
    assert (answer.status_code, answer.json().get("error")) == (status, error)
    assert answer.headers["cache-control"] == "no-store"
    if not error:  # once
        assert httpx.post(drive.token_uri, data=form).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"client_id": "unknown"}, 401),
        ({"redirect_uri": "https://evil.example/"}, 400),
        ({"response_type": "token"}, 400),
    ],
)
def test_a_bad_sign_in_address_shows_a_page_and_sends_nobody_on(
    drive: DriveEmulator, change: dict[str, str], status: int
) -> None:
    address, _ = flow_of(drive).authorization_url()
    parameters = dict(parse_qsl(urlsplit(address).query)) | change
    answer = httpx.get(drive.auth_uri, params=parameters)
    assert (answer.status_code, "location" in answer.headers) == (status, False)


def test_an_expired_access_token_is_401_with_a_challenge(drive: DriveEmulator) -> None:
    for token in (drive.token(ADA, expires_in=0), "made-up"):
        answer = httpx.get(drive.endpoint + "files", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer realm=")
        assert answer.json()["error"]["errors"][0]["reason"] == "authError"
    assert httpx.get(drive.endpoint + "files").json()["error"]["errors"][0]["reason"] == "required"


def test_an_access_token_alone_raises_refresh_error_when_it_expires(drive: DriveEmulator, connect: Connect) -> None:
    """What google-auth makes of a 401 when it has nothing to refresh with."""
    token = drive.token(ADA)
    service = connect(token=token)
    service.files().list().execute()
    drive.accounts.expire(token)
    with pytest.raises(google.auth.exceptions.RefreshError):
        service.files().list().execute()


def login(drive: DriveEmulator, path: Path, email: str = ADA) -> Any:
    """A stored login; google-auth takes Google's own token address for it, whatever the file says."""
    stored = json.loads(authorised_user_file(drive, path / "login.json", email).read_text())
    return Credentials(  # type: ignore[no-untyped-call]
        None, refresh_token=stored["refresh_token"], token_uri=stored["token_uri"],
        client_id=stored["client_id"], client_secret=stored["client_secret"],
    )  # fmt: skip


def test_a_stored_login_refreshes_itself(drive: DriveEmulator, connect: Connect, tmp_path: Path) -> None:
    credentials = login(drive, tmp_path)
    service = connect(credentials=credentials)
    service.files().list().execute()
    drive.accounts.expire(credentials.token)
    service.files().list().execute()
    assert (drive.counts.tokens, drive.counts.by_status[401]) == (2, 1)


@pytest.mark.parametrize("how", ["revoked", "withdrawn", "late"])
def test_a_login_that_is_over_cannot_refresh(drive: DriveEmulator, tmp_path: Path, how: str) -> None:
    credentials = login(drive, tmp_path)
    session = AuthorizedSession(credentials)  # type: ignore[no-untyped-call]
    with session:
        assert session.get(drive.endpoint + "files").status_code == 200
        match how:
            case "revoked":
                assert httpx.post(drive.revoke_uri, params={"token": credentials.refresh_token}).status_code == 200
            case "withdrawn":
                drive.accounts.revoke_user(ADA)
            case _:
                drive.accounts.refresh[credentials.refresh_token].until = 1.0
                drive.accounts.expire(credentials.token)
        with pytest.raises(google.auth.exceptions.RefreshError, match="invalid_grant"):
            session.get(drive.endpoint + "files")


def test_revoking_twice_is_an_error(drive: DriveEmulator) -> None:
    token = drive.token(ADA)
    answers = [httpx.post(drive.revoke_uri, data={"token": token}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["error"] == "invalid_token"


def service(
    drive: DriveEmulator, path: Path, delegates: tuple[str, ...] = (), change: dict[str, str] | None = None
) -> Any:
    file = service_account_file(drive, path / "service.json", delegates=delegates)
    content = json.loads(file.read_text()) | (change or {})
    return service_account.Credentials.from_service_account_info(content, scopes=[READONLY])  # type: ignore[no-untyped-call]


def test_a_service_account_is_a_user_of_its_own(drive: DriveEmulator, connect: Connect, tmp_path: Path) -> None:
    about = connect(credentials=service(drive, tmp_path)).about().get(fields="user/emailAddress")
    assert about.execute() == {"user": {"emailAddress": SERVICE}}


def test_a_service_account_acts_for_those_it_may(drive: DriveEmulator, connect: Connect, tmp_path: Path) -> None:
    credentials = service(drive, tmp_path, (ADA,))
    about = connect(credentials=credentials.with_subject(ADA)).about().get(fields="user/emailAddress")
    assert about.execute() == {"user": {"emailAddress": ADA}}
    with pytest.raises(google.auth.exceptions.RefreshError, match="unauthorized_client"):
        connect(credentials=credentials.with_subject(BOB)).files().list().execute()
    everyone = service(drive, tmp_path, ("*",))
    with pytest.raises(google.auth.exceptions.RefreshError, match="Invalid email or User ID"):
        connect(credentials=everyone.with_subject("nobody@example.com")).files().list().execute()


def test_a_foreign_key_or_account_gets_nothing(drive: DriveEmulator, connect: Connect, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = generate_private_key(65537, 2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for change, words in (
        ({"private_key": pem}, "Invalid JWT Signature"),
        ({"client_email": "other@emulator.iam.gserviceaccount.com"}, "account not found"),
    ):
        with pytest.raises(google.auth.exceptions.RefreshError, match=words):
            connect(credentials=service(drive, tmp_path, change=change)).files().list().execute()
    assert httpx.post(
        drive.token_uri, data={"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "a.b.c"}
    ).json()["error"] == "invalid_grant"  # fmt: skip


def test_no_token_stands_in_the_log(drive: DriveEmulator, connect: Connect, tmp_path: Path) -> None:
    credentials = login(drive, tmp_path)
    connect(credentials=credentials).files().list().execute()
    httpx.post(drive.revoke_uri, params={"token": credentials.token})
    text = repr(drive.log)
    assert credentials.token not in text
    assert credentials.refresh_token not in text
    assert ("files.list", "/drive/v3/files", ADA, 200) in drive.log


def test_about_is_refused_after_revocation(drive: DriveEmulator, connect: Connect) -> None:
    token = drive.token(ADA)
    drive.accounts.revoke(token)
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(drive.endpoint + "about?fields=user", headers=headers).status_code == 401
    assert refusal(connect(BOB).about().get())[0] == 400

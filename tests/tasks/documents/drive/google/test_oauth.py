"""The authorisation code flow: what comes back from Google, and what is made of it."""

import json
import logging
import os
import time
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from storage import logins
from storage.logins import Whose
from tasks.documents.drive.drive import LoginResult
from tasks.documents.drive.google import credentials
from tasks.documents.drive.google.credentials import SCOPE, SEALED_FOR
from tasks.errors import BadRequest, DiligenceError, NotAllowed, NotConfigured, SourceFailed, Unavailable
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.connection import Reply, Scripted
from tests.tasks.documents.drive.google.emulated import agree

ADA = "ada@example.com"
BACK = "http://127.0.0.1:8000/login/callback"


@pytest.fixture
def google(emulator: DriveEmulator) -> DriveEmulator:
    emulator.world.user(ADA)
    return emulator


def answered(token: dict[str, Any] | bytes, status: int = 200) -> bytes:
    body = token if isinstance(token, bytes) else json.dumps(token).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def finished_with(reply: Reply, monkeypatch: pytest.MonkeyPatch) -> LoginResult:
    """A login whose code the token endpoint answers with `reply`."""
    begun = credentials.begin(BACK)
    state = parse_qs(urlsplit(begun.url).query)["state"][0]
    with Scripted(reply) as endpoint:
        monkeypatch.setenv("DILIGENCE_GOOGLE_TOKEN_URI", f"{endpoint.base}/token")
        return credentials.finish(begun.note, {"state": state, "code": "4/x"}, Whose.WEB)


def test_a_login_keeps_the_account_and_its_sealed_refresh_token(google: DriveEmulator) -> None:
    begun = credentials.begin(BACK, "/there")
    finished = credentials.finish(begun.note, agree(begun.url), Whose.MACHINE)
    assert (finished.login.account, finished.login.whose, finished.then) == (ADA, Whose.MACHINE, "/there")
    assert logins.unseal(finished.login.refresh_token, SEALED_FOR) in google.accounts.refresh
    assert "OAUTHLIB_INSECURE_TRANSPORT" not in os.environ


def test_the_verifier_is_not_in_what_the_browser_keeps(google: DriveEmulator) -> None:
    begun = credentials.begin(BACK)
    state = parse_qs(urlsplit(begun.url).query)["state"][0]
    assert state not in begun.note
    assert len(begun.note) < 2000, "it is kept in a cookie"


def test_a_login_that_took_too_long_is_refused(google: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = credentials.begin(BACK)
    answer, later = agree(begun.url), time.time() + 601
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(BadRequest, match="10 minutes"):
        credentials.finish(begun.note, answer, Whose.WEB)


def test_another_code_verifier_is_refused_by_google(google: DriveEmulator) -> None:
    mine, theirs = credentials.begin(BACK), credentials.begin(BACK)
    answer = agree(mine.url) | {"code": agree(theirs.url)["code"]}
    with pytest.raises(BadRequest, match="code"):
        credentials.finish(mine.note, answer, Whose.WEB)


def test_without_a_refresh_token_the_user_is_told_what_to_do(
    google: DriveEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = {"access_token": "hush-hush", "token_type": "Bearer", "expires_in": 3599, "scope": SCOPE}
    with pytest.raises(SourceFailed, match=r"myaccount\.google\.com") as raised:
        finished_with(answered(token), monkeypatch)
    assert "hush" not in raised.value.message


def test_a_scope_that_was_not_ticked_is_told(google: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    token = {"access_token": "a", "refresh_token": "r", "token_type": "Bearer", "expires_in": 3599, "scope": "openid"}
    with pytest.raises(NotAllowed, match="ticked"):
        finished_with(answered(token), monkeypatch)


def test_more_scopes_than_asked_for_do_no_harm(google: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    token = {"access_token": "a", "refresh_token": "r", "token_type": "Bearer", "scope": f"openid {SCOPE}"}
    assert finished_with(answered(token), monkeypatch).login.account is None


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (answered(b"<html>hush-hush"), SourceFailed),
        (answered(b'["hush-hush"]'), SourceFailed),
        (answered({"error": "hush-hush"}, 400), SourceFailed),
        (answered({"error": "invalid_grant", "error_description": "hush-hush"}, 400), BadRequest),
        (answered({"error": "invalid_client", "error_description": "hush-hush"}, 401), NotConfigured),
        (answered({"error": "hush-hush"}, 503), Unavailable),
        (lambda connection: connection.shutdown(SHUT_RDWR), Unavailable),
    ],
)
def test_whatever_the_token_endpoint_says_is_told_in_our_words(
    google: DriveEmulator, monkeypatch: pytest.MonkeyPatch, reply: Reply, error: type[DiligenceError]
) -> None:
    with pytest.raises(error) as raised:
        finished_with(reply, monkeypatch)
    assert "hush" not in raised.value.message


def test_codes_and_tokens_are_in_no_log(google: DriveEmulator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    begun = credentials.begin(BACK)
    answer = agree(begun.url)
    caplog.clear()  # the browser's own
    credentials.finish(begun.note, answer, Whose.WEB)
    for secret in (answer["code"], *google.accounts.access, *google.accounts.refresh, "GOCSPX"):
        assert secret not in caplog.text


def test_an_unusable_key_is_told_before_the_user_is_sent_away(
    google: DriveEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_SECRET_KEY", "none")
    with pytest.raises(NotConfigured, match="DILIGENCE_SECRET_KEY"):
        credentials.begin(BACK)

"""Named keys: what each is good for, how often it may call, when it ends, and what is written down of it."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api import auth
from api.settings import ApiSettings
from storage import database, logins
from tests.api.conftest import serving
from tests.api.test_problems import problem
from tests.storage.rows import audited_calls

QUESTION = {"question": "What is hush-hush?"}
ASK, FACTS, TEXT = "/v1/ai/question", "/v1/companies/get-core-fields", "/v1/drive/document-text"


def new_key(name: str, *scopes: str) -> dict[str, str]:
    with database.writing() as session:
        key = logins.add_key(session, name, scopes or logins.SCOPES)
    assert key is not None
    return {"X-API-Key": key}


@pytest.fixture
def client(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr(auth, "_FRESH", 0.0)
    with serving() as client:
        yield client


def test_what_is_stored_opens_nothing(client: httpx.Client) -> None:
    key = new_key("alpha")["X-API-Key"]
    with database.reading() as session:
        (stored,) = logins.all_keys(session)
    assert key not in repr(stored)
    problem(client.post(ASK, json=QUESTION, headers={"X-API-Key": stored.digest}), 401, "not-logged-in")


def test_a_key_is_good_for_its_scopes_alone(client: httpx.Client) -> None:
    key = new_key("reader", "ai", "runs")
    assert client.post(ASK, json=QUESTION, headers=key).status_code == 200
    for path in (FACTS, TEXT):
        assert "scope" in problem(client.post(path, json={}, headers=key), 403, "not-allowed")["detail"]
    problem(client.get("/runs/latest/report.html", headers=key), 404, "not-found")


def test_a_key_is_known_and_refused_while_the_service_runs(client: httpx.Client) -> None:
    assert client.post(ASK, json=QUESTION).status_code == 200
    key = new_key("alpha")
    assert client.post(ASK, json=QUESTION, headers=key).status_code == 200
    problem(client.post(ASK, json=QUESTION), 401, "not-logged-in")
    with database.writing() as session:
        assert logins.revoke_key(session, "alpha")
    for headers in (key, {}):  # the last key was revoked: that does not open the service
        problem(client.post(ASK, json=QUESTION, headers=headers), 401, "not-logged-in")


def test_stored_keys_are_read_again_within_five_seconds() -> None:
    assert auth._FRESH < 5


def test_each_call_with_a_known_key_is_written_down_without_content(client: httpx.Client) -> None:
    key = new_key("alpha", "ai")
    client.post(ASK, json=QUESTION, headers=key)
    client.post(FACTS, json={"domain": "hush.example"}, headers=key)
    client.post(ASK, json={"question": 5}, headers=key)
    client.post(ASK, json=QUESTION, headers={"X-API-Key": "unknown"})
    with database.reading() as session:
        calls = audited_calls(session, "alpha")
    assert [(call.operation, call.status) for call in calls] == [
        (f"POST {ASK}", 200),
        (f"POST {FACTS}", 403),
        (f"POST {ASK}", 400),
    ]
    assert all(abs(call.at.timestamp() - time.time()) < 60 for call in calls)
    assert "hush" not in repr(calls)


def test_calls_above_the_rate_are_told_when_to_come_again(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "_FRESH", 0.0)
    monkeypatch.setenv("DILIGENCE_RATE_LIMIT", "3/minute")
    keyed = new_key("alpha")
    other = new_key("beta")
    with serving() as client:
        assert [client.post(ASK, json=QUESTION, headers=keyed).status_code for _ in range(4)] == [200, 200, 200, 429]
        answer = client.post(ASK, json=QUESTION, headers=keyed)
        problem(answer, 429, "too-many-requests")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert client.post(ASK, json=QUESTION, headers=other).status_code == 200
        guesses = [client.post(ASK, json=QUESTION, headers={"X-API-Key": f"guess {n}"}).status_code for n in range(4)]
        assert guesses == [401, 401, 401, 429]


@pytest.mark.parametrize("text", ["60", "minute", "0/minute", "-1/minute", "60/fortnight", "1.5/second"])
def test_a_rate_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_RATE_LIMIT", text)
    with pytest.raises(ValueError, match="60/minute"):
        ApiSettings.current()

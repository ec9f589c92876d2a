"""Who is let in: with API keys, and on a machine of one's own without."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from api.auth import check_binding, list_trusted_names
from api.settings import ApiSettings
from tasks.errors import NotConfigured
from tests.api.conftest import forget_settings, serving
from tests.api.test_problems import problem
from tests.cases import cases

CALLS = [
    ("POST", "/v1/ai/question"),
    ("POST", "/v1/companies/get-core-fields"),
    ("POST", "/v1/companies/get-answer"),
    ("POST", "/v1/drive/document-text"),
    ("POST", "/v1/drive/document-index"),
    ("GET", "/file/d/x/view"),
]
QUESTION = {"question": "What?"}


@pytest.fixture(scope="module")
def keyed_service() -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        forget_settings(monkeypatch)
        monkeypatch.setenv("DILIGENCE_API_KEYS", "first-key, zweiter-schlüssel")
        with serving() as client:
            yield client


@pytest.fixture
def keyed(keyed_service: httpx.Client, room: Path) -> httpx.Client:
    """A service with two keys."""
    return keyed_service


@cases(("method", "path"), CALLS)
@cases("headers", [{}, {"X-API-Key": ""}, {"X-API-Key": "first-ke"}, {"Authorization": "Bearer first-key"}])
def test_without_a_right_key_nothing_is_answered(
    keyed: httpx.Client, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = keyed.request(method, path, headers=headers, json={} if method == "POST" else None)
    assert "X-API-Key" in problem(answer, 401, "not-logged-in")["detail"]
    assert answer.headers["www-authenticate"] == "ApiKey"
    assert "first-key" not in answer.text


@pytest.mark.parametrize("key", ["first-key", "zweiter-schlüssel"])
def test_each_configured_key_is_let_in(keyed: httpx.Client, key: str) -> None:
    assert keyed.post("/v1/ai/question", json=QUESTION, headers={b"X-API-Key": key.encode()}).status_code == 200


def test_health_and_schema_stay_open(keyed: httpx.Client) -> None:
    for path in ("/login/password", "/health/live", "/health/ready", "/schema", "/schema/openapi.json"):
        assert keyed.get(path).status_code == 200, path


def test_schema_says_whether_a_key_is_needed(keyed: httpx.Client) -> None:
    document = keyed.get("/schema/openapi.json").json()
    assert document["paths"]["/v1/ai/question"]["post"]["security"] == [{"ApiKey": []}]
    assert "security" not in document["paths"]["/health/live"]["get"]


def test_commas_alone_are_no_keys(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_API_KEYS", " , ")
    with pytest.raises(ValidationError, match="at least one key"):
        ApiSettings.current()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_without_keys_this_machine_is_fine(room: Path, host: str) -> None:
    check_binding(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "db.example", ""])
def test_without_keys_other_machines_are_kept_out(room: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    with pytest.raises(NotConfigured, match="DILIGENCE_API_KEYS"):
        check_binding(host)
    monkeypatch.setenv("DILIGENCE_API_KEYS", "key")
    check_binding(host)


def test_trusted_names_hold_the_address_and_the_public_name() -> None:
    assert list_trusted_names("127.0.0.2", "https://Rooms.example:8443/x") == (
        "127.0.0.1",
        "127.0.0.2",
        "::1",
        "localhost",
        "rooms.example",
    )


@pytest.fixture(scope="module")
def own_service() -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        forget_settings(monkeypatch)
        with serving(["localhost", "127.0.0.1", "::1"]) as client:
            yield client


@pytest.fixture
def own(own_service: httpx.Client, room: Path) -> httpx.Client:
    """A service that answers to this machine's names only."""
    return own_service


@cases("host", ["localhost", "127.0.0.1:8000", "LOCALHOST:1", "[::1]:8000", "localhost."])
def test_names_of_this_machine_are_answered(own: httpx.Client, host: str) -> None:
    assert own.get("/health/live", headers={"Host": host}).status_code == 200


@cases("host", ["rebound.example", "127.0.0.1.rebound.example", "localhost@rebound.example", "[::1", "user@", "-"])
def test_rebound_names_are_refused(own: httpx.Client, host: str) -> None:
    for path in ("/health/live", "/nope", "/v1/ai/question"):
        problem(own.get(path, headers={"Host": host}), 403, "not-allowed")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example", "file://"])
def test_pages_of_other_sites_are_refused(own: httpx.Client, origin: str) -> None:
    answer = own.post("/v1/ai/question", json=QUESTION, headers={"Origin": origin})
    problem(answer, 403, "not-allowed")
    assert "access-control-allow-origin" not in answer.headers


def test_pages_of_this_machine_are_answered(own: httpx.Client) -> None:
    answer = own.post("/v1/ai/question", json=QUESTION, headers={"Origin": "http://localhost:8000"})
    assert answer.status_code == 200

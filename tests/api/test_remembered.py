"""What is answered from memory is answered under the same rules, and only while it is true."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api import auth
from storage import database, logins
from tests.api.conftest import serving
from tests.api.test_keys import FACTS, TEXT, new_key
from tests.api.test_problems import problem
from tests.storage.rows import audited_calls


@pytest.fixture
def client(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr(auth, "_FRESH", 0.0)
    (room / "plan.txt").write_text("Revenue is recurring.")
    with serving() as client:
        yield client


def document_id(client: httpx.Client, headers: dict[str, str] | None = None) -> str:
    index = client.post("/v1/drive/document-index", json={"cloud_drive_folder": "root"}, headers=headers).json()
    return str(index["document_index"][0]["documents"][0]["document_id"])


def test_a_text_in_memory_is_answered_as_at_first(client: httpx.Client) -> None:
    asked = {"document_id": document_id(client)}
    first, *others = [client.post(TEXT, json=asked) for _ in range(3)]
    other_words = client.post(TEXT, content=json.dumps(asked, indent=4), headers={"Content-Type": "application/json"})
    assert first.json()["document_id"] == asked["document_id"]
    assert first.json()["text"].strip() == "Revenue is recurring."
    for answer in (*others, other_words):
        assert (answer.status_code, answer.content) == (200, first.content)
        assert answer.headers["content-type"] == first.headers["content-type"]
        assert answer.headers["cache-control"] == "no-store"


def test_a_text_in_memory_needs_a_key_and_is_written_down(client: httpx.Client) -> None:
    key = new_key("reader", "documents")
    asked = {"document_id": document_id(client, key)}
    assert [client.post(TEXT, json=asked, headers=key).status_code for _ in range(3)] == [200] * 3
    problem(client.post(TEXT, json=asked), 401, "not-logged-in")
    problem(client.post(TEXT, json=asked, headers=new_key("other", "ai")), 403, "not-allowed")
    with database.writing() as session:
        assert logins.revoke_key(session, "reader")
    problem(client.post(TEXT, json=asked, headers=key), 401, "not-logged-in")
    with database.reading() as session:
        statuses = [call.status for call in audited_calls(session, "reader") if call.operation == f"POST {TEXT}"]
    assert statuses == [200] * 3


def test_a_text_in_memory_ends_with_its_document(client: httpx.Client, room: Path) -> None:
    asked = {"document_id": document_id(client)}
    for _ in range(2):
        client.post(TEXT, json=asked)
    (room / "plan.txt").write_text("Revenue fell.")
    assert client.post(TEXT, json=asked).json()["text"].strip() == "Revenue fell."
    (room / "plan.txt").unlink()
    problem(client.post(TEXT, json=asked), 404, "not-found")


def test_a_text_is_asked_for_and_answered_under_the_same_limits(
    client: httpx.Client, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"document_id": document_id(client)}
    key = new_key("reader", "documents")
    (room / "plan.txt").write_text("Revenue fell.")  # so that the first call has to read
    monkeypatch.setenv("DILIGENCE_RATE_LIMIT", "3/minute")
    with serving() as limited:
        assert [limited.post(TEXT, json=asked, headers=key).status_code for _ in range(4)] == [200, 200, 200, 429]
        metrics = limited.get("/metrics", headers=new_key("other", "ai")).text
    assert f'diligence_requests_total{{operation="POST {TEXT}",status="200"}} 3.0' in metrics
    assert f'diligence_requests_total{{operation="POST {TEXT}",status="429"}} 1.0' in metrics
    with database.reading() as session:
        assert [call.status for call in audited_calls(session, "reader")] == [200, 200, 200, 429]


def test_what_comes_in_pieces_or_for_no_valid_host_is_answered_as_always(client: httpx.Client) -> None:
    asked = json.dumps({"document_id": document_id(client)}).encode()
    whole = [client.post(TEXT, content=asked, headers={"Content-Type": "application/json"}) for _ in range(2)][-1]
    head = f"POST {TEXT} HTTP/1.1\r\nHost: {{}}\r\nContent-Type: application/json\r\nContent-Length: {len(asked)}\r\n"
    address = (client.base_url.host, client.base_url.port)
    with socket.create_connection(address) as slow:
        slow.sendall(head.format("127.0.0.1").encode() + b"Connection: close\r\n\r\n" + asked[:9])
        time.sleep(0.2)
        slow.sendall(asked[9:])
        assert received(slow).endswith(whole.content)
    with socket.create_connection(address) as other:
        other.sendall(head.format("no host").encode() + b"Connection: close\r\n\r\n" + asked)
        assert received(other).startswith(b"HTTP/1.1 400")


def received(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_wrong_body_is_told_as_always(client: httpx.Client) -> None:
    asked = {"document_id": document_id(client)}
    for _ in range(2):
        client.post(TEXT, json=asked)
    twice = '{"document_id": "a", "document_id": "b"}'
    problem(client.post(TEXT, content=twice, headers={"Content-Type": "application/json"}), 400, "bad-request")
    problem(client.post(TEXT, json=asked, headers={"Content-Encoding": "gzip"}), 415, "unsupported-format")
    problem(
        client.post(TEXT, content=json.dumps(asked), headers={"Content-Type": "text/plain"}), 415, "unsupported-format"
    )
    problem(client.post(TEXT, json={"document_id": " "}), 400, "bad-request")


def test_facts_that_changed_are_answered_anew(client: httpx.Client, room: Path) -> None:
    file = room.parent / "facts" / "alpha.example.json"
    time.sleep(0.06)  # a file that was written a moment ago is read each time
    first, second = [client.post(FACTS, json={"domain": "alpha.example"}) for _ in range(2)]
    assert first.content == second.content
    with_claims = client.post(FACTS, params={"include": "claims"}, json={"domain": "alpha.example"}).json()
    assert with_claims["profile"] == first.json()["profile"]
    file.write_text(json.dumps({"name": "Alpha", "founded_year": 2012}))
    assert client.post(FACTS, json={"domain": "alpha.example"}).json()["profile"]["founded_year"] == 2012
    file.unlink()
    problem(client.post(FACTS, json={"domain": "alpha.example"}), 404, "not-found")

"""A client that hangs up frees its place, and the work that was begun for it stops at its next step."""

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Event

import httpx
import pytest
from sqlmodel import func, select

from api import front
from api.requests import FREE, Admission
from storage import database, logins
from storage.model_calls import StoredAnswer
from tasks.ai.openai.client import SERVER_LIMIT
from tasks.documents import texts
from tasks.documents.drive.drive import ROOT
from tasks.documents.drive.registry import open_drive
from tasks.reading.pool.pool import ExtractionPool
from tests.api.conftest import serving
from tests.api.test_monitoring import figures
from tests.servers.openai_server import ModelResponse, ModelServer, saying
from tests.storage.rows import audited_calls
from tests.tasks.reading.pool.hostile_readers import obedient
from tests.waiting import wait_for

TEXT, ASK = "/v1/drive/document-text", "/v1/ai/question"


class Callers:
    """Clients with a request under way; `close` closes all their connections."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connections: list[socket.socket] = []

    def call(self, path: str, body: object, headers: str = "") -> None:
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: {len(content)}\r\n\r\n"
        one = socket.create_connection(("127.0.0.1", self._port), timeout=20)
        self._connections.append(one)
        one.sendall(head.encode())
        one.settimeout(0.3)
        with suppress(TimeoutError):  # the service may let a large body wait
            one.sendall(content)

    def close(self) -> None:
        for one in self._connections:
            # A reset: the end of a connection comes after what was sent, which the service may not be reading.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
        self._connections.clear()


def figure(client: httpx.Client, *key: str) -> float:
    return figures(client.get("/metrics").text)[key]


@pytest.fixture
def client(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr(front, "_CHECK_SECONDS", 0.05)
    with serving() as client:
        yield client


@pytest.fixture
def callers(client: httpx.Client) -> Iterator[Callers]:
    with closing(Callers(client.base_url.port or 0)) as callers:
        yield callers


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExtractionPool]:
    """One process that reads as the documents say."""
    with ExtractionPool(workers=1, read=obedient) as pool:
        monkeypatch.setattr(texts, "share_pool", lambda: pool)
        monkeypatch.setattr("api.monitoring.measure_pools", lambda: pool.load)
        yield pool


def test_documents_leave_the_readers_and_their_queue(
    room: Path, client: httpx.Client, callers: Callers, pool: ExtractionPool
) -> None:
    for number in range(9):
        (room / f"{number}.txt").write_text("hang" + " " * number)
    (room / "sound.txt").write_text("Sound.")
    ids = {document.name: document.id for document in open_drive().list_folder(ROOT, recursive=False).documents}
    sound = ids.pop("sound.txt")
    for document_id in ids.values():
        callers.call(TEXT, {"document_id": document_id})
    # Eight calls read documents at a time: the ninth waits for its turn.
    wait_for(lambda: figure(client, "diligence_documents_waiting") == 7)
    assert figure(client, "diligence_calls_waiting", "documents") == 1
    callers.close()
    wait_for(lambda: figure(client, "diligence_calls_running", "documents") == 0)
    wait_for(lambda: (pool.load.busy, pool.load.waiting) == (0, 0))
    assert client.post(TEXT, json={"document_id": sound}).json()["text"] == "Sound."


def test_a_model_is_not_asked_for_who_has_gone_and_what_it_was_asked_is_kept(
    client: httpx.Client, callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Event()
    first = SERVER_LIMIT.start_at
    assert first is not None
    with ModelServer() as server:
        server.always(lambda request: saying("Forty-two.")(request) if answered.wait(20) else ModelResponse(b""))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "m")
        for number in range(first + 3):
            callers.call(ASK, {"question": f"What is {number}?"})
            wait_for(lambda number=number: figure(client, "diligence_calls_running", "ai") == number + 1)  # type: ignore[misc]
        wait_for(lambda: len(server.requests) == first)  # the others wait for the server
        callers.close()
        wait_for(lambda: figure(client, "diligence_calls_running", "ai") == 0)
        answered.set()

        wait_for(lambda: kept_answers() == first)
        assert client.post(ASK, json={"question": "What is 0?"}).status_code == 200
        assert len(server.requests) == first


def kept_answers() -> int:
    with database.reading() as session:
        return session.exec(select(func.count()).select_from(StoredAnswer)).one()


def test_memory_is_free_again_and_who_has_gone_waits_for_none(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "_CHECK_SECONDS", 0.05)
    monkeypatch.setattr("api.front.Admission", partial(Admission, memory=FREE))  # one at a time
    large = {"question": "What?", "context": "The words of a report. " * (FREE * 5 // 4 // 23)}
    with ModelServer() as server, serving() as client, closing(Callers(client.base_url.port or 0)) as callers:
        answered = Event()
        server.always(lambda request: saying("Forty-two.")(request) if answered.wait(20) else ModelResponse(b""))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "m")
        callers.call(ASK, large)
        wait_for(lambda: len(server.requests) == 1)
        other = Callers(client.base_url.port or 0)
        other.call(ASK, large)
        wait_for(lambda: figure(client, "diligence_bodies_waiting") == 1)
        other.close()
        wait_for(lambda: figure(client, "diligence_bodies_waiting") == 0)
        callers.close()
        wait_for(lambda: figure(client, "diligence_calls_running", "ai") == 0)
        assert figure(client, "diligence_bodies_bytes") > 0  # the call of the model holds the text still
        answered.set()
        wait_for(lambda: figure(client, "diligence_bodies_bytes") == 0)


def test_a_call_without_an_answer_is_written_down(
    room: Path, client: httpx.Client, callers: Callers, pool: ExtractionPool
) -> None:
    with database.writing() as session:
        key = logins.add_key(session, "alpha", logins.SCOPES)
    (room / "slow.txt").write_text("hang")
    (document,) = open_drive().list_folder(ROOT, recursive=False).documents
    callers.call(TEXT, {"document_id": document.id}, f"X-API-Key: {key}\r\n")
    wait_for(lambda: pool.load.busy == 1)
    callers.close()

    def outcomes() -> list[tuple[str, int]]:
        with database.reading() as session:
            return [(call.operation, call.status) for call in audited_calls(session, "alpha")]

    wait_for(lambda: outcomes() == [(f"POST {TEXT}", 499)])

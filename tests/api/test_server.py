"""The service as its own process: what it logs, how it stops, where it binds.

Many clients ask for the index of the same folder: it is made for all of them at once, and none gets an old one.

Traces: a span a request, without anything of what was asked; and a sentence where the extra is missing.
"""

import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from api.app import build, create_app
from tasks.documents.drive.local.drive import LocalDrive
from tasks.errors import NotConfigured
from tasks.spans import Tracing
from tests.api.conftest import serving
from tests.api.test_shutdown import service, wait_until_refused
from tests.waiting import free_port, wait_for


@pytest.fixture
def port() -> int:
    return free_port()


@contextmanager
def _in_a_thread(server: uvicorn.Server) -> Iterator[None]:
    """The service in this process, listening; it ends with the block."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started or not thread.is_alive(), pause=0.01)
    assert server.started
    yield
    server.should_exit = True
    thread.join(20)


def test_other_names_are_not_answered_without_keys(room: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.app.service_log_config", lambda: None)  # that of the tests stays
    url = f"http://127.0.0.1:{port}/health/live"
    with _in_a_thread(build("127.0.0.1", port)):
        assert httpx.get(url, headers={"Host": "rebound.example"}).status_code == 403
        assert httpx.get(url, headers={"Host": f"localhost:{port}"}).status_code == 200


def test_without_keys_no_other_machine_is_served(room: Path) -> None:
    with pytest.raises(NotConfigured, match="DILIGENCE_API_KEYS"):
        build("0.0.0.0", 8000)


@pytest.mark.parametrize(("sources", "warmed"), [("files,website", 1), ("files", 0)])
def test_what_reads_pages_is_made_ready_once_the_service_listens(
    room: Path, port: int, monkeypatch: pytest.MonkeyPatch, sources: str, warmed: int
) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", sources)
    listened: list[bool] = []
    monkeypatch.setattr("api.app.service_log_config", lambda: None)  # that of the tests stays
    server = build("127.0.0.1", port)
    monkeypatch.setattr("api.app.warm", lambda: listened.append(server.started))
    with _in_a_thread(server):
        pass

    assert listened == [True] * warmed


@contextmanager
def begin_question(port: int) -> Iterator[Callable[[], bytes]]:
    """Send half a question; what is given sends the rest, and has the beginning of the answer."""
    body = json.dumps({"question": "What?"}).encode()
    head = f"POST /v1/ai/question HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head + body[:5])
        time.sleep(0.3)  # until it is heard

        def end() -> bytes:
            connection.sendall(body[5:])
            return connection.recv(4096)

        yield end


def test_each_line_of_a_json_log_has_the_id_of_its_request_and_holds_nothing_else_of_it(
    room: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_LOG_FORMAT", "json")
    monkeypatch.setenv("DILIGENCE_DRIVE", "google")
    monkeypatch.setenv("DILIGENCE_GOOGLE_API_ENDPOINT", "http://127.0.0.1:9/")  # which does not answer
    url = f"http://127.0.0.1:{port}"
    with service(port, health="live") as started:
        asked = httpx.post(f"{url}/v1/ai/question?hush-query", json={"question": "hush-hush?"})
        assert asked.status_code == 200
        assert "server" not in asked.headers
        headers = {"X-Request-ID": "ours-1", "Authorization": "Bearer hush-hush"}
        body = {"document_id": "hush-0123456789abcdefghijklmnopqrs"}
        answer = httpx.post(f"{url}/v1/drive/document-text", json=body, headers=headers)
        assert answer.headers["x-request-id"] == "ours-1"
        assert len(httpx.get(f"{url}/hush", headers={"X-Request-ID": "no id"}).headers["x-request-id"]) == 32
        with begin_question(port) as end_question:  # a stop waits for what was begun
            started.send_signal(signal.SIGINT)
            wait_until_refused(port)
            assert end_question().startswith(b"HTTP/1.1 200 ")
        log = started.communicate(timeout=60)[1]
    assert started.returncode == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert all("request_id" in line for line in lines)
    assert any("DILIGENCE_API_KEYS is not set" in line["message"] for line in lines)
    assert "hush" not in log
    assert "Traceback" not in log
    assert answer.status_code == 503
    told = [(line["message"], line["request_id"]) for line in lines if line["logger"] == "api.front"]
    of_requests = [(message, request_id) for message, request_id in told if not message.startswith("GET /health/live")]
    assert [message for message, _ in of_requests] == [
        "POST /v1/ai/question: 200",
        "POST /v1/drive/document-text: 503",
        "other: 404",
        "POST /v1/ai/question: 200",
    ]
    assert [request_id for _, request_id in of_requests][-3] == "ours-1"


INDEX = "/v1/drive/document-index"


def names(answer: httpx.Response) -> set[str]:
    return {one["document_name"] for one in answer.json()["document_index"][0]["documents"]}


def test_what_many_ask_for_is_listed_twice_at_most_and_is_as_new_as_the_question(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "old.txt").write_text("old")
    begun, go_on, listings = threading.Event(), threading.Event(), []
    listed = LocalDrive.list_folder

    def slowly(*args: Any, **kwargs: Any) -> Any:
        listing = listed(*args, **kwargs)
        listings.append(listing)
        begun.set()
        assert go_on.wait(60)
        return listing

    monkeypatch.setattr(LocalDrive, "list_folder", slowly)
    with serving() as client, ThreadPoolExecutor(20) as threads:

        def ask() -> httpx.Response:
            return client.post(INDEX, json={"cloud_drive_folder": "root"}, timeout=60)

        first = threads.submit(ask)
        assert begun.wait(60)
        (room / "new.txt").write_text("new")
        later = [threads.submit(ask) for _ in range(12)]
        threading.Event().wait(1.5)
        go_on.set()
        assert names(first.result()) == {"old.txt"}
        assert [names(answer.result()) for answer in later] == [{"old.txt", "new.txt"}] * 12
    assert len(listings) == 2


def test_a_failure_is_that_of_all_who_wait_and_of_nobody_later(room: Path) -> None:
    with serving() as client, ThreadPoolExecutor(6) as threads:

        def ask(_: int) -> int:
            return client.post(INDEX, json={"cloud_drive_folder": "root/missing"}).status_code

        statuses = list(threads.map(ask, range(6)))
        assert len(set(statuses)) == 1
        assert statuses[0] in {400, 404}
        assert client.post(INDEX, json={"cloud_drive_folder": "root"}).status_code == 200


TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_a_span_tells_operation_status_and_id_alone(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing(exporter)
    monkeypatch.setattr("api.app.start_tracing", lambda: tracing)
    headers = {"X-Request-ID": "ours-1", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    with serving() as client:
        client.post("/v1/ai/question?hush", json={"question": "Hush?"}, headers=headers)
        client.get("/hush")
    asked, other = exporter.get_finished_spans()
    assert asked.name == "POST /v1/ai/question"
    assert dict(asked.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/ai/question",
        "http.response.status_code": 200,
        "diligence.request_id": "ours-1",
    }
    assert f"{asked.context.trace_id:032x}" == TRACE
    assert other.name == "other"
    assert "hush" not in (asked.to_json() + other.to_json()).lower()


def test_without_the_extra_a_sentence_says_what_to_install(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(NotConfigured, match=r"pip install -e '\.\[tracing\]'"):
        create_app()

"""A slow client costs its own connection: what is idle goes, oldest first, and others are served all along.

Large bodies share the service's memory: who does not fit waits, in order, and small ones pass.
"""

import logging
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import anyio
import httpx
import pytest

from api import front
from api.requests import FREE, MEMORY, Admission, pieces
from tests.api.conftest import serving
from tests.api.test_problems import problem

HEAD = b"POST /v1/ai/question HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALF = {
    "nothing sent": b"",
    "half a head": HEAD + b"X-",
    "half a body": HEAD + b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
}
Connect = Callable[[bytes], socket.socket]


@pytest.fixture
def client(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A service in which seconds are hundredths, and an address has four connections."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "UNREAD_SECONDS"):
        monkeypatch.setattr(front, name, 0.3)
    monkeypatch.setattr(front, "_CHECK_SECONDS", 0.05)
    monkeypatch.setenv("DILIGENCE_CONNECTIONS_PER_ADDRESS", "4")
    with serving() as client:
        yield client


@pytest.fixture
def connect(client: httpx.Client) -> Iterator[Connect]:
    with ExitStack() as opened:

        def connected(sent: bytes) -> socket.socket:
            one = opened.enter_context(socket.create_connection(("127.0.0.1", client.base_url.port or 0), timeout=20))
            one.sendall(sent)
            return one

        yield connected


def is_open(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


@pytest.mark.parametrize("sent", HALF.values(), ids=HALF.keys())
def test_what_never_becomes_a_request_is_closed(connect: Connect, sent: bytes) -> None:
    with suppress(ConnectionResetError):
        assert connect(sent).recv(1) == b""


def test_a_body_that_comes_drop_by_drop_is_closed_and_one_that_flows_is_read(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "BODY_BYTES_A_SECOND", 1000)
    begun = b'{"question": "' + b"x" * 1000  # a second more than the rest may be late by, on a busy machine
    drops, flow = connect(HALF["half a body"]), connect(HEAD + b"Content-Length: 7020\r\n\r\n" + begun)
    for _ in range(24):
        with suppress(OSError):
            drops.sendall(b" ")
        flow.sendall(b"x" * 250)
        time.sleep(0.03)
    flow.sendall(b'xxxx"}')
    assert flow.recv(12) == b"HTTP/1.1 200"
    assert not is_open(drops)


def test_a_full_address_loses_its_oldest_idle_connection(
    connect: Connect, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "HEAD_SECONDS", 60.0)
    monkeypatch.setattr(front, "BODY_SECONDS", 60.0)
    heard: list[bytes] = []
    hear = front.LimitedConnection.data_received

    def note(connection: front.LimitedConnection, data: bytes) -> None:
        hear(connection, data)
        heard.append(data)

    monkeypatch.setattr(front.LimitedConnection, "data_received", note)
    standing = []
    for sent in [*HALF.values(), *HALF.values()]:
        heard.clear()
        standing.append(connect(sent))
        while b"".join(heard) != sent:  # a busy service would hear of a later one first
            time.sleep(0.001)
    assert client.get("/health/live").status_code == 200
    assert [is_open(one) for one in standing] == [False, False, False, True, True, True]


def test_with_few_descriptors_others_are_served(
    connect: Connect, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "most_connections", lambda: 3)
    for _ in range(20):
        connect(HALF["half a head"])
    assert client.get("/health/live").status_code == 200


@pytest.mark.slow
@pytest.mark.nightly  # it waits for two minutes
def test_a_client_that_takes_no_answer_is_closed(connect: Connect) -> None:
    body = b'{"question": "What?", "context": "' + b"word " * 2_000_000 + b'"}'
    reader = connect(b"")
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    hung_up = select.poll()
    hung_up.register(reader, select.POLLRDHUP)
    assert hung_up.poll(120_000)


def test_a_head_without_end_is_refused(connect: Connect) -> None:
    endless = connect(HEAD + b"X-Long: " + b"x" * 70_000)
    assert endless.recv(100).startswith(b"HTTP/1.1 431 ")


def test_what_is_no_http_is_a_problem(client: httpx.Client, connect: Connect) -> None:
    said = connect(b"hello\r\n\r\n").recv(4096)
    assert b"application/problem+json" in said
    assert b"urn:diligence:problem:bad-request" in said
    problem(client.request("BREW", "/nope"), 404, "not-found")


def test_a_message_of_the_server_is_logged_once_a_minute() -> None:
    seldom = front.Seldom()
    again = logging.LogRecord("asyncio", logging.ERROR, "", 0, "socket.accept() out of system resource", None, None)
    other = logging.LogRecord("asyncio", logging.ERROR, "", 0, "something else", None, None)
    assert [seldom.filter(one) for one in (again, again, other, again)] == [True, False, True, False]


LARGE = 4 * FREE
"""Of which one fits into the memory below, and two do not."""


@pytest.fixture
def admission() -> Admission:
    return Admission(memory=25 * LARGE)


def test_large_bodies_take_their_turns_and_small_ones_pass(admission: Admission) -> None:
    events: list[str] = []

    async def request(name: str, size: int) -> None:
        reserved = await admission.reserve(size)
        events.append(f"{name} in")
        await anyio.sleep(0.01)
        events.append(f"{name} out")
        admission.give_back(reserved)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for name, size in (("a", LARGE), ("b", LARGE), ("small", FREE), ("c", LARGE)):
                group.start_soon(request, name, size)

    anyio.run(main)
    assert [event for event in events if "small" not in event] == ["a in", "a out", "b in", "b out", "c in", "c out"]
    assert events.index("small in") < events.index("a out")


def test_who_hangs_up_while_waiting_leaves_the_queue(admission: Admission) -> None:
    async def main() -> None:
        first = await admission.reserve(LARGE)
        with anyio.move_on_after(0.01) as hung_up:
            await admission.reserve(LARGE)
        assert hung_up.cancelled_caught
        admission.give_back(first)
        with anyio.fail_after(1):
            await admission.reserve(LARGE)

    anyio.run(main)


def test_what_is_larger_than_all_memory_is_admitted_alone() -> None:
    async def main() -> None:
        admission = Admission(memory=1)
        with anyio.fail_after(1):
            admission.give_back(await admission.reserve(LARGE))
            await admission.reserve(LARGE)

    anyio.run(main)


def test_a_long_answer_goes_out_in_pieces() -> None:
    body = bytes(range(256)) * 5000
    assert b"".join(pieces(body)) == body
    assert max(map(len, pieces(body))) <= 256 * 1024


def test_a_client_that_hangs_up_in_its_body_is_no_failure_of_ours(
    service: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    head = b"POST /v1/ai/question HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", service.base_url.port or 0), timeout=20) as one:
            one.sendall(head)
    assert service.get("/health/live").status_code == 200
    assert "500" not in caplog.text


def test_bodies_of_middling_length_are_counted_too() -> None:
    async def main() -> None:
        admission = Admission()
        async with anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(admission.reserve, 1024 * 1024)
            await anyio.sleep(0.01)
            assert admission.reserved <= MEMORY
            assert admission.waiting > 50
            group.cancel_scope.cancel()

    anyio.run(main)


@pytest.mark.slow
def test_a_context_comes_back_as_it_was_sent_however_long_it_is(service: httpx.Client) -> None:
    context = 'A "word" in lot 1.\n\tÜber \U0001f600 \\ ' * 60_000
    answer = service.post("/v1/ai/question", json={"question": "Lot 1?", "context": context})
    assert "content-length" not in answer.headers  # it is nowhere whole
    assert list(answer.json()) == ["question", "context", "answer"]
    assert answer.json()["context"] == context


@pytest.mark.slow
def test_a_long_body_of_very_many_values_is_refused(service: httpx.Client) -> None:
    for values in ("[" + "{}," * 120_000 + "{}]", '["' + '","' * 250_000 + '"]'):
        answer = service.post(
            "/v1/ai/question",
            content='{"question": "What?", "more": ' + values + "}",
            headers={"Content-Type": "application/json"},
        )
        assert "100,000 JSON values" in problem(answer, 400, "bad-request")["detail"]
    context = 'commas, brackets [] and {}, "quotes" and \\ ' * 40_000  # are no values within a text
    assert service.post("/v1/ai/question", json={"question": "What?", "context": context}).status_code == 200

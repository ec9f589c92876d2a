"""Heads of requests: what a key, a length or a host may be read from, and what is refused before it is worked on."""

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import serving
from tests.cases import cases

BODY = b'{"question": "What?"}'
CHUNKED = b"%x\r\n%s\r\n0\r\n" % (len(BODY), BODY)
HOST, KEY = b"Host: 127.0.0.1\r\n", b"X-API-Key: right\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
TE = b"Transfer-Encoding: chunked\r\n"
Send = Callable[[bytes], list[int]]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DILIGENCE_API_KEYS", "right")
        monkeypatch.setenv("DILIGENCE_HOME", str(tmp_path_factory.mktemp("home")))
        with serving() as client:
            yield client


@pytest.fixture
def send(client: httpx.Client, room: Path) -> Send:
    """Sends bytes over a connection; gives the statuses of all answers until it is closed."""

    def sent(data: bytes) -> list[int]:
        answers = b""
        with socket.create_connection(("127.0.0.1", client.base_url.port or 0), timeout=20) as connection:
            try:
                connection.sendall(data)
                while piece := connection.recv(65536):
                    answers += piece
            except ConnectionError:
                pass
        assert b"Traceback" not in answers
        return [int(status) for status in re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", answers)]

    return sent


def ask(head: bytes, body: bytes = BODY, version: bytes = b"1.1", target: bytes = b"/v1/ai/question") -> bytes:
    return b"POST %s HTTP/%s\r\n%sConnection: close\r\n\r\n%s" % (target, version, head, body)


REFUSED = {
    "no Host": ask(KEY + LENGTH),
    "two Hosts": ask(HOST + HOST + KEY + LENGTH),
    "an empty Host": ask(b"Host:\r\n" + KEY + LENGTH),
    "two Hosts in HTTP/1.0": ask(HOST + HOST + KEY + LENGTH, version=b"1.0"),
    "the Host of another address": ask(HOST + KEY + LENGTH, target=b"http://other.example/v1/ai/question"),
    "two keys": ask(HOST + KEY + b"X-API-Key: wrong\r\n" + LENGTH),
    "two accounts": ask(HOST + KEY + LENGTH + b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
    "two lengths": ask(HOST + KEY + LENGTH + b"Content-Length: 2\r\n"),
    "the same length twice": ask(HOST + KEY + LENGTH + LENGTH),
    "a list of lengths": ask(HOST + KEY + b"Content-Length: 21, 21\r\n"),
    "a length with a sign": ask(HOST + KEY + b"Content-Length: +21\r\n"),
    "a length and chunks": ask(HOST + KEY + LENGTH + TE, CHUNKED + b"\r\n"),
    "chunks twice": ask(HOST + KEY + TE + TE, CHUNKED + b"\r\n"),
    "a packed body": ask(HOST + KEY + b"Transfer-Encoding: gzip, chunked\r\n", CHUNKED + b"\r\n"),
    "another coding": ask(HOST + KEY + b"Transfer-Encoding: identity\r\n"),
    "a folded header": ask(HOST + LENGTH + b"X-API-Key: ri\r\n ght\r\n"),
    "a blank before the colon": ask(HOST + LENGTH + b"X-API-Key : right\r\n"),
    "bare line feeds": ask(HOST + KEY + LENGTH).replace(b"\r\n", b"\n"),
    "a NUL": ask(HOST + KEY + LENGTH + b"X-Other: a\0b\r\n"),
    "no version": b"GET /health/live\r\n\r\n",
    "another version": ask(HOST + KEY + LENGTH, version=b"2.0"),
    "a tunnel": b"CONNECT other.example:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a target without a slash": ask(HOST + KEY + LENGTH, target=b"v1/ai/question"),
}


@cases("request_", REFUSED.values())
def test_what_could_be_read_in_two_ways_is_refused(send: Send, request_: bytes) -> None:
    assert send(request_) == [400]


ANSWERED = {
    "a plain one": (ask(HOST + KEY + LENGTH), 200),
    "chunks": (ask(HOST + KEY + TE, CHUNKED + b"\r\n"), 200),
    "a whole address": (ask(HOST + KEY + LENGTH, target=b"http://127.0.0.1/v1/ai/question"), 200),
    "HTTP/1.0, which knows no Host": (ask(KEY + LENGTH, version=b"1.0"), 200),
    "trailers that say nothing": (ask(HOST + KEY + TE, CHUNKED + b"Host: other\r\n\r\n"), 200),
    "no key": (ask(HOST + LENGTH), 401),
    "a key in the trailers": (ask(HOST + TE + b"Trailer: X-API-Key\r\n", CHUNKED + KEY + b"\r\n"), 401),
    "a key in another spelling": (ask(HOST + LENGTH + b"X_API_KEY: right\r\n"), 401),
}


@cases(("request_", "status"), ANSWERED.values())
def test_what_the_head_says_counts(send: Send, request_: bytes, status: int) -> None:
    assert send(request_) == [status]


def test_trailers_are_not_those_of_the_next_request(send: Send) -> None:
    first = ask(HOST + TE, CHUNKED + KEY + b"\r\n").replace(b"Connection: close\r\n", b"")
    assert send(first + ask(HOST + LENGTH)) == [401, 401]


def test_what_follows_an_upgrade_is_no_request(send: Send) -> None:
    upgrade = b"GET /health/live HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: other\r\n\r\n"
    assert send(upgrade + ask(HOST + KEY + LENGTH)) == [200]


def test_the_refusal_of_a_request_is_not_the_answer_to_the_one_before_it(send: Send, client: httpx.Client) -> None:
    slow = b'{"question": "What?", "context": "' + b"The revenue grew. " * 50_000 + b'"}'
    head = HOST + KEY + b"Content-Length: %d\r\n" % len(slow)
    first = ask(head, slow).replace(b"Connection: close\r\n", b"")
    assert 400 not in send(first + b"nonsense\r\n\r\n")


def test_trailers_without_end_are_not_kept(client: httpx.Client, send: Send) -> None:
    endless = b"X-Other: " + b"x" * 1000 + b"\r\n"
    assert send(ask(HOST + KEY + TE, CHUNKED + endless * 5000 + b"\r\n")) == [200]

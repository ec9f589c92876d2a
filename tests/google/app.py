"""The emulator as an ASGI application: reads requests, waits the latency, lets faults strike, sends answers."""

import asyncio
import gzip
import socket
import struct
from collections.abc import Iterator
from email.utils import formatdate
from time import time
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.google.answers import Answer, Call, json_answer
from tests.google.batch import answer_batch
from tests.google.control import controlled
from tests.google.counting import Counting
from tests.google.faults import Fault, refusal
from tests.google.parameters import Parameters
from tests.google.refusals import Refused
from tests.google.service import OAUTH, Service

_CLOSE_HARD = struct.pack("ii", 1, 0)  # SO_LINGER of 0 s: the peer sees a reset, not an end


class App:
    """Runs under uvicorn only: resets reach for its transport."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        call = _call(scope, bytes(body))
        if call.path.startswith("/_emulator/"):
            await _send(send, controlled(self.service, call), Counting())  # not of the Drive API
            return
        counting = self.service.counting
        counting.under_way += 1
        counting.most_at_once = max(counting.most_at_once, counting.under_way)
        try:
            await self._answer(call, send)
        finally:
            counting.under_way -= 1

    async def _answer(self, call: Call, send: Any) -> None:
        service = self.service
        route = service.route(call)
        api = route.method not in OAUTH
        fault = service.faults.next(route.method, route.id, call.parameters, api=api)
        service.counting.requests += api
        service.counting.token_requests += route.method == "token"
        wait = service.settings.latency + (fault.seconds if fault and fault.do == "delay" else 0)
        if wait:
            await asyncio.sleep(wait)
        if fault and fault.do == "reset":
            service.counting.call(route.method, call.path, None, 0)
            _reset(send)
            return
        if fault and fault.do == "refuse":
            answer = refusal(fault, service.settings.clock_ahead)
            service.counting.call(route.method, call.path, None, answer.status)
        elif route.method == "batch":
            answer = self._batch(call)
        else:
            answer = service.answer(route, call)
            service.counting.tokens = service.oauth.refreshes
        if (
            service.settings.gzip
            and isinstance(answer.body, bytes)
            and "gzip" in call.headers.get("accept-encoding", "")
        ):
            answer = _packed(answer)
        answer.headers = answer.headers | {"date": formatdate(time() + service.settings.clock_ahead, usegmt=True)}
        await _send(send, answer, service.counting, fault if fault and fault.do != "refuse" else None)

    def _batch(self, call: Call) -> Answer:
        service = self.service
        service.counting.call("batch", call.path, None, 200)

        def one(inner: Call) -> Answer:
            route = service.route(inner)
            if route.method in {"files.media", "batch", *OAUTH}:  # no downloads, no batch in a batch
                return json_answer(Refused(400, "badRequest", "Not supported in a batch.").body(), 400)
            return service.answer(route, inner, part=True)

        try:
            return answer_batch(call, one)
        except Refused as error:
            return json_answer(error.body(), error.status, error.headers)


def _call(scope: dict[str, Any], body: bytes) -> Call:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope["query_string"].decode("latin-1")
    verb = scope["method"]
    if verb == "POST" and headers.get("x-http-method-override", "").upper() == "GET":
        # How clients send a query too long for an address.
        verb, query, body = "GET", "&".join(filter(None, (query, body.decode("latin-1")))), b""
    path = scope.get("raw_path", b"").decode("latin-1").partition("?")[0] or scope["path"]
    parameters = Parameters(dict(parse_qsl(query, keep_blank_values=True)))
    return Call(verb, path if "%2F" in path.upper() else unquote(path), parameters, headers, body)


async def _send(send: Any, answer: Answer, counting: Counting, fault: Fault | None = None) -> None:
    """Sends an answer, spoilt as the fault says. Bytes are counted before they go, so a client finds all it has."""
    do = fault.do if fault else None
    headers = dict(answer.headers)
    if answer.length is not None:
        headers["content-length"] = str(answer.length)
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
    if do is None and isinstance(answer.body, bytes):
        counting.sent += len(answer.body)
        await send({"type": "http.response.body", "body": answer.body})
        return
    pieces: Iterator[bytes] = iter([answer.body]) if isinstance(answer.body, bytes) else answer.body
    if do is not None:
        pieces = iter(_spoilt(b"".join(pieces), do))
    for piece in pieces:
        if fault and do == "drip":
            await asyncio.sleep(fault.seconds / 20)
        counting.sent += len(piece)
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    if do == "reset_body":
        await asyncio.sleep(0.02)  # the first half should arrive
        _reset(send)
    elif do == "truncate":
        _transport(send).close()
    else:
        await send({"type": "http.response.body", "body": b""})


def _spoilt(body: bytes, do: str) -> list[bytes]:
    match do:
        case "truncate" | "reset_body":
            return [body[: len(body) // 2]]
        case "corrupt" if body:
            return [bytes([body[0] ^ 0xFF]), body[1:]]
        case "drip":
            step = max(1, -(-len(body) // 20))
            return [body[at : at + step] for at in range(0, len(body), step)]
    return [body]


def _packed(answer: Answer) -> Answer:
    assert isinstance(answer.body, bytes)
    body = gzip.compress(answer.body, 1, mtime=0)
    return Answer(answer.status, body, {**answer.headers, "content-encoding": "gzip"}, len(body))


def _transport(send: Any) -> asyncio.Transport:
    # uvicorn's `send` is a method of the object that holds the connection.
    transport: asyncio.Transport = send.__self__.transport
    return transport


def _reset(send: Any) -> None:
    transport = _transport(send)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_HARD)
    transport.abort()

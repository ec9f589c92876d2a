"""What stands before every path: security headers, HEAD, counts and request ids, and the limits of connections.

Connections have time-outs and limits for each address, so that slow clients (slowloris) cost nobody else.

uvicorn closes a connection that is idle between two requests. It waits for ever for the first one, for the rest of a
head or of a body, and for a client that takes no answer; and it counts connections without asking whose they are.
`LimitedConnection` is uvicorn's own protocol (on httptools, which is written in C) with these limits. What it refuses
it refuses with a problem, as the service does.
"""

import asyncio
import logging
import re
import resource
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anyio import CancelScope
from litestar import Litestar
from litestar.serialization import encode_json
from pydantic import ValidationError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.auth import KEY, audit, check_origin
from api.monitoring import Answered, Metrics, find_operation
from api.problems import MEDIA_TYPE, NOTHING_HERE, problem
from api.requests import ADMISSION, LONG, RESERVED, Admission, Calls, pieces
from api.settings import ApiSettings
from api.workers import ENDING
from storage import context
from storage.logs import LogSettings
from storage.settings import environment_as_it_is
from tasks.documents.drive.drive import base_path
from tasks.errors import BadRequest, DiligenceError, NotFound, Unavailable
from tasks.offload import Processes, offloading_to

if TYPE_CHECKING:
    from tasks.spans import Tracing

HEAD_SECONDS: Final = 15.0
"""For the whole head of a request, from the connection's beginning or the answer before it."""
BODY_SECONDS: Final = 30.0
"""For a body; each `BODY_BYTES_A_SECOND` of it that came give a second more."""
BODY_BYTES_A_SECOND: Final = 128 * 1024
UNREAD_SECONDS: Final = 30.0
"""For a client that takes nothing of its answer."""
LONGEST_HEAD: Final = 64 * 1024
ON_HANG_UP: Final = "on_hang_up"
"""What is called when the client hangs up before it has its answer, in the request's state."""

_CHECK_SECONDS = 2.0
_HUNG_UP: Final = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR
_RESERVED = 48
"""Descriptors that are not for connections: the database, the readers, calls to drives, models and sources."""
# What llhttp (httptools' parser) knows. It refuses other methods before it reads the path; they stand for one
# that no path of ours allows, so that the answer can say which methods this path does allow.
_METHOD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) (?=/)")
_KNOWN = frozenset(b"GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH".split())
_ONCE = frozenset(b"host authorization x-api-key content-type content-length transfer-encoding".split())
_STANDS_FOR_UNKNOWN = b"PURGE"


class HeadTooLarge(DiligenceError):
    """The head of a request is above the limit."""

    status, slug, title = 431, "head-too-large", "Request head too large"


@cache
def most_connections() -> int:
    """How many connections the process can hold with the file descriptors it may open; 1024 at most.

    The soft limit is raised to the hard limit where that is allowed.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # what there is must do
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536) if hard > 0 else 65536, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(8, min(1024, (soft - _RESERVED) * 3 // 4)) if soft > 0 else 1024


class LimitedConnection(HttpToolsProtocol):
    """One connection of a client."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limit = most_connections()
        self._limit_of_address = ApiSettings.current().connections_per_address
        self._in_message = self._in_head = False
        self._head_bytes = 0
        self._fault = ""
        self._body_begun = self.heard_at = self.waiting_since = time.monotonic()
        self._body_bytes = 0
        self._unread = 0
        self._unread_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._answered: RequestResponseCycle | None = None

    @property
    def address(self) -> str:
        """The client's address; "" where it has none (a socket of this machine)."""
        return self.client[0] if self.client else ""

    @property
    def awaits_head(self) -> bool:
        """Whether no request is under way: none has begun, or its head is incomplete."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do for the client: every whole request that it sent has been answered."""
        return self.awaits_head or self.cycle.more_body

    @property
    def idle_since(self) -> float:
        """Since when the connection has been idle, in seconds of the monotonic clock."""
        return self.waiting_since if self.awaits_head else self.heard_at

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(_CHECK_SECONDS, self._check)
        everyone = [one for one in self.connections if isinstance(one, LimitedConnection) and not one.is_closed]
        if len(everyone) <= min(self._limit, self._limit_of_address):
            return
        own = [one for one in everyone if one.address == self.address]
        if len(own) > self._limit_of_address:
            victim = _longest_idle(own, but=self)
            if victim is not None:
                victim.drop()
                return
        if len(everyone) > self._limit:
            busiest = Counter(one.address for one in everyone).most_common(1)[0][0]
            victim = _longest_idle((one for one in everyone if one.address == busiest), but=self)
            victim = victim or _longest_idle(everyone, but=self)
            if victim is not None:
                victim.drop()
            else:
                self._refuse(Unavailable("The service has reached its limit of connections. Try again later."))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)
        if self._answered is not None:
            self._answered.scope["state"].get(ON_HANG_UP, lambda: None)()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        self.heard_at = time.monotonic()
        if not self._in_message and (method := _METHOD.match(data)) and method[1] not in _KNOWN:
            data = _STANDS_FOR_UNKNOWN + data[method.end(1) :]
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > LONGEST_HEAD and not self.is_closed:
                self._refuse(HeadTooLarge(f"The head of the request is larger than {LONGEST_HEAD // 1024} KB."))

    def on_message_begin(self) -> None:
        self._in_message = self._in_head = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # what comes after the body says nothing: keys and lengths stand in the head
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._body_begun, self._body_bytes = self.heard_at, 0
        self._fault = _fault(self.headers, self.url, self.parser.get_http_version())
        if self._fault:
            raise BadRequest(self._fault)  # it ends the parser's work
        super().on_headers_complete()
        if self.parser.should_upgrade():  # what follows may be of the other protocol, and is never read as a request
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_message = False
        super().on_message_complete()
        if self.cycle is self._answered:
            self.flow.resume_reading()  # else, after a large body, nobody would hear the client hang up

    def on_response_complete(self) -> None:
        self.waiting_since = time.monotonic()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - as uvicorn calls it
        self._refuse(BadRequest(self._fault or "The request is not valid HTTP."))

    @property
    def is_closed(self) -> bool:
        return self.transport is None or self.transport.is_closing()

    def drop(self) -> None:
        """Close the connection at once; any part of an answer that was not sent is lost."""
        connection = self.transport.get_extra_info("socket")
        if connection is not None:
            with suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _refuse(self, error: DiligenceError) -> None:
        begun = self._answered
        is_of_its_body = begun is self.cycle and begun is not None and begun.more_body and not begun.response_started
        if begun is not None and not begun.response_complete and not is_of_its_body:
            self.drop()  # the client would take it for the answer to an earlier request
            return
        body = encode_json(problem(error))
        head = (
            f"HTTP/1.1 {error.status} {error.title}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
            "x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _check(self) -> None:
        """Close the connection if its client took too long, otherwise check again later."""
        now = time.monotonic()
        if self._is_overdue(now) or self._has_hung_up():
            self.drop()
        else:
            self._timer = self.loop.call_later(_CHECK_SECONDS, self._check)

    def _is_overdue(self, now: float) -> bool:
        unread = self.transport.get_write_buffer_size()
        if unread == 0 or unread < self._unread or self._unread_since == 0:
            self._unread_since = now
        self._unread = unread
        if unread:
            return now - self._unread_since > UNREAD_SECONDS
        if self.awaits_head:
            return now - self.waiting_since > HEAD_SECONDS
        if self.cycle.more_body and self.flow.read_paused:
            self._body_begun, self._body_bytes = now, 0  # it is we who let it wait
        elif self.cycle.more_body:
            return now - self._body_begun > BODY_SECONDS + self._body_bytes / BODY_BYTES_A_SECOND
        return False

    def _has_hung_up(self) -> bool:
        """Whether the client has closed its end while we are not reading, so that the event loop does not notice.

        If more was sent than the system buffers unread, the end comes after it, and is noticed when that is read.
        """
        connection = self.transport.get_extra_info("socket")
        if not self.flow.read_paused or connection is None:
            return False
        hung_up = select.poll()
        hung_up.register(connection.fileno(), _HUNG_UP)
        return bool(hung_up.poll(0))


def _fault(headers: Sequence[tuple[bytes, bytes]], target: bytes, version: str) -> str:
    """What is wrong with the head of a request, beyond what the parser refuses; "" if nothing is.

    An HTTP/1.1 request has exactly one Host, which matches its target if that is a whole address (RFC 9112, 3.2), and
    no body coding that the server does not know (6.1). Of any other header that may occur once, a proxy might read the
    other copy.
    """
    once = [name for name, _ in headers if name in _ONCE]
    values = dict(headers)
    host = values.get(b"host", b"").lower()
    if version not in {"1.0", "1.1"}:
        return "The service speaks HTTP/1.1 and HTTP/1.0."
    if once.count(b"host") > 1 or (not host and (version == "1.1" or b"host" in once)):
        return "The request must have exactly one Host header."
    if len(set(once)) < len(once):
        return f"These headers may occur only once in a request: {b', '.join(sorted(_ONCE)).decode()}."
    if not target.startswith((b"/", b"*")) and target.partition(b"://")[2].partition(b"/")[0].lower() != host:
        return "The Host header must name the host of the address."
    if values.get(b"transfer-encoding", b"chunked").strip().lower() != b"chunked":
        return "The only Transfer-Encoding that the service supports is chunked."
    return ""


def _longest_idle(connections: Iterable[LimitedConnection], *, but: LimitedConnection) -> LimitedConnection | None:
    idle = (one for one in connections if one is not but and one.is_idle)
    return min(idle, key=lambda one: one.idle_since, default=None)


class Seldom(logging.Filter):
    """Lets one of the server's own messages through once a minute, as strangers decide how often its cause occurs."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now, message = time.monotonic(), str(record.msg)[:200]
        if now - self._said.get(message, -60.0) < 60:
            return False
        if len(self._said) > 1000:
            self._said.clear()
        self._said[message] = now
        return True


logger = logging.getLogger(__name__)

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    b"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
NO_ANSWER = 499
"""The status in the record of calls whose client hung up."""
_REQUEST_ID = context.REQUEST_ID_HEADER.lower().encode()
HEAD = "head"
"""Set in a request's state when the caller asked for the headers alone."""

_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",  # what the operations answer is for the caller alone
    b"content-security-policy": _POLICY,
    b"cross-origin-resource-policy": b"same-origin",
}


class Service(Litestar):
    """Litestar behind the front door: security headers on every answer, HEAD wherever there is GET."""

    trusted_hosts: Sequence[str] | None = None
    """The only hosts that requests may be for and come from; None trusts all."""
    tracing: "Tracing | None" = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.admission = Admission()
        self.processes = Processes(1)
        self.count({})

    def count(self, calls: Mapping[str, Calls], folder: Path | None = None) -> None:
        """Start counting requests; `calls` are those of each area.

        The processes of one service write their figures into `folder`, so that each can show the figures of all.
        """
        self.metrics = Metrics(calls, self.admission, folder)
        self.metrics.put_into(self.state)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        base = _base_path()
        if base and scope["path"].startswith(f"{base}/"):  # a proxy may hand on the path as it came, or without its own
            scope = {**scope, "path": scope["path"].removeprefix(base)}
        proposed = next((value for name, value in scope["headers"] if name == _REQUEST_ID), b"")
        with (
            environment_as_it_is(),
            offloading_to(self.processes),
            context.request(proposed.decode("latin-1")) as request_id,
            self.metrics.counting() as answered,
            self.tracing.request_span(scope["headers"], answered) if self.tracing else nullcontext(),
        ):
            await self._answer(scope, receive, send, request_id.encode(), answered)

    async def _answer(self, scope: Any, receive: Any, send: Any, request_id: bytes, answered: Answered) -> None:
        answered.status = NO_ANSWER
        audited = False

        async def audit_once(status: int) -> None:
            nonlocal audited
            key = scope.get("state", {}).get(KEY)
            if key is not None and not audited:
                audited = True
                with CancelScope(shield=True):  # who hangs up now is written down too
                    await audit(key, f"{scope['method']} {scope.get('path_template', '')}", status)

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                answered.status = message["status"]
                await audit_once(message["status"])
                message["headers"] = self._headers(message["headers"], scope["method"], request_id)
            await _send_in_pieces(message, send)

        try:
            if self.trusted_hosts is not None:
                check_origin(scope["headers"], self.trusted_hosts)
            if "\0" in scope["path"]:  # no file, document or run has it in its name, and the system refuses it
                raise NotFound(NOTHING_HERE)
        except DiligenceError as error:
            await _refuse(error, send_guarded)
            return
        hang_up = CancelScope()
        scope.setdefault("state", {})[ON_HANG_UP] = hang_up.cancel
        if scope["method"] == "HEAD":  # the server that called us leaves the body out by its own copy of the scope
            scope = {**scope, "method": "GET", "state": {**scope.get("state", {}), HEAD: True}}
        state = scope["state"] = {**scope["state"], ADMISSION: self.admission}
        try:
            with hang_up:
                await super().__call__(scope, receive, send_guarded)
        finally:
            self.admission.give_back(state.get(RESERVED, 0))
            answered.operation = find_operation(scope)
            if LogSettings.current().is_json:  # by the operation: paths and queries tell whom somebody looks at
                logger.info("%s: %d", answered.operation, answered.status)
            await audit_once(NO_ANSWER)

    def _headers(self, own: Iterable[tuple[bytes, bytes]], method: str, request_id: bytes) -> list[tuple[bytes, bytes]]:
        """The headers of an answer: its own, those that every answer has, and HEAD in the methods if GET is there."""
        headers = list(own)
        present = {name.lower() for name, _ in headers}
        headers += [item for item in _HEADERS.items() if item[0] not in present]
        headers.append((_REQUEST_ID, request_id))
        if self.state.get(ENDING):
            headers.append((b"connection", b"close"))
        if method == "OPTIONS":
            headers = [(name, _with_head(value) if name == b"allow" else value) for name, value in headers]
        return headers


async def _send_in_pieces(message: Any, send: Any) -> None:
    """Send a message, a long body piece by piece."""
    body = message.get("body", b"")
    if len(body) > LONG:
        for piece in pieces(body):
            await send({**message, "body": piece, "more_body": True})
        message = {**message, "body": b""}
    await send(message)


def _base_path() -> str:
    """The path of the service behind a proxy; "" if a setting is wrong, which the operation then reports."""
    try:
        return base_path()
    except ValidationError:
        return ""


def _with_head(allow: bytes) -> bytes:
    methods = allow.decode().split(", ")
    return ", ".join(sorted({*methods, "HEAD"} if "GET" in methods else methods)).encode()


async def _refuse(error: DiligenceError, send: Any) -> None:
    body = encode_json(problem(error))
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.lower().encode(), value.encode()) for name, value in error.headers.items()),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})

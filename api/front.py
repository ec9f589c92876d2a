"""The outermost ASGI layer: security headers, HEAD, counts and request ids for every path."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import CancelScope
from litestar import Litestar
from litestar.serialization import encode_json
from pydantic import ValidationError

from api.auth import KEY, audit, check_origin
from api.connections import ON_HANG_UP
from api.monitoring import Answered, Metrics, find_operation
from api.problems import MEDIA_TYPE, NOTHING_HERE, problem
from api.requests import ADMISSION, LONG, RESERVED, Admission, Calls, pieces
from api.shutdown import ENDING
from storage import request_ids
from storage.logs import LogSettings
from storage.settings import environment_as_it_is
from tasks.documents.settings import base_path
from tasks.errors import DiligenceError, NotFound
from tasks.offload import Processes, offloading_to

if TYPE_CHECKING:
    from tasks.spans import Tracing

logger = logging.getLogger(__name__)

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    b"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
NO_ANSWER = 499
"""The status in the record of calls whose client hung up."""
_REQUEST_ID = request_ids.REQUEST_ID_HEADER.lower().encode()
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
            request_ids.request(proposed.decode("latin-1")) as request_id,
            self.metrics.counting() as answered,
            self._trace(scope, answered),
        ):
            await self._answer(scope, receive, send, request_id.encode(), answered)

    def _trace(self, scope: Any, answered: Answered) -> AbstractContextManager[None]:
        return self.tracing.request_span(scope["headers"], answered) if self.tracing is not None else nullcontext()

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

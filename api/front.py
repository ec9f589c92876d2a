"""The front door: what holds for every request and answer, whatever the path."""

from collections.abc import Sequence
from typing import Any

from litestar import Litestar
from litestar.serialization import encode_json

from api.auth import check_origin
from api.problems import MEDIA_TYPE, problem
from tasks.errors import DiligenceError

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    b"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
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

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                present = {name.lower() for name, _ in headers}
                headers += [item for item in _HEADERS.items() if item[0] not in present]
                if scope["method"] == "OPTIONS":
                    headers = [(name, _with_head(value) if name == b"allow" else value) for name, value in headers]
                message["headers"] = headers
            await send(message)

        if self.trusted_hosts is not None:
            try:
                check_origin(scope["headers"], self.trusted_hosts)
            except DiligenceError as error:
                await _refuse(error, send_guarded)
                return
        if scope["method"] == "HEAD":  # the server that called us leaves the body out by its own copy of the scope
            scope = {**scope, "method": "GET", "state": {**scope.get("state", {}), HEAD: True}}
        await super().__call__(scope, receive, send_guarded)


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

"""A fast path for operations that are mostly answered from memory, ahead of Litestar's parsing and injection.

Such a request takes 0.07 ms of our own code instead of 0.13. The operation's own guards run here, and not again. A
cache miss, or an error of a guard or the operation, falls through to Litestar, which answers as it always does.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from litestar.connection import ASGIConnection
from litestar.types import Guard

from api.answers import send_json
from api.auth import LET_IN, let_in_by

_ADDRESS: Final = re.compile(rb"[A-Za-z0-9._\[\]:-]{1,300}")
"""Hosts that are surely valid; of the others Litestar is the judge."""
Answer = Callable[[bytes, dict[str, Any]], Awaitable[bytes | None]]


class Shortcut:
    """The shortcut to an operation that is called by POST with a short body of JSON."""

    def __init__(self, path: str, guards: Sequence[Guard], answer: Answer) -> None:
        """`answer` gives the JSON for a body, or None, and is given the request's state too."""
        self.path = path
        self._guards = guards
        self._answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        """Answer the request and return None, or return how it is received by whoever answers it.

        What is wrong with it is told there: nothing is raised.
        """
        if scope["query_string"] or not _is_short_json(scope["headers"]):
            return receive
        message = await receive()
        again = _replayed(message, receive)
        if message["type"] != "http.request" or message.get("more_body"):
            return again
        state = scope["state"]
        scope["path_template"] = self.path  # by which the call is counted and written down
        try:
            await let_in_by(self._guards, ASGIConnection(scope, receive, send))
            state[LET_IN] = True
            body = await self._answer(message["body"], state)
        except Exception as error:  # noqa: BLE001 - it is raised again where errors become answers
            state[LET_IN] = error
            return again
        if body is None:
            return again
        await send_json(body, send)
        return None


def _is_short_json(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether the head says that the body is JSON, sent as such, of less than 10,000 bytes, and for a valid host."""
    said = dict(headers)
    return (
        said.get(b"content-type", b"").partition(b";")[0] == b"application/json"
        and b"content-encoding" not in said
        and 0 < len(said.get(b"content-length", b"")) < 5
        and _ADDRESS.fullmatch(said.get(b"host", b"")) is not None
    )


def _replayed(message: Any, receive: Any) -> Any:
    """Receives this message, then what `receive` does."""
    waiting = [message]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return receive_again

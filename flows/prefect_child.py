"""Prefect's server in a separate process: prints its port, and ends when its stdin closes. `prefect_server` starts
it.

It answers only its parent, which knows a secret made for this start. Prefect's own check leaves paths open (pages,
documentation, health), and any web page in the user's browser could call them.
"""

import gc
import os
import threading

if __name__ == "__main__":  # before the imports below, which take seconds: the parent may end meanwhile
    # Not through `sys.stdin`: Python ends with a fatal error where a thread still reads it.
    threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()
    gc.disable()  # while much is made and nothing dropped: a tenth of the time

import hmac
import socket
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from prefect.server.api.server import create_app
from prefect.server.database.configurations import AioSqliteConfiguration
from prefect.server.database.dependencies import set_database_config
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL


class Guarded:
    """An ASGI application that answers 401 to every request without the secret, whatever the path and method.

    Args:
        app: the application.
        secret: `user:password` of HTTP's basic authentication.
    """

    def __init__(self, app: Any, secret: str) -> None:
        self._app = app
        self._expected = b"Basic " + b64encode(secret.encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan" or self._is_parent(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it was accepted: the answer is 403
        else:
            await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

    def _is_parent(self, scope: Any) -> bool:
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(sent) == 1 and hmac.compare_digest(sent[0], self._expected)


class OneWriter(AioSqliteConfiguration):
    """Prefect's SQLite database, with transactions that take the write lock when they begin.

    A transaction that reads before it writes fails at once ("database is locked") if another has written meanwhile, and
    Prefect's client then waits two seconds. Worse, the garbage collector may clean up the failed transaction in the
    event loop's thread, where it waits up to a minute for SQLite while SQLite waits for it.
    """

    @asynccontextmanager
    async def begin_transaction(self, session: Any, with_for_update: bool = False) -> AsyncIterator[Any]:  # noqa: ARG002 - Prefect's signature
        """As Prefect's, but always for writing."""
        async with super().begin_transaction(session, with_for_update=True) as transaction:
            yield transaction


class _Server(uvicorn.Server):
    """Prints the port once the server listens; the parent reads it."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:  # it could not start, and has said why
            return
        gc.freeze()
        gc.enable()
        assert sockets is not None
        print(sockets[0].getsockname()[1], flush=True)  # noqa: T201


def main() -> None:
    """Serve on a free port of this machine."""
    # With IPPROTO_TCP asyncio turns Nagle's algorithm off; a request takes 40 ms longer otherwise.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    url = PREFECT_API_DATABASE_CONNECTION_URL.value()
    if url.startswith("sqlite"):
        set_database_config(OneWriter(connection_url=url))
    app = Guarded(create_app(ephemeral=True), os.environ["PREFECT_SERVER_API_AUTH_STRING"])
    # Within one machine to compress takes longer than to send: half of what an event costs who sends it.
    _Server(uvicorn.Config(app, log_level="error", lifespan="on", ws_per_message_deflate=False)).run([listening])


if __name__ == "__main__":
    main()

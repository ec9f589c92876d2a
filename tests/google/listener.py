"""uvicorn with what tests need: it ends at once, and has the CONNECT proxy beside it if wanted."""

import asyncio
import socket
import ssl
from contextlib import suppress
from typing import Any

import uvicorn

from tests.google.app import App
from tests.google.tunnel import Tunnel


def listening(port: int) -> socket.socket:
    """A listening socket on loopback.

    It names TCP as its protocol: for one that does not, asyncio leaves Nagle's algorithm on, and each
    answer of two writes then waits some 40 ms for the client's acknowledgement.
    """
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    found.listen(512)
    return found


class Listener(uvicorn.Server):
    """Serves the emulator; `proxy_port` is the proxy's when there is a context for its certificates."""

    def __init__(self, app: App, context: ssl.SSLContext | None) -> None:
        super().__init__(uvicorn.Config(
            app, http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None, log_level="critical",
            access_log=False, proxy_headers=False, server_header=False, date_header=False,
            timeout_keep_alive=75,
        ))  # fmt: skip
        self._context = context
        self._proxy: asyncio.Server | None = None
        self.proxy_port: int | None = None

    async def startup(self, sockets: Any = None) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        if (context := self._context) is not None:
            self._proxy = await self._loop.create_server(lambda: Tunnel(self, context), "127.0.0.1", 0)
            self.proxy_port = self._proxy.sockets[0].getsockname()[1]
        await super().startup(sockets)

    async def main_loop(self) -> None:
        # uvicorn's own looks up ten times a second only: a tenth of a second for each test.
        tick = 0
        while not await self.on_tick(tick):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), 0.1)
            tick = (tick + 1) % 864000

    async def shutdown(self, sockets: Any = None) -> None:
        if self._proxy:
            self._proxy.close()
        await super().shutdown(sockets)

    def end(self) -> None:
        """From any thread: stops without waiting for connections that are open."""
        self.should_exit = self.force_exit = True
        self._loop.call_soon_threadsafe(self._ended.set)

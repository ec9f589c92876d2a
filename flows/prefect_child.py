"""Prefect's server as a process of its own: prints its port, and ends with its stdin. `prefect_server` starts it."""

import os
import sys
import threading

if __name__ == "__main__":  # before the imports below, which take seconds: the parent may end meanwhile
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()

import socket

import uvicorn
from prefect.server.api.server import create_app


class _Server(uvicorn.Server):
    """Prints the port once the server listens; the parent reads it."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        assert sockets is not None
        print(sockets[0].getsockname()[1], flush=True)  # noqa: T201


def main() -> None:
    """Serve on a free port of this machine."""
    # With IPPROTO_TCP asyncio turns Nagle's algorithm off; a request takes 40 ms longer otherwise.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    _Server(uvicorn.Config(create_app(ephemeral=True), log_level="error", lifespan="on")).run([listening])


if __name__ == "__main__":
    main()

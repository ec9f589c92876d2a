"""How the service ends (SIGTERM, Ctrl-C) without losing a request, so that services can be restarted one by one.

First it refuses new connections and accepts those that have arrived; its answers ask clients to close; then running
requests get `DILIGENCE_SHUTDOWN_TIMEOUT`. uvicorn alone closes its socket with connections in the queue, which are then
reset, as are connections that it has accepted but not yet heard from.
"""

import asyncio
import ctypes
import os
import socket
import struct
from contextlib import suppress
from typing import Any, Final

import uvicorn

ENDING: Final = "ending"
"""In the application's state: the service takes no more requests."""
_ACCEPT_SECONDS: Final = 0.3
"""In which connections that were made are accepted, and their requests come in."""

# Classic BPF on the TCP header: drop a packet that opens a connection (SYN without ACK), keep others. A client whose
# packet was dropped sends it again after a second, to a closed port. See Documentation/networking/filter.rst of Linux.
_ATTACH_FILTER: Final = 26  # SO_ATTACH_FILTER, which Python does not name
_NO_NEW_ONES: Final = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (0x30, 0, 0, 13),  # the byte with the flags
        (0x54, 0, 0, 0x12),  # SYN and ACK of it
        (0x15, 0, 1, 0x02),  # SYN alone?
        (0x06, 0, 0, 0),  # drop
        (0x06, 0, 0, 0xFFFFFFFF),  # keep
    )
)


class GracefulServer(uvicorn.Server):
    """uvicorn's server, but it ends without losing a request."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, once the connections that have already been made are accepted."""
        app: Any = self.config.loaded_app
        app.state[ENDING] = True
        for listening in sockets or [one for server in self.servers for one in server.sockets]:
            _refuse_new_ones(listening.fileno())
        await asyncio.sleep(_ACCEPT_SECONDS)
        await super().shutdown(sockets)


def _refuse_new_ones(listening: int) -> None:
    program = ctypes.create_string_buffer(_NO_NEW_ONES, len(_NO_NEW_ONES))
    pointer = struct.pack("HP", len(_NO_NEW_ONES) // 8, ctypes.addressof(program))
    with suppress(OSError), socket.socket(fileno=os.dup(listening)) as copy:  # Linux alone has these filters
        copy.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, pointer)

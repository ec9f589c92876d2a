"""A web server on loopback that answers as told, byte by byte where need be, and remembers who asked.

    with LoopbackServer({"/": page("<p>Hello</p>"), "/slow": dripping()}) as server:
        web.get(server.url + "/slow")

What a path answers is a `Reply`, or a function of what was asked that gives one; `behaviours.py` has the usual
ones. `server.then(busy(429), ...)` makes the next requests fail in that order, whatever their path.
"""

import contextlib
import socket
import socketserver
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request as it came in; the headers' names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    server_name: str | None = None
    """The name that TLS was begun with."""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))


@dataclass(frozen=True)
class Reply:
    """An answer. With `raw`, its bytes and pauses (seconds) instead, as they go out; the connection then ends."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0
    raw: Callable[[], Iterator[bytes | float]] | None = None


Behaviour = Reply | Callable[[Asked], Reply]


class LoopbackServer:
    """The server. `asked` holds every request in order, `begun` when it came; `most` were in work at once."""

    def __init__(
        self,
        pages: Mapping[str, Behaviour] | Callable[[Asked], Reply] | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.pages = pages if pages is not None else {}
        self.asked: list[Asked] = []
        self.begun: list[float] = []
        self.connections = 0
        self.most = 0
        self._host, self._port = host, port
        self._tls = tls
        self.running = 0
        self._next: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._closing = threading.Event()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return self.at(f"[{self._host}]" if ":" in self._host else self._host)

    def at(self, host: str) -> str:
        """The server's address under another name."""
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    def then(self, *behaviours: Behaviour) -> None:
        """What happens to the next requests, one each."""
        self._next.extend(behaviours)

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [asked.path for asked in self.asked]

    def __enter__(self) -> Self:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        self._server = _Server(family, (self._host, self._port), self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True, name="loopback"
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def serve(self, connection: socket.socket) -> None:
        """One connection, request after request."""
        names: list[str | None] = [None]
        with self._lock:
            self.connections += 1
        if self._tls is not None:
            self._tls.sni_callback = lambda _socket, name, _context: names.append(name)
            connection = self._tls.wrap_socket(connection, server_side=True)
        with connection, connection.makefile("rb") as stream:
            while not self._closing.is_set() and (asked := _read(stream, names[-1])):
                if not self._answer(connection, asked):
                    break

    def _answer(self, connection: socket.socket, asked: Asked) -> bool:
        """Answer; whether the connection goes on."""
        with self._lock:
            self.asked.append(asked)
            self.begun.append(time.monotonic())
            self.running += 1
            self.most = max(self.most, self.running)
            behaviour = self._next.popleft() if self._next else self._behaviour(asked)
        try:
            reply = behaviour if isinstance(behaviour, Reply) else behaviour(asked)
            self._closing.wait(reply.delay)
            if reply.raw is not None:
                self._send(connection, reply.raw())
                return False
            head = {"Content-Length": str(len(reply.body)), **reply.headers}
            lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
            message = f"HTTP/1.1 {reply.status} Said\r\n{lines}\r\n".encode() + reply.body
        finally:
            with self._lock:  # before the last byte: who has the answer may ask again at once
                self.running -= 1
        connection.sendall(message)
        return True

    def _send(self, connection: socket.socket, pieces: Iterator[bytes | float]) -> None:
        for piece in pieces:
            if self._closing.is_set():
                return
            if isinstance(piece, bytes):
                connection.sendall(piece)
            elif piece < 0:  # an end without goodbye
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                return
            else:
                self._closing.wait(piece)

    def _behaviour(self, asked: Asked) -> Behaviour:
        if callable(self.pages):
            return self.pages(asked)
        return self.pages.get(asked.path, Reply(status=404))


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, family: int, address: tuple[str, int], owner: LoopbackServer) -> None:
        self.address_family = family
        self.owner = owner
        super().__init__(address, _Handler)

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is what many tests are about."""


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            self.server.owner.serve(self.request)


def _read(stream: Any, server_name: str | None) -> Asked | None:
    """The next request; None when there is none any more."""
    first = stream.readline(65536).split()
    if len(first) != 3:
        return None
    headers = {}
    while (line := stream.readline(65536).strip()) != b"":
        name, _, value = line.partition(b":")
        headers[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
    body = stream.read(int(headers.get("content-length", 0)))
    return Asked(first[0].decode(), first[1].decode("latin-1"), headers, body, server_name)

"""What the tests of the client share: settings for an emulator, and a server that says just what it is told to."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Thread
from typing import Any, Self

from google.oauth2.credentials import Credentials

from tasks.documents.drive.google import GoogleDriveSettings
from tasks.documents.drive.google.client import Client
from tests.google.server import DriveEmulator

ADA = "ada@example.com"


def settings_of(base: str) -> GoogleDriveSettings:
    """Settings for a Drive at an address."""
    return GoogleDriveSettings(google_api_endpoint=f"{base}/drive/v3/", google_batch_uri=f"{base}/batch/drive/v3")


@contextmanager
def client_with(credentials: Credentials | str, base: str, **options: Any) -> Iterator[Client]:
    """A client of the Drive at an address, that acts with credentials or a token."""
    if isinstance(credentials, str):
        credentials = Credentials(credentials)  # type: ignore[no-untyped-call]
    client = Client(credentials, settings_of(base), **options)
    try:
        yield client
    finally:
        client.connections.close()


def client_of(emulator: DriveEmulator, token: str | None = None, **options: Any) -> AbstractContextManager[Client]:
    """A client that acts with a token; Ada's if none is given."""
    return client_with(token or emulator.token(ADA), emulator.base, **options)


Reply = bytes | Callable[[socket.socket], None]


class Scripted:
    """A server that gives one reply a request, the last one again and again; `requests` are what came in."""

    def __init__(self, *replies: Reply) -> None:
        self.replies: Sequence[Reply] = replies
        self.requests: list[str] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.connections: list[socket.socket] = []
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for each in (self._listener, *self.connections):
            each.close()
        for thread in self._threads:
            thread.join(5)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def client(self, **options: Any) -> AbstractContextManager[Client]:
        """A client of it."""
        return client_with("ya29.scripted", self.base, **options)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            self._threads.append(Thread(target=self._serve, args=(connection,), daemon=True))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while request := _request(connection):
                reply = self.replies[min(len(self.requests), len(self.replies) - 1)]
                self.requests.append(request)
                if callable(reply):
                    reply(connection)
                else:
                    connection.sendall(reply)
                    if b"\r\nconnection: close" in reply.lower():
                        break
        except OSError:
            pass
        connection.close()


def _request(connection: socket.socket) -> str:
    """A request's head, its body (told by its length) after it; "" when there is none."""
    found = b""
    while b"\r\n\r\n" not in found:
        if not (more := connection.recv(65536)):
            return ""
        found += more
    head, _, body = found.partition(b"\r\n\r\n")
    lengths = [line.partition(b":")[2] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < int(lengths[0] if lengths else 0):
        body += connection.recv(65536)
    return (head + b"\r\n\r\n" + body).decode("latin-1")


def reply(status: int, body: bytes, content_type: str = "application/json", **headers: str) -> bytes:
    """A whole HTTP answer; `_` stands for `-` in the names of headers."""
    lines = [f"HTTP/1.1 {status} X", f"content-type: {content_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if not {"content_length", "transfer_encoding"} & set(headers):
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body

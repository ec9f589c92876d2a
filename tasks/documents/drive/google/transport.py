"""httplib2 with what it lacks: limits on a whole answer's time and size, and bodies that are written to disk.

httplib2's time-out applies to each single read, so a body that comes byte by byte never ends, and it holds every body
in memory.
"""

import contextlib
import io
import socket
import time
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from http.client import HTTPResponse, IncompleteRead
from typing import Any, Protocol
from urllib.parse import urlsplit

import httplib2

from storage.context import holding
from tasks.errors import SourceFailed
from tasks.remote import retry

_CONNECT = 10.0  # seconds
FIRST_BYTE = 30.0  # seconds: large exports are made before the first byte comes
WINDOW = 5.0  # seconds within which …
_SLOWEST = 20_000  # … so many bytes come, or the body is given up and asked for again, with more patience
_PIECE = 64 * 1024
LARGEST_ANSWER = 64 * 1024 * 1024  # of JSON: a page of 1,000 files with all fields is 5 MB
_GOOGLE = (".google.com", ".googleapis.com", ".googleusercontent.com")


class Sink(Protocol):
    """Where the body of a download goes."""

    @property
    def position(self) -> int:
        """How many bytes have been written."""

    def restart(self) -> None:
        """Discard what has been written."""

    def begin(self, status: int, headers: Any) -> None:
        """Note an answer's status (200 or 206) and headers before its body."""

    def write(self, piece: bytes, /) -> None:
        """Write a piece of the body."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    patience: float = 1.0
    sink: Sink | None = None


_USUAL = _Attempt()
_attempt: ContextVar[_Attempt] = ContextVar("attempt", default=_USUAL)


def attempt(patience: float = 1.0, sink: Sink | None = None) -> AbstractContextManager[None]:
    """How answers are read in the block: with what multiple of the usual patience, and where to."""
    return holding(_attempt, _Attempt(patience, sink))


def bound_wait(seconds: float) -> float:
    """The time-out for a single wait: never beyond the deadline.

    Raises:
        TimeoutError: the deadline is over.
    """
    remaining = min(seconds, retry.seconds_left())
    if remaining <= 0:
        raise TimeoutError("the deadline is over")
    return remaining


class _Timed(io.RawIOBase):
    """The bytes of one answer, abandoned if they arrive too slowly."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw = raw
        self._socket = sock
        self._patience = _attempt.get().patience
        self._since = 0.0  # when the window began; 0 before the first byte
        self._came = 0  # bytes within the window

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        now = time.monotonic()
        if self._since and now - self._since >= WINDOW * self._patience:
            if self._came < _SLOWEST:
                raise TimeoutError("the answer comes too slowly")
            self._since, self._came = now, 0
        self._socket.settimeout(bound_wait((WINDOW if self._since else FIRST_BYTE) * self._patience))
        self._hurry()
        count = self._raw.readinto(buffer)
        self._since = self._since or time.monotonic()
        self._came += count or 0
        return count

    def _hurry(self) -> None:
        """Acknowledge data at once: a server that sends head and body apart may wait for it, 40 ms a call."""
        if hasattr(socket, "TCP_QUICKACK"):  # Linux has it, and forgets it after a while
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Answer(HTTPResponse):
    """An answer that is read within the limits; a download's body is written to its sink."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Timed(self.fp.detach(), sock), _PIECE)

    def read(self, amt: int | None = None) -> bytes:
        if amt is not None:
            return super().read(amt)
        sink = _attempt.get().sink
        if sink is not None and self.status in {200, 206}:
            sink.begin(self.status, self.headers)
            for piece in self._pieces():
                sink.write(piece)
            return b""
        body = bytearray()
        for piece in self._pieces():
            body += piece
            if len(body) > LARGEST_ANSWER:
                raise SourceFailed("Google Drive's answer is larger than any that is expected. Try again.")
        return bytes(body)

    def _pieces(self) -> Iterator[bytes]:
        while piece := super().read(_PIECE):
            yield piece
        if self.length:  # HTTPResponse.read(amt) does not tell of a body that ends early
            raise IncompleteRead(b"", self.length)


class _Connection(httplib2.HTTPConnectionWithTimeout):
    response_class = _Answer

    def connect(self) -> None:
        self.timeout = bound_wait(_CONNECT)
        super().connect()


class _SecureConnection(httplib2.HTTPSConnectionWithTimeout):
    response_class = _Answer

    def connect(self) -> None:
        self.timeout = bound_wait(_CONNECT)
        super().connect()


class Wire(httplib2.Http):
    """The connections of one thread at a time, to Google and to the places in `extra_places` (`scheme://host:port`).

    Redirects lead nowhere else either, so neither a token nor a document's address leaves these hosts. With
    `extra_places` None, any place is allowed.
    """

    def __init__(self, extra_places: Collection[str] | None) -> None:
        super().__init__(timeout=_CONNECT)
        self._extra_places = extra_places

    def request(self, uri: str, *args: Any, **options: Any) -> tuple[httplib2.Response, bytes]:
        if self._extra_places is not None and not may_hold_token(uri, self._extra_places):
            raise SourceFailed("Google Drive sent this download to a place that is not Google's. It was not followed.")
        secure = urlsplit(uri).scheme == "https"
        options["connection_type"] = _SecureConnection if secure else _Connection
        answer: tuple[httplib2.Response, bytes] = super().request(uri, *args, **options)
        return answer


def place(url: str) -> str:
    """Scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def may_hold_token(url: str, extra_places: Collection[str]) -> bool:
    """Whether a token may be sent there: to Google, encrypted, or to a place that the settings name."""
    parts = urlsplit(url)
    if place(url) in extra_places:
        return True
    return parts.scheme == "https" and f".{(parts.hostname or '').lower()}".endswith(_GOOGLE)

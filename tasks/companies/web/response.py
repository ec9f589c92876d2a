"""What a server answered, and what its failures mean to whoever asked.

A body as it comes: unpacked piece by piece, and no further than the limits on either side of the packing.

A kilobyte of gzip can hold a megabyte of zeros, and layers of it more; so each piece is unpacked into a
bounded room, and one layer is all that is taken.
"""

import json
import ssl
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpcore

from tasks.errors import DiligenceError, NotFound, SourceFailed, TookTooLong, TooManyRequests, Unavailable

REDIRECTS = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 500, 502, 503, 504})
"""Statuses after which the same request may have another answer."""


@dataclass(frozen=True)
class Answer:
    """An answer. `url` is where it was found, after redirects; the headers' names are in lower case.

    `whole` is False where it was cut at the limit, which is done only for those who ask for it; `name` is what
    sentences call the server.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    whole: bool = True
    name: str = "The server"

    @property
    def content_type(self) -> str:
        """As the server gave it: `text/html; charset=utf-8`; empty where it gave none."""
        return self.headers.get("content-type", "")

    def json(self) -> Any:
        """The content as JSON.

        Raises:
            SourceFailed: it is none.
        """
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            raise SourceFailed(f"{self.name} sent something else than the JSON that it should have.") from None

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server wants to be left alone for, which it may give as a date; None: it says nothing."""
        given = self.headers.get("retry-after", "").strip()
        if given.isascii() and given.isdigit():
            return float(given[:9])
        try:
            when = parsedate_to_datetime(given)
        except (ValueError, TypeError, OverflowError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())


def refused(answer: Answer) -> DiligenceError:
    """What an answer with an error's status means."""
    status, name = answer.status, answer.name
    if status in {404, 410}:
        return NotFound(f"{name} has nothing at that address (HTTP {status}).")
    if status == 429:
        after = round(answer.retry_after or 1)
        return TooManyRequests(f"{name} has had enough requests for now. Ask again in {after} s.", max(1, after))
    if status >= 500:
        return Unavailable(f"{name} is out of order (HTTP {status}). Try again later.")
    if status in {401, 403}:
        return SourceFailed(f"{name} refuses the request (HTTP {status}).")
    return SourceFailed(f"{name} answered in a way that cannot be used (HTTP {status}).")


def failed(error: Exception, name: str) -> tuple[DiligenceError, bool]:
    """What a failure of the connection means, and whether it may go better another time."""
    if isinstance(error, httpcore.TimeoutException):
        return TookTooLong(f"{name} took too long to answer."), True
    if isinstance(error, httpcore.LocalProtocolError | httpcore.UnsupportedProtocol):
        return SourceFailed(f"{name} cannot be asked: the request is not one that can be sent."), False
    if isinstance(_root(error), ssl.SSLCertVerificationError):
        return SourceFailed(f"{name} has no valid certificate, and is not trusted."), False
    if isinstance(error, httpcore.ConnectError):
        return Unavailable(f"{name} cannot be reached."), True
    return SourceFailed(f"{name} broke off its answer, or gave one that is no HTTP."), True


def _root(error: BaseException) -> BaseException:
    for _ in range(10):
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return error


ACCEPTED: Final = "gzip, deflate"
"""What is asked for; Brotli and Zstandard would need libraries that the rest does not."""
_ROOM: Final = 1 << 16
_GZIP: Final = b"\x1f\x8b"
_MEMBERS: Final = 1000
"""Members of a gzip file: each takes 20 bytes at least, and 20 µs."""


class _Full(Exception):
    """The limit is reached."""


def read_body(pieces: Iterable[bytes], packing: str, most_packed: int, most: int) -> tuple[bytes, bool]:
    """The body unpacked, and whether that is all of it: no more than the limits (bytes) is read or kept.

    `packing` is the Content-Encoding.

    Raises:
        SourceFailed: it is packed in a way that was not asked for, or its packing is broken.
    """
    names = [name.strip() for name in packing.lower().split(",") if name.strip() not in {"", "identity"}]
    if len(names) > 1 or (names and names[0] not in {"gzip", "x-gzip", "deflate"}):
        raise SourceFailed("The answer is compressed in a way that was not asked for.")
    unpack = _Unpacker(names[0] == "deflate", most) if names else _Plain(most)
    left = most_packed
    try:
        for piece in pieces:
            unpack.take(piece[:left])
            left -= len(piece)
            if left < 0:
                return bytes(unpack.body), False
        unpack.end()
    except _Full:
        return bytes(unpack.body[:most]), False
    except zlib.error:
        raise SourceFailed("The answer is compressed, and its compression is broken.") from None
    return bytes(unpack.body), True


class _Plain:
    """A body that is not packed."""

    def __init__(self, most: int) -> None:
        self.body = bytearray()
        self._most = most

    def take(self, piece: bytes) -> None:
        self._keep(piece)

    def end(self) -> None:
        """Nothing is left over."""

    def _keep(self, piece: bytes) -> None:
        self.body += piece
        if len(self.body) > self._most:
            raise _Full


class _Unpacker(_Plain):
    """A body packed by gzip, perhaps in several members, or by deflate, with or without zlib's frame."""

    def __init__(self, deflate: bool, most: int) -> None:
        super().__init__(most)
        self._deflate = deflate
        self._stream: Any = None
        self._held = b""
        self._members = 0
        self._ended = False

    def take(self, piece: bytes) -> None:
        piece = self._held + piece
        self._held = b""
        while piece and not self._ended:
            if self._stream is None:
                if len(piece) < 2:
                    self._held = piece
                    return
                if self._members and piece[:2] != _GZIP:
                    self._ended = True  # what some servers leave behind the end
                    return
                self._stream = self._open(piece)
            self._keep(self._stream.decompress(piece, _ROOM))
            piece = self._stream.unconsumed_tail
            if self._stream.eof:
                piece = self._stream.unused_data
                self._stream, self._ended = None, self._deflate

    def end(self) -> None:
        while self._stream is not None:  # what the room was too small for
            more = self._stream.decompress(b"", _ROOM)
            self._keep(more)
            if self._stream.eof:
                return
            if not more:
                raise zlib.error("cut off")
        if self._held and not self._members:
            raise zlib.error("cut off")

    def _open(self, piece: bytes) -> Any:
        self._members += 1
        if self._members > _MEMBERS:
            raise zlib.error("too many members")
        if not self._deflate:
            return zlib.decompressobj(31)
        framed = piece[0] & 0x0F == 8 and int.from_bytes(piece[:2], "big") % 31 == 0
        return zlib.decompressobj(15 if framed else -15)

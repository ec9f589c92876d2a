"""A response of a web server: its body within limits, and what its failures mean to the caller.

A body is decompressed piece by piece, and no further than the limits on either side of the compression: a kilobyte of
gzip can hold a megabyte of zeros, and layers of it more. Each piece is decompressed into a bounded room, and only one
layer is accepted.
"""

import json
import ssl
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx

from tasks.errors import DiligenceError, NotFound, SourceFailed, TookTooLong, TooManyRequests, Unavailable
from tasks.remote.retry import read_retry_after

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHALLENGES: Final = frozenset(
    {
        ("cf-mitigated", "challenge"),
        ("x-amzn-waf-action", "challenge"),
        ("x-amzn-waf-action", "captcha"),
        ("x-vercel-mitigated", "challenge"),
    }
)
"""Headers of answers that ask for a browser: developers.cloudflare.com/cloudflare-challenges, "Detect a Challenge Page
response"; docs.aws.amazon.com/waf, "CAPTCHA and Challenge action behavior", whose challenge comes as a 202."""
BUSY = frozenset({429, 500, 502, 503, 504})
"""Statuses after which the same request may have another answer."""


ACCEPTED_ENCODINGS: Final = "gzip, deflate"
"""The Accept-Encoding of requests; Brotli and Zstandard would need libraries that nothing else does."""


class SiteChallenge(SourceFailed):
    """The server asks for a browser that runs its scripts."""


@dataclass(frozen=True)
class WebResponse:
    """A response.

    Attributes:
        url: where it came from, after redirects.
        status: of HTTP.
        headers: their names in lower case.
        content: the body, decompressed.
        complete: False where the body was cut at a limit, which is done only for those who ask for it.
        name: what error messages call the server.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    complete: bool = True
    name: str = "The server"

    @property
    def content_type(self) -> str:
        """As the server gave it: `text/html; charset=utf-8`; empty where it gave none."""
        return self.headers.get("content-type", "")

    def json(self) -> Any:
        """The content as JSON.

        Raises:
            SourceFailed: it is not JSON.
        """
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            raise SourceFailed(f"{self.name} sent something else than the JSON that it should have.") from None

    @property
    def is_challenge(self) -> bool:
        """Whether the server says that it asks for a browser."""
        return any(self.headers.get(name, "").strip().lower() == value for name, value in _CHALLENGES)

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait for; None if it does not say."""
        return read_retry_after(self.headers.get("retry-after"))


def status_error(response: WebResponse) -> DiligenceError:
    """The error that a challenge, or a status which is not 2xx, means."""
    status, name = response.status, response.name
    if response.is_challenge:
        return SiteChallenge(f"{name} asks for a browser that runs scripts, and answers no program.")
    if status in {404, 410}:
        return NotFound(f"{name} has nothing at that address (HTTP {status}).")
    if status == 429:
        after = max(1, round(response.retry_after or 1))
        return TooManyRequests(f"{name} has had enough requests for now. Ask again in {after} s.", after)
    if status >= 500:
        return Unavailable(f"{name} is out of order (HTTP {status}). Try again later.")
    if status in {401, 403}:
        return SourceFailed(f"{name} refuses the request (HTTP {status}).")
    return SourceFailed(f"{name} answered in a way that cannot be used (HTTP {status}).")


def connection_error(error: httpx.TransportError, name: str) -> tuple[DiligenceError, bool]:
    """The error that a failed connection means, and whether it may pass."""
    if isinstance(error, httpx.TimeoutException):
        return TookTooLong(f"{name} took too long to answer."), True
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        return SourceFailed(f"{name} cannot be asked: the request is not one that can be sent."), False
    if isinstance(_root(error), ssl.SSLCertVerificationError):
        return SourceFailed(f"{name} has no valid certificate, and is not trusted."), False
    if isinstance(error, httpx.ConnectError):
        return Unavailable(f"{name} cannot be reached."), True
    return SourceFailed(f"{name} broke off its answer, or gave one that is no HTTP."), True


def _root(error: BaseException) -> BaseException:
    for _ in range(10):
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return error


_ROOM: Final = 1 << 16
"""Bytes that are decompressed at a time."""
_GZIP: Final = b"\x1f\x8b"
_MEMBERS: Final = 1000
"""Members of a gzip file: each takes 20 bytes at least, and 20 µs."""


class _Full(Exception):
    """The limit is reached."""


def read_body(pieces: Iterable[bytes], packing: str, most_packed: int, most: int) -> tuple[bytes, bool]:
    """The body decompressed, and whether that is all of it: no more than the limits (bytes) is read or kept.

    `packing` is the Content-Encoding.

    Raises:
        SourceFailed: it is compressed in a way that was not asked for, or its compression is broken.
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
    """A body that is not compressed."""

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
    """A body compressed by gzip, perhaps in several members, or by deflate, with or without zlib's frame."""

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
                    self._ended = True  # some servers send more after the end
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

"""A response of a web server: its body within limits, and what its failures mean to the caller.

A body is read and decompressed no further than the limits on either side of the compression: a kilobyte of gzip can
hold a megabyte of zeros, and layers of it more. Only one layer is accepted.
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
        """As the server gave it: `text/html; charset=utf-8`; empty if it gave none."""
        return self.headers.get("content-type", "")

    def json(self) -> Any:
        """The content as JSON.

        Raises:
            SourceFailed: it is not JSON.
        """
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            raise SourceFailed(f"{self.name} did not return the expected JSON.") from None

    @property
    def is_challenge(self) -> bool:
        """Whether the server says that it wants a real browser."""
        return any(self.headers.get(name, "").strip().lower() == value for name, value in _CHALLENGES)

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait for; None if it does not say."""
        return read_retry_after(self.headers.get("retry-after"))


def status_error(response: WebResponse) -> DiligenceError:
    """The error for a challenge, or for a status that is not 2xx."""
    status, name = response.status, response.name
    if response.is_challenge:
        return SiteChallenge(f"{name} requires a browser that runs scripts, and does not answer programs.")
    if status in {404, 410}:
        return NotFound(f"{name} has no page at that address (HTTP {status}).")
    if status == 429:
        after = max(1, round(response.retry_after or 1))
        return TooManyRequests(f"{name} accepts no more requests for now. Ask again in {after} s.", after)
    if status >= 500:
        return Unavailable(f"{name} is not working (HTTP {status}). Try again later.")
    if status in {401, 403}:
        return SourceFailed(f"{name} refuses the request (HTTP {status}).")
    return SourceFailed(f"{name} answered in a way that cannot be used (HTTP {status}).")


def connection_error(error: httpx.TransportError, name: str) -> tuple[DiligenceError, bool]:
    """The error for a failed connection, and whether another attempt may help."""
    if isinstance(error, httpx.TimeoutException):
        return TookTooLong(f"{name} took too long to answer."), True
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        return SourceFailed(f"{name} cannot be asked: the request is not one that can be sent."), False
    if isinstance(_root(error), ssl.SSLCertVerificationError):
        return SourceFailed(f"{name} has no valid certificate, so it is not trusted."), False
    if isinstance(error, httpx.ConnectError):
        return Unavailable(f"{name} cannot be reached."), True
    return SourceFailed(f"{name} cut off its answer, or did not answer in HTTP."), True


def _root(error: BaseException) -> BaseException:
    for _ in range(10):
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return error


_GZIP: Final = b"\x1f\x8b"
_MEMBERS: Final = 1000
"""Members of a gzip file: most have one, and to go on to another takes as long as there is left of the file."""


def read_body(pieces: Iterable[bytes], packing: str, most_packed: int, most: int) -> tuple[bytes, bool]:
    """The decompressed body, and whether it is complete: no more than the limits (bytes) is read or kept.

    `packing` is the Content-Encoding.

    Raises:
        SourceFailed: it is compressed in a way that was not asked for, or its compression is broken.
    """
    names = [name.strip() for name in packing.lower().split(",") if name.strip() not in {"", "identity"}]
    if len(names) > 1 or (names and names[0] not in {"gzip", "x-gzip", "deflate"}):
        raise SourceFailed("The answer is compressed in a way that was not requested.")
    most_read = most_packed if names else min(most_packed, most)
    sent = bytearray()
    for piece in pieces:
        sent += piece
        if len(sent) > most_read:
            break
    is_whole = len(sent) <= most_read
    body = bytes(sent[:most_read])
    if not names or not body:
        return body, is_whole
    try:
        return _unpack(body, names[0] == "deflate", is_whole, most)
    except zlib.error:
        raise SourceFailed("The answer is compressed, and its compression is broken.") from None


def _unpack(packed: bytes, deflate: bool, is_whole: bool, most: int) -> tuple[bytes, bool]:
    """Decompress a body: gzip, possibly in several members, or deflate, with or without zlib's frame.

    Raises:
        zlib.error: it is broken, or ends early although all of it is here.
    """
    body = bytearray()
    for _ in range(_MEMBERS):
        is_framed = packed[0] & 0x0F == 8 and int.from_bytes(packed[:2], "big") % 31 == 0
        stream = zlib.decompressobj(31 if not deflate else 15 if is_framed else -15)
        body += stream.decompress(packed, most - len(body) + 1)
        if len(body) > most:
            return bytes(body[:most]), False
        if not stream.eof:
            if is_whole:
                raise zlib.error("cut off")
            return bytes(body), False
        packed = stream.unused_data
        if deflate or packed[:2] != _GZIP:  # some servers send more after the end
            return bytes(body), True
    raise zlib.error("too many members")

"""What servers do, well and badly: replies for a `LoopbackServer`."""

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

from tests.web.server import Reply


def page(html: str, content_type: str = "text/html; charset=utf-8") -> Reply:
    """A page as it should be."""
    return Reply(html.encode(), headers={"Content-Type": content_type})


def json_reply(value: Any, status: int = 200) -> Reply:
    """JSON as it should be."""
    return Reply(json.dumps(value).encode(), status, {"Content-Type": "application/json"})


def redirect(location: str, status: int = 302) -> Reply:
    """On to another address."""
    return Reply(status=status, headers={"Location": location})


def busy(status: int = 429, retry_after: str | None = None) -> Reply:
    """Not now."""
    return Reply(status=status, headers={} if retry_after is None else {"Retry-After": retry_after})


def gzip_bomb(megabytes: int, layers: int = 1) -> Reply:
    """Zeros, packed to a thousandth of their size in each layer."""
    packed = gzip.compress(bytes(megabytes << 20), 9)
    for _ in range(layers - 1):
        packed = gzip.compress(packed, 9)
    return Reply(packed, headers={"Content-Encoding": ", ".join(["gzip"] * layers)})


def deflate_bomb(megabytes: int, *, raw: bool = False) -> Reply:
    """The same in the other packing, with or without its frame."""
    packer = zlib.compressobj(9, wbits=-15 if raw else 15)
    return Reply(packer.compress(bytes(megabytes << 20)) + packer.flush(), headers={"Content-Encoding": "deflate"})


def endless(chunk: bytes = bytes(1 << 16)) -> Reply:
    """A body that never ends, as fast as it is taken."""

    def raw() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        while True:
            yield b"%x\r\n%s\r\n" % (len(chunk), chunk)

    return Reply(raw=raw)


def dripping(every: float = 0.05) -> Reply:
    """A body that comes a byte at a time, and never ends."""

    def raw() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n"
        while True:
            yield b"x"
            yield every

    return Reply(raw=raw)


def dripping_headers(every: float = 0.05) -> Reply:
    """Headers that come a byte at a time, and never end."""

    def raw() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\nX-Slow: "
        while True:
            yield b"x"
            yield every

    return Reply(raw=raw)


def endless_headers() -> Reply:
    """Headers without end, as fast as they are taken."""

    def raw() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\n"
        while True:
            yield b"X-More: " + b"x" * 1000 + b"\r\n"

    return Reply(raw=raw)


def endless_waiting() -> Reply:
    """One `102 Processing` after the other."""

    def raw() -> Iterator[bytes | float]:
        while True:
            yield b"HTTP/1.1 102 Processing\r\n\r\n"
            yield 0.001

    return Reply(raw=raw)


def silent() -> Reply:
    """Nothing at all, for as long as anybody waits."""

    def raw() -> Iterator[bytes | float]:
        while True:
            yield 0.05

    return Reply(raw=raw)


def reset() -> Reply:
    """The connection ends without goodbye."""
    return said(-1.0)


def cut_off() -> Reply:
    """A body shorter than was promised."""
    return said(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


def said(*pieces: bytes | float) -> Reply:
    """These bytes, with pauses (seconds) between them."""
    return Reply(raw=lambda: iter(pieces))

"""One request and its answer, within limits of time and size, over connections that are kept for the next."""

import ssl
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import certifi
import httpcore

from tasks.companies.web.addresses import Address, Allowed
from tasks.companies.web.answers import Answer
from tasks.companies.web.body import ACCEPTED, read_body
from tasks.companies.web.connect import CheckedBackend, Resolver, resolve
from tasks.companies.web.pace import Pace
from tasks.errors import SourceFailed, TooLarge

Permit = Callable[[str], None]
"""Asked before each address is fetched; raises a DiligenceError where it must not be."""


@dataclass(frozen=True)
class Limits:
    """What one fetch may take. Times in seconds, sizes in bytes.

    `total` is for one attempt with its redirects, without the wait for its turn; `patience` for everything.
    `wait` is for the first byte, and for each one after it. With `cut`, what is too large is cut and not refused.
    `attempts` are made in all, with pauses that begin at `pause` and double; a host that wants to be left
    alone for more than `longest_pause` is.
    """

    connect: float = 10
    wait: float = 20
    total: float = 30
    patience: float = 600
    packed: int = 10 << 20
    unpacked: int = 20 << 20
    cut: bool = False
    redirects: int = 5
    attempts: int = 3
    pause: float = 1
    longest_pause: float = 60


USUAL: Final = Limits()


@dataclass(frozen=True)
class Request:
    """What is asked for, and how. `trusted` is the origin that a setting gave, `left` seconds of the total time."""

    method: str
    address: Address
    name: str
    limits: Limits
    headers: Mapping[str, str]
    content: bytes | None
    trusted: tuple[str, str, int] | None
    pace: Pace | None
    expect: Collection[int]
    permit: Permit | None
    until: float
    left: float


class Connections:
    """The open connections of a process: to checked addresses, and apart from them to those that settings give."""

    def __init__(
        self, allowed: Allowed, agent: str, resolver: Resolver = resolve, trust: ssl.SSLContext | None = None
    ) -> None:
        trust = trust or _certified()
        self._agent = agent
        self._checked = _pool(CheckedBackend(allowed, resolver), trust)
        self._trusted = _pool(CheckedBackend(None, resolver), trust)

    def close(self) -> None:
        """Close them."""
        self._checked.close()
        self._trusted.close()

    def exchange(self, request: Request) -> Answer:
        """Send the request and take the answer in, whose body is empty unless its status is 2xx or expected.

        Raises:
            NotAllowed, TooLarge, SourceFailed: what the address or the answer deserves.
            httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError: it came to nothing.
        """
        address, limits = request.address, request.limits
        pool = self._trusted if address.origin == request.trusted else self._checked
        headers = {
            "User-Agent": self._agent,
            "Accept": "*/*",
            "Accept-Language": "en, *;q=0.5",
            **request.headers,
            "Accept-Encoding": ACCEPTED,
        }
        url = httpcore.URL(
            scheme=address.scheme.encode(),
            host=address.host.encode(),
            port=address.port,
            target=address.target.encode(),
        )
        sent = [(b"Host", address.base.partition("://")[2].encode())]
        sent += [(name.encode(), value.encode()) for name, value in headers.items()]
        seconds = {"connect": limits.connect, "read": limits.wait, "write": limits.wait, "pool": limits.connect}
        with pool.stream(
            request.method, url, headers=sent, content=request.content, extensions={"timeout": seconds}
        ) as response:
            told = {name.decode("latin-1").lower(): _text(value) for name, value in response.headers}
            if not (200 <= response.status < 300 or response.status in request.expect):
                return Answer(str(address), response.status, told, b"", name=request.name)
            packing = told.get("content-encoding", "")
            try:
                content, whole = read_body(response.iter_stream(), packing, limits.packed, limits.unpacked)
            except SourceFailed as error:
                raise SourceFailed(f"{request.name} cannot be understood. {error.message}") from None
        if not whole and not limits.cut:
            most = min(limits.packed, limits.unpacked) / (1 << 20)
            raise TooLarge(f"The answer of {request.name} is larger than the {most:g} MB that are taken.")
        return Answer(str(address), response.status, told, content, whole, request.name)


def _pool(backend: CheckedBackend, trust: ssl.SSLContext) -> httpcore.ConnectionPool:
    """Connections that stay open for half a minute; how many there are at a time is the paces' business."""
    return httpcore.ConnectionPool(
        ssl_context=trust,
        network_backend=backend,
        max_connections=None,
        max_keepalive_connections=64,
        keepalive_expiry=30,
    )


@cache
def _certified() -> ssl.SSLContext:
    """Trust in the public authorities; loading them takes 20 ms."""
    return ssl.create_default_context(cafile=certifi.where())


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")

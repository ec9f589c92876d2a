"""A request to a web server, with the limits on the time and size of its response."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from tasks.companies.budget import current_wait
from tasks.companies.web.safe_addresses import Address
from tasks.remote.rate_limit import RateLimiter

Permit = Callable[[str], None]
"""Called before each address is fetched; raises a DiligenceError where it must not be."""


@dataclass(frozen=True)
class FetchLimits:
    """What one fetch may take. Times in seconds, sizes in bytes.

    Attributes:
        connect: for connecting, TLS included.
        wait: for the first byte, and for each one after it.
        total: for one attempt with its redirects, without the wait for its turn.
        patience: for everything.
        packed: of the body as it is sent.
        unpacked: of the body when it is decompressed.
        cut: whether a body that is too large is cut there, and not refused.
        redirects: how many are followed.
        attempts: made in all.
        pause: before the second attempt, doubled before each one after it.
        longest_pause: a server that asks for a longer one is not called again.
        again_when_slow: whether a further attempt is made after one that took all of its time.
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
    again_when_slow: bool = True


USUAL: Final = FetchLimits()


@dataclass(frozen=True)
class Request:
    """One request. `trusted` is the origin that a setting gave, `seconds` what is left of the attempt's time."""

    method: str
    address: Address
    name: str
    limits: FetchLimits
    headers: Mapping[str, str]
    content: bytes | None
    trusted: tuple[str, str, int] | None
    limiter: RateLimiter | None
    expect: Collection[int]
    permit: Permit | None
    until: float
    seconds: float


def request_of(
    method: str,
    address: Address,
    headers: Mapping[str, str] | None,
    content: bytes | None,
    trusted: bool,
    limiter: RateLimiter | None,
    limits: FetchLimits,
    expect: Collection[int],
    permit: Permit | None,
    name: str | None,
) -> Request:
    """A request that is made now; the arguments are those of `Web.get`."""
    wait = current_wait()
    until = time.monotonic() + limits.patience
    return Request(
        method=method,
        address=address,
        name=name or (address.host if address.by_name else "The server"),
        limits=limits,
        headers=headers or {},
        content=content,
        trusted=address.origin if trusted else None,
        limiter=limiter,
        expect=expect,
        permit=permit,
        until=until if wait is None or limiter is None else max(until, wait.until),
        seconds=limits.total,
    )

"""One request and its answer, within limits of time and size, over connections that are kept for the next.

Fetching from the web: safely, politely, and within limits of time and size.

There are two kinds of address. Those that come from data (a search result, a link, a company's domain)
are `public`: wherever they or their redirects lead is checked. Those that a setting gives are `trusted`:
their own origin may lie anywhere, since whoever runs the service said so; a redirect off it is checked
like any other. The two never share a connection.
"""

import atexit
import json
import logging
import random
import ssl
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import count
from typing import Any, Final, Self

import certifi
import httpcore

from tasks.companies.settings import CompanySettings
from tasks.companies.web.pace import Pace, Paces
from tasks.companies.web.response import ACCEPTED, BUSY, REDIRECTS, Answer, failed, read_body, refused
from tasks.companies.web.safe_addresses import Address, Allowed, CheckedBackend, Resolver, resolve, time_limit
from tasks.errors import DiligenceError, NotAllowed, SourceFailed, TooLarge

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


log = logging.getLogger(__name__)

_SITES: Final = 2, 8
"""A site is asked for two things at a time, and for eight within a second: robots.txt, redirects, a page, its feed."""


class _Again(Exception):
    """It may go better another time, at the earliest after so many seconds (None: the server did not say)."""

    def __init__(self, error: DiligenceError, after: float | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.after = after


class Web:
    """The web as this process sees it: its connections, kept open for the next request. Safe to use from many threads.

    `agent` is the User-Agent. `resolver` and `trust` are for those who have names or certificates of their own.
    """

    def __init__(
        self, allowed: Allowed, agent: str, *, resolver: Resolver = resolve, trust: ssl.SSLContext | None = None
    ) -> None:
        self._connections = Connections(allowed, agent, resolver, trust)
        self._sites = Paces(*_SITES)

    @classmethod
    def current(cls) -> "Web":
        """The one of this process, by the settings in force; made at the first call."""
        settings = CompanySettings.current()
        return _shared(settings.web_allow, settings.contact)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def get(
        self,
        url: str,
        params: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        trusted: bool = False,
        pace: Pace | None = None,
        limits: Limits = USUAL,
        expect: Collection[int] = (),
        permit: Permit | None = None,
        name: str | None = None,
    ) -> Answer:
        """Fetch an address. The answer's status is 2xx, or one of those that `expect` names.

        Args:
            url: an http or https address.
            params: more of its query.
            headers: sent to this origin alone, not to one that it redirects to.
            trusted: the address was given by a setting; see the module.
            pace: how often its origin may be asked; without one, as often as any site.
            limits: what it may take.
            expect: statuses that are an answer, with their bodies, though not 2xx.
            permit: asked before each request, for redirects too.
            name: what its sentences call the server ("Wikidata"); its host otherwise.

        Raises:
            NotAllowed: it, or where it redirects to, is not fetched from.
            NotFound: the server has nothing there (404, 410).
            TooManyRequests: the server wants to be left alone for a while.
            TooLarge, TookTooLong: a limit was reached.
            Unavailable: it cannot be reached, or is out of order.
            SourceFailed: it refused, or what it sent is no answer.
        """
        return self._patiently(
            self._request("GET", Address.parse(url, params), headers, None, trusted, pace, limits, expect, permit, name)
        )

    def post(
        self,
        url: str,
        body: Any,
        *,
        headers: Mapping[str, str] | None = None,
        trusted: bool = False,
        pace: Pace | None = None,
        limits: Limits = USUAL,
        expect: Collection[int] = (),
        name: str | None = None,
    ) -> Answer:
        """Send JSON, or a form where `body` is bytes (with its Content-Type among the headers), as `get` does.

        Redirects are not followed, and what was sent is not sent again unless the server says that it is busy.

        Raises:
            DiligenceError: as `get`.
        """
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **(headers or {})}
        return self._patiently(
            self._request("POST", Address.parse(url), headers, content, trusted, pace, limits, expect, None, name)
        )

    def _request(
        self,
        method: str,
        address: Address,
        headers: Mapping[str, str] | None,
        content: bytes | None,
        trusted: bool,
        pace: Pace | None,
        limits: Limits,
        expect: Collection[int],
        permit: Permit | None,
        name: str | None,
    ) -> Request:
        return Request(
            method=method,
            address=address,
            name=name or (address.host if address.by_name else "The server"),
            limits=limits,
            headers=headers or {},
            content=content,
            trusted=address.origin if trusted else None,
            pace=pace,
            expect=expect,
            permit=permit,
            until=time.monotonic() + limits.patience,
            left=limits.total,
        )

    def _patiently(self, request: Request) -> Answer:
        """The answer, of as many attempts as it takes and is allowed."""
        limits = request.limits
        for attempt in count(1):
            try:
                return self._follow(request)
            except _Again as again:
                pause = limits.pause * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
                pause = max(pause, again.after or 0.0)
                late = pause > limits.longest_pause or time.monotonic() + pause > request.until
                if attempt >= limits.attempts or late:
                    raise again.error from None
                log.info("%s Trying again in %.1f s.", again.error.message, pause)
            time.sleep(pause)
        raise AssertionError("counting does not end")

    def _follow(self, request: Request) -> Answer:
        """The answer at the end of the redirects.

        Raises:
            _Again, DiligenceError: there is none.
        """
        for hop in range(request.limits.redirects + 1):
            try:
                if request.permit is not None:
                    request.permit(str(request.address))
                answer, seconds = self._ask(request)
                location = answer.headers.get("location")
                if answer.status not in REDIRECTS or location is None or request.method != "GET":
                    return answer
                address = request.address.join(location)
            except NotAllowed as error:
                if hop:
                    raise NotAllowed(f"{request.name} redirects elsewhere. {error.message}") from None
                raise
            same = address.origin == request.address.origin
            request = replace(
                request,
                address=address,
                headers=request.headers if same else {},
                pace=request.pace if same else None,
                left=request.left - seconds,
            )
        raise SourceFailed(f"{request.name} redirects more than {request.limits.redirects} times.")

    def _ask(self, request: Request) -> tuple[Answer, float]:
        """One answer, which may be a redirect, and the seconds that it took.

        Raises:
            _Again, DiligenceError: there is none that was expected.
        """
        pace = request.pace or self._sites.of(request.address.host)
        with pace.turn(request.until, request.name):
            begun = time.monotonic()
            try:
                with time_limit(min(begun + request.left, request.until)):
                    answer = self._connections.exchange(request)
            except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
                told, again = failed(error, request.name)
                unsent = isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout)
                if again and (request.method == "GET" or unsent):
                    raise _Again(told) from None
                raise told from None
            seconds = time.monotonic() - begun
        if 200 <= answer.status < 300 or answer.status in request.expect:
            return answer, seconds
        if answer.status in REDIRECTS and request.method == "GET" and "location" in answer.headers:
            return answer, seconds
        refusal = refused(answer)
        if answer.status in BUSY:
            after = answer.retry_after
            if after is not None:
                pace.hold(after)
            if request.method == "GET" or answer.status in {429, 503}:
                raise _Again(refusal, after)
        raise refusal


def user_agent(contact: str | None) -> str:
    """Who asks: `diligence/0.1.0 (+mailto:us@example.com)`, without the brackets where no contact is set."""
    return f"diligence/{version('diligence')}" + (f" (+{contact})" if contact else "")


@lru_cache(maxsize=8)
def _shared(allowed: tuple[str, ...], contact: str | None) -> Web:
    web = Web(Allowed.parse(allowed), user_agent(contact))
    atexit.register(web.close)
    return web

"""Fetching from the web: safely, politely, and within limits of time and size.

There are two kinds of address. Those from data (a search result, a link, a company's domain) are public: wherever they
or their redirects lead is checked. Those from a setting are trusted: their own origin may be anywhere, because the
operator said so; redirects to other origins are checked like any other. The two never share a connection.

A body is read and decompressed no further than the limits on either side of the compression: a kilobyte of gzip can
hold a megabyte of zeros, and layers of it more. Only one layer is accepted.
"""

import atexit
import json
import ssl
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from math import ceil
from typing import Any, Final, Self, TypedDict, Unpack

import certifi
import httpx

from tasks.companies.profile import CompanySettings
from tasks.companies.web.transport import Address, Allowed, CheckedTransport, Resolver, resolve
from tasks.errors import (
    DiligenceError,
    NotAllowed,
    NotFound,
    SourceFailed,
    TookTooLong,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from tasks.remote.environment import check_connection
from tasks.remote.rate_limit import (
    HeldBack,
    NoTurn,
    RateLimit,
    RateLimiter,
    RateLimiters,
    SourceLimiter,
    Turn,
    Wait,
    counted_as_wait,
    current_wait,
)
from tasks.remote.retry import Backoff, TryAgain, read_retry_after, retry, within

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
            SourceFailed: the content is not JSON.
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


class FetchOptions(TypedDict, total=False):
    """How an address is fetched."""

    headers: Mapping[str, str]
    """Sent to this origin alone, not to one that it redirects to."""
    trusted: bool
    """A setting gave the address; see the module."""
    limiter: RateLimiter
    """How often its origin may be called; without one, as often as any site."""
    limits: FetchLimits
    """What it may take."""
    expect: Collection[int]
    """Statuses that are not a failure, with their bodies, though not 2xx."""
    permit: Permit
    """Called before each request, for redirects too."""
    name: str
    """What error messages call the server ("Wikidata"); its host otherwise."""


@dataclass(frozen=True)
class WebRequest:
    """One request. `trusted` is the origin that a setting gave, `seconds` the time left for the attempt."""

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

    @classmethod
    def now(cls, method: str, address: Address, content: bytes | None, options: FetchOptions) -> Self:
        """A request that is made now."""
        wait, limits, limiter = current_wait(), options.get("limits", USUAL), options.get("limiter")
        until = time.monotonic() + limits.patience
        return cls(
            method=method,
            address=address,
            name=options.get("name") or (address.host if address.by_name else "The server"),
            limits=limits,
            headers=options.get("headers", {}),
            content=content,
            trusted=address.origin if options.get("trusted") else None,
            limiter=limiter,
            expect=options.get("expect", ()),
            permit=options.get("permit"),
            until=until if wait is None or limiter is None else max(until, wait.until),
            seconds=limits.total,
        )


_SILENT_FOR: Final = 300.0
"""Seconds for which a source that could not be reached is not tried again."""
_SITE_LIMIT: Final = RateLimit(at_once=2, per_second=8)
"""What a site gets that has no limiter of its own: robots.txt, redirects, a page and its feed within a second."""


class _Refused(TryAgain):
    """The server has received enough requests for now."""


class _OutOfReach(TryAgain):
    """No connection could be made."""


class Web(AbstractContextManager["Web", None]):
    """The web as this process sees it, with connections that are reused. Safe between threads."""

    def __init__(
        self, allowed: Allowed, agent: str, *, resolver: Resolver = resolve, trust: ssl.SSLContext | None = None
    ) -> None:
        """`agent` is the User-Agent; `resolver` and `trust` replace the usual name resolution and certificates."""
        trust = trust or _public_authorities()
        self._agent = agent
        self._public = CheckedTransport(allowed, trust, resolver)
        self._trusted = CheckedTransport(None, trust, resolver)
        self._sites = RateLimiters(_SITE_LIMIT)
        self._silent: dict[str, tuple[float, DiligenceError]] = {}
        """Origins of settings that could not be reached: until when they are not tried again, and what was wrong."""

    @classmethod
    def current(cls) -> "Web":
        """The process's instance, with the settings in force; created at the first call."""
        settings = CompanySettings.current()
        return _share_web(settings.web_allow, settings.contact)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._public.close()
        self._trusted.close()

    def get(self, url: str, params: Mapping[str, str] | None = None, **options: Unpack[FetchOptions]) -> WebResponse:
        """Fetch an http or https address; `params` are more of its query.

        The response's status is 2xx, or one of those that `expect` names.

        Raises:
            NotAllowed: it, or where it redirects to, is not fetched from.
            NotFound: the server has nothing there (404, 410).
            TooManyRequests: the server wants no requests for a while.
            TooLarge, TookTooLong: a limit was reached.
            Unavailable: it cannot be reached, or is out of order.
            SourceFailed: it refused, or what it sent cannot be used.
        """
        return self._patiently(WebRequest.now("GET", Address.parse(url, params), None, options))

    def post(self, url: str, body: Any, **options: Unpack[FetchOptions]) -> WebResponse:
        """Send JSON, or a form where `body` is bytes (with its Content-Type among the headers), as `get` does.

        Redirects are not followed, and what was sent is not sent again unless the server says that it is busy.

        Raises:
            DiligenceError: as `get`.
        """
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        options["headers"] = {"Content-Type": "application/json", **options.get("headers", {})}
        return self._patiently(WebRequest.now("POST", Address.parse(url), content, options))

    def _patiently(self, request: WebRequest) -> WebResponse:
        """Return the response after as many attempts as are needed and allowed."""
        limits, wait = request.limits, current_wait()
        origin = request.address.base
        if request.trusted and (silent := self._silent.get(origin)) and time.monotonic() < silent[0]:
            raise type(silent[1])(silent[1].message)

        def pause(failure: TryAgain, attempt: int) -> float:
            seconds = Backoff(limits.pause, longest=limits.longest_pause).pause(attempt, failure.after)
            too_late = time.monotonic() + seconds > request.until
            if wait is not None and isinstance(failure, _Refused) and request.limiter is not None:
                if too_late or _refuses_for_too_long(request.limiter, wait):
                    raise failure.error from None
                wait.add(seconds)
                return seconds
            if attempt >= limits.attempts or seconds > limits.longest_pause or too_late:
                if request.trusted and isinstance(failure, _OutOfReach):
                    self._silent[origin] = time.monotonic() + _SILENT_FOR, failure.error
                raise failure.error from None
            return seconds

        return retry(lambda: self._follow(request), pause)

    def _follow(self, request: WebRequest) -> WebResponse:
        """The response after all redirects have been followed.

        Raises:
            TryAgain, DiligenceError: no response came.
        """
        for hop in range(request.limits.redirects + 1):
            try:
                if request.permit is not None:
                    request.permit(str(request.address))
                response, seconds = self._send(request)
                location = response.headers.get("location")
                if response.status not in REDIRECTS or location is None or request.method != "GET":
                    return response
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
                limiter=request.limiter if same else None,
                seconds=request.seconds - seconds,
            )
        raise SourceFailed(f"{request.name} redirects more than {request.limits.redirects} times.")

    def _send(self, request: WebRequest) -> tuple[WebResponse, float]:
        """One response, which may be a redirect, and how many seconds it took.

        Raises:
            TryAgain, DiligenceError: there is none that was expected.
        """
        limiter = request.limiter or self._sites.of(request.address.host)
        with _turn(limiter, request):
            start = time.monotonic()
            try:
                with within(min(request.seconds, request.until - start)):
                    response = self._exchange(request)
            except httpx.TransportError as error:
                failure, may_pass = connection_error(error, request.name)
                unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                used_up = not request.limits.again_when_slow and time.monotonic() - start >= request.seconds - 0.01
                if may_pass and not used_up and (request.method == "GET" or unsent):
                    raise (_OutOfReach if unsent else TryAgain)(failure) from None
                raise failure from None
            seconds = time.monotonic() - start
        if response.status in request.expect or (200 <= response.status < 300 and not response.is_challenge):
            limiter.answered()
            return response, seconds
        if response.status in REDIRECTS and request.method == "GET" and "location" in response.headers:
            return response, seconds
        refusal = status_error(response)
        if response.status in BUSY and not response.is_challenge:
            after = response.retry_after
            if after is None and response.status == 429 and isinstance(limiter, SourceLimiter):
                after = limiter.unnamed_hold
            limiter.refused(after=after)
            if response.status in {429, 503}:
                raise _Refused(refusal, after)
            if request.method == "GET":
                raise TryAgain(refusal, after)
        raise refusal

    def _exchange(self, request: WebRequest) -> WebResponse:
        """Send the request and read the response; its body is empty unless the status is 2xx or expected.

        Raises:
            NotAllowed, TooLarge, SourceFailed: the address is not fetched from, or the response cannot be used.
            httpx.TransportError: there is no response.
        """
        address, limits = request.address, request.limits
        transport = self._trusted if address.origin == request.trusted else self._public
        seconds = {"connect": limits.connect, "read": limits.wait, "write": limits.wait, "pool": limits.connect}
        headers = {
            "Host": address.base.partition("://")[2],
            "User-Agent": self._agent,
            "Accept": "*/*",
            "Accept-Language": "en, *;q=0.5",
            **request.headers,
            "Accept-Encoding": ACCEPTED_ENCODINGS,
        }
        sent = httpx.Request(
            request.method,
            httpx.URL(str(address)),
            headers=headers,
            content=request.content,
            extensions={"timeout": seconds},
        )
        with closing(transport.handle_request(sent)) as response:
            status, received = response.status_code, dict(response.headers.multi_items())
            if not (200 <= status < 300 or status in request.expect):
                return WebResponse(str(address), status, received, b"", name=request.name)
            packing = received.get("content-encoding", "")
            try:
                content, complete = read_body(response.iter_raw(), packing, limits.packed, limits.unpacked)
            except SourceFailed as error:
                raise SourceFailed(f"{request.name} cannot be understood. {error.message}") from None
        if not complete and not limits.cut:
            most = min(limits.packed, limits.unpacked) / (1 << 20)
            raise TooLarge(f"The response of {request.name} is larger than the {most:g} MB that are taken.")
        return WebResponse(str(address), status, received, content, complete, request.name)


def _refuses_for_too_long(limiter: RateLimiter, wait: Wait) -> bool:
    """Whether the source has been refusing every call for longer than callers wait."""
    return isinstance(limiter, SourceLimiter) and limiter.refusing_for >= wait.patience


def _turn(limiter: RateLimiter, request: WebRequest) -> Turn:
    """Wait for a turn at the request's server.

    Raises:
        TooManyRequests: the server wants no requests for longer than the request may wait.
        TookTooLong: the turn did not come in time.
    """
    try:
        with counted_as_wait():
            return limiter.begin(request.until)
    except HeldBack as held:
        seconds = ceil(held.seconds)
        message = f"{request.name} accepts no more requests for now. Ask again in {seconds} s."
        raise TooManyRequests(message, seconds) from None
    except NoTurn:
        message = f"Too many requests to {request.name} were waiting before this one. Try again later."
        raise TookTooLong(message) from None


def user_agent(contact: str | None) -> str:
    """The User-Agent: `diligence/1.0.0 (+mailto:us@example.com)`, without the brackets where no contact is set."""
    return f"diligence/{version('diligence')}" + (f" (+{contact})" if contact else "")


@cache
def _public_authorities() -> ssl.SSLContext:
    """An SSL context that trusts the public authorities; loading their certificates takes 20 ms.

    Raises:
        NotConfigured: SSLKEYLOGFILE, which Python reads, cannot be written.
    """
    check_connection("", ("SSLKEYLOGFILE",))
    return ssl.create_default_context(cafile=certifi.where())


@lru_cache(maxsize=8)
def _share_web(allowed: tuple[str, ...], contact: str | None) -> Web:
    web = Web(Allowed.parse(allowed), user_agent(contact))
    atexit.register(web.close)
    return web

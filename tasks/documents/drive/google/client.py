"""Calls of the Drive API for any number of threads: one layer that retries, keeps to the quota and ends in time.

Google's client library builds the requests and reads the answers. What it lacks is here:

    Client          retries that honour Retry-After and cope with broken bodies (google-api-python-client 2.202,
                    `num_retries`, does neither), one quota for all threads, and a deadline
    ConnectionPool  connections that one thread uses at a time: httplib2 is not safe between threads. The headers of
                    each request say for whom it is, so that all accounts share the connections
    AccessToken     an access token that the library never renews by itself
    mute_loggers    the libraries' loggers write addresses, headers, bodies and tokens. A filter stops them, because
                    their level can be set anew by whoever wants to see everything

httplib2 lacks limits on a whole answer's time and size, and bodies that are written to disk: httplib2's time-out
applies to each single read, so a body that comes byte by byte never ends, and it holds every body in memory.
"""

import contextlib
import io
import logging
import socket
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

import google.auth.exceptions
import httplib2
from google.auth.credentials import Credentials
from google_auth_httplib2 import AuthorizedHttp, Request  # type: ignore[import-untyped]  # it has no types
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from googleapiclient.http import BatchHttpRequest, HttpRequest

from storage.context import holding
from tasks.documents.drive.google import GoogleDriveSettings
from tasks.documents.drive.google.errors import Fault, FaultKind, find_fault
from tasks.errors import DiligenceError, NotLoggedIn, SourceFailed, TookTooLong, TooManyRequests
from tasks.remote.rate_limit import HeldBack, NoTurn, RateLimit, RateLimiter, Turn
from tasks.remote.retry import Backoff, TryAgain, retry, seconds_left, within

if TYPE_CHECKING:
    from googleapiclient._apis.drive.v3.resources import DriveResource

    Make = Callable[[DriveResource], HttpRequest]

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


def limit_attempt(patience: float = 1.0, sink: Sink | None = None) -> AbstractContextManager[None]:
    """How answers are read in the block: with what multiple of the usual patience, and where to."""
    return holding(_attempt, _Attempt(patience, sink))


def bound_wait(seconds: float) -> float:
    """The time-out for a single wait: never beyond the deadline.

    Raises:
        TimeoutError: the deadline is over.
    """
    remaining = min(seconds, seconds_left())
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


SECONDS = 300.0  # for one call: quotas count by the minute, and a call may have to outlast more than one refusal
TRIES = 8  # of a call that brings nothing: where every fifth call fails, 1 in 400,000 does; 16 s of pauses on average
_TRIES_UNREACHABLE = 4  # where nothing answers at all: 2 s
_RENEWALS = 2  # of the access token for one call: a new one that is refused too means that the grant is gone
BACKOFF = Backoff(0.25, longest=16.0, jitter=(0, 1))
IDLE_SECONDS = 60.0  # seconds that a connection may wait for its next request; Google closes them after some minutes
_BATCH_SIZE = 100  # requests in one batch: Google's limit
_MUTED_LOGGERS = (
    "google_auth_httplib2",
    "googleapiclient.discovery",
    "googleapiclient.http",
    "googleapiclient.model",
    "requests_oauthlib.oauth2_session",
)
T = TypeVar("T")
IdleConnections = deque[tuple[float, Wire]]  # (since when, connection)


class Client:
    """Google Drive as one account sees it. Safe between threads. `connections` are shared between clients."""

    def __init__(
        self, credentials: Credentials, settings: GoogleDriveSettings | None = None, *, seconds: float = SECONDS
    ) -> None:
        """`seconds` is the most that one call may take, including retries and waiting for the quota."""
        settings = settings or GoogleDriveSettings.current()
        self._credentials = credentials
        self._renewing = threading.Lock()
        self._drive = drive_at(settings.google_api_endpoint)
        self._batch_uri = settings.google_batch_uri
        self.connections = pool_for(frozenset(map(place, (settings.google_api_endpoint, settings.google_batch_uri))))
        self._seconds = seconds
        self._limiter = RateLimiter(RateLimit(spaced=True))
        self.requests = 0
        """HTTP requests to Drive until now, for reports: threads may count two as one."""

    def call(self, make: "Make") -> dict[str, Any]:
        """The answer to one request.

        Args:
            make: builds the request, anew for each try: `lambda drive: drive.files().get(fileId=…)`. The
                library changes requests that it sends.

        Raises:
            NotFound, NotAllowed, UnsupportedFormat, TooLarge: Drive's answer.
            NotLoggedIn: the token has expired and cannot be renewed.
            Refused: the request is not well formed.
            TooManyRequests, Unavailable, SourceFailed, TookTooLong: trying again did not help.
        """

        def attempt(http: AuthorizedHttp) -> dict[str, Any]:
            answer = make(self._drive).execute(http=http, num_retries=0)
            if not isinstance(answer, dict):
                raise ValueError("no JSON object")  # noqa: TRY004 - as for what is no JSON at all
            return answer

        return self._retry(attempt)

    def batch(self, makes: Sequence["Make"]) -> list[dict[str, Any] | DiligenceError]:
        """The answers to many requests, in order, 100 to an HTTP request. An error concerns only its own request.

        Raises:
            NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: the batch as a whole failed.
        """
        answers: list[dict[str, Any] | DiligenceError] = []
        for start in range(0, len(makes), _BATCH_SIZE):
            answers += self._batch(makes[start : start + _BATCH_SIZE])
        return answers

    def download(self, make: "Make", sink: Sink) -> None:
        """Write a body to `sink` in pieces. As long as more arrives, attempts continue until the caller's deadline.

        Args:
            make: builds the request for what the sink still lacks, anew for each try.
            sink: takes what comes.

        Raises:
            As `call`, and what the sink raises.
        """

        def attempt(http: AuthorizedHttp) -> None:
            request = make(self._drive)
            request.headers = {**(request.headers or {}), "accept-encoding": "identity"}
            try:
                request.execute(http=http, num_retries=0)
            except HttpError as error:
                if error.resp.status != 416 or not sink.position:
                    raise
                sink.restart()  # it has become shorter than what has come of it
                raise IncompleteRead(b"") from None

        self._retry(attempt, sink=sink, progress=lambda: sink.position)

    def _batch(self, makes: Sequence["Make"]) -> list[dict[str, Any] | DiligenceError]:
        answers: dict[int, dict[str, Any] | DiligenceError] = {}

        def attempt(http: AuthorizedHttp) -> None:
            failures: list[Exception] = []

            def collect(number: str, answer: Any, error: Exception | None) -> None:
                fault = find_fault(error) if error is not None else None
                if error is None and isinstance(answer, dict):
                    answers[int(number)] = answer
                elif fault is not None and fault.kind is FaultKind.LASTING:
                    answers[int(number)] = fault.error
                else:
                    failures.append(error or ValueError("no JSON object"))

            batch = BatchHttpRequest(callback=collect, batch_uri=self._batch_uri)
            for number, make in enumerate(makes):
                if number not in answers:
                    batch.add(make(self._drive), request_id=str(number))
            batch.execute(http=http)
            if failures:
                raise failures[0]

        try:
            self._retry(attempt, cost=lambda: len(makes) - len(answers), progress=lambda: len(answers))
        except NotLoggedIn:
            raise
        except DiligenceError as error:
            if not answers:
                raise
            return [answers.get(number, error) for number in range(len(makes))]
        return [answers[number] for number in range(len(makes))]

    def _retry(
        self,
        attempt: Callable[[AuthorizedHttp], T],
        *,
        cost: Callable[[], int] = lambda: 1,
        sink: Sink | None = None,
        progress: Callable[[], int] = lambda: 0,
    ) -> T:
        """Retry until there is an answer or no hope of one."""
        refused: list[str] = []  # access tokens
        patience = _Patience(progress)

        def call_once() -> T:
            calls, token = cost(), ""
            with self._turn(calls) as turn:
                try:
                    with limit_attempt(2.0**patience.tries):
                        token = self._token(refused[-1] if refused else "")
                    self.requests += 1
                    with self.connections.connection() as wire, limit_attempt(2.0**patience.tries, sink):
                        answer = attempt(AuthorizedHttp(AccessToken(self._credentials), http=wire))
                except DiligenceError:
                    raise
                except Exception as error:
                    fault = find_fault(error)
                    if fault is None:
                        raise
                    is_new_token = isinstance(error, TokenRefused) and token not in refused
                    if is_new_token and len(refused) < _RENEWALS:
                        refused.append(token)
                        raise _FailedCall(fault, at_once=True) from None
                    raise self._failed_call(fault, turn) from None
                self._limiter.answered(calls)
                return answer

        with within(self._seconds if sink is None else seconds_left()):
            return retry(call_once, patience.pause)

    def _failed_call(self, fault: Fault, turn: Turn) -> Exception:
        """The failure of a call; if the quota is used up, the limiter makes all calls wait."""
        if fault.kind is not FaultKind.RATE:
            return _FailedCall(fault)
        if self._limiter.refused(turn, fault.retry_after) >= seconds_left():
            return fault.error
        return _FailedCall(fault, at_once=True)

    def _turn(self, cost: int) -> Turn:
        try:
            return self._limiter.begin(time.monotonic() + seconds_left(), cost=cost)
        except (HeldBack, NoTurn):
            raise TooManyRequests("Google Drive's quota is used up for now. Try again in a minute.", 60) from None

    def _token(self, refused: str) -> str:
        """An access token that is valid and is not the refused one; one thread renews it for all."""
        if not self._credentials.valid or self._credentials.token == refused:
            with self._renewing:
                if not self._credentials.valid or self._credentials.token == refused:
                    with single_connection() as wire:
                        self._credentials.refresh(Request(wire))  # type: ignore[no-untyped-call]
        return str(self._credentials.token)


class ConnectionPool:
    """Idle connections to Google and to the places in `extra_places`, which are in the form of `Wire`."""

    def __init__(self, extra_places: frozenset[str]) -> None:
        self._extra_places = extra_places
        self._idle: IdleConnections = deque()  # the newest at the right, where they are taken from
        weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._idle)

    @property
    def idle_count(self) -> int:
        """How many connections are idle."""
        return len(self._idle)

    @contextmanager
    def connection(self) -> Iterator[Wire]:
        """A connection for one thread at a time; it is closed after an error."""
        wire = self._take()
        try:
            yield wire
        except HttpError:  # the answer was read to its end
            self._put(wire)
            raise
        except BaseException:
            wire.close()
            raise
        self._put(wire)

    def _take(self) -> Wire:
        try:
            return self._idle.pop()[1]
        except IndexError:
            return Wire(self._extra_places)

    def _put(self, wire: Wire) -> None:
        now = time.monotonic()
        self._idle.append((now, wire))
        try:
            while self._idle[0][0] < now - IDLE_SECONDS:
                self._idle.popleft()[1].close()
        except IndexError:  # another thread has taken the last
            pass


@lru_cache(maxsize=4)
def pool_for(places: frozenset[str]) -> ConnectionPool:
    """The process's connections to these places."""
    return ConnectionPool(places)


@contextmanager
def single_connection() -> Iterator[Wire]:
    """A connection for one request, to the token endpoint wherever it is."""
    wire = Wire(None)
    try:
        yield wire
    finally:
        wire.close()


class AccessToken(Credentials):
    """The current access token. The client renews it, once for all threads and within the deadline.

    Service accounts' own tokens would start a thread that looks up their region over our connection (google-auth 2.62),
    and a batch would renew one over a connection without a time-out.
    """

    def __init__(self, credentials: Credentials) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.token = credentials.token
        self._credentials = credentials

    def apply(self, headers: Any, token: str | None = None) -> None:
        self._credentials.apply(headers, token)  # type: ignore[no-untyped-call]

    def refresh(self, request: Any) -> None:  # noqa: ARG002 - the library's signature
        raise TokenRefused("refused")  # type: ignore[no-untyped-call]


class TokenRefused(google.auth.exceptions.RefreshError):
    """Google did not accept the access token."""


@lru_cache(maxsize=4)
def drive_at(endpoint: str) -> "DriveResource":
    """The object that builds requests, from the library's own description of the API.

    `endpoint` is completed as the library needs it: with the version's path, and a final slash.
    """
    endpoint = endpoint.rstrip("/") + "/"
    if urlsplit(endpoint).path == "/":
        endpoint += "drive/v3/"
    drive = build(
        "drive",
        "v3",
        http=httplib2.Http(),  # requests are executed on connections of their own
        static_discovery=True,
        cache_discovery=False,
        client_options={"api_endpoint": endpoint},
    )
    for name in ("about", "changes", "drives", "files", "operations"):  # making one builds all its methods: 2 ms
        collection = getattr(drive, name)()
        setattr(drive, name, lambda collection=collection: collection)
    return drive


def mute_loggers() -> None:
    """Drop all records of these libraries' loggers; call it wherever one of the libraries is used."""
    for name in _MUTED_LOGGERS:  # a logger's filters do not hold for those below it
        logging.getLogger(name).addFilter(_drop_record)


def _drop_record(_record: logging.LogRecord) -> bool:
    return False


class _FailedCall(TryAgain):
    """A call failed. `at_once`: the next attempt does not count as another one and needs no pause of its own."""

    def __init__(self, fault: Fault, *, at_once: bool = False) -> None:
        super().__init__(fault.error, fault.retry_after)
        self.fault = fault
        self.at_once = at_once


class _Patience:
    """How long to retry a call; the count of tries starts again whenever something has arrived since the last one."""

    def __init__(self, progress: Callable[[], int]) -> None:
        self._progress, self._reached = progress, progress()
        self.tries = 0

    def pause(self, failure: TryAgain, _attempt: int) -> float:
        """Seconds until the next try. Raises the failure's error if there is no hope."""
        assert isinstance(failure, _FailedCall)
        if self._progress() > self._reached:
            self._reached, self.tries = self._progress(), 0
        if failure.at_once:
            return 0.0
        self.tries += 1
        kind = failure.fault.kind
        most = _TRIES_UNREACHABLE if kind is FaultKind.AWAY else TRIES
        if kind in {FaultKind.LASTING, FaultKind.EXPIRED} or self.tries >= most:
            raise failure.error
        seconds = BACKOFF.pause(self.tries, failure.after)
        if seconds >= seconds_left():
            raise TookTooLong("Google Drive took too long to answer. Try again later, or over a faster line.")
        return seconds


def _close_all(idle: IdleConnections) -> None:
    while idle:
        idle.pop()[1].close()


mute_loggers()

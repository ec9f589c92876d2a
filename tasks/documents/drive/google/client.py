"""Calls of the Drive API for any number of threads: one layer that retries, keeps to the quota and ends in time.

Google's client library builds the requests and reads the answers. What it lacks is here:

    Client          retries that honour Retry-After and cope with broken bodies (google-api-python-client 2.202,
                    `num_retries`, does neither), one quota for all threads, and a deadline
    Wire            HTTP by httpcore in place of httplib2, which is not safe between threads, holds every body in
                    memory, and whose time-out applies to each single read, so that a body that comes byte by byte
                    never ends. All accounts share the connections
    mute_loggers    the libraries' loggers write addresses, headers, bodies and tokens. A filter stops them, because
                    their level can be set anew by whoever wants to see everything
"""

import atexit
import contextlib
import logging
import os
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPException, IncompleteRead
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar
from urllib.parse import unquote, urljoin, urlsplit

import certifi
import httpcore
import httplib2
from google.auth.credentials import Credentials
from google.auth.exceptions import RefreshError
from google_auth_httplib2 import Request  # type: ignore[import-untyped]  # it has no types
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from googleapiclient.http import BatchHttpRequest, HttpRequest

from storage.context import holding
from tasks.documents.drive.google import GoogleDriveSettings
from tasks.documents.drive.google.errors import Fault, FaultKind, find_fault
from tasks.errors import DiligenceError, NotLoggedIn, SourceFailed, TookTooLong, TooManyRequests
from tasks.remote.environment import GOOGLE, check_connection
from tasks.remote.rate_limit import HeldBack, NoTurn, RateLimit, RateLimiter, Turn
from tasks.remote.retry import Backoff, TimedStream, TryAgain, limit_time, retry, seconds_left, within

if TYPE_CHECKING:
    from googleapiclient._apis.drive.v3.resources import DriveResource

    Make = Callable[[DriveResource], HttpRequest]

_CONNECT = 10.0  # seconds
FIRST_BYTE = 30.0  # seconds: large exports are made before the first byte comes
WINDOW = 5.0  # seconds within which …
_SLOWEST = 20_000  # … so many bytes come, or the body is given up and asked for again, with more patience
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 6
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


class _PacedStream(TimedStream):
    """A connection on which an answer is abandoned if it arrives too slowly."""

    _since = 0.0  # when the window began; 0 before the first byte of an answer
    _came = 0  # bytes within the window

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._since = 0.0
        super().write(buffer, timeout)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - our own apply
        now, patience = time.monotonic(), _attempt.get().patience
        if self._since and now - self._since >= WINDOW * patience:
            if self._came < _SLOWEST:
                raise TimeoutError("the answer comes too slowly")
            self._since, self._came = now, 0
        if hasattr(socket, "TCP_QUICKACK"):  # a server that sends head and body apart may wait for it, 40 ms a call
            with contextlib.suppress(OSError):  # Linux forgets it after a while
                self.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        piece = super().read(max_bytes, (WINDOW if self._since else FIRST_BYTE) * patience)
        if not self._since:
            self._since, self._came = time.monotonic(), 0
        self._came += len(piece)
        return piece


class _Backend(httpcore.SyncBackend):
    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *rest: Any, **options: Any
    ) -> httpcore.NetworkStream:
        seconds = limit_time(timeout, httpcore.ConnectTimeout)
        return _PacedStream(super().connect_tcp(host, port, seconds, *rest, **options))


class TokenRefused(RefreshError):
    """Google did not accept the access token in a part of a batch."""


class _NoRenewal:
    """Takes the place of credentials: the library would renew them by itself, over a connection without a time-out."""

    access_token, access_token_expired = "", False

    def refresh(self, _http: object) -> None:
        raise TokenRefused("refused")  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Wire:
    """HTTP in the form in which Google's library calls httplib2, with the token of `account` in each request.

    It leads to Google and to the places in `extra_places` (`scheme://host:port`). Redirects lead nowhere else either,
    so neither a token nor a document's address leaves these hosts. With `extra_places` None, any place is allowed.
    """

    connections: httpcore.ConnectionPool
    extra_places: Collection[str] | None
    account: Credentials | None = None
    credentials: ClassVar = _NoRenewal()

    def request(
        self,
        uri: str,
        method: str = "GET",
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        **_: object,
    ) -> tuple[httplib2.Response, bytes]:
        """The answer with its body; a download's body is written to its sink."""
        sent: dict[Any, Any] = {**(headers or {}), "host": urlsplit(uri).netloc}
        if sent.get("accept-encoding") != "identity":
            sent["accept-encoding"] = "gzip"
        if self.account is not None:
            self.account.apply(sent)  # type: ignore[no-untyped-call]
        content = body.encode() if isinstance(body, str) else body
        limits = {"timeout": dict.fromkeys(("connect", "write"), _CONNECT)}
        for _redirect in range(_MOST_REDIRECTS):
            if self.extra_places is not None and not may_hold_token(uri, self.extra_places):
                raise SourceFailed(
                    "Google Drive sent this download to a place that is not Google's. It was not followed."
                )
            with self.connections.stream(method, uri, headers=sent, content=content, extensions=limits) as response:
                told = {name.decode("latin-1"): value.decode("latin-1") for name, value in response.headers}
                answer = httplib2.Response({**told, "status": str(response.status)})
                content_read = _read_body(response, answer)
                if method != "GET" or response.status not in _REDIRECTS:
                    return answer, content_read
            if "location" not in answer:
                raise HTTPException("a redirect to nowhere")
            before, uri = uri, urljoin(uri, answer["location"])
            sent["host"] = urlsplit(uri).netloc
            if place(uri) != place(before):
                sent.pop("authorization", None)
        raise HTTPException("too many redirects")


def _read_body(response: httpcore.Response, answer: httplib2.Response) -> bytes:
    sink = _attempt.get().sink
    if sink is not None and response.status in {200, 206}:
        sink.begin(response.status, answer)
        for piece in response.iter_stream():
            sink.write(piece)
        return b""
    body = bytearray()
    unpacker = zlib.decompressobj(31) if answer.get("content-encoding") == "gzip" else None
    try:
        for piece in response.iter_stream():
            body += piece if unpacker is None else unpacker.decompress(piece, LARGEST_ANSWER + 1)
            if len(body) > LARGEST_ANSWER:
                raise SourceFailed("Google Drive's answer is larger than any that is expected. Try again.")
    except zlib.error:
        raise HTTPException("its compression is broken") from None
    return bytes(body)


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
IDLE_SECONDS = 60.0  # that a connection may wait for its next request; Google closes them after some minutes
_MOST_IDLE = 64  # connections
_BATCH_SIZE = 100  # requests in one batch: Google's limit
_MUTED_LOGGERS = (
    "google_auth_httplib2",
    "googleapiclient.discovery",
    "googleapiclient.http",
    "googleapiclient.model",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.proxy",
    "requests_oauthlib.oauth2_session",
)
T = TypeVar("T")


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
        self.connections = share_connections(check_connection(settings.google_api_endpoint, GOOGLE))
        places = frozenset(map(place, (settings.google_api_endpoint, settings.google_batch_uri)))
        self._wire = Wire(self.connections, places, credentials)
        self._to_tokens = Wire(share_connections(check_connection(settings.google_token_uri, GOOGLE)), None)
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

        def attempt(http: Any) -> dict[str, Any]:
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

        def attempt(http: Any) -> None:
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

        def attempt(http: Any) -> None:
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
        attempt: Callable[[Any], T],
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
                    with limit_attempt(2.0**patience.tries, sink):
                        answer = attempt(self._wire)
                except DiligenceError:
                    raise
                except Exception as error:
                    fault = find_fault(error)
                    if fault is None:
                        raise
                    is_refused = isinstance(error, HttpError | TokenRefused) and fault.kind is FaultKind.EXPIRED
                    is_new_token = is_refused and token not in refused
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
                    self._credentials.refresh(Request(self._to_tokens))  # type: ignore[no-untyped-call]
        return str(self._credentials.token)


@lru_cache(maxsize=4)
def share_connections(proxy: str | None) -> httpcore.ConnectionPool:
    """The process's connections, by way of this proxy."""
    context = ssl.create_default_context(cafile=os.environ.get("HTTPLIB2_CA_CERTS") or certifi.where())
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # from Python 3.13 on; certificates of companies' proxies fail it
    limits: dict[str, Any] = {
        "ssl_context": context,
        "max_connections": None,
        "max_keepalive_connections": _MOST_IDLE,
        "keepalive_expiry": IDLE_SECONDS,
        "network_backend": _Backend(),
    }
    connections = httpcore.ConnectionPool(**limits)
    if proxy is not None:
        parts = urlsplit(proxy)
        user = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        connections = httpcore.HTTPProxy(proxy, user, **limits)
    atexit.register(connections.close)
    return connections


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


mute_loggers()

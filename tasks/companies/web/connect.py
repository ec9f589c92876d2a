"""Connections to checked addresses: a name is resolved once, every address judged, and one of them connected to.

Nothing between the check and the connection asks for the name again, so that a name which changes its
address in between (DNS rebinding) gains nothing. Host header, SNI and certificate keep the name. The
same place holds all of a fetch to its time: httpcore's limits are for one operation each, and a
server that sends a byte now and then never meets one.
"""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

import httpcore

from tasks.companies.web.addresses import Allowed
from tasks.errors import NotAllowed

Resolver = Callable[[str, int], Sequence[str]]
"""The IP addresses of a host, for a port. Raises OSError when there are none."""

_until: ContextVar[float | None] = ContextVar("until", default=None)
_MOST_TRIED: Final = 4
"""Addresses of one host that are tried, one after the other, within the time for connecting."""


@contextmanager
def time_limit(until: float) -> Iterator[None]:
    """Within the block, in this thread, nothing is waited for beyond `until` (`time.monotonic`)."""
    token = _until.set(until)
    try:
        yield
    finally:
        _until.reset(token)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host as this machine's resolver gives them; every name within `localhost` is this machine.

    Raises:
        OSError: there are none.
    """
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761; not every resolver does so
        return ["127.0.0.1", "::1"]
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class CheckedBackend(httpcore.NetworkBackend):
    """Makes httpcore's connections, to addresses that `allowed` reaches; with None, to any."""

    def __init__(self, allowed: Allowed | None, resolver: Resolver = resolve) -> None:
        self._allowed = allowed
        self._resolver = resolver
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to one of the host's addresses.

        Raises:
            NotAllowed: one of them is not public, and not allowed.
            httpcore.ConnectError, httpcore.ConnectTimeout: none answers.
        """
        until = time.monotonic() + _remaining(timeout, httpcore.ConnectTimeout)
        addresses = self._addresses(host, port, until)
        if self._allowed is not None:
            for address in addresses:
                refusal = self._allowed.refusal(host, address, port)
                if refusal is not None:
                    raise NotAllowed(refusal)
        failure: Exception = httpcore.ConnectError("no address")
        tried = addresses[:_MOST_TRIED]
        for left, address in zip(range(len(tried), 0, -1), tried, strict=True):
            seconds = max(0.01, (until - time.monotonic()) / left)
            try:
                stream = self._sockets.connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _TimedStream(stream)
        raise failure

    def _addresses(self, host: str, port: int, until: float) -> Sequence[str]:
        """The host's addresses; the system's resolver knows no time limit, so it is asked in a thread of its own."""
        answers: SimpleQueue[Sequence[str] | OSError] = SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._resolver(host, port))
            except (OSError, UnicodeError) as error:
                answers.put(OSError(str(error)))

        Thread(target=ask, name="resolve", daemon=True).start()
        try:
            answer = answers.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            raise httpcore.ConnectTimeout("resolving took too long") from None
        if isinstance(answer, OSError) or not answer:
            raise httpcore.ConnectError("the name is not known")
        return answer


class _TimedStream(httpcore.NetworkStream):
    """A connection on which no operation goes beyond the time limit in force."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _remaining(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _remaining(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        # Python holds the whole handshake to the time-out, not each of its messages.
        seconds = _remaining(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, seconds))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _remaining(timeout: float | None, too_late: type[Exception]) -> float:
    """Seconds that an operation may take, of its own time-out and of the limit in force."""
    until = _until.get()
    if until is None:
        return 60.0 if timeout is None else timeout
    left = until - time.monotonic()
    if left <= 0:
        raise too_late("the time is up")
    return left if timeout is None else min(timeout, left)

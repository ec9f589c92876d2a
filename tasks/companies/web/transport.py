"""Connections safe from DNS rebinding: a name is resolved once, its addresses are checked, one of them is connected to.

Nothing between the check and the connection asks for the name again, so a name that changes its address in between
(DNS rebinding) gains nothing. The Host header, SNI and the certificate's check keep the name. The same place keeps
all of a fetch within its deadline: the time-outs of httpx are for single operations, and a server that sends a byte
now and then never meets one.

Both need the network backend of httpcore, on which httpx is built, and `httpx.HTTPTransport` takes none. So this module
is a transport for httpx, and the only one that knows httpcore. `httpx.Client` is left out above it: redirects, cookies
and decompression have to be done with checks and limits of our own, and it costs 0.03 to 0.09 ms more a request
(processor time, three rounds of 600 requests on loopback: 0.27, 0.38 and 0.26 ms with it, 0.24, 0.29 and 0.18 without).
"""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import httpcore
import httpx

from tasks.companies.web.safe_addresses import Allowed
from tasks.errors import NotAllowed
from tasks.remote import deadline
from tasks.remote.fan_out import FanOut

Resolver = Callable[[str, int], Sequence[str]]
"""The IP addresses of a host, for a port. Raises OSError when there are none."""

_ADDRESSES_TRIED: Final = 4
"""Addresses of one host that are tried, one after the other, within the time for connecting."""
_LONGEST_WAIT: Final = 60.0
"""Seconds of an operation without a time-out of its own."""

_ERRORS: Final[dict[type[Exception], type[httpx.TransportError]]] = {
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.WriteError: httpx.WriteError,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
}


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host as this machine's resolver gives them; every name within `localhost` is this machine.

    Raises:
        OSError: there are none.
    """
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761; not every resolver does so
        return ["127.0.0.1", "::1"]
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


class CheckedTransport(httpx.BaseTransport):
    """Sends httpx's requests to addresses that `allowed` reaches; with None, to any.

    Connections stay open for half a minute. How many there are at a time is the rate limiters' business.
    """

    def __init__(self, allowed: Allowed | None, trust: ssl.SSLContext, resolver: Resolver = resolve) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=trust,
            network_backend=_CheckedBackend(allowed, resolver),
            max_connections=None,
            max_keepalive_connections=64,
            keepalive_expiry=30,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the response's body is still to be read, and the response to be closed.

        Raises:
            NotAllowed: one of the host's addresses is not public, and not allowed.
            httpx.TransportError: there is no response.
        """
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        with _httpx_errors():
            response = self._pool.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=url,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response))

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    """A body that raises httpx's errors."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _httpx_errors():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@contextmanager
def _httpx_errors() -> Iterator[None]:
    try:
        yield
    except tuple(_ERRORS) as error:
        raise _ERRORS[type(error)](str(error)) from error


class _CheckedBackend(httpcore.NetworkBackend):
    """Makes httpcore's connections."""

    def __init__(self, allowed: Allowed | None, resolver: Resolver) -> None:
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
        tried = addresses[:_ADDRESSES_TRIED]
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
        """The host's addresses; the system's resolver has no time limit, so it runs in a thread of its own."""
        resolving = FanOut(1, "resolve").submit(self._resolver, host, port)
        try:
            addresses = resolving.result(timeout=max(0.0, until - time.monotonic()))
        except TimeoutError:
            if resolving.done():  # an OSError of the resolver, which may be one too
                raise httpcore.ConnectError("the name is not known") from None
            raise httpcore.ConnectTimeout("resolving took too long") from None
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from None
        if not addresses:
            raise httpcore.ConnectError("the name is not known")
        return addresses


class _TimedStream(httpcore.NetworkStream):
    """A connection on which no operation goes beyond the deadline in force."""

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
    """Seconds that an operation may take: of its own time-out and of the deadline in force."""
    seconds = min(_LONGEST_WAIT if timeout is None else timeout, deadline.left())
    if seconds <= 0:
        raise too_late("the time is up")
    return seconds

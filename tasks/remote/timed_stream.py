"""Connections of httpcore on which no operation lasts beyond the deadline in force (`retry.within`)."""

import ssl
from typing import Any, Final

import httpcore

from tasks.remote import retry

_LONGEST_WAIT: Final = 60.0
"""Seconds of an operation without a time-out of its own."""


class TimedStream(httpcore.NetworkStream):
    """A connection on which no operation lasts beyond the deadline in force."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, limit_time(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, limit_time(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        # Python holds the whole handshake to the time-out, not each of its messages.
        seconds = limit_time(timeout, httpcore.ConnectTimeout)
        return type(self)(self._stream.start_tls(ssl_context, server_hostname, seconds))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def limit_time(timeout: float | None, too_late: type[Exception]) -> float:
    """How many seconds an operation may take, by its own time-out and by the deadline in force.

    Raises:
        `too_late`: the deadline is over.
    """
    seconds = min(_LONGEST_WAIT if timeout is None else timeout, retry.seconds_left())
    if seconds <= 0:
        raise too_late("the time is up")
    return seconds

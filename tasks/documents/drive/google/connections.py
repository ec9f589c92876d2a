"""Connections to Google that are used by one thread at a time, and by whichever account comes next.

httplib2 is not safe between threads. What a connection carries is decided by each request's headers:
callers who come with a token of their own need no handshake of their own.
"""

import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from googleapiclient.errors import HttpError

from tasks.documents.drive.google.transport import Wire

_KEPT = 60.0  # seconds that a connection may wait for its next request; Google closes them after some minutes

Idle = deque[tuple[float, Wire]]


class Pool:
    """The idle connections to Google and to the places of `besides`, as `Wire` has it."""

    def __init__(self, besides: frozenset[str]) -> None:
        self._besides = besides
        self._idle: Idle = deque()  # (since when, connection): the newest at the right, where they are taken from
        weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._idle)

    @contextmanager
    def connection(self) -> Iterator[Wire]:
        """Connections that nobody else uses meanwhile; after an error they are not used again."""
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
            return Wire(self._besides)

    def _put(self, wire: Wire) -> None:
        now = time.monotonic()
        self._idle.append((now, wire))
        try:
            while self._idle[0][0] < now - _KEPT:
                self._idle.popleft()[1].close()
        except IndexError:  # another thread has taken the last
            pass


@lru_cache(maxsize=4)
def pool_for(places: frozenset[str]) -> Pool:
    """The connections of this process to these places."""
    return Pool(places)


@contextmanager
def alone() -> Iterator[Wire]:
    """A connection for one errand, to the login service wherever it is."""
    wire = Wire(None)
    try:
        yield wire
    finally:
        wire.close()


def _close_all(idle: Idle) -> None:
    while idle:
        idle.pop()[1].close()

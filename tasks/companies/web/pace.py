"""How often a host is asked: so many requests side by side, so many begun a second, and not before it wants to be.

One pace is shared by all that ask the same host, in whatever threads; each gives its pace to the fetch.
"""

import math
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from typing import Final

from tasks.errors import TookTooLong, TooManyRequests

_SECOND: Final = 1.05
"""A second and a little: requests reach the server later than they are begun, one more than the other."""
_LONGEST_HOLD: Final = 3600.0
"""A host that asks for more than an hour is asked again after one."""


class Pace:
    """At most `together` requests side by side, and `per_second` begun within a second (None: any number)."""

    def __init__(self, together: int, per_second: int | None = None) -> None:
        self._together = together
        self._begun: deque[float] = deque(maxlen=per_second)
        self._per_second = per_second
        self._running = 0
        self._held_until = 0.0
        self._changed = Condition()

    @contextmanager
    def turn(self, until: float, name: str = "The server") -> Iterator[None]:
        """Within the block, one request may be under way; waits for its turn until then (`time.monotonic`).

        `name` is what sentences call the host.

        Raises:
            TooManyRequests: the host wants to be left alone for longer.
            TookTooLong: the turn did not come.
        """
        self._begin(until, name)
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify()

    def hold(self, seconds: float) -> None:
        """Begin nothing for so long: the host has asked for it (`Retry-After`)."""
        with self._changed:
            self._held_until = max(self._held_until, time.monotonic() + min(seconds, _LONGEST_HOLD))

    def _begin(self, until: float, name: str) -> None:
        with self._changed:
            try:
                while (wait := self._wait(now := time.monotonic(), until, name)) > 0:
                    self._changed.wait(wait)
            except BaseException:
                self._changed.notify()  # it may have been this one's turn
                raise
            self._running += 1
            self._begun.append(now)

    def _wait(self, now: float, until: float, name: str) -> float:
        """Seconds to wait before looking again; 0 when it is time to begin."""
        if self._held_until > max(until, now):
            seconds = math.ceil(self._held_until - now)
            raise TooManyRequests(f"{name} has had enough requests for now. Ask again in {seconds} s.", seconds)
        begin = self._held_until
        if self._per_second is not None and len(self._begun) == self._per_second:
            begin = max(begin, self._begun[0] + _SECOND)
        full = self._running >= self._together
        if begin <= now and not full:
            return 0
        if now >= until:
            raise TookTooLong(f"Too many requests to {name} were waiting before this one. Try again later.")
        return until - now if full else min(until, begin) - now


class Paces:
    """A pace for each host, all alike; of hosts that were not asked for long it forgets what they wanted."""

    def __init__(self, together: int, per_second: int | None, most: int = 4096) -> None:
        self._made_of = together, per_second
        self._most = most
        self._paces: OrderedDict[str, Pace] = OrderedDict()
        self._lock = Lock()

    def of(self, host: str) -> Pace:
        """The pace of that host."""
        with self._lock:
            pace = self._paces.get(host) or Pace(*self._made_of)
            self._paces[host] = pace
            self._paces.move_to_end(host)
            if len(self._paces) > self._most:
                self._paces.popitem(last=False)
            return pace

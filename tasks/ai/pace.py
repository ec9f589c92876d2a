"""How many questions may be under way at an AI server at once: as many as it takes without saying 429.

One gate for each address. Every answer widens it, by one at a time until the server first complains and then
by one a round; every complaint narrows it, once a round. A `Retry-After` holds all callers of the address
back, and lets them go on one after the other. Nobody polls: who has to wait sleeps until it is his turn.
"""

import random
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from threading import Condition, Lock

from tasks.errors import TooManyRequests

FIRST, MOST = 4, 16  # questions side by side: at the start, and ever
NARROWED = 0.7  # of the limit is left after a complaint
LONGEST_HOLD = 600.0  # seconds that a Retry-After is believed for all
_SPREAD = 0.25  # of a hold, over which those that it held come back
_LOOKED_AT = 30  # answers and complaints that tell whether a hold is of use
_FORGOTTEN = 120.0  # seconds without a question, after which what the server refused before says nothing
_OFTEN = 4  # complaints among them, from which on that is asked


class Gate:
    """The turns at one address, for any number of threads. `begun` counts all that there were."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._limit = float(FIRST)
        self._active = 0
        self.begun = 0
        self._round = 0  # a complaint about a call of an earlier round was answered already
        self._held_until = 0.0
        self._spread = 0.0
        self._recent: deque[bool] = deque(maxlen=_LOOKED_AT)
        self._complained = False
        self._refuses_since: float | None = None
        self._last_complaint = float("-inf")

    @property
    def side_by_side(self) -> int:
        """How many callers are of use: `MOST`, or what the server takes once it has complained."""
        with self._changed:
            return max(1, ceil(self._limit)) if self._complained else MOST

    @property
    def refuses_since(self) -> float:
        """Since when, by `time.monotonic`, the server has answered nobody who asked; now where it does."""
        with self._changed:
            return time.monotonic() if self._refuses_since is None else self._refuses_since

    @property
    def crowded(self) -> bool:
        """Whether more than one question is under way."""
        with self._changed:
            return self._active > 1

    @contextmanager
    def turn(self, patience: float) -> Iterator[int]:
        """Wait for a turn and have it within the block, which gives the number of the round.

        Raises:
            TooManyRequests: the server has asked for more time than `patience` (seconds).
        """
        share = random.random()  # noqa: S311 - no secret
        with self._changed:
            while True:
                held = self._held_until + share * self._spread - time.monotonic()
                if held > patience + self._spread:
                    raise too_often(held)
                if held > 0:
                    self._changed.wait(held)
                elif self._active >= int(self._limit):
                    self._changed.wait()
                else:
                    break
            self._active += 1
            self.begun += 1
            number = self._round
        try:
            yield number
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def answered(self) -> None:
        """The server answered a call."""
        with self._changed:
            self._refuses_since = None
            self._recent.append(True)
            self._limit = min(self._limit + (1 / self._limit if self._complained else 1), float(MOST))
            self._changed.notify_all()

    def complained(self, number: int, after: float | None = None) -> None:
        """The server found a call of that round too much, and asked for `after` seconds of rest."""
        with self._changed:
            self._recent.append(False)
            self._complained = True
            now = time.monotonic()
            if self._refuses_since is None or now - self._last_complaint > _FORGOTTEN:
                self._refuses_since = now
            self._last_complaint = now
            if number == self._round:
                self._round += 1
                self._limit = max(1.0, self._limit * NARROWED)
            if after and not self._in_vain():
                until = time.monotonic() + min(after, LONGEST_HOLD)
                if until > self._held_until:
                    self._held_until, self._spread = until, min(after, LONGEST_HOLD) * _SPREAD

    def _in_vain(self) -> bool:
        """Whether the server complains as often as not whatever one does: then who it complains to waits, no other."""
        complaints = self._recent.count(False)
        return complaints > _OFTEN and complaints * 2 < len(self._recent)


def too_often(seconds: float | None = None) -> TooManyRequests:
    """The server wants to be asked less often; `seconds` is how long it wants to be left alone."""
    return TooManyRequests("The AI server is asked too often. Try again later.", ceil(seconds or 1))


_gates: dict[str, Gate] = {}
_lock = Lock()


def gate_of(address: str) -> Gate:
    """The gate of that address."""
    with _lock:
        return _gates.setdefault(address.rstrip("/"), Gate())


def forget(address: str) -> None:
    """Begin anew with an address, as when another server has taken it."""
    with _lock:
        _gates.pop(address.rstrip("/"), None)

"""Rate limits of fact sources, shared by all processes, and how long a batch waits for a free slot.

A `SourceLimiter` counts its calls in the database (`storage.model_calls`), so that several workers, services and
commands with one database stay within the limit that the source's owner documents. A refusal with a `Retry-After`
pauses all of them.

A `Wait` is a caller's patience. Inside `waiting`, refused calls are repeated and spent budgets waited for until it
ends; time spent waiting does not count as time that the source took.
"""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from threading import Lock
from typing import Final

from storage.context import holding
from storage.database import writing
from storage.rate_limits import hold_calls, reserve_call
from tasks import cancellation
from tasks.remote.rate_limit import HeldBack, RateLimit, RateLimiter, Turn

_LONGEST_HOLD: Final = 3600.0
"""Seconds that a source may hold back all processes."""


@dataclass(frozen=True)
class Budget:
    """At most `burst + seconds / interval` calls in any `seconds`: `burst` at once, then one each `interval`."""

    server: str
    interval: float
    burst: int


class SourceLimiter(RateLimiter):
    """The rate limiter of one source; its budget is shared by all processes with the same database."""

    def __init__(self, budget: Budget, limit: RateLimit, unnamed_hold: float) -> None:
        """`unnamed_hold`: seconds for which a refusal (HTTP 429) without a `Retry-After` pauses callers."""
        super().__init__(limit)
        self.unnamed_hold = unnamed_hold
        self._budget = budget
        self._refusing_since: float | None = None

    @property
    def refusing_for(self) -> float:
        """For how many seconds the source has refused every call of this process; 0 if it answered the last one."""
        since = self._refusing_since
        return 0.0 if since is None else time.monotonic() - since

    def begin(self, until: float = inf, patience: float = inf, cost: int = 1, *, alone: bool = False) -> Turn:
        """As `RateLimiter.begin`, and then wait for a call of the shared budget.

        Raises:
            HeldBack, NoTurn: as there; HeldBack too where the budget is spent for longer than the caller waits.
        """
        turn = super().begin(until, patience, cost, alone=alone)
        try:
            self._wait_for_budget(min(until - time.monotonic(), patience))
        except BaseException:
            self.end()
            raise
        return turn

    def refused(self, turn: Turn | None = None, after: float | None = None) -> float:
        """As `RateLimiter.refused`; the pause that the server asked for holds for every process."""
        if self._refusing_since is None:
            self._refusing_since = time.monotonic()
        if after:
            with writing() as session:
                hold_calls(session, self._budget.server, min(after, _LONGEST_HOLD))
        return super().refused(turn, after)

    def answered(self, cost: int = 1, work: float = 0.0) -> None:
        """As `RateLimiter.answered`."""
        self._refusing_since = None
        super().answered(cost, work)

    def _wait_for_budget(self, most: float) -> None:
        budget = self._budget
        with writing() as session:
            seconds, reserved = reserve_call(session, budget.server, budget.interval, budget.burst, max(0.0, most))
        if not reserved:
            raise HeldBack(seconds)
        if seconds > 0:
            cancellation.sleep(seconds)


class Wait:
    """How long a caller is willing to wait for sources that refuse, and how long it has waited.
    Safe between threads.
    """

    def __init__(self, patience: float) -> None:
        """`patience`: seconds from now; a source that has refused every call for that long is no longer waited for."""
        self.patience: Final = patience
        self.until: Final = time.monotonic() + patience
        self._seconds = 0.0
        self._under_way = 0
        self._since = 0.0
        self._lock = Lock()

    @property
    def seconds(self) -> float:
        """Seconds waited or announced so far; never more than the patience."""
        now = time.monotonic()
        with self._lock:
            return self._seconds + (now - self._since if self._under_way and now < self.until else 0.0)

    def add(self, seconds: float) -> None:
        """Announce a wait."""
        with self._lock:
            self._seconds += seconds

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Count the block as waiting; concurrent blocks count once."""
        with self._lock:
            if not self._under_way:
                self._since = time.monotonic()
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                if not self._under_way:
                    self._seconds += time.monotonic() - self._since


_wait: ContextVar[Wait | None] = ContextVar("wait_for_sources", default=None)


def current_wait() -> Wait | None:
    """The patience in force; None for callers that wait no longer than a request may take."""
    return _wait.get()


def waiting(wait: Wait | None) -> AbstractContextManager[None]:
    """Let calls in the block wait for their turn as long as `wait` allows."""
    return holding(_wait, wait)


@contextmanager
def counted_as_wait() -> Iterator[None]:
    """Count the block as waiting by the caller, if it has patience."""
    wait = _wait.get()
    if wait is None:
        yield
        return
    with wait.under_way():
        yield

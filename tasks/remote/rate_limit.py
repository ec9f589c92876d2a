"""How often a server is called: how many calls at a time, how many a second, and not before it allows the next.

One `RateLimiter` is shared by all threads that call the same server. `RateLimit` says which of its means it uses:

    at_once                a fixed number of calls under way (company sources, sites)
    at_once with start_at  a number that grows while more is done in a second, and shrinks with each refusal (model
                           servers)
    per_second             a number of calls begun within any second (the SEC allows ten)
    spaced                 a gap between calls, which refusals widen and answers close (Google's quotas)

Whatever the means, a `Retry-After` holds all callers back. A refusal of a call that began before the last refusal was
noted counts as the same one.

pyrate-limiter 4.5 and aiolimiter 1.3 were considered and not used. Both limit to a rate that is known beforehand and
have no place for what a server answers: neither calls under way, nor a hold, nor a refusal. aiolimiter is for asyncio
only. Most servers here name no rate, so that their answers are all there is to go by.

A `SourceLimiter` counts the calls of a fact source in the database (`storage.model_calls`), so that several workers,
services and commands with one database stay within the limit that the source's owner documents. A refusal with a
`Retry-After` pauses all of them.

A `Wait` is a caller's patience. Inside `waiting`, refused calls are repeated and spent budgets waited for until it
ends; time spent waiting does not count as time that the source took.
"""

import random
import time
from bisect import insort
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from math import ceil, inf
from sys import maxsize
from threading import Condition, Lock
from types import TracebackType
from typing import Final

from storage.context import holding
from storage.database import writing
from storage.model_calls import hold_calls, reserve_call
from tasks import cancellation

_SECOND: Final = 1.05
"""The window of `per_second`, in seconds: calls reach the server later than they begin, some more than others."""

_NARROWER: Final = 0.5
"""What is left of the calls under way after a refusal."""
_WORTHWHILE: Final = 1.15
"""Times the work a second that twice as many calls under way have to bring."""
_CLEARLY: Final = 1.6
"""Times the work a second that tell so after one answer to each of them, some of which began on an idle server."""
_LEAST_ANSWERS: Final = 8
"""Answers without which nothing is given up: answers differ in length."""
_REMEMBERED: Final = 30
"""Answers and refusals that show whether a hold is of use."""
_OFTEN: Final = 4
"""Refusals among them from which on that is checked."""
_STALE: Final = 120.0
"""Seconds without a refusal after which the next one begins a new series."""

_FIRST_PAUSE: Final = 0.5
"""Seconds at most of the first pause, doubled with each refusal that follows without an answer between."""
_LONGEST_PAUSE: Final = 32.0
"""Google's guides truncate their back-off at 32 or 64 seconds."""
_FIRST_GAP: Final = 0.02
"""Seconds between calls after a refusal."""
_WIDEST_GAP: Final = 4.0
_WIDER: Final = 2.0
"""The gap's factor with each refusal that follows another one."""
_LITTLE_WIDER: Final = 1.1
"""The same where `_ANSWERS_BETWEEN` answers came first: it may be chance, with quota left."""
_ANSWERS_BETWEEN: Final = 3
_CLOSER: Final = 0.93
"""The gap's factor with each answer; at 0.97, calls of which every fifth is refused slow to a crawl."""
_NO_GAP: Final = 0.005
"""A gap of so many seconds is closed."""


@dataclass(frozen=True)
class RateLimit:
    """What a server is assumed to take until it says otherwise.

    Attributes:
        at_once: calls under way at a time; None for any number.
        start_at: calls under way at the beginning, where answers and refusals decide between 1 and `at_once`; None
            where `at_once` is fixed. The number is doubled while that brings more work a second.
        per_second: calls begun within a second; None for any number.
        spaced: whether a refusal pauses all calls and puts a gap between those that follow.
        longest_hold: seconds that a `Retry-After` holds callers back at most.
        spread: the part of a hold over which those held back return, each at a random point.
    """

    at_once: int | None = None
    start_at: int | None = None
    per_second: int | None = None
    spaced: bool = False
    longest_hold: float = 3600.0
    spread: float = 0.0


@dataclass
class _Pace:
    """Answers to calls that began since, after `begun` others, with their work and how long they took together.

    `full` says that as many calls were under way as are allowed, `is_second` that calls of an idle server are left out.
    `before` are the calls that were under way already.
    """

    begun: int
    before: int = 0
    answers: int = 0
    work: float = 0.0
    seconds: float = 0.0
    full: bool = False
    is_second: bool = False


class HeldBack(Exception):
    """The server wants no calls for longer than the caller would wait; `seconds` is how long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class NoTurn(Exception):
    """The caller's time ended while other calls were under way or waiting ahead of it."""


class Clock:
    """How the limiter reads the time and waits; tests use their own."""

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()

    def wait(self, changed: Condition, seconds: float | None) -> None:
        """Wait until `changed` is notified, at most `seconds`."""
        changed.wait(seconds)


class Turn(AbstractContextManager["Turn", None]):
    """A call's turn, which ends with its `with` block: when it began, by the limiter's clock, and its number."""

    def __init__(self, limiter: "RateLimiter", began: float, series: int, under_way: int, number: int) -> None:
        self.began = began
        self.series = series
        self._limiter = limiter
        self._under_way = under_way
        self.number = number

    @property
    def alone(self) -> bool:
        """Whether no other call has been under way since this one began."""
        return self._under_way == 1 and self._limiter.begun == self.number

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._limiter.end()


_rank: ContextVar[int] = ContextVar("rank", default=0)


def ranked(rank: int) -> AbstractContextManager[None]:
    """Have calls in the block that wait for their turn come before those of a higher rank.

    Companies that are judged side by side would else all end at the same time, when no other is ready.
    """
    return holding(_rank, rank)


class RateLimiter:
    """The limit on calls to one server, for any number of threads. `begun` counts the calls so far."""

    def __init__(self, limit: RateLimit, clock: Clock | None = None) -> None:
        self.begun = 0
        self._limit = limit
        self._clock = clock or Clock()
        self._changed = Condition()
        self._under_way = 0
        self._only_one = False
        self._queue: list[tuple[int, int]] = []
        self._places = count()
        self._width = float(limit.start_at or limit.at_once or inf)
        self._starts: deque[float] = deque(maxlen=limit.per_second)
        self._held_until = -inf
        self._spread = 0.0
        self._gap = 0.0
        self._next = -inf
        self._series = 0
        self._refused_in_a_row = 0
        self._answers_between = _ANSWERS_BETWEEN
        self._refused_once = False
        self._most = limit.at_once
        self._pace = _Pace(0)
        self._best_pace = 0.0
        self._gave_up = False
        self._widest = False
        self._recent: deque[bool] = deque(maxlen=_REMEMBERED)
        self._refuses_since: float | None = None
        self._last_refusal = -inf

    @property
    def useful_at_once(self) -> int:
        """How many callers are useful: `at_once`, or what the server takes after it has refused a call."""
        with self._changed:
            if (self._refused_once or self._widest) and self._limit.start_at is not None:
                return max(1, ceil(self._width))
            return self._most or maxsize

    def allow(self, most: int) -> None:
        """Record that the server has said how many calls it answers at a time; more would only wait there."""
        with self._changed:
            self._most = min(most, self._limit.at_once or most)
            self._width = min(self._width, float(self._most))

    @property
    def refuses_since(self) -> float:
        """Since when, by the limiter's clock, the server has refused every call; now if it answered the last one."""
        with self._changed:
            return self._clock.now() if self._refuses_since is None else self._refuses_since

    @property
    def gap(self) -> float:
        """The present minimum of seconds between the starts of two calls."""
        with self._changed:
            return self._gap

    @property
    def next_at(self) -> float:
        """When, by the limiter's clock, pauses and the gap allow the next call."""
        with self._changed:
            return max(self._held_until, self._next)

    def begin(self, until: float = inf, patience: float = inf, cost: int = 1, *, alone: bool = False) -> Turn:
        """Wait for a turn; the call is under way until the block of the turn ends.

        Args:
            until: the end of the caller's time, on the limiter's clock.
            patience: seconds that the caller accepts to be held back by the server.
            cost: what the server's quota counts the call as.
            alone: whether no other call may be under way meanwhile.

        Raises:
            HeldBack: the server holds callers back for longer than that.
            NoTurn: the turn did not come in time.
            tasks.cancellation.Cancelled: nobody waits for what the call is for.
        """
        share = random.random()  # noqa: S311 - no secret
        place = 0 if alone else _rank.get(), next(self._places)  # beside calls of a lower rank it would never be alone
        with cancellation.calling(self._wake), self._changed, self._leaving_the_queue(place):
            while True:
                cancellation.check()
                now = self._clock.now()
                held = self._held_until + share * self._spread - now
                if held > 0 and (held > patience + self._spread or now + held > max(until, now)):
                    raise HeldBack(held)
                if held > 0:
                    self._leave_queue(place)  # others may be held for less long
                start = max(now + held, self._next)
                if self._limit.per_second is not None and len(self._starts) == self._limit.per_second:
                    start = max(start, self._starts[0] + _SECOND)
                full = start <= now and not self._is_next(place, alone=alone)
                if start <= now and not full:
                    break
                if now >= until or start > until:
                    raise NoTurn
                seconds = min(until, inf if full else start) - now
                self._clock.wait(self._changed, None if seconds == inf else seconds)
            self._under_way += 1
            self._only_one = alone
            self.begun += 1
            self._starts.append(now)
            if self._under_way + 1 > self._width:
                self._pace.full = True
            if self._gap:
                self._next = now + self._gap * cost
            return Turn(self, now, self._series, self._under_way, self.begun)

    def _is_next(self, place: tuple[int, int], *, alone: bool) -> bool:
        """Whether a call that may begin has room and nobody before it; else it waits in the queue, at its place.

        Whoever came first is served first, after those of a lower rank.
        """
        if self._has_room(alone=alone) and (not self._queue or place <= self._queue[0]):
            return True
        if place not in self._queue:
            insort(self._queue, place)
        return False

    @contextmanager
    def _leaving_the_queue(self, place: tuple[int, int]) -> Iterator[None]:
        try:
            yield
        finally:
            self._leave_queue(place)

    def _leave_queue(self, place: tuple[int, int]) -> None:
        if place in self._queue:
            self._queue.remove(place)
        if self._queue and self._has_room():
            self._changed.notify_all()  # the next one may have waited for this one alone

    def _has_room(self, *, alone: bool = False) -> bool:
        return not self._under_way if alone else self._under_way + 1 <= self._width and not self._only_one

    def _wake(self) -> None:
        """Have those who wait look again."""
        with self._changed:
            self._changed.notify_all()

    def end(self) -> None:
        """Record that a call is no longer under way."""
        with self._changed:
            self._under_way -= 1
            self._only_one = False  # there was no other
            self._changed.notify_all()

    def answered(self, cost: int = 1, work: float = 0.0, turn: Turn | None = None) -> None:
        """Record that the server answered a call with that `turn`; `work` is its size, such as tokens, if known."""
        with self._changed:
            self._refuses_since = None
            self._refused_in_a_row = 0
            self._answers_between += cost
            self._gap = self._gap * _CLOSER**cost if self._gap > _NO_GAP else 0.0
            self._recent.append(True)
            if self._limit.start_at is not None:
                self._width = min(self._wider(work, turn), float(self._most or inf))
                self._changed.notify_all()

    def _wider(self, work: float, turn: Turn | None) -> float:
        """How many calls may be under way from now on, behind an answer.

        After a refusal the number grows slowly. Until then it is doubled after an answer to each of the calls under
        way, for as long as that brings more work a second. Where it does not, both numbers are measured once more, by
        more answers, and then it goes back by one step and stays. Work a second is that of a single call, times the
        calls: by the answers that happen to come within a time, some of them long, free servers looked busy.
        """
        if self._refused_once:
            return self._width + 1 / self._width
        measured, width = self._pace, self._width
        if self._widest or not work:
            return width
        if not measured.full or turn is None or turn.number <= measured.begun:
            return width
        measured.answers += 1
        measured.work += work
        measured.seconds += self._clock.now() - turn.began
        pace = width * measured.work / max(measured.seconds, 1e-6)
        if measured.answers < max(width - measured.before, 2.0):
            return width
        is_clear = pace >= self._best_pace * _CLEARLY and not self._gave_up
        if not is_clear and not measured.is_second:
            self._pace = _Pace(self.begun, full=True, is_second=True)
            return width
        if not is_clear and measured.answers < max(2 * width, _LEAST_ANSWERS):
            return width
        if pace < self._best_pace * _WORTHWHILE:
            self._widest, self._gave_up = self._gave_up, True
            self._best_pace, self._pace = 0.0, _Pace(self.begun, full=True)
            return width / 2
        self._best_pace, self._pace = pace, _Pace(self.begun, self._under_way - 1)
        self._widest = self._most is not None and width * 2 > self._most
        return width * 2

    def refused(self, turn: Turn | None = None, after: float | None = None) -> float:
        """Record that the server refused a call as one too many.

        Args:
            turn: the call's; without it, only `after` counts.
            after: seconds that the server asked to wait for.

        Returns:
            Seconds until the next call may begin.
        """
        with self._changed:
            now = self._clock.now()
            if turn is not None:
                self._recent.append(False)
                self._refused_once = True
                if self._refuses_since is None or now - self._last_refusal > _STALE:
                    self._refuses_since = now
                self._last_refusal = now
                if turn.series == self._series:
                    self._series += 1
                    self._slow_down(now, after)
            if after and not self._holds_in_vain():
                hold = min(after, self._limit.longest_hold)
                if now + hold > self._held_until:
                    self._held_until, self._spread = now + hold, hold * self._limit.spread
            return max(0.0, self._held_until - now, self._next - now)

    def _slow_down(self, now: float, after: float | None) -> None:
        """Make fewer calls at a time, or wider apart, after the first refusal of a series."""
        if self._limit.start_at is not None:
            self._width = max(1.0, self._width * _NARROWER)
        if self._limit.spaced:
            self._refused_in_a_row += 1
            wider = _LITTLE_WIDER if self._answers_between >= _ANSWERS_BETWEEN else _WIDER
            self._gap = min(_WIDEST_GAP, max(_FIRST_GAP, self._gap * wider))
            self._answers_between = 0
            if after is None:
                longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (self._refused_in_a_row - 1))
                self._next = now + random.uniform(0, longest)  # noqa: S311 - no secret

    def _holds_in_vain(self) -> bool:
        """Whether the server refuses as often as not however few call it: then only the refused caller waits."""
        refusals = self._recent.count(False)
        return self._limit.start_at is not None and refusals > _OFTEN and refusals * 2 < len(self._recent)


class RateLimiters:
    """A limiter for each server, all with the same limit; servers that have not been called for long are forgotten."""

    def __init__(self, limit: RateLimit, most: int = 4096) -> None:
        self._limit = limit
        self._most = most
        self._limiters: OrderedDict[str, RateLimiter] = OrderedDict()
        self._lock = Lock()

    def of(self, server: str) -> RateLimiter:
        """The limiter of that server (a host or an address)."""
        with self._lock:
            limiter = self._limiters.get(server) or RateLimiter(self._limit)
            self._limiters[server] = limiter
            self._limiters.move_to_end(server)
            if len(self._limiters) > self._most:
                self._limiters.popitem(last=False)
            return limiter

    def forget(self, server: str) -> None:
        """Start afresh with a server, for example when another one has taken its address."""
        with self._lock:
            self._limiters.pop(server, None)


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

    def answered(self, cost: int = 1, work: float = 0.0, turn: Turn | None = None) -> None:
        """As `RateLimiter.answered`."""
        self._refusing_since = None
        super().answered(cost, work, turn)

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

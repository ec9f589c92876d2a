"""How often a server is called: calls at a time, calls a second, holds, and quotas of several kinds."""

import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from heapq import heappop, heappush
from math import inf
from threading import Barrier, Condition, Event, Semaphore

import pytest

from tasks.remote.rate_limit import (
    Clock,
    HeldBack,
    NoTurn,
    RateLimit,
    RateLimiter,
    RateLimiters,
    Turn,
    ranked,
)

WAIT = 20  # seconds; only a hanging test takes them
ADAPTIVE = RateLimit(at_once=16, start_at=4, longest_hold=600, spread=0.25)
SPACED = RateLimit(spaced=True)


def soon(seconds: float = WAIT) -> float:
    return time.monotonic() + seconds


class SimulatedClock(Clock):
    """Time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    def wait(self, changed: Condition, seconds: float | None) -> None:
        assert seconds is not None, "nothing would ever end this wait"
        self.time += seconds


@pytest.fixture
def clock() -> Iterator[SimulatedClock]:
    random.seed(7)
    yield SimulatedClock()
    random.seed()


# a fixed number at a time, a fixed number a second


def test_no_more_than_so_many_begin_within_a_second() -> None:
    limiter = RateLimiter(RateLimit(at_once=10, per_second=3))
    begun = []
    for _ in range(5):
        with limiter.begin(soon()):
            begun.append(time.monotonic())
    assert all(later - earlier > 1 for earlier, later in zip(begun, begun[3:], strict=False))


class WatchedClock(Clock):
    """Tells when somebody waits."""

    def __init__(self) -> None:
        self.waiting = Semaphore(0)

    def wait(self, changed: Condition, seconds: float | None) -> None:
        self.waiting.release()
        super().wait(changed, seconds)


def test_whoever_came_first_is_served_first() -> None:
    clock = WatchedClock()
    limiter = RateLimiter(RateLimit(at_once=1), clock)
    served: list[int] = []

    def call(number: int) -> None:
        with limiter.begin(soon()):
            served.append(number)

    with ThreadPoolExecutor(8) as threads:
        with limiter.begin(soon()):
            calls = []
            for number in range(8):
                calls.append(threads.submit(call, number))
                assert clock.waiting.acquire(timeout=WAIT)
        for each in calls:
            each.result(WAIT)
    assert served == list(range(8))


def test_calls_of_a_lower_rank_go_first() -> None:
    clock = WatchedClock()
    limiter = RateLimiter(RateLimit(at_once=1), clock)
    served: list[int] = []

    def call(rank: int) -> None:
        with ranked(rank), limiter.begin(soon()):
            served.append(rank)

    with ThreadPoolExecutor(8) as threads:
        with limiter.begin(soon()):
            calls = []
            for rank in (3, 1, 2, 1, 0):
                calls.append(threads.submit(call, rank))
                assert clock.waiting.acquire(timeout=WAIT)
        for each in calls:
            each.result(WAIT)
    assert served == [0, 1, 1, 2, 3]


def test_a_call_that_has_to_be_alone_is_not_passed_by_those_of_a_lower_rank() -> None:
    clock = WatchedClock()
    limiter = RateLimiter(RateLimit(at_once=2), clock)
    served: list[str] = []

    def call(name: str, rank: int, alone: bool) -> None:
        with ranked(rank), limiter.begin(soon(), alone=alone):
            served.append(name)

    with ThreadPoolExecutor(2) as threads:
        with limiter.begin(soon()):
            late = threads.submit(call, "late", 9, True)
            assert clock.waiting.acquire(timeout=WAIT)
            early = threads.submit(call, "early", 1, False)
            assert clock.waiting.acquire(timeout=WAIT), "though there is room beside the call under way"
        for each in (late, early):
            each.result(WAIT)
    assert served == ["late", "early"]


def test_whoever_gives_up_keeps_nobody_waiting_behind_it() -> None:
    clock = WatchedClock()
    limiter = RateLimiter(RateLimit(at_once=2), clock)
    with ThreadPoolExecutor(2) as threads, limiter.begin(soon()):
        with limiter.begin(soon()):
            first = threads.submit(limiter.begin, time.monotonic() + 0.05)
            assert clock.waiting.acquire(timeout=WAIT)
            second = threads.submit(limiter.begin, soon())
            assert clock.waiting.acquire(timeout=WAIT)
            with pytest.raises(NoTurn):
                first.result(WAIT)
        with second.result(WAIT):
            assert limiter.begun == 3


class LateClock(WatchedClock):
    """Whoever waits first of all notices that something changed only when `noticed` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.noticed = Event()
        self.waits = 0

    def wait(self, changed: Condition, seconds: float | None) -> None:
        self.waits += 1
        is_first = self.waits == 1
        super().wait(changed, seconds)
        if is_first:
            changed.release()
            assert self.noticed.wait(WAIT)
            changed.acquire()


def test_whoever_is_held_back_before_it_sees_its_turn_keeps_nobody_waiting_behind_it() -> None:
    clock = LateClock()
    limiter = RateLimiter(RateLimit(at_once=1), clock)

    def call() -> None:
        with limiter.begin():
            pass

    with ThreadPoolExecutor(2) as threads:
        with limiter.begin():
            first = threads.submit(call)
            assert clock.waiting.acquire(timeout=WAIT)
            second = threads.submit(call)
            assert clock.waiting.acquire(timeout=WAIT)
        assert clock.waiting.acquire(timeout=WAIT), "the second sees that there is room, and the first before it"
        limiter.refused(after=0.05)
        clock.noticed.set()
        first.result(WAIT)
        second.result(WAIT)


def test_a_turn_that_does_not_come_is_given_up() -> None:
    limiter = RateLimiter(RateLimit(at_once=1))
    with limiter.begin(soon()), pytest.raises(NoTurn):
        limiter.begin(soon(0.05))
    with limiter.begin(soon(0)):
        pass


def test_a_turn_that_cannot_come_in_time_is_given_up_at_once(clock: SimulatedClock) -> None:
    limiter = RateLimiter(RateLimit(per_second=1), clock)
    with limiter.begin():
        pass
    with pytest.raises(NoTurn):
        limiter.begin(clock.now() + 0.5)
    assert clock.now() == 1000.0


def test_a_hold_longer_than_the_caller_waits_is_reported_at_once() -> None:
    limiter = RateLimiter(RateLimit(at_once=5))
    limiter.refused(after=1000)
    with pytest.raises(HeldBack) as held:
        limiter.begin(soon())
    assert 999 < held.value.seconds <= 1000


def test_a_hold_is_no_longer_than_the_limit_whatever_the_server_asks_for(clock: SimulatedClock) -> None:
    limiter = RateLimiter(RateLimit(at_once=5, longest_hold=3600), clock)
    assert limiter.refused(after=1e9) == 3600
    with limiter.begin() as turn:
        assert turn.began == 1000 + 3600


def hold(limiter: RateLimiter, pool: ThreadPoolExecutor) -> tuple[Event, Future[bool]]:
    """Take a turn in a thread of the pool, which keeps it until the event that is given back."""
    taken, leave = Event(), Event()

    def keep() -> bool:
        with limiter.begin(soon()):
            taken.set()
            return leave.wait(WAIT)

    holding = pool.submit(keep)
    assert taken.wait(WAIT)
    return leave, holding


def wait(limiter: RateLimiter, seconds: float = WAIT) -> bool:
    with limiter.begin(soon(seconds)):
        return True


def test_those_who_wait_go_on_when_the_one_before_them_gives_up() -> None:
    limiter = RateLimiter(RateLimit(at_once=1))
    with ThreadPoolExecutor(8) as pool:
        leave, holding = hold(limiter, pool)
        impatient = [pool.submit(wait, limiter, 0.05) for _ in range(3)]
        patient = [pool.submit(wait, limiter) for _ in range(3)]
        assert all(isinstance(call.exception(), NoTurn) for call in impatient)
        leave.set()
        assert all(call.result(WAIT) for call in patient)
        holding.result(WAIT)


def test_who_will_not_wait_for_a_hold_to_end_lets_the_next_one_know() -> None:
    limiter = RateLimiter(RateLimit(at_once=1))
    with ThreadPoolExecutor(3) as pool:
        leave, _ = hold(limiter, pool)
        impatient = pool.submit(wait, limiter, 1)
        patient = pool.submit(wait, limiter)
        time.sleep(0.2)
        limiter.refused(after=2)
        leave.set()
        assert isinstance(impatient.exception(), HeldBack)
        assert patient.result(10)


def test_each_server_has_a_limiter_of_its_own_until_it_is_forgotten() -> None:
    limiters = RateLimiters(RateLimit(at_once=1), most=2)
    first = limiters.of("a.example")
    assert limiters.of("b.example") is not first
    assert limiters.of("a.example") is first
    limiters.of("c.example")
    assert limiters.of("a.example") is first
    limiters.of("d.example")
    limiters.of("e.example")
    assert limiters.of("a.example") is not first
    second = limiters.of("a.example")
    limiters.forget("a.example")
    assert limiters.of("a.example") is not second


# a number at a time that the server's answers decide


def test_refusals_allow_fewer_calls_at_a_time_and_answers_more() -> None:
    limiter = RateLimiter(ADAPTIVE)
    assert limiter.useful_at_once == 16
    for _ in range(20):
        with limiter.begin() as turn:
            limiter.refused(turn)
    assert limiter.useful_at_once == 1
    for _ in range(200):
        limiter.answered()
    assert limiter.useful_at_once == 16


def test_refusals_of_calls_that_were_under_way_together_count_once() -> None:
    limiter, together = RateLimiter(ADAPTIVE), Barrier(4)

    def call() -> None:
        with limiter.begin() as turn:
            together.wait(WAIT)
            limiter.refused(turn)

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(call) for _ in range(4)]:
            future.result()
    assert limiter.useful_at_once == 2  # half of four, once


def test_a_hold_beyond_patience_is_reported_to_all() -> None:
    limiter = RateLimiter(ADAPTIVE)
    with limiter.begin() as turn:
        limiter.refused(turn, 500)
    with pytest.raises(HeldBack) as held:
        limiter.begin(patience=60)
    assert 400 < held.value.seconds <= 500 * 1.25


def test_a_server_that_refuses_half_of_all_calls_whatever_it_asked_for_holds_only_the_refused(
    clock: SimulatedClock,
) -> None:
    limiter = RateLimiter(ADAPTIVE, clock)
    for number in range(30):
        with limiter.begin() as turn:
            if number % 3:
                limiter.answered()
            else:
                limiter.refused(turn)
    with limiter.begin() as turn:
        assert limiter.refused(turn, 60) == 0


def test_who_leaves_lets_the_next_one_in() -> None:
    limiter, inside, leave = RateLimiter(ADAPTIVE), Event(), Event()

    def call() -> None:
        with limiter.begin():
            inside.set()
            leave.wait(WAIT)

    with ThreadPoolExecutor(5) as pool:
        futures = [pool.submit(call) for _ in range(5)]
        inside.wait(WAIT)
        leave.set()
        assert [future.result(WAIT) for future in futures] == [None] * 5


def test_a_turn_knows_whether_others_were_under_way() -> None:
    limiter = RateLimiter(ADAPTIVE)
    with limiter.begin() as first:
        assert first.alone
        with limiter.begin() as second:
            assert not second.alone
        assert not first.alone
    with limiter.begin() as third:
        assert third.alone


def test_a_call_that_is_made_alone_waits_for_the_others_and_they_for_it() -> None:
    limiter, order = RateLimiter(ADAPTIVE), list[str]()

    def call(name: str, *, alone: bool = False) -> None:
        with limiter.begin(alone=alone) as turn:
            order.append(name)
            assert turn.alone or not alone

    with ThreadPoolExecutor(2) as pool:
        with limiter.begin():
            alone = pool.submit(call, "alone", alone=True)
            while not limiter._queue:
                time.sleep(0.01)
            other = pool.submit(call, "other")
            time.sleep(0.1)
            assert order == []
        alone.result(WAIT)
        other.result(WAIT)
    assert order == ["alone", "other"]


def test_answers_without_work_make_no_more_calls_at_a_time() -> None:
    limiter = RateLimiter(ADAPTIVE)
    for _ in range(50):
        limiter.answered()
    turns = [limiter.begin() for _ in range(4)]
    with pytest.raises(NoTurn):
        limiter.begin(until=time.monotonic())
    for turn in turns:
        turn.__exit__(None, None, None)


def test_the_time_since_which_a_server_refuses_ends_with_an_answer(clock: SimulatedClock) -> None:
    limiter = RateLimiter(ADAPTIVE, clock)
    assert limiter.refuses_since == 1000
    for _ in range(3):
        with limiter.begin() as turn:
            limiter.refused(turn)
        clock.time += 100
    assert limiter.refuses_since == 1000
    clock.time += 100
    with limiter.begin() as turn:
        limiter.refused(turn)  # nobody called for two minutes: what came before says nothing
    assert limiter.refuses_since == 1400
    limiter.answered()
    clock.time += 7
    assert limiter.refuses_since == 1407


# a gap between calls that quotas decide


def sliding(quota: int, window: float) -> Callable[[float], bool]:
    """So many calls within any window."""
    used: deque[float] = deque()

    def allows(now: float) -> bool:
        while used and used[0] <= now - window:
            used.popleft()
        if len(used) >= quota:
            return False
        used.append(now)
        return True

    return allows


def bucket(quota: int, window: float) -> Callable[[float], bool]:
    """So many at once, then one at a time."""
    state = [float(quota), 1000.0]

    def allows(now: float) -> bool:
        state[:] = min(float(quota), state[0] + (now - state[1]) * quota / window), now
        if state[0] < 1:
            return False
        state[0] -= 1
        return True

    return allows


def make_calls(
    clock: SimulatedClock, allows: Callable[[float], bool], calls: int, threads: int = 16
) -> tuple[float, int]:
    """Seconds that the calls took, of 50 ms each and so many at a time, and how many were refused."""
    limiter, refused, start = RateLimiter(SPACED, clock), 0, clock.now()
    under_way: list[tuple[float, int, Turn, bool]] = []
    order = 0
    while calls or under_way:
        busy_until = under_way[0][0] if under_way else inf
        if calls and len(under_way) < threads and busy_until > max(clock.now(), limiter.next_at):
            turn = limiter.begin()
            heappush(under_way, (clock.now() + 0.05, order, turn, allows(clock.now())))
            calls, order = calls - 1, order + 1
            continue
        end, _, turn, answered = heappop(under_way)
        clock.time = max(clock.now(), end)
        with turn:
            if answered:
                limiter.answered()
            else:
                limiter.refused(turn)
                refused, calls = refused + 1, calls + 1
    return clock.now() - start, refused


@pytest.mark.parametrize("kind", [sliding, bucket])
def test_a_quota_of_sixty_a_minute_slows_calls_down_and_lets_them_finish(
    clock: SimulatedClock, kind: Callable[[int, float], Callable[[float], bool]]
) -> None:
    seconds, refused = make_calls(clock, kind(60, 60.0), 300)
    assert 240 <= seconds < 2 * 240
    assert refused < 100  # 16 threads that hammered on would be refused thousands of times


def test_calls_without_a_quota_are_not_held_back(clock: SimulatedClock) -> None:
    seconds, refused = make_calls(clock, lambda _: True, 1600)
    assert seconds == pytest.approx(5.0)
    assert refused == 0


def test_the_gap_closes_some_time_after_a_refusal(clock: SimulatedClock) -> None:
    limiter = RateLimiter(SPACED, clock)
    with limiter.begin() as turn:
        limiter.refused(turn, 3.0)
    assert limiter.gap > 0
    for _ in range(200):
        with limiter.begin():
            limiter.answered()
    assert limiter.gap == 0
    before = clock.now()
    with limiter.begin():
        assert clock.now() == before


def test_a_batch_waits_for_as_many_gaps_as_the_quota_counts_it(clock: SimulatedClock) -> None:
    limiter = RateLimiter(SPACED, clock)
    with limiter.begin() as turn:
        limiter.refused(turn, 3.0)
    with limiter.begin(cost=100) as turn:
        pass
    assert limiter.next_at == pytest.approx(turn.began + 100 * limiter.gap)


def test_all_wait_for_as_long_as_the_server_asks(clock: SimulatedClock) -> None:
    limiter = RateLimiter(SPACED, clock)
    with limiter.begin() as turn:
        assert limiter.refused(turn, 42.0) == 42.0
    with limiter.begin():
        assert clock.now() == 1042.0


def test_calls_that_were_on_their_way_count_as_the_same_refusal(clock: SimulatedClock) -> None:
    limiter = RateLimiter(SPACED, clock)
    turns = [limiter.begin() for _ in range(31)]
    clock.time += 0.05
    first = limiter.refused(turns[0])
    gap = limiter.gap
    assert [limiter.refused(turn) for turn in turns[1:]] == [first] * 30
    assert limiter.gap == gap


def test_refusals_in_a_row_make_the_pause_longer(clock: SimulatedClock) -> None:
    limiter, pauses = RateLimiter(SPACED, clock), list[float]()
    for _ in range(60):
        with limiter.begin() as turn:
            pauses.append(limiter.refused(turn))
    assert max(pauses[:2]) < 4 < max(pauses[4:]) <= 32


def test_a_wait_beyond_the_callers_time_is_reported_at_once(clock: SimulatedClock) -> None:
    limiter = RateLimiter(SPACED, clock)
    with limiter.begin() as turn:
        limiter.refused(turn, 3600.0)
    with pytest.raises(HeldBack):
        limiter.begin(clock.now() + 5)
    assert clock.now() == 1000.0


def served(clock: SimulatedClock, most: int) -> int:
    """How many calls at a time are of use at a server that answers `most` a second, each after a second or more."""
    limiter = RateLimiter(RateLimit(at_once=16, start_at=2), clock)
    for _ in range(60):
        turns = []
        for _ in range(limiter.useful_at_once):
            try:
                turns.append(limiter.begin(until=clock.now()))
            except NoTurn:
                break
        clock.time += max(1.0, len(turns) / most)
        for turn in turns:
            limiter.answered(work=1, turn=turn)
            turn.__exit__(None, None, None)
    return limiter.useful_at_once


@pytest.mark.parametrize(("most", "useful"), [(1, 2), (2, 2), (4, 4), (16, 16)])
def test_calls_at_a_time_grow_while_that_brings_more_work(clock: SimulatedClock, most: int, useful: int) -> None:
    assert served(clock, most) == useful


class Queueing:
    """A server that answers `slots` calls at a time, and lets others wait; an answer's length is drawn, up to 5 s."""

    def __init__(self, slots: int) -> None:
        self._free = [0.0] * slots

    def answer(self, now: float) -> tuple[float, float]:
        """When the answer to a call comes, and its work."""
        work = random.choice([0.5, 1.0, 2.0, 3.5, 5.0])
        slot = min(range(len(self._free)), key=self._free.__getitem__)
        self._free[slot] = max(now, self._free[slot]) + work
        return self._free[slot], work


def ask(clock: SimulatedClock, limiter: RateLimiter, server: Queueing, calls: int) -> int:
    """So many calls, as many at a time as the limiter lets; returns how many there were at a time."""
    under_way: list[tuple[float, int, Turn, float]] = []
    most = 0
    while calls or under_way:
        with suppress(NoTurn):
            while calls:
                turn = limiter.begin(until=clock.now())
                end, work = server.answer(clock.now())
                heappush(under_way, (end, calls, turn, work))
                calls -= 1
        most = max(most, len(under_way))
        clock.time, _, turn, work = heappop(under_way)
        limiter.answered(work=work, turn=turn)
        turn.__exit__(None, None, None)
    return most


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("slots", "useful"), [(1, {2, 4}), (4, {4, 8}), (100, {16})])
def test_answers_of_different_length_do_not_hide_what_more_calls_bring(
    clock: SimulatedClock, seed: int, slots: int, useful: set[int]
) -> None:
    random.seed(seed)
    limiter = RateLimiter(RateLimit(at_once=16, start_at=2), clock)
    ask(clock, limiter, Queueing(slots), 400)
    assert limiter.useful_at_once in useful


def test_each_step_takes_one_round_of_answers(clock: SimulatedClock) -> None:
    limiter = RateLimiter(RateLimit(at_once=16, start_at=2), clock)
    for expected in (2, 4, 8):
        turns = [limiter.begin(until=clock.now()) for _ in range(expected)]
        with pytest.raises(NoTurn):
            limiter.begin(until=clock.now())
        clock.time += 3
        for turn in turns:
            limiter.answered(work=1, turn=turn)
            turn.__exit__(None, None, None)

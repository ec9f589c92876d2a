"""The pace of calls, against quotas of several kinds, on a clock of the test's own."""

import random
from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush

import pytest

from tasks.documents.drive.google import pace
from tasks.documents.drive.google.pace import Pace
from tasks.remote import deadline


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> bool:
        self.now += seconds
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    found = Clock()
    monkeypatch.setattr(pace, "time", found)
    monkeypatch.setattr(deadline, "sleep", found.sleep)
    random.seed(7)
    yield found
    random.seed()


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


def make_calls(clock: Clock, allows: Callable[[float], bool], calls: int, threads: int = 16) -> tuple[float, int]:
    """Seconds that the calls took, of 50 ms each and so many at a time, and how many were refused."""
    shared, flight, refused, began = Pace(), list[tuple[float, float, bool]](), 0, clock.now
    while calls or flight:
        if calls and len(flight) < threads and not (flight and flight[0][0] <= max(clock.now, shared._next)):
            shared.wait()
            heappush(flight, (clock.now + 0.05, clock.now, allows(clock.now)))
            calls -= 1
            continue
        done, sent, passed = heappop(flight)
        clock.now = max(clock.now, done)
        if passed:
            shared.passed()
        else:
            shared.refused(sent, None)
            refused, calls = refused + 1, calls + 1
    return clock.now - began, refused


@pytest.mark.parametrize("kind", [sliding, bucket])
def test_quota_of_sixty_a_minute_slows_calls_down_and_lets_them_finish(
    clock: Clock, kind: Callable[[int, float], Callable[[float], bool]]
) -> None:
    seconds, refused = make_calls(clock, kind(60, 60.0), 300)
    assert 240 <= seconds < 2 * 240
    assert refused < 100  # they do not hammer on: 16 threads that did would be refused thousands of times


def test_calls_without_a_quota_are_not_held_back(clock: Clock) -> None:
    seconds, refused = make_calls(clock, lambda _: True, 1600)
    assert seconds == pytest.approx(5.0)
    assert refused == 0


def test_pace_is_free_again_some_time_after_a_refusal(clock: Clock) -> None:
    shared = Pace()
    shared.refused(clock.now, 3.0)
    for _ in range(200):
        shared.wait()
        shared.passed()
    before = clock.now
    shared.wait()
    assert clock.now == before


def test_all_wait_for_as_long_as_google_asks(clock: Clock) -> None:
    shared = Pace()
    assert shared.refused(clock.now, 42.0) == 42.0
    shared.wait()
    assert clock.now == 1042.0


def test_calls_that_were_on_their_way_count_as_the_same_refusal(clock: Clock) -> None:
    shared, sent = Pace(), clock.now
    clock.now += 0.05
    first = shared.refused(sent, None)
    gap = shared._gap
    assert [shared.refused(sent, None) for _ in range(30)] == [first] * 30
    assert shared._gap == gap


def test_refusals_in_a_row_make_the_pause_longer(clock: Clock) -> None:
    shared, pauses = Pace(), list[float]()
    for _ in range(60):
        pauses.append(shared.refused(clock.now, None))
        clock.now += pauses[-1]
    assert max(pauses[:2]) < 4 < max(pauses[4:]) <= 32


def test_wait_beyond_the_deadline_is_told_at_once() -> None:
    shared = Pace()
    shared.refused(0.0, 3600.0)
    with deadline.within(5):
        assert not shared.wait()

"""How often a host is asked."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tasks.companies.web.pace import Pace, Paces
from tasks.errors import TookTooLong, TooManyRequests


def soon(seconds: float = 30) -> float:
    return time.monotonic() + seconds


def test_no_more_than_so_many_are_begun_within_a_second() -> None:
    pace = Pace(10, per_second=3)
    begun = []
    for _ in range(5):
        with pace.turn(soon()):
            begun.append(time.monotonic())
    assert all(later - earlier > 1 for earlier, later in zip(begun, begun[3:], strict=False))


def test_a_turn_that_does_not_come_is_given_up() -> None:
    pace = Pace(1)
    with pace.turn(soon()), pytest.raises(TookTooLong), pace.turn(soon(0.05)):
        pass
    with pace.turn(soon(0)):
        pass


def test_a_host_that_wants_to_be_left_alone_for_longer_than_anybody_waits_says_so_at_once() -> None:
    pace = Pace(5)
    pace.hold(1000)
    with pytest.raises(TooManyRequests) as refused, pace.turn(soon()):
        pass
    assert refused.value.retry_after in {999, 1000}


def test_a_hold_ends_after_an_hour_whatever_was_asked_for() -> None:
    pace = Pace(5)
    pace.hold(1e12)
    with pytest.raises(TooManyRequests) as refused, pace.turn(soon()):
        pass
    assert refused.value.retry_after <= 3600


def test_those_who_wait_go_on_when_the_one_before_them_gives_up() -> None:
    pace = Pace(1)
    taken, leave = Event(), Event()

    def hold() -> None:
        with pace.turn(soon()):
            taken.set()
            leave.wait(20)

    def wait(until: float) -> bool:
        with pace.turn(until):
            return True

    with ThreadPoolExecutor(8) as pool:
        holding = pool.submit(hold)
        taken.wait(20)
        impatient = [pool.submit(wait, soon(0.05)) for _ in range(3)]
        patient = [pool.submit(wait, soon()) for _ in range(3)]
        assert all(isinstance(each.exception(), TookTooLong) for each in impatient)
        leave.set()
        assert all(each.result(20) for each in patient)
        holding.result(20)


def test_who_will_not_wait_for_a_hold_to_end_lets_the_next_one_know() -> None:
    pace = Pace(1)
    taken, leave = Event(), Event()

    def hold() -> None:
        with pace.turn(soon()):
            taken.set()
            leave.wait(20)

    def wait(seconds: float) -> bool:
        with pace.turn(soon(seconds)):
            return True

    with ThreadPoolExecutor(3) as pool:
        pool.submit(hold)
        taken.wait(20)
        impatient = pool.submit(wait, 2)
        time.sleep(0.1)
        patient = pool.submit(wait, 20)
        time.sleep(0.1)
        pace.hold(3)
        leave.set()
        assert isinstance(impatient.exception(), TooManyRequests)
        assert patient.result(10)


def test_each_host_has_its_own_pace_and_keeps_it() -> None:
    paces = Paces(1, None, most=2)
    first = paces.of("a.example")
    assert paces.of("b.example") is not first
    assert paces.of("a.example") is first
    paces.of("c.example")
    assert paces.of("a.example") is first
    paces.of("d.example")
    paces.of("e.example")
    assert paces.of("a.example") is not first

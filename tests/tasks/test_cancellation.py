"""Work that nobody waits for any more stops where it looks, in every thread that it uses."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Event, Timer

import pytest

from tasks.remote import fan_out, retry
from tasks.remote.fan_out import Cancellation, Cancelled, FanOut, Leave, cancelled_by
from tasks.remote.rate_limit import RateLimit, RateLimiter


@contextmanager
def cancelled_soon() -> Iterator[None]:
    """Cancel the block when it waits."""
    work = Cancellation()
    timer = Timer(0.05, work.cancel)
    timer.start()
    with cancelled_by(work):
        yield
    timer.join()


def test_a_pause_ends_when_nobody_waits_any_more() -> None:
    with cancelled_soon(), pytest.raises(Cancelled):
        retry.sleep(60)


def test_who_waits_for_a_turn_at_a_server_leaves_the_queue() -> None:
    limiter = RateLimiter(RateLimit(at_once=1))
    with limiter.begin(), cancelled_soon(), pytest.raises(Cancelled):
        limiter.begin()
    with limiter.begin():
        assert limiter.begun == 2


def test_a_result_that_nobody_waits_for_is_cancelled() -> None:
    never: Future[None] = Future()
    with cancelled_soon(), pytest.raises(Cancelled):
        fan_out.wait_for_result(never)
    assert never.cancelled()


def test_calls_that_have_not_begun_are_not_made() -> None:
    begun, go_on = Event(), Event()
    made: list[int] = []

    def first() -> None:
        begun.set()
        go_on.wait()

    work = Cancellation()
    with cancelled_by(work), FanOut(1, "work", Leave.NEVER) as threads:
        threads.submit(first)
        second = threads.submit(made.append, 2)
        begun.wait()
        work.cancel()
        go_on.set()
    assert not made
    with pytest.raises(Cancelled):
        second.result()


def test_what_others_wait_for_too_goes_on() -> None:
    work = Cancellation()
    work.cancel()
    with cancelled_by(work):
        with fan_out.uncancelled():
            fan_out.check()
        with pytest.raises(Cancelled):
            fan_out.check()

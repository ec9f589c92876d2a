"""Calls side by side: how many at once, with whose settings, in which order, and what is left behind.

Work that nobody waits for any more stops where it looks, in every thread that it uses.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Timer

import pytest

from tasks import cancellation
from tasks.cancellation import Cancellation, Cancelled, FanOut, Leave, cancelled_by, take_finished
from tasks.remote import retry
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.cases import cases

WAIT = 30  # seconds; only a hanging test takes them


def test_a_call_gives_its_result_or_its_error() -> None:
    threads = FanOut(2, "work")

    assert threads.submit(divmod, 7, 2).result(WAIT) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        threads.submit(divmod, 7, 0).result(WAIT)


def test_a_call_sees_what_is_set_where_it_was_submitted() -> None:
    setting: ContextVar[str] = ContextVar("setting", default="of the process")
    threads = FanOut(1, "work")
    futures = []
    for value in ("a", "b"):
        token = setting.set(value)
        futures.append(threads.submit(setting.get))
        setting.reset(token)
    assert [future.result(WAIT) for future in futures] == ["a", "b"]
    assert threads.submit(setting.get).result(WAIT) == "of the process"


def test_calls_run_at_the_same_time_and_no_more_than_so_many() -> None:
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3, timeout=WAIT)
    names: set[str] = set()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            names.add(threading.current_thread().name)
        together.wait()  # breaks unless three run at a time
        with lock:
            running -= 1

    with FanOut(3, "work") as threads:
        futures = [threads.submit(work) for _ in range(12)]
    assert [future.exception(WAIT) for future in futures] == [None] * 12
    assert most == 3
    assert names == {"work-1", "work-2", "work-3"}


def test_calls_of_one_thread_are_made_in_order() -> None:
    numbers: list[int] = []
    with FanOut(1, "work") as threads:
        for number in range(50):
            threads.submit(numbers.append, number)
    assert numbers == list(range(50))


def test_a_cancelled_call_is_not_made() -> None:
    go_on = threading.Event()
    made: list[int] = []
    with FanOut(1, "work") as threads:
        threads.submit(go_on.wait, WAIT)
        waiting = threads.submit(made.append, 1)
        assert waiting.cancel()
        go_on.set()
    assert made == []


def test_what_has_not_begun_when_it_is_closed_never_does() -> None:
    go_on = threading.Event()
    threads = FanOut(1, "work")
    first, second = threads.submit(go_on.wait, WAIT), threads.submit(divmod, 7, 2)

    threads.close()
    go_on.set()

    assert first.result(WAIT) is True
    for late in (second, threads.submit(divmod, 7, 2)):
        with pytest.raises(CancelledError):
            late.result(WAIT)


@cases(
    ("leave", "error", "waited"),
    [
        (Leave.NEVER, LookupError, True),
        (Leave.NEVER, KeyboardInterrupt, True),
        (Leave.ON_INTERRUPT, LookupError, True),
        (Leave.ON_INTERRUPT, GeneratorExit, True),
        (Leave.ON_INTERRUPT, KeyboardInterrupt, False),
        (Leave.ON_ERROR, LookupError, False),
        (Leave.ON_ERROR, KeyboardInterrupt, False),
    ],
)
def test_after_an_error_nothing_begins_and_what_is_under_way_is_waited_for_or_left(
    leave: Leave, error: type[BaseException], *, waited: bool
) -> None:
    made: list[str] = []
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(WAIT)
        made.append("under way")
        ended.set()

    def broken_off() -> None:
        with FanOut(1, "work", leave) as threads:
            threads.submit(work)
            threads.submit(made.append, "waiting")
            begun.wait(WAIT)
            if waited:
                threading.Timer(0.05, go_on.set).start()
            raise error

    with pytest.raises(error):
        broken_off()
    assert made == (["under way"] if waited else [])
    go_on.set()
    assert ended.wait(WAIT)
    assert made == ["under way"]


def test_results_are_taken_while_other_calls_run() -> None:
    go_on = threading.Event()
    under_way: dict[Future[bool], str] = {}
    with FanOut(2, "work") as threads:
        under_way[threads.submit(go_on.wait, WAIT)] = "slow"
        under_way[threads.submit(lambda: True)] = "quick"
        assert [(key, future.result()) for key, future in take_finished(under_way, leaving=1)] == [("quick", True)]
        go_on.set()
        assert [(key, future.result()) for key, future in take_finished(under_way)] == [("slow", True)]
    assert not under_way


def test_who_waits_for_each_call_has_them_in_order() -> None:
    under_way: dict[Future[int], int] = {}
    with FanOut(3, "work") as threads:
        for number in range(9):
            under_way[threads.submit(int, number)] = number
            assert [key for key, _ in take_finished(under_way)] == [number]


def test_the_process_does_not_wait_for_a_call_under_way() -> None:
    words = (
        "import time; from tasks.cancellation import FanOut; FanOut(1, 'work').submit(time.sleep, 600); print('end')"
    )
    ended = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=60, check=True)

    assert (ended.stdout, ended.stderr) == ("end\n", "")


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
        cancellation.wait_for_result(never)
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
        with cancellation.uncancelled():
            cancellation.check()
        with pytest.raises(Cancelled):
            cancellation.check()

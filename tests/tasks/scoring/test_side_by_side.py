"""Jobs in threads: how many at once, in which settings, and what a failure leaves."""

import threading
from contextvars import ContextVar
from functools import partial

import pytest

from tasks.scoring.side_by_side import SideBySide

WAIT = 30  # seconds; only a hanging test takes them


def test_jobs_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3)
    with SideBySide[int, int]() as jobs:
        for number in range(3):
            jobs.start(number, lambda: meeting.wait(WAIT))
        assert sorted(key for key, _ in jobs.done(leaving=0)) == [0, 1, 2]


def test_what_is_done_is_handed_over_while_others_run() -> None:
    go_on = threading.Event()
    with SideBySide[str, bool]() as jobs:
        jobs.start("slow", lambda: go_on.wait(WAIT))
        jobs.start("quick", lambda: True)
        assert list(jobs.done(leaving=1)) == [("quick", True)]
        go_on.set()
        assert list(jobs.done(leaving=0)) == [("slow", True)]


def test_whoever_waits_for_each_has_them_in_order() -> None:
    told: list[int] = []
    with SideBySide[int, None]() as jobs:
        for number in range(9):
            jobs.start(number, partial(told.append, number))
            assert [key for key, _ in jobs.done(leaving=0)] == [number]
    assert told == list(range(9))


def test_a_job_sees_what_is_set_where_it_was_started() -> None:
    setting: ContextVar[str] = ContextVar("setting", default="none")
    with SideBySide[int, str]() as jobs:
        for number, value in enumerate(("a", "b")):
            setting.set(value)
            jobs.start(number, setting.get)
        assert dict(jobs.done(leaving=0)) == {0: "a", 1: "b"}


def test_an_error_is_raised_where_results_are_taken() -> None:
    def fail() -> None:
        raise LookupError

    with SideBySide[int, None]() as jobs:
        jobs.start(0, fail)
        with pytest.raises(LookupError):
            list(jobs.done(leaving=0))


@pytest.mark.parametrize(("error", "waited"), [(LookupError, True), (GeneratorExit, True), (KeyboardInterrupt, False)])
def test_what_is_under_way_is_waited_for_unless_the_process_is_interrupted(
    error: type[BaseException], *, waited: bool
) -> None:
    told: list[int] = []
    go_on, ended = threading.Event(), threading.Event()

    def job() -> None:
        go_on.wait(WAIT)
        told.append(1)
        ended.set()

    def broken_off() -> None:
        with SideBySide[int, None]() as jobs:
            jobs.start(1, job)
            if waited:
                threading.Timer(0.05, go_on.set).start()
            raise error

    with pytest.raises(error):
        broken_off()
    assert told == ([1] if waited else [])
    go_on.set()
    assert ended.wait(WAIT)

"""Work aside: so many things at a time, with the settings of whoever began it, and left behind with the process."""

import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from contextvars import ContextVar

import pytest

from tasks.companies.aside import Aside


def test_what_was_begun_gives_its_result_or_its_error() -> None:
    aside = Aside(2, "work")

    assert aside.begin(divmod, 7, 2).result(10) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        aside.begin(divmod, 7, 0).result(10)


def test_it_runs_in_the_context_of_whoever_began_it() -> None:
    setting: ContextVar[str] = ContextVar("setting", default="of the process")
    token = setting.set("of the run")
    try:
        assert Aside(1, "work").begin(setting.get).result(10) == "of the run"
    finally:
        setting.reset(token)


def test_no_more_than_so_many_run_at_a_time() -> None:
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3, timeout=10)

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()  # breaks unless three do run at a time
        with lock:
            running -= 1

    aside = Aside(3, "work")
    for each in [aside.begin(work) for _ in range(12)]:
        each.result(20)

    assert most == 3


def test_what_has_not_begun_when_it_is_closed_never_does() -> None:
    go = threading.Event()
    aside = Aside(1, "work")
    first = aside.begin(go.wait, 10)
    second = aside.begin(divmod, 7, 2)

    aside.close()
    go.set()

    assert first.result(10) is True
    with pytest.raises(CancelledError):
        second.result(10)


def test_the_process_does_not_wait_for_what_is_under_way() -> None:
    words = (
        "import time; from tasks.companies.aside import Aside; Aside(1, 'work').begin(time.sleep, 600); print('end')"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=60, check=True)

    assert (done.stdout, done.stderr) == ("end\n", "")

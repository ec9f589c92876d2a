"""Calls in a process of their own: what comes back, and what does not."""

import os
import signal
import time

import pytest

from tasks.documents.extract.limits import run_in_fork


def test_what_was_made_comes_back_whole_from_another_process() -> None:
    assert run_in_fork(lambda: b"%d" % os.getpid(), 60) != b"%d" % os.getpid()
    assert run_in_fork(lambda: b"abc" * 3_000_000, 60) == b"abc" * 3_000_000


def test_a_call_that_fails_or_crashes_is_known_by_it() -> None:
    def fails() -> bytes:
        raise ValueError

    def crashes() -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b""

    for call in (fails, crashes):
        with pytest.raises(ChildProcessError):
            run_in_fork(call, 60)


def test_a_call_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[int] = []
    fork = os.fork

    def noted() -> int:
        children.append(fork())
        return children[-1]

    def hangs() -> bytes:
        time.sleep(3600)
        return b""

    monkeypatch.setattr(os, "fork", noted)
    with pytest.raises(TimeoutError):
        run_in_fork(hangs, 0.05)
    with pytest.raises(ProcessLookupError):
        os.kill(children[0], 0)

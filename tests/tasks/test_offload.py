"""Offloaded work: ends with its caller, has limits of time and memory, and knows who asks."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path

import pytest

from tasks import cancellation
from tasks.documents.drive.drive import Bearer, acting_as, caller
from tasks.errors import Damaged, NotFound, TookTooLong, TooLarge, Unavailable
from tasks.offload import Processes, offload, offload_always, offloading_to
from tasks.reading.pool.pool import ExtractionPool

LONG = "word " * 10_000


def burn(seconds: float, _text: str = "") -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def find_nothing(_text: str) -> None:
    raise NotFound("There is no such thing.")


class Odd(Exception):
    def __init__(self, one: str, other: str) -> None:
        super().__init__(one + other)


def fail(_text: str) -> None:
    raise Odd("a", "b")


def where_and_who(_text: str) -> tuple[int, str | None]:
    who = caller()
    return os.getpid(), who.token if isinstance(who, Bearer) else None


def end_by_force(_text: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def read_words(path: Path) -> tuple[str, str]:
    with ExtractionPool(1) as pool:
        try:
            pool.read(path.with_suffix(".pdf"), ".pdf")
        except Damaged as error:
            return pool.read(path, ".txt").text, error.slug
    return "", ""


@contextmanager
def one_process() -> Iterator[None]:
    with offloading_to(Processes(1)):
        yield


def test_what_is_short_stays_here_and_what_is_long_goes_to_a_process_that_stays() -> None:
    with one_process(), acting_as(Bearer("of-ada")):
        assert offload(where_and_who, "short") == (os.getpid(), "of-ada")
        first, who = offload(where_and_who, LONG)
        assert first != os.getpid()
        assert who == "of-ada"
        assert offload_always(where_and_who, "short")[0] == first
    assert offload(where_and_who, LONG)[0] == os.getpid()  # without a service


def test_documents_are_read_in_a_process_that_may_have_no_children(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some words.")
    (tmp_path / "a.pdf").write_text("%PDF-1.4 and no more")
    with one_process():
        assert offload_always(read_words, tmp_path / "a.txt") == ("Some words.", Damaged.slug)


def test_work_ends_with_its_caller() -> None:
    with one_process():
        process, _ = offload(where_and_who, LONG)
        cancelled = cancellation.Cancellation()
        threading.Timer(0.5, cancelled.cancel).start()
        began = time.monotonic()
        with cancellation.cancelled_by(cancelled), pytest.raises(cancellation.Cancelled):
            offload(burn, 20, LONG)
        assert time.monotonic() - began < 10
        end = time.monotonic() + 10
        while Path(f"/proc/{process}").exists():  # until the server that it was forked from has noticed
            assert time.monotonic() < end
            time.sleep(0.1)
        other, _ = offload(where_and_who, LONG)
        assert other != process


def test_who_waits_for_a_process_may_go() -> None:
    with offloading_to(Processes(1)):
        first, second = cancellation.Cancellation(), cancellation.Cancellation()

        def occupy() -> None:
            with cancellation.cancelled_by(first), pytest.raises(cancellation.Cancelled):
                offload(burn, 20, LONG)

        thread = threading.Thread(target=copy_context().run, args=(occupy,))
        thread.start()
        time.sleep(0.3)
        threading.Timer(0.3, second.cancel).start()
        with cancellation.cancelled_by(second), pytest.raises(cancellation.Cancelled):
            offload(burn, 0, LONG)
        first.cancel()
        thread.join(10)
        assert not thread.is_alive()
        offload(burn, 0, LONG)


def test_limits_and_errors(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("DILIGENCE_DOCUMENT_TIMEOUT", "1")
    with one_process():
        with pytest.raises(TookTooLong, match=r"more than 1 s of processor time \(DILIGENCE_DOCUMENT_TIMEOUT\)"):
            offload(burn, 20, LONG)
        with pytest.raises(TooLarge, match="4096 MB of memory"):
            offload_always(bytes, 5 << 30)
        with pytest.raises(Unavailable, match="ended from outside"):
            offload(end_by_force, LONG)
        with pytest.raises(NotFound, match="no such thing"):
            offload(find_nothing, LONG)
        assert caplog.messages == []
        with pytest.raises(RuntimeError, match="Odd"):
            offload(fail, LONG)
        assert "tests.tasks.test_offload" in caplog.text
        offload(burn, 0.1, LONG)  # there is a process for the next

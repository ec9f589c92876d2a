"""The limits on reading one document: its time, the memory between documents, calls in a fork."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

import pytest

from tasks.errors import Unavailable
from tasks.reading import embedded, limits
from tasks.reading.limits import run_in_fork
from tasks.reading.pdf import reader
from tasks.reading.text_writer import Attachment, Reading
from tests.tasks.reading import hostile_pdfs

_FAULTS = """
import ctypes, resource
from tasks.reading.limits import keep_memory
from tasks.errors import Unavailable
if {keep}:
    keep_memory()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
began = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    blocks = [library.malloc(2 << 20) for _ in range(8)]
    for block in blocks:
        ctypes.memset(block, 1, 2 << 20)
    for block in blocks:
        library.free(block)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - began)
"""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Documents may take so long, within."""
    limits.configure(seconds)
    try:
        yield
    finally:
        limits.configure(inf)


def test_it_is_near_only_where_there_is_one_and_begins_with_each_document() -> None:
    assert not limits.is_near()
    with limited(0.001):
        while not limits.is_near():
            pass
        limits.begin()
        limits.configure(60)
        assert not limits.is_near()


def test_a_pdf_keeps_the_pages_that_were_read_in_time() -> None:
    kids = b"<< /Type /Pages /Count 2 /Kids [3 0 R 3 0 R] >>"
    leaf = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R %s >>" % hostile_pdfs.PAGE
    content = hostile_pdfs.filled(b"BT /F1 9 Tf (Words) Tj ET")
    data = hostile_pdfs.pdf([hostile_pdfs.CATALOG, kids, leaf, content])
    assert reader.read(data).text == "Words\n\fWords\n"
    with limited(0):
        reading = reader.read(data)
    assert reading.text == "Words\n"
    assert reading.warnings == [
        "The PDF takes too long to read (DILIGENCE_DOCUMENT_TIMEOUT): it was read up to page 1 of 2."
    ]


@pytest.mark.parametrize(("seconds", "outcome"), [(60, "read after the text"), (0, "not read after so much else")])
def test_what_is_embedded_is_left_where_the_time_is_up(seconds: float, outcome: str) -> None:
    host = Reading("Host\n", attachments=[Attachment("a.txt", b"Inside")])
    with limited(seconds):
        reading = embedded.with_embedded(host, lambda data, _: Reading(data.decode()), [".txt"])
    assert outcome in reading.warnings[0]


def _faults(*, keep: bool) -> int:
    code = _FAULTS.format(keep=keep)
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="the C library is not glibc")
def test_memory_that_is_freed_is_taken_again_without_faults() -> None:
    assert _faults(keep=True) < _faults(keep=False) / 4


def test_what_was_made_comes_back_whole_from_another_process() -> None:
    assert run_in_fork(lambda: b"%d" % os.getpid(), 60) != b"%d" % os.getpid()
    assert run_in_fork(lambda: b"abc" * 3_000_000, 60) == b"abc" * 3_000_000


def test_a_call_that_fails_or_crashes_is_known_by_it() -> None:
    def fails() -> bytes:
        raise ValueError

    def crashes() -> bytes:
        os.kill(os.getpid(), signal.SIGUSR1)
        return b""

    def is_killed() -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b""

    for call in (fails, crashes):
        with pytest.raises(ChildProcessError):
            run_in_fork(call, 60)
    with pytest.raises(Unavailable):
        run_in_fork(is_killed, 60)


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

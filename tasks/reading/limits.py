"""The limits on reading one document: its time, memory between documents, and calls that must not endanger it.

Readers that go part by part ask `is_near`: one that stops in time keeps what it has read, while a process that overruns
is killed and loses everything. Native code that may hang or crash runs in a fork (`run_in_fork`). A document that took
too much is read once more, and less of it (`is_second_try`). `keep_memory` saves the allocator's work between
documents: readers take a document's worth of memory, free it, and take as much again.
"""

import contextlib
import ctypes
import errno
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from math import inf
from typing import Final

from tasks.errors import Unavailable

_CODES: Final = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENODEV, errno.ENXIO, errno.ESTALE}
)


def machine_failure(error: BaseException | None) -> OSError | None:
    """The failure of the machine that an error is, or was caused by; None if it has another cause."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _CODES:
            return error
        error = error.__cause__ or error.__context__
    return None


_PIECE: Final = 1 << 20
_OPTIONS: Final = (
    (-1, 32 << 20),  # M_TRIM_THRESHOLD
    (-2, 1 << 20),  # M_TOP_PAD
    (-3, 4 << 20),  # M_MMAP_THRESHOLD
)
_SHARE: Final = 0.85
"""Of the time; the rest is for putting together what was read. Text recognition stops before that."""

_HURRIED: Final = 0.3
"""The share of the time that is left when readers take what reads faster."""

_seconds: ContextVar[float] = ContextVar("seconds", default=inf)
_end: ContextVar[float] = ContextVar("end", default=inf)
_second_try: ContextVar[bool] = ContextVar("second_try", default=False)


def configure(seconds: float) -> None:
    """Set how many seconds each document in this process may take; called once, when it starts."""
    _seconds.set(seconds)
    begin()


def begin(*, second_try: bool = False) -> None:
    """Start a document: its time counts from now, including everything inside it.

    `second_try`: it took too much time or memory before.
    """
    _end.set(time.monotonic() + _SHARE * _seconds.get())
    _second_try.set(second_try)


def is_second_try() -> bool:
    """Whether this document took too much time or memory before, so that its reader leaves out what may have caused
    that.
    """
    return _second_try.get()


def seconds_left() -> float:
    """Seconds until it is time to stop; infinite without a limit (70 ns)."""
    return _end.get() - time.monotonic()


def is_near() -> bool:
    """Whether it is time to stop; never without a limit."""
    return seconds_left() <= 0


def is_hurried() -> bool:
    """Whether most of the time is used up, so that only faster ways of reading are worth starting."""
    return 0 < seconds_left() <= _HURRIED * _seconds.get() < inf


def run_in_fork(make: Callable[[], bytes], seconds: float) -> bytes:
    """What `make` returns in a fork of this process, which must have only one thread; 5 ms for 7 MB.

    Raises:
        TimeoutError: it takes longer than so many seconds.
        ChildProcessError: it raised something, or ended its process.
        Unavailable: its process was ended from outside.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _send(make, writer)
    os.close(writer)
    try:
        made = b"".join(_receive(reader, time.monotonic() + seconds))
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reader)
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGKILL, signal.SIGTERM}:
        raise Unavailable("The document was not read: a process that reads it was ended from outside. Try again.")
    if status:
        raise ChildProcessError
    return made


def _send(make: Callable[[], bytes], writer: int) -> None:
    """All that the child process does; nothing inherited from its parent is closed or cleaned up."""
    status = 1
    try:
        with open(writer, "wb") as file:
            file.write(make())
        status = 0
    finally:
        os._exit(status)


def _receive(reader: int, end: float) -> Iterator[bytes]:
    while True:
        if not select.select([reader], [], [], max(0, end - time.monotonic()))[0]:
            raise TimeoutError
        piece = os.read(reader, _PIECE)
        if not piece:
            return
        yield piece


@cache
def keep_memory() -> None:
    """Make the C library keep up to 32 MB of freed memory; does nothing without glibc, or the second time.

    For 94 PDFs that saves 2,900 page faults and 2.5 % of the time.
    """
    with contextlib.suppress(OSError, AttributeError):
        allocator = ctypes.CDLL(None)
        for option, size in _OPTIONS:
            allocator.mallopt(option, size)

"""What runs inside a reading process: its limits, and one document after the other.

The pool's fork server loads this module and the readers in advance, so that a new process is ready in a few
milliseconds; nothing here imports Prefect, tables or settings.

A process gets one document at a time and says with its reading whether it takes another.
"""

import atexit
import fcntl
import gc
import multiprocessing
import os
import pickle
import resource
import select
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from tasks.child_process import PARENTS_FOLDER
from tasks.errors import DiligenceError, Unavailable
from tasks.reading import limits as limits_module
from tasks.reading.limits import machine_failure
from tasks.reading.text_writer import Place, Reading

Read = Callable[[Path, str], Reading]
Load = Callable[[], None]


@dataclass(frozen=True)
class Limits:
    """What one document may use: seconds, megabytes of memory, megabytes on disk.

    With `patience`, the seconds are of the processor, and by the clock it may take so many times as long.
    """

    seconds: float = 60
    memory_mb: int = 1024
    max_mb: int = 512
    patience: float = 1

    @property
    def clock_seconds(self) -> float:
        """The seconds that it may take by the clock."""
        return self.patience * self.seconds


OUT_OF_TIME: Final = (signal.SIGALRM, signal.SIGPROF)
"""The signals that end a process whose document has used up its time."""
TOOK_TOO_MUCH: Final = frozenset({"MemoryError", "TookTooLong"})
"""The causes of failures after which a process makes room for a new one."""

_GROWTH: Final = 4
"""A process that has grown by this part of its memory since it started makes room for a new one."""


@dataclass(frozen=True)
class Failure:
    """Why a document was not read: the `error` that the user sees, or the class of an unexpected exception.

    Exceptions themselves are not sent: those of lxml and PDFium cannot be unpickled, and their messages may contain the
    document's words.
    """

    error: DiligenceError | None
    cause: str


ReadOutcome = Reading | Failure | None
"""What became of a document; None says that the process is ready for the first one."""


_parents_folder = os.environ.pop(PARENTS_FOLDER, None)
if _parents_folder is not None:  # this is a fork server, which outlives a parent that is killed
    atexit.register(shutil.rmtree, _parents_folder, ignore_errors=True)
    gc.disable()  # while the readers are loaded: a fifth of the time
    atexit.register(gc.freeze)  # when Python ends, it collects once more: 0.3 s for all that is loaded


def serve(read: Read, load: Load | None, limits: Limits, documents: int, connection: "Connection[Any, Any]") -> None:
    """Read the documents that come through the connection: `documents` of them, fewer if one takes too much or the
    process grows.

    The time for `load` counts for no document. A document that exceeds its time ends the process, by a signal that no
    native code can delay.
    """
    prepare(limits)
    if load is not None:
        load()
    at_first = _measure_memory()
    connection.send_bytes(_pack(None, goes_on=True))
    for number in range(1, documents + 1):
        try:
            path, extension, second_try = connection.recv()
        except (EOFError, OSError):  # the parent has gone away
            return
        signal.setitimer(signal.ITIMER_REAL, limits.clock_seconds)
        signal.setitimer(signal.ITIMER_PROF, limits.seconds if limits.patience > 1 else 0)
        outcome = run(read, Path(path), extension, second_try=second_try)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        exhausted = isinstance(outcome, Failure) and outcome.cause in TOOK_TOO_MUCH
        has_grown = _measure_memory() - at_first > (limits.memory_mb << 20) // _GROWTH
        goes_on = number < documents and not exhausted and not has_grown
        connection.send_bytes(_pack(outcome, goes_on=goes_on))
        if not goes_on:
            return


def run(read: Read, path: Path, extension: str, *, second_try: bool = False) -> Reading | Failure:
    """Read one document; any failure is returned as a value."""
    limits_module.begin(second_try=second_try)
    try:
        return read(path, extension)
    except MemoryError:
        return Failure(None, "MemoryError")
    except Exception as error:  # noqa: BLE001 - a hostile file may raise anything in a parser
        cause = machine_failure(error)
        if cause is not None:
            failed = Unavailable(f"The document was not read: this machine failed ({cause.strerror}). Try again.")
            return Failure(failed, type(cause).__name__)
        if isinstance(error, DiligenceError):
            return Failure(error, type(error.__cause__ or error).__name__)
        return Failure(None, type(error).__name__)


def _pack(outcome: ReadOutcome, *, goes_on: bool) -> bytes:
    """An outcome as a message, with places as plain tuples, which pickle in a fifth of the time."""
    try:
        if isinstance(outcome, Reading):
            plain = [tuple(place) for place in outcome.places]
            return pickle.dumps((replace(outcome, places=[], attachments=[]), plain, goes_on))
        return pickle.dumps((outcome, [], goes_on))
    except Exception as error:  # noqa: BLE001 - too large for the memory left, or nothing that a reader may return
        return pickle.dumps((Failure(None, type(error).__name__), [], goes_on))


def unpack_message(message: bytes) -> tuple[ReadOutcome, bool]:
    """On the parent's side: the outcome in a message, and whether the process takes another document."""
    outcome: ReadOutcome
    outcome, places, goes_on = pickle.loads(message)  # noqa: S301 - from our own process
    if isinstance(outcome, Reading):
        outcome = replace(outcome, places=list(map(Place._make, places)))
    return outcome, goes_on


def prepare(limits: Limits) -> None:
    """Put this process under its limits; called once, when it starts."""
    _die_with_the_parent()
    os.setpgid(0, 0)  # the parent ends the group: what a reader may have started goes too
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A reader that hangs in native code must go at once too, whatever this process has inherited.
    for number in (signal.SIGTERM, *OUT_OF_TIME, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    _limit(resource.RLIMIT_AS, limits.memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    gc.freeze()  # what the fork server loaded stays: looking at it again and again would copy its pages
    gc.enable()
    gc.set_threshold(20_000)  # new objects: what reads and looks for figures makes few cycles, and 700 took a 30th
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # libraries complain of broken files there
        os.dup2(devnull, stream)
    os.close(devnull)
    limits_module.configure(limits.seconds)


def _die_with_the_parent() -> None:
    """Have the kernel end this process when the parent is gone, even if it was killed or native code runs here.

    The parent holds the other end of a pipe; closing it raises SIGIO, which ends a process by default.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None, "a reading process is always a child"
    pipe = parent.sentinel
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([pipe], [], [], 0)[0]:  # it went before it could be watched
        os._exit(1)


def _limit(kind: int, value: int) -> None:
    try:
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):  # macOS does not limit address space
        return


def _measure_memory() -> int:
    """The bytes of the machine's memory that this process uses; if the system does not tell, the maximum so far."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10

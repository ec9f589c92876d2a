"""What runs inside a reading process: its limits, and one document at a time.

The pool's fork server loads this module and the readers beforehand, so that a new process is there
in a few milliseconds; nothing here imports Prefect, tables or settings.
"""

import fcntl
import multiprocessing
import os
import resource
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tasks.documents.extract.reading import Reading
from tasks.errors import DiligenceError

Read = Callable[[Path, str], Reading]


@dataclass(frozen=True)
class Failure:
    """Why a document was not read: the `error` that the user sees, or the class of an unforeseen exception.

    Exceptions themselves do not travel: those of lxml and PDFium cannot be unpickled, and their
    messages may hold the document's words.
    """

    error: DiligenceError | None
    cause: str


def prepare(memory_mb: int) -> None:
    """Put this process under its limits; called once, when it starts."""
    _die_with_the_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a reader that hangs in native code must go at once too
    _limit(resource.RLIMIT_AS, memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # libraries complain of broken files there
        os.dup2(silence, stream)
    os.close(silence)


def run(read: Read, path: Path, extension: str) -> Reading | Failure:
    """Read one document; whatever goes wrong comes back as a value."""
    try:
        return read(path, extension)
    except DiligenceError as error:
        return Failure(error, type(error.__cause__ or error).__name__)
    except MemoryError:
        return Failure(None, "MemoryError")
    except Exception as error:  # noqa: BLE001 - a hostile file may raise anything in a parser
        return Failure(None, type(error).__name__)


def _die_with_the_parent() -> None:
    """Let the kernel end this process when the parent is gone, even killed, and even while native code runs here.

    The parent holds the other end of a pipe; its closing raises SIGIO, which ends a process by default.
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

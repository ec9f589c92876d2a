"""The process pool that reads documents, each under limits of time and memory.

A document that hangs, crashes or swells costs that document only: its process is ended, the others
go on. The processes end with this one, however it ends.

pebble 5.2's `ProcessPool` was tried in its place (two processes, two cores): 2,000 text files of 1 KB took it 0.65 to
1.3 s, 2,000 small Word documents 1.1 to 1.9 s; this pool takes 0.15 to 0.2 s and 0.55 s, and half the processor time
in the parent. It also hands out documents ahead, tries a document again in a fresh process when it may have suffered
from those before it, and its processes die with a killed parent.
"""

import atexit
import os
from concurrent.futures import Future
from pathlib import Path
from typing import Final, Self

from tasks.errors import DiligenceError, NotFound, TooLarge
from tasks.reading.embedded import read_with_embedded
from tasks.reading.pool.process import Job
from tasks.reading.pool.supervisor import PoolLoad, Supervisor
from tasks.reading.pool.worker import Limits, Load, Read
from tasks.reading.text_writer import Reading

__all__ = ["ExtractionPool", "Limits", "processors"]

_USUAL: Final = Limits()


class ExtractionPool:
    """Reads documents in processes of their own. Safe to call from many threads; processes start at the first call.

    `workers` is the number of processes (default: one a processor). `read` is what they run:
    a function `(path, format) -> Reading` of a module, not of the main one, which they do not load; `load` is
    run once in each of them before, and what it takes counts for no document.
    """

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits = _USUAL,
        read: Read = read_with_embedded,
        load: Load | None = None,
    ) -> None:
        self._limits = limits
        self._supervisor = Supervisor(workers or processors(), limits, read, load)
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def load(self) -> PoolLoad:
        """What the processes have to do now."""
        return self._supervisor.load

    def start(self) -> None:
        """Start the processes now, in the background; the first document would."""
        self._supervisor.start()

    def read(self, path: Path, format: str) -> Reading:  # noqa: A002 - the field's word
        """The text of the document at `path`, whose format is an extension (".docx"). Waits for it.

        Raises:
            NotFound: there is no such file.
            UnsupportedFormat, TooLarge, Unreadable (Damaged, PasswordProtected), TookTooLong: it cannot be read.
            Unavailable: the pool is closed, or its processes do not start.
        """
        return self.submit(path, format).result()

    def submit(self, path: Path, format: str) -> "Future[Reading]":  # noqa: A002 - the field's word
        """The future of that reading; it raises what `read` does. Cancelling it ends the reading."""
        future: Future[Reading] = Future()
        try:
            size = self._size(path)
        except DiligenceError as error:
            future.set_exception(error)
        else:
            self._supervisor.add(Job(path, format, size, future))
        return future

    def close(self) -> None:
        """End the processes; what is still being read fails with Unavailable."""
        self._supervisor.close()
        atexit.unregister(self.close)

    def _size(self, path: Path) -> int:
        try:
            size = path.stat().st_size
        except OSError as error:
            raise NotFound("The document is no longer there.") from error
        if size > self._limits.max_mb << 20:
            raise TooLarge(
                f"The document has {size / (1 << 20):.1f} MB, the limit is {self._limits.max_mb} MB "
                "(DILIGENCE_DOCUMENT_MAX_MB)."
            )
        return size


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""The process pool that reads documents, each under limits of time and memory.

A document that hangs, crashes or swells costs that document only: its process is ended, the others
go on. The processes end with this one, however it ends.
"""

import logging
import os
import threading
import time
from concurrent.futures import CancelledError, Future, TimeoutError  # noqa: A004 - what pebble raises
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import pebble

from tasks.documents.extract import worker
from tasks.documents.extract.forking import ReaderContext
from tasks.documents.extract.formats import read_document
from tasks.documents.extract.reading import Reading
from tasks.errors import Damaged, DiligenceError, NotFound, TookTooLong, TooLarge, Unavailable, Unreadable

logger = logging.getLogger(__name__)

pebble.CONSTS.term_timeout = 0.2  # seconds a reading process has to go before it is killed

_TASKS_A_WORKER: Final = 500
"""A process is replaced after so many documents: native libraries leak."""

_ATTEMPTS: Final = 4
"""So often a document is handed to a fresh pool when the one that had it broke down."""

_GRACE: Final = 30.0
"""Seconds beyond the time limit after which a pool that finishes nothing is held for stuck."""


@dataclass(frozen=True)
class Limits:
    """What one document may take: seconds, megabytes of memory, megabytes on disk."""

    seconds: float = 60
    memory_mb: int = 1024
    max_mb: int = 512


@dataclass(eq=False)
class _Job:
    """A document on its way; `pool` has it at the moment, and `inner` is that pool's future."""

    path: Path
    extension: str
    outer: "Future[Reading]"
    attempts: int = 0
    pool: pebble.ProcessPool | None = None
    inner: "Future[Reading | worker.Failure] | None" = None


class ExtractionPool:
    """Reads documents in processes of their own. Safe to call from many threads; processes start at the first call.

    `workers` is the number of processes (default: one a processor). `read` is what they run:
    a function `(path, format) -> Reading` of a module, not of the main one, which they do not load.
    """

    def __init__(
        self, workers: int | None = None, limits: Limits = Limits(), read: worker.Read = read_document
    ) -> None:
        self._workers = workers or _processors()
        self._limits = limits
        self._read = read
        self._lock = threading.RLock()
        self._jobs: set[_Job] = set()
        self._progress = time.monotonic()
        self._closed = threading.Event()
        self._pool: pebble.ProcessPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        outer: Future[Reading] = Future()
        try:
            self._check_size(path)
        except DiligenceError as error:
            outer.set_exception(error)
            return outer
        job = _Job(path, format, outer)
        outer.add_done_callback(lambda future: self._cancel(job) if future.cancelled() else None)
        with self._lock:
            if not self._jobs:
                self._progress = time.monotonic()
            self._jobs.add(job)
        self._schedule(job)
        return outer

    def close(self) -> None:
        """End the processes; what is still being read fails with Unavailable."""
        self._closed.set()
        with self._lock:
            pool, self._pool = self._pool, None
            jobs, self._jobs = self._jobs, set()
        for job in jobs:
            _settle(job.outer, Unavailable("The readers were shut down. Try again."))
        if pool is not None:
            _end(pool)

    def _check_size(self, path: Path) -> None:
        try:
            size = path.stat().st_size
        except OSError as error:
            raise NotFound("The document is no longer there.") from error
        if size > self._limits.max_mb << 20:
            raise TooLarge(
                f"The document has {size / (1 << 20):.1f} MB, the limit is {self._limits.max_mb} MB "
                "(DILIGENCE_DOCUMENT_MAX_MB)."
            )

    def _schedule(self, job: _Job) -> None:
        """Hand a job to the pool."""
        pool = self._running()
        if pool is None:
            self._settle(job, Unavailable("The readers were shut down. Try again."))
            return
        job.attempts += 1
        job.pool = pool
        try:
            inner = pool.schedule(worker.run, args=(self._read, job.path, job.extension), timeout=self._limits.seconds)
        except RuntimeError as error:
            self._replace(pool, type(error).__name__)
            return
        job.inner = inner
        inner.add_done_callback(lambda future: self._done(job, pool, future))

    def _running(self) -> pebble.ProcessPool | None:
        """The pool, started if need be; None after `close`."""
        with self._lock:
            if self._closed.is_set():
                return None
            if self._pool is None:
                self._pool = pebble.ProcessPool(
                    max_workers=self._workers,
                    max_tasks=_TASKS_A_WORKER,
                    initializer=worker.prepare,
                    initargs=(self._limits.memory_mb,),
                    context=ReaderContext(),
                )
                threading.Thread(target=self._watch, args=(self._pool,), name="reading-watch", daemon=True).start()
            return self._pool

    def _done(self, job: _Job, pool: pebble.ProcessPool, future: "Future[Reading | worker.Failure]") -> None:
        """Settle a job by how its attempt ended."""
        if job.pool is not pool:  # another pool has it by now
            return
        self._progress = time.monotonic()
        try:
            outcome = future.result()
        except TimeoutError:
            self._settle(job, TookTooLong(
                f"Reading the document took longer than {self._limits.seconds:g} s (DILIGENCE_DOCUMENT_TIMEOUT)."
            ))  # fmt: skip
        except pebble.ProcessExpired as error:
            logger.warning("A reader of %s ended with status %s", job.extension, error.exitcode)
            self._settle(job, Unreadable(
                "The document cannot be read: the reader crashed on it. It is damaged, or it needs more than "
                f"{self._limits.memory_mb} MB of memory (DILIGENCE_DOCUMENT_MEMORY_MB)."
            ))  # fmt: skip
        except CancelledError:
            self._settle(job, Unavailable("The reading was cancelled. Try again."))
        except (BrokenProcessPool, RuntimeError, OSError) as error:
            self._replace(pool, type(error).__name__)
        else:
            self._settle(job, outcome if isinstance(outcome, Reading) else self._error(job, outcome))

    def _error(self, job: _Job, failure: worker.Failure) -> DiligenceError:
        if failure.error is not None:
            return failure.error
        if failure.cause == "MemoryError":
            return Unreadable(
                f"Reading the document takes more than {self._limits.memory_mb} MB of memory "
                "(DILIGENCE_DOCUMENT_MEMORY_MB)."
            )
        logger.warning("The reader of %s failed with %s", job.extension, failure.cause)
        return Damaged("The document is damaged: its reader could not make sense of it. Ask for it again.")

    def _replace(self, pool: pebble.ProcessPool, cause: str) -> None:
        """The pool broke down, not a document: end its processes and hand what it had to a fresh one."""
        with self._lock:
            if self._pool is pool:
                self._pool = None
                # The pool's own threads call this, and cannot wait for themselves.
                threading.Thread(target=_end, args=(pool,), name="reading-end", daemon=True).start()
                logger.warning("The reading processes broke down (%s) and are replaced", cause)
            left = [job for job in self._jobs if job.pool is pool]
            for job in left:
                job.pool = None
        for job in left:
            if job.attempts < _ATTEMPTS:
                self._schedule(job)
            else:
                self._settle(job, Unavailable("The readers are out of order. Try again."))

    def _settle(self, job: _Job, outcome: Reading | DiligenceError) -> None:
        with self._lock:
            if job not in self._jobs:  # cancelled, or settled when the pool was closed
                return
            self._jobs.discard(job)
        _settle(job.outer, outcome)

    def _cancel(self, job: _Job) -> None:
        with self._lock:
            self._jobs.discard(job)
        if job.inner is not None:
            job.inner.cancel()

    def _watch(self, pool: pebble.ProcessPool) -> None:
        """A time limit starts when a process takes the document up; this catches a pool in which none does."""
        while not self._closed.wait(1.0) and self._pool is pool:
            if self._jobs and time.monotonic() - self._progress > self._limits.seconds + _GRACE:
                self._progress = time.monotonic()
                self._replace(pool, "nothing was finished")


def _settle(future: "Future[Reading]", outcome: Reading | DiligenceError) -> None:
    """Give a future its outcome, unless it was cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    if isinstance(outcome, Reading):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)


def _end(pool: pebble.ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()


def _processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""The process pool that reads documents, each under limits of time and memory.

A document that hangs, crashes or uses too much memory costs only itself: its process is ended, and the others go on.
The processes end with this one, however it ends.

pebble 5.2's `ProcessPool` was tried instead: it does not retry a document in a fresh process if those before it may
have harmed it, and its processes outlive a killed parent.
"""

import atexit
import logging
import os
import selectors
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from multiprocessing import current_process
from pathlib import Path
from typing import Final, NamedTuple, Self

from tasks.errors import DiligenceError, NotFound, TooLarge
from tasks.reading.embedded import read_with_embedded
from tasks.reading.formats import has_second_try
from tasks.reading.pool.process import (
    FROM_OUTSIDE,
    OUT_OF_TIME,
    TOOK_TOO_MUCH,
    Job,
    Limits,
    Load,
    Read,
    ReaderContext,
    ReadingProcess,
    ReadOutcome,
    list_reader_modules,
    run,
)
from tasks.reading.text_writer import Reading

logger = logging.getLogger(__name__)

DOCUMENTS_A_PROCESS: Final = 500
"""A process is replaced after so many documents: native libraries leak. A new one costs 10 ms."""
_BETWEEN_LOOKS: Final = 0.5
"""Seconds after which the processes are looked at, whatever happens."""
_GRACE: Final = 5.0
"""Seconds beyond the time limit after which a process that its own timer did not end is killed."""
_ATTEMPTS: Final = 4
"""After so many processes in a row that end before they have read anything, the readers are held to be broken."""


_started: set["Supervisor"] = set()
_starting = threading.Lock()
_is_ending = threading.Event()


@atexit.register
def _end() -> None:
    """End all processes, and let threads that an interrupt left at work start no more.

    multiprocessing would end them next, and fails where a thread of ours reaps one meanwhile.
    """
    with _starting:
        _is_ending.set()
    for supervisor in tuple(_started):
        supervisor.close()


class PoolLoad(NamedTuple):
    """How many processes there are, how many of them are reading, and how many documents are waiting."""

    processes: int
    busy: int
    waiting: int


class Supervisor:
    """The thread of a pool of `workers` processes; it starts with the first document.

    `start`, `add` and `close` may be called from any thread; the rest is its own.
    """

    def __init__(self, workers: int, limits: Limits, read: Read, load: Load | None, modules: Sequence[str]) -> None:
        self._workers = workers
        self._start = partial(ReadingProcess, ReaderContext(), read, load, limits, DOCUMENTS_A_PROCESS, modules)
        self._limits = limits
        self._lock = threading.Lock()
        self._queue: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._woken, self._wake = -1, -1
        self._processes: list[ReadingProcess] = []
        self._failed_starts = 0

    @property
    def load(self) -> PoolLoad:
        """How much it has to do now."""
        processes = tuple(self._processes)
        with self._lock:
            waiting = len(self._queue) + len(self._suspects)
        return PoolLoad(len(processes), sum(process.job is not None for process in processes), waiting)

    def start(self) -> None:
        """Start the processes in the background."""
        with _starting, self._lock:
            self._closed |= _is_ending.is_set()
            if self._thread is None and not self._closed:
                self._woken, self._wake = os.pipe()
                for descriptor in (self._woken, self._wake):
                    os.set_blocking(descriptor, False)
                self._thread = threading.Thread(target=self._run, name="reading", daemon=True)
                self._thread.start()
                _started.add(self)

    def add(self, job: Job) -> None:
        """Queue a document; its future gets the result."""
        job.future.add_done_callback(lambda _: self._withdraw(job))
        if self._thread is None:
            self.start()
        with self._lock:
            if not self._closed:
                self._queue.append(job)
                if len(self._queue) == 1:  # with more, the thread is awake, or no process has room
                    self._wake_thread()
                return
        job.fail_as_unavailable("were shut down")

    def close(self) -> None:
        """End the processes. Waiting documents fail with Unavailable."""
        with self._lock:
            self._closed = True
            self._wake_thread()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        _started.discard(self)

    def _wake_thread(self) -> None:
        """Wake the thread; the caller holds the lock."""
        if self._wake >= 0:
            with suppress(BlockingIOError):  # so full that it wakes anyway
                os.write(self._wake, b"\0")

    def _withdraw(self, job: Job) -> None:
        """Remove a cancelled document from the queue, or have the thread stop its reading."""
        if job.future.cancelled():
            with self._lock:
                if job in self._queue:
                    self._queue.remove(job)
                    job.is_cancelled()  # which tells those who wait for it
                else:
                    self._wake_thread()

    def _run(self) -> None:
        with selectors.DefaultSelector() as self._selector:
            self._selector.register(self._woken, selectors.EVENT_READ)
            try:
                while not self._closed:
                    complete = self._replenish()
                    self._hand_out()
                    busy = any(process.job is not None for process in self._processes)
                    patience = 0 if not complete else _BETWEEN_LOOKS if busy else None
                    for key, _ in self._selector.select(patience):
                        if key.data is None:
                            os.read(self._woken, 4096)
                        elif key.data in self._processes:
                            self._receive(key.data, ended=key.fd == key.data.sentinel)
                    self._check_on_processes()
            finally:
                self._stop()

    def _stop(self) -> None:
        with self._lock:
            self._closed = True
            for descriptor in (self._woken, self._wake):
                os.close(descriptor)
            self._wake = -1
        for process in self._processes:
            process.end()
        for job in (*(process.job for process in self._processes), *self._all_waiting()):
            if job is not None:
                job.fail_as_unavailable("were shut down")

    def _replenish(self) -> bool:
        """Start one process if any is missing. Returns whether the number is now complete."""
        missing = self._workers - len(self._processes)
        if missing and (self._failed_starts < _ATTEMPTS or self._queue or self._suspects):
            try:
                process = self._start()
            except (OSError, EOFError) as error:
                self._count_failed_start(type(error).__name__)
                return False
            self._processes.append(process)
            for descriptor in (process.connection, process.sentinel):
                self._selector.register(descriptor, selectors.EVENT_READ, process)
            return missing == 1
        return True

    def _count_failed_start(self, cause: str) -> None:
        self._failed_starts += 1
        logger.warning("A reading process ended before it had read anything (%s)", cause)
        if self._failed_starts % _ATTEMPTS == 0:
            for job in self._all_waiting():
                job.fail_as_unavailable("do not work")

    def _all_waiting(self) -> list[Job]:
        """Take every document that no process has from both queues."""
        with self._lock:
            waiting = [*self._suspects, *self._queue]
            self._suspects.clear()
            self._queue.clear()
        return waiting

    def _hand_out(self) -> None:
        """Give a document to each process that waits for one."""
        for process in self._processes:
            job = self._next(fresh=not process.given) if process.is_ready else None
            if job is not None:
                try:
                    process.send(job)
                except OSError:  # it has ended, as its sentinel is about to say
                    with self._lock:
                        self._queue.appendleft(job)

    def _next(self, *, fresh: bool) -> Job | None:
        """The next document; for a fresh process one that is suspected, if there is any."""
        with self._lock:
            while waiting := (fresh and self._suspects) or self._queue:
                job = waiting.popleft()
                if not job.is_cancelled():
                    return job
        return None

    def _receive(self, process: ReadingProcess, *, ended: bool) -> None:
        """Take the results of a process, and reap it if it has ended."""
        invalid = False
        try:
            if not ended:  # there is a message, or the end: to ask for it first takes as long as to receive it
                self._settle(*process.receive())
            while ended and process.connection.poll():
                self._settle(*process.receive())
        except (EOFError, OSError):  # perhaps within a message
            ended = True
        except Exception:  # noqa: BLE001 - what it sent is no message: its memory is not in order
            invalid = True
        if ended or invalid:
            self._reap(process, ending=not invalid)

    def _settle(self, job: Job | None, outcome: ReadOutcome, first: bool) -> None:
        if job is None or outcome is None:  # the process is ready for its first one
            return
        self._failed_starts = 0
        if isinstance(outcome, Reading):
            job.settle(outcome)
        elif outcome.cause == "MemoryError" and not (first and job.crashed):
            job.crashed = True
            self._suspect(job)
        elif not (outcome.cause in TOOK_TOO_MUCH and self._try_with_less(job)):
            job.fail(outcome, self._limits)

    def _check_on_processes(self) -> None:
        """End the processes that take too long or are reading a cancelled document."""
        for process in tuple(self._processes):
            if process.job is not None and (process.job.future.cancelled() or self._is_late(process)):
                self._reap(process)

    def _is_late(self, process: ReadingProcess) -> bool:
        return process.seconds > self._limits.clock_seconds + _GRACE

    def _reap(self, process: ReadingProcess, *, ending: bool = False) -> None:
        """Settle the document of a process that has ended, is `ending` or must end."""
        self._processes.remove(process)
        for descriptor in (process.connection, process.sentinel):
            self._selector.unregister(descriptor)
        is_late, job = self._is_late(process), process.job
        status = process.end(ending=ending)
        if job is None:
            if not process.has_started:
                self._count_failed_start(f"status {status}")
        elif job.is_cancelled():
            return
        elif status in {-number for number in OUT_OF_TIME} or is_late:
            if not self._try_with_less(job):
                job.fail_as_timed_out(self._limits)
        elif status in FROM_OUTSIDE:
            self._try_again(job, status)
        elif process.given == 1 and job.crashed:
            if not self._try_with_less(job):
                job.fail_as_crashed(status, self._limits)
        else:
            job.crashed = True
            self._suspect(job)

    def _try_again(self, job: Job, status: int | None) -> None:
        """Give a document to a fresh process if its process was killed from outside for the first time."""
        if job.killed:
            job.fail_as_killed(status)
        else:
            job.killed = True
            self._suspect(job)

    def _try_with_less(self, job: Job) -> bool:
        """Give a document that used too much to a fresh process once more, if its format has a second try."""
        if job.second_try or not has_second_try(job.extension):
            return False
        job.second_try = True
        self._suspect(job)
        return True

    def _suspect(self, job: Job) -> None:
        with self._lock:
            self._suspects.append(job)


__all__ = ["ExtractionPool", "Limits", "processors"]

_USUAL: Final = Limits()


class ExtractionPool:
    """Reads documents in separate processes. Safe to call from many threads; processes start at the first call.

    `workers` is the number of processes (default: one per processor). `read` is what they run: a function `(path,
    format) -> Reading` in a module other than the main one, which they do not load; `load` runs once in each of them
    first, and its time counts for no document. The server that forks them loads `modules` (default: all readers), so
    that not each of them does.

    A process that may have no children, as the one in which a page of the service is made, reads by itself under the
    limits that it has.
    """

    def __init__(
        self,
        workers: int | None = None,
        limits: Limits = _USUAL,
        read: Read = read_with_embedded,
        load: Load | None = None,
        modules: Sequence[str] | None = None,
    ) -> None:
        self._limits, self._read, self._load = limits, read, load
        modules = list_reader_modules() if modules is None else modules
        self._supervisor = Supervisor(workers or processors(), limits, read, load, modules)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def load(self) -> PoolLoad:
        """How much the processes have to do now."""
        return self._supervisor.load

    def start(self) -> None:
        """Start the processes now, in the background, instead of with the first document."""
        if not current_process().daemon:
            self._supervisor.start()

    def read(self, path: Path, format: str) -> Reading:  # noqa: A002 - the field's word
        """The text of the document at `path`, whose format is given as an extension (".docx"). Waits for it.

        Raises:
            NotFound: there is no such file.
            UnsupportedFormat, TooLarge, Unreadable (Damaged, PasswordProtected), TookTooLong: it cannot be read.
            Unavailable: the pool is closed, or its processes do not start.
        """
        return self.submit(path, format).result()

    def submit(self, path: Path, format: str) -> "Future[Reading]":  # noqa: A002 - the field's word
        """The future of that reading; it raises what `read` does. Cancelling it stops the reading."""
        future: Future[Reading] = Future()
        try:
            self._check_size(path)
        except DiligenceError as error:
            future.set_exception(error)
        else:
            job = Job(path, format, future)
            if current_process().daemon:
                self._read_here(job)
            else:
                self._supervisor.add(job)
        return future

    def _read_here(self, job: Job) -> None:
        if self._load is not None:
            self._load()
        outcome = run(self._read, job.path, job.extension)
        if isinstance(outcome, Reading):
            job.settle(outcome)
        else:
            job.fail(outcome, self._limits)

    def close(self) -> None:
        """End the processes; whatever is still being read fails with Unavailable."""
        self._supervisor.close()

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


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

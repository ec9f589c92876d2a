"""One reading process, and one document on its way through the pool, as the parent sees them.

Reading processes are forked from a small server that has loaded the readers: a fork of the parent would copy its
threads' locks, and a fresh interpreter takes 0.3 s. With Python's own fork server, each child would import the parent's
main module again (under Prefect, that is Prefect: 1 s), and its list of modules is shared with everyone who uses it.
"""

import io
import logging
import os
import re
import signal
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import context, forkserver, popen_forkserver, process, reduction, resource_tracker, spawn, util
from multiprocessing.context import set_spawning_popen
from pathlib import Path
from typing import Any, Final

from storage.context import belonging_to, current_request_id
from tasks import child_process  # noqa: F401 - how the fork server starts
from tasks.errors import Damaged, DiligenceError, TookTooLong, Unavailable, Unreadable
from tasks.reading.formats import all_formats
from tasks.reading.pool import worker
from tasks.reading.pool.worker import Failure, Limits
from tasks.reading.text_writer import Reading

logger = logging.getLogger(__name__)

FROM_OUTSIDE: Final = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGQUIT, 255})
"""How a process ends that somebody else ends: an operator, the kernel that is out of memory, a shutdown. A reader's own
limits of time and memory, and crashes, end it in other ways. 255: the fork server was ended, and with it the news."""
_EXTENSION: Final = re.compile(r"\.[a-z0-9]{1,8}")
_FAREWELL: Final = 1.0
"""Seconds from the end of a process's connection to the news of how it ended, at most."""


def list_reader_modules() -> tuple[str, ...]:
    """The modules of all readers, by name."""
    return tuple(known.reader.partition(":")[0] for known in all_formats())


def list_study_modules() -> tuple[str, ...]:
    """The modules of all readers, and of what looks through the texts that they read.

    One server loads them all: two, of which each loads what both need, take half a second more.
    """
    return *list_reader_modules(), "tasks.documents.kinds.signs", "tasks.figures.limited", "tasks.figures.loaded"


class _ForkServer(forkserver.ForkServer):
    """A fork server that forks of the process that started it use too: one takes 1 s of processor time to start."""

    _forkserver_pid: int | None
    _starter = 0

    def ensure_running(self) -> None:
        """Start the server unless it runs."""
        if self._forkserver_pid is not None and self._starter != os.getpid():
            try:
                os.kill(self._forkserver_pid, 0)
            except OSError:
                self._forkserver_pid = None  # it has ended; it was no child of ours to be waited for
            else:
                return
        super().ensure_running()
        self._starter = os.getpid()


@cache
def fork_server(*modules: str) -> forkserver.ForkServer:
    """The server that forks processes with these modules, which it loads when it starts."""
    server = _ForkServer()
    server.set_forkserver_preload([worker.__name__, *modules])
    return server


def load_readers() -> None:
    """Start to load, in the background, what reads documents and looks through them."""
    fork_server(*list_study_modules()).ensure_running()


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


class _Popen(popen_forkserver.Popen):
    """A child of our server. Follows `popen_forkserver.Popen._launch` of Python 3.11 except for the main module."""

    _fds: list[int]

    def _launch(self, process_obj: Any) -> None:
        prepared: dict[str, Any] = spawn.get_preparation_data(process_obj.name)
        # The current folder is that of the fork server already, and may be gone once the parent ends.
        for key in ("init_main_from_name", "init_main_from_path", "dir"):
            prepared.pop(key, None)
        buffer = io.BytesIO()
        set_spawning_popen(self)
        try:
            reduction.dump(prepared, buffer)
            reduction.dump(process_obj, buffer)
        finally:
            set_spawning_popen(None)
        resource_tracker.ensure_running()  # to start that, the standard library blocks SIGINT and unblocks it again
        # A terminal sends SIGINT to all processes. A newly forked one that did not ignore it yet printed a traceback.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.sentinel, writer = process_obj.server().connect_to_new_process(self._fds)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        parent = os.dup(writer)  # its closing tells the child that the parent is gone
        self.finalizer = util.Finalize(self, _close, (parent, self.sentinel))
        with open(writer, "wb", closefd=True) as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(buffer.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


class ForkedProcess(context.ForkServerProcess):
    """A process forked from a server of ours that has loaded `modules`."""

    modules: Sequence[str] = ()

    def server(self) -> forkserver.ForkServer:
        """The server that forks it."""
        return fork_server(*self.modules)

    @staticmethod
    def _Popen(process_obj: process.BaseProcess) -> popen_forkserver.Popen:  # noqa: N802 - multiprocessing's name
        return _Popen(process_obj)


class ReaderContext(context.ForkServerContext):
    """The multiprocessing context of the reading processes."""

    Process = ForkedProcess


@dataclass(eq=False, slots=True)
class Job:
    """A document to read, and the future of its reading.

    With `crashed`, a process ended while reading it, by itself or for lack of memory; with `killed`, from outside.
    After either it is suspected and read alone. On its `second_try`, its reader leaves out what may have taken too
    much. `request_id` is that of the request that wants it.
    """

    path: Path
    extension: str
    future: "Future[Reading]"
    crashed: bool = False
    killed: bool = False
    second_try: bool = False
    request_id: str | None = field(default_factory=current_request_id)

    def settle(self, outcome: Reading | DiligenceError) -> None:
        """Set the future's result, once, unless it was cancelled."""
        if not self.future.set_running_or_notify_cancel():
            return
        if isinstance(outcome, Reading):
            self.future.set_result(outcome)
        else:
            self.future.set_exception(outcome)

    def is_cancelled(self) -> bool:
        """Whether it was cancelled; if so, this call settles its future."""
        return self.future.cancelled() and not self.future.set_running_or_notify_cancel()

    def fail(self, failure: Failure, limits: Limits) -> None:
        """Fail because the reader raised an error."""
        if failure.error is not None:
            self.settle(failure.error)
        elif failure.cause == "MemoryError":
            self.settle(
                Unreadable(
                    f"Reading the document takes more than {limits.memory_mb} MB of memory "
                    "(DILIGENCE_DOCUMENT_MEMORY_MB)."
                )
            )
        else:
            self._warn("The reader of %s failed with %s", failure.cause)
            self.settle(Damaged("The document is damaged: its reader could not make sense of it. Ask for it again."))

    def _warn(self, message: str, value: object) -> None:
        # Other work of the pool has words of documents in place of an extension: no log may hold them.
        kind = self.extension if _EXTENSION.fullmatch(self.extension) else "a document"
        with belonging_to(self.request_id):  # the thread of the pool does it, for many requests
            logger.warning(message, kind, value)

    def fail_as_timed_out(self, limits: Limits) -> None:
        """Fail because the reader ran out of time."""
        self.settle(
            TookTooLong(f"Reading the document took longer than {limits.seconds:g} s (DILIGENCE_DOCUMENT_TIMEOUT).")
        )

    def fail_as_crashed(self, status: int | None, limits: Limits) -> None:
        """Fail because the reader's process ended with this status."""
        self._warn("A reader of %s ended with status %s", status)
        self.settle(
            Unreadable(
                "The document cannot be read: the reader crashed on it. It is damaged, or it needs more than "
                f"{limits.memory_mb} MB of memory (DILIGENCE_DOCUMENT_MEMORY_MB)."
            )
        )

    def fail_as_killed(self, status: int | None) -> None:
        """Fail because the reader's process was killed from outside twice, which says nothing about the document."""
        self._warn("A reader of %s was ended from outside (status %s), twice", status)
        self.settle(
            Unavailable(
                "The document was not read: its reader was ended from outside, twice, by the system (perhaps for "
                "want of memory) or by somebody. Try again."
            )
        )

    def fail_as_unavailable(self, why: str) -> None:
        """Fail because the pool was closed, or no process can be started."""
        self.settle(Unavailable(f"The readers {why}. Try again."))


class ReadingProcess:
    """A process that reads up to `documents` documents, one after the other, for use by one thread.

    Attributes:
        job: the document that it is reading.
        is_ready: whether it waits for a document.
        has_started: whether it was ever ready for one.
        given: how many documents it was given.
        sentinel: the descriptor that becomes readable when it has ended.
    """

    def __init__(
        self,
        context: ReaderContext,
        read: worker.Read,
        load: worker.Load | None,
        limits: worker.Limits,
        documents: int,
        modules: Sequence[str],
    ) -> None:
        """Start it; a program's first one waits 0.3 s for the fork server, the others take 10 ms.

        Raises:
            OSError, EOFError: the process does not start.
        """
        self.job: Job | None = None
        self.is_ready = False
        self.has_started = False
        self.given = 0
        self._since = 0.0
        self.connection, theirs = context.Pipe()
        arguments = (read, load, limits, documents, theirs)
        self._process = context.Process(target=worker.serve, args=arguments, name="reader", daemon=True)
        self._process.modules = modules
        try:
            self._process.start()
        except BaseException:
            self.connection.close()
            raise
        finally:
            theirs.close()
        self.sentinel = self._process.sentinel

    @property
    def seconds(self) -> float:
        """How long it has been reading its document."""
        return time.monotonic() - self._since if self.job is not None else 0.0

    def send(self, job: Job) -> None:
        """Give it a document to read.

        Raises:
            OSError: the process has ended.
        """
        self.is_ready = False
        self.connection.send((str(job.path.absolute()), job.extension, job.second_try))
        self.job, self._since = job, time.monotonic()
        self.given += 1

    def receive(self) -> tuple[Job | None, worker.ReadOutcome, bool]:
        """The document that it has finished, its outcome, and whether it was its first. Waits for a message.

        Raises:
            Exception: it has ended, or sent invalid data.
        """
        outcome, self.is_ready = worker.unpack_message(self.connection.recv_bytes())
        self.has_started = True
        job, self.job = self.job, None
        return job, outcome, self.given == 1

    def end(self, *, ending: bool = False) -> int | None:
        """Kill what is left of it and everything that it started.

        Args:
            ending: whether its connection has ended, so that it has too or is about to.

        Returns:
            The exit status with which it had ended before; None when it had not.
        """
        assert self._process.pid is not None
        if ending:
            self._process.join(_FAREWELL)
        status = self._process.exitcode
        for kill in (os.killpg, os.kill):
            with suppress(OSError):
                kill(self._process.pid, signal.SIGKILL)
        self._process.join(1)
        self.connection.close()
        if self._process.exitcode is not None:
            self._process.close()
        return status

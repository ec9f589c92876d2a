"""Reading processes: how the parent starts one and sends documents through it, and what runs inside.

Reading processes are forked from a small server that has loaded this module and the readers: a fork of the parent would
copy its threads' locks, and a fresh interpreter takes 0.3 s. With Python's own fork server, each child would import the
parent's main module again (under Prefect, that is Prefect: 1 s), and its list of modules is shared with everyone who
uses it. A process is ready in a few milliseconds; nothing here imports Prefect, tables or settings.

Inside, its limits are set, and one document is read after the other. With each reading the process says whether it
takes another.
"""

import atexit
import fcntl
import gc
import io
import logging
import multiprocessing
import os
import pickle
import re
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing import context, forkserver, popen_forkserver, process, reduction, resource_tracker, spawn, util
from multiprocessing.connection import Connection
from multiprocessing.context import set_spawning_popen
from pathlib import Path
from typing import Any, Final

from storage.context import belonging_to, current_request_id
from tasks import child_process  # noqa: F401 - how the fork server starts
from tasks.child_process import PARENTS_FOLDER
from tasks.errors import Damaged, DiligenceError, TookTooLong, Unavailable, Unreadable
from tasks.reading import limits as limits_module
from tasks.reading.formats import all_formats
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
    _forkserver_alive_fd: int
    _starter = 0

    def ensure_running(self) -> None:
        """Start the server unless it runs."""
        if self._forkserver_pid is not None and self._starter != os.getpid():
            alive = select.poll()  # a process that its parent has not waited for still has its id
            alive.register(self._forkserver_alive_fd, 0)
            if not alive.poll(0):
                return
            self._forkserver_pid = None  # it was no child of ours to be waited for
        super().ensure_running()
        self._starter = os.getpid()


@cache
def fork_server(*modules: str) -> forkserver.ForkServer:
    """The server that forks processes with these modules, which it loads when it starts."""
    server = _ForkServer()
    server.set_forkserver_preload([__name__, *modules])
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
        read: Read,
        load: Load | None,
        limits: Limits,
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
        self._process = context.Process(target=serve, args=arguments, name="reader", daemon=True)
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

    def receive(self) -> tuple[Job | None, ReadOutcome, bool]:
        """The document that it has finished, its outcome, and whether it was its first. Waits for a message.

        Raises:
            Exception: it has ended, or sent invalid data.
        """
        outcome, self.is_ready = unpack_message(self.connection.recv_bytes())
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

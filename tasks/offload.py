"""Offloading: work on foreign text runs in separate processes, so that a service's event loop keeps answering.

Threads would not help: `re`, pickle and the like hold the interpreter's lock for as long as one call takes. A process
handles one call at a time. It is killed when the work is cancelled (its caller has hung up) or has used
`DILIGENCE_DOCUMENT_TIMEOUT` seconds of processor time, whatever runs in it. Commands have no event loop: without
`offloading_to`, functions run in the calling process.
"""

import logging
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from functools import partial
from io import BytesIO
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Semaphore
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from storage.context import belonging_to, current_request_id, holding
from storage.logs import trace_places
from storage.settings import change_environment, our_environment
from tasks import cancellation
from tasks.documents.drive.drive import Bearer, acting_as, caller
from tasks.errors import DiligenceError, TookTooLong, TooLarge, Unavailable
from tasks.reading.configuration import ReadingSettings
from tasks.reading.pool.process import ForkedProcess, Limits, prepare

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

_SHORT: Final = 4096
"""Bytes of a call, pickled, that is made where it is: another process takes 0.3 ms."""
_MEMORY_MB: Final = 4096
"""Address space of a process: a context of 64 MB in rare letters takes four bytes a letter, several times."""
_CALLS: Final = 100
"""A process is replaced after so many."""


class _Outcome(NamedTuple):
    """What a call gave or raised, and where."""

    result: Any = None
    error: Exception | None = None
    places: str = ""


class _Pickler(pickle.Pickler):
    """Hands on a caller's token too: it goes through the pipe of a process, and nowhere else."""

    def reducer_override(self, value: object) -> Any:
        return (Bearer, (value.token,)) if isinstance(value, Bearer) else NotImplemented


def _dump(value: object) -> bytes:
    dumped = BytesIO()
    _Pickler(dumped).dump(value)
    return dumped.getvalue()


class _Process:
    """A process that makes one call after the other."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._seconds = ReadingSettings.current().document_timeout
        self._left = _CALLS
        self._connection, theirs = Pipe()
        self._process = ForkedProcess(target=_serve, args=(theirs, self._seconds), daemon=True)
        self._process.modules = __name__, *modules
        try:
            self._process.start()
        except (OSError, EOFError) as error:
            raise Unavailable("No process for this work starts. Try again later.") from error
        finally:
            theirs.close()

    def call(self, call: bytes) -> _Outcome:
        """What the call gives or raises there. Raises as `Processes.run` for the rest."""
        self._left -= 1
        try:
            self._connection.send_bytes(_dump((Path.cwd(), our_environment(), current_request_id(), caller())))
            self._connection.send_bytes(call)
            outcome: _Outcome = pickle.loads(self._connection.recv_bytes())  # noqa: S301 - from our own process
        except (EOFError, OSError) as error:
            cancellation.check()
            self._process.join(1)
            if self._process.exitcode == -signal.SIGPROF:
                raise TookTooLong(
                    f"This took more than {self._seconds:g} s of processor time (DILIGENCE_DOCUMENT_TIMEOUT)."
                ) from error
            raise Unavailable("The process that worked on this was ended from outside. Try again.") from error
        return outcome

    @property
    def serves(self) -> bool:
        """Whether it takes another call."""
        return self._left > 0

    def kill(self) -> None:
        """End it, with all that it has started."""
        for kill in (os.killpg, os.kill):
            with suppress(OSError):
                kill(self._process.pid or 0, signal.SIGKILL)


class Processes:
    """At most `number` processes, started on demand by forking a server that has imported `modules`, in 10 ms."""

    def __init__(self, number: int, modules: Sequence[str] = ()) -> None:
        self._turns = Semaphore(number)
        self._modules = modules
        self._idle: deque[_Process] = deque()

    def warm(self) -> None:
        """Start a process in advance, so that nobody waits for it."""
        self._idle.append(_Process(self._modules))

    def run(self, call: bytes) -> Any:
        """The result of a pickled call; both are pickled.

        Raises:
            Cancelled: the current work was cancelled.
            TookTooLong: it took too much processor time. TooLarge: it took too much memory.
            Unavailable: its process does not start, or was ended from outside.
            What the call raises.
        """
        while not self._turns.acquire(timeout=0.1):
            cancellation.check()
        try:
            try:
                process = self._idle.pop()
            except IndexError:
                process = _Process(self._modules)
            mine = [process]  # who takes it out may kill it, or give it another call

            def kill() -> None:
                with suppress(IndexError):
                    mine.pop().kill()

            with cancellation.calling(kill):
                outcome = process.call(call)
            with suppress(IndexError):
                process = mine.pop()
                if process.serves:
                    self._idle.append(process)
        finally:
            self._turns.release()
        if outcome.error is not None:
            if not isinstance(outcome.error, DiligenceError):
                logger.warning("%s in an offloaded call, at %s", type(outcome.error).__qualname__, outcome.places)
            raise outcome.error
        return outcome.result


_current: ContextVar[Processes | None] = ContextVar("processes", default=None)


def offloading_to(processes: Processes) -> AbstractContextManager[None]:
    """Let the block, and the threads that it starts, offload to these processes."""
    return holding(_current, processes)


def offload(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function, in a separate process if there is much to work on; arguments and result must be picklable.

    Raises:
        As `Processes.run`.
    """
    return _offload(partial(function, *args, **kwargs), _SHORT)


def offload_always(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """As `offload`, but always in a separate process."""
    return _offload(partial(function, *args, **kwargs), 0)


def _offload(call: Callable[[], R], short: int) -> R:
    processes = _current.get()
    if processes is None:
        return call()
    packed = pickle.dumps(call)
    result: R = call() if len(packed) <= short else processes.run(packed)
    return result


def _serve(connection: "Connection[Any, Any]", seconds: float) -> None:
    """What runs in the process: one call after the other, each with so many seconds of processor time."""
    prepare(Limits(memory_mb=_MEMORY_MB))
    with suppress(EOFError, OSError):  # nobody has a call left for it
        while True:
            folder, environment, request_id, who = pickle.loads(connection.recv_bytes())  # noqa: S301 - from our own parent
            os.chdir(folder)  # where relative paths in the settings begin
            change_environment(environment)
            signal.setitimer(signal.ITIMER_PROF, seconds)  # its signal ends the process, within native code too
            with belonging_to(request_id), acting_as(who):
                answer = _answer(connection.recv_bytes())
            connection.send_bytes(answer)
            signal.setitimer(signal.ITIMER_PROF, 0)


def _answer(call: bytes) -> bytes:
    try:
        return pickle.dumps(_Outcome(pickle.loads(call)()))  # noqa: S301 - from our own parent
    except MemoryError:
        error: Exception = TooLarge(f"This takes more than {_MEMORY_MB} MB of memory. Ask for less at once.")
    except Exception as raised:  # noqa: BLE001 - it is raised again where the call was made
        error = raised
    places = " < ".join(trace_places(error))
    try:
        pickle.loads(answer := pickle.dumps(_Outcome(None, error, places)))  # noqa: S301 - some errors come out as none
    except Exception:  # noqa: BLE001
        return pickle.dumps(_Outcome(None, RuntimeError(type(error).__qualname__), places))
    return answer

"""Cooperative cancellation of work whose caller has hung up, and parallel calls in threads that it reaches.

Work stops at its next call of `check`, which stands before each step that costs something: a call of a model, a source
or a drive, a document to read, a stretch of a long text. A step that has begun is finished, so that an answer that was
paid for is still stored. The cancellation is a context variable, which follows an operation into its thread and the
threads of a `FanOut`.

All threads of a `FanOut` are daemons. Python joins the threads of `concurrent.futures.ThreadPoolExecutor` before it
ends, so a server that stops answering would hold up a command for minutes after its result was printed
(`test_fan_out.py` shows that a process ends with a call under way).
"""

from collections import deque
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from enum import Enum
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from storage.context import holding

R = TypeVar("R")


class Cancelled(BaseException):
    """The work was cancelled.

    It is not an `Exception`: code that can do without part of an answer must not catch it.
    """


class Cancellation:
    """Tells whether one piece of work was cancelled; any thread may cancel it."""

    def __init__(self) -> None:
        self._cancelled: Final = Event()
        self._calls: set[Callable[[], object]] = set()
        self._lock = Lock()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Make the work stop."""
        with self._lock:
            self._cancelled.set()
            calls = list(self._calls)
        for call in calls:
            call()

    @contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """Call `call` once if the work is cancelled before the block ends, or has been already."""
        with self._lock:
            self._calls.add(call)
            at_once = self.is_cancelled
        try:
            if at_once:
                call()
            yield
        finally:
            with self._lock:
                self._calls.discard(call)

    def wait(self, seconds: float) -> None:
        """Wait for that long, or until the work is cancelled."""
        self._cancelled.wait(seconds)


_NEVER: Final = Cancellation()
_current: ContextVar[Cancellation] = ContextVar("cancellation", default=_NEVER)


def cancelled_by(cancellation: Cancellation) -> AbstractContextManager[None]:
    """Let `cancellation` cancel what the block does."""
    return holding(_current, cancellation)


def check() -> None:
    """Raise if the current work was cancelled.

    Raises:
        Cancelled: nobody does.
    """
    if _current.get().is_cancelled:
        raise Cancelled


def calling(call: Callable[[], object]) -> AbstractContextManager[None]:
    """Call `call` once if the current work is cancelled before the block ends, or has been already."""
    return _current.get().calling(call)


def uncancelled() -> AbstractContextManager[None]:
    """Shield the block from cancellation, because others wait for its result too."""
    return cancelled_by(_NEVER)


def sleep(seconds: float) -> None:
    """Wait for that long.

    Raises:
        Cancelled: nobody waits for what comes after.
    """
    _current.get().wait(seconds)
    check()


def wait_for_result(future: "Future[R]") -> R:
    """The result of a future; the future is cancelled when the current work is.

    Raises:
        Cancelled: the current work was cancelled. Also whatever the future raises.
    """
    with calling(future.cancel):
        try:
            return future.result()
        except CancelledError:
            check()
            raise


P = ParamSpec("P")
K = TypeVar("K")


class Leave(Enum):
    """When the end of a `with FanOut(...)` block does not wait for calls under way."""

    NEVER = "never"
    ON_INTERRUPT = "on KeyboardInterrupt, SystemExit and the like"
    ON_ERROR = "on any exception"


class FanOut(AbstractContextManager["FanOut", None]):
    """Makes at most `at_once` calls at a time, each with the context variables of the thread that submitted it.

    The threads are called `name-1`, `name-2` and so on; each ends when no call is waiting. Used as a context manager,
    the block ends when its calls have, except as `leave` says; calls that have not begun are cancelled when an
    exception leaves the block. Without a block, calls under way are abandoned when the process ends.
    """

    def __init__(self, at_once: int, name: str, leave: Leave = Leave.ON_ERROR) -> None:
        self._name = name
        self._leave = leave
        self._lock = Lock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._free = list(range(max(1, at_once), 0, -1))
        """Numbers of threads that may be started, the lowest last."""
        self._futures: set[Future[Any]] = set()
        self._closed = False

    def submit(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> "Future[R]":
        """Make the call as soon as a thread is free.

        It is not made if its future, or the work that it belongs to, is cancelled before that.
        """
        future: Future[R] = Future()
        context = copy_context()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                context.run(check)
                future.set_result(context.run(call, *args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is taken
                future.set_exception(error)

        number = None
        with self._lock:
            if self._closed:
                future.cancel()
                future.set_running_or_notify_cancel()
                return future
            self._futures.add(future)
            self._waiting.append(run)
            if self._free:
                number = self._free.pop()
        future.add_done_callback(self._forget)
        if number is not None:
            Thread(target=self._work, args=(number,), name=f"{self._name}-{number}", daemon=True).start()
        return future

    def close(self) -> None:
        """Make no more calls: those that have not begun are cancelled, those under way continue."""
        with self._lock:
            self._closed = True
            futures = list(self._futures)
        for future in futures:
            future.cancel()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.close()
            interrupted = not isinstance(error, Exception | GeneratorExit)
            if self._leave is Leave.ON_ERROR or (self._leave is Leave.ON_INTERRUPT and interrupted):
                return
        with self._lock:
            futures = list(self._futures)
        wait(futures)

    def _work(self, number: int) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._free.append(number)
                    return
                run = self._waiting.popleft()
            run()

    def _forget(self, future: "Future[Any]") -> None:
        with self._lock:
            self._futures.discard(future)


def take_finished(under_way: "MutableMapping[Future[R], K]", leaving: int = 0) -> "Iterator[tuple[K, Future[R]]]":
    """Remove finished calls from `under_way` and yield each with its key, until at most `leaving` are left.

    All calls that have already finished are taken; after that it waits for the next one. More calls may be added to
    `under_way` meanwhile.
    """
    while under_way:
        timeout = None if len(under_way) > leaving else 0
        ended = wait(under_way, timeout, return_when=FIRST_COMPLETED).done
        if not ended:
            return
        for future in ended:
            yield under_way.pop(future), future

"""Cooperative cancellation of work whose caller has hung up: it stops at its next call of `check`.

`check` is called before each step that costs something: a call of a model, a source or a drive, a document to read, a
stretch of a long text. A step that has begun is finished, so that an answer that was paid for is still stored. The
cancellation is a context variable, which follows an operation into its thread and the threads of a `FanOut`.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Event, Lock
from typing import Final, TypeVar

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
        Cancelled: it was; and what the future raises.
    """
    with calling(future.cancel):
        try:
            return future.result()
        except CancelledError:
            check()
            raise

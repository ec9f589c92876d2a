"""Cooperative cancellation of work whose caller has hung up: it stops at its next call of `check`.

`check` is called before each step that costs something: a call of a model, a source or a drive, a document to read, a
stretch of a long text. A step that was begun ends by itself, so that an answer that was paid for is still stored.
What is cancelled is a context variable: it goes with an operation into its thread and into the threads of a `FanOut`.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Event, Lock
from typing import Final, TypeVar

R = TypeVar("R")


class Cancelled(BaseException):
    """The work was cancelled.

    It is no `Exception`: what can do without a part of an answer cannot do without this.
    """


class Cancellation:
    """Says of one piece of work whether it was cancelled; any thread may cancel it."""

    def __init__(self) -> None:
        self._cancelled: Final = Event()
        self._calls: set[Callable[[], object]] = set()
        self._lock = Lock()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Have the work stop."""
        with self._lock:
            self._cancelled.set()
            calls = list(self._calls)
        for call in calls:
            call()

    @contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """Have `call` called, once, if the work is cancelled before the block ends, or was before."""
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
        """Wait for so long, or until the work is cancelled."""
        self._cancelled.wait(seconds)


_NEVER: Final = Cancellation()
_current: ContextVar[Cancellation] = ContextVar("cancellation", default=_NEVER)


@contextmanager
def cancelled_by(cancellation: Cancellation) -> Iterator[None]:
    """What the block does is cancelled by that."""
    token = _current.set(cancellation)
    try:
        yield
    finally:
        _current.reset(token)


def check() -> None:
    """Raise if the current work was cancelled.

    Raises:
        Cancelled: nobody does.
    """
    if _current.get().is_cancelled:
        raise Cancelled


def calling(call: Callable[[], object]) -> AbstractContextManager[None]:
    """Have `call` called, once, if the current work is cancelled before the block ends, or was before."""
    return _current.get().calling(call)


def uncancelled() -> AbstractContextManager[None]:
    """Shield the block from cancellation: others wait for its result too."""
    return cancelled_by(_NEVER)


def sleep(seconds: float) -> None:
    """Wait for so long.

    Raises:
        Cancelled: nobody waits for what comes after.
    """
    _current.get().wait(seconds)
    check()


def wait_for_result(future: "Future[R]") -> R:
    """The result of a future, which is cancelled when the current work is.

    Raises:
        Cancelled: it was; and what the future raises.
    """
    with calling(future.cancel):
        try:
            return future.result()
        except CancelledError:
            check()
            raise

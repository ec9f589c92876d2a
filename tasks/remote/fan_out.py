"""Parallel calls in threads that do not keep the process from ending.

All threads here are daemons. Python joins the threads of `concurrent.futures.ThreadPoolExecutor` before it ends, so a
server that stops answering would hold up a command for minutes after its result was printed (`test_fan_out.py` shows
that a process ends with a call under way).
"""

from collections import deque
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from contextvars import copy_context
from enum import Enum
from threading import Lock, Thread
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from tasks.cancellation import check

P = ParamSpec("P")
R = TypeVar("R")
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

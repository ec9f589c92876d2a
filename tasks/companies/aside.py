"""Work aside from the thread that asked for it, in threads that nobody waits for at the end of the process.

The threads of `concurrent.futures` are joined when Python ends: a server that keeps silent would keep a command
from ending long after its answer was printed. What is begun here is left behind with the process.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import BoundedSemaphore, Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Aside:
    """Runs what it is given, so many things at a time, each in a thread of that name with the caller's context."""

    def __init__(self, at_once: int, name: str) -> None:
        self._turns = BoundedSemaphore(at_once)
        self._name = name
        self._closed = False

    def begin(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> "Future[R]":
        """Begin the work when its turn comes. Cancelling the future keeps it from beginning."""
        future: Future[R] = Future()
        context = copy_context()

        def run() -> None:
            with self._turns:
                if self._closed:
                    future.cancel()
                if not future.set_running_or_notify_cancel():
                    return
                try:
                    future.set_result(context.run(work, *args, **kwargs))
                except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
                    future.set_exception(error)

        Thread(target=run, name=self._name, daemon=True).start()
        return future

    def close(self) -> None:
        """Begin nothing more; what is under way is left to end."""
        self._closed = True

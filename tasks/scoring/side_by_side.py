"""Work done side by side: each job in a thread, each result handed over as soon as it is there."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread, current_thread
from types import TracebackType
from typing import Generic, Self, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class SideBySide(Generic[K, V]):
    """Jobs in threads, as many at once as are started. Each sees the settings and the run of whoever started it.

    The block ends when all jobs have, also after an error: what they ask for is paid for. Only who
    interrupts the process does not wait for them, which is why these are not a pool's threads: Python
    would not end before those do.
    """

    def __init__(self) -> None:
        self._running: set[Thread] = set()
        self._ended: SimpleQueue[tuple[Thread, K, Future[V]]] = SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None or isinstance(error, Exception | GeneratorExit):
            for thread in self._running:
                thread.join()

    def start(self, key: K, job: Callable[[], V]) -> None:
        """Have a job done."""
        thread = Thread(target=copy_context().run, args=(self._do, key, job), name="side by side", daemon=True)
        self._running.add(thread)
        thread.start()

    def done(self, leaving: int) -> Iterator[tuple[K, V]]:
        """The jobs that are done, each with its result, until no more than `leaving` are under way.

        Raises:
            What a job raised.
        """
        while self._running:
            try:
                thread, key, result = self._ended.get(block=len(self._running) > leaving)
            except Empty:
                return
            self._running.remove(thread)
            yield key, result.result()

    def _do(self, key: K, job: Callable[[], V]) -> None:
        result: Future[V] = Future()
        try:
            result.set_result(job())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is taken
            result.set_exception(error)
        self._ended.put((current_thread(), key, result))

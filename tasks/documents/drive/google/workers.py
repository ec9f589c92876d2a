"""Threads for the calls of one listing."""

import contextvars
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

T = TypeVar("T")

SIDE_BY_SIDE = 24


class Workers:
    """Up to `SIDE_BY_SIDE` calls at the same time; each sees the deadline of the thread that started it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(SIDE_BY_SIDE, "listing")

    def start(self, call: Callable[[], T]) -> Future[T]:
        return self._threads.submit(contextvars.copy_context().run, call)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # After an error nobody waits for calls that are under way: each ends by its own deadline.
        self._threads.shutdown(wait=error is None, cancel_futures=True)

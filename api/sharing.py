"""Calls that many clients ask for at the same time, such as the index of a large folder: made once for all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any


class _Turn:
    """One call, the clients that wait for it, and whether it has begun."""

    def __init__(self) -> None:
        self.has_begun = False
        self.waiting = 0
        self.task: asyncio.Task[Any]


class SharedCalls:
    """Calls by a key: while one runs, all who ask for the same wait for the next one, and share its result.

    Nobody gets what was begun before they asked: a document that was just added is in their index.
    """

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    async def __call__(self, key: Hashable, call: Callable[[], Awaitable[Any]]) -> Any:
        """What the call gives, or raises; it is stopped when all who wait for it have hung up."""
        turn = self._turns.get(key)
        if turn is None or turn.has_begun:
            before, turn = turn, _Turn()
            self._turns[key] = turn
            turn.task = asyncio.create_task(self._run(key, before, turn, call))
        turn.waiting += 1
        try:
            return await asyncio.shield(turn.task)
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                turn.task.cancel()

    async def _run(self, key: Hashable, before: _Turn | None, turn: _Turn, call: Callable[[], Awaitable[Any]]) -> Any:
        try:
            if before is not None:
                await asyncio.wait([before.task])
            turn.has_begun = True
            return await call()
        finally:
            if self._turns.get(key) is turn:
                del self._turns[key]

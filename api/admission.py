"""Admission by bytes: large bodies are read and answered as many at a time as fit into the service's memory.

Six contexts of 57 MB at once took 2.6 GB, and thirty of 1 MB half of that. A body up to `FREE` passes without asking.
A larger one reserves memory before it is read (meanwhile uvicorn stops reading: the client waits, and nothing of it is
in memory), in the order of arrival, and gives it back when its answer was taken. One that is alone is always admitted.
"""

from collections import deque
from typing import Final

from anyio import Event

FREE: Final = 64 * 1024
"""Bytes of a body that need no admission."""
ADMISSION: Final = "admission"
"""The service's admission, in a request's state."""
RESERVED: Final = "reserved"
"""What the request has reserved, in its state."""
_BYTES_A_BYTE: Final = 8
"""What a byte of a body is taken to need: itself twice while it is read, four bytes for its text, which is copied once
at most when the body has gone."""
_WORKING: Final = 16 * 1024 * 1024
"""What the work on a body takes besides: texts are read a stretch at a time."""
_WORKING_A_BYTE: Final = 16
"""The same, for a body that is shorter than a stretch."""
MEMORY: Final = 640 * 1024 * 1024
"""Bytes for all large bodies of a service."""


class Admission:
    """The memory that large requests share, in bytes."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._reserved = 0
        self._waiting: deque[tuple[int, Event]] = deque()

    @property
    def reserved(self) -> int:
        """Bytes that are reserved now."""
        return self._reserved

    @property
    def waiting(self) -> int:
        """How many bodies wait."""
        return len(self._waiting)

    async def reserve(self, body_bytes: int) -> int:
        """Wait until there is memory for a body of that many bytes; gives what `give_back` takes."""
        if body_bytes <= FREE:
            return 0
        working = min(_WORKING, body_bytes * _WORKING_A_BYTE)
        needed = min(body_bytes * _BYTES_A_BYTE + working, self._memory)
        if self._waiting or not self._fits(needed):
            turn = (needed, Event())
            self._waiting.append(turn)
            try:
                await turn[1].wait()
            except BaseException:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                else:  # its turn came at the same moment
                    self._reserved -= needed
                self._admit()
                raise
        else:
            self._reserved += needed
        return needed

    def give_back(self, reserved: int) -> None:
        """Give back what `reserve` gave."""
        self._reserved -= reserved
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            needed, turn = self._waiting.popleft()
            self._reserved += needed
            turn.set()

    def _fits(self, needed: int) -> bool:
        return self._reserved == 0 or self._reserved + needed <= self._memory

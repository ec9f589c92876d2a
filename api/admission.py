"""Admission by bytes: large bodies are read and answered as many at a time as fit into the service's memory.

Six contexts of 57 MB at once took 2.6 GB. A body up to `FREE` passes without asking. A larger one reserves memory
before it is read (meanwhile uvicorn stops reading: the client waits, and nothing of it is in memory), in the order of
arrival, and gives it back when its answer was taken. One that is alone is always admitted.
"""

from collections import deque
from typing import Final

from anyio import Event

FREE: Final = 1024 * 1024
"""Bytes of a body that need no admission."""
ADMISSION: Final = "admission"
"""The service's admission, in a request's state."""
RESERVED: Final = "reserved"
"""What the request has reserved, in its state."""
_BYTES_A_BYTE: Final = 8
"""What a byte of a body is taken to need: itself, its text, the text in sentences, the answer."""
MEMORY: Final = 640 * 1024 * 1024
"""Bytes for all large bodies of a service."""
_PIECE: Final = 256 * 1024


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
        needed = min(body_bytes * _BYTES_A_BYTE, self._memory)
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


def pieces(body: bytes) -> list[memoryview]:
    """A long answer in pieces: each is sent when the client took the one before, so that none piles up."""
    view = memoryview(body)
    return [view[start : start + _PIECE] for start in range(0, len(body), _PIECE)]

"""The pace of calls that all threads of a client keep together.

It is free until Google says that the rate is exceeded. Then nobody calls for a while, the calls go
out one by one, and the pace grows again with every answer: a quota slows a run down and does not
break it.
"""

import random
import threading
import time

from tasks.remote import deadline

FIRST_PAUSE = 0.5  # seconds at most, doubled with each refusal that follows without an answer between
LONGEST_PAUSE = 32.0  # Google's guides truncate their back-off at 32 or 64
_FIRST_GAP = 0.02  # seconds between calls after a refusal
_WIDEST_GAP = 4.0
_WIDER = 2.0  # the gap's factor with each refusal that follows another …
_BIT_WIDER = 1.1  # … and with one that so many answers lie before: it may be chance, and no quota used up
_ANSWERS_BETWEEN = 3
_SPEED_UP = 0.93  # the gap's factor with each answer; at 0.97 calls of which every fifth is refused slow to a crawl
_FREE = 0.005  # a gap that is none


class Pace:
    """When the next call may be made. Any number of threads share one."""

    def __init__(self) -> None:
        self._turn = threading.Lock()  # held by the thread whose call is next
        self._state = threading.Lock()
        self._gap = 0.0
        self._next = 0.0
        self._held_since = 0.0
        self._refusals = 0  # without an answer between them
        self._answers = _ANSWERS_BETWEEN  # since the last refusal

    def wait(self, cost: int = 1) -> bool:
        """Wait for a turn; False when the deadline comes first. `cost` is how many calls the quota counts for it."""
        if not self._turn.acquire(timeout=min(deadline.left(), threading.TIMEOUT_MAX)):
            return False
        try:
            while (pause := self._next - time.monotonic()) > 0:
                if not deadline.sleep(pause):
                    return False
            with self._state:
                self._next = max(self._next, time.monotonic() + self._gap * cost)
            return True
        finally:
            self._turn.release()

    def refused(self, sent: float, retry_after: float | None) -> float:
        """Hold all calls back, since one that was sent at `sent` (monotonic) exceeded the rate.

        Gives the seconds that they are held back. Calls that were on their way when the pause began
        are of the same refusal: they make it no longer, unless Google names a longer one.
        """
        with self._state:
            now = time.monotonic()
            if sent >= self._held_since:
                self._refusals += 1
                self._held_since = now
                wider = _BIT_WIDER if self._answers >= _ANSWERS_BETWEEN else _WIDER
                self._gap = min(_WIDEST_GAP, max(_FIRST_GAP, self._gap * wider))
                self._answers = 0
                if retry_after is None:
                    ceiling = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._refusals - 1))
                    self._next = now + random.uniform(0, ceiling)  # noqa: S311 - jitter is no secret
            if retry_after is not None:
                self._next = max(self._next, now + retry_after)
            return max(0.0, self._next - now)

    def passed(self, cost: int = 1) -> None:
        """Note that a call was answered."""
        if self._gap or self._refusals:
            with self._state:
                self._refusals = 0
                self._answers += cost
                self._gap = self._gap * _SPEED_UP**cost if self._gap > _FREE else 0.0

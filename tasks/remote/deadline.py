"""The deadline of the current operation, which every wait inside it respects.

It is a context variable. `FanOut` passes its caller's context to its threads, so it holds there too.
"""

import time
from contextlib import AbstractContextManager
from contextvars import ContextVar
from math import inf

from storage.context import holding
from tasks import cancellation

_deadline: ContextVar[float] = ContextVar("deadline", default=inf)


def within(seconds: float) -> AbstractContextManager[None]:
    """Give the block at most `seconds`; an earlier deadline stays in force."""
    return holding(_deadline, min(_deadline.get(), time.monotonic() + seconds))


def seconds_left() -> float:
    """Seconds until the deadline, never below 0; infinite without one."""
    return max(0.0, _deadline.get() - time.monotonic())


def sleep(seconds: float) -> bool:
    """Wait for that long; returns False at once if the deadline comes first.

    Raises:
        tasks.cancellation.Cancelled: nobody waits for what comes after.
    """
    if seconds >= seconds_left():
        return False
    cancellation.sleep(seconds)
    return True

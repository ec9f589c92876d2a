"""The time that a document may take, for readers that go part by part: one that stops in time keeps what it has read.

The process that reads ends when the time is up, and with it all that it has read.
"""

import time
from contextvars import ContextVar
from math import inf
from typing import Final

_SHARE: Final = 0.85
"""Of the time; the rest is for putting together what was read. Text recognition stops before that."""

_seconds: ContextVar[float] = ContextVar("seconds", default=inf)
_end: ContextVar[float] = ContextVar("end", default=inf)


def configure(seconds: float) -> None:
    """Let each document of this process take so many seconds; called once, when it starts."""
    _seconds.set(seconds)
    begin()


def begin() -> None:
    """A document begins here: its time counts from now, with all that is inside it."""
    _end.set(time.monotonic() + _SHARE * _seconds.get())


def left() -> float:
    """Seconds until it is time to stop; infinite where there is no limit (70 ns)."""
    return _end.get() - time.monotonic()


def is_near() -> bool:
    """Whether it is time to stop; never where there is no limit."""
    return left() <= 0

"""How long an operation on Google Drive may take: a point in time that every wait below it respects.

The deadline is a context variable. A thread of its own sees it when it is started through
`contextvars.copy_context().run`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

_deadline: ContextVar[float] = ContextVar("deadline", default=inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let what the block does end within `seconds`; an earlier deadline around it holds on."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def left() -> float:
    """Seconds until the deadline, never below 0; infinite where there is none."""
    return max(0.0, _deadline.get() - time.monotonic())


def sleep(seconds: float) -> bool:
    """Wait, or tell at once (False) that the deadline comes first."""
    if seconds >= left():
        return False
    time.sleep(seconds)
    return True

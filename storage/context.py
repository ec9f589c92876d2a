"""Context variables that have a value for a block, in the thread or task that runs it and in what it starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Give the variable this value in the block, and behind it the one that it had before."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)

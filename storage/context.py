"""Context variables that have a value for a block, in the thread or task that runs it and in what it starts.

One is the request id (correlation id) of the current work, for logs and outgoing headers. It follows a request into the
thread of its operation, the threads of a `FanOut`, Prefect's tasks, and the readers. The reading processes load this
module, so it needs only the standard library.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

REQUEST_ID_HEADER: Final = "X-Request-ID"
_VALID_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
T = TypeVar("T")


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Give the variable this value in the block, and behind it the one that it had before."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def request(proposed: str | None = None) -> Iterator[str]:
    """Give everything in the block one request id, and yield that id.

    It is `proposed` if that consists of at most 64 letters, digits and `._-`; otherwise a new one.
    """
    before = current_request_id()
    try:
        yield begin_request(proposed)
    finally:
        _request_id.set(before)


def begin_request(proposed: str | None = None) -> str:
    """As `request`, for everything that this process does from now on."""
    request_id = proposed if proposed is not None and _VALID_ID.fullmatch(proposed) else secrets.token_hex(16)
    _request_id.set(request_id)
    return request_id


def belonging_to(request_id: str | None) -> AbstractContextManager[None]:
    """Everything in the block belongs to the request with that id, or to none."""
    return holding(_request_id, request_id)


def current_request_id() -> str | None:
    """The id of the current request; None outside of one."""
    return _request_id.get()

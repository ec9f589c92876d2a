"""The request id (correlation id) of the current work, for logs and outgoing headers.

It is a context variable: it goes with a request into the thread of its operation, into the threads of a `FanOut`, into
Prefect's tasks and to the documents that the readers are given. The reading processes load this module, so it needs
nothing but the standard library.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

REQUEST_ID_HEADER: Final = "X-Request-ID"
_VALID_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


@contextmanager
def request(proposed: str | None = None) -> Iterator[str]:
    """What the block does belongs to one request; gives its id.

    It is `proposed` where that is made of letters, digits and `._-`, 64 at most; else a new one.
    """
    before = current_request_id()
    try:
        yield begin_request(proposed)
    finally:
        _request_id.set(before)


def begin_request(proposed: str | None = None) -> str:
    """As `request`, for all that this process does from now on."""
    request_id = proposed if proposed is not None and _VALID_ID.fullmatch(proposed) else secrets.token_hex(16)
    _request_id.set(request_id)
    return request_id


@contextmanager
def belonging_to(request_id: str | None) -> Iterator[None]:
    """What the block does belongs to the request with that id, or to none."""
    token = _request_id.set(request_id)
    try:
        yield
    finally:
        _request_id.reset(token)


def current_request_id() -> str | None:
    """The id of the request that this is done for; None where there is none."""
    return _request_id.get()

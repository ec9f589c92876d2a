"""Who is asking: the account as which a drive answers.

A drive with accounts answers as one of these identities and falls back to no other. A drive without
accounts (the local folder) has the service's own rights only and needs no identity.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Bearer:
    """A caller who sent an access token of the drive. It stays in this process: it cannot be pickled."""

    token: str = field(repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an access token is not handed on")


@dataclass(frozen=True, slots=True)
class Login:
    """A user who logged in here: the id of the stored login, whose refresh token is stored encrypted."""

    id: int


@dataclass(frozen=True, slots=True)
class ConfiguredAccount:
    """The account that the drive's settings name, by a key file for example."""


Identity = Bearer | Login | ConfiguredAccount

_caller: ContextVar[Identity | None] = ContextVar("caller", default=None)


@contextmanager
def acting_as(identity: Identity | None) -> Iterator[None]:
    """Let the drive answer as `identity` within the block; with None, as nobody."""
    token = _caller.set(identity)
    try:
        yield
    finally:
        _caller.reset(token)


def caller() -> Identity | None:
    """Who is asking; None while nobody is named. A thread knows it if it runs in a copy of the caller's context."""
    return _caller.get()

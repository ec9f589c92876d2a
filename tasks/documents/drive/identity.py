"""Who is asking: the caller whose view of the drive an operation shows, and the account of scheduled runs.

A drive with accounts (Google) answers as one of these and as no other: without a caller there is no
answer. The local folder knows one account, the service's own, and asks nobody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tasks.documents.settings import DocumentSettings
from tasks.errors import NotLoggedIn


@dataclass(frozen=True, slots=True)
class Bearer:
    """A caller who sent an access token of the drive's own. It stays in this process: it cannot be pickled."""

    token: str = field(repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an access token is not handed on")


@dataclass(frozen=True, slots=True)
class Login:
    """A user who logged in here: the id of the stored login, whose refresh token rests encrypted."""

    id: int


@dataclass(frozen=True, slots=True)
class Service:
    """The account of scheduled runs, given by DILIGENCE_GOOGLE_CREDENTIALS: a key file, no person."""


Identity = Bearer | Login | Service

_caller: ContextVar[Identity | None] = ContextVar("caller", default=None)


@contextmanager
def acting_as(who: Identity | None) -> Iterator[None]:
    """Let the drive answer to `who` within the block; with None, to nobody."""
    token = _caller.set(who)
    try:
        yield
    finally:
        _caller.reset(token)


def caller() -> Identity:
    """Who is asking.

    Raises:
        NotLoggedIn: nobody was named; no other identity takes the place.
    """
    found = _caller.get()
    if found is None:
        raise NotLoggedIn(
            "This needs your Google account. Send its access token as `Authorization: Bearer …`, or log in at /login."
        )
    return found


def own() -> Identity:
    """The account of scheduled runs: the configured credentials, else the login made by `diligence login`.

    Raises:
        NotConfigured: there is neither.
        NotLoggedIn: the login has expired or was revoked.
    """
    from tasks.documents.drive.google.credentials import own_identity  # noqa: PLC0415 - for Google only

    return own_identity()


@contextmanager
def acting_as_own() -> Iterator[None]:
    """Let the drive answer to `own` within the block, where it asks who is asking: for the command line.

    Raises:
        NotConfigured, NotLoggedIn: as `own`.
    """
    with acting_as(own() if DocumentSettings.current().drive == "google" else None):
        yield

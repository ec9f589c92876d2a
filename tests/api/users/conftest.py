"""The service on Google Drive, which knows two users; and on each drive that has users."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.google import browse, google_drive
from tests.api.users.drives import Users, google_users, memory_users
from tests.google.server import DriveEmulator

Pair = tuple[DriveEmulator, httpx.Client]


@pytest.fixture
def browser(room: Path, default_service: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A client of the service that all tests share."""
    with browse(default_service, monkeypatch) as client:
        yield client


@pytest.fixture
def pair(browser: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """A Drive, and a client of a service on it."""
    with google_drive(monkeypatch) as drive:
        yield drive, browser


@pytest.fixture
def google(pair: Pair) -> DriveEmulator:
    """The Drive."""
    return pair[0]


@pytest.fixture
def service(pair: Pair) -> httpx.Client:
    """The client."""
    return pair[1]


OnDrive = tuple[Users, httpx.Client]


@pytest.fixture(params=[google_users, memory_users], ids=["google", "memory"])
def on_drive(
    request: pytest.FixtureRequest, browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OnDrive]:
    """Each drive with users in turn, and a client of a service on it."""
    with request.param(monkeypatch) as drive:
        yield drive, browser


@pytest.fixture
def users(on_drive: OnDrive) -> Users:
    """The drive."""
    return on_drive[0]


@pytest.fixture
def client(on_drive: OnDrive) -> httpx.Client:
    """The client."""
    return on_drive[1]

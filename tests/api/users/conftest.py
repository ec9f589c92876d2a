"""The service on Google Drive, which knows two users; and on each drive that has users."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.google import google_service
from tests.api.users.drives import Users, google_users, memory_users
from tests.google.server import DriveEmulator

Pair = tuple[DriveEmulator, httpx.Client]


@pytest.fixture
def pair(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """A Drive, and a client of a service on it."""
    with google_service(monkeypatch) as found:
        yield found


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
def on_drive(request: pytest.FixtureRequest, room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnDrive]:
    """Each drive with users in turn, and a client of a service on it."""
    with request.param(monkeypatch) as drive_and_client:
        yield drive_and_client


@pytest.fixture
def users(on_drive: OnDrive) -> Users:
    """The drive."""
    return on_drive[0]


@pytest.fixture
def client(on_drive: OnDrive) -> httpx.Client:
    """The client. It keeps cookies as a browser does."""
    return on_drive[1]

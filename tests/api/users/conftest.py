"""The service on Google Drive, which knows two users."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.google import google_service
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

"""Failures of Google's that are waited out in a tenth of the time."""

import pytest

from tasks.documents.drive.google import client
from tasks.remote.retry import Backoff
from tests.google.items import Item
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.rooms import ADA


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses a tenth of what they are."""
    monkeypatch.setattr(client, "BACKOFF", Backoff(0.02, longest=0.1, jitter=(0, 1)))


@pytest.fixture
def brief(short_pauses: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses and patience a tenth of what they are."""
    monkeypatch.setattr(client, "FIRST_BYTE", 0.5)
    monkeypatch.setattr(client, "WINDOW", 0.2)


@pytest.fixture
def mine(emulator: DriveEmulator) -> Item:
    return emulator.world.root(ADA)

"""A service whose documents lie in an emulated Google Drive, and users who log in to it."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.api.conftest import serving
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import agree, point_at

ADA, BOB = "ada@example.com", "bob@example.com"


@contextmanager
def google_drive(monkeypatch: pytest.MonkeyPatch) -> Iterator[DriveEmulator]:
    """The emulator with two users, as the drive of a service."""
    with DriveEmulator() as emulator:
        emulator.world.user(ADA)
        emulator.world.user(BOB)
        point_at(emulator, monkeypatch)
        yield emulator


@contextmanager
def browse(service: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """Another client of a service, which looks up its drive at each request; it keeps cookies as a browser does."""
    monkeypatch.setenv("DILIGENCE_BASE_URL", str(service.base_url).rstrip("/"))
    with httpx.Client(base_url=service.base_url, timeout=60) as client:
        yield client


@contextmanager
def google_service(monkeypatch: pytest.MonkeyPatch, **settings: str) -> Iterator[tuple[DriveEmulator, httpx.Client]]:
    """That drive, and a client of a service of its own with these settings; it keeps cookies as a browser does."""
    with google_drive(monkeypatch) as emulator:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        with serving() as client:
            if "DILIGENCE_BASE_URL" not in settings:
                monkeypatch.setenv("DILIGENCE_BASE_URL", str(client.base_url).rstrip("/"))
            yield emulator, client


def log_in(client: httpx.Client, email: str, path: str = "/login") -> httpx.Response:
    """Log in as a user's browser does; gives the answer to the way back."""
    there = client.get(path)
    assert there.status_code == 302, there.text
    back = agree(there.headers["location"], email)
    assert back.pop("to") == str(client.base_url.join("/login/callback"))
    return client.get("/login/callback", params=back)


def bearer(drive: DriveEmulator, email: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {drive.token(email)}"}

"""An emulator with two users, and Google's own client for each."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build

from tests.google.server import DriveEmulator

ADA, BOB = "ada@example.com", "bob@example.com"
Connect = Callable[..., Any]


@pytest.fixture
def drive() -> Iterator[DriveEmulator]:
    with DriveEmulator() as emulator:
        emulator.world.user(ADA)
        emulator.world.user(BOB)
        yield emulator


@pytest.fixture
def connect(drive: DriveEmulator) -> Iterator[Connect]:
    """Makes clients: `connect(ADA)`, or with credentials or a token of one's own."""
    made = []

    def client(email: str = ADA, *, token: str | None = None, credentials: Any = None) -> Any:
        credentials = credentials or Credentials(token or drive.token(email))  # type: ignore[no-untyped-call]
        service = build(
            "drive", "v3", credentials=credentials, static_discovery=True,
            client_options={"api_endpoint": drive.endpoint},
        )  # fmt: skip
        made.append(service)
        return service

    yield client
    for service in made:
        service.close()

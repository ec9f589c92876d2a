"""The settings that lead to an emulator of Google Drive, and a user's way through its sign-in pages."""

from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from storage import database, logins
from storage.logins import StoredLogin, Whose
from tasks.documents.drive.google.credentials import SEALED_FOR
from tests.google.accounts import Client
from tests.google.server import DriveEmulator


def settings_of(drive: DriveEmulator) -> dict[str, str]:
    """The environment of a program that takes the emulator for Google, with an OAuth client."""
    return {
        "DILIGENCE_DRIVE": "google",
        "DILIGENCE_GOOGLE_API_ENDPOINT": drive.endpoint,
        "DILIGENCE_GOOGLE_BATCH_URI": drive.batch_uri,
        "DILIGENCE_GOOGLE_TOKEN_URI": drive.token_uri,
        "DILIGENCE_GOOGLE_AUTH_URI": drive.auth_uri,
        "DILIGENCE_GOOGLE_CLIENT_ID": Client().id,
        "DILIGENCE_GOOGLE_CLIENT_SECRET": Client().secret,
    }


def point_at(drive: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings_of(drive).items():
        monkeypatch.setenv(name, value)


def agree(url: str, email: str | None = None) -> dict[str, str]:
    """Open the address of a login as `email`, agree, and give what Google sends back, with `to`: where."""
    if email:
        url += f"&login_hint={email}"
    sent = urlsplit(httpx.get(url).headers["location"])
    return {"to": f"{sent.scheme}://{sent.netloc}{sent.path}", **dict(parse_qsl(sent.query))}


def stored_login(drive: DriveEmulator, email: str, whose: Whose = Whose.WEB) -> int:
    """A login of the user, as it is kept after the sign-in; gives its id."""
    token = drive.accounts.refresh_token(email)
    login = StoredLogin(
        whose=whose,
        account=email,
        account_id=email,
        client_id=Client().id,
        refresh_token=logins.seal(token, SEALED_FOR),
    )
    with database.writing() as session:
        return logins.save_login(session, login)

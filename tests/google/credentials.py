"""Credential files as Google hands them out, that lead to an emulator."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.google.accounts import READONLY, Client
from tests.google.server import DriveEmulator

SERVICE = "robot@emulator.iam.gserviceaccount.com"


def service_account_file(
    drive: DriveEmulator, path: Path, email: str = SERVICE, delegates: Iterable[str] = (),
    scopes: Iterable[str] = (READONLY,),
) -> Path:  # fmt: skip
    """A key file of a new service account, which may act for `delegates` (`*`: for all users)."""
    made = drive.accounts.service(email, delegates, scopes)
    key = made.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return _written(path, {
        "type": "service_account",
        "project_id": "emulator",
        "private_key_id": made.key_id,
        "private_key": key,
        "client_email": email,
        "client_id": "100000000000000000001",
        "auth_uri": drive.auth_uri,
        "token_uri": drive.token_uri,
        "universe_domain": "googleapis.com",
    })  # fmt: skip


def authorised_user_file(drive: DriveEmulator, path: Path, email: str, **more: Any) -> Path:
    """A stored login of a user, as gcloud and google-auth write it (AIP-4113), and `more` (`quota_project_id`)."""
    client = Client()
    return _written(path, {
        "type": "authorized_user",
        "client_id": client.id,
        "client_secret": client.secret,
        "refresh_token": drive.accounts.refresh_token(email),
        "token_uri": drive.token_uri,
        **more,
    })  # fmt: skip


def client_config(drive: DriveEmulator) -> dict[str, Any]:
    """What a downloaded client secret file holds, for google-auth-oauthlib."""
    client = Client()
    return {
        "installed": {
            "client_id": client.id,
            "client_secret": client.secret,
            "auth_uri": drive.auth_uri,
            "token_uri": drive.token_uri,
            "redirect_uris": ["http://localhost"],
        }
    }


def _written(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content))
    path.chmod(0o600)
    return path

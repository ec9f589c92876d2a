"""Google Drive, as each user sees it: its description and its settings.

None of the settings may be set by a batch file: they say whose account is used.
"""

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from storage.settings import Settings, is_loopback
from tasks.documents.drive.drive import AccountAccess, DriveDescription


class GoogleDriveSettings(Settings):
    """Google's addresses, the account of runs, and the OAuth client that users log in with."""

    google_api_endpoint: str = Field("https://www.googleapis.com/drive/v3/", description="Google Drive's address")
    google_batch_uri: str = Field("https://www.googleapis.com/batch/drive/v3", description="its batch endpoint")
    google_token_uri: str = Field("https://oauth2.googleapis.com/token", description="where tokens are given out")
    google_auth_uri: str = Field("https://accounts.google.com/o/oauth2/v2/auth", description="where users agree")
    google_credentials: Path | None = Field(None, description="service account or authorised-user file, for runs")
    google_subject: str | None = Field(None, description="the user that the service account acts for")
    google_client_id: str | None = Field(None, description="the OAuth client, for logins")
    google_client_secret: SecretStr | None = Field(None, description="its secret")

    @field_validator("google_api_endpoint", "google_batch_uri", "google_token_uri", "google_auth_uri")
    @classmethod
    def _is_safe(cls, address: str) -> str:
        """Accept only safe addresses, because tokens and secrets are sent to them."""
        try:
            parts = urlsplit(address)
            safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
        except ValueError:
            safe = False
        if not safe or not parts.hostname:
            raise ValueError("must begin with https:// (http:// on loopback only)")
        return address


DESCRIPTION = DriveDescription(
    name="google",
    title="Google Drive",
    settings=GoogleDriveSettings,
    provider="tasks.documents.drive.google.drive",
    accounts=AccountAccess(
        provider="Google",
        token="An access token of the caller's Google account with the scope drive.readonly: "  # noqa: S106 - no token
        "document operations on Google Drive act as that account.",
        login="tasks.documents.drive.google.credentials",
    ),
    keeps_changes=True,
    session_check="tasks.documents.drive.google.session_check",
    native_exports={
        "application/vnd.google-apps.document": ".docx",
        "application/vnd.google-apps.spreadsheet": ".xlsx",
        "application/vnd.google-apps.presentation": ".pptx",
        "application/vnd.google-apps.drawing": ".pdf",
    },
)

"""Settings of the documents room: which drive, and the limits on one document."""

from ipaddress import ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from storage.settings import RoomSettings


class DocumentSettings(RoomSettings):
    """Where documents lie, where users reach them, and what one of them may cost."""

    base_url: str = Field("http://127.0.0.1:8000", description="where users reach the service", pattern="^https?://")
    drive: Literal["local", "google"] = Field("local", description="the drive that documents lie in")
    drive_root: Path = Field(Path(), description="the local drive's root; its id is `root`")
    google_api_endpoint: str = Field("https://www.googleapis.com/drive/v3/", description="Google Drive's address")
    google_batch_uri: str = Field("https://www.googleapis.com/batch/drive/v3", description="its batch endpoint")
    google_token_uri: str = Field("https://oauth2.googleapis.com/token", description="where tokens are given out")
    google_auth_uri: str = Field("https://accounts.google.com/o/oauth2/v2/auth", description="where users agree")
    google_credentials: Path | None = Field(None, description="service account or authorised-user file, for runs")
    google_subject: str | None = Field(None, description="the user that the service account acts for")
    google_client_id: str | None = Field(None, description="the OAuth client, for logins")
    google_client_secret: SecretStr | None = Field(None, description="its secret")
    document_timeout: float = Field(60, gt=0, description="seconds that reading one document may take")
    document_memory_mb: int = Field(1024, ge=128, description="memory that reading one document may take")
    document_max_mb: int = Field(512, gt=0, description="the largest document that is read")
    ocr: Literal["auto", "off"] = Field("auto", description="whether scans are read where Tesseract is installed")
    ocr_languages: str = Field(
        "eng", description="the languages of scans", pattern="^[A-Za-z0-9_]+([+,] ?[A-Za-z0-9_]+)*$"
    )

    @field_validator("google_api_endpoint", "google_batch_uri", "google_token_uri", "google_auth_uri")
    @classmethod
    def _is_safe(cls, given: str) -> str:
        """Tokens and secrets are sent to these addresses."""
        try:
            parts = urlsplit(given)
            there = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or ""))
        except ValueError:
            there = False
        if not there or not parts.hostname:
            raise ValueError("must begin with https:// (http:// on loopback only)")
        return given


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

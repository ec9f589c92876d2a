"""The local folder as a drive: the service's own rights, no login, no network."""

from pathlib import Path

from pydantic import Field

from storage.settings import Settings
from tasks.documents.drive.drive import DriveDescription


class LocalDriveSettings(Settings):
    """Where the folder is."""

    drive_root: Path = Field(Path(), description="the local drive's root; its id is `root`")


DESCRIPTION = DriveDescription(
    name="local",
    title="the local folder",
    settings=LocalDriveSettings,
    provider="tasks.documents.drive.local.drive",
    batch_settings=frozenset({"drive_root"}),
)

"""The things in the emulated Drive: files and folders, shared drives, users, and what changed about them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from tests.google.blobs import Blob
from tests.google.natives import FOLDER, NATIVE, SHORTCUT


def rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Item:
    """A file, folder, shortcut or native document. `permissions` are its own, not the inherited ones."""

    id: str
    name: str
    mime: str
    parent: str | None
    serial: int
    created: str
    modified: str
    drive: str | None = None
    blob: Blob | None = None
    text: str = ""
    exports: Mapping[str, bytes] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    link: str | None = None  # the role of anyone with the link
    resource_key: str | None = None
    inherits: bool = True
    target: str | None = None
    target_mime: str | None = None
    target_key: str | None = None
    trashed: bool = False
    can_download: bool = True
    abusive: bool = False
    refusal: str | None = None  # the reason that every download of it is refused with
    version: int = 1
    revision: int = 1

    @property
    def is_folder(self) -> bool:
        return self.mime == FOLDER

    @property
    def is_native(self) -> bool:
        return self.mime.startswith(NATIVE) and self.mime not in {FOLDER, SHORTCUT}


@dataclass(frozen=True)
class Drive:
    id: str
    name: str
    created: str


@dataclass(frozen=True)
class User:
    email: str
    name: str
    root: str

    @cached_property
    def permission_id(self) -> str:
        return str(int.from_bytes(hashlib.sha256(self.email.encode()).digest()[:8]) % 10**20).zfill(20)


@dataclass(frozen=True)
class Change:
    """Something about a file, or about a shared drive itself, told to those who saw it before or see it now.

    `members` are those of the file's shared drive, then or before: they read it in the drive's own log.
    """

    number: int
    about: str  # the id of the file, or of the drive
    drive: str | None
    users: frozenset[str]
    members: frozenset[str]
    time: str

    @property
    def of_drive(self) -> bool:
        return self.about == self.drive

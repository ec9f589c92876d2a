"""The available drives, and the one that DILIGENCE_DRIVE names.

To add a drive, write a package with a `DESCRIPTION` and add a line to `DRIVES`.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import cast

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from storage.settings import Settings
from tasks.documents.drive.archives.drive import ArchiveDrive
from tasks.documents.drive.drive import (
    AccountAccess,
    Drive,
    DriveDescription,
    DriveProvider,
    Identity,
    LoginFlow,
    acting_as,
    caller,
)
from tasks.errors import NotConfigured, NotLoggedIn
from tasks.plugins import load_plugin, plugins

_OURS = {
    "local": "tasks.documents.drive.local",
    "google": "tasks.documents.drive.google",
}
_ADDED = {name: module for name, module in plugins("diligence.drives").items() if name not in _OURS}
DRIVES = _OURS | _ADDED
"""The package of each drive, by the name that DILIGENCE_DRIVE takes; those that other packages add come last."""


class DriveSettings(Settings):
    """Which drive to use. Each drive has further settings of its own."""

    drive: str = Field("local", description="the drive that documents lie in")

    @field_validator("drive")
    @classmethod
    def _is_registered(cls, name: str) -> str:
        if name not in DRIVES:
            *others, last = (repr(registered) for registered in DRIVES)
            raise PydanticCustomError(
                "literal_error", "Input should be {expected}", {"expected": f"{', '.join(others)} or {last}"}
            )
        return name


def descriptions() -> list[DriveDescription]:
    """The configured drive and all built-in ones, in the order of `DRIVES`."""
    configured = DriveSettings.current().drive
    return [_describe(name) for name in DRIVES if name not in _ADDED or name == configured]


def choose_drive() -> DriveDescription:
    """The drive that the settings name."""
    return _describe(DriveSettings.current().drive)


def account_access() -> AccountAccess:
    """How callers are known: to the configured drive if it has accounts, otherwise to the first drive that has."""
    return next(
        description.accounts for description in [choose_drive(), *descriptions()] if description.accounts is not None
    )


def load_provider(description: DriveDescription) -> DriveProvider:
    """The module that opens the drive. Imported on first use: Google's takes 0.35 s longer than the local one."""
    return cast("DriveProvider", _module(description.provider))


def load_login_flow(accounts: AccountAccess) -> LoginFlow:
    """The module that logs users in. Imported on first use: Google's takes 0.2 s."""
    return cast("LoginFlow", import_module(accounts.login))


def open_drive() -> Drive:
    """The drive that the settings name, as the caller sees it (`identity.acting_as`).

    Raises:
        NotConfigured: a setting is missing, or the drive's root is no folder.
        NotLoggedIn: the drive shows each user that user's own view, and nobody is logged in.
    """
    description = choose_drive()
    identity = None
    if description.accounts is not None:
        identity = caller()
        if identity is None:
            raise NotLoggedIn(description.accounts.login_needed)
    return _open(description, identity)


def drive_to_open_again() -> dict[str, str]:
    """Which drive this is and where it is, in the form that `override_settings` takes, valid from any folder."""
    description = choose_drive()
    settings = description.settings.current()
    places = {name: getattr(settings, name) for name in sorted(description.batch_settings)}
    return {"drive": description.name} | {
        name: str(place.absolute() if isinstance(place, Path) else place) for name, place in places.items()
    }


def run_identity() -> Identity | None:
    """The account of scheduled runs and the command line; None if the drive only knows the service's rights.

    Raises:
        NotConfigured: no account is configured.
        NotLoggedIn: its login has expired or was revoked.
    """
    return load_provider(choose_drive()).run_identity()


def open_run_drive() -> Drive:
    """The drive that the settings name, as the account of scheduled runs sees it.

    Raises:
        NotConfigured, NotLoggedIn: as `run_identity`, and as `open_drive`.
    """
    return _open(choose_drive(), run_identity())


@contextmanager
def acting_as_run_account() -> Iterator[None]:
    """Make `open_drive` open the drive as the account of runs in the block: for the command line.

    Raises:
        NotConfigured, NotLoggedIn: as `run_identity`.
    """
    with acting_as(run_identity()):
        yield


def _open(description: DriveDescription, identity: Identity | None) -> Drive:
    drive = load_provider(description).open_drive(identity)
    return _with_archives(cast("Hashable", drive), shown_here=description.accounts is None)


@lru_cache(maxsize=128)
def _with_archives(drive: Hashable, *, shown_here: bool) -> Drive:
    """The drive with its archives shown as folders; the same object for the same drive."""
    return ArchiveDrive(cast("Drive", drive), shown_here=shown_here)


def _describe(name: str) -> DriveDescription:
    module = _module(DRIVES[name]) if name not in _ADDED else load_plugin(name, DRIVES[name])
    if module is None:
        raise NotConfigured(f"The drive {name} cannot be loaded from {DRIVES[name]}. Fix or remove its package.")
    return cast("DriveDescription", module.DESCRIPTION)


_module = lru_cache(maxsize=16)(import_module)
"""`import_module` takes 20 µs for what is imported already, and a request asks three times."""

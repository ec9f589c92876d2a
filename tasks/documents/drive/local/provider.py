"""Opens the local folder that DILIGENCE_DRIVE_ROOT names (a `DriveProvider`)."""

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tasks.documents.drive.description import CheckResult
from tasks.documents.drive.drive import ROOT, Drive
from tasks.documents.drive.identity import Identity
from tasks.documents.drive.local import LocalDriveSettings
from tasks.documents.drive.local.drive import LocalDrive
from tasks.documents.drive.local.roots import LocalFolders
from tasks.documents.settings import DocumentSettings
from tasks.errors import NotFound, Unavailable


def open_drive(identity: Identity | None) -> Drive:  # noqa: ARG001 - every identity has the service's own rights
    return _opened(LocalDriveSettings.current().drive_root.absolute(), DocumentSettings.current().base_url)


def run_identity() -> None:
    return None


def check_reachable(seconds: float) -> None:  # noqa: ARG001 - a disk has no time limit
    try:
        open_drive(None).find_folder(ROOT)
    except NotFound as error:
        raise Unavailable("The drive's root cannot be reached. Check DILIGENCE_DRIVE_ROOT.") from error
    try:
        with os.scandir(LocalDriveSettings.current().drive_root) as entries:
            next(entries, None)
    except OSError as error:
        raise Unavailable(
            f"The drive's root cannot be read ({error.strerror}). Let the service's user read DILIGENCE_DRIVE_ROOT."
        ) from error


def examine() -> Iterator[CheckResult]:
    documents = open_drive(None).list_folder(ROOT, recursive=False).documents
    root = LocalDriveSettings.current().drive_root.absolute()
    yield CheckResult("drive", f"local, {root}: {len(documents)} files at its root")


@lru_cache(maxsize=16)
def _opened(root: Path, base_url: str) -> Drive:
    return LocalFolders(LocalDrive(root, base_url), base_url)

"""Opens the local folder that DILIGENCE_DRIVE_ROOT names (a `DriveProvider`), and the roots of earlier runs."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, TypeVar

from storage import database, run_documents
from storage.errors import DatabaseUnavailable
from tasks.documents.drive.drive import ROOT, CheckResult, Document, Drive, Fetched, Identity
from tasks.documents.drive.local import LocalDriveSettings
from tasks.documents.drive.local.drive import LocalDrive
from tasks.documents.settings import DocumentSettings
from tasks.errors import NotConfigured, NotFound, Unavailable

R = TypeVar("R")


class LocalFolders(LocalDrive):
    """The local folder; documents that it does not know are looked for under the roots of runs."""

    def document(self, document_id: str) -> Document:
        return self._where_it_is(document_id, lambda drive: LocalDrive.document(drive, document_id))

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        return self._where_it_is(document_id, lambda drive: LocalDrive.fetch(drive, document_id, spool, max_bytes))

    def open(self, document_id: str) -> BinaryIO:
        return self._where_it_is(document_id, lambda drive: LocalDrive.open(drive, document_id))

    def local_path(self, document_id: str) -> Path:
        return self._where_it_is(document_id, lambda drive: LocalDrive.local_path(drive, document_id))

    def _where_it_is(self, document_id: str, ask: Callable[[LocalDrive], R]) -> R:
        """The answer of our own drive or, if it does not know the document, of the first other drive that does."""
        try:
            return ask(self)
        except NotFound:
            for root in _list_run_roots(document_id):
                with suppress(NotConfigured, NotFound):  # the root, or the document, is there no more
                    return ask(LocalDrive(root, self._base_url))
            raise


def _list_run_roots(document_id: str) -> list[Path]:
    with suppress(DatabaseUnavailable), database.reading() as session:
        drives = run_documents.find_document_drives(session, document_id)
        return [Path(drive["drive_root"]) for drive in drives if drive["drive"] == "local"]
    return []


def open_drive(identity: Identity | None) -> Drive:  # noqa: ARG001 - every identity has the service's own rights
    return _open(LocalDriveSettings.current().drive_root.absolute(), DocumentSettings.current().base_url)


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
def _open(root: Path, base_url: str) -> Drive:
    return LocalFolders(root, base_url)

"""The local folder, and the documents of runs that were made under another root.

An id counts from the root that it was made under. A report may be read by a service with another root: what is not
found under its own is looked for under the roots of the runs that had the document. No run, no document: a root opens
nothing but what a run listed.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from storage import database, run_documents
from storage.errors import DatabaseUnavailable
from tasks.documents.drive.drive import Changes, Document, Fetched, Listing
from tasks.documents.drive.local.drive import LocalDrive
from tasks.errors import NotConfigured, NotFound

R = TypeVar("R")


class LocalFolders:
    """The drive `own`; documents that it does not know are found under the roots of runs."""

    remote = False

    def __init__(self, own: LocalDrive, base_url: str) -> None:
        self._own = own
        self._base_url = base_url
        self.max_parallel_fetches = own.max_parallel_fetches

    @property
    def name(self) -> str:
        return self._own.name

    @property
    def view(self) -> str:
        return self._own.view

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:
        return self._own.changes_since(folder_id, mark)

    def find_folder(self, reference: str) -> str:
        return self._own.find_folder(reference)

    def find_document(self, reference: str) -> str:
        return self._own.find_document(reference)

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        return self._own.list_folder(folder_id, recursive=recursive, spool=spool)

    def document(self, document_id: str) -> Document:
        return self._where_it_is(document_id, lambda drive: drive.document(document_id))

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        return self._where_it_is(document_id, lambda drive: drive.fetch(document_id, spool, max_bytes))

    def open(self, document_id: str) -> BinaryIO:
        return self._where_it_is(document_id, lambda drive: drive.open(document_id))

    def local_path(self, document_id: str) -> Path:
        return self._where_it_is(document_id, lambda drive: drive.local_path(document_id))

    def _where_it_is(self, document_id: str, ask: Callable[[LocalDrive], R]) -> R:
        """What the own drive answers or, where it does not know the document, the first other one that does."""
        try:
            return ask(self._own)
        except NotFound:
            for root in _roots_of_runs(document_id):
                with suppress(NotConfigured, NotFound):  # the root, or the document, is there no more
                    return ask(LocalDrive(root, self._base_url))
            raise


def _roots_of_runs(document_id: str) -> list[Path]:
    with suppress(DatabaseUnavailable), database.reading() as session:
        drives = run_documents.drives_of_document(session, document_id)
        return [Path(drive["drive_root"]) for drive in drives if drive["drive"] == "local"]
    return []

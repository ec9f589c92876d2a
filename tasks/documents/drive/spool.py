"""The spool: folders on the local disk for fetched files, and for documents of listings too long for memory.

With spooled documents, a listing of 200,000 documents takes no more memory than one of 2,000.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from storage import database
from tasks import files
from tasks.documents.drive.drive import Document
from tasks.errors import Unavailable
from tasks.files import temporary_folder

Values = Sequence[str | int | None]

_ROWS_AT_ONCE = 1000
"""Rows that are written together."""
_CREATED, _UPDATED = 7, 8
"""Where the times stand in the values of a document."""


@contextmanager
def spool() -> Iterator[Path]:
    """A folder for fetched files, removed at the end of the block. Also removes those of killed processes.

    Raises:
        Unavailable: the home has no room for it.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder(database.home() / "spool", prefix=""))
        except OSError as error:
            raise Unavailable(
                f"There is not enough disk space for the spool in DILIGENCE_HOME ({error.strerror})."
            ) from error
        yield folder


def remove_left(*, dry_run: bool = False) -> tuple[int, int]:
    """Remove what killed processes have left in the spool; returns the number of files, and their bytes.

    With `dry_run` they are only counted.
    """
    return files.remove_left(database.home() / "spool", "", dry_run=dry_run)


class SpooledRows:
    """Rows of plain values, in the order in which they were added, in a file in the folder `spool`."""

    def __init__(self, spool: Path) -> None:
        self._file = spool / uuid4().hex
        self._unwritten: list[Values] = []

    def add(self, rows: Iterable[Values]) -> None:
        """Add rows.

        Raises:
            Unavailable: the disk has no room for them.
        """
        self._unwritten.extend(rows)
        if len(self._unwritten) >= _ROWS_AT_ONCE:
            self._write()

    def __iter__(self) -> Iterator[Any]:
        self._write()
        with self._file.open(encoding="ascii") as file:
            for line in file:
                yield from json.loads(line)

    def _write(self) -> None:
        try:
            with self._file.open("a", encoding="ascii") as file:
                file.write(json.dumps(self._unwritten, separators=(",", ":")) + "\n")
        except OSError as error:
            raise Unavailable(
                f"The index cannot be spooled ({error.strerror}). DILIGENCE_HOME must have room for it."
            ) from error
        self._unwritten = []


class SpooledDocuments(Collection[Document]):
    """Documents that are recreated one at a time whenever they are iterated over."""

    def __init__(self, make: Callable[[], Iterator[Document]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Document]:
        return self._make()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, document: object) -> bool:
        return any(other == document for other in self)


def write_values(document: Document) -> Values:
    """A document as plain values. `read_values` turns them into the document again."""
    return (
        document.id,
        document.name,
        document.folder_id,
        document.path,
        document.url,
        document.mime_type,
        document.size,
        document.created.isoformat() if document.created else None,
        document.updated.isoformat() if document.updated else None,
        document.version,
    )


def read_values(values: Sequence[Any]) -> Document:
    """The document from the values that `write_values` returned."""
    fields = list(values)
    for position in (_CREATED, _UPDATED):
        fields[position] = datetime.fromisoformat(fields[position]) if fields[position] else None
    return Document(*fields)

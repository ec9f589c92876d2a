"""The spool: folders on the local disk for fetched files, and for documents of listings too long for memory.

With spooled documents, a listing of 200,000 documents takes no more memory than one of 2,000.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Final
from uuid import uuid4

from storage import database
from tasks import files
from tasks.documents.drive.drive import Document
from tasks.errors import Unavailable
from tasks.files import temporary_folder

Values = Sequence[str | int | None]

_ROWS_AT_ONCE = 1000
"""Rows that are written together."""
_NAMES: Final = tuple(field.name for field in fields(Document))
_TIMES: Final = (_NAMES.index("created"), _NAMES.index("updated"))
_read_fields: Final = attrgetter(*_NAMES)


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


@contextmanager
def new_file(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in a folder of the spool, open in the block; it is deleted if the block fails.

    Raises:
        Unavailable: the home has no room for it.
    """
    path = folder / uuid4().hex
    try:
        with path.open("xb+") as file:
            yield path, file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise Unavailable(
                f"The document cannot be copied into the spool ({error.strerror}). "
                "DILIGENCE_HOME must have room for it."
            ) from error
        raise


def remove_left(*, dry_run: bool = False) -> tuple[int, int]:
    """Remove what killed processes have left in the spool; returns the number of files, and their bytes.

    With `dry_run` they are only counted.
    """
    return files.remove_left(database.home() / "spool", "", dry_run=dry_run)


class ListedRows:
    """Rows of plain values, in the order in which they were added: in a file in the folder `spool`, else in memory."""

    def __init__(self, spool: Path | None) -> None:
        self._file = spool / uuid4().hex if spool else None
        self._unwritten: list[Values] = []

    def add(self, rows: Iterable[Values]) -> None:
        """Add rows.

        Raises:
            Unavailable: the disk has no room for them.
        """
        for row in rows:
            self._unwritten.append(row)
            if self._file is not None and len(self._unwritten) >= _ROWS_AT_ONCE:
                self._write(self._file)

    def __iter__(self) -> Iterator[Any]:
        if self._file is not None:
            self._write(self._file)
            with self._file.open(encoding="ascii") as file:
                for line in file:
                    yield from json.loads(line)
        yield from self._unwritten

    def _write(self, path: Path) -> None:
        try:
            with path.open("a", encoding="ascii") as file:
                file.write(json.dumps(self._unwritten, separators=(",", ":")) + "\n")
        except OSError as error:
            raise Unavailable(
                f"The index cannot be spooled ({error.strerror}). DILIGENCE_HOME must have room for it."
            ) from error
        self._unwritten = []


class ListedDocuments(Collection[Document]):
    """The documents of a listing, in the order in which they were added: in the folder `spool`, else in memory."""

    def __init__(self, spool: Path | None) -> None:
        self._rows = ListedRows(spool) if spool else None
        self._documents: list[Document] = []

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents.

        Raises:
            Unavailable: the disk has no room for them.
        """
        if self._rows is None:
            self._documents.extend(documents)
        else:
            self._rows.add(map(_write_values, documents))

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents) if self._rows is None else map(_read_values, self._rows)

    def __len__(self) -> int:
        return len(self._documents) if self._rows is None else sum(1 for _ in self)

    def __contains__(self, document: object) -> bool:
        return any(other == document for other in self)


def _write_values(document: Document) -> Values:
    values = _read_fields(document)
    return [value.isoformat() if isinstance(value, datetime) else value for value in values]


def _read_values(values: Sequence[Any]) -> Document:
    given = list(values)
    for place in _TIMES:
        given[place] = datetime.fromisoformat(given[place]) if given[place] else None
    return Document(*given)

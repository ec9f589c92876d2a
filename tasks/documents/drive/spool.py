"""The spool: folders on the local disk for fetched files, and for the documents of listings that memory must not hold.

A listing of 200,000 documents takes no more memory than one of 2,000 when its documents are spooled.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from uuid import uuid4

from storage import database
from tasks.documents.drive.drive import Document
from tasks.errors import Unavailable

Values = Sequence[str | int | None]

_ROWS_AT_ONCE = 1000
"""Rows that are written together."""
_CREATED, _UPDATED = 7, 8
"""Where the times stand in the values of a document."""


@contextmanager
def spool() -> Iterator[Path]:
    """A folder for fetched files that is removed at the end of the block. Removes those of killed processes too.

    A folder in use is locked, and its lock ends with its process. A process id in a file would say nothing
    to another container that has the same home.

    Raises:
        Unavailable: the home has no room for it.
    """
    try:
        home = database.home() / "spool"
        home.mkdir(mode=0o700, exist_ok=True)
        with _locked(home, wait=True):  # so that nobody removes a folder that is made and not locked yet
            for other in home.iterdir():
                _remove_unused(other)
            folder = Path(mkdtemp(prefix=f"{os.getpid()}-", dir=home))
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        raise Unavailable(f"There is no room for the spool in DILIGENCE_HOME ({error.strerror}).") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def remove_left(*, dry_run: bool = False) -> tuple[int, int]:
    """Remove what killed processes have left in the spool; gives how many files it was, and their bytes.

    With `dry_run` they are only counted.
    """
    home = database.home() / "spool"
    count = size = 0
    if not home.exists():
        return count, size
    with _locked(home, wait=True):
        for folder in home.iterdir():
            with suppress(OSError), _locked(folder, wait=False):
                sizes = [file.lstat().st_size for file in folder.rglob("*") if not file.is_dir()]
                if not dry_run:
                    shutil.rmtree(folder, ignore_errors=True)
                count, size = count + len(sizes), size + sum(sizes)
    return count, size


def _remove_unused(folder: Path) -> None:
    with suppress(OSError), _locked(folder, wait=False):
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


class SpooledRows:
    """Rows of plain values in the order in which they were added, in a file in the folder `spool`."""

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
    """Documents that are made again, one at a time, whenever they are iterated over."""

    def __init__(self, make: Callable[[], Iterator[Document]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Document]:
        return self._make()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, document: object) -> bool:
        return any(other == document for other in self)


def values_of(document: Document) -> Values:
    """A document as plain values. `document_of` turns them into the document again."""
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


def document_of(values: Sequence[Any]) -> Document:
    """The document of the values that `values_of` gave."""
    fields = list(values)
    for position in (_CREATED, _UPDATED):
        fields[position] = datetime.fromisoformat(fields[position]) if fields[position] else None
    return Document(*fields)

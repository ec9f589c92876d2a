"""Where a listing's rows rest until they are stored: in memory, or on disk so that memory stays flat.

A room of 200,000 files takes no more of it than one of 2,000.

The spool: where fetched files lie while they are read.
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

_TOGETHER = 1000  # rows written at a time


class Kept:
    """Rows of plain values, in the order in which they came."""

    def __init__(self, spool: Path | None) -> None:
        """Keep them in a file in the folder `spool`; without one, in memory."""
        self._file = spool / uuid4().hex if spool else None
        self._rows: list[Values] = []  # with a file, those that are not in it yet

    def add(self, rows: Iterable[Values]) -> None:
        """Keep some more.

        Raises:
            Unavailable: the disk has no room for them.
        """
        self._rows.extend(rows)
        if self._file and len(self._rows) >= _TOGETHER:
            self._write(self._file)

    def __iter__(self) -> Iterator[Any]:
        if self._file:
            self._write(self._file)
            with self._file.open(encoding="ascii") as file:
                for line in file:
                    yield from json.loads(line)
        else:
            yield from self._rows

    def _write(self, path: Path) -> None:
        try:
            with path.open("a", encoding="ascii") as file:
                file.write(json.dumps(self._rows, separators=(",", ":")) + "\n")
        except OSError as error:
            raise Unavailable(
                f"The index cannot be spooled ({error.strerror}). DILIGENCE_HOME must have room for it."
            ) from error
        self._rows = []


class Documents(Collection[Document]):
    """Documents that are made anew, one at a time, whenever they are gone through."""

    def __init__(self, make: Callable[[], Iterator[Document]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Document]:
        return self._make()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, document: object) -> bool:
        return any(each == document for each in self)


def values_of(document: Document) -> Values:
    """A document as plain values; `document_of` makes it a document again."""
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


def document_of(values: Any) -> Document:
    """The document of what `values_of` gave."""
    given = list(values)
    for at in (7, 8):
        given[at] = datetime.fromisoformat(given[at]) if given[at] else None
    return Document(*given)


@contextmanager
def spool() -> Iterator[Path]:
    """A folder for fetched files that is gone afterwards; what killed processes left behind goes too.

    A folder in use is locked, and the lock ends with its process: a process id would say nothing to
    another container that has the same home.

    Raises:
        Unavailable: the home has no room for it.
    """
    try:
        home = database.home() / "spool"
        home.mkdir(mode=0o700, exist_ok=True)
        with _locked(home, wait=True):  # nobody takes away what is made and not yet locked
            for left in home.iterdir():
                _remove_unused(left)
            folder = Path(mkdtemp(prefix=f"{os.getpid()}-", dir=home))
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(held, fcntl.LOCK_EX)
    except OSError as error:
        raise Unavailable(f"There is no room for the spool in DILIGENCE_HOME ({error.strerror}).") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _remove_unused(left: Path) -> None:
    with suppress(OSError), _locked(left, wait=False):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)

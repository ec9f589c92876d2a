"""An archive that is open, with the archives inside it: one list of documents, each of which can be unpacked.

Two levels are opened. An archive inside an archive inside an archive is named and left shut.
"""

import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from tasks.documents.drive.archives import seven_zip
from tasks.documents.drive.archives.members import (
    Allowance,
    ArchiveNotOpened,
    Container,
    Contents,
    Entry,
    Member,
    Scratch,
    Target,
    is_archive,
    shown,
)
from tasks.documents.drive.archives.zip import ZipContainer
from tasks.errors import DiligenceError, Unavailable

MOST_INSIDE: Final = 200
"""Archives inside one archive that are opened; each keeps a file open."""
_TOO_DEEP: Final = "it lies in an archive inside an archive"


class Archive:
    """An archive that is open. Safe to use from many threads."""

    def __init__(self, file: BinaryIO, name: str, max_bytes: int, scratch: Scratch) -> None:
        """Open it and list what it holds. `file`, a file on a disk, is closed with it.

        Args:
            file: the archive's content.
            name: its name, by which its kind is known.
            max_bytes: what a member may unpack to.
            scratch: makes folders on the disk.

        Raises:
            ArchiveNotOpened: it cannot be read.
            Unavailable: the disk has no room.
        """
        self._scratch = scratch
        self._max_bytes = max_bytes
        self._closing = ExitStack()
        self._inside: dict[int, Container] = {}
        self._folder: Path | None = None
        self._lock = threading.Lock()
        self.contents = Contents()
        try:
            self._container = self._opened(file, name)
            self._list()
        except BaseException:
            self.close()
            raise

    def extract(self, member: Member, target: Target, max_bytes: int) -> None:
        """Write a member's content into `target`.

        Raises:
            TooLarge: there are more than `max_bytes`. Damaged: it is not what was packed. Unavailable: no room for it.
        """
        *outer, entry = member.at
        container = self._inside[outer[0]] if outer else self._container
        container.extract(entry, target, max_bytes)

    def close(self) -> None:
        """Let go of the archive and of what was unpacked."""
        self._closing.close()

    def _opened(self, file: BinaryIO, name: str) -> Container:
        self._closing.callback(file.close)
        magic = file.read(len(seven_zip.MAGIC))
        file.seek(0)
        if magic == seven_zip.MAGIC or (name.lower().endswith(".7z") and magic[:2] != b"PK"):
            container: Container = seven_zip.SevenZipContainer(file, self._max_bytes, self._scratch)
        else:
            container = ZipContainer(file)
        self._closing.callback(container.close)
        return container

    def _list(self) -> None:
        allowance, contents = Allowance(self._max_bytes), self.contents
        documents = shown(self._container.entries(), allowance, contents)
        for entry in documents:
            if not is_archive(entry.name):
                contents.members.append(_member(entry, (entry.at,)))
                continue
            try:
                self._list_inside(entry, allowance)
            except ArchiveNotOpened as error:
                contents.lasting = contents.lasting and error.lasting
                contents.shut.append((entry.name, error.reason))
                contents.members.append(_member(entry, (entry.at,)))

    def _list_inside(self, entry: Entry, allowance: Allowance) -> None:
        """Add the members of an archive inside this one.

        Raises:
            ArchiveNotOpened: it stays shut.
        """
        if entry.name in self.contents.folders:
            raise ArchiveNotOpened("a folder of the archive has its name")
        if len(self._inside) == MOST_INSIDE:
            raise ArchiveNotOpened(f"{MOST_INSIDE} others were opened before it")
        if entry.size > allowance.inner_bytes:
            raise ArchiveNotOpened(
                "too much was unpacked for others before it (DILIGENCE_DOCUMENT_MAX_MB)", lasting=False
            )
        allowance.inner_bytes -= entry.size
        container = self._opened(self._unpacked(entry), entry.name)
        inside = Contents()
        documents = shown(container.entries(), allowance, inside, below=f"{entry.name}/")
        self._inside[entry.at] = container
        self.contents.folders[entry.name] = None
        self.contents.folders.update(inside.folders)
        self.contents.left_out.extend(inside.left_out)
        for inner in documents:
            if is_archive(inner.name):
                self.contents.shut.append((inner.name, _TOO_DEEP))
            self.contents.members.append(_member(inner, (entry.at, inner.at)))

    def _unpacked(self, entry: Entry) -> BinaryIO:
        """An archive inside this one as a file of its own.

        Raises:
            ArchiveNotOpened: it cannot be unpacked.
        """
        with self._lock:
            if self._folder is None:
                self._folder = self._closing.enter_context(self._scratch())
        path = self._folder / uuid4().hex
        try:
            with path.open("xb") as file:
                self._container.extract(entry.at, file, self._max_bytes)
            return path.open("rb")
        except OSError as error:
            raise no_room(error) from error
        except Unavailable:
            raise
        except DiligenceError as error:
            raise ArchiveNotOpened("it is damaged, or larger than it says") from error
        finally:
            with suppress(OSError):
                path.unlink()  # the open file stays


def no_room(error: OSError) -> Unavailable:
    """The error for a disk that is full."""
    return Unavailable(f"An archive cannot be unpacked ({error.strerror}). DILIGENCE_HOME must have room for it.")


def _member(entry: Entry, at: Sequence[int]) -> Member:
    return Member(entry.name, entry.size, entry.updated, tuple(at))

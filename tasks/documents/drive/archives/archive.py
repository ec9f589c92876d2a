"""An open archive, the pool of open archives, and listings of remote archives kept on disk.

An archive and the archives inside it form one list of documents, each of which can be unpacked. The pool fetches and
lists each archive once, and closes the least recently used. A listing on disk saves downloading an unchanged archive.
"""

import atexit
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from storage import database
from tasks.documents.drive.archives import seven_zip
from tasks.documents.drive.archives.zip import (
    Allowance,
    ArchiveNotOpened,
    Container,
    Contents,
    Entry,
    Member,
    Scratch,
    Target,
    ZipContainer,
    is_archive,
    list_entries,
)
from tasks.errors import DiligenceError, Unavailable

MOST_INSIDE: Final = 200
"""Archives inside one archive that are opened; each keeps a file open."""
_TOO_DEEP: Final = "it lies in an archive inside an archive"


class Archive:
    """An archive that is open. Safe to use from many threads."""

    def __init__(self, file: BinaryIO, name: str, max_bytes: int, scratch: Scratch) -> None:
        """Open it and list its contents. `file`, a file on disk, is closed with it.

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
            self._container = self._open(file, name)
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
        """Close the archive and delete what was unpacked."""
        self._closing.close()

    def _open(self, file: BinaryIO, name: str) -> Container:
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
        documents = list_entries(self._container.entries(), allowance, contents)
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
        """Add the members of an archive that lies in this one.

        Raises:
            ArchiveNotOpened: the inner archive cannot be opened.
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
        container = self._open(self._unpack(entry), entry.name)
        inside = Contents()
        documents = list_entries(container.entries(), allowance, inside, below=f"{entry.name}/")
        self._inside[entry.at] = container
        self.contents.folders[entry.name] = None
        self.contents.folders.update(inside.folders)
        self.contents.left_out.extend(inside.left_out)
        for inner in documents:
            if is_archive(inner.name):
                self.contents.shut.append((inner.name, _TOO_DEEP))
            self.contents.members.append(_member(inner, (entry.at, inner.at)))

    def _unpack(self, entry: Entry) -> BinaryIO:
        """Unpack an archive that lies in this one to a separate file.

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
            why = f"An archive cannot be unpacked ({error.strerror}). DILIGENCE_HOME must have room for it."
            raise Unavailable(why) from error
        except Unavailable:
            raise
        except DiligenceError as error:
            raise ArchiveNotOpened("it is damaged, or larger than it says") from error
        finally:
            with suppress(OSError):
                path.unlink()  # the open file stays


def _member(entry: Entry, at: Sequence[int]) -> Member:
    return Member(entry.name, entry.size, entry.updated, tuple(at))


MOST_OPEN: Final = 16
"""Archives that stay open though nobody uses them now."""

Key = tuple[str, str, str]
"""The drive's name, the archive's id, its version."""


@dataclass(eq=False, slots=True)
class _Slot:
    """An archive that is open or about to be opened, and how many users it has."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    archive: Archive | None = None
    size: int = 0
    users: int = 0


class OpenArchives:
    """Open archives by key; the least recently used is closed first."""

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` is how much disk space unused archives may take together."""
        self._max_bytes = max_bytes
        self._slots: OrderedDict[Key, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def using(self, key: Key, size: int, make: Callable[[], Archive]) -> Iterator[Archive]:
        """The archive with that key, for use in the block; `make` opens it if needed, once for all who wait for it.

        Raises:
            Exception: what `make` raises.
        """
        with self._lock:
            slot = self._slots.setdefault(key, _Slot(size=size))
            self._slots.move_to_end(key)
            slot.users += 1
        try:
            with slot.lock:
                if slot.archive is None:
                    slot.archive = make()
            yield slot.archive
        finally:
            with self._lock:
                slot.users -= 1
                unneeded = self._take_out_unneeded()
            for archive in unneeded:
                archive.close()

    def is_open(self, key: Key) -> bool:
        """Whether the archive with that key is available without waiting."""
        with self._lock:
            return key in self._slots and self._slots[key].archive is not None

    def close(self) -> None:
        """Close every archive that nobody uses."""
        with self._lock:
            unneeded = self._take_out_unneeded(most=0)
        for archive in unneeded:
            archive.close()

    def _take_out_unneeded(self, most: int = MOST_OPEN) -> list[Archive]:
        """Remove archives beyond the limits, which are returned, and any that failed to open. The lock is held."""
        size = sum(slot.size for slot in self._slots.values())
        unneeded: list[Archive] = []
        for key, slot in list(self._slots.items()):
            too_much = len(self._slots) > most or size > self._max_bytes
            if slot.users or not (too_much or slot.archive is None):
                continue
            del self._slots[key]
            size -= slot.size
            if slot.archive is not None:
                unneeded.append(slot.archive)
        return unneeded


open_archives: Final = OpenArchives(2 << 30)
"""The archives of this process."""
atexit.register(open_archives.close)


_VERSION: Final = 1
"""Counts up whenever the same archive would be shown in another way."""
_MOST_KEPT: Final = 500
_LARGEST: Final = 16 << 20


def find_listing(key: Key, max_bytes: int) -> Contents | None:
    """The contents of the archive with that key, if stored, for members of at most that many bytes."""
    path = _path(key, max_bytes)
    try:
        members, folders, left_out, shut = json.loads(path.read_bytes())
        contents = Contents(
            [Member(name, size, updated, tuple(at)) for name, size, updated, at in members],
            dict.fromkeys(folders),
            [(name, reason) for name, reason in left_out],
            [(name, reason) for name, reason in shut],
        )
    except (OSError, ValueError, TypeError):
        return None
    with suppress(OSError):
        os.utime(path)
    return contents


def keep_listing(key: Key, max_bytes: int, contents: Contents) -> None:
    """Store the contents of an archive, if opening it again would give the same."""
    if not contents.lasting:
        return
    values = [contents.members, list(contents.folders), contents.left_out, contents.shut]
    data = json.dumps(values, separators=(",", ":")).encode()
    path = _path(key, max_bytes)
    if len(data) > _LARGEST:
        return
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        new = path.with_name(f"{uuid4().hex}.new")
        new.write_bytes(data)
        new.replace(path)
        others = sorted(path.parent.iterdir(), key=lambda other: other.stat().st_mtime)
        for other in others[:-_MOST_KEPT]:
            other.unlink(missing_ok=True)


def _path(key: Key, max_bytes: int) -> Path:
    """Where the listing is kept. File names reveal nothing about documents."""
    name = json.dumps([_VERSION, key, max_bytes, seven_zip.has_py7zr()])
    return database.home() / "archives" / f"{sha256(name.encode()).hexdigest()}.json"

"""Drives for the contract suite, each with the means to put things into it.

Another drive joins with a class like `LocalShelf`, a fixture that gives one, and its name in `shelf`'s params.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from tasks.documents.drive.archives.drive import ArchiveDrive
from tasks.documents.drive.drive import Bearer, Drive
from tasks.documents.drive.google.drive import open_drive as open_google_drive
from tasks.documents.drive.local.drive import LocalDrive
from tests.google.items import Item, rfc3339
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import point_at
from tests.tasks.documents.drive.memory.drive import MemoryDrive
from tests.tasks.documents.drive.memory.store import Node, Store


class Shelf(Protocol):
    """A drive with a folder `top` that tests fill. Paths are seen from there; folders on the way are made."""

    drive: Drive
    top: str

    def folder(self, path: str) -> str:
        """Make a folder; gives its id."""

    def file(self, path: str, content: bytes = b"words") -> str:
        """Write a document, in place of what it held before; gives its id."""

    def elsewhere(self, path: str, content: bytes = b"words") -> str:
        """Write a document that this account may see, in a folder beside `top`; gives its id."""

    def shortcut(self, path: str, to: str) -> None:
        """Make a shortcut to what lies at the path `to`; `../` leads beside `top`."""

    def remove(self, path: str) -> None:
        """Delete a document."""

    def again(self) -> Drive:
        """The same drive, opened anew."""


class LocalShelf:
    """The local folder."""

    def __init__(self, root: Path) -> None:
        self.path = root / "top"
        self.path.mkdir(parents=True)
        self._root = root
        self.drive: Drive = self.again()
        self.top = self.drive.find_folder("top")

    def folder(self, path: str) -> str:
        (self.path / path).mkdir(parents=True, exist_ok=True)
        return self.drive.find_folder(f"top/{path}")

    def file(self, path: str, content: bytes = b"words") -> str:
        return self._write(self.path / path, content)

    def elsewhere(self, path: str, content: bytes = b"words") -> str:
        return self._write(self._root / "beside" / path, content)

    def shortcut(self, path: str, to: str) -> None:
        link = self.path / path
        link.parent.mkdir(parents=True, exist_ok=True)
        to = f"beside/{to[3:]}" if to.startswith("../") else f"top/{to}"
        link.symlink_to(self._root / to)

    def remove(self, path: str) -> None:
        (self.path / path).unlink()

    def again(self) -> Drive:
        return LocalDrive(self._root, "https://diligence.example")

    def _write(self, file: Path, content: bytes) -> str:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        listing = self.drive.list_folder(self.drive.find_folder(str(file.parent)), recursive=False)
        return next(document.id for document in listing.documents if document.name == file.name)


class ArchivesShelf(LocalShelf):
    """The local folder with its archives as folders, as every drive is opened."""

    def again(self) -> Drive:
        return ArchiveDrive(super().again(), shown_here=True)


class RemoteShelf(ABC):
    """A user's folder in a store of items, of which the classes below know how they are made."""

    USER = "ada@example.com"

    def folder(self, path: str) -> str:
        return self._folder(f"top/{path}").id

    def file(self, path: str, content: bytes = b"words") -> str:
        return self._write(f"top/{path}", content)

    def elsewhere(self, path: str, content: bytes = b"words") -> str:
        return self._write(f"beside/{path}", content)

    @abstractmethod
    def _folder(self, path: str) -> Item | Node:
        """The item of that folder, which has an `id`; it is made if there is none."""

    @abstractmethod
    def _write(self, path: str, content: bytes) -> str:
        """The id of the file, which is made if there is none."""


class GoogleShelf(RemoteShelf):
    """A user's My Drive in the emulator."""

    def __init__(self, emulator: DriveEmulator) -> None:
        self.emulator = emulator
        self.world = emulator.world
        mine = self.world.root(self.USER)
        self._items = {"top": self.world.folder("top", mine), "beside": self.world.folder("beside", mine)}
        self.top = self._items["top"].id
        self.drive: Drive = self.again()

    def shortcut(self, path: str, to: str) -> None:
        at = f"beside/{to[3:]}" if to.startswith("../") else f"top/{to}".rstrip("/")
        if at in self._items:
            target, gone = self._items[at], False
        else:
            target, gone = self.world.file("gone", self._items["beside"]), True
        folder, name = os.path.split(f"top/{path}")
        self.world.shortcut(name, self._folder(folder), target)
        if gone:
            self.world.delete(target)

    def remove(self, path: str) -> None:
        self.world.delete(self._items.pop(f"top/{path}"))

    def again(self) -> Drive:
        return open_google_drive(Bearer(self.emulator.token(self.USER)))

    def _folder(self, path: str) -> Item:
        if path not in self._items:
            above, name = os.path.split(path)
            self._items[path] = self.world.folder(name, self._folder(above))
        return self._items[path]

    def _write(self, path: str, content: bytes) -> str:
        if path in self._items:
            self.world.write(self._items[path], content)
        else:
            folder, name = os.path.split(path)
            item = self._items[path] = self.world.file(name, self._folder(folder), content)
            item.created = item.modified = rfc3339(datetime.now(UTC))  # its clock stands at one date
        return self._items[path].id


class MemoryShelf(RemoteShelf):
    """A user's folder in the memory drive."""

    def __init__(self) -> None:
        self._store = Store()
        root = self._store.root(self.USER)
        self._nodes = {name: self._store.add(name, root) for name in ("top", "beside")}
        self.top = self._nodes["top"].id
        self.drive: Drive = self.again()

    def shortcut(self, path: str, to: str) -> None:
        at = f"beside/{to[3:]}" if to.startswith("../") else f"top/{to}".rstrip("/")
        target = self._nodes[at].id if at in self._nodes else "gone"
        folder, name = os.path.split(f"top/{path}")
        self._store.add(name, self._folder(folder), target=target)

    def remove(self, path: str) -> None:
        del self._store.nodes[self._nodes.pop(f"top/{path}").id]

    def again(self) -> Drive:
        return MemoryDrive(self._store, self.USER)

    def _folder(self, path: str) -> Node:
        if path not in self._nodes:
            above, name = os.path.split(path)
            self._nodes[path] = self._store.add(name, self._folder(above))
        return self._nodes[path]

    def _write(self, path: str, content: bytes) -> str:
        if path in self._nodes:
            self._store.write(self._nodes[path], content)
        else:
            folder, name = os.path.split(path)
            self._nodes[path] = self._store.add(name, self._folder(folder), content)
        return self._nodes[path].id


@pytest.fixture
def memory_shelf() -> Shelf:
    return MemoryShelf()


@pytest.fixture
def emulator(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DriveEmulator]:
    """An empty Google Drive, which the settings name."""
    with DriveEmulator() as found:
        point_at(found, monkeypatch)
        yield found


@pytest.fixture
def google_shelf(emulator: DriveEmulator) -> GoogleShelf:
    return GoogleShelf(emulator)


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    """An empty folder to be the local drive's root."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def local_shelf(root: Path) -> Shelf:
    return LocalShelf(root)


@pytest.fixture
def archives_shelf(root: Path) -> Shelf:
    return ArchivesShelf(root)


@pytest.fixture(params=["local", "google", "memory", "archives"])
def shelf(request: pytest.FixtureRequest) -> Shelf:
    """Each drive in turn."""
    found: Shelf = request.getfixturevalue(f"{request.param}_shelf")
    return found


@contextmanager
def unprivileged() -> Iterator[None]:
    """As an account that permissions hold for; tests may run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)

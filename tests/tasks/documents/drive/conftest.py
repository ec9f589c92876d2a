"""Drives for the contract suite, each with the means to put things into it.

A second drive joins with a class like `LocalShelf`, a fixture that gives one, and its name in `shelf`'s params.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from tasks.documents.drive.drive import Drive
from tasks.documents.drive.local import LocalDrive


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
        return next(each.id for each in listing.documents if each.name == file.name)


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    """An empty folder to be the local drive's root."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def local_shelf(root: Path) -> Shelf:
    return LocalShelf(root)


@pytest.fixture(params=["local"])
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

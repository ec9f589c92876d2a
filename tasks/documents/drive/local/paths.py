"""Ids for the paths below a root, which paths are visible, and opening them without leaving the root.

An id is the encoded path under the root: it needs no table, stays as long as the path, and is checked at
each use. Hidden files (`.x`), lock files and the service's own home do not exist here. Paths are strings as
`os` gives them: pathlib would silently correct what must be refused.
"""

import base64
import binascii
import os
import stat
from contextlib import ExitStack
from functools import cached_property, lru_cache
from typing import BinaryIO

from storage.settings import StorageSettings
from tasks.documents.drive.drive import ROOT, hidden

_MARK = "L"  # ids begin with it, so that none can be read as `root`


class Outside(Exception):
    """The id or path stands for nothing that is visible."""


class Tree:
    """The folder `root` and what is visible below it."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._below = self.root.rstrip(os.sep) + os.sep
        self._path_of = lru_cache(maxsize=4096)(self._path_of)  # type: ignore[method-assign]  # 4 of 20 µs a request

    def id_of(self, path: str) -> str:
        """The id of an absolute path at or below the root."""
        if path == self.root:
            return ROOT
        return _MARK + base64.urlsafe_b64encode(os.fsencode(path[len(self._below) :])).decode().rstrip("=")

    def resolve(self, item_id: str) -> str:
        """The real path that an id stands for, whether anything is there or not.

        Raises:
            Outside: the id is forged, or its path is hidden or lies outside the root.
        """
        if item_id == ROOT:
            return self.root
        try:
            path = self._path_of(item_id)
            real = self._real(path)
        except (binascii.Error, ValueError, OSError) as error:
            raise Outside from error
        if real is not path and not self.shows(real):
            raise Outside
        return real

    def _path_of(self, item_id: str) -> str:
        """The path that an id spells, whatever lies there.

        Raises:
            Outside, binascii.Error, ValueError: the id is forged, or its path is hidden.
        """
        encoded = item_id.removeprefix(_MARK)
        relative = os.fsdecode(base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True))
        path = self._below + relative
        forged = not relative or "\0" in relative or os.path.normpath(path) != path or self.id_of(path) != item_id
        if forged or not self.shows(path):
            raise Outside
        return path

    def find(self, path: str) -> str | None:
        """The real path that a user's path leads to from the root; None if it is not visible."""
        try:
            real = os.path.realpath(os.path.join(self.root, path))
        except ValueError:  # a NUL in it, or half a character
            return None
        return real if self.shows(real) else None

    def holds(self, path: str) -> bool:
        """Whether an absolute path lies at or below the root."""
        return path == self.root or path.startswith(self._below)

    def shows(self, path: str) -> bool:
        """Whether an absolute path is visible: at or below the root, not hidden, not in the service's own home."""
        if path == self.root:
            return True
        if not path.startswith(self._below) or path.startswith(self._database):
            return False
        if any(path == own or path.startswith(own + os.sep) for own in self._own):
            return False
        return not any(hidden(part) for part in path[len(self._below) :].split(os.sep))

    def open(self, real: str) -> BinaryIO:
        """Open a real path folder by folder without following links, so that nothing is swapped in after the check.

        Raises:
            OSError: it is not there or cannot be opened; `IsADirectoryError` for anything but a file.
        """
        *folders, name = os.path.relpath(real, self.root).split(os.sep)
        with ExitStack() as opened:
            at = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            opened.callback(os.close, at)
            for folder in folders:
                at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
                opened.callback(os.close, at)
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise IsADirectoryError
        return os.fdopen(handle, "rb")

    def _real(self, path: str) -> str:
        """`os.path.realpath` of a path below the root, a third of its time where nothing is a link."""
        end = len(self.root)
        while end >= 0:
            end = path.find(os.sep, max(end, len(self._below)) + 1)
            try:
                if stat.S_ISLNK(os.lstat(path[:end] if end >= 0 else path).st_mode):
                    return os.path.realpath(path)
            except OSError:
                return path  # it is not there: opening it will fail
        return path

    @cached_property
    def _own(self) -> tuple[str, ...]:
        """The service's own paths below the root: its home or, where the root lies in the home, the home's files."""
        home = os.path.realpath(StorageSettings.current().home.absolute())
        if home.startswith(self._below):
            return (home,)
        names = ("spool", "archives", "evidence", "prefect", "secret.key")
        return tuple(os.path.join(home, name) for name in names)

    @cached_property
    def _database(self) -> str:
        """How the paths of the database and the files beside it (its log, its locks) begin."""
        return os.path.join(os.path.realpath(StorageSettings.current().home.absolute()), "diligence.db")

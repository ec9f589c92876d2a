"""A folder tree that can be named from outside: ids for paths, what is visible, opening without a way out.

An id is the path under the root, encoded: it needs no table, stays while the path stays, and is
checked at each use. What is hidden (`.x`), a lock file, or the service's own home does not exist
here. Paths are strings as `os` gives them: pathlib would quietly mend what must be refused.
"""

import base64
import binascii
import os
import stat
from contextlib import ExitStack
from functools import cached_property
from typing import BinaryIO

from storage.settings import StorageSettings
from tasks.documents.drive.drive import ROOT, hidden

_MARK = "L"  # ids begin with it, so that none can be read as `root`


class Outside(Exception):
    """The id or path stands for nothing that may be seen."""


class Tree:
    """The folder `root` (a real path) and what lies visibly below it."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._below = self.root.rstrip(os.sep) + os.sep

    def id_of(self, path: str) -> str:
        """The id of an absolute path at or below the root."""
        if path == self.root:
            return ROOT
        return _MARK + base64.urlsafe_b64encode(os.fsencode(path[len(self._below) :])).decode().rstrip("=")

    def resolve(self, given_id: str) -> str:
        """The real path that an id stands for, whether anything is there or not.

        Raises:
            Outside: the id is forged, or what it names is hidden or lies outside.
        """
        if given_id == ROOT:
            return self.root
        try:
            encoded = given_id.removeprefix(_MARK)
            relative = os.fsdecode(base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True))
            path = self._below + relative
            forged = not relative or "\0" in relative or os.path.normpath(path) != path or self.id_of(path) != given_id
            if forged or not self.shows(path):
                raise Outside
            real = self._real(path)
        except (binascii.Error, ValueError, OSError) as error:
            raise Outside from error
        if not self.shows(real):
            raise Outside
        return real

    def find(self, given: str) -> str | None:
        """The real path of what a user's path, seen from the root, leads to; None if that may not be seen."""
        try:
            real = os.path.realpath(os.path.join(self.root, given))
        except ValueError:  # a NUL in it, or half a character
            return None
        return real if self.shows(real) else None

    def holds(self, path: str) -> bool:
        """Whether an absolute path lies at or below the root."""
        return path == self.root or path.startswith(self._below)

    def shows(self, path: str) -> bool:
        """Whether an absolute path lies at or below the root, in nothing hidden, not in the service's own home."""
        if path == self.root:
            return True
        if not path.startswith(self._below) or any(path == own or path.startswith(own + os.sep) for own in self._own):
            return False
        return not any(hidden(part) for part in path[len(self._below) :].split(os.sep))

    def open(self, real: str) -> BinaryIO:
        """Open a real path folder by folder without following links: nothing can be swapped in after the check.

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
                return path  # it is not there: whoever opens it finds out
        return path

    @cached_property
    def _own(self) -> tuple[str, ...]:
        """What the service keeps below the root: its home, or where the home holds the root, what lies in that."""
        home = os.path.realpath(StorageSettings.current().home.absolute())
        if home.startswith(self._below):
            return (home,)
        kept = ("spool", "prefect", "diligence.db", "diligence.db-wal", "diligence.db-shm")
        return tuple(os.path.join(home, name) for name in kept)

"""The local folder as a drive with one account, the service's own, which sees everything below the root and nothing
else.

Symbolic links are shortcuts: followed if their target is visible below the root, otherwise left out.

As a `DriveProvider` this module opens the folder that DILIGENCE_DRIVE_ROOT names, and the roots of earlier runs.
"""

import base64
import binascii
import hashlib
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from glob import escape, glob
from pathlib import Path
from typing import BinaryIO, TypeVar

from storage import database
from storage.documents import find_document_drives
from storage.errors import DatabaseUnavailable
from storage.settings import StorageSettings
from tasks import cancellation
from tasks.documents.drive.drive import (
    NO_DOCUMENT,
    NO_FOLDER,
    ROOT,
    Changes,
    CheckResult,
    Document,
    DocumentSettings,
    Drive,
    Fetched,
    Folder,
    Identity,
    Listing,
    identifier,
    no_such,
)
from tasks.documents.drive.local import LocalDriveSettings
from tasks.documents.drive.spool import ListedDocuments, new_file
from tasks.errors import NotConfigured, NotFound, SourceFailed, Unavailable, document_too_large
from tasks.files import hidden
from tasks.reading.detect import guess_file_mime_type

_MARK = "L"  # ids begin with it, so that none can be read as `root`


class Outside(Exception):
    """The id or path refers to nothing that is visible."""


class Tree:
    """The folder `root` and what is visible below it."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._below = self.root.rstrip(os.sep) + os.sep

    def make_id(self, path: str) -> str:
        """The id of an absolute path at or below the root."""
        if path == self.root:
            return ROOT
        return _MARK + base64.urlsafe_b64encode(os.fsencode(path[len(self._below) :])).decode().rstrip("=")

    def resolve(self, item_id: str) -> str:
        """The real path that an id stands for, whether or not anything is there.

        Raises:
            Outside: the id is forged, or its path is hidden or lies outside the root.
        """
        if item_id == ROOT:
            return self.root
        try:
            real = os.path.realpath(self._find_path(item_id))
        except (binascii.Error, ValueError, OSError) as error:
            raise Outside from error
        if not self.shows(real):
            raise Outside
        return real

    def _find_path(self, item_id: str) -> str:
        """The path that an id encodes, whatever lies there.

        Raises:
            Outside, binascii.Error, ValueError: the id is forged, or its path is hidden.
        """
        encoded = item_id.removeprefix(_MARK)
        relative = os.fsdecode(base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True))
        path = self._below + relative
        forged = not relative or "\0" in relative or os.path.normpath(path) != path or self.make_id(path) != item_id
        if forged or not self.shows(path):
            raise Outside
        return path

    def find(self, path: str) -> str | None:
        """The real path for a user's path from the root; None if it is not visible."""
        try:
            real = os.path.realpath(os.path.join(self.root, path))
        except ValueError:  # a NUL in it, or half a character
            return None
        return real if self.shows(real) else None

    def subfolders(self) -> list[str]:
        """The paths from the root of the visible folders that lie two levels below it, in order."""
        found = sorted(glob(os.path.join(escape(self.root), "*", "*", "")))
        return [path[len(self._below) : -1] for path in found if self.shows(os.path.realpath(path))]

    def holds(self, path: str) -> bool:
        """Whether an absolute path is at or below the root."""
        return path == self.root or path.startswith(self._below)

    def shows(self, path: str) -> bool:
        """Whether an absolute path is visible: at or below the root, not hidden, and not in the service's own home."""
        if path == self.root:
            return True
        if not path.startswith(self._below) or path.startswith(self._database):
            return False
        if any(path == own or path.startswith(own + os.sep) for own in self._own):
            return False
        return not any(hidden(part) for part in path[len(self._below) :].split(os.sep))

    def open(self, real: str) -> BinaryIO:
        """Open a real path folder by folder without following links, so that nothing can be swapped after the check.

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

    @cached_property
    def _own(self) -> tuple[str, ...]:
        """The service's own paths below the root: its home or, if the root lies in the home, the home's files."""
        home = os.path.realpath(StorageSettings.current().home.absolute())
        if home.startswith(self._below):
            return (home,)
        names = ("spool", "archives", "evidence", "prefect", "secret.key")
        return tuple(os.path.join(home, name) for name in names)

    @cached_property
    def _database(self) -> str:
        """What the paths of the database and of the files beside it (its log, its locks) begin with."""
        return os.path.join(os.path.realpath(StorageSettings.current().home.absolute()), "diligence.db")


_MEGABYTE = 1024 * 1024
_OPEN_FILES = Path("/proc/self/fd")
"""Where Linux lists the files that a process has open; on other systems documents are copied."""
_SETTLED = 50_000_000
"""Nanoseconds after which a change differs from the one before in its time, with room to spare.

A file's time is that of the system's last tick, up to 10 ms before: two changes within a tick have the same time.
"""


class LocalDrive:
    """The folder `root` and everything below it."""

    remote = False
    max_parallel_fetches = 1

    def __init__(self, root: Path, base_url: str) -> None:
        """Open the drive.

        Raises:
            NotConfigured: `root` is no folder that can be read.
        """
        if not os.path.isdir(root):
            raise NotConfigured(
                "The drive's root is not a folder. Set DILIGENCE_DRIVE_ROOT to the folder of your documents."
            )
        self._tree = Tree(str(root))
        self._base_url = base_url.rstrip("/")

    @cached_property
    def name(self) -> str:
        return f"local:{hashlib.sha256(os.fsencode(self._tree.root)).hexdigest()[:16]}"

    @property
    def view(self) -> str:
        return self.name

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:  # noqa: ARG002 - there is no record of changes
        return None

    def find_folder(self, reference: str) -> str:
        for path in (reference, reference.strip()):
            folder = self._tree.find(path) if reference.strip() else None
            if folder is not None and os.path.isdir(folder):
                return self._tree.make_id(folder)
        folder_id = identifier(reference, "folder")
        try:
            return self._tree.make_id(self._folder(folder_id))
        except NotFound:
            near = next((below for below in self._tree.subfolders() if below.endswith(f"/{reference.strip()}")), None)
            found = self._tree.find(reference)
            hint = f" Did you mean {near}?" if near else " That is a file." if found and os.path.isfile(found) else ""
            raise NotFound(
                f"No folder {reference!r} under the drive's root.{hint} Give a folder's path from there, its id or its "
                "URL; the root is DILIGENCE_DRIVE_ROOT, by default the current folder."
            ) from None

    def find_document(self, reference: str) -> str:
        return identifier(reference, "document_id")

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        top = self._folder(folder_id)
        return FolderWalk(self._tree, top, self._describe, recursive=recursive, spool=spool).listing()

    def document(self, document_id: str) -> Document:
        path = self._resolve(document_id, "document")
        try:
            status = os.stat(path)
        except OSError as error:
            raise no_such("document") from error
        if not stat.S_ISREG(status.st_mode):
            raise NotFound(NO_DOCUMENT if stat.S_ISDIR(status.st_mode) else "This is not a document that can be read.")
        name = display(os.path.basename(path))
        return self._describe(path, status, name, self._tree.make_id(os.path.dirname(path)), "")

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        source = self.open(document_id)
        try:
            before, opened = os.fstat(source.fileno()), time.time_ns()
            if _OPEN_FILES.is_dir() and opened - before.st_ctime_ns >= _SETTLED:
                path = Path(f"/proc/{os.getpid()}/fd/{source.fileno()}")
                in_place = _InPlace(path, hash_content(source, None, max_bytes), _version(before), source)
                if in_place.is_unchanged():
                    return in_place
                source.seek(0)
            copy = _copy(source, spool, max_bytes)
        except BaseException:
            source.close()
            raise
        source.close()
        return copy

    def open(self, document_id: str) -> BinaryIO:
        try:
            return self._tree.open(self._resolve(document_id, "document"))
        except IsADirectoryError as error:
            raise NotFound("This is a folder, or something that cannot be read, not a document.") from error
        except OSError as error:
            raise no_such("document") from error

    def local_path(self, document_id: str) -> Path:
        path = self._resolve(document_id, "document")
        if not os.path.isfile(path):
            raise no_such("document")
        return Path(path)

    def _describe(self, file: str, status: os.stat_result, name: str, folder_id: str, path: str) -> Document:
        document_id = self._tree.make_id(file)
        # os.stat gives no time of creation on Linux: the older of change and modification is nearest to it.
        born = getattr(status, "st_birthtime", min(status.st_ctime, status.st_mtime))
        return Document(
            id=document_id,
            name=name,
            folder_id=folder_id,
            path=path,
            url=f"{self._base_url}/file/d/{document_id}/view",
            mime_type=guess_file_mime_type(Path(file)),
            size=status.st_size,
            created=utc_time(born),
            updated=utc_time(status.st_mtime),
            version=_version(status),
        )

    def _resolve(self, item_id: str, kind: str) -> str:
        try:
            return self._tree.resolve(item_id)
        except Outside as error:
            raise no_such(kind) from error

    def _folder(self, folder_id: str) -> str:
        path = self._resolve(folder_id, "folder")
        if not os.path.isdir(path):
            raise NotFound(NO_FOLDER) if os.path.exists(path) else no_such("folder")
        return path


@dataclass
class _InPlace(Fetched):
    """A document that is read in place, through the `file` that was opened and hashed.

    Its path is that of the open file, so that a reading process gets the same file even if another has been put in its
    place. A copy would take 0.2 ms of 0.3, and ten times that on a busy disk.
    """

    file: BinaryIO

    def is_unchanged(self) -> bool:
        return self.version == _version(os.fstat(self.file.fileno()))

    def release(self) -> None:
        self.file.close()


Describe = Callable[[str, os.stat_result, str, str, str], Document]
"""Describes a file: its real path, its status, the name to show, the id and the path of its folder in the listing."""


class FolderWalk:
    """One walk through the folder `top` (a real path); `describe` makes the documents.

    Real folders and files come first, then what links add: a document in the tree is listed at its own place under its
    own name.
    """

    def __init__(self, tree: Tree, top: str, describe: Describe, *, recursive: bool, spool: Path | None = None) -> None:
        self._tree = tree
        self._describe = describe
        self._recursive = recursive
        self._listing = Listing(Folder(tree.make_id(top), display(os.path.basename(top) or os.sep), ""))
        self._listing.documents = self._documents = ListedDocuments(spool)
        self._folders = {top}
        self._listed_folders: set[str] = set()
        self._linked_documents: set[str] = set()
        self._to_list = deque([(top, "")])
        # (path of the link, path of its folder in the listing, id of that folder)
        self._links: deque[tuple[str, str, str]] = deque()

    def listing(self) -> Listing:
        """Walk through all of it."""
        while self._to_list or self._links:
            if self._to_list:
                self._list(*self._to_list.popleft())
            else:
                self._follow(*self._links.popleft())
        return self._listing

    def _list(self, folder: str, path: str) -> None:
        cancellation.check()
        try:
            with os.scandir(folder) as unordered:
                entries = sorted(unordered, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return  # it has vanished since its own folder was listed
        except OSError:
            name = path or self._listing.folder.name
            self._listing.warnings.append(f"The folder {name!r} cannot be opened: its contents are left out.")
            self._listing.incomplete = True
            return
        self._listed_folders.add(folder)
        folder_id = self._tree.make_id(folder)
        for entry in entries:
            if hidden(entry.name) or not self._tree.shows(entry.path):
                continue
            if entry.is_symlink():
                self._links.append((entry.path, path, folder_id))
            else:
                self._add(entry.path, display(entry.name), path, folder_id)

    def _follow(self, link: str, path: str, folder_id: str) -> None:
        target, name = os.path.realpath(link), display(os.path.basename(link))
        if self._tree.shows(target):
            broken = f"Left out: {name!r} is a link to something that is not there."
            self._add(target, name, path, folder_id, broken=broken)
        elif self._tree.holds(target):
            self._listing.warnings.append(f"Left out: {name!r} is a link to something hidden.")
        else:
            self._listing.warnings.append(f"Left out: {name!r} is a link that leaves the drive's root.")

    def _add(self, real: str, name: str, path: str, folder_id: str, broken: str | None = None) -> None:
        """Add what lies at a real path to the folder with that path and id.

        `broken` is the warning for a link that leads to nothing; without it, `real` is not the target of a link.
        """
        try:
            status = os.stat(real, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            if broken:  # what is no link has vanished since its folder was listed: it is not there
                self._listing.warnings.append(broken)
            return
        except OSError:  # too deep for a path, or behind a closed folder
            self._listing.warnings.append(f"Left out: {name!r} cannot be reached.")
            self._listing.incomplete = True
            return
        if stat.S_ISDIR(status.st_mode):
            if self._recursive and real not in self._folders:
                self._folders.add(real)
                below = f"{path}/{name}" if path else name
                self._listing.folders.append(Folder(self._tree.make_id(real), name, below, folder_id))
                self._to_list.append((real, below))
        elif stat.S_ISREG(status.st_mode):
            # A set of all documents would take memory: they stand in a folder that was listed, or links led to them.
            if real in self._linked_documents or (broken and os.path.dirname(real) in self._listed_folders):
                return
            if broken:
                self._linked_documents.add(real)
            self._documents.add([self._describe(real, status, name, folder_id, path)])
        elif broken and stat.S_ISLNK(status.st_mode):  # a circle of links ends in one of them
            self._listing.warnings.append(broken)
        else:
            self._listing.warnings.append(f"Left out: {name!r} is neither a file nor a folder.")


def display(name: str) -> str:
    """A name as text. Bytes that are not UTF-8 are replaced, because JSON and databases refuse them."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "replace")


def _copy(source: BinaryIO, spool: Path, max_bytes: int) -> Fetched:
    """Copy a document that is being written, or was a moment ago."""
    before, opened = os.fstat(source.fileno()), time.time_ns()
    with new_file(spool) as (target, copy):
        content_hash = hash_content(source, copy, max_bytes)
    version = _version(before)
    if opened - before.st_ctime_ns < _SETTLED or version != _version(os.fstat(source.fileno())):
        version += "-unsettled"  # no document has this version: it is read again next time
    return Fetched(target, content_hash, version)


def hash_content(source: BinaryIO, copy: BinaryIO | None, max_bytes: int) -> str:
    """The SHA-256 of a document's bytes in hex. The bytes are also written to `copy`.

    Raises:
        TooLarge: there are more than `max_bytes`.
        SourceFailed: the disk does not give them.
    """
    digest, size = hashlib.sha256(), 0
    while chunk := _read(source):
        cancellation.check()
        size += len(chunk)
        if size > max_bytes:
            raise document_too_large(max_bytes)
        digest.update(chunk)
        if copy is not None:
            copy.write(chunk)
    return digest.hexdigest()


def _read(source: BinaryIO) -> bytes:
    try:
        return source.read(_MEGABYTE)
    except OSError as error:
        raise SourceFailed(f"The document cannot be read from its disk ({error.strerror}). Try again.") from error


def _version(status: os.stat_result) -> str:
    return f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}-{status.st_ctime_ns:x}"


def utc_time(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):  # file systems know years that datetime does not
        return None


R = TypeVar("R")


class LocalFolders(LocalDrive):
    """The local folder; documents that it does not know are looked for under the roots of runs."""

    def document(self, document_id: str) -> Document:
        return self._where_it_is(document_id, lambda drive: LocalDrive.document(drive, document_id))

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        return self._where_it_is(document_id, lambda drive: LocalDrive.fetch(drive, document_id, spool, max_bytes))

    def open(self, document_id: str) -> BinaryIO:
        return self._where_it_is(document_id, lambda drive: LocalDrive.open(drive, document_id))

    def local_path(self, document_id: str) -> Path:
        return self._where_it_is(document_id, lambda drive: LocalDrive.local_path(drive, document_id))

    def _where_it_is(self, document_id: str, ask: Callable[[LocalDrive], R]) -> R:
        """The answer of our own drive or, if it does not know the document, of the first other drive that does."""
        try:
            return ask(self)
        except NotFound:
            for root in _list_run_roots(document_id):
                with suppress(NotConfigured, NotFound):  # the root, or the document, is there no more
                    return ask(LocalDrive(root, self._base_url))
            raise


def _list_run_roots(document_id: str) -> list[Path]:
    with suppress(DatabaseUnavailable), database.reading() as session:
        drives = find_document_drives(session, document_id)
        return [Path(drive["drive_root"]) for drive in drives if drive["drive"] == "local"]
    return []


def open_drive(identity: Identity | None) -> Drive:  # noqa: ARG001 - every identity has the service's own rights
    return _open(LocalDriveSettings.current().drive_root.absolute(), DocumentSettings.current().base_url)


def run_identity() -> None:
    return None


def check_reachable(seconds: float) -> None:  # noqa: ARG001 - a disk has no time limit
    try:
        open_drive(None).find_folder(ROOT)
    except NotFound as error:
        raise Unavailable("The drive's root cannot be reached. Check DILIGENCE_DRIVE_ROOT.") from error
    try:
        with os.scandir(LocalDriveSettings.current().drive_root) as entries:
            next(entries, None)
    except OSError as error:
        raise Unavailable(
            f"The drive's root cannot be read ({error.strerror}). Let the service's user read DILIGENCE_DRIVE_ROOT."
        ) from error


def examine() -> Iterator[CheckResult]:
    documents = open_drive(None).list_folder(ROOT, recursive=False).documents
    root = LocalDriveSettings.current().drive_root.absolute()
    yield CheckResult("drive", f"local, {root}: {len(documents)} files at its root")


@lru_cache(maxsize=16)
def _open(root: Path, base_url: str) -> Drive:
    return LocalFolders(root, base_url)

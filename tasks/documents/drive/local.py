"""The local folder as a drive: one account, the service's own, that sees everything below the root and nothing else.

Links are shortcuts: followed when their target lies visibly below the root, left out otherwise.
"""

import hashlib
import mimetypes
import os
import stat
from collections import deque
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from tasks.documents.drive.drive import Document, Fetched, Folder, Listing, identifier
from tasks.documents.drive.tree import Outside, Tree, hidden
from tasks.errors import NotConfigured, NotFound, TooLarge

_TYPES = mimetypes.MimeTypes(filenames=())  # the same on every machine
for _name, _type in (
    (".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
):
    _TYPES.add_type(_type, _name)
_MEGABYTE = 1024 * 1024


class LocalDrive:
    """The folder `root` and what lies below it."""

    def __init__(self, root: Path, base_url: str) -> None:
        """Open the drive.

        Raises:
            NotConfigured: `root` is no folder that can be read.
        """
        if not root.is_dir():
            raise NotConfigured(
                "The drive's root is no folder. Set DILIGENCE_DRIVE_ROOT to the folder of your documents."
            )
        self._tree = Tree(str(root))
        self._base_url = base_url.rstrip("/")

    @cached_property
    def name(self) -> str:
        return f"local:{hashlib.sha256(os.fsencode(self._tree.root)).hexdigest()[:16]}"

    def find_folder(self, given: str) -> str:
        if given.strip():
            path = os.path.realpath(os.path.join(self._tree.root, given.strip()))
            if self._tree.shows(path) and os.path.isdir(path):
                return self._tree.id_of(path)
        folder_id = identifier(given, "folder")
        try:
            self._folder(folder_id)
        except NotFound:
            raise NotFound(
                f"No folder {given!r} under the drive's root. Give its path from there, its id or its URL; "
                "the root is DILIGENCE_DRIVE_ROOT, by default the current folder."
            ) from None
        return folder_id

    def list_folder(self, folder_id: str, *, recursive: bool) -> Listing:
        top = self._folder(folder_id)
        listing = Listing(Folder(self._tree.id_of(top), _display(os.path.basename(top)), ""))
        seen_folders, seen_documents = {top}, set[str]()
        links: deque[tuple[str, str, str]] = deque()  # (path of the link, its folder's path in the listing, that id)
        to_list = deque([(top, "")])
        # Real folders first, links after: what stands in the tree is listed where it stands.
        while to_list or links:
            if to_list:
                folder, path = to_list.popleft()
                for name, sub in self._scan(folder, path, listing, seen_documents, links, recursive=recursive):
                    if sub in seen_folders:
                        continue
                    seen_folders.add(sub)
                    below = f"{path}/{name}" if path else name
                    listing.folders.append(Folder(self._tree.id_of(sub), name, below, self._tree.id_of(folder)))
                    to_list.append((sub, below))
                continue
            link, path, parent_id = links.popleft()
            name = _display(os.path.basename(link))
            target = os.path.realpath(link)
            if not self._tree.shows(target):
                listing.warnings.append(f"Left out: {name!r} is a link that leaves the drive's root.")
            elif os.path.isdir(target):
                if recursive and target not in seen_folders:
                    seen_folders.add(target)
                    below = f"{path}/{name}" if path else name
                    listing.folders.append(Folder(self._tree.id_of(target), name, below, parent_id))
                    to_list.append((target, below))
            elif not os.path.exists(target):
                listing.warnings.append(f"Left out: {name!r} is a link to something that is not there.")
            else:
                self._add(listing, seen_documents, target, name, parent_id, path)
        return listing

    def document(self, document_id: str) -> Document:
        path = self._resolve(document_id, "document")
        try:
            status = os.stat(path)
        except OSError as error:
            raise _no_document() from error
        if not stat.S_ISREG(status.st_mode):
            raise NotFound(
                "This is the id of a folder, not of a document."
                if stat.S_ISDIR(status.st_mode)
                else "This is no document that can be read."
            )
        name = _display(os.path.basename(path))
        return self._describe(path, status, name, self._tree.id_of(os.path.dirname(path)), "")

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        digest, size = hashlib.sha256(), 0
        target = spool / uuid4().hex
        with self.open(document_id) as source, target.open("xb") as copy:
            version = _version(os.fstat(source.fileno()))
            while chunk := source.read(_MEGABYTE):
                size += len(chunk)
                if size > max_bytes:
                    raise TooLarge(
                        f"The document is larger than {max_bytes // _MEGABYTE} MB. "
                        "DILIGENCE_DOCUMENT_MAX_MB sets the limit."
                    )
                digest.update(chunk)
                copy.write(chunk)
        return Fetched(target, digest.hexdigest(), version)

    def open(self, document_id: str) -> BinaryIO:
        try:
            return self._tree.open(self._resolve(document_id, "document"))
        except IsADirectoryError as error:
            raise NotFound("This is the id of a folder, not of a document.") from error
        except OSError as error:
            raise _no_document() from error

    def _scan(
        self,
        folder: str,
        path: str,
        listing: Listing,
        seen: set[str],
        links: deque[tuple[str, str, str]],
        *,
        recursive: bool,
    ) -> list[tuple[str, str]]:
        """Put the folder's documents into the listing and its links aside; gives its subfolders: (name, path)."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            shown = path or listing.folder.name
            listing.warnings.append(f"The folder {shown!r} cannot be opened: what lies in it is left out.")
            listing.incomplete = True
            return []
        folder_id, below = self._tree.id_of(folder), list[tuple[str, str]]()
        for entry in entries:
            if hidden(entry.name) or not self._tree.shows(entry.path):
                continue
            name = _display(entry.name)
            if entry.is_symlink():
                links.append((entry.path, path, folder_id))
            elif entry.is_dir(follow_symlinks=False):
                if recursive:
                    below.append((name, entry.path))
            elif entry.is_file(follow_symlinks=False):
                self._add(listing, seen, entry.path, name, folder_id, path)
            else:
                listing.warnings.append(f"Left out: {name!r} is neither a file nor a folder.")
        return below

    def _add(self, listing: Listing, seen: set[str], file: str, name: str, folder_id: str, path: str) -> None:
        try:
            status = os.stat(file, follow_symlinks=False)
        except OSError:
            return  # it has vanished since the folder was listed: it is not there
        document = self._describe(file, status, name, folder_id, path)
        if document.id not in seen:
            seen.add(document.id)
            listing.documents.append(document)

    def _describe(self, file: str, status: os.stat_result, name: str, folder_id: str, path: str) -> Document:
        document_id = self._tree.id_of(file)
        # Linux tells no time of creation here: the older of change and modification comes nearest.
        born = getattr(status, "st_birthtime", min(status.st_ctime, status.st_mtime))
        return Document(
            id=document_id,
            name=name,
            folder_id=folder_id,
            path=path,
            url=f"{self._base_url}/file/d/{document_id}/view",
            mime_type=_TYPES.guess_type(name)[0] or "application/octet-stream",
            size=status.st_size,
            created=datetime.fromtimestamp(born, UTC),
            updated=datetime.fromtimestamp(status.st_mtime, UTC),
            version=_version(status),
        )

    def _resolve(self, given_id: str, kind: str) -> str:
        try:
            return self._tree.resolve(given_id)
        except Outside as error:
            raise NotFound(f"No such {kind}, or it is not shared with this account.") from error

    def _folder(self, folder_id: str) -> str:
        path = self._resolve(folder_id, "folder")
        if not os.path.isdir(path):
            raise NotFound(
                "This is the id of a document, not of a folder."
                if os.path.exists(path)
                else "No such folder, or it is not shared with this account."
            )
        return path


def _display(name: str) -> str:
    """A name as text: bytes that are no UTF-8 are replaced, since JSON and databases take none."""
    return os.fsencode(name).decode("utf-8", "replace")


def _version(status: os.stat_result) -> str:
    return f"{status.st_dev:x}-{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}-{status.st_ctime_ns:x}"


def _no_document() -> NotFound:
    return NotFound("No such document, or it is not shared with this account.")

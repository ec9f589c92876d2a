"""What an archive holds as a drive shows it: its documents and folders, with their ids, addresses and paths.

The id of a member is the archive's id, `~`, and a hash of the member's path in the archive: it stays while both do, and
needs no table.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from tasks.documents.drive.archives.members import Contents, Member
from tasks.documents.drive.drive import Document, Folder, Listing
from tasks.documents.drive.mime_types import mime_type_of
from tasks.errors import NotFound

_ID: Final = re.compile(r"([^/?#\s]+)~([A-Za-z0-9_-]{22})")
_FRAGMENT: Final = re.compile(r"#member=([A-Za-z0-9_-]{22})$")
NO_DOCUMENT: Final = "No such document, or it is not shared with this account."
NO_FOLDER: Final = "No such folder, or it is not shared with this account."


def parts_of(item_id: str) -> tuple[str, str] | None:
    """The archive's id and the key of the member or folder; None for the id of something that lies in no archive."""
    match = _ID.fullmatch(item_id)
    return (match[1], match[2]) if match else None


def is_inside(item_id: str) -> bool:
    """Whether this is the id of something inside an archive: to find it, the archive has to be opened."""
    return parts_of(item_id) is not None


def key_in_url(reference: str) -> str | None:
    """The key of a member in an address of a drive that shows documents itself; None where there is none."""
    match = _FRAGMENT.search(reference.strip())
    return match[1] if match else None


class ArchiveView:
    """The contents of the archive `archive`; `version` is that of all its members."""

    def __init__(self, archive: Document, version: str, contents: Contents, *, shown_here: bool) -> None:
        """`shown_here`: whether documents are shown by this service, under their ids, and not by the drive itself."""
        self._archive = archive
        self._version = version
        self._contents = contents
        self._shown_here = shown_here

    def member(self, key: str) -> Member:
        """The member with that key.

        Raises:
            NotFound: there is none.
        """
        member = self._contents.by_key(_key).get(key)
        if member is None:
            folder = self._folder_of(key)
            raise NotFound(NO_DOCUMENT if folder is None else "This is the id of a folder, not of a document.")
        return member

    def document(self, member: Member, path: str = "") -> Document:
        """A member as a document; `path` is that of its folder in a listing."""
        folder, _, name = member.path.rpartition("/")
        key = _key(member.path)
        member_id = f"{self._archive.id}~{key}"
        url = self._archive.url
        return Document(
            id=member_id,
            name=name,
            folder_id=self._folder_id(folder),
            path=path,
            url=url.replace(self._archive.id, member_id) if self._shown_here else f"{url}#member={key}",
            mime_type=mime_type_of(name),
            size=member.size,
            created=None,
            updated=_utc(member.updated),
            version=self._version,
        )

    def documents(self, shown_as: str) -> Iterator[Document]:
        """All members; `shown_as` is the archive's path in the listing."""
        for member in self._contents.members:
            folder = member.path.rpartition("/")[0]
            yield self.document(member, f"{shown_as}/{folder}" if folder else shown_as)

    def folders(self, shown_as: str) -> Iterator[Folder]:
        """The archive itself and the folders in it."""
        yield Folder(self._archive.id, self._archive.name, shown_as, self._archive.folder_id)
        yield from self._folders(f"{shown_as}/")

    def listing(self, key: str, *, recursive: bool) -> Listing:
        """The listing of the folder with that key; of the archive itself without one.

        Raises:
            NotFound: there is no such folder.
        """
        folder = self._folder_of(key) if key else ""
        if folder is None:
            known = key in self._contents.by_key(_key)
            raise NotFound("This is the id of a document, not of a folder." if known else NO_FOLDER)
        name = folder.rpartition("/")[2] or self._archive.name
        inside = f"{folder}/" if folder else ""
        listing = Listing(Folder(self._folder_id(folder), name, ""))
        if recursive:
            listing.warnings = list(self._contents.warnings(self._archive.name))
            listing.folders = [
                replace(below, path=below.path[len(inside) :])
                for below in self._folders("")
                if below.path.startswith(inside) and below.path != folder
            ]
        documents = []
        for member in self._contents.members:
            below, _, name = member.path[len(inside) :].rpartition("/")
            if member.path.startswith(inside) and (recursive or not below):
                documents.append(self.document(member, below))
        listing.documents = documents
        return listing

    def _folders(self, before: str) -> Iterator[Folder]:
        for path in self._contents.folders:
            above, _, name = path.rpartition("/")
            yield Folder(self._folder_id(path), name, before + path, self._folder_id(above))

    def _folder_of(self, key: str) -> str | None:
        return next((folder for folder in self._contents.folders if _key(f"{folder}/") == key), None)

    def _folder_id(self, folder: str) -> str:
        return f"{self._archive.id}~{_key(f'{folder}/')}" if folder else self._archive.id


def _key(path: str) -> str:
    """What stands for a path in an archive in ids: 128 bits; that of a folder ends with `/`."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _utc(seconds: float | None) -> datetime | None:
    if seconds is not None:
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(seconds, UTC)
    return None

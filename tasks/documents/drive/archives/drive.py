"""A drive that shows archives as folders: a layer over any other drive.

A member is visible exactly where its archive is, because each call first asks the drive for the archive; its version is
the archive's. Hidden files, and files that archivers add for themselves, are left out as on a disk.
"""

import base64
import hashlib
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from io import UnsupportedOperation
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from tasks.documents.drive.archives.archive import (
    Archive,
    OpenArchives,
    find_listing,
    keep_listing,
    open_archives,
)
from tasks.documents.drive.archives.zip import ArchiveNotOpened, Contents, Member, is_archive
from tasks.documents.drive.drive import (
    NO_DOCUMENT,
    NO_FOLDER,
    ROOT,
    Changes,
    Document,
    Drive,
    Fetched,
    Folder,
    Listing,
    no_such,
)
from tasks.documents.drive.spool import ListedDocuments, new_file, spool
from tasks.errors import DiligenceError, NotAllowed, NotFound, SourceFailed, TooLarge
from tasks.reading.configuration import ReadingSettings
from tasks.reading.detect import guess_mime_type

_ID: Final = re.compile(r"([^/?#\s]+)~([A-Za-z0-9_-]{22})")
_FRAGMENT: Final = re.compile(r"#member=([A-Za-z0-9_-]{22})$")


def split_id(item_id: str) -> tuple[str, str] | None:
    """The archive's id and the key of the member or folder; None for an id outside any archive."""
    match = _ID.fullmatch(item_id)
    return (match[1], match[2]) if match else None


def is_inside(item_id: str) -> bool:
    """Whether the id belongs to something inside an archive, so that the archive must be opened to find it."""
    return split_id(item_id) is not None


def key_in_url(reference: str) -> str | None:
    """The key of a member in an address of a drive that shows documents itself; None if there is none."""
    match = _FRAGMENT.search(reference.strip())
    return match[1] if match else None


class ArchiveView:
    """The contents of the archive `archive`; `version` is the version of all its members."""

    def __init__(self, archive: Document, version: str, contents: Contents, *, shown_here: bool) -> None:
        """`shown_here`: whether this service shows documents, under their ids, rather than the drive itself."""
        self._archive = archive
        self._version = version
        self._contents = contents
        self._shown_here = shown_here

    def member(self, key: str) -> Member:
        """The member with that key.

        Raises:
            NotFound: the archive has no such member.
        """
        member = self._contents.by_key(_key).get(key)
        if member is None:
            folder = self._find_folder(key)
            raise no_such("document") if folder is None else NotFound(NO_DOCUMENT)
        return member

    def document(self, member: Member, path: str = "") -> Document:
        """A member as a document; `path` is its folder's path in a listing."""
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
            mime_type=guess_mime_type(name),
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
        """The listing of the folder with that key; without a key, of the archive itself.

        Raises:
            NotFound: there is no such folder.
        """
        folder = self._find_folder(key) if key else ""
        if folder is None:
            known = key in self._contents.by_key(_key)
            raise NotFound(NO_FOLDER) if known else no_such("folder")
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

    def _find_folder(self, key: str) -> str | None:
        return next((folder for folder in self._contents.folders if _key(f"{folder}/") == key), None)

    def _folder_id(self, folder: str) -> str:
        return f"{self._archive.id}~{_key(f'{folder}/')}" if folder else self._archive.id


def _key(path: str) -> str:
    """The key, of 128 bits, that represents a path in an archive within ids; a folder's path ends with `/`."""
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _utc(seconds: float | None) -> datetime | None:
    if seconds is not None:
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(seconds, UTC)
    return None


_MARK: Final = "archives-1 "
"""Before the marks of indexes: one without it was made when archives were not opened, and is made again."""
_MAX_TRIES: Final = 3
_SETTLED: Final = 1.0
"""Seconds after which another change gives a file on a disk another time: archives just written are not kept open."""


class ArchiveDrive:
    """The drive `drive` with its archives opened as folders."""

    def __init__(self, drive: Drive, *, shown_here: bool, archives: OpenArchives = open_archives) -> None:
        """`shown_here`: whether this service shows documents, under their ids, rather than the drive itself."""
        self._drive = drive
        self._shown_here = shown_here
        self._archives = archives

    @property
    def name(self) -> str:
        return self._drive.name

    @property
    def view(self) -> str:
        return self._drive.view

    @property
    def remote(self) -> bool:
        return self._drive.remote

    @property
    def max_parallel_fetches(self) -> int:
        return self._drive.max_parallel_fetches

    def find_folder(self, reference: str) -> str:
        if is_inside(reference.strip()):
            return self.list_folder(reference.strip(), recursive=False).folder.id
        try:
            return self._drive.find_folder(reference)
        except NotFound:
            folder_id = self._folder_at(reference)
            if folder_id is None:
                raise
            return folder_id

    def find_document(self, reference: str) -> str:
        document_id, key = self._drive.find_document(reference), key_in_url(reference)
        return f"{document_id}~{key}" if key and document_id != reference.strip() else document_id

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        inside = split_id(folder_id)
        if inside:
            return self._list_archive(self._archive(inside[0], "folder"), inside[1], recursive=recursive, spool=spool)
        try:
            listing = self._drive.list_folder(folder_id, recursive=recursive, spool=spool)
        except NotFound:
            archive = self._archive_or_none(folder_id)
            if archive is None:
                raise
            return self._list_archive(archive, "", recursive=recursive, spool=spool)
        if recursive:
            self._open_all(listing, spool)
        if listing.mark is not None:
            listing.mark = _MARK + listing.mark
        return listing

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:
        if not mark.startswith(_MARK):
            return None
        changes = self._drive.changes_since(folder_id, mark.removeprefix(_MARK))
        return changes and replace(changes, mark=_MARK + changes.mark)

    def document(self, document_id: str) -> Document:
        inside = split_id(document_id)
        if inside is None:
            return self._drive.document(document_id)
        archive = self._archive(inside[0], "document")
        view = self._view(archive, self._contents(archive))
        return view.document(view.member(inside[1]))

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        inside = split_id(document_id)
        if inside is None:
            return self._drive.fetch(document_id, spool, max_bytes)
        for _ in range(_MAX_TRIES):
            archive = self._archive(inside[0], "document")
            version = self._version(archive)
            with _nothing_in_it(), self._use(archive) as opened:
                member = self._view(archive, opened.contents).member(inside[1])
                try:
                    fetched = _extract(opened, member, spool, max_bytes, version)
                except DiligenceError:
                    if self._is_as_it_was(archive):
                        raise
                    continue
            if self._is_as_it_was(archive):
                return fetched
            fetched.release()
        raise SourceFailed("The archive was changed again and again while it was read. Try again later.")

    def open(self, document_id: str) -> BinaryIO:
        if not is_inside(document_id):
            return self._drive.open(document_id)
        limit = ReadingSettings.current().document_max_mb << 20
        with spool() as folder, self.fetch(document_id, folder, limit) as fetched:
            return fetched.path.open("rb")  # the file is gone with the folder, its content when it is closed

    def local_path(self, document_id: str) -> Path | None:
        inside = split_id(document_id)
        return self._drive.local_path(inside[0] if inside else document_id)

    def _archive(self, archive_id: str, kind: str) -> Document:
        """The archive that a member's id refers to, if this account sees it.

        Raises:
            NotFound: it does not, or this is no archive.
        """
        archive = self._archive_or_none(archive_id)
        if archive is None:
            raise no_such(kind)
        return archive

    def _archive_or_none(self, archive_id: str) -> Document | None:
        with suppress(NotFound):
            archive = self._drive.document(archive_id)
            return archive if _opens(archive) else None
        return None

    def _is_as_it_was(self, archive: Document) -> bool:
        """Whether the archive is unchanged; a copy of a remote archive always is."""
        return self.remote or self._drive.document(archive.id).version == archive.version

    def _version(self, archive: Document) -> str:
        """The version of an archive's members; if it was just written to a disk, a version that no document has."""
        age = time.time() - archive.updated.timestamp() if archive.updated is not None else _SETTLED
        unsettled = not self.remote and -_SETTLED < age < _SETTLED  # a file may well have a time of next year
        return f"{archive.version}-unsettled" if unsettled else archive.version

    def _view(self, archive: Document, contents: Contents) -> ArchiveView:
        return ArchiveView(archive, self._version(archive), contents, shown_here=self._shown_here)

    def _contents(self, archive: Document) -> Contents:
        """What the archive contains.

        Raises:
            NotFound: it cannot be opened, so that there is nothing in it.
        """
        with _nothing_in_it():
            return self._list(archive)

    def _list(self, archive: Document) -> Contents:
        """What the archive contains; a remote archive that was fetched once need not be fetched again for that.

        Raises:
            ArchiveNotOpened: the archive cannot be opened.
        """
        key, limit = (self.name, archive.id, archive.version), ReadingSettings.current().document_max_mb << 20
        contents = find_listing(key, limit) if self.remote and not self._archives.is_open(key) else None
        if contents is None:
            with self._use(archive) as opened:
                contents = opened.contents
            if self.remote:
                keep_listing(key, limit, contents)
        return contents

    def _use(self, archive: Document) -> AbstractContextManager[Archive]:
        settled = self._version(archive) == archive.version
        key = self.name, archive.id, archive.version if settled else uuid4().hex
        return self._archives.using(key, archive.size or 0, lambda: self._open(archive))

    def _open(self, archive: Document) -> Archive:
        limit = ReadingSettings.current().document_max_mb << 20
        too_large = ArchiveNotOpened(f"it is larger than {limit >> 20} MB (DILIGENCE_DOCUMENT_MAX_MB)", lasting=False)
        if archive.size is not None and archive.size > limit:
            raise too_large
        try:
            return Archive(self._file(archive, limit), _read_name(archive), limit, spool)
        except TooLarge as error:
            raise too_large from error

    def _file(self, archive: Document, limit: int) -> BinaryIO:
        """The archive's content as a file on disk: the original, or a copy that is removed when closed."""
        if self.remote:
            with spool() as folder, self._drive.fetch(archive.id, folder, limit) as fetched:
                return fetched.path.open("rb")
        file = self._drive.open(archive.id)
        try:
            file.fileno()
        except UnsupportedOperation:
            with spool() as folder, file, (folder / uuid4().hex).open("w+b") as copy:
                shutil.copyfileobj(file, copy)
                return Path(copy.name).open("rb")
        return file

    def _open_all(self, listing: Listing, on_disk: Path | None) -> None:
        """Add the archives in a listing to its folders, and their members to its documents."""
        opened: set[str] = set()
        members = ListedDocuments(on_disk)
        for archive in {document.id: document for document in listing.documents if _opens(document)}.values():
            shown_as = f"{archive.path}/{archive.name}" if archive.path else archive.name
            try:
                contents = self._list(archive)
            except ArchiveNotOpened as error:
                listing.warnings.append(f"{shown_as!r} is an archive that was not opened: {error.reason}.")
                lasting = error.lasting
            except (NotFound, NotAllowed) as error:
                listing.warnings.append(f"{shown_as!r} is an archive that was not opened: {error.message}")
                continue
            except DiligenceError as error:
                listing.warnings.append(f"{shown_as!r} is an archive that could not be opened: {error.message}")
                listing.incomplete, lasting = True, False
            else:
                view = self._view(archive, contents)
                listing.folders.extend(view.folders(shown_as))
                members.add(view.documents(shown_as))
                listing.warnings.extend(contents.warnings(shown_as))
                opened.add(archive.id)
                lasting = contents.lasting
            if not lasting:
                listing.mark = None  # what is stored does not count next time: it is listed again
        if opened:
            documents = ListedDocuments(on_disk)
            documents.add(document for document in listing.documents if document.id not in opened)
            documents.add(members)
            listing.documents = documents

    def _list_archive(self, archive: Document, key: str, *, recursive: bool, spool: Path | None) -> Listing:
        """The listing of an archive or, given a folder's key, of that folder in it."""
        listing = self._view(archive, self._contents(archive)).listing(key, recursive=recursive)
        documents = ListedDocuments(spool)
        documents.add(listing.documents)
        listing.documents = documents
        return listing

    def _folder_at(self, reference: str) -> str | None:
        """The id of the archive, or folder in one, that a user names by id, URL or the archive's path; else None."""
        with suppress(DiligenceError):
            item_id = self.find_document(reference)
            if is_inside(item_id):
                return self.list_folder(item_id, recursive=False).folder.id
            if self._archive_or_none(item_id):
                return item_id
        above, _, name = reference.strip().rpartition("/")
        if is_archive(name) and "://" not in reference:
            with suppress(DiligenceError):
                folder = self._drive.find_folder(above or ROOT)
                for document in self._drive.list_folder(folder, recursive=False).documents:
                    if document.name == name:
                        return document.id
        return None


@contextmanager
def _nothing_in_it() -> Iterator[None]:
    """Report an archive that cannot be opened as having nothing in it."""
    try:
        yield
    except ArchiveNotOpened as error:
        raise NotFound(f"The archive cannot be opened: {error.reason}.") from error


def _opens(document: Document) -> bool:
    return is_archive(document.name, document.mime_type)


def _read_name(archive: Document) -> str:
    """The archive's name including its ending, which shows its kind."""
    ending = "7z" if "7z" in archive.mime_type else "zip"
    return archive.name if is_archive(archive.name) else f"{archive.name}.{ending}"


def _extract(opened: Archive, member: Member, spool: Path, max_bytes: int, version: str) -> Fetched:
    """Write a member's content to a file in the spool."""
    with new_file(spool) as (path, file):
        hashed = _Hashed(file)
        opened.extract(member, hashed, max_bytes)
    return Fetched(path, hashed.digest(), version)


class _Hashed:
    """A file being written, with the SHA-256 of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()

    def write(self, piece: bytes) -> int:
        self._sha256.update(piece)
        return self._file.write(piece)

    def digest(self) -> str:
        return self._sha256.hexdigest()

"""The documents that `diligence text` reads: those of files, folders and archives; and what it skips, and why."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from deployments.terminal import echo
from storage.temporary_folders import temporary_folder
from tasks.documents.drive.archives.archive import Archive
from tasks.documents.drive.archives.members import ArchiveNotOpened, Member, is_archive
from tasks.documents.drive.archives.opened import Key, open_archives
from tasks.documents.drive.drive import hidden
from tasks.errors import DiligenceError, NotFound, UnsupportedFormat
from tasks.reading import formats


class DocumentToRead(NamedTuple):
    """A document to read: its name for users, its file (None for one given by id), its size in bytes.

    One in an archive has the archive's file, and is the `member` of it. With `problem` it cannot be read.
    """

    name: str
    path: str | None
    size: int
    member: Member | None = None
    problem: str | None = None


class Skipped:
    """What is skipped: told on stderr at once, and counted."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, name: str, reason: str) -> None:
        """Tell of a file that is skipped; the reason is half a sentence."""
        self.count += 1
        echo(f"{name}: skipped, {reason}.", err=True)

    def add_all(self, sentences: Iterator[str]) -> None:
        """Tell what archives leave out."""
        for sentence in sentences:
            self.count += 1
            echo(sentence, err=True)

    def tell_total(self) -> None:
        """Tell how many there are, if there are any."""
        if self.count:
            echo(f"{self.count} skipped.", err=True)


def documents_of(names: list[str], max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    """The documents of these files, folders, archives and ids; those of a folder are named by their path in it.

    Args:
        names: what the user gave.
        max_bytes: the size of the largest document that is read.
        skipped: is told of what lies in folders and archives and is not read.
    """
    for argument in names:
        path = Path(argument)
        if path.is_dir():
            yield from _of_folder(path, max_bytes, skipped)
        elif path.exists():
            name = path.name if path.is_absolute() or ".." in path.parts else str(path)
            if is_archive(argument):
                try:
                    yield from _of_archive(argument, name, max_bytes, skipped)
                except (ArchiveNotOpened, DiligenceError) as error:
                    yield DocumentToRead(name, argument, 0, problem=_why(error))
            else:
                yield DocumentToRead(name, argument, _size(argument))
        else:
            yield DocumentToRead(argument, None, 0)


def unpack(document: DocumentToRead, target: BinaryIO, max_bytes: int) -> None:
    """Write the content of a document that lies in an archive into `target`.

    Raises:
        DiligenceError: it cannot be had.
    """
    assert document.path is not None
    assert document.member is not None
    try:
        with open_archives.using(*_opening(document.path, max_bytes)) as archive:
            archive.extract(document.member, target, max_bytes)
    except (ArchiveNotOpened, OSError) as error:
        raise NotFound("its archive cannot be opened any more.") from error


def _of_folder(top: Path, max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    def closed(error: OSError) -> None:
        skipped.add(os.path.relpath(error.filename, top), f"the folder cannot be opened ({error.strerror})")

    for folder, subfolders, files in os.walk(top, onerror=closed):
        for name in sorted(subfolders):
            path = os.path.join(folder, name)  # noqa: PTH118 - one string a document is kept, not a Path
            if hidden(name):
                skipped.add(os.path.relpath(path, top), "it is hidden, with all that lies in it")
            elif os.path.islink(path):  # noqa: PTH114
                skipped.add(os.path.relpath(path, top), "it is a link")
        subfolders[:] = sorted(name for name in subfolders if not hidden(name))
        for name in sorted(files):
            path = os.path.join(folder, name)  # noqa: PTH118
            yield from _of_file(path, os.path.relpath(path, top), max_bytes, skipped)


def _of_file(path: str, name: str, max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    """The documents of one file in a folder: itself, those in it, or none."""
    reason = _why_not(path)
    if not reason and is_archive(name):
        try:
            yield from _of_archive(path, name, max_bytes, skipped)
        except (ArchiveNotOpened, DiligenceError) as error:
            skipped.add(name, _why(error).rstrip("."))
        return
    reason = reason or _unsupported(name)
    if reason:
        skipped.add(name, reason)
    else:
        yield DocumentToRead(name, path, _size(path))


def _of_archive(path: str, name: str, max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    """The documents in an archive, by its name, `/` and their path in it.

    Raises:
        ArchiveNotOpened, DiligenceError: it stays shut.
    """
    try:
        with open_archives.using(*_opening(path, max_bytes)) as archive:
            contents = archive.contents
    except OSError as error:
        raise ArchiveNotOpened(f"it cannot be opened ({error.strerror})") from error
    skipped.add_all(contents.warnings(name))
    shut = {member for member, _ in contents.shut}
    for member in contents.members:
        reason = _unsupported(member.path)
        if not reason:
            yield DocumentToRead(f"{name}/{member.path}", path, member.size, member)
        elif member.path not in shut:  # else it was told
            skipped.add(f"{name}/{member.path}", reason)


def _opening(path: str, max_bytes: int) -> tuple[Key, int, Callable[[], Archive]]:
    """What `OpenArchives.using` takes for the archive at that path."""
    status = os.stat(path)  # noqa: PTH116
    key = path, str(status.st_ino), f"{status.st_size}-{status.st_mtime_ns}-{max_bytes}"

    def opened() -> Archive:
        if status.st_size > max_bytes:
            raise ArchiveNotOpened(f"it is larger than {max_bytes >> 20} MB (DILIGENCE_DOCUMENT_MAX_MB)")
        return Archive(Path(path).open("rb"), path, max_bytes, temporary_folder)

    return key, status.st_size, opened


def _why(error: ArchiveNotOpened | DiligenceError) -> str:
    return f"{error.reason}." if isinstance(error, ArchiveNotOpened) else error.message


def _why_not(path: str) -> str:
    """Why a file in a folder is not read, by its name and kind; nothing when it may be."""
    if hidden(os.path.basename(path)):  # noqa: PTH119
        return "it is hidden"
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        return f"it cannot be reached ({error.strerror})"
    if stat.S_ISLNK(mode):
        return "it is a link"
    return "" if stat.S_ISREG(mode) else "it is neither a file nor a folder"


def _unsupported(name: str) -> str:
    try:
        formats.format_of(name)
    except UnsupportedFormat:
        ending = os.path.splitext(name)[1]  # noqa: PTH122
        return f'no reader for "{ending}"' if ending else "no reader for a name without an extension"
    return ""


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:  # it vanished: its reader reports it
        return 0

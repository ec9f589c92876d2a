"""Validates the members of an archive: which are shown, and why each of the others is left out.

Nothing in an archive is trusted: names that lead outside, links, devices, bombs and clashes are refused here, for every
kind of archive. Each refusal has a reason, which the index reports.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from tasks.documents.drive.drive import hidden

ENDINGS: Final = (".zip", ".7z", ".xbri", ".xbr")
"""The last two are packages of reports in XBRL (https://www.xbrl.org/Specification/report-package/REC-2023-12-22/)."""

MIME_TYPES: Final = frozenset({"application/zip", "application/x-zip-compressed", "application/x-7z-compressed"})

MOST_MEMBERS: Final = 50_000
"""Files and folders that are shown of one archive, those of archives inside it included."""
TOTAL: Final = 8
"""All members together may unpack to so many times the largest document."""
_RATIO: Final = 400
_SUSPICIOUS: Final = 32 << 20
"""A member that unpacks to more bytes than this and to more than `_RATIO` times its own is a bomb: real tables and logs
of that size pack to a hundredth at best, and deflate ends at 1,032 times."""
_LONGEST_NAME: Final = 255  # bytes: what file systems take
_LONGEST_PATH: Final = 2048
_DEEPEST: Final = 40
_CLUTTER: Final = frozenset({"__MACOSX"})
_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:")
_LEFT_OUT: Final = 200
"""Members that warnings name for one archive; the others are counted."""


class ArchiveNotOpened(Exception):
    """The archive cannot be opened; its text says why, as half a sentence.

    With `lasting`, opening it again would fail the same way until the archive or the settings change.
    """

    def __init__(self, reason: str, *, lasting: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an archive as the archive describes it.

    `at` is where its container finds it, sizes are in bytes, `updated` in seconds since 1970. If it is `refused`, it
    cannot be unpacked for that reason.
    """

    name: str
    at: int
    size: int = 0
    packed: int = 0
    updated: float | None = None
    folder: bool = False
    refused: str = ""


Scratch = Callable[[], AbstractContextManager[Path]]
"""Makes a folder for what has to be unpacked to be looked at; it is gone when the block ends."""


class Target(Protocol):
    """Where a member is unpacked to."""

    def write(self, piece: bytes, /) -> int:
        """Take the next bytes."""


class Container(Protocol):
    """An open archive of one kind. Safe to use from many threads."""

    def entries(self) -> Iterable[Entry]:
        """The entries that it claims to hold.

        Raises:
            ArchiveNotOpened: it cannot be told.
        """

    def extract(self, entry: int, target: Target, max_bytes: int) -> None:
        """Write the content of the entry at `entry` to `target`.

        Raises:
            TooLarge: there are more than `max_bytes`. Damaged: the content is not what the archive says it is.
        """

    def close(self) -> None:
        """Close it."""


class Member(NamedTuple):
    """A document in an archive. `at` is where it is: in the archive, or in one inside it."""

    path: str
    size: int
    updated: float | None
    at: tuple[int, ...]


@dataclass(slots=True)
class Contents:
    """What an archive shows: documents, folders (their paths), and what is left out, with reasons by path.

    `shut` are members that are archives themselves but stay documents, with the reason.
    """

    members: list[Member] = field(default_factory=list)
    folders: dict[str, None] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    shut: list[tuple[str, str]] = field(default_factory=list)
    lasting: bool = True
    """Whether opening the archive again would give the same."""
    _by_key: dict[str, Member] = field(default_factory=dict)

    def by_key(self, key_of: Callable[[str], str]) -> dict[str, Member]:
        """The members by the key that `key_of` derives from their paths; computed once, 2 µs each."""
        if len(self._by_key) < len(self.members):
            self._by_key = {key_of(member.path): member for member in self.members}
        return self._by_key

    def warnings(self, archive: str) -> Iterator[str]:
        """A sentence for each member that is left out or not opened; `archive` is the archive's name for people."""
        for path, reason in self.shut[:_LEFT_OUT]:
            yield f"{path!r} in {archive!r} is an archive that was not opened: {reason}."
        for path, reason in self.left_out[:_LEFT_OUT]:
            yield f"Left out of {archive!r}: {display(path)!r} ({reason})."
        more = max(len(self.left_out) - _LEFT_OUT, 0) + max(len(self.shut) - _LEFT_OUT, 0)
        if more:
            yield f"Left out of {archive!r} or shut in it besides: {more} more."


class Allowance:
    """How many members and bytes may still be shown of one archive and those inside it."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._members = MOST_MEMBERS
        self._bytes = TOTAL * max_bytes
        self.inner_bytes = max_bytes
        """Bytes of archives inside that are unpacked to be opened."""

    def refusal(self, entry: Entry) -> str:
        """Why an entry may not be shown; empty if it may, in which case it is counted."""
        if self._members == 0:
            return f"the archive holds more than {MOST_MEMBERS:,} files and folders"
        if entry.size > _SUSPICIOUS and entry.size > _RATIO * max(entry.packed, 1):
            return f"it unpacks to more than {_RATIO} times its size"
        if entry.size > self.max_bytes:
            return f"it unpacks to more than {self.max_bytes >> 20} MB (DILIGENCE_DOCUMENT_MAX_MB)"
        if entry.size > self._bytes:
            return f"the archive unpacks to more than {TOTAL * self.max_bytes >> 20} MB"
        self._members -= 1
        self._bytes -= entry.size
        return ""


def list_entries(entries: Iterable[Entry], allowance: Allowance, contents: Contents, below: str = "") -> list[Entry]:
    """The entries that are documents, under validated names; folders and refusals are added to `contents`.

    Args:
        entries: those of one container.
        allowance: what may be shown.
        contents: what takes the folders and what is left out.
        below: the path of the container in the outermost archive, with its `/`; "" for that itself.
    """
    taken: set[str] = set()
    documents: list[Entry] = []
    for entry in entries:
        name, reason = _check_name(entry.name)
        if not reason and (name == "" or any(hidden(part) or part in _CLUTTER for part in name.split("/"))):
            continue
        if not reason:
            reason = "" if entry.folder else entry.refused
        path = below + name
        if not reason and not entry.folder:
            reason = "another member has its name" if name in taken else allowance.refusal(entry)
        if reason:
            contents.left_out.append((path, reason))
        elif entry.folder:
            _add_folders(path, contents)
        else:
            taken.add(name)
            _add_folders(path.rpartition("/")[0], contents)
            documents.append(
                Entry(path, entry.at, size=entry.size, packed=entry.packed, updated=entry.updated, folder=False)
            )
    return documents


def _add_folders(path: str, contents: Contents) -> None:
    """Add a folder and its parent folders, which archives need not list."""
    missing: list[str] = []
    while path and path not in contents.folders:
        missing.append(path)
        path = path.rpartition("/")[0]
    room = MOST_MEMBERS - len(contents.folders)
    contents.folders.update(dict.fromkeys(reversed(missing[-room:] if room > 0 else [])))


def _check_name(name: str) -> tuple[str, str]:
    """The member's path with `/` as separator, and why it is refused; "" for the archive's own top."""
    path = name.replace("\\", "/")
    if "\0" in path:
        return path, "its name contains a NUL"
    if _ABSOLUTE.match(path):
        return path, "its path is absolute"
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        return path, "its path leads outside the archive"
    if len(path) > _LONGEST_PATH or len(parts) > _DEEPEST:
        return path, "its path is too long"
    if any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST_NAME for part in parts):
        return path, "its name is too long"
    return "/".join(parts), ""


def display(path: str) -> str:
    """A path shortened for a warning to a line or two."""
    return path if len(path) <= 200 else f"{path[:120]}…{path[-60:]}"


def is_archive(name: str, mime_type: str = "") -> bool:
    """Whether a document is an archive by its name or, if that has no extension, by its MIME type."""
    stem, _, last = name.rpartition("/")[2].rpartition(".")  # a fifth of the time that pathlib takes
    ending = f".{last.lower()}" if stem and last else ""
    return ending in ENDINGS or (not ending and mime_type in MIME_TYPES)

"""The directory of a .zip and its members, read within bounds and without trust.

`zipfile` keeps a directory of any size in memory, and fails on names and offsets that real programs write; `ooxml.zip`
maps the file into memory, and if somebody truncates a mapped file the process ends (SIGBUS): here that would be the
service. The format: PKWARE's APPNOTE.TXT 6.3.10; times in extra fields: Info-ZIP's extrafld.txt.

The members of archives of every kind are validated here. Nothing in an archive is trusted: names that lead outside,
links, devices, bombs and clashes are refused. Each refusal has a reason, which the index reports.
"""

import os
import re
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Protocol
from zlib import crc32

from zlib_ng import zlib_ng

from tasks.errors import Damaged, document_too_large
from tasks.files import hidden

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
        if not reason and (name == "" or any(map(hidden, name.split("/")))):
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


_UTF_8: Final = 0x800
_UNICODE_PATH: Final = 0x7075
_SAMPLE: Final = 1 << 16
_DOS: Final = ("cp437", "cp850")


def decode_names(raw: Sequence[tuple[bytes, int, bytes]]) -> list[str]:
    """The names of members, from their bytes, flags and extra fields."""
    unknown = [name for name, flags, _ in raw if not name.isascii() and not flags & _UTF_8]
    encoding = _guess_encoding(b"\n".join(unknown)[:_SAMPLE]) if unknown else "ascii"
    return [_name(name, flags, extra, encoding) for name, flags, extra in raw]


def _name(name: bytes, flags: int, extra: bytes, encoding: str) -> str:
    if name.isascii():
        return name.decode("ascii")
    if flags & _UTF_8:
        return name.decode("utf-8", "replace")
    return _unicode_path(name, extra) or name.decode(encoding, "replace")


def _unicode_path(name: bytes, extra: bytes) -> str | None:
    """The name in the extra field that Info-ZIP and WinZip write, if it belongs to this name."""
    for kind, data in _extra_fields(extra):
        if kind == _UNICODE_PATH and len(data) > 5 and struct.unpack_from("<L", data, 1)[0] == crc32(name):
            return data[5:].decode("utf-8", "replace")
    return None


def _guess_encoding(sample: bytes) -> str:
    """The encoding in which the bytes beyond ASCII make sense; programs mostly write one of DOS."""
    # Loads a detector of encodings (16 ms), for few archives.
    from tasks.reading.txt import guess_code_page  # noqa: PLC0415

    with suppress(UnicodeDecodeError):
        sample.decode()
        return "utf-8"
    return guess_code_page(sample, first=_DOS) or _DOS[0]


_END: Final = struct.Struct("<4s4H2LH")
_LOCATOR: Final = struct.Struct("<4sLQL")
_WIDE_END: Final = struct.Struct("<4sQ2H2L4Q")
_CENTRAL: Final = struct.Struct("<4s4B4HL2L5H2L")
_LOCAL: Final = struct.Struct("<4s22x2H")
_MOST_DIRECTORY: Final = 64 << 20
_MOST_ENTRIES: Final = 200_000
_CHUNK: Final = 1 << 20
_UNIX: Final = frozenset({3, 19})  # made on Unix, on macOS: the upper half of the attributes is a file's mode
_DOS_FOLDER: Final = 0x10
_METHODS: Final = {
    1: "shrink",
    6: "implode",
    9: "Deflate64",
    12: "bzip2",
    14: "LZMA",
    93: "Zstandard",
    95: "XZ",
    98: "PPMd",
}
_SPLIT: Final = "it is a part of an archive that was split: join the parts"
_OFFICE: Final = frozenset({b"[Content_Types].xml", b"_rels/.rels"})
"""Members that office documents have; those of LibreOffice begin with `mimetype`."""


class _Place(NamedTuple):
    """Where an entry's data is, how it is packed, and what unpacking it must produce."""

    header: int
    method: int
    packed: int
    size: int
    crc: int


class ZipContainer:
    """An open .zip; `file` is a file on disk, and is closed with it."""

    def __init__(self, file: BinaryIO) -> None:
        """Open it.

        Raises:
            ArchiveNotOpened: it is no .zip that can be read.
        """
        self._file = file
        self._descriptor = file.fileno()
        self._size = os.fstat(self._descriptor).st_size
        self._places: dict[int, _Place] = {}
        self._directory, self._shift = self._read_directory()

    def close(self) -> None:
        self._file.close()

    def entries(self) -> list[Entry]:
        raw = list(self._raw_entries())
        if raw and (raw[0][0] == b"mimetype" or {name for name, *_ in raw} >= _OFFICE):
            raise ArchiveNotOpened("it is an office document by its content; give it the ending of one")
        names = decode_names([(name, fields[4], extra) for name, extra, fields, _ in raw])
        return [self._entry(name, extra, fields, at) for name, (_, extra, fields, at) in zip(names, raw, strict=True)]

    def extract(self, entry: int, target: Target, max_bytes: int) -> None:
        place = self._places[entry]
        if place.size > max_bytes:
            raise document_too_large(max_bytes)
        header = self._read(place.header, _LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            raise _make_damage_error()
        _, name, extra = _LOCAL.unpack(header)
        start = place.header + _LOCAL.size + name + extra
        crc = size = 0
        for piece in self._unpack(start, place):
            size += len(piece)
            if size > place.size:
                raise _make_damage_error()
            crc = zlib_ng.crc32(piece, crc)
            target.write(piece)
        if size != place.size or crc != place.crc:
            raise _make_damage_error()

    def _unpack(self, start: int, place: _Place) -> Iterator[bytes]:
        inflater = None if place.method == 0 else zlib_ng.decompressobj(-15)
        at, end = start, start + place.packed
        while at < end:
            packed = self._read(at, min(_CHUNK, end - at))
            if not packed:
                raise _make_damage_error()
            at += len(packed)
            if inflater is None:
                yield packed
                continue
            while packed or (at >= end and not inflater.eof):
                try:
                    piece = inflater.decompress(packed, _CHUNK)
                except zlib_ng.error as error:  # type: ignore[misc]  # its stub calls the class an instance
                    raise _make_damage_error() from error
                packed = inflater.unconsumed_tail
                if piece:
                    yield piece
                if inflater.eof:
                    return
                if not piece and not packed:
                    break

    def _read(self, at: int, size: int) -> bytes:
        try:
            return os.pread(self._descriptor, size, at) if at >= 0 else b""
        except (OSError, OverflowError):
            return b""

    def _read_directory(self) -> tuple[bytes, int]:
        """The central directory, and by how many bytes the archive's offsets are wrong."""
        tail_at = max(0, self._size - 65_536 - 128)
        tail = self._read(tail_at, self._size - tail_at)
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or len(tail) - at < _END.size:
            start = self._read(0, 4)
            if start in (b"PK\x03\x04", b"PK\x07\x08"):
                raise ArchiveNotOpened("it is damaged: its end is missing")
            raise ArchiveNotOpened("it is damaged, or not a .zip")
        _, disk, of_directory, _, count, size, start_of_directory, _ = _END.unpack_from(tail, at)
        end = tail_at + at
        if 0xFFFF in (disk, count) or 0xFFFFFFFF in (size, start_of_directory):
            locator = self._read(end - _LOCATOR.size, _LOCATOR.size)
            if len(locator) == _LOCATOR.size and locator[:4] == b"PK\x06\x07":
                record = self._read(_LOCATOR.unpack(locator)[2], _WIDE_END.size)
                if len(record) == _WIDE_END.size and record[:4] == b"PK\x06\x06":
                    _, _, _, _, disk, of_directory, _, count, size, start_of_directory = _WIDE_END.unpack(record)
                    end -= _LOCATOR.size + _WIDE_END.size
        if disk or of_directory:
            raise ArchiveNotOpened(_SPLIT)
        if size > _MOST_DIRECTORY or count > _MOST_ENTRIES:
            raise ArchiveNotOpened(f"it holds more than {_MOST_ENTRIES:,} files")
        shift = 0
        directory = self._read(start_of_directory, size)
        if count and directory[:4] != b"PK\x01\x02":  # something stands before the archive
            shift = end - size - start_of_directory
            directory = self._read(end - size, size)
            if directory[:4] != b"PK\x01\x02":
                raise ArchiveNotOpened("it is damaged: its list of members is lost")
        return directory, shift

    def _raw_entries(self) -> Iterator[tuple[bytes, bytes, tuple[int, ...], int]]:
        """The name, extra field, fixed fields and position of each entry."""
        directory, at = self._directory, 0
        while at + _CENTRAL.size <= len(directory):
            magic, *fields = _CENTRAL.unpack_from(directory, at)
            if magic != b"PK\x01\x02":
                break
            name_size, extra_size, comment_size = fields[11:14]
            named = at + _CENTRAL.size + name_size
            if named + extra_size > len(directory):
                break
            yield (
                directory[at + _CENTRAL.size : named],
                directory[named : named + extra_size],
                tuple(fields),
                at,
            )
            at = named + extra_size + comment_size

    def _entry(self, name: str, extra: bytes, fields: tuple[int, ...], at: int) -> Entry:
        made_on, flags, method = fields[1], fields[4], fields[5]
        date, time = fields[7], fields[6]
        crc, packed, size = fields[8:11]
        attributes, header = fields[-2], fields[-1]
        wide = dict(_extra_fields(extra)).get(1, b"")
        numbers = iter(struct.unpack_from(f"<{len(wide) // 8}Q", wide))
        size = next(numbers, 0) if size == 0xFFFFFFFF else size
        packed = next(numbers, 0) if packed == 0xFFFFFFFF else packed
        header = next(numbers, 0) if header == 0xFFFFFFFF else header
        self._places[at] = _Place(header + self._shift, method, packed, size, crc)
        mode = attributes >> 16 if made_on in _UNIX else 0
        folder = name.endswith(("/", "\\")) or stat.S_ISDIR(mode) or (not size and bool(attributes & _DOS_FOLDER))
        return Entry(
            name,
            at,
            size=size,
            packed=packed,
            updated=_time(extra, date, time),
            folder=folder,
            refused="" if folder else _refusal(mode, flags, method),
        )


def _refusal(mode: int, flags: int, method: int) -> str:
    """Why a member cannot be unpacked; empty if it can be."""
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        return "it is a link"
    if kind not in (0, stat.S_IFREG):
        return "it is neither a file nor a folder"
    if flags & 0x2041 or method == 99:
        return "it is encrypted: unpack it with its password"
    if method not in (0, 8):
        return f"it is compressed by an unsupported method ({_METHODS.get(method, f'number {method}')})"
    return ""


def _extra_fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        yield kind, extra[at + 4 : at + 4 + size]
        at += 4 + size


def _time(extra: bytes, date: int, time: int) -> float | None:
    """When a member was last changed, in seconds since 1970.

    The archive's own times have no time zone and are taken as UTC; most programs also write an exact time.
    """
    for kind, data in _extra_fields(extra):
        if kind == 0x5455 and len(data) >= 5 and data[0] & 1:
            return float(struct.unpack_from("<i", data, 1)[0])
        if kind == 0x000A and len(data) >= 32 and data[4:8] == b"\x01\0\x18\0":
            return (int(struct.unpack_from("<Q", data, 8)[0]) - 116_444_736_000_000_000) / 10_000_000
    try:
        return datetime(
            1980 + (date >> 9),
            date >> 5 & 15,
            date & 31,
            time >> 11,
            time >> 5 & 63,
            min((time & 31) * 2, 59),
            tzinfo=UTC,
        ).timestamp()
    except ValueError:
        return None


def _make_damage_error() -> Damaged:
    return Damaged("The document is damaged in its archive: it cannot be unpacked whole. Ask for it again.")

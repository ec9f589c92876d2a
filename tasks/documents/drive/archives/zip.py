"""The directory of a .zip and its members, read within bounds and without trust.

`zipfile` keeps a directory of any size in memory, and fails on names and offsets that real programs write; `ooxml.zip`
maps the file into memory, and if somebody truncates a mapped file the process ends (SIGBUS): here that would be the
service. The format: PKWARE's APPNOTE.TXT 6.3.10; times in extra fields: Info-ZIP's extrafld.txt.
"""

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import BinaryIO, Final, NamedTuple
from zlib import crc32

from zlib_ng import zlib_ng

from tasks.documents.drive.archives.members import ArchiveNotOpened, Entry, Target
from tasks.errors import Damaged, TooLarge

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
    from tasks.reading.txt.reader import guess_code_page  # noqa: PLC0415

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
            raise TooLarge("The document is larger than its limit. DILIGENCE_DOCUMENT_MAX_MB sets it.")
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

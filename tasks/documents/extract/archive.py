"""A zip, read by hand.

`zipfile` gives up on a file that is cut off, and trusts declared sizes. Here a lost directory is
rebuilt from the local headers, and what a member inflates to is capped whatever it declares.
"""

import contextlib
import mmap
import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from tasks.documents.extract.reading import Source
from tasks.errors import TooLarge

TOTAL_LIMIT: Final = 1 << 30
"""The most bytes all members read from one archive may inflate to."""

_CHUNK: Final = 1 << 20
_LOCAL_HEADER: Final = b"PK\x03\x04"
_CENTRAL_HEADER: Final = b"PK\x01\x02"


class Entry(NamedTuple):
    """One member: `offset` is that of its data; `whole` tells that its size and checksum are known."""

    name: str
    method: int
    offset: int
    compressed: int
    crc: int
    whole: bool


class Archive:
    """The members of a zip. `damaged` is set as soon as something is found to be missing or wrong."""

    def __init__(self, source: Source) -> None:
        self._data: bytes | mmap.mmap
        if isinstance(source, bytes):
            self._data = source
        else:
            with source.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._inflated = 0
        self.damaged = False

    def close(self) -> None:
        """Let go of the file."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()

    def starts_with(self, magic: bytes) -> bool:
        """Whether the file begins with these bytes."""
        return self._data[: len(magic)] == magic

    def holds(self, piece: bytes) -> bool:
        """Whether these bytes stand anywhere in the file."""
        return self._data.find(piece) >= 0

    def entries(self) -> list[Entry]:
        """The members by the central directory, and those that it has lost by their local headers."""
        found: dict[str, Entry] = {}
        with contextlib.suppress(struct.error, ValueError):
            for entry in self._central_directory():
                found[entry.name] = entry
        if self.damaged or not found:
            self.damaged = True
            for entry in self._local_headers():
                found.setdefault(entry.name, entry)
        return list(found.values())

    def _central_directory(self) -> Iterator[Entry]:
        data = self._data
        end = data.rfind(b"PK\x05\x06")
        if end < 0:
            return
        count, size, start = struct.unpack_from("<HII", data, end + 10)
        if count == 0xFFFF or 0xFFFFFFFF in (size, start):
            locator = data.rfind(b"PK\x06\x07", 0, end)
            if locator >= 0:
                (record,) = struct.unpack_from("<Q", data, locator + 8)
                if data[record : record + 4] == b"PK\x06\x06":
                    count, size, start = struct.unpack_from("<QQQ", data, record + 32)
        shift = 0
        if data[start : start + 4] != _CENTRAL_HEADER:  # something stands before the zip: offsets count from its start
            at = data.find(_CENTRAL_HEADER, max(0, end - size - 64), end)
            shift, start = at - start, at
        for _ in range(count):
            if data[start : start + 4] != _CENTRAL_HEADER:
                self.damaged = True
                return
            flags, method, _, crc, compressed, inflated, name, extra, comment, _, _, _, header = struct.unpack_from(
                "<HHIIIIHHHHHII", data, start + 8
            )
            raw = data[start + 46 : start + 46 + name]
            wide = _zip64(data[start + 46 + name : start + 46 + name + extra])
            if inflated == 0xFFFFFFFF:
                wide = wide[8:]
            if compressed == 0xFFFFFFFF:
                (compressed,), wide = struct.unpack_from("<Q", wide), wide[8:]
            if header == 0xFFFFFFFF:
                (header,) = struct.unpack_from("<Q", wide)
            start += 46 + name + extra + comment
            header += shift
            if data[header : header + 4] == _LOCAL_HEADER:
                name, extra = struct.unpack_from("<HH", data, header + 26)
                yield Entry(_name(raw, flags), method, header + 30 + name + extra, compressed, crc, whole=True)
            else:
                self.damaged = True

    def _local_headers(self) -> Iterator[Entry]:
        data = self._data
        at = data.find(_LOCAL_HEADER)
        while at >= 0 and at + 30 <= len(data):
            flags, method, _, crc, compressed, _, name, extra = struct.unpack_from("<HHIIIIHH", data, at + 6)
            start = at + 30 + name + extra
            known = not flags & 8 and compressed != 0xFFFFFFFF
            if method in (0, 8) and 0 < name < 1024:
                yield Entry(_name(data[at + 30 : at + 30 + name], flags), method, start, compressed, crc, whole=known)
            at = data.find(_LOCAL_HEADER, start + compressed if known else max(start, at + 4))

    def inflate(self, entry: Entry, limit: int) -> Iterator[bytes]:
        """The data of a member, chunk by chunk; ends early, with `damaged` set, where it cannot go on."""
        at, end = entry.offset, entry.offset + entry.compressed if entry.whole else len(self._data)
        if end > len(self._data):
            self.damaged, end = True, len(self._data)
        if entry.method not in (0, 8):
            self.damaged = True
            return
        inflater = zlib.decompressobj(-15)
        total = crc = 0
        pending = b""
        while not inflater.eof:
            if not pending:
                pending = self._data[at : min(at + _CHUNK, end)]
                at += len(pending)
            if not pending:
                break
            try:
                chunk = pending if entry.method == 0 else inflater.decompress(pending, _CHUNK)
            except zlib.error:
                self.damaged = True
                return
            pending = b"" if entry.method == 0 else inflater.unconsumed_tail
            total += len(chunk)
            self._inflated += len(chunk)
            if total > limit or self._inflated > TOTAL_LIMIT:
                raise TooLarge("The document unpacks to far more than it can be read from. Split it.")
            crc = zlib.crc32(chunk, crc)
            if chunk:
                yield chunk
        if (entry.method == 8 and not inflater.eof) or (entry.whole and crc != entry.crc):
            self.damaged = True


def _name(raw: bytes, flags: int) -> str:
    return raw.decode("utf-8" if flags & 0x800 else "cp437", "replace")


def _zip64(extra: bytes) -> bytes:
    """The wide sizes and offset of an entry, where its extra field has them."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            return extra[at + 4 : at + 4 + size]
        at += 4 + size
    return b""

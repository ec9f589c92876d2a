"""An Office file as a package: its parts, the relationships between them, and the documents embedded in it.

The zip around it is read by hand. `zipfile` gives up on a file that is cut off, trusts declared sizes, and takes as
long to open a small document as its text takes to read. Here opening one takes 23 µs beside 164, and what a member
inflates to is limited whatever it declares. Inflating is zlib-ng's: 1.4 times as fast as zlib on the parts of Office
files, as fast as libdeflate, and faster than ISA-L.

The directory is read once, and a member's own header when it is needed; a lost directory is rebuilt from those headers.
"""

import contextlib
import html
import mmap
import os
import posixpath
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from urllib.parse import unquote

from zlib_ng import zlib_ng

from tasks.errors import Damaged, TooLarge
from tasks.reading.limits import keep_memory
from tasks.reading.numerals import with_raised_runs
from tasks.reading.ooxml import ole
from tasks.reading.ooxml.xml import canonical
from tasks.reading.text_writer import NO_TEXT, Reading, Source, Writer


class ZipEntry(NamedTuple):
    """One member, whose own header is at `header`; `known` is True if its size and checksum are known."""

    name: str
    method: int
    header: int
    compressed: int
    crc: int
    known: bool


MOST_MEMBERS: Final = 200_000
"""Those beyond are not looked at; office programs write some thousands at most."""

LOCAL_HEADER: Final = b"PK\x03\x04"
_CENTRAL_HEADER: Final = b"PK\x01\x02"
_LOCAL: Final = struct.Struct("<HHIIIIHH")
_CENTRAL: Final = struct.Struct("<4s4xHH4xIIIHHH8xI")
TOTAL_LIMIT: Final = 1 << 30
"""The most bytes all members read from one archive may inflate to."""

_CHUNK: Final = 1 << 20
_AT_ONCE: Final = 1 << 16
"""Members that take up to this many bytes come in one piece: of 64 MB at most."""

_READ_WHOLE: Final = 1 << 18
"""Files up to this size, in bytes, are read rather than mapped: mapping takes 20 µs longer."""

_LOCAL_LENGTHS: Final = struct.Struct("<HH")


class ZipMembers:
    """The members of a zip. `damaged` is set as soon as anything is found to be missing or wrong."""

    def __init__(self, source: Source) -> None:
        self.damaged = False
        self._data = source if isinstance(source, bytes) else _open(source)
        self._shift = 0
        self._inflated = 0
        self._lost: dict[str, ZipEntry] | None = None

    def entries(self) -> list[ZipEntry]:
        """The members by the central directory, and those that it has lost by their own headers."""
        entries: list[ZipEntry] = []
        with contextlib.suppress(struct.error):
            entries.extend(islice(self._central_directory(), MOST_MEMBERS))
        if self.damaged or not entries:
            self.damaged = True
            named = {entry.name for entry in entries}
            entries.extend(entry for entry in islice(self.lost(), MOST_MEMBERS) if entry.name not in named)
        return entries

    def _central_directory(self) -> Iterator[ZipEntry]:
        count, directory = self._read_directory()
        at = 0
        for _ in range(count):
            member = _CENTRAL.unpack_from(directory, at)
            sign, flags, method, crc, compressed, inflated, name, extra, comment, header = member
            if sign != _CENTRAL_HEADER:
                self.damaged = True
                return
            named = at + 46 + name
            if 0xFFFFFFFF in (compressed, inflated, header):
                compressed, header = _wide(directory[named : named + extra], compressed, inflated, header)
            yield ZipEntry(
                _name(directory[at + 46 : named], flags), method, header + self._shift, compressed, crc, known=True
            )
            at = named + extra + comment

    def _read_directory(self) -> tuple[int, bytes]:
        data = self._data
        end = data.rfind(b"PK\x05\x06")
        if end < 0:
            return 0, b""
        count, size, start = struct.unpack_from("<HII", data, end + 10)
        if count == 0xFFFF or 0xFFFFFFFF in (size, start):
            locator = data.rfind(b"PK\x06\x07", 0, end)
            if locator >= 0:
                (record,) = struct.unpack_from("<Q", data, locator + 8)
                if data[record : record + 4] == b"PK\x06\x06":
                    count, size, start = struct.unpack_from("<QQQ", data, record + 32)
        if data[start : start + 4] != _CENTRAL_HEADER:  # something stands before the zip: offsets count from its start
            at = data.find(_CENTRAL_HEADER, max(0, end - size - 64), end)
            self._shift, start = at - start, at
        if start < 0:
            self.damaged = True
            return 0, b""
        return int(count), data[start:end]

    def lost(self) -> Iterator[ZipEntry]:
        """The members that have headers of their own, whatever the directory says, in order."""
        data = self._data
        at = data.find(LOCAL_HEADER)
        while at >= 0 and at + 30 <= len(data):
            flags, method, _, crc, compressed, _, name, extra = _LOCAL.unpack_from(data, at + 6)
            start = at + 30 + name + extra
            known = not flags & 8 and compressed != 0xFFFFFFFF
            if method in (0, 8) and 0 < name < 1024:
                yield ZipEntry(_name(data[at + 30 : at + 30 + name], flags), method, at, compressed, crc, known)
            at = data.find(LOCAL_HEADER, start + compressed if known else max(start, at + 4))

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()

    @property
    def empty(self) -> bool:
        """Whether the file has no bytes."""
        return not self._data[:1]

    def starts_with(self, magic: bytes) -> bool:
        """Whether the file begins with these bytes."""
        return self._data[: len(magic)] == magic

    def read(self, entry: ZipEntry, limit: int) -> bytes:
        """All the data of a member; missing data of a damaged one is left out, and `damaged` is set.

        Raises:
            TooLarge: it inflates to more than `limit` bytes, or all that was read so far to more than TOTAL_LIMIT.
        """
        return b"".join(self.inflate(entry, limit))

    def inflate(self, entry: ZipEntry, limit: int) -> Iterator[bytes]:
        """The data of a member, in pieces of up to 1 MB, or in one if it is small (`_AT_ONCE`).

        If it cannot continue it ends early, and sets `damaged`; raises as `read`.
        """
        data = self._at_once(entry, limit) if entry.compressed <= _AT_ONCE else None
        return self._inflate(entry, limit) if data is None else iter((data,))

    def _at_once(self, entry: ZipEntry, limit: int) -> bytes | None:
        """A member inflated in one call, twice as fast below 2 KB; None if anything about it is unusual."""
        if entry.method == 8 and entry.known:
            start, end = self._span(entry)
            try:
                data = zlib_ng.decompress(self._data[start:end], -15, entry.compressed * 8)
            except zlib_ng.error:  # type: ignore[misc]  # its stub calls the class an instance
                return None
            if zlib_ng.crc32(data) == entry.crc and len(data) <= min(limit, TOTAL_LIMIT - self._inflated):
                self._inflated += len(data)
                return data
        return None

    def _inflate(self, entry: ZipEntry, limit: int) -> Iterator[bytes]:
        at, end = self._span(entry)
        if entry.method not in (0, 8):
            self.damaged = True
            return
        inflater = zlib_ng.decompressobj(-15)
        total = crc = 0
        pending = chunk = b""
        while not inflater.eof:
            if not pending:
                pending = self._data[at : min(at + _CHUNK, end)]
                at += len(pending)
            if not pending and (entry.method == 0 or len(chunk) < _CHUNK):
                break  # after a full piece, more may wait in the inflater
            try:
                chunk = pending if entry.method == 0 else inflater.decompress(pending, _CHUNK)
            except zlib_ng.error:  # type: ignore[misc]  # its stub calls the class an instance
                self.damaged = True
                return
            pending = b"" if entry.method == 0 else inflater.unconsumed_tail
            total += len(chunk)
            self._inflated += len(chunk)
            if total > limit or self._inflated > TOTAL_LIMIT:
                raise TooLarge("The document unpacks to far more than it can be read from. Split it.")
            crc = zlib_ng.crc32(chunk, crc)
            if chunk:
                yield chunk
        if (entry.method == 8 and not inflater.eof) or (entry.known and crc != entry.crc):
            self.damaged = True

    def _span(self, entry: ZipEntry) -> tuple[int, int]:
        """Where a member's data begins, and where it ends at the latest."""
        at = entry.header
        if self._data[at : at + 4] != LOCAL_HEADER:
            self.damaged = True
            if self._lost is None:
                self._lost = {}
                for other in islice(self.lost(), MOST_MEMBERS):
                    self._lost.setdefault(other.name, other)
            same = self._lost.get(entry.name)
            return self._span(same) if same is not None else (0, 0)
        try:
            name, extra = _LOCAL_LENGTHS.unpack_from(self._data, at + 26)
        except struct.error:  # the file ends within the header
            name = extra = 0
        start = at + 30 + name + extra
        end = start + entry.compressed if entry.known else len(self._data)
        if end > len(self._data):
            self.damaged, end = True, len(self._data)
        return start, end


def _name(raw: bytes, flags: int) -> str:
    if raw.isascii():
        return raw.decode("ascii")
    return raw.decode("utf-8" if flags & 0x800 else "cp437", "replace")


def _wide(extra: bytes, compressed: int, inflated: int, header: int) -> tuple[int, int]:
    """The compressed size and the offset of an entry, from its extra field if they are there (zip64)."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            wide = iter(struct.unpack_from(f"<{min(size, len(extra) - at - 4) // 8}Q", extra, at + 4))
            _ = next(wide, 0) if inflated == 0xFFFFFFFF else inflated
            compressed = next(wide, 0) if compressed == 0xFFFFFFFF else compressed
            return compressed, next(wide, 0) if header == 0xFFFFFFFF else header
        at += 4 + size
    return compressed, header


def _open(path: Path) -> bytes | mmap.mmap:
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(file).st_size
        if size <= _READ_WHOLE and len(data := os.read(file, size)) == size:
            return data
        return mmap.mmap(file, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(file)


keep_memory()
PART_LIMIT: Final = 192 << 20
"""The most bytes one part read as a whole may inflate to; rewriting it takes several times as much."""

SCAN_LIMIT: Final = 96 << 20
"""The most bytes that are scanned of one document: tags alone, without words, take a second for 15 MB."""

STREAM_LIMIT: Final = 512 << 20
"""The most bytes one part read as a stream may inflate to."""

_LARGEST_PROPERTIES: Final = 1 << 20
_MOMENT: Final = re.compile(rb"<(?:\w+:)?(created|modified)\b[^<>]*+>([^<]*+)<")
CUT_OFF: Final = "The file is cut off or damaged: the text holds what could be saved."
_TAG: Final = re.compile(rb"<Relationship\s")
_ATTRIBUTE: Final = re.compile(r"""\s(Id|Type|Target|TargetMode)\s*=\s*["']([^"'<]*)""")

EMBEDDED_KINDS: Final = ("package", "oleObject", "aFChunk")
"""The kinds of relationships that lead to a document inside this one."""

MACROS: Final = "The file holds macros: they were neither run nor read."
_MACRO_KINDS: Final = {"vbaProject", "xlMacrosheet", "xlIntlMacrosheet"}
"""The kinds of relationships of a main part that lead to macros, those of Excel 4.0 among them."""

EMBEDDED_LIMIT: Final = 64 << 20
"""The most bytes of one of them that are handed on."""

EMBEDDED_TOTAL: Final = 128 << 20
"""The most bytes of all of them together."""


class Relationship(NamedTuple):
    """`kind` is the last part of the type's address, `target` the name of the target part."""

    id: str
    kind: str
    target: str


class Package(AbstractContextManager["Package", None]):
    """The parts of an Office file, by name (in any case).

    Raises:
        Damaged: the file is no zip, or nothing is left of it.
        PasswordProtected: it is encrypted, and not with the password that Excel sets by itself.
    """

    def __init__(self, source: Source) -> None:
        self._archive = ZipMembers(source)
        if self._archive.empty:
            raise Damaged("The file is empty (0 bytes). Ask for it again.")
        self._relationships: dict[str, list[Relationship]] = {}
        self._broken = False
        self._scanned = 0
        if self._archive.starts_with(ole.MAGIC):
            self._archive.close()
            self._archive = ZipMembers(ole.decrypt_package(source))
        self._entries = {_key(entry.name): entry for entry in self._archive.entries()}
        if not self._entries:
            raise Damaged("The file is not an Office document: it is not a zip package. Ask for it again.")

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    @property
    def damaged(self) -> bool:
        """Whether anything read so far was missing or wrong."""
        return self._broken or self._archive.damaged

    def note_damage(self) -> None:
        """Record that something the package refers to does not exist."""
        self._broken = True

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def chunks(self, name: str, limit: int = STREAM_LIMIT) -> Iterator[bytes]:
        """A part in pieces as it is inflated, up to `limit` bytes. If it is truncated the pieces end, and `damaged` is
        set.

        Raises:
            KeyError: there is no such part.
            TooLarge: it inflates beyond the limit.
        """
        entry = self._find(name)
        if entry is None:
            raise KeyError(name)
        return self._archive.inflate(entry, limit)

    def _find(self, name: str) -> ZipEntry | None:
        return self._entries.get(_key(name))

    def attachment(self, name: str, limit: int) -> bytes | None:
        """A part that is a document of its own, as far as it exists; None if it is lost or larger than `limit` bytes.

        If it is truncated, that document is damaged, and not this one.
        """
        damaged = self._archive.damaged
        try:
            return b"".join(self.chunks(name, limit))
        except (KeyError, TooLarge):
            return None
        finally:
            self._archive.damaged = damaged

    def scan(self, name: str) -> bytes:
        """A part in the form for scanners (see `canonical`); b"" if there is no such part or it contains no XML.

        Raises:
            TooLarge: it inflates beyond PART_LIMIT, or all that was scanned so far to more than SCAN_LIMIT.
        """
        entry = self._find(name)
        if entry is None:
            return b""
        data = self._archive.read(entry, PART_LIMIT)
        self._scanned += len(data)
        if self._scanned > SCAN_LIMIT:
            raise TooLarge("The document holds more than can be read at once. Split it.")
        data, complete = canonical(data)
        if not complete:
            self.note_damage()
        return with_raised_runs(data)

    def relationships(self, name: str) -> list[Relationship]:
        """The relationships of a part to others in the package, in order; the package itself has the name ""."""
        if name not in self._relationships:
            self._relationships[name] = self._read_relationships(name)
        return self._relationships[name]

    def _read_relationships(self, name: str) -> list[Relationship]:
        folder, _, file = name.rpartition("/")
        inside = folder + "/" if folder else ""
        part = f"{inside}_rels/{file}.rels"
        entry = self._find(part)
        if entry is None:
            return []
        data = self._archive.read(entry, PART_LIMIT)
        if b"!" in data or b"\0" in data or _TAG.search(data) is None:
            data = self.scan(part)
        found: list[Relationship] = []
        for tag in data.decode("utf-8", "replace").split("<Relationship"):
            values = dict(_ATTRIBUTE.findall(tag))
            target = html.unescape(values.get("Target", "")).replace("\\", "/").partition("#")[0]
            if target and target != "NULL" and "://" not in target and values.get("TargetMode") != "External":
                kind = values.get("Type", "").rpartition("/")[2]
                found.append(Relationship(values.get("Id", ""), kind, self._resolve(target, inside)))
        return found

    def _resolve(self, target: str, inside: str) -> str:
        """The name of a part that one in the folder `inside` refers to."""
        full = target.lstrip("/") if target[0] == "/" else inside + target
        if "/." in full or "//" in full or full.startswith("."):
            full = posixpath.normpath(f"/{full}").lstrip("/")
        return unquote(full) if "%" in full and full not in self and unquote(full) in self else full

    def dates(self) -> tuple[str, str]:
        """The times at which the file says it was created and last changed; "" for none.

        They are `dcterms:created` and `dcterms:modified` of its core properties (ECMA-376-2, 11).
        """
        part = next((item.target for item in self.relationships("") if item.kind == "core-properties"), "")
        core = self.attachment(part, _LARGEST_PROPERTIES) or b""
        found = {match[1]: match[2].decode("ascii", "replace") for match in _MOMENT.finditer(core)}
        return found.get(b"created", ""), found.get(b"modified", "")

    def main_part(self, usual: str) -> str:
        """The name of the part with the document; `usual` is its name in most files.

        Raises:
            Damaged: the package has no such part.
        """
        for relationship in self.relationships(""):
            if relationship.kind == "officeDocument" and relationship.target in self:
                return relationship.target
        if usual in self:
            return usual
        raise Damaged("The file has lost its main part: nothing can be read from it. Ask for it again.")

    def has_macros(self) -> bool:
        """Whether the document comes with macros."""
        mains = [item.target for item in self.relationships("") if item.kind == "officeDocument"]
        return any(not _MACRO_KINDS.isdisjoint([item.kind for item in self.relationships(main)]) for main in mains)


class PackageStory(Protocol):
    """The content of a package: `write` writes it to `writer`, which belongs to it."""

    writer: Writer

    def write(self) -> None: ...


def read_package(story_of: Callable[[Package], PackageStory], source: Source) -> Reading:
    """The reading of the package in `source`, with a warning if something or everything is missing.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with Package(source) as package:
        story = story_of(package)
        story.write()
        story.writer.date(*package.dates())
        if package.damaged:
            story.writer.warn(CUT_OFF)
        if not story.writer.written:
            story.writer.warn(NO_TEXT)
        return story.writer.reading()


def attach_embedded(package: Package, names: Iterable[str], writer: Writer) -> None:
    """Pass the parts with these names to `writer`, each once; for those lost or too large only the name.

    Macros are not passed on: a warning says that there are some.
    """
    if package.has_macros():
        writer.warn(MACROS)
    left = EMBEDDED_TOTAL
    for name in dict.fromkeys(names):
        data = package.attachment(name, min(left, EMBEDDED_LIMIT))
        left -= len(data or b"")
        writer.attach(posixpath.basename(name), data)


def _key(name: str) -> str:
    key = name.lower()
    return key.replace("\\", "/").lstrip("/") if "\\" in key or key[:1] == "/" else key

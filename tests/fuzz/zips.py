"""Zips written field by field, so that each field can lie. Not for reading: `zipfile` opens the sound ones."""

import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Final, NamedTuple

from tests.tasks.reading.ooxml.packages import relationships

DEFLATED: Final = 8


class Member(NamedTuple):
    """One member as it is written. `packed` is its data in the archive; what is declared of it may be false."""

    name: bytes
    packed: bytes
    crc: int
    size: int
    method: int = DEFLATED
    flags: int = 0
    declared: int | None = None
    """The declared size in the archive; None for the true one."""


def member(name: str, data: bytes, level: int = 6) -> Member:
    """A sound member."""
    return Member(name.encode(), deflated(data, level), zlib.crc32(data), len(data))


def deflated(data: bytes, level: int = 6) -> bytes:
    """`data` as a raw deflate stream."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def repeated(head: bytes, block: bytes, times: int, tail: bytes = b"") -> bytes:
    """The raw deflate stream of head, `times` the block, and tail: made in the time that one block takes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    middle = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + middle * times + deflated(tail)


def bomb(name: str, head: bytes, block: bytes, times: int, tail: bytes = b"", size: int | None = None) -> Member:
    """A member of head, `times` the block, and tail, with the size that it has or another one.

    Its checksum is right up to 400 MB; beyond, it would take long to find and never be looked at.
    """
    whole = len(head) + len(block) * times + len(tail)
    checksum = zlib.crc32(head)
    for _ in range(times if whole < 400_000_000 else 0):
        checksum = zlib.crc32(block, checksum)
    packed = repeated(head, block, times, tail)
    return Member(name.encode(), packed, zlib.crc32(tail, checksum), min(size or whole, 0xFFFFFFFF))


def pack(members: Sequence[Member]) -> bytes:
    """The archive of these members. Those with the very same `packed` object share their data: they overlap."""
    out = BytesIO()
    starts: dict[int, int] = {}
    directory: list[bytes] = []
    for each in members:
        fields = struct.pack(
            "<HHHHHIIIHH",
            20,
            each.flags,
            each.method,
            0,
            33,  # the first of January 1980
            each.crc,
            len(each.packed) if each.declared is None else each.declared,
            each.size,
            len(each.name),
            0,
        )
        start = starts.setdefault(id(each.packed), out.tell())
        if start == out.tell():
            out.write(b"PK\x03\x04" + fields + each.name + each.packed)
        directory.append(
            b"PK\x01\x02" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, start) + each.name
        )
    start = out.tell()
    out.writelines(directory)
    count = min(len(members), 0xFFFF)
    out.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, out.tell() - start, start, 0))
    return out.getvalue()


def office(main: str, parts: Mapping[str, str | bytes | Member]) -> bytes:
    """An Office file whose main part is `main`, of these parts."""
    whole = {"_rels/.rels": relationships(("officeDocument", main)), **parts}
    return pack([
        part if isinstance(part, Member) else member(name, part.encode() if isinstance(part, str) else part)
        for name, part in whole.items()
    ])  # fmt: skip


def parts(data: bytes) -> dict[str, bytes]:
    """The members of a sound archive."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}

"""Mutations of Office files: of the parts inside, of what they are called, and of the zip around them."""

import random
import re
import struct
import zlib
from functools import lru_cache
from typing import Final

from tests.fuzz import markup, plain
from tests.fuzz.zips import Member, deflated, member, pack, parts

_FIELDS: Final = {
    b"PK\x03\x04": ((4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
    b"PK\x01\x02": ((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)),
    b"PK\x05\x06": ((4, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)),
}
"""Where the fields of the records stand, and how many bytes they have."""

_NAMES: Final = (
    "../../etc/passwd", "/etc/passwd", "word\\document.xml", "WORD/DOCUMENT.XML", "", "word/", "a" * 2000, "nul\0.xml",
    "[Content_Types].xml", "_rels/.rels", "word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "\ufffe",
)  # fmt: skip
_TEXTUAL: Final = re.compile(
    r"(?i)document|slide\d|notes|sheet|strings|styles|rels$|workbook|presentation|chart|comments"
)


def mutate(rng: random.Random, data: bytes) -> bytes:
    """The file with one to four changes of its parts, or of the zip, or of both."""
    members = dict(_members(data)) if data.startswith(b"PK") else {}  # an old workbook may hold a zip, but is none
    if not members:
        for _ in range(rng.choice((1, 1, 2, 8))):
            data = plain.mutate(rng, data)
        return data
    kind = rng.random()
    if kind < 0.75:
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            _change_part(rng, members)
    if 0.70 < kind < 0.82:
        _change_members(rng, members)
    packed = pack(list(members.values()))
    if kind > 0.80:
        packed = _change_record(rng, packed) if rng.random() < 0.6 else plain.mutate(rng, packed)
    return packed


@lru_cache(32)
def _members(data: bytes) -> dict[str, Member]:
    try:
        return {name: member(name, content) for name, content in parts(data).items()}
    except Exception:  # noqa: BLE001 - some seeds are damaged
        return {}


def _inflated(each: Member) -> bytes:
    try:
        return zlib.decompress(each.packed, -15)
    except zlib.error:
        return b""


def _change_part(rng: random.Random, members: dict[str, Member]) -> None:
    records = [name for name in members if name.startswith("xl/") and name.endswith(".bin") and "embed" not in name]
    if "xl/workbook.bin" in records and rng.random() < 0.8:
        name = rng.choice(records)
        members[name] = member(name, plain.mutate(rng, _inflated(members[name])), level=1)
        return
    enclosed = [name for name in members if name.endswith((".bin", ".docx", ".xlsx", ".pptx", ".pdf"))]
    if enclosed and rng.random() < 0.15:
        name = rng.choice(enclosed)
        content = _inflated(members[name])
        members[name] = member(name, plain.mutate(rng, content) if rng.random() < 0.5 else mutate(rng, content))
        return
    names = [name for name in members if name.endswith((".xml", ".rels", ".vml"))] or list(members)
    telling = [name for name in names if _TEXTUAL.search(name) and "Layout" not in name]
    name = rng.choice(telling if telling and rng.random() < 0.9 else names)
    content = _inflated(members[name])
    for _ in range(rng.choice((1, 1, 2, 3))):
        if name.endswith(".rels") and rng.random() < 0.6:
            content = _retarget(rng, content, members)
        else:
            content = markup.mutate(rng, content) if rng.random() < 0.9 else plain.mutate(rng, content)
    members[name] = member(name, content, level=1)
    lie = rng.random()
    if lie < 0.05:
        members[name] = members[name]._replace(crc=rng.getrandbits(32))
    elif lie < 0.1:
        members[name] = members[name]._replace(size=rng.choice((0, 1, len(content) // 2, 0xFFFFFFFF)))


def _retarget(rng: random.Random, content: bytes, members: dict[str, Member]) -> bytes:
    """A relationship that leads elsewhere: to nothing, out of the package, or in a circle."""
    targets = list(re.finditer(rb'(Target|Type|Id|TargetMode)="([^"]*)"', content))
    if not targets:
        return content
    found = rng.choice(targets)
    new = rng.choice((rng.choice(markup.TARGETS), b"/" + rng.choice(list(members)).encode(), rng.choice(targets)[2]))
    return content[: found.start(2)] + new + content[found.end(2) :]


def _change_members(rng: random.Random, members: dict[str, Member]) -> None:
    name, other = rng.choice(list(members)), rng.choice(list(members))
    kind = rng.randrange(6)
    if kind == 0:
        del members[name]
    elif kind == 1:
        members[name] = members[other]._replace(name=name.encode())  # the same data: they overlap
    elif kind == 2:
        members[name] = members[name]._replace(name=rng.choice(_NAMES).encode("utf-8", "replace"))
    elif kind == 3:
        members[name] = members[name]._replace(packed=plain.mutate(rng, members[name].packed))
    elif kind == 4:
        content = _inflated(members[name])
        members[name] = Member(name.encode(), content, zlib.crc32(content), len(content), method=0)
    else:
        members[name] = members[name]._replace(packed=deflated(b""), crc=0, size=0)


def _change_record(rng: random.Random, packed: bytes) -> bytes:
    """A field of one of the zip's records set to another value, perhaps that of another record."""
    changed = bytearray(packed)
    for _ in range(rng.choice((1, 1, 2, 5))):
        magic = rng.choice(list(_FIELDS))
        found = [match.start() for match in re.finditer(re.escape(magic), packed)]
        if not found:
            continue
        at, width = rng.choice(_FIELDS[magic])
        record, other = rng.choice(found), rng.choice(found)
        value = rng.choice((0, 1, 8, 9, 99, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF, len(packed), rng.getrandbits(32), -1))
        new = packed[other + at : other + at + width] if value < 0 else struct.pack("<I", value)[:width]
        changed[record + at : record + at + width] = new
    return bytes(changed)

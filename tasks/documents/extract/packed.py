"""Objects as they lie in a PDF's bytes: those that are packed into compressed streams, and which object a place is in.

For what PDFium does not tell: what a damaged file began with, and how a font names its glyphs.
"""

import re
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

_LONGEST_DICTIONARY: Final = 1 << 16
_LONGEST_STREAM: Final = 1 << 20
_MOST_INFLATED: Final = 128 << 20
"""Bytes of all streams together."""

_STREAM: Final = re.compile(rb"/Type\s*/ObjStm\b")
_FIRST: Final = re.compile(rb"/First\s+(\d{1,7})\b")
_NUMBER: Final = re.compile(rb"(?<!\d)(\d{1,7})\s+(\d{1,5})\s+\Z")


class Packed(NamedTuple):
    """An object within a stream that begins at `position` of the file."""

    position: int
    number: int
    content: bytes


def packed(data: bytes) -> Iterator[Packed]:
    """The objects within the file's object streams, up to 128 MB; those of encrypted ones are not seen."""
    room = _MOST_INFLATED
    for match in _STREAM.finditer(data):
        if room <= 0:
            return
        opening = data.rfind(b"obj", max(0, match.start() - _LONGEST_DICTIONARY), match.start())
        start = data.find(b"stream", match.end(), match.end() + _LONGEST_DICTIONARY)
        first = _FIRST.search(data, max(0, opening), max(0, start))
        content = _inflated(data, start + len(b"stream"), room) if first else b""
        room -= max(len(content), _LONGEST_DICTIONARY)
        if first is not None:
            yield from _objects(content, int(first.group(1)), match.start())


def reference(data: bytes, position: int) -> bytes | None:
    """The object in whose dictionary `position` lies, as others refer to it: "12 0 R"."""
    at = data.rfind(b"obj", max(0, position - _LONGEST_DICTIONARY), position)
    number = _NUMBER.search(data[max(0, at - 32) : at]) if at > 0 else None
    return b"%s %s R" % number.groups() if number else None


def _inflated(data: bytes, start: int, most: int) -> bytes:
    start += len(data[start : start + 2]) - len(data[start : start + 2].lstrip(b"\r\n"))
    end = data.find(b"endstream", start, start + _LONGEST_STREAM)
    stream = memoryview(data)[start : end if end > 0 else start + _LONGEST_STREAM]
    try:
        return zlib.decompressobj().decompress(stream, most)
    except zlib.error:
        return b""


def _objects(content: bytes, first: int, position: int) -> Iterator[Packed]:
    """The objects of a stream: their numbers and places are listed before the first."""
    listed = [int(number) for number in re.findall(rb"\d{1,9}", content[:first])]
    starts = [first + offset for offset in listed[1::2]]
    done = 0
    for number, begin, finish in zip(listed[::2], starts, [*starts[1:], len(content)], strict=False):
        if done <= begin < finish:  # they stand in order, or the list is made up
            yield Packed(position, number, content[begin:finish])
            done = finish

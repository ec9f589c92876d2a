"""What lies in a PDF's bytes: objects that are packed into streams, and how large streams would be unpacked.

For what PDFium does not tell: what a damaged file began with, how a font names its glyphs, whether a file is a bomb.
"""

import re
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

_LONGEST_DICTIONARY: Final = 1 << 16
_USUAL_DICTIONARY: Final = 1 << 11
_LONGEST_STREAM: Final = 1 << 20
_MOST_INFLATED: Final = 128 << 20
"""Bytes of all streams together."""

_PIECE: Final = 1 << 18

_MOST_UNPACKED: Final = 8 << 20
"""Bytes of a stream in a file that looks like a bomb: PDFium takes fifty times as much for what is drawn by them."""
_SAMPLES, _MONOTONOUS = 8, 5
"""Samples of a file, and how many of them are monotonous where it looks like a bomb. None of 94 public files does."""
_SAMPLE, _DISTINCT = 24, 7
"""Bytes of a sample, and how many different ones it has unless it unpacks to about a thousand times as much."""
_SMALL: Final = 1 << 14
"""A file of fewer bytes unpacks to more than 16 MB only where that is compressed twice."""
_TWICE: Final = (b"/FlateDecode/FlateDecode", b"/FlateDecode /FlateDecode")

_CONTENT: Final = re.compile(rb"\bstream\r?\n")
_COMPRESSED: Final = re.compile(rb"x[\x01\x9c\xda]")
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


def looks_like_bomb(data: bytes) -> bool:
    """Whether much of the file is as monotonous as what unpacks to a thousand times as much; 6 µs.

    A bomb that is well hidden goes unseen: its reader's process ends where memory ends.
    """
    if len(data) <= _SMALL:
        return any(filters in data for filters in _TWICE)
    step = len(data) // _SAMPLES
    starts = range(step // 2, len(data), step)
    return sum(len(set(data[start : start + _SAMPLE])) < _DISTINCT for start in starts) >= _MONOTONOUS


def without_bombs(data: bytes) -> bytes | None:
    """The file with those streams broken that inflate to more than 8 MB, or are compressed twice; None without any.

    Pictures and attached files stay, for PDFium does not unpack them unless they are asked for.
    """
    mended: bytearray | None = None
    room = _MOST_INFLATED
    for match in _CONTENT.finditer(data):
        dictionary = data[max(0, match.start() - _USUAL_DICTIONARY) : match.start()].rpartition(b"obj")[2]
        if room <= 0 or b"/Image" in dictionary or b"/EmbeddedFile" in dictionary:
            continue
        size = _unpacked_size(data, match.end(), _MOST_UNPACKED)
        room -= min(size, _MOST_UNPACKED)
        if size > _MOST_UNPACKED:
            mended = bytearray(data) if mended is None else mended
            mended[match.end() : match.end() + 2] = b"\0\0"
    return None if mended is None else bytes(mended)


def holds_bomb(data: bytes, most: int) -> bool:
    """Whether a stream of the file inflates to more than `most` bytes, or all of them together to eight times that.

    So is one that is compressed twice, for nobody means well by that. Streams of encrypted files are not seen.
    """
    room = 8 * most
    for match in _CONTENT.finditer(data):
        size = _unpacked_size(data, match.end(), min(most, room))
        if size > min(most, room):
            return True
        room -= size
    return False


def _unpacked_size(data: bytes, start: int, most: int) -> int:
    """Bytes to which the stream that begins here inflates; more than `most` where it does, or is compressed twice."""
    size = 0
    for piece in _pieces(memoryview(data)[start:]):
        if not size and _COMPRESSED.match(piece):
            return most + 1
        size += len(piece)
        if size > most:
            return size
    return size


def _pieces(stream: memoryview) -> Iterator[bytes]:
    """What a stream that begins here inflates to, piece by piece; nothing where it is not compressed."""
    if not (len(stream) > 1 and stream[0] & 15 == 8 and (stream[0] << 8 | stream[1]) % 31 == 0):
        return
    inflater = zlib.decompressobj()
    unread, position = b"", 0
    try:
        while not inflater.eof and (unread or position < len(stream)):
            if not unread:
                unread, position = bytes(stream[position : position + _PIECE]), position + _PIECE
            piece = inflater.decompress(unread, _PIECE)
            unread = inflater.unconsumed_tail
            yield piece
    except zlib.error:
        return


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

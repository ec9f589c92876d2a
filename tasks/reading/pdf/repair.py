"""Repairs damaged PDFs, as far as what is left allows: PDFium finds the objects, this says where to begin.

PDFium rebuilds a lost cross-reference table by itself, but it needs a trailer that names the catalog, and pages that
hang from it. In most truncated files one of these is missing. The module also looks at the file's bytes for what PDFium
does not say: the objects inside streams (fonts' glyph names are among them), and how large streams become when
unpacked, because PDFium ends the process on a bomb. It also mends character maps of which PDFium leaves out parts.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from tasks.reading.text_writer import Source

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
_CONTENT: Final = re.compile(rb"stream\r?\n")  # of endstream too: with \b the search takes 28 times as long
_COMPRESSED: Final = re.compile(rb"x[\x01\x9c\xda]")
_STREAM: Final = re.compile(rb"/Type\s*/ObjStm\b")
_FIRST: Final = re.compile(rb"/First\s+(\d{1,7})\b")
_NUMBER: Final = re.compile(rb"(?<!\d)(\d{1,7})\s+(\d{1,5})\s+\Z")
_RANGES: Final = re.compile(rb"(\d{1,6})\s{1,9}beginbfrange((?:\s*+<[0-9A-Fa-f]{4,8}>)++)\s*+endbfrange")
_RANGE: Final = re.compile(rb"<(\w{4})>\s*<(\w{4})>\s*<(\w{4}|\w{8})>")
_BEGINNING, _MOST_STREAMS, _MOST_BLOCKS, _CODES = 256, 40_000, 700, 1 << 16
_LARGEST_WITH_MAPS: Final = 32 << 20
REBUILT: Final = "The file is damaged: its table of contents was rebuilt, and pages may be missing."
LARGEST: Final = 192 << 20
"""Bytes of a file that is repaired: it is held twice."""

_TYPE: Final = re.compile(rb"/Type\s*/(Catalog|Pages|Page)\b")
_OBJECT: Final = re.compile(rb"\d\s+\d{1,5}\s+obj\b")
_BOUND_OR_TYPE: Final = re.compile(rb"(?:(\d{1,7}\s+\d{1,5})\s+|end)obj\b|/Type\s*/(?P<kind>Catalog|Pages|Page)\b")
_HEADER: Final = re.compile(rb"%PDF-\d")
_ENCRYPTED: Final = re.compile(rb"/Encrypt\s+(\d{1,7}\s+\d{1,5}\s+R)\b")
_HANDLER: Final = re.compile(rb"/Filter\s*/Standard\b")
_IDENTITY: Final = re.compile(rb"/ID\s*\[\s*(<[0-9A-Fa-f\s]{0,200}>|\((?:[^()\\]|\\.){0,200}\))", re.DOTALL)
_LATEST_HEADER: Final = 1024
"""Where PDFium looks for the header, in bytes."""

_LONGEST: Final = 1 << 16
"""Bytes of an object that are searched."""

_MOST_ROOTS: Final = 4
_MOST_PAGES: Final = 100_000
_MOST_FOUND: Final = 200_000
_NEW, _NEW_TREE = b"4000000 0 R", b"4000001 0 R"
"""Numbers that no object has: PDFium takes none above 4,194,304."""

_CATALOG: Final = b"4000000 0 obj\n<< /Type /Catalog /Pages %s >>\nendobj\n"
_TREE: Final = b"4000001 0 obj\n<< /Type /Pages /Count %d /Kids [%s] >>\nendobj\n"


def repair_file(data: bytes) -> Iterator[bytes]:
    """Possible repairs of a damaged PDF, the most likely first.

    Its bytes from the header on; then with a trailer for each catalog, the last first; with a catalog for each page
    tree; with a tree of all pages that are left.
    """
    header = _HEADER.search(data)
    if header is None:
        data = b"%PDF-1.7\n" + data
    elif header.start() > _LATEST_HEADER:
        data = data[header.start() :]
    if not _OBJECT.search(data):
        return
    data = data[: _end(data)]
    if header is None or header.start() > _LATEST_HEADER:
        yield data
    points = sorted(islice(_find_starting_points(data), _MOST_FOUND), key=lambda item: item.position)
    encryption = _encryption(data)
    for catalog in _latest(item.reference for item in points if item.kind == b"Catalog"):
        yield _with_trailer(data, b"", catalog, encryption)
    for root in _latest(item.reference for item in points if item.kind == b"Pages" and not item.within):
        yield _with_trailer(data, _CATALOG % root, _NEW, encryption)
    pages = list(dict.fromkeys(item.reference for item in points if item.kind == b"Page"))[:_MOST_PAGES]
    if pages:
        yield _with_trailer(data, _CATALOG % _NEW_TREE + _TREE % (len(pages), b" ".join(pages)), _NEW, encryption)


class _StartingPoint(NamedTuple):
    """An object from which reading can start."""

    position: int
    kind: bytes
    reference: bytes
    within: bool
    """Whether it hangs from another one."""


def _find_starting_points(data: bytes) -> Iterator[_StartingPoint]:
    """The catalogs, page trees and pages in the file, with packed ones last."""
    begin, name, kind = 0, b"", b""
    for match in chain(_BOUND_OR_TYPE.finditer(data), (None,)):
        if match and match["kind"]:
            kind = kind or match["kind"]
            continue
        end = match.start() if match else len(data)
        if name and kind:
            yield _StartingPoint(begin, kind, name + b" R", b"/Parent" in data[begin : min(end, begin + _LONGEST)])
        begin, name, kind = end, (match and match[1]) or b"", b""
    for item in find_packed(data):
        typed = _TYPE.search(item.content)
        if typed is not None:
            yield _StartingPoint(item.position, typed[1], b"%d 0 R" % item.number, b"/Parent" in item.content)


def _end(data: bytes) -> int:
    """Where the last complete object ends, or one cut off within its stream, whose beginning is readable."""
    last = data.rfind(b"obj")
    if data.endswith(b"end", 0, last) or data.find(b"stream", last) >= 0:
        return len(data)
    return max(data.rfind(b"endobj", 0, last) + len(b"endobj"), len(b"%PDF-1.7"))


def _with_trailer(data: bytes, objects: bytes, catalog: bytes, lock: bytes) -> bytes:
    """`data`, which may end in the middle of a stream, with more objects and a trailer appended."""
    end = b"\nendstream\nendobj\n%strailer\n<< /Root %s%s >>\nstartxref\n0\n%%%%EOF\n"
    return data + end % (objects, catalog, lock)


def _latest(references: Iterable[bytes]) -> list[bytes]:
    """The last few, without repetitions, last first: later changes come later in the file."""
    return list(dict.fromkeys(reversed(list(references))))[:_MOST_ROOTS]


def _encryption(data: bytes) -> bytes:
    """The trailer's entries for the file's encryption, if they are left."""
    named = _ENCRYPTED.findall(data)
    handler = _HANDLER.search(data)
    encryption = named[-1] if named else handler and reference(data, handler.start())
    if not encryption:
        return b""
    identities = _IDENTITY.findall(data)
    return b" /Encrypt %s" % encryption + (b" /ID [%s %s]" % (identities[-1], identities[-1]) if identities else b"")


class Packed(NamedTuple):
    """An object within a stream that begins at `position` in the file."""

    position: int
    number: int
    content: bytes


def with_parted_ranges(source: Source) -> Source:
    """A PDF, with the ranges of its character maps parted where the first byte of a code changes.

    Some versions of PDFBox write ranges in which it changes, against ISO 32000-1, 9.10.3. PDFium leaves out their whole
    block, and gives the numbers of glyphs for characters. Compressed maps of files up to 32 MB are mended, in their
    place; where there are none the source comes back itself.
    """
    if (len(source) if isinstance(source, bytes) else source.stat().st_size) > _LARGEST_WITH_MAPS:
        return source
    data = source if isinstance(source, bytes) else source.read_bytes()
    mended = bytearray()
    room = 2 * _MOST_UNPACKED
    for match in islice(_CONTENT.finditer(data), _MOST_STREAMS):
        stream = memoryview(data)[match.end() :]
        if room <= 0 or b"/CIDInit" not in next(_pieces(stream, _BEGINNING), b""):  # most streams are no maps
            continue
        content = _inflate(data, match.end(), _LONGEST_STREAM)
        parted = _RANGES.sub(_part_ranges, content, _MOST_BLOCKS)
        room -= max(len(parted), _LONGEST_DICTIONARY)
        if parted != content and b"endcmap" in content:
            packed = zlib.compress(parted[max(0, parted.find(b"begincmap")) :], 9)  # without its head there is room
            if data.find(b"endstream", match.end(), match.end() + len(packed)) < 0:
                mended = mended or bytearray(data)
                mended[match.end() : match.end() + len(packed)] = packed
    return bytes(mended) or source


def _part_ranges(block: re.Match[bytes]) -> bytes:
    """A block of ranges, parted; as it is where none has to be, or where it is not whole."""
    ranges = [(int(low, 16), int(high, 16), first) for low, high, first in _RANGE.findall(block[2])]
    is_whole = len(ranges) == int(block[1]) and sum(abs(high - low) for low, high, _ in ranges) < _CODES
    if not is_whole or all(low >> 8 >= high >> 8 or low == int(first, 16) for low, high, first in ranges):
        return block[0]
    parted = [
        (max(low, begin), min(high, begin + 0xFF), len(first), int(first, 16) + max(0, begin - low))
        for low, high, first in ranges
        for begin in range(low & 0xFF00, high + 1, 0x100)
    ]
    return b"%d beginbfrange %s endbfrange" % (len(parted), b"".join(map(b"<%04X><%04X><%0*X>\n".__mod__, parted)))


def find_packed(data: bytes) -> Iterator[Packed]:
    """The objects in the file's object streams, up to 128 MB; encrypted ones are not seen."""
    room = _MOST_INFLATED
    for match in _STREAM.finditer(data):
        if room <= 0:
            return
        opening = data.rfind(b"obj", max(0, match.start() - _LONGEST_DICTIONARY), match.start())
        start = data.find(b"stream", match.end(), match.end() + _LONGEST_DICTIONARY)
        first = _FIRST.search(data, max(0, opening), max(0, start))
        content = _inflate(data, start + len(b"stream"), room) if first else b""
        room -= max(len(content), _LONGEST_DICTIONARY)
        if first is not None:
            yield from _objects(content, int(first.group(1)), match.start())


def reference(data: bytes, position: int) -> bytes | None:
    """The object whose dictionary contains `position`, in the form in which others refer to it: "12 0 R"."""
    at = data.rfind(b"obj", max(0, position - _LONGEST_DICTIONARY), position)
    number = _NUMBER.search(data[max(0, at - 32) : at]) if at > 0 else None
    return b"%s %s R" % number.groups() if number else None


def _objects(content: bytes, first: int, position: int) -> Iterator[Packed]:
    """The objects in a stream: their numbers and offsets are listed before the first one."""
    listed = [int(number) for number in re.findall(rb"\d{1,9}", content[:first])]
    starts = [first + offset for offset in listed[1::2]]
    done = 0
    for number, begin, finish in zip(listed[::2], starts, [*starts[1:], len(content)], strict=False):
        if done <= begin < finish:  # they stand in order, or the list is false
            yield Packed(position, number, content[begin:finish])
            done = finish


def _inflate(data: bytes, start: int, most: int) -> bytes:
    start += len(data[start : start + 2]) - len(data[start : start + 2].lstrip(b"\r\n"))
    end = data.find(b"endstream", start, start + _LONGEST_STREAM)
    stream = memoryview(data)[start : end if end > 0 else start + _LONGEST_STREAM]
    return b"".join(islice(_pieces(stream, _PIECE), -(-most // _PIECE)))


def looks_like_bomb(data: bytes) -> bool:
    """Whether much of the file is as monotonous as data that unpacks to a thousand times its size; 6 µs.

    A well-hidden bomb is not detected: its reader's process ends when memory runs out.
    """
    if len(data) <= _SMALL:
        return any(filters in data for filters in _TWICE)
    step = len(data) // _SAMPLES
    starts = range(step // 2, len(data), step)
    return sum(len(set(data[start : start + _SAMPLE])) < _DISTINCT for start in starts) >= _MONOTONOUS


def without_bombs(data: bytes) -> bytes | None:
    """The file without the streams that inflate to more than 8 MB, or are compressed twice; None if there are none.

    Pictures and attached files stay, because PDFium only unpacks them on demand.
    """
    mended: bytearray | None = None
    room = _MOST_INFLATED
    for match in _CONTENT.finditer(data):
        dictionary = data[max(0, match.start() - _USUAL_DICTIONARY) : match.start()].rpartition(b"obj")[2]
        if room <= 0 or b"/Image" in dictionary or b"/EmbeddedFile" in dictionary:
            continue
        size = _measure_unpacked(data, match.end(), _MOST_UNPACKED)
        room -= min(size, _MOST_UNPACKED)
        if size > _MOST_UNPACKED:
            mended = bytearray(data) if mended is None else mended
            mended[match.end() : match.end() + 2] = b"\0\0"
    return None if mended is None else bytes(mended)


def holds_bomb(data: bytes, most: int) -> bool:
    """Whether a stream in the file inflates to more than `most` bytes, or all together to eight times that.

    A stream that is compressed twice counts too, because no honest program writes one. Streams in encrypted files are
    not seen.
    """
    room = 8 * most
    for match in _CONTENT.finditer(data):
        size = _measure_unpacked(data, match.end(), min(most, room))
        if size > min(most, room):
            return True
        room -= size
    return False


def _measure_unpacked(data: bytes, start: int, most: int) -> int:
    """Bytes to which the stream that begins here inflates; more than `most` where it does, or is compressed twice."""
    size = 0
    for piece in _pieces(memoryview(data)[start:], _PIECE):
        if not size and _COMPRESSED.match(piece):
            return most + 1
        size += len(piece)
        if size > most:
            return size
    return size


def _pieces(stream: memoryview, length: int) -> Iterator[bytes]:
    """What a stream that begins here inflates to, piece by piece; nothing where it is not compressed."""
    if not (len(stream) > 1 and stream[0] & 15 == 8 and (stream[0] << 8 | stream[1]) % 31 == 0):
        return
    inflater = zlib.decompressobj()
    unread, position = b"", 0
    try:
        while not inflater.eof and (unread or position < len(stream)):
            if not unread:
                unread, position = bytes(stream[position : position + length]), position + length
            piece = inflater.decompress(unread, length)
            unread = inflater.unconsumed_tail
            yield piece
    except zlib.error:
        return

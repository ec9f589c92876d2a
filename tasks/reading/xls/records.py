"""The records of a workbook's stream ([MS-XLS] 2.1.4), and the texts in them."""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from tasks.errors import Damaged

BOF: Final = 0x0809
EOF: Final = 0x000A
CONTINUE: Final = 0x003C
_BIFF8: Final = 0x0600
_BIFF5: Final = 0x0500
_MOST_STRINGS: Final = 4_000_000


class Record(NamedTuple):
    """A record: its number, and what is in it, in pieces where other records continue it."""

    number: int
    pieces: list[bytes]

    @property
    def data(self) -> bytes:
        """What is in the record itself."""
        return self.pieces[0]


def records(stream: bytes, start: int) -> Iterator[Record]:
    """The records from an offset on, as far as they are whole."""
    at, end = start, len(stream)
    while at + 4 <= end:
        number, length = struct.unpack_from("<HH", stream, at)
        at += 4
        pieces = [stream[at : at + length]]
        at += length
        while at + 4 <= end and stream[at] == CONTINUE and not stream[at + 1]:
            (length,) = struct.unpack_from("<H", stream, at + 2)
            pieces.append(stream[at + 4 : at + 4 + length])
            at += 4 + length
        if at > end and not pieces[0]:
            return
        yield Record(number, pieces)


def is_wide(stream: bytes) -> bool:
    """Whether the texts of the stream are Unicode (Excel 97 and later), by its first record.

    Raises:
        Damaged: it is no stream of Excel 5 or later.
    """
    number, _, version = struct.unpack_from("<HHH", stream) if len(stream) > 6 else (0, 0, 0)
    if number != BOF or version not in (_BIFF8, _BIFF5):
        raise Damaged("The file holds no workbook of Excel 5 to 2003. Ask for it again, saved as .xlsx.")
    return bool(version == _BIFF8)


class TextRecord(NamedTuple):
    """A text, and the offset behind it."""

    words: str
    end: int


def text_at(data: bytes, at: int, *, wide: bool, code_page: str, short: bool = False) -> TextRecord:
    """A text of one record behind the number of its characters, which takes two bytes, or one (`short`)."""
    count = data[at] if short else struct.unpack_from("<H", data, at)[0]
    at += 1 if short else 2
    if not wide:
        return TextRecord(data[at : at + count].decode(code_page, "replace"), at + count)
    flags = data[at]
    at += 1
    if flags & 8:  # formatted: runs follow
        at += 2
    if flags & 4:  # reading aids follow
        at += 4
    end = at + (2 * count if flags & 1 else count)
    return TextRecord(data[at:end].decode("utf-16-le" if flags & 1 else "latin-1", "replace"), end)


def continued_text(pieces: list[bytes], count: int) -> str:
    """So many characters of a text that stands in the records that continue one: each begins with its width."""
    words = ""
    for piece in pieces:
        if len(words) >= count:
            break
        words += piece[1:].decode("utf-16-le" if piece[:1] == b"\1" else "latin-1", "replace")
    return words[:count]


def shared_strings(pieces: list[bytes]) -> list[str]:
    """The strings that cells refer to by number (the record SST, [MS-XLS] 2.4.265), as far as they are there."""
    strings: list[str] = []
    source = _Continued(pieces)
    try:
        source.take(8)
        while len(strings) < _MOST_STRINGS:
            strings.append(source.string())
    except (struct.error, IndexError):
        pass
    return strings


class _Continued:
    """Bytes that go on from one record to the next; a text that does repeats its width there."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces
        self._piece = self._at = 0

    def take(self, count: int) -> bytes:
        """The next bytes; raises IndexError where there are no more."""
        taken = b""
        while len(taken) < count:
            piece = self._pieces[self._piece]
            if self._at >= len(piece):
                self._piece, self._at = self._piece + 1, 0
                continue
            more = piece[self._at : self._at + count - len(taken)]
            self._at += len(more)
            taken += more
        return taken

    def string(self) -> str:
        count, flags = struct.unpack("<HB", self.take(3))
        runs = struct.unpack("<H", self.take(2))[0] if flags & 8 else 0
        aids = struct.unpack("<I", self.take(4))[0] if flags & 4 else 0
        words = self._characters(count, flags & 1)
        self._skip(4 * runs + aids)
        return words

    def _characters(self, count: int, wide: int) -> str:
        words = ""
        while count > 0:
            if self._at >= len(self._pieces[self._piece]):
                self._piece, self._at = self._piece + 1, 1
                wide = self._pieces[self._piece][0] & 1
            piece = self._pieces[self._piece]
            raw = piece[self._at : self._at + count * (1 + wide)]
            self._at += len(raw)
            text = raw.decode("utf-16-le" if wide else "latin-1", "replace")
            count -= max(len(raw) // (1 + wide), 1)
            words += text
        return words

    def _skip(self, count: int) -> None:
        while count > 0:
            left = len(self._pieces[self._piece]) - self._at
            if count <= left:
                self._at += count
                return
            count -= left
            self._piece, self._at = self._piece + 1, 0
            if self._piece >= len(self._pieces):
                raise IndexError

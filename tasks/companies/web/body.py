"""A body as it comes: unpacked piece by piece, and no further than the limits on either side of the packing.

A kilobyte of gzip can hold a megabyte of zeros, and layers of it more; so each piece is unpacked into a
bounded room, and one layer is all that is taken.
"""

import zlib
from collections.abc import Iterable
from typing import Any, Final

from tasks.errors import SourceFailed

ACCEPTED: Final = "gzip, deflate"
"""What is asked for; Brotli and Zstandard would need libraries that the rest does not."""
_ROOM: Final = 1 << 16
_GZIP: Final = b"\x1f\x8b"
_MEMBERS: Final = 1000
"""Members of a gzip file: each takes 20 bytes at least, and 20 µs."""


class _Full(Exception):
    """The limit is reached."""


def read_body(pieces: Iterable[bytes], packing: str, most_packed: int, most: int) -> tuple[bytes, bool]:
    """The body unpacked, and whether that is all of it: no more than the limits (bytes) is read or kept.

    `packing` is the Content-Encoding.

    Raises:
        SourceFailed: it is packed in a way that was not asked for, or its packing is broken.
    """
    names = [name.strip() for name in packing.lower().split(",") if name.strip() not in {"", "identity"}]
    if len(names) > 1 or (names and names[0] not in {"gzip", "x-gzip", "deflate"}):
        raise SourceFailed("The answer is compressed in a way that was not asked for.")
    unpack = _Unpacker(names[0] == "deflate", most) if names else _Plain(most)
    left = most_packed
    try:
        for piece in pieces:
            unpack.take(piece[:left])
            left -= len(piece)
            if left < 0:
                return bytes(unpack.body), False
        unpack.end()
    except _Full:
        return bytes(unpack.body[:most]), False
    except zlib.error:
        raise SourceFailed("The answer is compressed, and its compression is broken.") from None
    return bytes(unpack.body), True


class _Plain:
    """A body that is not packed."""

    def __init__(self, most: int) -> None:
        self.body = bytearray()
        self._most = most

    def take(self, piece: bytes) -> None:
        self._keep(piece)

    def end(self) -> None:
        """Nothing is left over."""

    def _keep(self, piece: bytes) -> None:
        self.body += piece
        if len(self.body) > self._most:
            raise _Full


class _Unpacker(_Plain):
    """A body packed by gzip, perhaps in several members, or by deflate, with or without zlib's frame."""

    def __init__(self, deflate: bool, most: int) -> None:
        super().__init__(most)
        self._deflate = deflate
        self._stream: Any = None
        self._held = b""
        self._members = 0
        self._ended = False

    def take(self, piece: bytes) -> None:
        piece = self._held + piece
        self._held = b""
        while piece and not self._ended:
            if self._stream is None:
                if len(piece) < 2:
                    self._held = piece
                    return
                if self._members and piece[:2] != _GZIP:
                    self._ended = True  # what some servers leave behind the end
                    return
                self._stream = self._open(piece)
            self._keep(self._stream.decompress(piece, _ROOM))
            piece = self._stream.unconsumed_tail
            if self._stream.eof:
                piece = self._stream.unused_data
                self._stream, self._ended = None, self._deflate

    def end(self) -> None:
        while self._stream is not None:  # what the room was too small for
            more = self._stream.decompress(b"", _ROOM)
            self._keep(more)
            if self._stream.eof:
                return
            if not more:
                raise zlib.error("cut off")
        if self._held and not self._members:
            raise zlib.error("cut off")

    def _open(self, piece: bytes) -> Any:
        self._members += 1
        if self._members > _MEMBERS:
            raise zlib.error("too many members")
        if not self._deflate:
            return zlib.decompressobj(31)
        framed = piece[0] & 0x0F == 8 and int.from_bytes(piece[:2], "big") % 31 == 0
        return zlib.decompressobj(15 if framed else -15)

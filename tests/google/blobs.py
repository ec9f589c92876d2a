"""The bytes of files: given ones, and generated ones of any length that are never held whole."""

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

PIECE = 256 * 1024  # bytes a piece of a body


class Blob(Protocol):
    """Bytes with a length in bytes and checksums in hex."""

    @property
    def size(self) -> int: ...

    @property
    def checksums(self) -> tuple[str, str, str]:
        """MD5, SHA-1 and SHA-256."""

    def read(self, start: int, stop: int) -> bytes: ...


def pieces(blob: Blob, start: int, stop: int) -> Iterator[bytes]:
    for at in range(start, stop, PIECE):
        yield blob.read(at, min(at + PIECE, stop))


def _checksums(blob: Blob) -> tuple[str, str, str]:
    digests = hashlib.md5(), hashlib.sha1(), hashlib.sha256()
    for piece in pieces(blob, 0, blob.size):
        for digest in digests:
            digest.update(piece)
    return digests[0].hexdigest(), digests[1].hexdigest(), digests[2].hexdigest()


class Bytes:
    """A file's content as given."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    @property
    def size(self) -> int:
        return len(self._content)

    @cached_property
    def checksums(self) -> tuple[str, str, str]:
        return _checksums(self)

    def read(self, start: int, stop: int) -> bytes:
        return self._content[start:stop]


class Repeated:
    """`size` bytes: one block over and over, so that hundreds of megabytes cost nothing to keep."""

    def __init__(self, size: int, block: bytes = b"A line of a long document, said again.\n") -> None:
        self._size = size
        self._block = block * (PIECE // len(block) + 2)
        self._period = len(block)

    @property
    def size(self) -> int:
        return self._size

    @cached_property
    def checksums(self) -> tuple[str, str, str]:
        return _checksums(self)

    def read(self, start: int, stop: int) -> bytes:
        stop = min(stop, self._size)
        found = bytearray()
        while start < stop:
            at = start % self._period
            piece = self._block[at : at + min(stop - start, PIECE)]
            found += piece
            start += len(piece)
        return bytes(found)

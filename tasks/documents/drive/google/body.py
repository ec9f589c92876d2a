"""A download on its way to disk: it goes on where it broke off, is measured as it comes, and never grows too large."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import BinaryIO

from tasks.errors import SourceFailed, TooLarge, Unavailable

_MEGABYTE = 1024 * 1024
_RANGE = re.compile(r"bytes (\d+)-\d+/(?:\d+|\*)")


class Body:
    """What a file holds of a download (`transport.Sink`)."""

    def __init__(self, file: BinaryIO, max_bytes: int | None, *, resumable: bool, html: bool = True) -> None:
        """Begin with an empty file.

        Args:
            file: open for writing; it is emptied.
            max_bytes: the most that is taken; None for no limit.
            resumable: whether the same bytes come again when they are asked for again.
            html: whether a page in HTML can be what was asked for; Google's login pages are HTML too.
        """
        self._file = file
        self._max_bytes = max_bytes
        self._resumable = resumable
        self._html = html
        self.framed = False
        """Whether the answer told where it ends, so that a body cut off was noticed."""
        self.restart()

    @property
    def position(self) -> int:
        return self._position

    @property
    def md5(self) -> str:
        return self._md5.hexdigest()

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def restart(self) -> None:
        """Forget what has come."""
        with _room():
            self._file.seek(0)
            self._file.truncate()
        self._position = 0
        self._md5 = hashlib.md5(usedforsecurity=False)  # Drive's checksum
        self._sha256 = hashlib.sha256()

    def lacking(self) -> dict[str, str]:
        """The request header for what has not come yet."""
        return {"range": f"bytes={self._position}-"} if self._position and self._resumable else {}

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        if headers.get("content-encoding", "identity") != "identity":
            raise HTTPException("compressed, though asked not to be")
        if not self._html and headers.get("content-type", "").lower().startswith("text/html"):
            raise SourceFailed("Google sent a page in place of the document's export. Log in again, then try again.")
        if status == 206:
            found = _RANGE.match(headers.get("content-range", ""))
            if found is None or int(found[1]) != self._position:
                self.restart()
                raise HTTPException("another range than was asked for")
        elif self._position:
            self.restart()
        length = headers.get("content-length", "")
        self.framed = length.isdigit() or "transfer-encoding" in headers
        self._check(self._position + int(length) if length.isdigit() else 0)

    def write(self, piece: bytes, /) -> None:
        self._check(self._position + len(piece))
        with _room():
            self._file.write(piece)
        self._position += len(piece)
        self._md5.update(piece)
        self._sha256.update(piece)

    def _check(self, size: int) -> None:
        if self._max_bytes is not None and size > self._max_bytes:
            raise too_large(self._max_bytes)


def too_large(max_bytes: int) -> TooLarge:
    """The error for a document above the limit."""
    return TooLarge(
        f"The document is larger than {max_bytes // _MEGABYTE} MB. DILIGENCE_DOCUMENT_MAX_MB sets the limit."
    )


@contextmanager
def _room() -> Iterator[None]:
    """Tells a full disk from a broken connection: both are OSErrors."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"The document cannot be written to disk ({error.strerror}). DILIGENCE_HOME must have room for it."
        ) from error

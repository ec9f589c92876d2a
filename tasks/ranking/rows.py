"""Long rows of numbers: in memory up to a bound, beyond it in a file that the system reads as somebody asks for it.

The file has no name and ends with its process: a killed one leaves nothing behind, and no index of an earlier version
is ever read. Its room on the disk is taken before it is filled, so that a full disk is an error with a sentence; else
the process would be killed when it writes to memory that the file cannot hold.
"""

import os
from tempfile import TemporaryFile
from typing import IO, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from storage import database
from tasks.errors import Unavailable

Number = TypeVar("Number", np.int32, np.uint8)

IN_MEMORY: Final = 100_000_000
"""Bytes of a row: 25 million words, those of some 250,000 passages of 1,000 characters."""


class GrowingRow:
    """A row to whose end numbers are added, all of one type; `row` gives it when it is whole."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._bytes = bytearray()
        self._file: IO[bytes] | None = None
        self._written = 0

    def append(self, numbers: NDArray[Any]) -> None:
        """Add numbers at the end.

        Raises:
            Unavailable: the disk has no room for them.
        """
        self._bytes += numbers.tobytes()
        if self._file is None and len(self._bytes) > self._in_memory:
            self._file = _nameless()
        if self._file is not None:
            self._written += len(self._bytes)
            _take(self._file, self._written)
            self._file.write(self._bytes)
            self._bytes.clear()

    def row(self, number: type[Number]) -> NDArray[Number]:
        """All numbers, of the type with which they were added. They may be changed; none may be added any more."""
        if self._file is None:
            return np.frombuffer(self._bytes, number)
        self._file.flush()
        return _mapped(self._file, number)


def empty_row(count: int, number: type[Number], in_memory: int = IN_MEMORY) -> NDArray[Number]:
    """A row of `count` numbers that are still to be set.

    Raises:
        Unavailable: the disk has no room for it.
    """
    size = count * np.dtype(number).itemsize
    if size <= in_memory:
        return np.empty(count, number)
    file = _nameless()
    _take(file, size)
    return _mapped(file, number)


def _nameless() -> IO[bytes]:
    try:
        return TemporaryFile(dir=database.home())
    except OSError as error:
        raise _no_room(error) from error


def _take(file: IO[bytes], size: int) -> None:
    """Have the file's room on the disk up to a size, in bytes."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:  # macOS
            file.truncate(size)
    except OSError as error:
        file.close()
        raise _no_room(error, size) from error


def _mapped(file: IO[bytes], number: type[Number]) -> NDArray[Number]:
    with file:  # what is mapped stays so
        mapped = np.memmap(file, number, "r+")
    return mapped.view(np.ndarray)  # the same memory, without what a memmap does at each slice


def _no_room(error: OSError, size: int = 0) -> Unavailable:
    return Unavailable(
        f"The index of a large data room needs {size // 1_000_000 + 1} MB in DILIGENCE_HOME ({error.strerror}). Make "
        "room there, or set DILIGENCE_HOME to a folder on a larger disk, and run again."
    )

"""The process that reads a .7z: `list` prints its entries as JSON, `unpack` writes its members to a folder.

`seven_zip` starts it with the descriptor of the open file. Members are written under their numbers, so that no name in
the archive becomes a file name here.
"""

import json
import os
import resource
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final
from zlib import crc32

import py7zr
from py7zr.io import Py7zIO, WriterFactory

from tasks.documents.drive.archives.seven_zip import DAMAGED, ENCRYPTED, FULL
from tasks.documents.drive.archives.zip import MOST_MEMBERS, TOTAL

_MEMORY: Final = 1 << 30
_MOST_ENTRIES: Final = 4 * MOST_MEMBERS
_SINCE_1601: Final = 11_644_473_600


def main(arguments: list[str]) -> int:
    """Do what the arguments say and return the exit status."""
    descriptor, action, *more = arguments
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # macOS does not limit address space
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    try:
        with os.fdopen(int(descriptor), "rb", closefd=False) as file:
            file.seek(0)
            with py7zr.SevenZipFile(file) as archive:
                if archive.needs_password():
                    return ENCRYPTED
                files = list(archive.files)[:_MOST_ENTRIES]
                if action == "list":
                    print(json.dumps([_fields(number, member) for number, member in enumerate(files)]))  # noqa: T201
                    return 0
                return _unpack(archive, files, Path(more[0]), int(more[1]))
    except py7zr.exceptions.PasswordRequired:
        return ENCRYPTED
    except OSError as error:
        return FULL if error.errno else DAMAGED
    except Exception:  # noqa: BLE001 - a hostile file may raise anything in a parser
        return DAMAGED


def _fields(number: int, member: Any) -> list[Any]:
    """The values of an `Entry`."""
    folder = bool(member.is_directory)
    refused = ""
    if member.is_symlink or member.is_junction:
        refused = "it is a link"
    elif member.is_socket or (member.st_fmt and member.st_fmt not in (stat.S_IFREG, stat.S_IFDIR)):
        refused = "it is neither a file nor a folder"
    written = member.lastwritetime
    updated = None if written is None else int(written) / 10_000_000 - _SINCE_1601
    # Members share blocks: how small one is packed is known of the first one of a block only.
    size = member.uncompressed or 0
    return [str(member.filename), number, size, size, updated, folder, refused]


def _unpack(archive: Any, files: list[Any], folder: Path, max_bytes: int) -> int:
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
    numbers: dict[str, int] = {}
    for number, member in enumerate(files):
        name = str(member.filename)
        if (
            not _fields(number, member)[6]
            and not member.is_directory
            and _harmless(name)
            and member.uncompressed <= max_bytes
        ):
            numbers.setdefault(name, number)
    left = TOTAL * max_bytes

    class Numbered(Py7zIO):
        """A member's content on its way into its file; without a number it goes nowhere."""

        def __init__(self, number: int | None) -> None:
            self._number = number
            self._crc = self._size = 0
            self._file: BinaryIO | None = None

        def write(self, s: bytes | bytearray) -> int:
            nonlocal left
            left -= len(s)
            if left < 0:
                raise ValueError("more than all members may take")
            self._size += len(s)
            if self._number is not None:
                if self._file is None:
                    self._file = (folder / f"{self._number}.part").open("wb")
                self._file.write(s)
                self._crc = crc32(s, self._crc)
            return len(s)

        def close(self) -> None:
            if self._number is None:
                return
            if self._file is None:
                self._file = (folder / f"{self._number}.part").open("wb")
            self._file.close()
            member = files[self._number]
            if self._size == member.uncompressed and member.crc32 in (None, self._crc):
                (folder / f"{self._number}.part").rename(folder / str(self._number))

        def read(self, size: int | None = None) -> bytes:  # noqa: ARG002 - py7zr's
            return b""

        def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002 - py7zr's
            return 0

        def flush(self) -> None:
            pass

        def size(self) -> int:
            return self._size

    class Numbers(WriterFactory):
        def create(self, filename: str) -> Py7zIO:
            return Numbered(by_name.pop(os.path.normpath(filename), None))

    by_name = {os.path.normpath(name): number for name, number in numbers.items()}
    archive.extract(targets=list(numbers), factory=Numbers())
    return 0


def _harmless(name: str) -> bool:
    """Whether py7zr accepts the name; because of one that leads outside, it would give up on all the others."""
    parts = name.replace("\\", "/").split("/")
    return ".." not in parts and not name.startswith(("/", "\\")) and "\0" not in name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

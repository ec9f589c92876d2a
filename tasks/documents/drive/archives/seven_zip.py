"""The members of a .7z, read by py7zr in a separate process, if py7zr is installed (the extra `archives`).

A .7z is mostly one block: unpacking a member means unpacking those before it. So all are unpacked together when the
first one is wanted. The process has limits of memory and time, because a .7z may ask for gigabytes of dictionary before
it yields a byte, and its decoders are native code.

The process runs this module with the descriptor of the open file: `list` prints its entries as JSON, `unpack` writes
its members to a folder. It imports neither settings nor tables. Members are written under their numbers, so that no
name in the archive becomes a file name here.
"""

import json
import os
import resource
import stat
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Final
from zlib import crc32

import py7zr
from py7zr.io import Py7zIO, WriterFactory

from tasks.child_process import environment
from tasks.documents.drive.archives.zip import MOST_MEMBERS, TOTAL, ArchiveNotOpened, Entry, Scratch, Target
from tasks.errors import Damaged, TookTooLong, TooLarge, Unavailable
from tasks.files import process_folder

MAGIC: Final = b"7z\xbc\xaf\x27\x1c"
_PROGRAM: Final = "tasks.documents.drive.archives.seven_zip"
_LIST_SECONDS: Final = 20.0
_UNPACK_SECONDS: Final = 300.0
"""For all members together: 512 MB take 20 s."""
ENCRYPTED, DAMAGED, TOO_LARGE, FULL = 3, 4, 5, 6
"""Exit statuses of the process."""


class SevenZipContainer:
    """An open .7z; `file` is a file on disk."""

    def __init__(self, file: BinaryIO, max_bytes: int, scratch: Scratch) -> None:
        """Open it.

        Raises:
            ArchiveNotOpened: there is nothing to read it with.
        """
        if not has_py7zr():
            raise ArchiveNotOpened(
                "to open .7z, install the extra `archives` "
                "(in diligence's folder: `.venv/bin/pip install -e '.[archives]'`)",
                lasting=False,
            )
        self._file = file
        self._max_bytes = max_bytes
        self._scratch = scratch
        self._closing = ExitStack()
        self._lock = threading.Lock()
        self._unpacked: Path | None = None
        self._failure: Damaged | TookTooLong | None = None
        self._sizes: dict[int, int] = {}

    def close(self) -> None:
        self._closing.close()

    def entries(self) -> list[Entry]:
        status, answer = self._run("list", seconds=_LIST_SECONDS)
        if status == ENCRYPTED:
            raise ArchiveNotOpened("it is encrypted: unpack it with its password")
        if status:
            raise ArchiveNotOpened("it is damaged, or needs more memory or time than it may take")
        entries = [Entry(*fields) for fields in json.loads(answer)]
        self._sizes = {entry.at: entry.size for entry in entries if not entry.folder and not entry.refused}
        return entries

    def extract(self, entry: int, target: Target, max_bytes: int) -> None:
        if self._sizes.get(entry, 0) > max_bytes:
            raise TooLarge("The document is larger than its limit. DILIGENCE_DOCUMENT_MAX_MB sets it.")
        path = self._all_unpacked() / str(entry)
        if not path.exists():
            raise Damaged("The document is damaged in its archive: it cannot be unpacked. Ask for it again.")
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                target.write(piece)

    def _all_unpacked(self) -> Path:
        """The folder with the unpacked members, named by number; the first call unpacks them."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._unpacked is None:
                folder = self._closing.enter_context(self._scratch())
                status, _ = self._run("unpack", str(folder), str(self._max_bytes), seconds=_UNPACK_SECONDS)
                if status == FULL:
                    raise Unavailable("An archive cannot be unpacked. DILIGENCE_HOME must have room for it.")
                if status is None:
                    self._failure = TookTooLong("Unpacking the archive takes too long. Unpack it yourself.")
                    raise self._failure
                self._unpacked = folder  # of a damaged one, what came before the damage
            return self._unpacked

    def _run(self, *arguments: str, seconds: float) -> tuple[int | None, bytes]:
        """The exit status of the process, or None if it took too long, and its output."""
        descriptor = self._file.fileno()
        command = [sys.executable, "-P", "-m", _PROGRAM, str(descriptor), *arguments]
        try:
            ended = subprocess.run(  # noqa: S603 - our own program
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(descriptor,),
                env=environment(),
                cwd=process_folder(),
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, b""
        except OSError as error:
            raise Unavailable("The program that opens .7z does not start. Try again.") from error
        return ended.returncode, ended.stdout


@cache
def has_py7zr() -> bool:
    """Whether py7zr is installed."""
    return find_spec("py7zr") is not None


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

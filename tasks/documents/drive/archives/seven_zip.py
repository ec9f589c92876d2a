"""The members of a .7z, read by py7zr in a separate process, if py7zr is installed (the extra `archives`).

A .7z is mostly one block: unpacking a member means unpacking those before it. So all are unpacked together when the
first one is wanted. The process has limits of memory and time, because a .7z may ask for gigabytes of dictionary before
it yields a byte, and its decoders are native code.
"""

import json
import subprocess
import sys
import threading
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Final

from tasks.child_process import environment
from tasks.documents.drive.archives.zip import ArchiveNotOpened, Entry, Scratch, Target
from tasks.errors import Damaged, TookTooLong, Unavailable, document_too_large
from tasks.files import process_folder

MAGIC: Final = b"7z\xbc\xaf\x27\x1c"
_PROGRAM: Final = "tasks.documents.drive.archives.seven_zip_process"
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
            raise document_too_large(max_bytes)
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

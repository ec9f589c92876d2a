"""Files on the disk: temporary folders, files that are put in place together when whole, and the program's own.

Temporary folders last as long as their process. Those of killed processes are removed by the next one. A folder in use
is locked, and the lock ends with its process; a process id in a file would mean nothing to another container on the
same disk. systemd-tmpfiles leaves locked folders alone as well (its manual, tmpfiles.d(5)).

Files are written beside those that they replace, and put in place at the end. The program's own files have a hash, part
by part: results that another version of these parts would change are made again.
"""

import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from filecmp import cmp
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Final

from tasks.errors import BadRequest

PREFIX: Final = "diligence-"
"""How the names of folders begin that lie among those of others."""


_CLUTTER: Final = frozenset({"thumbs.db", "desktop.ini", "__macosx"})


def hidden(name: str) -> bool:
    """Whether rooms leave out what has this name: `.x`, `~$x` (lock files), Thumbs.db, desktop.ini, __MACOSX."""
    return name.startswith((".", "~$")) or name.lower() in _CLUTTER


@contextmanager
def temporary_folder(place: Path | None = None, prefix: str = PREFIX) -> Iterator[Path]:
    """A private folder in `place`, by default the system's folder for temporary files; removed when the block ends.

    Raises:
        OSError: it cannot be made.
    """
    folder, handle = _make(place, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


@cache
def process_folder() -> Path:
    """The folder of this process, made at the first call and removed when the process ends. A forked process makes its
    own.

    Raises:
        OSError: it cannot be made.
    """
    folder, _ = _make(None, PREFIX)  # the descriptor, and with it the lock, is kept until the process ends
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    return folder


os.register_at_fork(after_in_child=process_folder.cache_clear)


def remove_left(place: Path, prefix: str = PREFIX, *, dry_run: bool = False) -> tuple[int, int]:
    """Remove the folders of processes that have ended; returns how many files they held, and their bytes.

    With `dry_run` they are only counted.
    """
    count = size = 0
    for folder in place.glob(f"{prefix}*"):
        with suppress(OSError), ExitStack() as stack:
            handle = _lock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stack.callback(os.close, handle)
            if os.fstat(handle).st_uid == os.geteuid():
                sizes = [file.lstat().st_size for file in folder.rglob("*") if not file.is_dir()]
                count, size = count + len(sizes), size + sum(sizes)
                if not dry_run:
                    shutil.rmtree(folder, ignore_errors=True)
    return count, size


def _make(place: Path | None, prefix: str) -> tuple[Path, int]:
    """A new folder and the descriptor that holds its lock, after what killed processes left was removed."""
    place = place or Path(tempfile.gettempdir()).absolute()
    place.mkdir(mode=0o700, exist_ok=True)
    remove_left(place, prefix)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix or f"{os.getpid()}-", dir=place))
        with suppress(FileNotFoundError):  # another process removed it before it was locked
            handle = _lock(folder, fcntl.LOCK_EX)
            if folder.exists():
                return folder, handle
            os.close(handle)


def _lock(folder: Path, how: int) -> int:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, how)
    except OSError:
        os.close(handle)
        raise
    return handle


HALF = ".part"
"""How the name of a file ends that is not whole yet."""


class Replacing(AbstractContextManager["Replacing", None]):
    """Files of a folder that nobody sees half written: until they are put in place, the old ones remain.

    If that does not happen, nothing of the new ones is left behind.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._halves: dict[Path, Path] = {}

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for half in self._halves.values():
            half.unlink(missing_ok=True)

    def add(self, path: str, content: str | bytes) -> None:
        """Append a piece to the file at this path in the folder.

        Raises:
            BadRequest: it cannot be written.
        """
        target = self.folder / path
        try:
            mode = "ab"
            if target not in self._halves:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._halves[target] = target.with_name(target.name + HALF)
                self._halves[target].unlink(missing_ok=True)  # a killed run may have left one
                mode = "xb"  # which follows no link
            with self._halves[target].open(mode) as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise _unwritable(target, error) from error

    def put(self) -> Collection[Path]:
        """Put the files in place, in the order in which they were begun; returns their paths.

        A file that is identical to the existing one leaves it untouched.

        Raises:
            BadRequest: one cannot be put there.
        """
        written = list(self._halves)
        for target in written:
            half = self._halves[target]
            try:
                if target.exists() and cmp(half, target, shallow=False):
                    half.unlink()
                else:
                    half.replace(target)
            except OSError as error:
                raise _unwritable(target, error) from error
            del self._halves[target]
        return written


def _unwritable(target: Path, error: OSError) -> BadRequest:
    return BadRequest(f"{target} cannot be written ({error.strerror}). Choose another folder with --out.")


def replace_file(target: Path, half: Path, content: bytes) -> None:
    """Write a file atomically, by way of the file `half`; an identical existing file is left untouched.

    Raises:
        OSError: it cannot be written; nothing of it is left behind.
    """
    if target.exists() and target.read_bytes() == content:
        return
    try:
        half.unlink(missing_ok=True)
        with half.open("xb") as file:  # which follows no link
            file.write(content)
        half.replace(target)
    except OSError:
        half.unlink(missing_ok=True)
        raise


def check_writable(folder: Path, *names: str) -> None:
    """Create the folder for files with these names and try to write to it: before hours of work, not after.

    Raises:
        BadRequest: it cannot be made or written, or a folder has one of the names.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder, buffering=0) as trial:
            trial.write(bytes(4096))  # a full disk takes a file, and nothing in it
    except OSError as error:
        why = "it is a file" if folder.is_file() else error.strerror
        raise BadRequest(f"The folder {folder} cannot be written ({why}). Choose another --out.") from error
    for path in (folder / name for name in names):
        if path.is_dir():
            raise BadRequest(f"{path} is a folder. Choose another folder with --out.")


@cache
def code_version(*names: str) -> str:
    """The hash, in hex, of all code and data of these packages and modules, such as `tasks.scoring`."""
    digest = hashlib.sha256()
    for name in names:
        parent, _, last = name.rpartition(".")
        entry = Path(str(files(parent) / last if parent else files(name)))
        for path in sorted(entry.rglob("*")) if entry.is_dir() else [entry.with_suffix(".py")]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.name.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()

"""Temporary folders that last as long as their process. Those of killed processes are removed by the next one.

A folder in use is locked, and the lock ends with its process; a process id in a file would mean nothing to another
container on the same disk. systemd-tmpfiles leaves locked folders alone as well (its manual, tmpfiles.d(5)).
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

PREFIX: Final = "diligence-"
"""How the names of folders begin that lie among those of others."""


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

"""The spool: where fetched files lie while they are read."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from storage import database
from tasks.errors import Unavailable


@contextmanager
def spool() -> Iterator[Path]:
    """A folder for fetched files that is gone afterwards; what killed processes left behind goes too.

    A folder in use is locked, and the lock ends with its process: a process id would say nothing to
    another container that has the same home.

    Raises:
        Unavailable: the home has no room for it.
    """
    try:
        home = database.home() / "spool"
        home.mkdir(mode=0o700, exist_ok=True)
        with _locked(home, wait=True):  # nobody takes away what is made and not yet locked
            for left in home.iterdir():
                _remove_unused(left)
            folder = Path(mkdtemp(prefix=f"{os.getpid()}-", dir=home))
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(held, fcntl.LOCK_EX)
    except OSError as error:
        raise Unavailable(f"There is no room for the spool in DILIGENCE_HOME ({error.strerror}).") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _remove_unused(left: Path) -> None:
    with suppress(OSError), _locked(left, wait=False):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)

"""The spool: folders on the local disk for fetched files."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from storage import database, temporary_folders
from storage.temporary_folders import temporary_folder
from tasks.errors import Unavailable


@contextmanager
def spool() -> Iterator[Path]:
    """A folder for fetched files that is removed at the end of the block. Removes those of killed processes too.

    Raises:
        Unavailable: the home has no room for it.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder(database.home() / "spool", prefix=""))
        except OSError as error:
            raise Unavailable(f"There is no room for the spool in DILIGENCE_HOME ({error.strerror}).") from error
        yield folder


def remove_left(*, dry_run: bool = False) -> tuple[int, int]:
    """Remove what killed processes have left in the spool; gives how many files it was, and their bytes.

    With `dry_run` they are only counted.
    """
    return temporary_folders.remove_left(database.home() / "spool", "", dry_run=dry_run)

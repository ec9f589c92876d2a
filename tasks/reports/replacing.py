"""Files that are written beside those that they replace, and put in place together at the end."""

from collections.abc import Collection
from contextlib import AbstractContextManager
from filecmp import cmp
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType

from tasks.errors import BadRequest

HALF = ".part"
"""How the name of a file ends that is not whole yet."""


class Replacing(AbstractContextManager["Replacing", None]):
    """Files of a folder that nobody sees half written: until they are put in place, the old ones remain.

    If that does not happen, nothing of the new ones is left behind.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._halves: dict[Path, Path] = {}

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for half in self._halves.values():
            half.unlink(missing_ok=True)

    def add(self, path: str, content: str | bytes) -> None:
        """Append a piece to the file at this path in the folder.

        Raises:
            BadRequest: it cannot be written.
        """
        target = self._folder / path
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

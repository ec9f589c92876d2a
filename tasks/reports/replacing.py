"""Files that are written beside those that they replace, and take their places together at the end."""

from collections.abc import Collection
from filecmp import cmp
from pathlib import Path
from types import TracebackType
from typing import Self

from tasks.errors import BadRequest

HALF = ".part"
"""How the name of a file ends that is not whole yet."""


class Replacing:
    """Files of a folder, of which nobody sees one half written: until they are put in their places, the old ones stand.

    Where that does not come about, nothing of the new ones is left behind.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._halves: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for half in self._halves.values():
            half.unlink(missing_ok=True)

    def add(self, path: str, content: str | bytes) -> None:
        """Write a piece of the file at this path in the folder, behind those that were written before.

        Raises:
            BadRequest: it cannot be written.
        """
        target = self._folder / path
        try:
            mode = "ab"
            if target not in self._halves:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._halves[target] = target.with_name(target.name + HALF)
                mode = "wb"  # a killed run may have left one
            with self._halves[target].open(mode) as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise _unwritable(target, error) from error

    def put(self) -> Collection[Path]:
        """Put the files in their places, in the order in which they were begun; gives their paths.

        One that is the same as what is there already leaves it as it is.

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

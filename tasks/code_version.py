"""A hash of parts of the program itself: results that another version of these parts would change are made again."""

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def code_version(*names: str) -> str:
    """The hash, in hex, of all code and data of these packages and modules, such as `tasks.scoring`."""
    digest = hashlib.sha256()
    for name in names:
        parent, _, last = name.rpartition(".")
        entry = files(parent) / last if parent else files(name)
        for path in _files(entry) if entry.is_dir() else [files(parent) / f"{last}.py"]:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(folder: Traversable) -> list[Traversable]:
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += [] if entry.name == "__pycache__" else _files(entry)
        elif not entry.name.endswith(".pyc"):
            found.append(entry)
    return found

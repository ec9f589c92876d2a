"""A hash of parts of the program itself: results that another version of these parts would change are made again."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path


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

"""A disk cache of the listings of remote archives, so that an unchanged archive is not downloaded to be listed.

An entry that is lost or unreadable is made anew.
"""

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final
from uuid import uuid4

from storage import database
from tasks.documents.drive.archives import seven_zip
from tasks.documents.drive.archives.members import Contents, Member
from tasks.documents.drive.archives.opened import Key

_VERSION: Final = 1
"""Counts up whenever the same archive would be shown in another way."""
_MOST_KEPT: Final = 500
_LARGEST: Final = 16 << 20


def find(key: Key, max_bytes: int) -> Contents | None:
    """What the archive of that key holds, where it is kept, for members of so many bytes at most."""
    path = _path(key, max_bytes)
    try:
        members, folders, left_out, shut = json.loads(path.read_bytes())
        contents = Contents(
            [Member(name, size, updated, tuple(at)) for name, size, updated, at in members],
            dict.fromkeys(folders),
            [(name, reason) for name, reason in left_out],
            [(name, reason) for name, reason in shut],
        )
    except (OSError, ValueError, TypeError):
        return None
    with suppress(OSError):
        os.utime(path)
    return contents


def keep(key: Key, max_bytes: int, contents: Contents) -> None:
    """Keep what an archive holds, if opening it again would give the same."""
    if not contents.lasting:
        return
    values = [contents.members, list(contents.folders), contents.left_out, contents.shut]
    data = json.dumps(values, separators=(",", ":")).encode()
    path = _path(key, max_bytes)
    if len(data) > _LARGEST:
        return
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        new = path.with_name(f"{uuid4().hex}.new")
        new.write_bytes(data)
        new.replace(path)
        others = sorted(path.parent.iterdir(), key=lambda other: other.stat().st_mtime)
        for other in others[:-_MOST_KEPT]:
            other.unlink(missing_ok=True)


def _path(key: Key, max_bytes: int) -> Path:
    """Where it is kept. Names of files tell nothing of documents."""
    name = json.dumps([_VERSION, key, max_bytes, seven_zip.installed()])
    return database.home() / "archives" / f"{sha256(name.encode()).hexdigest()}.json"

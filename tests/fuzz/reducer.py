"""Makes a finding small: leaves out whatever can be left out while the verdict stays the same."""

import time
import zipfile
import zlib
from collections.abc import Callable
from typing import Final

from tests.fuzz.zips import member, pack, parts

_FINEST: Final = 512
"""A file is cut into so many pieces at the most."""


def reduced(data: bytes, same: Callable[[bytes], bool], seconds: float) -> bytes:
    """The smallest file found in that time for which `same` holds."""
    end = time.monotonic() + seconds

    def holds(candidate: bytes) -> bool:
        return time.monotonic() < end and same(candidate)

    try:
        members = parts(data)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError, EOFError, OSError):
        return _shorter(data, holds)

    def packed(members: dict[str, bytes]) -> bytes:
        return pack([member(name, content) for name, content in members.items()])

    if not holds(packed(members)):  # it is the zip itself
        return _shorter(data, holds)
    for name in list(members):
        rest = {key: content for key, content in members.items() if key != name}
        if holds(packed(rest)):
            members = rest
    for name in list(members):
        members[name] = _shorter(
            members[name],
            lambda content, name=name: holds(packed(members | {name: content})),  # type: ignore[misc]
        )
    return packed(members)


def _shorter(data: bytes, same: Callable[[bytes], bool]) -> bytes:
    """`data` without the pieces that do not matter, tried from halves down."""
    pieces = 2
    while pieces <= _FINEST and len(data) > 1:
        size = max(1, len(data) // pieces)
        at = 0
        while at < len(data):
            candidate = data[:at] + data[at + size :]
            if same(candidate):
                data = candidate
            else:
                at += size
        pieces *= 2
    return data

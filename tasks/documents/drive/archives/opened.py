"""A pool of open archives: each is fetched and listed once; the least recently used are closed.

Whether the caller may see an archive, and which version it has now, is not known here: the drive is asked each time.
"""

import atexit
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from tasks.documents.drive.archives.archive import Archive

MOST_OPEN: Final = 16
"""Archives that stay open though nobody uses them now."""

Key = tuple[str, str, str]
"""The drive's name, the archive's id, its version."""


@dataclass(eq=False, slots=True)
class _Slot:
    """An archive that is open or about to be, and by how many it is used."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    archive: Archive | None = None
    size: int = 0
    users: int = 0


class OpenArchives:
    """Archives by key; the one unused for longest is closed first."""

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` is what archives that nobody uses may take on the disk together."""
        self._max_bytes = max_bytes
        self._slots: OrderedDict[Key, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def using(self, key: Key, size: int, make: Callable[[], Archive]) -> Iterator[Archive]:
        """The archive of that key within the block; `make` opens it if it is not open, once for all who wait for it.

        Raises:
            Exception: what `make` raises.
        """
        with self._lock:
            slot = self._slots.setdefault(key, _Slot(size=size))
            self._slots.move_to_end(key)
            slot.users += 1
        try:
            with slot.lock:
                if slot.archive is None:
                    slot.archive = make()
            yield slot.archive
        finally:
            with self._lock:
                slot.users -= 1
                unneeded = self._unneeded()
            for archive in unneeded:
                archive.close()

    def is_open(self, key: Key) -> bool:
        """Whether the archive of that key is there without waiting."""
        with self._lock:
            return key in self._slots and self._slots[key].archive is not None

    def close(self) -> None:
        """Close all that nobody uses."""
        with self._lock:
            unneeded = self._unneeded(most=0)
        for archive in unneeded:
            archive.close()

    def _unneeded(self, most: int = MOST_OPEN) -> list[Archive]:
        """Take out what is too much, and what could not be opened. The lock is held."""
        size = sum(slot.size for slot in self._slots.values())
        unneeded: list[Archive] = []
        for key, slot in list(self._slots.items()):
            too_much = len(self._slots) > most or size > self._max_bytes
            if slot.users or not (too_much or slot.archive is None):
                continue
            del self._slots[key]
            size -= slot.size
            if slot.archive is not None:
                unneeded.append(slot.archive)
        return unneeded


open_archives: Final = OpenArchives(2 << 30)
"""The archives of this process."""
atexit.register(open_archives.close)

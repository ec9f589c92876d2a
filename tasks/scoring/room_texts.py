"""The texts of a data room: in memory up to a bound, loaded from the database again beyond it."""

from threading import Lock
from typing import Final

from cachetools import LRUCache

from storage import database, texts

KEPT: Final = 300_000_000
"""Characters that are kept in memory: the texts of some 300,000 passages."""


class RoomTexts:
    """Texts by their ids. Of a very large room only those that were asked for last are in memory."""

    def __init__(self, kept: int = KEPT) -> None:
        """`kept` are the characters that are in memory at most."""
        self._lengths: dict[int, int] = {}
        self._lock = Lock()  # criteria are judged side by side
        self._kept: LRUCache[int, str] = LRUCache(kept, getsizeof=len)

    def add(self, text_id: int, text: str) -> None:
        """A stored text of the room."""
        with self._lock:
            self._lengths[text_id] = len(text)
            self._keep(text_id, text)

    def __contains__(self, text_id: int | None) -> bool:
        return text_id in self._lengths

    def __getitem__(self, text_id: int) -> str:
        """A text of the room; empty where it was deleted since.

        Raises:
            KeyError: the room has no such text.
        """
        with self._lock:
            if text_id in self._kept:
                return self._kept[text_id]
            if text_id not in self._lengths:
                raise KeyError(text_id)
            with database.reading() as session:
                text = dict(texts.words_of(session, [text_id])).get(text_id, "")
            self._keep(text_id, text)
            return text

    def length(self, text_id: int) -> int:
        """How long a text of the room is, in characters, without loading it."""
        return self._lengths[text_id]

    def _keep(self, text_id: int, text: str) -> None:
        if len(text) <= self._kept.maxsize:
            self._kept[text_id] = text

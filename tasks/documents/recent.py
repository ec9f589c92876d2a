"""The texts that were asked for last, in this process's memory: an answer without a query.

A text never changes under its key, so nothing has to be told when it does. What may change, whether
the caller may see the document and which version it has now, is not known here and is asked each time.
"""

import sys
import threading
from collections import OrderedDict
from collections.abc import Hashable


class RecentTexts:
    """Up to `max_bytes` of texts; the one unused for longest goes first, and none takes more than an eighth."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._texts: OrderedDict[Hashable, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> str | None:
        """The text under that key, if it is still here."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: Hashable, text: str) -> None:
        """Remember a text."""
        size = sys.getsizeof(text)
        if size > self._max_bytes // 8:
            return
        with self._lock:
            if key in self._texts:
                return
            self._texts[key] = text
            self._bytes += size
            while self._bytes > self._max_bytes:
                _, gone = self._texts.popitem(last=False)
                self._bytes -= sys.getsizeof(gone)

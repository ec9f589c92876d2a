"""The notes of a Word document by their ids: footnotes, endnotes, comments, each until somebody refers to it.

There may be hundreds of thousands: a part is cut up at once, and of what is kept the garbage collector soon takes
no notice.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tasks.documents.extract.ooxml import xml
from tasks.documents.extract.ooxml.xml import ATTRIBUTES

Note = tuple[str, bytes, bytes]
"""The part that it stands in, the rest of its tag, and its content."""

_NOTE: Final = re.compile(
    rb"""<w:(?:footnote|endnote|comment)(?=[\s>])(?:(?=\sw:id=["']([^"'<&]*+)["'])|)(%b)(?<!/)>""" % ATTRIBUTES
)
_MOST: Final = 500_000
"""Of one part; the last one holds the words of all that follow. Each takes 300 bytes besides its words."""


class Notes:
    """The notes of one document."""

    def __init__(self) -> None:
        self._first: dict[str, dict[str, Note]] = {}  # by kind and id
        self._namesakes: defaultdict[tuple[str, str], list[Note]] = defaultdict(list)  # of an id that others have

    def collect(self, kind: str, part: str, data: bytes) -> None:
        """Keep the notes of a part."""
        pieces = _NOTE.split(data, _MOST)
        kept = self._first.setdefault(kind, {})
        has_separators = b"eparator" in data
        for quick_name, tag, content in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            if has_separators and b"eparator" in tag and b"<w:t" not in content:  # the line above the notes
                continue
            name = xml.attribute(tag, b"w:id") if quick_name is None else quick_name.decode("utf-8", "replace")
            note = part, tag, content
            if kept.setdefault(name, note) is not note:  # careless programs give one id to several
                self._namesakes[kind, name].append(note)

    def take(self, kind: str, name: str) -> list[Note]:
        """The notes of that id, the first time."""
        first = self._first[kind].pop(name, None) if kind in self._first else None
        if first is None:
            return []
        return [first, *self._namesakes.pop((kind, name))] if (kind, name) in self._namesakes else [first]

    def left(self) -> Iterator[tuple[str, list[Note]]]:
        """The kinds of notes that nobody has taken, and the notes of each id; others may be taken meanwhile."""
        for kind, notes in self._first.items():
            for name in list(notes):
                yield kind, self.take(kind, name)

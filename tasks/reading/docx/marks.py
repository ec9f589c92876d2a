"""Where places begin and end in lines that are still moved about: in cells, boxes and notes.

What is written later knows its offset only then. Till that time a place's bounds stand among the words, as characters
that no XML may hold. Those that a hostile file smuggles in mark nothing, or what the file could have marked anyway.
"""

import re
from collections.abc import Sequence
from typing import Final

from tasks.language.normalise import clean
from tasks.reading import places
from tasks.reading.text_writer import Writer

_MOST: Final = 100_000
"""Places that are kept of one document; real contracts have thousands of insertions at most."""

_BOUND: Final = re.compile("\1([0-9]{0,6})[\2\3]")
_TABLE_BOUND: Final = re.compile("\1[0-9]{0,6}\3")
CLOSING: Final = "\1\2"
_TABLE_CLOSING: Final = "\1\3"


class Marks:
    """The places of one document whose bounds stand in its lines."""

    def __init__(self) -> None:
        self._marked: list[tuple[str, str]] = []

    @property
    def is_full(self) -> bool:
        """Whether no more places are kept."""
        return len(self._marked) >= _MOST

    def opening(self, kind: str, label: str = "") -> str:
        """What is put before the words of a place, and `CLOSING` behind them; "" when there are too many places."""
        return self._opening(kind, label, "\1{}\2")

    def around(self, kind: str, label: str, lines: Sequence[str]) -> list[str]:
        """`lines` as one place."""
        if not lines or self.is_full:
            return [*lines]
        opening = self.opening(kind, label)
        marked = [*lines]
        marked[0] = opening + marked[0]
        marked[-1] += CLOSING
        return marked

    def table(self, label: str) -> tuple[str, str]:
        """What is put before the first row of a table, and behind its last one; see `without_tables`."""
        opening = self._opening(places.TABLE, label, "\1{}\3")
        return opening, _TABLE_CLOSING if opening else ""

    def write(self, text: str, writer: Writer) -> None:
        """Write `text` with its places, and end the line."""
        if "\1" not in text:
            writer.line(text)
            return
        words = _BOUND.sub("", text)
        at = writer.position
        writer.line(words)
        if writer.position != at + len(words) + 1:  # what was not fit to be written moves what stands behind
            pieces = _BOUND.split(text)
            pieces[::2] = map(clean, pieces[::2])
            text = "".join(piece if number % 2 == 0 else f"\1{piece}\2" for number, piece in enumerate(pieces))
        opened: list[tuple[int, int]] = []
        for bound in _BOUND.finditer(text):
            here = at + bound.start()
            at -= bound.end() - bound.start()
            if bound[1]:
                opened.append((int(bound[1]), here))
            elif opened:
                number, start = opened.pop()
                if number < len(self._marked) and here > start:
                    writer.mark(start, here, *self._marked[number])

    def _opening(self, kind: str, label: str, bound: str) -> str:
        if self.is_full:
            return ""
        self._marked.append((kind, label))
        return bound.format(len(self._marked) - 1)


def unmarked(text: str) -> str:
    """`text` without the bounds of places in it."""
    return _BOUND.sub("", text) if "\1" in text else text


def without_tables(text: str) -> str:
    """`text` as it stands in the cell of another table: the tables in it are none of their own."""
    return _TABLE_BOUND.sub("", text) if "\1" in text else text


def table_bounds(line: str) -> tuple[int, int]:
    """How many tables begin and end on `line`."""
    if "\3" not in line:
        return 0, 0
    bounds = _TABLE_BOUND.findall(line)
    return sum(bound != _TABLE_CLOSING for bound in bounds), bounds.count(_TABLE_CLOSING)


def ends_table(line: str) -> bool:
    """Whether `line` is the last one of a table."""
    return line.endswith(_TABLE_CLOSING)

"""The rows of a delimited file, by RFC 4180: cells in quotes may hold delimiters, quotes (doubled) and line breaks.

Real files break it: a quote that is never closed would swallow the rest of the file. A quote counts as one only where
it is closed before a delimiter or a line end; else it is a character of its cell, and the row ends with its line.
"""

import re
from collections.abc import Iterator
from typing import Final

from tasks.reading import limits

_LONGEST_CELL: Final = 1 << 17
"""Characters of a quoted cell, as in Python's own reader."""

_AT_ONCE: Final = 10_000

_PATIENCE: Final = 100_000_000
"""Characters that are searched in vain for closing quotes, all in all."""


class DelimitedRows:
    """The rows of a text.

    Attributes:
        unclosed: the number of quotes that were never closed.
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self.unclosed = 0
        self._text = text
        self._delimiter = delimiter
        self._patience = _PATIENCE
        sign = re.escape(delimiter)
        self._quoted = re.compile(rf' *"((?:[^"]|"")*+)" *(?={sign}|\n|\Z)')
        self._closing = re.compile(rf'" *(?={sign}|\n|\Z)')
        self._plain = re.compile(rf"[^{sign}\n]*+")

    def __iter__(self) -> Iterator[list[str]]:
        """Each row's cells, unquoted, as the file writes them."""
        text, at = self._text, 0
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if text.find('"', at, end) < 0:
                yield text[at:end].split(self._delimiter)
                at = end + 1
            else:
                cells, at = self._quoted_row(at)
                yield cells

    def _quoted_row(self, at: int) -> tuple[list[str], int]:
        """The row that begins at an offset and has quotes in it, and where the next one begins."""
        text = self._text
        cells: list[str] = []
        while True:
            cell, at = self._cell(at)
            cells.append(cell)
            if at >= len(text) or text[at] == "\n" or (len(cells) % _AT_ONCE == 0 and limits.is_near()):
                return cells, at + 1
            at += 1

    def _cell(self, at: int) -> tuple[str, int]:
        """The cell that begins at an offset, and where it ends."""
        text = self._text
        start = at
        while start < len(text) and text[start] == " " and start - at < 100:
            start += 1
        if text.startswith('"', start):
            stop = start + _LONGEST_CELL if self._patience > 0 else self._line_end(start)
            match = self._quoted.match(text, start, stop)
            if match and (match.end() < stop or stop >= len(text) or text[stop] == "\n"):
                return match[1].replace('""', '"'), match.end()
            self._patience -= min(stop, len(text)) - start
            closing = self._closing.search(text, start + 1, self._line_end(start))
            if closing:
                return text[start + 1 : closing.start()].replace('""', '"'), closing.end()
            self.unclosed += 1
        match = self._plain.match(text, at)
        assert match is not None  # it may be empty
        return match.group(), match.end()

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

"""The lines of a sheet in blocks of twenty rows, each of which knows the cells that it holds."""

from collections.abc import Sequence
from typing import Final

from tasks.documents.extract.reading import Writer
from tasks.documents.extract.spreadsheet.rows import Row, odd

_ROWS: Final = 20
"""A place of cells spans at most so many rows."""

_MOST_PLACES: Final = 200_000
"""Places of cells in a workbook; rows that come after them stand in their sheet alone."""


class Blocks:
    """Writes the lines of rows to `writer`, each block with its cells as place."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._places = 0
        self._lines: list[bytes] = []
        self._unmended: list[tuple[int, Row, Sequence[bytes]]] = []
        self._columns: list[int] = []
        self._first = self._last = 0  # the rows of the block

    def add(self, number: int, row: Row, texts: Sequence[bytes]) -> int:
        """Take the texts of the row with that number; how many bytes its line has."""
        first, last, text = row.line(texts)
        if not text:
            return 0
        if self._lines and not 0 < number - self._first < _ROWS:
            self._write()
        if self._last and number != self._last + 1:
            if self._lines:  # an empty line where rows are empty: what stands apart stays apart
                self._lines.append(b"")
            else:
                self._writer.line()
        if not self._lines:
            self._first = number
        self._last = number
        self._columns += (first, last)
        if row.plain:
            self._unmended.append((len(self._lines), row, texts))
        self._lines.append(text)
        return len(text)

    def extend(self, number: int, row: Row, rows: list[tuple[bytes, ...]]) -> int:
        """Take the texts of rows numbered from `number` on; how many bytes their lines have."""
        lines = row.lines(rows)
        if not lines:
            return sum(self.add(each, row, texts) for each, texts in enumerate(rows, number))
        at = 0
        while at < len(lines):
            self.add(number + at, row, rows[at])
            if row.plain:
                self._unmended.pop()
            end = min(at + _ROWS - (self._last - self._first), len(lines))
            self._lines += lines[at + 1 : end]
            self._last = number + end - 1
            at = end
        return sum(map(len, lines))

    def end(self) -> None:
        """The sheet ends here."""
        self._write()
        self._last = 0

    def _write(self) -> None:
        """Write the lines taken so far as one block."""
        if not self._lines:
            return
        self._mend()
        text = b"\n".join(self._lines).decode("utf-8", "replace")
        self._places += 1
        if self._places > _MOST_PLACES:
            self._writer.line(text)
        else:
            first, last = _letters(min(self._columns)), _letters(max(self._columns))
            with self._writer.place("cells", f"{first}{self._first}:{last}{self._last}"):
                self._writer.line(text)
        self._lines, self._columns = [], []

    def _mend(self) -> None:
        """Show the numbers better that stand as they are stored."""
        numbers = [texts[index] for _, row, texts in self._unmended for index in row.plain]
        if numbers and odd(b"\t".join(numbers)):
            for at, row, texts in self._unmended:
                mended = row.mended(texts)
                if mended != texts:
                    self._lines[at] = row.line(mended)[2]
        self._unmended = []


def _letters(column: int) -> str:
    """The name of a column: AB for 28."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters

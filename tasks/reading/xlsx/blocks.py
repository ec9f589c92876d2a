"""The lines of a sheet's rows in blocks of twenty rows: each has its cells as place, and marks of what is hidden."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from typing import Final

from tasks.language.normalise import clean
from tasks.reading.places import (
    CELLS,
    HIDDEN_COLUMN,
    HIDDEN_ROW,
    HIDDEN_ROW_MARK,
    HIDDEN_SHEET,
    HIDDEN_SHEET_MARK,
    hidden_column_mark,
)
from tasks.reading.text_writer import Writer
from tasks.reading.xlsx.rows import RowPattern, SheetRow, needs_cleaning

_ROWS: Final = 20
"""A place of cells spans at most so many rows."""

_MOST_PLACES: Final = 200_000
"""Places of cells in a workbook; rows that come after them stand in their sheet alone."""

_MOST_HIDDEN_CELLS: Final = 20_000
"""Cells in hidden columns of a workbook that have a place of their own; the marks go on."""

_FEW: Final = 3
"""Hidden columns side by side that have a mark each; of more the first and the last one have."""


@lru_cache(maxsize=1024)
def letters_of(column: int) -> str:
    """The name of a column: AB for 28."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@contextmanager
def hidden_sheet(writer: Writer, name: str, *, hidden: bool) -> Iterator[None]:
    """What is written within belongs to the sheet of that name, and says so where it is hidden."""
    if not hidden:
        yield
        return
    with writer.place(HIDDEN_SHEET, name):
        writer.line(HIDDEN_SHEET_MARK)
        yield


class Blocks:
    """Writes the lines of rows to `writer`, each block with its cells as place.

    Hidden rows are blocks of their own behind `[hidden row]`, so that the lines of each block are rows and nothing
    else. Before a block with words in hidden columns stands `[hidden column C]`.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._places = 0
        self._lines: list[bytes] = []
        self._unclean: list[tuple[int, SheetRow, Sequence[bytes]]] = []
        self._columns: list[int] = []
        self._first = self._last = 0  # the rows of the block
        self._hidden = False  # whether they are hidden
        self._hidden_columns = b""
        self._hidden_cells: list[tuple[int, SheetRow, Sequence[bytes]]] = []
        self._cells_left = _MOST_HIDDEN_CELLS
        self._marked: tuple[set[int], int] = (set(), 0)  # the hidden columns named last, and before which row

    def begin(self, hidden_columns: bytes) -> None:
        """A sheet begins here; of each hidden column there is 1 at its number."""
        self._hidden_columns = hidden_columns
        self._marked = (set(), 0)

    def add(self, number: int, row: SheetRow, texts: Sequence[bytes], *, hidden: bool = False) -> int:
        """Take the texts of the row with that number; how many bytes its line has."""
        first, last, text = row.line(texts)
        if not text:
            return 0
        if self._lines and (hidden is not self._hidden or not 0 < number - self._first < _ROWS):
            self._write()
        self._hidden = hidden
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
            self._unclean.append((len(self._lines), row, texts))
        if self._hidden_columns and self._has_hidden(row):
            self._hidden_cells.append((len(self._lines), row, texts))
        self._lines.append(text)
        return len(text)

    def extend(self, number: int, row: RowPattern, rows: list[tuple[bytes, ...]]) -> int:
        """Take the texts of rows numbered from `number` on, hidden as the last one; how many bytes their lines have."""
        hidden = self._hidden
        lines = row.lines(rows) if not self._hidden_columns or not self._has_hidden(row) else []
        if not lines:
            return sum(self.add(row_number, row, texts, hidden=hidden) for row_number, texts in enumerate(rows, number))
        at = 0
        while at < len(lines):
            self.add(number + at, row, rows[at], hidden=hidden)
            if row.plain:
                self._unclean.pop()
            end = min(at + max(_ROWS - (self._last - self._first), 1), len(lines))  # never less than the row just added
            self._lines += lines[at + 1 : end]
            self._last = number + end - 1
            at = end
        return sum(map(len, lines))

    def _has_hidden(self, row: SheetRow) -> bool:
        """Whether any of the row's cells is in a hidden column."""
        hidden = self._hidden_columns
        return any(hidden[column : column + 1] == b"\1" for column in row.columns)

    def end(self) -> None:
        """The sheet ends here."""
        self._write()
        self._last = 0

    def _write(self) -> None:
        """Write the lines taken so far as one block."""
        if not self._lines:
            return
        self._clean()
        text = b"\n".join(self._lines).decode("utf-8", "replace")
        columns = self._spans(text) if self._hidden_cells else []
        if columns:
            self._mark_columns({column for _, _, column in columns})
        if not self._hidden:
            self._write_cells(text, columns)
        elif self._first == self._last:
            with self._writer.place(HIDDEN_ROW, str(self._first)):
                self._writer.line(HIDDEN_ROW_MARK)
                self._write_cells(text, columns)
        else:
            with self._writer.place(HIDDEN_ROW, f"{self._first}:{self._last}"):
                self._writer.line(f"{HIDDEN_ROW_MARK} {self._first} to {self._last}")
                self._write_cells(text, columns)
        self._lines, self._columns, self._hidden_cells = [], [], []

    def _mark_columns(self, columns: set[int]) -> None:
        """Name the hidden columns of the block, unless that was done for the one before, twenty rows or less ago."""
        marked, row = self._marked
        if not (columns <= marked and 0 <= self._first - row < _ROWS):
            self._marked = (columns, self._first)
            self._writer.line(_marks(sorted(columns)))

    def _write_cells(self, text: str, hidden: list[tuple[int, int, int]]) -> None:
        start = self._writer.position
        self._places += 1
        if self._places > _MOST_PLACES:
            self._writer.line(text)
            return
        first, last = letters_of(min(self._columns)), letters_of(max(self._columns))
        label = f"{first}{self._first}:{last}{self._last}"
        if text.isspace():
            with self._writer.place(CELLS, label):
                self._writer.line(text)
        else:
            self._writer.placed(CELLS, label, text)
        for begin, end, column in hidden[: max(self._cells_left, 0)]:
            self._writer.mark(start + begin, start + end, HIDDEN_COLUMN, letters_of(column))
        self._cells_left -= len(hidden)

    def _spans(self, text: str) -> list[tuple[int, int, int]]:
        """Where in the block the texts of hidden columns stand, and their columns."""
        spans: list[tuple[int, int, int]] = []
        exact = clean(text) == text  # else nobody knows where they come to stand
        at, line = 0, 0
        for index, row, texts in self._hidden_cells:
            while line < index:
                at = text.find("\n", at) + 1
                line += 1
            found = row.spans(row.cleaned(texts), self._hidden_columns)
            spans += (
                (at + begin, at + end, column) if exact else (0, len(text), column) for begin, end, column in found
            )
        return spans

    def _clean(self) -> None:
        """Show the numbers better that stand as they are stored."""
        numbers = [texts[index] for _, row, texts in self._unclean for index in row.plain]
        if needs_cleaning(numbers):
            for at, row, texts in self._unclean:
                cleaned = row.cleaned(texts)
                if cleaned is not texts:
                    self._lines[at] = row.line(cleaned)[2]
        self._unclean = []


def _marks(columns: list[int]) -> str:
    """The marks of hidden columns: `[hidden column C] [hidden column E]`; of many side by side the first and last."""
    marks: list[str] = []
    for _, run in groupby(enumerate(columns), key=lambda pair: pair[1] - pair[0]):
        names = [hidden_column_mark(letters_of(column)) for _, column in run]
        marks += names if len(names) <= _FEW else [f"{names[0]} to {names[-1]}"]
    return " ".join(marks)

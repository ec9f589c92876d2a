"""What binary workbooks (.xls, .xlsb) share: cells as text, in rows as in .xlsx, and their comments."""

import struct
from contextlib import ExitStack
from io import BytesIO
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.ooxml.number_formats import show_number, without_noise
from tasks.reading.places import COMMENT, comment_mark, make_label
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.xlsx.rows import Blocks, SheetRow, column_letters, named_sheet
from tasks.reading.xlsx.sheet import FULL, LATE, MOST_CELLS, MOST_TEXT

ERRORS: Final = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!", 0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}  # fmt: skip
"""Errors by their codes ([MS-XLS] 2.5.10)."""

LAST_COLUMN: Final = 16_384
MOST_SHEETS: Final = 10_000
MOST_WORDS: Final = 16 << 20
"""Characters of comments, text boxes and charts in a workbook."""

_BETWEEN_LOOKS: Final = 4096
_COLUMNS_COST: Final = 100
_LONGEST: Final = 1 << 20
_MARK: Final = 20
"""Characters that a mark takes besides its words."""


class CellsFullError(Exception):
    """The workbook has more cells than are read."""


def rk_number(stored: int) -> float:
    """The number in 30 bits of an RK value ([MS-XLS] 2.5.217); the other two bits mark integers and hundredths."""
    if stored & 2:
        number = float((stored >> 2) - ((stored & 0x80000000) >> 1))
    else:
        (number,) = struct.unpack("<d", struct.pack("<Q", (stored & 0xFFFFFFFC) << 32))
    return number / 100 if stored & 1 else number


def show_cell(number: float, code: str, *, from_1904: bool) -> str:
    """The number as a cell with that format code shows it."""
    raw = f"{number:.15g}".upper()  # the digits that Excel shows at most
    if code and code.lower() != "general":
        return show_number(raw, code, from_1904=from_1904)
    return without_noise(raw)


class CellWriter:
    """Writes the cells of a workbook's sheets to `writer`, row by row; `cut` says why anything was left out."""

    def __init__(self, writer: Writer) -> None:
        self.cut: str | None = None
        self._blocks = Blocks(writer)
        self._cells, self._text = 2 * MOST_CELLS, MOST_TEXT  # a cell counts, and its record
        self._counted = 0
        self._hidden_rows: set[int] = set()
        self._hidden_columns = b""
        self._row = -1
        self._columns: list[int] = []
        self._texts: list[bytes] = []

    def begin(self) -> None:
        """Begin a sheet."""
        self._hidden_rows = set()
        self._hidden_columns = b""
        self._row = -1
        self._blocks.begin(b"")

    def hide_row(self, row: int) -> None:
        """Mark a row (from 0) as hidden; call it before its cells."""
        self.count()
        self._hidden_rows.add(row)

    def hide_columns(self, first: int, last: int) -> None:
        """Mark columns (from 0) as hidden; call it before their cells."""
        self.count(_COLUMNS_COST)
        last = min(last, LAST_COLUMN - 1)
        if first <= last:
            hidden = bytearray(self._hidden_columns or bytes(LAST_COLUMN + 1))
            hidden[first + 1 : last + 2] = b"\1" * (last - first + 1)
            self._hidden_columns = bytes(hidden)
            self._blocks.begin(self._hidden_columns)

    def add(self, row: int, column: int, text: str) -> None:
        """Add the text of a cell at a row and column, both from 0.

        Raises:
            CellsFullError: there are too many of them, or no time is left.
        """
        self.count()
        if row != self._row:
            self._write()
            self._row = row
        words = one_line(text[:_LONGEST]).encode("utf-8", "replace")
        self._text -= len(words)
        if words and column < LAST_COLUMN:
            self._columns.append(column + 1)
            self._texts.append(words)

    def end(self) -> None:
        """End the sheet."""
        self._write()
        self._blocks.end()

    def count(self, cost: int = 1) -> None:
        """Count a record, whatever it is, against the limit.

        Raises:
            CellsFullError: there are too many of them, or no time is left.
        """
        self._cells -= cost
        self._counted += 1
        if self._cells < 0 or self._text < 0:
            self.cut = FULL
        elif not self._counted % _BETWEEN_LOOKS and limits.is_near():
            self.cut = LATE
        if self.cut:
            raise CellsFullError

    def _write(self) -> None:
        if self._columns:
            self._blocks.add(self._row + 1, SheetRow(self._columns), self._texts, hidden=self._row in self._hidden_rows)
        self._columns, self._texts = [], []


def comment_place(row: int, column: int, author: str, text: str) -> tuple[str, str, str]:
    """Kind, label and text of a comment, without the author's name that Excel puts before it; no text for no words."""
    words = (author and text.removeprefix(author + ":").lstrip()) or text
    mark = f"{column_letters(column + 1)}{row + 1}\t{comment_mark(author, '', words)}"
    return COMMENT, make_label(author, ""), mark if words else ""


class SheetWriter(CellWriter):
    """Writes sheets with their cells, comments, and what stands behind these; `is_open` while there is one."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self._writer = writer
        self._sheet: ExitStack | None = None
        self._sheets = 0
        self._behind: list[tuple[str, str, str]] = []
        self._room = MOST_WORDS

    @property
    def is_open(self) -> bool:
        return self._sheet is not None

    def begin_sheet(self, name: str, *, hidden: bool) -> None:
        """Begin a sheet, unless there are too many, and end the one before."""
        self.end_sheet()
        self._sheets += 1
        if self._sheets <= MOST_SHEETS:
            self._sheet = ExitStack()
            self._sheet.enter_context(named_sheet(self._writer, name, hidden=hidden))
            self.begin()

    def comment(self, row: int, column: int, author: str, text: str) -> None:
        """Add a comment on the cell at a row and column, both from 0."""
        self._behind.append(comment_place(row, column, author, self._cut_to_fit(text)))

    def behind(self, kind: str, text: str) -> None:
        """Add words that stand behind the cells, as a place of that kind."""
        self._behind.append((kind, "", self._cut_to_fit(text)))

    def end_sheet(self) -> None:
        """End the open sheet, if there is one."""
        if self._sheet is not None:
            self.end()
            for kind, label, text in sorted(self._behind, key=lambda place: place[0] != COMMENT):
                self._writer.placed(kind, label, text)
            self._behind = []
            self._sheet.close()
            self._sheet = None

    def _cut_to_fit(self, words: str) -> str:
        words = words[: max(self._room, 0)]
        self._room -= len(words) + _MARK
        return words


def read_with_calamine(source: Source) -> Reading:
    """The cells as calamine reads them, sheet by sheet; numbers as stored, dates in ISO form."""
    from python_calamine import CalamineWorkbook  # noqa: PLC0415 - seldom needed

    writer = Writer()
    data = source if isinstance(source, bytes) else source.read_bytes()
    with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
        for number, name in enumerate(workbook.sheet_names):
            with named_sheet(writer, name):
                for row in workbook.get_sheet_by_index(number).iter_rows():
                    writer.text("\t".join(one_line(str(value)) for value in row).rstrip("\t"))
    return writer.reading()

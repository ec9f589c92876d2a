"""What binary workbooks (.xls, .xlsb) share: cells as text, in rows as in .xlsx, and their comments."""

import struct
from io import BytesIO
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.ooxml.number_formats import BUILT_IN, show_number, without_noise
from tasks.reading.places import COMMENT, SHEET, comment_mark, make_label
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.xlsx.rows import Blocks, SheetRow
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


class NumberStyles:
    """How numbers are shown, by the style of their cells.

    `codes` are the workbook's own format codes by number, `formats` the format numbers of the styles in order.
    """

    def __init__(self) -> None:
        self.codes: dict[int, str] = {}
        self.formats: list[int] = []
        self.from_1904 = False

    def shown(self, number: float, style: int) -> str:
        """The number as a cell of that style shows it."""
        format_ = self.formats[style] if style < len(self.formats) else 0
        code = self.codes.get(format_) or BUILT_IN.get(format_, "")
        return show_cell(number, code, from_1904=self.from_1904)


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
        self._count()
        self._hidden_rows.add(row)

    def hide_columns(self, first: int, last: int) -> None:
        """Mark columns (from 0) as hidden; call it before their cells."""
        self._count(_COLUMNS_COST)
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
        self._count()
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

    def count_record(self) -> None:
        """Count a record, whatever it is, against the limit.

        Raises:
            CellsFullError: there are too many of them, or no time is left.
        """
        self._count()

    def _count(self, cost: int = 1) -> None:
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


def write_comment(writer: Writer, cell: str, author: str, text: str) -> None:
    """Write the words of a comment, if any, without the author's name that Excel puts before them."""
    words = (author and text.removeprefix(author + ":").lstrip()) or text
    if words:
        writer.placed(COMMENT, make_label(author, ""), f"{cell}\t{comment_mark(author, '', words)}")


def read_with_calamine(source: Source) -> Reading:
    """The cells as calamine reads them, sheet by sheet; numbers as stored, dates in ISO form."""
    from python_calamine import CalamineWorkbook  # noqa: PLC0415 - seldom needed

    writer = Writer()
    data = source if isinstance(source, bytes) else source.read_bytes()
    with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
        for number, name in enumerate(workbook.sheet_names):
            with writer.part(SHEET, name):
                writer.line(name)
                for row in workbook.get_sheet_by_index(number).iter_rows():
                    writer.text("\t".join(one_line(str(value)) for value in row).rstrip("\t"))
    return writer.reading()

"""Workbooks of Excel 5 to 2003: cells sheet by sheet as they are shown, then comments, text boxes and charts' words.

The records of the workbook's stream ([MS-XLS] 2.1.7.20) are gone through once. Calamine, which builds each sheet as a
grid before it hands on the first cell, and ends the process where two cells stand far apart, is the second reader, in
a process of its own.
"""

import struct
from collections.abc import Callable
from io import BytesIO
from typing import Final, NamedTuple

from tasks.errors import Damaged, PasswordProtected
from tasks.language.normalise import one_line
from tasks.reading import fallback
from tasks.reading.ooxml import ole
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.places import FOOTER, HEADER, SHEET, TEXT_BOX
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.xls.records import (
    BOF,
    EOF,
    Record,
    continued_text,
    is_wide,
    records,
    shared_strings,
    text_at,
)
from tasks.reading.xlsx.binary import (
    ERRORS,
    MOST_SHEETS,
    MOST_WORDS,
    CellsFullError,
    CellWriter,
    NumberStyles,
    read_with_calamine,
    rk_number,
    write_comment,
)
from tasks.reading.xlsx.blocks import hidden_sheet, letters_of
from tasks.reading.xlsx.sheet import printed_words


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return fallback.read_or_fall_back(_read, FALLBACK, source)


def _read(source: Source) -> Reading:
    data = source if isinstance(source, bytes) else source.read_bytes()
    stream = _stream(data)
    writer = Writer()
    if _is_graph(stream):
        writer.warn("A chart of Microsoft Graph was left out. Ask for its figures, or for the document as PDF.")
        return writer.reading()
    workbook = _Workbook(stream)
    cells = CellWriter(writer)
    for sheet in workbook.sheets:
        with writer.part(SHEET, sheet.name), hidden_sheet(writer, sheet.name, hidden=sheet.hidden):
            writer.text(sheet.name)
            _Sheet(workbook, writer, cells).write(sheet.start)
        if cells.cut:
            writer.warn(cells.cut)
            break
    if workbook.is_cut_off:
        writer.warn(CUT_OFF)
    return writer.reading()


def _stream(data: bytes) -> bytes:
    """The workbook's stream, decrypted where Excel's own password opens it.

    Raises:
        Damaged: there is none.
        PasswordProtected: it opens with a password only.
    """
    if not data:
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    if not data.startswith(ole.MAGIC):
        if data[:2] == b"\x09\x08":  # the stream alone, as some programs write it
            return data
        raise Damaged("The file is no workbook of Excel 5 to 2003. Ask for it again, saved as .xlsx.")
    file = ole.Compound(data)
    if file.has_stream(ole.ENCRYPTED):
        raise PasswordProtected("The document opens with a password only. Save it without one.")
    name = next((name for name in ("Workbook", "Book") if file.has_stream(name)), None)
    if name is None:
        raise Damaged("The file holds no workbook. Ask for it again, or give it the ending of its format.")
    stream = file.stream(name)
    if not any(record.number == _FILEPASS for record in _beginning(stream)):
        return stream
    return ole.Compound(_decrypted(data)).stream(name)


def _beginning(stream: bytes) -> list[Record]:
    """The first records of the stream, one of which says if it is encrypted."""
    return [record for _, record in zip(range(20), records(stream, 0), strict=False)]


def _decrypted(data: bytes) -> bytes:
    # Loaded where it is needed, once a process: 14 ms.
    from msoffcrypto.format.xls97 import Xls97File  # noqa: PLC0415

    decrypted = BytesIO()
    try:
        file = Xls97File(BytesIO(data))
        file.load_key(password=ole.DEFAULT_PASSWORD)
        file.decrypt(decrypted)
    except MemoryError:
        raise
    except Exception as error:  # it meets a method or a password that it does not know with whatever comes
        raise PasswordProtected("The document opens with a password only. Save it without one.") from error
    return decrypted.getvalue()


def _is_graph(stream: bytes) -> bool:
    """Whether this is a chart of Microsoft Graph, as old presentations hold them ([MS-OGRAPH] 2.4)."""
    return len(stream) > 6 and struct.unpack_from("<HHH", stream)[::2] == (BOF, _GRAPH_VERSION)


class _BoundSheet(NamedTuple):
    name: str
    start: int
    hidden: bool


_FILEPASS: Final = 0x002F
_GRAPH_VERSION: Final = 0x0680
_BOUND_SHEET: Final = 0x0085
_CODE_PAGE: Final = 0x0042
_DATE_MODE: Final = 0x0022
_FORMAT: Final = 0x041E
_OLD_FORMAT: Final = 0x001E
_XF: Final = 0x00E0
_SST: Final = 0x00FC
_VISUAL_BASIC: Final = 6
_CODE_PAGES: Final = {367: "ascii", 1200: "utf-16-le", 10000: "mac_roman", 32768: "mac_roman", 32769: "cp1252"}


class _Workbook:
    """What the stream says of the whole workbook."""

    def __init__(self, stream: bytes) -> None:
        self.stream = stream
        self.wide = is_wide(stream)
        self.code_page = "cp1252"
        self.styles = NumberStyles()
        self.strings: list[str] = []
        self.sheets: list[_BoundSheet] = []
        self.is_cut_off = True
        for record in records(stream, 0):
            try:
                self._take(record)
            except (struct.error, IndexError):
                continue
            if record.number == EOF:
                self.is_cut_off = False
                break
        if not self.sheets:
            raise Damaged("The file has lost its sheets: nothing can be read from it. Ask for it again.")

    def text(self, data: bytes, at: int, *, short: bool = False) -> str:
        """A text in a record behind the number of its characters."""
        return text_at(data, at, wide=self.wide, code_page=self.code_page, short=short).words

    def _take(self, record: Record) -> None:
        data = record.data
        if record.number == _BOUND_SHEET and len(self.sheets) < MOST_SHEETS:
            start, state, kind = struct.unpack_from("<IBB", data)
            if kind != _VISUAL_BASIC:
                self.sheets.append(_BoundSheet(one_line(self.text(data, 6, short=True)), start, state & 3 != 0))
        elif record.number == _SST:
            self.strings = shared_strings(record.pieces)
        elif record.number == _XF:
            self.styles.formats.append(struct.unpack_from("<H", data, 2)[0])
        elif record.number in (_FORMAT, _OLD_FORMAT):
            self.styles.codes[struct.unpack_from("<H", data)[0]] = self.text(data, 2, short=not self.wide)
        elif record.number == _DATE_MODE:
            self.styles.from_1904 = data[:1] == b"\1"
        elif record.number == _CODE_PAGE:
            (number,) = struct.unpack_from("<H", data)
            name = _CODE_PAGES.get(number, f"cp{number}")
            try:
                b"".decode(name)
            except LookupError:
                return
            self.code_page = name


class _Note(NamedTuple):
    cell: str
    object: int
    author: str


class _Sheet:
    """One sheet, written record by record."""

    def __init__(self, workbook: _Workbook, writer: Writer, cells: CellWriter) -> None:
        self._workbook = workbook
        self._writer = writer
        self._cells = cells
        self._notes: list[_Note] = []
        self._texts: dict[int, str] = {}  # of objects, by their numbers
        self._charts: dict[str, None] = {}
        self._printed: dict[str, str] = {}
        self._object = -1
        self._formula = (0, 0)  # the cell whose text the next record brings
        self._room = MOST_WORDS

    def write(self, start: int) -> None:
        """Write the sheet whose records begin at this offset."""
        depth = 0
        self._cells.begin()
        try:
            for record in records(self._workbook.stream, start):
                self._cells.count_record()
                depth += (record.number == BOF) - (record.number == EOF)
                if depth <= 0:
                    break
                try:
                    self._take(record, in_chart=depth > 1)
                except (struct.error, IndexError):  # a record that is shorter than its kind
                    continue
            else:
                self._workbook.is_cut_off = True
        except CellsFullError:
            pass
        self._cells.end()
        self._write_objects()

    def _take(self, record: Record, *, in_chart: bool) -> None:
        if record.number == _SERIES_TEXT:
            self._charts[self._words(self._workbook.text(record.data, 2, short=True))] = None
        elif in_chart:
            return
        elif record.number == _OBJECT:
            (self._object,) = struct.unpack_from("<H", record.data, 6)
        elif record.number == _TEXT_OBJECT and self._workbook.wide:
            (count,) = struct.unpack_from("<H", record.data, 10)
            self._texts[self._object] = self._lines(continued_text(record.pieces[1:], count))
        elif record.number == _NOTE and self._workbook.wide:
            row, column, _, number = struct.unpack_from("<HHHH", record.data)
            author = one_line(self._workbook.text(record.data, 8))
            self._notes.append(_Note(f"{letters_of(column + 1)}{row + 1}", number, author))
        elif record.number in (_HEADER, _FOOTER) and record.data:
            for words in printed_words(self._workbook.text(record.data, 0, short=not self._workbook.wide)):
                self._printed.setdefault(words, HEADER if record.number == _HEADER else FOOTER)
        elif (take := _CELL_RECORDS.get(record.number)) is not None:
            take(self, record.data)

    def _words(self, text: str) -> str:
        words = one_line(text)[: max(self._room, 0)]
        self._room -= len(words)
        return words

    def _lines(self, text: str) -> str:
        return "\n".join(filter(None, map(self._words, text.splitlines())))

    def row(self, data: bytes) -> None:
        """A row, before its cells."""
        row, flags = struct.unpack_from("<H10xI", data)
        if flags & 0x20:
            self._cells.hide_row(row)

    def columns(self, data: bytes) -> None:
        """Columns that look alike."""
        first, last, _, _, flags = struct.unpack_from("<HHHHH", data)
        if flags & 1:
            self._cells.hide_columns(first, last)

    def number(self, data: bytes) -> None:
        """A number."""
        row, column, style, number = struct.unpack_from("<HHHd", data)
        self._add_number(row, column, style, number)

    def rk(self, data: bytes) -> None:
        """A number in four bytes."""
        row, column, style, stored = struct.unpack_from("<HHHI", data)
        self._add_number(row, column, style, rk_number(stored))

    def many_rk(self, data: bytes) -> None:
        """Numbers side by side."""
        row, first = struct.unpack_from("<HH", data)
        for position, at in enumerate(range(4, len(data) - 7, 6)):
            style, stored = struct.unpack_from("<HI", data, at)
            self._add_number(row, first + position, style, rk_number(stored))

    def formula(self, data: bytes) -> None:
        """A formula with what it came to."""
        row, column, style = struct.unpack_from("<HHH", data)
        if data[12:14] != b"\xff\xff":
            self._add_number(row, column, style, struct.unpack_from("<d", data, 6)[0])
        elif data[6] == 0:
            self._formula = (row, column)
        elif data[6] == 1:
            self._cells.add(row, column, "TRUE" if data[8] else "FALSE")
        elif data[6] == 2:
            self._cells.add(row, column, ERRORS.get(data[8], "#N/A"))

    def formula_text(self, data: bytes) -> None:
        """The text that the formula before came to."""
        self._cells.add(*self._formula, self._workbook.text(data, 0))

    def shared_string(self, data: bytes) -> None:
        """A text by its number."""
        row, column, _, index = struct.unpack_from("<HHHI", data)
        self._cells.add(row, column, self._workbook.strings[index])

    def label(self, data: bytes) -> None:
        """A text."""
        row, column = struct.unpack_from("<HH", data)
        self._cells.add(row, column, self._workbook.text(data, 6))

    def truth_or_error(self, data: bytes) -> None:
        """A truth, or an error."""
        row, column, _, value, is_error = struct.unpack_from("<HHHBB", data)
        self._cells.add(row, column, ERRORS.get(value, "#N/A") if is_error else "TRUE" if value else "FALSE")

    def _add_number(self, row: int, column: int, style: int, number: float) -> None:
        self._cells.add(row, column, self._workbook.styles.shown(number, style))

    def _write_objects(self) -> None:
        for note in self._notes:
            write_comment(self._writer, note.cell, note.author, one_line(self._texts.pop(note.object, "")))
        for words in self._texts.values():
            self._writer.placed(TEXT_BOX, "", words)
        for words in self._charts:
            self._writer.text(words)
        for words, kind in self._printed.items():
            self._writer.placed(kind, "", words)


_SERIES_TEXT: Final = 0x100D
_OBJECT: Final = 0x005D
_TEXT_OBJECT: Final = 0x01B6
_NOTE: Final = 0x001C
_HEADER: Final = 0x0014
_FOOTER: Final = 0x0015
_CELL_RECORDS: Final[dict[int, Callable[[_Sheet, bytes], None]]] = {
    0x0208: _Sheet.row,
    0x007D: _Sheet.columns,
    0x0203: _Sheet.number,
    0x027E: _Sheet.rk,
    0x00BD: _Sheet.many_rk,
    0x0006: _Sheet.formula,
    0x0207: _Sheet.formula_text,
    0x00FD: _Sheet.shared_string,
    0x0204: _Sheet.label,
    0x00D6: _Sheet.label,
    0x0205: _Sheet.truth_or_error,
}


FALLBACK: Final = fallback.FallbackReader(read_with_calamine, library="python_calamine", signature=ole.MAGIC)

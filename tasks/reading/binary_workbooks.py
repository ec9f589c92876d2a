"""Excel's binary workbooks: .xls from before 2007, and .xlsb. Cells sheet by sheet as they are shown, then comments.

xlrd reads .xls (https://xlrd.readthedocs.io/en/latest/api.html). It does not read text boxes, charts, or printed
headers and footers: a warning says if any are left out.

LibreOffice converts .xlsb to .xlsx.

Calamine is the second reader of both, in a separate process: it may crash if two cells are far apart.
"""

import struct
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO, StringIO
from typing import Final

import xlrd
from xlrd.sheet import Sheet

from tasks.errors import Damaged, DiligenceError, PasswordProtected
from tasks.language.normalise import one_line
from tasks.reading import embedded
from tasks.reading.libreoffice import XLSB, read_through
from tasks.reading.ooxml import ole
from tasks.reading.ooxml.number_formats import BUILT_IN
from tasks.reading.ooxml.package import CUT_OFF, Package
from tasks.reading.text_writer import CELLS, Reading, Source, Writer
from tasks.reading.xlsx import reader as xlsx
from tasks.reading.xlsx.reader import (
    ERRORS,
    MOST_SHEETS,
    CellsFullError,
    SheetWriter,
    read_with_calamine,
    show_cell,
)

LEFT_OUT: Final = "Text boxes and charts of the workbook were left out. Save it as .xlsx to have them read."
ONLY_LIBREOFFICE: Final = "Only LibreOffice reads the file: what it does not know is left out."
_FILEPASS: Final = 0x002F
_CODE_PAGE: Final = 0x0042
_TEXT_OBJECT: Final = 0x01B6
_NOTE: Final = 0x001C
_SERIES_TEXT: Final = 0x100D
_BOF: Final = 0x0809
_EOF: Final = 0x000A
_GRAPH_VERSION: Final = 0x0680
_MAC: Final = range(10000, 10100)
_MAC_ENCODINGS: Final = {
    10001: "shift_jis", 10006: "mac_greek", 10007: "mac_cyrillic", 10029: "mac_latin2", 10081: "mac_turkish",
}  # fmt: skip
"""Code pages of a Mac that Python has. In the others Roman letters stand as in mac_roman."""

_KNOWN: Final = frozenset((367, 1200, 32768, 32769))
"""Code pages for which xlrd has its own names."""


def read_xls(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return embedded.read_or_fall_back(_read_xls, _XLS_FALLBACK, source)


def _read_xls(source: Source) -> Reading:
    data = source if isinstance(source, bytes) else source.read_bytes()
    stream = _stream(data)
    writer = Writer()
    if data.startswith(ole.MAGIC):
        writer.date(*ole.Compound(data).dates())
    if len(stream) > 6 and struct.unpack_from("<HHH", stream)[::2] == (_BOF, _GRAPH_VERSION):  # [MS-OGRAPH] 2.4
        writer.warn("A chart of Microsoft Graph was left out. Ask for its figures, or for the document as PDF.")
        return writer.reading()
    numbers = [number for number, _ in _records(stream)]
    is_cut_off = numbers.count(_BOF) > numbers.count(_EOF)
    try:
        book = xlrd.open_workbook(
            file_contents=_whole_records(stream) if is_cut_off else stream,
            logfile=StringIO(),
            encoding_override=_choose_encoding(stream),
            formatting_info=True,
            on_demand=True,
            ragged_rows=True,
        )
    except MemoryError:
        raise
    except Exception as error:  # xlrd meets a damaged file with whatever comes
        raise Damaged("The file holds no workbook that can be read. Ask for it again, saved as .xlsx.") from error
    if not book.nsheets:
        raise Damaged("The file has lost its sheets: nothing can be read from it. Ask for it again.")
    if numbers.count(_TEXT_OBJECT) > numbers.count(_NOTE) or _SERIES_TEXT in numbers:
        writer.warn(LEFT_OUT)
    if is_cut_off:
        writer.warn(CUT_OFF)
    _Workbook(book, writer).write()
    return writer.reading()


def _stream(data: bytes) -> bytes:
    """The workbook's stream, decrypted if Excel's own password opens it.

    Raises:
        Damaged: the file has no such stream.
        PasswordProtected: it opens with a password only.
    """
    if not data:
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    if not data.startswith(ole.MAGIC):
        if data[:2] == b"\x09\x08":  # the stream alone, as some programs write it
            return data
        raise Damaged("The file is not an Excel 5 to 2003 workbook. Ask for it again, saved as .xlsx.")
    file = ole.Compound(data)
    if file.has_stream(ole.ENCRYPTED):
        raise PasswordProtected("The document can only be opened with a password. Save it without one.")
    name = next((name for name in ("Workbook", "Book") if file.has_stream(name)), None)
    if name is None:
        raise Damaged("The file holds no workbook. Ask for it again, or give it the ending of its format.")
    stream = file.stream(name)
    if not any(number == _FILEPASS for _, (number, _) in zip(range(20), _records(stream), strict=False)):
        return stream
    return ole.Compound(_decrypt(data)).stream(name)


def _decrypt(data: bytes) -> bytes:
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
        raise PasswordProtected("The document can only be opened with a password. Save it without one.") from error
    return decrypted.getvalue()


def _records(stream: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and the beginning of each complete record of the stream ([MS-XLS] 2.1.4)."""
    at = 0
    while at + 4 <= len(stream):
        number, length = struct.unpack_from("<HH", stream, at)
        yield number, stream[at + 4 : at + 4 + min(length, 8)]
        at += 4 + length


def _whole_records(stream: bytes) -> bytes:
    """A truncated stream, shortened to end after its last complete record."""
    whole = 0
    for _ in range(len(stream) // 4):
        (length,) = struct.unpack_from("<H", stream, whole + 2)
        if whole + 4 + length + 4 > len(stream):
            break
        whole += 4 + length
    return stream[:whole] + struct.pack("<HH", _EOF, 0)


def _choose_encoding(stream: bytes) -> str | None:
    """The encoding to use instead of a code page that Python does not have; None if Python has it.

    It only matters to workbooks before Excel 97, whose texts use it.
    """
    for _, (number, data) in zip(range(100), _records(stream), strict=False):
        if number == _CODE_PAGE and len(data) >= 2:
            (page,) = struct.unpack_from("<H", data)
            if page in _MAC:
                return _MAC_ENCODINGS.get(page, "mac_roman")
            if page in _KNOWN:
                return None
            try:
                " ".encode(f"cp{page}")
            except LookupError:
                return "cp1252"
            return None
    return None


class _Workbook:
    """Writes the contents of a workbook that xlrd has read."""

    def __init__(self, book: xlrd.Book, writer: Writer) -> None:
        self._book = book
        self._writer = writer
        self._cells = SheetWriter(writer)

    def write(self) -> None:
        """Write its sheets in order; damaged ones are left out with a warning.

        Raises:
            Damaged: none of them can be read.
        """
        lost = 0
        count = min(self._book.nsheets, MOST_SHEETS)
        for index in range(count):
            name = one_line(self._book.sheet_names()[index])
            try:
                sheet = self._book.sheet_by_index(index)
            except (MemoryError, DiligenceError):
                raise
            except Exception as error:  # as above
                lost += 1
                if lost == count:
                    raise Damaged("The file is damaged: none of its sheets can be read. Ask for it again.") from error
                continue
            self._cells.begin_sheet(name, hidden=sheet.visibility != 0)
            self._write_cells(sheet)
            for (row, column), note in sorted(sheet.cell_note_map.items()):
                self._cells.comment(row, column, one_line(note.author or ""), one_line(note.text))
            self._cells.end_sheet()
            self._book.unload_sheet(index)
            if self._cells.cut:
                self._writer.warn(self._cells.cut)
                break
        if lost:
            self._writer.warn(CUT_OFF)

    def _write_cells(self, sheet: Sheet) -> None:
        try:
            for column, settings in sheet.colinfo_map.items():
                if settings.hidden:
                    self._cells.hide_columns(column, column)
            for row, settings in sheet.rowinfo_map.items():
                if settings.hidden:
                    self._cells.hide_row(row)
            for row in range(sheet.nrows):
                for column in range(sheet.row_len(row)):
                    text = self._text(sheet, row, column)
                    if text:
                        self._cells.add(row, column, text)
        except CellsFullError:
            pass

    def _text(self, sheet: Sheet, row: int, column: int) -> str:
        kind, value = sheet.cell_type(row, column), sheet.cell_value(row, column)
        if kind in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
            return ""
        if kind == xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if value else "FALSE"
        if kind == xlrd.XL_CELL_ERROR:
            return ERRORS.get(value, "#N/A")
        if kind == xlrd.XL_CELL_TEXT:
            return str(value)
        return show_cell(value, self._code(sheet.cell_xf_index(row, column)), from_1904=self._book.datemode == 1)

    def _code(self, style: int) -> str:
        if not 0 <= style < len(self._book.xf_list):
            return ""
        key = self._book.xf_list[style].format_key
        own = self._book.format_map.get(key)
        return (own.format_str if own is not None else "") or BUILT_IN.get(key, "")


_XLS_FALLBACK: Final = embedded.FallbackReader(read_with_calamine, library="python_calamine", signature=ole.MAGIC)
_XLSB_ALONE: Final = embedded.FallbackReader(read_with_calamine, library="python_calamine", signature=embedded.ZIP)


def read_xlsb(source: Source) -> Reading:
    """The text of the workbook in `source`, which LibreOffice converts to .xlsx.

    Where LibreOffice gives no cells, or less than half of them, the cells alone are read.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with Package(source) as package:  # LibreOffice would open anything
        package.main_part("xl/workbook.bin")
    data = source if isinstance(source, bytes) else source.read_bytes()
    if data.startswith(ole.MAGIC):  # with the password that Excel sets by itself
        data = ole.decrypt_package(data)
    try:
        cells = embedded.read_in_fork(_XLSB_ALONE, data)
    except (TimeoutError, ChildProcessError):
        cells = Reading("")

    def read(made: bytes) -> Reading:
        reading = xlsx.read(made)
        # LibreOffice leaves out parts that it does not know, without a word, and gives an empty sheet for no workbook
        has_cells = any(place.kind == CELLS for place in reading.places)
        if 2 * len(reading.text) < len(cells.text) or not (cells.text or has_cells):
            raise Damaged("LibreOffice reads less than half of the file.")
        return reading if cells.text else replace(reading, warnings=[ONLY_LIBREOFFICE, *reading.warnings])

    def read_alone(_: bytes) -> Reading:
        if not cells.text:
            raise Damaged("The file is damaged or too large: no cell can be read. Ask for it again, saved as .xlsx.")
        return cells

    return read_through(XLSB, data, read, read_alone)

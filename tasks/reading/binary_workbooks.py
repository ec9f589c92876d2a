"""Excel's binary workbooks: .xls from before 2007, and .xlsb. Cells sheet by sheet as they are shown, then comments.

xlrd reads .xls (https://xlrd.readthedocs.io/en/latest/api.html). It does not read text boxes, charts, or printed
headers and footers: a warning says if any are left out.

The records of an .xlsb are rewritten as the XML of .xlsx, which its reader reads. Workbook, sheets, strings, styles and
comments are records ([MS-XLSB] 2.1.7); all other parts are as in .xlsx.

Calamine is the second reader of both, in a separate process: it may crash if two cells are far apart.
"""

import struct
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import xlrd
from xlrd.sheet import Sheet

from tasks.errors import Damaged, DiligenceError, PasswordProtected, TooLarge
from tasks.language.normalise import one_line
from tasks.reading import embedded
from tasks.reading.numerals import column_letters
from tasks.reading.ooxml import ole
from tasks.reading.ooxml.number_formats import BUILT_IN
from tasks.reading.ooxml.package import CUT_OFF, PART_LIMIT, STREAM_LIMIT, Package, Relationship
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.xlsx import reader as xlsx
from tasks.reading.xlsx.reader import (
    ERRORS,
    LAST_COLUMN,
    MOST_SHEETS,
    CellsFullError,
    SheetWriter,
    read_with_calamine,
    show_cell,
)
from tasks.reading.xlsx.sheet import MOST_CELLS

LEFT_OUT: Final = "Text boxes and charts of the workbook were left out. Save it as .xlsx to have them read."
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


_NONE: Final = 0xFFFFFFFF  # in the place of a text's length
_AT_ONCE: Final = 1 << 16
"""Characters of a sheet that are handed on together."""

_XLSB_FALLBACK: Final = embedded.FallbackReader(read_with_calamine, library="python_calamine", signature=embedded.ZIP)


def read_xlsb(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return embedded.read_or_fall_back(lambda file: xlsx.read_package(_BinaryPackage(file)), _XLSB_FALLBACK, source)


class _BinaryPackage(Package):
    """A package whose parts of records are given as XML: relationships, or their places, say which they are."""

    def __init__(self, source: Source) -> None:
        self._kinds: dict[str, str] = {}
        super().__init__(source)

    def relationships(self, name: str) -> list[Relationship]:
        found = super().relationships(name)
        self._kinds |= {item.target: item.kind for item in found}
        return found

    def main_part(self, usual: str) -> str:
        found = super().main_part(usual.replace(".xml", ".bin"))
        self._kinds.setdefault(found, "officeDocument")
        return found

    def _writer(self, name: str) -> "Callable[[_Records], Iterator[str]] | None":
        is_sheet = name.endswith(".bin") and "/worksheets/" in name
        return _XML.get(self._kinds.get(name, "")) or (_XML["worksheet"] if is_sheet else None)

    def scan(self, name: str) -> bytes:
        return b"".join(self.chunks(name)) if self._writer(name) else super().scan(name)

    def chunks(self, name: str, limit: int = STREAM_LIMIT) -> Iterator[bytes]:
        write = self._writer(name)
        if write is None:
            return super().chunks(name, limit)
        return _in_pieces(write(_Records(b"".join(super().chunks(name, PART_LIMIT)))))


def _in_pieces(texts: Iterator[str]) -> Iterator[bytes]:
    waiting: list[str] = []
    size = 0
    try:
        for text in texts:
            waiting.append(text)
            size += len(text)
            if size > _AT_ONCE:
                yield "".join(waiting).encode("utf-8", "replace")
                waiting, size = [], 0
    except TooLarge:
        yield "".join(waiting).encode("utf-8", "replace")
        raise
    yield "".join(waiting).encode("utf-8", "replace")


class _Text(NamedTuple):
    """A text, and the offset after it."""

    words: str
    end: int


def _text_at(data: bytes, at: int) -> _Text:
    """A text after its character count (XLWideString, [MS-XLSB] 2.5.169); "" if there is none."""
    (count,) = struct.unpack_from("<I", data, at)
    if count == _NONE:
        return _Text("", at + 4)
    end = at + 4 + 2 * count
    return _Text(data[at + 4 : end].decode("utf-16-le", "replace"), end)


class _Records:
    """The records of a part, each with its number, up to the first incomplete one.

    Raises:
        TooLarge: there are more than two for each cell that is read of a workbook.
    """

    def __init__(self, part: bytes) -> None:
        self._part = part

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        part, at, end = self._part, 0, len(self._part)
        for _ in range(2 * MOST_CELLS):
            if at + 2 > end:
                return
            number = part[at]
            at += 1
            if number & 0x80:
                number = (number & 0x7F) | (part[at] & 0x7F) << 7
                at += 1
            length = 0
            for shift in (0, 7, 14, 21):
                if at >= end:
                    return
                byte = part[at]
                at += 1
                length |= (byte & 0x7F) << shift
                if not byte & 0x80:
                    break
            yield number, part[at : at + length]
            at += length
        raise TooLarge("The workbook holds more than can be read. Split it.")

    def write(self, writers: "dict[int, Callable[[bytes], str]]") -> Iterator[str]:
        """What is written for each of the records with these numbers; one that is shorter than its kind is left out."""
        for number, data in self:
            write = writers.get(number)
            if write is not None:
                try:
                    yield write(data)
                except (struct.error, IndexError):
                    continue


def _workbook(records: _Records) -> Iterator[str]:
    def sheet(data: bytes) -> str:
        relationship = _text_at(data, 8)
        name = one_line(_text_at(data, relationship.end).words)
        state = "hidden" if data[0] in (1, 2) else "visible"
        return f'<sheet name={quoteattr(name)} state="{state}" r:id={quoteattr(relationship.words)}/>'

    written = "".join(records.write({153: lambda data: f'<workbookPr date1904="{data[0] & 1}"/>', 156: sheet}))
    if "<sheet " not in written:
        raise Damaged("The file holds no workbook. Ask for it again, or give it the ending of its format.")
    yield f"<workbook>{written}</workbook>"


def _strings(records: _Records) -> Iterator[str]:
    yield "<sst>"
    yield from records.write({19: lambda data: f"<si><t>{_words(data, 1) if len(data) > 4 else ''}</t></si>"})
    yield "</sst>"


def _styles(records: _Records) -> Iterator[str]:
    def number_format(data: bytes) -> str:
        (number,) = struct.unpack_from("<H", data)
        return f'<numFmt numFmtId="{number}" formatCode={quoteattr(_text_at(data, 2).words)}/>'

    formats: list[str] = []
    styles: list[str] = []
    of_cells = False
    for number, data in records:
        if number in (617, 618):
            of_cells = number == 617
        elif number == 44 and len(data) >= 6:
            formats.append(number_format(data))
        elif number == 47 and of_cells and len(data) >= 4:
            styles.append(f'<xf numFmtId="{struct.unpack_from("<H", data, 2)[0]}"/>')
    yield f"<styleSheet><numFmts>{''.join(formats)}</numFmts><cellXfs>{''.join(styles)}</cellXfs></styleSheet>"


def _comments(records: _Records) -> Iterator[str]:
    def comment(data: bytes) -> str:
        author, row, _, column = struct.unpack_from("<IIII", data)
        place = f"{column_letters(min(column, 0xFFFF) + 1)}{row + 1}"
        return f'</comment><comment ref="{place}" authorId="{author}">'

    authors = "".join(records.write({632: lambda data: f"<author>{_words(data, 0)}</author>"}))
    yield f"<comments><authors>{authors}</authors><comment>"
    yield from records.write({635: comment, 637: lambda data: f"<text><t>{_words(data, 1)}</t></text>"})
    yield "</comment></comments>"


def _rk_number(stored: int) -> float:
    """The number in 30 bits of an RK value ([MS-XLS] 2.5.217); the other two bits mark integers and hundredths."""
    if stored & 2:
        number = float((stored >> 2) - ((stored & 0x80000000) >> 1))
    else:
        (number,) = struct.unpack("<d", struct.pack("<Q", (stored & 0xFFFFFFFC) << 32))
    return number / 100 if stored & 1 else number


def _words(data: bytes, at: int) -> str:
    """A text as .xlsx writes it, in which "_x000D_" stands for a character."""
    return escape(_text_at(data, at).words.replace("_x", "_x005F_x"))


def _sheet(records: _Records) -> Iterator[str]:
    hidden: list[str] = []
    number, is_open = 0, False

    def row(data: bytes) -> str:
        nonlocal number, is_open
        begins = "</row>" if is_open else f"<cols>{''.join(hidden)}</cols><sheetData>"
        number, is_open = struct.unpack_from("<I", data)[0] + 1, True
        return f"""{begins}<row r="{number}"{' hidden="1"' if data[11] & 0x10 else ""}>"""

    def columns(data: bytes) -> str:
        first, last, _, _, flags = struct.unpack_from("<IIIIH", data)
        if flags & 1 and len(hidden) < LAST_COLUMN:
            hidden.append(f'<col min="{first + 1}" max="{min(last + 1, LAST_COLUMN)}" hidden="1"/>')
        return ""

    def cell(kind: str, value: Callable[[bytes], object]) -> Callable[[bytes], str]:
        def write(data: bytes) -> str:
            column, style = struct.unpack_from("<II", data)
            place = f"{column_letters(column + 1)}{number}" if column < LAST_COLUMN else ""
            return f'<c r="{place}" s="{style & 0xFFFFFF}" t="{kind}"><v>{value(data)}</v></c>' if place else ""

        return write

    def printed(data: bytes) -> str:
        written, at = "", 2
        for name in ("Header", "Footer") * 3:
            if at + 4 > len(data):  # cut off
                break
            words, at = _text_at(data, at)
            written += f"<odd{name}>{escape(words)}</odd{name}>"
        return f"{'</row>' if is_open else ''}<headerFooter>{written}</headerFooter>"

    digits = "{:.15G}".format  # those that Excel shows at most; 0.0 is added so that -0.0 is 0
    rk = cell("n", lambda data: digits(_rk_number(struct.unpack_from("<I", data, 8)[0]) + 0.0))
    real = cell("n", lambda data: digits(struct.unpack_from("<d", data, 8)[0] + 0.0))
    error, truth = cell("e", lambda data: ERRORS.get(data[8], "#N/A")), cell("b", lambda data: int(data[8] != 0))
    text, rich_text = cell("str", lambda data: _words(data, 8)), cell("str", lambda data: _words(data, 9))
    shared = cell("s", lambda data: struct.unpack_from("<I", data, 8)[0])
    yield "<worksheet>"
    yield from records.write({
        0: row, 2: rk, 3: error, 4: truth, 5: real, 6: text, 7: shared, 8: text, 9: real, 10: truth, 11: error,
        60: columns, 62: rich_text, 479: printed,
    })  # fmt: skip
    yield "</worksheet>"


_XML: Final[dict[str, Callable[[_Records], Iterator[str]]]] = {
    "officeDocument": _workbook,
    "sharedStrings": _strings,
    "styles": _styles,
    "comments": _comments,
    **dict.fromkeys(("worksheet", "chartsheet", "dialogsheet", "xlMacrosheet", "xlIntlMacrosheet"), _sheet),
}
"""The kinds of parts of records, and what writes their XML."""

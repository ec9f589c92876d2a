"""Workbooks in one XML file, as Excel 2002 and 2003 save them and many exports still do ("XML Spreadsheet 2003").

Also under the name .xls. [MS-OI29500] knows it as SpreadsheetML 2003, its namespace is
urn:schemas-microsoft-com:office:spreadsheet. The file is read as events: no tree is built, no entity expanded, nothing
fetched, and what is damaged or cut off gives the cells before.
"""

import re
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import datetime
from typing import Final

from lxml import etree

from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.ooxml.number_formats import show_number, without_noise
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.ooxml.xml import whole_characters
from tasks.reading.places import FOOTER, HEADER, SHEET
from tasks.reading.text_writer import Reading, Writer
from tasks.reading.txt.reader import TOO_LONG
from tasks.reading.xlsx.binary import MOST_SHEETS, MOST_WORDS, CellsFullError, CellWriter, write_comment
from tasks.reading.xlsx.rows import column_letters, hidden_sheet
from tasks.reading.xlsx.sheet import LATE, split_printed_words

STANDING: Final = (
    "Formulas without a stored value stand as formulas: open the workbook in a spreadsheet program and save it, so "
    "that it holds their values."
)
_SS: Final = "{urn:schemas-microsoft-com:office:spreadsheet}"
_X: Final = "{urn:schemas-microsoft-com:office:excel}"
_CELL: Final = _SS + "Cell"
_DATA: Final = _SS + "Data"
_FORMULA: Final = _SS + "Formula"
_INDEX: Final = _SS + "Index"
_MERGED: Final = _SS + "MergeAcross"
_SPAN: Final = _SS + "Span"
_STYLE: Final = _SS + "StyleID"
_TYPE: Final = _SS + "Type"
_ROOT: Final = re.compile(
    r"\ufeff?\s*+(?:<\?[^<>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+"
    r"<(?:[\w.-]++:)?Workbook(?=\s)[^<>]*?urn:schemas-microsoft-com:office:spreadsheet",
    re.DOTALL,
)
_HEAD: Final = 4096
_CHUNK: Final = 1 << 16
_SHEETS: Final = re.compile(rb"<(?:[\w.-]++:)?(?:(Worksheet)(?=[\s>])|Visible\s*+>\s*+Sheet(?:Very)?Hidden)")
_CODES: Final = {
    "Short Date": "yyyy-mm-dd", "Medium Date": "yyyy-mm-dd", "Long Date": "yyyy-mm-dd",
    "General Date": "yyyy-mm-dd h:mm", "Short Time": "h:mm", "Medium Time": "h:mm", "Long Time": "h:mm:ss",
    "Percent": "0.00%", "Currency": '"$"#,##0.00', "Euro Currency": "[$€-2] #,##0.00",
    "General Number": "", "General": "", "Fixed": "", "Standard": "", "Scientific": "",
}  # fmt: skip
"""Formats that the file refers to by name."""

_PRINTED: Final = {f"{_X}Header": HEADER, f"{_X}Footer": FOOTER}
_MARK: Final = 20
"""Characters that a mark takes besides its words."""

_MOST_STYLES: Final = 100_000
_MOST_PARENTS: Final = 20
_LONGEST: Final = 1 << 20
_LAST_ROW: Final = 1 << 20
_DAY_ZERO: Final = ("1899-12-30", "1899-12-31", "1900-01-00", "1904-01-01")


def is_spreadsheet(data: bytes) -> bool:
    """Whether this is the beginning of such a workbook."""
    wide = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2])
    return _ROOT.match(data[:_HEAD].decode(wide or "utf-8", "replace")) is not None


def read(data: bytes, *, complete: bool = True) -> Reading:
    """The text of the workbook, by sheet and cells; `complete`: this is the whole file."""
    writer = Writer()
    if not complete:
        writer.warn(TOO_LONG)
    encoding = None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data, encoding = data.decode("utf-16", "replace").encode("utf-8", "replace"), "utf-8"
    handler = _Workbook(writer, _hidden_sheets(data))
    parser = etree.XMLParser(
        target=handler,  # type: ignore[arg-type]  # its stub wants methods that take bytes too
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
    )
    cut: str | None = None
    try:
        for piece in whole_characters(data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK)):
            if limits.is_near():
                cut = LATE
                break
            parser.feed(piece)
        parser.close()
    except CellsFullError:
        cut = handler.cells.cut
    except etree.XMLSyntaxError:
        handler.ended = False
    handler.close()
    if cut is None and not handler.ended and complete:
        cut = CUT_OFF
    if cut is not None:
        writer.warn(cut)
    return writer.reading()


def _hidden_sheets(data: bytes) -> set[int]:
    """The numbers, from 0, of the sheets that say behind their cells that they are hidden."""
    hidden: set[int] = set()
    sheet = -1
    for found in _SHEETS.finditer(data):
        if found[1]:
            sheet += 1
        else:
            hidden.add(sheet)
    return hidden


class _Workbook:
    """What the parser tells its events to: sheets are written as they come. `ended`: all of them have come."""

    def __init__(self, writer: Writer, hidden: set[int]) -> None:
        self.cells = CellWriter(writer)
        self._writer = writer
        self._hidden = hidden
        self._open: ExitStack | None = None  # the sheet that is open
        self._sheets = 0
        self._closed = False
        self._codes: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._style = ""
        self._from_1904 = False
        self._row = self._column = -1
        self._next_row = self._next_column = 0
        self._next_hidden = 0  # the column that comes next among those that are declared
        self._row_style = ""
        self._cell: dict[str, str] | None = None
        self._type = ""
        self._author: str | None = None  # of the comment that is open
        self._text: list[str] = []
        self._said: list[str] = []
        self._into: list[str] | None = None
        self._length = 0
        self._comments: list[tuple[str, str, str]] = []
        self._room = MOST_WORDS
        self._printed: dict[str, str] = {}
        self.ended = False
        self._beginnings: dict[str, Callable[[dict[str, str]], None]] = {
            f"{_SS}Style": self._begin_style,
            f"{_SS}NumberFormat": self._begin_format,
            f"{_SS}Worksheet": self._begin_sheet,
            f"{_SS}Column": self._begin_column,
            f"{_SS}Row": self._begin_row,
            f"{_SS}Cell": self._begin_cell,
            f"{_SS}Data": self._begin_data,
            f"{_SS}Comment": self._begin_comment,
        }

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        begin = self._beginnings.get(tag)
        if begin is not None:
            begin(attributes)
        elif tag in _PRINTED:
            for words in split_printed_words(_value(attributes, f"{_X}Data")):
                if self._has_room(words):
                    self._printed.setdefault(words, _PRINTED[tag])
        elif tag == f"{_X}Date1904":
            self._from_1904 = True

    def data(self, text: str) -> None:
        """Characters come."""
        if self._into is not None and self._length < _LONGEST:
            self._into.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag == _DATA:
            self._into = None
        elif tag == _CELL:
            self._end_cell()
        elif tag == f"{_SS}Comment" and self._author is not None:
            words = one_line("".join(self._said))
            if self._has_room(words):
                self._comments.append((f"{column_letters(self._column + 1)}{self._row + 1}", self._author, words))
            self._author, self._said = None, []
        elif tag == f"{_SS}Worksheet":
            self._end_sheet()
        elif tag == f"{_SS}Workbook":
            self.ended = True

    def close(self) -> None:
        """The file ends, wherever that is."""
        if not self._closed:
            self._closed = True
            with suppress(CellsFullError):
                self._end_cell()
            self._end_sheet()

    def _has_room(self, words: str) -> bool:
        self._room -= len(words) + _MARK
        return self._room >= 0

    def _begin_style(self, attributes: dict[str, str]) -> None:
        self._style = attributes.get(f"{_SS}ID", "")
        if len(self._parents) < _MOST_STYLES:
            self._parents[self._style] = attributes.get(f"{_SS}Parent", "Default")

    def _begin_format(self, attributes: dict[str, str]) -> None:
        code = _value(attributes, f"{_SS}Format")
        if len(self._codes) < _MOST_STYLES:
            self._codes[self._style] = _CODES.get(code, code)

    def _begin_sheet(self, attributes: dict[str, str]) -> None:
        self._end_sheet()
        if self._sheets >= MOST_SHEETS:
            return
        name = _value(attributes, f"{_SS}Name")
        self._open = ExitStack()
        self._open.enter_context(self._writer.part(SHEET, name))
        self._open.enter_context(hidden_sheet(self._writer, name, hidden=self._sheets in self._hidden))
        self._sheets += 1
        self._writer.text(name)
        self.cells.begin()
        self._row, self._next_row, self._next_hidden = -1, 0, 0

    def _begin_column(self, attributes: dict[str, str]) -> None:
        first = _number(attributes, _INDEX, self._next_hidden + 1) - 1
        self._next_hidden = first + 1 + _number(attributes, _SPAN, 0)
        if self._open and attributes.get(f"{_SS}Hidden") == "1":
            self.cells.hide_columns(first, self._next_hidden - 1)

    def _begin_row(self, attributes: dict[str, str]) -> None:
        self._row = _number(attributes, _INDEX, self._next_row + 1) - 1
        self._next_row = self._row + 1 + _number(attributes, _SPAN, 0)
        self._next_column = 0
        self._row_style = attributes.get(f"{_SS}StyleID", "")
        if self._open and attributes.get(f"{_SS}Hidden") == "1":
            self.cells.hide_row(self._row)

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._cell = attributes
        self._column = _number(attributes, _INDEX, self._next_column + 1) - 1
        self._next_column = self._column + 1 + _number(attributes, _MERGED, 0)
        self._text, self._type = [], ""

    def _begin_data(self, attributes: dict[str, str]) -> None:
        self._into, self._length = self._text, 0
        if self._author is not None:
            self._into = self._said
        else:
            self._type = attributes.get(_TYPE, "String")

    def _begin_comment(self, attributes: dict[str, str]) -> None:
        self._author = _value(attributes, f"{_SS}Author")

    def _end_cell(self) -> None:
        cell, self._cell = self._cell, None
        if cell is None:
            return
        stored = "".join(self._text)
        if not stored and self._type != "String" and (formula := _value(cell, _FORMULA)):
            self._writer.warn(STANDING)
            shown = formula if formula.startswith("=") else f"={formula}"
        else:
            shown = self._show(stored, cell.get(_STYLE, self._row_style))
        if self._open and 0 <= self._row < _LAST_ROW:
            self.cells.add(self._row, self._column, shown)

    def _show(self, stored: str, style: str) -> str:
        """What a cell shows."""
        if self._type == "Boolean":
            return {"1": "TRUE", "0": "FALSE"}.get(stored.strip(), stored)
        if self._type == "DateTime":
            return _moment(stored.strip())
        if self._type != "Number":
            return stored
        code = ""
        for _ in range(_MOST_PARENTS):
            if style in self._codes or style not in self._parents:
                code = self._codes.get(style, "")
                break
            style = self._parents[style]
        number = stored.strip()
        return show_number(number, code, from_1904=self._from_1904) if code else without_noise(number)

    def _end_sheet(self) -> None:
        if self._open is None:
            return
        self.cells.end()
        for cell, author, words in self._comments:
            write_comment(self._writer, cell, author, words)
        for words, kind in self._printed.items():
            self._writer.placed(kind, "", words)
        self._comments, self._printed = [], {}
        self._open.close()
        self._open = None


def _number(attributes: dict[str, str], name: str, otherwise: int) -> int:
    """A count or an index; `otherwise` if it is not a number."""
    value = attributes.get(name)
    return int(value) if value is not None and value.isdecimal() and len(value) < 8 else otherwise


def _value(attributes: dict[str, str], name: str) -> str:
    """An attribute's value, in which the parser, which is to expand nothing, leaves `&#38;` for `&amp;`."""
    return attributes.get(name, "")[:_LONGEST].replace("&#38;", "&")


def _moment(stored: str) -> str:
    """A date (`2004-05-01T00:00:00.000`) as cells show it: only the day at midnight, only the time on day zero."""
    try:
        moment = datetime.fromisoformat(stored)
    except ValueError:
        return stored
    time = moment.strftime("%H:%M:%S")
    if stored.startswith(_DAY_ZERO):
        return time
    return stored[:10] if time == "00:00:00" else f"{stored[:10]} {time}"

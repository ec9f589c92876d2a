"""Workbooks in one XML file, as Excel 2002 and 2003 save them and many exports still do ("XML Spreadsheet 2003").

Also under the name .xls. [MS-OI29500] knows it as SpreadsheetML 2003, its namespace is
urn:schemas-microsoft-com:office:spreadsheet. The file is read cell by cell: only one of them is in memory, no entity is
expanded, nothing fetched, and what is damaged or cut off gives the cells before.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import ClassVar, Final, cast

from lxml import etree

from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.ooxml.number_formats import show_number, without_noise
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.ooxml.xml import ElementStream, forget, whole_characters
from tasks.reading.places import FOOTER, HEADER
from tasks.reading.text_writer import Reading, Writer
from tasks.reading.txt.reader import TOO_LONG
from tasks.reading.xlsx.binary import CellsFullError, SheetWriter
from tasks.reading.xlsx.sheet import LATE, split_printed_words

STANDING: Final = (
    "Formulas without a stored value are shown as formulas: open the workbook in a spreadsheet program and save it, so "
    "that it holds their values."
)
_SS: Final = "{urn:schemas-microsoft-com:office:spreadsheet}"
_X: Final = "{urn:schemas-microsoft-com:office:excel}"
_DATA: Final = _SS + "Data"
_INDEX: Final = _SS + "Index"
_SPAN: Final = _SS + "Span"
_STYLE: Final = _SS + "StyleID"
_HIDDEN: Final = _SS + "Hidden"
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
_MOST_STYLES: Final = 100_000
_MOST_PARENTS: Final = 20  # styles, each based on the next
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
    workbook = _Workbook(writer, _hidden_sheets(data))
    pieces = whole_characters(data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK))
    try:
        for begins, element in ElementStream(pieces, _Workbook.TAGS, encoding):
            workbook.take(element, begins=begins)
            if limits.is_near():
                workbook.sheets.cut = LATE
                break
    except CellsFullError:
        pass
    workbook.end_sheet()
    cut = workbook.sheets.cut or (CUT_OFF if complete and not workbook.ended else None)
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
    """Writes sheets as they come. `ended`: all of them have come."""

    def __init__(self, writer: Writer, hidden: set[int]) -> None:
        self.sheets = SheetWriter(writer)
        self.ended = False
        self._writer = writer
        self._hidden = hidden
        self._sheet = -1
        self._codes: dict[str, str] = {}  # by style
        self._parents: dict[str, str] = {}
        self._from_1904 = False
        self._row = -1
        self._row_style = ""
        self._next_row = self._next_cell = self._next_column = 0  # what comes next where no index is given
        self._printed: dict[str, str] = {}

    def take(self, element: etree._Element, *, begins: bool) -> None:
        """Handle an element that begins or ends, in the order of the file."""
        handle = (self._BEGINNINGS if begins else self._ENDS).get(element.tag)
        if handle is not None:
            handle(self, element)
        if not begins:
            forget(element)

    def end_sheet(self, _: etree._Element | None = None) -> None:
        """End the open sheet, if there is one."""
        for words, kind in self._printed.items():
            self.sheets.behind(kind, words)
        self._printed = {}
        self.sheets.end_sheet()

    def _take_style(self, style: etree._Element) -> None:
        if len(self._parents) < _MOST_STYLES:
            name = style.get(f"{_SS}ID", "")
            self._parents[name] = style.get(f"{_SS}Parent", "Default")
            for own in style.iterfind(f"{_SS}NumberFormat"):
                code = _value(own, f"{_SS}Format")
                self._codes[name] = _CODES.get(code, code)

    def _find_code(self, style: str) -> str:
        """The number format of a style, or of one that it is based on, which may stand behind it."""
        for _ in range(_MOST_PARENTS):
            if style in self._codes or style not in self._parents:
                break
            style = self._parents[style]
        return self._codes.get(style, "")

    def _begin_sheet(self, sheet: etree._Element) -> None:
        self.end_sheet()
        self._sheet += 1
        self.sheets.begin_sheet(_value(sheet, f"{_SS}Name"), hidden=self._sheet in self._hidden)
        self._row, self._next_row, self._next_column = -1, 0, 0

    def _take_column(self, column: etree._Element) -> None:
        first = _number(column, _INDEX, self._next_column + 1) - 1
        self._next_column = first + 1 + _number(column, _SPAN, 0)
        if column.get(_HIDDEN) == "1":
            self.sheets.hide_columns(first, self._next_column - 1)

    def _begin_row(self, row: etree._Element) -> None:
        self._row = _number(row, _INDEX, self._next_row + 1) - 1
        self._next_row = self._row + 1 + _number(row, _SPAN, 0)
        self._next_cell = 0
        self._row_style = row.get(_STYLE, "")
        if row.get(_HIDDEN) == "1":
            self.sheets.hide_row(self._row)

    def _take_cell(self, cell: etree._Element) -> None:
        column = _number(cell, _INDEX, self._next_cell + 1) - 1
        self._next_cell = column + 1 + _number(cell, f"{_SS}MergeAcross", 0)
        data = cell.find(_DATA)
        stored, kind = ("", "") if data is None else (_words(data), data.get(f"{_SS}Type", "String"))
        for comment in cell.iterfind(f"{_SS}Comment"):
            self.sheets.comment(self._row, column, _value(comment, f"{_SS}Author"), one_line(_words(comment)))
        if not stored and kind != "String" and (formula := _value(cell, f"{_SS}Formula")):
            self._writer.warn(STANDING)
            shown = formula if formula.startswith("=") else f"={formula}"
        else:
            shown = self._show(stored, kind, cell.get(_STYLE, self._row_style))
        if self.sheets.is_open and 0 <= self._row < _LAST_ROW:
            self.sheets.add(self._row, column, shown)

    def _show(self, stored: str, kind: str, style: str) -> str:
        """What a cell shows."""
        if kind == "Boolean":
            return {"1": "TRUE", "0": "FALSE"}.get(stored.strip(), stored)
        if kind == "DateTime":
            return _moment(stored.strip())
        if kind != "Number":
            return stored
        code, number = self._find_code(style), stored.strip()
        return show_number(number, code, from_1904=self._from_1904) if code else without_noise(number)

    def _take_printed(self, printed: etree._Element) -> None:
        for words in split_printed_words(_value(printed, f"{_X}Data")):
            self._printed.setdefault(words, _PRINTED[printed.tag])

    def _count_from_1904(self, _: etree._Element) -> None:
        self._from_1904 = True

    def _end(self, _: etree._Element) -> None:
        self.ended = True

    _BEGINNINGS: ClassVar[dict[str, Callable[["_Workbook", etree._Element], None]]] = {
        f"{_SS}Worksheet": _begin_sheet,
        f"{_SS}Row": _begin_row,
        f"{_X}Date1904": _count_from_1904,
    }
    _ENDS: ClassVar[dict[str, Callable[["_Workbook", etree._Element], None]]] = {
        f"{_SS}Style": _take_style,
        f"{_SS}Column": _take_column,
        f"{_SS}Cell": _take_cell,
        f"{_SS}Worksheet": end_sheet,
        f"{_SS}Workbook": _end,
        **dict.fromkeys(_PRINTED, _take_printed),
    }
    TAGS: ClassVar = (*_BEGINNINGS, *_ENDS, f"{_SS}NamedRange", f"{_X}*")


def _words(element: etree._Element) -> str:
    """The text of an element and of what is in it, without entities, which `itertext` would name."""
    text = "".join(cast("list[str]", element.xpath(".//text()"))) if len(element) else element.text or ""
    return text[:_LONGEST]


def _number(element: etree._Element, name: str, otherwise: int) -> int:
    """A count or an index; `otherwise` if it is not a number."""
    value = element.get(name)
    return int(value) if value is not None and value.isdecimal() and len(value) < 8 else otherwise


def _value(element: etree._Element, name: str) -> str:
    """An attribute's value, in which the parser, which is to expand nothing, leaves `&#38;` for `&amp;`."""
    return element.get(name, "")[:_LONGEST].replace("&#38;", "&")


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

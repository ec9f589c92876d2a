"""Workbooks in one XML file, as Excel 2002 and 2003 save them and many exports still do ("XML Spreadsheet 2003").

Also under the name .xls. [MS-OI29500] knows it as SpreadsheetML 2003, its namespace is
urn:schemas-microsoft-com:office:spreadsheet. No entity is expanded and nothing fetched, and what is damaged or cut off
gives the cells before.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from lxml import etree

from tasks.errors import Damaged
from tasks.language.normalise import one_line
from tasks.reading.ooxml.number_formats import show_number, without_noise
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.ooxml.xml import parser, whole_characters
from tasks.reading.places import FOOTER, HEADER, SHEET
from tasks.reading.text_writer import Reading, Writer
from tasks.reading.txt.reader import TOO_LONG
from tasks.reading.xlsx.binary import MOST_SHEETS, CellsFullError, CellWriter, write_comment
from tasks.reading.xlsx.rows import column_letters, hidden_sheet
from tasks.reading.xlsx.sheet import split_printed_words

STANDING: Final = (
    "Formulas without a stored value stand as formulas: open the workbook in a spreadsheet program and save it, so "
    "that it holds their values."
)
_SS: Final = "{urn:schemas-microsoft-com:office:spreadsheet}"
_X: Final = "{urn:schemas-microsoft-com:office:excel}"
_ROOT: Final = re.compile(
    r"\ufeff?\s*+(?:<\?[^<>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+"
    r"<(?:[\w.-]++:)?Workbook(?=\s)[^<>]*?urn:schemas-microsoft-com:office:spreadsheet",
    re.DOTALL,
)
_HEAD: Final = 4096
_END: Final = re.compile(rb"</(?:[\w.-]++:)?Workbook\s*+>\s*+\Z")
_CODES: Final = {
    "Short Date": "yyyy-mm-dd", "Medium Date": "yyyy-mm-dd", "Long Date": "yyyy-mm-dd",
    "General Date": "yyyy-mm-dd h:mm", "Short Time": "h:mm", "Medium Time": "h:mm", "Long Time": "h:mm:ss",
    "Percent": "0.00%", "Currency": '"$"#,##0.00', "Euro Currency": "[$€-2] #,##0.00",
    "General Number": "", "General": "", "Fixed": "", "Standard": "", "Scientific": "",
}  # fmt: skip
"""Formats that the file refers to by name."""

_LONGEST: Final = 1 << 20
_LAST_ROW: Final = 1 << 20
_DAY_ZERO: Final = ("1899-12-30", "1899-12-31", "1900-01-00", "1904-01-01")


def is_spreadsheet(data: bytes) -> bool:
    """Whether this is the beginning of such a workbook."""
    wide = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2])
    return _ROOT.match(data[:_HEAD].decode(wide or "utf-8", "replace")) is not None


def read(data: bytes, *, complete: bool = True) -> Reading:
    """The text of the workbook, by sheet and cells; `complete`: this is the whole file.

    Raises:
        Damaged: it is no XML.
    """
    writer = Writer()
    if not complete:
        writer.warn(TOO_LONG)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = re.sub(rb"^[^<]*<\?[^>]*>", b"", data.decode("utf-16", "replace").encode("utf-8", "replace"))
    root = etree.fromstring(b"".join(whole_characters([data])), parser(recover=True))
    if root is None:
        raise Damaged("The file is damaged: it is no XML. Ask for it again.")
    cells = CellWriter(writer)
    codes = dict(_find_codes(root))
    from_1904 = root.find(f".//{_X}Date1904") is not None
    for sheet in list(root.iterfind(f"{_SS}Worksheet"))[:MOST_SHEETS]:
        name = _value(sheet, f"{_SS}Name")
        hidden = sheet.findtext(f"{_X}WorksheetOptions/{_X}Visible", "").strip() in ("SheetHidden", "SheetVeryHidden")
        with writer.part(SHEET, name), hidden_sheet(writer, name, hidden=hidden):
            writer.text(name)
            _Sheet(sheet, cells, codes, from_1904=from_1904).write(writer)
    if cells.cut or (complete and not _END.search(data[-200:])):
        writer.warn(cells.cut or CUT_OFF)
    return writer.reading()


def _find_codes(root: etree._Element) -> Iterator[tuple[str, str]]:
    """The format codes of cells by their styles; a style without one takes its parent's."""
    styles = {style.get(f"{_SS}ID", ""): style for style in root.iterfind(f"{_SS}Styles/{_SS}Style")}
    for name, own in styles.items():
        found = own.find(f"{_SS}NumberFormat")
        if found is None and (parent := styles.get(own.get(f"{_SS}Parent", "Default"))) is not None:
            found = parent.find(f"{_SS}NumberFormat")
        if found is not None:
            code = _value(found, f"{_SS}Format")
            yield name, _CODES.get(code, code)


class _Sheet:
    """One sheet."""

    def __init__(self, sheet: etree._Element, cells: CellWriter, codes: dict[str, str], *, from_1904: bool) -> None:
        self._sheet = sheet
        self._cells = cells
        self._codes = codes
        self._from_1904 = from_1904
        self._comments: list[tuple[str, str, str]] = []

    def write(self, writer: Writer) -> None:
        """Write its cells, then its comments, and its printed headers and footers."""
        self._cells.begin()
        with suppress(CellsFullError):
            self._add_cells(writer)
        self._cells.end()
        for cell, author, words in self._comments:
            write_comment(writer, cell, author, words)
        for kind, tag in ((HEADER, "Header"), (FOOTER, "Footer")):
            for printed in self._sheet.iter(f"{_X}{tag}"):
                for words in split_printed_words(_value(printed, f"{_X}Data")):
                    writer.placed(kind, "", words)

    def _add_cells(self, writer: Writer) -> None:
        table = f"{_SS}Table/{_SS}"
        column = row = 0
        for element in self._sheet.iterfind(f"{table}Column"):
            column = _number(element, f"{_SS}Index", column + 1) + _number(element, f"{_SS}Span", 0)
            if element.get(f"{_SS}Hidden") == "1":
                self._cells.hide_columns(column - 1 - _number(element, f"{_SS}Span", 0), column - 1)
        for element in self._sheet.iterfind(f"{table}Row"):
            at = _number(element, f"{_SS}Index", row + 1) - 1
            row = at + 1 + _number(element, f"{_SS}Span", 0)
            if not 0 <= at < _LAST_ROW:
                continue
            if element.get(f"{_SS}Hidden") == "1":
                self._cells.hide_row(at)
            column = 0
            for cell in element.iterfind(f"{_SS}Cell"):
                place = _number(cell, f"{_SS}Index", column + 1) - 1
                column = place + 1 + _number(cell, f"{_SS}MergeAcross", 0)
                style = cell.get(f"{_SS}StyleID") or element.get(f"{_SS}StyleID") or "Default"
                shown = self._show(cell, style, writer)
                if place >= 0:
                    self._cells.add(at, place, shown)
                    self._note_comment(cell, f"{column_letters(place + 1)}{at + 1}")

    def _note_comment(self, cell: etree._Element, place: str) -> None:
        comment = cell.find(f"{_SS}Comment")
        if comment is not None:
            words = one_line("".join(map(str, comment.itertext())))
            self._comments.append((place, _value(comment, f"{_SS}Author"), words))

    def _show(self, cell: etree._Element, style: str, writer: Writer) -> str:
        """What a cell shows."""
        data = cell.find(f"{_SS}Data")
        stored = "" if data is None else "".join(map(str, data.itertext()))
        kind = "" if data is None else data.get(f"{_SS}Type", "String")
        if not stored and kind != "String" and (formula := _value(cell, f"{_SS}Formula")):
            writer.warn(STANDING)
            return formula if formula.startswith("=") else f"={formula}"
        if kind == "Boolean":
            return {"1": "TRUE", "0": "FALSE"}.get(stored.strip(), stored)
        if kind == "DateTime":
            return _moment(stored.strip())
        if kind != "Number":
            return stored
        number, code = stored.strip(), self._codes.get(style, "")
        return show_number(number, code, from_1904=self._from_1904) if code else without_noise(number)


def _number(element: etree._Element, name: str, otherwise: int) -> int:
    """A count or an index; `otherwise` if it is not a number."""
    value = element.get(name)
    return int(value) if value is not None and value.isdecimal() and len(value) < 8 else otherwise


def _value(element: etree._Element, name: str) -> str:
    return element.get(name, "")[:_LONGEST]


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

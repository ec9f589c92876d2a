"""OpenDocument spreadsheets: sheet by sheet the cells row by row, then remarks and the words of shapes.

Cells are written as they are shown, dates in ISO form; a plain number is written as stored, and if a percentage or an
amount is rounded, the stored number follows, as in other workbooks. Content is read while it is parsed: only one row of
it is in memory. Charts and embedded documents are left out, with a warning.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final

from lxml import etree

from tasks.errors import Damaged
from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.odf.package import OdfPackage, name
from tasks.reading.ooxml.number_formats import with_stored, without_noise
from tasks.reading.ooxml.xml import ElementStream, forget
from tasks.reading.places import TEXT_BOX
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.xlsx.binary import CellsFullError, SheetWriter
from tasks.reading.xlsx.sheet import LATE

_SPREADSHEET: Final = name("office:spreadsheet")
_TABLE, _ROW, _COLUMN = name("table:table"), name("table:table-row"), name("table:table-column")
_SHAPES, _STYLE, _CHANGES = name("table:shapes"), name("style:style"), name("table:tracked-changes")
_REPEATED_ROWS: Final = name("table:number-rows-repeated")
_REPEATED_COLUMNS: Final = name("table:number-columns-repeated")
_VISIBILITY: Final = name("table:visibility")
_COVERED: Final = name("table:covered-table-cell")
_CELL_TAGS: Final = frozenset((name("table:table-cell"), _COVERED))
_VALUE_TYPE, _VALUE, _CALC_VALUE_TYPE = name("office:value-type"), name("office:value"), name("calcext:value-type")
_PARAGRAPH, _ANNOTATION = name("text:p"), name("office:annotation")
_DRAWN: Final = name("draw:x")[:-1]
_ASIDE: Final = frozenset(map(name, ("office:annotation", "svg:title", "svg:desc", "table:detective")))
_MOST_REPEATED: Final = 1_000
"""Equal rows, or equal cells with words, that are written one by one."""

_MOST_REPEATED_TEXT: Final = 10_000_000
"""Characters of a sheet that stand for repeats in the file, each row counting twenty more."""

_ROW_COST: Final = 20
_MOST_ROWS: Final = 1 << 24
_MOST_COLUMNS: Final = 1 << 14
_REFERENCE: Final = re.compile(r"\[\.?([^\[\]]*)\]")
_NUMBER: Final = re.compile(r"[-−]?\d[\d\s.,'’]*(?:[Ee][-+]?\d+)?")
_DURATION: Final = re.compile(r"(-?)P(?:(\d+)D)?T(\d+)H(\d+)M(\d+)(?:[.,](\d+))?S")
LEFT_OUT: Final = "Charts and documents inside the workbook were left out. Save it as .xlsx to have them read."


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with OdfPackage(source) as package:
        writer = Writer()
        workbook = _Workbook(writer)
        stream = ElementStream(
            package.content_stream(), (_SPREADSHEET, _TABLE, _ROW, _COLUMN, _SHAPES, _STYLE, _CHANGES)
        )
        for begins, element in stream:
            workbook.take(element, begins=begins)
            if limits.is_near():
                workbook.cut = LATE
            if workbook.cut is not None:
                break
        else:
            package.damaged |= stream.damaged
        workbook.end()
        if not workbook.found:
            raise Damaged("The file holds no spreadsheet. Ask for it again, or give it the ending of its format.")
        package.finish(writer)
        return writer.reading()


class _Workbook:
    """Writes sheets as they arrive. `found`: the content is a spreadsheet; `cut` says why the rest was left out."""

    def __init__(self, writer: Writer) -> None:
        self.found = False
        self.cut: str | None = None
        self._writer = writer
        self._cells = SheetWriter(writer)
        self._hidden: set[str] = set()  # styles of sheets that are hidden
        self._depth = 0
        self._label = ""
        self._row = self._column = 0
        self._formulas = False
        self._left = _MOST_REPEATED_TEXT

    def take(self, element: etree._Element, *, begins: bool) -> None:
        """Handle an element that begins or ends, in the order of the file."""
        if element.tag == _TABLE:
            self._depth += 1 if begins else -1
            if self._depth == begins:  # not one in a shape
                self._begin(element) if begins else self.end()
        elif element.tag == _SPREADSHEET:
            self.found = True
        elif begins:
            return
        elif element.tag == _STYLE:
            self._take_style(element)
        elif self._depth == 1 and self._cells.is_open:
            try:
                self._take_part(element)
            except CellsFullError:
                self.cut = self._cells.cut
        if not begins and self._depth <= 1 and element.tag != _STYLE:
            forget(element)

    def end(self) -> None:
        """End the open sheet, if there is one."""
        if not self._cells.is_open:
            return
        if self._formulas:
            self._writer.warn(f"Formulas without a stored value are shown as formulas, on the sheet {self._label}.")
        if self.cut is not None:
            self._writer.warn(self.cut)
        self._cells.end_sheet()

    def _begin(self, table: etree._Element) -> None:
        self.end()
        self._label = one_line(table.get(name("table:name"), ""))
        self._cells.begin_sheet(self._label, hidden=table.get(name("table:style-name"), "") in self._hidden)
        self._row = self._column = 0
        self._formulas, self._left = False, _MOST_REPEATED_TEXT

    def _take_style(self, style: etree._Element) -> None:
        properties = style.find(name("style:table-properties"))
        if properties is not None and properties.get(name("table:display")) == "false":
            self._hidden.add(style.get(name("style:name"), ""))

    def _take_part(self, element: etree._Element) -> None:
        if element.tag == _COLUMN:
            count = min(_repeats(element, _REPEATED_COLUMNS, _MOST_COLUMNS), _MOST_COLUMNS - self._column)
            if count and element.get(_VISIBILITY, "visible") != "visible":
                self._cells.hide_columns(self._column, self._column + count - 1)
            self._column += count
        elif element.tag == _SHAPES:
            for shape in element:
                self._take_shape(shape)
        elif element.tag == _ROW:
            self._take_row(element)

    def _take_shape(self, shape: etree._Element) -> None:
        if next(shape.iter(name("draw:object"), name("draw:object-ole")), None) is not None:
            self._writer.warn(LEFT_OUT)
        words = "\n".join(one_line("".join(_texts(paragraph))) for paragraph in shape.iter(_PARAGRAPH))
        if words.strip():
            self._cells.behind(TEXT_BOX, words)

    def _take_row(self, row: etree._Element) -> None:
        count = _repeats(row, _REPEATED_ROWS, _MOST_ROWS)
        texts = self._row_texts(row)
        times = 0
        if any(texts):
            cost = _ROW_COST + sum(map(len, texts)) + len(texts)
            times = min(count, _MOST_REPEATED, 1 + self._left // cost)
            self._left -= (times - 1) * cost
            if count > times:
                self._writer.warn(
                    f"Equal rows of the sheet {self._label} are written {_MOST_REPEATED:,} times at most."
                )
        for number in range(self._row, self._row + times):
            if row.get(_VISIBILITY, "visible") != "visible":
                self._cells.hide_row(number)
            for column, text in enumerate(texts):
                if text:
                    self._cells.add(number, column, text)
        self._row += count

    def _row_texts(self, row: etree._Element) -> list[str]:
        """The cells of a row as shown, without trailing empty ones."""
        texts: list[str] = []
        empty = 0
        for cell in row:
            if cell.tag not in _CELL_TAGS:
                continue
            if len(texts) + empty >= _MOST_COLUMNS:
                break
            count = _repeats(cell, _REPEATED_COLUMNS, _MOST_COLUMNS)
            text = "" if cell.tag == _COVERED and not len(cell) else self._text(cell, len(texts) + empty)
            if not text:
                empty += count
                continue
            texts += [""] * min(empty, _MOST_COLUMNS - len(texts))
            empty = 0
            texts += [text] * min(count, _MOST_REPEATED, _MOST_COLUMNS - len(texts))
            empty += max(0, count - _MOST_REPEATED)
        return texts

    def _text(self, cell: etree._Element, column: int) -> str:
        paragraphs = []
        for child in cell:
            if child.tag == _PARAGRAPH:
                paragraphs.append("".join(_texts(child)))
            elif child.tag == _ANNOTATION:
                said = " ".join(one_line("".join(_texts(paragraph))) for paragraph in child.iter(_PARAGRAPH))
                author = one_line(child.findtext(name("dc:creator")) or "")
                self._cells.comment(self._row, column, author, said)
            elif isinstance(child.tag, str) and child.tag.startswith(_DRAWN):
                self._take_shape(child)
        shown = one_line(" ".join(paragraphs))
        kind = cell.get(_VALUE_TYPE, "")
        if kind == "string":
            return shown or one_line(cell.get(name("office:string-value"), ""))
        if kind and cell.get(_CALC_VALUE_TYPE) != "error":
            return _value(cell, kind, shown)
        formula = cell.get(name("table:formula"))
        if not kind and not shown and formula and not paragraphs:  # an empty one is a result
            self._formulas = True
            return _as_written(formula)
        return shown


def _texts(element: etree._Element) -> Iterator[str]:
    """The words of a paragraph; parsed trees are at most 256 levels deep."""
    yield element.text or ""
    for child in element:
        if child.tag in (name("text:s"), name("text:tab"), name("text:line-break")):
            yield " "
        elif isinstance(child.tag, str) and child.tag not in _ASIDE:
            yield from _texts(child)
        yield child.tail or ""


def _repeats(element: etree._Element, attribute: str, most: int) -> int:
    """The count in an attribute: 1 if it has none, never more than `most`."""
    value = element.get(attribute)
    if value is None:
        return 1
    return min(max(1, int(value)), most) if value.isascii() and value.isdecimal() and len(value) < 12 else 1


def _value(cell: etree._Element, kind: str, shown: str) -> str:
    """A value by its kind: a number as stored, dates and times in ISO form, others as shown."""
    raw = cell.get(_VALUE, "")
    if kind == "float":
        if raw and (not shown or _NUMBER.fullmatch(shown)):
            return without_noise(raw)
        return _with_lost_digits(shown, raw, 0) if raw else shown
    if kind == "date":
        return (cell.get(name("office:date-value")) or shown).replace("T", " ").removesuffix(" 00:00:00")
    if kind == "time":
        return _time(cell.get(name("office:time-value"), "")) or shown
    if kind == "boolean":
        return shown or cell.get(name("office:boolean-value"), "").upper()
    return (_with_lost_digits(shown, raw, 2 if kind == "percentage" else 0) if raw else shown) or without_noise(raw)


def _with_lost_digits(shown: str, raw: str, hundredths: int) -> str:
    """The shown text, followed by the number if that has more digits: `62 % (0.6229)`, `1.2m (1234567)`.

    `hundredths` is 2 if a percentage is shown. If the digits may not be the number's, only the shown text is returned.
    """
    digits = re.sub(r"[^\d.,]", "", shown).strip(".,")
    try:
        stored = Decimal(without_noise(raw))
    except InvalidOperation:
        return shown
    exact = abs(stored.scaleb(hundredths)) if stored.is_finite() else stored
    if not digits or len(digits) > 40 or not exact.is_finite() or exact.adjusted() > 30:
        return shown
    whole, _, decimals = digits.replace(",", ".").rpartition(".")
    if not whole or len(decimals) == 3:  # no decimals, or groups of thousands
        whole, decimals = whole + decimals, ""
    near = Decimal(f"{whole.replace('.', '') or '0'}.{decimals or '0'}")
    if near == exact:
        return shown
    if abs(near - exact) <= Decimal(1).scaleb(-len(decimals)):
        return with_stored(shown, stored, len(decimals) + hundredths)
    for thousands in (3, 6, 9):
        if near and abs(near.scaleb(thousands) - exact) <= Decimal(1).scaleb(thousands - len(decimals)):
            return f"{shown} ({stored:f})"
    return shown


def _time(value: str) -> str:
    parts = _DURATION.fullmatch(value)
    if parts is None:
        return ""
    sign, days, hours, minutes, seconds, fraction = parts.groups()
    digits = (fraction or "").rstrip("0")[:3]
    total = int(hours[:9]) + 24 * int((days or "0")[:6])
    return f"{sign}{total:02}:{int(minutes[:2]):02}:{int(seconds[:2]):02}{'.' + digits if digits else ''}"


def _as_written(formula: str) -> str:
    """A formula as a person would type it: `of:=SUM([.A1:.B1])` is `=SUM(A1:B1)`."""
    bare = formula[formula.find("=") :] if "=" in formula[:12] else formula
    return one_line(_REFERENCE.sub(lambda match: match[1].replace(":.", ":"), bare))[:1000]

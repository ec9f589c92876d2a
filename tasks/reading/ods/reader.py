"""Spreadsheets of OpenDocument: sheet by sheet the cells row by row, then remarks, shapes and charts.

Cells stand as they are shown, dates in ISO form; a plain number stands as it is stored, and behind what a percentage or
an amount rounds away stands the number itself, as in other workbooks.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from lxml import etree

from tasks.errors import Damaged, TooLarge
from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.odf.elements import elements, is_shape, repeats
from tasks.reading.odf.package import OdfPackage, name
from tasks.reading.odf.story import Stories
from tasks.reading.odf.styles import OdfStyles
from tasks.reading.ooxml.number_formats import with_stored, without_noise
from tasks.reading.places import (
    CELLS,
    FOOTER,
    HEADER,
    HIDDEN_COLUMN,
    HIDDEN_ROW,
    HIDDEN_ROW_MARK,
    HIDDEN_SHEET,
    HIDDEN_SHEET_MARK,
    SHEET,
    hidden_column_mark,
)
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.xlsx.blocks import letters_of

_TABLE, _ROW, _COLUMN = name("table:table"), name("table:table-row"), name("table:table-column")
_REPEATED_ROWS: Final = name("table:number-rows-repeated")
_REPEATED_COLUMNS: Final = name("table:number-columns-repeated")
_VISIBILITY: Final = name("table:visibility")
_COVERED: Final = name("table:covered-table-cell")
_CELL_TAGS: Final = frozenset((name("table:table-cell"), _COVERED))
_VALUE_TYPE, _VALUE, _CALC_VALUE_TYPE = name("office:value-type"), name("office:value"), name("calcext:value-type")
_PARAGRAPH: Final = name("text:p")
_MOST_REPEATED: Final = 1_000
"""Equal rows, or equal cells with words, that are written one by one."""

_MOST_REPEATED_TEXT: Final = 10_000_000
"""Characters of a sheet that stand for repeats in the file, each row counting twenty more."""

_ROW_COST: Final = 20
_MOST_ROWS: Final = 1 << 24
_MOST_COLUMNS: Final = 1 << 14
_MOST_CHARACTERS: Final = 100_000_000
_TOO_MUCH: Final = "The workbook holds more text than can be read. Split it."
_REFERENCE: Final = re.compile(r"\[\.?([^\[\]]*)\]")
_NUMBER: Final = re.compile(r"[-−]?\d[\d\s.,'’]*(?:[Ee][-+]?\d+)?")
_DURATION: Final = re.compile(r"(-?)P(?:(\d+)D)?T(\d+)H(\d+)M(\d+)(?:[.,](\d+))?S")


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with OdfPackage(source) as package:
        writer = Writer()
        workbook = _Workbook(package, writer)
        workbook.read()
        package.finish(writer)
        return writer.reading()


class _Workbook:
    """One pass over the content, as it is parsed: no more than a row of it is in memory."""

    def __init__(self, package: OdfPackage, writer: Writer) -> None:
        self._package = package
        self._writer = writer
        self._styles: OdfStyles | None = None
        self._stories: Stories | None = None

    def read(self) -> None:
        kinds = (name("office:spreadsheet"), _TABLE, _ROW, _COLUMN, name("table:shapes"), name("table:tracked-changes"))
        parser = etree.XMLPullParser(
            ("start", "end"), tag=kinds, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
            recover=True, remove_comments=True, remove_pis=True,
        )  # fmt: skip
        sheet: _Sheet | None = None
        found = False
        depth = 0
        for piece in self._package.content_stream():
            parser.feed(piece)
            for event, item in parser.read_events():
                element = _element(item)
                if element.tag == _TABLE:
                    depth += 1 if event == "start" else -1
                    if depth == (1 if event == "start" else 0):  # not one in a shape
                        if sheet is not None:
                            sheet.end()
                        sheet = self._begin(element) if event == "start" else None
                        if event == "end":
                            _forget(element)
                elif element.tag == name("office:spreadsheet"):
                    found = True
                elif event == "end" and depth == 1 and sheet is not None:
                    sheet.take(element)
                    _forget(element)
            if limits.is_near() or self._writer.position > _MOST_CHARACTERS:
                break
        else:
            self._package.damaged |= bool(len(parser.error_log))
        if limits.is_near():
            self._writer.warn("The workbook takes too long to read (DILIGENCE_DOCUMENT_TIMEOUT): its end is missing.")
        elif self._writer.position > _MOST_CHARACTERS:
            raise TooLarge(_TOO_MUCH)
        if sheet is not None:
            sheet.end()
        if not found:
            raise Damaged("The file holds no spreadsheet. Ask for it again, or give it the ending of its format.")
        if self._styles is not None:
            self._write_printed(self._styles)
        if self._stories is not None:
            self._package.attach(self._stories.objects, self._writer)

    def _begin(self, table: etree._Element) -> "_Sheet":
        if self._styles is None:
            root = table.getroottree().getroot()
            self._styles = OdfStyles(root, self._package.styles())
            self._stories = Stories(self._package, self._styles, self._writer, {})
        assert self._stories is not None
        style = table.get(name("table:style-name"), "")
        hidden = self._styles.property("table", style, "style:table-properties", "table:display") == "false"
        return _Sheet(table.get(name("table:name"), ""), self._writer, self._stories, hidden=hidden)

    def _write_printed(self, styles: OdfStyles) -> None:
        """Write the words of printed headers and footers; those that programs put there are fields alone."""
        assert self._stories is not None
        written: set[str] = set()
        for kind in (HEADER, FOOTER):
            for part in styles.master_parts(f"style:{kind}", f"style:{kind}-first", f"style:{kind}-left"):
                for paragraph in part.iter(name("text:p")):
                    own = [paragraph.text or "", *((child.tail or "") for child in paragraph)]
                    spans = [span.text or "" for span in paragraph.iter(name("text:span"))]
                    words = one_line(self._stories.plain(part)[0])
                    if one_line("".join(own + spans)).strip("/ ") not in ("", "Page") and words not in written:
                        written.add(words)
                        self._writer.placed(kind, "", words)


class _Sheet:
    """A sheet as it is written: rows with words one a line, runs of them in blocks of cells."""

    def __init__(self, label: str, writer: Writer, stories: Stories, *, hidden: bool) -> None:
        self._writer = writer
        self._stories = stories
        self._label = one_line(label)
        self._hidden = hidden
        self._part = writer.part(SHEET, label)
        self._part.__enter__()
        self._start = writer.position
        if hidden:
            writer.line(HIDDEN_SHEET_MARK)
        writer.text(label)
        self._columns = _Columns()
        self._row = 0
        self._block: tuple[int, int, int, int] | None = None  # its offset, first row, first and last column
        self._asides: list[tuple[str, etree._Element]] = []
        self._shapes: list[etree._Element] = []
        self._formulas = False
        self._left = _MOST_REPEATED_TEXT

    def take(self, element: etree._Element) -> None:
        """Take a row, a column or the shapes of the sheet, in the order of the file."""
        if element.tag == _COLUMN:
            hidden = element.get(_VISIBILITY, "visible") != "visible"
            self._columns.add(repeats(element, _REPEATED_COLUMNS, _MOST_COLUMNS), hidden=hidden)
        elif element.tag == name("table:shapes"):
            for shape in elements(element):
                self._stories_later(shape)
        elif element.tag == _ROW:
            self._take_row(element)

    def end(self) -> None:
        """Write what is not in the cells."""
        self._end_block()
        for where, annotation in self._asides:
            self._stories.write_comment(annotation, f"{where}\t")
        for shape in self._shapes:
            self._stories.write_shape(shape)
        if self._formulas:
            self._writer.warn(
                f"Formulas without a stored value stand in their cells as formulas, on the sheet {self._label}."
            )
        if self._hidden:
            self._writer.mark(self._start, self._writer.position, HIDDEN_SHEET, self._label)
        self._part.__exit__(None, None, None)

    def _stories_later(self, shape: etree._Element) -> None:
        if is_shape(shape):
            shape.getparent().remove(shape)  # type: ignore[union-attr]  # its parent is forgotten before it is written
            self._shapes.append(shape)

    def _take_row(self, row: etree._Element) -> None:
        count = repeats(row, _REPEATED_ROWS, _MOST_ROWS)
        texts = self._texts(row)
        if not any(texts):
            self._end_block()
            self._row += count
            return
        hidden = row.get(_VISIBILITY, "visible") != "visible"
        cost = _ROW_COST + sum(map(len, texts)) + len(texts)
        times = min(count, _MOST_REPEATED, 1 + self._left // cost)
        self._left -= (times - 1) * cost
        if count > times:
            self._writer.warn(f"Equal rows of the sheet {self._label} are written {_MOST_REPEATED:,} times at most.")
        for _ in range(times):
            self._write_row(texts, hidden=hidden)
        self._row += count - times

    def _write_row(self, texts: list[str], *, hidden: bool) -> None:
        if self._writer.position > _MOST_CHARACTERS:
            raise TooLarge(_TOO_MUCH)
        start = self._writer.position
        if self._block is None:
            self._block = start, self._row, len(texts), 0
        offset, first, left, right = self._block
        begin = next((column for column, text in enumerate(texts) if text), 0)
        self._block = offset, first, min(left, begin), max(right, len(texts) - 1)
        at = start
        if hidden:
            texts = [f"{HIDDEN_ROW_MARK} {texts[0]}".strip(), *texts[1:]]
        marked = list(self._columns.marked(texts)) if self._columns.hidden else texts
        self._writer.line("\t".join(marked))
        self._row += 1
        if hidden:
            self._writer.mark(start, self._writer.position, HIDDEN_ROW, str(self._row))
        for column, text in enumerate(marked if self._columns.hidden else ()):
            if text and column in self._columns.hidden:
                self._writer.mark(at, at + len(text), HIDDEN_COLUMN, letters_of(column + 1))
            at += len(text) + 1

    def _end_block(self) -> None:
        if self._block is not None:
            start, first, left, right = self._block
            label = f"{letters_of(left + 1)}{first + 1}:{letters_of(right + 1)}{self._row}"
            self._writer.mark(start, self._writer.position, CELLS, label)
            self._block = None

    def _texts(self, row: etree._Element) -> list[str]:
        """The cells of a row as they are shown, without the empty ones at its end."""
        texts: list[str] = []
        empty = 0
        for cell in () if limits.is_near() else row:
            kind = cell.tag
            if kind not in _CELL_TAGS:
                continue
            if len(texts) + empty >= _MOST_COLUMNS:
                break
            count = repeats(cell, _REPEATED_COLUMNS, _MOST_COLUMNS)
            text = "" if kind == _COVERED and not len(cell) else self._text(cell, len(texts) + empty)
            if not text:
                empty += count
                continue
            texts += [""] * min(empty, _MOST_COLUMNS - len(texts))
            empty = 0
            texts += [text] * min(count, _MOST_REPEATED, _MOST_COLUMNS - len(texts))
            empty += max(0, count - _MOST_REPEATED)
        return texts

    def _text(self, cell: etree._Element, column: int) -> str:
        shown = ""
        if len(cell) == 1 and (paragraph := cell[0]).tag == _PARAGRAPH and not len(paragraph):  # as nearly all are
            shown = one_line(paragraph.text or "")
        elif len(cell):
            shown, asides = self._stories.plain(cell)
            for aside in asides:
                if is_shape(aside):
                    self._stories_later(aside)
                else:
                    self._asides.append((f"{letters_of(column + 1)}{self._row + 1}", aside))
        kind = cell.get(_VALUE_TYPE, "")
        if kind == "string":
            return shown or one_line(cell.get(name("office:string-value"), ""))
        if kind and cell.get(_CALC_VALUE_TYPE) != "error":
            return _value(cell, kind, shown)
        formula = cell.get(name("table:formula"))
        if not kind and not shown and formula and cell.find(name("text:p")) is None:  # an empty one is a result
            self._formulas = True
            return _as_written(formula)
        return shown


class _Columns:
    """The columns in order, as the file tells of them: so many alike at a time; `hidden` are those that are, from 0."""

    def __init__(self) -> None:
        self._count = 0
        self.hidden: set[int] = set()

    def add(self, count: int, *, hidden: bool) -> None:
        """Tell of the next columns."""
        count = min(count, _MOST_COLUMNS - self._count)
        if hidden:
            self.hidden.update(range(self._count, self._count + count))
        self._count += count

    def marked(self, texts: Sequence[str]) -> Iterator[str]:
        """The cells of a row, those of hidden columns behind a mark."""
        for column, text in enumerate(texts):
            hidden = text and column in self.hidden
            yield f"{hidden_column_mark(letters_of(column + 1))} {text}" if hidden else text


def _value(cell: etree._Element, kind: str, shown: str) -> str:
    """A value by its kind: a number as stored, dates and times in ISO form, the others as shown."""
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
    """What is shown and, where it has fewer digits than the number, that behind it: `62 % (0.6229)`, `1.2m (1234567)`.

    `hundredths`: 2 where a percentage is shown. Where it is unsure whether the digits are the number's, as shown.
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
    """A formula as a person types it: `of:=SUM([.A1:.B1])` is `=SUM(A1:B1)`."""
    bare = formula[formula.find("=") :] if "=" in formula[:12] else formula
    return one_line(_REFERENCE.sub(lambda match: match[1].replace(":.", ":"), bare))[:1000]


def _element(item: Any) -> etree._Element:
    """What an event is about; the types of lxml's parser allow for others than elements."""
    assert isinstance(item, etree._Element)  # noqa: SLF001 - lxml has no other name for it
    return item


def _forget(element: etree._Element) -> None:
    """Let go of an element that was read, but for its place in the tree."""
    parent = element.getparent()
    element.clear()
    if parent is not None:
        parent.remove(element)

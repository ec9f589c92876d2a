"""OpenDocument: spreadsheets by a reader of our own, texts and presentations through LibreOffice or as plain words.

A spreadsheet is read sheet by sheet: the cells row by row, then remarks and the words of shapes. Cells are written as
they are shown, dates in ISO form; a plain number is written as stored, and if a percentage or an amount is rounded, the
stored number follows, as in other workbooks. Content is read while it is parsed: only one row of it is in memory.
Charts and embedded documents are left out, with a warning.

A file is a package: its content is a tree or comes in pieces, and may be encrypted. Flat files, which are a single XML
document, are packages too: everything is in the one tree.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Final

from lxml import etree

from tasks.errors import Damaged, PasswordProtected, TooLarge
from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.docx import reader as docx
from tasks.reading.libreoffice import FLAT_ODP, FLAT_ODT, ODP, ODT, Conversion, read_through
from tasks.reading.numerals import raise_text
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.number_formats import with_stored, without_noise
from tasks.reading.ooxml.package import CUT_OFF, MACROS, ZipEntry, ZipMembers
from tasks.reading.ooxml.xml import ElementStream, forget, whole_characters
from tasks.reading.pptx import reader as pptx
from tasks.reading.text_writer import BODY, NO_TEXT, SLIDE, SPEAKER_NOTE, TABLE, TEXT_BOX, Reading, Source, Writer
from tasks.reading.xlsx.reader import CellsFullError, SheetWriter
from tasks.reading.xlsx.sheet import LATE

LARGEST_TREE: Final = 48 << 20
"""The most bytes of a part that becomes a tree, which takes ten times as much; 1,000 pages have 5 MB."""

LARGEST_STREAM: Final = 512 << 20
"""The most bytes of a part that is read piece by piece."""

_LARGEST_MANIFEST: Final = 16 << 20
_NAMESPACES: Final = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "presentation": "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "meta": "urn:oasis:names:tc:opendocument:xmlns:meta:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "calcext": "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
}
_RAISES: Final = re.compile(r"super|1[6-9]|[2-9]\d|\d{3}")
_MOMENTS: Final = ("meta:creation-date", "dc:date")
"""When a document was made and last changed (ODF 1.3 part 3, 4.3.2)."""

_ENCRYPTED: Final = re.compile(rb"<(?:\w+:)?encryption-data[\s/>]")


@cache
def name(qualified: str) -> str:
    """The name of an element or attribute in lxml's form: `name("text:p")`."""
    prefix, _, local = qualified.partition(":")
    return f"{{{_NAMESPACES[prefix]}}}{local}"


OFFICE_BODY: Final = name("office:body")


class OdfPackage(AbstractContextManager["OdfPackage", None]):
    """The parts of a document.

    Raises:
        Damaged: it is no document of OpenDocument, or nothing is left of it.
        PasswordProtected: it is encrypted.
    """

    def __init__(self, source: Source) -> None:
        self._archive: ZipMembers | None = None
        self._flat: etree._Element | None = None
        self._entries: dict[str, ZipEntry] = {}
        self._source = source
        self.damaged = False
        head = source[:64] if isinstance(source, bytes) else _head(source)
        if not head:
            raise Damaged("The file is empty (0 bytes). Ask for it again.")
        if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
            data = source if isinstance(source, bytes) else _whole(source)
            self._flat = self._parse(data)
            return
        self._archive = ZipMembers(source)
        self._entries = {entry.name: entry for entry in self._archive.entries()}
        self.damaged = self._archive.damaged
        if not self._entries:
            raise Damaged("The file is not an OpenDocument file: it is not a zip package. Ask for it again.")
        if _ENCRYPTED.search(self._data("META-INF/manifest.xml", _LARGEST_MANIFEST)):
            raise PasswordProtected("The document can only be opened with a password. Save it without one.")

    @property
    def is_flat(self) -> bool:
        """Whether it is one XML document."""
        return self._archive is None

    def __exit__(self, *_: object) -> None:
        if self._archive is not None:
            self._archive.close()

    def content(self) -> etree._Element:
        """The tree of the document's content.

        Raises:
            Damaged: the document has no content. TooLarge: it is larger than LARGEST_TREE.
        """
        root = self._flat if self._flat is not None else self._tree("content.xml")
        if root is None or root.find(OFFICE_BODY) is None:
            raise Damaged("The file has lost its content: nothing can be read from it. Ask for it again.")
        return root

    def body(self, kind: str, called: str) -> etree._Element:
        """The element with the document's body ("office:text").

        Raises:
            Damaged: the document is no "text document". TooLarge: it is larger than LARGEST_TREE.
        """
        body = self.content().find(f"{OFFICE_BODY}/{name(kind)}")
        if body is None:
            raise Damaged(f"The file holds no {called}. Ask for it again, or give it the ending of its format.")
        return body

    def _tree(self, part: str) -> etree._Element | None:
        """A part as a tree, as far as it is intact; None if there is no such part, or it contains no XML.

        Raises:
            TooLarge: it inflates to more than LARGEST_TREE.
        """
        if part not in self._entries:
            return None
        data = self._data(part, LARGEST_TREE)
        return self._parse(data) if data else None

    def content_stream(self) -> Iterator[bytes]:
        """The document's content in pieces."""
        if self._archive is None:
            yield from whole_characters([self._source if isinstance(self._source, bytes) else _whole(self._source)])
        elif "content.xml" in self._entries:
            yield from whole_characters(self._archive.inflate(self._entries["content.xml"], LARGEST_STREAM))
            self.damaged |= self._archive.damaged
        else:
            raise Damaged("The file has lost its content: nothing can be read from it. Ask for it again.")

    def finish(self, writer: Writer) -> None:
        """Warn about macros, damage, and a document without text, once everything is read."""
        root = self._flat if self._flat is not None else self._tree("meta.xml")
        if root is not None:
            moments = (root.findtext(f".//{name('office:meta')}/{name(moment)}", "") for moment in _MOMENTS)
            writer.date(*moments)
        if any(entry.startswith(("Basic/", "Scripts/")) for entry in self._entries):
            writer.warn(MACROS)
        if self.damaged or (self._archive is not None and self._archive.damaged):
            writer.warn(CUT_OFF)
        if not writer.written:
            writer.warn(NO_TEXT)

    def _data(self, part: str, limit: int) -> bytes:
        entry = self._entries.get(part)
        if entry is None or self._archive is None:
            return b""
        data = self._archive.read(entry, limit)
        self.damaged |= self._archive.damaged
        return data

    def _parse(self, data: bytes) -> etree._Element | None:
        if len(data) > LARGEST_TREE:
            raise TooLarge("The document holds more than can be read at once. Split it.")
        try:
            return etree.fromstring(data, xml.parser())
        except etree.XMLSyntaxError:
            self.damaged = True
        try:
            return etree.fromstring(b"".join(whole_characters([data])), xml.parser(recover=True))
        except etree.XMLSyntaxError:
            return None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def _whole(path: Path) -> bytes:
    if path.stat().st_size > LARGEST_TREE:
        raise TooLarge("The document holds more than can be read at once. Split it.")
    return path.read_bytes()


_HEADING: Final = name("text:h")
_PARAGRAPHS: Final = frozenset((name("text:p"), _HEADING))
_TABLE_TAG: Final = name("table:table")
_PAGE: Final = name("draw:page")
_SKIPPED: Final = frozenset(
    map(
        name,
        (
            "text:tracked-changes", "text:note", "text:number", "text:sequence-decls", "text:script",
            "office:annotation", "office:forms", "office:event-listeners", "office:binary-data", "svg:title",
            "svg:desc",
        ),
    )
)  # fmt: skip
"""What is deleted, and what stands beside the words."""


def read_text(source: Source) -> Reading:
    """The text of the text document in `source`, which LibreOffice converts to .docx.

    Where LibreOffice gives nothing, the words alone are read.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return _read_through_office(source, "office:text", "text document", (ODT, FLAT_ODT), docx.read)


def read_presentation(source: Source) -> Reading:
    """The text of the presentation in `source`, which LibreOffice converts to .pptx; otherwise as `read_text`."""
    return _read_through_office(source, "office:presentation", "presentation", (ODP, FLAT_ODP), pptx.read)


def _read_through_office(
    source: Source, kind: str, called: str, conversions: tuple[Conversion, Conversion], read: Callable[[bytes], Reading]
) -> Reading:
    """What `read` makes of the document; `conversions` are that of a package and that of a flat file."""
    with OdfPackage(source) as package:  # LibreOffice would open anything
        package.body(kind, called)
        conversion = conversions[package.is_flat]
    data = source if isinstance(source, bytes) else source.read_bytes()
    return read_through(conversion, data, read, lambda whole: _read_words(whole, kind, called))


def _read_words(source: Source, kind: str, called: str) -> Reading:
    with OdfPackage(source) as package:
        body = package.body(kind, called)
        _raise_marks(body.getroottree().getroot())
        writer = Writer()
        pages = list(body.iterchildren(_PAGE))
        for number, page in enumerate(pages, 1):
            with writer.part(SLIDE, str(number)):
                _write(page, writer)
        if not pages:
            with writer.place(BODY, ""):
                _write(body, writer)
                writer.end_heading()
        package.finish(writer)
        return writer.reading()


def _raise_marks(content: etree._Element) -> None:
    """Mark what a style of the document raises: `style:text-position="super 58%"` (OpenDocument 20.394)."""
    raising = {
        style.get(name("style:name"))
        for style in content.iter(name("style:style"))
        for text in style.iterfind(name("style:text-properties"))
        if _RAISES.match(text.get(name("style:text-position"), ""))
    }
    for span in content.iter(name("text:span")) if raising else ():
        if span.get(name("text:style-name")) in raising and span.text:
            span.text = raise_text(span.text)


def _write(parent: etree._Element, writer: Writer) -> None:
    """Write the contents of an element, in order; parsed trees are at most 256 levels deep."""
    for child in parent:
        if not isinstance(child.tag, str) or child.tag in _SKIPPED:
            continue
        if child.tag == name("presentation:notes"):
            with writer.place(SPEAKER_NOTE, ""):
                _write(child, writer)
        elif child.tag == _TABLE_TAG:
            rows = ("\t".join(map(_words, _cells(row))).rstrip() for row in child.iter(name("table:table-row")))
            writer.placed(TABLE, "", "\n".join(rows))
        else:
            if child.tag == _HEADING:
                writer.heading(_words(child))
            if child.tag in _PARAGRAPHS:
                writer.text(_words(child))
            _write(child, writer)


def _cells(row: etree._Element) -> Iterator[etree._Element]:
    return (cell for cell in row if isinstance(cell.tag, str) and cell.tag.endswith("table-cell"))


def _words(element: etree._Element) -> str:
    """The words of a paragraph, without its frames, which are written after it; of a cell, all words."""
    return one_line("".join(_pieces(element, frames=element.tag not in _PARAGRAPHS)))


def _pieces(element: etree._Element, *, frames: bool) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        kind = child.tag
        if kind == name("text:s"):
            yield " "
        elif kind in (name("text:tab"), name("text:line-break")):
            yield "\t"
        elif isinstance(kind, str) and kind not in _SKIPPED:
            if frames or not kind.startswith(name("draw:x")[:-1]) or kind == name("draw:a"):
                yield from _pieces(child, frames=frames)
            if kind in _PARAGRAPHS:
                yield " "
        yield child.tail or ""


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

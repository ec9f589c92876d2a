"""Binary workbooks: cells sheet by sheet as they are shown, then comments, text boxes and charts.

What surrounds the cells is written as in .xlsx; the workbook, its sheets, strings, styles and comments are records
([MS-XLSB] 2.1.7), which are read in one pass. Calamine, which may crash if two cells are far apart, is the second
reader, in a separate process.
"""

import struct
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from tasks.errors import Damaged
from tasks.language.normalise import one_line
from tasks.reading import embedded
from tasks.reading.ooxml.number_formats import BUILT_IN
from tasks.reading.ooxml.package import CUT_OFF, PART_LIMIT, Package, attach_embedded
from tasks.reading.text_writer import FOOTER, HEADER, Reading, Source, Writer
from tasks.reading.xlsx.reader import (
    ERRORS,
    MOST_SHEETS,
    MOST_WORDS,
    CellsFullError,
    CellWriter,
    PackedSheet,
    SheetObjects,
    comment_place,
    read_with_calamine,
    rk_number,
    show_cell,
    write_sheets,
)
from tasks.reading.xlsx.sheet import split_printed_words

_MOST_STRINGS: Final = 4_000_000
_NONE: Final = 0xFFFFFFFF  # in the place of a text's length


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return embedded.read_or_fall_back(_read, FALLBACK, source)


def _read(source: Source) -> Reading:
    writer = Writer()
    with Package(source) as package:
        workbook = _Workbook(package)
        cells = CellWriter(writer)
        objects = SheetObjects(package, writer, workbook.parts("person"))
        comments = _Comments(package, writer)

        def write(sheet: PackedSheet) -> str | None:
            printed = _Sheet(workbook, cells).write(_part(package, sheet.part))
            comments.write(sheet.part)
            objects.write(sheet.part)
            for words, kind in printed.items():
                writer.placed(kind, "", words)
            return cells.cut

        write_sheets(package, writer, workbook.sheets, write)
        attach_embedded(package, objects.embedded, writer)
        writer.date(*package.dates())
        if package.damaged:
            writer.warn(CUT_OFF)
        return writer.reading()


def _part(package: Package, name: str) -> bytes:
    """A whole part, or as much of it as there is.

    Raises:
        TooLarge: it inflates beyond PART_LIMIT.
    """
    return b"".join(package.chunks(name, PART_LIMIT))


class _Workbook:
    """The contents of the parts that concern the whole workbook."""

    def __init__(self, package: Package) -> None:
        self._package = package
        main = package.main_part("xl/workbook.bin")
        self._around = package.relationships(main)
        self.sheets: list[PackedSheet] = []
        self.from_1904 = False
        targets = {item.id: item.target for item in self._around}
        for number, data in _records(_part(package, main)):
            try:
                if number == _BUNDLE_SHEET and len(self.sheets) < MOST_SHEETS:
                    id_ = _text_at(data, 8)
                    name, state = one_line(_text_at(data, id_.end).words), data[0]
                    self.sheets.append(PackedSheet(name, targets.get(id_.words, ""), state in (1, 2)))
                elif number == _WORKBOOK_PROPERTIES:
                    self.from_1904 = data[0] & 1 == 1
            except (struct.error, IndexError):
                package.note_damage()
        if not self.sheets:
            raise Damaged("The file holds no workbook. Ask for it again, or give it the ending of its format.")

    def parts(self, kind: str) -> list[str]:
        """The parts of a kind that the workbook refers to."""
        return [item.target for item in self._around if item.kind == kind and item.target in self._package]

    @cached_property
    def strings(self) -> list[str]:
        """The strings that cells refer to by number."""
        return [
            string
            for part in self.parts("sharedStrings")
            for string in _read_shared_strings(_part(self._package, part))
        ]

    @cached_property
    def codes(self) -> list[str]:
        """The format code of each style of cells; "" for one that changes no number."""
        own: dict[int, str] = {}
        formats: list[int] = []
        for part in self.parts("styles"):
            of_cells = False
            for number, data in _records(_part(self._package, part)):
                if number in (_BEGIN_CELL_STYLES, _END_CELL_STYLES):
                    of_cells = number == _BEGIN_CELL_STYLES
                elif number == _STYLE and of_cells and len(data) >= 4:
                    formats.append(struct.unpack_from("<H", data, 2)[0])
                elif number == _FORMAT and len(data) >= 6:
                    own[struct.unpack_from("<H", data)[0]] = _text_at(data, 2).words
        return [own.get(number) or BUILT_IN.get(number, "") for number in formats]


class _Sheet:
    """One sheet, written record by record."""

    def __init__(self, workbook: _Workbook, cells: CellWriter) -> None:
        self._workbook = workbook
        self._cells = cells
        self._row = 0

    def write(self, part: bytes) -> dict[str, str]:
        """Write the sheet's cells; returns the words of its printed headers and footers, with their kinds of place."""
        printed: dict[str, str] = {}
        self._cells.begin()
        try:
            for number, data in _records(part):
                self._cells.count()
                take = _CELL_RECORDS.get(number)
                try:
                    if take is not None:
                        take(self, data)
                    elif number == _PRINTED:
                        for kind, text in _read_printed(data):
                            for words in split_printed_words(text):
                                printed.setdefault(words, kind)
                except (struct.error, IndexError):  # a record that is shorter than its kind
                    continue
        except CellsFullError:
            pass
        self._cells.end()
        return printed

    def row(self, data: bytes) -> None:
        """Take a row, which comes before its cells."""
        (self._row,) = struct.unpack_from("<I", data)
        if data[11] & 0x10:
            self._cells.hide_row(self._row)

    def columns(self, data: bytes) -> None:
        """Take columns with the same properties."""
        first, last, _, _, flags = struct.unpack_from("<IIIIH", data)
        if flags & 1:
            self._cells.hide_columns(first, last)

    def rk(self, data: bytes) -> None:
        """Add a number stored in four bytes."""
        column, style, stored = struct.unpack_from("<III", data)
        self._add_number(column, style, rk_number(stored))

    def number(self, data: bytes) -> None:
        """Add a number, or the numeric result of a formula."""
        column, style, number = struct.unpack_from("<IId", data)
        self._add_number(column, style, number)

    def error(self, data: bytes) -> None:
        """Add an error."""
        self._add(data, ERRORS.get(data[8], "#N/A"))

    def truth(self, data: bytes) -> None:
        """Add a truth value."""
        self._add(data, "TRUE" if data[8] else "FALSE")

    def text(self, data: bytes) -> None:
        """Add a text stored in its cell."""
        self._add(data, _text_at(data, 8).words)

    def rich_text(self, data: bytes) -> None:
        """Add a formatted text stored in its cell."""
        self._add(data, _text_at(data, 9).words)

    def write_shared_string(self, data: bytes) -> None:
        """Add a text that the cell refers to by number."""
        (index,) = struct.unpack_from("<I", data, 8)
        self._add(data, self._workbook.strings[index])

    def _add(self, data: bytes, text: str) -> None:
        self._cells.add(self._row, struct.unpack_from("<I", data)[0], text)

    def _add_number(self, column: int, style: int, number: float) -> None:
        style, codes = style & 0xFFFFFF, self._workbook.codes
        code = codes[style] if style < len(codes) else ""
        self._cells.add(self._row, column, show_cell(number, code, from_1904=self._workbook.from_1904))


class _Comments:
    """Writes the comments of sheets to `writer`."""

    def __init__(self, package: Package, writer: Writer) -> None:
        self._package = package
        self._writer = writer
        self._room = MOST_WORDS

    def write(self, sheet: str) -> None:
        """Write the comments of the part `sheet`."""
        for item in self._package.relationships(sheet):
            if item.kind == "comments" and item.target in self._package:
                for row, column, author, text in _comments(_part(self._package, item.target)):
                    self._room -= len(text)
                    if self._room > 0:
                        self._writer.placed(*comment_place(row, column, author, text))


def _comments(part: bytes) -> Iterator[tuple[int, int, str, str]]:
    """The row, the column (both from 0), the author and the words of each comment."""
    authors: list[str] = []
    row = column = 0
    author = ""
    for number, data in _records(part):
        try:
            if number == _AUTHOR:
                authors.append(one_line(_text_at(data, 0).words))
            elif number == _COMMENT:
                index, row, _, column = struct.unpack_from("<IIII", data)
                author = authors[index] if index < len(authors) else ""
            elif number == _COMMENT_TEXT:
                yield row, min(column, 0xFFFF), author, one_line(_text_at(data, 1).words)
        except (struct.error, IndexError):
            continue


def _read_printed(data: bytes) -> Iterator[tuple[str, str]]:
    """The headers and footers of a sheet for odd, even and first pages, each with its kind of place."""
    at = 2
    for kind in (HEADER, FOOTER) * 3:
        text = _text_at(data, at)
        at = text.end
        yield kind, text.words


_BUNDLE_SHEET: Final = 156
_WORKBOOK_PROPERTIES: Final = 153
_FORMAT: Final = 44
_STYLE: Final = 47
_BEGIN_CELL_STYLES: Final = 617
_END_CELL_STYLES: Final = 618
_PRINTED: Final = 479
_AUTHOR: Final = 632
_COMMENT: Final = 635
_COMMENT_TEXT: Final = 637
_CELL_RECORDS: Final[dict[int, Callable[[_Sheet, bytes], None]]] = {
    0: _Sheet.row,
    2: _Sheet.rk,
    3: _Sheet.error,
    4: _Sheet.truth,
    5: _Sheet.number,
    6: _Sheet.text,
    7: _Sheet.write_shared_string,
    8: _Sheet.text,
    9: _Sheet.number,
    10: _Sheet.truth,
    11: _Sheet.error,
    60: _Sheet.columns,
    62: _Sheet.rich_text,
}
FALLBACK: Final = embedded.FallbackReader(read_with_calamine, library="python_calamine", signature=embedded.ZIP)


class _Text(NamedTuple):
    """A text, and the offset after it."""

    words: str
    end: int


def _records(part: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of a part, each with its number, up to the first incomplete one."""
    at, end = 0, len(part)
    while at + 2 <= end:
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


def _text_at(data: bytes, at: int) -> _Text:
    """A text after its character count (XLWideString, [MS-XLSB] 2.5.169); "" if there is none."""
    (count,) = struct.unpack_from("<I", data, at)
    if count == _NONE:
        return _Text("", at + 4)
    end = at + 4 + 2 * count
    return _Text(data[at + 4 : end].decode("utf-16-le", "replace"), end)


def _read_shared_strings(part: bytes) -> list[str]:
    """The strings that cells refer to by number (BrtSSTItem), as many as there are."""
    strings: list[str] = []
    for number, data in _records(part):
        if number == 19:
            strings.append(_text_at(data, 1).words if len(data) > 4 else "")
            if len(strings) >= _MOST_STRINGS:
                break
    return strings

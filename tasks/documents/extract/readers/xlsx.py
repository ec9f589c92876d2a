"""Workbooks: sheets in order, hidden ones too; on each its cells row by row, then comments, text boxes, charts.

The sheets are scanned as a stream, so that neither a declared size nor two cells in opposite corners cost memory.
"""

from typing import Final

from lxml import etree

from tasks.documents.extract import ooxml, second
from tasks.documents.extract.drawings import related_drawing
from tasks.documents.extract.ooxml import DGM, A, C, R, S
from tasks.documents.extract.package import CUT_OFF, Package
from tasks.documents.extract.reading import Reading, Source, Writer, one_line
from tasks.documents.extract.workbook import Cells, print_text, rich_text, shared_strings
from tasks.errors import Damaged

VERSION: Final = "xlsx-1"

_BLOCK: Final = 20
"""A place of cells spans at most so many rows."""

_WIDEST_GAP: Final = 32
"""Empty cells between two filled ones are so many tabs at most; beyond, one tab stands for them all."""


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return second.asked_after(_read, second.xlsx, source)


def _read(source: Source) -> Reading:
    with Package(source) as package:
        workbook = _Workbook(package)
        workbook.write()
        if package.damaged:
            workbook.writer.warn(CUT_OFF)
        return workbook.writer.reading()


class _Workbook:
    """One pass over the sheets."""

    def __init__(self, package: Package) -> None:
        self.writer = Writer()
        self._package = package
        self._main = package.main_part("xl/workbook.xml")

    def write(self) -> None:
        root = self._package.xml(self._main)
        if root is None or root.tag != S + "workbook":
            raise Damaged("The file holds no workbook. Ask for it again, or give it the ending of its format.")
        around = self._package.relationships(self._main)
        strings, styles = [], None
        for item in around:
            if item.kind == "sharedStrings" and item.target in self._package:
                strings = shared_strings(self._package, item.target)
            elif item.kind == "styles":
                styles = self._package.xml(item.target)
        from_1904 = any(item.get("date1904") in ("1", "true") for item in root.iter(S + "workbookPr"))
        cells = Cells(strings, styles, from_1904=from_1904)
        targets = {item.id: item.target for item in around}
        for sheet in root.iter(S + "sheet"):
            name = sheet.get("name") or ""
            with self.writer.part("sheet", name):
                self.writer.text(name)
                self._write_sheet(targets.get(sheet.get(R + "id") or "", ""), cells)

    def _write_sheet(self, part: str, cells: Cells) -> None:
        if part not in self._package:
            self._package.note_damage()
            return
        rows = _Rows(self.writer, cells)
        printed: list[str] = []
        for element in self._package.elements(part, "row", "headerFooter"):
            if element.tag.endswith("}row"):
                rows.add(element)
            else:
                printed = print_text(element)
        rows.write()
        for line in printed:
            self.writer.text(line)
        for item in self._package.relationships(part):
            if item.kind == "comments":
                self._write_comments(item.target)
            elif item.kind == "drawing":
                self._write_drawing(item.target)

    def _write_comments(self, part: str) -> None:
        root = self._package.xml(part)
        for comment in root.iter(S + "comment") if root is not None else ():
            text = comment.find(S + "text")
            words = one_line(rich_text(text)) if text is not None else ""
            if words:
                self.writer.text(f"{comment.get('ref') or ''}\t{words}")

    def _write_drawing(self, part: str) -> None:
        root = self._package.xml(part)
        if root is None:
            return
        for element in root.iter(A + "p", C + "chart", DGM + "relIds", "{*}chart"):
            if element.tag == A + "p":
                self.writer.text(ooxml.paragraph(element))
            else:
                for line in related_drawing(self._package, part, element):
                    self.writer.text(line)


class _Rows:
    """Writes the rows of a sheet in blocks, each with its cells as place."""

    def __init__(self, writer: Writer, cells: Cells) -> None:
        self._writer = writer
        self._cells = cells
        self._lines: list[str] = []
        self._first_row = self._row = 0
        self._first_column, self._last_column = 1 << 30, 0

    def add(self, row: etree._Element) -> None:
        """Take the next row; rows and cells without a number follow the one before."""
        number = _whole(row.get("r")) or self._row + 1
        filled: list[tuple[int, str]] = []
        column = 0
        for cell in row:
            column = _column(cell.get("r")) or column + 1
            value = self._cells.value(cell)
            if value:
                filled.append((column, value))
        if not filled:
            return
        if self._lines and not 0 < number - self._first_row < _BLOCK:
            self.write()
        if self._row and number != self._row + 1:
            self._blank()
        if not self._lines:
            self._first_row = number
        self._row = number
        self._first_column = min(self._first_column, filled[0][0])
        self._last_column = max(self._last_column, filled[-1][0])
        self._lines.append(_line(filled))

    def write(self) -> None:
        """Write the rows taken so far as one block."""
        if self._lines:
            label = f"{_letters(self._first_column)}{self._first_row}:{_letters(self._last_column)}{self._row}"
            with self._writer.place("cells", label):
                self._writer.line("\n".join(self._lines))
        self._lines = []
        self._first_column, self._last_column = 1 << 30, 0

    def _blank(self) -> None:
        """An empty line where rows are empty: what stands apart stays apart."""
        if self._lines:
            self._lines.append("")
        else:
            self._writer.line()


def _line(filled: list[tuple[int, str]]) -> str:
    pieces: list[str] = []
    last = 1
    for column, value in filled:
        gap = column - last
        pieces.append("\t" * gap if gap <= _WIDEST_GAP else "\t")
        pieces.append(value)
        last = column
    return "".join(pieces)


def _whole(number: str | None) -> int:
    return int(number) if number and number.isdecimal() and len(number) < 9 else 0


def _column(reference: str | None) -> int:
    """The number of a cell's column: 28 for "AB12"; 0 when it is not given."""
    column = 0
    for character in reference or "":
        if not "A" <= character <= "Z" or column > 100_000:
            break
        column = column * 26 + ord(character) - 64
    return column


def _letters(column: int) -> str:
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters or "A"

"""The cells of a sheet by their places, for formulas that refer to them."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from tasks.reading.ooxml.xml import ATTRIBUTES, TAG_END, unescaped
from tasks.reading.xlsx.formulas.functions import CellError, Value
from tasks.reading.xlsx.formulas.parse import Area, NotUnderstoodError, column_of, moved

_CELL: Final = re.compile(rb"<(row|c)(?=[\s/>])(" + ATTRIBUTES + rb")>")
_REFERENCE: Final = re.compile(rb"""\sr\s*+=\s*+["']\s*+([A-Za-z]{1,3})(\d{1,7})\s*+["']""")
_ROW_NUMBER: Final = re.compile(rb"""\sr\s*+=\s*+["']\s*+(\d{1,7})\s*+["']""")
_ATTRIBUTE: Final = re.compile(rb"""\s(t|s|si|r1|r2)\s*+=\s*+["']([^"'<]*+)["']""")
_FORMULA: Final = re.compile(rb"<f(?=[\s/>])(" + ATTRIBUTES + rb")>")
_VALUE: Final = re.compile(rb"<(?:v|t)(?=[\s>])" + TAG_END + rb"([^<]++)")
_LAST_COLUMN: Final = 1 << 14


class CellFormula(NamedTuple):
    """A formula as it stands in its cell: its text, and how many rows and columns it is from where it was written.

    `style` is the number of the cell's style, `array` says that it gives values to several cells; a text of None
    is one that is not there.
    """

    text: str | None
    rows: int
    columns: int
    style: bytes
    array: bool

    def written(self) -> str:
        """The formula as its own cell would have it; "" where it is not there."""
        return moved(self.text, self.rows, self.columns) if self.text is not None else ""


class GridCell(NamedTuple):
    """A cell of a piece: where it stands, what is said of it and what is in it; it goes from `start` to `end`.

    Its tag ends at `inner`.
    """

    row: int
    column: int
    attributes: dict[bytes, bytes]
    content: bytes
    start: int
    inner: int
    end: int

    @property
    def is_uncounted(self) -> bool:
        """Whether it has a formula that has no stored value; an empty text is one."""
        at = self.content.find(b"<f")
        if at < 0 or _FORMULA.search(self.content, at) is None or _VALUE.search(self.content) is not None:
            return False
        return self.attributes.get(b"t") != b"str" or b"<v" not in self.content


class SharedFormulas:
    """The formulas of a sheet that several cells share, by their numbers, with where they stand."""

    def __init__(self) -> None:
        self._masters: dict[bytes, tuple[str, int, int]] = {}

    def of(self, cell: GridCell) -> CellFormula | None:
        """The formula of a cell, if it has one; a shared one is kept for those that follow."""
        tag = _FORMULA.search(cell.content)
        if tag is None:
            return None
        attributes = dict(_ATTRIBUTE.findall(tag[1]))
        end = cell.content.find(b"<", tag.end())
        raw = b"" if tag[1].endswith(b"/") else cell.content[tag.end() : end if end >= 0 else None]
        text = " ".join(unescaped(raw.decode("utf-8", "replace")).split()) or None
        style, kind = cell.attributes.get(b"s", b"0"), attributes.get(b"t")
        if kind == b"dataTable":
            inputs = (attributes.get(name, b"").decode("ascii", "replace") for name in (b"r1", b"r2"))
            return CellFormula(f"TABLE({','.join(filter(None, inputs))})", 0, 0, style, array=True)
        if kind == b"shared" and (number := attributes.get(b"si")) is not None:
            if text is not None:
                self._masters[number] = (text, cell.row, cell.column)
            elif number in self._masters:
                text, row, column = self._masters[number]
                return CellFormula(text, cell.row - row, cell.column - column, style, array=False)
        return CellFormula(text, 0, 0, style, array=kind == b"array")


class Grid:
    """The cells of a sheet.

    `read` turns a stored value into what it means, by the cell's type. With more than `most` cells none are kept,
    and no area can be had.
    """

    def __init__(self, pieces: Iterable[bytes], read: Callable[[bytes, bytes], Value], most: int) -> None:
        self.formulas: dict[int, CellFormula] = {}
        self.masters = SharedFormulas()
        self._values: dict[int, Value] = {}
        self.is_whole = True
        row = 0
        for piece in pieces:
            for cell in cells(piece, row):
                row = cell.row
                self._take(cell, read)
            if len(self._values) + len(self.formulas) > most:
                self.is_whole = False
                self._values, self.formulas = {}, {}
                return

    def __len__(self) -> int:
        return len(self._values) + len(self.formulas)

    def _take(self, cell: GridCell, read: Callable[[bytes, bytes], Value]) -> None:
        if not cell.attributes and not cell.content:
            return
        formula = self.masters.of(cell) if cell.content.find(b"<f") >= 0 else None
        key = key_of(cell.row, cell.column)
        if formula is not None and cell.is_uncounted:
            self.formulas[key] = formula
            return
        stored = b"".join(_VALUE.findall(cell.content))
        if stored or formula is not None:
            self._values[key] = read(cell.attributes.get(b"t", b"n"), stored)

    def keys(self, area: Area) -> Iterator[int]:
        """The keys of the area's cells row by row; of a large one only of cells with anything in them, in any order.

        Raises:
            NotUnderstoodError: the sheet holds too many cells.
        """
        if not self.is_whole:
            raise NotUnderstoodError
        first, last = area.first, area.last
        if area.height * area.width <= max(len(self), 1000):
            for row in range(first.row, last.row + 1):
                yield from range(key_of(row, first.column), key_of(row, last.column) + 1)
            return
        for key in (*self._values, *self.formulas):
            if first.row <= key // _LAST_COLUMN <= last.row and first.column <= key % _LAST_COLUMN + 1 <= last.column:
                yield key

    def stored(self, key: int) -> Value:
        """The value of a cell that has no formula to be computed."""
        return self._values.get(key)


def key_of(row: int, column: int) -> int:
    """One number for a place in a sheet."""
    return row * _LAST_COLUMN + column - 1


def cells(piece: bytes, row: int) -> Iterator[GridCell]:
    """The cells of a piece of a sheet in the usual form, `row` being the number of the row before it.

    An empty cell comes where a row ends without any, so that its number is known.
    """
    column = 0
    for tag in _CELL.finditer(piece):
        closed = tag[2].endswith(b"/")
        if tag[1] == b"row":
            number = _ROW_NUMBER.search(tag[2])
            row, column = int(number[1]) if number is not None else row + 1, 0
            yield GridCell(row, 0, {}, b"", tag.start(), tag.end(), tag.end())
            continue
        reference = _REFERENCE.search(tag[2])
        if reference is not None:
            column, row = column_of(reference[1].decode()), int(reference[2])
        else:
            column += 1
        if closed or column > _LAST_COLUMN:
            continue
        end = piece.find(b"</c>", tag.end())
        if end >= 0:
            content, start = piece[tag.end() : end], tag.start()
            yield GridCell(row, column, dict(_ATTRIBUTE.findall(tag[2])), content, start, tag.end(), end + len(b"</c>"))


def value_of(kind: bytes, stored: bytes, string: Callable[[bytes], bytes]) -> Value:
    """What a stored value means, by the type of its cell; `string` gives the text of a shared string by its number.

    Raises nothing: what is no number is text.
    """
    if kind == b"s":
        return string(stored).decode("utf-8", "replace") or " "  # white space is collapsed in it: it may be some
    text = unescaped(stored.decode("utf-8", "replace"))
    if kind == b"n":
        try:
            return float(text)
        except ValueError:
            return text or None
    if kind == b"b":
        return text.strip() in ("1", "true")
    return CellError(text) if kind == b"e" else text

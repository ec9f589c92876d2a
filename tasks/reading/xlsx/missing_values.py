"""Fills in cells whose formulas have no stored value, as written by programs that do not calculate.

LibreOffice, if it is installed, recalculates such a workbook: a cell then reads `5 [computed]`. If a value cannot be
obtained, the cell shows the formula: `=VLOOKUP(A5,Rates,2)`. Only workbooks with such formulas pay for this.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from tasks.reading.ooxml.number_formats import show_number
from tasks.reading.ooxml.xml import ATTRIBUTES, TAG_END, unescape
from tasks.reading.xlsx.rows import COLUMNS, CellKinds

MARK: Final = "[computed]"
"""Stands behind a value that the workbook does not hold."""

MOST_CELLS: Final = 300_000
"""Computed cells that are looked at; those beyond stand as formulas."""

VOLATILE: Final = re.compile(
    rb"(?<![\w.])(?:NOW|TODAY|RAND|RANDBETWEEN|RANDARRAY|INFO|CELL|WEBSERVICE)\s*+\(", re.IGNORECASE
)
"""Functions whose value depends on when and where they are computed. It was another one when the file was written."""

_CELL: Final = re.compile(rb"<(row|c)(?=[\s/>])(" + ATTRIBUTES + rb")>")
_REFERENCE: Final = re.compile(rb"""\sr\s*+=\s*+["']\s*+([A-Za-z]{1,3})(\d{1,7})\s*+["']""")
_ROW_NUMBER: Final = re.compile(rb"""\sr\s*+=\s*+["']\s*+(\d{1,7})\s*+["']""")
_ATTRIBUTE: Final = re.compile(rb"""\s(t|s|r1|r2)\s*+=\s*+["']([^"'<]*+)["']""")
_FORMULA: Final = re.compile(rb"<f(?=[\s/>])(" + ATTRIBUTES + rb")>")
_VALUE: Final = re.compile(rb"<(?:v|t)(?=[\s>])" + TAG_END + rb"([^<]++)")
_TYPE: Final = re.compile(rb"""\s(?:t|s)\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')""")
_FUTURE: Final = re.compile(r"_xl(?:fn|ws|pm)\.")
_LAST_COLUMN: Final = 1 << 14
_LONGEST_SHOWN: Final = 1000
_MOST_NAMED: Final = 20

CellPlace = tuple[str, int, int]
"""A sheet, its name caseless, a row and a column, from 1."""


class SheetCell(NamedTuple):
    """A cell in a piece: its reference, attributes and content; it extends from `start` to `end`.

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
    def lacks_value(self) -> bool:
        """Whether it has a formula without a stored value; an empty text is a value."""
        at = self.content.find(b"<f")
        if at < 0 or _FORMULA.search(self.content, at) is None or _VALUE.search(self.content) is not None:
            return False
        return self.attributes.get(b"t") != b"str" or b"<v" not in self.content

    def formula(self) -> str:
        """The formula as Excel shows it; "=…" if it is stored in another cell."""
        tag = _FORMULA.search(self.content)
        if tag is None:
            return "=…"
        attributes = dict(_ATTRIBUTE.findall(tag[1]))
        end = self.content.find(b"<", tag.end())
        raw = b"" if tag[1].endswith(b"/") else self.content[tag.end() : end if end >= 0 else None]
        text = _FUTURE.sub("", " ".join(unescape(raw.decode("utf-8", "replace")).split()))
        kind = attributes.get(b"t")
        if kind == b"dataTable":
            inputs = (attributes.get(name, b"").decode("ascii", "replace") for name in (b"r1", b"r2"))
            text = f"TABLE({','.join(filter(None, inputs))})"
        text = f"={text or '…'}"
        text = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
        return f"{{{text}}}" if kind in (b"array", b"dataTable") else text


class MissingValues:
    """The formulas of a workbook that have no stored value.

    `recalculate` returns the known values of cells with formulas (`read_computed`); it is called when the first is
    needed. `kinds` says how cells are shown.
    """

    def __init__(self, recalculate: Callable[[], Mapping[CellPlace, float | str]], kinds: CellKinds) -> None:
        self._recalculate = recalculate
        self._kinds = kinds
        self._values: Mapping[CellPlace, float | str] | None = None
        self._computed_sheets: dict[str, None] = {}
        self._uncomputed_sheets: dict[str, None] = {}

    def fill(self, sheet: str, piece: bytes, row: int) -> bytes:
        """The piece of the sheet with texts for its formulas; `row` is the row before it."""
        filled: list[bytes] = []
        at = 0
        for cell in cells(piece, row):
            if cell.lacks_value:
                tag = _TYPE.sub(b"", piece[cell.start : cell.inner - 1])
                text = escape(self._text(sheet, cell)).encode("utf-8", "replace")
                filled += piece[at : cell.start], tag, b' t="str"><v>', text, b"</v></c>"
                at = cell.end
        filled.append(piece[at:])
        return b"".join(filled)

    def warnings(self) -> Iterator[str]:
        """What a user should know about these formulas."""
        if self._computed_sheets:
            yield (
                "Formulas without a stored value were computed by LibreOffice on "
                f"{_sheet_names(self._computed_sheets)}: they are marked {MARK}."
            )
        if self._uncomputed_sheets:
            yield (
                f"Formulas without a stored value are shown as formulas on {_sheet_names(self._uncomputed_sheets)}: "
                "open the workbook in a spreadsheet program and save it, so that it holds their values."
            )

    def _text(self, sheet: str, cell: SheetCell) -> str:
        if self._values is None:
            self._values = self._recalculate()
        value = self._values.get((sheet.casefold(), cell.row, cell.column))
        if value is None:
            self._uncomputed_sheets[sheet] = None
            return cell.formula()
        self._computed_sheets[sheet] = None
        if isinstance(value, float):
            code = self._kinds.code(cell.attributes.get(b"s", b"0"))
            value = show_number(f"{value:.15g}".upper(), code, from_1904=self._kinds.from_1904)
        return f"{value} {MARK}" if value.strip() else ""


def read_computed(
    sheets: Iterable[tuple[str, Iterable[bytes]]], string: Callable[[bytes], bytes]
) -> dict[CellPlace, float | str]:
    """The values of the cells with formulas in a recalculated workbook; empty if any formula is volatile.

    Args:
        sheets: the name of each sheet, and the sheet in pieces.
        string: the text of a shared string by its number.
    """
    values: dict[CellPlace, float | str] = {}
    for name, pieces in sheets:
        sheet, row = name.casefold(), 0
        for piece in pieces:
            for cell in cells(piece, row):
                row = cell.row
                if cell.content.find(b"<f") < 0 or len(values) >= MOST_CELLS:
                    continue
                if VOLATILE.search(cell.content) is not None:
                    return {}
                value = _value(cell, string)
                if value is not None:
                    values[sheet, cell.row, cell.column] = value
    return values


def cells(piece: bytes, row: int) -> Iterator[SheetCell]:
    """The cells of a piece of a sheet in the usual form; `row` is the number of the row before it.

    An empty cell comes at the start of each row, so that the row's number is known.
    """
    column = 0
    for tag in _CELL.finditer(piece):
        if tag[1] == b"row":
            number = _ROW_NUMBER.search(tag[2])
            row, column = int(number[1]) if number is not None else row + 1, 0
            yield SheetCell(row, 0, {}, b"", tag.start(), tag.end(), tag.end())
            continue
        reference = _REFERENCE.search(tag[2])
        if reference is not None:
            column, row = COLUMNS[reference[1]], int(reference[2])
        else:
            column += 1
        if tag[2].endswith(b"/") or column > _LAST_COLUMN:
            continue
        end = piece.find(b"</c>", tag.end())
        if end >= 0:
            content, start = piece[tag.end() : end], tag.start()
            yield SheetCell(
                row, column, dict(_ATTRIBUTE.findall(tag[2])), content, start, tag.end(), end + len(b"</c>")
            )


def _value(cell: SheetCell, string: Callable[[bytes], bytes]) -> float | str | None:
    """The value of a cell. None for an error, which may be LibreOffice's own, for a function that it does not know."""
    kind = cell.attributes.get(b"t", b"n")
    stored = b"".join(_VALUE.findall(cell.content))
    if kind == b"e" or (not stored and kind != b"str"):
        return None
    if kind == b"s":
        return string(stored).decode("utf-8", "replace")
    text = unescape(stored.decode("utf-8", "replace"))
    if kind == b"b":
        return "TRUE" if text.strip() in ("1", "true") else "FALSE"
    if kind != b"n":
        return text
    try:
        return float(text)
    except ValueError:
        return None


def _sheet_names(sheets: Iterable[str]) -> str:
    names = [f"“{name[:100]}”" for name in sheets]
    more = len(names) - _MOST_NAMED
    named = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"the sheet {named}" if len(names) == 1 else f"the sheets {named}"

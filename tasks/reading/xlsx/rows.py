"""The rows of a sheet: how their cells are shown, and their lines in blocks of twenty, with cells as places.

A kind of cell (type and format) has its texts by stored value. Values repeat, so each result is computed once and
cached. Texts are UTF-8 bytes, because they are joined to rows many at a time before they are decoded.
`ooxml/number_formats.py` says how numbers are shown.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from typing import Final

from tasks.language.normalise import clean, one_line
from tasks.reading.numerals import column_letters
from tasks.reading.ooxml.number_formats import TELLING_LENGTH, show_number, without_noise
from tasks.reading.ooxml.xml import TAG_END, unescape
from tasks.reading.text_writer import (
    CELLS,
    HIDDEN_COLUMN,
    HIDDEN_ROW,
    HIDDEN_ROW_MARK,
    HIDDEN_SHEET,
    HIDDEN_SHEET_MARK,
    SHEET,
    Writer,
    hidden_column_mark,
)

LONGEST: Final = 1 << 20
"""Bytes of a cell that are read. Excel lets one hold 32,767 characters."""

_ROOM: Final = 64 << 20
"""Bytes of texts that are kept at a time."""

_ENTRY: Final = 200
"""What keeping a text costs besides its characters, and those of its value, in bytes."""

_MOST_KNOWN: Final = 50_000
_ATTRIBUTE: Final = re.compile(rb"""\s([ts])\s*+=\s*+["']([^"'<]*)["']""")

_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_PHONETIC: Final = re.compile(rb"<rPh%(end)b\s*+(?:<t%(end)b[^<]*+</t>\s*+)?+</rPh>" % {b"end": TAG_END})
_WORDS: Final = re.compile(rb"<t" + TAG_END + rb"([^<]*+)")
_MOMENT: Final = re.compile(rb"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.0*+)?+Z?")
_INDICES: Final[list[bytes]] = []


class CellTexts(dict[bytes, bytes]):
    """The texts of one kind of cell by stored value."""

    def __init__(self, work_out: Callable[[bytes], bytes], kinds: "CellKinds") -> None:
        super().__init__()
        self._work_out = work_out
        self._kinds = kinds

    def __missing__(self, value: bytes) -> bytes:
        text = self[value] = self._work_out(value)
        kinds = self._kinds
        kinds.bytes_held += len(value) + len(text) + _ENTRY
        if kinds.bytes_held > _ROOM:
            kinds.forget()
        if len(value) > LONGEST:
            kinds.clipped = True
        return text

    def column(self, values: list[bytes]) -> Iterable[bytes]:
        """The texts of cells one below the other."""
        return map(self.__getitem__, values)


class _PlainNumbers(CellTexts):
    """Numbers that no format changes: most are shown as they are stored."""

    def column(self, values: list[bytes]) -> Iterable[bytes]:
        joined = b"\t".join(values)
        is_plain = max(map(len, values)) < TELLING_LENGTH and not any(sign in joined for sign in (b"E", b"&", b".0\t"))
        return values if is_plain and not joined.endswith(b".0") else super().column(values)


class CellKinds(dict[bytes, CellTexts]):
    """The texts of a cell by its attributes, such as ` s="3" t="s">`.

    `strings` and `codes` (see `Workbook`) are called when the first cell needs them. `longest` is the length in bytes
    of the longest string that cells refer to, `bytes_held` that of the cached texts; `clipped`: a cell was longer than
    LONGEST; `from_1904`: days are counted from that year.
    """

    def __init__(
        self,
        strings: Callable[[], Sequence[bytes]],
        codes: Callable[[], Mapping[bytes, str]],
        *,
        from_1904: bool,
    ) -> None:
        super().__init__()
        self.longest = 0
        self.clipped = False
        self.bytes_held = 0
        self._strings = strings
        self._codes = codes
        self.from_1904 = from_1904
        self._texts: dict[tuple[bytes, str], CellTexts] = {}

    def __missing__(self, attributes: bytes) -> CellTexts:
        pairs = dict(_ATTRIBUTE.findall(attributes))
        kind = pairs.get(b"t", b"n")
        code = self._codes().get(pairs.get(b"s", b"0"), "") if kind == b"n" else ""
        texts = self._of(kind, code)
        self.bytes_held += len(attributes) + _ENTRY
        if self.bytes_held > _ROOM:
            self.forget()
        self[attributes] = texts
        return texts

    def _of(self, kind: bytes, code: str) -> CellTexts:
        if (kind, code) in self._texts:
            return self._texts[kind, code]
        work_out: Callable[[bytes], bytes] = characters
        if kind == b"s":
            work_out = self.string
            self.longest = max(map(len, self._strings()), default=0)
        elif kind == b"b":
            work_out = _truth
        elif kind == b"d":
            work_out = _date
        elif kind == b"n":
            work_out = partial(_format, code=code, from_1904=self.from_1904) if code else number
        texts = self._texts[kind, code] = (_PlainNumbers if work_out is number else CellTexts)(work_out, self)
        if kind == b"s" and len(self._strings()) <= _MOST_KNOWN:
            texts.update(zip(_indices(len(self._strings())), self._strings(), strict=False))
        return texts

    def code(self, style: bytes) -> str:
        """The format code of a style by its number; "" for the general format."""
        return self._codes().get(style, "")

    def string(self, index: bytes) -> bytes:
        """The shared string with that number; b"" if there is none."""
        index, strings = _plain(index).strip(), self._strings()
        return strings[int(index)] if index.isdigit() and len(index) < 9 and int(index) < len(strings) else b""

    def forget(self) -> None:
        """Clear the cache, which has exceeded _ROOM."""
        self.bytes_held = 0
        self.clear()
        for texts in self._texts.values():
            texts.clear()


def _indices(count: int) -> list[bytes]:
    """At least `count` indices in the form that cells use, made once: they are the same in all workbooks."""
    if len(_INDICES) < count:
        _INDICES.extend(b"%d" % index for index in range(len(_INDICES), count))
    return _INDICES


def _format(raw: bytes, *, code: str, from_1904: bool) -> bytes:
    stored = _plain(raw).decode("utf-8", "replace")
    shown = show_number(stored, code, from_1904=from_1904)
    return shown.encode() if shown is not stored else characters(raw)


def _truth(raw: bytes) -> bytes:
    return b"TRUE" if _plain(raw).strip() in (b"1", b"true") else b"FALSE" if raw else b""


def _date(raw: bytes) -> bytes:
    """An ISO date in the form used elsewhere: 2024-01-31, or 2024-01-31 14:30:00."""
    text = characters(raw)
    moment = _MOMENT.fullmatch(text)
    return text if moment is None else moment[1] if moment[2] == b"00:00:00" else b"%b %b" % moment.groups()


def _plain(value: bytes) -> bytes:
    """A stored number without character references, which a writer may use even there."""
    return unescape(value.decode("utf-8", "replace")).encode("utf-8", "replace") if b"&" in value else value


def characters(raw: bytes) -> bytes:
    """Raw text from a part on one line, with entities and `_x000D_` decoded."""
    raw = raw[:LONGEST]
    if raw.isascii() and b"&" not in raw and b"_x" not in raw:
        return b" ".join(raw.split())
    text = unescape(raw.decode("utf-8", "replace"))
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return one_line(text).encode("utf-8", "replace")


def rich_text(item: bytes) -> bytes:
    """The words of a string item (`si`, `is`, `text`), still escaped, without the phonetic guides
    of East Asian text.
    """
    if b"<rPh" in item:
        item = _PHONETIC.sub(b"", item)
    return b"".join(_WORDS.findall(item))


def number(raw: bytes) -> bytes:
    """A stored number that no format changes, tidied up."""
    if len(raw) < TELLING_LENGTH and raw[-2:] != b".0" and b"E" not in raw and b"&" not in raw:
        return raw
    return without_noise(_plain(raw).decode("utf-8", "replace")).encode()


class _Columns(dict[bytes, int]):
    """Column numbers by their letters: 28 for "AB"."""

    def __missing__(self, letters: bytes) -> int:
        column = 0
        for letter in letters[:5].upper():
            column = column * 26 + letter - 64
        if len(letters) < 4:
            self[letters] = column
        return column


_WIDEST_GAP: Final = 32
"""Empty cells between two filled ones are so many tabs at most; beyond, one tab stands for them all."""

_TABS: Final = [b"\t" * gap for gap in range(_WIDEST_GAP + 1)]
_TAG: Final = re.compile(
    rb'<c(?> r="([A-Z]+)(\d+)"|(?=[\s/>]))([^<>]*+>)(?:<is>)?+(\0(?:</[vt])?+)?+|(\0(?:</[vt])?+)|(</?rPh)'
)
"""The column, row and attributes of a cell and how its value ends; or another value; or the bounds of a reading aid."""

_REFERENCE: Final = re.compile(rb"""\sr\s*+=\s*+["']\s*+([A-Za-z]++)(\d*+)[^"'<>]*+["']""")

_FIRST: Final = list(range(1, 16_385))
"""The columns that a sheet of Excel has."""

_INLINE: Final = b' t="inlineStr">'
COLUMNS: Final = _Columns()


class SheetRow:
    """A row by the columns of its cells."""

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns

    def line(self, texts: Sequence[bytes]) -> tuple[int, int, bytes]:
        """The first and last column with text, and the line of the row."""
        return _line(self.columns, texts)

    def spans(self, texts: Sequence[bytes], wanted: bytes) -> Iterator[tuple[int, int, int]]:
        """The character spans in the row's line of texts whose columns are 1 in `wanted`, with the column."""
        at, length = 1, 0
        for column, text in _find_filled(self.columns, texts):
            gap = column - at
            length += (gap if 0 < gap <= _WIDEST_GAP else 1) if gap or length else 0
            end = length + len(text.decode("utf-8", "replace"))
            if wanted[column : column + 1] == b"\1":
                yield length, end, column
            at, length = column, end


class RowPattern(SheetRow):
    """A row by its tags: how many values it has, and how many cells include the row's number.

    `shared`: other rows may have the same tags except for their numbers.
    """

    def __init__(self, tags: bytes, row: bytes, kinds: CellKinds) -> None:
        """`tags` are those of row number `row`, with NUL in place of values."""
        columns: list[int] = []
        shown: list[CellTexts] = []
        owners: list[int] = []  # of each value the cell among those that have any; -1 where it is not shown
        numbered = references = column = 0
        cell = b""
        has_value = in_reading_aid = False
        for letters, digits, attributes, value, more, bound in _TAG.findall(tags):
            if attributes:
                cell, has_value = attributes, False
                if letters:
                    column = COLUMNS[letters]
                    references += 1
                    numbered += digits == row
                elif (reference := _REFERENCE.search(attributes)) is not None:
                    column = COLUMNS[reference[1]]
                    references += 1
                    numbered += reference[2] == row
                    cell = _REFERENCE.sub(b"", attributes)
                else:
                    column += 1
                if not value:
                    continue
            elif bound:
                in_reading_aid = bound == b"<rPh"
                continue
            end = value or more
            if not cell or (end != b"\0</v" and (in_reading_aid or end != b"\0</t")):
                owners.append(-1)
                continue
            if not has_value:
                has_value = True
                columns.append(column)
                shown.append(kinds[cell if end == b"\0</v" else _INLINE])
            owners.append(len(columns) - 1)
        self.values, self.numbered, self.shared = len(owners), numbered, numbered == references
        super().__init__(columns)
        self.kinds = shown
        self._owners = owners if -1 in owners or len(owners) > len(columns) else None
        self._gapless = columns == _FIRST[: len(columns)]

    def texts(self, values: list[bytes]) -> list[bytes]:
        """What the cells of such a row show; `values` are the stored ones, and are consumed."""
        if self._owners is not None:
            runs: list[list[bytes]] = [[] for _ in self.columns]
            for owner, value in zip(self._owners, values, strict=True):
                if owner >= 0:
                    runs[owner].append(value)
            values = list(map(b"".join, runs))
        return [kind[value] for value, kind in zip(values, self.kinds, strict=True)]

    def split_texts(self, values: list[bytes]) -> list[tuple[bytes, ...]]:
        """The texts of as many rows as the values are for."""
        if self._owners is not None:
            starts = range(0, len(values), self.values)
            return [tuple(self.texts(values[start : start + self.values])) for start in starts]
        columns = (kind.column(values[cell :: self.values]) for cell, kind in enumerate(self.kinds))
        return list(zip(*columns, strict=True))

    def line(self, texts: Sequence[bytes]) -> tuple[int, int, bytes]:
        """The first and last column with text, and the line of the row."""
        if all(texts):
            if self._gapless:
                return 1, len(texts), b"\t".join(texts)
            if self._form:
                return self.columns[0], self.columns[-1], self._form % tuple(texts)
        return _line(self.columns, texts)

    def lines(self, rows: list[tuple[bytes, ...]]) -> list[bytes]:
        """The lines for the texts of rows; empty if there are no texts, or some are empty or out of order."""
        if not self.columns or not all(map(all, rows)):
            return []
        if self._gapless:
            return list(map(b"\t".join, rows))
        form = self._form
        return [form % texts for texts in rows] if form else []

    @cached_property
    def _form(self) -> bytes:
        """The format of a line with a slot for each column's text; b"" if the columns are out of order."""
        columns = self.columns
        if columns != sorted(set(columns)):
            return b""
        gaps = [column - before for before, column in zip([1, *columns], columns, strict=False)]
        return b"".join([(_TABS[gap] if gap <= _WIDEST_GAP else b"\t") + b"%b" for gap in gaps])


def _line(columns: list[int], texts: Sequence[bytes]) -> tuple[int, int, bytes]:
    """The line made from texts with gaps between them, in column order; also its first and last column."""
    filled = _find_filled(columns, texts)
    if not filled:
        return 0, 1, b""
    first, at = filled[0][0], 1
    pieces: list[bytes] = []
    for column, text in filled:
        gap = column - at
        pieces += _TABS[gap] if 0 < gap <= _WIDEST_GAP else b"\t" if gap or pieces else b"", text
        at = column
    return first, at, b"".join(pieces)


def _find_filled(columns: list[int], texts: Sequence[bytes]) -> list[tuple[int, bytes]]:
    """The non-empty texts with their columns, in column order."""
    filled = [(column, text) for column, text in zip(columns, texts, strict=True) if text]
    filled.sort(key=itemgetter(0))
    return filled


_ROWS: Final = 20
"""A place of cells spans at most so many rows."""

_MOST_PLACES: Final = 200_000
"""Places of cells in a workbook; rows that come after them stand in their sheet alone."""

_MOST_HIDDEN_CELLS: Final = 20_000
"""Cells in hidden columns of a workbook that have a place of their own; the marks go on."""

_FEW: Final = 3
"""Hidden columns side by side that have a mark each; of more the first and the last one have."""


@contextmanager
def named_sheet(writer: Writer, name: str, *, hidden: bool = False) -> Iterator[None]:
    """What is written in the block belongs to the sheet of that name, which is written first, and marked if hidden."""
    with writer.part(SHEET, name), ExitStack() as mark:
        if hidden:
            mark.enter_context(writer.place(HIDDEN_SHEET, name))
            writer.line(HIDDEN_SHEET_MARK)
        writer.text(name)
        yield


class Blocks:
    """Writes the lines of rows to `writer`, each block with its cells as a place.

    Hidden rows are separate blocks after `[hidden row]`, so that the lines of each block are rows and nothing else. A
    block with words in hidden columns is preceded by `[hidden column C]`.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._places = 0
        self._lines: list[bytes] = []
        self._columns: list[int] = []
        self._first = self._last = 0  # the rows of the block
        self._hidden = False  # whether they are hidden
        self._hidden_columns = b""
        self._hidden_cells: list[tuple[int, SheetRow, Sequence[bytes]]] = []
        self._cells_left = _MOST_HIDDEN_CELLS
        self._marked: tuple[set[int], int] = (set(), 0)  # the hidden columns named last, and before which row

    def begin(self, hidden_columns: bytes) -> None:
        """Begin a sheet; hidden columns are 1 at their number."""
        self._hidden_columns = hidden_columns
        self._marked = (set(), 0)

    def add(self, number: int, row: SheetRow, texts: Sequence[bytes], *, hidden: bool = False) -> int:
        """Add the texts of the row with that number; returns the length of its line in bytes."""
        first, last, text = row.line(texts)
        if not text:
            return 0
        if self._lines and (hidden is not self._hidden or not 0 < number - self._first < _ROWS):
            self._write()
        self._hidden = hidden
        if self._last and number != self._last + 1:
            if self._lines:  # an empty line where rows are empty: what stands apart stays apart
                self._lines.append(b"")
            else:
                self._writer.line()
        if not self._lines:
            self._first = number
        self._last = number
        self._columns += (first, last)
        if self._hidden_columns and self._has_hidden(row):
            self._hidden_cells.append((len(self._lines), row, texts))
        self._lines.append(text)
        return len(text)

    def extend(self, number: int, row: RowPattern, rows: list[tuple[bytes, ...]]) -> int:
        """Add the texts of rows numbered from `number` on, as visible as the last one; returns the bytes of their
        lines.
        """
        hidden = self._hidden
        lines = row.lines(rows) if not self._hidden_columns or not self._has_hidden(row) else []
        if not lines:
            return sum(self.add(row_number, row, texts, hidden=hidden) for row_number, texts in enumerate(rows, number))
        at = 0
        while at < len(lines):
            self.add(number + at, row, rows[at], hidden=hidden)
            end = min(at + max(_ROWS - (self._last - self._first), 1), len(lines))  # never less than the row just added
            self._lines += lines[at + 1 : end]
            self._last = number + end - 1
            at = end
        return sum(map(len, lines))

    def _has_hidden(self, row: SheetRow) -> bool:
        hidden = self._hidden_columns
        return any(hidden[column : column + 1] == b"\1" for column in row.columns)

    def end(self) -> None:
        """End the sheet."""
        self._write()
        self._last = 0

    def _write(self) -> None:
        if not self._lines:
            return
        text = b"\n".join(self._lines).decode("utf-8", "replace")
        columns = self._spans(text) if self._hidden_cells else []
        if columns:
            self._mark_columns({column for _, _, column in columns})
        if not self._hidden:
            self._write_cells(text, columns)
        elif self._first == self._last:
            with self._writer.place(HIDDEN_ROW, str(self._first)):
                self._writer.line(HIDDEN_ROW_MARK)
                self._write_cells(text, columns)
        else:
            with self._writer.place(HIDDEN_ROW, f"{self._first}:{self._last}"):
                self._writer.line(f"{HIDDEN_ROW_MARK} {self._first} to {self._last}")
                self._write_cells(text, columns)
        self._lines, self._columns, self._hidden_cells = [], [], []

    def _mark_columns(self, columns: set[int]) -> None:
        """Name the hidden columns of the block, unless that was done up to twenty rows earlier."""
        marked, row = self._marked
        if not (columns <= marked and 0 <= self._first - row < _ROWS):
            self._marked = (columns, self._first)
            self._writer.line(_marks(sorted(columns)))

    def _write_cells(self, text: str, hidden: list[tuple[int, int, int]]) -> None:
        start = self._writer.position
        self._places += 1
        if self._places > _MOST_PLACES:
            self._writer.line(text)
            return
        first, last = column_letters(min(self._columns)), column_letters(max(self._columns))
        label = f"{first}{self._first}:{last}{self._last}"
        if text.isspace():
            with self._writer.place(CELLS, label):
                self._writer.line(text)
        else:
            self._writer.placed(CELLS, label, text)
        for begin, end, column in hidden[: max(self._cells_left, 0)]:
            self._writer.mark(start + begin, start + end, HIDDEN_COLUMN, column_letters(column))
        self._cells_left -= len(hidden)

    def _spans(self, text: str) -> list[tuple[int, int, int]]:
        """The positions in the block of texts in hidden columns, with their columns."""
        spans: list[tuple[int, int, int]] = []
        exact = clean(text) == text  # else nobody knows where they come to stand
        at, line = 0, 0
        for index, row, texts in self._hidden_cells:
            while line < index:
                at = text.find("\n", at) + 1
                line += 1
            found = row.spans(texts, self._hidden_columns)
            spans += (
                (at + begin, at + end, column) if exact else (0, len(text), column) for begin, end, column in found
            )
        return spans


def _marks(columns: list[int]) -> str:
    """Marks for hidden columns: `[hidden column C] [hidden column E]`; of many adjacent ones the first and last."""
    marks: list[str] = []
    for _, run in groupby(enumerate(columns), key=lambda pair: pair[1] - pair[0]):
        names = [hidden_column_mark(column_letters(column)) for _, column in run]
        marks += names if len(names) <= _FEW else [f"{names[0]} to {names[-1]}"]
    return " ".join(marks)

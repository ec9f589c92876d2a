"""The rows of a sheet: what their tags say about their values, and the lines that they make, in blocks of twenty rows.

The rows of a table differ in their numbers and values, and hardly in their tags. So what tags say (in which columns
values stand, and how they are shown) is worked out once and kept: the 2,600 rows of a real table had five kinds of
tags.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Final

from tasks.documents.extract.text_writer import Writer
from tasks.documents.extract.xlsx.values import CellKinds, CellTexts, number


class _Columns(dict[bytes, int]):
    """The number of a column by its letters: 28 for "AB"."""

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

_NOISE: Final = re.compile(rb"(?:0000|9999)\d\d?(?:\t|$)")
_MENDABLE: Final = re.compile(rb"[E&]|(?:0000|9999)\d\d?(?![^\t])|\.0(?![^\t])")
"""What `number` looks for, in numbers split by tabs."""

_INLINE: Final = b' t="inlineStr">'
_COLUMNS: Final = _Columns()
_ROWS: Final = 20
"""A place of cells spans at most so many rows."""

_MOST_PLACES: Final = 200_000
"""Places of cells in a workbook; rows that come after them stand in their sheet alone."""


class RowPattern:
    """A row by its tags: how many values stand in it, and in how many cells the number of the row.

    `shared`: other rows may have the same tags, but for their numbers; `plain` are the indices of the
    texts that are numbers as they are stored.
    """

    def __init__(self, tags: bytes, row: bytes, kinds: CellKinds) -> None:
        """`tags` are those of the row numbered `row`, with NUL where a value stands."""
        columns: list[int] = []
        shown: list[CellTexts | None] = []
        owners: list[int] = []  # of each value the cell among those that have any; -1 where it is not shown
        numbered = references = column = 0
        cell = b""
        has_value = in_reading_aid = False
        for letters, digits, attributes, value, more, bound in _TAG.findall(tags):
            if attributes:
                cell, has_value = attributes, False
                if letters:
                    column = _COLUMNS[letters]
                    references += 1
                    numbered += digits == row
                elif (reference := _REFERENCE.search(attributes)) is not None:
                    column = _COLUMNS[reference[1]]
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
        self.columns, self.kinds = columns, shown
        self.plain = [index for index, kind in enumerate(shown) if kind is None]
        self._owners = owners if -1 in owners or len(owners) > len(columns) else None
        self._gapless = columns == _FIRST[: len(columns)]

    def texts(self, values: list[bytes]) -> list[bytes]:
        """What the cells of such a row show, `values` being the stored ones, which are used up."""
        if self._owners is not None:
            runs: list[list[bytes]] = [[] for _ in self.columns]
            for owner, value in zip(self._owners, values, strict=True):
                if owner >= 0:
                    runs[owner].append(value)
            values = list(map(b"".join, runs))
        return [value if kind is None else kind[value] for value, kind in zip(values, self.kinds, strict=True)]

    def texts_of_rows(self, values: list[bytes]) -> list[tuple[bytes, ...]]:
        """The texts of as many rows as there are values for."""
        if self._owners is not None:
            starts = range(0, len(values), self.values)
            return [tuple(self.texts(values[start : start + self.values])) for start in starts]
        columns = [values[cell :: self.values] for cell in range(self.values)]
        return list(zip(*map(_shown, columns, self.kinds), strict=True))

    def line(self, texts: Sequence[bytes]) -> tuple[int, int, bytes]:
        """The first and the last column that hold any of the texts, and the line that they make."""
        if all(texts):
            if self._gapless:
                return 1, len(texts), b"\t".join(texts)
            if self._form:
                return self.columns[0], self.columns[-1], self._form % tuple(texts)
        return _line(self.columns, texts)

    def lines(self, rows: list[tuple[bytes, ...]]) -> list[bytes]:
        """The lines that the texts of rows make; none where there are no texts, or some are empty or out of order."""
        if not self.columns or not all(map(all, rows)):
            return []
        if self._gapless:
            return list(map(b"\t".join, rows))
        form = self._form
        return [form % texts for texts in rows] if form else []

    @cached_property
    def _form(self) -> bytes:
        """The form of a line, for as many texts as there are columns; b"" where these are out of order."""
        columns = self.columns
        if columns != sorted(set(columns)):
            return b""
        gaps = zip([1, *columns], columns, strict=False)
        return b"".join([_tabs(column - before) + b"%b" for before, column in gaps])

    def cleaned(self, texts: Sequence[bytes]) -> list[bytes]:
        """The texts with plain numbers as they are better shown."""
        cleaned = list(texts)
        for index in self.plain:
            cleaned[index] = number(cleaned[index])
        return cleaned


def needs_cleaning(numbers: bytes) -> bool:
    """Whether one of these numbers, split by tabs, may need `values.number` to be shown well."""
    return (
        numbers.find(b"E") >= 0
        or numbers.find(b".0\t") >= 0
        or numbers.endswith(b".0")
        or numbers.find(b"&") >= 0
        or ((at := numbers.find(b"0000")) >= 0 and _NOISE.search(numbers, at) is not None)
        or ((at := numbers.find(b"9999")) >= 0 and _NOISE.search(numbers, at) is not None)
    )


def _shown(values: list[bytes], kind: CellTexts | None) -> Iterable[bytes]:
    """The texts of the values in a column."""
    if kind is not None:
        return map(kind.__getitem__, values)
    numbers = b"\t".join(values)
    if not needs_cleaning(numbers):
        return values
    cleaned = list(values)
    index, at, last = 0, 0, -1
    for sign in _MENDABLE.finditer(numbers):
        index += numbers.count(b"\t", at, sign.start())
        at = sign.start()
        if index != last:
            cleaned[index] = number(cleaned[index])
            last = index
    return cleaned


def _tabs(gap: int) -> bytes:
    return _TABS[gap] if gap <= _WIDEST_GAP else b"\t"


def _line(columns: list[int], texts: Sequence[bytes]) -> tuple[int, int, bytes]:
    """The line of texts that leave gaps, in the order of their columns."""
    filled = [(column, text) for column, text in zip(columns, texts, strict=True) if text]
    if not filled:
        return 0, 1, b""
    filled.sort(key=itemgetter(0))
    first, at = filled[0][0], 1
    pieces: list[bytes] = []
    for column, text in filled:
        gap = column - at
        pieces += _TABS[gap] if 0 < gap <= _WIDEST_GAP else b"\t" if gap or pieces else b"", text
        at = column
    return first, at, b"".join(pieces)


class Blocks:
    """Writes the lines of rows to `writer`, each block with its cells as place."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._places = 0
        self._lines: list[bytes] = []
        self._unclean: list[tuple[int, RowPattern, Sequence[bytes]]] = []
        self._columns: list[int] = []
        self._first = self._last = 0  # the rows of the block

    def add(self, number: int, row: RowPattern, texts: Sequence[bytes]) -> int:
        """Take the texts of the row with that number; how many bytes its line has."""
        first, last, text = row.line(texts)
        if not text:
            return 0
        if self._lines and not 0 < number - self._first < _ROWS:
            self._write()
        if self._last and number != self._last + 1:
            if self._lines:  # an empty line where rows are empty: what stands apart stays apart
                self._lines.append(b"")
            else:
                self._writer.line()
        if not self._lines:
            self._first = number
        self._last = number
        self._columns += (first, last)
        if row.plain:
            self._unclean.append((len(self._lines), row, texts))
        self._lines.append(text)
        return len(text)

    def extend(self, number: int, row: RowPattern, rows: list[tuple[bytes, ...]]) -> int:
        """Take the texts of rows numbered from `number` on; how many bytes their lines have."""
        lines = row.lines(rows)
        if not lines:
            return sum(self.add(row_number, row, texts) for row_number, texts in enumerate(rows, number))
        at = 0
        while at < len(lines):
            self.add(number + at, row, rows[at])
            if row.plain:
                self._unclean.pop()
            end = min(at + max(_ROWS - (self._last - self._first), 1), len(lines))  # never less than the row just added
            self._lines += lines[at + 1 : end]
            self._last = number + end - 1
            at = end
        return sum(map(len, lines))

    def end(self) -> None:
        """The sheet ends here."""
        self._write()
        self._last = 0

    def _write(self) -> None:
        """Write the lines taken so far as one block."""
        if not self._lines:
            return
        self._clean()
        text = b"\n".join(self._lines).decode("utf-8", "replace")
        self._places += 1
        if self._places > _MOST_PLACES:
            self._writer.line(text)
        else:
            first, last = _letters(min(self._columns)), _letters(max(self._columns))
            with self._writer.place("cells", f"{first}{self._first}:{last}{self._last}"):
                self._writer.line(text)
        self._lines, self._columns = [], []

    def _clean(self) -> None:
        """Show the numbers better that stand as they are stored."""
        numbers = [texts[index] for _, row, texts in self._unclean for index in row.plain]
        if numbers and needs_cleaning(b"\t".join(numbers)):
            for at, row, texts in self._unclean:
                cleaned = row.cleaned(texts)
                if cleaned != texts:
                    self._lines[at] = row.line(cleaned)[2]
        self._unclean = []


def _letters(column: int) -> str:
    """The name of a column: AB for 28."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters

"""The rows of a sheet: what their tags say about their values, and the lines that they make.

The rows of a table differ in their numbers and values, and hardly in their tags. So what tags say (in which columns
values stand, and how they are shown) is worked out once and kept: the 2,600 rows of a real table had five kinds of
tags.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Final

from tasks.reading.ooxml.number_formats import TELLING_LENGTH
from tasks.reading.xlsx.values import CellKinds, CellTexts, numbers


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

_INLINE: Final = b' t="inlineStr">'
_COLUMNS: Final = _Columns()


class SheetRow:
    """A row by the columns of its cells; `plain` are the indices of the texts that are numbers as they are stored."""

    def __init__(self, columns: list[int]) -> None:
        self.columns = columns
        self.plain: list[int] = []

    def line(self, texts: Sequence[bytes]) -> tuple[int, int, bytes]:
        """The first and the last column that hold any of the texts, and the line that they make."""
        return _line(self.columns, texts)

    def spans(self, texts: Sequence[bytes], wanted: bytes) -> Iterator[tuple[int, int, int]]:
        """Where in the row's line (in characters) the texts stand of columns that are 1 in `wanted`, and the column."""
        at, length = 1, 0
        for column, text in _filled(self.columns, texts):
            gap = column - at
            length += (gap if 0 < gap <= _WIDEST_GAP else 1) if gap or length else 0
            end = length + len(text.decode("utf-8", "replace"))
            if wanted[column : column + 1] == b"\1":
                yield length, end, column
            at, length = column, end

    def cleaned(self, texts: Sequence[bytes]) -> Sequence[bytes]:
        """The texts with plain numbers as they are better shown; the same object where nothing is."""
        numbers = [texts[index] for index in self.plain]
        shown = _shown(numbers, None)
        if shown is numbers:
            return texts
        cleaned = list(texts)
        for index, better in zip(self.plain, shown, strict=True):
            cleaned[index] = better
        return cleaned


class RowPattern(SheetRow):
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
        super().__init__(columns)
        self.kinds = shown
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
            return [tuple(self.cleaned(self.texts(values[start : start + self.values]))) for start in starts]
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


def needs_cleaning(numbers: Sequence[bytes]) -> bool:
    """Whether one of these numbers may need `values.numbers` to be shown well."""
    if max(map(len, numbers), default=0) >= TELLING_LENGTH:
        return True
    joined = b"\t".join(numbers)
    return joined.find(b"E") >= 0 or joined.find(b".0\t") >= 0 or joined.endswith(b".0") or joined.find(b"&") >= 0


def _shown(values: list[bytes], kind: CellTexts | None) -> Iterable[bytes]:
    """The texts of the values in a column."""
    if kind is not None:
        return map(kind.__getitem__, values)
    return numbers(values) if needs_cleaning(values) else values


def _tabs(gap: int) -> bytes:
    return _TABS[gap] if gap <= _WIDEST_GAP else b"\t"


def _line(columns: list[int], texts: Sequence[bytes]) -> tuple[int, int, bytes]:
    """The line of texts that leave gaps, in the order of their columns."""
    filled = _filled(columns, texts)
    if not filled:
        return 0, 1, b""
    first, at = filled[0][0], 1
    pieces: list[bytes] = []
    for column, text in filled:
        gap = column - at
        pieces += _TABS[gap] if 0 < gap <= _WIDEST_GAP else b"\t" if gap or pieces else b"", text
        at = column
    return first, at, b"".join(pieces)


def _filled(columns: list[int], texts: Sequence[bytes]) -> list[tuple[int, bytes]]:
    """The texts that are there with their columns, in the order of these."""
    filled = [(column, text) for column, text in zip(columns, texts, strict=True) if text]
    filled.sort(key=itemgetter(0))
    return filled

"""What the tags of a row say about its values: in which columns they stand, and what they are shown as.

The rows of a table differ in their numbers and values, and hardly in their tags. So what tags say is found out
once and kept: the 2,600 rows of a real table had five kinds of tags.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Final

from tasks.documents.extract.xlsx.values import Kinds, Texts, number

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


class _Columns(dict[bytes, int]):
    """The number of a column by its letters: 28 for "AB"."""

    def __missing__(self, letters: bytes) -> int:
        column = 0
        for letter in letters[:5].upper():
            column = column * 26 + letter - 64
        if len(letters) < 4:
            self[letters] = column
        return column


_COLUMNS: Final = _Columns()


class Row:
    """A row by its tags: how many values stand in it, and in how many cells the number of the row.

    `shared` tells that the tags of other rows are the same, but for their numbers; `plain` are the indices of the
    texts that are numbers as they are stored.
    """

    def __init__(self, tags: bytes, row: bytes, kinds: Kinds) -> None:
        """`tags` are those of the row numbered `row`, with NUL where a value stands."""
        columns: list[int] = []
        shown: list[Texts | None] = []
        owners: list[int] = []  # of each value the cell among those that have any; -1 where it is not shown
        numbered = references = column = 0
        given = b""
        begun = aid = False
        for letters, digits, attributes, value, more, bound in _TAG.findall(tags):
            if attributes:
                given, begun = attributes, False
                if letters:
                    column = _COLUMNS[letters]
                    references += 1
                    numbered += digits == row
                elif (reference := _REFERENCE.search(attributes)) is not None:
                    column = _COLUMNS[reference[1]]
                    references += 1
                    numbered += reference[2] == row
                    given = _REFERENCE.sub(b"", attributes)
                else:
                    column += 1
                if not value:
                    continue
            elif bound:
                aid = bound == b"<rPh"
                continue
            end = value or more
            if not given or (end != b"\0</v" and (aid or end != b"\0</t")):
                owners.append(-1)
                continue
            if not begun:
                begun = True
                columns.append(column)
                shown.append(kinds[given if end == b"\0</v" else _INLINE])
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

    def many(self, values: list[bytes]) -> list[tuple[bytes, ...]]:
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
        """The lines that the texts of rows make; none where some are empty or out of order."""
        if not all(map(all, rows)):
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

    def mended(self, texts: Sequence[bytes]) -> list[bytes]:
        """The texts with plain numbers as they are better shown."""
        mended = list(texts)
        for index in self.plain:
            mended[index] = number(mended[index])
        return mended


def odd(numbers: bytes) -> bool:
    """Whether one of these numbers, split by tabs, may be better shown otherwise than it is stored (see `number`)."""
    return (
        numbers.find(b"E") >= 0
        or numbers.find(b".0\t") >= 0
        or numbers.endswith(b".0")
        or numbers.find(b"&") >= 0
        or ((at := numbers.find(b"0000")) >= 0 and _NOISE.search(numbers, at) is not None)
        or ((at := numbers.find(b"9999")) >= 0 and _NOISE.search(numbers, at) is not None)
    )


def _shown(values: list[bytes], kind: Texts | None) -> Iterable[bytes]:
    """The texts of the values in a column."""
    if kind is not None:
        return map(kind.__getitem__, values)
    numbers = b"\t".join(values)
    if not odd(numbers):
        return values
    mended = list(values)
    index, at, last = 0, 0, -1
    for sign in _MENDABLE.finditer(numbers):
        index += numbers.count(b"\t", at, sign.start())
        at = sign.start()
        if index != last:
            mended[index] = number(mended[index])
            last = index
    return mended


def _tabs(gap: int) -> bytes:
    return _TABS[gap] if gap <= _WIDEST_GAP else b"\t"


def _line(columns: list[int], texts: Sequence[bytes]) -> tuple[int, int, bytes]:
    """The line of texts that leave gaps, in the order of their columns."""
    filled = [(column, text) for column, text in zip(columns, texts, strict=True) if text]
    if not filled:
        return 0, 1, b""
    filled.sort(key=itemgetter(0))
    first, at = filled[0][0], 1
    laid: list[bytes] = []
    for column, text in filled:
        gap = column - at
        laid += _TABS[gap] if 0 < gap <= _WIDEST_GAP else b"\t" if gap or laid else b"", text
        at = column
    return first, at, b"".join(laid)

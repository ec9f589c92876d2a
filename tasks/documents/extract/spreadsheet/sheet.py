"""The rows of a sheet, scanned as bytes while they are inflated.

A pattern splits the bytes into values and the tags between them; what the tags of a row say is known from the
rows before, as a rule (see `Row`). 600,000 cells, a third of them shared strings, take 0.30 s, where calamine
takes 0.42 and a streamed tree 2.1. Neither the declared size of a sheet nor two cells in opposite corners cost
anything.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tasks.documents.extract import time_limit
from tasks.documents.extract.office.markup import unescaped
from tasks.documents.extract.reading import Writer, one_line
from tasks.documents.extract.spreadsheet.blocks import Blocks
from tasks.documents.extract.spreadsheet.cells import LONGEST, Kinds
from tasks.documents.extract.spreadsheet.rows import Row
from tasks.errors import TooLarge

MOST_CELLS: Final = 10_000_000
"""Cells and rows of a workbook that are read. What takes longer counts more: a row that is unlike the one before as
three, one whose tags are new as ten more, and its cells twice."""

MOST_TEXT: Final = 64 << 20
"""Bytes of text that the cells of a workbook give: those that refer to one long string can multiply it."""

FULL: Final = (
    "The workbook holds more than can be read (10 million cells, 64 MB of text, 512 MB in a sheet): "
    "the rest of it was left out. Split it."
)
LATE: Final = "The time for reading this workbook was up: the rest of its cells was left out."

_ROOM: Final = 16 << 20
"""Bytes of tags that are kept at a time."""

_MOST_ALIKE: Final = 256
"""Rows that are taken at once."""

_VALUE: Final = re.compile(rb"<(?:v|f[^<>]*+>(?:[^<]*+</f>)?+<v|t)(?=[\s/>])[^<>]*+>([^<]*+)")
"""A value or a piece of text; a formula before it is passed over, as the value is what it gave last."""

_ROW: Final = re.compile(rb"<row(?=[\s/>])([^<>]*+)>")
_NUMBER: Final = re.compile(rb"""\sr\s*+=\s*+["'](\d++)["']""")
_PRINTED: Final = re.compile(rb"<(?:odd|even|first)(?:Header|Footer)(?:\s[^<>]*+)?+>([^<]*+)")
_SECTION: Final = re.compile("&[LCR]", re.IGNORECASE)
_CONTROL: Final = re.compile(
    r'&(?:"[^"]*"|K(?:[0-9A-F]{6}|\d\d[+-]\d{3})|\d+|[A-JL-Z])', re.IGNORECASE
)  # a font, a colour, a size, a switch or a field


class Scanner:
    """Writes the rows of sheets to `writer`.

    `cut` says why the rest was left out, `whole` that all sheets so far had an end.
    """

    def __init__(self, writer: Writer, kinds: Kinds) -> None:
        self.cut: str | None = None
        self.whole = True
        self._kinds = kinds
        self._blocks = Blocks(writer)
        self._rows: dict[bytes, Row] = {}
        self._kept = 0
        self._cells, self._text = MOST_CELLS, MOST_TEXT

    def scan(self, pieces: Iterable[bytes]) -> list[str]:
        """Write a sheet that comes in pieces, each but the last ending behind a row; what it prints round its pages.

        Rows and cells without a reference follow the one before.
        """
        printed: list[str] = []
        row, piece = 0, b""
        for piece in self._readable(pieces):
            row = self._scan_piece(piece.replace(b"\0", b""), row)
            if piece.find(b"<headerFooter", max(piece.rfind(b"</row>"), 0)) >= 0:
                printed += (text for stored in _PRINTED.findall(piece) for text in _printed(stored))
            if self._cells < 0 or self._text < 0:
                self.cut = FULL
                break
            if time_limit.is_near():
                self.cut = LATE
                break
        self._blocks.end()
        self.whole &= self.cut is not None or piece.rstrip().endswith((b"heet>", b"/>"))
        return list(dict.fromkeys(printed))

    def _readable(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces until there are too many."""
        try:
            yield from pieces
        except TooLarge:
            self.cut = FULL

    def _scan_piece(self, piece: bytes, row: int) -> int:
        """Write the rows of a piece, `row` being the number of the one before it; that of the last one."""
        bits = _VALUE.split(piece)
        values = bits[1::2]
        rows = b"\0".join(bits[::2]).split(b"</row>")
        at = index = 0
        before: Row | None = None
        while index < len(rows) and self._text >= 0:
            tags = rows[index]
            index += 1
            end = 0
            if tags.startswith(b'<row r="'):
                end = tags.find(b">", 8)
                number = tags[8 : tags.find(b'"', 8)]
            if end <= 0 or tags[end - 1] == 47 or not number.isdigit() or len(number) > 8:  # not as usual
                end, row, begun = _begun(tags, row)
                number = b"%d" % row
                self._cells -= begun
                at += tags.count(b"\0", 0, end)
            else:
                row = int(number)
            if tags.find(b"\0", end) < 0:
                self._cells -= 1
                continue
            cells = tags[end:]
            key = cells.replace(number + b'"', b'"')
            known = self._rows.get(key)
            if known is None or len(cells) - len(key) != known.numbered * len(number):
                known = self._learn(cells, key, number)
            texts = known.texts(values[at : at + known.values])
            at += known.values
            if self._kinds.longest * known.values > MOST_TEXT // 4:
                texts = self._as_many_as_fit(texts)
            self._text -= self._blocks.add(row, known, texts)
            self._cells -= known.values + 3
            if known is before and known.shared:
                most = min(_MOST_ALIKE, MOST_TEXT // 4 // (self._kinds.longest * known.values + 1))
                alike = _alike(rows[index : index + most], tags.replace(number + b'"', b'\1"'), row + 1)
                if alike:
                    many = known.many(values[at : at + alike * known.values])
                    self._text -= self._blocks.extend(row + 1, known, many)
                    self._cells -= alike * (known.values + 1)
                    at += alike * known.values
                    index += alike
                    row += alike
            before = known
        return row

    def _learn(self, tags: bytes, key: bytes, number: bytes) -> Row:
        """What the tags of the row numbered `number` say; kept by `key`, where it is the same for other numbers."""
        row = Row(tags, number, self._kinds)
        self._cells -= row.values + 10
        if row.shared and len(tags) - len(key) == row.numbered * len(number):
            self._kept += len(key) + 1000
            if self._kept > _ROOM:
                self._kept = len(key) + 1000
                self._rows.clear()
            self._rows[key] = row
        return row

    def _as_many_as_fit(self, texts: list[bytes]) -> list[bytes]:
        room = self._text
        for index, text in enumerate(texts):
            room -= len(text)
            if room < 0:
                self._text = -1
                return texts[:index] + [b""] * (len(texts) - index)
        return texts


def _alike(rows: list[bytes], tags: bytes, number: int) -> int:
    """How many of the rows, the first numbered `number`, repeat `tags`, which have 1 for the number."""
    alike = 0
    while alike < len(rows) and rows[alike] == tags.replace(b"\1", b"%d" % (number + alike)):
        alike += 1
    return alike


def _begun(tags: bytes, row: int) -> tuple[int, int, int]:
    """Where the last row that begins in `tags` has its cells, its number after `row`, and how many begin."""
    end = count = 0
    for tag in _ROW.finditer(tags):
        number = _NUMBER.search(tag[1])
        row = int(number[1]) if number is not None and len(number[1]) < 9 else row + 1
        end = tag.end()
        count += 1
    return end, row, count


def _printed(stored: bytes) -> Iterator[str]:
    """The words of one printed header or footer, left, middle and right, without their codes."""
    text = unescaped(stored[:LONGEST].decode("utf-8", "replace")).replace("&&", "\0")
    for section in _SECTION.split(text):
        words = one_line(_CONTROL.sub("", section).replace("\0", "&"))
        if words:
            yield words

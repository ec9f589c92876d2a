"""The rows of a sheet, scanned as bytes while they are inflated.

A sheet may inflate to 512 MB, which is never held in memory: it comes in pieces, each of which ends with a row and is
dropped when the next one comes. Unusual forms (another encoding, prefixes, comments, CDATA sections) are converted on
the way, so that one scanner reads all sheets.

A pattern splits the bytes into values and the tags between them; the meaning of a row's tags is usually known from
earlier rows (see `rows`). 600,000 cells, a third of them shared strings, take 0.30 s, where calamine takes 0.42 and a
streamed tree 2.1. Neither the declared size of a sheet nor two cells in opposite corners cost anything.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from tasks.errors import TooLarge
from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.ooxml.xml import ATTRIBUTES, TAG_END, unescape, without_asides
from tasks.reading.text_writer import FOOTER, HEADER, Writer
from tasks.reading.xlsx.missing_values import MissingValues
from tasks.reading.xlsx.rows import LONGEST, Blocks, CellKinds, RowPattern

SHORTEST_PIECE: Final = 64 << 10
"""Bytes that a piece has at least: what a scanner makes of it stays in the cache. Pieces of 1 MB take 15 % longer."""

_LONG: Final = 16 << 20
"""Bytes after which a piece is cut though no end tag has come. Excel's longest row has 16,384 cells."""

_LONGEST_TEXT: Final = 2 << 20
"""Bytes of a text or a tag that are kept. Excel lets a cell hold 32,767 characters."""

_MAIN: Final = (
    b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    b"http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_MOST_PREFIXES: Final = 20
"""Each costs a search through the sheet."""

_PREFIX: Final = re.compile(rb"""xmlns:([\w.-]+)\s*+=\s*+["']([^"'<>]*)["']""")
_SPACED_END: Final = re.compile(rb"</([^\s<>]++)\s++>")
_MOST_LOOKS: Final = 50
_SPACE: Final = re.compile(b" >")
_EXCLAMATION: Final = re.compile(b"<!")
_QUESTION: Final = re.compile(rb"<\?")
"""Looked for by patterns, which take half the time that `find` takes for two characters."""

_WIDE: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_ASIDE: Final = re.compile(rb"<!--.*?(?:-->|(\Z))|<\?.*?(?:\?>|(\Z))|<!\[CDATA\[.*?(?:\]\]>|(\Z))", re.DOTALL)
"""A comment, an instruction or a CDATA section; with a group if it does not end."""

_DOCUMENT_TYPE: Final = re.compile(rb"<![^>]*+>")
_PROLOG: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*+<\?xml\s[^<>]*?(?:encoding\s*+=\s*+["']([\w.-]+)["'][^<>]*?)?\?>"""
)


def pieces(chunks: Iterator[bytes], tag: bytes) -> Iterator[bytes]:
    """The part in pieces, as `chunks` inflate it; each piece except the last ends with the end of an element `tag`.

    A `<` in a piece always begins a tag, and names in the main namespace have no prefix.
    """
    first, chunks = _first_chunk(chunks)
    encoding = _find_encoding(first)
    if encoding:
        chunks = (
            text.encode("utf-8", "replace") for text in codecs.iterdecode(chain((first,), chunks), encoding, "replace")
        )
        first, chunks = _first_chunk(chunks)
    prolog = _PROLOG.match(first)
    rest = first[prolog.end() :] if prolog is not None else first
    prefixes: dict[bytes, None] = {}
    ends = [b"</" + tag + b">"]
    _note_prefixes(rest, tag, prefixes, ends)
    for chunk in _bound(chunks):
        cut = max(rest.rfind(end) + len(end) for end in ends)
        if cut < len(ends[0]):
            cut = rest.rfind(b"<") if len(rest) > _LONG else 0
        if cut > 0:
            piece, unended = _plain(rest[:cut])
            rest = unended + rest[cut:]
            yield from _in_short_pieces(_drop_prefixes(piece, prefixes), ends[0])
        rest += chunk
        _note_prefixes(chunk, tag, prefixes, ends)
    yield from _in_short_pieces(_drop_prefixes(_plain(rest)[0], prefixes), ends[0])


def _note_prefixes(chunk: bytes, tag: bytes, prefixes: dict[bytes, None], ends: list[bytes]) -> None:
    """Record the prefixes of the main namespace declared here, at the root or below, and each one's
    end tag for `tag`.
    """
    if chunk.find(b"xmlns:") < 0:
        return
    for name, uri in _PREFIX.findall(chunk):
        if uri in _MAIN and name + b":" not in prefixes and len(prefixes) < _MOST_PREFIXES:
            prefixes[name + b":"] = None
            ends.append(b"</" + name + b":" + tag + b">")


def _bound(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks without anything beyond _LONGEST_TEXT in one text or tag."""
    run = 0
    for chunk in chunks:
        at = chunk.find(b"<")
        piece = chunk
        if run + (at if at >= 0 else len(chunk)) > _LONGEST_TEXT:
            piece = chunk[: max(_LONGEST_TEXT - run, 0)] + (chunk[at:] if at >= 0 else b"")
        run = len(chunk) - chunk.rfind(b"<") if at >= 0 else run + len(chunk)
        if piece:
            yield piece


def _first_chunk(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The beginning of the part, including its root if there is one, and the chunks after it."""
    first = next(chunks, b"")
    while len(first) < 8192 and (more := next(chunks, b"")):
        first += more
    return first, chunks


def _find_encoding(first: bytes) -> str:
    """The encoding to decode the part from; "" for UTF-8, an unknown encoding, and a wrongly declared one."""
    if first[:2] in _WIDE:
        return _WIDE[first[:2]]
    prolog = _PROLOG.match(first)
    name = (prolog[1] or b"utf-8").decode("ascii", "replace").lower() if prolog is not None else "utf-8"
    if name in ("utf-8", "us-ascii") or name.startswith("utf-16"):  # .NET declares UTF-16 for what it writes as UTF-8
        return ""
    try:
        return name if b"<?xml".decode(name, "replace") == "<?xml" else ""
    except (LookupError, UnicodeError):
        return ""


def _in_short_pieces(piece: bytes, end: bytes) -> Iterator[bytes]:
    """The piece split into several, each ending after `end`."""
    start = 0
    while len(piece) - start > 2 * SHORTEST_PIECE and (cut := piece.find(end, start + SHORTEST_PIECE)) >= 0:
        yield piece[start : cut + len(end)]
        start = cut + len(end)
    yield piece[start:]


def _drop_prefixes(piece: bytes, prefixes: Iterable[bytes]) -> bytes:
    """The piece without namespace prefixes, and without white space in its end tags."""
    if _SPACE.search(piece) is not None or any(_ends_after(piece, space) for space in (b"\n", b"\r", b"\t")):
        piece = _SPACED_END.sub(rb"</\1>", piece)
    for prefix in prefixes:
        piece = piece.replace(b"<" + prefix, b"<").replace(b"</" + prefix, b"</")
    return piece


def _ends_after(piece: bytes, space: bytes) -> bool:
    """Whether a tag ends after that character, which is usually rare: one is found at 10 GB/s, a pair at 1."""
    at = piece.find(space)
    for _ in range(_MOST_LOOKS):
        if at < 0 or piece[at + 1 : at + 2] == b">":
            return at >= 0
        at = piece.find(space, at + 1)
    return piece.find(space + b">", at) >= 0


def _plain(piece: bytes) -> tuple[bytes, bytes]:
    """The piece without document type, instructions and comments, and the beginning of one that does not end in it."""
    if not ((b"!" in piece and _EXCLAMATION.search(piece)) or (b"?" in piece and _QUESTION.search(piece))):
        return piece, b""
    unclosed = next((aside for aside in _ASIDE.finditer(piece) if aside.lastindex), None)
    at = len(piece) if unclosed is None else unclosed.start()
    whole, unended = piece[:at], piece[at:]
    if len(unended) > _LONGEST_TEXT:
        unended = unended[: len(b"<![CDATA[")] + unended[-2:]
    return _DOCUMENT_TYPE.sub(b"", without_asides(whole)), unended


MOST_CELLS: Final = 10_000_000
"""Cells and rows of a workbook that are read. What takes longer counts more: a row that is unlike the one before as
three, one whose tags are new as ten more, and its cells twice."""

MOST_TEXT: Final = 64 << 20
"""Bytes of text that the cells of a workbook give: those that refer to one long string can multiply it."""

FULL: Final = (
    "The workbook holds more than can be read (10 million cells, 64 MB of text, 512 MB in a sheet): "
    "the rest of it was left out. Split it."
)
LATE: Final = "Reading this workbook took too long: the rest of its cells was left out."
_ROOM: Final = 16 << 20
"""Bytes of tags that are kept at a time."""

_MOST_ALIKE: Final = 256
"""Rows that are taken at once."""

_VALUE: Final = re.compile(
    rb"<(?:[vt]%(end)b|f%(end)b(?:[^<]*+</f>)?+\s*+(?:<v%(end)b|(?=</c)))([^<]*+)" % {b"end": TAG_END}
)
"""A value or a piece of text; a formula before it is passed over, as the value is what it gave last.

A formula without one counts as an empty value.
"""
_WITHOUT_VALUE: Final = re.compile(
    rb"<f%(end)b(?:[^<]*+</f>)?+\s*+</c"
    rb"""|<c(?=[\s>])(?![^<]*?\st\s*+=\s*+["']str["'])%(end)b\s*+<f%(end)b(?:[^<]*+</f>)?+\s*+"""
    rb"<v(?=[\s/>])%(end)b(?:(?<=/>)|</v)" % {b"end": TAG_END}
)
"""A formula without a stored value; an empty text is one."""

_TEXT: Final = b' t="str">'
_ROW: Final = re.compile(rb"<row((?=[\s/>])" + TAG_END + rb")")
_NUMBER: Final = re.compile(rb"""\sr\s*+=\s*+["'](\d++)["']""")
_TAG: Final = re.compile(rb"<\w[\w:.-]*+" + ATTRIBUTES + rb">")
_HIDDEN: Final = re.compile(rb"""\s(?:hidden\s*+=\s*+["'](?:1|true)|(?:ht|width)\s*+=\s*+["']0(?:\.0*+)?+)["']""")
"""A row or a column that is hidden, or has no height or width."""

_FIRST_COLUMN: Final = re.compile(rb"""\smin\s*+=\s*+["'](\d{1,5})["']""")
_LAST_COLUMN: Final = re.compile(rb"""\smax\s*+=\s*+["'](\d{1,5})["']""")
_MOST_COLUMNS: Final = 16_384

_PRINTED: Final = re.compile(rb"<(?:odd|even|first)(Header|Footer)" + TAG_END + rb"([^<]*+)")
_SECTION: Final = re.compile("&[LCR]", re.IGNORECASE)
_CONTROL: Final = re.compile(
    r'&(?:"[^"]*"|K(?:[0-9A-F]{6}|\d\d[+-]\d{3})|\d+|[A-JL-Z])', re.IGNORECASE
)  # a font, a colour, a size, a switch or a field


class Scanner:
    """Writes the rows of sheets to `writer`.

    `cut` says why anything was left out, `complete` that all sheets so far had an end.
    """

    def __init__(self, writer: Writer, kinds: CellKinds, missing: MissingValues | None = None) -> None:
        """`missing` knows the results of formulas without a stored value; without it their cells are empty."""
        self.cut: str | None = None
        self.complete = True
        self._kinds = kinds
        self._missing = missing
        self._blocks = Blocks(writer)
        self._rows: dict[bytes, RowPattern] = {}
        self._bytes = 0
        self._cells, self._text = MOST_CELLS, MOST_TEXT

    def scan(self, pieces: Iterable[bytes], name: str = "") -> list[tuple[str, str]]:
        """Write a sheet that comes in pieces, each except the last ending after a row; returns the printed headers and
        footers with their kind of place.

        Rows and cells without a reference follow the one before.
        """
        printed: dict[str, str] = {}
        row, piece = 0, b""
        for number, piece in enumerate(pieces):
            if not number:
                self._blocks.begin(_hidden_columns(piece))
            row = self._scan_piece(piece.replace(b"\0", b""), row, name)
            if piece.find(b"<headerFooter", max(piece.rfind(b"</row>"), 0)) >= 0:
                for kind, stored in _PRINTED.findall(piece):
                    for words in split_printed_words(unescape(stored[:LONGEST].decode("utf-8", "replace"))):
                        printed.setdefault(words, HEADER if kind == b"Header" else FOOTER)
            if self._cells < 0 or self._text < 0:
                self.cut = FULL
                break
            if limits.is_near():
                self.cut = LATE
                break
        self._blocks.end()
        self.complete &= self.cut is not None or piece.rstrip().endswith((b"heet>", b"/>"))
        return [(kind, words) for words, kind in printed.items()]

    def readable(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks of a sheet, until they exceed their limit."""
        try:
            yield from chunks
        except TooLarge:
            self.cut = FULL

    def _scan_piece(self, piece: bytes, row: int, name: str) -> int:
        """Write the rows of a piece after the row numbered `row`; returns the number of the last one."""
        parts = _VALUE.split(piece)
        values = parts[1::2]
        if not all(values) and self._missing is not None and _lacks_values(parts, piece):
            parts = _VALUE.split(self._missing.fill(name, piece, row))
            values = parts[1::2]
        rows = b"\0".join(parts[::2]).split(b"</row>")
        at = index = 0
        before: RowPattern | None = None
        while index < len(rows) and self._text >= 0:
            tags = rows[index]
            index += 1
            end = 0
            if tags.startswith(b'<row r="'):
                end = tags.find(b">", 8)
                number = tags[8 : tags.find(b'"', 8)]
            if end <= 0 or tags[end - 1] != 34 or tags[end - 2] == 61 or not number.isdigit() or len(number) > 8:
                # not as usual: empty, or a `>` in an attribute
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
            hidden = (tags.find(b"hidden", 0, end) >= 0 or tags.find(b'ht="0', 0, end) >= 0) and _is_hidden(tags, end)
            self._text -= self._blocks.add(row, known, texts, hidden=hidden)
            self._cells -= known.values + 3
            if known is before and known.shared:
                most = min(_MOST_ALIKE, MOST_TEXT // 4 // (self._kinds.longest * known.values + 1))
                alike = _alike(rows[index : index + most], tags.replace(number + b'"', b'\1"'), row + 1)
                if alike:
                    batch = known.split_texts(values[at : at + alike * known.values])
                    self._text -= self._blocks.extend(row + 1, known, batch)
                    self._cells -= alike * (known.values + 1)
                    at += alike * known.values
                    index += alike
                    row += alike
            before = known
        return row

    def _learn(self, tags: bytes, key: bytes, number: bytes) -> RowPattern:
        """The pattern of the tags of the row numbered `number`; cached under `key` if it fits other row numbers too."""
        if tags.count(b"<") != tags.count(b">") - tags.startswith(b">"):  # one in an attribute
            known = RowPattern(_TAG.sub(_without_signs, tags), number, self._kinds)
            if known.values == tags.count(b"\0"):
                return known
        row = RowPattern(tags, number, self._kinds)
        self._cells -= row.values + 10
        if row.shared and len(tags) - len(key) == row.numbered * len(number):
            self._bytes += len(key) + 1000
            if self._bytes > _ROOM:
                self._bytes = len(key) + 1000
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


def _lacks_values(parts: list[bytes], piece: bytes) -> bool:
    """Whether a formula in the piece has no value; `parts` are the piece's values and the tags between them.

    The pattern that decides it is only run if there is an empty value that is not a text.
    """
    return (
        any(
            not parts[at]
            and (parts[at + 1].startswith(b"</c") or parts[at - 1].find(_TEXT, parts[at - 1].rfind(b"<c")) < 0)
            for at in range(1, len(parts), 2)
        )
        and _WITHOUT_VALUE.search(piece) is not None
    )


def _alike(rows: list[bytes], tags: bytes, number: int) -> int:
    """The number of rows, the first numbered `number`, that repeat `tags`, which have 1 in place of the number."""
    alike = 0
    while alike < len(rows) and rows[alike] == tags.replace(b"\1", b"%d" % (number + alike)):
        alike += 1
    return alike


def _without_signs(tag: re.Match[bytes]) -> bytes:
    """A tag without `>` in its attributes."""
    return tag[0][:-1].replace(b">", b"") + b">"


def _is_hidden(tags: bytes, end: int) -> bool:
    """Whether the row's tag that ends at `end` says that the row is hidden."""
    return _HIDDEN.search(tags, tags.rfind(b"<row", 0, end), end) is not None


def _hidden_columns(piece: bytes) -> bytes:
    """For each column number whether it is hidden (1), from the first piece of a sheet; b"" if none is."""
    start = piece.find(b"<cols")
    if start < 0:
        return b""
    columns = piece[start : piece.find(b"</cols", start)]
    if columns.find(b"hidden") < 0 and columns.find(b'width="0') < 0:
        return b""
    hidden = bytearray(_MOST_COLUMNS + 1)
    for column in columns.split(b"<col", _MOST_COLUMNS)[1:]:
        if _HIDDEN.search(column) is None:
            continue
        first, last = _FIRST_COLUMN.search(column), _LAST_COLUMN.search(column)
        if first is not None and last is not None:
            count = max(min(int(last[1]), _MOST_COLUMNS) - int(first[1]) + 1, 0)
            hidden[int(first[1]) : int(first[1]) + count] = b"\1" * count
    return bytes(hidden) if any(hidden) else b""


def _begun(tags: bytes, row: int) -> tuple[int, int, int]:
    """Where the last row that begins in `tags` has its cells, its number, counting from `row`, and
    how many rows begin.
    """
    end = count = 0
    for tag in _ROW.finditer(tags):
        number = _NUMBER.search(tag[1])
        row = int(number[1]) if number is not None and len(number[1]) < 9 else row + 1
        end = tag.end()
        count += 1
    return end, row, count


def split_printed_words(stored: str) -> Iterator[str]:
    """The words of one printed header or footer, left, middle and right, without their codes."""
    for section in _SECTION.split(stored.replace("&&", "\0")):
        words = one_line(_CONTROL.sub("", section).replace("\0", "&"))
        if words:
            yield words

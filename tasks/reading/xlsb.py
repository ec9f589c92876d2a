"""Binary workbooks: their records are rewritten as the XML of .xlsx, which its reader reads.

Workbook, sheets, strings, styles and comments are records ([MS-XLSB] 2.1.7); all other parts are as in .xlsx.
Calamine, which may crash if two cells are far apart, is the second reader, in a separate process.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from tasks.errors import Damaged, TooLarge
from tasks.language.normalise import one_line
from tasks.reading import embedded
from tasks.reading.ooxml.package import PART_LIMIT, STREAM_LIMIT, Package, Relationship
from tasks.reading.text_writer import Reading, Source
from tasks.reading.xlsx import reader as xlsx
from tasks.reading.xlsx.reader import ERRORS, LAST_COLUMN, read_with_calamine
from tasks.reading.xlsx.rows import column_letters
from tasks.reading.xlsx.sheet import MOST_CELLS

_NONE: Final = 0xFFFFFFFF  # in the place of a text's length
_AT_ONCE: Final = 1 << 16
"""Characters of a sheet that are handed on together."""

FALLBACK: Final = embedded.FallbackReader(read_with_calamine, library="python_calamine", signature=embedded.ZIP)


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return embedded.read_or_fall_back(lambda file: xlsx.read_package(_BinaryPackage(file)), FALLBACK, source)


class _BinaryPackage(Package):
    """A package whose parts of records are given as XML: relationships, or their places, say which they are."""

    def __init__(self, source: Source) -> None:
        self._kinds: dict[str, str] = {}
        super().__init__(source)

    def relationships(self, name: str) -> list[Relationship]:
        found = super().relationships(name)
        self._kinds |= {item.target: item.kind for item in found}
        return found

    def main_part(self, usual: str) -> str:
        found = super().main_part(usual.replace(".xml", ".bin"))
        self._kinds.setdefault(found, "officeDocument")
        return found

    def _writer(self, name: str) -> "Callable[[_Records], Iterator[str]] | None":
        is_sheet = name.endswith(".bin") and "/worksheets/" in name
        return _XML.get(self._kinds.get(name, "")) or (_XML["worksheet"] if is_sheet else None)

    def scan(self, name: str) -> bytes:
        return b"".join(self.chunks(name)) if self._writer(name) else super().scan(name)

    def chunks(self, name: str, limit: int = STREAM_LIMIT) -> Iterator[bytes]:
        write = self._writer(name)
        if write is None:
            return super().chunks(name, limit)
        return _in_pieces(write(_Records(b"".join(super().chunks(name, PART_LIMIT)))))


def _in_pieces(texts: Iterator[str]) -> Iterator[bytes]:
    waiting: list[str] = []
    size = 0
    try:
        for text in texts:
            waiting.append(text)
            size += len(text)
            if size > _AT_ONCE:
                yield "".join(waiting).encode("utf-8", "replace")
                waiting, size = [], 0
    except TooLarge:
        yield "".join(waiting).encode("utf-8", "replace")
        raise
    yield "".join(waiting).encode("utf-8", "replace")


class _Text(NamedTuple):
    """A text, and the offset after it."""

    words: str
    end: int


def _text_at(data: bytes, at: int) -> _Text:
    """A text after its character count (XLWideString, [MS-XLSB] 2.5.169); "" if there is none."""
    (count,) = struct.unpack_from("<I", data, at)
    if count == _NONE:
        return _Text("", at + 4)
    end = at + 4 + 2 * count
    return _Text(data[at + 4 : end].decode("utf-16-le", "replace"), end)


class _Records:
    """The records of a part, each with its number, up to the first incomplete one.

    Raises:
        TooLarge: there are more than two for each cell that is read of a workbook.
    """

    def __init__(self, part: bytes) -> None:
        self._part = part

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        part, at, end = self._part, 0, len(self._part)
        for _ in range(2 * MOST_CELLS):
            if at + 2 > end:
                return
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
        raise TooLarge("The workbook holds more than can be read. Split it.")

    def write(self, writers: "dict[int, Callable[[bytes], str]]") -> Iterator[str]:
        """What is written for each of the records with these numbers; one that is shorter than its kind is left out."""
        for number, data in self:
            write = writers.get(number)
            if write is not None:
                try:
                    yield write(data)
                except (struct.error, IndexError):
                    continue


def _workbook(records: _Records) -> Iterator[str]:
    def sheet(data: bytes) -> str:
        relationship = _text_at(data, 8)
        name = one_line(_text_at(data, relationship.end).words)
        state = "hidden" if data[0] in (1, 2) else "visible"
        return f'<sheet name={quoteattr(name)} state="{state}" r:id={quoteattr(relationship.words)}/>'

    written = "".join(records.write({153: lambda data: f'<workbookPr date1904="{data[0] & 1}"/>', 156: sheet}))
    if "<sheet " not in written:
        raise Damaged("The file holds no workbook. Ask for it again, or give it the ending of its format.")
    yield f"<workbook>{written}</workbook>"


def _strings(records: _Records) -> Iterator[str]:
    yield "<sst>"
    yield from records.write({19: lambda data: f"<si><t>{_words(data, 1) if len(data) > 4 else ''}</t></si>"})
    yield "</sst>"


def _styles(records: _Records) -> Iterator[str]:
    def number_format(data: bytes) -> str:
        (number,) = struct.unpack_from("<H", data)
        return f'<numFmt numFmtId="{number}" formatCode={quoteattr(_text_at(data, 2).words)}/>'

    formats: list[str] = []
    styles: list[str] = []
    of_cells = False
    for number, data in records:
        if number in (617, 618):
            of_cells = number == 617
        elif number == 44 and len(data) >= 6:
            formats.append(number_format(data))
        elif number == 47 and of_cells and len(data) >= 4:
            styles.append(f'<xf numFmtId="{struct.unpack_from("<H", data, 2)[0]}"/>')
    yield f"<styleSheet><numFmts>{''.join(formats)}</numFmts><cellXfs>{''.join(styles)}</cellXfs></styleSheet>"


def _comments(records: _Records) -> Iterator[str]:
    def comment(data: bytes) -> str:
        author, row, _, column = struct.unpack_from("<IIII", data)
        place = f"{column_letters(min(column, 0xFFFF) + 1)}{row + 1}"
        return f'</comment><comment ref="{place}" authorId="{author}">'

    authors = "".join(records.write({632: lambda data: f"<author>{_words(data, 0)}</author>"}))
    yield f"<comments><authors>{authors}</authors><comment>"
    yield from records.write({635: comment, 637: lambda data: f"<text><t>{_words(data, 1)}</t></text>"})
    yield "</comment></comments>"


def _rk_number(stored: int) -> float:
    """The number in 30 bits of an RK value ([MS-XLS] 2.5.217); the other two bits mark integers and hundredths."""
    if stored & 2:
        number = float((stored >> 2) - ((stored & 0x80000000) >> 1))
    else:
        (number,) = struct.unpack("<d", struct.pack("<Q", (stored & 0xFFFFFFFC) << 32))
    return number / 100 if stored & 1 else number


def _words(data: bytes, at: int) -> str:
    """A text as .xlsx writes it, in which "_x000D_" stands for a character."""
    return escape(_text_at(data, at).words.replace("_x", "_x005F_x"))


def _sheet(records: _Records) -> Iterator[str]:
    hidden: list[str] = []
    number, is_open = 0, False

    def row(data: bytes) -> str:
        nonlocal number, is_open
        begins = "</row>" if is_open else f"<cols>{''.join(hidden)}</cols><sheetData>"
        number, is_open = struct.unpack_from("<I", data)[0] + 1, True
        return f"""{begins}<row r="{number}"{' hidden="1"' if data[11] & 0x10 else ""}>"""

    def columns(data: bytes) -> str:
        first, last, _, _, flags = struct.unpack_from("<IIIIH", data)
        if flags & 1 and len(hidden) < LAST_COLUMN:
            hidden.append(f'<col min="{first + 1}" max="{min(last + 1, LAST_COLUMN)}" hidden="1"/>')
        return ""

    def cell(kind: str, value: Callable[[bytes], object]) -> Callable[[bytes], str]:
        def write(data: bytes) -> str:
            column, style = struct.unpack_from("<II", data)
            place = f"{column_letters(column + 1)}{number}" if column < LAST_COLUMN else ""
            return f'<c r="{place}" s="{style & 0xFFFFFF}" t="{kind}"><v>{value(data)}</v></c>' if place else ""

        return write

    def printed(data: bytes) -> str:
        written, at = "", 2
        for name in ("Header", "Footer") * 3:
            if at + 4 > len(data):  # cut off
                break
            words, at = _text_at(data, at)
            written += f"<odd{name}>{escape(words)}</odd{name}>"
        return f"{'</row>' if is_open else ''}<headerFooter>{written}</headerFooter>"

    digits = "{:.15G}".format  # those that Excel shows at most; 0.0 is added so that -0.0 is 0
    rk = cell("n", lambda data: digits(_rk_number(struct.unpack_from("<I", data, 8)[0]) + 0.0))
    real = cell("n", lambda data: digits(struct.unpack_from("<d", data, 8)[0] + 0.0))
    error, truth = cell("e", lambda data: ERRORS.get(data[8], "#N/A")), cell("b", lambda data: int(data[8] != 0))
    text, rich_text = cell("str", lambda data: _words(data, 8)), cell("str", lambda data: _words(data, 9))
    shared = cell("s", lambda data: struct.unpack_from("<I", data, 8)[0])
    yield "<worksheet>"
    yield from records.write({
        0: row, 2: rk, 3: error, 4: truth, 5: real, 6: text, 7: shared, 8: text, 9: real, 10: truth, 11: error,
        60: columns, 62: rich_text, 479: printed,
    })  # fmt: skip
    yield "</worksheet>"


_XML: Final[dict[str, Callable[[_Records], Iterator[str]]]] = {
    "officeDocument": _workbook,
    "sharedStrings": _strings,
    "styles": _styles,
    "comments": _comments,
    **dict.fromkeys(("worksheet", "chartsheet", "dialogsheet", "xlMacrosheet", "xlIntlMacrosheet"), _sheet),
}
"""The kinds of parts of records, and what writes their XML."""

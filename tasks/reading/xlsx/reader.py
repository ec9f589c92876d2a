"""Workbooks: sheets in order, including hidden ones; on each its cells row by row, then what surrounds them.

Comments come first of these, then text boxes, charts, diagrams, and finally printed headers and footers. Shared strings
and number formats are read when the first cell needs them. Other workbooks (.xls, .xlsb) give their cells as text:
`SheetWriter` writes them in rows as here.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cached_property
from io import BytesIO
from itertools import islice
from typing import Final, NamedTuple

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from tasks.errors import Damaged, TooLarge, Unreadable, UnsupportedFormat
from tasks.language.normalise import one_line
from tasks.reading import formats, libreoffice, limits
from tasks.reading.numerals import column_letters, with_raised_runs
from tasks.reading.ooxml.drawings import Drawings, alternative_text, paragraphs
from tasks.reading.ooxml.number_formats import BUILT_IN, changes_numbers, show_number, without_noise
from tasks.reading.ooxml.package import CUT_OFF, EMBEDDED_KINDS, PART_LIMIT, Package, attach_embedded
from tasks.reading.ooxml.xml import ATTRIBUTES, TAG_END, attribute, read_tag_rest, unescape
from tasks.reading.text_writer import (
    ALTERNATIVE_TEXT,
    COMMENT,
    TEXT_BOX,
    Reading,
    Source,
    Writer,
    comment_mark,
    make_label,
)
from tasks.reading.xlsx.missing_values import VOLATILE, CellPlace, MissingValues, read_computed
from tasks.reading.xlsx.rows import (
    LONGEST,
    Blocks,
    CellKinds,
    SheetRow,
    characters,
    named_sheet,
    rich_text,
)
from tasks.reading.xlsx.sheet import FULL, LATE, MOST_CELLS, MOST_TEXT, Scanner, pieces

MOST_COMMENT_TEXT: Final = 16 << 20
"""Characters of comments and controls in a workbook."""

FULL_OF_COMMENTS: Final = (
    "The workbook holds more than 16 million characters in comments: the rest of them was left out."
)
_COMMENT: Final = re.compile(rb"<comment(?=\s)(" + ATTRIBUTES + rb")>")
_THREADED: Final = re.compile(
    rb"<(?:[\w.-]+:)?threadedComment(" + ATTRIBUTES + rb")>\s*+<(?:[\w.-]+:)?text" + TAG_END + rb"([^<]*+)"
)
_AUTHOR: Final = re.compile(rb"<author" + TAG_END + rb"([^<]*+)")
_PERSON: Final = re.compile(rb"<(?:[\w.-]+:)?person(" + ATTRIBUTES + rb")>")
_FRACTION: Final = re.compile(r"\.\d+")
_MOST_AUTHORS: Final = 100_000
_REFERENCE: Final = re.compile(rb"<(?:c:chart|cx:chart|dgm:relIds)(" + ATTRIBUTES + rb")>")
_PROPERTIES: Final = re.compile(
    rb"<(?:[\w.-]+:)?cNvPr(" + ATTRIBUTES + rb")>((?:(?<!/>)[^<]*+(?:<(?!/(?:[\w.-]+:)?cNvPr)[^<]*+)*+)?+)"
)
"""The properties of a shape or picture, and what is below them."""

_BOX: Final = re.compile(rb"<v:textbox[\s>]")
_TAG: Final = re.compile(rb"<[^<>]*+>")


class PackedSheet(NamedTuple):
    """A sheet's name, the name of its part ("" when there is none), and whether it is hidden."""

    name: str
    part: str
    hidden: bool


def write_sheets(
    package: Package, writer: Writer, sheets: Iterable[PackedSheet], write: Callable[[PackedSheet], str | None]
) -> None:
    """Write sheets in order, each with its name, hidden ones marked.

    Args:
        package: where their parts are; what is lost is noted there.
        writer: what they are written to.
        sheets: the sheets; a part that several of them name is written once.
        write: writes what is on one; returns the warning that no more can be read, None while more can.
    """
    written: set[str] = set()
    for sheet in sheets:
        full = None
        with named_sheet(writer, sheet.name, hidden=sheet.hidden):
            if sheet.part not in package:
                package.note_damage()
            elif sheet.part not in written:
                written.add(sheet.part)
                full = write(sheet)
        if full:
            writer.warn(full)
            break


class _Comment(NamedTuple):
    cell: str
    author: str
    date: str
    words: str


class SheetObjects:
    """Writes what surrounds the cells of sheets to `writer`.

    `people` are the workbook's parts that name authors of threaded comments; `embedded` are the parts of documents
    embedded in its sheets.
    """

    def __init__(self, package: Package, writer: Writer, people: Iterable[str] = ()) -> None:
        self._package = package
        self._writer = writer
        self._drawings = Drawings(package)
        self._people = people
        self._explained = False
        self._text = MOST_COMMENT_TEXT
        self.embedded: list[str] = []

    def write(self, sheet: str) -> None:
        """Write what the part `sheet` refers to."""
        around = self._package.relationships(sheet)
        if not around:
            return
        parts: dict[str, list[str]] = {}
        for item in around:
            if item.kind in EMBEDDED_KINDS:
                self.embedded.append(item.target)
            elif item.target in self._package:
                parts.setdefault(item.kind, []).append(item.target)
        self._write_comments(parts)
        for part in parts.get("drawing", ()):
            self._write_drawing(part)
        if "drawing" not in parts:  # which would say it again
            for part in parts.get("vmlDrawing", ()):
                for words in self._controls(part):
                    if self._has_room(words):
                        self._writer.text(words)

    def _write_comments(self, parts: dict[str, list[str]]) -> None:
        """Write notes, then threads; last what notes tell older programs, which show them in place of threads."""
        threads: dict[str, list[_Comment]] = {}
        for part in parts.get("threadedComment", ()):
            for comment in self._read_threads(part):
                if self._has_room(comment.words):
                    threads.setdefault(comment.cell, []).append(comment)
        copies: list[tuple[_Comment, str]] = []
        for part in parts.get("comments", ()):
            for comment in self._comments(part):
                thread = threads.get(comment.cell)
                if thread and (comment.author.startswith("tc=") or thread[0].words in comment.words):
                    copies.append((comment, thread[0].words))
                elif self._has_room(comment.words):
                    self._write_comment(comment)
        for thread in threads.values():
            for comment in thread:
                self._write_comment(comment)
        for copy, words in copies:
            self._explain(copy, words)

    def _explain(self, copy: _Comment, words: str) -> None:
        """Write once what Excel says before it repeats a thread in a note: "Your version of Excel …"."""
        before = copy.words[: max(copy.words.find(words), 0)].rstrip()
        if before and not self._explained:
            self._explained = True
            self._write_comment(copy._replace(author="", words=before))

    def _write_comment(self, comment: _Comment) -> None:
        mark = comment_mark(comment.author, comment.date, comment.words)
        self._writer.placed(COMMENT, make_label(comment.author, comment.date), f"{comment.cell}\t{mark}")

    def _has_room(self, words: str) -> bool:
        self._text -= len(words)
        if self._text < 0:
            self._writer.warn(FULL_OF_COMMENTS)
        return self._text >= 0

    def _comments(self, part: str) -> Iterator[_Comment]:
        """The notes of a part, each without the author's name that Excel puts at its beginning."""
        authors: list[str] = []
        for number, piece in enumerate(pieces(self._package.chunks(part), b"comment")):
            if not number:
                head = piece[: max(piece.find(b"</authors>"), 0)]
                authors = [characters(name[1]).decode() for name in islice(_AUTHOR.finditer(head), _MOST_AUTHORS)]
            for item in piece.split(b"</comment>"):
                comment = _COMMENT.search(item)
                if comment is None:
                    continue
                words = characters(rich_text(item[comment.end() :])).decode()
                index = attribute(comment[1], b"authorId")
                author = authors[int(index)] if index.isdecimal() and int(index[:9]) < len(authors) else ""
                words = (author and words.removeprefix(author + ":").lstrip()) or words
                if words:
                    yield _Comment(attribute(comment[1], b"ref"), author, "", words)

    def _read_threads(self, part: str) -> Iterator[_Comment]:
        for piece in pieces(self._package.chunks(part), b"threadedComment"):
            for attributes, text in _THREADED.findall(piece):
                reply = "Reply: " if attribute(attributes, b"parentId") else ""
                yield _Comment(
                    attribute(attributes, b"ref"),
                    self._names.get(attribute(attributes, b"personId"), ""),
                    _FRACTION.sub("", attribute(attributes, b"dT")),
                    reply + characters(text).decode(),
                )

    @cached_property
    def _names(self) -> dict[str, str]:
        return {
            attribute(person[1], b"id"): attribute(person[1], b"displayName")
            for part in self._people
            for person in islice(_PERSON.finditer(self._package.scan(part)), _MOST_AUTHORS)
        }

    def _controls(self, part: str) -> Iterator[str]:
        """The texts of legacy buttons and boxes."""
        for piece in pieces(self._package.chunks(part), b"v:textbox"):
            for box in piece.split(b"</v:textbox>")[:-1]:
                start = _BOX.search(box)
                if start is not None:
                    yield characters(_TAG.sub(b" ", box[start.start() :])).decode()

    def _write_drawing(self, part: str) -> None:
        data = self._package.scan(part)
        at = 0
        for reference in _REFERENCE.finditer(data):
            self._writer.placed(TEXT_BOX, "", "\n".join(paragraphs(data, at, reference.start())))
            drawn = attribute(reference[1], b"r:id") or attribute(reference[1], b"r:dm")
            self._writer.text("\n".join(self._drawings.lines(part, drawn)))
            at = reference.end()
        self._writer.placed(TEXT_BOX, "", "\n".join(paragraphs(data, at)))
        if data.find(b"descr=") >= 0 or data.find(b"title=") >= 0:
            for properties in _PROPERTIES.finditer(data):
                words = alternative_text(properties[1], properties[2] or b"")
                self._writer.placed(ALTERNATIVE_TEXT, attribute(properties[1], b"name"), words)


MOST_STRINGS: Final = 4_000_000
_MOST_STYLES: Final = 100_000
_MOST_SHEETS: Final = 10_000
_SHEET: Final = re.compile(rb"<sheet" + ATTRIBUTES + rb"/?>")
_NOT_CALCULATED: Final = (b"</f><v>0</v>", b"</f><v></v>")
_NAME: Final = re.compile(rb"<definedName" + TAG_END + rb"([^<]*+)")
_NUMBER_FORMAT: Final = re.compile(rb"<numFmt" + ATTRIBUTES + rb"/?>")
_ATTRIBUTE: Final = re.compile(rb"""\s(\w+)\s*+=\s*+(?:"([^<"]*+)"|'([^<']*+)')""")

_STYLE: Final = re.compile(rb"""<xf(?=[\s/>])(?:[^<]*?\snumFmtId\s*+=\s*+["'](\d++)["'])?""")

_EMPTY_ITEM: Final = re.compile(rb"<si(?=[\s/])" + TAG_END + rb"(?<=/>)")
_SIMPLE: Final = re.compile(rb"<si><t" + TAG_END + rb"([^<]*+)</t></si>")
CLIPPED: Final = "A cell holds more than a million characters: the rest of them was left out."


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    writer = Writer()
    with Package(source) as package:
        workbook = Workbook(package)
        missing = MissingValues(lambda: _recalculate(source), workbook.kinds)
        scanner = Scanner(writer, workbook.kinds, missing)
        objects = SheetObjects(package, writer, workbook.people())

        def write(sheet: PackedSheet) -> str | None:
            printed = scanner.scan(workbook.pieces(sheet.part, scanner.readable), sheet.name)
            objects.write(sheet.part)
            for kind, words in printed:
                writer.placed(kind, "", words)
            if not scanner.complete:
                package.note_damage()
            return scanner.cut

        write_sheets(package, writer, workbook.sheets(), write)
        attach_embedded(package, objects.embedded, writer)
        writer.date(*package.dates())
        for warning in missing.warnings():
            writer.warn(warning)
        if workbook.kinds.clipped:
            writer.warn(CLIPPED)
        if package.damaged:
            writer.warn(CUT_OFF)
        return writer.reading()


def _recalculate(source: Source) -> dict[CellPlace, float | str]:
    """The values of the formulas as LibreOffice calculates them; empty if that is not possible."""
    if formats.program(libreoffice.XLSX.library) is None:
        return {}
    try:
        data = source if isinstance(source, bytes) else source.read_bytes()
        with Package(libreoffice.convert(data, libreoffice.XLSX)) as package:
            workbook = Workbook(package)
            if workbook.has_volatile_names:
                return {}
            sheets = ((sheet.name, workbook.pieces(sheet.part)) for sheet in workbook.sheets() if sheet.part in package)
            return read_computed(sheets, workbook.kinds.string)
    except (Unreadable, TooLarge, UnsupportedFormat):
        return {}


class Workbook:
    """A workbook in `package`.

    Raises:
        Damaged: its main part is no workbook.
    """

    def __init__(self, package: Package) -> None:
        self._package = package
        main = package.main_part("xl/workbook.xml")
        self._main = package.scan(main)
        if not self._main.startswith(b"<workbook"):
            raise Damaged("The file holds no workbook. Ask for it again, or give it the ending of its format.")
        self._around = package.relationships(main)
        setting = self._main.find(b"<workbookPr")
        since = attribute(read_tag_rest(self._main, setting + len(b"<workbookPr")), b"date1904") if setting >= 0 else ""
        self.kinds = CellKinds(lambda: self._strings, lambda: self._codes, from_1904=since in ("1", "true"))

    def sheets(self) -> Iterator[PackedSheet]:
        """The sheets in order, including hidden ones; at most 10,000."""
        targets = {item.id: item.target for item in self._around}
        for tag in islice(_SHEET.finditer(self._main), _MOST_SHEETS):
            rest = tag[0][len(b"<sheet") :]
            hidden = rest.find(b"idden") >= 0 and attribute(rest, b"state") in ("hidden", "veryHidden")
            yield PackedSheet(attribute(rest, b"name"), targets.get(attribute(rest, b"r:id"), ""), hidden)

    def pieces(self, part: str, bound: Callable[[Iterator[bytes]], Iterator[bytes]] = iter) -> Iterator[bytes]:
        """A sheet in pieces, each except the last ending after a row; `bound` may end its chunks early."""
        read = map(with_raised_runs, pieces(bound(self._package.chunks(part)), b"row"))
        return (piece.replace(*_NOT_CALCULATED) for piece in read) if self._is_not_calculated else read

    @cached_property
    def _is_not_calculated(self) -> bool:
        """Whether XlsxWriter wrote the workbook: it stores 0 for formulas and has Excel calculate them."""
        start = self._main.find(b"<calcPr")
        rest = read_tag_rest(self._main, start + len(b"<calcPr")) if start >= 0 else b""
        return attribute(rest, b"calcId") == "124519" and attribute(rest, b"fullCalcOnLoad") in ("1", "true")

    def people(self) -> list[str]:
        """The parts that name authors of threaded comments."""
        return list(self._parts("person"))

    @property
    def has_volatile_names(self) -> bool:
        """Whether any defined name depends on when it is computed."""
        return any(VOLATILE.search(tag[1]) is not None for tag in _NAME.finditer(self._main))

    def _parts(self, kind: str) -> Iterator[str]:
        return (item.target for item in self._around if item.kind == kind and item.target in self._package)

    @cached_property
    def _strings(self) -> list[bytes]:
        """The strings that cells refer to by number, each on one line.

        Raises:
            TooLarge: there are more than four million, or their part inflates beyond PART_LIMIT.
        """
        strings: list[bytes] = []
        for part in self._parts("sharedStrings"):
            for piece in pieces(self._package.chunks(part, PART_LIMIT), b"si"):
                items = _string_items(with_raised_runs(piece))
                self.kinds.clipped |= len(piece) > LONGEST and max(map(len, items), default=0) > LONGEST
                strings += map(characters, items)
                if len(strings) > MOST_STRINGS:
                    raise TooLarge("The workbook holds more than four million different texts. Split it.")
        return strings

    @cached_property
    def _codes(self) -> dict[bytes, str]:
        """The format codes that change how numbers are shown, by the number of the cell's style."""
        codes: dict[bytes, str] = {}
        for part in self._parts("styles"):
            styles = self._package.scan(part)
            own: dict[bytes, str] = {}
            for tag in islice(_NUMBER_FORMAT.finditer(styles, *_span(styles, b"numFmts")), _MOST_STYLES):
                attributes = {name: one or other for name, one, other in _ATTRIBUTE.findall(tag[0])}
                own[attributes.get(b"numFmtId", b"")] = unescape(
                    attributes.get(b"formatCode", b"").decode("utf-8", "replace")
                )
            for position, style in enumerate(islice(_STYLE.finditer(styles, *_span(styles, b"cellXfs")), _MOST_STYLES)):
                number = style[1] or b"0"
                code = own.get(number) or BUILT_IN.get(int(number[:9]), "")
                if code and changes_numbers(code):
                    codes[b"%d" % position] = code
        return codes


def _span(data: bytes, name: bytes) -> tuple[int, int]:
    """Where an element begins and ends; if the data breaks off before its end, where the data ends."""
    start = data.find(b"<" + name)
    end = data.find(b"</" + name, start) if start >= 0 else 0
    return max(start, 0), end if end >= 0 else len(data)


def _string_items(piece: bytes) -> list[bytes]:
    """The contents of the items in a piece of the shared strings, unchanged."""
    items = _EMPTY_ITEM.sub(b"<si></si>", piece).split(b"</si>")
    items.pop()
    simple: list[bytes] = _SIMPLE.findall(piece)
    return simple if len(simple) == len(items) else list(map(rich_text, items))


ERRORS: Final = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?", 0x24: "#NUM!", 0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}  # fmt: skip
"""Errors by their codes ([MS-XLS] 2.5.10)."""

LAST_COLUMN: Final = 16_384
MOST_SHEETS: Final = 10_000
MOST_WORDS: Final = 16 << 20
"""Characters of comments, text boxes and charts in a workbook."""

_BETWEEN_LOOKS: Final = 4096
_COLUMNS_COST: Final = 100
_LONGEST: Final = 1 << 20
_MARK: Final = 20
"""Characters that a mark takes besides its words."""


class CellsFullError(Exception):
    """The workbook has more cells than are read."""


def show_cell(number: float, code: str, *, from_1904: bool) -> str:
    """The number as a cell with that format code shows it."""
    raw = f"{number:.15g}".upper()  # the digits that Excel shows at most
    if code and code.lower() != "general":
        return show_number(raw, code, from_1904=from_1904)
    return without_noise(raw)


class SheetWriter:
    """Writes sheets to `writer`: their cells row by row, then comments, and what stands behind these.

    `cut` says why anything was left out; `is_open` is whether there is a sheet.
    """

    def __init__(self, writer: Writer) -> None:
        self.cut: str | None = None
        self._writer = writer
        self._blocks = Blocks(writer)
        self._cells, self._text = 2 * MOST_CELLS, MOST_TEXT  # a cell counts, and its record
        self._counted = 0
        self._hidden_rows: set[int] = set()
        self._hidden_columns = b""
        self._row = -1
        self._columns: list[int] = []
        self._texts: list[bytes] = []
        self._sheet: ExitStack | None = None
        self._sheets = 0
        self._behind: list[tuple[str, str, str]] = []
        self._room = MOST_WORDS

    @property
    def is_open(self) -> bool:
        return self._sheet is not None

    def begin_sheet(self, name: str, *, hidden: bool) -> None:
        """Begin a sheet, unless there are too many, and end the one before."""
        self.end_sheet()
        self._sheets += 1
        if self._sheets <= MOST_SHEETS:
            self._sheet = ExitStack()
            self._sheet.enter_context(named_sheet(self._writer, name, hidden=hidden))
            self._hidden_rows = set()
            self._hidden_columns = b""
            self._row = -1
            self._blocks.begin(b"")

    def hide_row(self, row: int) -> None:
        """Mark a row (from 0) as hidden; call it before its cells."""
        self._count()
        self._hidden_rows.add(row)

    def hide_columns(self, first: int, last: int) -> None:
        """Mark columns (from 0) as hidden; call it before their cells."""
        self._count(_COLUMNS_COST)
        last = min(last, LAST_COLUMN - 1)
        if first <= last:
            hidden = bytearray(self._hidden_columns or bytes(LAST_COLUMN + 1))
            hidden[first + 1 : last + 2] = b"\1" * (last - first + 1)
            self._hidden_columns = bytes(hidden)
            self._blocks.begin(self._hidden_columns)

    def add(self, row: int, column: int, text: str) -> None:
        """Add the text of a cell at a row and column, both from 0.

        Raises:
            CellsFullError: there are too many of them, or no time is left.
        """
        self._count()
        if row != self._row:
            self._write()
            self._row = row
        words = one_line(text[:_LONGEST]).encode("utf-8", "replace")
        self._text -= len(words)
        if words and column < LAST_COLUMN:
            self._columns.append(column + 1)
            self._texts.append(words)

    def comment(self, row: int, column: int, author: str, text: str) -> None:
        """Add a comment on the cell at a row and column, both from 0; Excel puts the author's name before it."""
        text = self._cut_to_fit(text)
        words = (author and text.removeprefix(author + ":").lstrip()) or text
        mark = f"{column_letters(column + 1)}{row + 1}\t{comment_mark(author, '', words)}" if words else ""
        self._behind.append((COMMENT, make_label(author, ""), mark))

    def behind(self, kind: str, text: str) -> None:
        """Add words that stand behind the cells, as a place of that kind."""
        self._behind.append((kind, "", self._cut_to_fit(text)))

    def end_sheet(self) -> None:
        """End the open sheet, if there is one."""
        if self._sheet is not None:
            self._write()
            self._blocks.end()
            for kind, label, text in sorted(self._behind, key=lambda place: place[0] != COMMENT):
                self._writer.placed(kind, label, text)
            self._behind = []
            self._sheet.close()
            self._sheet = None

    def _count(self, cost: int = 1) -> None:
        self._cells -= cost
        self._counted += 1
        if self._cells < 0 or self._text < 0:
            self.cut = FULL
        elif not self._counted % _BETWEEN_LOOKS and limits.is_near():
            self.cut = LATE
        if self.cut:
            raise CellsFullError

    def _write(self) -> None:
        if self._columns:
            self._blocks.add(self._row + 1, SheetRow(self._columns), self._texts, hidden=self._row in self._hidden_rows)
        self._columns, self._texts = [], []

    def _cut_to_fit(self, words: str) -> str:
        words = words[: max(self._room, 0)]
        self._room -= len(words) + _MARK
        return words


def read_with_calamine(source: Source) -> Reading:
    """The cells as calamine reads them, sheet by sheet; numbers as stored, dates in ISO form."""
    writer = Writer()
    data = source if isinstance(source, bytes) else source.read_bytes()
    with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
        for number, sheet in enumerate(workbook.sheets_metadata):
            with named_sheet(writer, sheet.name, hidden=sheet.visible != SheetVisibleEnum.Visible):
                is_chart = sheet.typ == SheetTypeEnum.ChartSheet
                for row in () if is_chart else workbook.get_sheet_by_index(number).iter_rows():
                    shown = (f"{value:.15g}" if isinstance(value, float) else str(value) for value in row)
                    writer.text("\t".join(map(one_line, shown)).rstrip("\t"))
    return writer.reading()

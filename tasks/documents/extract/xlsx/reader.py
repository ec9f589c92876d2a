"""Workbooks: sheets in order, hidden ones too; on each its cells row by row, then what stands round and over them.

Comments come first of these, then text boxes, charts, diagrams, at last printed headers and footers. Shared strings
and number formats are read when the first cell needs them.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from tasks.documents.extract import fallback
from tasks.documents.extract.ooxml.drawings import Drawings, paragraphs
from tasks.documents.extract.ooxml.number_formats import BUILT_IN
from tasks.documents.extract.ooxml.package import CUT_OFF, EMBEDDED_KINDS, PART_LIMIT, Package, attach_embedded
from tasks.documents.extract.ooxml.xml import ATTRIBUTES, attribute, rest_of_tag, unescaped
from tasks.documents.extract.text_writer import Reading, Source, Writer
from tasks.documents.extract.xlsx.sheet import Scanner, pieces
from tasks.documents.extract.xlsx.values import LONGEST, CellKinds, characters, rich_text
from tasks.errors import Damaged, TooLarge
from tasks.text.normalise import one_line

MOST_COMMENT_TEXT: Final = 16 << 20
"""Characters of comments and controls in a workbook."""

FULL: Final = "The workbook holds more than 16 million characters in comments: the rest of them was left out."
_COMMENT: Final = re.compile(rb"<comment(?=\s)([^<>]*+)>")
_THREADED: Final = re.compile(rb"<(?:[\w.-]+:)?threadedComment(?=\s)([^<>]*+)>\s*+<(?:[\w.-]+:)?text[^<>]*+>([^<]*+)")
_REFERENCE: Final = re.compile(rb"<(?:c:chart|cx:chart|dgm:relIds)(?=\s)([^<>]*+)>")
_BOX: Final = re.compile(rb"<v:textbox[\s>]")
_TAG: Final = re.compile(rb"<[^<>]*+>")
MOST_STRINGS: Final = 4_000_000
_MOST_STYLES: Final = 100_000
_MOST_SHEETS: Final = 10_000
_SHEET: Final = re.compile(rb"<sheet" + ATTRIBUTES + rb"/?>")
_NUMBER_FORMAT: Final = re.compile(rb"<numFmt" + ATTRIBUTES + rb"/?>")
_ATTRIBUTE: Final = re.compile(rb"""\s(\w+)\s*+=\s*+(?:"([^<"]*+)"|'([^<']*+)')""")

_STYLE: Final = re.compile(rb"""<xf(?=[\s/>])(?:[^<>]*?\snumFmtId\s*+=\s*+["'](\d++)["'])?""")

_EMPTY_ITEM: Final = re.compile(rb"<si(?:\s[^<>/]*+)?/>")
_SIMPLE: Final = re.compile(rb"<si><t(?:\s[^<>]*+)?+>([^<]*+)</t></si>")
CLIPPED: Final = "A cell holds more than a million characters: the rest of them was left out."


def read(source: Source) -> Reading:
    """The text of the workbook in `source`, by sheet and cells.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return fallback.read_or_fall_back(_read, FALLBACK, source)


def _read(source: Source) -> Reading:
    writer = Writer()
    with Package(source) as package:
        workbook = Workbook(package)
        scanner = Scanner(writer, workbook.kinds)
        objects = SheetObjects(package, writer)
        read: set[str] = set()
        for sheet in workbook.sheets():
            with writer.part("sheet", sheet.name):
                writer.text(sheet.name)
                if sheet.part not in package:
                    package.note_damage()
                elif sheet.part not in read:
                    read.add(sheet.part)
                    printed = scanner.scan(pieces(package.chunks(sheet.part), b"row"))
                    objects.write(sheet.part)
                    for line in printed:
                        writer.text(line)
            if not scanner.complete:
                package.note_damage()
            if scanner.cut:
                writer.warn(scanner.cut)
                break
        attach_embedded(package, objects.embedded, writer)
        if workbook.kinds.clipped:
            writer.warn(CLIPPED)
        if package.damaged:
            writer.warn(CUT_OFF)
        return writer.reading()


class Sheet(NamedTuple):
    """A sheet's name, and the name of its part ("" when there is none)."""

    name: str
    part: str


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
        since = attribute(rest_of_tag(self._main, setting + len(b"<workbookPr")), b"date1904") if setting >= 0 else ""
        self.kinds = CellKinds(lambda: self._strings, lambda: self._codes, from_1904=since in ("1", "true"))

    def sheets(self) -> Iterator[Sheet]:
        """The sheets in order, hidden ones too; at most 10,000."""
        targets = {item.id: item.target for item in self._around}
        for tag in islice(_SHEET.finditer(self._main), _MOST_SHEETS):
            rest = tag[0][len(b"<sheet") :]
            yield Sheet(attribute(rest, b"name"), targets.get(attribute(rest, b"r:id"), ""))

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
                items = _string_items(piece)
                self.kinds.clipped |= len(piece) > LONGEST and max(map(len, items), default=0) > LONGEST
                strings += map(characters, items)
                if len(strings) > MOST_STRINGS:
                    raise TooLarge("The workbook holds more than four million different texts. Split it.")
        return strings

    @cached_property
    def _codes(self) -> dict[bytes, str]:
        """The format codes by number of the cell's style, where they are not the general one."""
        codes: dict[bytes, str] = {}
        for part in self._parts("styles"):
            styles = self._package.scan(part)
            own: dict[bytes, str] = {}
            for tag in islice(_NUMBER_FORMAT.finditer(styles, *_span(styles, b"numFmts")), _MOST_STYLES):
                attributes = {name: one or other for name, one, other in _ATTRIBUTE.findall(tag[0])}
                own[attributes.get(b"numFmtId", b"")] = unescaped(
                    attributes.get(b"formatCode", b"").decode("utf-8", "replace")
                )
            for position, style in enumerate(islice(_STYLE.finditer(styles, *_span(styles, b"cellXfs")), _MOST_STYLES)):
                number = style[1] or b"0"
                code = own.get(number) or BUILT_IN.get(int(number[:9]), "")
                if code and code.lower() != "general":
                    codes[b"%d" % position] = code
        return codes


def _span(data: bytes, name: bytes) -> tuple[int, int]:
    """Where an element begins and ends; where the data breaks off before, with that."""
    start = data.find(b"<" + name)
    end = data.find(b"</" + name, start) if start >= 0 else 0
    return max(start, 0), end if end >= 0 else len(data)


def _string_items(piece: bytes) -> list[bytes]:
    """What the items say that a piece of the shared strings holds, as it stands there."""
    items = _EMPTY_ITEM.sub(b"<si></si>", piece).split(b"</si>")
    items.pop()
    simple: list[bytes] = _SIMPLE.findall(piece)
    return simple if len(simple) == len(items) else list(map(rich_text, items))


class SheetObjects:
    """Writes to `writer` what stands round the cells of sheets.

    `enclosed` are the parts of the documents embedded in them.
    """

    def __init__(self, package: Package, writer: Writer) -> None:
        self._package = package
        self._writer = writer
        self._drawings = Drawings(package)
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
        by_cell: dict[str, list[str]] = {}
        for part in parts.get("comments", ()):
            for cell, text in self._bounded(self._comments(part)):
                by_cell.setdefault(cell, []).append(text)
                self._writer.text(f"{cell}\t{text}")
        for part in parts.get("threadedComment", ()):
            for cell, text in self._bounded(self._threaded(part)):
                if not any(text in other for other in by_cell.get(cell, ())):  # Excel copies each to the comments
                    self._writer.text(f"{cell}\t{text}")
        for part in parts.get("drawing", ()):
            self._write_drawing(part)
        if "drawing" not in parts:  # which would say it again
            for part in parts.get("vmlDrawing", ()):
                for _, text in self._bounded(self._controls(part)):
                    self._writer.text(text)

    def _bounded(self, comments: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        for cell, text in comments:
            self._text -= len(text)
            if self._text < 0:
                self._writer.warn(FULL)
                return
            yield cell, text

    def _comments(self, part: str) -> Iterator[tuple[str, str]]:
        """The comments of a part with the cells that they are on."""
        for piece in pieces(self._package.chunks(part), b"comment"):
            for item in piece.split(b"</comment>"):
                comment = _COMMENT.search(item)
                text = characters(rich_text(item[comment.end() :])).decode() if comment is not None else ""
                if comment is not None and text:
                    yield attribute(comment[1], b"ref"), text

    def _threaded(self, part: str) -> Iterator[tuple[str, str]]:
        for piece in pieces(self._package.chunks(part), b"threadedComment"):
            for attributes, text in _THREADED.findall(piece):
                yield attribute(attributes, b"ref"), characters(text).decode()

    def _controls(self, part: str) -> Iterator[tuple[str, str]]:
        """What buttons and boxes of the old kind say."""
        for piece in pieces(self._package.chunks(part), b"v:textbox"):
            for box in piece.split(b"</v:textbox>")[:-1]:
                start = _BOX.search(box)
                if start is not None:
                    yield "", characters(_TAG.sub(b" ", box[start.start() :])).decode()

    def _write_drawing(self, part: str) -> None:
        data = self._package.scan(part)
        at = 0
        for reference in _REFERENCE.finditer(data):
            drawn = attribute(reference[1], b"r:id") or attribute(reference[1], b"r:dm")
            lines = paragraphs(data, at, reference.start()) + self._drawings.lines(part, drawn)
            self._writer.text("\n".join(lines))
            at = reference.end()
        self._writer.text("\n".join(paragraphs(data, at)))


def _read_with_openpyxl(source: Source) -> Reading:
    """Cells, sheet by sheet, by openpyxl."""
    from openpyxl import load_workbook  # noqa: PLC0415 - seldom needed, 0.3 s

    writer = Writer()
    workbook = load_workbook(fallback.file_of(source), read_only=True, data_only=True)
    for sheet in workbook.worksheets:
        with writer.part("sheet", sheet.title):
            writer.line(sheet.title)
            for row in sheet.iter_rows(values_only=True):
                writer.text("\t".join("" if value is None else one_line(str(value)) for value in row).rstrip("\t"))
    workbook.close()
    return writer.reading()


FALLBACK: Final = fallback.FallbackReader(_read_with_openpyxl, library="openpyxl", signature=fallback.ZIP)

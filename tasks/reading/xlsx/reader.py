"""Workbooks: sheets in order, including hidden ones; on each its cells row by row, then what surrounds them.

Comments come first of these, then text boxes, charts, diagrams, and finally printed headers and footers. Shared strings
and number formats are read when the first cell needs them.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Final

from tasks.errors import Damaged, TooLarge, Unreadable, UnsupportedFormat
from tasks.reading.legacy import installed, libreoffice
from tasks.reading.ooxml.number_formats import BUILT_IN, changes_numbers
from tasks.reading.ooxml.package import CUT_OFF, PART_LIMIT, Package, attach_embedded
from tasks.reading.ooxml.xml import ATTRIBUTES, TAG_END, attribute, read_tag_rest, unescape
from tasks.reading.raised import with_raised_runs
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.xlsx.missing_values import VOLATILE, CellPlace, MissingValues, read_computed
from tasks.reading.xlsx.objects import PackedSheet, SheetObjects, write_sheets
from tasks.reading.xlsx.sheet import Scanner, pieces
from tasks.reading.xlsx.values import LONGEST, CellKinds, characters, rich_text

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
            printed = scanner.scan(workbook.pieces(sheet.part), sheet.name)
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
    if installed.program(libreoffice.XLSX.library) is None:
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

    def pieces(self, part: str) -> Iterator[bytes]:
        """A sheet in pieces, each except the last ending after a row."""
        read = map(with_raised_runs, pieces(self._package.chunks(part), b"row"))
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

"""What the sheets of a workbook refer to: its shared strings, its formats, its calendar, and the list of them.

Strings and formats are read when the first cell needs them.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from tasks.documents.extract.office.markup import ATTRIBUTES, attribute, rest_of_tag, unescaped
from tasks.documents.extract.office.package import PART_LIMIT, Package
from tasks.documents.extract.spreadsheet.cells import LONGEST, Kinds, characters, rich_text
from tasks.documents.extract.spreadsheet.numbers import BUILT_IN
from tasks.documents.extract.spreadsheet.pieces import pieces
from tasks.errors import Damaged, TooLarge

_MOST_STRINGS: Final = 4_000_000
_MOST_STYLES: Final = 100_000
_MOST_SHEETS: Final = 10_000

_SHEET: Final = re.compile(rb"<sheet" + ATTRIBUTES + rb"/?>")
_NUMBER_FORMAT: Final = re.compile(rb"<numFmt" + ATTRIBUTES + rb"/?>")
_ATTRIBUTE: Final = re.compile(rb"""\s(\w+)\s*+=\s*+(?:"([^<"]*+)"|'([^<']*+)')""")
_STYLE: Final = re.compile(rb"""<xf(?=[\s/>])(?:[^<>]*?\snumFmtId\s*+=\s*+["'](\d++)["'])?""")
_SIMPLE: Final = re.compile(rb"<si><t(?:\s[^<>]*+)?+>([^<]*+)</t></si>")


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
        self.kinds = Kinds(lambda: self._strings, lambda: self._codes, from_1904=since in ("1", "true"))

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
                if len(strings) > _MOST_STRINGS:
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
                given = {name: one or other for name, one, other in _ATTRIBUTE.findall(tag[0])}
                own[given.get(b"numFmtId", b"")] = unescaped(given.get(b"formatCode", b"").decode("utf-8", "replace"))
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
    items = piece.replace(b"<si/>", b"<si></si>").split(b"</si>")
    items.pop()
    simple: list[bytes] = _SIMPLE.findall(piece)
    return simple if len(simple) == len(items) else list(map(rich_text, items))

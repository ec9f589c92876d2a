"""Whether the first row of a table is a header by its style."""

import re
from collections.abc import Mapping
from typing import Final

from tasks.documents.extract.docx.styles import StyleFacts
from tasks.documents.extract.ooxml import xml
from tasks.documents.extract.ooxml.xml import ATTRIBUTES

_LONGEST_PROPERTIES: Final = 4_000
_STYLE: Final = re.compile(rb"""<w:tblStyle\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([^"'<]*+)""")
_LOOK: Final = re.compile(rb"<w:tblLook(?=\s)(%b)/?>" % ATTRIBUTES)
_FIRST_ROW: Final = 0x20  # of `w:tblLook`: the first row looks like a header (ISO/IEC 29500-4, 14.4.2)

_PLAIN: Final = (b"TableGrid", b"TableNormal")
_HEADED: Final = re.compile(
    rb"(?:Light|Medium|Dark|Colorful)(?:Shading|List|Grid)[1-3]?.*|(?:Grid|List|Plain)Table[1-7].*"
)
"""Word's own styles whose first row is set off; of others it is looked up."""


def has_header_row(data: bytes, at: int, styles: Mapping[bytes, StyleFacts | None]) -> bool:
    """Whether the table whose properties stand at `at` has its first row set off, and its style does so."""
    end = data.find(b"</w:tblPr", at, at + _LONGEST_PROPERTIES)
    style = _STYLE.search(data, at, max(at, end))
    if style is None or style[1] in _PLAIN:
        return False
    look = _LOOK.search(data, style.end(), end)
    if look is None:
        return False
    first_row = xml.attribute(look[1], b"w:firstRow")
    if not (is_on(first_row) if first_row else hexadecimal(xml.attribute(look[1], b"w:val")) & _FIRST_ROW):
        return False
    if _HEADED.fullmatch(style[1]) is not None:
        return True
    facts = styles[style[1]]
    return facts is not None and facts.header_row


def is_on(value: str) -> bool:
    """A property that stands there is on, unless its value says otherwise."""
    return value not in ("0", "false", "off")


def hexadecimal(value: str) -> int:
    """`value` as a number; 0 where it is none."""
    try:
        return int(value, 16)
    except ValueError:
        return 0

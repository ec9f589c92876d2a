"""What the cells of a workbook refer to: shared strings, formats, and how a cell's value is shown."""

import re
from typing import Final

from lxml import etree

from tasks.documents.extract.numbers import BUILT_IN, plain, show
from tasks.documents.extract.ooxml import S
from tasks.documents.extract.package import PART_LIMIT, Package
from tasks.documents.extract.reading import one_line

_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_CONTROL: Final = re.compile(
    r'&(?:"[^"]*"|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d+|[A-JL-Z]|&)', re.IGNORECASE
)  # a font, a colour, a size, a switch or a field, an ampersand


def rich_text(element: etree._Element) -> str:
    """The words of a string item (`si`, `is`, `text`), without the reading aids of East Asian text."""
    if len(element) == 1 and element[0].tag.endswith("}t"):
        return unescaped(element[0].text or "")
    pieces: list[str] = []
    for child in element:
        name = child.tag.rpartition("}")[2]
        if name == "t":
            pieces.append(child.text or "")
        elif name == "r":
            pieces.extend(text.text or "" for text in child.iter("{*}t"))
    return unescaped("".join(pieces))


def unescaped(text: str) -> str:
    """`text` with the characters that XML cannot hold (`_x000D_`) in their place."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def shared_strings(package: Package, part: str) -> list[str]:
    """The strings that cells refer to by number, each on one line."""
    return [one_line(rich_text(item)) for item in package.elements(part, "si", limit=PART_LIMIT)]


def print_text(element: etree._Element) -> list[str]:
    """The words of a sheet's printed headers and footers, without their codes."""
    lines: list[str] = []
    for child in element:
        for section in re.split("&[LCR]", child.text or ""):
            text = one_line(_CONTROL.sub(lambda match: "&" if match[0] == "&&" else "", section))
            if text and text not in lines:
                lines.append(text)
    return lines


class Cells:
    """Shows cells as a person sees them."""

    def __init__(self, strings: list[str], styles: etree._Element | None, *, from_1904: bool) -> None:
        self._strings = strings
        self._from_1904 = from_1904
        self._codes = _codes(styles)
        self._shown: dict[tuple[str, str], str] = {}

    def value(self, cell: etree._Element) -> str:
        """What stands in a cell, on one line; "" for an empty one.

        Formulas give the value that was calculated last.
        """
        raw = None
        for child in cell:
            name = child.tag.rpartition("}")[2]
            if name == "v":
                raw = child.text
            elif name == "is":
                return one_line(rich_text(child))
        if not raw:
            return ""
        kind = cell.get("t")
        if kind == "s":
            return self._strings[int(raw)] if raw.strip().isdecimal() and int(raw) < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if raw.strip() in ("1", "true") else "FALSE"
        if kind is None or kind == "n":
            return self._number(raw, cell.get("s") or "0")
        return one_line(unescaped(raw))

    def _number(self, raw: str, style: str) -> str:
        code = self._codes.get(style)
        if code is None:
            return plain(raw)
        key = (raw, code)
        shown = self._shown.get(key)
        if shown is None:
            if len(self._shown) > 50_000:
                self._shown.clear()
            shown = self._shown[key] = one_line(show(raw, code, from_1904=self._from_1904))
        return shown


def _codes(styles: etree._Element | None) -> dict[str, str]:
    """The format codes by number of the cell's style, where they are not the general one."""
    if styles is None:
        return {}
    own = {number.get("numFmtId") or "": number.get("formatCode") or "" for number in styles.iter(S + "numFmt")}
    codes: dict[str, str] = {}
    for position, style in enumerate(styles.iterfind(f"{S}cellXfs/{S}xf")):
        number = style.get("numFmtId") or "0"
        code = own.get(number) or (BUILT_IN.get(int(number)) if number.isdecimal() else None)
        if code and code.lower() != "general":
            codes[str(position)] = code
    return codes

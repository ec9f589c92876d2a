"""What the destinations of RTF that are no text say: fonts, styles that make headings, authors, files, pictures."""

import re
import struct
from typing import Final

from tasks.reading.ooxml import ole
from tasks.reading.rtf.tokens import CODE_PAGES, SYMBOL, code_page

_FONT: Final = re.compile(rb"\\f(\d{1,6})(?!\d)|\\fcharset(\d{1,4})(?!\d)|\\cpg(\d{1,6})(?!\d)")
_STYLE: Final = re.compile(rb"\\s(\d{1,6})(?!\d)")
_BYTE: Final = re.compile(rb"\\'([0-9a-fA-F]{2})")
_HEADING: Final = re.compile(rb"(?:heading ?\d|title$|[\xdc\xfc]berschrift \d|titre \d|t\xedtulo \d)", re.IGNORECASE)
_OUTLINE: Final = re.compile(rb"\\outlinelevel([0-8])(?!\d)")
_LONGEST: Final = 4 << 20
_EMBEDDED: Final = 2
_DESCRIPTION: Final = re.compile(rb"\{\\sn wzDescription\}\s*+\{\\sv ((?:[^{}\\]|\\[^{}])*+)\}")
_LONGEST_PROPERTIES: Final = 1 << 16


def fonts(table: bytes, default: str) -> dict[int, str]:
    """The code page of each font of a font table."""
    pages: dict[int, str] = {}
    font = 0
    for match in _FONT.finditer(table, 0, _LONGEST):
        if match[1] is not None:
            font = int(match[1])
            pages.setdefault(font, default)
        elif match[2] is not None:
            charset = int(match[2])
            pages[font] = SYMBOL if charset == 2 else CODE_PAGES.get(charset, default)
        elif int(match[3]):
            pages[font] = code_page(int(match[3]))
    return pages


def heading_styles(table: bytes) -> set[int]:
    """The numbers of the paragraph styles that make headings, by their names or levels."""
    numbers: set[int] = set()
    for definition in table[:_LONGEST].split(b"}"):
        style = _STYLE.search(definition[:2000])
        if style is None:
            continue
        words = _BYTE.sub(lambda match: bytes([int(match[1], 16)]), definition[-500:])
        name = words.rpartition(b"\\")[2].partition(b" ")[2].strip(b" ;\r\n")
        if _HEADING.match(name) or _OUTLINE.search(definition[:2000]):
            numbers.add(int(style[1]))
    return numbers


def authors(table: bytes, encoding: str) -> list[str]:
    r"""The authors of revisions, as numbered by `\revauth`."""
    from_table = re.findall(rb"\{([^{};]{0,200});", table[:_LONGEST])
    return [name.decode(encoding, "replace").strip() for name in from_table]


def moment(number: int) -> str:
    """A date and time of Word (DTTM: bits for minute, hour, day, month, year since 1900) as ISO 8601; "" for none."""
    minute, hour, day, month = number & 63, number >> 6 & 31, number >> 11 & 31, number >> 16 & 15
    if not (1 <= day <= 31 and 1 <= month <= 12 and hour < 24 and minute < 60):
        return ""
    return f"{1900 + (number >> 20 & 511):04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00"


def embedded_file(hexadecimal: bytes) -> tuple[str, bytes | None] | None:
    """The name and content of an embedded file: an OLE 1.0 object in hexadecimal ([MS-OLEDS] 2.2.5).

    None where it is a link or broken; without content where it is cut off.
    """
    digits = hexadecimal.translate(None, b" \t\r\n")
    try:
        stream = bytes.fromhex(digits[: len(digits) & ~1].decode("ascii"))
        _, kind = struct.unpack_from("<II", stream)
        at, names = 8, []
        for _ in range(3):
            (length,) = struct.unpack_from("<I", stream, at)
            names.append(stream[at + 4 : at + 4 + min(length, 1000)].rstrip(b"\0").decode("latin-1"))
            at += 4 + length
        (length,) = struct.unpack_from("<I", stream, at)
    except (ValueError, struct.error):
        return None
    name = names[0] or "object"
    if kind != _EMBEDDED or not length:
        return None
    if at + 4 + length > len(stream):
        return f"{name}.bin", None
    sized = stream[at : at + 4 + length]
    return ole.native(name, sized) if name == "Package" else (f"{name}.bin", sized[4:])


def description(picture: bytes) -> bytes:
    """The alternative text among a picture's properties, as RTF; empty where there is none."""
    match = _DESCRIPTION.search(picture, 0, _LONGEST_PROPERTIES)
    return match[1] if match else b""

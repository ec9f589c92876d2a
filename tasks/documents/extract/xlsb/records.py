"""The records of a binary part ([MS-XLSB] 2.1.4), and the texts in them."""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

_MOST_STRINGS: Final = 4_000_000
_NONE: Final = 0xFFFFFFFF


class Text(NamedTuple):
    """A text, and the offset behind it."""

    words: str
    end: int


def records(part: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of a part, each with its number, as far as they are whole."""
    at, end = 0, len(part)
    while at + 2 <= end:
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


def text_at(data: bytes, at: int) -> Text:
    """A text behind the number of its characters (XLWideString, [MS-XLSB] 2.5.169); "" where there is none."""
    (count,) = struct.unpack_from("<I", data, at)
    if count == _NONE:
        return Text("", at + 4)
    end = at + 4 + 2 * count
    return Text(data[at + 4 : end].decode("utf-16-le", "replace"), end)


def shared_strings(part: bytes) -> list[str]:
    """The strings that cells refer to by number (BrtSSTItem), as far as they are there."""
    strings: list[str] = []
    for number, data in records(part):
        if number == 19:
            strings.append(text_at(data, 1).words if len(data) > 4 else "")
            if len(strings) >= _MOST_STRINGS:
                break
    return strings

"""The parts of RTF: control words, symbols, groups and bytes of text; and which bytes are which characters.

Source: Rich Text Format Specification 1.9.1. No pattern gives back what it has matched: time is linear in the bytes.
"""

import codecs
import mmap
import re
from typing import Final

from tasks.reading import limits

TOKEN: Final = re.compile(
    rb"\\([a-zA-Z]++)(-?\d{0,10}+)\d*+ ?"  # a control word and its number
    rb"|\\'([0-9a-fA-F]{2})"  # a byte
    rb"|\\([^a-zA-Z])"  # a control symbol
    rb"|([{}])"
    rb"|([^\\{}\r\n]++)"
    rb"|[\r\n]++|\\",
    re.DOTALL,
)
WORD, BYTE, SIGN, BRACE, TEXT = 2, 3, 4, 5, 6
"""The last group of each; of a control word it is the number, which may be empty."""

_BRACE: Final = re.compile(rb"\\bin(\d{1,9}+)\d*+ ?|\\.|([{}])", re.DOTALL)
"""For what is left out: the group 1 is the length of bytes that are none of these."""

_AT_ONCE: Final = 4096

CODE_PAGES: Final = {
    0: "cp1252", 77: "mac_roman", 78: "cp932", 79: "cp949", 80: "gb18030", 81: "big5", 83: "cp1255", 84: "cp1256",
    85: "mac_greek", 86: "mac_turkish", 87: "cp874", 88: "mac_latin2", 89: "mac_cyrillic", 128: "cp932", 129: "cp949",
    130: "johab", 134: "gb18030", 136: "big5hkscs", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255",
    178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
"""By the character set of a font."""

NAMED_CODE_PAGES: Final = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": "cp1252"}
SYMBOL: Final = "symbol"
"""The code page of fonts of signs."""

_SYMBOLS: Final = str.maketrans(
    {0xB7: "•", 0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xFC: "✓", 0xFE: "☑", 0x6F: "◦", 0xB0: "°", 0xB1: "±", 0xA3: "≤",
     0xB3: "≥", 0xB9: "≠", 0xAE: "→", 0x76: "❖", 0x71: "❑", 0x6E: "■", 0xD0: "–", 0xBE: "—"}
)  # fmt: skip

CHARACTERS: Final = {
    "tab": "\t", "line": "\n", "softline": "", "lbr": "\n", "emdash": "—", "endash": "–", "emspace": " ",
    "enspace": " ", "qmspace": " ", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
"""The control words that are characters."""

SIGNS: Final = {b"~": "\xa0", b"_": "\u2011"}
"""The control symbols that are characters; an optional hyphen (`\\-`) is none."""


def code_page(number: int) -> str:
    r"""The codec of a Windows code page (`\ansicpg1251`)."""
    special = {65001: "utf-8", 10000: "mac_roman", 936: "gb18030", 950: "big5hkscs", 1361: "johab", 0: "cp1252"}
    name = special.get(number, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def characters(raw: bytes, encoding: str) -> str:
    """The characters of bytes of text."""
    if encoding == SYMBOL:
        return raw.decode("latin-1").translate(_SYMBOLS)
    return raw.decode(encoding, "replace")


def begins_group(data: "bytes | mmap.mmap", begun: int, at: int) -> bool:
    r"""Whether what stands at `at` is the first in the group whose content begins at `begun`; line ends say nothing.

    OpenOffice writes `\*` further on too, where it means nothing: `{\fldrslt \*\cs5 …}`.
    """
    return at - begun <= len(b"\r\n\r\n") and not data[begun:at].strip(b"\r\n")


def end_of_group(data: "bytes | mmap.mmap", at: int) -> int:
    """Where the brace stands that ends the group which is open at `at`; the end of the data where none does."""
    depth = 1
    count = 0
    while True:
        match = _BRACE.search(data, at)
        count += 1
        if match is None or (count % _AT_ONCE == 0 and limits.is_near()):
            return len(data)
        at = match.end()
        if match[1] is not None:
            at += int(match[1])
        elif match[2] is not None:
            depth += 1 if match[2] == b"{" else -1
            if not depth:
                return match.start()


def behind_next_group(data: "bytes | mmap.mmap", at: int) -> int:
    """Where the group ends that begins next; `at` where none does."""
    start = data.find(b"{", at)
    return at if start < 0 else min(end_of_group(data, start + 1) + 1, len(data))

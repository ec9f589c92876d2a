"""Letters that PDFium loses: a ligature whose glyph is named by its letters ("f_i") comes as a control character."""

import re
from typing import Final

from tasks.documents.extract.pdf.packed import packed

_DIFFERENCES: Final = re.compile(rb"/Differences\s*\[([^\]]{1,20000})\]")
_ENTRY: Final = re.compile(rb"(\d{1,3})(?=[\s/])|/([^\s/\[\]<>()]+)")
_LETTERS: Final = re.compile(rb"[A-Za-z](?:_[A-Za-z]){1,3}")


def missing(text: str) -> bool:
    """Whether `text` has characters that stand for lost letters: fonts number them downwards from 31."""
    return "\x1f" in text or "\x1e" in text or "\x1d" in text or "\x1c" in text


def letters(data: bytes) -> dict[str, str]:
    """What the control characters of a PDF's text stand for, as its fonts name the glyphs.

    One that stands for different letters in different fonts is left out.
    """
    named: dict[str, set[str]] = {}
    contents = [data, *(item.content for item in packed(data))]
    for differences in (match.group(1) for content in contents for match in _DIFFERENCES.finditer(content)):
        code = 0
        for number, name in _ENTRY.findall(differences):
            if number:
                code = int(number)
                continue
            if code < 0x20 and _LETTERS.fullmatch(name):
                named.setdefault(chr(code), set()).add(name.decode().replace("_", ""))
            code += 1
    return {character: choice.pop() for character, choice in named.items() if len(choice) == 1}

"""The words of paragraphs while they are collected: what ends one, and what stands among the words and is none.

Nothing of it can stand in a document's own words, for no XML may hold these characters.
"""

import re
from typing import Final

PARAGRAPH: Final = b"\0"
"""What ends a paragraph among its words."""

FACT: Final = "\5"
"""Begins what stands among the words of a paragraph and is none of them."""

POSITION: Final = re.compile("\5([0-9]{1,8})\6")
HEADING: Final = "\5\7"
MARKED: Final = "\5\6"
NUMBER: Final = "\5\x0e"
"""Ends the number in front of a paragraph."""

BULLET: Final = "\5\x0f"
"""The same, of one that counts nothing: alone it makes no line."""

NO_END: Final = ("\5\x10", "\5\x11")
"""Stand in a paragraph whose end was deleted; the second where what follows has a `PARAGRAPH` of its own in front."""

_AT_ONCE: Final = 1 << 16


def without_deleted_ends(paragraphs: list[str]) -> list[str]:
    """The paragraphs, each whose end was deleted as the beginning of the next one, behind the number of that."""
    whole: list[str] = []
    begun, parted = "", False
    for paragraph in paragraphs:
        if parted and not paragraph:
            parted = False
        elif mark := next((mark for mark in NO_END if mark in paragraph), ""):
            number, before, words = after_number(paragraph.replace(mark, ""))
            begun, parted = number + before + begun + words, mark == NO_END[1]
        elif begun:
            number, before, words = after_number(paragraph)
            whole.append(number + before + begun + words)
            begun, parted = "", False
        else:
            whole.append(paragraph)
    return [*whole, begun] if begun else whole


def after_number(paragraph: str) -> tuple[str, str, str]:
    """The number in front of a paragraph, what ends it, and the words; two empty ones where there is no number."""
    number, mark, words = paragraph.rpartition(NUMBER)
    return (number, mark, words) if mark else paragraph.rpartition(BULLET)


def joined(words: list[bytes]) -> bytes:
    """`words` as one; Python's own joining takes 80 bytes of memory for each of them."""
    if len(words) <= _AT_ONCE:
        return b"".join(words)
    return b"".join([b"".join(words[at : at + _AT_ONCE]) for at in range(0, len(words), _AT_ONCE)])

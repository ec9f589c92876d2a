"""Undoes what hides a prompt injection in letters that look like others.

`normalise` gives the text in which patterns are searched: one plain alphabet. Capitals, accents, full-width and
mathematical letters, and Cyrillic and Greek look-alikes within Latin words become plain small letters. What has no
width falls away, and letters of the invisible tags block become visible. Each character knows its place in the text.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_FOREIGN: Final = re.compile(r"[^\x00-\x7f][^\x00-\x7f]{0,15}")
_INVISIBLE: Final = frozenset(
    {0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x2800, 0x3164, 0xFEFF, 0xFFA0}
    | set(range(0x200B, 0x2010))
    | set(range(0x202A, 0x202F))
    | set(range(0x2060, 0x2070))
    | set(range(0xFE00, 0xFE10))
)
_TAGS: Final = range(0xE0020, 0xE007F)
_PLAIN: Final = (
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "\u2029": "\n", "\u2028": "\n"}
    | dict.fromkeys("‘’‚‛′", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | {"。": ".", "、": ",", "‹": "<", "›": ">"}
)
_LOOK_ALIKES: Final = dict(
    zip("аеорсухіјѕԁһгкмнвтпԛԝαβερτυνικοχγωηɡɑɩոսօ", "aeopcyxijsdhrkmhbtnqwaseptuvikoxywngainuo", strict=True)
)
"""Cyrillic, Greek and other letters, with the Latin letter that each looks like."""
_MOST_CACHED: Final = 50_000
"""Characters in a cache."""


@dataclass(frozen=True, slots=True)
class SearchableText:
    """A normalised text. From each of `starts` on, its characters are `by` characters further on in the original."""

    text: str
    starts: list[int]
    by: list[int]

    def original(self, offset: int) -> int:
        """The offset in the original of a character of the normalised text."""
        at = bisect_right(self.starts, offset) - 1
        return offset + self.by[at] if at >= 0 else offset


def normalise(text: str) -> SearchableText:
    """The text in plain lower-case letters, in linear time."""
    if text.isascii():
        return SearchableText(text.lower(), [], [])
    lines: list[str] = []
    starts: list[int] = []
    by: list[int] = []
    changed: list[tuple[int, int]] = []

    def replace(run: re.Match[str]) -> str:
        plain = _plain_letters(run)
        start, end = run.span()
        if len(plain) != end - start:
            changed.append((end, end - start - len(plain)))
        return plain

    length = at = 0
    for line in text.split("\n"):
        plain = line.lower() if line.isascii() else _FOREIGN.sub(replace, line).lower()
        shift = 0
        for end, shorter in changed:
            shift += shorter
            starts.append(length + end - shift)
            by.append(at - length + shift)
        changed.clear()
        lines.append(plain)
        length += len(plain) + 1
        at += len(line) + 1
    return SearchableText("\n".join(lines), starts, by)


@lru_cache(maxsize=_MOST_CACHED)
def _alone(character: str) -> str:
    """The plain letters for a character among others of its own alphabet."""
    code = ord(character)
    if code in _INVISIBLE:
        return ""
    if code in _TAGS:
        return chr(code - 0xE0000).lower()
    if character.isspace():
        return _PLAIN.get(character, " ")
    parts = unicodedata.normalize("NFKD", _PLAIN.get(character, character)).casefold()
    return "".join(_PLAIN.get(part, part) for part in parts if unicodedata.category(part)[0] != "M")


@lru_cache(maxsize=_MOST_CACHED)
def _mixed(character: str) -> str:
    """The plain letters for a character within a Latin word."""
    return "".join(_LOOK_ALIKES.get(letter, letter) for letter in _alone(character))


def _plain_letters(run: re.Match[str]) -> str:
    letters = run.group()
    alone = "".join(map(_alone, letters))
    if alone.isascii():
        return alone
    beside = run.string[max(run.start() - 1, 0) : run.start()], run.string[run.end() : run.end() + 1]
    mixed = any(neighbour.isascii() and neighbour.isalnum() for neighbour in beside)
    return "".join(map(_mixed, letters)) if mixed else alone

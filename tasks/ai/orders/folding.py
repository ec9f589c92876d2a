"""A text as orders to a model are looked for in it: one plain alphabet, whatever it was disguised as.

Capitals, accents, full-width and mathematical letters, Cyrillic and Greek look-alikes within Latin words become plain
small letters; what has no width falls away; letters of the tags block, which nobody sees, become what they say. Each
character of the folded text knows where it stood.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

_FOREIGN: Final = re.compile(r"[^\x00-\x7f][^\x00-\x7f]{0,15}")
_UNSEEN: Final = frozenset(
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
_ALIKE: Final = dict(
    zip("аеорсухіјѕԁһгкмнвтпԛԝαβερτυνικοχγωηɡɑɩոսօ", "aeopcyxijsdhrkmhbtnqwaseptuvikoxywngainuo", strict=True)
)
"""Cyrillic, Greek and other letters by the Latin one that they are taken for."""
_MOST_KNOWN: Final = 50_000


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text; from each of `starts` on, its characters stand `by` characters further in the original."""

    text: str
    starts: list[int]
    by: list[int]

    def original(self, offset: int) -> int:
        """Where a character of the folded text stands in the original."""
        at = bisect_right(self.starts, offset) - 1
        return offset + self.by[at] if at >= 0 else offset


def fold(text: str) -> Folded:
    """Fold a text, in a time that grows with its length alone."""
    if text.isascii():
        return Folded(text.lower(), [], [])
    pieces: list[str] = []
    starts: list[int] = []
    by: list[int] = []
    changed: list[tuple[int, int]] = []

    def replace(run: re.Match[str]) -> str:
        plain = _folded(run)
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
        pieces.append(plain)
        length += len(plain) + 1
        at += len(line) + 1
    return Folded("\n".join(pieces), starts, by)


class _Plain(dict[str, str]):
    """What a foreign character becomes, among others of its alphabet or mixed into Latin words."""

    def __init__(self, alike: dict[str, str]) -> None:
        self._alike = alike

    def __missing__(self, each: str) -> str:
        if len(self) > _MOST_KNOWN:
            self.clear()
        self[each] = plain = self._plain(each)
        return plain

    def _plain(self, each: str) -> str:
        code = ord(each)
        if code in _UNSEEN:
            return ""
        if code in _TAGS:
            return chr(code - 0xE0000).lower()
        if each.isspace():
            return _PLAIN.get(each, " ")
        parts = unicodedata.normalize("NFKD", _PLAIN.get(each, each)).casefold()
        plain = [_PLAIN.get(part, part) for part in parts if unicodedata.category(part)[0] != "M"]
        return "".join(self._alike.get(part, part) for part in plain)


_ALONE: Final = _Plain({})
_MIXED: Final = _Plain(_ALIKE)


def _folded(run: re.Match[str]) -> str:
    letters = run.group()
    alone = "".join(map(_ALONE.__getitem__, letters))
    if alone.isascii():
        return alone
    beside = run.string[max(run.start() - 1, 0) : run.start()], run.string[run.end() : run.end() + 1]
    mixed = any(each.isascii() and each.isalnum() for each in beside)
    return "".join(map(_MIXED.__getitem__, letters)) if mixed else alone

"""Disguises that a plain alphabet does not undo: Base64, ROT13, words backwards, letters parted, figures for letters.

Each is looked for by what a few words of orders look like in it; only there is it undone.

A text as orders to a model are looked for in it: one plain alphabet, whatever it was disguised as.

Capitals, accents, full-width and mathematical letters, Cyrillic and Greek look-alikes within Latin words become plain
small letters; what has no width falls away; letters of the tags block, which nobody sees, become what they say. Each
character of the folded text knows where it stood.
"""

import re
import unicodedata
from base64 import b64decode
from binascii import Error
from bisect import bisect_right
from codecs import encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tasks.ai.prompt_injection.prefilter import VOCABULARY

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


_CORE: Final = ("instruction", "previous", "ignore", "disregard", "prompt", "score")
_ROTATED: Final = tuple(encode(each, "rot13") for each in _CORE[:5])
_CORE_LETTERS: Final = tuple(each.encode() for each in _CORE)
_BACKWARDS: Final = tuple(each[::-1] for each in ("instructions", "system prompt", "ignore", "disregard"))
_TURNED: Final = VOCABULARY.bit(frozenset(f"-{word.split()[0]}-" for word in (*_ROTATED, *_BACKWARDS)))
_LEET: Final = bytes.maketrans(b"431057", b"aeiost")
_PARTING: Final = b" .-_*|/\n\t"
_PARTED: Final = re.compile(r"(?<![a-z0-9])(?:[a-z0-9][ .\-_*|/\n\t]{1,5}){5,400}[a-z0-9](?![a-z0-9])")
_HYPHENED: Final = re.compile(r"[a-z]{2,12}-\s{0,3}\n\s{0,20}[a-z]{2,12}")
_SQUEEZED: Final = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|the|your|of|my){0,3}(?:previous|prior|above|earlier|system)?"
    r"(?:instruction|prompt|rules|directive)"
)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{24,8192}={0,2}")
_SIGNS: Final = re.compile(r"[^a-z0-9]+")
_WIDER: Final = re.compile(r"\s{2,}|\n")
_RUNS: Final = b"".join(
    b" " if each in b" \t\n\v\f\r\x1c\x1d\x1e\x1f" else b"x" if re.match(rb"[A-Za-z0-9+/_-]", bytes([each])) else b"."
    for each in range(256)
)
"""What an encoded text is made of as `x`, white space as a space."""
_RUN: Final = b"x" * 24
_WORD: Final = re.compile(r"\S{32,}")
"""A word that may be an encoded text: `ignore this` and more."""
_AROUND: Final = 300


def unveiled(text: str, folded: Folded, bare: bytes, said: int) -> Iterator[tuple[int, int, str]]:
    """Where something in a text is disguised, and what it says in folded letters: its span in the text, and that.

    The folded text is given also in ASCII (`bare`), with the bits of its words.
    """
    yield from _encoded(text)
    plain = folded.text
    for word in _ROTATED if said & _TURNED else ():
        for start, end in _lines(plain, word):
            yield folded.original(start), folded.original(end), encode(plain[start:end], "rot13")
    for word in _BACKWARDS if said & _TURNED else ():
        for start, end in _lines(plain, word):
            yield folded.original(start), folded.original(end), plain[start:end][::-1]
    close = bare.translate(_LEET, _PARTING)
    hidden = [each for each in _CORE_LETTERS if each in close and close.count(each) > bare.count(each)]
    for letters in hidden:
        for start, end, line in _figured(bare, letters):
            yield folded.original(start), folded.original(end), line
    if any(_is_parted(bare, letters) for letters in hidden if letters in _CORE_LETTERS[:4]):
        for start, end, line in _parted(bare.decode()):
            yield folded.original(start), folded.original(end - 1) + 1, line


def _figured(bare: bytes, letters: bytes) -> Iterator[tuple[int, int, str]]:
    figured = bare.translate(_LEET).decode()
    for start, end in _lines(figured, letters.decode(), other_than=bare.decode()):
        yield start, end, figured[start:end]


def _is_parted(bare: bytes, letters: bytes) -> bool:
    return bare.translate(None, _PARTING).count(letters) > bare.count(letters)


def _lines(text: str, word: str, other_than: str | None = None) -> Iterator[tuple[int, int]]:
    """The lines in which a word stands; with `other_than`, where that text does not have it."""
    at = behind = -1
    while (at := text.find(word, max(at + 1, behind))) >= 0:
        if other_than is not None and other_than.startswith(word, at):
            continue
        start = max(text.rfind("\n", max(at - _AROUND, 0), at) + 1, at - _AROUND, 0)
        stop = text.find("\n", at, at + _AROUND)
        behind = stop if stop >= 0 else min(at + _AROUND, len(text))
        yield start, behind


def _parted(text: str) -> Iterator[tuple[int, int, str]]:
    for run in _PARTED.finditer(text):
        letters = run.group()
        within = _SIGNS.search(letters)
        joined = " ".join(re.sub(r"[^a-z0-9]+", "", each) for each in _WIDER.split(letters))
        if within and within.group().strip():
            joined = " ".join(re.sub(r"[^a-z0-9]+", "", each) for each in re.split(r"\s+", letters))
        if _SQUEEZED.search(joined.replace(" ", "")):
            joined = "ignore previous instructions"
        yield run.start(), run.end(), joined
    for run in _HYPHENED.finditer(text):
        if any(word in re.sub(r"[^a-z]", "", run.group()) for word in _CORE):
            start, end = max(run.start() - _AROUND, 0), min(run.end() + _AROUND, len(text))
            yield start, end, text[start:end].replace(run.group(), re.sub(r"[^a-z]", "", run.group()))


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    runs = text.encode("ascii", "replace").translate(_RUNS)
    at = runs.find(_RUN)
    while at >= 0:
        start, end = runs.rfind(b" ", 0, at) + 1, runs.find(b" ", at)
        end = end if end >= 0 else len(runs)
        for word in _WORD.finditer(text, start, end):
            found = _ENCODED.search(word.group()[:8192])
            if found and (said := _decoded(found.group())):
                yield *word.span(), said
        at = runs.find(_RUN, end)


def _decoded(word: str) -> str:
    """What Base64 or hexadecimal figures say, folded; nothing where it is no text."""
    try:
        if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", word):
            data = bytes.fromhex(word)
        else:
            bare = word.rstrip("=").translate(str.maketrans("-_", "+/"))
            data = b64decode(bare[: len(bare) - (len(bare) % 4 == 1)] + "=" * (-len(bare) % 4))
        said = data.decode()
    except (Error, ValueError):
        return ""
    return fold(said).text if sum(each.isalpha() or each.isspace() for each in said) > 0.8 * len(said) else ""

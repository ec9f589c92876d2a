"""Undoes what hides a prompt injection: letters that look like others, and texts that are encoded or broken up.

`normalise` gives the text in which patterns are searched: one plain alphabet. Capitals, accents, full-width and
mathematical letters, and Cyrillic and Greek look-alikes within Latin words become plain small letters. What has no
width falls away, and letters of the invisible tags block become visible. Each character knows its place in the text.

`find_disguised` finds what a plain alphabet does not undo: Base64, ROT13, words backwards, letters with signs between
them, and figures for letters. Each is searched for by what a few words of injections look like in it.
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
    """A normalised text. From each of `starts` on, its characters stand `by` characters further in the original."""

    text: str
    starts: list[int]
    by: list[int]

    def original(self, offset: int) -> int:
        """Where a character of the normalised text stands in the original."""
        at = bisect_right(self.starts, offset) - 1
        return offset + self.by[at] if at >= 0 else offset


def normalise(text: str) -> SearchableText:
    """The text in plain small letters, in a time that grows with its length alone."""
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


class _Plain(dict[str, str]):
    """A cache of the plain letters that other characters become."""

    def __init__(self, look_alikes: dict[str, str]) -> None:
        self._look_alikes = look_alikes

    def __missing__(self, character: str) -> str:
        if len(self) > _MOST_CACHED:
            self.clear()
        self[character] = plain = self._plain(character)
        return plain

    def _plain(self, character: str) -> str:
        code = ord(character)
        if code in _INVISIBLE:
            return ""
        if code in _TAGS:
            return chr(code - 0xE0000).lower()
        if character.isspace():
            return _PLAIN.get(character, " ")
        parts = unicodedata.normalize("NFKD", _PLAIN.get(character, character)).casefold()
        plain = [_PLAIN.get(part, part) for part in parts if unicodedata.category(part)[0] != "M"]
        return "".join(self._look_alikes.get(part, part) for part in plain)


_ALONE: Final = _Plain({})
"""For characters among others of their alphabet."""
_MIXED: Final = _Plain(_LOOK_ALIKES)
"""For characters within Latin words."""


def _plain_letters(run: re.Match[str]) -> str:
    letters = run.group()
    alone = "".join(map(_ALONE.__getitem__, letters))
    if alone.isascii():
        return alone
    beside = run.string[max(run.start() - 1, 0) : run.start()], run.string[run.end() : run.end() + 1]
    mixed = any(neighbour.isascii() and neighbour.isalnum() for neighbour in beside)
    return "".join(map(_MIXED.__getitem__, letters)) if mixed else alone


_CORE: Final = ("instruction", "previous", "ignore", "disregard", "prompt", "score")
_ROTATED: Final = tuple(encode(word, "rot13") for word in _CORE[:5])
_CORE_LETTERS: Final = tuple(word.encode() for word in _CORE)
_BACKWARDS: Final = tuple(word[::-1] for word in ("instructions", "system prompt", "ignore", "disregard"))
_LEET: Final = bytes.maketrans(b"431057", b"aeiost")
_SEPARATORS: Final = b" .-_*|/\n\t"
_SEPARATED: Final = re.compile(r"(?<![a-z0-9])(?:[a-z0-9][ .\-_*|/\n\t]{1,5}){5,400}[a-z0-9](?![a-z0-9])")
_HYPHENATED: Final = re.compile(r"[a-z]{2,12}-\s{0,3}\n\s{0,20}[a-z]{2,12}")
_SQUEEZED: Final = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|the|your|of|my){0,3}(?:previous|prior|above|earlier|system)?"
    r"(?:instruction|prompt|rules|directive)"
)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{24,8192}={0,2}")
_SIGNS: Final = re.compile(r"[^a-z0-9]+")
_WIDER: Final = re.compile(r"\s{2,}|\n")
_RUNS: Final = b"".join(
    b" " if code in b" \t\n\v\f\r\x1c\x1d\x1e\x1f" else b"x" if re.match(rb"[A-Za-z0-9+/_-]", bytes([code])) else b"."
    for code in range(256)
)
"""A translation table: characters of an encoded text to `x`, white space to a space, all else to a dot."""
_RUN: Final = b"x" * 24
_WORD: Final = re.compile(r"\S{32,}")
"""A word that may be an encoded text: `ignore this` and more."""
_AROUND: Final = 300
"""Characters to either side of a word that are taken for its line, at most."""


def find_disguised(text: str, plain: SearchableText) -> Iterator[tuple[int, int, str]]:
    """The disguised passages of a text, also given normalised: the span of each, and what it says, normalised."""
    yield from _find_encoded(text)
    letters = plain.text.encode("ascii", "replace")
    for word in _ROTATED:
        for start, end in _lines(plain.text, word):
            yield plain.original(start), plain.original(end), encode(plain.text[start:end], "rot13")
    for word in _BACKWARDS:
        for start, end in _lines(plain.text, word):
            yield plain.original(start), plain.original(end), plain.text[start:end][::-1]
    closed_up = letters.translate(_LEET, _SEPARATORS)
    hidden = [word for word in _CORE_LETTERS if word in closed_up and closed_up.count(word) > letters.count(word)]
    for core in hidden:
        for start, end, line in _with_figures(letters, core):
            yield plain.original(start), plain.original(end), line
    if any(_is_separated(letters, core) for core in hidden if core in _CORE_LETTERS[:4]):
        for start, end, line in _find_separated(letters.decode()):
            yield plain.original(start), plain.original(end - 1) + 1, line


def _with_figures(letters: bytes, word: bytes) -> Iterator[tuple[int, int, str]]:
    """The lines in which a word is written with figures for letters, and what they say."""
    text = letters.translate(_LEET).decode()
    for start, end in _lines(text, word.decode(), other_than=letters.decode()):
        yield start, end, text[start:end]


def _is_separated(letters: bytes, word: bytes) -> bool:
    return letters.translate(None, _SEPARATORS).count(word) > letters.count(word)


def _lines(text: str, word: str, other_than: str | None = None) -> Iterator[tuple[int, int]]:
    """The lines in which a word stands; with `other_than`, only where that text does not have the word."""
    at = behind = -1
    while (at := text.find(word, max(at + 1, behind))) >= 0:
        if other_than is not None and other_than.startswith(word, at):
            continue
        start = max(text.rfind("\n", max(at - _AROUND, 0), at) + 1, at - _AROUND, 0)
        stop = text.find("\n", at, at + _AROUND)
        behind = stop if stop >= 0 else min(at + _AROUND, len(text))
        yield start, behind


def _find_separated(text: str) -> Iterator[tuple[int, int, str]]:
    """Words whose letters have signs or line breaks between them, and what they say."""
    for run in _SEPARATED.finditer(text):
        letters = run.group()
        within = _SIGNS.search(letters)
        joined = " ".join(re.sub(r"[^a-z0-9]+", "", part) for part in _WIDER.split(letters))
        if within and within.group().strip():
            joined = " ".join(re.sub(r"[^a-z0-9]+", "", part) for part in re.split(r"\s+", letters))
        if _SQUEEZED.search(joined.replace(" ", "")):
            joined = "ignore previous instructions"
        yield run.start(), run.end(), joined
    for run in _HYPHENATED.finditer(text):
        if any(word in re.sub(r"[^a-z]", "", run.group()) for word in _CORE):
            start, end = max(run.start() - _AROUND, 0), min(run.end() + _AROUND, len(text))
            yield start, end, text[start:end].replace(run.group(), re.sub(r"[^a-z]", "", run.group()))


def _find_encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Words in Base64 or hexadecimal digits, and what they say."""
    runs = text.encode("ascii", "replace").translate(_RUNS)
    at = runs.find(_RUN)
    while at >= 0:
        start, end = runs.rfind(b" ", 0, at) + 1, runs.find(b" ", at)
        end = end if end >= 0 else len(runs)
        for word in _WORD.finditer(text, start, end):
            match = _ENCODED.search(word.group()[:8192])
            if match and (decoded := _decode(match.group())):
                yield *word.span(), decoded
        at = runs.find(_RUN, end)


def _decode(word: str) -> str:
    """What Base64 or hexadecimal digits say, normalised; empty where that is no text."""
    try:
        if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", word):
            data = bytes.fromhex(word)
        else:
            digits = word.rstrip("=").translate(str.maketrans("-_", "+/"))
            data = b64decode(digits[: len(digits) - (len(digits) % 4 == 1)] + "=" * (-len(digits) % 4))
        text = data.decode()
    except (Error, ValueError):
        return ""
    return normalise(text).text if sum(sign.isalpha() or sign.isspace() for sign in text) > 0.8 * len(text) else ""

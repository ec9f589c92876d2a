"""Disguises that a plain alphabet does not undo: Base64, ROT13, words backwards, letters parted, figures for letters.

Each is looked for by what a few words of orders look like in it; only there is it undone.
"""

import re
from base64 import b64decode
from binascii import Error
from codecs import encode
from collections.abc import Iterator
from typing import Final

from tasks.ai.orders.folding import Folded, fold

_CORE: Final = ("instruction", "previous", "ignore", "disregard", "prompt", "score")
_ROTATED: Final = tuple(encode(each, "rot13") for each in _CORE[:5])
_BACKWARDS: Final = tuple(each[::-1] for each in ("instructions", "system prompt", "ignore", "disregard"))
_LEET: Final = str.maketrans("431057", "aeiost")
_PARTING: Final = dict.fromkeys(map(ord, " .-_*|/\n\t"))
_PARTED: Final = re.compile(r"(?<![a-z0-9])(?:[a-z0-9][ .\-_*|/\n\t]{1,5}){5,400}[a-z0-9](?![a-z0-9])")
_HYPHENED: Final = re.compile(r"[a-z]{2,12}-\s{0,3}\n\s{0,20}[a-z]{2,12}")
_SQUEEZED: Final = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|the|your|of|my){0,3}(?:previous|prior|above|earlier|system)?"
    r"(?:instruction|prompt|rules|directive)"
)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{24,8192}={0,2}")
_SIGNS: Final = re.compile(r"[^a-z0-9]+")
_WIDER: Final = re.compile(r"\s{2,}|\n")
_LETTERS: Final = 32
"""Characters from which on a word may be an encoded text: `ignore this` and more."""
_AROUND: Final = 300


def unveiled(text: str, folded: Folded) -> Iterator[tuple[int, int, str]]:
    """Where something in a text is disguised, and what it says in folded letters: its span in the text, and that."""
    yield from _encoded(text)
    plain = folded.text
    for word in _ROTATED:
        for start, end in _lines(plain, word):
            yield folded.original(start), folded.original(end), encode(plain[start:end], "rot13")
    for word in _BACKWARDS:
        for start, end in _lines(plain, word):
            yield folded.original(start), folded.original(end), plain[start:end][::-1]
    bare = plain if plain.isascii() else plain.encode("ascii", "replace").decode()
    figured = bare.translate(_LEET)
    for word in _CORE:
        for start, end in _lines(figured, word, other_than=bare):
            yield folded.original(start), folded.original(end), figured[start:end]
    close = bare.translate(_PARTING)
    if any(close.count(word) > bare.count(word) for word in _CORE[:4]):
        for start, end, said in _parted(bare):
            yield folded.original(start), folded.original(end - 1) + 1, said


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
    at = 0
    for word in text.split():
        if len(word) < _LETTERS:
            continue
        start = text.find(word, at)
        at = start + len(word)
        found = _ENCODED.search(word[:8192])
        if found and (said := _decoded(found.group())):
            yield start, at, said


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

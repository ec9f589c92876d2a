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
from tasks.ai.orders.vocabulary import VOCABULARY

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

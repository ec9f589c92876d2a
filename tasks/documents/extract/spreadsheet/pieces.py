"""A large part of a workbook piece by piece, in the form that scanners take: UTF-8, no prefixes, no comments.

A sheet may inflate to 512 MB, which is never held: a piece ends where a row does and is gone when the next
one comes. What is written otherwise than usual (another encoding, prefixes, comments, character data
sections) is put into that form on the way, so that one scanner reads all sheets.
"""

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

_SHORT: Final = 64 << 10
"""Bytes that a piece has at least: what a scanner makes of it stays in the cache. Pieces of 1 MB take 15 % longer."""

_LONG: Final = 16 << 20
"""Bytes after which a piece is cut though no end tag has come. Excel's longest row has 16,384 cells."""

_LONGEST_TEXT: Final = 2 << 20
"""Bytes of a text or a tag that are kept. Excel lets a cell hold 32,767 characters."""

_MAIN: Final = (
    b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    b"http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_ROOT: Final = re.compile(rb"<[A-Za-z_][^<>]*+>")
_PREFIX: Final = re.compile(rb"""xmlns:([\w.-]+)\s*+=\s*+["']([^"'<>]*)["']""")
_PROLOG: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*+<\?xml\s[^<>]*?(?:encoding\s*+=\s*+["']([\w.-]+)["'][^<>]*?)?\?>"""
)
_WIDE: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_MARKUP: Final = re.compile(rb"<(?:\?|!(--|\[CDATA\[)?)")
_CLOSING: Final = {b"<?": b"?>", b"<!": b">", b"<!--": b"-->", b"<![CDATA[": b"]]>"}


def pieces(chunks: Iterator[bytes], tag: bytes) -> Iterator[bytes]:
    """The part that inflates to `chunks`; each piece but the last ends behind the end of an element `tag`.

    A `<` in a piece begins a tag, and the name of what is in the main namespace has no prefix.
    """
    first, chunks = _begun(chunks)
    encoding = _encoding(first)
    if encoding:
        chunks = (
            text.encode("utf-8", "replace") for text in codecs.iterdecode(chain((first,), chunks), encoding, "replace")
        )
        first, chunks = _begun(chunks)
    prolog = _PROLOG.match(first)
    rest = first[prolog.end() :] if prolog is not None else first
    root = _ROOT.search(rest)
    prefixes = [name + b":" for name, uri in _PREFIX.findall(root[0]) if uri in _MAIN] if root is not None else []
    ends = [b"</" + prefix + tag + b">" for prefix in (b"", *prefixes)]
    for chunk in _bounded(chunks):
        cut = max(rest.rfind(end) + len(end) for end in ends)
        if cut < len(ends[0]):
            cut = rest.rfind(b"<") if len(rest) > _LONG else 0
        if cut > 0:
            piece, unended = _plain(rest[:cut])
            rest = unended + rest[cut:]
            yield from _short(_unprefixed(piece, prefixes), ends[0])
        rest += chunk
    yield from _short(_unprefixed(_plain(rest)[0], prefixes), ends[0])


def _bounded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks without what is beyond _LONGEST_TEXT in one text or tag."""
    run = 0
    for chunk in chunks:
        at = chunk.find(b"<")
        kept = chunk
        if run + (at if at >= 0 else len(chunk)) > _LONGEST_TEXT:
            kept = chunk[: max(_LONGEST_TEXT - run, 0)] + (chunk[at:] if at >= 0 else b"")
        run = len(chunk) - chunk.rfind(b"<") if at >= 0 else run + len(chunk)
        if kept:
            yield kept


def _begun(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The beginning of the part, which holds its root if there is one, and what follows."""
    first = next(chunks, b"")
    while len(first) < 8192 and (more := next(chunks, b"")):
        first += more
    return first, chunks


def _encoding(first: bytes) -> str:
    """What the part is decoded from: "" for UTF-8, for an unknown encoding, and for one that it does not have."""
    if first[:2] in _WIDE:
        return _WIDE[first[:2]]
    prolog = _PROLOG.match(first)
    name = (prolog[1] or b"utf-8").decode("ascii", "replace").lower() if prolog is not None else "utf-8"
    if name in ("utf-8", "us-ascii") or name.startswith("utf-16"):  # .NET declares UTF-16 for what it writes as UTF-8
        return ""
    try:
        return name if b"<?xml".decode(name, "replace") == "<?xml" else ""
    except (LookupError, UnicodeError):
        return ""


def _short(piece: bytes, end: bytes) -> Iterator[bytes]:
    """The piece in several ones, each ending behind `end`."""
    start = 0
    while len(piece) - start > 2 * _SHORT and (cut := piece.find(end, start + _SHORT)) >= 0:
        yield piece[start : cut + len(end)]
        start = cut + len(end)
    yield piece[start:]


def _unprefixed(piece: bytes, prefixes: list[bytes]) -> bytes:
    for prefix in prefixes:
        piece = piece.replace(b"<" + prefix, b"<").replace(b"</" + prefix, b"</")
    return piece


def _plain(piece: bytes) -> tuple[bytes, bytes]:
    """The piece without document type, instructions and comments; and the beginning of one that does not end in it."""
    if not ((b"!" in piece and b"<!" in piece) or (b"?" in piece and b"<?" in piece)):
        return piece, b""
    kept: list[bytes] = []
    at = 0
    while (opening := _MARKUP.search(piece, at)) is not None:
        kept.append(piece[at : opening.start()])
        closing = _CLOSING[opening[0]]
        found = piece.find(closing, opening.end())
        end = found if found >= 0 else max(len(piece) - 2, opening.end())
        if closing == b"]]>":
            characters = piece[opening.end() : end]
            kept.append(characters.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;"))
        if found < 0:
            return b"".join(kept), opening[0] + piece[end:]
        at = end + len(closing)
    kept.append(piece[at:])
    return b"".join(kept), b""

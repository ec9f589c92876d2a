"""A sheet, or another part of a workbook, in pieces as it is inflated, each in the form that scanners take."""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

SHORTEST_PIECE: Final = 64 << 10
"""Bytes that a piece has at least: what a scanner makes of it stays in the cache. Pieces of 1 MB take 15 % longer."""

_LONG: Final = 16 << 20
"""Bytes after which a piece is cut though no end tag has come. Excel's longest row has 16,384 cells."""

_LONGEST_TEXT: Final = 2 << 20
"""Bytes of a text or a tag that are kept. Excel lets a cell hold 32,767 characters."""

_MAIN: Final = (
    b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    b"http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_MOST_PREFIXES: Final = 20
"""Each costs a search through the sheet."""

_PREFIX: Final = re.compile(rb"""xmlns:([\w.-]+)\s*+=\s*+["']([^"'<>]*)["']""")
_SPACED_END: Final = re.compile(rb"</([^\s<>]++)\s++>")
_MOST_LOOKS: Final = 50
_SPACE: Final = re.compile(b" >")
_EXCLAMATION: Final = re.compile(b"<!")
_QUESTION: Final = re.compile(rb"<\?")
"""Looked for by patterns, which take half the time that `find` takes for two characters."""

_WIDE: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_MARKUP: Final = re.compile(rb"<(?:\?|!(--|\[CDATA\[)?)")
_CLOSING: Final = {b"<?": b"?>", b"<!": b">", b"<!--": b"-->", b"<![CDATA[": b"]]>"}
_PROLOG: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*+<\?xml\s[^<>]*?(?:encoding\s*+=\s*+["']([\w.-]+)["'][^<>]*?)?\?>"""
)


def pieces(chunks: Iterator[bytes], tag: bytes) -> Iterator[bytes]:
    """The part that inflates to `chunks`; each piece but the last ends behind the end of an element `tag`.

    A `<` in a piece begins a tag, and the name of what is in the main namespace has no prefix.
    """
    first, chunks = _first_chunk(chunks)
    encoding = _encoding(first)
    if encoding:
        chunks = (
            text.encode("utf-8", "replace") for text in codecs.iterdecode(chain((first,), chunks), encoding, "replace")
        )
        first, chunks = _first_chunk(chunks)
    prolog = _PROLOG.match(first)
    rest = first[prolog.end() :] if prolog is not None else first
    prefixes: dict[bytes, None] = {}
    ends = [b"</" + tag + b">"]
    _note_prefixes(rest, tag, prefixes, ends)
    for chunk in _bounded(chunks):
        cut = max(rest.rfind(end) + len(end) for end in ends)
        if cut < len(ends[0]):
            cut = rest.rfind(b"<") if len(rest) > _LONG else 0
        if cut > 0:
            piece, unended = _plain(rest[:cut])
            rest = unended + rest[cut:]
            yield from _in_short_pieces(_unprefixed(piece, prefixes), ends[0])
        rest += chunk
        _note_prefixes(chunk, tag, prefixes, ends)
    yield from _in_short_pieces(_unprefixed(_plain(rest)[0], prefixes), ends[0])


def _note_prefixes(chunk: bytes, tag: bytes, prefixes: dict[bytes, None], ends: list[bytes]) -> None:
    """Note the prefixes of the main namespace declared here, at the root or below, and how `tag` ends with each."""
    if chunk.find(b"xmlns:") < 0:
        return
    for name, uri in _PREFIX.findall(chunk):
        if uri in _MAIN and name + b":" not in prefixes and len(prefixes) < _MOST_PREFIXES:
            prefixes[name + b":"] = None
            ends.append(b"</" + name + b":" + tag + b">")


def _bounded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks without what is beyond _LONGEST_TEXT in one text or tag."""
    run = 0
    for chunk in chunks:
        at = chunk.find(b"<")
        piece = chunk
        if run + (at if at >= 0 else len(chunk)) > _LONGEST_TEXT:
            piece = chunk[: max(_LONGEST_TEXT - run, 0)] + (chunk[at:] if at >= 0 else b"")
        run = len(chunk) - chunk.rfind(b"<") if at >= 0 else run + len(chunk)
        if piece:
            yield piece


def _first_chunk(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
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


def _in_short_pieces(piece: bytes, end: bytes) -> Iterator[bytes]:
    """The piece in several ones, each ending behind `end`."""
    start = 0
    while len(piece) - start > 2 * SHORTEST_PIECE and (cut := piece.find(end, start + SHORTEST_PIECE)) >= 0:
        yield piece[start : cut + len(end)]
        start = cut + len(end)
    yield piece[start:]


def _unprefixed(piece: bytes, prefixes: Iterable[bytes]) -> bytes:
    """The piece without prefixes, and without white space in its end tags."""
    if _SPACE.search(piece) is not None or any(_ends_after(piece, space) for space in (b"\n", b"\r", b"\t")):
        piece = _SPACED_END.sub(rb"</\1>", piece)
    for prefix in prefixes:
        piece = piece.replace(b"<" + prefix, b"<").replace(b"</" + prefix, b"</")
    return piece


def _ends_after(piece: bytes, space: bytes) -> bool:
    """Whether a tag ends behind that character, which is rare as a rule: one is found at 10 GB/s, two at 1."""
    at = piece.find(space)
    for _ in range(_MOST_LOOKS):
        if at < 0 or piece[at + 1 : at + 2] == b">":
            return at >= 0
        at = piece.find(space, at + 1)
    return piece.find(space + b">", at) >= 0


def _plain(piece: bytes) -> tuple[bytes, bytes]:
    """The piece without document type, instructions and comments; and the beginning of one that does not end in it."""
    if not ((b"!" in piece and _EXCLAMATION.search(piece)) or (b"?" in piece and _QUESTION.search(piece))):
        return piece, b""
    pieces: list[bytes] = []
    at = 0
    while (opening := _MARKUP.search(piece, at)) is not None:
        pieces.append(piece[at : opening.start()])
        closing = _CLOSING[opening[0]]
        at_closing = piece.find(closing, opening.end())
        end = at_closing if at_closing >= 0 else max(len(piece) - 2, opening.end())
        if closing == b"]]>":
            characters = piece[opening.end() : end]
            pieces.append(characters.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;"))
        if at_closing < 0:
            return b"".join(pieces), opening[0] + piece[end:]
        at = end + len(closing)
    pieces.append(piece[at:])
    return b"".join(pieces), b""

r"""The bodies of Outlook's mails that are kept as RTF: compressed ([MS-OXRTFCP]), and often a page within RTF.

A mail that was sent as HTML is kept as RTF from which the page can be had back, tag for tag ([MS-OXRTFEX]): each tag
stands in a group `{\*\htmltag …}`, and what is RTF's alone between `\htmlrtf` and `\htmlrtf0`.
"""

import re
from collections.abc import Iterator
from typing import Final

from tasks.reading import formats
from tasks.reading.mail.decoding import text_of
from tasks.reading.mail.message import MailWords

_COMPRESSED: Final = b"LZFu"
_PLAIN: Final = b"MELA"
_MOST: Final = 16 << 20
_DICTIONARY: Final = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0" + b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_TOKEN: Final = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}]+)|\\"
)
_ENCAPSULATED: Final = re.compile(rb"\\fromhtml1\b")
_PLAIN_TEXT: Final = re.compile(rb"\\fromtext\b")
_CODE_PAGE: Final = re.compile(rb"\\ansicpg(\d{1,5})")
_LONGEST_BESIDE_PLAIN: Final = 1 << 18
"""Bytes of a packed body up to which a page is looked for in it where there is a plain text: 0.2 s."""

_UTF_8: Final = b"\xef\xbb\xbf"
_DEEPEST: Final = 500
_SYMBOLS: Final[dict[bytes, bytes | str]] = {b"~": "\xa0", b"_": "\xad", b"\n": b"\r\n", b"\r": b"\r\n"}
_SIGNS: Final[dict[bytes, bytes | str]] = {
    b"par": b"\r\n", b"line": b"\r\n", b"tab": b"\t", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“",
    b"rdblquote": "”", b"bullet": "•", b"endash": "–", b"emdash": "—",
}  # fmt: skip
_ASIDE: Final = frozenset(
    {b"fonttbl", b"colortbl", b"stylesheet", b"info", b"pict", b"object", b"generator", b"pntext"}
)


def words_of_bodies(plain: str, page: str, packed: bytes) -> MailWords:
    """The words of a mail of Outlook's, given its plain text, its page and its compressed RTF; each may be empty."""
    words = MailWords(plain, _UTF_8 + page.encode("utf-8", "replace") if page else b"")
    said = bool(words.text().strip())
    if said and (page or len(packed) > _LONGEST_BESIDE_PLAIN):
        return words
    rtf = decompressed(packed)
    if is_page(rtf):
        words.html = _UTF_8 + unwrapped(rtf).encode("utf-8", "replace")
    elif said:
        return words
    elif is_plain_text(rtf):
        words.plain = unwrapped(rtf)
    elif rtf:
        words.plain = _text_of_rtf(rtf)
    return words


def _text_of_rtf(rtf: bytes) -> str:
    """The text of RTF that is nothing but RTF."""
    if ".rtf" in formats.supported():
        return formats.reader(".rtf").read(rtf).text
    return unwrapped(rtf)


def decompressed(data: bytes) -> bytes:
    """The RTF in a compressed body, as far as it goes."""
    if len(data) < 16 or data[8:12] not in (_COMPRESSED, _PLAIN):
        return data if data.startswith(b"{\\rtf") else b""
    if data[8:12] == _PLAIN:
        return data[16:]
    window = bytearray(4096)
    window[: len(_DICTIONARY)] = _DICTIONARY
    position = len(_DICTIONARY)
    size = min(int.from_bytes(data[4:8], "little"), _MOST)
    out = bytearray()
    at, end = 16, len(data)
    while at < end and len(out) < size:
        flags = data[at]
        at += 1
        for bit in range(8):
            if at >= end:
                break
            if flags >> bit & 1:
                reference = int.from_bytes(data[at : at + 2], "big")
                at += 2
                start, length = reference >> 4, (reference & 15) + 2
                if start == position:
                    return bytes(out)
            else:
                window[position] = data[at]
                start, length = position, 1
                at += 1
            for offset in range(length):  # what is repeated may end with what it begins
                byte = window[(start + offset) & 4095]
                out.append(byte)
                window[position] = byte
                position = (position + 1) & 4095
    return bytes(out[:size])


def is_page(rtf: bytes) -> bool:
    """Whether the RTF holds a page."""
    return _ENCAPSULATED.search(rtf[:1024]) is not None


def is_plain_text(rtf: bytes) -> bool:
    """Whether the RTF holds a plain text."""
    return _PLAIN_TEXT.search(rtf[:1024]) is not None


def unwrapped(rtf: bytes) -> str:
    """The page or the plain text that the RTF holds."""
    named = _CODE_PAGE.search(rtf[:1024])
    charset = f"cp{named[1].decode()}" if named else "cp1252"
    pieces: list[str] = []
    pending = bytearray()
    for piece in _pieces(rtf):
        if isinstance(piece, bytes):
            pending += piece
            continue
        if pending:
            pieces.append(text_of(bytes(pending), charset))
            pending.clear()
        pieces.append(piece)
    pieces.append(text_of(bytes(pending), charset))
    return "".join(pieces)


def _pieces(rtf: bytes) -> Iterator[bytes | str]:
    """What the page or text consists of: bytes in the code page, or characters."""
    stack: list[tuple[bool, bool, int]] = []
    hidden = False  # a destination that is RTF's own
    only_rtf = False  # between \htmlrtf and \htmlrtf0
    fallback = 1  # characters after \u that stand for it elsewhere
    skip = 0
    starred = False
    for match in _TOKEN.finditer(rtf):
        word, number, hexadecimal, symbol, brace, text = match.groups()
        if brace == b"{":
            if len(stack) < _DEEPEST:
                stack.append((hidden, only_rtf, fallback))
            skip = 0
        elif brace == b"}":
            if stack:
                hidden, only_rtf, fallback = stack.pop()
            skip = 0
        elif symbol == b"*":
            starred = True
            continue
        elif word is not None:
            if word == b"htmlrtf":
                only_rtf = number != b"0"
            elif word == b"htmltag":
                hidden = False
            elif starred or word in _ASIDE:
                hidden = True
            elif word == b"uc":
                fallback = min(int(number or 1), 8)
            elif not hidden and not only_rtf:
                if word == b"u" and number:
                    yield chr(int(number) & 0xFFFF)
                    skip = fallback
                elif word in _SIGNS:
                    yield _SIGNS[word]
        elif not hidden and not only_rtf:
            if hexadecimal is not None:
                if skip:
                    skip -= 1
                else:
                    yield bytes.fromhex(hexadecimal.decode())
            elif symbol is not None:
                yield _SYMBOLS.get(symbol, symbol)
            elif text is not None:
                words = text.replace(b"\r", b"").replace(b"\n", b"")
                yield words[skip:]
                skip = max(0, skip - len(words))
        starred = False

"""The bytes of mails as words: character sets, words in headers (RFC 2047), transfer encodings (RFC 2045).

Senders break all of these. Nothing here raises: what cannot be decoded as it is declared is decoded as it looks.
"""

import binascii
import codecs
import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses
from typing import Final

from tasks.reading.txt.reader import decoded

_LONGEST_VALUE: Final = 32_768
"""Of a header, in characters: two thousand addresses."""
_ALIASES: Final = {
    "x-sjis": "cp932", "shift-jis": "cp932", "shift_jis": "cp932", "ks_c_5601-1987": "cp949", "euc-kr": "cp949",
    "gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin1": "cp1252", "ansi": "cp1252",
    "windows-874": "cp874", "iso-8859-8-i": "iso-8859-8", "iso-8859-6-i": "iso-8859-6", "unicode-1-1-utf-7": "utf-7",
    "unicode": "utf-8", "utf8mb4": "utf-8",
}  # fmt: skip
"""What senders write, and what it stands for; two names of one code page where browsers read the larger one."""
_NONE: Final = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined", "palmos"})
"""Python's codecs that are no character sets of mails; some take quadratic time."""
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]+")
_BROKEN: Final = 0.2
"""Of characters beyond ASCII: where more are broken, the text is in another character set than it says."""
_FOLDED: Final = re.compile(r"\r?\n[ \t]*")


def text_of(data: bytes, charset: str | None) -> str:
    """Words in that character set; as they look where there is none, or where it cannot be."""
    name = _codec(charset)
    if name is None or (name in ("ascii", "us-ascii") and not data.isascii()):
        return decoded(data)[0]
    try:
        return data.decode(name)
    except (UnicodeError, ValueError):
        text = data.decode(name, "replace")
        beyond = sum(character > "\x7f" for character in text)
        return decoded(data)[0] if text.count("\ufffd") > _BROKEN * beyond else text


def unflowed(text: str, *, delete_spaces: bool) -> str:
    """The paragraphs of a text of the form `format=flowed` (RFC 3676), whose lines go on where they end with a space.

    `delete_spaces` (`delsp=yes`) says that those spaces are no part of the words.
    """
    lines: list[list[str]] = []
    open_depth = -1  # of quotation, of the line that goes on
    for line in text.replace("\r\n", "\n").split("\n"):
        unquoted = line.lstrip(">")
        depth = len(line) - len(unquoted)
        words = unquoted.removeprefix(" ")
        is_signature = words == "-- "
        goes_on = words.endswith(" ") and not is_signature
        if goes_on and delete_spaces:
            words = words[:-1]
        if depth == open_depth and not is_signature:
            lines[-1].append(words)
        else:
            lines.append([">" * depth, " " * bool(depth), words])
        open_depth = depth if goes_on else -1
    return "\n".join(map("".join, lines))


def header_of(raw: bytes) -> str:
    """The value of a header: unfolded, its encoded words decoded, whatever bytes stand in it."""
    raw = raw[: 4 * _LONGEST_VALUE]
    value = _FOLDED.sub(" ", raw.decode("ascii") if raw.isascii() else text_of(raw, "utf-8")).strip()[:_LONGEST_VALUE]
    if "=?" not in value or "?=" not in value:
        return value
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError, binascii.Error):
        return value
    words = []
    for piece, charset in pieces:
        words.append(piece if isinstance(piece, str) else text_of(piece, charset or "utf-8"))
    return "".join(words)


def addresses_of(raw: bytes) -> str:
    """The value of a header with addresses: names are decoded one by one, as an encoded one may hold a comma."""
    value = _FOLDED.sub(" ", raw[: 4 * _LONGEST_VALUE].decode("latin-1")).strip()[:_LONGEST_VALUE]
    if "=?" not in value:
        return header_of(raw)
    try:
        addresses = getaddresses([value])
    except (RecursionError, ValueError, IndexError):  # brackets in brackets
        return header_of(raw)
    shown = []
    for name, address in addresses:
        words = header_of(name.encode("latin-1"))
        if not words and not address:
            return header_of(raw)
        quoted = f'"{words}"' if "," in words or ";" in words else words
        shown.append(f"{quoted} <{address}>" if words and address else words or address)
    return ", ".join(shown)


def content_of(data: bytes, encoding: str) -> bytes:
    """A part's content without its transfer encoding."""
    encoding = encoding.strip().lower()
    if encoding == "base64":
        return from_base64(data)
    if encoding == "quoted-printable":
        return binascii.a2b_qp(data)
    if encoding in ("x-uuencode", "uuencode", "x-uue"):
        return _from_uuencoded(data)
    return data


def from_base64(data: bytes) -> bytes:
    """What is encoded, as far as it goes: line ends and garbage are skipped, a cut end is left out."""
    before, padding, after = data.partition(b"=")
    letters = _NOT_BASE64.sub(b"", before if not padding or not after.strip(b"=\r\n \t") else data)
    return binascii.a2b_base64(
        letters[: len(letters) - 1] if len(letters) % 4 == 1 else letters + b"=" * (-len(letters) % 4)
    )


def _from_uuencoded(data: bytes) -> bytes:
    lines = data.splitlines()
    started = next((at for at, line in enumerate(lines) if line.startswith(b"begin ")), -1)
    content = []
    for line in lines[started + 1 :]:
        if line.strip() == b"end":
            break
        try:
            content.append(binascii.a2b_uu(line))
        except binascii.Error:  # a length that is wrong: senders' spaces were lost
            continue
    return b"".join(content)


def _codec(charset: str | None) -> str | None:
    """Python's name of a character set; None where it is none."""
    name = (charset or "").strip().strip("\"'").lower()
    try:
        codec = codecs.lookup(_ALIASES.get(name, name)) if name and name.isascii() and "\0" not in name else None
    except (LookupError, ValueError):
        return None
    if codec is None or codec.name in _NONE or not getattr(codec, "_is_text_encoding", True):
        return None
    return codec.name

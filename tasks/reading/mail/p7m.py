"""The content of a signature (.p7m, CMS, RFC 5652): a document, or a mail's message (S/MIME, RFC 8551), passed on.

Signatures are not verified. Encrypted content is not opened.
"""

import binascii
import re
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from tasks.errors import Damaged, PasswordProtected
from tasks.reading.text_writer import Reading, Source, Writer

UNCHECKED: Final = "The document is signed; the signature was not checked."
ENCRYPTED: Final = "The file is encrypted for its receiver (S/MIME). Ask for a plain copy."
_NO_SIGNATURE: Final = "The file is not a signed document, or it is damaged. Ask for it again."
_SEQUENCE: Final = b"\x30"
_SIGNED: Final = bytes.fromhex("2a864886f70d010702")
_ENCRYPTED: Final = tuple(map(bytes.fromhex, ("2a864886f70d010703", "2a864886f70d010706", "2a864886f70d0109100117")))
"""The names of signed content, and of what is enveloped, encrypted, or both with a check (RFC 5652, RFC 5083)."""
_UNTIL_ZEROS: Final = 0x80
"""The length of what ends with two zeros; a larger one tells in how many octets the length stands."""
_CONSTRUCTED: Final = 0x20
_MOST_INSIDE: Final = 6
_ARMOUR: Final = re.compile(rb"-----[A-Z0-9 ]{1,40}-----")
_MAIL: Final = re.compile(rb"(?:[!-9;-~]{1,100}:[^\n]{0,1000}\r?\n(?:[ \t][^\n]{0,1000}\r?\n)*)+\r?\n")


def read(source: Source) -> Reading:
    """The document in the signature in `source`, as an embedded one, named as the file without `.p7m`.

    Raises:
        Damaged: there is none in it.
        PasswordProtected: it is encrypted.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    content = signed_content(data)
    name = PurePath(source.name).stem if isinstance(source, Path) else "document"
    if _MAIL.match(content):
        name, content = f"{name}.eml", b"MIME-Version: 1.0\n" + content
    writer = Writer()
    writer.warn(UNCHECKED)
    writer.attach(name, content)
    return writer.reading()


def signed_content(data: bytes) -> bytes:
    """The content signed by this signature, in DER, BER or Base64.

    Raises:
        Damaged: it is none, or what it signs is not in it.
        PasswordProtected: it is encrypted.
    """
    try:
        if data[:1] != _SEQUENCE:
            data = binascii.a2b_base64(_ARMOUR.sub(b"", data))
        kind, *content = _inside(data, _element(data, 0))
        name = data[kind.start : kind.end]
        if name in _ENCRYPTED:
            raise PasswordProtected(ENCRYPTED)
        if name == _SIGNED:
            _, _, signed, *_ = _inside(data, _inside(data, content[0])[0])  # after version and algorithms
            _, *held = _inside(data, signed)
            if not held:
                raise Damaged(
                    "The file contains only a signature; what it signs is not in it. Ask for the signed document."
                )
            return _octets(data, _inside(data, held[0])[0])
    except (ValueError, IndexError, RecursionError) as error:
        raise Damaged(_NO_SIGNATURE) from error
    raise Damaged(_NO_SIGNATURE)


class _Element(NamedTuple):
    """A BER value (ITU-T X.690, 8.1): its tag, its start and end, and where the next value begins."""

    tag: int
    start: int
    end: int
    behind: int


def _element(data: bytes, at: int) -> _Element:
    tag, length = data[at], data[at + 1]
    start = at + 2
    if length == _UNTIL_ZEROS:
        end = start
        while data[end : end + 2] != b"\0\0":
            end = _element(data, end).behind
        return _Element(tag, start, end, end + 2)
    if length > _UNTIL_ZEROS:
        start += length - _UNTIL_ZEROS
        length = int.from_bytes(data[at + 2 : start], "big")
    return _Element(tag, start, start + length, start + length)


def _inside(data: bytes, outer: _Element) -> list[_Element]:
    """The first values inside another; a signed one has six."""
    found: list[_Element] = []
    at = outer.start
    while at < outer.end and len(found) < _MOST_INSIDE:
        found.append(_element(data, at))
        at = found[-1].behind
    return found


def _octets(data: bytes, element: _Element) -> bytes:
    """An octet string; long ones are split into pieces, which are joined."""
    if not element.tag & _CONSTRUCTED:
        return data[element.start : element.end]
    pieces: list[bytes] = []
    at = element.start
    while at < element.end:
        piece = _element(data, at)
        pieces.append(data[piece.start : piece.end])
        at = piece.behind
    return b"".join(pieces)

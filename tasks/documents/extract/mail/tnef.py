"""What is in a winmail.dat, into which Outlook packs a mail's body and what is attached to it ([MS-OXTNEF]).

A stream of attributes, some of which hold properties as a mail of Outlook has them. Nothing in it is believed: a
length that leads beyond the data ends the reading.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.header import Header
from email.mime.application import MIMEApplication
from typing import Final, NamedTuple

from tasks.documents.extract.mail.compressed_rtf import words_of_bodies
from tasks.documents.extract.mail.decoding import text_of
from tasks.documents.extract.mail.message import MailWords
from tasks.documents.extract.ooxml import ole
from tasks.documents.extract.text_writer import Attachment

SIGNATURE: Final = b"\x78\x9f\x3e\x22"

_BODY: Final = 0x800C
_MESSAGE_PROPERTIES: Final = 0x9003
_CODE_PAGES: Final = 0x9007
_NEXT_ATTACHMENT: Final = 0x9002
_ATTACHMENT_DATA: Final = 0x800F
_ATTACHMENT_NAME: Final = 0x8010
_ATTACHMENT_PROPERTIES: Final = 0x9005

_PLAIN: Final = 0x1000
_RTF: Final = 0x1009
_HTML: Final = 0x1013
_NAMES: Final = (0x3707, 0x3704, 0x3001)
_DATA: Final = 0x3701
_CLASS_ID: Final = 16
"""Bytes in front of an object that say of what kind it is."""

_SUBJECT: Final = 0x0037
_SENDER: Final = 0x0C1A
_CONTENT_ID: Final = 0x3712
_PICTURES: Final = (".png", ".gif", ".jpg", ".jpeg", ".bmp")

_PAGE_CODE: Final = 0x3FDE
_CHARSETS: Final = {
    65001: "utf-8", 20127: "us-ascii", 20866: "koi8-r", 21866: "koi8-u", 50220: "iso2022_jp", 50221: "iso2022_jp",
    50222: "iso2022_jp", 51932: "euc_jp", 51949: "euc_kr", 28605: "iso8859-15",
    **{28590 + part: f"iso8859-{part}" for part in range(1, 10)},
}  # fmt: skip
"""The character sets that Windows counts as code pages and Python does not call by these numbers."""

_FIXED: Final = {0x1: 0, 0x2: 4, 0x3: 4, 0x4: 4, 0x5: 8, 0x6: 8, 0x7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
"""The bytes of a value of each type whose length is fixed, filled up to four."""

_VARIABLE: Final = frozenset({0xD, 0x1E, 0x1F, 0x102})
_OBJECT: Final = 0xD
_NARROW: Final = 0x1E
_WIDE: Final = 0x1F
_SEVERAL: Final = 0x1000
_FIRST_NAMED: Final = 0x8000
_MOST: Final = 10_000
"""Attributes of a stream, properties of a list, values of a property."""


@dataclass(slots=True)
class TnefMessage:
    """The words of the mail and what is attached to it; the content is None where it cannot be had."""

    words: MailWords = field(default_factory=MailWords)
    attached: list[Attachment] = field(default_factory=list)


class _Value(NamedTuple):
    kind: int
    data: bytes


def unpacked(data: bytes) -> TnefMessage | None:
    """What is in a winmail.dat, as far as it goes; None where it is none."""
    if not data.startswith(SIGNATURE):
        return None
    message = TnefMessage()
    code_page = "cp1252"
    plain, properties = "", dict[int, _Value]()
    pending: _Attached | None = None
    for attribute, content in _attributes(data):
        if attribute == _CODE_PAGES and len(content) >= 4:
            code_page = _charset(content)
        elif attribute == _BODY:
            plain = text_of(content.rstrip(b"\0"), code_page)
        elif attribute == _MESSAGE_PROPERTIES:
            properties = dict(_properties(content))
        elif attribute == _NEXT_ATTACHMENT:
            _end(pending, message)
            pending = _Attached(code_page)
        elif pending is not None and attribute == _ATTACHMENT_DATA:
            pending.data = content
        elif pending is not None and attribute == _ATTACHMENT_NAME:
            pending.name = text_of(content.rstrip(b"\0"), code_page)
        elif pending is not None and attribute == _ATTACHMENT_PROPERTIES:
            pending.properties = dict(_properties(content))
    _end(pending, message)
    page, code = properties.get(_HTML), properties.get(_PAGE_CODE)
    message.words = words_of_bodies(
        _text(properties.get(_PLAIN), code_page) or plain,
        _text(page, _charset(code.data) if code is not None else code_page),
        properties[_RTF].data if _RTF in properties else b"",
    )
    return message


@dataclass(slots=True)
class _Attached:
    """Something attached, while its attributes are read."""

    code_page: str
    name: str = ""
    data: bytes = b""
    properties: dict[int, _Value] = field(default_factory=dict)


def _end(attached: _Attached | None, message: TnefMessage) -> None:
    """Add what is attached to the message, but for the pictures of its page."""
    if attached is None:
        return
    names = (_text(attached.properties.get(number), attached.code_page) for number in _NAMES)
    name = next(filter(None, names), "") or attached.name or "attachment"
    if _CONTENT_ID in attached.properties and name.lower().endswith(_PICTURES):
        return
    value = attached.properties.get(_DATA)
    content = attached.data
    if value is not None and value.kind == _OBJECT:
        inner = value.data[_CLASS_ID:]
        if inner.startswith(SIGNATURE):  # a mail
            name, content = f"{' '.join(name.split())[:100].replace('/', '-')}.eml", _as_eml(inner)
        elif inner.startswith(ole.MAGIC):
            content = inner
    elif value is not None:
        content = content or value.data
    message.attached.append(Attachment(name, content or None))


def _as_eml(packed: bytes) -> bytes:
    """A mail that is packed in another one, as a mail of its own."""
    properties = next(
        (dict(_properties(content)) for number, content in _attributes(packed) if number == _MESSAGE_PROPERTIES), {}
    )
    part = MIMEApplication(packed, "ms-tnef")
    for header, number in (("Subject", _SUBJECT), ("From", _SENDER)):
        words = " ".join(_text(properties.get(number), "cp1252").split())
        if words:
            part[header] = Header(words, "utf-8").encode()
    return part.as_bytes()


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The attributes, each by the lower half of its id (the rest is its type)."""
    at = 6
    for _ in range(_MOST):
        if at + 9 > len(data):
            return
        number, size = struct.unpack_from("<HxxI", data, at + 1)
        yield number, data[at + 9 : at + 9 + size]
        at += 9 + size + 2


def _properties(data: bytes) -> Iterator[tuple[int, _Value]]:
    """The properties of a list by their numbers, each with its first value; those with names of their own left out."""
    try:
        (count,) = struct.unpack_from("<I", data)
        at = 4
        for _ in range(min(count, _MOST)):
            kind, number = struct.unpack_from("<HH", data, at)
            at += 4
            if number >= _FIRST_NAMED:
                (named,) = struct.unpack_from("<I", data, at + 16)
                length = struct.unpack_from("<I", data, at + 20)[0] if named else 0
                at += 24 + _filled(length)
            several, kind = kind & _SEVERAL, kind & ~_SEVERAL
            values = 1
            if several or kind in _VARIABLE:
                (values,) = struct.unpack_from("<I", data, at)
                at += 4
            for place in range(min(values, _MOST)):
                if kind in _VARIABLE:
                    (size,) = struct.unpack_from("<I", data, at)
                    at += 4
                else:
                    size = _FIXED[kind]
                if not place and number < _FIRST_NAMED:
                    yield number, _Value(kind, data[at : at + size])
                at += _filled(size)
    except (struct.error, KeyError):
        return


def _filled(size: int) -> int:
    return size + -size % 4


def _charset(number: bytes) -> str:
    """The character set of a code page, whose number stands in the first four bytes."""
    code_page = int.from_bytes(number[:4], "little")
    return _CHARSETS.get(code_page, f"cp{code_page}")


def _text(value: _Value | None, code_page: str) -> str:
    if value is None:
        return ""
    if value.kind == _WIDE:
        return value.data.decode("utf-16-le", "replace").rstrip("\0")
    return text_of(value.data.rstrip(b"\0"), code_page)

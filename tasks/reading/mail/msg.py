"""Outlook mails (.msg): a compound file of properties ([MS-OXMSG]).

Property values are read by python-oxmsg, which reads a whole file at once and gives up if one value is malformed: so it
is given our own compound file, one property at a time. Attachments are passed on; a mail inside the mail is passed on
as an .eml made from its parts.
"""

import mimetypes
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from email.message import Message
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import HeaderParser
from email.utils import format_datetime
from typing import Final, TypeVar

from oxmsg.domain import constants as c
from oxmsg.properties import Properties

from tasks.errors import Damaged
from tasks.reading import formats, limits
from tasks.reading.mail.message import (
    Attachments,
    Mail,
    MailWords,
    decode_charset,
    iso_date,
    iso_moment,
    read_header,
    write,
)
from tasks.reading.ooxml import ole
from tasks.reading.text_writer import NO_TEXT, Attachment, Reading, Source, Writer

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


def choose_words(plain: str, page: str, packed: bytes) -> MailWords:
    """The words of an Outlook mail, from its plain text, its page and its compressed RTF; each may be empty."""
    words = MailWords(plain, _UTF_8 + page.encode("utf-8", "replace") if page else b"")
    said = bool(words.text().strip())
    if said and (page or len(packed) > _LONGEST_BESIDE_PLAIN):
        return words
    rtf = decompress_rtf(packed)
    if _ENCAPSULATED.search(rtf[:1024]):
        words.html = _UTF_8 + unwrap_rtf(rtf).encode("utf-8", "replace")
    elif said:
        return words
    elif _PLAIN_TEXT.search(rtf[:1024]):
        words.plain = unwrap_rtf(rtf)
    elif rtf:
        words.plain = _read_rtf(rtf)
    return words


def _read_rtf(rtf: bytes) -> str:
    """The text of RTF that wraps no HTML or plain text."""
    if ".rtf" in formats.list_supported():
        return formats.reader(".rtf")(rtf).text
    return unwrap_rtf(rtf)


def decompress_rtf(data: bytes) -> bytes:
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


def unwrap_rtf(rtf: bytes) -> str:
    """The page or plain text inside the RTF."""
    named = _CODE_PAGE.search(rtf[:1024])
    charset = f"cp{named[1].decode()}" if named else "cp1252"
    pieces: list[str] = []
    pending = bytearray()
    for piece in _pieces(rtf):
        if isinstance(piece, bytes):
            pending += piece
            continue
        if pending:
            pieces.append(decode_charset(bytes(pending), charset))
            pending.clear()
        pieces.append(piece)
    pieces.append(decode_charset(bytes(pending), charset))
    return "".join(pieces)


def _pieces(rtf: bytes) -> Iterator[bytes | str]:
    """The contents of the page or text: bytes in the code page, or characters."""
    stack: list[_Group] = []
    group = _Group()
    skip = 0  # characters that stand for one that came before, for readers that do not know it
    starred = False
    for match in _TOKEN.finditer(rtf):
        word, number, hexadecimal, symbol, brace, text = match.groups()
        was_starred, starred = starred, symbol == b"*"
        if brace is not None:
            skip = 0
            group = _at_brace(brace, group, stack)
        elif word is not None:
            changed = group.after(word, number, was_starred)
            if changed is group and group.shows:
                is_character = word == b"u" and number
                yield chr(int(number) & 0xFFFF) if is_character else _SIGNS.get(word, b"")
                skip = group.fallback if is_character else skip
            group = changed
        elif starred or not group.shows:
            continue
        elif symbol is not None:
            yield _SYMBOLS.get(symbol, symbol)
        else:
            words = bytes.fromhex(hexadecimal.decode()) if hexadecimal else _NO_LINES.sub(b"", text or b"")
            yield words[skip:]
            skip = max(0, skip - len(words))


def _at_brace(brace: bytes, group: "_Group", stack: "list[_Group]") -> "_Group":
    """The state after a brace; `stack` are the states of the enclosing groups."""
    if brace == b"}":
        return stack.pop() if stack else group
    if len(stack) < _DEEPEST:
        stack.append(group)
    return group


@dataclass(frozen=True)
class _Group:
    """The state within braces: whether they are a destination of RTF, and whether they are for RTF only, not the page.

    `fallback` characters after a character's number replace it in other readers.
    """

    hidden: bool = False
    only_rtf: bool = False
    fallback: int = 1

    @property
    def shows(self) -> bool:
        """Whether its text belongs to the page."""
        return not self.hidden and not self.only_rtf

    def after(self, word: bytes, number: bytes | None, starred: bool) -> "_Group":
        """The state after a control word; the same object if the word changes nothing."""
        if word == b"htmlrtf":
            return replace(self, only_rtf=number != b"0")
        if word == b"htmltag":
            return replace(self, hidden=False)
        if starred or word in _ASIDE:
            return replace(self, hidden=True)
        return replace(self, fallback=min(int(number or 1), 8)) if word == b"uc" else self


_NO_LINES: Final = re.compile(rb"[\r\n]+")
_PROPERTIES: Final = "__properties_version1.0"
_ATTACHMENT: Final = "__attach_version1.0_#"
_RECIPIENT: Final = "__recip_version1.0_#"
_EMBEDDED: Final = "__substg1.0_3701000D"
_STREAM: Final = "__substg1.0_{:04X}{:04X}"
_KINDS: Final = {1: "To", 2: "Cc", 3: "Bcc"}
_MOST_ATTACHED: Final = 1_000
_MOST_RECIPIENTS: Final = 2_000
_DEEPEST_MAIL: Final = 3
_RECIPIENT_TYPE: Final = 0x0C15
_ATTACHED_BY_REFERENCE: Final = frozenset({2, 3, 4, 7})
_ATTACHED_MAIL: Final = 5
_NAMES: Final = (c.PID_ATTACH_LONG_FILENAME, c.PID_ATTACH_FILENAME, c.PID_DISPLAY_NAME)
_SENT_REPRESENTING_SMTP: Final = 0x5D02
_HIDDEN: Final = 0x7FFE
_RTF: Final = 0x1009
_TYPES: Final = mimetypes.MimeTypes(filenames=())

T = TypeVar("T")


def read(source: Source) -> Reading:
    """The text of the mail in `source`; its attachments are handed on.

    Raises:
        Damaged: it is no mail of Outlook's, or nothing of it can be read.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    if not data.startswith(ole.MAGIC):
        raise Damaged("The file is not an Outlook mail. Ask for it again.")
    file = ole.Compound(data)
    if not file.has_stream(_PROPERTIES):
        raise Damaged("The file is not an Outlook mail, or it is damaged. Ask for it again.")
    writer = Writer()
    message = _Message(_Storage(file, ()), 32, writer, 0)
    mail = message.mail()
    attachments = list(message.attachments())
    mail.attached = [attachment.name for attachment in attachments]
    write(mail, writer)
    passed_on = Attachments(writer)
    for attachment in attachments:
        passed_on.add(attachment.name, attachment.data)
    if not writer.written:
        writer.warn(NO_TEXT)
    return writer.reading()


class _Storage:
    """A folder of the compound file, in the form that python-oxmsg expects: properties are read one at a time."""

    def __init__(self, file: ole.Compound, path: tuple[str, ...]) -> None:
        self.file = file
        self.path = path

    @property
    def properties_stream_bytes(self) -> bytes:
        return self.stream(_PROPERTIES)

    def property_stream_bytes(self, pid: int, ptyp: int) -> bytes:
        return self.stream(_STREAM.format(pid, ptyp))

    def stream(self, name: str) -> bytes:
        path = "/".join((*self.path, name))
        return self.file.stream(path) if self.file.has_stream(path) else b""

    def below(self, name: str) -> "_Storage":
        return _Storage(self.file, (*self.path, name))

    def folders(self, prefix: str) -> list[str]:
        """The names of the folders in this one that begin with `prefix`, in order."""
        depth = len(self.path)
        names = {
            path[depth]
            for path in self.file.folders()
            if len(path) == depth + 1 and path[:depth] == self.path and path[depth].startswith(prefix)
        }
        return sorted(names)


class _Values:
    """The properties of a storage; unreadable ones count as missing."""

    def __init__(self, storage: _Storage, header: int) -> None:
        self._storage = storage
        self._properties = Properties(storage, header)

    def text(self, *pids: int) -> str:
        """The first of these properties that is a non-empty text."""
        for pid in pids:
            value = _or_none(lambda pid=pid: self._properties.str_prop_value(pid))  # type: ignore[misc]
            if value is None:  # not in the encoding that it is said to be in, or not listed
                wide = self._storage.property_stream_bytes(pid, c.PTYP_STRING)
                value = wide.decode("utf-16-le", "replace") if wide else None
            if value is None:
                narrow = self._storage.property_stream_bytes(pid, c.PTYP_STRING8)
                value = read_header(narrow) if narrow and pid != c.PID_BODY else narrow.decode("cp1252", "replace")
            if value and value.strip("\0 \r\n\t"):
                return value.rstrip("\0")
        return ""

    def data(self, pid: int) -> bytes:
        return self._storage.property_stream_bytes(pid, c.PTYP_BINARY)

    def number(self, pid: int) -> int | None:
        value = _or_none(lambda: self._properties.int_prop_value(pid))
        return value if isinstance(value, int) else None

    def moment(self, *pids: int) -> datetime | None:
        for pid in pids:
            value = _or_none(lambda pid=pid: self._properties.date_prop_value(pid))  # type: ignore[misc]
            if isinstance(value, datetime) and value.year > 1601:
                return value
        return None

    @property
    def charset(self) -> str:
        return _or_none(lambda: self._properties.body_encoding) or "cp1252"


class _Message:
    """The mail in a storage; its properties begin after a header of `header` bytes."""

    def __init__(self, storage: _Storage, header: int, writer: Writer, depth: int) -> None:
        self._storage = storage
        self._values = _Values(storage, header)
        self._writer = writer
        self._depth = depth

    def mail(self) -> Mail:
        """The headers and words."""
        values = self._values
        sent = values.moment(c.PID_CLIENT_SUBMIT_TIME, c.PID_MESSAGE_DELIVERY_TIME)
        headers = self._transport_headers()
        recipients = self._recipients()
        kind = values.text(c.PID_MESSAGE_CLASS).lower()
        if "smime" in kind and "multipartsigned" not in kind:
            self._writer.warn("The words of the mail are in what is attached to it, sealed (S/MIME).")
        mail = Mail(
            {
                "From": self._sender() or headers.get("from", ""),
                "To": recipients["To"] or headers.get("to", "") or values.text(c.PID_DISPLAY_TO),
                "Cc": recipients["Cc"] or headers.get("cc", "") or values.text(c.PID_DISPLAY_CC),
                "Bcc": recipients["Bcc"] or values.text(c.PID_DISPLAY_BCC),
                "Date": iso_moment(sent) if sent else iso_date(headers.get("date", "")),
                "Subject": values.text(c.PID_SUBJECT) or headers.get("subject", ""),
            }
        )
        mail.words.append(self._words())
        return mail

    def attachments(self) -> Iterator[Attachment]:
        """The attachments, except for the pictures of the page."""
        names = self._storage.folders(_ATTACHMENT)
        if len(names) > _MOST_ATTACHED:
            self._writer.warn(f"The mail has more than {_MOST_ATTACHED} attachments: the others were left out.")
        for name in names[:_MOST_ATTACHED]:
            if limits.is_near():
                self._writer.warn("Reading the mail takes too long: its last attachments were left out.")
                return
            storage = self._storage.below(name)
            values = _Values(storage, 8)
            method = values.number(c.PID_ATTACH_METHOD)
            if method == _ATTACHED_MAIL or storage.folders(_EMBEDDED):
                yield from self._inner_mail(storage, values)
                continue
            mime_type = values.text(c.PID_ATTACH_MIME_TAG).lower()
            shown_as = values.text(*_NAMES) or _name_for(mime_type)
            within = values.text(c.PID_ATTACH_CONTENT_ID) or values.number(_HIDDEN)
            if within and (
                mime_type.startswith("image/") or shown_as.lower().endswith((".png", ".gif", ".jpg", ".jpeg"))
            ):
                continue
            content = values.data(c.PID_ATTACH_DATA_BINARY)
            if not content and method in _ATTACHED_BY_REFERENCE:
                self._writer.warn(f"{shown_as} is not in the mail, which only says where it was stored.")
            yield Attachment(shown_as, content or None)

    def as_eml(self) -> bytes:
        """The mail in the form in which it is sent over the internet."""
        mail, attachments = self.mail(), list(self.attachments())
        body = MIMEText(_valid(mail.words[0].text()), "plain", "utf-8")
        message: Message = body
        if attachments:
            message = MIMEMultipart()
            message.attach(body)
            for attachment in attachments:
                part = MIMEApplication(attachment.data or b"")
                part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", _valid(attachment.name)))
                message.attach(part)
        lines = []
        for name, value in mail.headers.items():
            if name == "Date":
                with suppress(ValueError):
                    value = format_datetime(datetime.fromisoformat(value))  # noqa: PLW2901
            if value:
                lines.append(f"{name}: {' '.join(_valid(value).split())}\n")
        return "".join(lines).encode() + message.as_bytes()

    def _inner_mail(self, storage: _Storage, values: _Values) -> Iterator[Attachment]:
        if self._depth == _DEEPEST_MAIL:
            self._writer.warn("A mail lies too deep inside other mails to be read.")
            return
        inner = _Message(storage.below(_EMBEDDED), 24, self._writer, self._depth + 1)
        if not inner._storage.properties_stream_bytes:  # a document of another program
            yield Attachment(values.text(c.PID_ATTACH_LONG_FILENAME, c.PID_DISPLAY_NAME) or "object", None)
            return
        subject = inner._values.text(c.PID_SUBJECT) or values.text(c.PID_DISPLAY_NAME) or "mail"
        yield Attachment(f"{' '.join(subject.split())[:100].replace('/', '-')}.eml", inner.as_eml())

    def _sender(self) -> str:
        values = self._values
        name = values.text(c.PID_SENT_REPRESENTING_NAME, c.PID_SENDER_NAME)
        address = values.text(
            _SENT_REPRESENTING_SMTP,
            c.PID_SENDER_SMTP_ADDRESS,
            c.PID_SENT_REPRESENTING_EMAIL_ADDRESS,
            c.PID_SENDER_EMAIL_ADDRESS,
        )
        return _address(name, address)

    def _recipients(self) -> dict[str, str]:
        found: dict[str, list[str]] = {kind: [] for kind in _KINDS.values()}
        for name in self._storage.folders(_RECIPIENT)[:_MOST_RECIPIENTS]:
            values = _Values(self._storage.below(name), 8)
            kind = _KINDS.get((values.number(_RECIPIENT_TYPE) or 1) & 0xF, "To")
            address = values.text(c.PID_SMTP_ADDRESS, c.PID_EMAIL_ADDRESS)
            shown = _address(values.text(c.PID_DISPLAY_NAME), address)
            if shown:
                found[kind].append(shown)
        return {kind: ", ".join(shown) for kind, shown in found.items()}

    def _transport_headers(self) -> dict[str, str]:
        """The headers that the mail arrived with, if they were kept."""
        text = self._values.text(c.PID_TRANSPORT_MESSAGE_HEADERS)[: 1 << 18]
        headers = reversed(HeaderParser().parsestr(text).items())  # the first of a name counts
        return {name.lower(): read_header(value.encode("utf-8", "replace")) for name, value in headers}

    def _words(self) -> MailWords:
        values = self._values
        page = values.data(c.PID_HTML)
        html = page.decode(values.charset, "replace") if page else values.text(c.PID_BODY_HTML)
        return choose_words(values.text(c.PID_BODY), html, values.data(_RTF))


def _name_for(mime_type: str) -> str:
    """The name for an attachment that has none: one that was signed as a whole is a mail too."""
    ending = ".eml" if mime_type.startswith("multipart/") else _TYPES.guess_extension(mime_type)
    return f"attachment{ending or ''}"


def _address(name: str, address: str) -> str:
    name = name.strip().strip("'\"")
    if "@" not in address:  # one of Exchange's own
        return name or address
    return f"{name} <{address}>" if name and name.lower() != address.lower() else address


def _or_none(value: "Callable[[], T]") -> T | None:
    """A property as python-oxmsg reads it; None if it cannot read it."""
    try:
        return value()
    except (Damaged, MemoryError):
        raise
    except (KeyError, ValueError, LookupError, OverflowError, AssertionError, AttributeError, struct.error):
        return None


def _valid(text: str) -> str:
    """The text with everything replaced that cannot be encoded."""
    return text.encode("utf-8", "replace").decode()

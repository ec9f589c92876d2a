"""Internet mail (.eml): headers, words, and attachments, in that order; mailboxes (.mbox) and saved pages (.mhtml).

If the same words come in two forms, the plain one is used, unless it says next to nothing or the other has tables.
Pictures within the words (signatures, logos) are left out. Signatures are not verified; encrypted parts are named.

The content of a signature (.p7m, CMS, RFC 5652), a document or a mail's message (S/MIME, RFC 8551), is passed on.
Encrypted content is not opened.
"""

import binascii
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from tasks.errors import Damaged, PasswordProtected
from tasks.language.normalise import clean, one_line
from tasks.reading import limits
from tasks.reading.html import reader as html
from tasks.reading.mail.message import (
    HEADERS,
    Attachments,
    Mail,
    MailWords,
    decode_addresses,
    decode_charset,
    decode_content,
    iso_date,
    join_flowed,
    read_header,
    write,
)
from tasks.reading.text_writer import NO_TEXT, Reading, Source, Writer

MOST_PARTS: Final = 10_000
DEEPEST: Final = 30
_LONGEST_REST: Final = 200  # bytes after a boundary in its line: spaces alone
_MOST_HEADERS: Final = 1 << 20
"""Bytes of the headers of one part; servers refuse mails with more than some 100 KB."""

_PAGES: Final = (".htm", ".html", ".xhtml")
_ARCHIVES: Final = (".mht", ".mhtml", ".eml")
_PAGE_TYPES: Final = ("text/html", "application/xhtml+xml")
_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!doctype html|<html)\b", re.IGNORECASE)
_ARCHIVE: Final = re.compile(rb"(?:MIME-Version|From|Content-Type):\s", re.IGNORECASE)


class PartAllowance:
    """How many more parts may be looked at."""

    def __init__(self) -> None:
        self.left = MOST_PARTS
        self.exceeded = False


@dataclass(eq=False)
class Part:
    """A message, or a part of one: `data[start:end]`, with its headers."""

    data: bytes
    start: int
    end: int
    budget: PartAllowance
    depth: int = 0

    def __post_init__(self) -> None:
        self.headers, self.body = _headers(self.data, self.start, self.end)

    def header(self, name: str) -> str:
        """The decoded header of that name (in lower case); "" if there is none."""
        return read_header(self.headers.get(name, b""))

    @cached_property
    def _fields(self) -> Message:
        message = Message()
        for name in ("content-type", "content-disposition"):
            value = self.header(name)
            if value:
                message[name] = value
        return message

    @cached_property
    def content_type(self) -> str:
        """The MIME type, in lower case; `text/plain` if there is none."""
        return self._fields.get_content_type()

    def parameter(self, name: str, header: str = "content-type") -> str:
        """A parameter of a header, in whatever encoding (RFC 2231)."""
        try:
            value = self._fields.get_param(name, "", header=header)
            if isinstance(value, tuple):
                charset, _, words = value
                value = read_header(words.encode("latin-1", "replace")) if not charset else _of_rfc2231(charset, words)
            return read_header(str(value).encode())
        except (ValueError, LookupError, TypeError):
            return ""

    @property
    def file_name(self) -> str:
        """The name of the part as a file; "" if it has none."""
        return self.parameter("filename", "content-disposition") or self.parameter("name")

    @property
    def disposition(self) -> str:
        """`inline`, `attachment` or nothing."""
        return self.header("content-disposition").partition(";")[0].strip().lower()

    @property
    def raw(self) -> bytes:
        """The part's content as it was sent."""
        return self.data[self.body : self.end]

    @cached_property
    def content(self) -> bytes:
        """The part's content with its transfer encoding undone."""
        return decode_content(self.raw, self.header("content-transfer-encoding"))

    def parts(self) -> "list[Part]":
        """The parts of a multipart message; empty if there are no boundaries, or it is nested too deeply."""
        boundary = self.parameter("boundary").encode("utf-8", "replace")
        if not boundary or self.depth >= DEEPEST:
            self.budget.exceeded = self.budget.exceeded or bool(boundary)
            return []
        found = []
        for start, end in _spans(self.data, self.body, self.end, b"--" + boundary):
            if self.budget.left == 0:
                self.budget.exceeded = True
                break
            self.budget.left -= 1
            found.append(Part(self.data, start, end, self.budget, self.depth + 1))
        return found


def page_in(name: str, data: bytes) -> bytes | None:
    """The HTML page in a file of that name, or in a web archive (.mht); None if there is none."""
    extension = PurePath(name).suffix.lower()
    if extension in _PAGES or _PAGE.match(data) is not None:
        return data
    if extension in _ARCHIVES or _ARCHIVE.match(data) is not None:
        return _find_archive_page(Part(data, 0, len(data), PartAllowance()))
    return None


def _find_archive_page(message: Part) -> bytes | None:
    """The first HTML page in a message, with a byte order mark if its encoding is known."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.content_type in _PAGE_TYPES:
            charset = part.parameter("charset")
            return decode_charset(part.content, charset).encode("utf-8-sig", "replace") if charset else part.content
        if part.content_type.startswith("multipart/"):
            waiting.extend(reversed(part.parts()))
    return None


def _of_rfc2231(charset: str, words: str) -> str:
    try:
        return words.encode("latin-1").decode(charset)
    except (LookupError, UnicodeError, ValueError):
        return words


def _headers(data: bytes, start: int, end: int) -> tuple[dict[str, bytes], int]:
    """The headers by name in lower case (the first of a name counts), and where the body begins."""
    headers: dict[str, bytearray] = {}
    name = ""
    at = start
    while at < end and at - start < _MOST_HEADERS:
        line_end = data.find(b"\n", at, end)
        following = end if line_end < 0 else line_end + 1
        line = data[at:following].rstrip(b"\r\n")
        if not line:
            at = following
            break
        key, colon, value = line.partition(b":")
        if line[:1] in b" \t":
            if name:
                headers[name] += b"\n" + line
        elif colon and key and b" " not in key.rstrip() and key.isascii():
            name = key.rstrip().decode().lower()
            name = "" if name in headers else name
            if name:
                headers[name] = bytearray(value.strip())
        elif headers or not line.startswith((b"From ", b">From ")):
            break  # a body without an empty line before it; not the line before a mail of a mailbox
        at = following
    return {name: bytes(value) for name, value in headers.items()}, at


def _spans(data: bytes, start: int, end: int, mark: bytes) -> Iterator[tuple[int, int]]:
    """Where the parts between the lines that begin with `mark` stand."""
    at, begun = start, -1
    while True:
        at = data.find(mark, at, end)
        if at < 0:
            break
        if at > start and data[at - 1 : at] != b"\n":
            at += len(mark)
            continue
        most = min(end, at + len(mark) + _LONGEST_REST)
        line_end = data.find(b"\n", at, most)
        rest = data[at + len(mark) : most if line_end < 0 else line_end].strip()
        if rest not in (b"", b"--"):
            at += len(mark)
            continue
        if begun >= 0:
            yield begun, max(begun, at - (2 if data[at - 2 : at] == b"\r\n" else 1))
        begun = -1 if rest == b"--" or line_end < 0 else line_end + 1
        if begun < 0:
            return
        at = begun
    if begun >= 0:
        yield begun, end


_MOST_ATTACHED: Final = 1_000
_LONGEST_NAME: Final = 100
_ADDRESSES: Final = frozenset({"From", "To", "Cc", "Bcc"})
_MARKS: Final = (b"\xef\xbb\xbf", b"\r\n", b"\n")
_KNOWN: Final = frozenset({"from", "to", "subject", "date", "received", "message-id", "mime-version", "content-type"})
_UNCHECKED: Final = "The mail is signed; the signature was not checked."
_SEALED: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_PACKED: Final = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_SIGNATURES: Final = frozenset(
    {"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"}
)
_REPORTS: Final = frozenset({"message/delivery-status", "message/disposition-notification", "text/rfc822-headers"})
_UTF_8: Final = b"\xef\xbb\xbf"
_TYPES: Final = mimetypes.MimeTypes(filenames=())


def read(source: Source) -> Reading:
    """The text of the mail in `source`; its attachments are passed on.

    Raises:
        Damaged: it is no mail.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    start = 0
    while any(data.startswith(mark, start) for mark in _MARKS):
        start += next(len(mark) for mark in _MARKS if data.startswith(mark, start))
    message = Part(data, start, len(data), PartAllowance())
    if _KNOWN.isdisjoint(message.headers):
        raise Damaged("The file is not a mail: it has none of a mail's headers. Ask for it again.")
    writer = Writer()
    reader = _Reader(writer)
    reader.read(message)
    if message.budget.exceeded:
        writer.warn("The mail has too many parts, or they are nested too deep: some were left out.")
    write(reader.mail, writer)
    if not writer.written:
        writer.warn(NO_TEXT)
    return writer.reading()


_BEGINNING: Final = re.compile(rb"(?:\A|\n\r?\n)(?=From [^\r\n]{1,1000}\r?\n[!-9;-~]{1,100}:)")
"""An empty line, and one that begins with "From ", behind which headers stand."""

_ESCAPED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_MOST_MAILS: Final = 10_000


def read_mailbox(source: Source) -> Reading:
    """The mails of the mailbox in `source` (.mbox, RFC 4155) as embedded documents, named by their subjects.

    Of more than ten thousand the first ten thousand.

    Raises:
        Damaged: no mail begins in it.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    starts = [match.end() for match in _BEGINNING.finditer(data)]
    if not starts:
        raise Damaged("The file is not a mailbox: it contains no mail. Ask for it again.")
    writer = Writer()
    if len(starts) > _MOST_MAILS:
        writer.warn(f"The mailbox holds {len(starts):,} mails: those after the first {_MOST_MAILS:,} were left out.")
    for start, end in list(pairwise([*starts, len(data)]))[:_MOST_MAILS]:
        mail = _ESCAPED.sub(rb"\1", data[start:end])
        writer.attach(_mail_name(Part(mail, 0, len(mail), PartAllowance()).header("subject")), mail)
    return writer.reading()


def read_web_archive(source: Source) -> Reading:
    """The first HTML page of the web page saved as one file in `source` (.mhtml, RFC 2557); pictures are ignored.

    Raises:
        Damaged: there is no page in it.
    """
    page = page_in("page.mhtml", source if isinstance(source, bytes) else source.read_bytes())
    if page is None:
        raise Damaged("The file holds no page of the web. Ask for it again, or save the page as .html.")
    return html.read(page)


def _mail_name(subject: str) -> str:
    return f"{subject[:_LONGEST_NAME].replace('/', '-') or 'mail'}.eml"


class _Reader:
    """Parses one message."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._attachments = Attachments(writer)
        self.mail = Mail()
        self._forms: MailWords | None = None  # of what the parts of an alternative say

    def read(self, message: Part) -> None:
        """Read the whole message."""
        for name in HEADERS:
            value = message.header(name.lower())
            if name in _ADDRESSES:
                value = decode_addresses(message.headers.get(name.lower(), b""))
            self.mail.headers[name] = iso_date(value) if name == "Date" else value
        self._take(message)

    def _take(self, part: Part) -> None:
        if limits.is_near():
            self._writer.warn("Reading the mail takes too long: its last parts were left out.")
            return
        kind = part.content_type
        if kind.startswith("multipart/"):
            self._take_parts(part, kind)
        elif kind in _SEALED:
            self._take_sealed(part)
        elif kind in _SIGNATURES:
            self._writer.warn(_UNCHECKED)
        elif kind in _REPORTS:
            self.mail.words.append(MailWords(decode_charset(part.content, part.parameter("charset"))))
        elif kind == "message/rfc822":
            self._attach(self._name_mail(part), part.content)
        elif kind in ("message/partial", "message/external-body"):
            self._writer.warn("A part of the mail was not sent with it.")
        elif kind in _PACKED or part.file_name.lower() == "winmail.dat":
            self._name_packed(part)
        elif kind in ("text/plain", "text/html") and not part.file_name and part.disposition != "attachment":
            self._take_words(part, kind)
        elif kind.startswith("text/") and not part.file_name and part.disposition != "attachment":
            self._attach(f"part{_guess_extension(kind)}", part.content)
        elif not self._is_within_the_words(part, kind):
            self._attach(part.file_name or f"attachment{_guess_extension(kind)}", part.content)

    def _take_sealed(self, part: Part) -> None:
        try:
            content = signed_content(part.content)
        except (PasswordProtected, Damaged) as error:
            self._writer.warn(f"The words of the mail are sealed (S/MIME). {error.message}")
            return
        self._writer.warn(_UNCHECKED)
        self._take(Part(content, 0, len(content), part.budget, part.depth + 1))

    def _take_parts(self, part: Part, kind: str) -> None:
        parts = part.parts()
        if not parts:
            words = decode_charset(part.raw, part.parameter("charset"))
            if words.strip() and not part.budget.exceeded:
                self._writer.warn("The mail is damaged: its parts cannot be separated.")
                self.mail.words.append(MailWords(words))
        elif kind == "multipart/encrypted":
            self._writer.warn("The mail is encrypted (PGP): its words cannot be read here. Ask for a plain copy.")
        elif kind == "multipart/alternative":
            self._take_alternatives(parts)
        else:
            for one in parts:
                self._take(one)

    def _take_alternatives(self, parts: list[Part]) -> None:
        """Take the plain text and the HTML page of several alternatives; the better one is chosen at the end."""
        outer, forms = self._forms, self._forms or MailWords()
        if outer is None:
            self._forms = forms
            self.mail.words.append(forms)
        others = []
        for one in parts:
            if one.content_type in ("text/plain", "text/html") or one.content_type.startswith("multipart/"):
                self._take(one)
            elif one.content_type != "text/calendar" or one.file_name:
                others.append(one)
        self._forms = outer
        if not forms.plain and not forms.html:
            for one in others[:1]:
                self._take(one)

    def _take_words(self, part: Part, kind: str) -> None:
        words = decode_charset(part.content, part.parameter("charset") or None)
        if kind == "text/plain" and part.parameter("format").lower() == "flowed":
            words = join_flowed(words, delete_spaces=part.parameter("delsp").lower() == "yes")
        forms = self._forms
        if forms is None:
            forms = MailWords()
            self.mail.words.append(forms)
        if kind == "text/html":
            forms.html += (b"<br>" if forms.html else _UTF_8) + words.encode("utf-8", "replace")
        else:
            forms.plain += f"\n{words}" if forms.plain else words

    def _name_packed(self, part: Part) -> None:
        """Warn of Outlook's winmail.dat, which is not unpacked."""
        name = one_line(clean(part.file_name))[:_LONGEST_NAME] or "winmail.dat"
        self._writer.warn(
            f"{name}, which Outlook attached in a format of its own (TNEF), cannot be read: "
            "have the mail sent again with ordinary attachments."
        )

    def _is_within_the_words(self, part: Part, kind: str) -> bool:
        """Whether a part is a picture within the page, such as a logo or a signature."""
        shown = part.disposition == "inline" or (bool(part.header("content-id")) and part.disposition != "attachment")
        return kind.startswith("image/") and shown

    def _name_mail(self, part: Part) -> str:
        inner = Part(part.content, 0, len(part.content), part.budget, part.depth + 1)
        name = part.file_name or inner.header("subject")
        return name if PurePath(name).suffix.lower() == ".eml" else _mail_name(name)

    def _attach(self, name: str, content: bytes | None) -> None:
        if len(self.mail.attached) == _MOST_ATTACHED:
            self._writer.warn(f"The mail has more than {_MOST_ATTACHED} attachments: the others were left out.")
            return
        self.mail.attached.append(name)
        self._attachments.add(name, content or None)


def _guess_extension(kind: str) -> str:
    """The extension for a MIME type; "" if there is none."""
    return _TYPES.guess_extension(kind) or ""


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
_MAIL: Final = re.compile(rb"(?:[!-9;-~]{1,100}:[^\n]{0,1000}\n(?:[ \t][^\n]{0,1000}\n)*)+\r?\n")


def read_signed(source: Source) -> Reading:
    """The document in the signature in `source`, as an embedded one, named as the file without `.p7m`.

    Raises:
        Damaged: the signature holds no document.
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
        Damaged: the data are no signature, or hold only the signature of a document elsewhere.
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

"""Mails as the internet sends them (.eml): headers, words, and what is attached, in that order.

Of two forms of the same words the plain one is taken, unless it says next to nothing, or the other has tables. Pictures
within the words (signatures, logos) are left out. Signatures are not checked; what is encrypted is named.
"""

import mimetypes
from pathlib import PurePath
from typing import Final

from tasks.errors import Damaged
from tasks.language.normalise import clean, one_line
from tasks.reading import limits
from tasks.reading.eml.parts import Part, PartAllowance
from tasks.reading.mail.decoding import addresses_of, text_of, unflowed
from tasks.reading.mail.message import HEADERS, Mail, MailWords, iso_date, write
from tasks.reading.text_writer import NO_TEXT, Reading, Source, Writer

_MOST_ATTACHED: Final = 1_000
_LONGEST_NAME: Final = 100
_ADDRESSES: Final = frozenset({"From", "To", "Cc", "Bcc"})
_MARKS: Final = (b"\xef\xbb\xbf", b"\r\n", b"\n")
_KNOWN: Final = frozenset({"from", "to", "subject", "date", "received", "message-id", "mime-version", "content-type"})
_SEALED: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_PACKED: Final = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_SIGNATURES: Final = frozenset(
    {"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"}
)
_REPORTS: Final = frozenset({"message/delivery-status", "message/disposition-notification", "text/rfc822-headers"})
_UTF_8: Final = b"\xef\xbb\xbf"
_TYPES: Final = mimetypes.MimeTypes(filenames=())


def read(source: Source) -> Reading:
    """The text of the mail in `source`; its attachments are handed on.

    Raises:
        Damaged: it is no mail.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    start = 0
    while any(data.startswith(mark, start) for mark in _MARKS):
        start += next(len(mark) for mark in _MARKS if data.startswith(mark, start))
    message = Part(data, start, len(data), PartAllowance())
    if _KNOWN.isdisjoint(message.headers):
        raise Damaged("The file is no mail: it has none of the headers of one. Ask for it again.")
    writer = Writer()
    reader = _Reader(writer)
    reader.read(message)
    if message.budget.exceeded:
        writer.warn("The mail has too many parts, or they are nested too deep: some were left out.")
    write(reader.mail, writer)
    if not writer.written:
        writer.warn(NO_TEXT)
    return writer.reading()


class _Reader:
    """Takes one message apart."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.mail = Mail()
        self._forms: MailWords | None = None  # of what the parts of an alternative say

    def read(self, message: Part) -> None:
        """Read all of a message."""
        for name in HEADERS:
            value = message.header(name.lower())
            if name in _ADDRESSES:
                value = addresses_of(message.headers.get(name.lower(), b""))
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
            self._writer.warn(
                "The mail is encrypted or sealed (S/MIME): its words cannot be read here. Ask for a plain copy."
            )
        elif kind in _SIGNATURES:
            self._writer.warn("The mail is signed; the signature was not checked.")
        elif kind in _REPORTS:
            self.mail.words.append(MailWords(text_of(part.content, part.parameter("charset"))))
        elif kind == "message/rfc822":
            self._attach(self._subject_of(part), part.content)
        elif kind in ("message/partial", "message/external-body"):
            self._writer.warn("A part of the mail was not sent with it.")
        elif kind in _PACKED or part.file_name.lower() == "winmail.dat":
            self._name_packed(part)
        elif kind in ("text/plain", "text/html") and not part.file_name and part.disposition != "attachment":
            self._take_words(part, kind)
        elif kind.startswith("text/") and not part.file_name and part.disposition != "attachment":
            self._attach(f"part{_ending(kind)}", part.content)
        elif not self._is_within_the_words(part, kind):
            self._attach(part.file_name or f"attachment{_ending(kind)}", part.content)

    def _take_parts(self, part: Part, kind: str) -> None:
        parts = part.parts()
        if not parts:
            words = text_of(part.raw, part.parameter("charset"))
            if words.strip() and not part.budget.exceeded:
                self._writer.warn("The mail is damaged: its parts cannot be told apart.")
                self.mail.words.append(MailWords(words))
        elif kind == "multipart/encrypted":
            self._writer.warn("The mail is encrypted (PGP): its words cannot be read here. Ask for a plain copy.")
        elif kind == "multipart/alternative":
            self._take_alternatives(parts)
        else:
            for one in parts:
                self._take(one)

    def _take_alternatives(self, parts: list[Part]) -> None:
        """Of several forms of the same, the plain one and the page, in which the best one is chosen at the end."""
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
        words = text_of(part.content, part.parameter("charset") or None)
        if kind == "text/plain" and part.parameter("format").lower() == "flowed":
            words = unflowed(words, delete_spaces=part.parameter("delsp").lower() == "yes")
        forms = self._forms
        if forms is None:
            forms = MailWords()
            self.mail.words.append(forms)
        if kind == "text/html":
            forms.html += (b"<br>" if forms.html else _UTF_8) + words.encode("utf-8", "replace")
        else:
            forms.plain += f"\n{words}" if forms.plain else words

    def _name_packed(self, part: Part) -> None:
        """Outlook's winmail.dat is not taken apart."""
        name = one_line(clean(part.file_name))[:_LONGEST_NAME] or "winmail.dat"
        self._writer.warn(
            f"{name}, which Outlook attached in a format of its own (TNEF), cannot be read: "
            "have the mail sent again with ordinary attachments."
        )

    def _is_within_the_words(self, part: Part, kind: str) -> bool:
        """Whether a part is a picture of the page: a logo, a signature."""
        shown = part.disposition == "inline" or (bool(part.header("content-id")) and part.disposition != "attachment")
        return kind.startswith("image/") and shown

    def _subject_of(self, part: Part) -> str:
        """The name of the file that a mail inside the mail would be."""
        inner = Part(part.content, 0, len(part.content), part.budget, part.depth + 1)
        name = part.file_name or inner.header("subject") or "mail"
        return name if PurePath(name).suffix.lower() == ".eml" else f"{name[:100].replace('/', '-')}.eml"

    def _attach(self, name: str, content: bytes | None) -> None:
        if len(self.mail.attached) == _MOST_ATTACHED:
            self._writer.warn(f"The mail has more than {_MOST_ATTACHED} attachments: the others were left out.")
            return
        self.mail.attached.append(name)
        self._writer.attach(name, content or None)


def _ending(kind: str) -> str:
    """The extension that goes with a MIME type; "" where there is none."""
    return _TYPES.guess_extension(kind) or ""

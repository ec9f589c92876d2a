"""Mails: from bytes to words (character sets, headers, transfer encodings), and a mail as text.

The headers come first, one a line, then an empty line and the words; attachments are read after them.
"""

import binascii
import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses, parsedate_to_datetime
from typing import Final

from tasks.errors import TooLarge
from tasks.files import hidden
from tasks.language.normalise import clean, one_line
from tasks.reading import limits
from tasks.reading.detect import is_known
from tasks.reading.html.reader import read_lines
from tasks.reading.ooxml.package import CUT_OFF, EMBEDDED_LIMIT, ZipEntry, ZipMembers
from tasks.reading.text_writer import BODY, Writer
from tasks.reading.txt import decode_text

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


def decode_charset(data: bytes, charset: str | None) -> str:
    """Words in that character set; if there is none, or it is wrong, in the one that they seem to have."""
    name = _codec(charset)
    if name is None or (name in ("ascii", "us-ascii") and not data.isascii()):
        return decode_text(data)[0]
    try:
        return data.decode(name)
    except (UnicodeError, ValueError):
        text = data.decode(name, "replace")
        beyond = sum(character > "\x7f" for character in text)
        return decode_text(data)[0] if text.count("\ufffd") > _BROKEN * beyond else text


def join_flowed(text: str, *, delete_spaces: bool) -> str:
    """The paragraphs of a `format=flowed` text (RFC 3676), in which a line that ends with a space continues.

    `delete_spaces` (`delsp=yes`) says that those spaces are not part of the words.
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


def read_header(raw: bytes) -> str:
    """The value of a header: unfolded, with encoded words decoded, whatever bytes it contains."""
    raw = raw[: 4 * _LONGEST_VALUE]
    value = _FOLDED.sub(" ", raw.decode("ascii") if raw.isascii() else decode_charset(raw, "utf-8")).strip()[
        :_LONGEST_VALUE
    ]
    if "=?" not in value or "?=" not in value:
        return value
    try:
        pieces = decode_header(value)
    except (HeaderParseError, ValueError, binascii.Error):
        return value
    words = []
    for piece, charset in pieces:
        words.append(piece if isinstance(piece, str) else decode_charset(piece, charset or "utf-8"))
    return "".join(words)


def decode_addresses(raw: bytes) -> str:
    """The value of a header with addresses: names are decoded one by one, as an encoded one may contain a comma."""
    value = _FOLDED.sub(" ", raw[: 4 * _LONGEST_VALUE].decode("latin-1")).strip()[:_LONGEST_VALUE]
    if "=?" not in value:
        return read_header(raw)
    try:
        addresses = getaddresses([value])
    except (RecursionError, ValueError, IndexError):  # brackets in brackets
        return read_header(raw)
    shown = []
    for name, address in addresses:
        words = read_header(name.encode("latin-1"))
        if not words and not address:
            return read_header(raw)
        quoted = f'"{words}"' if "," in words or ";" in words else words
        shown.append(f"{quoted} <{address}>" if words and address else words or address)
    return ", ".join(shown)


def decode_content(data: bytes, encoding: str) -> bytes:
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
    """The decoded content as far as it goes: line ends and garbage are skipped, a truncated end is dropped."""
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
    """Python's name for a character set; None if it has none."""
    name = (charset or "").strip().strip("\"'").lower()
    try:
        codec = codecs.lookup(_ALIASES.get(name, name)) if name and name.isascii() and "\0" not in name else None
    except (LookupError, ValueError):
        return None
    if codec is None or codec.name in _NONE or not getattr(codec, "_is_text_encoding", True):
        return None
    return codec.name


HEADERS: Final = ("From", "To", "Cc", "Bcc", "Date", "Subject")
"""Those that stand in the text, in this order."""

_STUB: Final = 0.2
_STUB_FROM: Final = 200
"""Beside a page of so many characters, a plain text of less than that share says only that there is a page."""
_SHORT: Final = 500
"""Plain texts of so many characters may be no more than a word on the page ("Please view this mail as HTML")."""
_OTHER: Final = 0.5
"""The share of its words that stand in the page, below which it says something else than that."""
_WORD: Final = re.compile(r"\w+")
_LINK: Final = re.compile(r"<[^<>\s]*>|\[[^\[\]]*\]|https?:\S+")
_TABLE: Final = re.compile(b"<table", re.IGNORECASE)
_ROWS: Final = 3
"""Rows of several cells that make a table, whose plain text is a cell a line."""
_KEPT: Final = 0.95
"""The share of the plain text's words that a page has which is read in its place, at least."""
_MOST_NAMES: Final = 50
_MOST_MEMBERS: Final = 1_000
_DEEPEST: Final = 2
"""Levels of zips that are opened, as in folders."""
_METHODS: Final = (0, 8)  # stored, deflated
_LOCKED: Final = 1
"""The flag of a zip's member that a password closes (APPNOTE.TXT 6.3.10, 4.4.4)."""


@dataclass(slots=True)
class MailWords:
    """The words of a mail or part in one form or two: plain text, and a page in UTF-8."""

    plain: str = ""
    html: bytes = b""

    def text(self) -> str:
        """The plain text, or the page if that says more: if there is no plain text, or the page has tables."""
        plain = self.plain.strip()
        has_table = _TABLE.search(self.html) is not None
        is_short = len(plain) <= _SHORT and self.html != b""
        enough = len(self.html) <= _STUB_FROM or len(plain) >= _STUB * len(self.html)
        if plain and not has_table and not is_short and enough:
            return self.plain
        page = "\n".join(read_lines(self.html)) if self.html else ""
        stub = len(page) > _STUB_FROM and len(plain) < _STUB * len(page)
        stub = stub or (is_short and len(page) > len(plain) and _share(page, plain) < _OTHER)
        better = has_table and _rows(page) >= max(_ROWS, _rows(plain) + 1) and _share(page, plain) >= _KEPT
        return page if stub or better or not plain else self.plain


@dataclass(slots=True)
class Mail:
    """What was found in a mail.

    `attached` are the names of attachments; the reader passes their content on itself.
    """

    headers: dict[str, str] = field(default_factory=dict)
    words: list[MailWords] = field(default_factory=list)
    attached: list[str] = field(default_factory=list)


def write(mail: Mail, writer: Writer) -> None:
    """Write a mail's headers and words."""
    writer.date("", mail.headers.get("Date", ""))
    for name in HEADERS:
        value = one_line(mail.headers.get(name, ""))
        if value:
            writer.text(f"{name}: {value}")
    if mail.attached:
        writer.text(f"Attachments: {_list_names(mail.attached)}")
    texts = [words.text().replace("\r\n", "\n").replace("\f", "\n").strip("\n") for words in mail.words]
    words = "\n".join(filter(None, texts))
    if words.strip():
        writer.line()
        with writer.place(BODY, ""):
            writer.text(words)


class Attachments:
    """The attachments of one mail, passed on to its writer; of a zip the documents inside it, named behind it.

    What is unpacked is in memory: there is one allowance for all zips of the mail.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._bytes = EMBEDDED_LIMIT
        self._members = _MOST_MEMBERS

    def add(self, name: str, data: bytes | None, level: int = 1) -> None:
        """Pass on a document of that name; None where its content cannot be obtained."""
        name = one_line(clean(name))
        is_zip = data and level <= _DEEPEST and name.lower().endswith(".zip") and is_known(data) is None
        archive = ZipMembers(data) if data and is_zip else None
        members = [entry for entry in archive.entries() if not entry.name.endswith(("/", "\\"))] if archive else []
        if data is None or archive is None or not members:
            self._writer.attach(name, data)
            return
        if archive.damaged:
            self._writer.warn(f"{name}: {CUT_OFF}")
        closed: list[str] = []
        for entry in members:
            parts = [part for part in entry.name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
            if any(map(hidden, parts)):
                continue
            if self._members == 0:
                self._writer.warn(f"More than {_MOST_MEMBERS:,} documents in zips: the others were left out.")
                break
            self._members -= 1
            is_locked = int.from_bytes(data[entry.header + 6 : entry.header + 8], "little") & _LOCKED
            if is_locked or entry.method not in _METHODS:
                closed.append(clean("/".join(parts)))
                continue
            self.add(": ".join((name, *parts)), self._unpack(archive, entry), level + 1)
        if closed:
            named = _list_names(closed)
            self._writer.warn(
                f"{name}: closed by a password, or packed in an unusual way: {named}. Ask for it unpacked."
            )

    def _unpack(self, archive: ZipMembers, entry: ZipEntry) -> bytes | None:
        """A member of a zip; None if it is damaged, or more than the mail may hold."""
        if entry.compressed > self._bytes or limits.is_near():
            return None
        archive.damaged = False
        try:
            content = archive.read(entry, self._bytes)
        except TooLarge:
            self._bytes //= 2  # so that many such members take no more time than two
            return None
        self._bytes -= len(content)
        return None if archive.damaged else content


def _rows(text: str) -> int:
    """The longest run of lines with the same number of cells, with more than one of them filled."""
    most = run = cells = 0
    for line in text.split("\n"):
        filled = [cell for cell in line.split("\t") if cell.strip()]
        run = run + 1 if len(filled) > 1 and line.count("\t") == cells else len(filled) > 1
        cells = line.count("\t")
        most = max(most, run)
    return most


def _share(page: str, plain: str) -> float:
    """The share of a plain text's words that a page has, apart from the addresses after its links."""
    words = set(_WORD.findall(_LINK.sub(" ", plain)))
    return len(words & set(_WORD.findall(page))) / len(words) if words else 1.0


def iso_date(value: str) -> str:
    """A mail's date in ISO 8601 with its own zone; unchanged if it is not a date."""
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return value
    return iso_moment(moment)


def iso_moment(moment: datetime) -> str:
    """A moment to the second: "2024-05-01T10:00:00+02:00", "2024-05-01T10:00:00Z"."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _list_names(names: Iterable[str]) -> str:
    known = list(names)
    shown = ", ".join(one_line(name) for name in known[:_MOST_NAMES])
    return shown + (f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else "")

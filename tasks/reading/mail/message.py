"""A mail as text: its headers, one a line, an empty line, its words; what is attached is read after it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading.html.reader import lines_of
from tasks.reading.places import BODY
from tasks.reading.text_writer import Writer

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


@dataclass(slots=True)
class MailWords:
    """The words of a mail, or of a part of it, in one form or in two: plain text, and a page in UTF-8."""

    plain: str = ""
    html: bytes = b""

    def text(self) -> str:
        """The plain text, or the page where that says more: where there is no other, or where it has tables."""
        plain = self.plain.strip()
        has_table = _TABLE.search(self.html) is not None
        is_short = len(plain) <= _SHORT and self.html != b""
        enough = len(self.html) <= _STUB_FROM or len(plain) >= _STUB * len(self.html)
        if plain and not has_table and not is_short and enough:
            return self.plain
        page = "\n".join(lines_of(self.html)) if self.html else ""
        stub = len(page) > _STUB_FROM and len(plain) < _STUB * len(page)
        stub = stub or (is_short and len(page) > len(plain) and _share(page, plain) < _OTHER)
        better = has_table and _rows(page) >= max(_ROWS, _rows(plain) + 1) and _has_words(page, plain)
        return page if stub or better or not plain else self.plain


@dataclass(slots=True)
class Mail:
    """What was found in a mail.

    `attached` are the names of what is attached; the reader hands the content on by itself.
    """

    headers: dict[str, str] = field(default_factory=dict)
    words: list[MailWords] = field(default_factory=list)
    attached: list[str] = field(default_factory=list)


def write(mail: Mail, writer: Writer) -> None:
    """Write a mail's headers and words."""
    for name in HEADERS:
        value = one_line(mail.headers.get(name, ""))
        if value:
            writer.text(f"{name}: {value}")
    if mail.attached:
        writer.text(f"Attachments: {_listed(mail.attached)}")
    texts = [words.text().replace("\r\n", "\n").replace("\f", "\n").strip("\n") for words in mail.words]
    words = "\n".join(filter(None, texts))
    if words.strip():
        writer.line()
        with writer.place(BODY, ""):
            writer.text(words)


def _rows(text: str) -> int:
    """The most lines one behind the other that have the same number of cells, more than one of them filled."""
    most = run = cells = 0
    for line in text.split("\n"):
        filled = [cell for cell in line.split("\t") if cell.strip()]
        run = run + 1 if len(filled) > 1 and line.count("\t") == cells else len(filled) > 1
        cells = line.count("\t")
        most = max(most, run)
    return most


def _has_words(page: str, plain: str) -> bool:
    """Whether a page has next to all words of a plain text, but for the addresses behind its links."""
    return _share(page, plain) >= _KEPT


def _share(page: str, plain: str) -> float:
    """The share of the words of a plain text, without the addresses behind its links, that a page has."""
    words = set(_WORD.findall(_LINK.sub(" ", plain)))
    return len(words & set(_WORD.findall(page))) / len(words) if words else 1.0


def iso_date(value: str) -> str:
    """A mail's date as ISO 8601 has it, with its own zone; as it stands where it is none."""
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return value
    return iso_moment(moment)


def iso_moment(moment: datetime) -> str:
    """A moment to the second: "2024-05-01T10:00:00+02:00", "2024-05-01T10:00:00Z"."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    shown = ", ".join(one_line(name) for name in known[:_MOST_NAMES])
    return shown + (f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else "")

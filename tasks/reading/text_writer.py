r"""What a reader returns: the text of a document and where each piece of it stands.

Readers do not count offsets; they write lines into a `Writer`, which keeps the promises that
the rest of the program relies on: clean characters, `\n` line ends, one form feed between pages.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from tasks.language.normalise import clean, one_line
from tasks.reading.file_dates import FileDates, file_dates
from tasks.reading.places import FILE_DATES, HEADING, PAGE, SCAN, Place

Source = Path | bytes
"""A document to read: where its file lies, or what is in it."""

NO_TEXT = "No text was found: the document is empty or holds pictures alone."


class Attachment(NamedTuple):
    """A document inside another: `name` is its file's, `data` what is in it; None where that cannot be had."""

    name: str
    data: bytes | None


@dataclass(frozen=True)
class Reading:
    """The text of one document, its places in order (the outer one first), and what a user should know of it.

    `attachments` are the documents found inside it, which a reader hands on unread.
    `pages` is how many it has; None where that is not known, as of a text document. Of those that are pictures the
    text is not in it yet: each has a place of kind `scan` or `doubtful_scan`, which `ocr.scans.fill` fills.
    `read_as` is the format of the content (".pdf") where the document's name says another.
    """

    text: str
    places: Sequence[Place] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    pages: int | None = None
    read_as: str | None = None


_PICTURE: Final = "\ufdd2\n"
"""A line where the text of a picture belongs: no character has this number."""


@lru_cache(maxsize=64)
def _clean_label(label: str) -> str:
    """Cached, since insertions and remarks come in hundreds and name few people."""
    return one_line(clean(label))


class Writer:
    """Collects a document's text line by line, with its places."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._places: list[Place] = []
        self._parts = 0
        self._heading: tuple[int, int, str] | None = None
        self._warnings: list[str] = []
        self._attachments: list[Attachment] = []
        self._pages = 0
        self._marked = False
        self._dates = FileDates()

    @property
    def position(self) -> int:
        """The offset in the text of what is written next."""
        return self._length

    @property
    def written(self) -> bool:
        """Whether anything but white space was written so far."""
        return any(piece and not piece.isspace() for piece in self._pieces)

    def line(self, text: str = "") -> None:
        """Write `text`, which may hold several lines, and end the line."""
        self._write(clean(text) + "\n")

    def text(self, text: str) -> None:
        """Write `text`, if there is anything in it, and end its line."""
        stripped = text.strip("\r\n")
        if stripped and not stripped.isspace():
            self.line(stripped)

    @contextmanager
    def part(self, kind: str, label: str) -> Iterator[None]:
        """A page, slide or sheet: all that is written within belongs to it; form feeds stand between parts."""
        if self._parts:
            self._write("\f")
        self._parts += 1
        self._pages += kind == PAGE
        with self.place(kind, label):
            yield

    @contextmanager
    def place(self, kind: str, label: str) -> Iterator[None]:
        """All that is written within stands at this place."""
        slot, start = self._open()
        yield
        self._close(slot, start, kind, label)

    def placed(self, kind: str, label: str, text: str) -> None:
        """The same as `text` within a `place`, at a third of the cost."""
        stripped = text.strip("\r\n")
        if stripped and not stripped.isspace():
            start = self._length
            self._write(clean(stripped) + "\n")
            self._places.append(Place(start, self._length, kind, one_line(clean(label))))

    def mark(self, start: int, end: int, kind: str, label: str) -> None:
        """What was written from offset `start` up to `end` stands at this place; what holds no mark needs no order."""
        self._marked = True
        self._places.append(Place(start, end, kind, _clean_label(label)))

    def heading(self, label: str) -> None:
        """From here to the next heading, or the end, the text stands under this heading."""
        self.end_heading()
        slot, start = self._open()
        self._heading = (slot, start, label)

    def end_heading(self) -> None:
        """What follows stands under no heading."""
        if self._heading is not None:
            slot, start, label = self._heading
            self._heading = None
            self._close(slot, start, HEADING, label)

    def warn(self, sentence: str) -> None:
        """Note what a user should know; the same sentence counts once."""
        if sentence not in self._warnings:
            self._warnings.append(sentence)

    def attach(self, name: str, data: bytes | None) -> None:
        """Hand on a document that is inside this one; the caller of the reader adds its text to the end."""
        self._attachments.append(Attachment(one_line(clean(name)), data))

    def date(self, made: str, changed: str) -> None:
        """Note when the file was made and last changed, as it says itself; a day that cannot be gets a warning."""
        self._dates = file_dates(made, changed)
        if self._dates.doubt:
            self.warn(self._dates.doubt)

    def picture(self, number: int) -> None:
        """The page of that number is a picture, whose text belongs here once it is recognised."""
        with self.place(SCAN, str(number)):
            self._write(_PICTURE)

    def reading(self) -> Reading:
        """What was written. A text of white space alone is no text: it has no places either."""
        self.end_heading()
        text = "".join(self._pieces)
        if not text.strip():
            return Reading("", [], self._warnings, self._attachments, self._pages or None)
        places = [place for place in self._places if place.end > place.start]
        if self._dates.label:
            places.insert(0, Place(0, len(text), FILE_DATES, self._dates.label))
        if self._marked:
            places.sort(key=lambda place: (place.start, -place.end))  # a stable sort: slots keep the outer one first
        return Reading(text, places, self._warnings, self._attachments, self._pages or None)

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def _open(self) -> tuple[int, int]:
        """Keep the place's slot, so that an outer place stands before those within it."""
        self._places.append(Place(self._length, self._length, "", ""))
        return len(self._places) - 1, self._length

    def _close(self, slot: int, start: int, kind: str, label: str) -> None:
        self._places[slot] = Place(start, self._length, kind, one_line(clean(label)))

r"""What a reader returns: the text of a document, and where each piece of it comes from.

Readers do not count offsets; they write lines into a `Writer`, which guarantees what the rest of the program relies on:
clean characters, `\n` line ends, and one form feed between pages.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tasks.language.normalise import clean, one_line
from tasks.reading.places import FILE_DATES, HEADING, PAGE, SCAN, FileDates, Place, file_dates

Source = Path | bytes
"""A document to read: where its file lies, or what is in it."""

NO_TEXT = "No text was found: the document is empty or contains only pictures."


class Attachment(NamedTuple):
    """A document inside another: `name` is its file name, `data` its content; None if that cannot be obtained."""

    name: str
    data: bytes | None


@dataclass(frozen=True)
class Reading:
    """The text of one document, its places in order (outer ones first), and what a user should know about it.

    `attachments` are the documents found inside it, which a reader passes on unread. `pages` is its number of pages;
    None if that is not known, as for a text document. The text of pages that are pictures is not included yet: each has
    a place of kind `scan` or `doubtful_scan`, which `ocr.scans.fill` fills. `read_as` is the format of the content
    (".pdf") if the document's name says another. `noted` is what the pool's processes found in the text besides, for
    whoever had it read.
    """

    text: str
    places: Sequence[Place] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    pages: int | None = None
    read_as: str | None = None
    noted: Any = None


_PICTURE: Final = "\ufdd2\n"
"""A line where the text of a picture belongs: no character has this number."""


@lru_cache(maxsize=64)
def _clean_label(label: str) -> str:
    """The label cleaned, on one line; cached, because there are hundreds of insertions and remarks by few people."""
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
        """The offset in the text of whatever is written next."""
        return self._length

    @property
    def written(self) -> bool:
        """Whether anything but white space has been written."""
        return any(piece and not piece.isspace() for piece in self._pieces)

    def line(self, text: str = "") -> None:
        """Write `text`, which may have several lines, and end the line."""
        self._write(clean(text) + "\n")

    def text(self, text: str) -> None:
        """Write `text` and end its line, unless it is empty."""
        stripped = text.strip("\r\n")
        if stripped and not stripped.isspace():
            self.line(stripped)

    @contextmanager
    def part(self, kind: str, label: str) -> Iterator[None]:
        """A page, slide or sheet to which everything written in the block belongs; form feeds separate parts."""
        if self._parts:
            self._write("\f")
        self._parts += 1
        self._pages += kind == PAGE
        with self.place(kind, label):
            yield

    @contextmanager
    def place(self, kind: str, label: str) -> Iterator[None]:
        """Everything written in the block is at this place."""
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
        """Give what was written between two offsets this place; marks that contain no other may come in any order."""
        self._marked = True
        self._places.append(Place(start, end, kind, _clean_label(label)))

    def heading(self, label: str) -> None:
        """Begin a heading: the text up to the next heading, or the end, is under it."""
        self.end_heading()
        slot, start = self._open()
        self._heading = (slot, start, label)

    def end_heading(self) -> None:
        """End the heading: what follows is under none."""
        if self._heading is not None:
            slot, start, label = self._heading
            self._heading = None
            self._close(slot, start, HEADING, label)

    def warn(self, sentence: str) -> None:
        """Add a warning for the user; the same sentence counts once."""
        if sentence not in self._warnings:
            self._warnings.append(sentence)

    def attach(self, name: str, data: bytes | None) -> None:
        """Pass on a document inside this one; the reader's caller adds its text at the end."""
        self._attachments.append(Attachment(one_line(clean(name)), data))

    def date(self, made: str, changed: str) -> None:
        """Record when the file says it was created and last changed; an impossible day gives a warning."""
        self._dates = file_dates(made, changed)
        if self._dates.doubt:
            self.warn(self._dates.doubt)

    def picture(self, number: int) -> None:
        """Record that the page with that number is a picture, whose text belongs here once it is recognised."""
        with self.place(SCAN, str(number)):
            self._write(_PICTURE)

    def reading(self) -> Reading:
        """The result. A text of only white space counts as no text, and has no places."""
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
        """Reserve the place's slot, so that an outer place comes before those inside it."""
        self._places.append(Place(self._length, self._length, "", ""))
        return len(self._places) - 1, self._length

    def _close(self, slot: int, start: int, kind: str, label: str) -> None:
        self._places[slot] = Place(start, self._length, kind, one_line(clean(label)))

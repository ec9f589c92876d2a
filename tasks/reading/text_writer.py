r"""What a reader returns: the text of a document, and where each piece of it comes from.

Readers do not count offsets; they write lines into a `Writer`, which guarantees what the rest of the program relies on:
clean characters, `\n` line ends, and one form feed between pages.

A place says where a piece of a text stands in its document, and what kind of text it is. Readers write places of these
kinds (the label in brackets):

page, slide, sheet      parts (the number, the sheet's name)
body                    the main story of a text document
heading                 from a heading to the next one (its words)
shape, cells            within a slide; a block of cells in a sheet (the shape's name; "A1:F20")
table                   rows one a line, cells split by tabs (the number of header rows, where the file tells it)
header, footer          repeated on pages
footnote, endnote, text_box, speaker_note, alternative_text
comment, inserted       a reviewer's remark, text that was inserted (author and ISO date: "A. Author, 2024-05-01")
hidden_sheet, hidden_row, hidden_column, hidden_slide   (the name, the number, the letter)
unseen                  words that the document holds and does not show: no evidence ("front matter" of Markdown)
ocr                     recognised in a picture (how sure of it: "91 %")
scan, doubtful_scan     a page that is a picture, or whose characters its fonts do not name, before it is recognised
                        (its number; in an attachment that and the attachment's hash: "3 5f0a…")
hidden_scan             a page that is a picture with a hidden layer of text, before some are compared (the same)
attachment              the text of a document inside this one (its name)
tagged                  a number of accounts with what its tag says (see `tags`)
file_dates              all text of a file (the days on which it was made and last changed: "2024-02-16/2024-08-05")

Nobody writes `cell`: a table of 600,000 cells would take as many places. `with_cells` derives them from the text.

`FileDates` are the days on which a file says that it was created and last changed. They limit what its text can report:
nothing in it happened after the last change. Impossible days are ignored.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, overload

from tasks.language.normalise import clean, one_line
from tasks.language.tables import table_cells

PAGE: Final = "page"
SLIDE: Final = "slide"
SHEET: Final = "sheet"
BODY: Final = "body"
HEADING: Final = "heading"
SHAPE: Final = "shape"
CELLS: Final = "cells"
TABLE: Final = "table"
CELL: Final = "cell"
HEADER: Final = "header"
FOOTER: Final = "footer"
FOOTNOTE: Final = "footnote"
ENDNOTE: Final = "endnote"
TEXT_BOX: Final = "text_box"
SPEAKER_NOTE: Final = "speaker_note"
ALTERNATIVE_TEXT: Final = "alternative_text"
COMMENT: Final = "comment"
INSERTED: Final = "inserted"
HIDDEN_SHEET: Final = "hidden_sheet"
HIDDEN_ROW: Final = "hidden_row"
HIDDEN_COLUMN: Final = "hidden_column"
HIDDEN_SLIDE: Final = "hidden_slide"
UNSEEN: Final = "unseen"
FRONT_MATTER: Final = "front matter"
OCR: Final = "ocr"
SCAN: Final = "scan"
DOUBTFUL_SCAN: Final = "doubtful_scan"
HIDDEN_SCAN: Final = "hidden_scan"
SCANS: Final = frozenset({SCAN, DOUBTFUL_SCAN, HIDDEN_SCAN})
ATTACHMENT: Final = "attachment"
TAGGED: Final = "tagged"
FILE_DATES: Final = "file_dates"

HIDDEN_SHEET_MARK: Final = "[hidden sheet]"
HIDDEN_ROW_MARK: Final = "[hidden row]"
HIDDEN_SLIDE_MARK: Final = "[hidden slide]"

_LONGEST_AUTHOR: Final = 100
_LONGEST_HEADER: Final = 200
_MOST_RANGES: Final = 50


class Place(NamedTuple):
    """Where the characters from `start` to `end` of the text come from; `kind` and `label` as
    described in the module.
    """

    start: int
    end: int
    kind: str
    label: str


@lru_cache(maxsize=1024)
def make_label(author: str, date: str) -> str:
    """The label of a comment or insertion: "A. Author, 2024-05-01T10:00:00Z", as far as both are known.

    Cached, because a document has few authors and each remark asks twice.
    """
    return ", ".join(filter(None, (one_line(author)[:_LONGEST_AUTHOR], one_line(date)[:_LONGEST_AUTHOR])))


def comment_mark(author: str, date: str, words: str) -> str:
    """A reviewer's remark as it appears in the text, so that nobody takes it for the document's own words.

    "[comment, A. Author, 2024-05-01T10:00:00Z: Is this agreed?]", "[comment: Why?]"
    """
    label = make_label(author, date).replace("]", ")")
    return f"[comment, {label}: {words}]" if label else f"[comment: {words}]"


def unseen_mark(words: str) -> str:
    """Words that the document does not show, as they stand in the text: "[hidden: Not seen]"."""
    return f"[hidden: {one_line(words)}]"


def shown_text(text: str, places: Iterable[Sequence[int | str]]) -> str:
    """A text with blanks for what its document does not show; all else stands where it stood.

    `places` are those of the text, as readers give them or as they are stored.
    """
    pieces: list[str] = []
    done = 0
    for start, end in sorted((int(start), int(end)) for start, end, kind, _label in places if kind == UNSEEN):
        pieces += text[done:start], " " * (end - max(start, done))
        done = max(done, end)
    return "".join((*pieces, text[done:]))


def hidden_column_mark(column: str) -> str:
    """The mark before cells of a column ("C") that the workbook hides."""
    return f"[hidden column {column}]"


def cell_label(row: str, column: str) -> str:
    """The label of a cell from its headers: `row “Revenue”, column “2023”`; "" if it has neither."""
    named = (("row", row[:_LONGEST_HEADER]), ("column", column[:_LONGEST_HEADER]))
    return ", ".join(f"{kind} “{name}”" for kind, name in named if name)


def with_cells(text: str, places: Sequence[Place]) -> Sequence[Place]:
    """The places of a text and those of the cells in its tables, which are found on demand."""
    return _PlacesWithCells(text, places)


def cells(text: str, places: Sequence[Place]) -> Iterator[Place]:
    """A place of kind `cell` for each cell with words, table by table; its label names its headers."""
    for spans, header_rows in tables(places):
        for cell in table_cells(text, spans, header_rows):
            yield Place(cell.start, cell.end, CELL, cell_label(cell.row, cell.column))


def tables(places: Sequence[Place]) -> Iterator[tuple[list[tuple[int, int]], int | None]]:
    """The spans of each table, and its header rows according to the file; all blocks of a sheet form one table."""
    sheet_end = -1
    blocks: list[tuple[int, int]] = []
    for place in places:
        if blocks and place.start >= sheet_end:
            yield blocks, None
            blocks = []
        if place.kind == SHEET:
            sheet_end = place.end
        elif place.kind == CELLS:
            blocks.append((place.start, place.end))
        elif place.kind == TABLE:
            yield [(place.start, place.end)], int(place.label) if place.label.isdecimal() else None
    if blocks:
        yield blocks, None


class _PlacesWithCells(Sequence[Place]):
    """Places in order, outer ones first, including those of cells, which are derived once, when first needed."""

    def __init__(self, text: str, places: Sequence[Place]) -> None:
        self._text = text
        self._places = places

    @cached_property
    def _all(self) -> list[Place]:
        found = list(cells(self._text, self._places))
        return (
            sorted([*self._places, *found], key=lambda place: (place.start, -place.end)) if found else [*self._places]
        )

    @overload
    def __getitem__(self, index: int) -> Place: ...
    @overload
    def __getitem__(self, index: slice) -> list[Place]: ...
    def __getitem__(self, index: int | slice) -> Place | list[Place]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all == list(other)

    __hash__ = None  # type: ignore[assignment] # as that of lists

    def __repr__(self) -> str:
        return repr(self._all)


def lowest_confidence(labels: Iterable[str]) -> int | None:
    """How certain recognition was, in percent, of the worst of places of kind `ocr`; None if there are none."""
    return min((int(label.partition(" ")[0]) for label in labels if label.endswith("%")), default=None)


def page_numbers(numbers: list[int]) -> str:
    """Page numbers as people write them: `pages 2, 5–7`; only the first if there are very many."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    words = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in ranges[:_MOST_RANGES])
    if len(ranges) > _MOST_RANGES:
        words += " and others"
    return f"{'page' if len(numbers) == 1 else 'pages'} {words}"


_DAY: Final = re.compile(r"(?:D:)?(?P<year>\d{4})-?(?P<month>\d\d)?-?(?P<day>\d\d)?")
"""The beginning of a moment in Office and OpenDocument files (W3CDTF) and in PDFs (ISO 32000-1, 7.9.4)."""

_FIRST: Final = date(1990, 1, 1)
"""What is older is the zero of some clock: 1601, 1899, 1970, 1980."""

_TEMPLATES: Final = frozenset(
    map(date.fromisoformat, ("1996-10-14", "2000-01-01", "2006-09-16", "2013-01-27", "2013-12-23", "2015-06-05"))
)
"""The days that programs put into every file: Excel's three templates, those of python-pptx and python-docx, and
ReportLab's when it is to write the same file each time."""


DOUBTED: Final = "?"
"""How a place keeps that a file gives a day that cannot be."""


class FileDates(NamedTuple):
    """The days on which a file was made and last changed, and what is to be said of a day that is not sure.

    `label` is how a place keeps them: "2024-02-16/2024-08-05", "" where neither is told, `DOUBTED` where it cannot be.
    """

    label: str = ""
    doubt: str = ""


def file_dates(made: str, changed: str) -> FileDates:
    """The days of two timestamps as a file gives them ("" for none); a file that was never changed counts as changed
    when created.
    """
    written = _day(changed or made)
    begun, last = sure_day(_day(made)), sure_day(written)
    if begun and last and begun > last:  # a copy has its own beginning
        begun = None
    label = f"{begun or ''}/{last or ''}"
    if written is None or last is not None or written in _TEMPLATES:
        return FileDates(label.strip("/") and label)
    doubt = f"The file is dated {written}, which is impossible: this date is ignored."
    return FileDates(DOUBTED, doubt)


def sure_day(day: date | None) -> date | None:
    """The day, if a file can have been written on it: not before such files existed, nor in the future."""
    return day if day and _FIRST <= day <= today() + timedelta(days=1) and day not in _TEMPLATES else None


def today() -> date:
    """Today in UTC, the zone of dates in files."""
    return datetime.now(UTC).date()


def _day(moment: str) -> date | None:
    match = _DAY.match(moment.strip())
    try:
        return date(int(match["year"]), int(match["month"] or 12), int(match["day"] or 1)) if match else None
    except ValueError:
        return None


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
    """Collects a document's text line by line, with its places; `warnings` are those that are known before."""

    def __init__(self, warnings: Iterable[str] = ()) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._places: list[Place] = []
        self._parts = 0
        self._heading: tuple[int, int, str] | None = None
        self._warnings = list(dict.fromkeys(warnings))
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

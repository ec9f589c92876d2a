"""The interface of text recognition: what an engine gets and returns, and the page and text that come of it.

A page is stored by itself, and laid out like a printed one. What was recognised on scanned pages is put into a
document's text, with the outcome for each page.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from statistics import median
from typing import Final, NamedTuple, Protocol

from tasks.language.normalise import clean
from tasks.reading.image import Picture
from tasks.reading.pdf import defects, pages
from tasks.reading.pdf.columns import TABLE as TABLE_MARK
from tasks.reading.pdf.columns import TABLE_END, are_pages, part_at_fold
from tasks.reading.pdf.layout import text_of_words
from tasks.reading.pdf.lines import build_lines
from tasks.reading.pdf.words import PageWord
from tasks.reading.text_writer import (
    ATTACHMENT,
    DOUBTFUL_SCAN,
    HIDDEN_SCAN,
    OCR,
    PAGE,
    SCAN,
    SCANS,
    TABLE,
    Place,
    Reading,
    page_numbers,
)


class RecognitionFailed(Exception):
    """An engine crashed, refused the picture, or cannot be loaded."""


class RecognitionTimedOut(RecognitionFailed):
    """An engine was stopped because the page's time was up."""


class RecognisedWord(NamedTuple):
    """A word in a picture: its box in pixels from the upper left corner, and the number of the line it was read with.

    `confidence` is how certain the engine is, 0 to 1.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    line: int


class Engine(Protocol):
    """Reads pictures in a separate process, which ends it if a page takes too long."""

    name: str
    """Under which its pages are kept: the engine and, where it needs to be told them, the languages."""

    def words(self, picture: Picture) -> list[RecognisedWord]:
        """The words in a picture, upright or not, in the order in which they were read.

        Raises:
            RecognitionFailed: it cannot read the picture, or cannot be loaded.
        """
        ...


_USUAL_SIZE: Final = 10.0
"""Points that the letters of most words are taken to have: a picture does not say how large its page is."""

_STEEPEST: Final = 0.2
"""The slope of a page's lines up to which it lies askew; lines that rise more run elsewhere."""

_LEVEL: Final = 2.5
"""Points by which lines of one row may be apart: how high a line is recognised depends on its letters."""

_SAME_ROW: Final = 0.45
"""How far the middles of two lines may lie apart that are one row, as a share of the lower one's height."""

_LONG: Final = 8
"""Heights of a line that is long enough to tell how the page slopes."""


class ScanState(StrEnum):
    """The outcome for a page: words were read; more may be there, but the engine for these failed; there are none; all
    engines failed; time was up.
    """

    READ = "read"
    PARTLY = "partly"
    EMPTY = "empty"
    FAILED = "failed"
    LATE = "late"

    @property
    def is_read(self) -> bool:
        """Whether the page counts as read."""
        return self in {ScanState.READ, ScanState.PARTLY, ScanState.EMPTY}


FAILED: Final = tuple(json.dumps([state])[:-1] for state in ScanState if not state.is_read)
"""How packed pages begin that could not be read."""


class WordBox(NamedTuple):
    """A word and its place on the page as shown, as fractions of the page's width and height."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


class Doubts(NamedTuple):
    """The words that hold, and the page's picture without them: an engine reads the rest there."""

    sure: Sequence[RecognisedWord]
    picture: Picture


@dataclass(frozen=True)
class RecognisedPage:
    """The words of a page in the picture that was read, which was turned left by `turn` quarters of a circle."""

    state: ScanState
    engine: str = ""
    width: int = 0
    height: int = 0
    turn: int = 0
    words: Sequence[RecognisedWord] = ()

    @property
    def confidence(self) -> float:
        """How certain the engine is of the page's characters, 0 to 1."""
        letters = sum(len(word.text) for word in self.words)
        return sum(word.confidence * len(word.text) for word in self.words) / letters if letters else 0.0

    def text(self) -> str:
        """The page's text in reading order, with its tables marked as `pdf.layout` marks them."""
        return "\n".join(text_of_words([word for word, _ in leaf]) for leaf in self._leaves()).replace("\r\n", "\n")

    def boxes(self) -> list[WordBox]:
        """Its words with their places on the page as shown, row by row."""
        across, down = self.width, self.height
        return [
            _turned_back(
                WordBox(word.text, word.left / across, word.top / down, word.right / across, word.bottom / down),
                self.turn,
            )
            for leaf in self._leaves()
            for _, word in leaf
        ]

    def _leaves(self) -> list[list[tuple[PageWord, RecognisedWord]]]:
        """The words of each of two pages that lie side by side in the picture; otherwise all words."""
        placed = _placed(self.words, self.words)
        sides = part_at_fold([word for word, _ in placed]) if placed else []
        leaves = [[placed[word.first][1] for word in side] for side in sides]
        lines = [build_lines(word for word, _ in _placed(leaf, self.words)) for leaf in leaves]
        return [_placed(leaf, leaf) for leaf in leaves] if are_pages(lines, _LEVEL) else [placed]

    def pack(self) -> str:
        """The page as JSON, for `unpack`."""
        words = [
            [word.text, *(round(side) for side in word[1:5]), round(word.confidence, 3), word.line]
            for word in self.words
        ]
        return json.dumps([self.state, self.engine, self.width, self.height, self.turn, words])

    @classmethod
    def unpack(cls, packed: str) -> "RecognisedPage":
        """The page from what `pack` returned."""
        state, engine, width, height, turn, words = json.loads(packed)
        return cls(ScanState(state), engine, width, height, turn, [RecognisedWord(*word) for word in words])


def _turned_back(box: WordBox, turn: int) -> WordBox:
    text, left, top, right, bottom = box
    match turn:
        case 1:
            return WordBox(text, 1 - bottom, left, 1 - top, right)
        case 2:
            return WordBox(text, 1 - right, 1 - bottom, 1 - left, 1 - top)
        case 3:
            return WordBox(text, top, 1 - right, bottom, 1 - left)
        case _:
            return box


class _Line(NamedTuple):
    """Words recognised together, straightened: the middle and the height of their line."""

    middle: float
    height: float
    words: Sequence[tuple[RecognisedWord, RecognisedWord]]
    """Each set straight, and as it was read."""


def _placed(words: Sequence[RecognisedWord], page: Sequence[RecognisedWord]) -> list[tuple[PageWord, RecognisedWord]]:
    """Words in points, as in `pdf.words`: those of a row get one baseline, however `page` slopes and bends."""
    slope = _slope(_grouped(page))
    heights = [line.height for line in (_line(group, slope) for group in _grouped(page)) for _ in line.words]
    scale = _USUAL_SIZE / median(heights or [1.0])
    placed: list[tuple[PageWord, RecognisedWord]] = []
    for row in _rows(sorted(_line(group, slope) for group in _grouped(words))):
        base = scale * sum(line.middle for line in row) / len(row)
        in_row = sorted((word.left, line.height, word, read) for line in row for word, read in line.words)
        for left, height, word, read in in_row:
            first = len(placed)
            right = max(word.right, left + 1)
            placed.append(
                (PageWord(word.text, scale * left, scale * right, base, scale * height, first, first + 1), read)
            )
    return placed


def _grouped(words: Iterable[RecognisedWord]) -> list[list[RecognisedWord]]:
    """The words of each line."""
    return [list(group) for _, group in groupby(sorted(words, key=attrgetter("line")), key=attrgetter("line"))]


def _slope(groups: Iterable[Sequence[RecognisedWord]]) -> float:
    """How far most lines of a page fall per pixel to the right."""
    slopes: list[tuple[float, float]] = []
    for group in groups:
        first, last = min(group, key=attrgetter("left")), max(group, key=attrgetter("left"))
        length = last.left - first.left
        if length > _LONG * (first.bottom - first.top):
            fall = (last.top + last.bottom - first.top - first.bottom) / 2 / length
            if abs(fall) < _STEEPEST:
                slopes.append((fall, length))
    slopes.sort()
    half = sum(length for _, length in slopes) / 2
    for fall, length in slopes:
        half -= length
        if half <= 0:
            return fall
    return 0.0


def _straight(word: RecognisedWord, slope: float) -> RecognisedWord:
    left, right = word.left + slope * word.top, word.right + slope * word.top
    fall = slope * (word.left + word.right) / 2
    return word._replace(left=left, right=right, top=word.top - fall, bottom=word.bottom - fall)


def _line(group: Iterable[RecognisedWord], slope: float) -> _Line:
    """A line measured by its highest and lowest words, except for a few outliers, such as a rule read as `|`."""
    words = [(_straight(word, slope), word) for word in group]
    tops, bottoms = sorted(word.top for word, _ in words), sorted(word.bottom for word, _ in words)
    top, bottom = tops[len(words) // 4], bottoms[-1 - len(words) // 4]
    return _Line((top + bottom) / 2, max(1.0, bottom - top), words)


def _rows(lines: Iterable[_Line]) -> Iterable[list[_Line]]:
    """Lines side by side, grouped from the top; `lines` are sorted by their middles."""
    row: list[_Line] = []
    for line in lines:
        if row and line.middle - sum(other.middle for other in row) / len(row) > _SAME_ROW * min(
            line.height, row[-1].height
        ):
            yield row
            row = []
        row.append(line)
    if row:
        yield row


_CONFIRMED: Final = {DOUBTFUL_SCAN: 2, HIDDEN_SCAN: 1}
"""Pages of each kind that say what was recognised on them: the others are then taken to be right. So many are
recognised at a time: half of all scans may have a hidden layer, and a page takes seconds."""

OFF: Final = "DILIGENCE_OCR is off."
CAPPED: Final = "DILIGENCE_OCR_PAGES allows no more in one run; the next run continues."
STOPPED: Final = "Give the same command again to continue; what was recognised is kept."
NO_ENGINE: Final = "`diligence doctor` says which engine is missing."

_SENTENCES: Final = {
    ScanState.READ: "Scans, whose text was recognised (OCR) and may be wrong: {}.",
    ScanState.PARTLY: (
        "Scans that Tesseract alone read (OCR), as RapidOCR failed or cannot be loaded; "
        "words may be wrong or missing: {}."
    ),
    ScanState.EMPTY: "Pictures in which text recognition (OCR) found no text: {}.",
    ScanState.FAILED: "Pictures that text recognition (OCR) failed on: {}.",
    ScanState.LATE: "Scans that text recognition (OCR) took too long for (DILIGENCE_OCR_PAGE_TIMEOUT): {}.",
}
_MARKS: Final = re.compile(rf"[\s{TABLE_MARK}{TABLE_END}]+")
_REPLACED: Final = "Text whose characters its fonts do not name was recognised (OCR) instead and may be wrong: {}."
_MISREAD: Final = (
    "Behind the pictures of pages stands hidden text that is not what they show: "
    "it was recognised (OCR) instead and may be wrong: {}."
)
_UNCERTAIN: Final = "The fonts do not name most of the characters, which may be wrong: {}."


@dataclass(frozen=True)
class FilledReading:
    """A reading with what was recognised. `waiting` are the labels of scanned pages that have not been tried yet.

    `scanned` is how many pages need recognition, `unread` how many of them were not read, including those that an
    engine failed on and those whose characters nobody knows.
    """

    reading: Reading
    scanned: int = 0
    unread: int = 0
    waiting: Sequence[str] = ()
    has_failures: bool = False


def scanned_pages(reading: Reading) -> list[Place]:
    """The places of pages that are to be recognised."""
    return [place for place in reading.places if place.kind in SCANS]


def fill(reading: Reading, recognised: Mapping[str, RecognisedPage], reason: str = STOPPED) -> FilledReading:
    """Put recognised pages, by the labels of their places, into the text of a document.

    `reason` says why other pages are missing.
    """
    scans = scanned_pages(reading)
    if not scans:
        return FilledReading(reading)
    filling = _Filling(reading, recognised)
    for place in scans:
        filling.add(place)
    text, places = filling.result()
    by_state = filling.by_state
    failed = [*by_state.get(ScanState.FAILED, ()), *by_state.get(ScanState.LATE, ())]
    unread = sum(place.kind == SCAN for place in (*failed, *filling.waiting)) + len(filling.uncertain)
    warnings = [*reading.warnings, *filling.warnings()]
    if unread:
        total = max(reading.pages or 0, unread)
        rest = (
            f" Pages that were not recognised (OCR): {filling.named(filling.waiting)}. {reason}"
            if filling.waiting
            else ""
        )
        warnings.append(f"{total - unread} of {total} pages were read.{rest}")
    filled = replace(reading, text=text, places=places, warnings=warnings)
    scanned = sum(place.kind == SCAN for place in scans) + len(filling.uncertain) + len(filling.replaced)
    has_failures = bool(failed) or ScanState.PARTLY in by_state
    return FilledReading(filled, scanned, unread, [place.label for place in filling.waiting], has_failures)


class _Filling:
    """Inserts recognised text into a text, from beginning to end."""

    def __init__(self, reading: Reading, recognised: Mapping[str, RecognisedPage]) -> None:
        self._reading = reading
        self._recognised = recognised
        self._pages = [place for place in reading.places if place.kind == PAGE]
        self._starts = [place.start for place in self._pages]
        self._edits: list[tuple[Place, str]] = []
        self._places: list[tuple[int, list[Place]]] = []  # new ones, counted from where that edit begins
        self._proved = 0
        self.by_state: dict[ScanState, list[Place]] = {}
        self.waiting: list[Place] = []
        self.replaced: list[Place] = []
        self.uncertain: list[Place] = []
        """Pages of doubtful characters that nothing has shown to be right."""

    def add(self, scan: Place) -> None:
        """Insert the text recognised on the next page, if it was recognised."""
        page = self._recognised.get(scan.label)
        if scan.kind != SCAN:
            self._add_doubtful(scan, page)
            return
        own = self._own_text(scan)
        text = _without_known(page.text(), own) if page else ""
        if page is None:
            self.waiting.append(scan)
        elif not page.state.is_read or text:
            self.by_state.setdefault(page.state, []).append(scan)
        elif page.width and not own:  # a blank page has no size, and a stamp may be all that a page says
            self.by_state.setdefault(ScanState.EMPTY, []).append(scan)
        self._put(scan, text, page)

    def _add_doubtful(self, scan: Place, page: RecognisedPage | None) -> None:
        """Keep the text if recognition found the same words: then its glyphs are mapped to the right characters."""
        text = _without_known(page.text(), "") if page else ""
        wanted = _CONFIRMED[scan.kind]
        if page is None and self._proved < wanted > sum(place.kind != SCAN for place in self.waiting):
            self.waiting.append(scan)
        if defects.are_confirmed(self._reading.text[scan.start : scan.end], text):
            self._proved += 1
        elif text:
            self._proved = 0
            self.replaced.append(scan)
            self._put(scan, text, page)
        elif self._proved < wanted and scan.kind == DOUBTFUL_SCAN:
            self.uncertain.append(scan)

    def _put(self, scan: Place, text: str, page: RecognisedPage | None) -> None:
        written, places = _with_places(text, f"{100 * page.confidence:.0f} %" if page else "")
        self._places.append((len(self._edits), places))
        self._edits.append((scan, written))

    def _own_text(self, scan: Place) -> str:
        """The text that a scan's page itself has."""
        at = bisect_right(self._starts, scan.start) - 1
        if at < 0 or self._pages[at].end < scan.end:
            return ""
        page = self._pages[at]
        return (self._reading.text[page.start : scan.start] + self._reading.text[scan.end : page.end]).strip()

    def result(self) -> tuple[str, list[Place]]:
        """The text and its places; a text of only white space counts as none."""
        pieces: list[str] = []
        ends, grown = [0], [0]  # behind each edit, how much longer the text is
        for scan, text in self._edits:
            pieces += self._reading.text[ends[-1] : scan.start], text
            ends.append(scan.end)
            grown.append(grown[-1] + len(text) - (scan.end - scan.start))
        text = "".join((*pieces, self._reading.text[ends[-1] :]))
        if not text.strip():
            return "", []
        replaced = {(place.start, place.end) for place in self.replaced}
        places: list[Place] = []
        for place in self._reading.places:
            start, end = (offset + grown[bisect_right(ends, offset) - 1] for offset in place[:2])
            is_gone = place.kind in SCANS or (place.kind == TABLE and any(a <= place[0] < b for a, b in replaced))
            if start < end and not is_gone:
                places.append(place._replace(start=start, end=end))
        for at, new in self._places:
            begin = self._edits[at][0].start + grown[at]
            places += (place._replace(start=place.start + begin, end=place.end + begin) for place in new)
        return text, sorted(places, key=lambda place: (place.start, -place.end))

    def warnings(self) -> Iterator[str]:
        """What a user must know about the pages."""
        for state, sentence in _SENTENCES.items():
            if state in self.by_state:
                yield sentence.format(self.named(self.by_state[state]))
        for kind, sentence in ((DOUBTFUL_SCAN, _REPLACED), (HIDDEN_SCAN, _MISREAD)):
            if replaced := [scan for scan in self.replaced if scan.kind == kind]:
                yield sentence.format(self.named(replaced))
        if self.uncertain:
            yield _UNCERTAIN.format(self.named(self.uncertain))

    def named(self, scans: Iterable[Place]) -> str:
        """Pages by their numbers: "pages 1–3", "pages 1, 2 in “Deed.pdf”"."""
        attachments = [place for place in self._reading.places if place.kind == ATTACHMENT]
        by_name: dict[str, list[int]] = {}
        for scan in scans:
            name = next((place.label for place in reversed(attachments) if place.start <= scan.start < place.end), "")
            by_name.setdefault(name, []).append(int(scan.label.partition(" ")[0]))
        named = by_name.items()
        return ", ".join(page_numbers(numbers) + (f" in “{name}”" if name else "") for name, numbers in named)


def _without_known(text: str, own: str) -> str:
    """The recognised text without the lines that the page already has as text."""
    known = "".join(own.split())
    lines = [line for line in text.split("\n") if not known or "".join(line.split()) not in known]
    return "\n".join(lines) if any(_MARKS.sub("", line) for line in lines) else ""


def _with_places(marked: str, confidence: str) -> tuple[str, list[Place]]:
    """A page's text, with places for it and for its tables."""
    text = ""
    tables: list[Place] = []
    for part, is_table in pages.split_parts(marked):
        lines = part.strip("\n")
        if lines:
            if is_table:
                tables.append(Place(len(text), len(text) + len(clean(lines)) + 1, TABLE, ""))
            text += clean(lines) + "\n"
    if not text:
        return "", []
    return text, [Place(0, len(text), OCR, confidence), *tables]

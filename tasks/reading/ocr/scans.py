"""A document's text with what was recognised on its scanned pages, and the outcome for each page."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tasks.language.normalise import clean
from tasks.reading.ocr.page import RecognisedPage, ScanState
from tasks.reading.pdf import defects, pages
from tasks.reading.pdf.layout import TABLE as TABLE_MARK
from tasks.reading.pdf.layout import TABLE_END
from tasks.reading.places import (
    ATTACHMENT,
    DOUBTFUL_SCAN,
    HIDDEN_SCAN,
    OCR,
    PAGE,
    SCAN,
    SCANS,
    TABLE,
    Place,
    page_numbers,
)
from tasks.reading.text_writer import Reading

_CONFIRMED: Final = {DOUBTFUL_SCAN: 2, HIDDEN_SCAN: 1}
"""Pages of each kind that say what was recognised on them: the others are then taken to be right. So many are
recognised at a time: half of all scans may have a hidden layer, and a page takes seconds."""

OFF: Final = "DILIGENCE_OCR is off."
CAPPED: Final = "DILIGENCE_OCR_PAGES allows no more in one run; the next run continues."
STOPPED: Final = "Read it again to continue."
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

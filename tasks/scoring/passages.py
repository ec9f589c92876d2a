"""Passages: a text cut into spans of about a paragraph that know their place.

cut            the passages of a text
passages_of    those of stored texts, stored for that version of the cutter
Index, rank    passages ranked by a question (`tasks.ranking`)
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from storage import database, texts
from storage.texts import Passage, StoredText
from tasks.ranking import Index, rank
from tasks.reading import tables
from tasks.scoring.text_places import Places, TextPlaces

__all__ = ["CUTTER", "Index", "PassageSpan", "cut", "rank"]

# Raised when passages are cut in another way: stored ones are then cut again. Its second word once told the version of
# the detector of orders, which is no longer asked here: the same passages keep their version.
CUTTER = "cut-6 orders-3"

_MAX_PASSAGE = 1200  # characters; a dozen passages fit a small model's window
_MIN_PASSAGE = 200  # characters; a single line says too little to be ranked: it goes with what follows
_HEADER = 400  # characters of a table's header rows that are repeated with its later parts
_TABLE = re.compile(r"(?:^[^\n\f\t]*\t[^\n\f]*(?:\n|\Z))+", re.MULTILINE)  # consecutive lines with cells
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+")


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """A passage of a text: its span in characters, its place in words, the heading that it stands under.

    `header` are the header rows of a table (else its first row), when the passage is a later part of it.
    """

    start: int
    end: int
    place: str
    heading: str | None
    header: str | None = None


def cut(text: str, places: Places) -> list[PassageSpan]:
    """The passages of a text, in order: none reaches over a page, slide, sheet, heading or attachment."""
    text_places, text_tables = TextPlaces(text, places), _Tables(text)
    return [
        PassageSpan(
            first,
            last,
            text_places.place(first, last),
            text_places.label(first, "heading"),
            text_tables.header(first, since=start),
        )
        for start, end in _blocks(text, text_places.borders)
        for first, last in _split(text, start, end)
    ]


class _Tables:
    """The tables of a text: rows one a line, cells parted by tabs."""

    def __init__(self, text: str) -> None:
        self._text = text
        spans = [match.span() for match in _TABLE.finditer(text)]
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]
        self._header_ends: dict[int, int] = {}

    def header(self, offset: int, since: int) -> str | None:
        """The header rows of the table that an offset lies in, else its first row.

        None within them, or where no table began `since`.
        """
        at = bisect_right(self._starts, offset) - 1
        if at < 0 or offset >= self._ends[at] or self._starts[at] < since:
            return None
        start = self._starts[at]
        end = self._header_ends.get(start)
        if end is None:
            rows = tables.header_rows(self._text, start, self._ends[at])
            end = self._header_ends[start] = self._behind_lines(start, max(rows, 1))
        return self._text[start:end][:_HEADER].strip() or None if 0 <= end <= offset else None

    def _behind_lines(self, start: int, count: int) -> int:
        """Where so many lines from an offset on have ended; -1 where the text ends before."""
        for _ in range(count):
            start = self._text.find("\n", start) + 1
            if not start:
                return -1
        return start


def _blocks(text: str, borders: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The spans between form feeds and borders that hold more than white space."""
    inside = (border for border in borders if 0 < border < len(text))
    cuts = sorted({0, len(text), *inside, *(match.end() for match in re.finditer("\f", text))})
    for start, end in itertools.pairwise(cuts):
        if text[start:end].strip():
            yield start, end


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A block in spans of at most `_MAX_PASSAGE` characters, cut at empty lines, else lines, else sentences."""
    at = start
    while at < end:
        if end - at <= _MAX_PASSAGE:
            yield from _trimmed(text, at, end)
            return
        window = text[at : at + _MAX_PASSAGE]
        cut_at = window.rfind("\n\n", _MIN_PASSAGE)
        if cut_at < 0:
            cut_at = window.rfind("\n", _MIN_PASSAGE)
        if cut_at < 0:
            ends = [match.end() for match in _SENTENCE_END.finditer(window) if match.end() >= _MIN_PASSAGE]
            cut_at = ends[-1] if ends else max(window.rfind(" ", _MIN_PASSAGE), 0) or _MAX_PASSAGE
        yield from _trimmed(text, at, at + cut_at)
        at += cut_at


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    block = text[start:end]
    lead = len(block) - len(block.lstrip())
    words = block.strip()
    if words:
        yield start + lead, start + lead + len(words)


class CutText(NamedTuple):
    """A stored text and its passages."""

    text_id: int
    text: str
    passages: list[PassageSpan]


def passages_of(sizes: Mapping[int, int], strings: dict[str, str]) -> Iterator[CutText]:
    """Stored texts and their passages, which are cut and stored unless they were before, in the order of `sizes`.

    Args:
        sizes: how long each text is, in characters, by its id. Small ones are loaded many at a time.
        strings: holds one copy of each place and heading: thousands of passages share them.
    """
    for text_ids in texts.groups_of(sizes):
        with database.reading() as session:
            words = dict(texts.words_of(session, text_ids))
            rows = texts.find_passages(session, text_ids, CUTTER)
            uncut = texts.find_texts(session, [text_id for text_id in words if text_id not in rows])
        new = {text.id: _cut_stored(text) for text in uncut if text.id is not None}
        if new:
            with database.writing() as session:
                texts.save_passages(session, CUTTER, new)
        for text_id in filter(words.__contains__, text_ids):
            of_text = new[text_id] if text_id in new else rows[text_id]
            yield CutText(text_id, words[text_id], [_span(row, strings) for row in of_text])


def _cut_stored(text: StoredText) -> list[Passage]:
    assert text.id is not None
    return [
        Passage(
            text_id=text.id,
            ordinal=ordinal,
            start=span.start,
            end=span.end,
            place=span.place,
            heading=span.heading,
            header=span.header,
        )
        for ordinal, span in enumerate(cut(text.text, text.places))
    ]


def _span(row: Passage, strings: dict[str, str]) -> PassageSpan:
    heading, header = (
        None if words is None else strings.setdefault(words, words) for words in (row.heading, row.header)
    )
    return PassageSpan(row.start, row.end, strings.setdefault(row.place, row.place), heading, header)

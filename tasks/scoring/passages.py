"""Passages: a text cut into spans of about a paragraph that know their place.

cut            the passages of a text
passages_of    those of a stored text, checked for prompt injection and stored for that version of the text
TextPlaces     says in words where a span of a text stands
Index, rank    passages ranked by a question (`tasks.ranking`)
"""

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from storage import database, texts
from storage.texts import Passage, StoredText
from tasks.ai import prompt_injection
from tasks.ranking import Index, rank

__all__ = ["CUTTER", "Index", "PassageSpan", "TextPlaces", "cut", "rank"]


CUTTER = "cut-5"  # raised when passages are cut in another way: stored ones are then cut again
CUT_BY = f"{CUTTER} {prompt_injection.VERSION}"  # the version of stored passages

_MAX_PASSAGE = 1200  # characters; a dozen passages fit a small model's window
_MIN_PASSAGE = 200  # characters; a single line says too little to be ranked: it goes with what follows
_WITHIN = frozenset({"shape", "cells", "ocr"})  # parts of a slide, sheet or page: passages reach beyond them
_HEADER = 400  # characters of a table's first row that are repeated with its later parts
_TABLE = re.compile(r"(?:^[^\n\f\t]*\t[^\n\f]*(?:\n|\Z))+", re.MULTILINE)  # consecutive lines with cells
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+")

Places = Sequence[tuple[int, int, str, str] | Sequence[int | str]]  # as storage keeps them: start, end, kind, label


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """A passage of a text: its span in characters, its place in words, the heading that it stands under.

    `header` is the first row of a table, when the passage is a later part of it.
    """

    start: int
    end: int
    place: str
    heading: str | None
    header: str | None = None


def cut(text: str, places: Places) -> list[PassageSpan]:
    """The passages of a text, in order: none reaches over a page, slide, sheet, heading or attachment."""
    text_places, tables = TextPlaces(text, places), _Tables(text)
    return [
        PassageSpan(
            first,
            last,
            text_places.place(first, last),
            text_places.label(first, "heading"),
            tables.header(first, since=start),
        )
        for start, end in _blocks(text, text_places.borders)
        for first, last in _split(text, start, end)
    ]


class TextPlaces:
    """A text with its places: says in words where a span of it stands."""

    def __init__(self, text: str, places: Places) -> None:
        self._text = text
        self._kinds: dict[str, tuple[list[int], list[tuple[int, str]]]] = {}
        self._attachments: list[tuple[int, int, str]] = []
        for start, end, kind, label in sorted(places, key=lambda place: int(place[0])):
            if kind == "attachment":
                self._attachments.append((int(start), int(end), str(label)))
            starts, rest = self._kinds.setdefault(str(kind), ([], []))
            starts.append(int(start))
            rest.append((int(end), str(label)))
        self.borders = sorted(
            {
                border
                for kind, (starts, rest) in self._kinds.items()
                if kind not in _WITHIN
                for border in (*starts, *(end for end, _label in rest))
            }
        )

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins. Needed only where pages do not tell the place."""
        return [0, *(match.end() for match in re.finditer("\n", self._text))]

    def label(self, offset: int, kind: str, last: int | None = None) -> str | None:
        """The label of the nearest place of that kind that begins before an offset and reaches over it (and `last`).

        In an attachment the places of its host do not count.
        """
        starts, rest = self._kinds.get(kind, ([], []))
        at = bisect_right(starts, offset) - 1
        reaches = at >= 0 and max(offset, last or 0) < rest[at][0]
        return rest[at][1] if reaches and starts[at] >= self._beginning(offset) else None

    def place(self, start: int, end: int) -> str:
        """Where a span stands, in words.

        `page 3`, `page 3 (OCR)`, `slide 2, Title 1`, `sheet Accounts, A1:F20`, else its heading and lines;
        in an attachment with its name in front: `in “Budget.xlsx”, sheet Costs, A1:F20`.
        """
        last = max(start, end - 1)
        steps: list[str | None] = [f"in “{name}”" for _start, _end, name in self._around(start)]
        page, slide, sheet = (self.label(start, kind) for kind in ("page", "slide", "sheet"))
        if page is not None:
            steps.append(f"page {page} (OCR)" if self._touched("ocr", start, last) else f"page {page}")
        elif slide is not None:
            steps += [f"slide {slide}", self.label(start, "shape", last)]
        elif sheet is not None:
            steps += [f"sheet {sheet}", self._cells(start, last)]
        else:
            heading = self.label(start, "heading")
            steps += [heading and f"under “{heading}”", self._line_numbers(start, last)]
        return ", ".join(step for step in steps if step)

    def _line_numbers(self, start: int, last: int) -> str | None:
        """The lines of a span; an attachment's count from behind the one that gives its name."""
        before = bisect_right(self._lines, self._beginning(start)) if self._around(start) else 0
        first, behind = (bisect_right(self._lines, offset) - before for offset in (start, last))
        if behind < 1:
            return None
        first = max(first, 1)
        return f"line {first}" if first == behind else f"lines {first} to {behind}"

    def _around(self, offset: int) -> list[tuple[int, int, str]]:
        """The attachments that an offset lies in, the outer one first."""
        return [attachment for attachment in self._attachments if attachment[0] <= offset < attachment[1]]

    def _beginning(self, offset: int) -> int:
        """Where the document begins that an offset lies in."""
        return max((start for start, _end, _name in self._around(offset)), default=0)

    def _cells(self, start: int, last: int) -> str | None:
        """The cells from one offset to another as one range: `A1:F20` and `A21:F40` are `A1:F40`."""
        touched = self._touched("cells", start, last)
        if not touched:
            return None
        begins, ends = touched[0].split(":", maxsplit=1)[0], touched[-1].rsplit(":", maxsplit=1)[-1]
        return begins if begins == ends else f"{begins}:{ends}"

    def _touched(self, kind: str, start: int, last: int) -> list[str]:
        """The labels of the places of a kind, none of which lie in each other, that a span has a part of."""
        starts, rest = self._kinds.get(kind, ([], []))
        first, behind = max(bisect_right(starts, start) - 1, 0), bisect_right(starts, last)
        return [label for (end, label) in rest[first:behind] if end > start]


class _Tables:
    """The tables of a text: rows one a line, cells parted by tabs."""

    def __init__(self, text: str) -> None:
        self._text = text
        spans = [match.span() for match in _TABLE.finditer(text)]
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def header(self, offset: int, since: int) -> str | None:
        """The first row of the table that an offset lies in; None in that row itself, or where none began `since`."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0 or offset >= self._ends[at] or self._starts[at] < since:
            return None
        start = self._starts[at]
        behind = self._text.find("\n", start)
        return self._text[start:behind][:_HEADER].strip() or None if 0 <= behind < offset else None


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


class TextPassages(NamedTuple):
    """A text's passages, those with prompt injection apart from the others."""

    passages: list[PassageSpan]
    injected: list[PassageSpan]


def passages_of(text_id: int, strings: dict[str, str]) -> tuple[str, TextPassages]:
    """A stored text and its passages, which are cut and stored unless they were before.

    `strings` holds one copy of each place and heading: thousands of passages share them.
    """
    with database.reading() as session:
        text = texts.get_text(session, text_id)
        rows = texts.find_passages(session, text_id, CUT_BY)
    if rows is None:
        rows = _cut_stored(text)
        with database.writing() as session:
            texts.save_passages(session, text_id, CUT_BY, rows)
    passages = TextPassages([], [])
    for row in rows:
        (passages.injected if row.gives_orders else passages.passages).append(_span(row, strings))
    return text.text, passages


def _cut_stored(text: StoredText) -> list[Passage]:
    assert text.id is not None
    injections = prompt_injection.find_orders(text.text)
    starts = [injection.start for injection in injections]
    spans = cut(text.text, text.places)
    # The first row of a table is repeated with its parts: prompt injection in it must not come back with each of them.
    headers = {
        header: prompt_injection.without_injections(header)[0] for header in {span.header or "" for span in spans}
    }
    return [
        Passage(
            text_id=text.id,
            ordinal=ordinal,
            start=span.start,
            end=span.end,
            place=span.place,
            heading=span.heading,
            header=headers[span.header or ""] or None,
            gives_orders=any(injection.end > span.start for injection in injections[: bisect_left(starts, span.end)]),
        )
        for ordinal, span in enumerate(spans)
    ]


def _span(row: Passage, strings: dict[str, str]) -> PassageSpan:
    heading, header = (
        None if words is None else strings.setdefault(words, words) for words in (row.heading, row.header)
    )
    return PassageSpan(row.start, row.end, strings.setdefault(row.place, row.place), heading, header)

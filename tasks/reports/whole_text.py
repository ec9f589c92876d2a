"""The whole text of a document as pages that a browser can bear, with the places that a report cites marked.

A text is cut into parts of about `PART` characters, at the beginnings of lines: the same cuts for every reader, however
large the document is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from storage.run_documents import RunDocument
from storage.runs import Run
from storage.texts import StoredText
from tasks.errors import NotFound
from tasks.evidence.company import is_pdf
from tasks.evidence.excerpt import Block, Mark, blocks, line_start
from tasks.reading import places as kinds
from tasks.reports.evidence_links import anchor_of
from tasks.reports.evidence_pages import policy
from tasks.reports.html import environment, part

PART: Final = 40_000
"""Characters of a part, about: twenty printed pages."""
_SHOWN: Final = {kinds.PAGE: "Page", kinds.SLIDE: "Slide", kinds.SHEET: "Sheet", kinds.ATTACHMENT: "Attachment"}


@dataclass(frozen=True, slots=True)
class Section:
    """A page, slide, sheet or attachment, or as much of it as stands in the part; `page` is that of a PDF."""

    heading: str | None
    page: int | None
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class TextPart:
    """One part of a text; parts are counted from 1."""

    number: int
    count: int
    sections: Sequence[Section]


def part_at(text: str, spot: int) -> int:
    """The number of the part that a character stands in."""
    number = spot // PART + 1
    return number + 1 if spot >= _cut(text, number) and number < _count(text) else number


def part_of_text(text: StoredText, number: int, spans: Sequence[tuple[int, int]]) -> TextPart:
    """A part of a text with these spans of characters marked.

    Raises:
        NotFound: there is no such part.
    """
    count = _count(text.text)
    if not 1 <= number <= count:
        raise NotFound(f"The text has no part {number}. It has {count}.")
    begin, end = _cut(text.text, number - 1), _cut(text.text, number)
    marks = [Mark(start, stop, anchor_of(start, stop)) for start, stop in dict.fromkeys(spans)]
    attached = any(kind == kinds.ATTACHMENT for _, _, kind, _ in text.places)
    bounds = [place for place in text.places if place[2] in _SHOWN]
    cuts = sorted({begin, end, *(start for start, _, _, _ in bounds if begin < start < end)})
    sections = []
    for start, stop in pairwise(cuts):
        around = [place for place in bounds if place[0] <= start < place[1]]
        place = min(around, key=lambda place: place[1] - place[0], default=None)
        heading = f"{_SHOWN[place[2]]} {place[3]}" if place else None
        if heading and place and place[0] < start:
            heading = f"{heading}, continued"
        page = (
            int(place[3]) if place and place[2] == kinds.PAGE and place[3].isdigit() and is_pdf(text.reader) else None
        )
        sections.append(Section(heading, None if attached else page, blocks(text.text, start, stop, marks)))
    return TextPart(number, count, sections)


def _count(text: str) -> int:
    return max(1, -(-len(text) // PART))


def _cut(text: str, number: int) -> int:
    """Where the part of that number ends."""
    at = number * PART
    return len(text) if at >= len(text) else line_start(text, at, max(at - PART, 0))


def render_part(run: Run, document: RunDocument, text_part: TextPart, notice: str | None, seen_by: str) -> str:
    """A part of a document's text as HTML. Links count from `/runs/<run>/documents/<document>`.

    `notice` is what a reader must know of the document; `seen_by` says under whose rights it is shown.
    """
    return (
        environment()
        .get_template("whole_text.html")
        .render(
            run=run,
            document=document,
            part=text_part,
            notice=notice,
            seen_by=seen_by,
            policy=policy("'self'"),
            style=Markup(part("evidence.css")),  # noqa: S704 - our own file
        )
    )

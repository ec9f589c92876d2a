"""What is asked of a page of a PDF, and what becomes of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.evidence.boxes import Box


@dataclass(frozen=True, slots=True)
class Span:
    """A quotation's part on one page: `text[start:end]` of the page's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageOrder:
    """A page to draw: its number from 1, its text, the spans to box, and the file to write, None for no picture."""

    page: int
    text: str
    spans: Sequence[Span]
    picture: str | None


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page as it was drawn: its size in points as shown, and the boxes of each span, none where it is not certain.

    `drawn`: whether its picture was written.
    """

    page: int
    width: float
    height: float
    boxes: list[list[Box]]
    drawn: bool

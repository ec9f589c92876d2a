"""Pages of PDFs drawn as pictures with the boxes of quotations, in reading processes under their limits.

`draw` is what such a process runs: it writes the pictures itself, so that nothing large goes through its pipe, and
gives the boxes as JSON, as the text of a reading.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tasks.evidence.boxes import BoxedPage
from tasks.evidence.glyphs import Box
from tasks.reading.configuration import reading_limits
from tasks.reading.pool.pool import ExtractionPool, Limits, processors
from tasks.reading.settings import ReadingSettings
from tasks.reading.text_writer import Reading

VERSION: Final = "4"
"""Of the pictures and boxes: with another one they are made again."""
_AT_ONCE: Final = 20
"""Pages that are drawn in one go, under the limits of one document."""
_PROCESSES: Final = 2


class Span(NamedTuple):
    """A quotation's part on one page: from which to which character of the page's text."""

    start: int
    end: int


class PageOrder(NamedTuple):
    """A page to draw: its number from 1, its text, the spans to box, and the file to write, None for no picture.

    The file's name has no suffix: that of the picture's format is put behind it.
    `is_scan`: some of its text was recognised in a picture.
    """

    number: int
    text: str
    spans: Sequence[Span]
    picture: str | None
    is_scan: bool = False


def draw_pages(path: Path, orders: Sequence[PageOrder]) -> list[BoxedPage]:
    """Draw pages of the PDF at `path`; a page that cannot be drawn has no picture.

    Raises:
        Unreadable, TookTooLong, Unavailable: the PDF cannot be opened within the limits.
    """
    pool = _pool(reading_limits(ReadingSettings.current()))
    pages: list[BoxedPage] = []
    for first in range(0, len(orders), _AT_ONCE):
        part = json.dumps([list(order) for order in orders[first : first + _AT_ONCE]])
        pages += map(_page, json.loads(pool.read(path, part).text))
    return pages


@lru_cache(maxsize=4)
def _pool(limits: Limits) -> ExtractionPool:
    return ExtractionPool(min(_PROCESSES, processors()), limits, draw)


def _page(values: list[Any]) -> BoxedPage:
    number, width, height, spans, is_drawn = values
    return BoxedPage(number, width, height, [[Box(*box) for box in boxes] for boxes in spans], is_drawn)


def draw(path: Path, orders: str) -> Reading:
    """What the processes run: the pages in `orders`, a list of `PageOrder` as JSON.

    Raises:
        Damaged: PDFium cannot open the document.
    """
    from tasks.evidence.pdf_page import draw_page, open_pdf  # noqa: PLC0415 - in the processes alone

    with open_pdf(path) as pdf:
        pages = [
            draw_page(pdf, number, text, spans, picture, is_scan=is_scan)
            for number, text, spans, picture, is_scan in json.loads(orders)
        ]
    return Reading(json.dumps([[page.number, page.width, page.height, page.boxes, page.is_drawn] for page in pages]))

"""Pages of a PDF drawn as pictures with the boxes of quotations, in a reading process under its limits.

`draw` is what such a process runs: it writes the pictures itself, so that nothing large goes through its pipe, and
gives what it found as JSON, as the text of a reading.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Final

from tasks.documents.extract.pool.pool import ExtractionPool, Limits, processors
from tasks.documents.extract.text_writer import Reading
from tasks.evidence.boxes import Box
from tasks.evidence.page_orders import DrawnPage, PageOrder, Span

VERSION: Final = "1"
"""Of the pictures: another one draws them again."""


@cache
def drawing_pool(seconds: float, memory_mb: int, max_mb: int) -> ExtractionPool:
    """The processes that draw, started when they are first needed."""
    return ExtractionPool(min(2, processors()), Limits(seconds, memory_mb, max_mb), draw)


def draw_pages(pool: ExtractionPool, path: Path, orders: Sequence[PageOrder]) -> list[DrawnPage]:
    """Draw pages of the PDF at `path`; a page that cannot be drawn has no picture.

    Raises:
        Unreadable, TookTooLong, Unavailable: the PDF cannot be opened within the limits.
    """
    reading = pool.read(path, json.dumps([asdict(order) for order in orders]))
    return [
        DrawnPage(**{**page, "boxes": [[Box(**box) for box in boxes] for boxes in page["boxes"]]})
        for page in json.loads(reading.text)
    ]


def draw(path: Path, orders: str) -> Reading:
    """What the processes run: the pages in `orders`, a list of `PageOrder` as JSON.

    Raises:
        Damaged: PDFium cannot open the document.
    """
    from tasks.evidence.pdf_page import draw_page, open_pdf  # noqa: PLC0415 - in the processes alone

    wanted = [
        PageOrder(**{**order, "spans": [Span(**span) for span in order["spans"]]}) for order in json.loads(orders)
    ]
    with open_pdf(path) as document:
        return Reading(json.dumps([asdict(draw_page(document, order)) for order in wanted]))

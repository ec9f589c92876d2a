"""Draws pages of PDFs as pictures with the boxes of quotations, in reading processes under their limits.

Such a process runs `draw`: it writes the pictures itself, so that nothing large goes through its pipe, and returns the
boxes as JSON in place of a reading's text.
"""

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from storage import database, texts
from tasks.evidence.boxes import Box, BoxedPage
from tasks.reading.configuration import ReadingSettings, make_reading_limits
from tasks.reading.ocr.page import WordBox
from tasks.reading.pool.pool import ExtractionPool, Limits, processors
from tasks.reading.text_writer import Reading

VERSION: Final = "4"
"""Of the pictures and boxes: with another one they are made again."""
_AT_ONCE: Final = 20
"""Pages that are drawn in one go, under the limits of one document."""
_PROCESSES: Final = 2


class CitedSpan(NamedTuple):
    """A quotation's part on one page, as offsets in the page's text."""

    start: int
    end: int


class PageOrder(NamedTuple):
    """A page to draw: its number from 1, its text, the spans to box, and the file to write, None for no picture.

    The file's name has no suffix: that of the picture's format is appended. `recognised`: its words that were
    recognised in a picture, as `ocr.page.WordBox`.
    """

    number: int
    text: str
    spans: Sequence[CitedSpan]
    picture: str | None
    recognised: Sequence[WordBox] = ()


def draw_pages(path: Path, orders: Sequence[PageOrder]) -> list[BoxedPage]:
    """Draw pages of the PDF at `path`; a page that cannot be drawn has no picture.

    Raises:
        Unreadable, TookTooLong, Unavailable: the PDF cannot be opened within the limits.
    """
    pool = _pool(make_reading_limits(ReadingSettings.current()))
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
    from tasks.evidence.page import draw_page, open_pdf  # noqa: PLC0415 - in the processes alone

    with open_pdf(path) as pdf:
        pages = [
            draw_page(pdf, number, text, spans, picture, [WordBox(*word) for word in recognised])
            for number, text, spans, picture, recognised in json.loads(orders)
        ]
    return Reading(json.dumps([[page.number, page.width, page.height, page.boxes, page.is_drawn] for page in pages]))


SUFFIXES: Final = (".png", ".webp")
"""Of the formats of pictures: by `pdf_page` the one or the other, by what is on the page."""

_REMOVED_AT_ONCE = 500  # contents that are looked up together


def picture_stem(content_hash: str, page: int) -> Path:
    """Where to draw the picture of a document's page, without the suffix of its format."""
    return _folder() / f"{content_hash[:2]}" / f"{content_hash}-{VERSION}-{page}"


def find_picture(content_hash: str, page: int) -> Path | None:
    """The picture of a document's page; None if it has not been drawn."""
    stem = picture_stem(content_hash, page)
    return next((path for suffix in SUFFIXES if (path := stem.with_suffix(suffix)).exists()), None)


def remove_pictures(without: Collection[int] = (), *, dry_run: bool = False) -> tuple[int, int]:
    """Remove pictures of an earlier version, or of contents without a text; returns their number and bytes.

    Args:
        without: the ids of texts that count as gone.
        dry_run: whether only to count.
    """
    by_content: dict[str, list[Path]] = {}
    for picture in (path for path in _folder().glob("??/*") if path.suffix in SUFFIXES):
        by_content.setdefault(picture.name.partition("-")[0], []).append(picture)
    contents = sorted(by_content)
    count = size = 0
    for start in range(0, len(contents), _REMOVED_AT_ONCE):
        some = contents[start : start + _REMOVED_AT_ONCE]
        with database.reading() as session:
            known = texts.contents_with_text(session, some, without)
        for content in some:
            for picture in by_content[content]:
                if content in known and picture.name.startswith(f"{content}-{VERSION}-"):
                    continue
                count, size = count + 1, size + picture.stat().st_size
                if not dry_run:
                    picture.unlink(missing_ok=True)
    return count, size


def _folder() -> Path:
    return database.home() / "evidence"

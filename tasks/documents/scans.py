"""Recognises scanned pages in parallel, and stores each as soon as it is read.

This module does not know which text they belong to. A killed process only loses the pages that were being read.
"""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from storage import database
from storage.texts import StoredPage, find_pages, save_page
from tasks import cancellation
from tasks.reading.configuration import ReadingSettings, recognised, recognising_pool
from tasks.reading.ocr.page import RecognisedPage, ScanState
from tasks.reading.ocr.recognise import Engines, order_page
from tasks.reading.pool.pool import processors
from tasks.reading.text_writer import Reading

_AHEAD: Final = 2
"""Pages that each process is given: the one that it reads, and the next."""


class ScannedPage(NamedTuple):
    """A page to recognise: its document's file, format and content, and its label in the text."""

    path: Path
    format: str
    content_hash: str
    label: str


def stored_pages(content_hash: str, engines: Engines | None) -> dict[str, RecognisedPage]:
    """The pages of a content that need not be recognised again, by label.

    A page that ran out of time, or was read in part, is tried again if it may now take longer.
    """
    if engines is None:
        return {}
    seconds = ReadingSettings.current().ocr_page_timeout
    pages: dict[str, RecognisedPage] = {}
    with database.reading() as session:
        for row in find_pages(session, content_hash):
            page = RecognisedPage.unpack(row.packed)
            is_settled = page.state not in {ScanState.LATE, ScanState.PARTLY} or row.seconds >= seconds
            if is_settled and engines.accept(page) and (row.page not in pages or page.engine == engines.names[0]):
                pages[row.page] = page
    return pages


def recognise_pages(pages: Iterable[ScannedPage], engines: Engines, until: float = inf) -> Iterator[ScannedPage]:
    """Recognise pages and store each; yields each when it is stored, until that moment on the monotonic clock.

    Raises:
        Unavailable: the processes do not start, or an engine cannot be loaded. What was read before is stored.
    """
    seconds = ReadingSettings.current().ocr_page_timeout
    pool = recognising_pool()
    waiting = iter(pages)
    under_way: dict[Future[Reading], ScannedPage] = {}
    try:
        while True:
            cancellation.check()
            while len(under_way) < _AHEAD * processors() and (page := next(waiting, None)) is not None:
                order = order_page(page.format, page.label, engines)
                under_way[pool.submit(page.path, order)] = page
            left = until - time.monotonic()
            if not under_way or left <= 0:
                return
            done, _ = wait(under_way, None if left == inf else left, FIRST_COMPLETED)
            for future in done:
                page = under_way.pop(future)
                result = recognised(future, engines)
                row = StoredPage(
                    content_hash=page.content_hash,
                    page=page.label,
                    engine=result.engine,
                    seconds=seconds,
                    packed=result.pack(),
                )
                with database.writing() as session:
                    save_page(session, row)
                yield page
    finally:
        for future in under_way:
            future.cancel()

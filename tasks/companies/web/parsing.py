"""Pages and feeds are parsed in processes of their own, under limits of time and memory, as documents are.

What a parser of markup takes grows with the square of some pages, and a signal from here could not end it
within native code. The pool is that of the documents' readers, with limits for pages: one that hangs,
crashes or swells costs that page only.
"""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from tasks.documents.extract.formats import read_document
from tasks.documents.extract.processes.pool import ExtractionPool, Limits, processors
from tasks.documents.extract.reading import Reading
from tasks.errors import TookTooLong, TooLarge, Unreadable

HTML, FILING, FEED, TEXT, PDF = ".html", ".filing", ".feed", ".txt", ".pdf"
_LIMITS: Final = Limits(seconds=15, memory_mb=1024, max_mb=32, languages=None)
"""A page of 40 KB takes 0.1 s, one of 4 MB of text 0.5, and one of 4 MB of nothing but tags 8."""
_PROCESSES: Final = 2


def parse(data: bytes, kind: str, content_type: str = "", url: str = "") -> str:
    """What is in `data`: JSON with the fields of an HTML page, a filing or a feed, the text of anything else.

    Raises:
        Unreadable, TookTooLong: it cannot be read within the limits.
        Unavailable: there is no process to read it.
    """
    header = json.dumps([content_type, url]).encode() + b"\n" if kind in {HTML, FILING, FEED} else b""
    with tempfile.NamedTemporaryFile(prefix="diligence-page-") as file:
        file.write(header + data)
        file.flush()
        try:
            return _pool().read(Path(file.name), kind).text
        except TookTooLong:
            raise TookTooLong(f"Reading the page took longer than {_LIMITS.seconds:g} s.") from None
        except (Unreadable, TooLarge):
            raise Unreadable("The page cannot be read: it is damaged, or made to be read by nobody.") from None


def warm() -> None:
    """Let the processes start and load, so that no caller waits for it; comes back at once."""
    _pool().start()


def load() -> None:
    """Load what pages are read with, 1.4 s: once a process, on no page's time."""
    from tasks.companies.web.markup import read_html  # noqa: PLC0415 - loaded in the process alone

    read_html(b"<p>A page.</p>", "text/html", "https://example.org/")


def read(path: Path, kind: str) -> Reading:
    """What the processes run."""
    if kind not in {HTML, FILING, FEED}:
        return read_document(path, kind)
    from tasks.companies.web.feed import read_feed  # noqa: PLC0415 - loaded in the process alone
    from tasks.companies.web.filing import read_report  # noqa: PLC0415 - likewise
    from tasks.companies.web.markup import read_html  # noqa: PLC0415 - likewise

    header, _, data = path.read_bytes().partition(b"\n")
    content_type, url = json.loads(header)
    if kind == HTML:
        return Reading(json.dumps(read_html(data, content_type, url)))
    return Reading(json.dumps(read_report(data, content_type) if kind == FILING else read_feed(data, url)))


@cache
def _pool() -> ExtractionPool:
    return ExtractionPool(min(_PROCESSES, processors()), _LIMITS, read, load)

"""Reads fetched pages and feeds in processes with limits, which load no network client: pages are anybody's.

Their text is that of `html.py` and of the readers of documents. Nothing here fetches anything.
"""

import calendar
import io
import json
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import feedparser  # type: ignore[import-untyped]

from tasks.errors import TookTooLong, TooLarge, Unreadable
from tasks.files import process_folder
from tasks.language.normalise import plain_line
from tasks.reading.embedded import read_with_embedded
from tasks.reading.ocr.page import fill
from tasks.reading.pool.pool import ExtractionPool, Limits, processors
from tasks.reading.text_writer import Reading

_MOST: Final = 50
"""Entries; a feed that holds a site's whole past has the latest ones first, as most have."""
_LONGEST: Final = 2 << 20
"""Bytes of a feed that are read: what is cut off is its oldest entries."""
_TEXT: Final = 2000
_MARKUP: Final = 100_000


def read_feed(data: bytes, url: str) -> list[dict[str, Any]]:
    """The fields of each `FeedUpdate`, dates in ISO form."""
    # As a stream: bytes as such it would take for the name of a file first.
    feed = feedparser.parse(io.BytesIO(data[:_LONGEST]), response_headers={"content-location": url})
    return [_fields(entry) for entry in feed.entries[:_MOST]]


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    title, summary = _text(entry.get("title")), _text(entry.get("summary"))
    text = title if summary.startswith(title) is False or not title else ""
    return {
        "link": _address(entry.get("link")),
        "image": _image(entry),
        "date": _day(entry),
        "text": "\n".join(part for part in (text, summary) if part)[:_TEXT],
    }


def _text(markup: Any) -> str:
    """The words of a text that may contain markup, in one line."""
    text = str(markup or "")[:_MARKUP]
    return plain_line(" ".join(_load_html().read_whole_text(text)) if "<" in text or "&" in text else text)[:_TEXT]


def _address(value: Any) -> str | None:
    address = plain_line(str(value or ""))
    return address if address.startswith(("http://", "https://")) and len(address) <= _TEXT else None


def _image(entry: Mapping[str, Any]) -> str | None:
    """The entry's picture, from Media RSS or an enclosure."""
    candidates = [*(entry.get("media_content") or []), *(entry.get("links") or [])]
    pictures = [
        candidate.get("url") or candidate.get("href")
        for candidate in candidates
        if str(candidate.get("type", "")).startswith("image/") or candidate.get("medium") == "image"
    ]
    pictures += [thumbnail.get("url") for thumbnail in entry.get("media_thumbnail") or []]
    return next(filter(None, map(_address, pictures)), None)


def _day(entry: Mapping[str, Any]) -> str | None:
    when = entry.get("published_parsed") or entry.get("updated_parsed")
    try:
        return datetime.fromtimestamp(calendar.timegm(when), UTC).date().isoformat() if when else None
    except (ValueError, OverflowError, OSError, TypeError):
        return None


HTML, FILING, FEED, TEXT, PDF = ".html", ".filing", ".feed", ".txt", ".pdf"
LIMITS: Final = Limits(seconds=15, memory_mb=1024, max_mb=32)
"""A page of 40 KB takes 0.1 s, one of 4 MB of text 0.5, and one of 4 MB of nothing but tags 8."""
_PROCESSES: Final = 2


def parse(data: bytes, kind: str, content_type: str = "", url: str = "") -> str:
    """What `data` contains: JSON with the fields of an HTML page, a filing or a feed; for anything else its text.

    Raises:
        Unreadable, TookTooLong: it cannot be read within the limits.
        Unavailable: there is no process to read it.
    """
    header = json.dumps([content_type, url]).encode() + b"\n" if kind in {HTML, FILING, FEED} else b""
    with tempfile.NamedTemporaryFile(dir=process_folder()) as file:
        file.write(header + data)
        file.flush()
        try:
            return share_reading_pool().read(Path(file.name), kind).text
        except TookTooLong:
            raise TookTooLong(f"Reading the page took longer than {LIMITS.seconds:g} s.") from None
        except (Unreadable, TooLarge):
            raise Unreadable("The page cannot be read: it is damaged or malformed.") from None


def warm() -> None:
    """Start and load the processes in the background, so that no caller waits for them; returns at once."""
    share_reading_pool().start()


def load() -> None:
    """Import what reads pages (1.4 s) once per process, so that it does not count as a page's time."""
    _load_html().read_html(b"<p>A page.</p>", "text/html", "https://example.org/")


@cache
def _load_html() -> ModuleType:
    from tasks.companies.web import html  # noqa: PLC0415 - 0.23 s, in the processes alone

    return html


def read(path: Path, kind: str) -> Reading:
    """What the processes run."""
    if kind not in {HTML, FILING, FEED}:
        return fill(read_with_embedded(path, kind), {}).reading  # scans are not recognised: pages are read in seconds

    header, _, data = path.read_bytes().partition(b"\n")
    content_type, url = json.loads(header)
    if kind == HTML:
        return Reading(json.dumps(_load_html().read_html(data, content_type, url)))
    return Reading(json.dumps(_load_html().read_report(data, content_type) if kind == FILING else read_feed(data, url)))


@cache
def share_reading_pool() -> ExtractionPool:
    """The processes that read pages, started when they are first needed."""
    return ExtractionPool(min(_PROCESSES, processors()), LIMITS, read, load)

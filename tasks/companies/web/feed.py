"""What a site's feed tells: its latest entries, of RSS or Atom, as plain text.

Only the processes that read pages import this module (`page.py`): feedparser and html_text take 0.1 s.
"""

import calendar
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import feedparser  # type: ignore[import-untyped]
from html_text import extract_text

from tasks.text.normalise import plain_line

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
    """The words of what may be markup, in one line."""
    text = str(markup or "")[:_MARKUP]
    return plain_line(extract_text(text) if "<" in text or "&" in text else text)[:_TEXT]


def _address(value: Any) -> str | None:
    address = plain_line(str(value or ""))
    return address if address.startswith(("http://", "https://")) and len(address) <= _TEXT else None


def _image(entry: Mapping[str, Any]) -> str | None:
    """The entry's picture, of Media RSS or an enclosure."""
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

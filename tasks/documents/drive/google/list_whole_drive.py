"""Lists a shared drive from its root: all of it at once, split by time of creation. The tree is made from the parents.

It takes half the requests of a walk by parents, no level waits for the one above, and no query can lose a parent.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil
from typing import Any

from tasks.documents.drive.google import api
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.contents import FolderContents
from tasks.documents.drive.google.errors import Refused
from tasks.errors import NotAllowed, NotFound
from tasks.remote.fan_out import FanOut

_PAGES = 2.9  # pages that one span of time should fill: 48 requests for 21,000 rows, 49 and no quicker with 1.9
_TICK = timedelta(milliseconds=1)  # Drive's times are no finer


@dataclass(frozen=True, slots=True, eq=False)
class _Span:
    """From `start` until before `end`; `token` is of the page to ask for."""

    start: datetime
    end: datetime
    token: str | None = None


class WholeDrive:
    """The shared drive whose root is `contents.top`."""

    def __init__(self, client: Client, contents: FolderContents) -> None:
        self._client = client
        self._contents = contents
        self._drive_id = contents.top.id
        self._edges: set[str] = set()  # ids of rows that another span will bring again
        self._under_way: dict[Future[Any], _Span] = {}

    def through(self) -> bool:
        """List all of it. Gives False and adds nothing where too many files were created at the same time to split it.

        Raises:
            NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
        """
        with FanOut(api.CALLS_AT_ONCE, "listing") as threads:
            try:
                oldest, newest = (
                    future.result() for future in [threads.submit(self._page, order) for order in ("", " desc")]
                )
            except (NotFound, NotAllowed, Refused):  # the folder is shared with the account, the drive is not
                return False
            if not oldest.get("nextPageToken"):
                self._note(oldest)
                return True
            rising, falling = _times(oldest), _times(newest)
            if not _in_order(rising) or not _in_order(falling[::-1]) or not newest.get("nextPageToken"):
                return False
            self._note(oldest)
            self._note(newest)
            start, end = rising[-1], falling[-1]
            if start <= end:
                self._edges.update(file["id"] for page in (oldest, newest) for file in page["files"])
                rows = (_density(rising) + _density(falling)) / 2 * (end - start).total_seconds()
                self._split(start, end + _TICK, round(rows / len(rising) / _PAGES), threads)
            while self._under_way:
                for done in wait(self._under_way, return_when=FIRST_COMPLETED).done:
                    self._take(self._under_way.pop(done), done.result(), threads)
        return True

    def _page(self, order: str, span: _Span | None = None) -> dict[str, Any]:
        q = "trashed = false"
        if span:
            q = f"createdTime >= '{_written(span.start)}' and createdTime < '{_written(span.end)}' and {q}"
        return self._client.call(
            api.page(
                q,
                fields=api.TOGETHER,
                order="createdTime" + order,
                token=span.token if span else None,
                drive_id=self._drive_id,
            )
        )

    def _take(self, span: _Span, page: Mapping[str, Any], threads: FanOut) -> None:
        self._note(page)
        token, times = page.get("nextPageToken"), _times(page)
        if not token:
            return
        if _in_order(times):
            # Files are not spread evenly over time: a span with more files than expected is split among idle threads.
            left = _density(times) * (span.end - times[-1]).total_seconds() / len(times)
            parts = min(api.CALLS_AT_ONCE - len(self._under_way), ceil(left / _PAGES))
            if parts > 1 and left > _PAGES + 0.5:
                self._edges.update(
                    file["id"] for file, time in zip(page["files"], times, strict=True) if time == times[-1]
                )
                self._split(times[-1], span.end, parts, threads)
                return
        self._ask(_Span(span.start, span.end, token), threads)

    def _split(self, start: datetime, end: datetime, parts: int, threads: FanOut) -> None:
        parts = max(1, min(parts, api.CALLS_AT_ONCE))
        step = (end - start) / parts
        # Bounds are whole ticks, as queries write them, so that no file falls between two spans.
        bounds = [start, *(_tick(start + step * number) for number in range(1, parts)), end]
        for begins, ends in pairwise(bounds):
            if begins < ends:
                self._ask(_Span(begins, ends), threads)

    def _ask(self, span: _Span, threads: FanOut) -> None:
        self._under_way[threads.submit(self._page, "", span)] = span

    def _note(self, page: Mapping[str, Any]) -> None:
        self._contents.incomplete |= bool(page.get("incompleteSearch"))
        files = [file for file in page.get("files", ()) if file["id"] not in self._edges]
        # A file whose folder this account may not see has no parents: it is not part of the tree.
        self._contents.take([(file, file["parents"][0]) for file in files if file.get("parents")])


def _times(page: Mapping[str, Any]) -> list[datetime]:
    try:
        return [datetime.fromisoformat(file["createdTime"]) for file in page.get("files", ())]
    except (KeyError, ValueError):
        return []


def _in_order(times: Sequence[datetime]) -> bool:
    """Whether times rise, from the first to a later last."""
    return len(times) > 1 and times[0] < times[-1] and all(a <= b for a, b in pairwise(times))


def _density(times: Sequence[datetime]) -> float:
    """Files a second."""
    return len(times) / abs((times[-1] - times[0]).total_seconds())


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _tick(time: datetime) -> datetime:
    return time.replace(microsecond=time.microsecond // 1000 * 1000)

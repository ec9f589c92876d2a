"""Lists a shared drive from its root: all of it at once, split by time of modification; the tree is made from parents.

It takes two thirds of the requests of a walk by parents, no level waits for the one above, and no query can lose a
parent. Google's reference of files.list on `orderBy`: createdTime "might result in timeouts or other issues" on large
collections, where `modifiedTime desc` is to be used instead. With about a million files any order may be ignored
(an older edition of the same page). So where Drive fails, ignores the order, or refuses to go on, this way is given up.

A file that is edited while the listing goes on leaves its place in that order. The drive's log of changes tells of it
at the end.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil
from typing import Any

from tasks.documents.drive.google import api
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.contents import FolderContents
from tasks.documents.drive.google.errors import Gone, Refused
from tasks.errors import NotAllowed, NotFound, SourceFailed, TookTooLong, Unavailable
from tasks.remote.fan_out import FanOut

_PAGES = 2.9  # pages that one span of time should fill: 48 requests for 21,000 rows, 49 and no quicker with 1.9
_TICK = timedelta(milliseconds=1)  # Drive's times are no finer
_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)  # no span is split beyond it
_TRIES, _SECONDS = 3, 45.0  # of one request: there is another way
_MAX_CHANGE_PAGES = 5


@dataclass(frozen=True, slots=True, eq=False)
class _Span:
    """From `start` until before `end`, without a bound where None; `token` is of the page to ask for."""

    start: datetime | None = None
    end: datetime | None = None
    token: str | None = None
    restarts: int = 0


class WholeDrive:
    """The shared drive whose root is `contents.top`."""

    def __init__(self, client: Client, contents: FolderContents, mark: str) -> None:
        """`mark` is where the drive's log of changes stood before."""
        self._client = client
        self._contents = contents
        self._drive_id, self._log_token = api.log_of(mark)
        self._under_way: dict[Future[Any], _Span] = {}

    def through(self) -> bool:
        """List all of it. Gives False where that cannot be done: then what `contents` holds by now is a part of it.

        Raises:
            NotLoggedIn, TooManyRequests: Drive does not answer this account now.
        """
        try:
            with FanOut(api.CALLS_AT_ONCE, "listing") as threads:
                self._list(threads)
            self._add_changed()
        except (_GivenUp, Unavailable, SourceFailed, TookTooLong, NotFound, NotAllowed):
            return False
        return True

    def _list(self, threads: FanOut) -> None:
        # Refused where the folder is shared with the account and the drive is not.
        newest = threads.submit(self._page, _Span()).result()
        self._note(newest)
        if not newest.get("nextPageToken"):
            return
        times = _times(newest)
        if not _in_order(times):
            raise _GivenUp("too many files of the same time, or in no order")
        created = _time(self._contents.top.created) or times[-1]
        if created < times[-1]:
            rows = _density(times) * (times[-1] - created).total_seconds()
            self._split(created, times[-1] + _TICK, round(rows / len(times) / _PAGES), threads)
        self._ask(_Span(end=min(created, times[-1] + _TICK)), threads)  # files can be older than the drive
        while self._under_way:
            for done in wait(self._under_way, return_when=FIRST_COMPLETED).done:
                self._take(self._under_way.pop(done), done, threads)

    def _page(self, span: _Span) -> dict[str, Any]:
        q = "trashed = false"
        if span.end:
            q = f"modifiedTime < '{_written(span.end)}' and {q}"
        if span.start:
            q = f"modifiedTime >= '{_written(span.start)}' and {q}"
        make = api.page(
            q, fields=api.TOGETHER, order="modifiedTime desc", token=span.token, drive_id=self._drive_id
        )  # fmt: skip
        return self._client.call(make, tries=_TRIES, seconds=_SECONDS)

    def _take(self, span: _Span, done: Future[Any], threads: FanOut) -> None:
        try:
            page = done.result()
        except (Refused, Gone):
            if not span.token or span.restarts == api.RESTARTS:
                raise
            self._ask(replace(span, token=None, restarts=span.restarts + 1), threads)
            return
        self._note(page)
        token, times = page.get("nextPageToken"), _times(page)
        if token and not self._divided(span, times, threads):
            self._ask(replace(span, token=token), threads)

    def _divided(self, span: _Span, times: Sequence[datetime], threads: FanOut) -> bool:
        """Divide the rest of a span among idle threads where it has more files than expected: they come in heaps."""
        if not _in_order(times):
            return False
        idle = api.CALLS_AT_ONCE - len(self._under_way)
        end = times[-1] + _TICK
        if span.start is None:
            # How many there are is not known: some spans as dense as this page, and what is left below them.
            start = max(end - max(1, idle // 2) * _PAGES * (times[0] - times[-1]), _OLDEST)
            if start >= end:
                return False
            self._split(start, end, max(1, idle // 2), threads)
            self._ask(_Span(end=start), threads)
            return True
        left = _density(times) * (times[-1] - span.start).total_seconds() / len(times)
        parts = min(idle, ceil(left / _PAGES))
        if parts < 2 or left <= _PAGES + 0.5:
            return False
        self._split(span.start, end, parts, threads)
        return True

    def _split(self, start: datetime, end: datetime, parts: int, threads: FanOut) -> None:
        parts = max(1, min(parts, api.CALLS_AT_ONCE))
        step = (end - start) / parts
        # Bounds are whole ticks, as queries write them, so that no file falls between two spans.
        bounds = [_tick(start), *(_tick(start + step * number) for number in range(1, parts)), end]
        for begins, ends in pairwise(bounds):
            if begins < ends:
                self._ask(_Span(begins, ends), threads)

    def _ask(self, span: _Span, threads: FanOut) -> None:
        self._under_way[threads.submit(self._page, span)] = span

    def _note(self, page: Mapping[str, Any]) -> None:
        self._contents.incomplete |= bool(page.get("incompleteSearch"))
        self._add(page.get("files", ()))

    def _add(self, files: Sequence[Mapping[str, Any]]) -> None:
        # A file whose folder this account may not see has no parents: it is not part of the tree.
        self._contents.take([(file, file["parents"][0]) for file in files if file.get("parents")])

    def _add_changed(self) -> None:
        """Add what has changed since the mark: it may have left its span before that was read."""
        token = self._log_token
        for _ in range(_MAX_CHANGE_PAGES):
            page = self._client.call(api.changes(token, self._drive_id, api.CHANGED_FILES))
            files = [change.get("file") or {} for change in page.get("changes", ())]
            self._add([file for file in files if not file.get("trashed")])
            if "nextPageToken" not in page:
                return
            token = page["nextPageToken"]
        raise _GivenUp("too much is changing")


class _GivenUp(Exception):
    """The drive cannot be listed in this way."""


def _time(written: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except (TypeError, ValueError):
        return None


def _times(page: Mapping[str, Any]) -> list[datetime]:
    times = [_time(file.get("modifiedTime")) for file in page.get("files", ())]
    return [time for time in times if time] if None not in times else []


def _in_order(times: Sequence[datetime]) -> bool:
    """Whether times fall, from the first to an earlier last."""
    return len(times) > 1 and times[0] > times[-1] and all(a >= b for a, b in pairwise(times))


def _density(times: Sequence[datetime]) -> float:
    """Files a second."""
    return len(times) / (times[0] - times[-1]).total_seconds()


def _written(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _tick(time: datetime) -> datetime:
    return time.replace(microsecond=time.microsecond // 1000 * 1000)

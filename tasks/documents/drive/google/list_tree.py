"""Lists a tree of folders on Google Drive in one of two ways, into memory or into the spool.

By parents: many folders in one query, as many as the earlier answers suggest. Or a whole shared drive from its root:
all of it at once, split by modification time, with the tree built from the parents that the files name.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

from tasks.documents.drive.drive import Document, Folder
from tasks.documents.drive.google import api
from tasks.documents.drive.google.api import (
    FOLDER,
    SHORTCUT,
    FileRow,
    PartialDocument,
    ShortcutTarget,
    make_entry,
    make_row,
    read_target,
)
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.errors import Gone, Refused
from tasks.documents.drive.spool import SpooledRows
from tasks.errors import DiligenceError, NotAllowed, NotFound, SourceFailed, TookTooLong, Unavailable
from tasks.files import hidden
from tasks.remote.fan_out import FanOut


class FolderContents:
    """The folder `top` and everything below it. Only one thread adds to it.

    A row may come twice, because pages shift while people work: the first one counts.
    """

    def __init__(self, top: FileRow, spool: Path | None, keys: dict[str, str]) -> None:
        """`keys` are resource keys by file id; those of files that are added are put in."""
        self.top = top
        self.folders: dict[str, FileRow] = {}
        self.shortcuts: dict[str, tuple[FileRow, ShortcutTarget]] = {}
        self._documents = SpooledRows(spool) if spool else None
        # Without a spool, what can be made of a row is made while calls are under way: 0.15 s for 20,000.
        self._made: list[Document] = []
        self._entries: list[PartialDocument] = []  # documents in folders whose path is not known yet
        self._paths = {top.id: ""}
        self.closed: set[str] = set()
        """Ids of folders that could not be listed."""
        self.cut_short: set[str] = set()
        """Ids of folders that could not be listed to their end."""
        self.incomplete = False
        self._keys = keys

    @property
    def on_disk(self) -> bool:
        """Whether the documents are on disk."""
        return self._documents is not None

    def take(self, files: Iterable[tuple[Mapping[str, Any], str]]) -> list[str]:
        """Add files, paired with the ids of their folders; returns the ids of the folders that are new."""
        new: list[str] = []
        documents: list[FileRow] = []
        for file, parent in files:
            if hidden(file.get("name", "")):
                continue
            row = make_row(file, parent)
            self.note_key(row.id, row.key)
            if row.mime_type == FOLDER:
                if self.add_folder(row):
                    new.append(row.id)
            elif row.mime_type == SHORTCUT:
                self.shortcuts.setdefault(row.id, (row, read_target(file)))
            else:
                documents.append(row)
        if self._documents is not None:
            self._documents.add(documents)
            return new
        for row in documents:
            before, after = entry = make_entry(row)
            path = self._paths.get(row.parent)
            if path is None:
                self._entries.append(entry)
            else:
                self._made.append(Document(before[0], before[1], before[2], path, *after))
        return new

    def add_folder(self, row: FileRow) -> bool:
        """Add a folder; False if it is known already."""
        if row.id in self.folders or row.id == self.top.id:
            return False
        self.folders[row.id] = row
        above = self._paths.get(row.parent)
        if above is not None:
            self._paths[row.id] = f"{above}/{row.name}" if above else row.name
        return True

    def note_key(self, file_id: str, key: str | None) -> None:
        """Add a file's resource key, if it has one."""
        if key:
            self._keys[file_id] = key

    def keys_to(self, folder_ids: Iterable[str]) -> dict[str, str]:
        """The resource keys that a call about these folders needs: their own, and those of the folders above them."""
        needed: dict[str, str] = {}
        if self._keys:
            for folder_id in folder_ids:
                for at in self._upwards(folder_id):
                    if at in self._keys:
                        needed[at] = self._keys[at]
        return needed

    def order_folders(self) -> list[Folder]:
        """The folders that can be reached from the top, parents before children, in order of name."""
        below: dict[str, list[FileRow]] = {}
        for row in sorted(self.folders.values(), key=lambda row: (row.name, row.id), reverse=True):
            below.setdefault(row.parent, []).append(row)
        ordered: list[Folder] = []
        waiting = [(row, row.name) for row in below.get(self.top.id, ())]
        while waiting:
            row, path = waiting.pop()
            ordered.append(Folder(row.id, row.name, path, row.parent))
            waiting.extend((deeper, f"{path}/{deeper.name}") for deeper in below.get(row.id, ()))
        return ordered

    def stream(self, paths: Mapping[str, str]) -> Iterator[Document]:
        """The documents in these folders (paths by id), in the order in which they were added."""
        yield from self._made
        entries = (
            self._entries
            if self._documents is None
            else (make_entry(FileRow(*document)) for document in self._documents)
        )
        for before, after in entries:
            path = paths.get(before[2])
            if path is not None:
                yield Document(before[0], before[1], before[2], path, *after)

    def _upwards(self, folder_id: str) -> Iterator[str]:
        seen = {self.top.id}
        while folder_id not in seen:
            seen.add(folder_id)
            yield folder_id
            row = self.folders.get(folder_id)
            if row is None:
                break
            folder_id = row.parent
        yield self.top.id


_MOST = 100  # parents in a query: Drive refuses one from about 150 as too complex; also the parts of a batch
_PAGE = 460  # rows of a page with `parents` in it, until a longer one was seen
_PAGES = 1.2  # pages that a query should fill: 66 requests for 1,000 folders; 75 with 0.9, and no quicker with 1.85
_ENOUGH = 0.6  # of a full query, to be sent while more folders may come
_EXPECTED = (50.0, 1000.0)  # folders and rows in them, before anything is learned: one broad folder says little
_MEMORY = 0.8  # of what was learned about rows a folder, with each query


@dataclass(slots=True, eq=False)
class _Query:
    """A query under way that covers several parents together."""

    parents: Sequence[str]
    token: str | None = None
    restarts: int = 0
    seen: set[str] = field(default_factory=set)
    rows: int = 0
    brings_folders: bool = True
    astray: bool = False
    """A row named none of the parents."""


class ParentWalk:
    """Lists folders and everything below them into `contents`."""

    def __init__(self, client: Client, contents: FolderContents, *, recursive: bool) -> None:
        self._client = client
        self._contents = contents
        self._recursive = recursive
        self._waiting: deque[str] = deque()
        self._empty: deque[str] = deque()  # without a row so far: to be queried on their own
        self._queries: dict[Future[Any], _Query] = {}
        self._batches: dict[Future[Any], Sequence[str]] = {}
        self._page = _PAGE
        self._folders, self._rows = _EXPECTED

    def through(self, folder_ids: Iterable[str]) -> None:
        """List these folders.

        Raises:
            NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
        """
        self._waiting.extend(folder_ids)
        with FanOut(api.CALLS_AT_ONCE, "listing") as threads:
            while True:
                self._send(threads)
                if not (self._queries or self._batches):
                    return
                for done in wait([*self._queries, *self._batches], return_when=FIRST_COMPLETED).done:
                    if done in self._queries:
                        self._take_page(self._queries.pop(done), done, threads)
                    else:
                        self._take_batch(self._batches.pop(done), done.result(), threads)

    def _send(self, threads: FanOut) -> None:
        """Send queries for the waiting folders: full ones at once, the rest when no more folders can be added."""
        size = self._size()
        more_may_come = any(query.brings_folders for query in self._queries.values()) or bool(self._batches)
        enough = max(1, int(size * _ENOUGH)) if more_may_come else 1
        # Answers wait in memory until they are added: no more of them than keep the threads busy.
        while len(self._waiting) >= enough and len(self._queries) < 2 * api.CALLS_AT_ONCE:
            parents = [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]
            self._ask(_Query(parents), threads)
        while len(self._empty) >= _MOST or (self._empty and not self._waiting and not self._queries):
            alone = [self._empty.popleft() for _ in range(min(_MOST, len(self._empty)))]
            makes = [self._make(_Query([parent])) for parent in alone]
            self._batches[threads.submit(self._client.batch, makes)] = alone

    def _size(self) -> int:
        """How many parents to combine in a query so that it has about `_PAGES` pages."""
        return max(1, min(_MOST, int(_PAGES * self._page * self._folders / max(self._rows, self._folders))))

    def _ask(self, query: _Query, threads: FanOut) -> None:
        self._queries[threads.submit(self._client.call, self._make(query))] = query

    def _make(self, query: _Query) -> "api.Make":
        q = api.query_folders(query.parents)
        if not self._recursive:
            q += f" and mimeType != {api.cite_quote(FOLDER)}"
        return api.page(
            q,
            fields=api.ALONE if len(query.parents) == 1 else api.TOGETHER,
            order="folder",
            token=query.token,
            keys=self._contents.keys_to(query.parents),
        )

    def _take_page(self, query: _Query, done: Future[Any], threads: FanOut) -> None:
        try:
            answer = done.result()
        except (NotFound, NotAllowed, Refused) as error:
            if query.token and isinstance(error, Gone | Refused):
                self._restart(query, threads)
            elif len(query.parents) > 1:
                self._empty.extend(query.parents)  # one of them is gone: queries of their own show which
            elif isinstance(error, Refused):
                raise
            else:
                self._contents.closed.add(query.parents[0])
            return
        files = answer.get("files", [])
        self._note(answer, list(self._place(query, files)))
        query.rows += len(files)
        query.brings_folders = bool(files) and files[-1].get("mimeType") == FOLDER
        query.token = answer.get("nextPageToken")
        if query.token:
            if len(query.parents) > 1:
                self._page = max(self._page, len(files))
            query.brings_folders = query.brings_folders or not files
            self._ask(query, threads)
            return
        # The latest answers count most: deeper folders hold less as a rule.
        self._folders = _MEMORY * self._folders + len(query.parents)
        self._rows = _MEMORY * self._rows + query.rows
        if len(query.parents) > 1:
            self._empty.extend(
                query.parents if query.astray else [parent for parent in query.parents if parent not in query.seen]
            )

    def _restart(self, query: _Query, threads: FanOut) -> None:
        """Restart a query whose page token was refused; a folder whose tokens are always refused is cut short."""
        if query.restarts < api.RESTARTS:
            self._ask(_Query(query.parents, restarts=query.restarts + 1), threads)
        elif len(query.parents) > 1:
            self._empty.extend(query.parents)
        else:
            self._contents.cut_short.add(query.parents[0])

    def _place(self, query: _Query, files: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Pair files with the ids of their folders."""
        if len(query.parents) == 1:
            for file in files:
                yield file, query.parents[0]
            return
        parents = frozenset(query.parents)
        for file in files:
            for parent in file.get("parents", ()):
                if parent in parents:
                    query.seen.add(parent)
                    yield file, parent
                    break
            else:
                query.astray = True

    def _take_batch(
        self, alone: Sequence[str], answers: Sequence[dict[str, Any] | DiligenceError], threads: FanOut
    ) -> None:
        for parent, answer in zip(alone, answers, strict=True):
            if isinstance(answer, NotFound | NotAllowed):
                self._contents.closed.add(parent)
            elif isinstance(answer, DiligenceError):
                raise answer
            else:
                self._note(answer, [(file, parent) for file in answer.get("files", [])])
                if answer.get("nextPageToken"):
                    self._ask(_Query([parent], answer["nextPageToken"]), threads)

    def _note(self, answer: Mapping[str, Any], files: Sequence[tuple[Mapping[str, Any], str]]) -> None:
        self._contents.incomplete |= bool(answer.get("incompleteSearch"))
        new = self._contents.take(files)
        if self._recursive:
            self._waiting.extend(new)


_SPAN_PAGES = 2.9  # pages that a span of time should fill: 48 requests for 21,000 rows, 49 and no quicker with 1.9
_TICK = timedelta(milliseconds=1)  # Drive's times are no finer
_OLDEST = datetime(1970, 1, 1, tzinfo=UTC)  # no span is split beyond it
_TRIES, _SECONDS = 3, 45.0  # of one request: there is another way
_MAX_CHANGE_PAGES = 5


@dataclass(frozen=True, slots=True, eq=False)
class _Span:
    """The time from `start` until before `end`, unbounded if None; `token` is that of the page to ask for."""

    start: datetime | None = None
    end: datetime | None = None
    token: str | None = None
    restarts: int = 0


class WholeDrive:
    """The shared drive whose root is `contents.top`."""

    def __init__(self, client: Client, contents: FolderContents, mark: str) -> None:
        """`mark` is the position of the drive's log of changes before the listing."""
        self._client = client
        self._contents = contents
        self._drive_id, self._log_token = api.split_mark(mark)
        self._under_way: dict[Future[Any], _Span] = {}

    def through(self) -> bool:
        """List all of it. False if that is not possible: `contents` is then incomplete.

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
            self._split(created, times[-1] + _TICK, round(rows / len(times) / _SPAN_PAGES), threads)
        self._ask(_Span(end=min(created, times[-1] + _TICK)), threads)  # files can be older than the drive
        while self._under_way:
            for done in wait(self._under_way, return_when=FIRST_COMPLETED).done:
                self._take(self._under_way.pop(done), done, threads)

    def _page(self, span: _Span) -> dict[str, Any]:
        q = "trashed = false"
        if span.end:
            q = f"modifiedTime < '{_write_time(span.end)}' and {q}"
        if span.start:
            q = f"modifiedTime >= '{_write_time(span.start)}' and {q}"
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
        if token and not self._divide(span, times, threads):
            self._ask(replace(span, token=token), threads)

    def _divide(self, span: _Span, times: Sequence[datetime], threads: FanOut) -> bool:
        """Divide the rest of a span among idle threads if it has more files than expected: files cluster in time."""
        if not _in_order(times):
            return False
        idle = api.CALLS_AT_ONCE - len(self._under_way)
        end = times[-1] + _TICK
        if span.start is None:
            # How many there are is not known: some spans as dense as this page, and what is left below them.
            start = max(end - max(1, idle // 2) * _SPAN_PAGES * (times[0] - times[-1]), _OLDEST)
            if start >= end:
                return False
            self._split(start, end, max(1, idle // 2), threads)
            self._ask(_Span(end=start), threads)
            return True
        left = _density(times) * (times[-1] - span.start).total_seconds() / len(times)
        parts = min(idle, ceil(left / _SPAN_PAGES))
        if parts < 2 or left <= _SPAN_PAGES + 0.5:
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
        """Add what has changed since the mark: it may have left its span before the span was read."""
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
    """The drive cannot be listed this way."""


def _time(written: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except (TypeError, ValueError):
        return None


def _times(page: Mapping[str, Any]) -> list[datetime]:
    times = [_time(file.get("modifiedTime")) for file in page.get("files", ())]
    return [time for time in times if time] if None not in times else []


def _in_order(times: Sequence[datetime]) -> bool:
    """Whether the times are in descending order and the last is earlier than the first."""
    return len(times) > 1 and times[0] > times[-1] and all(a >= b for a, b in pairwise(times))


def _density(times: Sequence[datetime]) -> float:
    """Files per second."""
    return len(times) / (times[0] - times[-1]).total_seconds()


def _write_time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _tick(time: datetime) -> datetime:
    return time.replace(microsecond=time.microsecond // 1000 * 1000)

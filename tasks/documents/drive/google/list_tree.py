"""Lists a tree of folders on Google Drive: many folders in one query, as many as the earlier answers suggest."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.cancellation import FanOut
from tasks.documents.drive.drive import Document, Folder
from tasks.documents.drive.google import api
from tasks.documents.drive.google.api import (
    FOLDER,
    SHORTCUT,
    FileRow,
    ShortcutTarget,
    make_document,
    make_row,
    read_target,
)
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.errors import Gone, Refused
from tasks.documents.drive.spool import ListedRows
from tasks.errors import DiligenceError, NotAllowed, NotFound
from tasks.files import hidden


class FolderContents:
    """The folder `top` and everything below it. Only one thread adds to it.

    A row may come twice, because pages shift while people work: the first one counts.
    """

    def __init__(self, top: FileRow, spool: Path | None, keys: dict[str, str]) -> None:
        """`keys` are resource keys by file id; those of files that are added are put in."""
        self.top = top
        self.folders: dict[str, FileRow] = {}
        self.shortcuts: dict[str, tuple[FileRow, ShortcutTarget]] = {}
        self._documents = ListedRows(spool)
        self.closed: set[str] = set()
        """Ids of folders that could not be listed."""
        self.cut_short: set[str] = set()
        """Ids of folders that could not be listed to their end."""
        self.incomplete = False
        self._keys = keys

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
        self._documents.add(documents)
        return new

    def add_folder(self, row: FileRow) -> bool:
        """Add a folder; False if it is known already."""
        if self.has(row.id):
            return False
        self.folders[row.id] = row
        return True

    def has(self, folder_id: str) -> bool:
        """Whether the folder is known."""
        return folder_id in self.folders or folder_id == self.top.id

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
        for row in map(FileRow._make, self._documents):
            path = paths.get(row.parent)
            if path is not None:
                yield make_document(row, path)

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

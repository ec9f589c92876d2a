"""The documents of a run, many at a time: fetched, read and kept, each with its outcome, whatever the others do.

What was read is kept within a moment, so that a killed process loses that moment and what it was reading.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from sqlmodel import Session

from storage import database, documents, runs
from storage.database import now
from storage.documents import RoomDocument
from storage.runs import DocumentOutcome, DocumentStatus
from storage.texts import NewText, Outcome, TextSummary, save_texts
from tasks.documents import texts
from tasks.documents.drive.drive import Document, Drive, Fetched
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.drive.spool import spool
from tasks.documents.extract.text_writer import Reading
from tasks.documents.index import document_of
from tasks.documents.settings import DocumentSettings
from tasks.errors import DiligenceError, NotFound, SourceFailed, UnsupportedFormat
from tasks.operation import operation
from tasks.remote.fan_out import FanOut, Leave

_MOMENT: Final = 0.2
"""Seconds that what was read waits at most to be kept, so that a transaction holds many: 1.2 ms each by itself."""
_HELD: Final = 96
_HELD_BYTES: Final = 64 << 20
"""What is fetched or lies in the spool at most, so that the readers never wait; a larger document comes alone."""
_AT_ONCE: Final = 32
"""Documents fetched together, and looked up together among those that were read before."""
_TRIES: Final = 3
"""Times that a document is read which is written meanwhile."""
_UNKNOWN_SIZE: Final = 10 << 20
"""What a document counts whose size the drive does not know: the most that Google exports."""


@operation(name="read_documents", asks_a_source=True)
def read_documents(
    room_id: int, document_ids: Sequence[str], company_id: int | None = None, since: datetime | None = None
) -> list[DocumentOutcome]:
    """Read a batch of a room's documents, each only when its content was not read before.

    Args:
        room_id: the indexed folder.
        document_ids: a few hundred of its documents at most, those to begin with first.
        company_id: the company of a run that the outcomes are written down for.
        since: texts read since then are the run's own, `read`; older ones are `unchanged`.

    A document that cannot be read is an outcome, never an error. The outcomes come in no order.
    """
    with database.reading() as session:
        rows = {row.document_id: row for row in documents.some_documents(session, room_id, document_ids)}
    batch = _Batch(open_run_drive(), company_id, since or now())
    wanted = list(dict.fromkeys(document_ids))
    for document_id in wanted:
        if document_id not in rows:
            batch.fail(document_id, NotFound("The document is no longer in the folder."))
    return batch.read([document_of(rows[document_id]) for document_id in wanted if document_id in rows])


def prepare(listed: Sequence[RoomDocument]) -> None:
    """Start the readers, in the background, when there is something among these documents that was never read."""
    with database.reading() as session:
        known = documents.find_contents(session, open_run_drive().name, [each.document_id for each in listed])
    if any(each.document_id not in known or known[each.document_id].version != each.version for each in listed):
        texts.shared_pool().start()


_Fetch = Callable[[str], "Future[Fetched]"]
"""Fetches the document with an id."""


@contextmanager
def _fetching(drive: Drive, folder: Path, max_bytes: int) -> Iterator[_Fetch]:
    """How documents come into `folder`: as many at a time as the drive says is worth it, all there at the end.

    From a disk, a document is there when the call returns: threads would only take turns.
    """
    if drive.max_parallel_fetches == 1:
        yield lambda document_id: _fetched_here(drive, document_id, folder, max_bytes)
        return
    with FanOut(drive.max_parallel_fetches, "fetching", Leave.NEVER) as threads:
        yield lambda document_id: threads.submit(drive.fetch, document_id, folder, max_bytes)


def _fetched_here(drive: Drive, document_id: str, folder: Path, max_bytes: int) -> "Future[Fetched]":
    future: Future[Fetched] = Future()
    try:
        future.set_result(drive.fetch(document_id, folder, max_bytes))
    except DiligenceError as error:
        future.set_exception(error)
    return future


@dataclass(frozen=True, slots=True)
class _OnTheWay:
    """A document that is being fetched."""

    document: Document
    format: str
    fetched: "Future[Fetched]"

    @property
    def size(self) -> int:
        return _UNKNOWN_SIZE if self.document.size is None else self.document.size


@dataclass(slots=True)
class _Content:
    """What one document or more hold, by hash and format, and its text: known before, or being read, or new."""

    key: tuple[str, str]
    of: list[tuple[Document, Fetched]]
    known: TextSummary | None = None
    result: "Future[Reading] | None" = None
    new: NewText | None = None


class _Batch:
    """Documents on their way: fetched here or in threads, read by the pool, kept by this thread."""

    def __init__(self, drive: Drive, company_id: int | None, since: datetime) -> None:
        self._drive = drive
        self._company_id = company_id
        self._since = since
        self._pool = texts.shared_pool()
        self._max_mb = DocumentSettings.current().document_max_mb
        self._outcomes: list[DocumentOutcome] = []
        self._happened: SimpleQueue[_OnTheWay | _Content] = SimpleQueue()
        self._waiting: deque[Document] = deque()
        self._tries: Counter[str] = Counter()
        self._held: dict[str, int] = {}
        self._being_read: dict[tuple[str, str], _Content] = {}
        self._done: list[_Content] = []
        self._failed: list[DocumentOutcome] = []
        self._keep_at: float | None = None

    def fail(self, document_id: str, error: DiligenceError) -> None:
        """Note that there is no text of a document."""
        self._failed.append(_failure(document_id, error))
        self._keep_soon()

    def read(self, wanted: Sequence[Document]) -> list[DocumentOutcome]:
        """The outcomes of these documents and of those that failed before."""
        known = texts.known_texts(self._drive, wanted)
        with database.writing() as session:
            self._outcomes = [self._outcome(each, known[each.id]) for each in wanted if each.id in known]
            self._note(session, self._outcomes)
        waiting = self._waiting
        waiting.extend(document for document in wanted if document.id not in known)
        if waiting:
            self._pool.start()  # while the first are fetched
        with spool() as folder, _fetching(self._drive, folder, self._max_mb << 20) as fetch:
            while waiting or self._held or self._keep_at is not None:
                self._fetch_some(fetch)
                self._take_in(wait=bool(self._held) and not (waiting and self._has_room()))
                if self._keep_at is not None and (time.monotonic() >= self._keep_at or not (waiting or self._held)):
                    self._keep()
        return self._outcomes

    def _has_room(self) -> bool:
        return not self._held or (len(self._held) <= _HELD - _AT_ONCE and sum(self._held.values()) < _HELD_BYTES)

    def _fetch_some(self, fetch: _Fetch) -> None:
        if not self._has_room():
            return
        for _ in range(min(_AT_ONCE, len(self._waiting))):
            document = self._waiting.popleft()
            try:
                format_ = texts.check_readable(document, self._max_mb)
            except DiligenceError as error:
                self.fail(document.id, error)
                continue
            each = _OnTheWay(document, format_, fetch(document.id))
            self._held[document.id] = each.size
            each.fetched.add_done_callback(partial(self._tell, each))
            if sum(self._held.values()) >= _HELD_BYTES:
                return

    def _tell(self, each: _OnTheWay | _Content, _: object) -> None:
        """It was fetched, or read: called by whichever thread has done it."""
        self._happened.put(each)

    def _take_in(self, *, wait: bool) -> None:
        """Go on with what was fetched and what was read; when there is nothing and `wait` is on, wait for it."""
        fetched: list[_OnTheWay] = []
        patience = None if self._keep_at is None else max(self._keep_at - time.monotonic(), 0)
        with suppress(Empty):
            while True:
                each = self._happened.get(wait, patience)
                wait = False
                if isinstance(each, _OnTheWay):
                    fetched.append(each)
                else:
                    settled = each.of[0][1].is_unchanged()
                    self._release(*each.of[0])
                    if settled:
                        self._finish(each)
                    else:
                        self._read_again(each)
        self._hand_on(fetched)

    def _hand_on(self, fetched: Sequence[_OnTheWay]) -> None:
        """Have read what was fetched, but for that whose content is known, is being read, or cannot be had."""
        arrived: list[tuple[_OnTheWay, Fetched]] = []
        for each in fetched:
            try:
                arrived.append((each, each.fetched.result()))
            except DiligenceError as error:
                del self._held[each.document.id]
                self.fail(each.document.id, error)
        known = texts.known_contents([(file.content_hash, each.format) for each, file in arrived])
        for each, file in arrived:
            key = file.content_hash, each.format
            if key in known:
                self._finish(_Content(key, [(each.document, file)], known[key]))
            elif key in self._being_read:
                self._being_read[key].of.append((each.document, file))
            else:
                content = self._being_read[key] = _Content(key, [(each.document, file)])
                content.result = self._pool.submit(file.path, each.format)
                content.result.add_done_callback(partial(self._tell, content))
                continue
            self._release(each.document, file)

    def _finish(self, content: _Content) -> None:
        self._done.append(content)
        self._keep_soon()

    def _read_again(self, content: _Content) -> None:
        """The file was changed while it was read: what was read is not what was hashed."""
        del self._being_read[content.key]
        for document, _ in content.of:
            self._tries[document.id] += 1
            if self._tries[document.id] < _TRIES:
                self._waiting.append(document)
            else:
                self.fail(document.id, SourceFailed(texts.CHANGING))

    def _release(self, document: Document, file: Fetched) -> None:
        del self._held[document.id]
        file.release()

    def _keep_soon(self) -> None:
        if self._keep_at is None:
            self._keep_at = time.monotonic() + _MOMENT

    def _keep(self) -> None:
        """Keep all that is done, in one transaction."""
        done, outcomes = self._done, self._failed
        self._done, self._failed, self._keep_at = [], [], None
        names = {found: texts.readers(found) for found in {each.key[1] for each in done}}
        for each in done:
            if each.result is None:
                continue
            content_hash, found = each.key
            del self._being_read[each.key]
            try:
                each.new = texts.new_text(content_hash, names[found], each.result.result)
            except DiligenceError as error:  # it may go better next time
                outcomes.extend(_failure(document.id, error) for document, _ in each.of)
        contents: dict[str, tuple[str, str]] = {}
        with database.writing() as session:
            kept = save_texts(session, [each.new for each in done if each.new])
            for each in done:
                text = kept[each.new.content_hash, each.new.reader] if each.new else each.known
                if text is not None:
                    contents |= {document.id: (file.version, file.content_hash) for document, file in each.of}
                    outcomes.extend(self._outcome(document, text) for document, _ in each.of)
            documents.save_contents(session, self._drive.name, contents)
            self._note(session, outcomes)
        self._outcomes.extend(outcomes)

    def _outcome(self, document: Document, text: TextSummary) -> DocumentOutcome:
        if text.outcome is Outcome.READ:
            status = DocumentStatus.READ if text.created_at >= self._since else DocumentStatus.UNCHANGED
        else:
            status = DocumentStatus.EMPTY if text.outcome is Outcome.EMPTY else DocumentStatus.FAILED
        return DocumentOutcome(document.id, status, text.content_hash, text.id, text.characters, texts.warning_of(text))

    def _note(self, session: Session, outcomes: Sequence[DocumentOutcome]) -> None:
        if self._company_id is not None:
            runs.save_document_outcomes(session, self._company_id, outcomes)


def _failure(document_id: str, error: DiligenceError) -> DocumentOutcome:
    status = DocumentStatus.UNSUPPORTED if isinstance(error, UnsupportedFormat) else DocumentStatus.FAILED
    return DocumentOutcome(document_id, status, warning=error.message)

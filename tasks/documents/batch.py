"""Reads the documents of a run, many at a time. A document that cannot be read does not stop the others.

Texts are stored within moments, so that a killed process loses only the last moment's and what it was reading.

The scanned pages of a room are read after all its other documents; what was recognised before is not read again. Pages
of several documents are recognised in parallel; a document gets its text when its last page is done, or when the run
may recognise no more.
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

from storage import database
from storage.columns import now
from storage.documents import (
    DocumentOutcome,
    DocumentStatus,
    RoomDocument,
    room_documents,
    save_contents,
    save_document_outcomes,
    some_documents,
)
from storage.texts import NewText, Outcome, TextSummary, count_pages_since, find_stretch, save_texts
from tasks.cancellation import FanOut, Leave
from tasks.documents import texts
from tasks.documents.drive.drive import Document, Drive, Fetched
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.drive.spool import spool
from tasks.documents.index import read_document_row
from tasks.documents.kinds.signs import read_with_signs
from tasks.documents.texts import ScannedPage, recognise_pages
from tasks.errors import DiligenceError, NotFound, SourceFailed, Unavailable, UnsupportedFormat
from tasks.language.words import detect_languages
from tasks.operation import operation
from tasks.reading.configuration import ReadingSettings, engines
from tasks.reading.ocr.page import CAPPED
from tasks.reading.text_writer import Reading

_LONGEST_WAIT: Final = 0.2
"""Seconds until a text is stored at most: a transaction stores many, 1.2 ms each by itself."""
MAX_PENDING: Final = 96
MAX_PENDING_BYTES: Final = 64 << 20
"""Documents, and their bytes, that are fetched or lie in the spool at most. A larger document is read alone."""
BATCH_SIZE: Final = 32
"""Documents that are fetched together, and whose contents are looked up together."""
_MAX_TRIES: Final = 3
"""How often a document is read that changes while it is read."""
_UNKNOWN_SIZE: Final = 10 << 20
"""The bytes that a document of unknown size counts: the most that Google exports."""


@operation(name="read_documents", asks_a_source=True)
def read_documents(
    room_id: int, document_ids: Sequence[str], company_id: int | None = None, since: datetime | None = None
) -> list[DocumentOutcome]:
    """Read a batch of a room's documents. Content that was read before is not read again.

    Args:
        room_id: the indexed folder.
        document_ids: a few hundred of its documents at most, in the order in which to begin.
        company_id: the company of a run for which the outcomes are stored.
        since: the start of the run: texts read since then are `read`, older ones `unchanged`.

    A document that cannot be read is an outcome, never an error. The outcomes come in no particular order.
    """
    with database.reading() as session:
        rows = {row.document_id: row for row in some_documents(session, room_id, document_ids)}
    batch = _Batch(open_run_drive(), company_id, since or now())
    unique_ids = list(dict.fromkeys(document_ids))
    for document_id in unique_ids:
        if document_id not in rows:
            batch.fail(document_id, NotFound("The document is no longer in the folder."))
    return batch.read([read_document_row(rows[document_id]) for document_id in unique_ids if document_id in rows])


def load_known_outcomes(
    listed: Sequence[RoomDocument], company_id: int | None = None, since: datetime | None = None
) -> list[DocumentOutcome]:
    """The outcomes of documents whose content was read before; if there are others, the readers are started.

    Args:
        listed: documents of a room.
        company_id: the company of a run for which the outcomes are stored.
        since: as of `read_documents`.
    """
    drive = open_run_drive()
    known = texts.find_known_texts(drive, [read_document_row(row) for row in listed])
    if len(known) < len(listed):
        texts.share_pool(read_with_signs).start()  # in the background
    outcomes = [outcome_of(document_id, text, since or now()) for document_id, text in known.items()]
    if company_id is not None and outcomes:
        with database.writing() as session:
            save_document_outcomes(session, company_id, outcomes)
    return outcomes


_Fetch = Callable[[str], "Future[Fetched]"]
"""Fetches the document with an id."""


@contextmanager
def _fetch_ahead(drive: Drive, folder: Path, max_bytes: int) -> Iterator[_Fetch]:
    """Fetch documents into `folder`, as many at once as the drive wants; all calls end before the block does.

    A document on a disk is fetched by the call itself: threads would only take turns.
    """
    if drive.max_parallel_fetches == 1:
        yield lambda document_id: _fetch_here(drive, document_id, folder, max_bytes)
        return
    with FanOut(drive.max_parallel_fetches, "fetching", Leave.NEVER) as threads:
        yield lambda document_id: threads.submit(drive.fetch, document_id, folder, max_bytes)


def _fetch_here(drive: Drive, document_id: str, folder: Path, max_bytes: int) -> "Future[Fetched]":
    future: Future[Fetched] = Future()
    try:
        future.set_result(drive.fetch(document_id, folder, max_bytes))
    except DiligenceError as error:
        future.set_exception(error)
    return future


@dataclass(frozen=True, slots=True)
class _Fetching:
    """A document that is being fetched."""

    document: Document
    format: str
    fetched: "Future[Fetched]"

    @property
    def size(self) -> int:
        return _UNKNOWN_SIZE if self.document.size is None else self.document.size


@dataclass(slots=True)
class _Content:
    """The content of one or more documents, by hash and format, and its text: stored earlier, being read, or new."""

    key: tuple[str, str]
    documents: list[tuple[Document, Fetched]]
    stored: TextSummary | None = None
    reading: "Future[Reading] | None" = None
    new: NewText | None = None


class _Batch:
    """Documents that are fetched here or in threads, read by the pool, and stored by this thread."""

    def __init__(self, drive: Drive, company_id: int | None, since: datetime) -> None:
        self._drive = drive
        self._company_id = company_id
        self._since = since
        self._pool = texts.share_pool(read_with_signs)
        self._max_mb = ReadingSettings.current().document_max_mb
        self._outcomes: list[DocumentOutcome] = []
        self._completed: SimpleQueue[_Fetching | _Content] = SimpleQueue()
        self._waiting: deque[Document] = deque()
        self._tries: Counter[str] = Counter()
        self._pending: dict[str, int] = {}  # bytes by document id
        self._being_read: dict[tuple[str, str], _Content] = {}
        self._unstored: list[_Content] = []
        self._failures: list[DocumentOutcome] = []
        self._store_at: float | None = None

    def fail(self, document_id: str, error: DiligenceError) -> None:
        """Record that a document has no text."""
        self._failures.append(_failure(document_id, error))
        self._store_soon()

    def read(self, documents: Sequence[Document]) -> list[DocumentOutcome]:
        """The outcomes of these documents, and of those that failed earlier."""
        known = texts.find_known_texts(self._drive, documents)
        with database.writing() as session:
            self._outcomes = [
                outcome_of(document.id, known[document.id], self._since)
                for document in documents
                if document.id in known
            ]
            self._save(session, self._outcomes)
        waiting = self._waiting
        waiting.extend(document for document in documents if document.id not in known)
        if waiting:
            self._pool.start()  # while the first are fetched
        with spool() as folder, _fetch_ahead(self._drive, folder, self._max_mb << 20) as fetch:
            while waiting or self._pending or self._store_at is not None:
                self._fetch_some(fetch)
                self._take_completed(wait=bool(self._pending) and not (waiting and self._has_room()))
                if self._store_at is not None and (
                    time.monotonic() >= self._store_at or not (waiting or self._pending)
                ):
                    self._store()
        return self._outcomes

    def _has_room(self) -> bool:
        return not self._pending or (
            len(self._pending) <= MAX_PENDING - BATCH_SIZE and sum(self._pending.values()) < MAX_PENDING_BYTES
        )

    def _fetch_some(self, fetch: _Fetch) -> None:
        if not self._has_room():
            return
        for _ in range(min(BATCH_SIZE, len(self._waiting))):
            document = self._waiting.popleft()
            try:
                document_format = texts.check_readable(document, self._max_mb)
            except DiligenceError as error:
                self.fail(document.id, error)
                continue
            fetching = _Fetching(document, document_format, fetch(document.id))
            self._pending[document.id] = fetching.size
            fetching.fetched.add_done_callback(partial(self._complete, fetching))
            if sum(self._pending.values()) >= MAX_PENDING_BYTES:
                return

    def _complete(self, item: _Fetching | _Content, _: object) -> None:
        """Record that something was fetched or read. Called by the thread that did it."""
        self._completed.put(item)

    def _take_completed(self, *, wait: bool) -> None:
        """Continue with what has been fetched and read. With `wait`, wait if there is nothing yet."""
        fetched: list[_Fetching] = []
        patience = None if self._store_at is None else max(self._store_at - time.monotonic(), 0)
        with suppress(Empty):
            while True:
                item = self._completed.get(wait, patience)
                wait = False
                if isinstance(item, _Fetching):
                    fetched.append(item)
                else:
                    document, file = item.documents[0]
                    unchanged = file.is_unchanged()
                    self._release(document, file)
                    if unchanged:
                        self._finish(item)
                    else:
                        self._read_again(item)
        self._read_fetched(fetched)

    def _read_fetched(self, fetched: Sequence[_Fetching]) -> None:
        """Let the pool read what was fetched, except contents already stored or being read, and failed fetches."""
        arrived: list[tuple[Document, str, Fetched]] = []
        for fetching in fetched:
            try:
                arrived.append((fetching.document, fetching.format, fetching.fetched.result()))
            except DiligenceError as error:
                del self._pending[fetching.document.id]
                self.fail(fetching.document.id, error)
        stored = texts.find_known_contents([(file.content_hash, format_) for _, format_, file in arrived])
        for document, format_, file in arrived:
            key = file.content_hash, format_
            if key in stored:
                self._finish(_Content(key, [(document, file)], stored[key]))
            elif key in self._being_read:
                self._being_read[key].documents.append((document, file))
            else:
                content = self._being_read[key] = _Content(key, [(document, file)])
                content.reading = self._pool.submit(file.path, format_)
                content.reading.add_done_callback(partial(self._complete, content))
                continue
            self._release(document, file)

    def _finish(self, content: _Content) -> None:
        self._unstored.append(content)
        self._store_soon()

    def _read_again(self, content: _Content) -> None:
        """Queue the documents again: the file changed during reading, so what was read is not what was hashed."""
        del self._being_read[content.key]
        for document, _ in content.documents:
            self._tries[document.id] += 1
            if self._tries[document.id] < _MAX_TRIES:
                self._waiting.append(document)
            else:
                self.fail(document.id, SourceFailed(texts.CHANGING))

    def _release(self, document: Document, file: Fetched) -> None:
        del self._pending[document.id]
        file.release()

    def _store_soon(self) -> None:
        if self._store_at is None:
            self._store_at = time.monotonic() + _LONGEST_WAIT

    def _store(self) -> None:
        """Store everything that is finished, in one transaction."""
        contents, outcomes = self._unstored, self._failures
        self._unstored, self._failures, self._store_at = [], [], None
        for content in contents:
            if content.reading is None:
                continue
            content_hash, format_ = content.key
            del self._being_read[content.key]
            try:
                read = texts.new_text(content_hash, format_, content.reading.result)
            except DiligenceError as error:  # another try may succeed
                outcomes.extend(_failure(document.id, error) for document, _ in content.documents)
                continue
            if texts.has_scans(read):
                content.stored = texts.save_unfilled(read).text
            else:
                content.new = read
        versions: dict[str, tuple[str, str]] = {}
        with database.writing() as session:
            saved = save_texts(session, [content.new for content in contents if content.new])
            for content in contents:
                new = content.new
                text = saved[new.content_hash, new.reader] if new else content.stored
                if text is not None:
                    versions |= {document.id: (file.version, file.content_hash) for document, file in content.documents}
                    outcomes.extend(outcome_of(document.id, text, self._since) for document, _ in content.documents)
            save_contents(session, self._drive.name, versions)
            self._save(session, outcomes)
        self._outcomes.extend(outcomes)

    def _save(self, session: Session, outcomes: Sequence[DocumentOutcome]) -> None:
        if self._company_id is not None:
            save_document_outcomes(session, self._company_id, outcomes)


def outcome_of(document_id: str, text: TextSummary, since: datetime) -> DocumentOutcome:
    """The outcome of a document that has this text, in a run that began at `since`."""
    if text.outcome is Outcome.READ:
        status = DocumentStatus.READ if text.created_at >= since else DocumentStatus.UNCHANGED
    else:
        status = DocumentStatus.EMPTY if text.outcome is Outcome.EMPTY else DocumentStatus.FAILED
    warning = texts.text_warning(text)
    size = text.characters, warning, text.pages, text.pages_read
    return DocumentOutcome(document_id, status, text.content_hash, text.id, *size)


def _failure(document_id: str, error: DiligenceError) -> DocumentOutcome:
    if isinstance(error, UnsupportedFormat):  # a room has many: the formats that can be read are not told with each
        return DocumentOutcome(document_id, DocumentStatus.UNSUPPORTED, warning=error.reason)
    return DocumentOutcome(document_id, DocumentStatus.FAILED, warning=error.message)


_SAMPLE: Final = 200
"""Documents whose language is looked at, and their characters."""
_SAMPLE_CHARACTERS: Final = 2_000


@operation(name="recognise_scans", asks_a_source=True)
def recognise_scans(
    room_id: int, company_id: int | None = None, since: datetime | None = None
) -> list[DocumentOutcome]:
    """Recognise the scanned pages of a room's documents, up to what the settings allow a run.

    Args:
        room_id: the indexed folder, all of whose documents were read.
        company_id: the company of a run for which the outcomes are stored.
        since: the start of the run, which counts the pages that were recognised since then as its own.

    Returns:
        The outcomes of the documents that have scanned pages which were not read before.
    """
    with database.reading() as session:
        room = room_documents(session, room_id)
    batch = _ScanBatch(room, company_id, since or now())
    try:
        batch.run()
    except Unavailable as error:
        batch.reason = error.message
    finally:
        outcomes = batch.close()
    return outcomes


class _ScanBatch:
    """The documents of a room that have pages to recognise."""

    def __init__(self, room: Sequence[RoomDocument], company_id: int | None, since: datetime) -> None:
        self._drive = open_run_drive()
        self._company_id = company_id
        self._since = since
        self._documents = [read_document_row(row) for row in room]
        self._known = texts.find_known_texts(self._drive, self._documents)
        self._unread = [
            document
            for document in self._documents
            if (text := self._known.get(document.id)) and text.pages_read != text.pages
        ]
        self._queue: deque[Document] = deque()
        self._most: int | None = None
        self._left: Counter[str] = Counter()
        self._open: dict[str, tuple[Document, Fetched]] = {}
        self._outcomes: dict[str, DocumentOutcome] = {}
        self.reason = ""

    def run(self) -> None:
        """Recognise pages until none are left or the run has reached its limit."""
        settings = ReadingSettings.current()
        found = engines(settings, self._languages()) if self._unread and engines(settings) else None
        if found is None:
            return
        self._most = settings.ocr_pages
        if self._most is not None:
            with database.reading() as session:
                self._most -= count_pages_since(session, self._since)
        self._queue.extend(self._unread)
        with spool() as self._folder, database.claims() as self._claims:
            while self._queue and not self.reason:
                for page in recognise_pages(self._pages(), found):
                    self._left[page.content_hash] -= 1
                    if not self._left[page.content_hash]:
                        self._finish(page.content_hash)
                if self._queue and not self.reason:
                    time.sleep(_LONGEST_WAIT)

    def close(self) -> list[DocumentOutcome]:
        """Store what was read of unfinished documents; returns all outcomes."""
        for content_hash in list(self._open):
            self._finish(content_hash)
        return list(self._outcomes.values())

    def _pages(self) -> Iterator[ScannedPage]:
        """The pages to recognise, document by document; each document is fetched when its turn comes.

        Documents whose pages another process recognises stay in the queue: what it has not done is done after it.
        """
        for _ in range(len(self._queue)):
            document = self._queue.popleft()
            content_hash, document_format = self._known[document.id].content_hash, texts.find_document_format(document)
            if content_hash in self._open:
                continue
            if not self._claims.take(f"scans {content_hash}"):
                self._queue.append(document)
                continue
            filled = texts.fill_again(content_hash, document_format)
            fetched = self._fetch(document, content_hash) if filled and filled.waiting else None
            if fetched is None or filled is None:
                self._claims.release(f"scans {content_hash}")
                if filled:
                    self._record(content_hash, filled.text)
                continue
            self._open[content_hash] = document, fetched
            self._left[content_hash] = len(filled.waiting)
            for label in filled.waiting:
                if self._most is not None:
                    if self._most <= 0:
                        self.reason = CAPPED
                        return
                    self._most -= 1
                yield ScannedPage(fetched.path, document_format, content_hash, label)

    def _fetch(self, document: Document, content_hash: str) -> Fetched | None:
        """The document's file; None if it cannot be fetched or has changed: what was read of it before then counts."""
        most = ReadingSettings.current().document_max_mb << 20
        try:
            fetched = self._drive.fetch(document.id, self._folder, most)
        except DiligenceError:
            return None
        if fetched.content_hash != content_hash:
            fetched.release()
            return None
        return fetched

    def _finish(self, content_hash: str) -> None:
        """Put the recognised text into the texts of all documents with this content."""
        document, fetched = self._open.pop(content_hash)
        fetched.release()
        filled = texts.fill_again(content_hash, texts.find_document_format(document), self.reason)
        self._claims.release(f"scans {content_hash}")
        if filled is None:
            return
        if filled.waiting:  # pages of doubtful characters, of which a few are tried first
            self._queue.append(document)
        self._record(content_hash, filled.text)

    def _record(self, content_hash: str, text: TextSummary) -> None:
        """Store the outcomes of all documents with a content."""
        outcomes = [
            outcome_of(one.id, text, self._since)
            for one in self._unread
            if self._known[one.id].content_hash == content_hash
        ]
        if self._company_id is not None:
            with database.writing() as session:
                save_document_outcomes(session, self._company_id, outcomes)
        self._outcomes |= {outcome.document_id: outcome for outcome in outcomes}

    def _languages(self) -> tuple[str, ...]:
        """The languages of the room's other documents."""
        others = [text.id for text in self._known.values() if not text.scanned_pages and text.characters][:_SAMPLE]
        with database.reading() as session:
            return detect_languages([find_stretch(session, text_id, 0, _SAMPLE_CHARACTERS) for text_id in others])

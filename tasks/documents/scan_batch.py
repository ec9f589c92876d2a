"""The scanned pages of a room, read after all its other documents. What was recognised before is not read again.

Pages of several documents are recognised in parallel; a document gets its text when its last page is done, or when the
run may recognise no more.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from storage import database, documents, run_documents
from storage.columns import now
from storage.documents import RoomDocument
from storage.run_documents import DocumentOutcome
from storage.texts import count_pages_since, find_stretch
from tasks.documents import texts
from tasks.documents.batch import outcome_of
from tasks.documents.drive.drive import Document, Fetched
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.drive.spool import spool
from tasks.documents.index import read_document_row
from tasks.documents.scans import ScannedPage, recognise_pages
from tasks.errors import DiligenceError, Unavailable
from tasks.language.languages import detect_languages
from tasks.operation import operation
from tasks.reading.configuration import ReadingSettings, engines
from tasks.reading.ocr.scans import CAPPED

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
        room = documents.room_documents(session, room_id)
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
        with spool() as self._folder:
            while self._queue and not self.reason:
                for page in recognise_pages(self._pages(), found):
                    self._left[page.content_hash] -= 1
                    if not self._left[page.content_hash]:
                        self._finish(page.content_hash)

    def close(self) -> list[DocumentOutcome]:
        """Store what was read of unfinished documents; returns all outcomes."""
        for content_hash in list(self._open):
            self._finish(content_hash)
        return list(self._outcomes.values())

    def _pages(self) -> Iterator[ScannedPage]:
        """The pages to recognise, document by document; each document is fetched when its turn comes."""
        while self._queue:
            document = self._queue.popleft()
            content_hash, document_format = self._known[document.id].content_hash, texts.find_document_format(document)
            filled = None if content_hash in self._open else texts.fill_again(content_hash, document_format)
            fetched = self._fetch(document, content_hash) if filled and filled.waiting else None
            if fetched is None or filled is None:
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
        if filled is None:
            return
        if filled.waiting:  # pages of doubtful characters, of which a few are tried first
            self._queue.append(document)
        outcomes = [
            outcome_of(one.id, filled.text, self._since)
            for one in self._unread
            if self._known[one.id].content_hash == content_hash
        ]
        if self._company_id is not None:
            with database.writing() as session:
                run_documents.save_document_outcomes(session, self._company_id, outcomes)
        self._outcomes |= {outcome.document_id: outcome for outcome in outcomes}

    def _languages(self) -> tuple[str, ...]:
        """The languages of the room's other documents."""
        others = [text.id for text in self._known.values() if not text.scanned_pages and text.characters][:_SAMPLE]
        with database.reading() as session:
            return detect_languages([find_stretch(session, text_id, 0, _SAMPLE_CHARACTERS) for text_id in others])

"""Extract Document Text: one document for the contract, many for a run."""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel
from sqlmodel import Session

from storage import database, documents, runs, texts
from storage.database import now
from storage.documents import RoomDocument
from storage.runs import DocumentStatus
from storage.texts import Outcome, StoredText, TextSummary
from tasks.documents import reading
from tasks.documents.drive.drive import Document, Drive, Fetched, identifier, open_drive
from tasks.documents.extract import formats
from tasks.documents.extract.reading import Reading
from tasks.documents.settings import DocumentSettings
from tasks.errors import DiligenceError, UnsupportedFormat, Unreadable
from tasks.operation import operation

_IN_FLIGHT = 8  # documents of one batch that lie in the spool at a time


class DocumentText(BaseModel):
    """The answer of Extract Document Text: all of the document's text."""

    document_id: str
    text: str


@operation(name="document_text", asks_a_source=True)
def document_text(document_id: str) -> DocumentText:
    """The entire text of one document.

    Args:
        document_id: its id, or a URL with the id in it; echoed as given.

    Raises:
        BadRequest, NotFound, TooLarge, UnsupportedFormat, Unreadable, TookTooLong: see tasks.errors.
    """
    drive = open_drive()
    document = drive.document(identifier(document_id, "document_id"))
    return DocumentText(document_id=document_id, text=reading.read_one(drive, document).text)


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What became of one document: its status in the run, and the text it has now."""

    document_id: str
    status: DocumentStatus
    content_hash: str | None = None
    text_id: int | None = None
    characters: int = 0
    warning: str | None = None


@operation(name="read_documents", asks_a_source=True)
def read_documents(
    room_id: int, document_ids: Sequence[str], company_id: int | None = None, since: datetime | None = None
) -> list[DocumentOutcome]:
    """Read a batch of a room's documents, each only when its content was not read before.

    Args:
        room_id: the indexed folder. document_ids: at most about a hundred of its documents.
        company_id: the company of a run that the outcomes are written down for.
        since: texts read since then are the run's own, `read`; older ones are `unchanged`.

    A document that cannot be read is an outcome, never an error.
    """
    with database.reading() as session:
        wanted = [_document(row) for row in documents.some_documents(session, room_id, document_ids)]
    return _Batch(open_drive(), company_id, since or now()).read(wanted)


class _Batch:
    """Documents on their way: fetched by this thread, read by the pool, kept one by one."""

    def __init__(self, drive: Drive, company_id: int | None, since: datetime) -> None:
        self._drive = drive
        self._company_id = company_id
        self._since = since
        self._outcomes: list[DocumentOutcome] = []

    def read(self, wanted: Sequence[Document]) -> list[DocumentOutcome]:
        known = reading.known_texts(self._drive, wanted)
        with database.writing() as session:
            for document in wanted:
                if document.id in known:
                    self._note(session, self._outcome(document, known[document.id]))
        waiting: deque[_InFlight] = deque()
        with reading.spool() as spool:
            for document in wanted:
                if document.id not in known and (started := self._start(document, spool)):
                    waiting.append(started)
                if len(waiting) >= _IN_FLIGHT:
                    self._finish(waiting.popleft())
            while waiting:
                self._finish(waiting.popleft())
        return self._outcomes

    def _start(self, document: Document, spool: Path) -> "_InFlight | None":
        """Fetch a document and hand it to the pool, unless its text is known or it cannot be had."""
        try:
            found = reading.check_readable(document)
            limit = DocumentSettings.current().document_max_mb * 1024 * 1024
            fetched = self._drive.fetch(document.id, spool, limit)
        except DiligenceError as error:
            self._fail(document, error)
            return None
        reader = formats.version(found)
        with database.reading() as session:
            text = texts.find_text(session, fetched.content_hash, reader)
        if text is not None:
            fetched.path.unlink(missing_ok=True)
            self._keep(document, fetched, text)
            return None
        return _InFlight(document, fetched, reader, reading.shared_pool().submit(fetched.path, found))

    def _finish(self, started: "_InFlight") -> None:
        """Wait for the reader and keep what it found."""
        try:
            text = reading.stored_text(started.fetched.content_hash, started.reader, started.result.result())
        except Unreadable as error:
            text = reading.stored_text(started.fetched.content_hash, started.reader, error)
        except DiligenceError as error:
            self._fail(started.document, error)
            return
        finally:
            started.fetched.path.unlink(missing_ok=True)
        self._keep(started.document, started.fetched, text)

    def _keep(self, document: Document, fetched: Fetched, text: StoredText) -> None:
        with database.writing() as session:
            documents.save_content(session, reading.content_of(self._drive, document, fetched))
            kept = texts.save_text(session, text)
            self._note(session, self._outcome(document, texts.summary_of(kept)))

    def _fail(self, document: Document, error: DiligenceError) -> None:
        status = DocumentStatus.UNSUPPORTED if isinstance(error, UnsupportedFormat) else DocumentStatus.FAILED
        with database.writing() as session:
            self._note(session, DocumentOutcome(document.id, status, warning=error.message))

    def _outcome(self, document: Document, text: TextSummary) -> DocumentOutcome:
        if text.outcome is Outcome.READ:
            status = DocumentStatus.READ if text.created_at >= self._since else DocumentStatus.UNCHANGED
        else:
            status = DocumentStatus.EMPTY if text.outcome is Outcome.EMPTY else DocumentStatus.FAILED
        return DocumentOutcome(
            document.id, status, text.content_hash, text.id, text.characters, reading.warning_of(text)
        )

    def _note(self, session: Session, outcome: DocumentOutcome) -> None:
        self._outcomes.append(outcome)
        if self._company_id is not None:
            runs.save_document_outcome(
                session,
                self._company_id,
                outcome.document_id,
                status=outcome.status,
                content_hash=outcome.content_hash,
                text_id=outcome.text_id,
                characters=outcome.characters,
                warning=outcome.warning,
            )


@dataclass(frozen=True, slots=True)
class _InFlight:
    """A fetched document that the pool is reading."""

    document: Document
    fetched: Fetched
    reader: str
    result: Future[Reading]


def _document(row: RoomDocument) -> Document:
    return Document(
        id=row.document_id,
        name=row.name,
        folder_id=row.folder_id,
        path=row.path,
        url=row.url,
        mime_type=row.mime_type,
        size=row.size,
        created=row.created,
        updated=row.updated,
        version=row.version,
    )

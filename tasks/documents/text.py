"""Extract Document Text: one document for the contract, many for a run."""

from collections import deque
from collections.abc import Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel
from sqlmodel import Session

from storage import database, documents, runs, texts
from storage.database import now
from storage.documents import RoomDocument
from storage.runs import DocumentStatus
from storage.texts import Outcome, TextSummary
from tasks.documents import reading
from tasks.documents.drive.drive import Document, Drive, Fetched, identifier, open_drive
from tasks.documents.extract.reading import Reading
from tasks.documents.settings import DocumentSettings
from tasks.documents.spool import spool
from tasks.errors import DiligenceError, NotFound, TooLarge, Unreadable, UnsupportedFormat
from tasks.operation import operation

_IN_FLIGHT = 8  # documents that are fetched while as many are read: twice that lie in the spool at most
_MOMENT = 0.02  # seconds of finished reading that a killed process may lose, so that a transaction holds several


class DocumentText(BaseModel):
    """The answer of Extract Document Text: all of the document's text."""

    document_id: str
    text: str


@operation(name="document_text", asks_a_source=True)
def document_text(document_id: str) -> DocumentText:
    """The entire text of one document.

    Args:
        document_id: its id, or a URL with the id in it; echoed as given.

    A text that was asked for lately takes 0.06 ms, one from storage 0.6 ms; neither opens the document.

    Raises:
        BadRequest, NotFound, TooLarge, UnsupportedFormat, Unreadable, TookTooLong: see tasks.errors.
    """
    drive = open_drive()
    document = drive.document(identifier(document_id, "document_id"))
    return DocumentText(document_id=document_id, text=reading.text_of(drive, document))


def recent_text(document_id: str) -> DocumentText | None:
    """What `document_text` would answer, when that takes no waiting: a local document, asked for lately.

    An event loop may call it (0.06 ms). Whether the document is there and unchanged is looked at all the same.

    Raises:
        BadRequest, NotFound, TooLarge, UnsupportedFormat: as `document_text`.
    """
    drive = open_drive()
    if drive.remote:
        return None
    text = reading.recent_text_of(drive, drive.document(identifier(document_id, "document_id")))
    return None if text is None else DocumentText(document_id=document_id, text=text)


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
        room_id: the indexed folder.
        document_ids: at most about a hundred of its documents.
        company_id: the company of a run that the outcomes are written down for.
        since: texts read since then are the run's own, `read`; older ones are `unchanged`.

    A document that cannot be read is an outcome, never an error.
    """
    with database.reading() as session:
        wanted = [_document(row) for row in documents.some_documents(session, room_id, document_ids)]
    batch = _Batch(open_drive(), company_id, since or now())
    batch.miss(set(document_ids) - {document.id for document in wanted})
    return batch.read(wanted)


class _Batch:
    """Documents on their way: fetched by this thread, read by the pool, kept as soon as they are read."""

    def __init__(self, drive: Drive, company_id: int | None, since: datetime) -> None:
        self._drive = drive
        self._company_id = company_id
        self._since = since
        self._pool = reading.shared_pool()
        self._max_bytes = DocumentSettings.current().document_max_mb * 1024 * 1024
        self._outcomes: list[DocumentOutcome] = []
        self._in_flight: deque[_InFlight] = deque()

    def miss(self, document_ids: Collection[str]) -> None:
        """Note documents that have left the room since the batch was made up."""
        for document_id in document_ids:
            self._fail(document_id, NotFound("The document is no longer in the folder."))

    def read(self, wanted: Sequence[Document]) -> list[DocumentOutcome]:
        known = reading.known_texts(self._drive, wanted)
        with database.writing() as session:
            for document in wanted:
                if document.id in known:
                    self._note(session, self._outcome(document, known[document.id]))
        rest = deque(document for document in wanted if document.id not in known)
        with spool() as folder:
            while rest or self._in_flight:
                if rest and len(self._in_flight) < _IN_FLIGHT:
                    self._start([rest.popleft() for _ in range(min(len(rest), _IN_FLIGHT))], folder)
                else:
                    self._finish()
        return self._outcomes

    def _start(self, some: Sequence[Document], folder: Path) -> None:
        """Fetch documents and hand them to the pool, but for those whose content is known or cannot be had."""
        fetched: list[tuple[Document, str, Fetched]] = []
        for document in some:
            try:
                format_ = reading.check_readable(document)
                fetched.append((document, format_, self._drive.fetch(document.id, folder, self._max_bytes)))
            except DiligenceError as error:
                self._fail(document.id, error)
        known = reading.known_contents([(content.content_hash, format_) for _, format_, content in fetched])
        for document, format_, content in fetched:
            text = known.get((content.content_hash, format_))
            if text is None:
                self._in_flight.append(_InFlight(document, content, format_, self._reading(content, format_)))
                continue
            content.path.unlink(missing_ok=True)
            with database.writing() as session:
                self._keep(session, document, content, text)

    def _reading(self, content: Fetched, format_: str) -> Future[Reading]:
        """Have the content read, unless the same content is being read already."""
        for other in self._in_flight:
            if (other.content.content_hash, other.format) == (content.content_hash, format_):
                return other.result
        return self._pool.submit(content.path, format_)

    def _finish(self) -> None:
        """Wait until a document is read; keep it with all that are read within a moment, in one transaction."""
        _, reading_on = wait([each.result for each in self._in_flight], return_when=FIRST_COMPLETED)
        wait(reading_on, timeout=_MOMENT)
        done = [each for each in self._in_flight if each.result.done()]
        self._in_flight = deque(each for each in self._in_flight if each not in done)
        with database.writing() as session:
            for each in done:
                each.content.path.unlink(missing_ok=True)
                try:
                    text = reading.stored_text(each.content.content_hash, each.format, each.result.result())
                except (Unreadable, TooLarge) as error:
                    text = reading.stored_text(each.content.content_hash, each.format, error)
                except DiligenceError as error:  # it may go better next time
                    self._note(session, _failure(each.document.id, error))
                    continue
                kept = texts.summary_of(texts.save_text(session, text))
                self._keep(session, each.document, each.content, kept)

    def _keep(self, session: Session, document: Document, content: Fetched, text: TextSummary) -> None:
        documents.save_content(session, reading.content_of(self._drive, document, content))
        self._note(session, self._outcome(document, text))

    def _fail(self, document_id: str, error: DiligenceError) -> None:
        with database.writing() as session:
            self._note(session, _failure(document_id, error))

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


@dataclass(frozen=True, slots=True, eq=False)
class _InFlight:
    """A fetched document that the pool is reading."""

    document: Document
    content: Fetched
    format: str
    result: Future[Reading]


def _failure(document_id: str, error: DiligenceError) -> DocumentOutcome:
    status = DocumentStatus.UNSUPPORTED if isinstance(error, UnsupportedFormat) else DocumentStatus.FAILED
    return DocumentOutcome(document_id, status, warning=error.message)


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

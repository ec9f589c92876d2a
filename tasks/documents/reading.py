"""From a document to its stored text: fetched, hashed, and read only when that content was never read before.

The text is kept as soon as it is read, one transaction a document: a run that is killed loses what
was being read at that moment and nothing else.
"""

import atexit
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp

from storage import database, documents, texts
from storage.database import now
from storage.documents import Content
from storage.texts import Outcome, StoredText, TextSummary
from tasks import errors
from tasks.documents.drive.drive import Document, Drive, Fetched
from tasks.documents.extract import formats
from tasks.documents.extract.pool import ExtractionPool, Limits
from tasks.documents.extract.reading import Reading
from tasks.documents.settings import DocumentSettings
from tasks.errors import TooLarge, Unreadable

log = logging.getLogger(__name__)


def shared_pool() -> ExtractionPool:
    """The process pool of this process, with the limits that the settings give."""
    settings = DocumentSettings.current()
    return _pool(Limits(settings.document_timeout, settings.document_memory_mb, settings.document_max_mb))


@lru_cache(maxsize=4)
def _pool(limits: Limits) -> ExtractionPool:
    pool = ExtractionPool(limits=limits)
    atexit.register(pool.close)
    return pool


@contextmanager
def spool() -> Iterator[Path]:
    """A folder for fetched files that is gone afterwards; what killed processes left behind goes too."""
    home = database.home() / "spool"
    home.mkdir(mode=0o700, exist_ok=True)
    for left in home.iterdir():
        with suppress(ValueError):
            if not _alive(int(left.name.split("-")[0])):
                shutil.rmtree(left, ignore_errors=True)
    folder = Path(mkdtemp(prefix=f"{os.getpid()}-", dir=home))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def check_readable(document: Document) -> str:
    """The document's format.

    Raises:
        UnsupportedFormat: no reader reads it. TooLarge: it is above the limit.
    """
    found = formats.format_of(document.name)
    limit = DocumentSettings.current().document_max_mb
    if document.size is not None and document.size > limit * 1024 * 1024:
        raise TooLarge(f"The document is larger than {limit} MB. DILIGENCE_DOCUMENT_MAX_MB sets the limit.")
    return found


def known_texts(drive: Drive, wanted: Sequence[Document]) -> dict[str, TextSummary]:
    """What is stored of the texts of these documents as they are now, by document id."""
    with database.reading() as session:
        contents = documents.find_contents(session, drive.name, [document.id for document in wanted])
        current = {
            document.id: content.content_hash
            for document in wanted
            if (content := contents.get(document.id)) and content.version == document.version
        }
        summaries = texts.find_summaries(session, list(current.values()))
    found: dict[str, TextSummary] = {}
    for document in wanted:
        content_hash = current.get(document.id)
        if content_hash is not None:  # it was fetched, so its format is supported
            summary = summaries.get((content_hash, formats.version(formats.format_of(document.name))))
            if summary is not None:
                found[document.id] = summary
    return found


def known_warnings(drive: Drive, wanted: Sequence[Document]) -> dict[str, str]:
    """What reading said of these documents, as they are now, by document id."""
    found = {document_id: warning_of(summary) for document_id, summary in known_texts(drive, wanted).items()}
    return {document_id: warning for document_id, warning in found.items() if warning}


def warning_of(text: TextSummary | StoredText) -> str | None:
    """The one sentence or more that a user must know of a text: why there is none, what is missing."""
    if text.detail:
        return text.detail
    return " ".join(text.warnings) or None


def stored_text(content_hash: str, reader: str, result: Reading | Unreadable) -> StoredText:
    """What is kept of a reading, or of a failure that reading again would repeat."""
    if isinstance(result, Unreadable):
        return StoredText(
            content_hash=content_hash,
            reader=reader,
            outcome=Outcome.FAILED,
            problem=result.slug,
            detail=result.message,
        )
    return StoredText(
        content_hash=content_hash,
        reader=reader,
        outcome=Outcome.READ if result.text.strip() else Outcome.EMPTY,
        text=result.text,
        places=list(result.places),
        warnings=result.warnings,
        characters=len(result.text),
    )


def content_of(drive: Drive, document: Document, fetched: Fetched) -> Content:
    """The row that says what the document holds."""
    return Content(
        drive=drive.name,
        document_id=document.id,
        version=fetched.version,
        content_hash=fetched.content_hash,
        fetched_at=now(),
    )


def read_one(drive: Drive, document: Document) -> StoredText:
    """The text of a document, from storage when this content was read before.

    Raises:
        UnsupportedFormat, TooLarge, Unreadable, TookTooLong: as its content demands.
        NotFound: it is not there, or not shared with this account.
    """
    found = check_readable(document)
    reader = formats.version(found)
    known = known_texts(drive, [document]).get(document.id)
    if known is not None:
        with database.reading() as session:
            return _or_raise(texts.get_text(session, known.id))
    with spool() as folder:
        fetched = drive.fetch(document.id, folder, DocumentSettings.current().document_max_mb * 1024 * 1024)
        with database.reading() as session:
            text = texts.find_text(session, fetched.content_hash, reader)
        if text is None:
            try:
                text = stored_text(fetched.content_hash, reader, shared_pool().read(fetched.path, found))
            except Unreadable as error:
                text = stored_text(fetched.content_hash, reader, error)
    with database.writing() as session:
        documents.save_content(session, content_of(drive, document, fetched))
        text = texts.save_text(session, text)
    return _or_raise(text)


def _or_raise(text: StoredText) -> StoredText:
    if text.outcome is Outcome.FAILED:
        kind = next((each for each in _unreadable() if each.slug == text.problem), Unreadable)
        raise kind(text.detail or errors.Unreadable.title)
    return text


def _unreadable() -> Iterator[type[Unreadable]]:
    yield Unreadable
    yield from Unreadable.__subclasses__()

"""From a document to its stored text: fetched, hashed, and read only when that content was never read before.

The text is kept as soon as it is read: a run that is killed loses what was being read at that moment
and nothing else.

The texts that were asked for last, in this process's memory: an answer without a query.

A text never changes under its key, so nothing has to be told when it does. What may change, whether
the caller may see the document and which version it has now, is not known here and is asked each time.

Extract Document Text, as the contract has it: one document, now.
"""

import atexit
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import PurePath
from typing import NamedTuple

from pydantic import BaseModel

from storage import database, documents, texts
from storage.texts import NewText, Outcome, StoredText, TextSummary
from tasks.documents.drive.drive import Document, Drive
from tasks.documents.drive.registry import open_drive
from tasks.documents.drive.spool import spool
from tasks.documents.extract import formats
from tasks.documents.extract.configuration import reading_limits, recognised_languages
from tasks.documents.extract.pool.pool import ExtractionPool, Limits
from tasks.documents.extract.text_writer import Reading
from tasks.documents.settings import DocumentSettings
from tasks.errors import Damaged, PasswordProtected, SourceFailed, TooLarge, Unreadable, UnsupportedFormat
from tasks.operation import operation


class RecentTexts:
    """Up to `max_bytes` of texts; the one unused for longest goes first, and none takes more than an eighth."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._texts: OrderedDict[Hashable, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> str | None:
        """The text under that key, if it is still here."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: Hashable, text: str) -> None:
        """Remember a text."""
        size = sys.getsizeof(text)
        if size > self._max_bytes // 8:
            return
        with self._lock:
            if key in self._texts:
                return
            self._texts[key] = text
            self._bytes += size
            while self._bytes > self._max_bytes:
                _, gone = self._texts.popitem(last=False)
                self._bytes -= sys.getsizeof(gone)


CHANGING = "The document was changed again and again while it was read. Try again when nobody writes it."
_TRIES = 3
_recent = RecentTexts(64 * 1024 * 1024)


def shared_pool() -> ExtractionPool:
    """The process pool of this process, with the limits that the settings give."""
    return _pool(reading_limits(DocumentSettings.current()))


@lru_cache(maxsize=4)
def _pool(limits: Limits) -> ExtractionPool:
    pool = ExtractionPool(limits=limits)
    atexit.register(pool.close)
    return pool


def format_of(document: Document) -> str:
    """The document's format: by its name, and where that tells none (a link's, an odd one) by its MIME type.

    Raises:
        UnsupportedFormat: no reader reads it.
    """
    try:
        return formats.format_of(document.name)
    except UnsupportedFormat:
        found = formats.format_of_mime_type(document.mime_type)
        if found is None or (found == ".txt" and PurePath(document.name).suffix):  # all sorts of source are text/plain
            raise
        return found


def check_readable(document: Document, limit: int) -> str:
    """The document's format; the limit is in megabytes.

    Raises:
        UnsupportedFormat: no reader reads it. TooLarge: it is above the limit.
    """
    found = format_of(document)
    if document.size is not None and document.size > limit * 1024 * 1024:
        raise TooLarge(f"The document is larger than {limit} MB. DILIGENCE_DOCUMENT_MAX_MB sets the limit.")
    return found


class Readers(NamedTuple):
    """The names that texts of a format are kept under, the best first; each begins with its reader's version.

    A text without pages that are pictures has the same name with and without text recognition, so that it is
    not read again when Tesseract comes; scans are, and those for which the time was short when there is more of
    it. A failure that came of a limit has the limit in its name: it may be raised.
    """

    recognised: str
    not_all_recognised: str
    plain: str
    failed_within_limits: str


def readers(found: str) -> Readers:
    """The names that texts of a format are kept under as things are now. Takes 0.02 ms."""
    settings = DocumentSettings.current()
    return _readers(
        formats.version(found),
        recognised_languages(settings),
        settings.document_timeout,
        settings.document_memory_mb,
    )


@lru_cache(maxsize=64)
def _readers(version: str, languages: str | None, seconds: float, memory_mb: int) -> Readers:
    recognised = f"{version} ocr {languages}" if languages else f"{version} without ocr"
    return Readers(
        recognised=recognised,
        not_all_recognised=f"{recognised} within {seconds:g} s" if languages else recognised,
        plain=version,
        failed_within_limits=f"{version} within {memory_mb} MB",
    )


def known_texts(drive: Drive, wanted: Sequence[Document]) -> dict[str, TextSummary]:
    """What is stored of the texts of these documents as they are now, by document id."""
    with database.reading() as session:
        contents = documents.find_contents(session, drive.name, [document.id for document in wanted])
        current = {
            document.id: content.content_hash
            for document in wanted
            if (content := contents.get(document.id)) and content.version == document.version
        }
    found: dict[str, str] = {}
    for document in wanted:
        if document.id in current:
            with suppress(UnsupportedFormat):  # it was read under another name
                found[document.id] = format_of(document)
    known = known_contents([(current[document_id], read_as) for document_id, read_as in found.items()])
    return {
        document_id: known[current[document_id], read_as]
        for document_id, read_as in found.items()
        if (current[document_id], read_as) in known
    }


def known_warnings(drive: Drive, wanted: Sequence[Document]) -> dict[str, str]:
    """What reading said of these documents, as they are now, by document id."""
    found = {document_id: warning_of(summary) for document_id, summary in known_texts(drive, wanted).items()}
    return {document_id: warning for document_id, warning in found.items() if warning}


def known_contents(wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], TextSummary]:
    """What is stored of the texts of these contents, each read as its format, by (content hash, format)."""
    if not wanted:
        return {}
    with database.reading() as session:
        summaries = texts.find_summaries(session, [content_hash for content_hash, _ in wanted])
    names = {found: readers(found) for found in {found for _, found in wanted}}
    return {
        (content_hash, found): summaries[content_hash, reader]
        for content_hash, found in wanted
        for reader in reversed(names[found])  # the best is put last, and stays
        if (content_hash, reader) in summaries
    }


def warning_of(text: TextSummary | StoredText) -> str | None:
    """The one sentence or more that a user must know of a text: why there is none, what is missing."""
    if text.detail:
        return text.detail
    return " ".join(text.warnings) or None


def new_text(content_hash: str, names: Readers, read: Callable[[], Reading]) -> NewText:
    """What is kept of what `read` gives: a text, or a failure that reading again would repeat.

    Raises:
        DiligenceError: it may go better next time.
    """
    try:
        result = read()
    except (Unreadable, TooLarge) as error:
        return NewText(
            content_hash=content_hash,
            reader=names.plain if isinstance(error, Damaged | PasswordProtected) else names.failed_within_limits,
            outcome=Outcome.FAILED,
            problem=error.slug,
            detail=error.message,
        )
    return NewText(
        content_hash=content_hash,
        reader=_reader_of(result, names),
        outcome=Outcome.READ if result.text.strip() else Outcome.EMPTY,
        text=result.text,
        places=result.places,
        warnings=result.warnings,
        characters=len(result.text),
    )


def _reader_of(result: Reading, names: Readers) -> str:
    if result.recognised is None:
        return names.plain
    return names.recognised if result.recognised else names.not_all_recognised


def text_of(drive: Drive, document: Document) -> str:
    """The text of a document, from memory or storage when this content was read before.

    Raises:
        UnsupportedFormat, TooLarge, Unreadable, TookTooLong: as its content demands.
        NotFound: it is not there, or not shared with this account.
    """
    found = check_readable(document, DocumentSettings.current().document_max_mb)
    text = _recent.get(_key(drive, document, found))
    if text is None:
        text = _or_raise(_stored(drive, document, found) or _read(drive, document, found)).text
        _recent.put(_key(drive, document, found), text)
    return text


def recent_text_of(drive: Drive, document: Document) -> str | None:
    """The text of a document, if it was asked for lately; never waits.

    Raises:
        UnsupportedFormat, TooLarge: it is none that can be read.
    """
    found = check_readable(document, DocumentSettings.current().document_max_mb)
    return _recent.get(_key(drive, document, found))


def _key(drive: Drive, document: Document, found: str) -> Hashable:
    return database.url(), drive.name, document.id, document.version, readers(found)


def _stored(drive: Drive, document: Document, found: str) -> StoredText | None:
    with database.reading() as session:
        return texts.find_current_text(session, drive.name, document.id, document.version, readers(found))


def _read(drive: Drive, document: Document, found: str) -> StoredText | NewText:
    for _ in range(_TRIES):
        with (
            spool() as folder,
            drive.fetch(document.id, folder, DocumentSettings.current().document_max_mb << 20) as fetched,
        ):
            with database.reading() as session:
                text: StoredText | NewText | None = texts.find_text(session, fetched.content_hash, *readers(found))
            if text is None:
                read = partial(shared_pool().read, fetched.path, found)
                text = new_text(fetched.content_hash, readers(found), read)
            if fetched.is_unchanged():
                break
    else:
        raise SourceFailed(CHANGING)
    with database.writing() as session:
        texts.save_text(session, text)
        documents.save_contents(session, drive.name, {document.id: (fetched.version, fetched.content_hash)})
    return text


def _or_raise(text: StoredText | NewText) -> StoredText | NewText:
    if text.outcome is Outcome.FAILED:
        kind = next((each for each in (Damaged, PasswordProtected, TooLarge) if each.slug == text.problem), Unreadable)
        raise kind(text.detail or kind.title)
    return text


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
    document = drive.document(drive.find_document(document_id))
    return DocumentText(document_id=document_id, text=text_of(drive, document))


def recent_text(document_id: str) -> DocumentText | None:
    """What `document_text` would answer, when that takes no waiting: a local document, asked for lately.

    An event loop may call it (0.06 ms). Whether the document is there and unchanged is looked at all the same.

    Raises:
        BadRequest, NotFound, TooLarge, UnsupportedFormat: as `document_text`.
    """
    drive = open_drive()
    if drive.remote:
        return None
    text = recent_text_of(drive, drive.document(drive.find_document(document_id)))
    return None if text is None else DocumentText(document_id=document_id, text=text)

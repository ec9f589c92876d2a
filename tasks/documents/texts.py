"""From a document to its text: fetched and read, or loaded if its content has been read before.

A text is stored as soon as it is read, so a killed run only loses what was being read. Recently used texts are also
kept in memory. This module does not know whether the caller may see the document, nor its present version: the drive is
asked each time.

Scanned pages are recognised in parallel, and each is stored as soon as it is read, without its text. A killed process
only loses the pages that were being read.
"""

import atexit
import sys
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from itertools import chain
from math import inf
from pathlib import Path, PurePath
from threading import Lock
from typing import Final, NamedTuple

from cachetools import LRUCache
from pydantic import BaseModel

from storage import database, documents, texts
from storage.texts import NewSigns, NewText, Outcome, StoredPage, StoredText, TextSummary, find_pages, save_page
from tasks import cancellation
from tasks.documents.drive.drive import Document, Drive
from tasks.documents.drive.registry import open_drive
from tasks.documents.drive.spool import spool
from tasks.documents.kinds.signs import signs_version
from tasks.errors import Damaged, PasswordProtected, SourceFailed, TooLarge, Unavailable, Unreadable, UnsupportedFormat
from tasks.operation import operation
from tasks.reading import formats
from tasks.reading.configuration import (
    ReadingSettings,
    engine_name,
    engines,
    make_reading_limits,
    reason_for_unread,
    recognised,
    recognising_pool,
)
from tasks.reading.embedded import EmbeddedOutcome, read_with_embedded
from tasks.reading.ocr.page import RecognisedPage, ScanState, fill, scanned_pages
from tasks.reading.ocr.recognise import Engines, order_page
from tasks.reading.pool.pool import ExtractionPool, Limits, PoolLoad, processors
from tasks.reading.pool.process import Read, list_reader_modules, list_study_modules
from tasks.reading.text_writer import NO_TEXT, Place, Reading
from tasks.telemetry import count_lookup

_AHEAD: Final = 2
"""Pages that each process is given: the one that it reads, and the next."""


class ScannedPage(NamedTuple):
    """A page to recognise: its document's file, format and content, and its label in the text."""

    path: Path
    format: str
    content_hash: str
    label: str


def stored_pages(content_hash: str, engines: Engines | None) -> dict[str, RecognisedPage]:
    """The pages of a content that need not be recognised again, by label.

    A page that ran out of time, or was read in part, is tried again if it may now take longer.
    """
    if engines is None:
        return {}
    seconds = ReadingSettings.current().ocr_page_timeout
    pages: dict[str, RecognisedPage] = {}
    with database.reading() as session:
        for row in find_pages(session, content_hash):
            page = RecognisedPage.unpack(row.packed)
            is_settled = page.state not in {ScanState.LATE, ScanState.PARTLY} or row.seconds >= seconds
            if is_settled and engines.accept(page) and (row.page not in pages or page.engine == engines.names[0]):
                pages[row.page] = page
    return pages


def recognise_pages(pages: Iterable[ScannedPage], engines: Engines, until: float = inf) -> Iterator[ScannedPage]:
    """Recognise pages and store each; yields each when it is stored, until that moment on the monotonic clock.

    Raises:
        Unavailable: the processes do not start, or an engine cannot be loaded. What was read before is stored.
    """
    seconds = ReadingSettings.current().ocr_page_timeout
    pool = recognising_pool()
    waiting = iter(pages)
    under_way: dict[Future[Reading], ScannedPage] = {}
    try:
        while True:
            cancellation.check()
            while len(under_way) < _AHEAD * processors() and (page := next(waiting, None)) is not None:
                order = order_page(page.format, page.label, engines)
                under_way[pool.submit(page.path, order)] = page
            left = until - time.monotonic()
            if not under_way or left <= 0:
                return
            done, _ = wait(under_way, None if left == inf else left, FIRST_COMPLETED)
            for future in done:
                page = under_way.pop(future)
                result = recognised(future, engines)
                row = StoredPage(
                    content_hash=page.content_hash,
                    page=page.label,
                    engine=result.engine,
                    seconds=seconds,
                    packed=result.pack(),
                )
                with database.writing() as session:
                    save_page(session, row)
                yield page
    finally:
        for future in under_way:
            future.cancel()


class DocumentText(BaseModel):
    """The answer of Extract Document Text: the document's whole text."""

    document_id: str
    text: str


CHANGING = "The document was changed again and again while it was read. Try again when it is no longer being written."
_MAX_TRIES = 3
_UNFILLED: Final = " unfilled"


class RecentTexts:
    """Recently used texts in memory, at most `max_bytes`; the least recently used goes first, none may take over an
    eighth.

    The text under a key never changes, so nothing has to be removed when a document changes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._largest = max_bytes // 8
        self._texts: LRUCache[Hashable, str] = LRUCache(max_bytes, sys.getsizeof)
        self._lock = Lock()

    def get(self, key: Hashable) -> str | None:
        """The text under that key; None if it is not in memory."""
        with self._lock:
            return self._texts.get(key)

    def put(self, key: Hashable, text: str) -> None:
        """Add a text."""
        if sys.getsizeof(text) <= self._largest:
            with self._lock:
                self._texts[key] = text

    def clear(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._texts.clear()


recent_texts = RecentTexts(64 * 1024 * 1024)


@operation(name="document_text", asks_a_source=True)
def document_text(document_id: str) -> DocumentText:
    """The entire text of one document.

    Args:
        document_id: its id, or a URL with the id in it; echoed as given.

    A text in memory takes 0.06 ms, one in storage 0.6 ms; neither opens the document.

    Raises:
        BadRequest, NotFound, TooLarge, UnsupportedFormat, Unreadable, TookTooLong: see tasks.errors.
    """
    drive = open_drive()
    document = drive.document(drive.find_document(document_id))
    return DocumentText(document_id=document_id, text=load_text(drive, document))


def share_pool(read: Read = read_with_embedded) -> ExtractionPool:
    """The pool of this process for reading with that function, with the limits that the settings give."""
    return _pool(make_reading_limits(ReadingSettings.current()), read)


def measure_pools() -> PoolLoad:
    """How much all pools of this process have to do now."""
    loads = [pool.load for pool in tuple(_pools)]
    return PoolLoad(*map(sum, zip((0, 0, 0), *loads, strict=True)))


_pools: Final[list[ExtractionPool]] = []
_sharing: Final = [1]


def share_readers(processes: int) -> None:
    """Announce, before the first document, that this many processes read documents on this machine,
    to share its cores.
    """
    _sharing[0] = processes


@lru_cache(maxsize=4)
def _pool(limits: Limits, read: Read) -> ExtractionPool:
    modules = list_reader_modules() if read is read_with_embedded else list_study_modules()
    pool = ExtractionPool(max(1, processors() // _sharing[0]), limits, read, modules=modules)
    atexit.register(pool.close)
    _pools.append(pool)
    return pool


def find_document_format(document: Document) -> str:
    """The document's format, by its name or, if that has no known extension, by its MIME type.

    Raises:
        UnsupportedFormat: no reader reads it.
    """
    try:
        return formats.find_format(document.name)
    except UnsupportedFormat:
        by_type = formats.find_format_by_mime_type(document.mime_type)
        if by_type is None or (by_type == ".txt" and PurePath(document.name).suffix):  # source code is text/plain too
            raise
        return by_type


def check_readable(document: Document, limit: int) -> str:
    """The document's format; fails if it cannot be read. The limit is in megabytes.

    Raises:
        UnsupportedFormat: no reader reads it. TooLarge: it is above the limit.
    """
    document_format = find_document_format(document)
    if document.size is not None and document.size > limit * 1024 * 1024:
        raise TooLarge(f"The document is larger than {limit} MB. DILIGENCE_DOCUMENT_MAX_MB sets the limit.")
    return document_format


class Readers(NamedTuple):
    """The names under which texts of a format are stored, best first; they begin with the reader's version.

    A text without scanned pages has the same name with and without text recognition. A text with scans is stored as it
    was read (`unfilled`), and again with what was recognised; the latter is made anew when there is another engine, or
    more time for pages that ran out of it. The name of a failure caused by a limit includes the limit, because it may
    be raised.
    """

    recognised: str
    not_all_recognised: str
    plain: str
    failed_within_limits: str

    @property
    def unfilled(self) -> str:
        """The name for a text whose scanned pages have not been filled in."""
        return f"{self.plain}{_UNFILLED}"

    def partly(self, read: Collection[str]) -> str:
        """The name for a text of whose scanned pages only these were read."""
        return f"{self.recognised} in part {sha256(' '.join(sorted(read)).encode()).hexdigest()[:12]}"


def readers(document_format: str, read_as: str | None = None) -> Readers:
    """The names under which texts of a format are stored with the current settings. Takes 0.02 ms.

    With `read_as`, they are those of documents named as the first format whose content has the second. They include the
    versions of both readers: such a text is read again when either changes.
    """
    version = formats.version(document_format)
    return _readers(
        version if read_as is None else _name_misnamed(version, formats.version(read_as)), *_circumstances()
    )


def list_misnamed_readers(document_format: str) -> tuple[str, ...]:
    """The names for texts that were read in a different format than the document's name says."""
    others = tuple(formats.version(name) for name in formats.names() if name != document_format)
    return _list_misnamed_readers(formats.version(document_format), others, *_circumstances())


def _name_misnamed(version: str, version_of_content: str) -> str:
    return f"{version} as {version_of_content}"


def _circumstances() -> tuple[str | None, float, int]:
    settings = ReadingSettings.current()
    return engine_name(settings), settings.ocr_page_timeout, settings.document_memory_mb


@lru_cache(maxsize=1024)
def _readers(version: str, engine: str | None, seconds: float, memory_mb: int) -> Readers:
    recognised = f"{version} ocr {engine}" if engine else f"{version} without ocr"
    return Readers(
        recognised=recognised,
        not_all_recognised=f"{recognised} within {seconds:g} s" if engine else recognised,
        plain=version,
        failed_within_limits=f"{version} within {memory_mb} MB",
    )


@lru_cache(maxsize=64)
def _list_misnamed_readers(
    version: str, others: tuple[str, ...], engine: str | None, seconds: float, memory_mb: int
) -> tuple[str, ...]:
    names = (_readers(_name_misnamed(version, other), engine, seconds, memory_mb) for other in others)
    return tuple(chain.from_iterable(names))


def find_known_texts(drive: Drive, candidates: Sequence[Document]) -> dict[str, TextSummary]:
    """The stored texts of these documents in their present versions, without the words, by document id."""
    with database.reading() as session:
        contents = documents.find_contents(session, drive.name, [document.id for document in candidates])
        current = {
            document.id: content.content_hash
            for document in candidates
            if (content := contents.get(document.id)) and content.version == document.version
        }
    keys: dict[str, tuple[str, str]] = {}
    for document in candidates:
        if document.id in current:
            with suppress(UnsupportedFormat):  # it was read under another name
                keys[document.id] = current[document.id], find_document_format(document)
    known = find_known_contents(list(keys.values()))
    return {document_id: known[key] for document_id, key in keys.items() if key in known}


def find_known_contents(keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], TextSummary]:
    """The stored texts of these contents, without the words, by (content hash, format)."""
    with database.reading() as session:
        summaries = texts.find_summaries(session, [content_hash for content_hash, _ in keys])
    names = {of_key: (*readers(of_key), *list_misnamed_readers(of_key)) for of_key in {of_key for _, of_key in keys}}
    by_content = {content_hash for content_hash, _ in summaries}
    known: dict[tuple[str, str], TextSummary] = {}
    for content_hash, of_key in keys:
        if content_hash in by_content:
            best = next((name for name in names[of_key] if (content_hash, name) in summaries), None)
            if best is not None:
                known[content_hash, of_key] = summaries[content_hash, best]
            elif unfilled := _unfilled(content_hash, of_key):
                known[content_hash, of_key] = save_filled(unfilled).text
    return known


def _unfilled(content_hash: str, document_format: str) -> StoredText | None:
    """A text with scans as first read, without recognised text; None if this version has not read it."""
    version = formats.version(document_format)
    others = (_name_misnamed(version, formats.version(name)) for name in formats.names() if name != document_format)
    with database.reading() as session:
        return texts.find_text(session, content_hash, *(f"{name}{_UNFILLED}" for name in (version, *others)))


def has_scans(text: StoredText | NewText) -> bool:
    """Whether a text has scanned pages that have yet to be filled in."""
    return text.reader.endswith(_UNFILLED)


def save_unfilled(unfilled: NewText) -> "FilledText":
    """Store a text with scans as it was read, and again with what is known about its pages."""
    with database.writing() as session:
        texts.save_text(session, unfilled)
    return save_filled(unfilled)


def fill_again(content_hash: str, document_format: str, reason: str = "") -> "FilledText | None":
    """Store a text with scans again with everything known about its pages; None if another version read it."""
    unfilled = _unfilled(content_hash, document_format)
    return save_filled(unfilled, reason) if unfilled else None


class FilledText(NamedTuple):
    """A stored text with what was recognised in its scans, and the labels of pages that have not been tried yet."""

    text: TextSummary
    waiting: Sequence[str]


def save_filled(unfilled: StoredText | NewText, reason: str = "") -> FilledText:
    """Store a text with everything that was recognised in its scanned pages; `reason` says why
    other pages are missing.
    """
    settings = ReadingSettings.current()
    pages = stored_pages(unfilled.content_hash, engines(settings))
    places = [Place(*place) for place in unfilled.places]
    reading = Reading(unfilled.text, places, list(unfilled.warnings), pages=unfilled.pages)
    filled = fill(reading, pages, reason or reason_for_unread(settings))
    names = _readers(unfilled.reader.removesuffix(_UNFILLED), *_circumstances())
    is_partly = bool(filled.waiting and engines(settings))
    name = names.partly(pages) if is_partly else names.not_all_recognised if filled.has_failures else names.recognised
    unread = filled.unread or is_partly * len(filled.waiting)  # pages whose hidden text is yet to be compared
    with database.writing() as session:
        text = texts.save_text(
            session,
            NewText(
                content_hash=unfilled.content_hash,
                reader=name,
                outcome=Outcome.READ if filled.reading.text else Outcome.EMPTY,
                text=filled.reading.text,
                places=filled.reading.places,
                warnings=filled.reading.warnings,
                characters=len(filled.reading.text),
                pages=max(unfilled.pages or 0, unread) or None,
                pages_read=max(unfilled.pages or 0, unread) - unread,
                scanned_pages=filled.scanned,
            ),
        )
    return FilledText(text, filled.waiting)


def text_warning(text: TextSummary | StoredText) -> str | None:
    """What users must know about a text: why there is none, or what is missing. None if there is nothing to say.

    Readers of earlier releases said nothing about some empty texts.
    """
    if text.detail:
        return text.detail
    success = EmbeddedOutcome.READ.value.partition("{")[0]  # a reader's remark, and no trouble
    is_sure = all(warning.count("Embedded, ") < 2 for warning in text.warnings)  # no name has such words as well
    troubles = " ".join(warning for warning in text.warnings if not (is_sure and success in warning))
    return troubles or (NO_TEXT if text.outcome is Outcome.EMPTY else None)


def new_text(content_hash: str, document_format: str, read: Callable[[], Reading]) -> NewText:
    """The row to store for the result of `read`: a text, or a failure that reading again would repeat.

    `document_format` is that of the document's name. A text with scans must be filled before it is used.

    Raises:
        DiligenceError: a failure that another try may not have.
    """
    try:
        result = read()
    except (Unreadable, TooLarge) as error:
        names = readers(document_format, error.read_as)
        return NewText(
            content_hash=content_hash,
            reader=names.plain if isinstance(error, Damaged | PasswordProtected) else names.failed_within_limits,
            outcome=Outcome.FAILED,
            problem=error.slug,
            detail=error.message,
        )
    names = readers(document_format, result.read_as)
    return NewText(
        content_hash=content_hash,
        reader=names.unfilled if scanned_pages(result) else names.plain,
        pages=result.pages,
        pages_read=result.pages,
        outcome=Outcome.READ if result.text.strip() else Outcome.EMPTY,
        text=result.text,
        places=result.places,
        warnings=result.warnings,
        characters=len(result.text),
        signs=NewSigns(signs_version(), *result.noted) if result.noted else None,
    )


def load_text(drive: Drive, document: Document) -> str:
    """The text of a document, from memory or storage if this content has been read before.

    Raises:
        UnsupportedFormat, TooLarge, Unreadable, TookTooLong: as its content demands.
        NotFound: it is not there, or not shared with this account.
    """
    document_format = check_readable(document, ReadingSettings.current().document_max_mb)
    text = recent_texts.get(_key(drive, document, document_format))
    count_lookup("texts in memory", hit=text is not None)
    if text is None:
        with database.reading() as session:
            find = partial(texts.find_current_text, session, drive.name, document.id, document.version)
            stored = find(readers(document_format)) or find(list_misnamed_readers(document_format))
        count_lookup("texts", hit=stored is not None)
        found = _or_raise(stored or _read(drive, document, document_format))
        text = found.text
        if found.reader in (
            *readers(document_format),
            *list_misnamed_readers(document_format),
        ):  # else it is read in part
            recent_texts.put(_key(drive, document, document_format), text)
    return text


def _key(drive: Drive, document: Document, document_format: str) -> Hashable:
    return database.url(), drive.name, document.id, document.version, readers(document_format)


def _read(drive: Drive, document: Document, document_format: str) -> StoredText | NewText:
    end = time.monotonic() + ReadingSettings.current().document_timeout
    for _ in range(_MAX_TRIES):
        cancellation.check()
        with (
            spool() as folder,
            drive.fetch(document.id, folder, ReadingSettings.current().document_max_mb << 20) as fetched,
        ):
            with database.reading() as session:
                text: StoredText | NewText | None = texts.find_text(
                    session, fetched.content_hash, *readers(document_format), *list_misnamed_readers(document_format)
                )
            if text is None:
                text = _unfilled(fetched.content_hash, document_format)
            if text is None:
                reading = share_pool().submit(fetched.path, document_format)
                text = new_text(fetched.content_hash, document_format, partial(cancellation.wait_for_result, reading))
            if fetched.is_unchanged():
                with database.writing() as session:
                    texts.save_text(session, text)
                    documents.save_contents(session, drive.name, {document.id: (fetched.version, fetched.content_hash)})
                return _filled(text, fetched.path, document_format, end) if has_scans(text) else text
    raise SourceFailed(CHANGING)


def _filled(unfilled: StoredText | NewText, path: Path, document_format: str, end: float) -> StoredText:
    """A text with its scanned pages filled in, as many as can be read until `end`."""
    found = engines(ReadingSettings.current())
    filled = save_filled(unfilled)
    while found and filled.waiting and time.monotonic() < end:
        pages = (ScannedPage(path, document_format, unfilled.content_hash, label) for label in filled.waiting)
        try:
            for _ in recognise_pages(pages, found, end):
                pass
        except Unavailable as error:
            filled = save_filled(unfilled, error.message)
            break
        filled = save_filled(unfilled)
    with database.reading() as session:
        return texts.get_text(session, filled.text.id)


def _or_raise(text: StoredText | NewText) -> StoredText | NewText:
    if text.outcome is Outcome.FAILED:
        errors = {error.slug: error for error in (Damaged, PasswordProtected, TooLarge)}
        error = errors.get(text.problem or "", Unreadable)
        raise error(text.detail or error.title)
    return text

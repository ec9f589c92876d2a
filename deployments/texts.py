"""`diligence text`: the text of files, folders and document ids, on stdout or in files."""

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePath
from queue import SimpleQueue
from typing import Annotated, Final
from uuid import uuid4

import typer

from deployments.documents import DocumentToRead, Skipped, documents_of, unpack
from deployments.terminal import echo
from storage.temporary_folders import process_folder
from tasks.errors import DiligenceError, Unavailable, Unreadable
from tasks.reading.configuration import reading_limits
from tasks.reading.pool.pool import ExtractionPool, processors
from tasks.reading.settings import ReadingSettings
from tasks.reading.text_writer import Reading
from tasks.reports.replacing import check_writable

AHEAD: Final = 32
AHEAD_BYTES: Final = 32 << 20
"""The most documents, and bytes of them, that a process gets before their texts are written: memory stays flat."""

_LONGEST_NAME: Final = 251
"""Bytes of a name to which ".txt" is added: file systems take 255."""

_DIGITS: Final = 8


def text(
    documents: Annotated[list[str], typer.Argument(help="Files, folders or document ids.")],
    out: Annotated[Path | None, typer.Option(help="Write each text to a file in this folder.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes that read at the same time.")] = None,
) -> None:
    """Print the text of documents, or write it to files."""
    raise SystemExit(print_texts(documents, out, jobs))


def print_texts(names: list[str], out: Path | None, jobs: int | None) -> int:
    """Read documents and print or write their texts.

    Archives are read like folders. In folders, files that no reader reads are skipped, and stderr tells of each; a
    file that is named itself fails. With `out` the largest documents are read first and each text is written as soon
    as it is read; on stdout the texts come in the order of `names`.

    Args:
        names: files, folders or document ids.
        out: the folder for the texts; None for stdout.
        jobs: how many processes read; None for one a core.

    Returns:
        The exit status: 1 when a document could not be read, or its text not written.

    Raises:
        BadRequest: `out` cannot be made.
    """
    workers = jobs or processors()
    limits = reading_limits(ReadingSettings.current())
    skipped = Skipped()
    documents = documents_of(names, limits.max_mb << 20, skipped)
    with ExtractionPool(workers, limits) as pool:
        pool.start()  # while the folders are walked
        reader = DocumentReader(pool, process_folder(), limits.max_mb << 20)
        if out is None:
            status = max((_print(name, reading) for name, reading in in_order(reader, documents, workers)), default=0)
        else:
            check_writable(out)
            status = _write_all(reader, documents, workers, out)
    skipped.tell_total()
    return status


def _write_all(reader: "DocumentReader", documents: Iterable[DocumentToRead], workers: int, out: Path) -> int:
    by_name: dict[str, DocumentToRead] = {}
    status = 0
    for document in documents:
        if by_name.setdefault(document.name, document).path != document.path:
            status = _failed(document.name, "another document has this name. Give the folder that both lie in.")
    largest_first = sorted(by_name.values(), key=lambda document: -document.size)
    for name, reading in as_read(reader, largest_first, workers):
        status = max(status, _write(name, reading, out))
    return status


def in_order(
    reader: "DocumentReader", documents: Iterable[DocumentToRead], workers: int
) -> Iterator[tuple[str, Future[Reading]]]:
    """The readings of these documents, in this order; no more are under way than `has_room` allows."""
    waiting: deque[tuple[DocumentToRead, Future[Reading]]] = deque()
    for document in documents:
        while not has_room(sum(other.size for other, _ in waiting), len(waiting), workers):
            first, reading = waiting.popleft()
            yield first.name, reading
        waiting.append((document, reader.begin(document)))
    for first, reading in waiting:
        yield first.name, reading


def as_read(
    reader: "DocumentReader", documents: Iterable[DocumentToRead], workers: int
) -> Iterator[tuple[str, Future[Reading]]]:
    """The readings of these documents as they end; no more are under way than `has_room` allows."""
    ended: SimpleQueue[tuple[DocumentToRead, Future[Reading]]] = SimpleQueue()
    under_way = size = 0
    for document in documents:
        while not has_room(size, under_way, workers):
            done, reading = ended.get()
            under_way, size = under_way - 1, size - done.size
            yield done.name, reading
        under_way, size = under_way + 1, size + document.size
        reader.begin(document).add_done_callback(partial(_put, ended, document))
    for _ in range(under_way):
        done, reading = ended.get()
        yield done.name, reading


def _put(
    ended: SimpleQueue[tuple[DocumentToRead, Future[Reading]]], document: DocumentToRead, reading: Future[Reading]
) -> None:
    ended.put((document, reading))


def has_room(size: int, documents: int, workers: int) -> bool:
    """Whether the processes may get another document: always a second one each, more while they are small."""
    return documents < 2 * workers or (documents < AHEAD * workers and size < AHEAD_BYTES * workers)


class DocumentReader:
    """Gives documents to the pool; those in archives are unpacked into `folder` while they are read."""

    def __init__(self, pool: ExtractionPool, folder: Path, max_bytes: int) -> None:
        self._pool = pool
        self._folder = folder
        self._max_bytes = max_bytes

    def begin(self, document: DocumentToRead) -> Future[Reading]:
        """Begin to read a document; whatever goes wrong is the future's."""
        try:
            if document.problem is not None:
                return _done(Unreadable(document.problem))
            if document.path is None:
                return _done(_from_drive(document.name))
            # A name that says nothing is no matter: the content may.
            extension = PurePath(document.name).suffix.lower()
            if document.member is None:
                return self._pool.submit(Path(document.path), extension)
            return self._unpacked(document, extension)
        except DiligenceError as error:
            return _done(error)

    def _unpacked(self, document: DocumentToRead, extension: str) -> Future[Reading]:
        path = self._folder / uuid4().hex
        try:
            with path.open("xb") as file:
                unpack(document, file, self._max_bytes)
        except DiligenceError:
            path.unlink()
            raise
        except OSError as error:
            path.unlink(missing_ok=True)
            raise Unavailable(f"It cannot be unpacked ({error.strerror}).") from error
        reading = self._pool.submit(path, extension)
        reading.add_done_callback(lambda _: path.unlink(missing_ok=True))
        return reading


def _done(outcome: Reading | DiligenceError) -> Future[Reading]:
    future: Future[Reading] = Future()
    if isinstance(outcome, Reading):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)
    return future


def _from_drive(document_id: str) -> Reading:
    """The text of a document of the drive."""
    # Storage and drives take 0.3 s to import, and files are read in 0.2 s without them.
    from tasks.documents.drive.registry import acting_as_run_account  # noqa: PLC0415
    from tasks.documents.texts import document_text  # noqa: PLC0415

    with acting_as_run_account():
        return Reading(document_text(document_id).text)


def _print(name: str, reading: Future[Reading]) -> int:
    text = _text(name, reading)
    if text is None:
        return 1
    if sys.stdout.isatty():  # a pipe or a file gets the text as it is
        typer.echo(text)
        return 0
    sys.stdout.buffer.write(text)
    if text and not text.endswith(b"\n"):
        sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()
    return 0


def _write(name: str, reading: Future[Reading], out: Path) -> int:
    text = _text(name, reading)
    if text is None:
        return 1
    target = out / _file_name(name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
    except OSError as error:
        with suppress(OSError):
            target.unlink()  # half a text would pass for the text
        return _failed(name, f"its text cannot be written ({error.strerror}).")
    return 0


def _file_name(name: str) -> str:
    """The path of a document's text: its own and ".txt", its name cut where no file may have one as long.

    A number that only this name gives stands in the place of what is cut.
    """
    folders, slash, last = name.rpartition("/")
    raw = os.fsencode(last)
    if len(raw) > _LONGEST_NAME:
        kept = raw[: _LONGEST_NAME - _DIGITS - 1].decode("utf-8", "ignore")
        last = f"{kept}~{sha256(raw).hexdigest()[:_DIGITS]}"
    return f"{folders}{slash}{last}.txt"


def _text(name: str, reading: Future[Reading]) -> bytes | None:
    """The text of a reading; its warnings, or why it failed, go to stderr."""
    try:
        result = reading.result()
    except DiligenceError as error:
        _failed(name, error.message)
        return None
    for warning in result.warnings:
        echo(f"{name}: {warning}", err=True)
    return result.text.encode()


def _failed(name: str, why: str) -> int:
    echo(f"{name}: {why}", err=True)
    return 1

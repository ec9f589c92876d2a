"""`diligence text`: the text of files, folders and document ids, on stdout or in files."""

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Final, NamedTuple

import typer

from tasks.documents.drive.drive import hidden
from tasks.documents.extract import formats
from tasks.documents.extract.configuration import reading_limits
from tasks.documents.extract.pool.pool import ExtractionPool, processors
from tasks.documents.extract.text_writer import Reading
from tasks.documents.settings import DocumentSettings
from tasks.errors import BadRequest, DiligenceError

AHEAD: Final = 32
AHEAD_BYTES: Final = 32 << 20
"""The most documents, and bytes of them, that a process gets before their texts are written: memory stays flat."""


class _Document(NamedTuple):
    """A document to read: its name for users, its file (None for one given by id), its size in bytes."""

    name: str
    path: str | None
    size: int


def text(
    documents: Annotated[list[str], typer.Argument(help="Files, folders or document ids.")],
    out: Annotated[Path | None, typer.Option(help="Write each text to a file in this folder.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes that read at the same time.")] = None,
) -> None:
    """Print the text of documents, or write it to files."""
    raise SystemExit(print_texts(documents, out, jobs))


def print_texts(names: list[str], out: Path | None, jobs: int | None) -> int:
    """Read documents and print or write their texts.

    In folders, files whose format has no reader are skipped; a file that is named itself fails. With `out` the
    largest documents are read first and each text is written as soon as it is read; on stdout the texts come in
    the order of `names`.

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
    with ExtractionPool(workers, reading_limits(DocumentSettings.current())) as pool:
        pool.start()  # while the folders are walked
        if out is None:
            readings = in_order(pool, documents_of(names), workers)
            return max((_print(name, reading) for name, reading in readings), default=0)
        _make(out)
        by_name: dict[str, _Document] = {}
        status = 0
        for document in documents_of(names):
            if by_name.setdefault(document.name, document).path != document.path:
                status = _failed(document.name, "another document has this name. Give the folder that both lie in.")
        largest_first = sorted(by_name.values(), key=lambda document: -document.size)
        for name, reading in as_read(pool, largest_first, workers):
            status = max(status, _write(name, reading, out))
        return status


def documents_of(names: list[str]) -> Iterator[_Document]:
    """The documents of these files, folders and ids; those of a folder are named by their path in it."""
    for argument in names:
        path = Path(argument)
        if path.is_dir():
            for folder, subfolders, files in os.walk(path):
                subfolders[:] = sorted(name for name in subfolders if not hidden(name))
                for name in sorted(files):
                    file = os.path.join(folder, name)  # noqa: PTH118 - one string a document is kept, not a Path
                    if not hidden(name) and _readable(name) and not os.path.islink(file):  # noqa: PTH114
                        yield _Document(os.path.relpath(file, path), file, _size(file))
        elif path.exists():
            name = path.name if path.is_absolute() or ".." in path.parts else str(path)
            yield _Document(name, argument, _size(argument))
        else:
            yield _Document(argument, None, 0)


def _readable(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in formats.supported()  # noqa: PTH122


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:  # it vanished: its reader reports it
        return 0


def in_order(
    pool: ExtractionPool, documents: Iterable[_Document], workers: int
) -> Iterator[tuple[str, Future[Reading]]]:
    """The readings of these documents, in this order; no more are under way than `has_room` allows."""
    waiting: deque[tuple[_Document, Future[Reading]]] = deque()
    for document in documents:
        while not has_room(sum(other.size for other, _ in waiting), len(waiting), workers):
            first, reading = waiting.popleft()
            yield first.name, reading
        waiting.append((document, _reading(pool, document)))
    for first, reading in waiting:
        yield first.name, reading


def as_read(
    pool: ExtractionPool, documents: Iterable[_Document], workers: int
) -> Iterator[tuple[str, Future[Reading]]]:
    """The readings of these documents as they end; no more are under way than `has_room` allows."""
    ended: SimpleQueue[tuple[_Document, Future[Reading]]] = SimpleQueue()
    under_way = size = 0
    for document in documents:
        while not has_room(size, under_way, workers):
            done, reading = ended.get()
            under_way, size = under_way - 1, size - done.size
            yield done.name, reading
        under_way, size = under_way + 1, size + document.size
        _reading(pool, document).add_done_callback(partial(_put, ended, document))
    for _ in range(under_way):
        done, reading = ended.get()
        yield done.name, reading


def _put(ended: SimpleQueue[tuple[_Document, Future[Reading]]], document: _Document, reading: Future[Reading]) -> None:
    ended.put((document, reading))


def has_room(size: int, documents: int, workers: int) -> bool:
    """Whether the processes may get another document: always a second one each, more while they are small."""
    return documents < 2 * workers or (documents < AHEAD * workers and size < AHEAD_BYTES * workers)


def _reading(pool: ExtractionPool, document: _Document) -> Future[Reading]:
    try:
        if document.path is not None:
            return pool.submit(Path(document.path), formats.format_of(document.path))
        return _done(_from_drive(document.name))
    except DiligenceError as error:
        return _done(error)


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
    sys.stdout.buffer.write(text)
    if text and not text.endswith(b"\n"):
        sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()
    return 0


def _write(name: str, reading: Future[Reading], out: Path) -> int:
    text = _text(name, reading)
    if text is None:
        return 1
    target = out / f"{name}.txt"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
    except OSError as error:
        with suppress(OSError):
            target.unlink()  # half a text would pass for the text
        return _failed(name, f"its text cannot be written ({error.strerror}).")
    return 0


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{out} cannot be made a folder ({error.strerror}). Choose another --out.") from error


def _text(name: str, reading: Future[Reading]) -> bytes | None:
    """The text of a reading; its warnings, or why it failed, go to stderr."""
    try:
        result = reading.result()
    except DiligenceError as error:
        _failed(name, error.message)
        return None
    for warning in result.warnings:
        print(f"{name}: {warning}", file=sys.stderr)  # noqa: T201
    return result.text.encode()


def _failed(name: str, why: str) -> int:
    print(f"{name}: {why}", file=sys.stderr)  # noqa: T201
    return 1

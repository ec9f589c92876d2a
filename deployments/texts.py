"""`diligence text`: the text of files, folders and document ids, on stdout or in files."""

import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

from tasks.documents.drive.drive import hidden
from tasks.documents.extract import formats
from tasks.documents.extract.configuration import reading_limits
from tasks.documents.extract.pool.pool import ExtractionPool, processors
from tasks.documents.extract.text_writer import Reading
from tasks.documents.settings import DocumentSettings
from tasks.errors import BadRequest, DiligenceError

_AHEAD: Final = 32
_AHEAD_BYTES: Final = 32 << 20
"""What is handed out for each process at most before its text is written, so that memory stays flat."""


class _Asked(NamedTuple):
    """A document that was asked for: its name for users, its file, its size in bytes. One given by id has no file."""

    name: str
    path: str | None
    size: int


def print_texts(given: list[str], out: Path | None, jobs: int | None) -> int:
    """Read what was given; gives the exit status, 1 when one of the documents could not be read or written.

    Files in a folder whose format has no reader are passed over; one that is named is a failure. With `out` the
    largest are read first and each text is written when it is there; on stdout they come in the order given.

    Raises:
        BadRequest: `out` cannot be made.
    """
    workers = jobs or processors()
    with ExtractionPool(workers, reading_limits(DocumentSettings.current())) as pool:
        pool.start()  # while the folders are walked
        if out is None:
            readings = _in_order(pool, _asked(given), workers)
            return max((_print(name, reading) for name, reading in readings), default=0)
        _make(out)
        named: dict[str, _Asked] = {}
        status = 0
        for each in _asked(given):
            if named.setdefault(each.name, each).path != each.path:
                status = _failed(each.name, "another document has this name. Give the folder that both lie in.")
        largest_first = sorted(named.values(), key=lambda each: -each.size)
        for name, reading in _as_read(pool, largest_first, workers):
            status = max(status, _write(name, reading, out))
        return status


def _asked(given: list[str]) -> Iterator[_Asked]:
    """Each document with its relative name."""
    for each in given:
        path = Path(each)
        if path.is_dir():
            for folder, names, files in os.walk(path):
                names[:] = sorted(name for name in names if not hidden(name))
                for name in sorted(files):
                    file = os.path.join(folder, name)  # noqa: PTH118 - one string a document is kept, not a Path
                    if not hidden(name) and _readable(name) and not os.path.islink(file):  # noqa: PTH114
                        yield _Asked(os.path.relpath(file, path), file, _size(file))
        elif path.exists():
            name = path.name if path.is_absolute() or ".." in path.parts else str(path)
            yield _Asked(name, each, _size(each))
        else:
            yield _Asked(each, None, 0)


def _readable(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in formats.supported()  # noqa: PTH122


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:  # it vanished: whoever reads it says so
        return 0


def _in_order(pool: ExtractionPool, asked: Iterable[_Asked], workers: int) -> Iterator[tuple[str, Future[Reading]]]:
    """The readings of these documents, in this order; no more are under way than there is room for."""
    waiting: list[tuple[_Asked, Future[Reading]]] = []
    for each in asked:
        while not _room(sum(one.size for one, _ in waiting), len(waiting), workers):
            one, reading = waiting.pop(0)
            yield one.name, reading
        waiting.append((each, _reading(pool, each)))
    for one, reading in waiting:
        yield one.name, reading


def _as_read(pool: ExtractionPool, asked: Iterable[_Asked], workers: int) -> Iterator[tuple[str, Future[Reading]]]:
    """The readings of these documents as they end; no more are under way than there is room for."""
    ended: SimpleQueue[tuple[_Asked, Future[Reading]]] = SimpleQueue()
    under_way = size = 0
    for each in asked:
        while not _room(size, under_way, workers):
            one, reading = ended.get()
            under_way, size = under_way - 1, size - one.size
            yield one.name, reading
        under_way, size = under_way + 1, size + each.size
        _reading(pool, each).add_done_callback(lambda reading, each=each: ended.put((each, reading)))  # type: ignore[misc]
    for _ in range(under_way):
        one, reading = ended.get()
        yield one.name, reading


def _room(size: int, documents: int, workers: int) -> bool:
    """Whether another document may be handed out: a second one for each process always, more while they are small."""
    return documents < 2 * workers or (documents < _AHEAD * workers and size < _AHEAD_BYTES * workers)


def _reading(pool: ExtractionPool, each: _Asked) -> Future[Reading]:
    try:
        if each.path is not None:
            return pool.submit(Path(each.path), formats.format_of(each.path))
        return _done(_stored(each.name))
    except DiligenceError as error:
        return _done(error)


def _done(outcome: Reading | DiligenceError) -> Future[Reading]:
    future: Future[Reading] = Future()
    if isinstance(outcome, Reading):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)
    return future


def _stored(document_id: str) -> Reading:
    """The text of a document of the drive."""
    from tasks.documents.drive.registry import acting_as_run_account  # noqa: PLC0415 - storage is needed for ids only
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
            target.unlink()  # half a text looks like a whole one
        return _failed(name, f"its text cannot be written ({error.strerror}).")
    return 0


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{out} cannot be made a folder ({error.strerror}). Choose another --out.") from error


def _text(name: str, reading: Future[Reading]) -> bytes | None:
    """The text of a reading; its warnings, or why there is none, go to stderr."""
    try:
        found = reading.result()
    except DiligenceError as error:
        _failed(name, error.message)
        return None
    for warning in found.warnings:
        print(f"{name}: {warning}", file=sys.stderr)  # noqa: T201
    return found.text.encode()


def _failed(name: str, why: str) -> int:
    print(f"{name}: {why}", file=sys.stderr)  # noqa: T201
    return 1

"""`diligence text`: the text of files, folders and document ids, on stdout or in files."""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from tasks.documents.drive.tree import hidden
from tasks.documents.extract import formats
from tasks.documents.extract.processes.pool import ExtractionPool, Limits
from tasks.documents.extract.reading import Reading
from tasks.documents.settings import DocumentSettings
from tasks.errors import BadRequest, DiligenceError

_WINDOW = 4  # readings handed out ahead of the one being written, for each process: memory stays flat


def print_texts(given: list[str], out: Path | None, jobs: int | None) -> int:
    """Read what was given; gives the exit status, 1 when one of the documents could not be read.

    Files in a folder whose format has no reader are passed over; one that is named is a failure.
    """
    settings = DocumentSettings.current()
    limits = Limits(
        settings.document_timeout, settings.document_memory_mb, settings.document_max_mb, settings.recognised_languages
    )
    status = 0
    with ExtractionPool(workers=jobs, limits=limits) as pool:
        waiting: list[tuple[str, Future[Reading]]] = []
        for name, path in _files(given):
            try:
                reading = pool.submit(path, formats.format_of(path.name)) if path else _stored(name)
            except DiligenceError as error:
                status = _failed(name, error)
                continue
            waiting.append((name, reading))
            if len(waiting) >= _WINDOW * (jobs or os.cpu_count() or 1):
                status = max(status, _write(*waiting.pop(0), out))
        for each in waiting:
            status = max(status, _write(*each, out))
    return status


def _files(given: list[str]) -> Iterator[tuple[str, Path | None]]:
    """Each document with its relative name; those named by id have no path."""
    for each in given:
        path = Path(each)
        if path.is_dir():
            for folder, names, files in os.walk(path):
                names[:] = sorted(name for name in names if not hidden(name))
                for name in sorted(files):
                    file = Path(folder, name)
                    if not hidden(name) and file.suffix.lower() in formats.supported() and not file.is_symlink():
                        yield str(file.relative_to(path)), file
        elif path.exists():
            yield (path.name if path.is_absolute() or ".." in path.parts else str(path)), path
        else:
            yield each, None


def _stored(document_id: str) -> Future[Reading]:
    """The text of a document of the drive."""
    from tasks.documents.text import document_text  # noqa: PLC0415 - storage is needed for ids only

    future: Future[Reading] = Future()
    future.set_result(Reading(document_text(document_id).text))
    return future


def _write(name: str, reading: Future[Reading], out: Path | None) -> int:
    try:
        found = reading.result()
    except DiligenceError as error:
        return _failed(name, error)
    for warning in found.warnings:
        print(f"{name}: {warning}", file=sys.stderr)  # noqa: T201
    if out is None:
        sys.stdout.buffer.write(found.text.encode())
        if found.text and not found.text.endswith("\n"):
            sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()
        return 0
    target = out / f"{name}.txt"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(found.text.encode())
    except OSError as error:
        raise BadRequest(f"{target} cannot be written ({error.strerror}). Choose another --out.") from error
    return 0


def _failed(name: str, error: DiligenceError) -> int:
    print(f"{name}: {error.message}", file=sys.stderr)  # noqa: T201
    return 1

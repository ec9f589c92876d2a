"""`diligence text`: the text of files, folders, archives and document ids, and what was skipped and why."""

import os
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Annotated, Final, NamedTuple
from uuid import uuid4

import typer

from deployments.terminal import echo
from tasks.cancellation import take_finished
from tasks.documents.drive.archives.archive import Archive, Key, open_archives
from tasks.documents.drive.archives.zip import ArchiveNotOpened, Member, is_archive
from tasks.errors import DiligenceError, NotFound, Unavailable, Unreadable, UnsupportedFormat
from tasks.files import check_writable, hidden, process_folder, temporary_folder
from tasks.reading import formats
from tasks.reading.configuration import ReadingSettings, make_reading_limits, read_scans
from tasks.reading.detect import guess_file_mime_type
from tasks.reading.ocr.page import scanned_pages
from tasks.reading.pool.pool import ExtractionPool, processors
from tasks.reading.text_writer import Reading


class DocumentToRead(NamedTuple):
    """A document to read: its name for users, its file (None for one given by id), its size in bytes.

    For a document in an archive, `file` is the archive and `member` names the document. One with a `problem` cannot be
    read.
    """

    name: str
    path: str | None
    size: int
    member: Member | None = None
    problem: str | None = None


class Skipped:
    """Reports what is skipped on stderr at once, and counts it."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, name: str, reason: str) -> None:
        """Report a file that is skipped; the reason is half a sentence."""
        self.count += 1
        echo(f"{name}: skipped, {reason}.", err=True)

    def add_all(self, sentences: Iterator[str]) -> None:
        """Report what archives leave out."""
        for sentence in sentences:
            self.count += 1
            echo(sentence, err=True)


def find_documents(names: list[str], max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    """The documents in these files, folders and archives, or with these ids; those in a folder are named by their path
    in it.

    Args:
        names: what the user gave.
        max_bytes: the size of the largest document that is read.
        skipped: is told of what lies in folders and archives and is not read.
    """
    for argument in names:
        path = Path(argument)
        if path.is_dir():
            yield from _of_folder(path, max_bytes, skipped)
        elif path.exists():
            name = path.name if path.is_absolute() or ".." in path.parts else str(path)
            if is_archive(argument):
                try:
                    yield from _of_archive(argument, name, max_bytes, skipped)
                except (ArchiveNotOpened, DiligenceError) as error:
                    yield DocumentToRead(name, argument, 0, problem=_why(error))
            else:
                yield DocumentToRead(name, argument, _size(argument))
        else:
            yield DocumentToRead(argument, None, 0)


def _of_folder(top: Path, max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    def closed(error: OSError) -> None:
        skipped.add(os.path.relpath(error.filename, top), f"the folder cannot be opened ({error.strerror})")

    for folder, subfolders, files in os.walk(top, onerror=closed):
        for name in sorted(subfolders):
            path = os.path.join(folder, name)  # noqa: PTH118 - one string a document is kept, not a Path
            if hidden(name):
                skipped.add(os.path.relpath(path, top), "it is hidden, with everything in it")
            elif os.path.islink(path):  # noqa: PTH114
                skipped.add(os.path.relpath(path, top), "it is a link")
        subfolders[:] = sorted(name for name in subfolders if not hidden(name))
        for name in sorted(files):
            path = os.path.join(folder, name)  # noqa: PTH118
            yield from _of_file(path, os.path.relpath(path, top), max_bytes, skipped)


def _of_file(path: str, name: str, max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    """The documents of one file in a folder: the file itself, those inside it, or none."""
    reason = _why_not(path)
    if not reason and is_archive(name):
        try:
            yield from _of_archive(path, name, max_bytes, skipped)
        except (ArchiveNotOpened, DiligenceError) as error:
            skipped.add(name, _why(error).rstrip("."))
        return
    reason = reason or _explain_unsupported(_find_extension(path, name))
    if reason:
        skipped.add(name, reason)
    else:
        yield DocumentToRead(name, path, _size(path))


def _of_archive(path: str, name: str, max_bytes: int, skipped: Skipped) -> Iterator[DocumentToRead]:
    """The documents in an archive, named by its name, `/` and their path in it.

    Raises:
        ArchiveNotOpened, DiligenceError: the archive cannot be opened.
    """
    try:
        with open_archives.using(*_plan_opening(path, max_bytes)) as archive:
            contents = archive.contents
    except OSError as error:
        raise ArchiveNotOpened(f"it cannot be opened ({error.strerror})") from error
    skipped.add_all(contents.warnings(name))
    shut = {member for member, _ in contents.shut}
    for member in contents.members:
        reason = _explain_unsupported(os.path.splitext(member.path)[1])  # noqa: PTH122
        if not reason:
            yield DocumentToRead(f"{name}/{member.path}", path, member.size, member)
        elif member.path not in shut:  # else it was told
            skipped.add(f"{name}/{member.path}", reason)


def _plan_opening(path: str, max_bytes: int) -> tuple[Key, int, Callable[[], Archive]]:
    """The arguments for `OpenArchives.using` to open the archive at that path."""
    status = os.stat(path)  # noqa: PTH116
    key = path, str(status.st_ino), f"{status.st_size}-{status.st_mtime_ns}-{max_bytes}"

    def opened() -> Archive:
        if status.st_size > max_bytes:
            raise ArchiveNotOpened(f"it is larger than {max_bytes >> 20} MB (DILIGENCE_DOCUMENT_MAX_MB)")
        return Archive(Path(path).open("rb"), path, max_bytes, temporary_folder)

    return key, status.st_size, opened


def _why(error: ArchiveNotOpened | DiligenceError) -> str:
    return f"{error.reason}." if isinstance(error, ArchiveNotOpened) else error.message


def _why_not(path: str) -> str:
    """Why a file in a folder is not read, judging by its name and kind; empty if it may be read."""
    if hidden(os.path.basename(path)):  # noqa: PTH119
        return "it is hidden"
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        return f"it cannot be reached ({error.strerror})"
    if stat.S_ISLNK(mode):
        return "it is a link"
    return "" if stat.S_ISREG(mode) else "it is neither a file nor a folder"


def _find_extension(path: str, name: str) -> str:
    """The extension of a file's name or, if no reader knows that, the extension for its content's format."""
    extension = PurePath(name).suffix
    if extension.lower() in formats.list_supported():
        return extension
    return formats.find_format_by_mime_type(guess_file_mime_type(Path(path))) or extension


def _explain_unsupported(ending: str) -> str:
    try:
        formats.find_format(f"a{ending}")
    except UnsupportedFormat:
        return f'no reader for "{ending}"' if ending else "no reader for a name without an extension"
    return ""


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:  # it vanished: its reader reports it
        return 0


AHEAD: Final = 32
AHEAD_BYTES: Final = 32 << 20
"""The most documents, and bytes of them, that a process gets before their texts are written: memory stays flat."""

_LONGEST_NAME: Final = 251
"""Bytes of a name to which ".txt" is added: file systems take 255."""

_DIGITS: Final = 8
_SCANS_AT_ONCE: Final = 4
"""Documents whose scanned pages are waited for; processes recognise them, one a core."""


def text(
    documents: Annotated[list[str], typer.Argument(help="Files, folders or document ids.")],
    out: Annotated[Path | None, typer.Option(help="Write each text to a file in this folder.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many processes read in parallel.")] = None,
) -> None:
    """Print the text of documents, or write it to files."""
    raise SystemExit(print_texts(documents, out, jobs))


def print_texts(names: list[str], out: Path | None, jobs: int | None) -> int:
    """Read documents and print or write their texts.

    Archives are read like folders. In folders, files without a reader are skipped and reported on stderr; a file that
    is named itself fails. With `out`, the largest documents are read first and each text is written as soon as it is
    ready; on stdout the texts come in the order of `names`.

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
    limits = make_reading_limits(ReadingSettings.current())
    skipped = Skipped()
    documents = find_documents(names, limits.max_mb << 20, skipped)
    with ExtractionPool(workers, limits) as pool:
        pool.start()  # while the folders are walked
        reader = DocumentReader(pool, process_folder(), limits.max_mb << 20)
        if out is None:
            statuses = [_print(name, reading) for name, reading in in_order(reader, documents, workers)]
        else:
            check_writable(out)
            statuses = _write_all(reader, documents, workers, out)
    if not statuses:
        echo(f"{', '.join(names)}: no document to read.", err=True)
    if skipped.count:
        echo(f"{skipped.count} skipped.", err=True)
    return max(statuses, default=0)


def _write_all(reader: "DocumentReader", documents: Iterable[DocumentToRead], workers: int, out: Path) -> list[int]:
    by_name: dict[str, DocumentToRead] = {}
    statuses: list[int] = []
    for document in documents:
        if by_name.setdefault(document.name, document).path != document.path:
            why = "another document has this name. Give the folder that both lie in."
            statuses.append(_report_failure(document.name, why))
    largest_first = sorted(by_name.values(), key=lambda document: -document.size)
    statuses.extend(_write(name, reading, out) for name, reading in as_read(reader, largest_first, workers))
    return statuses


def read_all(name: str) -> dict[str, Reading]:
    """The readings of a document, or of all documents in a folder or archive, by name and in order.

    Documents in a folder that cannot be read are reported on stderr.

    Raises:
        DiligenceError: nothing of it can be read; it says why.
    """
    limits = make_reading_limits(ReadingSettings.current())
    read: dict[str, Reading] = {}
    failures: dict[str, DiligenceError] = {}
    with ExtractionPool(processors(), limits) as pool:
        reader = DocumentReader(pool, process_folder(), limits.max_mb << 20)
        for document, reading in in_order(reader, find_documents([name], limits.max_mb << 20, Skipped()), processors()):
            try:
                read[document] = reading.result()
            except DiligenceError as error:
                failures[document] = error
    if read or len(failures) > 1:
        for document, failure in failures.items():
            echo(f"{document}: {failure.message}", err=True)
    if not read:
        raise next(iter(failures.values()), NotFound(f"{name} holds no document that can be read."))
    return read


def in_order(
    reader: "DocumentReader", documents: Iterable[DocumentToRead], workers: int
) -> Iterator[tuple[str, Future[Reading]]]:
    """The readings of these documents in the given order; `has_room` limits how many are under way."""
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
    """The readings of these documents as each is finished; `has_room` limits how many are under way."""
    under_way: dict[Future[Reading], DocumentToRead] = {}
    for document in documents:
        while not has_room(sum(other.size for other in under_way.values()), len(under_way), workers):
            for done, reading in take_finished(under_way, len(under_way) - 1):
                yield done.name, reading
        under_way[reader.begin(document)] = document
    for done, reading in take_finished(under_way):
        yield done.name, reading


def has_room(size: int, documents: int, workers: int) -> bool:
    """Whether to hand out another document: each process always gets a second one, and more while they are small."""
    return documents < 2 * workers or (documents < AHEAD * workers and size < AHEAD_BYTES * workers)


class DocumentReader:
    """Hands documents to the reader pool; those in archives are unpacked into `folder` while they are read."""

    def __init__(self, pool: ExtractionPool, folder: Path, max_bytes: int) -> None:
        self._pool = pool
        self._folder = folder
        self._max_bytes = max_bytes
        self._waiting = ThreadPoolExecutor(_SCANS_AT_ONCE, "scans")

    def begin(self, document: DocumentToRead) -> Future[Reading]:
        """Start reading a document; any failure is raised by the future."""
        try:
            if document.problem is not None:
                return _done(Unreadable(document.problem))
            if document.path is None:
                return _done(_from_drive(document.name))
            # A name that says nothing is no matter: the content may.
            extension = PurePath(document.name).suffix.lower()
            if document.member is None:
                path = Path(document.path)
                extension = _find_extension(document.path, document.name).lower()
                return self._with_scans(self._pool.submit(path, extension), path, extension)
            return self._unpack(document.path, document.member, extension)
        except DiligenceError as error:
            return _done(error)

    def _unpack(self, archive: str, member: Member, extension: str) -> Future[Reading]:
        path = self._folder / uuid4().hex
        try:
            with open_archives.using(*_plan_opening(archive, self._max_bytes)) as opened, path.open("xb") as file:
                opened.extract(member, file, self._max_bytes)
        except DiligenceError:
            path.unlink(missing_ok=True)
            raise
        except (ArchiveNotOpened, OSError) as error:
            path.unlink(missing_ok=True)
            why = error.strerror if isinstance(error, OSError) else error
            raise Unavailable(f"It cannot be unpacked ({why}).") from error
        reading = self._with_scans(self._pool.submit(path, extension), path, extension)
        reading.add_done_callback(lambda _: path.unlink(missing_ok=True))
        return reading

    def _with_scans(self, reading: Future[Reading], path: Path, extension: str) -> Future[Reading]:
        """The reading with its scanned pages, which other processes recognise while a thread waits for them."""
        whole: Future[Reading] = Future()

        def go_on(done: Future[Reading]) -> None:
            if (error := done.exception()) is not None:
                whole.set_exception(error)
            elif scanned_pages(done.result()):
                self._waiting.submit(recognise, done.result())
            else:
                whole.set_result(done.result())

        def recognise(found: Reading) -> None:
            try:
                whole.set_result(read_scans(found, path, extension).reading)
            except DiligenceError as error:
                whole.set_exception(error)

        reading.add_done_callback(go_on)
        return whole


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
        try:
            return Reading(document_text(document_id).text)
        except NotFound as error:
            raise NotFound(f"No file or folder has this path. Taken for a document's id: {error.message}") from None


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
        return _report_failure(name, f"its text cannot be written ({error.strerror}).")
    return 0


def _file_name(name: str) -> str:
    """The path for a document's text: its own path and ".txt", shortened if no file name may be that long.

    A number derived from the full name replaces what is cut.
    """
    folders, slash, last = name.rpartition("/")
    raw = os.fsencode(last)
    if len(raw) > _LONGEST_NAME:
        kept = raw[: _LONGEST_NAME - _DIGITS - 1].decode("utf-8", "ignore")
        last = f"{kept}~{sha256(raw).hexdigest()[:_DIGITS]}"
    return f"{folders}{slash}{last}.txt"


def _text(name: str, reading: Future[Reading]) -> bytes | None:
    """The text of a reading; its warnings, or the reason for its failure, go to stderr."""
    try:
        result = reading.result()
    except DiligenceError as error:
        _report_failure(name, error.message)
        return None
    for warning in result.warnings:
        echo(f"{name}: {warning}", err=True)
    return result.text.encode()


def _report_failure(name: str, why: str) -> int:
    echo(f"{name}: {why}", err=True)
    return 1

"""Documents inside documents: read after the text of their host, or named in its warnings.

A reader passes on what it finds unread. Whatever is wrong with one of them is a warning of the host, never its failure:
nobody asked for it.

Fallback readers are other libraries, for files that our own reader considers damaged. They see less, so the reading
gets a warning. Those for .docx, .pptx and .xlsx were removed: of 495 public documents ours refused three, and no
library read a word of these.
"""

import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from pathlib import Path, PurePath
from time import process_time
from typing import Final

from tasks.errors import (
    Damaged,
    DiligenceError,
    PasswordProtected,
    TookTooLong,
    TooLarge,
    Unavailable,
    Unreadable,
    UnsupportedFormat,
)
from tasks.language.normalise import clean, one_line
from tasks.reading import formats, limits
from tasks.reading.detect import detect_format, is_known
from tasks.reading.limits import machine_failure
from tasks.reading.ooxml import ole
from tasks.reading.text_writer import ATTACHMENT, FILE_DATES, NO_TEXT, SCANS, Attachment, Place, Reading, Source

MOST: Final = 100
"""Documents that are looked into for one host, those inside others included."""

DEEPEST: Final = 2
"""Levels that are read: what is embedded in the host, and what is embedded in that."""

MOST_CHARACTERS: Final = 20_000_000
"""Text that is added to one host's."""

SECONDS: Final = 8.0
"""After so much of the processor's time no other is opened: a host must not fail for what is inside it.

275 KB that unpack to 180 MB of empty paragraphs take 3 s, a PDF of 40,000 characters 0.05 s.
"""

_MOST_WRAPPINGS: Final = 4
_MOST_NAMES: Final = 20
_MOST_REMARKS: Final = 20
_LONGEST_NAME: Final = 120
MISNAMED: Final = "The file has the name of a {} file, but is a {} file: it was read as one."

_NOTHING: Final = Reading("")

Read = Callable[[bytes, str], Reading]


class EmbeddedOutcome(Enum):
    """The outcome of embedded documents, in the words of the warning."""

    READ = "Embedded, and read after the text: {}."
    EMPTY = "Embedded, without text: {}."
    UNSUPPORTED = "Embedded, in a format that no reader reads: {}."
    PROTECTED = "Embedded, but closed by a password: {}."
    DAMAGED = "Embedded, but damaged: {}."
    TOO_LARGE = "Embedded, but lost or too large to be read: {}."
    TOO_DEEP = "Embedded, but too deep inside to be read: {}."
    TOO_MANY = "Embedded, but not read after so much else: {}."


def read_with_embedded(source: Source | str, extension: str | None = None) -> Reading:
    """Read a document and what is embedded in it, in this process. The pool runs this in its own processes.

    The text of pages that are pictures is not included yet: `ocr.scans` has them recognised.

    Args:
        source: the path of its file, or its content.
        extension: that of its name (".pdf"); taken from the path when it is None. Content that is of another format
            is read as what it is, with a warning; so is content under a name that says nothing, or none.

    Raises:
        UnsupportedFormat, Unreadable, TooLarge: it cannot be read.
    """
    if isinstance(source, str):
        source = Path(source)
    if extension is None:
        extension = "" if isinstance(source, bytes) else source.suffix.lower()
    document_format = detect_format(source, extension)
    named = formats.find_format(f"a{extension}") if extension in formats.list_supported() else document_format
    try:
        reading = formats.reader(document_format)(source)
    except (Unreadable, TooLarge) as error:
        error.read_as = document_format if document_format != named else None
        raise
    if document_format != named:
        misnamed = MISNAMED.format(named, document_format)
        reading = replace(reading, warnings=[misnamed, *reading.warnings], read_as=document_format)
    reading = with_embedded(reading, lambda data, inner: formats.reader(inner)(data), formats.list_supported())
    if not reading.text.strip() and not reading.warnings:
        reading = replace(reading, warnings=[NO_TEXT])
    return reading


def with_embedded(host: Reading, read: Read, extensions: Collection[str], seconds: float = SECONDS) -> Reading:
    """The reading of a host with the texts of the documents found inside it, but without their bytes.

    Each begins a page with a line that gives its name, and is in a place `attachment` around its own places.

    Args:
        host: what its reader made of it.
        read: reads a document, given what is in it and its format.
        extensions: the formats that `read` takes.
        seconds: of the processor's time, after which no other is opened.
    """
    return _EmbeddedReader(read, extensions, process_time() + seconds).added(host, 1) if host.attachments else host


def embedded_document(path: Path, extension: str, digest: str) -> tuple[bytes, str]:
    """The document with that hash (SHA-256) inside the one at `path`, and its format. The host is read again.

    Raises:
        Unreadable: the host no longer holds that document.
    """
    found: list[tuple[bytes, str]] = []

    def read(data: bytes, inner: str) -> Reading:
        if sha256(data).hexdigest() == digest:
            found.append((data, inner))
        return formats.reader(inner)(data)

    with_embedded(formats.reader(detect_format(path, extension))(path), read, formats.list_supported())
    if not found:
        raise Unreadable("The document is not inside its host any more.")
    return found[0]


class _EmbeddedReader:
    """Reads everything inside one host, within limits for all of it together."""

    def __init__(self, read: Read, extensions: Collection[str], deadline: float) -> None:
        self._read = read
        self._extensions = extensions
        self._deadline = deadline
        self._known: dict[
            tuple[int, int], tuple[str, EmbeddedOutcome]
        ] = {}  # with its name, if a wrapping gives it another
        self._opened = 0
        self._characters = MOST_CHARACTERS

    def added(self, host: Reading, level: int) -> Reading:
        """`host` together with what is inside it, at this level of nesting."""
        pieces, places, length = [host.text], list(host.places), len(host.text)
        names_by_outcome: dict[EmbeddedOutcome, Counter[str]] = {outcome: Counter() for outcome in EmbeddedOutcome}
        remarks: list[str] = []
        pages = [host.pages]
        for attachment in host.attachments:
            name, outcome, reading = self._outcome(attachment, level)
            names_by_outcome[outcome][name] += 1
            pages.append(reading.pages)
            remarks.extend(f"{name}: {warning}" for warning in _without(reading.warnings, {NO_TEXT}))
            if reading.text:
                gap = "" if not length else "\f" if pieces[-1].endswith("\n") else "\n\f"
                title = f"Embedded document: {name}\n"
                start, at = length + len(gap), length + len(gap) + len(title)
                places.append(Place(start, at + len(reading.text), ATTACHMENT, name))
                places.extend(place._replace(start=place.start + at, end=place.end + at) for place in reading.places)
                pieces += [gap, title, reading.text]
                length = at + len(reading.text)
        if host.places and host.places[0].kind == FILE_DATES:  # what is inside is no newer
            places[0] = places[0]._replace(end=length)
        outcomes = [outcome.value.format(_list_names(names)) for outcome, names in names_by_outcome.items() if names]
        counted = [count for count in pages if count is not None]
        return Reading(
            "".join(pieces),
            places,
            [
                *_without(host.warnings, {NO_TEXT} if length else ()),
                *outcomes,
                *list(dict.fromkeys(remarks))[:_MOST_REMARKS],
            ],
            pages=sum(counted) if counted else None,
            read_as=host.read_as,
        )

    def _outcome(self, attachment: Attachment, level: int) -> tuple[str, EmbeddedOutcome, Reading]:
        """An attachment's name, its outcome, and what was read: nothing if the same was read before."""
        name, data = _file_name(attachment.name), attachment.data
        if data is None:
            return name, EmbeddedOutcome.TOO_LARGE, _NOTHING
        if level > DEEPEST:
            return name, EmbeddedOutcome.TOO_DEEP, _NOTHING
        content = _identity(data)
        if content in self._known:
            inner, outcome = self._known[content]
            return inner or name, outcome, _NOTHING
        if self._opened == MOST or process_time() >= self._deadline or limits.is_near():
            return name, EmbeddedOutcome.TOO_MANY, _NOTHING
        self._opened += 1
        inner, outcome, reading = self._open(name, data, level)
        self._known[content] = "" if inner == name else inner, outcome
        return inner, outcome, reading

    def _open(self, name: str, data: bytes, level: int) -> tuple[str, EmbeddedOutcome, Reading]:
        """The same for an attachment that is worth opening; the name is that of the file inside its wrapping."""
        try:
            name, inner = _unwrap(name, data)
            if inner is None:
                return name, EmbeddedOutcome.UNSUPPORTED, _NOTHING
            content = _identity(inner)
            if content in self._known:
                return name, self._known[content][1], _NOTHING
            reading = self._read_one(name, inner, level)
        except UnsupportedFormat:
            return name, EmbeddedOutcome.UNSUPPORTED, _NOTHING
        except PasswordProtected:
            return name, EmbeddedOutcome.PROTECTED, _NOTHING
        except (TooLarge, TookTooLong, MemoryError):
            return name, EmbeddedOutcome.TOO_LARGE, _NOTHING
        except Unavailable:  # somebody has ended the process that reads it
            raise
        except Exception as error:  # a hostile file may raise anything in a parser
            if machine_failure(error):
                raise
            return name, EmbeddedOutcome.DAMAGED, _NOTHING
        outcome = EmbeddedOutcome.READ if reading.text else EmbeddedOutcome.EMPTY
        self._known[content] = "", outcome
        return name, outcome, reading

    def _read_one(self, name: str, data: bytes, level: int) -> Reading:
        """The text of a document and of those inside it."""
        if data.startswith(ole.MAGIC) and ole.is_encrypted(data):
            data = ole.decrypt_package(data)
        extension = detect_format(data, PurePath(name).suffix.lower())
        if extension not in self._extensions:
            raise UnsupportedFormat("No reader reads it.")
        reading = self._read(data, extension)
        if any(place.kind in SCANS for place in reading.places):
            digest = sha256(data).hexdigest()
            named = [
                place._replace(label=f"{place.label} {digest}") if place.kind in SCANS else place
                for place in reading.places
            ]
            reading = replace(reading, places=named)
        if len(reading.text) > self._characters:
            raise TooLarge("Its text is more than is added to that of a host.")
        self._characters -= len(reading.text)
        return self.added(reading, level + 1)


def _without(warnings: Collection[str], others: Collection[str]) -> list[str]:
    return [warning for warning in warnings if warning not in others]


def _identity(data: bytes) -> tuple[int, int]:
    """A key that only equal documents share; Python's hash has a new key in each process and runs at 5 GB/s."""
    return len(data), hash(data)


def _unwrap(name: str, data: bytes) -> tuple[str, bytes | None]:
    """The file inside its compound files, with its own name; data is None if no reader could read it.

    An encrypted document is returned as it is.
    """
    inner: bytes | None = data
    for _ in range(_MOST_WRAPPINGS):
        if inner is None or not inner.startswith(ole.MAGIC):
            break
        outer = inner
        name, inner = ole.unpack_document(name, outer)
        if inner is outer:
            break
    name = _file_name(name)
    if inner is not None and PurePath(name).suffix.lower() == ".bin":
        name = PurePath(name).stem + (is_known(inner) or ".bin")
    return name, inner


def _file_name(path: str) -> str:
    """The last part of a path of any system, on one line and truncated if too long."""
    name = one_line(clean(path)).replace("\\", "/").rstrip("/ ").rpartition("/")[2].strip()
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME - 21]}…{name[-20:]}"
    return name or "a document without a name"


def _list_names(names: Counter[str]) -> str:
    shown = [name if count == 1 else f"{name} ({count} times)" for name, count in list(names.items())[:_MOST_NAMES]]
    return ", ".join(shown) + (f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else "")


PARTIAL: Final = (
    "The file is damaged: it was read by a second reader, which may leave out comments, text boxes and charts."
)
ZIP: Final = b"PK\x03\x04"
"""The bytes without which there is nothing of an Office file."""

_SECONDS: Final = 8.0
"""What a fallback reader may take: those that end at all are done in half a second."""


@dataclass(frozen=True)
class FallbackReader:
    """Another reader for a format.

    Attributes:
        read: reads a document, as the reader of the format does; it may raise anything.
        library: the module that it imports.
        signature: bytes without which it finds nothing in a file.
        seconds: what it may take.
    """

    read: Callable[[Source], Reading]
    library: str
    signature: bytes
    seconds: float = _SECONDS


def read_or_fall_back(read: Callable[[Source], Reading], other: FallbackReader, source: Source) -> Reading:
    """What `read` returns or, if it finds the file damaged, what `other` returns.

    Raises:
        DiligenceError: that of `read`, when `other` cannot read the file either.
        Unavailable: the process of `other` was ended from outside.
    """
    try:
        return read(source)
    except MemoryError:
        raise
    except Exception as failure:
        if isinstance(failure, DiligenceError) and not isinstance(failure, Damaged):
            raise
        if machine_failure(failure):
            raise
        try:
            reading = read_in_fork(other, source)
        except Unavailable:  # its process was ended from outside: that says nothing of the document
            raise
        except Exception:  # noqa: BLE001 - it may raise anything
            reading = Reading("")
        if reading.text:
            return Reading(reading.text, reading.places, [*reading.warnings, PARTIAL])
        raise


def open_source(source: Source) -> BytesIO | str:
    """A document in the form that those libraries take."""
    return BytesIO(source) if isinstance(source, bytes) else str(source)


def read_in_fork(other: FallbackReader, source: Source) -> Reading:
    """What `other` returns, in a separate process: those readers have no limits, and damaged files may never end.

    Raises:
        Damaged, TimeoutError, ChildProcessError, Unavailable: `other` returned nothing.
    """
    if other.signature not in (source if isinstance(source, bytes) else source.read_bytes()):
        raise Damaged("It has nothing of its format.")
    import_module(other.library)  # here, where it stays loaded, and not in a process that ends

    def pickled() -> bytes:
        warnings.simplefilter("ignore")
        return pickle.dumps(other.read(source))

    seconds = min(other.seconds, limits.seconds_left())
    reading: Reading = pickle.loads(limits.run_in_fork(pickled, seconds))  # noqa: S301 - our own
    return reading

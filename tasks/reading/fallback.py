"""Fallback readers: other libraries, for files that our own reader considers damaged.

They see less, so the reading gets a warning. Those for .docx, .pptx and .xlsx were removed: of 495 public documents
ours refused three, and no library read a word of these.
"""

import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import Final

from tasks.errors import Damaged, DiligenceError, Unavailable
from tasks.reading import limits
from tasks.reading.limits import machine_failure
from tasks.reading.text_writer import Reading, Source

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
        Damaged, TimeoutError, ChildProcessError, Unavailable: it gives nothing.
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

"""The reader that the pool runs here: the real one, with a record beside each file of how the reading went.

The record outlives a crash: what the interpreter was doing when a signal ended it, or when time ran
out, is written into it too.
"""

import faulthandler
import json
import re
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tasks.errors import DiligenceError
from tasks.reading import embedded
from tasks.reading.embedded import FallbackReader, read_with_embedded
from tasks.reading.text_writer import Reading, Source
from tests.fuzz.promises import broken

LIMIT_SECONDS: Final = 20
LIMIT_MB: Final = 1024
_HUNG: Final = LIMIT_SECONDS - 1
_OURS: Final = "/tasks/reading/"
_FRAME: Final = re.compile(r'File "([^"]+)", line (\d+) in (\w+)')

_read_or_fall_back: Final = embedded.read_or_fall_back
_stumbles: list[str] = []


def read(path: Path, extension: str) -> Reading:
    """Read the document and keep a record of it.

    Raises:
        Whatever the reader does.
    """
    embedded.read_or_fall_back = _listening
    _stumbles.clear()
    _forget_peak()
    began = time.perf_counter()
    ended: dict[str, Any] = {}
    with record_of(path).open("w") as record:
        faulthandler.enable(record)
        faulthandler.dump_traceback_later(_HUNG, file=record)
        try:
            reading = read_with_embedded(path, extension)
            ended = {"outcome": "text" if reading.text else "empty text", "wrong": sorted(set(broken(reading)))}
        except DiligenceError as error:
            ended = {"outcome": type(error).__name__}
            raise
        except BaseException as error:
            ended = {"outcome": "memory" if isinstance(error, MemoryError) else "unforeseen", "where": _where(error)}
            raise
        else:
            return reading
        finally:
            faulthandler.cancel_dump_traceback_later()
            faulthandler.disable()
            ended |= {"seconds": time.perf_counter() - began, "peak_mb": _peak_mb(), "stumbles": _stumbles}
            record.write("\n" + json.dumps(ended))


def record_of(path: Path) -> Path:
    """Where the record of a document's reading stands."""
    return path.with_name(path.name + ".record")


def recorded(path: Path) -> tuple[dict[str, Any] | None, str]:
    """How the reading of a document ended, None when its process was ended; and where it stood then."""
    try:
        lines = record_of(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return None, ""
    if lines and lines[-1].startswith("{"):
        return json.loads(lines[-1]), ""
    frames = [frame.groups() for line in lines if (frame := _FRAME.search(line))]
    return None, _named(frames)


def _listening(read: Callable[[Source], Reading], other: FallbackReader, source: Source) -> Reading:
    """A second reader hides what the first one stumbled over: note it."""

    def heard(source: Source) -> Reading:
        try:
            return read(source)
        except (DiligenceError, MemoryError):
            raise
        except Exception as error:
            _stumbles.append(_where(error))
            raise

    return _read_or_fall_back(heard, other, source)


def _where(error: BaseException) -> str:
    """The class of an exception and the innermost of our lines that it came through; none of its words."""
    frames = [(frame.filename, str(frame.lineno), frame.name) for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} {_named(frames[::-1])}"


def _named(frames: list[Any]) -> str:
    """The innermost frame, and the innermost one of ours: `in docx/reader.py:17 _read`."""
    ours = [frame for frame in frames if _OURS in frame[0]]
    names = [f"{file.rpartition(_OURS)[2] if _OURS in file else Path(file).name}:{line} {name}"
             for file, line, name in dict.fromkeys([*ours[:1], *frames[:1]])]  # fmt: skip
    return "in " + ", under it ".join(names) if names else ""


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # not Linux
        return


def _peak_mb() -> float:
    """The most memory that this process held since, in megabytes; 0 where that cannot be told."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024

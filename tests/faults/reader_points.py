"""The seams in a reading process. Its fork server loads this module beside the readers, before it forks.

What to do stands in the file that FAULTS_READERS names: each process looks there when it begins a document. The points
are counted over all processes, in the file beside it.
"""

import errno
import fcntl
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from tasks.reading.pool import process
from tasks.reading.text_writer import Writer
from tests.faults.faults import Fault, Kind, Plan

CONTROL = os.environ.get("FAULTS_READERS")
"""The file; beside it, with `.trace`, the points."""


class _State:
    plan: Plan | None = None
    extension = ""
    is_reading = False


def _reach(what: str) -> None:
    assert CONTROL is not None
    label = f"{what} {_State.extension}"
    line = f"{Kind.READER}\t{label}\n"
    handle = os.open(f"{CONTROL}.trace", os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        nth = os.pread(handle, 1 << 22, 0).decode().count(line) + 1
        os.write(handle, line.encode())
        plan = _State.plan
        if plan is None or (plan.label, plan.nth) != (label, nth):
            return
        os.write(handle, b"struck\n")
    finally:
        os.close(handle)
    if plan.fault is Fault.KILL:
        os.kill(os.getpid(), signal.SIGKILL)
    elif plan.fault is Fault.CLOCK:
        real = time.time
        time.time = lambda: real() + plan.step
    else:
        number = errno.ENOSPC if plan.fault is Fault.NO_SPACE else errno.EIO
        raise OSError(number, os.strerror(number))


def _install() -> None:
    run, line, opened = process.run, Writer.line, {"pending": False}

    def counted_run(read: Any, path: Path, extension: str, *, second_try: bool = False) -> Any:
        assert CONTROL is not None
        control = Path(CONTROL).read_text()
        _State.plan = Plan.from_json(control) if control else None
        _State.extension = "page" if extension.startswith("[") else extension

        def counted_read(path: Path, extension: str) -> Any:
            _State.is_reading = True
            try:
                _reach("begin")
                reading = read(path, extension)
                _reach("end")
                return reading
            finally:
                _State.is_reading = False

        return run(counted_read, path, extension, second_try=second_try)

    def counted_line(self: Writer, text: str = "") -> None:
        if _State.is_reading:
            _reach("line")
        line(self, text)

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "open" and _State.is_reading and not opened["pending"] and "/run/" in str(arguments[0]):
            opened["pending"] = True
            try:
                _reach("open")
            finally:
                opened["pending"] = False

    process.run = counted_run
    Writer.line = counted_line  # type: ignore[method-assign]
    sys.addaudithook(watch)


if CONTROL is not None:
    _install()

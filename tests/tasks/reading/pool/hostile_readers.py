"""Readers that misbehave as libraries do on hostile files; the pool runs them in its processes."""

import ctypes
import errno
import gc
import os
import signal
import time
from collections.abc import Callable
from functools import partialmethod
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tasks.errors import Damaged
from tasks.reading import limits
from tasks.reading.embedded import read_with_embedded
from tasks.reading.text_writer import Reading


def obedient(path: Path, extension: str) -> Reading:
    """Do what the document says, else read it."""
    match path.read_text().split():
        case ["hang"]:
            time.sleep(600)
        case ["hang-once" | "swell-once" as what] if not limits.is_second_try():
            if what == "swell-once":
                return Reading("x" * (4 << 30))
            time.sleep(600)
        case ["work"]:
            while True:
                pass
        case ["slow"]:
            time.sleep(1)
        case ["slow-to-go-on"]:
            time.sleep(0.5)
            Connection.send_bytes = partialmethod(  # type: ignore[method-assign, assignment]
                _send_and_wait, Connection.send_bytes
            )
            return Reading("x" * (1 << 20))  # too long to wait for others that are sent with it
        case ["hang-in-native-code"]:
            library = ctypes.PyDLL(None)  # holds the interpreter's lock
            library.sleep(600)
        case ["hang-without-signals"]:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            time.sleep(600)
        case ["crash"]:
            ctypes.string_at(0)
        case ["abort"]:
            os.abort()
        case ["exit"]:
            os._exit(0)
        case ["swell"]:
            return Reading("x" * (4 << 30))
        case ["stumble"]:
            raise ValueError("the secret words of the document")
        case ["unpicklable"]:
            raise Unpicklable(1, 2)
        case ["damaged"]:
            raise Damaged("The file is damaged.")
        case ["disk"]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        case ["disk-as-damage"]:
            raise Damaged("The file is damaged.") from OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        case ["print"]:
            os.write(1, b"noise on stdout\n")
            os.write(2, b"noise on stderr\n")
        case ["blocked"]:
            return Reading(
                " ".join(signal.Signals(number).name for number in signal.pthread_sigmask(signal.SIG_BLOCK, []))
            )
        case ["process"]:
            return Reading(str(os.getpid()))
        case ["garbage"]:
            return Reading(str(gc.isenabled()))
        case ["modules"]:
            import sys

            return Reading(" ".join(sorted(sys.modules)))
    return read_with_embedded(path, extension)


def _send_and_wait(connection: Any, send: Callable[..., None], *arguments: Any) -> None:
    """Send a message, and be kept from going on by the machine's other work."""
    send(connection, *arguments)
    time.sleep(0.5)


def killed_by(path: Path, _extension: str) -> Reading:
    """Have this process ended by the next of the signals in the document's first line, as by somebody else."""
    signals, _, words = path.read_text().partition("\n")
    number, _, others = signals.partition(" ")
    if number:
        path.write_text(f"{others}\n{words}")
        os.kill(os.getpid(), int(number))
        time.sleep(0.1)
    return Reading(words)


class Unpicklable(Exception):
    """Cannot be made again from its message, as lxml's errors."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first}{second}")


loaded: list[str] = []


def load_slowly() -> None:
    """Load longer than a document may take."""
    time.sleep(1)
    loaded.append("loaded")


def after_loading(_path: Path, _extension: str) -> Reading:
    """Say what was loaded before."""
    return Reading(" ".join(loaded))

"""A call in a process of its own: what hangs or crashes in native code there is ended, and the document goes on."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import Final

_PIECE: Final = 1 << 20


def made_apart(make: Callable[[], bytes], seconds: float) -> bytes:
    """What `make` gives in a fork of this process, which must have one thread only; 5 ms for 7 MB.

    Raises:
        TimeoutError: it takes longer than so many seconds.
        ChildProcessError: it raised something, or ended its process.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _send(make, writer)
    os.close(writer)
    try:
        made = b"".join(_received(reader, time.monotonic() + seconds))
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reader)
        _, status = os.waitpid(child, 0)
    if status:
        raise ChildProcessError
    return made


def _send(make: Callable[[], bytes], writer: int) -> None:
    """The child's life; nothing of what it has from its parent is closed or cleaned up."""
    status = 1
    try:
        with open(writer, "wb") as file:
            file.write(make())
        status = 0
    finally:
        os._exit(status)


def _received(reader: int, end: float) -> Iterator[bytes]:
    while True:
        if not select.select([reader], [], [], max(0, end - time.monotonic()))[0]:
            raise TimeoutError
        piece = os.read(reader, _PIECE)
        if not piece:
            return
        yield piece

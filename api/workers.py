"""Several processes that serve on one socket (`serve --workers N`): what they share, and who supervises them.

Each is a fresh interpreter that opens the application itself. They share a folder for the lifetime of the service: it
holds the callers' counts, for the rate limit, and each process's figures, for `/metrics`.

Ten times a second, at each tick of its server, a process shows that its event loop runs. One that shows nothing for
`HUNG_SECONDS` is killed and replaced, even if it has accepted connections.

uvicorn's own supervisor (0.54) is not used: while it waits for a process that starts or hangs it hears no signal, so
Ctrl-C takes as long as that wait.

The service ends (SIGTERM, Ctrl-C) without losing a request, so that services can be restarted one by one. First it
refuses new connections and accepts those that have arrived; its answers ask clients to close; then running requests get
`DILIGENCE_SHUTDOWN_TIMEOUT`. uvicorn alone closes its socket with connections in the queue, which are then reset, as
are connections that it has accepted but not yet heard from.
"""

import asyncio
import ctypes
import logging
import os
import shutil
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from socket import SOL_SOCKET, socket
from typing import Any, Final

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from storage.database import absolute_paths
from tasks import child_process  # noqa: F401 - how the processes start
from tasks.errors import Unavailable
from tasks.files import process_folder

ENDING: Final = "ending"
"""In the application's state: the service takes no more requests."""
_ACCEPT_SECONDS: Final = 0.3
"""In which connections that were made are accepted, and their requests come in."""

# Classic BPF on the TCP header: drop a packet that opens a connection (SYN without ACK), keep others. A client whose
# packet was dropped sends it again after a second, to a closed port. See Documentation/networking/filter.rst of Linux.
_ATTACH_FILTER: Final = 26  # SO_ATTACH_FILTER, which Python does not name
_NO_NEW_ONES: Final = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (0x30, 0, 0, 13),  # the byte with the flags
        (0x54, 0, 0, 0x12),  # SYN and ACK of it
        (0x15, 0, 1, 0x02),  # SYN alone?
        (0x06, 0, 0, 0),  # drop
        (0x06, 0, 0, 0xFFFFFFFF),  # keep
    )
)


class GracefulServer(uvicorn.Server):
    """uvicorn's server, but it ends without losing a request."""

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """As uvicorn's, once the connections that have already been made are accepted."""
        app: Any = self.config.loaded_app
        app.state[ENDING] = True
        for listening in sockets or [one for server in self.servers for one in server.sockets]:
            _refuse_new_ones(listening.fileno())
        await asyncio.sleep(_ACCEPT_SECONDS)
        await super().shutdown(sockets)


def _refuse_new_ones(listening: int) -> None:
    program = ctypes.create_string_buffer(_NO_NEW_ONES, len(_NO_NEW_ONES))
    pointer = struct.pack("HP", len(_NO_NEW_ONES) // 8, ctypes.addressof(program))
    with suppress(OSError), socket(fileno=os.dup(listening)) as copy:  # Linux alone has these filters
        copy.setsockopt(SOL_SOCKET, _ATTACH_FILTER, pointer)


logger = logging.getLogger(__name__)

_STOPS: Final = (signal.SIGINT, signal.SIGTERM)
_LOOK: Final = 0.5
HUNG_SECONDS: Final = 60.0
"""Without a sign of life, on a machine that is busy too."""
_START_SECONDS: Final = 300.0
"""Before the first one."""
_PAUSE: Final = 1.0
"""Seconds between a process's beginning and that of its replacement, at least."""
_GRACE: Final = 5.0
"""Seconds beyond those for running requests after which a process that was told to stop is killed."""


@dataclass(frozen=True)
class Workers:
    """What the processes of a service know of each other: their `number` and their shared `folder`."""

    number: int
    folder: Path


def serve_with(workers: int, configure: Callable[[Workers], uvicorn.Config]) -> None:
    """Serve with that many processes until this one is told to stop (SIGINT, SIGTERM).

    `configure` returns the configuration of each of them; it must be picklable.

    Raises:
        SystemExit: the address is not available, as uvicorn says it.
        Unavailable: the processes do not start.
    """
    os.environ |= absolute_paths()  # the processes have another current folder
    config = configure(Workers(workers, process_folder()))
    listening = config.bind_socket()
    try:
        _Supervisor(config, listening).run()
    finally:
        listening.close()


class _Supervisor:
    """Starts the processes, replaces those that die, and ends them."""

    def __init__(self, config: uvicorn.Config, listening: socket) -> None:
        self._config = config
        self._listening = listening
        self._stopping = False
        self._processes: dict[SpawnProcess, _Life] = {}

    def run(self) -> None:
        before = {number: signal.signal(number, self._stop) for number in _STOPS}
        try:
            self._look_after()
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, *_: object) -> None:
        """Close the socket at once, or connections would wait in its queue for a process that accepts them."""
        self._stopping = True
        self._listening.close()
        for process in list(self._processes):
            process.terminate()

    def _look_after(self) -> None:
        while not self._stopping:
            if len(self._processes) < self._config.workers:
                with _block_signals():  # a process that starts hears that it is to end once it is known here
                    self._start()
                continue
            wait([process.sentinel for process in self._processes], _LOOK)
            for process, life in self._processes.items():
                if process.is_alive() and life.has_ended():
                    logger.warning("A process of the service does not answer. It is ended.")
                    process.kill()
                    process.join()
            for process in [process for process in self._processes if not process.is_alive()]:
                began = self._processes.pop(process).began
                if self._stopping:
                    return
                if process.exitcode == STARTUP_FAILURE:
                    raise Unavailable("The processes of the service do not start; the log says why.")
                logger.warning("A process of the service ended (status %s). Another takes its place.", process.exitcode)
                time.sleep(max(0.0, began + _PAUSE - time.monotonic()))

    def _start(self) -> None:
        life = _Life()
        process = get_context("spawn").Process(target=_serve, args=(self._config, self._listening, life.ticks))
        process.start()  # with the signals blocked until it has its own handlers
        self._processes[process] = life

    def _end(self) -> None:
        for process in self._processes:
            process.terminate()
        end = time.monotonic() + (self._config.timeout_graceful_shutdown or 0) + _GRACE
        for process in self._processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


class _Life:
    """What is known about a process: when it began, and its ticks."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.ticks = get_context("spawn").RawValue("Q", 0)
        self._seen = 0
        self._silent = 0.0
        self._looked_at = self.began

    def has_ended(self) -> bool:
        """Whether it has shown no sign of life for too long; asked every `_LOOK` seconds.

        Time in which nobody asked does not count: whoever suspends this process suspends the others with it.
        """
        now, ticks = time.monotonic(), self.ticks.value
        self._silent = 0.0 if ticks != self._seen else self._silent + min(now - self._looked_at, 2 * _LOOK)
        self._seen, self._looked_at = ticks, now
        return self._silent > (HUNG_SECONDS if ticks else _START_SECONDS)


class _Server(GracefulServer):
    """Counts its ticks for the supervisor."""

    def __init__(self, config: uvicorn.Config, ticks: Any) -> None:
        super().__init__(config)
        self._ticks = ticks

    async def on_tick(self, counter: int) -> bool:
        self._ticks.value += 1
        return await super().on_tick(counter)


@contextmanager
def _block_signals() -> Iterator[None]:
    """Delay the signals that stop the service until the block has ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(config: uvicorn.Config, listening: socket, ticks: Any) -> None:
    """Serve in this process, which was started for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the supervisor's SIGTERM comes too
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    config.configure_logging()
    _Server(config, ticks).run([listening])


def end_with_parent(folder: Path) -> None:
    """Stop this process when its supervisor was killed, and delete the folder that they shared."""
    parent = parent_process()

    def follow() -> None:
        assert parent is not None
        parent.join()
        shutil.rmtree(folder, ignore_errors=True)
        os.kill(os.getpid(), signal.SIGTERM)

    if parent is not None:
        threading.Thread(target=follow, name="parent", daemon=True).start()

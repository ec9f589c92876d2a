"""Runs of the command in processes that are forked off a warm one: what takes 4 s to import is imported once.

The warm process is made before the driver has any thread, and has none itself. What it forks becomes the command
`diligence run`: an environment of its own, the seams installed, its end as that of any program.
"""

import atexit
import faulthandler
import gc
import importlib
import json
import os
import signal
import sys
import tempfile
import threading
import traceback
import weakref
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from multiprocessing import forkserver
from pathlib import Path
from typing import Any, Final, NoReturn

from tasks.companies.profile import registrable
from tasks.figures.figure import taxonomy
from tasks.reports.html import environment
from tests.faults.faults import Plan
from tests.faults.points import Points, install

_WARM = (
    "deployments.run", "flows.batch", "googleapiclient.discovery_cache", "httpcore2", "multiprocessing.sharedctypes",
    "numpy.ma", "openai.resources.responses", "rich.status", "tasks.ai.openai.answerer",
    "tasks.companies.sources.profile_api", "tasks.documents.drive.google.drive", "tasks.documents.drive.local",
)  # fmt: skip
"""What a run imports."""
STACKS: Final = signal.SIGUSR2
"""On this signal a run writes to stderr where each of its threads stands."""


@dataclass(frozen=True)
class Command:
    """A run of a batch: its files, its environment, and what is to happen to it.

    `folder` is all that it may write to; in `trace` it notes the points that it comes by. `prefect` is the address of a
    server and its secret; without one the run goes on as where Prefect's server does not start. With `own_readers` it
    starts the readers' fork server itself, else it uses one that is warm.
    """

    batch: str
    out: str
    folder: str
    trace: str
    environment: dict[str, str]
    plan: str | None = None
    prefect: tuple[str, str] | None = None
    own_readers: bool = False


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit status, or the signal as a negative number; and the processor time, in seconds."""

    status: int
    seconds: float


class WarmProcess:
    """The process that runs are forked off. Make it before any thread is started."""

    def __init__(self, control: Path) -> None:
        """`control` is the file that tells reading processes what to do."""
        assert threading.active_count() == 1, "a fork copies the locks of other threads, not the threads"
        ours, theirs = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _close(ours[1], theirs[0])
            _serve(ours[0], theirs[1], control)
        _close(ours[0], theirs[1])
        self._commands = os.fdopen(ours[1], "w")
        self._answers = os.fdopen(theirs[0])
        self.readers: int = self._answer()["readers"]
        """The process id of the warm fork server of the readers."""

    def begin(self, command: Command) -> int:
        """Start a run; gives its process id."""
        self._commands.write(json.dumps(asdict(command)) + "\n")
        self._commands.flush()
        return int(self._answer()["pid"])

    def end(self) -> Ended:
        """Wait for the run to end."""
        return Ended(**self._answer())

    def close(self) -> None:
        self._commands.close()
        os.waitpid(self.pid, 0)
        self._answers.close()

    def _answer(self) -> Any:
        line = self._answers.readline()
        if not line:
            raise RuntimeError("the warm process has ended")
        return json.loads(line)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _serve(commands: int, answers: int, control: Path) -> NoReturn:
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
            finalizer.detach()  # the driver's folders are the driver's to remove
        os.environ["FAULTS_READERS"] = str(control)
        for name in _WARM:
            importlib.import_module(name)
        readers = _warm_readers()
        _warm_caches()
        gc.freeze()
        with os.fdopen(commands) as wanted, os.fdopen(answers, "w") as told:
            print(json.dumps({"readers": readers}), file=told, flush=True)
            for line in wanted:
                pid = os.fork()
                if pid == 0:
                    _close(wanted.fileno(), told.fileno())
                    _become(Command(**json.loads(line)), readers)
                print(json.dumps({"pid": pid}), file=told, flush=True)
                _, ended, used = os.wait4(pid, 0)
                seconds = used.ru_utime + used.ru_stime
                print(json.dumps(asdict(Ended(os.waitstatus_to_exitcode(ended), seconds))), file=told, flush=True)
        status = 0
    finally:
        if status:
            traceback.print_exc()
        atexit._run_exitfuncs()
        os._exit(status)


def _find_server() -> forkserver.ForkServer:
    """The server that forks the processes in which a run's documents are read."""
    from tasks.documents.kinds.signs import read_with_signs
    from tasks.reading.pool.process import fork_server, list_reader_modules

    return fork_server(*list_reader_modules(), read_with_signs.__module__)


def _warm_readers() -> int:
    add_seams_to_readers()
    server = _find_server()
    server.ensure_running()
    return int(server._forkserver_pid)  # type: ignore[attr-defined]


def _warm_caches() -> None:
    """Do what every run does once, and what no fault can touch: lists are parsed, templates compiled."""
    registrable("alpha.example")
    taxonomy()
    for name in environment().list_templates():
        environment().get_template(name)


def add_seams_to_readers() -> None:
    """Have every fork server load the seams beside the readers, and be told where these are steered from."""
    from tasks import child_process

    child_process._GROUPS = (*child_process._GROUPS, "FAULTS_")  # type: ignore[misc, assignment]
    preload = forkserver.ForkServer.set_forkserver_preload

    def with_seams(self: forkserver.ForkServer, modules: list[str]) -> None:
        preload(self, [*modules, "tests.faults.reader_points"])

    forkserver.ForkServer.set_forkserver_preload = with_seams  # type: ignore[method-assign, assignment]


def _become(command: Command, readers: int) -> NoReturn:
    """This process is the command from here on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(command.folder)
    os.environ.clear()
    os.environ.update(command.environment)
    os.chdir(folder)
    tempfile.tempdir = None
    for number, name in ((1, "stdout"), (2, "stderr")):
        handle = os.open(f"{command.trace}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    faulthandler.register(STACKS)
    status = 70
    try:
        status = _run(command, readers)
    except BaseException:  # noqa: BLE001 - whatever it is, it is printed, as Python does
        traceback.print_exc()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _run(command: Command, readers: int) -> int:
    from multiprocessing import util

    from deployments import cli
    from tasks.reading.pool import process

    util._finalizer_registry.clear()  # type: ignore[attr-defined]  # those of the warm process are its own business
    from multiprocessing import process as processes

    processes.current_process()._config.pop("tempdir", None)  # type: ignore[attr-defined]
    if command.own_readers:
        process.fork_server.cache_clear()
    else:
        _find_server().ensure_running = lambda: None  # type: ignore[method-assign]
    plan = Plan.from_json(command.plan) if command.plan else None
    install(Points(Path(command.trace), plan), Path(command.environment["DILIGENCE_HOME"]).parent)
    with ExitStack() as stack:
        _choose_prefect(command, stack)
        sys.argv = ["diligence", "run", command.batch, "--out", command.out]
        try:
            cli.main()
        except SystemExit as ended:
            return int(ended.code or 0)
    return 0


def _choose_prefect(command: Command, stack: ExitStack) -> None:
    from flows import prefect_server
    from tasks.errors import Unavailable

    if command.prefect is None:

        def refuse() -> None:
            raise Unavailable("Prefect's server did not start: it is left out.")

        prefect_server.starting = refuse  # type: ignore[assignment]
        return
    from prefect import settings

    address, secret = command.prefect
    os.environ["PREFECT_API_URL"] = address
    values = {settings.PREFECT_API_URL: address, settings.PREFECT_API_AUTH_STRING: secret}
    stack.enter_context(settings.temporary_settings(values))

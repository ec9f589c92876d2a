"""One run of several processes: companies an hour where a model takes seconds, and what a helper costs.

python -m tests.benchmarks.shared_runs [processes|helpers] [COUNT ...]

`processes` are those of one machine on SQLite (`diligence run --processes N`). `helpers` are a leader and helpers with
homes of their own, as on other machines, on PostgreSQL and a Prefect server that stays. The model takes 3 s for each
answer, as many at a time as it is asked, and counts who asks: each helper has a key of its own.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import httpx
from sqlalchemy import create_engine, text

from tests.benchmarks.batches import room_of, write_batch
from tests.homes import make_prefect_home
from tests.servers.database_server import DatabaseServer
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, saying
from tests.waiting import free_port, wait_for

_COMPANIES, _DOCUMENTS, _CRITERIA, _SECONDS = 100, 16, 16, 3.0
_TARGETS: Final = {2: "1.8 ×", 4: "3.4 ×"}
_VERDICT = json.dumps({"found": True, "score": 4, "reason": "It is said.", "quotes": []})
_PLAN = json.dumps({"wordings": ["revenue"]})
_PR_SET_CHILD_SUBREAPER: Final = 36
"""prctl(2): readers' fork servers outlive a run by a moment, and are waited for here."""


@dataclass(slots=True)
class Shared:
    """A run of `count` processes: times in seconds, judgements by key, and processor seconds.

    `asking` is the time from the model's first request to its last answer; `prefect` are processor seconds of a server
    that stays, `own` those of the leader and of each helper without readers' fork servers.
    """

    count: int
    wall: float = 0.0
    asking: float = 0.0
    processor: float = 0.0
    prefect: float = 0.0
    judged: Counter[str] = field(default_factory=Counter)
    own: list[float] = field(default_factory=list)


class _Model(ModelServer):
    def __init__(self) -> None:
        super().__init__()
        self.judged: Counter[str] = Counter()
        self.first = self.last = 0.0
        self.always(self._answer)

    def _answer(self, request: ModelRequest) -> ModelResponse:
        now = time.perf_counter()
        self.first, self.last = self.first or now, now + _SECONDS
        if not request.asks_for_plan:
            self.judged[request.headers["authorization"].rpartition(" ")[2]] += 1
        return replace(saying(_PLAN if request.asks_for_plan else _VERDICT)(request), delay=_SECONDS)


def rows(kind: str, counts: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target): one for each count, each beside the first."""
    one = None
    for number in counts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            batch = _write_batch(Path(name))
            shared = (_run_processes if kind == "processes" else _run_helpers)(batch, number)
        one = one or shared
        yield f"{number} {kind}", _in_words(shared, one), _TARGETS.get(number, "")


def _in_words(shared: Shared, one: Shared) -> str:
    shares = ", ".join(f"{calls / _CRITERIA:.0f}" for _, calls in sorted(shared.judged.items()))
    told = (
        f"{3600 * _COMPANIES / shared.wall:,.0f} companies an hour ({one.wall / shared.wall:.2f} ×), "
        f"asking alone {one.asking / shared.asking:.2f} ×; {shared.wall:.0f} s, {shared.asking:.0f} s; "
        f"{shared.processor / _COMPANIES:.2f} processor s a company ({shared.processor / one.processor:.2f} ×)"
    )
    if shared.prefect:
        own = ", ".join(f"{seconds:.1f}" for seconds in shared.own)
        told += f"; companies by process {shares}, their processor seconds {own}"
        told += f"; Prefect's server {shared.prefect / _COMPANIES:.2f} s a company"
    return told


def _write_batch(folder: Path) -> Path:
    for number in range(_COMPANIES):
        room = room_of(folder, number)
        for document in range(_DOCUMENTS):
            (room / f"{document}.txt").write_text(
                f"The revenue of company {number} was {document} million euros.\n" * 20
            )
    asked = [f'id: q{number}, ask: "Is revenue source {number} secure?"' for number in range(_CRITERIA)]
    return write_batch(folder, "Shared", _COMPANIES, asked)


def _environment(model: ModelServer, home: Path, key: str) -> dict[str, str]:
    foreign = ("DILIGENCE_", "OPENAI_", "PREFECT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)} | {
        "DILIGENCE_HOME": str(make_prefect_home(home)),
        "DILIGENCE_EMBEDDINGS": "off",
        "DILIGENCE_AI_MODEL": "a-model",
        "DILIGENCE_AI_PROBE": "off",
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": model.url,
    }


def _run_processes(batch: Path, count: int) -> Shared:
    with _Model() as model:
        environment = _environment(model, batch.parent / "home", "leader")
        return _timed(model, count, lambda: [_start(_lead(batch, count), environment)])


def _run_helpers(batch: Path, count: int) -> Shared:
    with ExitStack() as stack:
        model, database = stack.enter_context(_Model()), stack.enter_context(DatabaseServer())
        server = stack.enter_context(_prefect_server(batch.parent / "server"))
        shared_parts = {"DILIGENCE_DATABASE_URL": database.url(), "PREFECT_API_URL": server.url}

        def environment(name: str) -> dict[str, str]:
            return _environment(model, batch.parent / name, name) | shared_parts

        migrate = [sys.executable, "-m", "deployments.cli", "migrate"]
        subprocess.run(migrate, env=environment("leader"), check=True, capture_output=True)

        def start() -> list[subprocess.Popen[bytes]]:
            leader = _start(_lead(batch, 1), environment("leader"))
            run = wait_for(lambda: _run_id(database.url()))
            helper = [sys.executable, "-P", "-m", "flows.help_run", run, "0"]
            paths = {"PYTHONPATH": str(Path(__file__).parents[2])}
            return [leader, *(_start(helper, environment(f"machine{n}") | paths) for n in range(1, count))]

        before = server.seconds()
        shared = _timed(model, count, start)
        shared.prefect = server.seconds() - before
        return shared


@dataclass(frozen=True, slots=True)
class _Server:
    url: str
    process: "subprocess.Popen[bytes]"

    def seconds(self) -> float:
        """Processor seconds so far, with those of its own processes."""
        pids, ticks = [self.process.pid], 0
        for pid in pids:  # which grows by the children of each
            with suppress(OSError):  # it has ended
                task = Path(f"/proc/{pid}/task/{pid}/children")
                pids += [int(child) for child in task.read_text().split()]
                ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def _prefect_server(home: Path) -> Iterator[_Server]:
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= {"PREFECT_HOME": str(make_prefect_home(home) / "prefect"), "DO_NOT_TRACK": "1"}
    words = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port), "--no-ui"]
    with _start(words, environment) as process:
        server = _Server(f"http://127.0.0.1:{port}/api", process)
        try:
            wait_for(lambda: _answers(f"{server.url}/health"))
            yield server
        finally:
            process.send_signal(signal.SIGTERM)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=10).is_success
    except httpx.HTTPError:
        return False


def _lead(batch: Path, processes: int) -> list[str]:
    words = ["run", str(batch), "--out", str(batch.parent / "report"), "--processes", str(processes)]
    return [sys.executable, "-m", "deployments.cli", *words]


def _run_id(url: str) -> str | None:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return connection.execute(text("SELECT id FROM runs")).scalar_one_or_none()
    finally:
        engine.dispose()


def _start(command: Sequence[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _timed(model: _Model, count: int, start: "Callable[[], list[subprocess.Popen[bytes]]]") -> Shared:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    begun = time.perf_counter()
    running, shared = start(), Shared(count)
    waited = {}
    for process in running:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        waited[process.pid] = used.ru_utime + used.ru_stime
        if process.returncode:
            assert process.stderr is not None
            raise RuntimeError(process.stderr.read().decode(errors="replace")[:20000])
        shared.wall = shared.wall or time.perf_counter() - begun
    shared.own = list(waited.values())
    shared.processor = sum(shared.own) + _orphans()
    shared.asking, shared.judged = model.last - model.first, model.judged
    return shared


def _orphans() -> float:
    """Processor seconds of children of this process that have ended and that nobody waited for."""
    seconds = 0.0
    time.sleep(3)  # they notice within moments that their parent has gone
    while True:
        try:
            pid, _, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return seconds
        if pid == 0:
            return seconds
        seconds += used.ru_utime + used.ru_stime


def main(words: list[str]) -> None:
    """Measure one kind, or both, with these counts or 1, 2 and 4."""
    for kind in words[:1] or ("processes", "helpers"):
        for what, figure, _ in rows(kind, [int(word) for word in words[1:]] or (1, 2, 4)):
            print(what, figure, sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

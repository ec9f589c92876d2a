"""A run of two processes that something happens to: it ends as one that nothing happened to, and tells what it cost.

Each seed is a disturbance (`Disturbance`, in turn), a moment (how many answers the model has given by then), and a kind
of database, where the disturbance leaves the choice.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple

import pytest
from sqlalchemy import create_engine, text

from storage import database as storage_database
from tests.faults.comparison import report_differences, report_of
from tests.flows.conftest import write_room
from tests.homes import make_home
from tests.servers.database_server import DatabaseServer
from tests.servers.machine import IS_POSSIBLE, Machine
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer
from tests.servers.prefect_proxy import Fault, PrefectProxy
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

COMPANIES, JUDGED = 6, 2
CAP = 500_000  # tokens: enough for all calls and for what lost ones hold
REPOSITORY = Path(__file__).parents[2]
LETTER = "Ninety percent of the revenue of {} is recurring."
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
SEEDS = [pytest.param(seed, marks=pytest.mark.nightly if seed > 0 else ()) for seed in range(30)]


class Disturbance(StrEnum):
    HELPER_KILLED = "a helper is killed"
    LEADER_KILLED = "the leader is killed"
    CONNECTIONS_CUT = "all connections to the database are cut"
    POWER_LOST = "the helper's machine loses its power"
    DATABASE_RESTARTED = "the database crashes and is there again after a second"
    DATABASE_GONE = "the database is gone for longer than the run waits"
    PREFECT_RESTARTED = "Prefect's server is gone for five seconds"
    PREFECT_GONE = "Prefect's server is gone for good"
    NETWORK_CUT = "the helper's machine has no network for ten seconds"
    NETWORK_GONE = "the helper's machine has no network for longer than PostgreSQL keeps its locks"


ON_SQLITE_TOO = {
    Disturbance.HELPER_KILLED,
    Disturbance.LEADER_KILLED,
    Disturbance.PREFECT_RESTARTED,
    Disturbance.PREFECT_GONE,
}
ELSEWHERE = {Disturbance.POWER_LOST, Disturbance.NETWORK_CUT, Disturbance.NETWORK_GONE}
"""Those for which the helper is on another machine."""


class Model(ModelServer):
    """A model that answers nobody until two processes ask; `billed` counts its judgements by their prompts."""

    def __init__(self, processes: int, host: str = "127.0.0.1") -> None:
        super().__init__(says=judge, host=host)
        self._processes, self._asked = processes, 0
        self.is_open = Event()
        self.billed: Counter[str] = Counter()
        self._billing = Lock()

    def reply(self, request: ModelRequest, has_left: Callable[[], bool]) -> ModelResponse:
        with self._billing:
            self._asked += 1
        if self._asked > JUDGED * (self._processes - 1):
            self.is_open.set()
        self.is_open.wait(400)
        time.sleep(0.3)
        with self._billing:
            self.billed[request.prompt] += 1
        return super().reply(request, has_left)


def judge(request: ModelRequest) -> str:
    words = next(line for line in request.prompt.splitlines() if line.startswith("Ninety percent"))
    quotes = [{"source": 1, "text": words, "stance": "for"}]
    return json.dumps({"found": True, "score": 4, "reason": "It says so [1].", "quotes": quotes})


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A batch whose companies are judged by a model."""
    folder = tmp_path_factory.mktemp("screen")
    names = [f"C{number}" for number in range(COMPANIES)]
    for name in names:
        write_room(folder / "rooms" / name, {"letter.txt": LETTER.format(name)})
    (folder / "criteria.yaml").write_text(
        "scale: [0, 5]\ncriteria:\n"
        + "".join(f'  - {{id: c{n}, ask: "Is revenue recurring, view {n}?"}}\n' for n in range(JUDGED))
    )
    companies = "".join(f"  - {{name: {name}, domain: {name.lower()}.example, folder: {name}}}\n" for name in names)
    (folder / "batch.yaml").write_text(
        "name: Killed\ncriteria: criteria.yaml\ndrive_root: rooms\nai_search_plan: false\ncompanies_at_once: 1\n"
        f"ai_budget: {CAP} tokens\ncompanies:\n{companies}"
    )
    return folder / "batch.yaml"


class Told(NamedTuple):
    """What the database tells of the run: `unknown` are calls whose answers are not known."""

    run: str
    calls: int
    tokens: int
    unknown: int
    is_reported: bool


class Place:
    """Where a run lives: its home and database, its report, its environment."""

    def __init__(self, folder: Path, screen: Path, model: Model, prefect: dict[str, str], database: str | None) -> None:
        home = make_home(folder / "home")
        foreign = ("DILIGENCE_", "OPENAI_", "PREFECT_API")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(foreign) and not name.lower().endswith("_proxy")
        }
        self.environment = (
            kept
            | prefect
            | {
                "DILIGENCE_HOME": str(home),
                "DILIGENCE_FACT_SOURCES": "files",
                "DILIGENCE_EMBEDDINGS": "off",
                "DILIGENCE_AI_PROBE": "off",
                "DILIGENCE_AI_MODEL": "a-model",
                "OPENAI_BASE_URL": model.url,
                "OPENAI_API_KEY": "a-key",
                "PYTHONPATH": str(REPOSITORY),
            }
        )
        self.url = database or f"sqlite:///{home / 'diligence.db'}"
        if database:
            self.environment["DILIGENCE_DATABASE_URL"] = database
        self.out = folder / "out"
        self._command = [sys.executable, "-m", "deployments.cli", "run", str(screen), "--out", str(self.out)]

    def start(self, processes: int) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*self._command, "--processes", str(processes)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tell(self) -> Told | None:
        engine = create_engine(self.url)
        try:
            with engine.connect() as connection:
                told = "SELECT id, calls, input_tokens + output_tokens AS tokens, reported_at FROM runs"
                row = connection.execute(text(told)).one_or_none()
                unknown = connection.execute(text("SELECT count(*) FROM unanswered_calls")).scalar_one()
        finally:
            engine.dispose()
        return None if row is None else Told(row.id, row.calls, row.tokens, unknown, row.reported_at is not None)


@pytest.fixture(scope="module")
def prefect(prefect_server: None) -> dict[str, str]:
    """How a command reaches the tests' Prefect server."""
    from prefect import settings

    return {
        "PREFECT_API_URL": str(settings.PREFECT_API_URL.value()),
        "PREFECT_API_AUTH_STRING": str(settings.PREFECT_API_AUTH_STRING.value()),
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, screen: Path, prefect: dict[str, str]) -> dict[str, Any]:
    """The report of a run of one process."""
    with Model(1) as model:
        place = Place(tmp_path_factory.mktemp("undisturbed"), screen, model, prefect, None)
        process = place.start(1)
        errors = process.communicate(timeout=600)[1]
        assert process.returncode == 0, errors
        assert model.billed.total() == COMPANIES * JUDGED
    return report_of(place.out)


@pytest.fixture(scope="module")
def server() -> Iterator[DatabaseServer]:
    with DatabaseServer() as server:
        yield server


@pytest.fixture
def server_database(server: DatabaseServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a database of the test's own in the PostgreSQL server."""
    name = f"killed_{request.node.callspec.params['seed']}"
    server.run(f"CREATE DATABASE {name}")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", server.url(name))
        storage_database.migrate()
        storage_database.close()
    yield name
    server.run(f"DROP DATABASE {name} WITH (FORCE)")


def helpers_of(pid: int) -> list[int]:
    """The helpers of a process: forks of its fork."""
    return [helper for fork in _forks(pid) for helper in _forks(fork)]


def _forks(pid: int) -> list[int]:
    with suppress(OSError):  # it has ended
        children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return [child for child in children if _command(child) == _command(pid)]
    return []


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@dataclass
class Run:
    """A run of two processes, and what can happen to it."""

    place: Place
    server: DatabaseServer
    database: str
    folder: Path
    machine: Machine | None = None
    proxy: PrefectProxy | None = None
    is_prefect_gone: Event = field(default_factory=Event)

    def start(self) -> None:
        self.leader = self.place.start(2 if self.machine is None else 1)
        if self.machine is None:
            wait_for(lambda: helpers_of(self.leader.pid) or self.leader.poll() is not None)
            assert self.leader.poll() is None, self.leader.communicate()[1]
            (self.helper,) = helpers_of(self.leader.pid)
            return
        wait_for(self.place.tell)
        told = self.place.tell()
        assert told is not None
        own = {
            "DILIGENCE_HOME": str(make_home(self.folder / "other-home")),
            "DILIGENCE_DATABASE_URL": self.server.url(self.database, self.machine.address),
        }
        environment = {name: value for name, value in self.place.environment.items() if "PREFECT_API" not in name}
        command = [sys.executable, "-P", "-m", "flows.help_run", told.run, "0", str(self.place.out)]
        self.far = self.machine.start(command, environment | own)
        self.helper = self.far.pid

    def disturb(self, disturbance: Disturbance) -> None:
        match disturbance:
            case Disturbance.HELPER_KILLED:
                os.kill(self.helper, signal.SIGKILL)
            case Disturbance.LEADER_KILLED:
                self.leader.kill()
            case Disturbance.CONNECTIONS_CUT:
                self.server.run(CUT, self.database)
            case Disturbance.POWER_LOST:
                assert self.machine is not None
                self.machine.cut_power(self.far)
            case Disturbance.NETWORK_CUT | Disturbance.NETWORK_GONE:
                assert self.machine is not None
                with self.machine.unplugged():
                    time.sleep(10 if disturbance is Disturbance.NETWORK_CUT else 45)
            case Disturbance.DATABASE_RESTARTED | Disturbance.DATABASE_GONE:
                self.server.stop()
                time.sleep(1 if disturbance is Disturbance.DATABASE_RESTARTED else 12)
                self.server.start()
            case Disturbance.PREFECT_RESTARTED | Disturbance.PREFECT_GONE:
                assert self.proxy is not None
                self.is_prefect_gone.set()
                self.proxy.__exit__(None, None, None)

    def end(self, disturbance: Disturbance) -> Told:
        """Wait for the end of all processes, and of the run; returns what is told of it then."""
        errors = self.leader.communicate(timeout=600)[1]
        if self.machine is not None:
            assert "Traceback" not in self.far.communicate(timeout=600)[1]
        wait_for(lambda: not Path(f"/proc/{self.helper}").exists())
        told = self.place.tell()
        assert told is not None
        if disturbance is Disturbance.DATABASE_GONE and not told.is_reported:
            assert "Traceback" not in errors
            assert self.leader.returncode == 1, errors
            again = self.place.start(2)
            errors = again.communicate(timeout=600)[1]
            assert again.returncode == 0, errors
        elif disturbance is not Disturbance.LEADER_KILLED:
            assert self.leader.returncode == 0, errors
        told = self.place.tell()
        assert told is not None
        return told


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_ends_complete_whatever_happens_to_one_of_its_processes(
    seed: int,
    screen: Path,
    prefect: dict[str, str],
    undisturbed: dict[str, Any],
    tmp_path: Path,
    server: DatabaseServer,
    server_database: str,
) -> None:
    chosen, disturbance = random.Random(seed), list(Disturbance)[seed % len(Disturbance)]
    if disturbance in ELSEWHERE and not IS_POSSIBLE:
        pytest.skip("a network namespace needs root, ip and nsenter")
    at = chosen.randrange(1, COMPANIES * JUDGED)
    database = None if disturbance in ON_SQLITE_TOO and chosen.random() < 0.5 else server.url(server_database)
    with ExitStack() as stack:
        machine = stack.enter_context(Machine()) if disturbance in ELSEWHERE else None
        if machine is not None:
            server.stop()
            server.start(machine.address)
        model = stack.enter_context(Model(2, machine.address if machine else "127.0.0.1"))
        run = Run(Place(tmp_path, screen, model, prefect, database), server, server_database, tmp_path, machine)
        if disturbance is Disturbance.DATABASE_GONE:
            run.place.environment["DILIGENCE_DATABASE_PATIENCE"] = "3"
        if disturbance in {Disturbance.PREFECT_RESTARTED, Disturbance.PREFECT_GONE}:
            gone = run.is_prefect_gone
            run.proxy = PrefectProxy(
                prefect["PREFECT_API_URL"], lambda _number, _kind: Fault.HANGS if gone.is_set() else None
            )
            stack.enter_context(run.proxy)
            run.place.environment["PREFECT_API_URL"] = run.proxy.url
        run.start()
        wait_for(lambda: model.billed.total() >= at)
        run.disturb(disturbance)
        if disturbance is Disturbance.PREFECT_RESTARTED:
            time.sleep(5)
            assert run.proxy is not None
            port = run.proxy.server.server_port
            stack.enter_context(PrefectProxy(prefect["PREFECT_API_URL"], lambda _number, _kind: None, port))
        told = run.end(disturbance)
        assert told.is_reported
        assert list(report_differences(undisturbed, report_of(run.place.out))) == []
        assert told.calls <= model.billed.total() <= told.calls + told.unknown
        assert told.tokens <= CAP
        again = sum(number - 1 for number in model.billed.values())
        # A machine without a network for long loses its company while answers for it are under way. Others ask again,
        # and answers that come late are known, and told, as well.
        under_way = JUDGED if disturbance is Disturbance.NETWORK_GONE else told.unknown
        assert again <= under_way, "an answer that was kept was asked for again"

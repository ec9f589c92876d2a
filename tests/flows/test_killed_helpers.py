"""A run of two processes, one of which is killed or loses its locks: it ends as one that nothing happened to."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest
from sqlalchemy import URL, Engine, create_engine, text

from storage import database as storage_database
from tests.faults.comparison import report_differences, report_of
from tests.flows.conftest import write_room
from tests.homes import make_home
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

COMPANIES, JUDGED = 6, 2
REPOSITORY = Path(__file__).parents[2]
LETTER = "Ninety percent of the revenue of {} is recurring."
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
FAULTS = ["helper killed", "leader killed", "connections cut"]
SEEDS = [pytest.param(seed, marks=pytest.mark.nightly if seed > 0 else ()) for seed in range(30)]


class Model(ModelServer):
    """A model that answers nobody until two processes ask; `billed` counts its judgements by their prompts."""

    def __init__(self, processes: int) -> None:
        super().__init__(says=judge)
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
        f"companies:\n{companies}"
    )
    return folder / "batch.yaml"


class Place:
    """Where a run lives: its home and database, its report, its environment."""

    def __init__(self, folder: Path, screen: Path, model: Model, prefect: dict[str, str], database: str | None) -> None:
        home = make_home(folder / "home")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DILIGENCE_", "OPENAI_"))}
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

    def start(self, processes: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, "--processes", str(processes)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tell(self) -> tuple[int, int, bool]:
        """Calls that are told, calls whose answers are not known, and whether the report is written."""
        engine = create_engine(self.url)
        try:
            with engine.connect() as connection:
                run = connection.execute(text("SELECT calls, reported_at FROM runs")).one()
                unknown = connection.execute(text("SELECT count(*) FROM unanswered_calls")).scalar_one()
        finally:
            engine.dispose()
        return run.calls, unknown, run.reported_at is not None


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
        assert process.wait(600) == 0, process.communicate()[1]
        process.communicate()
        assert model.billed.total() == COMPANIES * JUDGED
    return report_of(place.out)


@pytest.fixture
def server_database(postgres: URL, postgres_admin: Engine, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of its own in the PostgreSQL server."""
    name = f"killed_{os.getpid()}_{request.node.callspec.params['seed']}"
    with postgres_admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    url = postgres.set(database=name).render_as_string(hide_password=False)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DILIGENCE_DATABASE_URL", url)
        storage_database.migrate()
        storage_database.close()
    yield url
    with postgres_admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


def children(pid: int) -> list[int]:
    """The helpers that a process has started."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in started if b"flows.help_run" in Path(f"/proc/{child}/cmdline").read_bytes()]


def until(condition: Callable[[], object], seconds: float = 400) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_ends_complete_whatever_happens_to_one_of_its_processes(
    seed: int,
    screen: Path,
    prefect: dict[str, str],
    undisturbed: dict[str, Any],
    tmp_path: Path,
    server_database: str,
) -> None:
    chosen, fault = random.Random(seed), FAULTS[seed % len(FAULTS)]
    at = chosen.randrange(1, COMPANIES * JUDGED)
    database = server_database if fault == "connections cut" or chosen.random() < 0.5 else None
    with Model(2) as model:
        place = Place(tmp_path, screen, model, prefect, database)
        leader = place.start(2)
        until(lambda: children(leader.pid) or leader.poll() is not None)
        assert leader.poll() is None, leader.communicate()[1]
        (helper,) = children(leader.pid)
        until(lambda: model.billed.total() >= at)
        if fault == "connections cut":
            engine = create_engine(place.url)
            with engine.connect() as connection:
                connection.execute(text(CUT))
            engine.dispose()
        else:
            os.kill(helper if fault == "helper killed" else leader.pid, signal.SIGKILL)
        told = leader.communicate(timeout=600)[1]
        if fault != "leader killed":
            assert leader.returncode == 0, told
        until(lambda: place.tell()[2])
        until(lambda: not Path(f"/proc/{helper}").exists())
        calls, unknown, _ = place.tell()
        assert list(report_differences(undisturbed, report_of(place.out))) == []
        assert calls <= model.billed.total() <= calls + unknown
        again = sum(number - 1 for number in model.billed.values())
        assert again <= unknown, "an answer that was kept was asked for again"

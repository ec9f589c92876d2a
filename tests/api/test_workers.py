"""Two processes on one address (`serve --workers 2`): limits, keys and figures are those of the service."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from api.monitoring import SharedFigures
from storage import database, logins
from storage.model_calls import CallCounts
from tests.api.test_keys import new_key
from tests.api.test_monitoring import figures
from tests.api.test_problems import problem
from tests.storage.rows import audited_calls
from tests.waiting import free_port, is_running, wait_for

ASK, QUESTION = "/v1/ai/question", {"question": "What?"}


class Service:
    """The service as a process with two workers."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url

    def ask(self, headers: dict[str, str] | None = None) -> httpx.Response:
        """Over a connection of its own, which any of the workers may take."""
        return httpx.post(self.url + ASK, json=QUESTION, headers=headers, timeout=30)

    @property
    def workers(self) -> list[int]:
        """The processes that serve, by their files of figures; those that have ended have none that is known."""
        (folder,) = self.folders
        return [int(file.stem) for file in folder.glob("*.prom") if is_running(int(file.stem))]

    @property
    def folders(self) -> list[Path]:
        return list({file.parent for file in Path(tempfile.gettempdir()).glob("diligence-*/*.prom")})


@contextmanager
def started() -> Iterator[Service]:
    port = free_port()
    patience = "from api import workers; workers.HUNG_SECONDS = 8; "
    command = f"{patience}from api.app import serve; serve('127.0.0.1', {port}, 2)"
    with subprocess.Popen([sys.executable, "-c", command], stderr=subprocess.PIPE, text=True) as process:
        service = Service(process, f"http://127.0.0.1:{port}")
        try:
            wait_for(lambda: len(service.folders) == 1 and len(service.workers) == 2)
            yield service
        finally:
            process.kill()


@pytest.fixture
def service(room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv("TMPDIR", str(shared))
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    monkeypatch.setenv("DILIGENCE_RATE_LIMIT", "30/minute")
    with started() as service:
        yield service


@pytest.mark.slow
def test_two_workers_are_one_service(service: Service) -> None:
    alpha, beta, watcher = new_key("alpha"), new_key("beta"), new_key("watcher")
    wait_for(lambda: service.ask(alpha).status_code == 200)  # a new key is known within five seconds
    taken = 0
    while (status := service.ask(beta).status_code) != 429:
        taken += status == 200  # 401 until the key is known
        assert taken <= 30
    assert taken == 30

    with database.writing() as session:
        assert logins.revoke_key(session, "alpha")
    wait_for(lambda: all(service.ask(alpha).status_code == 401 for _ in range(6)))
    problem(service.ask(alpha), 401, "not-logged-in")

    def answered() -> float:
        text = httpx.get(f"{service.url}/metrics", headers=watcher, timeout=30).text
        return figures(text)["diligence_requests_total", f"POST {ASK}", "200"]

    with database.reading() as session:
        written = [call for name in ("alpha", "beta") for call in audited_calls(session, name)]
    total = sum(call.status == 200 for call in written)
    wait_for(lambda: answered() == total)

    victim, other = service.workers
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: len(service.workers) == 2)
    assert other in service.workers
    assert answered() == total

    service.process.send_signal(signal.SIGTERM)
    log = service.process.communicate(timeout=60)[1]
    assert service.process.returncode == 0
    assert service.folders == []
    assert "Traceback" not in log
    with pytest.raises(httpx.ConnectError):
        service.ask()


@pytest.mark.slow
def test_a_worker_that_hangs_is_replaced(service: Service) -> None:
    victim, other = service.workers
    os.kill(victim, signal.SIGSTOP)
    wait_for(lambda: not is_running(victim) and len(service.workers) == 2)
    assert other in service.workers
    assert all(service.ask().status_code == 200 for _ in range(8))  # none of them waits for who has gone
    service.process.send_signal(signal.SIGTERM)
    assert "A process of the service does not answer. It is ended." in service.process.communicate(timeout=60)[1]


@pytest.mark.slow
def test_workers_end_when_who_looks_after_them_is_killed(service: Service) -> None:
    workers = service.workers
    service.process.kill()
    wait_for(lambda: not any(is_running(worker) for worker in workers))
    wait_for(lambda: service.folders == [])


def test_figures_of_all_processes_are_added_up_and_what_has_ended_counts_in_what_grows(tmp_path: Path) -> None:
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    own = registry_of(asked=1, busy=2)
    (tmp_path / f"{os.getppid()}.prom").write_bytes(generate_latest(registry_of(asked=3, busy=5)))
    (tmp_path / f"{ended.pid}.prom").write_bytes(generate_latest(registry_of(asked=4, busy=7)))
    summed = figures(SharedFigures(own, tmp_path).text.decode())
    assert summed["asked_total", "a"] == 1 + 3 + 4
    assert summed["busy",] == 2 + 5


def test_what_a_process_told_of_itself_stays_when_it_is_killed(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    asked = Counter("asked", "Asked.", registry=registry)
    shared = SharedFigures(registry, tmp_path)
    for _ in range(20):
        asked.inc()
        told = figures(shared.text.decode())
        assert figures((tmp_path / f"{os.getpid()}.prom").read_text()) == told


def registry_of(*, asked: int, busy: int) -> CollectorRegistry:
    registry = CollectorRegistry()
    Counter("asked", "Asked.", ["by"], registry=registry).labels("a").inc(asked)
    Gauge("busy", "Busy.", registry=registry).set(busy)
    return registry


def test_a_call_is_counted_with_those_of_other_processes(tmp_path: Path) -> None:
    one, other = CallCounts(tmp_path / "calls.db"), CallCounts(tmp_path / "calls.db")
    assert [counts.add("alpha", 3, 60) for counts in (one, other, one)] == [0, 0, 0]
    assert 55 < other.add("alpha", 3, 60) <= 60
    assert other.add("beta", 3, 60) == 0
    assert one.add("alpha", 3, 0.000001) == 0  # all of them are over
    one.close()
    other.close()

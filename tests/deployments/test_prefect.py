"""`diligence deploy` on a real Prefect server with a real worker: a scheduled run and one on demand."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.deployments.test_command_line import DILIGENCE, clean_environment
from tests.homes import make_prefect_database

pytestmark = pytest.mark.xdist_group("prefect worker")

PREFECT = [sys.executable, "-m", "prefect"]


class Server:
    """A Prefect server in a folder, and what its API says."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            self.port = listening.getsockname()[1]
        self.folder = folder
        self.api = f"http://127.0.0.1:{self.port}/api"
        self.environment = clean_environment(folder) | {
            "PREFECT_API_URL": self.api,
            "PREFECT_HOME": str(folder),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
        }

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            f"{self.api}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def start(self, words: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        with (self.folder / log).open("wb") as file:
            return subprocess.Popen([*PREFECT, *words], env=self.environment, cwd=self.folder, stdout=file, stderr=file)

    def command(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Prefect server with the deployments registered, due every minute once a worker is there."""
    server = Server(tmp_path_factory.mktemp("prefect"))
    make_prefect_database(server.folder)
    started = [server.start(["server", "start", "--port", str(server.port), "--no-ui"], "server.log")]
    try:
        wait_for(lambda: answers(server), 90)
        done = server.command([*DILIGENCE, "deploy", "--cron", "* * * * *", "--reports", "reports"])
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["batch/nightly", "due_diligence/on-demand"]
        yield server
    finally:
        end(started)


@pytest.fixture(scope="module")
def worker(server: Server) -> Iterator[Server]:
    """The server with a worker on the deployments' pool."""
    started = [server.start(["worker", "start", "--pool", "diligence"], "worker.log")]
    try:
        yield server
    finally:
        end(started)


def end(started: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in reversed(started):
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(server: Server) -> bool:
    try:
        return bool(server.ask("/health"))
    except OSError:
        return False


def wait_for(condition: Callable[[], Any], seconds: float) -> Any:
    """The first true answer of `condition`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"nothing within {seconds} s"
        time.sleep(0.5)
    return found


def ended(server: Server, name: str, *, scheduled: bool) -> dict[str, Any] | None:
    """A run of that deployment that has come to an end."""
    deployment = server.ask(f"/deployments/name/{name}")
    runs = server.ask("/flow_runs/filter", {"deployments": {"id": {"any_": [deployment["id"]]}}})
    return next(
        (
            run
            for run in runs
            if run["state_type"] in {"COMPLETED", "FAILED", "CRASHED"} and run["auto_scheduled"] is scheduled
        ),
        None,
    )


@pytest.mark.slow
def test_a_scheduled_run_of_the_sample_batch_finishes_on_a_worker(worker: Server) -> None:
    server = worker
    run = wait_for(lambda: ended(server, "batch/nightly", scheduled=True), 200)
    assert run["state_type"] == "COMPLETED"
    paused = server.command([*PREFECT, "deployment", "schedule", "pause", "--all"])  # once is enough
    assert paused.returncode == 0, paused.stderr
    report = json.loads((server.folder / "reports" / "report.json").read_text())
    assert report["run"]["name"] == "Sample screen"
    assert len(report["companies"]) == 3


@pytest.mark.slow
def test_a_run_on_demand_finishes_on_a_worker(worker: Server) -> None:
    server = worker
    given = ("name=Cuidara", "domain=cuidara.example", "folder=rooms/cuidara", "out=cuidara")
    parameters = [word for each in given for word in ("-p", each)]
    done = server.command([*PREFECT, "deployment", "run", "due_diligence/on-demand", *parameters])
    assert done.returncode == 0, done.stdout + done.stderr
    run = wait_for(lambda: ended(server, "due_diligence/on-demand", scheduled=False), 120)
    assert run["state_type"] == "COMPLETED"
    report = json.loads((server.folder / "cuidara" / "report.json").read_text())
    assert [each["name"] for each in report["companies"]] == ["Cuidara"]


def test_deploying_sets_the_schedule(server: Server) -> None:
    nightly = server.ask("/deployments/name/batch/nightly")
    assert [schedule["schedule"]["cron"] for schedule in nightly["schedules"]] == ["* * * * *"]
    assert nightly["work_pool_name"] == "diligence"


def test_deploying_again_changes_nothing(server: Server) -> None:
    before = server.ask("/deployments/filter", {})
    assert server.command([*DILIGENCE, "deploy", "--cron", "* * * * *"]).returncode == 0
    after = server.ask("/deployments/filter", {})
    assert {each["id"] for each in before} == {each["id"] for each in after}


def test_deploy_says_what_is_missing(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path)
    words = [*DILIGENCE, "deploy"]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "PREFECT_API_URL" in done.stderr
    away = environment | {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PATH": os.environ["PATH"]}
    done = subprocess.run(words, env=away, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "PREFECT_API_URL" in done.stderr
    assert "Traceback" not in done.stderr

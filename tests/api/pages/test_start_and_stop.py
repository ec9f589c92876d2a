"""A run is asked for in the service, taken up by a worker, and stopped."""

import signal
from pathlib import Path

import httpx
import pytest

from deployments import run
from deployments.worker import work
from storage import database, runs
from storage.columns import now
from storage.logins import Role
from storage.runs import RunStatus
from tests.api.pages.conftest import PAGE, LogIn, add_person, field
from tests.tasks.reports.rows import company, write_run

pytestmark = pytest.mark.usefixtures("room")


def test_a_batch_that_is_sent_waits_for_a_worker_who_says_what_became_of_it(service: httpx.Client) -> None:
    with httpx.Client(base_url=service.base_url, headers=PAGE, timeout=60) as browser:
        token = field(browser.get("/").text, "token")
        batch = b"companies: [\n"
        files = [("files", ("an.yaml", b"scale: [0, 5]", "text/yaml")), ("files", ("Autumn.yaml", batch, "text/yaml"))]
        assert browser.post("/home/start", data={"token": token}, files=files).status_code == 303
        page = browser.get("/runs").text
        assert "waits for a worker" in page
        assert "<option>Autumn.yaml</option>" in page
        assert "<option>an.yaml</option>" not in page
        work(once=True)
        assert "refused: Autumn.yaml" in browser.get("/").text
        stored = database.home() / "batches"
        assert sorted(path.name for path in stored.iterdir()) == ["Autumn.yaml", "an.yaml"]
        wrong = [("files", ("../Autumn.yaml", b"", "text/yaml"))]
        assert browser.post("/home/start", data={"token": token}, files=wrong).status_code == 400
        assert browser.post("/home/start", data={"token": token, "batch": "None.yaml"}).status_code == 400


def test_stop_reaches_the_command_that_runs_it(service: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run("r1", [company("Alpha")], status=RunStatus.RUNNING, finished_at=None, reported_at=None)
    began = now()
    with httpx.Client(base_url=service.base_url, headers=PAGE, timeout=60) as browser:
        assert "stopped before its report" in browser.get("/home/runs").text
        with database.locked("batch Autumn screen"):
            page = browser.get("/").text
        assert browser.post("/home/stop", data={"token": field(page, "token"), "run": "r1"}).status_code == 303
    signals: list[int] = []
    monkeypatch.setattr("os.kill", lambda _process, sent: signals.append(sent))
    run._document_counts("Autumn screen", began)
    assert signals == [signal.SIGINT]
    with database.reading() as session:
        assert runs.get_run(session, "r1").status is RunStatus.RUNNING  # it goes on when it is started again


def test_a_reviewer_starts_nothing(service: httpx.Client, log_in: LogIn, room: Path) -> None:
    add_person("vera", Role.REVIEWER)
    browser = log_in("vera")
    assert "Start a run" not in browser.get("/").text
    refused = browser.post("/home/start", data={"batch": "Autumn.yaml"})
    assert refused.status_code == 403
    assert "this needs the role admin" in refused.text

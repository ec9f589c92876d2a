"""Prefect fails at any request, hangs, dies in mid-run or was never there: a warning, and the same report."""

import json
import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest
from prefect import get_client, settings
from prefect.events.worker import EventsWorker
from prefect.flow_engine import run_flow
from prefect.logging.handlers import APILogWorker

from flows.batch import batch
from storage import database, runs
from tasks.errors import NotFound
from tasks.operation import operation
from tasks.tracking import TrackedFlow, wait_for_server
from tests.flows.conftest import write_batch
from tests.homes import make_home
from tests.servers.prefect_proxy import Fault, PrefectProxy

pytestmark = [pytest.mark.usefixtures("prefect_server"), pytest.mark.xdist_group("prefect")]

DRAIN = 0.5
"""Seconds for logs and events on their way; those for a proxy that is gone never arrive, however long one waits."""
Undisturbed = tuple[Path, dict[str, Any]]
Through = Callable[..., AbstractContextManager[PrefectProxy]]


@pytest.fixture
def through() -> Iterator[Through]:
    """Within the block flows use the server behind a proxy with these faults."""

    @contextmanager
    def proxied(fault: Callable[[int, str], Fault | None], patience: float = 10) -> Iterator[PrefectProxy]:
        EventsWorker.drain_all(timeout=DRAIN)  # it keeps to the address that it was started with
        with (
            PrefectProxy(str(settings.PREFECT_API_URL.value()), fault) as proxy,
            settings.temporary_settings(
                {settings.PREFECT_API_URL: proxy.url, settings.PREFECT_API_REQUEST_TIMEOUT: patience}
            ),
        ):
            yield proxy

    yield proxied
    for worker in (APILogWorker, EventsWorker):
        worker.drain_all(timeout=DRAIN)


def once(kind: str, seen: Counter[str]) -> Fault | None:
    seen[kind] += 1
    return Fault.ANSWERS_500 if seen[kind] == 1 else None


def told(report: Path) -> dict[str, Any]:
    """A report without what differs between any two runs."""
    content: dict[str, Any] = json.loads((report / "report.json").read_text())
    for name in ("id", "started_at", "finished_at", "previous"):
        del content["run"][name]
    for company in content["companies"]:
        del company["compared_with"]
        for document in company["documents"]:
            document["status"] = {"unchanged": "read"}.get(document["status"], document["status"])
    return content


@pytest.fixture(scope="module")
def undisturbed(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    """A batch that was run, and its report; its texts are read, so that runs of it are quick."""
    folder = tmp_path_factory.mktemp("undisturbed")
    batch_file = write_batch(folder / "screen")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DILIGENCE_HOME", str(make_home(folder / "home")))
        batch(batch_file, out=folder / "out")
        yield batch_file, told(folder / "out")
        database.close()


def runs_all_the_same(undisturbed: Undisturbed, out: Path, log: pytest.LogCaptureFixture) -> None:
    batch_file, expected = undisturbed
    with log.at_level(logging.WARNING):
        run = batch(batch_file, out=out)
    assert told(out) == expected
    with database.reading() as session:
        assert runs.get_run(session, run).status is runs.RunStatus.FINISHED
    warnings = [record for record in log.records if record.name == "tasks.tracking"]
    assert len(warnings) == 1
    assert "Prefect failed" in warnings[0].getMessage()


KINDS = ["POST /api/flow_runs/", "POST /api/flow_runs/ID/set_state", "GET /api/flow_runs/ID", "POST /api/artifacts/"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_500_to_the_first_request_of_a_kind(
    kind: str, undisturbed: Undisturbed, through: Through, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: Counter[str] = Counter()
    with through(lambda _number, each: once(each, seen) if each == kind else None) as proxy:
        runs_all_the_same(undisturbed, tmp_path, caplog)
    assert proxy.failed == [kind]


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.slow  # 3 s each; one quick case of each is above
def test_a_500_to_every_request_of_a_kind(
    kind: str,
    undisturbed: Undisturbed,
    through: Through,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with through(lambda _number, each: Fault.ANSWERS_500 if each == kind else None):
        runs_all_the_same(undisturbed, tmp_path, caplog)


@pytest.mark.parametrize("fault", [Fault.HANGS, Fault.IS_GONE])
def test_a_server_that_is_lost_in_mid_run(
    fault: Fault,
    undisturbed: Undisturbed,
    through: Through,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with database.writing() as session:  # so that each company is examined again, with all its steps
        for company in runs.run_companies(session, runs.newest_runs(session, 1)[0].id):
            company.evidence_warnings = None
    with through(lambda number, _kind: fault if number >= 10 else None, patience=0.5):
        runs_all_the_same(undisturbed, tmp_path, caplog)


def test_a_workers_run_waits_at_its_end_for_a_server_that_is_away(
    through: Through, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.tracking._LOOK", 0.1)
    away = Event()

    def go_away() -> None:
        away.set()
        Timer(2, away.clear).start()

    lasting = TrackedFlow(go_away, name="lasting")
    with (
        through(lambda _number, _kind: Fault.ANSWERS_500 if away.is_set() else None) as proxy,
        get_client(sync_client=True) as client,
    ):
        begun = client.create_flow_run(lasting)
        run_flow(lasting, flow_run=begun, return_type="state")
        assert "GET /api/health" in proxy.failed
        assert client.read_flow_run(begun.id).state_name == "Completed"


def test_a_workers_run_waits_at_its_end_once_for_a_server_that_stays_away(
    through: Through, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.tracking._LOOK", 0.1)
    monkeypatch.setattr("tasks.tracking._AWAY", 0.5)
    looks: list[int] = []

    def end() -> None:  # as a batch does, before it shows its ranking
        wait_for_server()
        looks.append(len(proxy.failed))

    lasting = TrackedFlow(end, name="lasting")
    with through(lambda _number, kind: Fault.ANSWERS_500 if kind == "GET /api/health" else None) as proxy:
        with get_client(sync_client=True) as client:
            run_flow(lasting, flow_run=client.create_flow_run(lasting), return_type="state")
        assert looks == [len(proxy.failed)]
        assert looks != [0]


def test_a_workers_run_that_is_stopped_waits_for_no_server(through: Through, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.tracking._AWAY", 0.5)

    def end() -> None:  # as a batch does
        try:
            raise KeyboardInterrupt
        finally:
            wait_for_server()

    stopped = TrackedFlow(end, name="stopped")
    with through(lambda _number, kind: Fault.ANSWERS_500 if kind == "GET /api/health" else None) as proxy:
        with get_client(sync_client=True) as client, suppress(KeyboardInterrupt):
            run_flow(stopped, flow_run=client.create_flow_run(stopped), return_type="state")
        assert not proxy.failed


def test_a_server_that_hangs_and_answers_the_second_time(
    undisturbed: Undisturbed,
    through: Through,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tasks.tracking._LONG", 0.5)
    seen: Counter[str] = Counter()

    def hang_once(_number: int, kind: str) -> Fault | None:
        return Fault.HANGS if once(kind, seen) and kind == "POST /api/artifacts/" else None

    with through(hang_once, patience=1):
        runs_all_the_same(undisturbed, tmp_path, caplog)
    assert seen["POST /api/artifacts/"] > 1
    assert "to answer" in caplog.text


LOST = """
import logging

from prefect._internal.concurrency.threads import get_global_loop
from prefect.events.worker import EventsWorker

from flows import prefect_server

logging.getLogger("tasks.tracking").addHandler(logging.StreamHandler())  # as the command does
EventsWorker.drain_all = lambda timeout: (set(), {timeout})  # some are not done
with prefect_server.server():
    loop = get_global_loop()
loop.thread.join(20)
print(loop.thread.is_alive())
"""


def test_what_is_left_to_tell_a_lost_server_is_given_up_quietly(tmp_path: Path) -> None:
    """A thread of Prefect's that ends with an exception prints a traceback."""
    ended = subprocess.run(
        [sys.executable, "-c", LOST],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_HOME": str(tmp_path)},
    )
    assert (ended.returncode, ended.stdout) == (0, "False\n")
    assert ended.stderr.count("Prefect failed (its server did not take everything it was sent)") == 1
    assert ended.stderr.count("\n") == 1


def test_a_server_that_was_never_there(
    undisturbed: Undisturbed, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with settings.temporary_settings({settings.PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        runs_all_the_same(undisturbed, tmp_path, caplog)


def test_what_the_function_raises_is_raised_and_costs_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    @operation(name="missing")
    def missing() -> None:
        raise NotFound("There is none.")

    with caplog.at_level(logging.WARNING), pytest.raises(NotFound, match=r"There is none\."):
        missing.tracked()
    assert not [record for record in caplog.records if record.name == "tasks.tracking"]


def test_an_interrupt_is_not_taken_for_a_failure_of_prefect(through: Through) -> None:
    calls = []

    @operation(name="interrupted")
    def interrupted() -> None:
        calls.append(1)
        raise KeyboardInterrupt

    with through(lambda _number, _kind: Fault.ANSWERS_500), pytest.raises(KeyboardInterrupt):
        interrupted.tracked()
    assert len(calls) == 1

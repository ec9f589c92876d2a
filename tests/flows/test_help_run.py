"""A helper that is not like the process that leads, or comes too late, does nothing and says why."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.sorting import FlowRunSort

from flows.batch import _last_words, batch
from flows.help_run import help_run
from flows.run import CompaniesFailed
from storage import database, runs
from storage.runs import CompanyStatus, RunStatus
from tasks.errors import Conflict, NotFound

pytestmark = pytest.mark.usefixtures("prefect_server")


def reopened(run: str, **changes: str) -> str:
    """The run as one that its leader has left before it began with its second company."""
    with database.writing() as session:
        stored = runs.get_run(session, run)
        stored.status, stored.reported_at = RunStatus.RUNNING, None
        for name, value in changes.items():
            setattr(stored, name, value)
        session.add(stored)
        company = runs.run_companies(session, run)[1]
        company.status = CompanyStatus.PENDING
    return run


def test_helpers_finish_a_run_that_nobody_leads_and_refuse_what_differs(
    batch_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = batch(batch_file)
    assert help_run(run, tmp_path / "late") == run
    assert not (tmp_path / "late").exists()
    with pytest.raises(NotFound, match="DILIGENCE_DATABASE_URL"):
        help_run("20200101-000000-0000")
    with database.reading() as session:
        program = runs.get_run(session, run).version
    with pytest.raises(Conflict, match="Install the same version"):
        help_run(reopened(run, version="0.0.1 with schema 0001"))
    reopened(run, version=str(program))
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        elsewhere.setenv("DILIGENCE_AI_MODEL", "another-model")
        with pytest.raises(Conflict, match="another-model"):
            help_run(run)
    assert help_run(run, tmp_path / "out") == run
    assert (tmp_path / "out" / "report.html").exists()
    with database.reading() as session:
        assert runs.get_run(session, run).status is RunStatus.FINISHED
        assert {company.status for company in runs.run_companies(session, run)} == {CompanyStatus.FINISHED}


def test_a_helper_of_a_run_whose_companies_failed_does_not_fail_itself(batch_file: Path) -> None:
    run = reopened(batch(batch_file))
    with database.writing() as session:
        company = runs.run_companies(session, run)[1]
        company.status, company.problem = CompanyStatus.FAILED, "The folder is gone."
    with database.locked("batch Small screen") as leads, ThreadPoolExecutor(1) as helper:
        assert leads
        helping = helper.submit(copy_context().run, help_run, run)
        with pytest.raises(TimeoutError):
            helping.result(2)
        with database.writing() as session:
            stored = runs.get_run(session, run)
            stored.reported_at = stored.finished_at
        assert helping.result(30) == run
    reopened(run)
    with database.writing() as session:
        company = runs.run_companies(session, run)[1]
        company.status, company.problem = CompanyStatus.FAILED, "The folder is gone."
    with pytest.raises(CompaniesFailed, match="The folder is gone"):
        help_run(run)
    with get_client(sync_client=True) as client:
        newest = client.read_flow_runs(limit=2, sort=FlowRunSort.START_TIME_DESC)
    assert [(each.name, each.state_name) for each in newest] == [
        ("Small screen · helper", "Failed"),
        ("Small screen · helper", "Completed"),
    ]


@pytest.mark.parametrize(
    ("errors", "told"),
    [
        ("The run is over.\n", "The run is over."),
        ("Traceback (most recent call last):\n  File ...\nValueError: words of a document\n", "ValueError"),
        ("", "it said nothing"),
    ],
)
def test_the_log_has_a_helpers_sentence_and_no_words_of_an_error(errors: str, told: str) -> None:
    assert _last_words(errors) == told


@pytest.mark.parametrize("words", [[], ["20200101-000000-0000"], ["20200101-000000-0000", "two"]])
def test_a_helper_that_is_started_wrongly_says_how(words: list[str]) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "flows.help_run", *words], capture_output=True, text=True, check=False, timeout=120
    )
    assert told.returncode == 1
    assert told.stderr.startswith("Usage: python -m flows.help_run RUN COUNT")


FORK = """
import logging, sys, threading
from flows.batch import _processes, _ready, ready

logging.basicConfig(format="%(message)s", force=True)

def helping(run, count, out):
    print("words of a document")
    sys.stderr.write(f"{run} was to be helped with by {count}.\\n")
    return 1

with ready(helping), _processes("20260101-000000-0000", None, 2):
    pass
ended = threading.Event()
threading.Thread(target=ended.wait).start()
with ready(helping):
    print(_ready.get())
ended.set()
"""


def test_a_fork_tells_what_it_said_last_and_none_is_made_beside_threads() -> None:
    ended = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "None\n"
    said = "20260101-000000-0000 was to be helped with by 2."
    assert ended.stderr == f"A process that was helping with the run ended early: {said}\n"


OPENED = """
import os, sys
from pathlib import Path
from flows.batch import _processes, ready
from tasks.documents.drive.archives.archive import open_archives

class Unpacked:
    def close(self):
        with Path(sys.argv[1]).open("a") as closed:
            closed.write(f"{os.getpid()} ")

with open_archives.using(("a drive", "deal.7z", "1"), 1, Unpacked):
    pass
with ready(lambda *_: 0), _processes("20260101-000000-0000", None, 2):
    pass
print(os.getpid())
"""


def test_what_was_unpacked_before_a_fork_is_not_deleted_by_the_fork(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENED, str(tmp_path / "closed")]
    leader = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert (tmp_path / "closed").read_text().split() == leader.split()

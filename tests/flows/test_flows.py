"""The flows on a real Prefect server and a real database: what they leave behind, and in what order."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple

import pytest
from prefect import tags
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterKey,
    FlowRunFilter,
    FlowRunFilterId,
    LogFilter,
    LogFilterTimestamp,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.client.schemas.sorting import ArtifactSort, FlowRunSort
from prefect.context import FlowRunContext
from prefect.logging.handlers import APILogWorker
from sqlmodel import col, func, select

from flows.batch import batch
from flows.batch_definition import DeployedBatch
from flows.batch_file import read_batch
from flows.company_facts import company_facts
from flows.due_diligence import due_diligence
from flows.engine import flow
from flows.extract_all import extract_all
from flows.index_folder import index_folder
from flows.run import CompaniesFailed
from flows.score_company import score_company
from storage import database, runs
from storage.errors import DatabaseUnavailable
from storage.model_calls import StoredAnswer
from storage.runs import Run, RunStatus
from storage.texts import Outcome, StoredText
from tasks.errors import BadRequest, Conflict, NotFound, Unavailable
from tasks.operation import operation
from tasks.reports.models import Report
from tasks.reports.report import build
from tests.flows.conftest import write_batch, write_room
from tests.homes import make_home
from tests.servers.openai_server import ModelRequest, ModelServer
from tests.waiting import wait_for

pytestmark = pytest.mark.usefixtures("prefect_server")
SECRET = "Zanzibarquokka"
FAILED = TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=[StateType.FAILED])))


class Finished(NamedTuple):
    """A finished run of the small batch, without a model, for tests that only read."""

    home: Path
    run: str
    out: Path
    flows: int  # how many runs of flows it is in Prefect
    tasks: list[str]  # the names of its task runs there


@pytest.fixture(scope="module")
def only_run(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("finished")
    home, out = make_home(folder / "home"), folder / "out"
    batch_file = write_batch(folder / "screen")
    write_room(batch_file.parent / "rooms" / "beta", {"revenue.txt": f"The recurring revenue of {SECRET} is high."})
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("DILIGENCE_HOME", str(home))
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")  # nobody is asked over the network by mistake
        run = batch(batch_file, out=out)
    database.close()
    with get_client(sync_client=True) as client:
        newest = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC)
        mine = [flow_run for flow_run in newest if flow_run.parameters.get("out") == str(out)]
        ids = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run.id for flow_run in mine]))
        tasks: list[str] = []
        for _ in range(60):  # Prefect's server learns of them by events, a little later
            found = client.read_task_runs(flow_run_filter=ids)
            tasks = [task.name for task in found]
            if len(tasks) == 2 and all(task.state and task.state.is_final() for task in found):
                break
            time.sleep(0.5)
    return Finished(home, run, out, len(mine), tasks)


@pytest.fixture
def finished(only_run: Finished, monkeypatch: pytest.MonkeyPatch) -> Iterator[Finished]:
    monkeypatch.setenv("DILIGENCE_HOME", str(only_run.home))
    yield only_run
    database.close()


def artifacts(key: str) -> list[Any]:
    """What Prefect keeps under an artifact's key."""
    wanted = ArtifactFilter(key=ArtifactFilterKey(any_=[key]))
    with get_client(sync_client=True) as client:
        return [artifact.data for artifact in client.read_artifacts(artifact_filter=wanted)]


def texts() -> dict[str, Any]:
    """Every stored text with the time at which it was read."""
    with database.reading() as session:
        return {text.content_hash: text.created_at for text in session.exec(select(StoredText))}


def company(report: Report, domain: str) -> Any:
    return next(each for each in report.companies if each.domain == domain)


def test_a_batch_scores_what_needs_no_model_and_shows_passages_for_the_rest(finished: Finished) -> None:
    report = json.loads((finished.out / "report.json").read_text())
    alpha, beta = sorted(report["companies"], key=lambda each: str(each["name"]))
    assert [alpha["name"], alpha["rank"], alpha["total"]] == ["Alpha", None, 1.0]  # less than half is scored
    outcomes = {each["id"]: each for each in alpha["criteria"]}
    assert outcomes["established"]["score"] == 5
    assert outcomes["audited"]["status"] == "missing"
    assert outcomes["recurring"]["status"] == "unscored"
    assert outcomes["recurring"]["quotes"][0]["text"] == "Ninety percent of revenue is recurring."
    assert alpha["missing"] == ["audited financial statements"]
    assert {each["document_name"]: each["status"] for each in alpha["documents"]} == {
        "deck.txt": "read",
        "notes.pdf": "failed",
    }
    assert {each["id"]: each["status"] for each in beta["criteria"]}["audited"] == "scored"
    assert report["run"]["id"] == finished.run
    assert report["run"]["status"] == "finished"
    assert "Alpha" in (finished.out / "report.html").read_text()


@pytest.fixture
def lasting_server(prefect_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server as one that the user runs, whose pages are looked at when a command is over."""
    monkeypatch.setenv("PREFECT_API_URL", prefect_url)


@pytest.mark.usefixtures("lasting_server")
def test_the_artifacts_can_be_read_back_from_prefect(batch_file: Path) -> None:
    batch(batch_file)
    assert any(
        "Alpha" in str(card) and "established" in str(card)
        for card in artifacts("scorecard-small-screen--alpha-example")
    )
    tables = [json.loads(table) for table in artifacts("documents-small-screen--alpha-example-read")]
    assert any({"deck.txt", "notes.pdf"} == {row["document"] for row in table} for table in tables)
    # Two documents take a moment: only where that was a second is there a progress, and it has come to its end.
    assert set(artifacts("documents-small-screen--alpha-example")) <= {100.0}
    assert any("Small screen" in str(table) for table in artifacts("ranking-small-screen"))


def test_the_link_to_the_report_is_the_newest_artifact_of_a_run(finished: Finished) -> None:
    with get_client(sync_client=True) as client:
        all_runs = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC)
        mine = [run.id for run in all_runs if run.parameters.get("out") == str(finished.out)]
        of_run = FlowRunFilter(id=FlowRunFilterId(any_=mine))
        shown = client.read_artifacts(flow_run_filter=of_run, sort=ArtifactSort.CREATED_DESC)
    keys = [artifact.key for artifact in shown if artifact.task_run_id is None]  # those of tasks come below
    assert keys[0] == "report-small-screen"
    assert "ranking-small-screen" in keys


@pytest.mark.usefixtures("lasting_server")
def test_prefect_keeps_no_text_of_a_document(batch_file: Path) -> None:
    write_room(batch_file.parent / "rooms" / "beta", {"revenue.txt": f"The recurring revenue of {SECRET} is high."})
    quotes = [quote.text for quote in company(build(batch(batch_file)), "beta.example").criteria[0].quotes]
    assert any(SECRET in text for text in quotes)
    with get_client(sync_client=True) as client:
        shown = client.read_artifacts()
        kept = [shown, client.read_flow_runs(), client.read_task_runs(), client.read_logs()]
    assert any(artifact.key == "scorecard-small-screen--beta-example" for artifact in shown)
    assert SECRET not in str(kept)


@pytest.mark.usefixtures("lasting_server")
def test_prefect_is_told_of_an_error_in_the_program_without_its_words(
    batch_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bool:
        raise ValueError(SECRET)

    monkeypatch.setattr("tasks.scoring.score._score", fail)
    with pytest.raises(CompaniesFailed, match="An internal error: ValueError"):
        batch(batch_file)
    with get_client(sync_client=True) as client:

        def names_the_error() -> bool:
            failed = client.read_task_runs(task_run_filter=FAILED)
            said = [str(task.state and task.state.message) for task in failed]
            return any("ValueError < " in message and "tasks.scoring.score:" in message for message in said)

        assert wait_for(names_the_error, seconds=30), "Prefect records tasks a moment later"
        kept = [client.read_flow_runs(), client.read_task_runs(), client.read_logs(limit=200)]
    assert SECRET not in str(kept)


@pytest.mark.usefixtures("lasting_server")
def test_prefects_log_has_the_sentence_of_an_error_and_no_places_of_the_program(batch_file: Path) -> None:
    APILogWorker.drain_all(timeout=5)
    since = datetime.now(UTC)
    batch_file.write_text(batch_file.read_text().replace("rooms/alpha", "rooms/nowhere"))
    with pytest.raises(CompaniesFailed):
        batch(batch_file)
    APILogWorker.drain_all(timeout=5)
    with get_client(sync_client=True) as client:
        wanted = LogFilter(timestamp=LogFilterTimestamp(after_=since))
        said = "\n".join(log.message for log in client.read_logs(log_filter=wanted, limit=200))
    assert "The run is finished, but incomplete: Alpha" in said
    assert "Traceback" not in said
    assert str(Path(__file__).parents[2]) not in said


def test_prefect_shows_a_batch_with_a_task_for_each_company(finished: Finished) -> None:
    assert finished.flows == 1
    assert sorted(finished.tasks) == ["Alpha", "Beta"], "their steps take a moment"


def test_prefect_shows_the_steps_of_a_company_whose_room_is_not_small(
    batch_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.work._SMALL", (1, 5_000_000))  # Alpha has two documents, Beta one
    batch(batch_file)
    wanted = {f"Alpha · {step}" for step in ("read documents", "company facts or reason", "score criteria")}
    with get_client(sync_client=True) as client:
        newest = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC, limit=1)[0]
        of_it = FlowRunFilter(id=FlowRunFilterId(any_=[newest.id]))
        for _ in range(60):  # as above
            steps = {task.name for task in client.read_task_runs(flow_run_filter=of_it)}
            if wanted <= steps:
                break
            time.sleep(0.5)
    assert wanted <= steps
    assert not any(name.startswith("Beta ·") for name in steps)


def test_the_log_of_a_batch_tells_the_run(batch_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = batch(batch_file)
    told = [record.getMessage() for record in caplog.records if record.name == "prefect.flow_runs"]
    assert any(line.startswith(f"The run {run} begins: ") for line in told)
    for examined in build(run).companies:
        assert any(line.lstrip("–0123456789 ").startswith(f"{examined.name}: ") for line in told)
        assert all(f"{examined.name}: {warning}" in told for warning in examined.warnings)
    assert any(line.startswith("cost    0 calls") for line in told)
    assert f"The report is at http://127.0.0.1:8000/runs/{run}/report.html." in told


def test_a_folder_that_a_worker_cannot_write_costs_a_warning_that_says_where_the_report_is(
    batch_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "reports").write_text("no folder")
    run = batch(batch_file, reports=tmp_path / "reports", definition=DeployedBatch.of(read_batch(batch_file)))
    told = [record for record in caplog.records if record.name == "prefect.flow_runs"]
    (warning,) = [record for record in told if "cannot be written" in record.getMessage()]
    assert warning.levelname == "WARNING"
    assert f"`diligence report {run}` writes it" in warning.getMessage()
    assert f"The report is at http://127.0.0.1:8000/runs/{run}/report.html." in [record.getMessage() for record in told]


def test_a_worker_whose_disk_is_full_begins_no_run(batch_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.run._ROOM", 10**18)
    with pytest.raises(Unavailable, match="DILIGENCE_HOME is full"):
        batch(batch_file, definition=DeployedBatch.of(read_batch(batch_file)))
    with database.reading() as session:
        assert runs.find_run(session, "latest") is None


def test_the_tags_of_a_batch_cost_no_request_for_each_task(batch_file: Path) -> None:
    with tags("small-screen"):
        batch(batch_file)
    with get_client(sync_client=True) as client:
        newest = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC, limit=1)[0]
        of_it = FlowRunFilter(id=FlowRunFilterId(any_=[newest.id]))
        tasks: list[Any] = []
        for _ in range(60):  # as above
            tasks = client.read_task_runs(flow_run_filter=of_it)
            if len(tasks) > 2:
                break
            time.sleep(0.5)
    assert sorted(newest.tags) == ["diligence", "small-screen", "warnings"]
    assert {tag for task in tasks for tag in task.tags} == set()


def test_an_unchanged_batch_reads_no_document_and_asks_no_model(
    batch_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judgement = {
        "found": True,
        "score": 4,
        "reason": "Ninety percent is recurring.",
        "quotes": [{"source": 1, "text": "Ninety percent of revenue is recurring."}],
    }
    with ModelServer(says=json.dumps(judgement)) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "a-model")
        first = build(batch(batch_file))
        read, calls = texts(), len(model.requests)
        assert calls
        second = build(batch(batch_file))
        assert texts() == read
        assert len(model.requests) == calls
    judged = company(first, "alpha.example").criteria[0]
    assert (judged.status, judged.score, judged.quotes[0].verified) == ("scored", 4, True)
    assert first.run.id != second.run.id
    assert first.run.cost.calls > 0
    assert second.run.cost.calls == 0
    assert {document.status for document in company(second, "beta.example").documents} == {"unchanged"}
    assert company(second, "alpha.example").criteria[0].score == 4
    assert company(second, "alpha.example").changes == []
    taken_over = "".join(str(data).replace("\\", "") for data in artifacts("unchanged-small-screen"))
    assert "Alpha (alpha.example)" in taken_over


def test_prefect_keeps_no_note_of_what_a_task_gives() -> None:
    @operation(name="list")
    def listed() -> list[list[int]]:
        return [[number] for number in range(20)]

    @flow(name="keeps")
    def keeps() -> tuple[list[list[int]], int]:
        given = listed.tracked()
        context = FlowRunContext.get()
        assert context is not None
        return given, len(context.run_results)

    assert keeps() == ([[number] for number in range(20)], 0)


@pytest.mark.parametrize(("setting", "expected"), [(None, 2), ("1", 1)])
def test_companies_are_judged_at_the_same_time_unless_one_is_to_wait_for_the_other(
    batch_file: Path, monkeypatch: pytest.MonkeyPatch, setting: str | None, expected: int
) -> None:
    together = Barrier(expected)

    def judge(request: ModelRequest) -> str:
        together.wait(60)  # for the other company's
        return json.dumps({"found": True, "score": 4, "reason": "It is.", "quotes": []})

    with ModelServer(says=judge) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "a-model")
        if setting is not None:
            monkeypatch.setenv("DILIGENCE_COMPANIES_AT_ONCE", setting)
        batch(batch_file)
        assert len(model.judgements) == 2
        assert len(model.plan_requests) <= 2
        assert model.most_at_once == expected


def test_what_changed_since_the_last_run_is_told(batch_file: Path) -> None:
    batch(batch_file)
    room = batch_file.parent / "rooms" / "alpha"
    (room / "deck.txt").write_text("Half of the revenue is recurring.")
    write_room(room, {"audited financial statements 2024.txt": "Revenue grew."})
    report = build(batch(batch_file))
    told = {
        (change.kind, change.document_name or change.criterion) for change in company(report, "alpha.example").changes
    }
    assert ("document_changed", "deck.txt") in told
    assert ("document_added", "audited financial statements 2024.txt") in told
    assert ("score_moved", "audited") in told


def test_a_room_that_cannot_be_found_stops_no_other_company(batch_file: Path, tmp_path: Path) -> None:
    batch_file.write_text(batch_file.read_text().replace("rooms/alpha", "rooms/nowhere"))
    with pytest.raises(CompaniesFailed, match="Alpha"):
        batch(batch_file, out=tmp_path / "out")
    report = build("latest")
    assert report.run.status == "failed"
    assert "rooms/nowhere" in (company(report, "alpha.example").problem or "")
    assert company(report, "beta.example").total is not None
    assert (tmp_path / "out" / "report.html").exists()


def test_a_failing_model_fails_the_run_and_keeps_the_rest(batch_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setenv("DILIGENCE_AI_MODEL", "a-model")
    with pytest.raises(CompaniesFailed):
        batch(batch_file)
    alpha = company(build("latest"), "alpha.example")
    outcomes = {criterion.id: criterion.status for criterion in alpha.criteria}
    assert outcomes["recurring"] == "unscored"
    assert outcomes["established"] == "scored"


def test_a_batch_that_is_being_run_is_not_run_twice(batch_file: Path) -> None:
    with database.locked("batch Small screen") as mine:
        assert mine
        with pytest.raises(Conflict, match="Small screen"):
            batch(batch_file)


def test_a_changed_batch_file_supersedes_the_run_that_was_broken_off(batch_file: Path) -> None:
    first = batch(batch_file)
    with database.writing() as session:
        run = session.get_one(Run, first)
        run.status, run.reported_at = RunStatus.RUNNING, None
    batch_file.write_text(batch_file.read_text().replace("name: Beta", "name: Gamma"))
    second = batch(batch_file)
    assert first != second
    with database.reading() as session:
        assert session.get_one(Run, first).status is RunStatus.SUPERSEDED


def test_a_run_that_was_killed_before_its_report_goes_on_and_writes_it(batch_file: Path, tmp_path: Path) -> None:
    first = batch(batch_file)
    with database.writing() as session:
        session.get_one(Run, first).reported_at = None
    assert batch(batch_file, out=tmp_path / "out") == first
    assert (tmp_path / "out" / "report.html").exists()
    with database.reading() as session:
        run = session.get_one(Run, first)
        assert (run.status, run.reported_at is None) == (RunStatus.FINISHED, False)


def test_documents_that_could_not_be_read_are_read_again_when_asked_for(batch_file: Path) -> None:
    interrupted = batch(batch_file)
    with database.writing() as session:
        session.get_one(Run, interrupted).reported_at = None
        (failure,) = session.exec(select(StoredText).where(StoredText.outcome == Outcome.FAILED))
        failure.detail = "as an earlier release said"
        session.add(failure)
    assert batch(batch_file, retry_failed=True) == interrupted
    with database.reading() as session:
        (again,) = session.exec(select(StoredText).where(StoredText.outcome == Outcome.FAILED))
    assert again.detail != "as an earlier release said"
    (document,) = [each for each in company(build("latest"), "alpha.example").documents if each.status == "failed"]
    assert document.warning == again.detail


def test_index_folder_and_extract_all_run_alone(batch_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(batch_file.parent))
    assert index_folder("rooms/alpha") > 0
    assert extract_all("rooms/alpha") == {"read": 1, "failed": 1}
    assert extract_all("rooms/alpha") == {"unchanged": 1, "failed": 1}
    with pytest.raises(NotFound, match="DILIGENCE_DRIVE_ROOT"):
        index_folder("rooms/nowhere")


def test_company_facts_runs_alone(batch_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS", str(batch_file.parent / "facts"))
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")
    assert company_facts("alpha.example")
    with pytest.raises(NotFound):
        company_facts("unknown.example")


def test_score_company_runs_alone_on_a_run_that_is_there(batch_file: Path) -> None:
    run = batch(batch_file)
    assert score_company("alpha.example", run=run) is True
    with pytest.raises(NotFound):
        score_company("unknown.example", run=run)


@pytest.mark.usefixtures("lasting_server")
def test_a_scorecard_that_cannot_be_built_is_no_failure_of_prefect(
    batch_file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> Report:
        raise DatabaseUnavailable

    monkeypatch.setattr("flows.steps.build", fail)
    with pytest.raises(CompaniesFailed, match="Alpha"):
        batch(batch_file)
    assert "Prefect failed" not in caplog.text


def test_due_diligence_runs_alone(batch_file: Path, tmp_path: Path) -> None:
    run = due_diligence("Alpha", "alpha.example", "rooms/alpha", batch_file=batch_file, out=tmp_path / "out")
    report = build(run)
    assert [each.name for each in report.companies] == ["Alpha"]
    assert (tmp_path / "out" / "report.html").exists()
    # What it shows stands with what the batch's own runs show of the company.
    assert any(f"run `{run}`" in str(card) for card in artifacts("scorecard-small-screen--alpha-example"))
    with pytest.raises(BadRequest, match="criteria"):
        due_diligence("Alpha", "alpha.example", "rooms/alpha")


@pytest.mark.usefixtures("lasting_server")
def test_pages_of_prefect_name_the_company_and_not_its_key(batch_file: Path) -> None:
    due_diligence("Elbe <Hafen>", "alpha.example", "rooms/alpha", batch_file=batch_file)
    with get_client(sync_client=True) as client:
        names = {run.name for run in client.read_flow_runs(limit=5, sort=FlowRunSort.START_TIME_DESC)}
        titles = {artifact.description for artifact in client.read_artifacts(sort=ArtifactSort.CREATED_DESC)}
    steps = ("index folder", "extract all", "company facts", "score company")
    assert names == {"Small screen · Elbe <Hafen>", *(f"Elbe <Hafen> · {step}" for step in steps)}
    assert {"Elbe &lt;Hafen&gt;: scores", "Elbe &lt;Hafen&gt;: what happened to the documents"} <= titles


def test_nothing_is_asked_of_a_model_that_is_not_configured(finished: Finished) -> None:
    with database.reading() as session:
        assert session.exec(select(func.count(col(StoredAnswer.key)))).one() == 0

"""`diligence deploy` on a real Prefect server with a real worker: a scheduled run and one on demand."""

import http
import json
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

from tasks.prefect_setup import PATIENCE
from tests.deployments.test_command_line import DILIGENCE, call, clean_environment
from tests.homes import make_prefect_database
from tests.waiting import free_port, wait_for
from tests.web.server import LoopbackServer, Reply

pytestmark = pytest.mark.xdist_group("prefect worker")

PREFECT = [sys.executable, "-m", "prefect"]

OFTEN = 0.5
"""Seconds between two questions whether a run has ended: asked all the time, the server could do little else."""

CRITERIA = 'scale: [0, 5]\ncriteria:\n  - {id: established, fact: founded_year, rule: "<= 2018"}\n'
BATCH = """name: "{name}"
criteria: criteria.yaml
drive_root: .
fact_sources: [files]
companies:
  - {{name: {company}, domain: {company}.example, folder: {company}}}
"""


class Server:
    """A Prefect server in a folder, and what its API says."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.folder = folder
        self.api = f"http://127.0.0.1:{self.port}/api"
        self.environment = clean_environment(folder) | {
            "PREFECT_API_URL": self.api,
            "PREFECT_HOME": str(folder),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
        }

    def ask(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """What Prefect's API answers; its own command line would take 3 s of processor time to ask the same."""
        request = urllib.request.Request(
            f"{self.api}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method,
        )
        return wait_for(lambda: _answer(request), 90)[0]

    def start(self, words: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        with (self.folder / log).open("wb") as file:
            return subprocess.Popen([*PREFECT, *words], env=self.environment, cwd=self.folder, stdout=file, stderr=file)

    def command(self, words: Sequence[str], program: Sequence[str] = DILIGENCE) -> subprocess.CompletedProcess[str]:
        """A command of ours, or of another program, in a process of its own."""
        return subprocess.run(
            [*program, *words],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def call(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """The same in this process, which takes a tenth of the time."""
        with temporary_settings({PREFECT_API_URL: self.api, PREFECT_API_AUTH_STRING: None}):
            return call(words, self.folder, **self.environment)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Prefect server with the deployments registered, due every minute once a worker is there."""
    server = Server(tmp_path_factory.mktemp("prefect"))
    make_prefect_database(server.folder)
    started = [server.start(["server", "start", "--port", str(server.port), "--no-ui"], "server.log")]
    try:
        wait_for(lambda: answers(server), 90)
        done = server.call(["deploy", "--cron", "* * * * *", "--reports", "reports"])
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["batch/sample-screen", "due_diligence/sample-screen"]
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


def _answer(request: urllib.request.Request) -> tuple[Any] | None:
    """The JSON of an answer; None where the database is busy, after which Prefect's own client asks again too."""
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:  # a server on SQLite may stand still for 60
            return (json.loads(answer.read() or b"null"),)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.SERVICE_UNAVAILABLE:
            raise
        return None


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


def tell_end(server: Server, run: dict[str, Any], log: str) -> str:
    """Why a run ended as it did: its state's message, its own log, and those of its worker and the server."""
    wanted = {"logs": {"flow_run_id": {"any_": [run["id"]]}}, "sort": "TIMESTAMP_ASC", "limit": 200}
    own = [f"{line['timestamp']} {line['message']}" for line in server.ask("/logs/filter", wanted)]
    files = [(server.folder / name).read_text() for name in (log, "server.log")]
    return "\n".join([run["state"]["message"] or "", *own, *files])


def pause(server: Server) -> None:
    """Have no more runs of the sample scheduled: one a minute would be under way beside the other tests."""
    deployment = server.ask("/deployments/name/batch/sample-screen")
    server.ask(f"/deployments/{deployment['id']}/pause_deployment", {})


@pytest.fixture(scope="module")
def scheduled(worker: Server) -> tuple[dict[str, Any], Path]:
    """A scheduled run of the sample batch that came to its end, and its report."""
    run: dict[str, Any] = wait_for(lambda: ended(worker, "batch/sample-screen", scheduled=True), 200, OFTEN)
    pause(worker)  # once is enough
    assert run["state_type"] == "COMPLETED", tell_end(worker, run, "worker.log")
    (written,) = (worker.folder / "reports" / "sample-screen").glob("*/report.json")
    return run, written


@pytest.mark.nightly  # it waits for the next minute, and for three companies
@pytest.mark.slow
def test_a_scheduled_run_of_the_sample_batch_finishes_on_a_worker(scheduled: tuple[dict[str, Any], Path]) -> None:
    run, written = scheduled
    report = json.loads(written.read_text())
    assert report["run"]["name"] == "Sample screen"
    assert report["run"]["id"] == written.parent.name
    assert len(report["companies"]) == 3
    assert run["name"] == "Sample screen"
    assert {"sample-screen", "warnings"} <= set(run["tags"])


@pytest.mark.nightly  # it waits for the next minute, and for three companies
@pytest.mark.slow
def test_the_log_of_a_scheduled_run_tells_it(server: Server, scheduled: tuple[dict[str, Any], Path]) -> None:
    run, written = scheduled
    wanted = {"logs": {"flow_run_id": {"any_": [run["id"]]}}, "sort": "TIMESTAMP_ASC", "limit": 200}

    def lines() -> list[str] | None:
        """What the log says, once its last lines have come: the worker sends them behind the run's last state."""
        messages = [line["message"] for line in server.ask("/logs/filter", wanted)]
        last = ("The report is at ", "Finished in state")  # which comes first is Prefect's affair
        return messages if all(any(line.startswith(begin) for line in messages) for begin in last) else None

    told = wait_for(lines, 60)
    assert f"The run {written.parent.name} begins: 3 companies, 16 criteria." in told
    assert any(line.startswith("1       Fjordvarm: 74\u202f% proven") for line in told)
    assert any("recognised (OCR)" in line or "cannot be opened" in line for line in told)
    assert any(line.startswith("cost    0 calls") for line in told)
    assert sum(line.startswith("Finished in state") for line in told) == 1, "that of the run, not of each task"
    assert any(line.startswith("The report is at ") and str(written.parent) in line for line in told)


@pytest.mark.nightly  # it waits for the next minute, and for three companies
@pytest.mark.slow
def test_the_sample_is_scored_on_its_figures_without_a_model(scheduled: tuple[dict[str, Any], Path]) -> None:
    _, written = scheduled
    companies = {company["name"]: company for company in json.loads(written.read_text())["companies"]}
    for company in companies.values():
        settled = [row for row in company["criteria"] if row["status"] in {"scored", "missing"} and row["reason"]]
        assert (len(company["criteria"]), len(settled) >= 12) == (16, True)
    shares = {
        name: next(row for row in company["criteria"] if row["id"] == "recurring")
        for name, company in companies.items()
    }
    said = {name: re.search(r"is (\S+) %", row["reason"])[1] for name, row in shares.items()}  # type: ignore[index] # found
    assert said == {"Fjordvarm": "91.2", "Kessler Prüftechnik": "29.6", "Cuidara": "88.9"}

    assert not any(companies[name]["figure_conflicts"] for name in ("Fjordvarm", "Kessler Prüftechnik"))
    (conflict,) = companies["Cuidara"]["figure_conflicts"]
    assert (conflict["concept"], conflict["period"]) == ("recurring_revenue", "2024-12-31")
    assert (conflict["counted"]["value"], conflict["counted"]["document_name"]) == (
        "7100000",
        "Audited accounts FY2024.pdf",
    )
    assert {(row["value"], row["document_name"]) for row in conflict["others"]} == {
        ("9400000", "Cuidara Investor Deck Feb 2025.pptx")
    }
    page = written.with_name("report.html").read_text()
    assert "<b>Contradicted:</b> Recurring revenue, 2024-12-31: EUR 7.1 m counts, 9.4 m not." in page
    headlines = re.findall(
        r'class="lead".*?</p>|data-show="standing".*?</p>|class="headline".*?</summary>', page, re.DOTALL
    )
    assert len(headlines) == 7
    assert not any("100\u202f%" in headline for headline in headlines)


@pytest.mark.slow
def test_a_run_on_demand_finishes_on_a_worker(server: Server, request: pytest.FixtureRequest) -> None:
    pause(server)  # before the worker is there, which would run the whole batch beside it
    request.getfixturevalue("worker")
    deployment = server.ask("/deployments/name/due_diligence/sample-screen")
    server.ask(f"/deployments/{deployment['id']}/create_flow_run", {"parameters": {"company": "Cuidara"}})
    run = wait_for(lambda: ended(server, "due_diligence/sample-screen", scheduled=False), 200, OFTEN)
    assert run["state_type"] == "COMPLETED", tell_end(server, run, "worker.log")
    written = max(
        (server.folder / "reports" / "sample-screen").glob("*/report.json"), key=lambda file: file.stat().st_mtime
    )
    report = json.loads(written.read_text())
    assert [each["name"] for each in report["companies"]] == ["Cuidara"]
    assert run["name"] == "Sample screen · Cuidara"


def test_workers_here_try_as_often_as_those_of_users(server: Server) -> None:
    assert not set(PATIENCE) & set(server.environment), "one 503 more would make a run crash"


def test_deploying_sets_the_schedule(server: Server) -> None:
    nightly = server.ask("/deployments/name/batch/sample-screen")
    assert [schedule["schedule"]["cron"] for schedule in nightly["schedules"]] == ["* * * * *"]
    assert nightly["work_pool_name"] == "diligence"


def runs_to_come(server: Server, name: str) -> list[dict[str, Any]]:
    """A deployment's runs that wait for their time, the next one first."""
    deployment = server.ask(f"/deployments/name/{name}")
    waiting = {
        "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
        "deployments": {"id": {"any_": [deployment["id"]]}},
        "sort": "EXPECTED_START_TIME_ASC",
    }
    return list(server.ask("/flow_runs/filter", waiting))


def test_runs_to_come_bear_the_name_of_their_batch(server: Server, two: tuple[Path, Path]) -> None:
    for cron in ("0 20 * * 1-5", "0 6 * * *"):  # the second takes the place of the first
        done = server.call(["deploy", "--batch", str(two[0]), "--cron", cron])
        assert done.returncode == 0, done.stderr
        names = [run["name"] for run in runs_to_come(server, "batch/autumn-screen")]
        assert len(names) >= 3
        assert set(names) == {"Autumn screen"}


def test_no_run_holds_a_slot_that_is_lost_with_prefects_server(server: Server) -> None:
    for flow in ("batch", "due_diligence", "help_run"):
        assert server.ask(f"/deployments/name/{flow}/sample-screen")["global_concurrency_limit"] is None


@pytest.mark.parametrize(
    "given",
    [
        {"company": "Cuidara", "out": "anywhere"},
        {"company": "Cuidara", "reports": "/tmp"},
        {"company": "Cuidara", "batch_file": "/etc/passwd"},
        {"company": "Nobody"},
    ],
    ids=["out", "reports", "file", "company"],
)
def test_whoever_presses_run_names_no_path_and_no_other_company(server: Server, given: dict[str, str]) -> None:
    deployment = server.ask("/deployments/name/due_diligence/sample-screen")
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.ask(f"/deployments/{deployment['id']}/create_flow_run", {"parameters": given})
    assert refused.value.code in {409, 422}
    refused.value.close()


def test_silent_runs_are_marked_as_crashed(server: Server) -> None:
    deployment = server.ask("/deployments/name/batch/sample-screen")
    assert deployment["job_variables"]["env"]["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"
    ours = {each["id"] for each in server.ask("/deployments/filter", {}) if each["name"] == "sample-screen"}
    watching = {
        each["trigger"]["match_related"]["prefect.resource.id"].removeprefix("prefect.deployment."): each
        for each in server.ask("/automations/filter", {})
        if each["name"].startswith("Sample screen: silent runs of ")
    }
    assert len(ours) == 3
    assert ours <= watching.keys(), "of each deployment"
    trigger = watching[deployment["id"]]["trigger"]
    assert (trigger["posture"], trigger["within"]) == ("Proactive", 86)
    assert [action["state"] for action in watching[deployment["id"]]["actions"]] == ["CRASHED"]


def test_deploying_again_keeps_what_is_not_given_anew(server: Server, two: tuple[Path, Path]) -> None:
    words = ["deploy", "--batch", str(two[0])]
    assert server.call(words).returncode == 0
    assert server.ask("/deployments/name/batch/autumn-screen")["schedules"] == []
    first = [*words, "--cron", "0 20 * * 1-5", "--timezone", "Europe/Berlin", "--reports", "nightly"]
    assert server.call(first).returncode == 0
    deployment = server.ask("/deployments/name/batch/autumn-screen")
    server.ask(f"/deployments/{deployment['id']}/pause_deployment", {})
    assert server.call(words).returncode == 0
    again = server.ask("/deployments/name/batch/autumn-screen")
    assert [entry["schedule"]["timezone"] for entry in again["schedules"]] == ["Europe/Berlin"]
    assert again["paused"]
    assert again["parameters"]["reports"] == deployment["parameters"]["reports"]
    assert server.call([*words, "--cron", "off"]).returncode == 0
    assert server.ask("/deployments/name/batch/autumn-screen")["schedules"] == []


def test_deploying_again_changes_nothing(server: Server) -> None:
    before = server.ask("/deployments/filter", {})
    assert server.call(["deploy", "--cron", "* * * * *"]).returncode == 0
    after = server.ask("/deployments/filter", {})
    pause(server)
    assert {each["id"] for each in before} == {each["id"] for each in after}


@pytest.fixture
def two(server: Server, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Two batch files in one folder; what is deployed of them is removed again."""
    (tmp_path / "criteria.yaml").write_text(CRITERIA)
    for folder in ("alpha", "beta"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "deck.txt").write_text("Revenue is recurring.")
    batches = []
    for name, company in (("Autumn screen", "alpha"), ("Winter screen", "beta")):
        file = tmp_path / f"{company}.yaml"
        file.write_text(BATCH.format(name=name, company=company))
        batches.append(file)
    yield batches[0], batches[1]
    for deployment in server.ask("/deployments/filter", {}):
        if deployment["name"] != "sample-screen":
            server.ask(f"/deployments/{deployment['id']}", method="DELETE")


def make_pool(server: Server, name: str, limit: int) -> None:
    """A work pool as `prefect work-pool create` makes it, with a limit of runs at once."""
    template = server.ask("/work_pools/diligence")["base_job_template"]
    pool = {"name": name, "type": "process", "base_job_template": template, "concurrency_limit": limit}
    server.ask("/work_pools/", pool)


def test_each_batch_has_a_deployment_of_its_own_on_the_pool_as_it_is(server: Server, two: tuple[Path, Path]) -> None:
    make_pool(server, "limited", 3)
    for file, cron in zip(two, ("0 20 * * 1-5", "0 6 * * 1"), strict=True):
        done = server.call(["deploy", "--batch", str(file), "--cron", cron, "--pool", "limited"])
        assert done.returncode == 0, done.stderr
    assert server.ask("/work_pools/limited")["concurrency_limit"] == 3
    listed = server.call(["deploy", "--list"]).stdout.splitlines()
    assert [line.split("\t") for line in listed if "-screen" in line and "sample" not in line] == [
        ["batch/autumn-screen", "0 20 * * 1-5 UTC", "limited", str(two[0])],
        ["batch/winter-screen", "0 6 * * 1 UTC", "limited", str(two[1])],
    ]
    removed = server.call(["deploy", "--remove", "Winter screen"])
    assert removed.stdout.splitlines() == ["removed batch/winter-screen", "removed due_diligence/winter-screen"]
    left = {each["name"] for each in server.ask("/deployments/filter", {})}
    assert "autumn-screen" in left
    assert "winter-screen" not in left
    again = server.call(["deploy", "--remove", "Winter screen"])
    assert again.returncode == 1
    assert "autumn-screen" in again.stderr


def test_another_batch_of_the_same_short_name_takes_nobodys_place(server: Server, two: tuple[Path, Path]) -> None:
    assert server.call(["deploy", "--batch", str(two[0])]).returncode == 0
    two[1].write_text(BATCH.format(name="Autumn: screen", company="beta"))
    done = server.call(["deploy", "--batch", str(two[1])])
    assert done.returncode == 2
    assert "'Autumn screen' is deployed as autumn-screen" in done.stderr


def test_a_pool_of_a_type_that_is_not_known_is_refused(server: Server, two: tuple[Path, Path]) -> None:
    server.ask("/work_pools/", {"name": "jobs", "type": "cloud-run"})
    done = server.call(["deploy", "--batch", str(two[0]), "--pool", "jobs"])
    assert done.returncode == 2
    assert "of type cloud-run" in done.stderr
    server.ask("/work_pools/", {"name": "containers", "type": "docker"})
    assert server.call(["deploy", "--batch", str(two[0]), "--pool", "containers"]).returncode == 0


def test_a_pool_that_is_not_there_is_made_for_processes(server: Server, two: tuple[Path, Path]) -> None:
    done = server.call(["deploy", "--batch", str(two[0]), "--pool", "new"])
    assert done.returncode == 0
    assert "The work pool new was created; it starts processes" in done.stderr
    assert server.ask("/work_pools/new")["type"] == "process"
    assert "The work pool new (process) has no live worker: `prefect worker start --pool new`" in done.stderr


def test_a_batch_whose_pool_was_deleted_says_where_its_runs_go(server: Server, two: tuple[Path, Path]) -> None:
    words = ["deploy", "--batch", str(two[0])]
    assert server.call([*words, "--pool", "passing"]).returncode == 0
    told = "had no work pool any more; its runs start on diligence now, or give --pool."
    assert told not in server.call(words).stderr
    server.ask("/work_pools/passing", None, "DELETE")
    assert told in server.call(words).stderr
    assert told not in server.call(words).stderr


def test_a_pool_that_is_paused_or_has_a_worker_is_told_as_it_is(server: Server, two: tuple[Path, Path]) -> None:
    make_pool(server, "resting", 3)
    server.ask("/work_pools/resting", {"is_paused": True}, "PATCH")
    server.ask("/work_pools/resting/workers/heartbeat", {"name": "machine 1"})
    words = ["deploy", "--batch", str(two[0]), "--pool", "resting"]
    assert "is paused: nothing starts until `prefect work-pool resume resting`" in server.call(words).stderr
    server.ask("/work_pools/resting", {"is_paused": False}, "PATCH")
    assert server.call(words).stderr == ""


def test_companies_of_the_batch_are_a_choice_of_the_form(server: Server) -> None:
    deployment = server.ask("/deployments/name/due_diligence/sample-screen")
    company = deployment["parameter_openapi_schema"]["properties"]["company"]
    assert company["description"].startswith("the name of a company of the batch")
    assert (company["type"], company["enum"]) == ("string", ["Fjordvarm", "Kessler Prüftechnik", "Cuidara"])
    first = min(deployment["parameter_openapi_schema"]["properties"].items(), key=lambda field: field[1]["position"])
    assert first == ("company", company)
    fields = deployment["parameter_openapi_schema"]["properties"]
    assert {name for name, field in fields.items() if len(field.get("enum", "")) != 1} == {"company"}


@pytest.fixture
def hook() -> Iterator[LoopbackServer]:
    with LoopbackServer(lambda _: Reply(status=204)) as server:
        yield server


def test_a_run_that_fails_is_told_by_the_block_that_was_named(
    server: Server, two: tuple[Path, Path], hook: LoopbackServer
) -> None:
    before = {each["id"] for each in server.ask("/automations/filter", {})}
    kind = server.ask("/block_types/slug/custom-webhook")
    (schema,) = server.ask("/block_schemas/filter", {"block_schemas": {"block_type_id": {"any_": [kind["id"]]}}})
    data = {"name": "deals", "url": hook.url, "json_data": {"subject": "{{subject}}", "body": "{{body}}"}}
    block = {"name": "deals", "block_type_id": kind["id"], "block_schema_id": schema["id"], "data": data}
    server.ask("/block_documents/", block)
    words = ["deploy", "--batch", str(two[0])]
    refused = server.call([*words, "--notify", "slack-webhook/nobody"])
    assert refused.returncode == 2
    assert "'slack-webhook/nobody'" in refused.stderr
    assert server.call([*words, "--notify", "custom-webhook/deals"]).returncode == 0
    assert server.call(words).returncode == 0  # it stays
    deployment = server.ask("/deployments/name/batch/autumn-screen")
    run = server.ask(f"/deployments/{deployment['id']}/create_flow_run", {"name": "Autumn screen"})
    failed = {"type": "FAILED", "name": "Failed", "message": "Alpha: its data room is not there."}
    server.ask(f"/flow_runs/{run['id']}/set_state", {"state": failed, "force": True})
    message = json.loads(wait_for(lambda: hook.asked, 60)[0].body)
    assert message["subject"] == "Autumn screen: Failed"
    assert "Alpha: its data room is not there." in message["body"]
    assert run["id"] in message["body"]
    assert server.call(["deploy", "--remove", "Autumn screen"]).returncode == 0
    assert {each["id"] for each in server.ask("/automations/filter", {})} <= before


@pytest.mark.nightly  # one to two minutes
@pytest.mark.slow
def test_two_batches_on_a_pool_with_a_limit_both_run_where_their_files_are_gone(
    server: Server, two: tuple[Path, Path]
) -> None:
    pool = "one-at-a-time"
    make_pool(server, pool, 1)
    words = ["--cron", "* * * * *", "--reports", "nightly", "--pool", pool]
    for file in two:
        done = server.call(["deploy", "--batch", str(file), *words])
        assert done.returncode == 0, done.stderr
        file.unlink()
    (two[0].parent / "criteria.yaml").unlink()
    later = runs_to_come(server, "batch/autumn-screen")[-1]["id"]
    server.ask(f"/flow_runs/{later}", {"name": "made-up-name"}, "PATCH")  # as one that Prefect schedules later
    own = server.folder / "flows"  # a package of the folder's own, of the same name as ours
    own.mkdir()
    (own / "__init__.py").write_text("raise SystemExit('not ours')")
    started = [server.start(["worker", "start", "--pool", pool], "limited.log")]
    try:
        for name in ("autumn-screen", "winter-screen"):
            run = wait_for(partial(ended, server, f"batch/{name}", scheduled=True), 200, OFTEN)
            assert run["state_type"] == "COMPLETED", tell_end(server, run, "limited.log")
            assert list((server.folder / "nightly" / name).glob("*/report.json"))
        assert server.ask(f"/flow_runs/{later}")["name"] == "Autumn screen"
    finally:
        end(started)
        shutil.rmtree(own)


def test_deploy_says_what_is_missing(tmp_path: Path) -> None:
    done = call(["deploy"], tmp_path)
    assert done.returncode == 1
    assert "PREFECT_API_URL" in done.stderr
    away = "http://127.0.0.1:9/api"
    with temporary_settings({PREFECT_API_URL: away}):
        done = call(["deploy"], tmp_path, PREFECT_API_URL=away)
    assert done.returncode == 1
    assert "PREFECT_API_URL" in done.stderr
    assert "Traceback" not in done.stderr

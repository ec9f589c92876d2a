"""Runs under a budget, against a model server that costs as much as it is allowed to."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from textwrap import dedent
from threading import Lock
from typing import NamedTuple

import pytest
from sqlmodel import col, func, select

from flows.batch import batch, estimate
from storage import database
from storage.runs import Run, RunStatus
from tasks.errors import NotConfigured
from tasks.language.words import most_model_tokens, usual_model_tokens
from tasks.prefect_setup import untracked
from tasks.reports.models import Report
from tasks.reports.report import build
from tasks.spending.money import Usage
from tests.flows.conftest import write_room
from tests.homes import make_home
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, saying

pytestmark = pytest.mark.usefixtures("without_prefect")

REPOSITORY = Path(__file__).parents[2]
COMPANIES, JUDGED = 3, 6
LETTER = "Ninety percent of the revenue is recurring. "


VERDICTS = json.dumps({"verdicts": [{"statement": 1, "verdict": "not said"}]})
JUDGEMENT = json.dumps(
    {
        "found": True,
        "score": 4,
        "reason": "Ninety percent is recurring [1].",
        "quotes": [{"source": 1, "text": LETTER.strip(), "stance": "for"}],
    }
)


class Greedy:
    """A model that writes as much as it may, on a server that counts prompts as dear as can be; its till is `taken`."""

    def __init__(self, server: ModelServer, delay: float = 0) -> None:
        self.taken = Usage()
        self._delay = delay
        self._lock = Lock()
        server.always(self.behave)

    def behave(self, request: ModelRequest) -> ModelResponse:
        limit = next((request.body[name] for name in _LIMITS if request.body.get(name)), 600)
        read = most_model_tokens(request.prompt)
        with self._lock:
            self.taken += Usage(1, read, limit)
        return replace(saying(JUDGEMENT, usage=(read, limit))(request), delay=self._delay)

    @property
    def tokens(self) -> int:
        return self.taken.input_tokens + self.taken.output_tokens

    @property
    def usd(self) -> float:
        return self.taken.input_tokens * 2e-6 + self.taken.output_tokens * 8e-6


_LIMITS = ("max_output_tokens", "max_completion_tokens", "max_tokens")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def screen(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A batch of three companies with six questions each; its model costs 2 and 8 USD for a million tokens."""
    for name, value in settings(tmp_path, server).items():
        monkeypatch.setenv(name, value)
    return write_screen(tmp_path / "screen")


class Capped(NamedTuple):
    """The batch after one finished run under a cap of 40,000 tokens, the run's id and its cost."""

    folder: Path
    screen: Path
    run: str
    server: ModelServer
    till: Greedy
    cost: Usage


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Capped]:
    folder = tmp_path_factory.mktemp("capped")
    with ModelServer() as server:
        till = Greedy(server)
        screen = under(write_screen(folder / "screen"), "40000 tokens")
        with pytest.MonkeyPatch.context() as monkeypatch:
            for name, value in settings(folder, server).items():
                monkeypatch.setenv(name, value)
            with untracked():
                run = batch(screen)
            database.close()
        yield Capped(folder, screen, run, server, till, till.taken)


@pytest.fixture
def capped(first_run: Capped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Capped]:
    """That run in a home of the test's own; the model has been asked nothing since."""
    shutil.copytree(first_run.folder / "home", tmp_path / "home")
    for name, value in settings(tmp_path, first_run.server).items():
        monkeypatch.setenv(name, value)
    under(first_run.screen, "40000 tokens")
    first_run.till.taken = first_run.cost
    del first_run.server.requests[first_run.cost.calls :]
    yield first_run
    database.close()


def write_screen(folder: Path) -> Path:
    """Write the batch of `screen` into `folder`."""
    for name in ("alpha", "beta", "gamma"):
        write_room(folder / "rooms" / name, {"letter.txt": LETTER * 20 + f"So says {name}."})
    questions = "".join(
        f'  - {{id: q{number}, ask: "Is the revenue recurring, number {number}?"}}\n' for number in range(JUDGED)
    )
    (folder / "criteria.yaml").write_text(f"scale: [0, 5]\ncriteria:\n{questions}")
    (folder / "prices.toml").write_text('[models]\n"a-*" = { input = 2.0, output = 8.0 }\n')
    (folder / "batch.yaml").write_text(
        dedent("""
            name: Screen
            criteria: criteria.yaml
            fact_sources: [files]
            drive_root: .
            ai_prices: prices.toml
            companies:
              - {name: Alpha, domain: alpha.example, folder: rooms/alpha}
              - {name: Beta, domain: beta.example, folder: rooms/beta}
              - {name: Gamma, domain: gamma.example, folder: rooms/gamma}
        """)
    )
    return folder / "batch.yaml"


def settings(home: Path, server: ModelServer) -> dict[str, str]:
    return {
        "DILIGENCE_HOME": str(make_home(home / "home")),
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "a-key",
        "DILIGENCE_AI_MODEL": "a-model",
        "DILIGENCE_AI_SEARCH_PLAN": "off",
        "DILIGENCE_AI_STATEMENT_CHECK": "off",
    }


def under(screen: Path, budget: str) -> Path:
    """The batch with that budget."""
    lines = [line for line in screen.read_text().splitlines() if not line.startswith("ai_budget")]
    screen.write_text("\n".join([*lines[:2], f"ai_budget: {budget}", *lines[2:]]) + "\n")
    return screen


def reasons(report: Report, status: str) -> list[str]:
    return [
        criterion.reason for company in report.companies for criterion in company.criteria if criterion.status == status
    ]


def runs_kept() -> int:
    with database.reading() as session:
        return session.exec(select(func.count(col(Run.id)))).one()


def usage_of(report: Report) -> Usage:
    cost = report.run.cost
    return Usage(cost.calls, cost.input_tokens, cost.output_tokens)


def test_a_cap_in_tokens_ends_a_run_cleanly_and_keeps_what_was_scored(capped: Capped) -> None:
    server, till = capped.server, capped.till
    report = build(capped.run)
    assert report.run.status == "finished"
    assert till.tokens <= 40_000
    assert usage_of(report) == till.taken
    scored, left = reasons(report, "scored"), reasons(report, "unscored")
    assert len(scored) == till.taken.calls > 1
    assert len(scored) + len(left) == COMPANIES * JUDGED
    assert all(reason.startswith("The budget is spent") for reason in left)
    assert "40000 tokens" in left[0]
    assert "DILIGENCE_AI_BUDGET" in left[0]
    worst = most_model_tokens(max((request.prompt for request in server.requests), key=len)) + 4096
    assert till.tokens > 40_000 - worst  # and little of it is left over
    assert all(len(company.criteria) == JUDGED for company in report.companies)


def test_a_cap_in_dollars_is_never_passed(screen: Path, server: ModelServer) -> None:
    till = Greedy(server)
    report = build(batch(under(screen, "0.10 USD")))
    assert 0.06 < till.usd <= 0.10
    assert report.run.cost.usd == pytest.approx(till.usd)
    assert report.run.budget == "0.10 USD"
    assert reasons(report, "scored")
    assert reasons(report, "unscored")


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["USD", "tokens"])
def test_a_cap_of_60_percent_of_a_runs_cost_buys_at_least_half_of_its_judgements(
    screen: Path, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    """Of a model that counts and writes as models do, far from the worst case; a cap that suffices changes nothing."""
    server.always(saying(JUDGEMENT))
    whole = build(batch(under(screen, "5 USD")))
    cost = whole.run.cost
    assert len(reasons(whole, "scored")) == len(server.requests) == COMPANIES * JUDGED
    assert cost.usd is not None
    tokens_used = cost.input_tokens + cost.output_tokens
    cap = f"{0.6 * tokens_used:.0f} tokens" if unit == "tokens" else f"{0.6 * cost.usd:.6f} USD"
    for name, value in settings(tmp_path / "another", server).items():
        monkeypatch.setenv(name, value)
    report = build(batch(under(screen, cap)))
    scored = len(reasons(report, "scored"))
    assert COMPANIES * JUDGED / 2 <= scored < COMPANIES * JUDGED
    used = report.run.cost
    if unit == "tokens":
        assert used.input_tokens + used.output_tokens <= 0.6 * tokens_used + 1
    else:
        assert used.usd is not None
        assert used.usd <= 0.6 * cost.usd + 1e-6
    database.close()


def test_a_new_run_pays_for_nothing_twice(capped: Capped) -> None:
    screen, till = capped.screen, capped.till
    first = build(capped.run)
    paid = till.taken
    second = build(batch(under(screen, "60000 tokens")))
    assert second.run.id != first.run.id
    assert len(reasons(second, "scored")) > len(reasons(first, "scored"))
    assert usage_of(second) == till.taken + Usage(-paid.calls, -paid.input_tokens, -paid.output_tokens)
    third = build(batch(under(screen, "1000000 tokens")))
    assert len(reasons(third, "scored")) == COMPANIES * JUDGED
    assert till.taken.calls == COMPANIES * JUDGED


def break_off(run_id: str) -> None:
    """Leave a run as one that was killed before its end."""
    with database.writing() as session:
        run = session.get_one(Run, run_id)
        run.status, run.reported_at = RunStatus.RUNNING, None


def test_a_run_that_was_broken_off_goes_on_under_a_higher_cap(capped: Capped) -> None:
    first, screen, till = capped.run, capped.screen, capped.till
    break_off(first)
    assert batch(under(screen, "40000 tokens")) == first
    assert till.tokens <= 40_000
    break_off(first)
    report = build(batch(under(screen, "300000 tokens")))
    assert report.run.id == first
    assert report.run.budget == "300000 tokens"
    assert len(reasons(report, "scored")) == COMPANIES * JUDGED == till.taken.calls
    assert usage_of(report) == till.taken


@pytest.mark.slow
def test_a_killed_run_goes_on_under_the_same_cap_and_stays_below_it(
    screen: Path, server: ModelServer, tmp_path: Path, prefect_url: str
) -> None:
    till = Greedy(server, delay=0.2)
    under(screen, "40000 tokens")
    secret = os.environ["PREFECT_API_AUTH_STRING"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= settings(make_home(tmp_path / "home").parent, server) | {"PYTHONPATH": str(REPOSITORY)}
    environment |= {"PREFECT_API_URL": prefect_url, "PREFECT_API_AUTH_STRING": secret}
    command = [sys.executable, "-m", "deployments.cli", "run", str(screen), "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        ends = time.monotonic() + 120
        while till.taken.calls < 3 and time.monotonic() < ends:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert till.taken.calls >= 3
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "The budget is spent" in done.stderr
    assert "left unscored" in done.stderr
    report = build("latest")
    assert reasons(report, "unscored")
    assert till.tokens <= 40_000
    assert till.taken.calls <= usage_of(report).calls + 8  # answers that nobody was there for any more
    assert till.tokens <= report.run.cost.input_tokens + report.run.cost.output_tokens <= 40_000


def test_a_cap_in_dollars_without_a_price_is_refused_at_the_start(screen: Path, server: ModelServer) -> None:
    screen.write_text(screen.read_text().replace("ai_prices: prices.toml\n", ""))
    with pytest.raises(NotConfigured, match=r"a-model.*DILIGENCE_AI_PRICES"):
        batch(under(screen, "1 USD"))
    assert server.requests == []
    assert runs_kept() == 0


def test_without_a_price_no_dollars_are_told(screen: Path, server: ModelServer) -> None:
    till = Greedy(server)
    screen.write_text(screen.read_text().replace("ai_prices: prices.toml\n", ""))
    report = build(batch(screen))
    assert report.run.cost.usd is None
    assert report.run.budget is None
    assert report.run.cost.calls == till.taken.calls


def test_an_estimate_asks_nothing_leaves_no_run_and_holds(screen: Path, server: ModelServer) -> None:
    till = Greedy(server)
    told = estimate(screen)
    assert server.requests == []
    assert runs_kept() == 0
    report = build(batch(screen))
    assert told.usual.calls == till.taken.calls == report.run.cost.calls == COMPANIES * JUDGED
    assert [company.usual.calls for company in told.companies] == [JUDGED] * COMPANIES
    assert till.taken.input_tokens <= told.most.input_tokens / 2  # `most` takes each judgement to be asked twice
    about = sum(usual_model_tokens(request.prompt, json.dumps(request.body["text"])) for request in server.requests)
    assert told.usual.input_tokens == pytest.approx(about, rel=0.001)
    assert told.price is not None
    assert told.price.of(told.usual) < told.price.of(told.most)


@pytest.mark.slow
def test_an_estimate_counts_a_search_plan_for_each_criterion_once(
    screen: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_AI_SEARCH_PLAN", "on")
    server.says = JUDGEMENT
    told = estimate(screen)
    report = build(batch(screen))
    assert len(server.plan_requests) == JUDGED
    assert told.usual.calls == report.run.cost.calls == len(server.requests) == (COMPANIES + 1) * JUDGED
    assert [company.usual.calls for company in told.companies] == [2 * JUDGED, JUDGED, JUDGED]
    assert usage_of(report).tokens <= told.most.tokens


@pytest.mark.slow
def test_an_estimate_counts_a_check_of_each_reason(
    screen: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_AI_STATEMENT_CHECK", "on")
    numbers = count(1)

    def say(request: ModelRequest) -> str:
        if "Statement 1:" in request.prompt:
            return VERDICTS
        reason = f"Hardly any subscriber of theirs ever cancels, says advisor {next(numbers)}."
        return json.dumps(json.loads(JUDGEMENT) | {"reason": reason})

    server.says = say
    told = estimate(screen)
    report = build(batch(screen))
    assert told.usual.calls == report.run.cost.calls == len(server.requests) == 2 * COMPANIES * JUDGED
    assert usage_of(report).tokens <= told.most.tokens


def test_an_estimate_leaves_out_what_was_answered_already(capped: Capped) -> None:
    screen, server, till = capped.screen, capped.server, capped.till
    calls = len(server.requests)
    told = estimate(screen)
    assert len(server.requests) == calls
    assert told.usual.calls == COMPANIES * JUDGED - till.taken.calls
    assert told.spent == Usage()  # it would be a new run
    assert not told.fits(told.most)


def test_an_estimate_of_a_run_that_was_broken_off_knows_what_it_has_spent(capped: Capped) -> None:
    first, screen, till = capped.run, capped.screen, capped.till
    break_off(first)
    told = estimate(under(screen, "41000 tokens"))
    assert told.spent == till.taken
    assert told.usual.calls == COMPANIES * JUDGED - till.taken.calls
    assert not told.fits(told.usual)
    with database.reading() as session:
        assert session.get_one(Run, first).status is RunStatus.RUNNING


def test_an_estimate_tells_which_data_room_it_could_not_read(screen: Path) -> None:
    screen.write_text(screen.read_text().replace("rooms/beta", "rooms/nowhere"))
    told = estimate(screen)
    assert [company.usual.calls for company in told.companies] == [JUDGED, 0, JUDGED]
    assert "rooms/nowhere" in (told.companies[1].problem or "")

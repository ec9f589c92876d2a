"""What a run tells of its scans; an estimate; mistakes in budgets and prices."""

import io
from pathlib import Path
from threading import Event

import pytest
from rich.console import Console
from rich.progress import Progress

from deployments import run
from deployments.run import estimate_lines
from flows.batch import CompanyEstimate, Estimate
from storage import database, runs
from storage.runs import RunStatus
from tasks.spending.money import Cap, Pace, Price, Usage
from tests.cases import cases
from tests.deployments.test_command_line import call
from tests.flows.conftest import batch_file
from tests.servers.openai_server import ModelServer
from tests.tasks.reports.rows import company, write_run

__all__ = ["batch_file"]


def estimated(**changes: object) -> Estimate:
    """Two companies that would cost 0.30 USD usually and 1.30 USD at most."""
    values: dict[str, object] = {
        "model": "m",
        "price": Price(1, 10),
        "cap": None,
        "longest": 4096,
        "spent": Usage(),
        "spent_usd": None,
        "companies": [
            CompanyEstimate("Alpha", Usage(2, 100_000, 10_000), Usage(4, 300_000, 50_000)),
            CompanyEstimate("Beta", Usage(1, 0, 10_000), Usage(2, 0, 50_000)),
        ],
    }
    return Estimate(**(values | changes))  # type: ignore[arg-type]


def test_an_estimate_is_a_table_with_a_line_for_all() -> None:
    lines = estimate_lines(estimated())
    assert lines[0].split() == ["calls", "tokens", "in", "tokens", "out", "usual", "cost", "at", "most"]
    assert lines[1].split() == ["Alpha", "2", "100,000", "10,000", "0.2000", "USD", "0.8000", "USD"]
    assert lines[3].split() == ["all", "3", "100,000", "20,000", "0.3000", "USD", "1.30", "USD"]
    assert len({len(line) for line in lines[:4]}) == 1
    assert "1 USD in, 10 USD out" in lines[-2]
    assert "4,096 tokens an answer" in lines[-1]


def test_without_a_price_the_tokens_are_told_and_what_to_do() -> None:
    lines = estimate_lines(estimated(price=None))
    assert "100,000" in lines[3]
    assert "price    unknown for m: " in lines[-2]
    assert "DILIGENCE_AI_PRICES" in lines[-2]


@cases(
    ("pace", "says"),
    [
        (None, "time     unknown: `diligence doctor` measures"),
        (Pace(1000, 50, 1), "time     8 min, at 1,000 tokens a second read and 50 written"),  # 100 s and 400 s
        (Pace(1000, 50, 2), "time     4 min to 8 min"),
        (Pace(10, 1, 1), "time     8.3 h"),
        (Pace(10_000, 5_000, 1), "time     14 s"),
    ],
)
def test_an_estimate_says_how_long_the_run_takes_as_far_as_it_was_measured(pace: Pace | None, says: str) -> None:
    assert [line for line in estimate_lines(estimated(pace=pace)) if line.startswith(says)]


@cases(
    ("cap", "spent", "says"),
    [
        (Cap(usd=1.31), 0.0, "enough in any case"),
        (Cap(usd=1.0), 0.0, "enough, unless"),
        (Cap(usd=1.0), 0.75, "not enough"),
        (Cap(usd=0.2), 0.0, "not enough"),
        (Cap(tokens=400_000), 0.0, "enough in any case"),
        (Cap(tokens=120_000), 0.0, "enough, unless"),
        (Cap(tokens=119_999), 0.0, "not enough"),
    ],
)
def test_an_estimate_says_whether_the_budget_suffices(cap: Cap, spent: float, says: str) -> None:
    assert estimate_lines(estimated(cap=cap, spent=Usage(0), spent_usd=spent))[-1].startswith(f"budget   {cap}: {says}")


def test_what_a_run_has_spent_already_is_told() -> None:
    assert estimate_lines(estimated(spent=Usage(7, 1, 1), spent_usd=0.25))[-1].startswith(
        "spent    7 calls, 0.2500 USD"
    )


def test_a_room_that_could_not_be_read_is_told_below_the_table() -> None:
    lines = estimate_lines(estimated(companies=[CompanyEstimate("Alpha", problem="No folder.")]))
    assert "Alpha: No folder." in lines
    assert lines[1].split()[:2] == ["all", "0"]


def test_without_a_model_nothing_would_be_asked(batch_file: Path, prefect_url: str) -> None:
    done = call(["run", batch_file, "--estimate"], batch_file.parent, PREFECT_API_URL=prefect_url)
    assert done.returncode == 0, done.stderr
    assert "No model is configured" in done.stdout


def test_the_command_prints_an_estimate_and_asks_nothing(batch_file: Path, prefect_url: str) -> None:
    with ModelServer() as server:
        environment = {
            "OPENAI_BASE_URL": server.url,
            "DILIGENCE_AI_MODEL": "gpt-4o-mini",
            "PREFECT_API_URL": prefect_url,
        }
        done = call(["run", batch_file, "--estimate"], batch_file.parent, DILIGENCE_AI_BUDGET="1usd", **environment)
        assert server.requests == []
    assert done.returncode == 0, done.stderr
    assert "usual cost" in done.stdout
    assert "0.15 USD in, 0.6 USD out" in done.stdout
    assert "budget   1.00 USD: enough in any case" in done.stdout
    assert not (batch_file.parent / "reports").exists()
    none = call(["report", "latest", "--format", "json"], batch_file.parent)
    assert none.returncode == 1


def test_a_budget_that_cannot_be_read_names_its_setting(batch_file: Path) -> None:
    done = call(["run", batch_file], batch_file.parent, DILIGENCE_AI_BUDGET="5 EUR")
    assert done.returncode == 2
    assert done.stderr == "DILIGENCE_AI_BUDGET: must be an amount such as 0.50 USD or 20000 tokens.\n"


def test_a_budget_in_the_batch_file_that_cannot_be_read_names_its_line(batch_file: Path) -> None:
    batch_file.write_text(batch_file.read_text() + "ai_budget: 5\n")
    done = call(["run", batch_file], batch_file.parent)
    line = len(batch_file.read_text().splitlines())
    assert done.returncode == 2
    assert done.stderr.startswith(f"batch.yaml, line {line}, ai_budget: must be an amount such as 0.50 USD")


def test_a_budget_in_dollars_without_a_price_is_refused_before_anything_runs(batch_file: Path) -> None:
    environment = {"DILIGENCE_AI_MODEL": "a-model", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    done = call(["run", batch_file], batch_file.parent, DILIGENCE_AI_BUDGET="5 USD", **environment)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("DILIGENCE_AI_BUDGET is 5.00 USD, but no price is known for a-model.")


def test_a_mistake_in_the_prices_file_is_told_before_anything_runs(batch_file: Path) -> None:
    (batch_file.parent / "prices.toml").write_text('[models]\n"a-model" = { input = "much", output = 1 }\n')
    batch_file.write_text(batch_file.read_text() + "ai_prices: prices.toml\n")
    environment = {"DILIGENCE_AI_MODEL": "a-model", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    done = call(["run", batch_file], batch_file.parent, **environment)
    assert done.returncode == 2
    assert "prices.toml, line 2, models.a-model.input: must be a number" in done.stderr


@pytest.mark.parametrize(
    ("ocr", "told"), [("auto", ["Alpha, scans: 2 of 41 pages", "Alpha, scans: 3 of 20 pages"]), ("off", [])]
)
def test_a_file_is_told_of_each_tenth_of_scans_that_was_read_since_this_start(
    home: Path, monkeypatch: pytest.MonkeyPatch, ocr: str, told: list[str]
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR", ocr)
    write_run("r1", [company("Alpha")], status=RunStatus.RUNNING, finished_at=None)
    with database.reading() as session:
        (alpha,) = runs.run_companies(session, "r1")
    ended, seen = Event(), [(1, 51), (0, 20), (0, 41), (2, 41), (3, 41), (3, 20), (20, 20)]
    looks = iter(range(len(seen)))
    look: list[int] = []

    def wait(_: float) -> bool:
        look[:] = [next(looks)]
        return look[0] == len(seen) - 1

    monkeypatch.setattr(run, "scans_done", lambda *_: {alpha.id: seen[look[0]]})
    monkeypatch.setattr(ended, "wait", wait)
    printed = io.StringIO()
    run._watch("Autumn screen", Progress(console=Console(file=printed, width=200)), ended, 0)
    assert printed.getvalue().splitlines() == told

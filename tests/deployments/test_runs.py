"""What a run says at its end, and the list of runs: ranking, cost, every warning, and names as they are."""

from pathlib import Path

import pytest

from deployments.runs import list_runs
from storage.runs import RunStatus
from tasks.reports.report import list_warnings, load_results, result_lines
from tests.tasks.reports.everything import report_with_everything
from tests.tasks.reports.rows import company, write_run

pytestmark = pytest.mark.usefixtures("home")
NOTHING_SCORED = (
    "0\u202f% proven, may reach 100\u202f%. Not ranked: 0\u202f% of the weight is scored, and half is needed; "
    "100\u202f% is unscored"
)
MARKUP = "[/bold] [red]:smile:"


def test_the_ranking_has_a_line_a_company_and_the_last_line_is_the_cost() -> None:
    write_run("r1", [company("Alpha", total=0.75, coverage=0.5, rank=1), company("Beta", 1)], calls=1200, usd=0.25)
    assert result_lines(load_results("r1")) == [
        "1       Alpha: 38\u202f% proven, may reach 88\u202f%",
        f"–       Beta: {NOTHING_SCORED}",
        "cost    1,200 calls, 0 tokens in, 0 out, 0.2500 USD",
    ]


def test_a_cost_without_a_price_and_a_failed_company_say_so() -> None:
    write_run("r1", [company("Alpha", problem="The folder does not exist.")], calls=1)
    assert result_lines(load_results("r1")) == [
        f"–       Alpha: {NOTHING_SCORED}; failed: The folder does not exist.",
        "cost    1 call, 0 tokens in, 0 out, price not known",
    ]


def test_every_warning_of_the_report_is_told_in_one_line_each(home: Path) -> None:
    report = report_with_everything(f"{MARKUP}\nnext")
    lines = list_warnings(load_results(report.run.id))
    told = "\n".join(lines)
    assert len(lines) == told.count("\n") + 1
    for each in report.companies:
        for warning in (*each.warnings, *(document.warning for document in each.documents if document.warning)):
            assert " ".join(warning.split()) in told


def test_runs_are_listed_newest_first_with_how_they_ended(capsys: pytest.CaptureFixture[str]) -> None:
    write_run("r1", [company("Alpha", total=0.5, coverage=1, rank=1)], batch=f"Acme {MARKUP}")
    write_run("r2", [], days=-1, status=RunStatus.FAILED, reported_at=None)
    write_run("r3", [], days=-2, status=RunStatus.RUNNING, reported_at=None)
    list_runs(most=3)
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in lines] == ["r3", "r2", "r1"]
    assert "running" in lines[0]
    assert "killed before its report" in lines[1]
    assert lines[2].endswith(f"finished  Acme {MARKUP}")
    list_runs(most=1)
    assert "r2" not in capsys.readouterr().out

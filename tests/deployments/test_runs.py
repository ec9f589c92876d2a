"""What a run says at its end, and the list of runs: ranking, cost, every warning, and names as they are.

A run's tables as files: typed, joined by their keys, opened by DuckDB, safe in a spreadsheet.
"""

import csv
from pathlib import Path

import duckdb
import pytest

from deployments.runs import export, list_runs
from storage import database
from storage.documents import DocumentStatus
from storage.runs import RunStatus
from tasks.errors import BadRequest, NotFound
from tasks.reports.files import TABLES
from tasks.reports.report import list_warnings, load_results, result_lines
from tests.tasks.reports.everything import report_with_everything
from tests.tasks.reports.rows import company, document, write_company, write_run

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
        for warning in (*each.warnings, *(entry.warning for entry in each.documents if entry.warning)):
            assert " ".join(warning.split()) in told


def test_documents_with_the_same_warning_share_a_line_that_names_all_that_were_not_read(home: Path) -> None:
    write_run("r1", [company("Alpha", total=0.5, coverage=1, rank=1)])
    scans = [document(f"scan {n}", warning="Scans, whose text may be wrong.") for n in range(5)]
    closed = [
        document(f"deck {n}", warning="A password.", status=DocumentStatus.FAILED, characters=0) for n in range(4)
    ]
    write_company("r1", "alpha.example", documents=[*scans, *closed])
    assert list_warnings(load_results("r1")) == [
        "Alpha: deck 0.pdf, deck 1.pdf, deck 2.pdf, deck 3.pdf: A password.",
        "Alpha: scan 0.pdf, scan 1.pdf, scan 2.pdf and 2 more: Scans, whose text may be wrong.",
    ]


def test_runs_are_listed_newest_first_with_how_they_ended(capsys: pytest.CaptureFixture[str]) -> None:
    write_run("r1", [company("Alpha", total=0.5, coverage=1, rank=1)], batch=f"Acme {MARKUP}")
    write_run("r2", [], days=-1, status=RunStatus.FAILED, reported_at=None)
    write_run("r3", [], days=-2, status=RunStatus.RUNNING, reported_at=None)
    with database.locked("batch Autumn screen"):
        list_runs(most=3)
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in lines] == ["r3", "r2", "r1"]
    assert "running" in lines[0]
    assert "killed before its report" in lines[1]
    assert lines[2].endswith(f"finished  Acme {MARKUP}")
    list_runs(most=1)
    assert "r2" not in capsys.readouterr().out


def test_every_table_has_its_columns_and_types_and_joins_by_its_keys(tmp_path: Path) -> None:
    report = report_with_everything("Alpha")
    export(report.run.id, tmp_path)
    with duckdb.connect(":memory:") as db:
        for name, table in TABLES.items():
            described = db.sql(f"describe select * from '{tmp_path}/{name}.parquet'").fetchall()
            assert {row[0]: row[1] for row in described} == dict(table.columns), name
        count = sum(len(criterion.quotes) for each in report.companies for criterion in each.criteria)
        joined = db.sql(
            f"select count(*) from '{tmp_path}/quotes.parquet' join '{tmp_path}/criteria.parquet'"
            f" using (run_id, company_domain, criterion_id) join '{tmp_path}/companies.parquet'"
            " using (run_id, company_domain)"
        ).fetchall()
        assert joined == [(count,)]
        assert count
        scores = db.sql(f"select criterion_id, score_points from '{tmp_path}/criteria.parquet'").fetchall()
        assert sorted(scores, key=str) == sorted(
            ((one.id, one.score) for each in report.companies for one in each.criteria), key=str
        )


def test_the_same_rows_as_csv_without_a_formula(tmp_path: Path) -> None:
    report = report_with_everything("=HYPERLINK(1)")
    export(report.run.id, tmp_path, "csv")
    tables = {name: list(csv.reader((tmp_path / f"{name}.csv").read_text().splitlines())) for name in TABLES}
    assert all(tuple(rows[0]) == tuple(TABLES[name].columns) for name, rows in tables.items())
    assert len(tables["companies"]) == 1 + len(report.companies)
    cells = [cell for rows in tables.values() for row in rows for cell in row]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


def test_a_run_that_goes_on_says_so_and_is_exported_as_far_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run("r1", [company("Alpha")], status=RunStatus.RUNNING, reported_at=None, finished_at=None)
    export("latest", tmp_path)
    told = capsys.readouterr()
    assert "has not ended" in told.err
    assert "companies.parquet: 1 row of companies" in told.out


def test_wrong_use_says_what_to_do(tmp_path: Path) -> None:
    write_run("r1", [company("Alpha")])
    with pytest.raises(NotFound):
        export("r9", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadRequest, match="--out"):
        export("r1", tmp_path / "file")

"""A run's tables as files: typed, joined by their keys, opened by DuckDB, safe in a spreadsheet."""

import csv
from pathlib import Path

import duckdb
import pytest

from deployments.runs import export
from storage.runs import RunStatus
from tasks.errors import BadRequest, NotFound
from tasks.reports.files import TABLES
from tests.tasks.reports.everything import report_with_everything
from tests.tasks.reports.rows import company, write_run

pytestmark = pytest.mark.usefixtures("home")


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

"""Commands about runs: list them, write the report or the tables of one, list webhooks."""

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import duckdb
import typer

from deployments.terminal import echo, harmless_cell
from storage import database, runs, webhooks
from tasks.errors import BadRequest
from tasks.language.normalise import one_line
from tasks.reports.export import TABLES, ExportTable
from tasks.reports.files import ReportFormat, as_json, make_standalone, render, write_report
from tasks.reports.replacing import check_writable
from tasks.reports.report import build, load_results, result_lines
from tasks.webhooks import check_webhooks, send_due


def list_runs(
    most: Annotated[int, typer.Option("--most", min=1, help="How many runs to list.")] = 20,
) -> None:
    """List the runs, newest first, with status, ranking and cost."""
    database.check_exists()
    with database.reading() as session:
        rows = runs.newest_runs(session, most)
    for row in rows:
        ended = "killed before its report was written" if row.reported_at is None else row.status.value
        status = row.status.value if row.status is runs.RunStatus.RUNNING else ended
        echo(f"{row.id}  {row.started_at:%Y-%m-%d %H:%M} UTC  {status}  {one_line(row.batch)}")
        for line in result_lines(load_results(row.id)):
            echo(f"  {line}")


def report(
    run: Annotated[str, typer.Argument(help="A run's id, a batch's name (its latest run) or latest.")],
    format: Annotated[ReportFormat, typer.Option(help="The format.")] = ReportFormat.HTML,  # noqa: A002 - what users type
    out: Annotated[Path | None, typer.Option(help="Write it to a file in this folder; by default, to stdout.")] = None,
) -> None:
    """Write the report of a run, or print it."""
    database.check_exists()
    if out is not None:
        check_writable(out, f"report.{format}")
        echo(write_report(build(run), format, out))
    elif not format.is_text and sys.stdout.isatty():
        raise BadRequest(f"A .{format} file cannot be shown in a terminal. Give --out FOLDER, or redirect it.")
    else:
        built = build(run)
        sys.stdout.buffer.write(render(built if format is ReportFormat.JSON else make_standalone(built), format))


def list_webhooks(
    most: Annotated[int, typer.Option("--most", min=1, help="How many deliveries to list.")] = 20,
    retry: Annotated[bool, typer.Option("--retry", help="Retry failed deliveries now.")] = False,
) -> None:
    """List webhook deliveries, newest first, or retry failed ones."""
    check_webhooks()
    database.check_exists()
    if retry:
        with database.writing() as session:
            webhooks.make_due(session)
        send_due()
    with database.reading() as session:
        rows = webhooks.newest_deliveries(session, most)
    for row in rows:
        state = "delivered" if row.delivered_at else "waiting" if row.next_at else "given up"
        echo(f"{row.created_at:%Y-%m-%d %H:%M} UTC  {row.event}  {state}  attempts: {row.attempts}  {row.url}")
        if row.problem:
            echo(f"  {row.problem}")


def export(
    run: Annotated[str, typer.Argument(help="A run's id, a batch's name (its latest run) or latest.")],
    out: Annotated[Path, typer.Option(help="The folder for the files, one per table.")],
    format: Annotated[Literal["parquet", "csv"], typer.Option(help="The format.")] = "parquet",  # noqa: A002 - what users type
) -> None:
    """Write the tables of a run to files, for analysis."""
    database.check_exists()
    names = [f"{name}.{format}" for name in TABLES]
    check_writable(out, *names)
    report: Mapping[str, Any] = json.loads(as_json(build(run)))
    if report["run"]["finished_at"] is None:
        echo("The run has not ended: the tables hold what it has done so far.", err=True)
    try:
        for (name, table), file_name in zip(TABLES.items(), names, strict=True):
            part = out / f".{file_name}.part"
            count = _WRITERS[format](table, table.rows(report), part)
            part.replace(out / file_name)
            echo(f"{out / file_name}: {count:,} {'row' if count == 1 else 'rows'} of {name}")
    except OSError as error:
        raise BadRequest(f"The tables cannot be written ({error.strerror}). Choose another --out.") from error


def _write_csv(table: ExportTable, rows: Iterator[tuple[Any, ...]], target: Path) -> int:
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007 - counted
            writer.writerow(harmless_cell(cell) if isinstance(cell, str) else cell for cell in row)
    return count


def _write_parquet(table: ExportTable, rows: Iterator[tuple[Any, ...]], target: Path) -> int:
    """DuckDB reads JSON lines by the table's own types: https://duckdb.org/docs/stable/data/json/loading_json."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as lines:
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007 - counted
            lines.write(json.dumps(dict(zip(table.columns, row, strict=True))) + "\n")
        lines.flush()
        with duckdb.connect(":memory:") as connection:
            source = connection.read_json(lines.name, format="newline_delimited", columns=dict(table.columns))
            source.write_parquet(str(target))
    return count


_WRITERS = {"parquet": _write_parquet, "csv": _write_csv}

"""`diligence runs` and `diligence report`: the runs, newest first, and the report of one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from deployments.terminal import echo
from storage import database, runs
from tasks.errors import BadRequest
from tasks.language.normalise import one_line
from tasks.reports.files import ReportFormat, make_standalone, render, write_report
from tasks.reports.replacing import check_writable
from tasks.reports.report import build, load_results, result_lines


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
    out: Annotated[Path | None, typer.Option(help="Write it to a file in this folder; else to stdout.")] = None,
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

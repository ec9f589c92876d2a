"""`diligence report`: the report of a run, in the format that the user chooses."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from deployments.terminal import echo
from storage import database
from tasks.errors import BadRequest
from tasks.reports.files import ReportFormat, render, standing_alone, write_report
from tasks.reports.replacing import check_writable
from tasks.reports.report import build


def report(
    run: Annotated[str, typer.Argument(help="A run's id, a batch's name (its latest run) or latest.")],
    format: Annotated[ReportFormat, typer.Option(help="The format.")] = ReportFormat.HTML,  # noqa: A002 - what users type
    out: Annotated[Path | None, typer.Option(help="Write it to a file in this folder; else to stdout.")] = None,
) -> None:
    """Give the report of a run."""
    database.check_exists()
    if out is not None:
        check_writable(out, f"report.{format}")
        echo(write_report(build(run), format, out))
    elif not format.is_text and sys.stdout.isatty():
        raise BadRequest(f"A .{format} file cannot be shown in a terminal. Give --out FOLDER, or redirect it.")
    else:
        built = build(run)
        sys.stdout.buffer.write(render(built if format is ReportFormat.JSON else standing_alone(built), format))

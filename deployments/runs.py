"""`diligence runs`: the runs, newest first, with how they ended."""

from typing import Annotated

import typer

from deployments.terminal import echo
from storage import database, runs
from tasks.reports.results import result_lines, results_of
from tasks.text.normalise import one_line


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
        for line in result_lines(results_of(row.id)):
            echo(f"  {line}")

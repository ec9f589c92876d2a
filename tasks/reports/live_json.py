"""Runs and their reports as data, under the viewer's rights: for assistants and other programs."""

import json
from typing import Any

from tasks.offload import offload_always
from tasks.reports.files import as_json
from tasks.reports.home import list_runs
from tasks.reports.live import live_report, live_run


def runs() -> dict[str, Any]:
    """The newest runs with what the viewer may see of them: `{runs: [{id, batch, status, started_at, companies}]}`.

    Raises:
        NotLoggedIn: the drive has accounts, and nobody is logged in.
    """
    return {
        "runs": [
            {
                "id": row.run.id,
                "batch": row.run.batch,
                "status": row.run.status.value,
                "started_at": row.run.started_at.isoformat(),
                "companies": [
                    {"name": one.name, "status": one.status.value, "rank": one.rank, "proven": one.proven}
                    for one in row.companies
                ],
            }
            for row in list_runs()
        ]
    }


def run(run_id: str) -> dict[str, Any]:
    """The report of a run, as `report --format json` gives it, for a model: without what rests on privileged documents.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    return offload_always(_run, run_id)


def _run(run_id: str) -> dict[str, Any]:
    with live_run(run_id) as live:
        content: dict[str, Any] = json.loads(as_json(live_report(live, for_model=True)))
        return content

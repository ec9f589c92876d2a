"""`diligence deploy`: the deployments of a batch on a Prefect server, so that it schedules many batches side by side.

A batch has two: `batch/<batch>`, which the schedule runs, and `due_diligence/<batch>`, one company on demand. What a
run needs of the batch's files goes with them. `deployments/prefect.py` makes them.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from cronsim import CronSim, CronSimError

from deployments.run import SAMPLE
from deployments.terminal import echo
from flows import prefect_server
from flows.batch_definition import BatchDefinition
from flows.batch_file import read_batch
from tasks.errors import BadRequest, NotConfigured
from tasks.remote.environment import check_connection


def deploy(
    batch: Annotated[Path, typer.Option(help="The batch that the schedule runs.")] = SAMPLE,
    reports: Annotated[
        Path, typer.Option(help="The folder for the reports: each run writes to REPORTS/<batch>/<run>.")
    ] = Path("reports"),
    cron: Annotated[str, typer.Option(help="When, as cron's five fields.")] = "0 20 * * 1-5",
    timezone: Annotated[str, typer.Option(help="The time zone of these hours, such as Europe/Berlin.")] = "UTC",
    pool: Annotated[str, typer.Option(help="The process work pool; it is made if there is none.")] = "diligence",
    notify: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE/NAME", help="A notification block of the server: told of runs that fail or are late."
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the batches that are deployed.")] = False,
    remove: Annotated[
        str | None, typer.Option(metavar="NAME", help="Remove the deployments of the batch with that name.")
    ] = None,
) -> None:
    """Deploy a batch to the Prefect server that PREFECT_API_URL names; other batches stay as they are."""
    definition = None
    if not listed and remove is None:
        check_schedule(cron, timezone)
        definition = BatchDefinition.of(read_batch(batch), Path.cwd())
    if not os.environ.get("PREFECT_API_URL"):
        raise NotConfigured("Set PREFECT_API_URL to the Prefect server, such as http://127.0.0.1:4200/api.")
    prefect_server.prepare()
    check_connection(os.environ["PREFECT_API_URL"])
    # Prefect takes 1.2 s to import, and reads its settings from the environment that `prepare` sets.
    from deployments import prefect  # noqa: PLC0415

    with prefect.open_client() as client:
        if listed:
            lines = prefect.deployed(client)
        elif remove is not None:
            lines = [(f"removed {name}",) for name in prefect.remove_deployments(client, remove)]
        else:
            assert definition is not None
            schedule = {"cron": cron, "timezone": timezone}
            lines = [(name,) for name in prefect.register(client, batch, definition, reports, schedule, pool, notify)]
    for cells in lines:
        echo(*cells)


def check_schedule(cron: str, timezone: str) -> None:
    """Check that the schedule is one, and that it is ever due.

    Args:
        cron: minute, hour, day of the month, month, day of the week.
        timezone: a name of the IANA database, such as Europe/Berlin.

    Raises:
        BadRequest: it is not; the message says what is wrong.
    """
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadRequest(
            f"--timezone {timezone!r} is no time zone. Give a name such as Europe/Berlin or UTC."
        ) from error
    try:
        if len(cron.split()) != 5:
            raise CronSimError("it has not five fields")  # noqa: TRY301 - as every other mistake in it
        next(CronSim(cron, datetime.now(zone)))
    except CronSimError as error:
        raise BadRequest(
            f"--cron {cron!r} is no schedule ({error}). Give minute, hour, day of the month, month and day of the "
            'week, such as "0 20 * * 1-5" for every working day at 20:00.'
        ) from error
    except StopIteration:
        raise BadRequest(f"--cron {cron!r} is never due: there is no such day.") from None

"""`diligence deploy`: registers the deployments of prefect.yaml with a Prefect server."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from deployments.run import SAMPLE
from flows import prefect_server
from flows.batch_file import read_batch
from tasks.errors import NotConfigured, Unavailable

_FILE = Path(__file__).parent / "prefect.yaml"
_NAMES = ("batch/nightly", "due_diligence/on-demand")


def deploy(
    batch: Annotated[Path, typer.Option(help="The batch that the schedule runs.")] = SAMPLE,
    reports: Annotated[Path, typer.Option(help="The folder for the reports of scheduled runs.")] = Path("reports"),
    cron: Annotated[str, typer.Option(help="When, as cron's five fields.")] = "0 20 * * 1-5",
    timezone: Annotated[str, typer.Option(help="The time zone of these hours, such as Europe/Berlin.")] = "UTC",
    pool: Annotated[str, typer.Option(help="The process work pool.")] = "diligence",
) -> None:
    """Register the scheduled deployments with the Prefect server that PREFECT_API_URL names."""
    for name in register(batch, reports, cron, timezone, pool):
        typer.echo(name)


def register(batch: Path, reports: Path, cron: str, timezone: str, pool: str) -> tuple[str, ...]:
    """Create the work pool when it is missing and register the deployments; gives their names.

    Args:
        batch: the YAML batch file that the schedule runs; runs on demand use its settings and criteria too.
        reports: the folder for the reports of scheduled runs.
        cron: when, in cron's five fields.
        timezone: the time zone of these hours, such as Europe/Berlin.
        pool: the process work pool's name.

    Raises:
        NotConfigured: no Prefect server is named. Unavailable: the server does not answer, or refuses.
        BadRequest: the batch cannot run as it is.
    """
    if not os.environ.get("PREFECT_API_URL"):
        raise NotConfigured("Set PREFECT_API_URL to the Prefect server, such as http://127.0.0.1:4200/api.")
    prefect_server.prepare()
    read_batch(batch)
    variables = {
        "DILIGENCE_BATCH": batch.absolute(),
        "DILIGENCE_REPORTS": reports.absolute(),
        "DILIGENCE_CRON": cron,
        "DILIGENCE_TIMEZONE": timezone,
        "DILIGENCE_POOL": pool,
        "DILIGENCE_WORKDIR": Path.cwd(),
    }
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    _prefect(["work-pool", "create", pool, "--type", "process", "--overwrite"], environment)
    _prefect(["deploy", "--all", "--prefect-file", str(_FILE)], environment)
    return _NAMES


def _prefect(arguments: list[str], environment: dict[str, str]) -> None:
    """Run Prefect's own command; it never prompts."""
    command = [sys.executable, "-m", "prefect", "--no-prompt", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        reason = lines[-1].strip() if lines else f"exit status {done.returncode}"
        raise Unavailable(f"Prefect could not {' '.join(arguments[:2])}: {reason} (is PREFECT_API_URL right?)")

"""Registering the deployments of prefect.yaml with a Prefect server."""

import os
import subprocess
import sys
from pathlib import Path

from flows import prefect_server
from flows.batch_file import read_batch
from tasks.errors import NotConfigured, Unavailable

_FILE = Path(__file__).parent / "prefect.yaml"
_NAMES = ("batch/nightly", "due_diligence/on-demand")


def register(batch: Path, reports: Path, cron: str, timezone: str, pool: str) -> tuple[str, ...]:
    """Create the work pool when it is missing and register the deployments; gives their names.

    Args:
        batch: the YAML batch file that the schedule runs; its settings and criteria hold on demand too.
        reports: the folder that scheduled runs write their report to.
        cron: when, in cron's five fields.
        timezone: whose hours they are, such as Europe/Berlin.
        pool: the process work pool's name.

    Raises:
        NotConfigured: no Prefect server is named. Unavailable: it does not answer, or refuses.
        BadRequest: the batch cannot run as it is.
    """
    if not os.environ.get("PREFECT_API_URL"):
        raise NotConfigured("Set PREFECT_API_URL to the Prefect server, such as http://127.0.0.1:4200/api.")
    prefect_server.prepare()
    read_batch(batch)
    named = {
        "DILIGENCE_BATCH": batch.absolute(),
        "DILIGENCE_REPORTS": reports.absolute(),
        "DILIGENCE_CRON": cron,
        "DILIGENCE_TIMEZONE": timezone,
        "DILIGENCE_POOL": pool,
        "DILIGENCE_WORKDIR": Path.cwd(),
    }
    environment = os.environ | {name: str(value) for name, value in named.items()}
    _prefect(["work-pool", "create", pool, "--type", "process", "--overwrite"], environment)
    _prefect(["deploy", "--all", "--prefect-file", str(_FILE)], environment)
    return _NAMES


def _prefect(words: list[str], environment: dict[str, str]) -> None:
    """Run Prefect's own command; it asks nothing."""
    command = [sys.executable, "-m", "prefect", "--no-prompt", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        told = (done.stdout + done.stderr).strip().splitlines()
        reason = told[-1].strip() if told else f"exit status {done.returncode}"
        raise Unavailable(f"Prefect could not {' '.join(words[:2])}: {reason} (is PREFECT_API_URL right?)")

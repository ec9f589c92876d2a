"""`diligence worker`: runs what people request in the service, one run after the other.

It waits for days, in 55 MB: whatever reports and runs import would triple that.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from deployments.terminal import echo
from storage import database, runs
from storage.runs import RunRequest

_PAUSE: Final = 2.0  # seconds between two looks at the table
_OUTCOMES: Final = {0: "finished", 1: "finished with failures", 2: "refused", 130: "stopped", -signal.SIGINT: "stopped"}


def work(
    once: Annotated[bool, typer.Option("--once", help="Exit when no requested run is left.")] = False,
) -> None:
    """Carry out the runs that people request in the service."""
    while True:
        with database.writing() as session:
            request = runs.take_request(session)
        if request is not None:
            outcome = _run(request)
            with database.writing() as session:
                runs.note_outcome(session, request.id or 0, outcome)
            echo(f"{request.batch_file}: {outcome}", err=True)
        elif once:
            return
        else:
            time.sleep(_PAUSE)


def _run(request: RunRequest) -> str:
    """Run the batch of a request as `diligence run` does, and say how it ended; a refusal in its own words."""
    batch = Path(request.batch_file or "")
    command = [sys.executable, "-m", "deployments.cli", "run", str(batch), "--out", str(batch.parent / "reports")]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own program
    outcome = _OUTCOMES.get(done.returncode, "broken off")
    words = done.stderr.strip()
    told = {"refused": f"refused: {words[:600]}", "broken off": f"broken off: {words[-600:]}"}
    return told.get(outcome, outcome)

"""Starts the helpers of a run: processes on this machine, or runs of the batch's other deployment on the work pool.

A helper takes companies from the run's queue (`flows/batch.py`) and ends with the run. If the leader is killed, a
helper finishes the run. Stopping the run stops its helpers.
"""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final
from uuid import UUID

from prefect import get_client, settings
from prefect.client.schemas.objects import StateType
from prefect.exceptions import ObjectNotFound
from prefect.runtime import deployment
from prefect.states import Cancelled, Cancelling

from flows.batch_file import Batch
from flows.run import judged_criteria, pending
from flows.settings import BatchSettings
from tasks.tracking import show

log = logging.getLogger(__name__)

HELPER: Final = "help_run"
"""The name of the flow that helpers on a work pool run."""
_LEFT_AFTER: Final = 20.0
"""Seconds after which a run that still has companies gets helpers from the pool: one takes 4 s of work to start."""
_END: Final = 5.0
"""Seconds in which a helper notices that the run is over."""
_SETTINGS: Final = (
    settings.PREFECT_API_URL,
    settings.PREFECT_API_AUTH_STRING,
    settings.PREFECT_API_SSL_CERT_FILE,
    settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
)


def helping(
    run_id: str, batch: Batch, out: Path | None, processes: int | None, *, is_deployed: bool, is_quick: bool
) -> AbstractContextManager[None]:
    """Let helpers examine companies of a run while the block does.

    Args:
        run_id: the run.
        batch: its batch, whose settings are in force.
        out: the folder for the report, which a helper writes where the process that leads has gone.
        processes: how many processes of this machine there are to be, this one among them; None for what the settings
            say.
        is_deployed: whether the run is that of a deployment, which has its helpers on the work pool.
        is_quick: whether what is left takes less time than a helper takes to start.
    """
    configured = BatchSettings.current()
    left = pending(run_id)
    count = processes or configured.processes_for(left, judged=judged_criteria(batch), is_quick=is_quick)
    if not is_deployed or configured.processes is not None:
        return _processes(run_id, out, min(count, left) - 1)
    return _runs_on_pool(run_id) if deployment.id is not None else nullcontext()


@contextmanager
def _processes(run_id: str, out: Path | None, count: int) -> Iterator[None]:
    command = [sys.executable, "-P", "-m", "flows.help_run", run_id, *([str(out)] if out else [])]
    started = [_start(command) for _ in range(count)]
    is_over = False
    try:
        yield
        is_over = True
    except Exception:
        is_over = True  # such as failed companies; an interrupt is none
        raise
    finally:
        for process, errors in started:
            _end(process, errors, _END if is_over else 0.0)


def _start(command: Sequence[str]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    values = {setting.name: setting.value() for setting in _SETTINGS}
    given = {name: str(value) for name, value in values.items() if value is not None}
    errors = TemporaryFile()  # noqa: SIM115 - `_end` closes it
    process = subprocess.Popen(  # noqa: S603 - our own module
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=dict(os.environ) | given | {"PYTHONSAFEPATH": "1"},
    )
    return process, errors


def _end(process: subprocess.Popen[bytes], errors: IO[bytes], patience: float) -> None:
    try:
        is_failed = process.wait(patience) != 0
    except subprocess.TimeoutExpired:
        is_failed = False
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END)
        process.kill()
        process.wait()
    with errors:
        if is_failed:
            errors.seek(0)
            said = _last_words(errors.read().decode(errors="replace"))
            log.warning("A process that was helping with the run ended early: %s", said)


def _last_words(errors: str) -> str:
    """What a process said at its end: its sentence, or the type of an error whose message may contain foreign text."""
    lines = errors.strip().splitlines() or ["it said nothing"]
    return lines[-1].partition(":")[0] if any(line.startswith("Traceback") for line in lines) else lines[-1]


@contextmanager
def _runs_on_pool(run_id: str) -> Iterator[None]:
    ended, started = threading.Event(), list[UUID]()
    name = f"{HELPER}/{deployment.name}"

    def start() -> None:
        if not ended.wait(_LEFT_AFTER):
            show(_start_on_pool, name, run_id, BatchSettings.current().helpers_for(pending(run_id)), started)

    starting = threading.Thread(target=copy_context().run, args=(start,), name="helpers", daemon=True)
    starting.start()
    is_over = False
    try:
        yield
        is_over = True
    except Exception:
        is_over = True
        raise
    finally:
        ended.set()
        starting.join(_END)
        show(_cancel, started, are_stopped=not is_over)


def _start_on_pool(name: str, run_id: str, count: int, started: list[UUID]) -> None:
    with get_client(sync_client=True) as client:
        try:
            found = client.read_deployment_by_name(name)
        except ObjectNotFound:  # deployed by an earlier release
            return
        for number in range(1, count + 1):
            run = client.create_flow_run_from_deployment(
                found.id, parameters={"run": run_id}, name=f"{deployment.name} · helper {number}"
            )
            started.append(run.id)


def _cancel(started: Sequence[UUID], *, are_stopped: bool) -> None:
    """Cancel helpers that have not begun, which have nothing to do; with `are_stopped`, also the others."""
    with get_client(sync_client=True) as client:
        for run_id in started:
            state = client.read_flow_run(run_id).state_type
            if state in {StateType.SCHEDULED, StateType.PENDING}:
                client.set_flow_run_state(run_id, Cancelled(message="The run was over before this helper began."))
            elif are_stopped and state is StateType.RUNNING:
                client.set_flow_run_state(run_id, Cancelling())

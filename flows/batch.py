"""The flow `batch`: examines the companies of a batch file in parallel, ranks them, and writes the report.

Helpers are processes on this machine, or runs of the batch's other deployment on the work pool. A helper takes
companies from the queue and ends with the run. If the leader is killed, a helper finishes the run. Stopping the run
stops its helpers.
"""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType, NoneType
from typing import IO, Annotated, Final
from uuid import UUID

from prefect import get_client, settings, states, tags
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import StateType
from prefect.context import TagsContext
from prefect.exceptions import ObjectNotFound
from prefect.runtime import deployment

from flows.artifacts import batch_key, escape, make_slug, prefix_keys, write_ranking
from flows.batch_definition import DeployedBatch, in_its_folder, load_batch
from flows.batch_file import Batch, BatchSettings
from flows.engine import IfGiven, flow, name_batch_run, show_outcome, tell, without_a_line_a_task
from flows.run import OpenRun, conclude, judged_criteria, pending, reopen_companies, resume_or_start
from flows.scheduling import name_those_to_come, set_worker_secrets
from flows.unchanged import CaughtUp, ListedRoom, TakenOver, going_on, take_over_if_possible
from flows.work import examine_companies
from storage import database, runs
from storage.settings import override_settings
from tasks.reports.report import load_results
from tasks.tracking import show, wait_for_server

HELPER: Final = "help_run"
"""The name of the flow that helpers on a work pool run."""
log = logging.getLogger(__name__)

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
    return _runs_on_pool(run_id, batch.name) if deployment.id is not None else nullcontext()


@contextmanager
def _processes(run_id: str, out: Path | None, count: int) -> Iterator[None]:
    if count < 1:
        yield
        return
    process, errors = _start(
        [sys.executable, "-P", "-m", "flows.help_run", run_id, str(count), *([out] if out else [])]
    )
    try:
        yield
    finally:
        _end(process, errors, 0.0 if _is_interrupted() else _END)


def _is_interrupted() -> bool:
    """Whether the block ends by an interrupt; with failed companies, the run is over."""
    return not isinstance(sys.exception(), Exception | NoneType)


def _start(command: Sequence[str | Path]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
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
def _runs_on_pool(run_id: str, batch: str) -> Iterator[None]:
    ended, started = threading.Event(), list[UUID]()
    name = f"{HELPER}/{deployment.name}"

    def start() -> None:
        if not ended.wait(_LEFT_AFTER):
            show(_start_on_pool, name, batch, run_id, BatchSettings.current().helpers_for(pending(run_id)), started)

    starting = threading.Thread(target=copy_context().run, args=(start,), name="helpers", daemon=True)
    starting.start()
    try:
        yield
    finally:
        ended.set()
        starting.join(_END)
        show(_cancel, started, are_stopped=_is_interrupted())


def _start_on_pool(name: str, batch: str, run_id: str, count: int, started: list[UUID]) -> None:
    with get_client(sync_client=True) as client:
        try:
            found = client.read_deployment_by_name(name)
        except ObjectNotFound:  # deployed by an earlier release
            return
        for number in range(1, count + 1):
            run = client.create_flow_run_from_deployment(
                found.id, parameters={"run": run_id}, name=f"{batch} · helper {number}"
            )
            started.append(run.id)


def _cancel(started: Sequence[UUID], *, are_stopped: bool) -> None:
    """Cancel helpers that have not begun, which have nothing to do; with `are_stopped`, also the others."""
    with get_client(sync_client=True) as client:
        for run_id in started:
            state = client.read_flow_run(run_id).state_type
            if state in {StateType.SCHEDULED, StateType.PENDING}:
                client.set_flow_run_state(
                    run_id, states.Cancelled(message="The run was over before this helper began.")
                )
            elif are_stopped and state is StateType.RUNNING:
                client.set_flow_run_state(run_id, states.Cancelling())


@contextmanager
def continuing(caught_up: CaughtUp | None, name: str) -> Iterator[None]:
    """Let `batch` in the block continue that run, if there is one; its flow run has the batch's name as a tag."""
    with tags(make_slug(name)), going_on(caught_up):
        yield


@flow(name="batch", flow_run_name=name_batch_run)
def batch(
    batch_file: Path,
    criteria: Annotated[Path | None, IfGiven] = None,
    out: Annotated[Path | None, IfGiven] = None,
    reports: Annotated[Path | None, IfGiven] = None,
    definition: DeployedBatch | None = None,
    retry_failed: bool = False,
    processes: int | None = None,
) -> str:
    """Examine every company of a batch, continuing where an interrupted run stopped.

    Args:
        batch_file: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV.
        out: the folder for report.html and report.json.
        reports: a folder in which each run gets its own folder, named by its id; without it and without `out`, the
            report is kept in storage alone.
        definition: the batch as it was deployed, which then counts; `batch_file` says where it came from.
        retry_failed: whether documents that could not be read in earlier runs of the batch are read again.
        processes: how many processes of this machine examine the companies; by default as the settings say.

    Returns:
        The run's id.

    Raises:
        BadRequest: what is wrong in the files. Conflict: the batch is being run elsewhere.
        NotConfigured, NotLoggedIn: the drive's account or the model's server is missing. Nothing is begun.
        CompaniesFailed: some companies failed; all the rest is done and the report says so.
    """
    without_a_line_a_task()
    with in_its_folder(definition), set_worker_secrets(is_deployed=definition is not None):
        screen = load_batch(batch_file, criteria, definition)
        try:
            return _run(screen, out, reports, processes, retry_failed=retry_failed, is_deployed=definition is not None)
        finally:
            if definition is not None:
                show(name_those_to_come, screen.name)


def _run(
    screen: Batch,
    out: Path | None,
    reports: Path | None,
    processes: int | None,
    *,
    retry_failed: bool,
    is_deployed: bool,
) -> str:
    with (
        override_settings(screen.settings),
        TagsContext(current_tags=set()),  # the run has them; of each task they would be a request more
        resume_or_start(screen, retry_failed=retry_failed, is_deployed=is_deployed) as run,
        prefix_keys(screen.name),
    ):
        if out is None and reports is not None:
            out = reports / run.id
        tell([f"The run {run.id} begins: {screen.extent}."])
        reopen_companies(run.id, retry_failed=retry_failed)
        at_once = BatchSettings.current().at_once(judged=judged_criteria(screen))
        taken = _take_over(run, at_once)
        is_quick = CaughtUp(run.id, pending(run.id), taken).is_quick
        with helping(run.id, screen, out, processes, is_deployed=is_deployed, is_quick=is_quick):
            work(run, screen, out, taken.others)
    return run.id


def work(
    run: OpenRun, screen: Batch, out: Path | None, listed: Mapping[int, ListedRoom] = MappingProxyType({})
) -> None:
    """Examine the companies of a run until none is left, and finish the run if this process is its leader by then.

    The companies in one process share its reader processes and the rate limits of the model, the drive and each source;
    all processes share the run's budget. A failure is stored with its company and stops no other.

    Args:
        run: the run.
        screen: its batch, whose settings are in force.
        out: the folder for the report.
        listed: the rooms that this process has listed already, by the companies' ids.

    Raises:
        CompaniesFailed: some companies failed; all the rest is done and the report says so.
    """
    examine_companies(run, screen, listed)
    try:
        conclude(run, out)
    finally:
        if run.is_led_here:
            _show_ranking(run, screen, out)


def _show_ranking(run: OpenRun, screen: Batch, out: Path | None) -> None:
    if run.is_deployed:
        wait_for_server()
    results = database.retry_if_cut(lambda: load_results(run.id))
    show(
        create_markdown_artifact,
        write_ranking(results),
        key=batch_key("ranking", screen.name),
        description=f"{escape(screen.name)}: the companies ranked",
    )
    show_outcome(results, out, run.unwritten)


def _take_over(run: OpenRun, at_once: int) -> TakenOver:
    """Copy the results of unchanged companies from the run before, if there was one."""
    with database.reading() as session:
        if runs.previous_run(session, runs.get_run(session, run.id)) is None:
            return TakenOver()
    taken = take_over_if_possible(run.id, at_once, tracked=True)
    if taken.companies:
        show(
            create_markdown_artifact,
            "\n".join(f"- {escape(company.name)} ({escape(company.domain)})" for company in taken.companies),
            key=batch_key("unchanged", run.batch),
            description=f"{escape(run.batch)}: companies that have not changed since the run before",
        )
    return taken

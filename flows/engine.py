"""Flow runs in Prefect: the decorator `flow`, and what a run gets: its name, log and tags, and on a worker its secrets.

A flow completes even if the Prefect server fails or does not answer; `tasks/tracking.py` says how. A Prefect worker
that runs a deployment sees an ordinary flow. Scheduled runs are named before they start. Secrets come from the worker's
environment, otherwise from Secret blocks of the Prefect server.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast
from uuid import UUID

import httpx
from prefect import get_client, get_run_logger
from prefect.artifacts import create_link_artifact
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.runtime import deployment, flow_run
from pydantic import BeforeValidator

from flows.artifacts import batch_key, escape, report_address
from flows.batch_file import Value, read_batch, secret_files, secrets, variable_name
from storage import database, runs
from storage.settings import override_settings
from tasks.documents.drive.spool import spool
from tasks.errors import BadRequest, NotConfigured, Unavailable
from tasks.operation import name_after_company
from tasks.prefect_setup import TAG
from tasks.reports.report import RunResults, list_warnings, result_lines
from tasks.telemetry import traced
from tasks.tracking import TrackedFlow, show

_TYPE: Final = "secret"  # of blocks
_MOST: Final = 200
"""Page size: the most that Prefect returns at once; it schedules at most 100 runs ahead."""
P = ParamSpec("P")
R = TypeVar("R")


IfGiven = BeforeValidator(lambda value: None if value == "" else value)
"""For a parameter that may be left out: a field that was emptied in Prefect's form is as good as left out."""


def without_a_line_a_task() -> None:
    """Silence the line that Prefect logs for each finished task run; the state is on the task's own page.

    A hundred companies would give hundreds of lines saying "Finished in state Completed()", each stored by the server.
    """
    logging.getLogger("prefect.task_runs").setLevel(logging.WARNING)


def flow(*, name: str, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function as a flow; `options` are those of `prefect.flow`. Its runs are named as an operation's."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        named = {"flow_run_name": name_after_company(name), **options}
        return cast("Callable[P, R]", TrackedFlow(traced("flow", name, function), name=name, **named))

    return decorate


WARNINGS: Final = "warnings"


def name_batch_run() -> str:
    """The name for the current flow run: the batch's name."""
    return _batch_name(flow_run.parameters)


def name_company_run() -> str:
    """The name for the current flow run: the batch's and the company's, `Autumn screen · Alpha`."""
    company = str(flow_run.parameters.get("company") or flow_run.parameters.get("name"))
    batch = _batch_name(flow_run.parameters) if flow_run.parameters.get("batch_file") else None
    return f"{batch} · {company}" if batch and batch != company else company


def name_helper_run() -> str:
    """The name for the current flow run: `Autumn screen · helper`, with the number that its leader gave it."""
    run = str(flow_run.parameters["run"])
    if flow_run.parameters.get("definition") is None:
        with database.reading() as session:
            stored = runs.find_run(session, run)
        batch = stored.batch if stored else run
    else:
        batch = _batch_name(flow_run.parameters)
    name = f"{batch} · helper"
    return flow_run.name if str(flow_run.name).startswith(name) else name


def show_outcome(results: RunResults, out: Path | None, unwritten: Sequence[str] = ()) -> None:
    """Show how a run ended, for a batch or one company: the link to its report, then its log and its tags.

    `unwritten` says why the report is not in the folder `out`.

    The link is made last: it is the newest artifact. The tag `diligence` marks our runs for
    `prune`; `warnings` marks those whose report has any.
    """
    run = results.run
    show(
        create_link_artifact,
        report_address(run.id),
        link_text=f"The report: {escape(run.batch)}",
        key=batch_key("report", run.batch),
        description=f"{escape(run.batch)}: the report and its evidence",
    )
    warnings = [*unwritten, *list_warnings(results)]
    tell(warnings, logging.WARNING)
    where = f"The report is at {report_address(run.id)}{f' and in {out}' if out and not unwritten else ''}."
    tell([*result_lines(results), where])
    show(_add_tags, {TAG, WARNINGS} if warnings else {TAG})


def _add_tags(tags: set[str]) -> None:
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, tags={*flow_run.tags, *tags})


def tell(lines: Iterable[str], level: int = logging.INFO) -> None:
    """Write lines into the log of the current flow run, as Prefect shows it."""
    show(_log, list(lines), level)


def _log(lines: list[str], level: int) -> None:
    logger = get_run_logger()
    for line in lines:
        logger.log(level, "%s", line)


def _batch_name(parameters: dict[str, Any]) -> str:
    """The name of the deployed batch, otherwise the one in its file; for an invalid file the file's name."""
    definition = parameters.get("definition")
    if definition is not None:
        return str(definition["name"] if isinstance(definition, dict) else definition.name)
    file = Path(parameters["batch_file"])
    try:
        return read_batch(file, parameters.get("criteria")).name
    except BadRequest:
        return file.stem


@contextmanager
def set_worker_secrets(*, is_deployed: bool) -> Iterator[None]:
    """While the block runs, set secrets missing from the environment from the server's Secret blocks.

    A secret that a setting expects in a file is in the spool meanwhile, readable by its owner only.

    Raises:
        NotConfigured: as the block, with the sentence that says how a worker gets its secrets.
    """
    if not is_deployed:
        yield
        return
    in_blocks: dict[str, Any] = {}
    missing = [name for name in (*secrets(), *secret_files()) if not os.environ.get(variable_name(name))]
    show(_look_for, missing, in_blocks)
    with ExitStack() as stack:
        values: dict[str, Value] = {name: _text(in_blocks[name]) for name in secrets() if name in in_blocks}
        files = [name for name in secret_files() if name in in_blocks]
        folder = stack.enter_context(spool()) if files else Path()
        for name in files:
            file = folder / name
            file.touch(mode=0o600)
            file.write_text(_text(in_blocks[name]), encoding="utf-8")
            values[name] = str(file)
        stack.enter_context(override_settings(values))
        try:
            yield
        except NotConfigured as error:
            raise NotConfigured(
                f"{error.message} The worker has a secret in its environment, or takes it from a Secret block of the "
                f"Prefect server that is named after the variable: {block_name('openai_api_key')} for OPENAI_API_KEY."
            ) from error


def block_name(name: str) -> str:
    """The name of the block that may hold this setting: `diligence-google-credentials`."""
    return variable_name(name).lower().replace("_", "-")


def _look_for(names: Sequence[str], in_blocks: dict[str, Any]) -> None:
    with get_client(sync_client=True) as client:
        for name in names:
            value = _secret(client, block_name(name))
            if value:
                in_blocks[name] = value


def _secret(client: SyncPrefectClient, block: str) -> Any:
    """What a Secret block holds, a text or JSON; None where there is no such block."""
    try:
        return client.read_block_document_by_name(block, _TYPE).data.get("value")
    except ObjectNotFound:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@contextmanager
def open_client() -> Iterator[SyncPrefectClient]:
    """A client of the server that PREFECT_API_URL names.

    Raises:
        Unavailable: the server does not answer, or refuses what the block asks of it.
    """
    try:
        with get_client(sync_client=True) as client:
            yield client
    except (httpx.HTTPError, PrefectException, RuntimeError) as error:
        refused = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else None
        what = f"answered {refused}" if refused else "does not answer"
        raise Unavailable(f"The Prefect server {what}. Is PREFECT_API_URL right, and the server running?") from error


def name_scheduled_runs(client: SyncPrefectClient, deployment_id: UUID, name: str) -> None:
    """Rename the scheduled runs of a deployment that have not started.

    Args:
        client: of the server.
        deployment_id: the deployment.
        name: the name, which is the batch's.
    """
    waiting = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=[deployment_id]),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
    )
    for run in client.read_flow_runs(flow_run_filter=waiting, limit=_MOST):
        if run.auto_scheduled and run.name != name:
            client.update_flow_run(run.id, name=name)


def name_those_to_come(name: str) -> None:
    """Rename the scheduled runs of the current flow run's deployment, if it has one."""
    if deployment.id is not None:
        with get_client(sync_client=True) as client:
            name_scheduled_runs(client, UUID(deployment.id), name)

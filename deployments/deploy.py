"""`diligence deploy`: the deployments of batches on a Prefect server, and who is told of their runs.

Through Prefect's own client, so that one server schedules many batches side by side.
"""

import os
import pkgutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import httpx
import typer
from cronsim import CronSim, CronSimError
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterTags
from prefect.client.schemas.objects import ConcurrencyLimitStrategy, ConcurrencyOptions
from prefect.events.actions import SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.utilities.callables import parameter_schema
from prefect.workers.process import ProcessWorker

from deployments.run import SAMPLE
from deployments.terminal import echo
from flows import prefect_server
from flows.batch_definition import BatchDefinition, slug_of
from flows.batch_file import read_batch
from flows.scheduling import name_scheduled_runs
from tasks.errors import BadRequest, NotConfigured, NotFound, Unavailable
from tasks.remote.environment import check_connection

TAG: Final = "diligence"
"""Marks our deployments among those of others on the same server."""

_FLOWS: Final = {"batch": "flows.batch.batch", "due_diligence": "flows.due_diligence.due_diligence"}
_DESCRIPTIONS: Final = {
    "batch": "The batch {!r}: every company is examined, the report is written to a folder of the run's own.",
    "due_diligence": "One company, by the criteria and settings of the batch {!r}, whenever somebody asks.",
}
_NOTIFIED: Final = frozenset({"Failed", "Crashed", "TimedOut", "Late"})
"""States of a flow run that send a notification."""


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


def register(
    client: SyncPrefectClient,
    batch_file: Path,
    definition: BatchDefinition,
    reports: Path,
    schedule: dict[str, Any],
    pool: str,
    notify: str | None = None,
) -> list[str]:
    """Register the two deployments of a batch, in the place of its earlier ones; gives their names.

    Args:
        client: of the server.
        batch_file: where the batch came from, for those who look at the deployment.
        definition: the batch. Runs on demand use its settings and criteria too.
        reports: the folder for the reports.
        schedule: when, as Prefect's API takes it: `{"cron": five fields, "timezone": IANA name}`.
        pool: the work pool's name. One that is there is used as it is.
        notify: the block that sends a notification of runs that fail or are late, as `slack-webhook/deals`.

    Raises:
        BadRequest: the name is taken, or the pool or the block cannot be used. Nothing is registered.
    """
    slug = slug_of(definition.name)
    parameters = {
        "batch_file": str(batch_file.absolute()),
        "reports": str(reports.absolute() / slug),
        "definition": definition.model_dump(mode="json"),
    }
    _check_free(client, slug, definition.name)
    block = None if notify is None else _find_block(client, notify)
    _use_pool(client, pool)
    for flow in _FLOWS:
        schedules = [{"schedule": schedule, "active": True}] if flow == "batch" else []
        deployment_id = _register(client, flow, slug, definition, parameters, schedules, pool)
        _notify_of_runs(client, deployment_id, definition.name, block)
        if schedules:
            _schedule_now(client, deployment_id, definition.name)
    return [f"{flow}/{slug}" for flow in _FLOWS]


def deployed(client: SyncPrefectClient) -> list[tuple[str, ...]]:
    """The batches that are deployed, the cells of a line each: name, schedule, work pool and the file it came from."""
    lines: list[tuple[str, ...]] = []
    for deployment in _ours(client):
        schedules = [entry.schedule for entry in deployment.schedules if entry.active]
        when = ", ".join(
            f"{schedule.cron} {schedule.timezone or 'UTC'}" for schedule in schedules if hasattr(schedule, "cron")
        )
        if deployment.entrypoint == _FLOWS["batch"]:
            cells = (
                f"batch/{deployment.name}",
                when or "no schedule",
                deployment.work_pool_name or "no pool",
                str(deployment.parameters.get("batch_file", "")),
            )
            lines.append(cells)
    return lines or [("No batch is deployed.",)]


def remove_deployments(client: SyncPrefectClient, name: str) -> list[str]:
    """Remove the deployments of a batch; runs that are under way end, and reports stay. Gives their names.

    Args:
        client: of the server.
        name: the batch's name, or its deployment's ("batch/autumn-screen" or "autumn-screen").

    Raises:
        NotFound: no such batch is deployed.
    """
    slug = slug_of(name.rpartition("/")[2])
    flows = {entrypoint: flow for flow, entrypoint in _FLOWS.items()}
    removed = []
    ours = _ours(client)
    for deployment in ours:
        if deployment.name == slug and deployment.entrypoint in flows:
            _notify_of_runs(client, deployment.id, deployment.name, None)
            client.delete_deployment(deployment.id)
            removed.append(f"{flows[deployment.entrypoint]}/{slug}")
    if not removed:
        names = ", ".join(sorted({deployment.name for deployment in ours})) or "none"
        raise NotFound(f"No batch {name!r} is deployed. Deployed are: {names}.")
    return sorted(removed)


def _register(
    client: SyncPrefectClient,
    flow: str,
    slug: str,
    batch: BatchDefinition,
    parameters: dict[str, Any],
    schedules: list[dict[str, Any]],
    pool: str,
) -> UUID:
    form = parameter_schema(pkgutil.resolve_name(_FLOWS[flow])).model_dump_for_openapi()
    plain_fields(form)
    if flow == "due_diligence":
        offer(form, "company", [company.name for company in batch.companies])
    return client.create_deployment(
        flow_id=client.create_flow_from_name(flow),
        name=slug,
        description=_DESCRIPTIONS[flow].format(batch.name),
        tags=[TAG, slug],
        entrypoint=_FLOWS[flow],
        parameters=parameters,
        parameter_openapi_schema=form,
        enforce_parameter_schema=True,
        schedules=[DeploymentScheduleCreate.model_validate(schedule) for schedule in schedules],
        # A run that is due while another of the batch is under way waits for it: both write the same rows.
        concurrency_limit=1 if flow == "batch" else None,
        concurrency_options=ConcurrencyOptions(collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
        work_pool_name=pool,
        # With a safe path, a folder's own package `flows` or `tasks` does not come before the installed ones. Prefect
        # itself loads flows from its working folder first, so runs begin in an empty one of the worker's.
        job_variables={"env": {"PYTHONSAFEPATH": "1"}},
    )


def _schedule_now(client: SyncPrefectClient, deployment_id: UUID, name: str) -> None:
    """Have the next runs of a deployment scheduled, which Prefect would do some seconds later, and name them."""
    client.request("POST", "/deployments/{id}/schedule", path_params={"id": deployment_id}, json={})
    name_scheduled_runs(client, deployment_id, name)


def plain_fields(form: dict[str, Any]) -> None:
    """Have a form show a text that may be left out as a plain field: Prefect shows it as a switch between types."""
    for field in form["properties"].values():
        kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
        if len(kinds) == 1 and kinds[0].get("type") == "string":
            del field["anyOf"]
            field.pop("default", None)
            field.update(kinds[0])


def offer(form: dict[str, Any], parameter: str, choices: Sequence[str]) -> None:
    """Have a form offer these choices for a text, as a list before all other fields."""
    form["properties"][parameter] |= {"enum": list(dict.fromkeys(choices)), "position": -1}


def _check_free(client: SyncPrefectClient, slug: str, name: str) -> None:
    """See to it that a deployment of that name is this batch's own.

    Raises:
        BadRequest: it belongs to a batch of another name.
    """
    for deployment in _ours(client):
        known = deployment.parameters.get("definition", {}).get("name", name)
        if deployment.name == slug and known != name:
            raise BadRequest(
                f"The batch {known!r} is deployed as {slug}, which would be the name of {name!r} too. Rename one of "
                f"them, or remove the other with `diligence deploy --remove {slug}`."
            )


def _ours(client: SyncPrefectClient) -> list[Any]:
    """The deployments that were made here, in the order of their names."""
    ours = DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG]))
    deployments: list[Any] = []
    while page := client.read_deployments(deployment_filter=ours, limit=200, offset=len(deployments)):
        deployments += page
    return sorted(deployments, key=lambda deployment: deployment.name)


def _use_pool(client: SyncPrefectClient, name: str) -> None:
    """Make the work pool if there is none; one that is there keeps its settings.

    Raises:
        BadRequest: it is of a type that runs no processes.
    """
    try:
        pool = client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(WorkPoolCreate(name=name, type="process", base_job_template=template))
        typer.echo(f"The work pool {name} was made, for processes on the machines of its workers.", err=True)
        return
    if pool.type != "process":
        raise BadRequest(
            f"The work pool {name} is of type {pool.type}. Batches run in processes: name a pool of type process "
            "with --pool, or a name that is not taken, and it is made."
        )


def _find_block(client: SyncPrefectClient, name: str) -> UUID:
    """The id of a block on the server, by its type and name, as `slack-webhook/deals`.

    Raises:
        BadRequest: there is none of that name.
    """
    kind, _, own = name.partition("/")
    try:
        return client.read_block_document_by_name(own or "-", kind or "-").id
    except ObjectNotFound as error:
        raise BadRequest(
            f"There is no block {name!r} on the Prefect server. Give type and name, such as slack-webhook/deals: "
            "`prefect block ls` lists those that are there, and the page Blocks of its UI makes one."
        ) from error


def _notify_of_runs(client: SyncPrefectClient, deployment_id: UUID, batch: str, block: UUID | None) -> None:
    """Have a notification sent where a run of a deployment fails or is late, in the place of an earlier one.

    Args:
        client: of the server.
        deployment_id: the deployment.
        batch: its name in words.
        block: what sends it; None for no notification.
    """
    resource = f"prefect.deployment.{deployment_id}"
    client.delete_resource_owned_automations(resource)
    if block is None:
        return
    trigger = EventTrigger(
        expect={f"prefect.flow-run.{state}" for state in _NOTIFIED},
        match_related=ResourceSpecification({"prefect.resource.id": resource, "prefect.resource.role": "deployment"}),
        for_each={"prefect.resource.id"},
        posture=Posture.Reactive,
        threshold=1,
        within=timedelta(0),
    )
    action = SendNotification(
        block_document_id=block,
        subject="{{ flow_run.name }}: {{ flow_run.state.name }}",
        body="{{ flow_run.state.message }}\n{{ flow_run|ui_url }}",
    )
    client.create_automation(
        AutomationCore(
            name=f"{batch}: runs that fail or are late",
            description="Made by `diligence deploy --notify`, which replaces it.",
            trigger=trigger,
            actions=[action],
            owner_resource=resource,
        )
    )


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

    with open_client() as client:
        if listed:
            lines = deployed(client)
        elif remove is not None:
            lines = [(f"removed {name}",) for name in remove_deployments(client, remove)]
        else:
            assert definition is not None
            schedule = {"cron": cron, "timezone": timezone}
            lines = [(name,) for name in register(client, batch, definition, reports, schedule, pool, notify)]
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

"""`diligence deploy`: the deployments of batches on a Prefect server, and who is notified of their runs.

They are made through Prefect's own client, so one server can schedule many batches side by side.
"""

import os
import pkgutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from cronsim import CronSim, CronSimError
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterTags
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState, SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound
from prefect.utilities.callables import parameter_schema
from prefect.workers.process import ProcessWorker

from deployments.run import SAMPLE
from deployments.terminal import echo
from flows import prefect_server
from flows.artifacts import make_slug
from flows.batch import HELPER
from flows.batch_definition import DeployedBatch
from flows.batch_file import read_batch
from flows.engine import name_scheduled_runs, open_client
from tasks.errors import BadRequest, NotConfigured, NotFound, Unavailable
from tasks.prefect_setup import TAG
from tasks.remote.environment import check_connection
from tasks.remote.prefect_pools import read_prefect_state

_FLOWS: Final = {
    "batch": "flows.batch.batch",
    "due_diligence": "flows.due_diligence.due_diligence",
    HELPER: "flows.help_run.help_run",
}
_CHOSEN: Final = {"batch": ["retry_failed"], "due_diligence": ["company"], HELPER: ["run"]}
"""What whoever presses Run may choose. All else is as it was deployed: a path would be one of the worker's own."""
_TOLD: Final = ("batch", "due_diligence")
"""The deployments that users know; the other one is for helpers, which the first starts."""
_DESCRIPTIONS: Final = {
    "batch": "The batch {!r}: every company is examined, the report is written to a folder of the run's own.",
    "due_diligence": "One company, by the criteria and settings of the batch {!r}, whenever somebody asks.",
    HELPER: "Helps a run of the batch {!r} that still has companies after a while; the run starts it.",
}
_NOTIFIED: Final = frozenset({"Failed", "Crashed", "TimedOut", "Late"})
"""States of a flow run that send a notification."""
_HEARTBEAT: Final = 30
"""Seconds between two signs of life of a run, the least that Prefect takes."""
_SILENCE: Final = timedelta(seconds=86)
"""After so long without one, a run counts as crashed; else it would be Running for ever."""
_POOLS: Final = frozenset({"process", "docker", "kubernetes"})
OFF: Final = "off"
"""What takes away a schedule or a notification."""


class Wanted(NamedTuple):
    """What a deployment is to have; None keeps what it has, or takes the default for a new one.

    `schedule` is as Prefect's API takes it, `{"cron": five fields, "timezone": IANA name}`, and empty for none.
    `notify` is the block that sends a notification of runs that fail or are late, such as `slack-webhook/deals`, or
    `off`.
    """

    reports: Path | None = None
    schedule: dict[str, Any] | None = None
    pool: str | None = None
    notify: str | None = None


def register(
    client: SyncPrefectClient, batch_file: Path, batch: DeployedBatch, companies: Sequence[str], wanted: Wanted
) -> list[str]:
    """Register the deployments of a batch in place of its earlier ones; returns the names that users know.

    Args:
        client: of the server.
        batch_file: where the batch came from, for those who look at the deployment.
        batch: the batch. Runs on demand use its settings and criteria too.
        companies: the names of its companies.
        wanted: schedule, pool, reports and notification.

    Raises:
        BadRequest: the name is taken, or the pool or the block cannot be used. Nothing is registered.
    """
    slug = make_slug(batch.name)
    _check_free(client, slug, batch.name)
    before = _find(client, f"batch/{slug}")
    kept = before.parameters.get("reports") if before and wanted.reports is None else None
    parameters = {
        "batch_file": str(batch_file.absolute()),
        "reports": kept or str((wanted.reports or Path("reports")).absolute() / slug),
        "definition": batch.model_dump(mode="json"),
    }
    block = _block_of(client, batch.name) if wanted.notify is None else None
    if wanted.notify not in {None, OFF}:
        block = _find_block(client, str(wanted.notify))
    pool = wanted.pool or (before.work_pool_name if before else None) or TAG
    if before and not (wanted.pool or before.work_pool_name):  # as Prefect leaves a deployment whose pool is deleted
        typer.echo(f"{batch.name} had no work pool any more; its runs start on {pool} now, or give --pool.", err=True)
    _use_pool(client, pool)
    schedules = [{"schedule": wanted.schedule, "active": True}] if wanted.schedule else []
    if wanted.schedule is None and before:
        schedules = [{"schedule": entry.schedule, "active": entry.active} for entry in before.schedules]
    for flow in _FLOWS:
        form = _form(flow, parameters, companies)
        fixed = {name: value for name, value in parameters.items() if name in form["properties"]}
        deployment_id = client.create_deployment(
            flow_id=client.create_flow_from_name(flow),
            name=slug,
            description=_DESCRIPTIONS[flow].format(batch.name),
            tags=[TAG, slug],
            entrypoint=_FLOWS[flow],
            parameters=fixed,
            parameter_openapi_schema=form,
            enforce_parameter_schema=True,
            schedules=[DeploymentScheduleCreate.model_validate(entry) for entry in schedules if flow == "batch"],
            # No slot of Prefect's: it is lost with Prefect's server, and the run with it. A run waits for our own lock.
            concurrency_limit=None,
            paused=before.paused if before and flow == "batch" else None,
            work_pool_name=pool,
            # With a safe path, a folder's own package `flows` or `tasks` does not come before the installed ones.
            # Prefect itself loads flows from its working folder first, so runs begin in an empty one of the worker's.
            job_variables={
                "env": {"PYTHONSAFEPATH": "1", "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(_HEARTBEAT)},
            },
        )
        _watch_runs(client, deployment_id, flow, batch.name, block if flow in _TOLD else None)
        if flow == "batch" and schedules:
            _schedule_now(client, deployment_id, batch.name)
    return [f"{flow}/{slug}" for flow in _TOLD]


def _find(client: SyncPrefectClient, name: str) -> Any | None:
    try:
        return client.read_deployment_by_name(name)
    except ObjectNotFound:
        return None


def _form(flow: str, parameters: Mapping[str, Any], companies: Sequence[str]) -> dict[str, Any]:
    """The form of a deployment: what may be chosen, with a single choice for what was deployed."""
    form: dict[str, Any] = parameter_schema(pkgutil.resolve_name(_FLOWS[flow])).model_dump_for_openapi()
    plain_fields(form)
    fields = form["properties"]
    form["properties"] = {name: fields[name] for name in _CHOSEN[flow]}
    for name in parameters.keys() & fields.keys():
        value, place = parameters[name], fields[name]["position"]
        form["properties"][name] = {"title": name, "position": place, "enum": [value], "default": value}
    form["additionalProperties"] = False
    form["required"] = [name for name in _CHOSEN[flow] if name != "retry_failed"]
    form.pop("definitions", None)
    if flow == "due_diligence":
        offer(form, "company", companies)
    return form


def list_deployed(client: SyncPrefectClient) -> list[tuple[str, ...]]:
    """The deployed batches as table rows: name, schedule, work pool, and the file it came from."""
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
    """Remove the deployments of a batch and return their names; runs under way end, and reports stay.

    Args:
        client: of the server.
        name: the batch's name, or its deployment's ("batch/autumn-screen" or "autumn-screen").

    Raises:
        NotFound: no such batch is deployed.
    """
    slug = make_slug(name.rpartition("/")[2])
    flows = {entrypoint: flow for flow, entrypoint in _FLOWS.items()}
    removed = []
    ours = _ours(client)
    for deployment in ours:
        if deployment.name == slug and deployment.entrypoint in flows:
            client.delete_resource_owned_automations(f"prefect.deployment.{deployment.id}")
            client.delete_deployment(deployment.id)
            removed += [f"{flow}/{slug}" for flow in _TOLD if flow == flows[deployment.entrypoint]]
    if not removed:
        names = ", ".join(sorted({deployment.name for deployment in ours})) or "none"
        raise NotFound(f"No batch {name!r} is deployed. Deployed are: {names}.")
    return sorted(removed)


def _schedule_now(client: SyncPrefectClient, deployment_id: UUID, name: str) -> None:
    """Schedule the next runs of a deployment now, which Prefect would do some seconds later, and name them."""
    client.request("POST", "/deployments/{id}/schedule", path_params={"id": deployment_id}, json={})
    name_scheduled_runs(client, deployment_id, name)


def plain_fields(form: dict[str, Any]) -> None:
    """Show an optional text of a form as a plain field; Prefect would show a switch between types."""
    for field in form["properties"].values():
        kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
        if len(kinds) == 1 and kinds[0].get("type") == "string":
            del field["anyOf"]
            field.pop("default", None)
            field.update(kinds[0])


def offer(form: dict[str, Any], parameter: str, choices: Sequence[str]) -> None:
    """Offer these choices for a text of a form, in a list before all other fields."""
    form["properties"][parameter] |= {"enum": list(dict.fromkeys(choices)), "position": -1}


def _check_free(client: SyncPrefectClient, slug: str, name: str) -> None:
    """Check that a deployment with that name belongs to this batch.

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
    """The deployments that were made here, in order of name."""
    ours = DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG]))
    deployments: list[Any] = []
    while page := client.read_deployments(deployment_filter=ours, limit=200, offset=len(deployments)):
        deployments += page
    return sorted(deployments, key=lambda deployment: deployment.name)


def _use_pool(client: SyncPrefectClient, name: str) -> None:
    """Create the work pool if it does not exist; an existing one keeps its settings.

    Raises:
        BadRequest: it is of a type that is not known to run our flows.
    """
    try:
        pool = client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(WorkPoolCreate(name=name, type="process", base_job_template=template))
        typer.echo(f"The work pool {name} was created; it starts processes on its workers' machines.", err=True)
        return
    if pool.type not in _POOLS:
        raise BadRequest(
            f"The work pool {name} is of type {pool.type}. Batches run on pools of type process, docker or kubernetes: "
            "name one with --pool, or give an unused name, and a process pool is created."
        )


def _tell_of_pool(client: SyncPrefectClient, deployed: str) -> None:
    """Say what keeps runs of a deployment from starting on its pool; a server that cannot say so has the deployment."""
    found = _find(client, deployed)
    with suppress(Unavailable):
        for pool in read_prefect_state(os.environ["PREFECT_API_URL"]).pools:
            if found and pool.name == found.work_pool_name:
                for hindrance in pool.hindrances:
                    typer.echo(f"The work pool {hindrance}", err=True)


def _find_block(client: SyncPrefectClient, name: str) -> UUID:
    """The id of a block on the server, by its type and name, such as `slack-webhook/deals`.

    Raises:
        BadRequest: the server has no such block.
    """
    kind, _, own = name.partition("/")
    try:
        return client.read_block_document_by_name(own or "-", kind or "-").id
    except ObjectNotFound as error:
        raise BadRequest(
            f"There is no block {name!r} on the Prefect server. Give type and name, such as slack-webhook/deals: "
            "`prefect block ls` lists them, and the Blocks page of its UI creates one."
        ) from error


def _block_of(client: SyncPrefectClient, batch: str) -> UUID | None:
    """The block that currently notifies about the batch's runs."""
    actions = [action for found in client.read_automations_by_name(_notice(batch)) for action in found.actions]
    blocks = [action.block_document_id for action in actions if isinstance(action, SendNotification)]
    return blocks[0] if blocks else None


def _notice(batch: str) -> str:
    return f"{batch}: runs that fail or are late"


def _watch_runs(client: SyncPrefectClient, deployment_id: UUID, flow: str, batch: str, block: UUID | None) -> None:
    """Mark silent runs of a deployment as crashed, and send a notification of runs that fail or are late.

    Replaces earlier automations. Based on docs.prefect.io, "Detect zombie flows": a run whose process is gone gives no
    sign of life, and nothing else would report that.

    Args:
        client: of the server.
        deployment_id: the deployment.
        flow: its flow.
        batch: its name in words.
        block: what sends the notification; None for none.
    """
    resource = f"prefect.deployment.{deployment_id}"
    client.delete_resource_owned_automations(resource)
    related = ResourceSpecification({"prefect.resource.id": resource, "prefect.resource.role": "deployment"})
    by_run = {"match_related": related, "for_each": {"prefect.resource.id"}, "threshold": 1}
    ends = {f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Crashed", "Cancelled", "TimedOut")}
    beat = "prefect.flow-run.heartbeat"
    silence = EventTrigger(after={beat}, expect={beat, *ends}, posture=Posture.Proactive, within=_SILENCE, **by_run)
    message = "Its process stopped responding: the worker or its machine is gone. Run it again to continue."
    crash = ChangeFlowRunState(state=StateType.CRASHED, message=message)
    automations = [
        AutomationCore(
            name=f"{batch}: silent runs of {flow}", trigger=silence, actions=[crash], owner_resource=resource
        )
    ]
    if block is not None:
        fails = EventTrigger(
            expect={f"prefect.flow-run.{state}" for state in _NOTIFIED},
            posture=Posture.Reactive,
            within=timedelta(0),
            **by_run,
        )
        tell = SendNotification(
            block_document_id=block,
            subject="{{ flow_run.name }}: {{ flow_run.state.name }}",
            body="{{ flow_run.state.message }}\n{{ flow_run|ui_url }}",
        )
        automations.append(AutomationCore(name=_notice(batch), trigger=fails, actions=[tell], owner_resource=resource))
    for automation in automations:
        automation.description = "Made by `diligence deploy`, which replaces it."
        client.create_automation(automation)


def deploy(
    batch: Annotated[Path, typer.Option(help="The batch that the schedule runs.", show_default="the sample")] = SAMPLE,
    reports: Annotated[
        Path | None,
        typer.Option(
            help="The folder for the reports: each run writes to REPORTS/<batch>/<run>. First deployment: reports."
        ),
    ] = None,
    cron: Annotated[
        str | None, typer.Option(help="When, as cron's five fields; off for no schedule. First deployment: none.")
    ] = None,
    timezone: Annotated[
        str | None, typer.Option(help="The time zone of these hours, such as Europe/Berlin. First deployment: UTC.")
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(help="The work pool; a process pool is created if there is none. First deployment: diligence."),
    ] = None,
    notify: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE/NAME",
            help="A notification block of the server, notified of failed and late runs; off for none.",
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the batches that are deployed.")] = False,
    remove: Annotated[
        str | None, typer.Option(metavar="NAME", help="Remove the deployments of the batch with that name.")
    ] = None,
) -> None:
    """Deploy a batch to the Prefect server in PREFECT_API_URL.

    Other batches stay as they are. Deployed again, a batch keeps its schedule, pool, reports and notification unless
    they are given anew.
    """
    screen = None
    if not listed and remove is None:
        if cron not in {None, OFF} or timezone is not None:
            check_schedule(cron if cron not in {None, OFF} else "0 0 * * *", timezone or "UTC")
        screen = read_batch(batch)
    if not os.environ.get("PREFECT_API_URL"):
        raise NotConfigured("Set PREFECT_API_URL to the Prefect server, such as http://127.0.0.1:4200/api.")
    prefect_server.prepare()
    check_connection(os.environ["PREFECT_API_URL"])
    with open_client() as client:
        if listed:
            lines = list_deployed(client)
        elif remove is not None:
            lines = [(f"removed {name}",) for name in remove_deployments(client, remove)]
        else:
            assert screen is not None
            wanted = Wanted(reports, _schedule(client, make_slug(screen.name), cron, timezone), pool, notify)
            names = [company.name for company in screen.companies]
            lines = [(name,) for name in register(client, batch, DeployedBatch.of(screen), names, wanted)]
            _tell_of_pool(client, lines[0][0])
    for cells in lines:
        echo(*cells)


def _schedule(client: SyncPrefectClient, slug: str, cron: str | None, timezone: str | None) -> dict[str, Any] | None:
    """The requested schedule: a new hour keeps the zone, a new zone the hour; None if neither is given.

    Raises:
        BadRequest: a time zone is given, and no hour.
    """
    if cron == OFF:
        return {}
    if cron is None and timezone is None:
        return None
    before = _find(client, f"batch/{slug}")
    kept = [entry.schedule for entry in before.schedules if hasattr(entry.schedule, "cron")] if before else []
    cron = cron or (kept[0].cron if kept else None)
    if cron is None:
        raise BadRequest("--timezone needs a schedule: give --cron too.")
    return {"cron": cron, "timezone": timezone or (kept[0].timezone if kept else None) or "UTC"}


def check_schedule(cron: str, timezone: str) -> None:
    """Check that the schedule is valid and that it will ever fall due.

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
            f"--timezone {timezone!r} is not a time zone. Give a name such as Europe/Berlin or UTC."
        ) from error
    try:
        if len(cron.split()) != 5:
            raise CronSimError("it does not have five fields")  # noqa: TRY301 - as every other mistake in it
        next(CronSim(cron, datetime.now(zone)))
    except CronSimError as error:
        raise BadRequest(
            f"--cron {cron!r} is not a schedule ({error}). Give minute, hour, day of the month, month and day of the "
            'week, such as "0 20 * * 1-5" for every working day at 20:00.'
        ) from error
    except StopIteration:
        raise BadRequest(f"--cron {cron!r} never runs: there is no such day.") from None

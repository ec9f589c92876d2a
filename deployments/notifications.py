"""Who is told of runs that fail or are late: an automation of the Prefect server, one for each batch.

It sends by a notification block that the operator keeps on the server, so that no address or key passes through here.
Prefect's terms: docs.prefect.io/v3/concepts/automations and /v3/concepts/blocks; the names of events and the words
of templates: docs.prefect.io/v3/concepts/event-triggers and /v3/how-to-guides/automations/creating-automations.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from tasks.errors import BadRequest

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

_TOLD: Final = frozenset({"Failed", "Crashed", "TimedOut", "Late"})
"""States of a run that somebody is told of."""


def find_block(client: "SyncPrefectClient", name: str) -> UUID:
    """The id of a block on the server, by its type and name, as `slack-webhook/deals`.

    Raises:
        BadRequest: there is none of that name.
    """
    from prefect.exceptions import ObjectNotFound  # noqa: PLC0415 - Prefect takes 1.2 s to import

    kind, _, own = name.partition("/")
    try:
        return client.read_block_document_by_name(own or "-", kind or "-").id
    except ObjectNotFound as error:
        raise BadRequest(
            f"There is no block {name!r} on the Prefect server. Give type and name, such as slack-webhook/deals: "
            "`prefect block ls` lists those that are there, and the page Blocks of its UI makes one."
        ) from error


def tell_of_runs(client: "SyncPrefectClient", deployment_id: UUID, batch: str, block: UUID | None) -> None:
    """Have a notification sent where a run of a deployment fails or is late, in the place of an earlier one.

    Args:
        client: of the server.
        deployment_id: the deployment.
        batch: its name in words.
        block: what sends it; None for no notification.
    """
    from prefect.events.actions import SendNotification  # noqa: PLC0415 - see `find_block`
    from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture  # noqa: PLC0415
    from prefect.events.schemas.events import ResourceSpecification  # noqa: PLC0415

    resource = f"prefect.deployment.{deployment_id}"
    client.delete_resource_owned_automations(resource)
    if block is None:
        return
    trigger = EventTrigger(
        expect={f"prefect.flow-run.{state}" for state in _TOLD},
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

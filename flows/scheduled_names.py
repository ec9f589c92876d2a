"""Names scheduled flow runs after their batch before they start.

Prefect's scheduler makes up a name, which a flow's own `flow_run_name` replaces only when the run starts; neither a
deployment, nor a schedule, nor an automation gives another (docs.prefect.io/v3/concepts/deployments and
/v3/concepts/automations). But a run's name may be changed at any time (`PATCH /flow_runs/{id}`). So a deployment has
the runs named that are scheduled then, and each run at its end those that were scheduled since.
"""

from typing import Final
from uuid import UUID

from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.runtime import deployment

_MOST: Final = 200
"""Page size: the most that Prefect returns at once; it schedules at most 100 runs ahead."""


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
    """Do the same for the deployment of the current flow run, if it has one."""
    if deployment.id is not None:
        with get_client(sync_client=True) as client:
            name_scheduled_runs(client, UUID(deployment.id), name)

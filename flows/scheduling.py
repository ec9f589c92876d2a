"""What a scheduled run needs on a worker: its secrets, and a name that tells its batch.

Secrets come from the worker's environment, otherwise from Secret blocks of the Prefect server. Scheduled runs are named
before they start.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import httpx
from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.runtime import deployment

from flows.batch_file import Value, secret_files, secrets, variable_name
from storage.settings import override_settings
from tasks.documents.drive.spool import spool
from tasks.errors import NotConfigured, Unavailable
from tasks.tracking import show

_TYPE: Final = "secret"


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
    """Rename the scheduled runs of the current flow run's deployment, if it has one."""
    if deployment.id is not None:
        with get_client(sync_client=True) as client:
            name_scheduled_runs(client, UUID(deployment.id), name)

"""Deletes old flow runs from Prefect's database through its API. Prefect itself deletes its events after a week.

Only on the embedded server: the history of a server that `PREFECT_API_URL` names is its owner's.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from flows import prefect_server
from storage.pruning import GivenBack, give_back_of

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

_AT_ONCE = 50  # flow runs that the API deletes in one call; artifacts that are listed in one
_LONGEST_RUN = timedelta(days=1)
"""A flow run without an end that began so long before the runs that are kept was killed."""
_LONGEST_WAIT = 10.0  # seconds for the server to delete the logs of what it has deleted, which it does by the way


@dataclass(frozen=True, slots=True)
class PrunedHistory:
    """How many flow runs and artifacts were deleted, and the room of Prefect's database that was given back."""

    flow_runs: int
    artifacts: int
    room: GivenBack


def is_embedded() -> bool:
    """Whether flows use a server that each command starts, and not one of the user's."""
    return not os.environ.get("PREFECT_API_URL")


def prune_history(before: datetime) -> PrunedHistory | None:
    """Delete flow runs that ended before that time, with their tasks, artifacts and logs.

    Gives None where there is no history, or one that is not in the home.

    Raises:
        Unavailable: the server did not start.
    """
    prefect_server.prepare()
    file = Path(os.environ["PREFECT_HOME"]) / "prefect.db"
    if not is_embedded() or not file.exists() or prefect_server.has_other_database():
        return None
    with prefect_server.server():
        # Prefect takes 1.2 s to import, and reads then where its home is.
        from prefect.client.orchestration import get_client  # noqa: PLC0415

        with get_client(sync_client=True) as client:
            flow_runs, artifacts = delete_history(client, before)
    return PrunedHistory(flow_runs, artifacts, give_back_of(file))


def delete_history(client: "SyncPrefectClient", before: datetime) -> tuple[int, int]:
    """Delete flow runs that ended before that time from a server; gives how many, and how many artifacts they had."""
    artifacts = list(_old_artifacts(client, before))
    for artifact in artifacts:
        client.delete_artifact(artifact)
    flow_runs = list(_delete_flow_runs(client, before))
    _wait_for_logs(client, flow_runs)
    return len(flow_runs), len(artifacts)


def _old(before: datetime) -> Iterator[dict[str, Any]]:
    """Filters for flow runs that ended before that time, or were killed and began a day before it."""
    yield {"end_time": {"before_": before.isoformat()}}
    yield {"end_time": {"is_null_": True}, "start_time": {"before_": (before - _LONGEST_RUN).isoformat()}}


def _delete_flow_runs(client: "SyncPrefectClient", before: datetime) -> Iterator[UUID]:
    for old in _old(before):
        query = {"flow_runs": old, "limit": _AT_ONCE}
        # The types of Prefect's client do not list this path of its server.
        while deleted := client.request("POST", "/flow_runs/bulk_delete", json=query).json()["deleted"]:  # type: ignore[arg-type]
            yield from map(UUID, deleted)


def _old_artifacts(client: "SyncPrefectClient", before: datetime) -> Iterator[UUID]:
    for old in _old(before):
        query: dict[str, Any] = {"flow_runs": old, "sort": "ID_DESC", "limit": _AT_ONCE, "offset": 0}
        while artifacts := client.request("POST", "/artifacts/filter", json=query).json():
            yield from (UUID(artifact["id"]) for artifact in artifacts)
            query["offset"] += _AT_ONCE


def _wait_for_logs(client: "SyncPrefectClient", flow_runs: list[UUID]) -> None:
    until = time.monotonic() + _LONGEST_WAIT
    for start in range(0, len(flow_runs), _AT_ONCE):
        some = [str(flow_run) for flow_run in flow_runs[start : start + _AT_ONCE]]
        query = {"logs": {"flow_run_id": {"any_": some}}, "limit": 1}
        while client.request("POST", "/logs/filter", json=query).json() and time.monotonic() < until:
            time.sleep(0.1)

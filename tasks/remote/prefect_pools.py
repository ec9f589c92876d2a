"""The work pools of a Prefect server and their workers, through its HTTP API: Prefect itself takes a second to import.

See https://docs.prefect.io/v3/api-ref/rest-api/server/work-pools/read-work-pools and …/read-workers.
"""

import base64
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from tasks.errors import Unavailable
from tasks.remote.environment import check_connection


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker as the server knows it: its name, whether it is alive, and when it last reported."""

    name: str
    is_online: bool
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pool:
    """A work pool with its workers."""

    name: str
    kind: str
    is_paused: bool
    workers: tuple[Worker, ...]

    @property
    def hindrances(self) -> list[str]:
        """What keeps runs from starting on it, each with the command that mends it."""
        found = []
        if self.is_paused:
            found.append(f"{self.name} is paused: nothing starts until `prefect work-pool resume {self.name}`")
        starts_itself = self.kind.endswith((":push", ":managed"))  # Prefect's server does, without a worker
        if not starts_itself and not any(worker.is_online for worker in self.workers):
            found.append(f"{self.name} ({self.kind}) has no live worker: `prefect worker start --pool {self.name}`")
        return found


@dataclass(frozen=True, slots=True)
class PrefectState:
    """A server: its release, its pools, how many runs are late, and how many seconds its clock is ahead of ours."""

    version: str
    pools: tuple[Pool, ...]
    late_runs: int
    seconds_ahead: float


def read_prefect_state(address: str, timeout: float = 5) -> PrefectState:
    """What the server at that address (as in PREFECT_API_URL) says about itself.

    Raises:
        Unavailable: it does not answer within `timeout` seconds, or refuses. NotConfigured: a proxy or certificate.
    """
    check_connection(address)
    try:
        with httpx.Client(base_url=address.rstrip("/"), headers=_authorization(), timeout=timeout) as client:

            def ask(path: str, **body: Any) -> Any:
                return client.post(path, json=body).raise_for_status().json()

            answer = client.get("/admin/version").raise_for_status()
            ahead = (parsedate_to_datetime(answer.headers["date"]) - datetime.now(UTC)).total_seconds()
            pools = tuple(
                Pool(
                    pool["name"],
                    pool["type"],
                    pool["is_paused"],
                    tuple(_worker(worker) for worker in ask(f"/work_pools/{pool['name']}/workers/filter")),
                )
                for pool in ask("/work_pools/filter", limit=200)
            )
            late = ask("/flow_runs/count", flow_runs={"state": {"name": {"any_": ["Late"]}}})
            return PrefectState(answer.json(), pools, late, ahead)
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        what = "does not accept PREFECT_API_AUTH_STRING or PREFECT_API_KEY" if status == 401 else f"answers {status}"
        raise Unavailable(f"The Prefect server {what}.") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        raise Unavailable("The Prefect server does not answer. Is PREFECT_API_URL right, and it running?") from error


def _worker(worker: dict[str, Any]) -> Worker:
    seen = worker.get("last_heartbeat_time")
    return Worker(worker["name"], worker.get("status") == "ONLINE", datetime.fromisoformat(seen) if seen else None)


def _authorization() -> dict[str, str]:
    if key := os.environ.get("PREFECT_API_KEY"):
        return {"Authorization": f"Bearer {key}"}
    if pair := os.environ.get("PREFECT_API_AUTH_STRING"):
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {}

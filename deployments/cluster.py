"""What `diligence doctor --cluster` says about the parts that several machines share."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

from sqlalchemy import text

from storage import database
from tasks.documents.drive.drive import CheckResult
from tasks.errors import NotConfigured
from tasks.remote.prefect_pools import Pool, read_prefect_state

_CLOCKS_APART: Final = 30.0
"""Seconds: Prefect takes a worker for silent after 90, and times of runs are compared across machines."""
_FEW_LEFT: Final = 20
"""Connections: a service takes some 15 for each of its processes, a run 10 for each of its own."""


def check_shared_database() -> Iterator[CheckResult]:
    """Whether machines can share the database, it has room, and only this release uses it."""
    database.check()
    with database.reading() as session:
        connection = session.connection()
        if connection.dialect.name == "sqlite":
            raise NotConfigured(
                "The database is SQLite, which one machine alone can use. DILIGENCE_DATABASE_URL names a PostgreSQL."
            )
        query = (
            "SELECT current_setting('server_version'), now(), current_setting('max_connections')::int, "
            "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), pg_is_in_recovery()"
        )
        server, its_now, most, used, is_replica = connection.execute(text(query)).one()
    state = f"PostgreSQL {server.split()[0]}, schema up to date, {used} of {most} connections in use"
    yield CheckResult("database", f"{state}; it is a replica, name the primary" if is_replica else state, is_replica)
    if most - used < _FEW_LEFT:
        advice = "raise max_connections, or put a pooler in session mode before it"
        yield CheckResult("connections", f"only {most - used} are left: {advice}", failed=True)
    yield _clock("database", (its_now - datetime.now(UTC)).total_seconds())
    ours = f"diligence {version('diligence')}"
    for one in database.connected():
        state = f"{one.program} on {one.machine}, {one.connections} connections"
        is_other = one.program.startswith("diligence") and one.program != ours
        yield CheckResult("connected", f"{state}; this is {ours}: update one of them" if is_other else state, is_other)


def check_prefect() -> Iterator[CheckResult]:
    """Whether Prefect's server is of the expected release, and each pool has live workers."""
    address = os.environ.get("PREFECT_API_URL")
    if not address:
        raise NotConfigured("PREFECT_API_URL names no server, so no worker can be known.")
    state = read_prefect_state(address)
    ours = version("prefect")
    is_other = state.version.split(".")[:2] != ours.split(".")[:2]
    told = f"release {state.version}"
    yield CheckResult("prefect", f"{told}, and {ours} here: update one of them" if is_other else told, is_other)
    yield _clock("prefect", state.seconds_ahead)
    if state.late_runs:
        yield CheckResult("runs", f"{state.late_runs} are late: no worker has begun them", failed=True)
    if not state.pools:
        yield CheckResult("pool", "there is none: `diligence deploy` makes one", failed=True)
    for pool in state.pools:
        yield from _check_pool(pool)


def _check_pool(pool: Pool) -> Iterator[CheckResult]:
    if pool.is_paused:
        resume = f"`prefect work-pool resume {pool.name}`"
        yield CheckResult("pool", f"{pool.name} is paused: nothing begins until {resume}", failed=True)
    online = [worker for worker in pool.workers if worker.is_online]
    if not online:
        start = f"`prefect worker start --pool {pool.name}`"
        yield CheckResult("pool", f"{pool.name} ({pool.kind}) has no worker that lives: {start}", failed=True)
    else:
        yield CheckResult("pool", f"{pool.name} ({pool.kind}): {len(online)} of {len(pool.workers)} workers live")
    for worker in pool.workers:
        seen = f"{(datetime.now(UTC) - worker.seen_at).total_seconds():,.0f} s ago" if worker.seen_at else "never"
        yield CheckResult("worker", f"{worker.name}, seen {seen}", tried=worker.is_online)


def _clock(whose: str, seconds: float) -> CheckResult:
    if abs(seconds) < _CLOCKS_APART:
        return CheckResult("clock", f"that of {whose} agrees with this machine's")
    way = "ahead of" if seconds > 0 else "behind"
    apart = f"that of {whose} is {abs(seconds):,.0f} s {way} this machine's: set both by NTP"
    return CheckResult("clock", apart, failed=True)

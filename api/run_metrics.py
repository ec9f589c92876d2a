"""Metrics of runs, workers and the database for `/metrics`: they describe the whole system, not one process.

They are read when Prometheus asks. Where the database or Prefect does not answer there is no sample: alert on its
absence.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from storage import database
from storage.columns import now
from storage.errors import DatabaseUnavailable
from storage.run_documents import DocumentStatus, read_run_metrics
from storage.runs import CompanyStatus, Run, RunStatus
from tasks.ai.money import Cap
from tasks.errors import DiligenceError
from tasks.remote.prefect_pools import read_prefect_state

_PREFECT_SECONDS = 2.0


class SystemFigures(Collector):
    """Collects the metrics that the module describes."""

    def describe(self) -> Iterator[Metric]:
        return iter(())  # nothing is collected for its names alone

    def collect(self) -> Iterator[Metric]:
        """The current figures; waits for the database, and at most two seconds for Prefect."""
        with suppress(DatabaseUnavailable):
            yield from _runs()
            connections = GaugeMetricFamily(
                "diligence_connections", "Connections to PostgreSQL, by release.", labels=["release"]
            )
            for one in database.connected():
                connections.add_metric([one.program], one.connections)
            yield connections
        if address := os.environ.get("PREFECT_API_URL"):
            with suppress(DiligenceError):
                yield from _prefect(address)


def _runs() -> Iterator[Metric]:
    with database.reading() as session:
        metrics = read_run_metrics(session)
    statuses: tuple[tuple[str, str, type[StrEnum], Mapping[Any, int]], ...] = (
        ("diligence_runs", "Runs in the database.", RunStatus, metrics.runs),
        ("diligence_run_companies", "Companies of runs under way.", CompanyStatus, metrics.companies),
        ("diligence_run_documents", "Documents of runs under way.", DocumentStatus, metrics.documents),
    )
    for name, what, kinds, counted in statuses:
        family = GaugeMetricFamily(name, what, labels=["status"])
        for status in kinds:
            family.add_metric([status.value], counted.get(status, 0))
        yield family
    yield GaugeMetricFamily("diligence_runs_cost_usd", "USD that all runs in the database cost.", metrics.usd)
    ages = [(now() - run.started_at).total_seconds() for run in metrics.under_way]
    yield GaugeMetricFamily("diligence_run_oldest_seconds", "Age of the oldest run under way.", max(ages, default=0))
    left = [share for run in metrics.under_way if (share := _budget_left(run)) is not None]
    if left:
        yield GaugeMetricFamily("diligence_run_budget_left", "Least share of a budget that is left, 0 to 1.", min(left))


def _budget_left(run: Run) -> float | None:
    """The share of a run's budget that is left; None if it has no budget or costs are not known."""
    if run.budget is None:
        return None
    cap = Cap.parse(run.budget)
    most, spent = (cap.usd, run.usd) if cap.tokens is None else (cap.tokens, run.input_tokens + run.output_tokens)
    return None if not most or spent is None else max(0.0, 1 - spent / most)


def _prefect(address: str) -> Iterator[Metric]:
    state = read_prefect_state(address, _PREFECT_SECONDS)
    workers = GaugeMetricFamily("diligence_workers", "Workers of Prefect's pools.", labels=["pool", "status"])
    paused = GaugeMetricFamily("diligence_pool_paused", "1 where a pool is paused.", labels=["pool"])
    for pool in state.pools:
        online = sum(worker.is_online for worker in pool.workers)
        workers.add_metric([pool.name, "online"], online)
        workers.add_metric([pool.name, "offline"], len(pool.workers) - online)
        paused.add_metric([pool.name], pool.is_paused)
    yield workers
    yield paused
    yield GaugeMetricFamily("diligence_late_runs", "Runs that Prefect has scheduled and nobody began.", state.late_runs)

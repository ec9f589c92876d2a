"""What the service reports about itself: metrics for Prometheus at `/metrics`, and health checks.

No label names a company, a document or a key. The figures of all processes of one service are added up; those of runs,
workers and the database are of the whole system, and are looked up when Prometheus asks. Where the database or Prefect
does not answer there is no sample: alert on its absence.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal

from anyio import fail_after, to_thread
from litestar import Response, get
from litestar.datastructures import State
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from pydantic import BaseModel

from api.problems import MEDIA_TYPE, ours, problem
from api.requests import Admission, Calls, describe
from api.workers import ENDING
from storage import database
from storage.columns import now
from storage.documents import DocumentStatus, read_run_metrics
from storage.errors import DatabaseUnavailable
from storage.runs import CompanyStatus, Run, RunStatus
from tasks.documents.drive.registry import choose_drive, load_provider
from tasks.documents.texts import measure_pools
from tasks.errors import DiligenceError, Unavailable
from tasks.remote.prefect_pools import read_prefect_state
from tasks.spending.money import Cap
from tasks.telemetry import lookups, model_use

_PREFECT_SECONDS = 2.0


class SystemFigures(Collector):
    """Collects the metrics of runs, workers and the database."""

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


_EVERY: Final = 1.0
_GROWING: Final = frozenset({"counter", "histogram"})
_NO_SUM: Final = ("_created", "_start_time_seconds", "_max_fds")
"""Of these the least counts: when it began, what each may have."""


class SharedFigures:
    """The figures of this process's registry, added to those of the other processes, which share a folder."""

    def __init__(self, registry: CollectorRegistry, folder: Path) -> None:
        self._registry = registry
        self._folder = folder
        self._own = folder / f"{os.getpid()}.prom"
        self._writing = threading.Lock()
        threading.Thread(target=self._write_often, name="figures", daemon=True).start()

    @property
    def text(self) -> bytes:
        """The figures of all processes in the Prometheus text format.

        What is told of this process is in its file first: no figure shrinks when it dies or another is asked next.
        """
        texts = [(self._write().decode(), True)]
        for file in self._folder.glob("*.prom"):
            if file != self._own:
                with suppress(OSError):
                    texts.append((file.read_text(), _is_alive(int(file.stem))))
        return generate_latest(_Sum(texts))

    def _write(self) -> bytes:
        written = self._own.with_suffix(".new")
        with self._writing:
            own = generate_latest(self._registry)
            with suppress(OSError):  # the folder goes when the service ends
                written.write_bytes(own)
                written.replace(self._own)
        return own

    def _write_often(self) -> None:
        while self._folder.exists():
            self._write()
            time.sleep(_EVERY)


class _Sum(Collector):
    """Sums of figures, each given as text with whether its process is running."""

    def __init__(self, texts: Iterable[tuple[str, bool]]) -> None:
        self._texts = texts

    def collect(self) -> Iterable[Metric]:
        families: dict[str, Metric] = {}
        values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
        for text, runs in self._texts:
            for family in text_string_to_metric_families(text):
                if not runs and family.type not in _GROWING:
                    continue
                families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                summed = values.setdefault(family.name, {})
                for sample in family.samples:
                    key = sample.name, tuple(sample.labels.items())
                    least = sample.name.endswith(_NO_SUM)
                    known = summed.get(key, sample.value if least else 0.0)
                    summed[key] = min(known, sample.value) if least else known + sample.value
        for name, family in families.items():
            for (sample_name, labels), value in values[name].items():
                family.add_sample(sample_name, dict(labels), value)
        return families.values()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


_SECONDS: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
_KEY: Final = "metrics"


@dataclass
class Answered:
    """A request and the status of its answer. `operation` is the method and the declared path, without values."""

    operation: str = "other"
    status: int = 500


class Metrics:
    """The figures of one service."""

    def __init__(self, calls: Mapping[str, Calls], admission: Admission, folder: Path | None = None) -> None:
        """`calls` are those of each area; `folder` is where the processes of a service put their figures."""
        self.registry = CollectorRegistry()
        self._answers = Counter(
            "diligence_requests", "Requests answered.", ["operation", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "diligence_request_seconds",
            "Seconds from a request to the end of its answer.",
            ["operation"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._under_way = 0
        under_way = Gauge("diligence_requests_under_way", "Requests being answered.", registry=self.registry)
        under_way.set_function(lambda: self._under_way)
        self.registry.register(_Present(calls, admission))
        ProcessCollector(registry=self.registry)
        self._shared = SharedFigures(self.registry, folder) if folder is not None else None
        self._system = CollectorRegistry()  # not added up over the processes: each would tell the same
        self._system.register(SystemFigures())

    @property
    def text(self) -> bytes:
        """The figures of the service (all its processes) and of the runs in the Prometheus text format."""
        own = generate_latest(self.registry) if self._shared is None else self._shared.text
        return own + generate_latest(self._system)

    @contextmanager
    def counting(self) -> Iterator["Answered"]:
        """Count the request that the block answers; the block fills in how it was answered."""
        answered, began = Answered(), time.perf_counter()
        self._under_way += 1
        try:
            yield answered
        finally:
            self._under_way -= 1
            self._answers.labels(answered.operation, str(answered.status)).inc()
            self._seconds.labels(answered.operation).observe(time.perf_counter() - began)

    def put_into(self, state: State) -> None:
        """Make these the figures that `show` shows."""
        state[_KEY] = self


class _Present(Collector):
    """Values that are read on request: queues, readers, and the counts that the operations keep."""

    def __init__(self, calls: Mapping[str, Calls], admission: Admission) -> None:
        self._calls = calls
        self._admission = admission

    def collect(self) -> Iterator[Metric]:
        running = GaugeMetricFamily("diligence_calls_running", "Operations that have a thread.", labels=["area"])
        waiting = GaugeMetricFamily("diligence_calls_waiting", "Operations that wait for one.", labels=["area"])
        for area, calls in self._calls.items():
            for family, number in zip((running, waiting), calls.load, strict=True):
                family.add_metric([area], number)
        yield running
        yield waiting
        bodies = self._admission
        yield GaugeMetricFamily("diligence_bodies_waiting", "Large bodies that wait for memory.", bodies.waiting)
        yield GaugeMetricFamily("diligence_bodies_bytes", "Memory reserved for large bodies.", bodies.reserved)
        pools = measure_pools()
        yield GaugeMetricFamily("diligence_readers", "Processes that read documents.", pools.processes)
        yield GaugeMetricFamily("diligence_readers_busy", "Those of them that have a document.", pools.busy)
        yield GaugeMetricFamily("diligence_documents_waiting", "Documents that wait for a reader.", pools.waiting)
        caches = CounterMetricFamily("diligence_cache_lookups", "Look-ups in caches.", labels=["cache", "outcome"])
        for (cache, hit), number in lookups().items():
            caches.add_metric([cache, "hit" if hit else "miss"], number)
        yield caches
        use = model_use()
        yield CounterMetricFamily("diligence_model_calls", "Calls of models.", use.calls)
        yield CounterMetricFamily(
            "diligence_model_calls_without_price", "Those whose price is not known.", use.calls_without_price
        )
        tokens = CounterMetricFamily("diligence_model_tokens", "Tokens of models.", labels=["direction"])
        tokens.add_metric(["input"], use.input_tokens)
        tokens.add_metric(["output"], use.output_tokens)
        yield tokens
        yield CounterMetricFamily("diligence_model_cost_usd", "Cost of calls whose price is known, in USD.", use.usd)


@get("/metrics", include_in_schema=False, sync_to_thread=True)
def show(state: State) -> Response[bytes]:
    metrics: Metrics = state[_KEY]
    return Response(metrics.text, media_type="text/plain; version=0.0.4; charset=utf-8")


def find_operation(scope: Mapping[str, Any]) -> str:
    """The operation that a request asks for; `other` if there is none."""
    template = scope.get("path_template")
    return f"{scope['method']} {template}" if template else "other"


logger = logging.getLogger(__name__)

_PATIENCE = 5  # seconds; those who ask usually give up after 10


class Health(BaseModel):
    """The service works."""

    status: Literal["ok"] = "ok"


@get(
    "/health/live",
    **describe("health_live"),
)
async def live() -> Health:
    return Health()


@get(
    "/health/ready",
    **describe("health_ready"),
)
async def ready(state: State) -> Response[Health]:
    if state.get(ENDING):
        raise Unavailable("The service is being stopped.")
    checks = {"database": database.check, "drive": lambda: load_provider(choose_drive()).check_reachable(_PATIENCE)}
    missing = [
        {"field": name, "message": trouble} for name, check in checks.items() if (trouble := await _trouble(check))
    ]
    if not missing:
        return Response(Health())
    sentences = " ".join(f"{part['field']}: {part['message']}" for part in missing)
    body: Any = problem(Unavailable(f"The service is not ready. {sentences}"))
    body["errors"] = missing
    return Response(body, status_code=503, media_type=MEDIA_TYPE)


async def _trouble(check: Callable[[], object]) -> str | None:
    """Why the check does not pass, or None. A check that hangs is abandoned."""
    try:
        with fail_after(_PATIENCE):
            await to_thread.run_sync(check, abandon_on_cancel=True)
    except TimeoutError:
        return f"no answer within {_PATIENCE} s."
    except Exception as raised:  # noqa: BLE001 - whatever it is, the service is not ready
        error = ours(raised)
        logger.warning("not ready: %s", type(raised).__qualname__)
        return error.message
    return None

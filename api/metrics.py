"""What the service does, in figures for Prometheus at `/metrics`: no label names a company, a document or a key."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from litestar import Response, get
from litestar.datastructures import State
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from api.admission import Admission
from api.requests import Calls
from api.shared_figures import SharedFigures
from tasks.counts import lookups, model_use
from tasks.documents.texts import shared_pool

_SECONDS: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
_KEY: Final = "metrics"


@dataclass
class Answered:
    """A request and the status of its answer. `operation` is the method and the path as declared, without values."""

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
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.registry.register(_Present(calls, admission))
        ProcessCollector(registry=self.registry)
        self._shared = SharedFigures(self.registry, folder) if folder is not None else None

    @property
    def text(self) -> bytes:
        """The figures of the service, of all its processes, as Prometheus reads them."""
        return generate_latest(self.registry) if self._shared is None else self._shared.text

    @contextmanager
    def counting(self) -> Iterator["Answered"]:
        """Count what the block answers, which it fills in."""
        answered, began = Answered(), time.perf_counter()
        self._under_way += 1
        try:
            yield answered
        finally:
            self._under_way -= 1
            count, seconds = self._of(answered.operation, answered.status)
            count.inc()
            seconds.observe(time.perf_counter() - began)

    def _of(self, operation: str, status: int) -> tuple[Counter, Histogram]:
        known = self._known.get((operation, status))
        if known is None:
            known = self._answers.labels(operation, str(status)), self._seconds.labels(operation)
            self._known[operation, status] = known
        return known

    def put_into(self, state: State) -> None:
        """Have `show` show these figures."""
        state[_KEY] = self


class _Present(Collector):
    """What is read when it is asked for: queues, readers, and the counts that the operations keep."""

    def __init__(self, calls: Mapping[str, Calls], admission: Admission) -> None:
        self._calls = calls
        self._admission = admission

    def describe(self) -> Iterable[Metric]:
        return ()  # nothing is collected for its names alone

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
        pool = shared_pool().load
        yield GaugeMetricFamily("diligence_readers", "Processes that read documents.", pool.processes)
        yield GaugeMetricFamily("diligence_readers_busy", "Those of them that have a document.", pool.busy)
        yield GaugeMetricFamily("diligence_documents_waiting", "Documents that no reader has yet.", pool.waiting)
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


@get("/metrics", include_in_schema=False, sync_to_thread=False)
def show(state: State) -> Response[bytes]:
    metrics: Metrics = state[_KEY]
    return Response(metrics.text, media_type="text/plain; version=0.0.4; charset=utf-8")


def operation_of(scope: Mapping[str, Any]) -> str:
    """The operation that a request is for; `other` where there is none."""
    template = scope.get("path_template")
    return f"{scope['method']} {template}" if template else "other"

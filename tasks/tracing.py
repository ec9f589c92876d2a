"""Traces: of requests, flows and operations down to the calls of models (OpenTelemetry, OTLP over HTTP).

They go to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names. No span has a name of a company or a document, a path,
a question or an answer; exceptions are told by their class alone.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Protocol, TypeVar

from storage import request_ids
from tasks.errors import NotConfigured

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PARENT: Final = (b"traceparent", b"tracestate")


class CallOutcome(Protocol):
    """What a span tells of a request when it was answered."""

    operation: str
    status: int


class Tracing:
    """Makes the spans of one process and hands them to `exporter`."""

    def __init__(self, exporter: "SpanExporter") -> None:
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

        name = {} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: "diligence"}
        self._provider = TracerProvider(resource=Resource.create(name))  # what is left is sent when the process ends
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("diligence")

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, Any]) -> Iterator[Any]:
        """Trace the block, as a part of what is traced around it; gives the span."""
        from opentelemetry.trace import StatusCode  # noqa: PLC0415 - an extra

        with self._tracer.start_as_current_span(
            name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_status(StatusCode.ERROR, type(error).__name__)
                raise

    @contextmanager
    def request_span(self, headers: Sequence[tuple[bytes, bytes]], outcome: CallOutcome) -> Iterator[None]:
        """Trace the block, which answers a request with these headers; `outcome` is read at its end.

        A `traceparent` among the headers (W3C Trace Context) makes it a part of the caller's trace.
        """
        from opentelemetry.trace import SpanKind, StatusCode  # noqa: PLC0415 - an extra
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers if name in _PARENT}
        parent = TraceContextTextMapPropagator().extract(carrier)
        with self._tracer.start_as_current_span(
            "request", parent, SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            finally:
                method, _, route = outcome.operation.partition(" ")
                span.update_name(outcome.operation)
                attributes: dict[str, Any] = {"http.response.status_code": outcome.status}
                if route:
                    attributes |= {"http.request.method": method, "http.route": route}
                span.set_attributes({**attributes, "diligence.request_id": request_ids.current_request_id() or ""})
                if outcome.status >= 500:
                    span.set_status(StatusCode.ERROR)

    def close(self) -> None:
        """Send what was not sent yet."""
        self._provider.shutdown()


def start_tracing() -> Tracing | None:
    """Tracing as the environment asks for it; None where it does not.

    Raises:
        NotConfigured: it does, and the extra is not installed.
    """
    named = next((name for name in ENDPOINTS if os.environ.get(name)), None)
    if named is None or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        exporter = import_module(
            "opentelemetry.exporter.otlp.proto.http.trace_exporter"
        )  # an extra, not in every setup

        return Tracing(exporter.OTLPSpanExporter())
    except ImportError as error:
        raise NotConfigured(
            f"{named} asks for traces, and what makes them is not installed. Install the extra `tracing` "
            "(in diligence's folder: .venv/bin/pip install -e '.[tracing]'), or leave the variable out."
        ) from error


@contextmanager
def span(name: str, attributes: Mapping[str, Any]) -> Iterator[Any]:
    """Trace the block where the environment asks for it; gives the span, else None."""
    tracing = _tracing_of_process(*(os.environ.get(name) for name in ENDPOINTS))
    if tracing is None:
        yield None
        return
    with tracing.span(name, attributes) as begun:
        yield begun


def traced(kind: str, name: str, function: Callable[P, R]) -> Callable[P, R]:
    """The function, each call of it a span `kind name`: `flow batch`, `operation document_index`."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with span(f"{kind} {name}", {}):
            return function(*args, **kwargs)

    return call


@cache
def _tracing_of_process(*_endpoints: str | None) -> Tracing | None:
    try:
        return start_tracing()
    except NotConfigured as error:
        log.warning("%s", error.message)
        return None

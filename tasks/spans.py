"""The spans of traces, made by OpenTelemetry's SDK: an extra, which `telemetry.py` imports if traces are wanted."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from storage import context

_PARENT: Final = (b"traceparent", b"tracestate")


class CallOutcome(Protocol):
    """What a span says about a request once it is answered."""

    operation: str
    status: int


class Tracing:
    """Makes the spans of one process and hands them to `exporter`."""

    def __init__(self, exporter: SpanExporter) -> None:
        name = {} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: "diligence"}
        self._provider = TracerProvider(resource=Resource.create(name))  # what is left is sent when the process ends
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("diligence")

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, Any]) -> Iterator[Any]:
        """Trace the block as part of the trace around it; yields the span."""
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

        A `traceparent` header (W3C Trace Context) makes it part of the caller's trace.
        """
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
                span.set_attributes({**attributes, "diligence.request_id": context.current_request_id() or ""})
                if outcome.status >= 500:
                    span.set_status(StatusCode.ERROR)

    def close(self) -> None:
        """Send what has not been sent yet."""
        self._provider.shutdown()

"""Traces of requests, flows and operations down to model calls (OpenTelemetry, OTLP over HTTP).

They go to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names. Spans contain no names of companies or documents, no
paths, questions or answers; of exceptions only the class.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from tasks.errors import NotConfigured

if TYPE_CHECKING:
    from tasks.spans import Tracing

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def start_tracing() -> "Tracing | None":
    """Tracing as configured by the environment; None if it asks for none.

    Raises:
        NotConfigured: it does, and the extra is not installed.
    """
    named = next((name for name in ENDPOINTS if os.environ.get(name)), None)
    if named is None or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        from tasks.spans import Tracing  # noqa: PLC0415 - an extra, not in every setup

        exporter = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        return Tracing(exporter.OTLPSpanExporter())
    except ImportError as error:
        raise NotConfigured(
            f"{named} asks for traces, and what makes them is not installed. Install the extra `tracing` "
            "(in diligence's folder: .venv/bin/pip install -e '.[tracing]'), or leave the variable out."
        ) from error


@contextmanager
def span(name: str, attributes: Mapping[str, Any]) -> Iterator[Any]:
    """Trace the block if the environment asks for that; yields the span, otherwise None."""
    tracing = _tracing_of_process(*(os.environ.get(name) for name in ENDPOINTS))
    if tracing is None:
        yield None
        return
    with tracing.span(name, attributes) as begun:
        yield begun


def traced(kind: str, name: str, function: Callable[P, R]) -> Callable[P, R]:
    """The function with each call traced as a span `kind name`: `flow batch`, `operation document_index`."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with span(f"{kind} {name}", {}):
            return function(*args, **kwargs)

    return call


@cache
def _tracing_of_process(*_endpoints: str | None) -> "Tracing | None":
    try:
        return start_tracing()
    except NotConfigured as error:
        log.warning("%s", error.message)
        return None

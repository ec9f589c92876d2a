"""What is measured of the program: traces (OpenTelemetry, OTLP over HTTP), and counters for `/metrics`.

Requests, flows and operations down to model calls are traced. Traces go to the collector that
OTEL_EXPORTER_OTLP_ENDPOINT names. Spans contain no names of companies or documents, no paths, questions or answers; of
exceptions only the class.

Cache hits and misses, model calls, tokens and cost are counted here without a library, because every command would wait
for its import (75 ms). Counters contain no names of companies or documents either.
"""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, TypeVar

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


Cache = Literal["texts in memory", "texts", "answers", "sources"]


@dataclass(frozen=True)
class ModelUse:
    """Model calls, their tokens, and the cost in USD of the calls whose price is known."""

    calls: int = 0
    calls_without_price: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


_lock: Final = Lock()
_lookups: Final[Counter[tuple[Cache, bool]]] = Counter()
_model_use: Final = [ModelUse()]


def count_lookup(cache: Cache, *, hit: bool) -> None:
    """Count a lookup in a cache; `hit` says whether the entry was there."""
    with _lock:
        _lookups[cache, hit] += 1


def count_model_use(calls: int, input_tokens: int, output_tokens: int, usd: float | None) -> None:
    """Count model calls; `usd` is None if the price is not known."""
    with _lock:
        use = _model_use[0]
        _model_use[0] = replace(
            use,
            calls=use.calls + calls,
            calls_without_price=use.calls_without_price + (calls if usd is None else 0),
            input_tokens=use.input_tokens + input_tokens,
            output_tokens=use.output_tokens + output_tokens,
            usd=use.usd + (usd or 0.0),
        )


def lookups() -> dict[tuple[Cache, bool], int]:
    """The number of lookups by cache and success."""
    with _lock:
        return dict(_lookups)


def model_use() -> ModelUse:
    """What models have been used for so far."""
    with _lock:
        return _model_use[0]

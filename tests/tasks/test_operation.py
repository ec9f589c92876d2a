"""Operations: a plain function here, a Prefect task there, tried again only where that may help.

Traces: from a flow over its operations to the calls of a model, without anything of what was asked.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from flows.engine import flow
from storage.errors import DatabaseUnavailable
from tasks import telemetry
from tasks.answers import ai_question
from tasks.errors import (
    BadRequest,
    Damaged,
    DiligenceError,
    NotConfigured,
    NotFound,
    SourceFailed,
    TookTooLong,
    TooManyRequests,
    Unavailable,
)
from tasks.operation import Operation, operation, source_failed
from tasks.prefect_setup import untracked
from tasks.spans import Tracing
from tests.cases import cases
from tests.servers.openai_server import ModelServer
from tests.web.server import LoopbackServer, Reply


@operation(name="double")
def double(number: int, plus: int = 0) -> int:
    """Twice the number."""
    return 2 * number + plus


@operation(asks_a_source=True, name="ask", tags={"source"})
def ask(answer: DiligenceError | None) -> str:
    if answer is not None:
        raise answer
    return "yes"


def test_called_directly_it_is_the_function() -> None:
    assert double(3, plus=1) == 7
    with pytest.raises(NotFound):
        ask(NotFound("No."))


def test_it_looks_like_the_function() -> None:
    assert isinstance(double, Operation)
    described = [getattr(double, name) for name in ("__name__", "__doc__", "__module__")]
    assert described == ["double", "Twice the number.", __name__]
    assert double.function(2) == 4


def test_as_a_task_it_has_its_name_and_does_the_same() -> None:
    assert double.task.name == "double"
    assert double.task.fn(3) == 6
    assert double.task is double.task
    assert double.task.retries == 0


def test_a_task_that_asks_a_source_is_tried_again() -> None:
    assert ask.task.retries == 2
    assert ask.task.retry_delay_seconds == [2, 10]
    assert ask.task.retry_condition_fn is source_failed
    assert ask.task.tags == {"source"}


def test_its_own_options_come_before_the_usual_ones() -> None:
    @operation(asks_a_source=True, name="ask", retries=5)
    def patient() -> None: ...

    assert patient.task.retries == 5


@cases(
    ("error", "again"),
    [
        (SourceFailed("It failed."), True),
        (TooManyRequests("Slowly."), True),
        (TookTooLong("It took too long."), True),
        (Unavailable("It is down."), True),
        (BadRequest("What?"), False),
        (NotFound("No."), False),
        (NotConfigured("Set it."), False),
        (Damaged("Broken."), False),
        (DatabaseUnavailable("The disk is full."), False),
        (ValueError("ours"), False),
    ],
)
def test_only_what_may_go_better_next_time_is_tried_again(error: Exception, *, again: bool) -> None:
    from prefect.states import Failed

    assert source_failed(ask.task, None, Failed(data=error)) is again


def test_calling_an_operation_does_not_import_prefect() -> None:
    program = (
        "import sys; from tasks.operation import operation\n"
        "assert operation(name='double')(lambda number: 2 * number)(3) == 6\n"
        "sys.exit('prefect' in sys.modules)"
    )
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0


def test_a_flow_its_operations_and_calls_of_a_model_are_one_trace(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    ours = Tracing(exporter)
    monkeypatch.setattr(telemetry, "_tracing_of_process", lambda *_: ours)

    @flow(name="ask")
    def ask() -> object:
        return ai_question("Hush-hush?")

    with ModelServer("Hush.") as model, untracked():
        for name, value in {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k", "DILIGENCE_AI_MODEL": "m"}.items():
            monkeypatch.setenv(name, value)
        ask()
    ours._provider.force_flush()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    asked, called = spans["operation ai_question"], spans["chat m"]
    assert called.parent is not None
    assert called.parent.span_id == asked.context.span_id
    assert asked.parent is not None
    assert asked.parent.span_id == spans["flow ask"].context.span_id
    assert "hush" not in "".join(span.to_json() for span in spans.values()).lower()


def test_without_the_setting_nothing_is_traced_and_without_the_extra_a_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with telemetry.span("anything", {}) as span:
        assert span is None
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with telemetry.span("anything", {}) as span:
        assert span is None
    assert "Install the extra `tracing`" in caplog.text


def test_what_is_locked_sends_traces_to_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer({"/v1/traces": Reply()}) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        ours = telemetry.start_tracing()
        assert ours is not None
        with ours.span("anything", {}):
            pass
        ours.close()
        assert collector.paths() == ["/v1/traces"]

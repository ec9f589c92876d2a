"""Traces: from a flow over its operations to the calls of a model, without anything of what was asked."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from flows.artifacts import flow
from tasks import tracing
from tasks.answers import ai_question
from tasks.prefect_setup import untracked
from tasks.spans import Tracing
from tests.servers.openai_server import ModelServer


def test_a_flow_its_operations_and_calls_of_a_model_are_one_trace(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    ours = Tracing(exporter)
    monkeypatch.setattr(tracing, "_tracing_of_process", lambda *_: ours)

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
    with tracing.span("anything", {}) as span:
        assert span is None
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with tracing.span("anything", {}) as span:
        assert span is None
    assert "Install the extra `tracing`" in caplog.text


def test_what_is_locked_sends_traces_to_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            sent.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        Thread(target=collector.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        ours = tracing.start_tracing()
        assert ours is not None
        with ours.span("anything", {}):
            pass
        ours.close()
        collector.shutdown()
    assert sent == ["/v1/traces"]

"""Traces: a span a request, without anything of what was asked; and a sentence where the extra is missing."""

import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from api.app import create_app
from tasks.errors import NotConfigured
from tasks.spans import Tracing
from tests.api.conftest import serving

TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_a_span_tells_operation_status_and_id_alone(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing(exporter)
    monkeypatch.setattr("api.app.start_tracing", lambda: tracing)
    headers = {"X-Request-ID": "ours-1", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    with serving() as client:
        client.post("/v1/ai/question?hush", json={"question": "Hush?"}, headers=headers)
        client.get("/hush")
    asked, other = exporter.get_finished_spans()
    assert asked.name == "POST /v1/ai/question"
    assert dict(asked.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/ai/question",
        "http.response.status_code": 200,
        "diligence.request_id": "ours-1",
    }
    assert f"{asked.context.trace_id:032x}" == TRACE
    assert other.name == "other"
    assert "hush" not in (asked.to_json() + other.to_json()).lower()


def test_without_the_extra_a_sentence_says_what_to_install(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(NotConfigured, match=r"pip install -e '\.\[tracing\]'"):
        create_app()

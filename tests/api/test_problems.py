"""Every failure has the one form, says what to do, and gives nothing away."""

import gc
import gzip
import json
import logging
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import api.operations
from storage import database
from tasks.documents.texts import DocumentText
from tasks.errors import (
    Conflict,
    Damaged,
    DiligenceError,
    NotConfigured,
    SourceFailed,
    TookTooLong,
    TooManyRequests,
    Unavailable,
    UnsupportedFormat,
)
from tasks.operation import Operation
from tests.api.conftest import serving
from tests.cases import cases

TEXT = "/v1/drive/document-text"
INDEX = "/v1/drive/document-index"
JSON = {"Content-Type": "application/json"}


def problem(answer: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """The problem that an answer tells of, after a look at its form."""
    body: dict[str, Any] = answer.json()
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["type"] == f"urn:diligence:problem:{slug}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"].endswith((".", "?"))
    return body


def fields(answer: httpx.Response) -> dict[str, str]:
    """What a 400 says of each bad field."""
    return {each["field"]: each["message"] for each in problem(answer, 400, "bad-request").get("errors", [])}


def test_body_with_a_trailing_comma_is_told_where(service: httpx.Client) -> None:
    answer = service.post(TEXT, content=b'{\n  "document_id": "x",\n}', headers=JSON)
    assert "trailing comma at line 3 column 1" in problem(answer, 400, "bad-request")["detail"]


@cases(
    ("body", "words"),
    [
        (b"", "no body"),
        (b"null", "must be a JSON object"),
        (b'["x"]', "must be a JSON object"),
        (b"document_id=x", "not JSON"),
        (b'{"document_id": "x"', "not JSON"),
        (b'{"document_id": NaN}', "not JSON"),
        (b'{"document_id": "\xff"}', "not JSON"),
        (b'{"document_id": "\\ud800"}', "not JSON"),
        (b'{"document_id": ' * 100_000, "recursion limit"),
        (b'{"document_id": "x", "document_id": "y"}', "uplicate key"),
        (b'{"document_id": "x", "more": [{"a": 1, "a": 2}]}', "uplicate key"),
    ],
)
def test_body_that_is_no_json_object_is_refused(service: httpx.Client, body: bytes, words: str) -> None:
    assert words in problem(service.post(TEXT, content=body, headers=JSON), 400, "bad-request")["detail"]


def test_every_bad_field_is_named(service: httpx.Client) -> None:
    answer = service.post(INDEX, json={"cloud_drive_folder": 5, "recursive": "false"})
    assert fields(answer) == {
        "cloud_drive_folder": "Input should be a valid string",
        "recursive": "Input should be a valid boolean",
    }


@cases("body", [{}, {"document_id": None}, {"document_id": ""}, {"document_id": " \n"}, {"document_id": "x" * 5000}])
def test_required_text_must_be_there(service: httpx.Client, body: dict[str, Any]) -> None:
    assert list(fields(service.post(TEXT, json=body))) == ["document_id"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_other_content_types_are_refused(service: httpx.Client, kind: str) -> None:
    answer = service.post(TEXT, content=b'{"document_id": "x"}', headers={"Content-Type": kind})
    assert "application/json" in problem(answer, 415, "unsupported-format")["detail"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/vnd.api+json", None])
def test_json_by_any_of_its_names_is_read(service: httpx.Client, kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}
    problem(service.post(TEXT, content=b'{"document_id": "x"}', headers=headers), 404, "not-found")


def test_a_compressed_body_is_refused_and_told_why(service: httpx.Client) -> None:
    body = gzip.compress(b'{"document_id": "x"}')
    answer = service.post(TEXT, content=body, headers={**JSON, "Content-Encoding": "gzip"})
    assert "Content-Encoding: 'gzip'" in problem(answer, 415, "unsupported-format")["detail"]
    plain = service.post(TEXT, content=b'{"document_id": "x"}', headers={**JSON, "Content-Encoding": "identity"})
    problem(plain, 404, "not-found")


@cases("path", ["/nope", "/v1/drive", "/schema/nope", "/static/nope", "/file/d/x", "/static/%00", "/file/d/%00/view"])
def test_unknown_path(service: httpx.Client, path: str) -> None:
    problem(service.get(path), 404, "not-found")


def test_wrong_method_is_told_the_right_ones(service: httpx.Client) -> None:
    for method in ("GET", "DELETE", "BREW"):
        answer = service.request(method, TEXT)
        problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == "OPTIONS, POST"
    assert service.post("/health/live").headers["allow"] == "GET, HEAD, OPTIONS"


def test_head_and_options_are_answered(service: httpx.Client) -> None:
    head, get = service.head("/health/live"), service.get("/health/live")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]
    options = service.options("/health/live")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")


def pieces(size: int) -> Iterator[bytes]:
    yield b'{"question": "'
    for _ in range(size // 65536):
        yield b"x" * 65536
    yield b'"}'


@pytest.mark.parametrize("chunked", [False, True])
def test_body_above_the_limit(room: Path, monkeypatch: pytest.MonkeyPatch, chunked: bool) -> None:
    monkeypatch.setenv("DILIGENCE_MAX_BODY_MB", "1")
    size = 3 * 1024 * 1024
    with serving() as client:
        content = pieces(size) if chunked else b"".join(pieces(size))
        answer = client.post("/v1/ai/question", content=content, headers=JSON)
        assert "DILIGENCE_MAX_BODY_MB" in problem(answer, 413, "too-large")["detail"]
        under = client.post("/v1/ai/question", content=b"".join(pieces(900_000)), headers=JSON)
        assert under.status_code == 200


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Conflict("Another run of this batch is at work. Wait for it."), 409),
        (UnsupportedFormat("No reader for .odt. Supported: .docx, .pdf."), 415),
        (Damaged("The document is damaged. Ask for it again."), 422),
        (TooManyRequests("Asked too often. Wait 7 s.", retry_after=7), 429),
        (SourceFailed("The model's server answered wrongly."), 502),
        (NotConfigured("Set DILIGENCE_FACT_SOURCES."), 503),
        (Unavailable("The drive is out of reach."), 503),
        (TookTooLong("Reading took longer than 60 s (DILIGENCE_DOCUMENT_TIMEOUT)."), 504),
    ],
)
def test_errors_of_the_operations_keep_status_and_sentence(
    service: httpx.Client, monkeypatch: pytest.MonkeyPatch, error: DiligenceError, status: int
) -> None:
    def fails(document_id: str) -> DocumentText:
        raise error

    monkeypatch.setattr(api.operations, "document_text", Operation(fails, {}))
    answer = service.post(TEXT, json={"document_id": "x"})
    assert problem(answer, status, error.slug)["detail"] == error.message
    assert answer.headers.get("retry-after") == ("7" if status == 429 else None)


def test_a_mistake_of_ours_gives_nothing_away(
    service: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(question: str, context: str | None) -> None:
        raise RuntimeError(f"/srv/secret/path {question}") from KeyError(context)

    monkeypatch.setattr(api.operations, "ai_question", Operation(fails, {}))
    with caplog.at_level(logging.INFO):
        answer = service.post("/v1/ai/question", json={"question": "hush-hush", "context": "confidential"})
    problem(answer, 500, "internal-error")
    for secret in ("secret", "hush-hush", "confidential", "RuntimeError", "Traceback"):
        assert secret not in answer.text
    (record,) = [record for record in caplog.records if record.name == "api.problems"]
    told = record.getMessage()
    assert "POST /v1/ai/question: 500, RuntimeError at tests.api.test_problems:" in told
    assert "[KeyError]" in told
    for secret in ("/srv", "hush-hush", "confidential"):
        assert secret not in caplog.text


def test_wrong_setting_is_named(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as client:
        monkeypatch.setenv("DILIGENCE_INDEX_MAX_AGE", "soon")
        detail = problem(client.post(INDEX, json={"cloud_drive_folder": "root"}), 503, "not-configured")["detail"]
    assert "DILIGENCE_INDEX_MAX_AGE" in detail
    assert "soon" not in detail


def test_database_that_cannot_be_opened(room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("DILIGENCE_HOME", str(tmp_path / "file" / "home"))
    database.close()
    with serving() as client:
        detail = problem(client.post(INDEX, json={"cloud_drive_folder": "root"}), 503, "unavailable")["detail"]
    assert "DILIGENCE_HOME" in detail
    assert str(tmp_path) not in detail


@cases("path", ["/", "/health/live", "/schema", "/nope", "/static/pages.css"])
def test_every_answer_carries_the_security_headers(service: httpx.Client, path: str) -> None:
    headers = service.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == ("same-origin" if path == "/" else "no-referrer")  # where a form comes from
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert ("no-store" in headers["cache-control"]) is (path != "/static/pages.css")


def test_problem_bodies_are_one_json_object(service: httpx.Client) -> None:
    assert set(json.loads(service.get("/nope").text)) == {"type", "title", "status", "detail"}


class Held:
    """Something that a call holds, such as a text of 57 MB."""


def test_nothing_that_a_failed_call_held_stays_in_memory(
    service: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[weakref.ref[Held]] = []

    def fails(question: str, context: str | None) -> None:
        held = Held()
        seen.append(weakref.ref(held))
        error = SourceFailed("The source is down.")
        circle = [error, held]  # as a frame that keeps the error it raised
        try:
            raise error
        finally:
            del held
            assert circle

    monkeypatch.setattr(api.operations, "ai_question", Operation(fails, {}))
    gc.disable()
    try:
        problem(service.post("/v1/ai/question", json={"question": "Who?"}), 502, "source-failed")
        assert [held() for held in seen] == [None]
    finally:
        gc.enable()

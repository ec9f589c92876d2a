"""What `/metrics` tells, whom it tells it, and that it names nobody.

Health tells what is missing, and goes on telling that the process is up.
"""

from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from storage import database
from tasks.documents.drive.drive import ROOT
from tasks.documents.drive.registry import open_drive
from tasks.documents.texts import share_pool
from tasks.errors import Damaged
from tests.api.conftest import serving
from tests.api.test_problems import problem
from tests.servers.openai_server import ModelServer
from tests.tasks.reading.pool.hostile_readers import obedient

QUESTION = {"question": "What is hush-hush?"}


def figures(text: str) -> dict[tuple[str, ...], float]:
    """Each sample's value by its name and the values of its labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_calls_are_counted_by_operation_and_outcome(room: Path) -> None:
    (room / "hush.txt").write_text("Hush-hush.")
    (document,) = open_drive().list_folder(ROOT, recursive=False).documents
    with serving() as client:
        before = figures(client.get("/metrics").text)
        client.post("/v1/ai/question", json=QUESTION)
        client.post("/v1/ai/question", json={})
        client.get("/hush-hush")
        for _ in range(2):
            assert client.post("/v1/drive/document-text", json={"document_id": document.id}).status_code == 200
        answer = client.get("/metrics")
    after = figures(answer.text)

    def grown(*key: str) -> float:
        return after.get(key, 0) - before.get(key, 0)

    assert grown("diligence_requests_total", "POST /v1/ai/question", "200") == 1
    assert grown("diligence_requests_total", "POST /v1/ai/question", "400") == 1
    assert grown("diligence_request_seconds_count", "POST /v1/ai/question") == 2
    assert grown("diligence_requests_total", "other", "404") == 1
    assert grown("diligence_cache_lookups_total", "texts in memory", "hit") == 1
    assert after["diligence_requests_under_way",] == 1  # its own
    assert after["diligence_calls_waiting", "documents"] == 0
    assert after["diligence_readers",] >= 1
    assert "hush" not in answer.text.lower()


def test_readers_of_all_pools_are_counted(room: Path) -> None:
    with serving() as client:
        before = figures(client.get("/metrics").text)["diligence_readers",]
        with share_pool(obedient) as pool:
            (room / "a.txt").write_text("damaged")
            with pytest.raises(Damaged):
                pool.read(room / "a.txt", ".txt")
            assert figures(client.get("/metrics").text)["diligence_readers",] > before


def test_tokens_and_cost_of_models_are_counted(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(says="Forty-two.") as server, serving() as client:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "gpt-4o-mini")
        before = figures(client.get("/metrics").text)
        assert client.post("/v1/ai/question", json=QUESTION).status_code == 200
        after = figures(client.get("/metrics").text)
    for name in ("diligence_model_calls_total", "diligence_model_cost_usd_total"):
        assert after[name,] > before[name,]
    assert after["diligence_model_tokens_total", "input"] > before["diligence_model_tokens_total", "input"]


def test_where_there_are_keys_any_of_them_is_needed(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_API_KEYS", "hush")
    with serving() as client:
        problem(client.get("/metrics"), 401, "not-logged-in")
        assert client.get("/metrics", headers={"X-API-Key": "hush"}).status_code == 200


def test_without_keys_other_names_are_not_answered(room: Path) -> None:
    with serving(["127.0.0.1"]) as client:
        assert client.get("/metrics", headers={"Host": "rebound.example"}).status_code == 403
        assert client.get("/metrics").status_code == 200


def test_a_service_with_all_it_needs_is_ready(service: httpx.Client) -> None:
    for path in ("/health/live", "/health/ready"):
        assert service.get(path).json() == {"status": "ok"}


def test_what_is_missing_is_named(
    service: httpx.Client, room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.rmdir()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("DILIGENCE_HOME", str(tmp_path / "file" / "home"))
    database.close()
    answer = service.get("/health/ready")
    body = problem(answer, 503, "unavailable")
    assert [each["field"] for each in body["errors"]] == ["database", "drive"]
    assert "DILIGENCE_DRIVE_ROOT" in body["detail"]
    assert str(tmp_path) not in answer.text
    assert service.get("/health/live").status_code == 200


def test_a_drive_that_comes_back_is_ready_again(service: httpx.Client, room: Path) -> None:
    assert service.get("/health/ready").status_code == 200
    room.rmdir()
    assert service.get("/health/ready").status_code == 503
    room.mkdir()
    assert service.get("/health/ready").status_code == 200


def test_a_database_that_cannot_be_written_is_not_ready(service: httpx.Client, room: Path) -> None:
    assert service.get("/health/ready").status_code == 200
    with database.writing() as session:
        session.connection().exec_driver_sql(
            "CREATE TRIGGER full BEFORE UPDATE ON alembic_version BEGIN SELECT RAISE(ABORT, 'x'); END"
        )
    assert "DILIGENCE_DATABASE_URL" in problem(service.get("/health/ready"), 503, "unavailable")["detail"]
    assert service.get("/health/live").status_code == 200

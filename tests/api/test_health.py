"""Health tells what is missing, and goes on telling that the process is up."""

from pathlib import Path

import httpx
import pytest

from storage import database
from tests.api.test_problems import problem


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

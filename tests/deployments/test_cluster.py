"""`diligence doctor --cluster` and `diligence migrate`: what operators are told."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import URL, Engine, create_engine, text

from api.monitoring import SystemFigures
from storage import database, runs
from storage.runs import CompanyStatus
from tests.deployments.test_command_line import call, run
from tests.storage import rows


@pytest.fixture
def shared(postgres: URL, postgres_admin: Engine, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a machine that shares an empty PostgreSQL database."""
    with postgres_admin.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS cluster WITH (FORCE)"))
        connection.execute(text("CREATE DATABASE cluster"))
    address = postgres.set(database="cluster").render_as_string(hide_password=False)
    yield {"DILIGENCE_DATABASE_URL": address, "DILIGENCE_DRIVE_ROOT": str(tmp_path)}
    database.close()


def test_a_shared_database_is_migrated_by_command(shared: dict[str, str], tmp_path: Path) -> None:
    for words in (["runs"], ["doctor"], ["migrate", "--check"]):
        refused = call(words, tmp_path, **shared)
        assert refused.returncode == 1
        assert "diligence migrate" in refused.stdout + refused.stderr
    assert "was brought to the schema" in call(["migrate"], tmp_path, **shared).stdout
    assert call(["migrate", "--check"], tmp_path, **shared).returncode == 0
    assert call(["runs"], tmp_path, **shared).returncode == 0


def test_the_cluster_is_told_part_by_part(shared: dict[str, str], tmp_path: Path, prefect_url: str) -> None:
    shared |= {"PREFECT_API_URL": prefect_url, "PREFECT_API_AUTH_STRING": os.environ["PREFECT_API_AUTH_STRING"]}
    call(["migrate"], tmp_path, **shared)
    pair = tuple(shared["PREFECT_API_AUTH_STRING"].split(":"))
    with httpx.Client(base_url=prefect_url, auth=(pair[0], pair[1]), timeout=60) as prefect:
        for name in ("paused", "lively"):
            prefect.post("/work_pools/", json={"name": name, "type": "process"}).raise_for_status()
        prefect.post("/work_pools/", json={"name": "pushes", "type": "ecs:push"}).raise_for_status()
        prefect.patch("/work_pools/paused", json={"is_paused": True}).raise_for_status()
        prefect.post("/work_pools/lively/workers/heartbeat", json={"name": "machine 1"}).raise_for_status()
        older = create_engine(shared["DILIGENCE_DATABASE_URL"], connect_args={"application_name": "diligence 0.0.1"})
        try:
            with older.connect() as connection:
                connection.execute(text("SELECT 1"))
                told = call(["doctor", "--cluster"], tmp_path, **shared)
        finally:
            older.dispose()
            for name in ("paused", "lively", "pushes"):
                prefect.delete(f"/work_pools/{name}")
    lines = told.stdout.splitlines()
    assert told.returncode == 1
    assert any(line.startswith("✓ database") and "schema up to date" in line for line in lines)
    assert any(line.startswith("✗ connected") and "0.0.1" in line and "update" in line for line in lines)
    assert sum(line.startswith("✓ clock") for line in lines) == 2
    assert any(line.startswith("✗ pool") and "paused" in line and "resume paused" in line for line in lines)
    assert any(line.startswith("✗ pool") and "no live worker" in line for line in lines)
    assert [line.split("pushes ")[1] for line in lines if "pushes" in line] == [
        "(ecs:push): starts runs without a worker"
    ]
    assert any(line.startswith("✓ pool") and "lively (process): 1 of 1" in line for line in lines)
    assert any(line.startswith("✓ worker") and "machine 1" in line for line in lines)


PROFILE = 'active = "ours"\n[profiles.ours]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n'


@pytest.mark.slow  # each in a process of its own
@pytest.mark.parametrize(
    ("profile", "said"),
    [
        (PROFILE, "The Prefect server does not answer"),
        ("active = no text of Prefect's", "each run starts its own server"),
    ],
    ids=["a server", "damaged"],
)
def test_a_profile_of_prefect_counts_where_the_environment_is_silent(profile: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "profiles.toml"
    file.write_text(profile)
    home = {"PREFECT_PROFILES_PATH": str(file), "DILIGENCE_DRIVE_ROOT": str(tmp_path)}
    assert said in run(["doctor"], tmp_path, **home).stdout


def test_what_one_machine_alone_uses_is_no_cluster(tmp_path: Path) -> None:
    told = call(["doctor", "--cluster"], tmp_path, DILIGENCE_DRIVE_ROOT=str(tmp_path))
    assert told.returncode == 1
    assert "SQLite, which only one machine can use" in told.stdout
    assert "PREFECT_API_URL names no server" in told.stdout


def test_figures_tell_of_runs_without_a_name(database_url: str) -> None:
    with database.writing() as session:
        companies = [
            rows.company(ordinal=number, domain=f"{number}.example", status=status)
            for number, status in enumerate([CompanyStatus.FINISHED, CompanyStatus.FAILED, CompanyStatus.PENDING])
        ]
        runs.add_run(session, rows.run(usd=0.3, budget="0.40 USD"), companies)
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in SystemFigures().collect()
        for sample in family.samples
    }
    assert samples["diligence_runs", "running"] == 1
    assert [samples["diligence_run_companies", status.value] for status in CompanyStatus] == [1, 1, 1]
    assert samples["diligence_runs_cost_usd",] == pytest.approx(0.3)
    assert samples["diligence_run_budget_left",] == pytest.approx(0.25)
    assert samples["diligence_run_oldest_seconds",] > 0

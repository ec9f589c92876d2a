"""A folder of facts, a home of its own, a server to ask, and claims to merge."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from storage import database
from tasks.companies.claims import Claim
from tasks.companies.web import client
from tests.homes import make_home
from tests.web.server import LoopbackServer


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls to sources are counted in the database, so every test has an empty one of its own."""
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(tmp_path / "home")))
    client._share_web.cache_clear()  # it remembers silent addresses, one of which may be another test's server now
    yield
    database.close()


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A server on 127.0.0.1 without pages; a test gives it some."""
    with LoopbackServer({}) as server:
        yield server


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the source `files`, with the only settings that are in force; the database is empty."""
    folder = tmp_path / "facts"
    folder.mkdir()
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(tmp_path / "home")))
    monkeypatch.setenv("DILIGENCE_FACTS", str(folder))
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")
    for name in ("DILIGENCE_DATABASE_URL", "DILIGENCE_AI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    yield folder
    database.close()


@pytest.fixture
def write(facts: Path) -> Callable[..., Path]:
    """Puts a profile into the folder: `write("alpha.example", founded_year=2015)`."""

    def write(domain: str, **profile: Any) -> Path:
        path = facts / f"{domain}.json"
        path.write_text(json.dumps(profile, ensure_ascii=False), encoding="utf-8")
        return path

    return write


@pytest.fixture
def claim() -> Callable[..., Claim]:
    """Makes a claim: `claim("founded_year", 2015, source="sec", as_of="2024")`."""

    def claim(field: str, value: Any, **more: Any) -> Claim:
        values = {"source": "files", "retrieved_at": datetime(2026, 3, 31, 12, tzinfo=UTC), **more}
        return Claim(field=field, value=value, **values)

    return claim

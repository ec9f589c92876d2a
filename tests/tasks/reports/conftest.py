"""Every test of the reports has a home of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import database
from tests.homes import make_home


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("DILIGENCE_DATABASE_URL", raising=False)
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(tmp_path / "home")))
    yield tmp_path
    database.close()

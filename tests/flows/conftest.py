"""A small batch to run."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tasks.prefect_setup import untracked
from tests.homes import make_home


@pytest.fixture
def without_prefect() -> Iterator[None]:
    """Flows and operations run as plain functions: for tests of what they do, without the time of a server."""
    with untracked():
        yield


@pytest.fixture
def batch_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two companies with a handful of documents each, and one criterion of each kind."""
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(tmp_path / "home")))
    return write_batch(tmp_path / "screen")


def write_batch(folder: Path) -> Path:
    """Write the batch of `batch_file` into `folder`."""
    write_room(folder / "rooms" / "alpha", {"deck.txt": "Ninety percent of revenue is recurring.", "notes.pdf": ""})
    write_room(folder / "rooms" / "beta", {"2024/audited financial statements.txt": "Revenue fell in 2024."})
    (folder / "facts").mkdir()
    (folder / "facts" / "alpha.example.json").write_text('{"name": "Alpha", "founded_year": 2012}')
    (folder / "criteria.yaml").write_text(
        dedent("""
            scale: [0, 5]
            criteria:
              - {id: recurring, ask: "Is most of the revenue recurring?", weight: 3}
              - {id: established, fact: founded_year, rule: "<= 2018"}
              - {id: audited, document: "audited financial statements", weight: 2}
        """)
    )
    (folder / "batch.yaml").write_text(
        dedent("""
            name: Small screen
            criteria: criteria.yaml
            fact_sources: [files]
            drive_root: .
            companies:
              - {name: Alpha, domain: alpha.example, folder: rooms/alpha}
              - {name: Beta, domain: beta.example, folder: rooms/beta}
        """)
    )
    return folder / "batch.yaml"


def write_room(folder: Path, documents: dict[str, str]) -> None:
    """Text files of a data room, by their paths in it."""
    for path, text in documents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")

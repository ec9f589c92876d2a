"""How `extract_all` divides a room into batches, and what Prefect shows of it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.objects import Artifact
from prefect.client.schemas.sorting import ArtifactSort

from flows import steps
from flows.extract_all import extract_all
from flows.steps import batches
from storage.documents import RoomDocument
from tests.flows.conftest import write_room
from tests.storage import rows


def room(documents: int) -> Sequence[RoomDocument]:
    return [rows.document(str(number), size=number * 7 % 1000 if number % 50 else None) for number in range(documents)]


@pytest.mark.parametrize(
    ("documents", "sizes"),
    [(0, set()), (7, {7}), (100, {25}), (2000, {250}), pytest.param(20_000, {500}, marks=pytest.mark.slow)],
)
def test_batches_are_few_for_prefect_and_several_for_the_processes(documents: int, sizes: set[int]) -> None:
    assert {len(batch) for batch in batches(room(documents))} == sizes


def test_every_document_is_in_one_batch_the_largest_first() -> None:
    listed = room(333)
    handed_out = [each for batch in batches(listed) for each in batch]
    assert sorted(each.document_id for each in handed_out) == sorted(each.document_id for each in listed)
    sizes = [each.size or 0 for each in handed_out]
    assert sizes == sorted(sizes, reverse=True)


def shown(key: str) -> list[Artifact]:
    """The artifacts of that key, the newest last: other tests' flows show theirs on the same server."""

    async def ask() -> list[Artifact]:
        async with get_client() as client:
            wanted = ArtifactFilter(key=ArtifactFilterKey(any_=[key]))
            return (await client.read_artifacts(artifact_filter=wanted, sort=ArtifactSort.CREATED_DESC))[::-1]

    return asyncio.run(ask())


@pytest.mark.usefixtures("prefect_server")
def test_prefect_shows_the_progress_and_the_documents(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path))
    write_room(tmp_path / "room", {f"{number}.txt": f"words {number}" for number in range(60)} | {"x.pdf": ""})
    monkeypatch.setattr(steps, "REFRESH_SECONDS", 0.0)
    assert extract_all("room") == {"read": 60, "failed": 1}
    progress, table = shown("documents")[-1], shown("documents-read")[-1]
    assert progress.data == 100.0
    assert "x.pdf" in str(table.data)
    assert str(table.data).index("x.pdf") < str(table.data).index("1.txt"), "those without a text come first"

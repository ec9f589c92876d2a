"""Evidence put in order by an embedding model, where one is set."""

from collections.abc import Iterator

import pytest

from tests.servers.embeddings_server import EmbeddingsServer
from tests.servers.openai_server import failing
from tests.tasks.scoring.conftest import Room

QUESTION = "Did the board decide on the lease?"


@pytest.fixture
def server(room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsServer]:
    for name in ("Board A: they met in writing.", "Board B: they met in March.", "Board C: it pays the tenant."):
        room.holds(f"{name[6]}.txt", name)
    with EmbeddingsServer() as running:
        monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "m")
        monkeypatch.setenv("DILIGENCE_EMBEDDINGS_URL", running.url)
        yield running


def test_passages_are_put_in_order_by_what_they_mean(room: Room, server: EmbeddingsServer) -> None:
    evidence = room.evidence
    assert [excerpt.document.name for excerpt in evidence.find_distinct(QUESTION, 1)] == ["C.txt"]
    assert evidence.warning is None
    assert len(server.requests) == 2, "the question, and the passages together"


def test_a_server_that_is_down_leaves_the_order_by_words(room: Room, server: EmbeddingsServer) -> None:
    server.always(failing(404))
    evidence = room.evidence
    assert [excerpt.document.name for excerpt in evidence.find_distinct(QUESTION, 3)] == ["A.txt", "B.txt", "C.txt"]
    assert evidence.warning is not None
    assert "by their words alone" in evidence.warning

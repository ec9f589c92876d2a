"""What every embedder promises, run on all of them."""

from collections.abc import Iterator

import numpy as np
import pytest

from tasks.ranking.embedders import LocalEmbedder
from tasks.ranking.embedders.server import ServerEmbedder
from tasks.ranking.semantic import Embedder
from tests.servers.embeddings_server import EmbeddingsServer


@pytest.fixture(params=["server", "local"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "local":
        yield LocalEmbedder()
        return
    with EmbeddingsServer() as server:
        yield ServerEmbedder("m", server.url)


def test_each_text_has_a_vector_of_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed(["The lease ends.", "Sales grew.", "x"])
    assert vectors.dtype == np.float32
    assert len(vectors) == 3
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


def test_texts_of_one_meaning_are_near_each_other(embedder: Embedder) -> None:
    lease, rent, sales = embedder.embed(["The lease of the premises", "The tenant and the rent", "Sales and turnover"])
    assert lease @ rent > lease @ sales + 0.2


def test_vectors_stand_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = [f"{'lease ' * (number % 3)}{'sales ' * (number % 5)}{'x' * (number % 7)}." for number in range(100)]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts[::9]])
    assert np.abs(together[::9] - alone).max() < 1e-5


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert len(embedder.embed([])) == 0


@pytest.mark.parametrize("text", ["half a character: \ud800", "a\0b", " ", "賃貸借契約は終了する。", "lease " * 20_000])
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    assert np.isfinite(embedder.embed([text])).all()

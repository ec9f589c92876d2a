"""Passages in order of meaning, with the vectors kept in either database."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from storage import database
from storage.model_calls import TextVector, find_vectors, save_vectors
from storage.texts import save_text
from tasks.errors import Unavailable
from tasks.ranking.embedders.server import ServerEmbedder
from tasks.ranking.semantic import Candidate, SemanticRanking
from tests.servers.embeddings_server import EmbeddingsServer, with_vector
from tests.servers.openai_server import failing
from tests.storage import rows

PARAGRAPHS = ["Sales grew by a tenth.", "The tenant may cancel in March.", "Staff costs fell."]
QUESTION = "When does the lease terminate?"


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as running:
        yield running


@pytest.fixture
def ranking(server: EmbeddingsServer, database_url: str) -> SemanticRanking:
    return SemanticRanking(ServerEmbedder("m", server.url))


def stored(paragraphs: Sequence[str] = PARAGRAPHS, content: str = "c0") -> list[Candidate]:
    """A text in the database, its paragraphs as candidates."""
    text = "\n".join(paragraphs)
    with database.writing() as session:
        row = save_text(session, rows.text(content, text=text, characters=len(text)))
    assert row.id is not None
    starts = [text.index(paragraph) for paragraph in paragraphs]
    return [
        Candidate(row.id, start, start + len(paragraph), paragraph)
        for start, paragraph in zip(starts, paragraphs, strict=True)
    ]


def test_the_passage_that_means_what_is_asked_comes_first(ranking: SemanticRanking) -> None:
    assert ranking.order(QUESTION, stored(), [1.1, 1.0, 0.2])[0] == 1
    assert ranking.warning is None


def test_a_passage_is_embedded_once(ranking: SemanticRanking, server: EmbeddingsServer) -> None:
    candidates = stored()
    ranking.order(QUESTION, candidates[:2], [1.0, 1.0])
    ranking.order("Who are the staff?", candidates, [1.0, 1.0, 1.0])
    again = SemanticRanking(ServerEmbedder("m", server.url)).order(QUESTION, candidates, [1.0, 1.0, 1.0])
    assert again[0] == 1
    assert sorted(server.embedded) == sorted([QUESTION, "Who are the staff?", QUESTION, *PARAGRAPHS])


def test_documents_of_one_content_share_their_vectors(ranking: SemanticRanking, server: EmbeddingsServer) -> None:
    """A text is stored once however many documents hold it: two candidates with one span are embedded once."""
    candidates = stored()
    order = ranking.order(QUESTION, [*candidates, *candidates], [1.0] * 6)
    assert order[:2] == [1, 4]
    assert len(server.embedded) == 1 + len(PARAGRAPHS)


def test_another_model_has_vectors_of_its_own(ranking: SemanticRanking, server: EmbeddingsServer) -> None:
    candidates = stored()
    ranking.order(QUESTION, candidates, [1.0, 1.0, 1.0])
    SemanticRanking(ServerEmbedder("n", server.url)).order(QUESTION, candidates, [1.0, 1.0, 1.0])
    assert len(server.embedded) == 2 * (1 + len(PARAGRAPHS))


def test_vectors_of_another_length_are_made_anew(ranking: SemanticRanking, server: EmbeddingsServer) -> None:
    """The server has another model by the same name now."""
    candidates = stored()
    model = ServerEmbedder("m", server.url).name
    old = [
        TextVector(text_id=candidate.text_id, model=model, start=candidate.start, end=candidate.end, vector=b"\0" * 8)
        for candidate in candidates
    ]
    with database.writing() as session:
        save_vectors(session, old)
    assert ranking.order(QUESTION, candidates, [1.0, 1.0, 1.0])[0] == 1
    with database.reading() as session:
        kept = find_vectors(session, [candidates[0].text_id], model)
    assert {len(vector) for vector in kept.values()} == {20}


def test_the_best_part_of_a_long_passage_counts(ranking: SemanticRanking) -> None:
    filling = "Nothing of interest was said here. " * 17
    long = filling + "The lease of the premises ends, the tenant may cancel and terminate. " * 9
    assert len(long) > 1200
    candidates = stored([filling, "The premises are near the sales staff. " * 3, long])
    assert ranking.order(QUESTION, candidates, [1.0, 1.0, 1.0])[0] == 2


def test_what_a_passage_stands_under_counts(ranking: SemanticRanking, server: EmbeddingsServer) -> None:
    first, second, third = stored(["Either side may do so at thirty days notice.", "It was a good year.", "So it is."])
    candidates = [third, second, first._replace(about="Termination: how to cancel\nthe lease")]
    assert ranking.order(QUESTION, candidates, [1.0, 1.0, 1.0])[0] == 2
    assert "Termination: how to cancel\nthe lease\nEither side may do so at thirty days notice." in server.embedded


def test_a_server_that_fails_leaves_the_order_by_words(
    ranking: SemanticRanking, server: EmbeddingsServer, caplog: pytest.LogCaptureFixture
) -> None:
    candidates = stored()
    server.always(failing(404))
    with caplog.at_level(logging.WARNING):
        assert ranking.order(QUESTION, candidates, [1.0, 2.0, 3.0]) == [2, 1, 0]
        assert ranking.order(QUESTION, candidates, [3.0, 2.0, 3.0]) == [0, 2, 1]
    assert ranking.warning is not None
    assert "by their words alone" in ranking.warning
    assert [record.message for record in caplog.records] == [ranking.warning]
    assert len(server.requests) == 1, "a server that failed is not asked for every question"


def test_what_was_embedded_before_a_failure_is_kept(ranking: SemanticRanking, server: EmbeddingsServer) -> None:
    candidates = stored([f"Paragraph {at} of the lease." for at in range(200)])
    question = ServerEmbedder("m", server.url).embed([QUESTION])
    failing_later = FailingAfter(ServerEmbedder("m", server.url), calls=2)
    broken = SemanticRanking(failing_later)
    broken.order(QUESTION, candidates, [1.0] * 200)
    assert broken.warning is not None
    before = len(server.embedded)
    ranking.order(QUESTION, candidates, [1.0] * 200)
    assert ranking.warning is None
    assert len(server.embedded) - before == len(question) + 200 - 128


class FailingAfter:
    """An embedder whose server goes down in the middle of the work."""

    def __init__(self, embedder: ServerEmbedder, calls: int) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._calls = calls

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._calls -= 1
        if self._calls < 0:
            raise Unavailable("It is down.")
        return self._embedder.embed(texts)


def test_vectors_that_do_not_fit_the_question_leave_the_order_by_words(
    ranking: SemanticRanking, server: EmbeddingsServer
) -> None:
    candidates = stored()
    server.then(with_vector([1.0, 2.0]))
    assert ranking.order(QUESTION, candidates, [1.0, 3.0, 2.0]) == [1, 2, 0]
    assert ranking.warning is not None


@pytest.mark.parametrize("given", [[], [0]])
def test_nothing_is_asked_where_nothing_is_to_be_put_in_order(
    ranking: SemanticRanking, server: EmbeddingsServer, given: list[int]
) -> None:
    candidates = stored()
    assert ranking.order(QUESTION, [candidates[at] for at in given], [1.0] * len(given)) == given
    assert server.requests == []


def test_a_long_question_is_cut(ranking: SemanticRanking, server: EmbeddingsServer) -> None:
    ranking.order("lease " * 100_000, stored(), [1.0, 1.0, 1.0])
    assert len(server.embedded[0]) == 2000


@pytest.mark.parametrize("question", ["", "\0", "\ud800"])
def test_a_question_of_no_words_is_no_failure(ranking: SemanticRanking, question: Any) -> None:
    assert sorted(ranking.order(question, stored(), [1.0, 2.0, 3.0])) == [0, 1, 2]
    assert ranking.warning is None

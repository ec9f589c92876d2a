"""Passages in order of meaning, with the vectors kept in either database."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from storage import database
from storage.model_calls import find_vectors
from storage.texts import save_text
from tasks.errors import Unavailable
from tasks.ranking import WordIndex
from tasks.ranking.embedders.server import ServerEmbedder
from tasks.ranking.query import entries
from tasks.ranking.semantic import Candidate, SemanticRanking, fuse, under_way
from tests.cases import cases
from tests.servers.embeddings_server import EmbeddingsServer, with_vector
from tests.servers.openai_server import failing
from tests.storage import rows

PARAGRAPHS = ["Sales grew by a tenth.", "The tenant may cancel in March.", "Staff costs fell."]
QUESTION = "When does the lease terminate?"


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as running:
        yield running


Order = Callable[..., list[int]]


@pytest.fixture
def order(server: EmbeddingsServer, database_url: str) -> Order:
    """The order of candidates for a question, as a ranking made for them gives it; `scores` are those by words."""

    def ordered(question: str, candidates: Sequence[Candidate], scores: Sequence[float], model: str = "m") -> list[int]:
        return positions(SemanticRanking(ServerEmbedder(model, server.url), lambda: candidates), question, scores)

    return ordered


def positions(ranking: SemanticRanking, question: str, scores: Sequence[float]) -> list[int]:
    by_words = sorted(enumerate(scores), key=lambda candidate: -candidate[1])
    return [position for position, _score in ranking.order(question, by_words, len(scores))]


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


def test_the_passage_that_means_what_is_asked_comes_first(order: Order) -> None:
    assert order(QUESTION, stored(), [1.1, 1.0, 0.2])[0] == 1


def test_a_passage_that_shares_no_word_is_found_by_its_meaning_alone(
    server: EmbeddingsServer, database_url: str
) -> None:
    candidates = stored()
    ranking = SemanticRanking(ServerEmbedder("m", server.url), lambda: candidates)
    assert {position for position, _score in ranking.order(QUESTION, [(0, 1.0)], 3)} == {0, 1}


def test_a_passage_is_embedded_once(order: Order, server: EmbeddingsServer) -> None:
    candidates = stored()
    order(QUESTION, candidates[:2], [1.0, 1.0])
    order("Who are the staff?", candidates, [1.0, 1.0, 1.0])
    assert order(QUESTION, candidates, [1.0, 1.0, 1.0])[0] == 1
    assert sorted(server.embedded) == sorted([QUESTION, "Who are the staff?", QUESTION, *PARAGRAPHS])


def test_what_is_not_stored_has_vectors_for_one_ranking(order: Order, server: EmbeddingsServer) -> None:
    candidates = [Candidate(0, 0, 0, paragraph) for paragraph in PARAGRAPHS]
    assert order(QUESTION, candidates, [1.0, 1.0, 1.0])[0] == 1
    with database.reading() as session:
        assert find_vectors(session, [0], ServerEmbedder("m", server.url).name) == {}


def test_another_model_has_vectors_of_its_own(order: Order, server: EmbeddingsServer) -> None:
    candidates = stored()
    order(QUESTION, candidates, [1.0, 1.0, 1.0])
    order(QUESTION, candidates, [1.0, 1.0, 1.0], "n")
    assert len(server.embedded) == 2 * (1 + len(PARAGRAPHS))


def test_what_a_passage_stands_under_counts(order: Order, server: EmbeddingsServer) -> None:
    first, second, third = stored(["Either side may do so at thirty days notice.", "It was a good year.", "So it is."])
    candidates = [third, second, first._replace(about="Termination: how to cancel\nthe lease")]
    assert order(QUESTION, candidates, [1.0, 1.0, 1.0])[0] == 2
    assert "Termination: how to cancel\nthe lease\nEither side may do so at thirty days notice." in server.embedded


class Slow(ServerEmbedder):
    """An embedder that takes ten seconds a text."""

    def seconds(self, characters: Iterable[int]) -> float:
        return 10.0 * len(list(characters))


def test_a_room_that_takes_too_long_is_ranked_by_words_until_little_is_missing(
    server: EmbeddingsServer, database_url: str
) -> None:
    candidates = stored()
    model = Slow("m", server.url)
    assert positions(SemanticRanking(model, lambda: candidates, 29.0), QUESTION, [3.0, 2.0, 1.0]) == [0, 1, 2]
    assert server.embedded == []
    positions(SemanticRanking(model, lambda: candidates[:2], 29.0), QUESTION, [1.0, 1.0])
    assert positions(SemanticRanking(model, lambda: candidates, 29.0), QUESTION, [1.0, 1.0, 1.0])[0] == 1
    assert under_way == {}


def test_a_server_that_fails_leaves_the_order_by_words(
    server: EmbeddingsServer, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    candidates = stored()
    ranking = SemanticRanking(ServerEmbedder("m", server.url), lambda: candidates)
    server.always(failing(404))
    with caplog.at_level(logging.WARNING):
        assert positions(ranking, QUESTION, [1.0, 2.0, 3.0]) == [2, 1, 0]
        assert positions(ranking, QUESTION, [3.0, 2.0, 3.0]) == [0, 2, 1]
    assert ranking.warning is not None
    assert "by their words alone" in ranking.warning
    assert [record.message for record in caplog.records] == [ranking.warning]
    assert len(server.requests) == 1, "a server that failed is not asked for every question"


def test_what_was_embedded_before_a_failure_is_kept(order: Order, server: EmbeddingsServer) -> None:
    candidates = stored([f"Paragraph {at} of the lease." for at in range(400)])
    broken = SemanticRanking(FailingAfter(ServerEmbedder("m", server.url), calls=1), lambda: candidates)
    positions(broken, QUESTION, [1.0] * 400)
    assert broken.warning is not None
    before = len(server.embedded)
    order(QUESTION, candidates, [1.0] * 400)
    assert len(server.embedded) - before == 1 + 400 - 256


class FailingAfter:
    """An embedder whose server goes down in the middle of the work."""

    vocabulary = None

    def __init__(self, embedder: ServerEmbedder, calls: int) -> None:
        self.name = embedder.name
        self.seconds = embedder.seconds
        self._embedder = embedder
        self._calls = calls

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._calls -= 1
        if self._calls < 0:
            raise Unavailable("It is down.")
        return self._embedder.embed(texts)


def test_vectors_that_do_not_fit_the_question_leave_the_order_by_words(
    server: EmbeddingsServer, database_url: str
) -> None:
    candidates = stored()
    ranking = SemanticRanking(ServerEmbedder("m", server.url), lambda: candidates)
    server.then(with_vector([1.0, 2.0]))
    assert positions(ranking, QUESTION, [1.0, 3.0, 2.0]) == [1, 2, 0]
    assert ranking.warning is not None


@pytest.mark.parametrize("given", [[], [0]])
def test_nothing_is_asked_where_nothing_is_to_be_put_in_order(
    order: Order, server: EmbeddingsServer, given: list[int]
) -> None:
    candidates = stored()
    assert order(QUESTION, [candidates[at] for at in given], [1.0] * len(given)) == given
    assert server.requests == []


def test_a_long_question_is_cut(order: Order, server: EmbeddingsServer) -> None:
    order("lease " * 100_000, stored(), [1.0, 1.0, 1.0])
    assert len(server.embedded[-1]) == 2000


@pytest.mark.parametrize("question", ["", "\0", "\ud800"])
def test_a_question_of_no_words_is_no_failure(order: Order, question: Any) -> None:
    assert sorted(order(question, stored(), [1.0, 2.0, 3.0])) == [0, 1, 2]


def test_fused_scores_fall_and_equal_passages_keep_their_order() -> None:
    fused = fuse([(0, 5.0), (1, 4.5), (2, 2.0), (3, 1.0)], np.array([0.1, 0.2, 0.9, 0.1]), [1] * 4, 4)
    assert [score for _position, score in fused] == sorted((score for _position, score in fused), reverse=True)
    assert [position for position, _score in fuse([(2, 1.0), (1, 1.0)], np.array([0.5, 0.5, 0.5]), [1] * 3, 3)][:2] == [
        1,
        2,
    ]


@cases(("k", "given"), [(-1, 0), (0, 0), (1, 1), (9, 2)])
def test_at_most_k_are_given(k: int, given: int) -> None:
    assert len(fuse([(0, 2.0), (1, 1.0)], np.array([0.1, 0.2]), [1, 1], k)) == given


def test_where_nothing_is_near_nothing_is_found() -> None:
    assert fuse([], np.array([0.1, 0.2]), [1, 1], 5) == []


@pytest.mark.parametrize("turned", [[2, 3, 0, 1, 4, 5], [4, 2, 3, 5, 0, 1]])
def test_no_passage_gains_from_the_document_beside_its_own(turned: list[int]) -> None:
    words, cosines, text_ids = (
        np.array([0.4, 0, 0.41, 0, 0, 0]),
        np.array([0.3, 0.5, 0.31, 0.1, 0.3, 0.4]),
        [1, 1, 2, 2, 3, 4],
    )

    def scores(order: list[int]) -> dict[int, float]:
        by_words = [(at, float(words[place])) for at, place in enumerate(order) if words[place]]
        fused = fuse(by_words, cosines[order], [text_ids[place] for place in order], 6)
        return {order[at]: score for at, score in fused}

    assert scores(turned) == pytest.approx(scores([0, 1, 2, 3, 4, 5]))


class Knowing:
    """An embedder on this machine that knows of one matter: `means` stands in what is about it."""

    name = "knowing"

    def __init__(self, *means: str) -> None:
        self._means = means
        self.vocabulary = self.embed([entry.meaning for entry in entries()])

    def seconds(self, characters: Iterable[int]) -> float:
        return 0.0 * len(list(characters))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        about = [1.0 if any(words in text for words in self._means) else 0.3 * ("Net cash" in text) for text in texts]
        return np.array([[each, (1 - each**2) ** 0.5] for each in about], np.float32)


PAGES = ["What was left of the cake was eaten.", "It was a good year.", "Net cash provided by operating activities 12"]


@pytest.mark.parametrize(("means", "first"), [(("free cash flow", "to spare"), 2), (("cake", "to spare"), 0)])
def test_terms_stand_in_for_a_question_that_means_them_more_than_any_passage(
    database_url: str, means: tuple[str, ...], first: int
) -> None:
    ranking = SemanticRanking(Knowing(*means), lambda: [Candidate(0, 0, 0, page) for page in PAGES])
    assert ranking.rank(WordIndex(PAGES), "How much was left to spare?", 3)[0][0] == first


def test_a_passage_that_only_shares_words_with_a_term_and_means_another_thing_answers_nothing() -> None:
    pages = ["Activities of the club.", "It was a good year."]
    ranking = SemanticRanking(Knowing("free cash flow", "spare"), lambda: [Candidate(0, 0, 0, page) for page in pages])
    assert ranking.rank(WordIndex(pages), "spare", 3) == []

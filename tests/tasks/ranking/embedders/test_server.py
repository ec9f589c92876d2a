"""The embedder at a server: what servers do differently, and what goes wrong with them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tasks.errors import DiligenceError, NotConfigured, SourceFailed, TookTooLong, TooManyRequests, Unavailable
from tasks.ranking.embedders.server import ServerEmbedder
from tests.servers.embeddings_server import (
    EmbeddingsServer,
    busy_for_a_moment,
    changed,
    late,
    reading_at_most,
    taking_at_most,
    torn,
    vector,
    with_vector,
)
from tests.servers.openai_server import Behaviour, denied, failing, moved, nothing, web_page

TEXTS = ["The lease ends.", "Sales grew.", "Staff left."]
KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as running:
        yield running


@pytest.fixture
def embedder(server: EmbeddingsServer) -> ServerEmbedder:
    return ServerEmbedder("m", server.url, KEY)


def expected(texts: list[str]) -> Any:
    vectors = np.array([vector(text) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_the_request_names_the_model_and_carries_the_key(server: EmbeddingsServer, embedder: ServerEmbedder) -> None:
    embedder.embed(TEXTS)
    (request,) = server.requests
    assert request.body == {"model": "m", "input": TEXTS, "encoding_format": "float"}
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_many_texts_go_out_in_several_requests(server: EmbeddingsServer, embedder: ServerEmbedder) -> None:
    texts = [f"lease {'sales ' * (at % 4)}" for at in range(150)]
    assert np.allclose(embedder.embed(texts), expected(texts), atol=1e-6)
    assert [len(request.body["input"]) for request in server.requests] == [64, 64, 22]


def test_an_answer_in_another_order_is_put_right(server: EmbeddingsServer, embedder: ServerEmbedder) -> None:
    server.always(changed(lambda listed: listed[::-1]))
    assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)


def test_an_answer_without_positions_is_in_order(server: EmbeddingsServer, embedder: ServerEmbedder) -> None:
    server.always(changed(lambda listed: [{"embedding": row["embedding"]} for row in listed]))
    assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_server_that_takes_few_texts_gets_few(
    server: EmbeddingsServer, embedder: ServerEmbedder, status: int
) -> None:
    server.always(taking_at_most(10, status))
    texts = [f"lease {'sales ' * (at % 4)}" for at in range(70)]
    assert np.allclose(embedder.embed(texts), expected(texts), atol=1e-6)
    before = len(server.requests)
    embedder.embed(texts[:16])
    assert [len(request.body["input"]) for request in server.requests[before:]] == [8, 8]


def test_a_text_longer_than_the_model_reads_is_read_as_far_as_it_goes(
    server: EmbeddingsServer, embedder: ServerEmbedder
) -> None:
    server.always(reading_at_most(500))
    texts = ["lease " * 150, "Sales grew."]
    assert np.allclose(embedder.embed(texts), expected(["lease " * 150, "Sales grew."])[:2], atol=0.01)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_busy_server_is_asked_again(server: EmbeddingsServer, embedder: ServerEmbedder, status: int) -> None:
    server.then(busy_for_a_moment(status), busy_for_a_moment(status))
    assert len(embedder.embed(TEXTS)) == 3
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("behaviour", "error", "says"),
    [
        (busy_for_a_moment(429), TooManyRequests, "too many requests"),
        (busy_for_a_moment(503), Unavailable, "HTTP 503"),
        (denied(), NotConfigured, "OPENAI_API_KEY"),
        (failing(403), NotConfigured, "OPENAI_API_KEY"),
        (failing(404, "model not found"), NotConfigured, "DILIGENCE_EMBEDDINGS"),
        (failing(400, "no embedding model"), SourceFailed, "names an embedding model"),
        (moved("http://127.0.0.1:1/v1/embeddings"), NotConfigured, "HTTP 307"),
        (web_page(), SourceFailed, "a web page"),
        (nothing(), SourceFailed, "something else"),
        (changed(lambda _: []), SourceFailed, "wrong number"),
        (changed(lambda listed: listed[1:]), SourceFailed, "wrong number"),
        (changed(lambda listed: [*listed, listed[0]]), SourceFailed, "wrong number"),
        (changed(lambda listed: [{**row, "index": 0} for row in listed]), SourceFailed, "wrong number"),
        (changed(lambda listed: [{**row, "index": None} for row in listed]), SourceFailed, "something else"),
        (with_vector([1.0]), SourceFailed, "something else"),
        (with_vector("AAAA"), SourceFailed, "something else"),
        (with_vector(None), SourceFailed, "something else"),
        (with_vector([float("nan")] * 5), SourceFailed, "without a direction"),
        (with_vector([float("inf")] * 5), SourceFailed, "without a direction"),
        (with_vector([1e300] * 5), SourceFailed, "without a direction"),
        (with_vector([0.0] * 5), SourceFailed, "without a direction"),
        (changed(lambda listed: [{**row, "embedding": []} for row in listed]), SourceFailed, "without a direction"),
    ],
)
def test_what_goes_wrong_is_an_error_that_says_so(
    server: EmbeddingsServer,
    embedder: ServerEmbedder,
    behaviour: Behaviour,
    error: type[DiligenceError],
    says: str,
) -> None:
    server.always(behaviour)
    with pytest.raises(error, match=says) as raised:
        embedder.embed(TEXTS)
    assert not any(secret in raised.value.message for secret in (KEY, "lease", server.url))
    assert raised.value.__cause__ is None


def test_vectors_that_change_their_length_are_an_error(server: EmbeddingsServer, embedder: ServerEmbedder) -> None:
    server.then(changed(lambda listed: [{**row, "embedding": [1.0, 2.0]} for row in listed]))
    with pytest.raises(SourceFailed, match="different lengths"):
        embedder.embed(["lease"] * 100)


def test_a_connection_that_breaks_is_tried_again(server: EmbeddingsServer) -> None:
    server.then(torn())
    assert len(ServerEmbedder("m", server.url, retries=1).embed(TEXTS)) == 3


def test_a_connection_that_always_breaks_is_an_error(server: EmbeddingsServer) -> None:
    server.always(torn())
    with pytest.raises(Unavailable, match="cannot be reached"):
        ServerEmbedder("m", server.url, retries=0).embed(TEXTS)


def test_a_server_that_is_not_there_is_an_error() -> None:
    with EmbeddingsServer() as server:
        url = server.url
    with pytest.raises(Unavailable, match="cannot be reached"):
        ServerEmbedder("m", url, retries=0).embed(TEXTS)


def test_a_server_that_takes_too_long_is_given_up(server: EmbeddingsServer) -> None:
    server.always(late(30))
    with pytest.raises(TookTooLong, match=r"within 0\.05 s"):
        ServerEmbedder("m", server.url, timeout=0.05, retries=0).embed(TEXTS)


def test_another_model_and_another_address_have_another_name() -> None:
    names = {
        ServerEmbedder(model, address).name for model in ("m", "n") for address in (None, "http://a/v1", "http://b/v1")
    }
    assert len(names) == 6
    assert not any("http" in name for name in names)

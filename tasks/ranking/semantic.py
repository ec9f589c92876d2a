"""Passages put in order by what they mean, beside their words: texts go to an embedding model, vectors come back.

Embedder           the seam: what an embedding model promises; `tasks.ranking.embedders` has the implementations
SemanticRanking    the order of a data room's passages for a question
windows            the parts of a passage that a model reads at once
reorder            the order by words and the order by meaning as one

Vectors are stored for each version of a text, and only what has none yet is embedded. Where the embedder fails, the
order by words stands, with a warning: no run fails for its embeddings.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from storage import database, model_calls
from storage.model_calls import TextVector
from storage.settings import Settings
from tasks.errors import DiligenceError, SourceFailed

LOCAL = "local"


class EmbeddingSettings(Settings):
    """Without `embeddings` passages are ranked by their words alone.

    A key belongs to its address: `OPENAI_API_KEY` is never sent to `embeddings_url`.
    """

    model_config = SettingsConfigDict(populate_by_name=True, str_strip_whitespace=True)

    embeddings: str | None = Field(
        None,
        description="local (needs the extra diligence[semantic]), or an embedding model's name as its server knows it",
    )
    embeddings_url: str | None = Field(
        None, description="the address of the embedding server, usually ending in /v1; OPENAI_BASE_URL without it"
    )
    embeddings_key: SecretStr | None = Field(None, description="the key of the server at DILIGENCE_EMBEDDINGS_URL")
    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="the key of the AI server"
    )
    openai_base_url: str | None = Field(
        None, validation_alias="OPENAI_BASE_URL", description="the AI server's address, usually ending in /v1"
    )


Vector = NDArray[np.float32]
Key = tuple[int, int, int]  # text id, start, end

CANDIDATES = 300  # passages, the best by words, that are put in order by meaning
_QUESTION = 2000  # characters of a question that are embedded; most models read 256 to 512 word pieces
_BATCH = 128  # windows that are embedded before their vectors are stored: a run that is killed keeps these

# Mean reciprocal rank on TAT-QA .760, with undivided passages .746; on ContractNLI .776 both.
_WINDOW = 600  # characters at most
_SHIFT = 60  # characters that a window may end earlier, to end with a word
_ABOUT = 200  # characters of what a passage is about
_SPACE = re.compile(r"\s")
# Measured as `reorder` says: .4 gives .896, .938 and .783 of those questions, .6 gives .882, .941 and .795.
_MEANING = 0.5  # the weight of meaning, of 1

log = logging.getLogger(__name__)


class Embedder(Protocol):
    """A sentence-embedding model: texts that mean the same have vectors of the same direction."""

    @property
    def name(self) -> str:
        """What vectors are stored under: another model, or the same one at another server, has another name."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of unit length for each text, as the rows of an array (texts, dimensions).

        A text longer than the model reads is cut to what it reads.

        Raises:
            tasks.errors.DiligenceError: there are no vectors; the message says what to do about it.
        """


class Candidate(NamedTuple):
    """A passage to be put in order: a span of a stored text, in characters, and its words.

    `about` is what it stands under: its heading, its columns' names. Each window is embedded with it.
    """

    text_id: int
    start: int
    end: int
    text: str
    about: str = ""

    @property
    def with_context(self) -> str:
        """The words, and in front of them what they are about."""
        return f"{self.about[:_ABOUT]}\n{self.text}" if self.about else self.text


class SemanticRanking:
    """Puts the passages of one data room in order, question by question.

    When the embedder fails, it is not asked again, so that a server that is down costs a room one time-out and not one
    for each question. From then on the order is by words alone, and `warning` says why; before it is None.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.warning: str | None = None
        self._embedder = embedder

    def order(self, question: str, candidates: Sequence[Candidate], scores: Sequence[float]) -> list[int]:
        """The positions of all candidates, best first; `scores` are those by words, the higher the better."""
        by_words = list(enumerate(scores))
        if self.warning is None and len(candidates) > 1:
            try:
                similarities = self._similarities(question, candidates)
            except DiligenceError as error:
                self.warning = f"Passages are ranked by their words alone. {error.message}"
                log.warning(self.warning)
            else:
                return [position for position, _score in reorder(by_words, similarities, len(by_words))]
        return [position for position, _score in sorted(by_words, key=lambda candidate: -candidate[1])]

    def _similarities(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """The cosine of each candidate with the question; the best of its windows counts."""
        direction = self._embedder.embed([question[:_QUESTION]])[0]
        parts = [list(windows(candidate)) for candidate in candidates]
        vectors = self._vectors([window for part in parts for window in part], len(direction))
        return [max((float(vectors[_key(window)] @ direction) for window in part), default=-1.0) for part in parts]

    def _vectors(self, parts: Sequence[Candidate], dimensions: int) -> dict[Key, Vector]:
        """The vectors of windows: the stored ones, and the others embedded and stored."""
        model = self._embedder.name
        with database.reading() as session:
            stored = model_calls.find_vectors(session, [window.text_id for window in parts], model)
        vectors: dict[Key, Vector] = {}
        missing: dict[Key, str] = {}
        for window in parts:
            vector = np.frombuffer(stored.get(_key(window), b""), "<f4")
            if len(vector) == dimensions:  # else there is none, or the model behind the name has changed
                vectors[_key(window)] = vector
            else:
                missing[_key(window)] = window.with_context
        for keys in _batches(list(missing)):
            batch = self._embedder.embed([missing[key] for key in keys])
            if batch.shape[1] != dimensions:
                raise SourceFailed(
                    "The embedding model returned vectors of different lengths. Name another in DILIGENCE_EMBEDDINGS."
                )
            with database.writing() as session:
                model_calls.save_vectors(
                    session,
                    [
                        TextVector(
                            text_id=text_id, model=model, start=start, end=end, vector=vector.astype("<f4").tobytes()
                        )
                        for (text_id, start, end), vector in zip(keys, batch, strict=True)
                    ],
                )
            vectors.update(zip(keys, batch, strict=True))
        return vectors


def _key(window: Candidate) -> Key:
    return window.text_id, window.start, window.end


def _batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    for start in range(0, len(keys), _BATCH):
        yield keys[start : start + _BATCH]


def windows(passage: Candidate) -> Iterator[Candidate]:
    """The passage in as few parts of equal length as possible, cut at white space where there is some near.

    Embedding models read 256 to 512 word pieces and make one vector of them, in which a long passage says a bit of
    everything. So a passage is embedded in parts, and its best part counts.
    """
    parts = ceil(len(passage.text) / _WINDOW)
    begin = 0
    for part in range(1, parts + 1):
        end = len(passage.text) if part == parts else _word_end(passage.text, len(passage.text) * part // parts)
        yield passage._replace(start=passage.start + begin, end=passage.start + end, text=passage.text[begin:end])
        begin = end


def _word_end(text: str, offset: int) -> int:
    """The offset, or that of the last white space shortly before it."""
    ends = [match.end() for match in _SPACE.finditer(text, offset - _SHIFT, offset)]
    return ends[-1] if ends else offset


def reorder(candidates: Sequence[tuple[int, float]], similarities: Sequence[float], k: int) -> list[tuple[int, float]]:
    """The `k` best of the candidates as (position, score of at most 1), best first; equal ones keep their order.

    Each score counts as its share of the best one, and both shares are added: passages that are as good as equal in one
    stay so. Measured with all-MiniLM-L6-v2 over plain BM25, what is asked for is within the first 5 for .890 instead of
    .882 of TAT-QA's questions, which repeat the page's words, for .940 instead of .920 of ContractNLI's statements and
    .783 instead of .741 of its short descriptions. Adding up ranks (reciprocal rank fusion) gives .856, .932 and .788;
    meaning alone .758, .907 and .800.

    Args:
        candidates: (position, score by words).
        similarities: the cosine of each candidate with the question.
        k: how many are returned.
    """
    if not candidates:
        return []
    words = _shares([score for _position, score in candidates])
    fused = (1 - _MEANING) * words + _MEANING * _shares(similarities)
    best = np.argsort(-fused, kind="stable")[: max(k, 0)]
    return [(candidates[index][0], float(fused[index])) for index in best]


def _shares(values: Sequence[float]) -> NDArray[np.float64]:
    """The values as shares of the greatest; all are 0 where none is above it."""
    array = np.asarray(values, np.float64)
    greatest = array.max()
    return array / greatest if greatest > 0 else np.zeros(len(array))

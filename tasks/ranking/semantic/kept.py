"""Passages put in order by what they mean, with vectors that are kept for each version of a text.

Only what has no vector yet is embedded. Where that fails the order by words stands, with a warning:
no run fails for its embeddings.
"""

import logging
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from storage import database, vectors
from storage.vectors import TextVector
from tasks.errors import DiligenceError, SourceFailed
from tasks.ranking.semantic.embedder import Embedder
from tasks.ranking.semantic.fuse import reorder
from tasks.ranking.semantic.windows import Candidate, windows

CANDIDATES = 300  # passages, the best by words, that are worth putting in order

_ASKED = 2000  # characters of a question; most models read 256 to 512 word pieces
_BATCH = 128  # windows that are embedded between two savings: a run that is killed keeps these

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]
Key = tuple[int, int, int]  # text id, start, end


class SemanticRanking:
    """Puts the passages of one data room in order, question by question.

    `warning` is None, or says why the order is by words alone since the embedder failed: it is then
    not asked again, so that a server that is down costs a room one time-out and not one a question.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.warning: str | None = None
        self._embedder = embedder

    def order(self, question: str, candidates: Sequence[Candidate], scores: Sequence[float]) -> list[int]:
        """The positions of all candidates, the best first; `scores` are those by words, higher is better."""
        by_words = list(enumerate(scores))
        if self.warning is None and len(candidates) > 1:
            try:
                similarities = self._similarities(question, candidates)
            except DiligenceError as error:
                self.warning = f"Passages are ranked by their words alone. {error.message}"
                log.warning(self.warning)
            else:
                return [position for position, _score in reorder(by_words, similarities, len(by_words))]
        return [position for position, _score in sorted(by_words, key=lambda each: -each[1])]

    def _similarities(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """How near each candidate comes to the question: the best of its windows counts."""
        asked = self._embedder.embed([question[:_ASKED]])[0]
        parts = [list(windows(candidate)) for candidate in candidates]
        found = self._vectors([window for each in parts for window in each], len(asked))
        return [max((float(found[_key(window)] @ asked) for window in each), default=-1.0) for each in parts]

    def _vectors(self, wanted: Sequence[Candidate], dimensions: int) -> dict[Key, Vector]:
        """The vectors of windows: those that are kept, and the others made and kept."""
        model = self._embedder.name
        with database.reading() as session:
            kept = vectors.find_vectors(session, [window.text_id for window in wanted], model)
        found: dict[Key, Vector] = {}
        missing: dict[Key, str] = {}
        for window in wanted:
            vector = np.frombuffer(kept.get(_key(window), b""), "<f4")
            if len(vector) == dimensions:  # else there is none, or the model behind the name has changed
                found[_key(window)] = vector
            else:
                missing[_key(window)] = window.telling
        for keys in _batches(list(missing)):
            made = self._embedder.embed([missing[key] for key in keys])
            if made.shape[1] != dimensions:
                raise SourceFailed("The embedding model gives vectors of changing length. Name another one.")
            with database.writing() as session:
                vectors.save_vectors(
                    session,
                    [
                        TextVector(
                            text_id=text_id, model=model, start=start, end=end, vector=vector.astype("<f4").tobytes()
                        )
                        for (text_id, start, end), vector in zip(keys, made, strict=True)
                    ],
                )
            found.update(zip(keys, made, strict=True))
        return found


def _key(window: Candidate) -> Key:
    return window.text_id, window.start, window.end


def _batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    for at in range(0, len(keys), _BATCH):
        yield keys[at : at + _BATCH]

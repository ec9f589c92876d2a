"""Which embedder the settings choose.

The seam between ranking and embedding models: texts go in, vectors come out.

Two orders of the same passages made one: by words and by meaning.

Each score counts as its share of the best one, and both shares are added: passages that are as good as equal in
one stay so. Measured with all-MiniLM-L6-v2 over plain BM25, what is asked for is within the first 5 for .890
instead of .882 of TAT-QA's questions, which repeat the page's words, for .940 instead of .920 of ContractNLI's
statements and .783 instead of .741 of its short descriptions. Adding up ranks (reciprocal rank fusion) gives
.856, .932 and .788; meaning alone .758, .907 and .800.

Passages put in order by what they mean, with vectors that are kept for each version of a text.

Only what has no vector yet is embedded. Where that fails the order by words stands, with a warning:
no run fails for its embeddings.

What of a passage a sentence-embedding model sees at once.

Such models read 256 to 512 word pieces and make one vector of them, in which a long passage says a bit of
everything. So a passage is embedded in parts, and its best part counts.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from storage import caches, database
from storage.caches import TextVector
from storage.settings import is_web_address
from tasks.errors import DiligenceError, NotConfigured, SourceFailed
from tasks.ranking.settings import LOCAL, EmbeddingSettings


class Embedder(Protocol):
    """A sentence-embedding model. Texts of one meaning get vectors of one direction."""

    @property
    def name(self) -> str:
        """What vectors are kept under: another model, or the same name at another server, has another name."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One vector of unit length a text, as the rows of an array (texts, dimensions).

        A text longer than the model reads is cut to what it reads.

        Raises:
            tasks.errors.DiligenceError: no vectors, with what to do about it.
        """


def semantic_ranking() -> "SemanticRanking | None":
    """The ranking by meaning for one data room; None where none is wanted.

    Raises:
        NotConfigured: as `embedder`.
    """
    chosen = embedder()
    if chosen is None:
        return None

    return SemanticRanking(chosen)


def embedder() -> Embedder | None:
    """The embedder that the settings in force choose; None without `DILIGENCE_EMBEDDINGS`.

    Raises:
        NotConfigured: the local model is not installed, a model is named without a place to ask it, or
            address or key cannot be right.
    """
    return _build(EmbeddingSettings.current())


@lru_cache(maxsize=8)
def _build(settings: EmbeddingSettings) -> Embedder | None:
    """One embedder for the same settings: it keeps its connections and how much the server takes at once."""
    if not settings.embeddings:
        return None
    if settings.embeddings == LOCAL:
        from tasks.ranking.embedders import LocalEmbedder  # noqa: PLC0415 - numpy: 0.1 s

        return LocalEmbedder()
    own = settings.embeddings_url is not None
    address, secret = (
        (settings.embeddings_url, settings.embeddings_key)
        if own
        else (settings.openai_base_url, settings.openai_api_key)
    )
    if address is None and secret is None:
        raise NotConfigured(
            "DILIGENCE_EMBEDDINGS names a model, but nothing says where to ask it. Set OPENAI_API_KEY for OpenAI, "
            "OPENAI_BASE_URL or DILIGENCE_EMBEDDINGS_URL for another server; or set it to local."
        )
    if address is not None and not is_web_address(address):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_URL' if own else 'OPENAI_BASE_URL'} is not a web address. Set it to one such as "
            "http://127.0.0.1:11434/v1, or leave it out."
        )
    key = secret.get_secret_value().strip() if secret else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise NotConfigured(
            f"{'DILIGENCE_EMBEDDINGS_KEY' if own else 'OPENAI_API_KEY'} holds characters that no key has. Set it "
            "again, without quotation marks or line breaks."
        )
    from tasks.ranking.embedders import ServerEmbedder  # noqa: PLC0415 - numpy: 0.1 s

    return ServerEmbedder(settings.embeddings, address, key)


_MEANING = 0.5  # of 1: .4 gives .896, .938 and .783 of those questions, .6 gives .882, .941 and .795


def reorder(candidates: Sequence[tuple[int, float]], similarities: Sequence[float], k: int) -> list[tuple[int, float]]:
    """The `k` best of the candidates as (position, score of at most 1), best first; equal ones keep their order.

    `candidates` are (position, score by words), `similarities` the cosine of each with the question.
    """
    if not candidates:
        return []
    words = _shares([score for _position, score in candidates])
    fused = (1 - _MEANING) * words + _MEANING * _shares(similarities)
    best = np.argsort(-fused, kind="stable")[: max(k, 0)]
    return [(candidates[at][0], float(fused[at])) for at in best]


def _shares(values: Sequence[float]) -> NDArray[np.float64]:
    """The values as shares of the greatest; all are 0 where none is above it."""
    array = np.asarray(values, np.float64)
    greatest = array.max()
    return array / greatest if greatest > 0 else np.zeros(len(array))


_LONGEST = 600  # characters; mean reciprocal rank on TAT-QA .760, with whole passages .746; on ContractNLI .776 both
_SHIFT = 60  # characters that a part may end earlier, to end with a word
_ABOUT = 200  # characters of what a passage is about
_SPACE = re.compile(r"\s")


class Candidate(NamedTuple):
    """A passage to be put in order: a span of a stored text, in characters, and the words there.

    `about` is what it stands under: its heading, its columns' names. Each part is embedded with it.
    """

    text_id: int
    start: int
    end: int
    text: str
    about: str = ""

    @property
    def telling(self) -> str:
        """The words with what they are about."""
        return f"{self.about[:_ABOUT]}\n{self.text}" if self.about else self.text


def windows(passage: Candidate) -> Iterator[Candidate]:
    """The passage in as few even parts as may be, cut at white space where there is some near."""
    parts = ceil(len(passage.text) / _LONGEST)
    begin = 0
    for part in range(1, parts + 1):
        end = len(passage.text) if part == parts else _near(passage.text, len(passage.text) * part // parts)
        yield passage._replace(start=passage.start + begin, end=passage.start + end, text=passage.text[begin:end])
        begin = end


def _near(text: str, offset: int) -> int:
    """The offset, or that of the last white space shortly before it."""
    found = [match.end() for match in _SPACE.finditer(text, offset - _SHIFT, offset)]
    return found[-1] if found else offset


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
        return [position for position, _score in sorted(by_words, key=lambda word: -word[1])]

    def _similarities(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """How near each candidate comes to the question: the best of its windows counts."""
        asked = self._embedder.embed([question[:_ASKED]])[0]
        parts = [list(windows(candidate)) for candidate in candidates]
        found = self._vectors([window for part in parts for window in part], len(asked))
        return [max((float(found[_key(window)] @ asked) for window in part), default=-1.0) for part in parts]

    def _vectors(self, wanted: Sequence[Candidate], dimensions: int) -> dict[Key, Vector]:
        """The vectors of windows: those that are kept, and the others made and kept."""
        model = self._embedder.name
        with database.reading() as session:
            kept = caches.find_vectors(session, [window.text_id for window in wanted], model)
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
                caches.save_vectors(
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

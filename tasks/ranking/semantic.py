"""Passages put in order by what they mean, beside their words: texts go to an embedding model, vectors come back.

Embedder           the seam: what an embedding model promises; `tasks.ranking.embedders` has the implementations
SemanticRanking    the order of a data room's passages for a question
fuse               the order by words and the order by meaning as one

Vectors are stored for each version of a text, and only what has none yet is embedded. Where the embedder fails, the
order by words stands, with a warning: no run fails for its embeddings.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from math import exp, sqrt
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from storage import database, model_calls
from storage.model_calls import TextVector
from storage.settings import Settings
from tasks.errors import DiligenceError, SourceFailed
from tasks.ranking import WordIndex
from tasks.ranking.query import entries

AUTO, LOCAL, OFF = "auto", "local", "off"


class EmbeddingSettings(Settings):
    """Which embedding model ranks passages in addition to their words.

    A key belongs to its address: `OPENAI_API_KEY` is never sent to `embeddings_url`.
    """

    model_config = SettingsConfigDict(populate_by_name=True, str_strip_whitespace=True)

    embeddings: str = Field(
        AUTO,
        description="auto (the local model, in rooms that it embeds within 30 seconds of a processor), local (in every "
        "room), off, or an embedding model's name as its server knows it",
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

    @property
    def sends_texts(self) -> bool:
        """Whether passages go to a server to be embedded."""
        return self.embeddings not in {AUTO, LOCAL, OFF, ""}


Vectors = NDArray[np.float32]
Key = tuple[int, int, int]  # text id, start, end
Ranked = list[tuple[int, float]]
"""Passages by their positions, each with its score, best first."""

WITHIN: Final = 30.0  # seconds of a processor that embedding a room may take where nobody asked for it
_QUESTION = 2000  # characters of a question that are embedded; most models read 256 to 512 word pieces
_BATCH = 256  # passages that are embedded before their vectors are stored: a run that is killed keeps these
_ABOUT = 100  # characters of what a passage is about
_MEANING = 0.4  # the weight of meaning, of 1, where words find what is asked for
_MEANING_ALONE = 0.8  # where they hardly find anything
_BESIDE = 0.2  # the weight of the nearer of the passages beside one in its text: a paragraph under its heading
_FOUND = 0.2  # the best score by words above which they count as such, as these scores fall off
_SCORED = 2000  # passages whose words are scored: those of the others say next to nothing
_NEAR = 0.3  # the cosine from which a passage may answer that shares no word with the question
_MEANT = 0.3  # the cosine from which an entry of the vocabulary may be what is asked for
_ENTRIES = 3  # entries of the vocabulary that may say in other words what is asked for
_BEHIND = 0.1  # how much less near they may be than the nearest, and that than the nearest passage
_TOLD = 0.15  # the cosine from which a passage may answer that shares words with such an entry alone
_ANSWERS = 0.45  # the cosine below which sentences do not answer: 1 of 75 that did was below, 10 of 34 that did not
_OTHER_ALPHABETS = 0x370  # the first character behind those of Latin letters
_TERMS = 0.6  # the weight of what documents call these things, of 1 by words

log = logging.getLogger(__name__)

under_way: dict[int, tuple[int, int]] = {}
"""The rooms that are being embedded, by what they are numbered by: how many of how many passages are done."""


class Embedder(Protocol):
    """A sentence-embedding model: texts that mean the same have vectors of the same direction."""

    @property
    def vocabulary(self) -> Vectors | None:
        """The vectors of what each entry of the vocabulary means, in their order; None where bounds for their cosines
        were not measured with this model.
        """

    @property
    def name(self) -> str:
        """The name under which vectors are stored; another model, or the same one on another
        server, has another name.
        """

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of unit length for each text, as the rows of an array (texts, dimensions).

        A text longer than the model reads is truncated.

        Raises:
            tasks.errors.DiligenceError: there are no vectors; the message says what to do about it.
        """

    def seconds(self, characters: Iterable[int]) -> float:
        """The approximate processor seconds on this machine for texts of these lengths."""


class Candidate(NamedTuple):
    """A passage to be ranked: a span of a stored text, in characters, and its words.

    `about` is its context: its heading, the names of its columns. It is embedded with the words. A text that is not
    stored has the id 0, and its vectors are not stored either.
    """

    text_id: int
    start: int
    end: int
    text: str
    about: str = ""

    @property
    def with_context(self) -> str:
        """The words, preceded by their context."""
        return f"{self.about[:_ABOUT]}\n{self.text}" if self.about else self.text

    @property
    def key(self) -> Key:
        """The key under which its vector is stored."""
        return self.text_id, self.start, self.end


class SemanticRanking:
    """Ranks the passages of one data room, question by question. Vectors are made at the first question.

    If the embedder fails it is not asked again, so that a server that is down costs a room one time-out rather than one
    per question. From then on words alone decide, and `warning` says why; before that it is None.
    """

    def __init__(
        self,
        embedder: Embedder,
        passages: Callable[[], Iterable[Candidate]],
        within: float | None = None,
        room: int = 0,
    ) -> None:
        """The ranking of passages in the room with that number, which in a run is a company's.

        With `within`, a room is only embedded if that takes at most that many processor seconds.
        """
        self.warning: str | None = None
        self._embedder, self._passages, self._within, self._room = embedder, passages, within, room
        self._text_ids: list[int] = []
        self._embed = lru_cache(maxsize=1)(lambda question: embedder.embed([question[:_QUESTION]])[0])

    def rank(self, index: WordIndex, question: str, k: int, wordings: Sequence[str] = (), meant: str = "") -> Ranked:
        """The `k` best passages by their words, which `index` has, and by meaning.

        `wordings` are how documents would put it, if that is known; `meant` is what is asked, if the question has other
        words besides.
        """
        meant, most = meant or question, max(k, _SCORED)
        if wordings or not (terms := self._find_terms(meant)):
            return self.order("; ".join((meant, *wordings)), index.rank(question, most, wordings, guess=False), k)
        own = index.rank(question, most, guess=False)
        has_own, near = {position for position, _ in own}, self._vectors @ self._embed(meant)
        by_words = [
            (position, score)
            for position, score in index.rank(question, most, terms, guess=False, share=_TERMS)
            if position in has_own or near[position] >= _TOLD
        ]
        return self.order(meant, by_words, k, own[0][1] if own else 0.0)

    def _find_terms(self, question: str) -> tuple[str, ...]:
        """What documents call the things that a question means without naming them ("spare cash": free cash flow).

        They come from the entries of the vocabulary that are nearest, where the best passage is hardly nearer.
        """
        try:
            if self.warning or self._vectors is None or (vocabulary := self._embedder.vocabulary) is None:
                return ()
            asked = self._embed(question)
        except DiligenceError:  # `order` says so
            return ()
        near, best = vocabulary @ asked, float((self._vectors @ asked).max())
        least = max(_MEANT, best - _BEHIND, float(near.max()) - _BEHIND)
        return tuple(entries()[at].terms for at in np.argsort(-near)[:_ENTRIES] if near[at] >= least)

    def is_far(self, question: str, texts: Sequence[str]) -> bool:
        """Whether none of these texts is near enough to a question to answer it, where that can be told: by the model
        for which it was measured, and in alphabets that it knows.
        """
        is_known = all(ord(letter) < _OTHER_ALPHABETS or not letter.isalpha() for letter in question)
        try:
            if self.warning or not texts or not is_known or self._embedder.vocabulary is None:
                return False
            return bool((self._embedder.embed(texts) @ self._embed(question)).max() < _ANSWERS)
        except DiligenceError:  # `order` says so
            return False

    def order(self, question: str, by_words: Ranked, k: int, found: float | None = None) -> Ranked:
        """The `k` best passages; `by_words` are all that share a word with the question, `found` as in `fuse`.

        A passage that shares none is included if its meaning is close.
        """
        if self.warning is None:
            try:
                vectors = self._vectors
                if vectors is not None:
                    return fuse(by_words, vectors @ self._embed(question), self._text_ids, k, found)
            except (DiligenceError, ValueError) as error:  # ValueError: the model behind the name has just changed
                why = error.message if isinstance(error, DiligenceError) else _OTHER_LENGTHS
                self.warning = f"Passages are ranked by their words alone. {why}"
                log.warning(self.warning)
        return by_words[: max(k, 0)]

    @cached_property
    def _vectors(self) -> Vectors | None:
        """The vectors of all passages; None if there are hardly any, or if embedding them would take too long."""
        passages = list(self._passages())
        self._text_ids = [passage.text_id for passage in passages]
        if len(passages) < 2:
            return None
        model = self._embedder.name
        with database.reading() as session:
            ids = {passage.text_id for passage in passages if passage.text_id}
            stored = model_calls.find_vectors(session, sorted(ids), model) if ids else {}
        rows = [np.frombuffer(stored.get(passage.key, b""), "<f4") for passage in passages]
        dimensions = max(map(len, rows))
        missing = [at for at, row in enumerate(rows) if not len(row) or len(row) != dimensions]
        seconds = self._embedder.seconds(len(passages[at].text) for at in missing)
        if self._within is not None and seconds > self._within:
            log.info(
                "A room is ranked by words alone: embedding its %d passages takes some %.0f s.", len(missing), seconds
            )
            return None
        if missing:
            log.info("%d passages are embedded, in some %.0f s of a processor.", len(missing), seconds)
        try:
            for first in range(0, len(missing), _BATCH):
                under_way[self._room] = first, len(missing)
                some = missing[first : first + _BATCH]
                made = self._embedder.embed([passages[at].with_context for at in some])
                for at, vector in zip(some, made, strict=True):
                    rows[at] = vector
                self._save([(passages[at], rows[at]) for at in some if passages[at].text_id])
        finally:
            under_way.pop(self._room, None)
        if len({len(row) for row in rows}) > 1:
            raise SourceFailed(_OTHER_LENGTHS)
        return np.stack(rows)

    def _save(self, made: Sequence[tuple[Candidate, NDArray[np.float32]]]) -> None:
        with database.writing() as session:
            model_calls.save_vectors(
                session,
                [
                    TextVector(
                        text_id=passage.text_id,
                        model=self._embedder.name,
                        start=passage.start,
                        end=passage.end,
                        vector=vector.astype("<f4").tobytes(),
                    )
                    for passage, vector in made
                ],
            )


_OTHER_LENGTHS: Final = (
    "The embedding model returned vectors of different lengths. Name another in DILIGENCE_EMBEDDINGS."
)


def fuse(
    by_words: Ranked, cosines: NDArray[np.floating[Any]], text_ids: Sequence[int], k: int, found: float | None = None
) -> Ranked:
    """The `k` best passages by words and meaning, best first; equal ones keep the order of the room.

    Both scores are standardised (deviations from the room's mean) and added. The less of the question the best passage
    has in its words, the more meaning counts: everyday questions share few words with their answers.
    `tests/benchmarks/records/retrieval.md` has the results.

    Args:
        by_words: the passages that share a word with the question.
        cosines: that of each passage of the room with the question.
        text_ids: the text of each passage: what stands beside it in another one says nothing of it.
        k: how many are returned.
        found: the best score by the question's own words; None if no others were looked for.
    """
    words = np.zeros(len(cosines))
    for position, score in by_words:
        words[position] = score
    meaning = _MEANING + (_MEANING_ALONE - _MEANING) * exp(
        -(words.max(initial=0.0) if found is None else found) / _FOUND
    )
    goes_on = np.equal(text_ids[1:], text_ids[:-1])
    behind, before = np.where(goes_on, cosines[1:], 0.0), np.where(goes_on, cosines[:-1], 0.0)
    beside = np.maximum(np.append(behind, 0.0), np.insert(before, 0, 0.0))
    fused = (1 - meaning) * _standard(words) + meaning * _standard(cosines + _BESIDE * beside)
    eligible = np.flatnonzero((words > 0) | (cosines >= _NEAR))
    best = eligible[np.argsort(-fused[eligible], kind="stable")][: max(k, 0)]
    return [(int(position), float(fused[position])) for position in best]


def _standard(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The values as standard deviations above their mean; all are 0 if there is no deviation.

    For few values, the deviation is taken to be at least a share of the greatest: three nearly equal values are not
    told apart.
    """
    array = np.asarray(values, np.float64)
    deviation = max(float(array.std()), abs(float(array.max(initial=0.0))) / sqrt(max(len(array), 1)))
    return (array - array.mean()) / deviation if deviation > 0 else np.zeros(len(array))

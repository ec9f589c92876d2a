"""The evidence about one company: the passages of its data room's texts, ranked for each criterion.

A room of 2,000 documents and 120,000 passages (127 MB of text) takes 150 MB, and its index another 190 MB.
"""

import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

from storage import database, runs, texts
from storage.documents import RunDocument, company_documents
from tasks.ai.answerer import Answerer
from tasks.ai.prompt_injection import find_orders
from tasks.documents.kinds.room import RoomKinds, run_kinds
from tasks.language.quotations import in_sentence, locate
from tasks.language.words import detect_languages, word_forms
from tasks.privacy import find_privileged, hides_names, may_read_all
from tasks.ranking import WordIndex
from tasks.ranking.embedders import semantic_ranking
from tasks.ranking.semantic import Candidate, EmbeddingSettings, SemanticRanking
from tasks.reading.text_writer import UNSEEN
from tasks.scoring.passages import PassageSpan, TextPlaces, load_passages

MANY = 300_000  # passages; of a room of more the log says what its index takes
_ON_DISK = 1e-6  # GB for a passage of 1,000 characters, while its index is built; half of it after that
_KEPT_TEXTS = 300_000_000  # characters: the texts of some 300,000 passages
_READ_FOR_LANGUAGE = 400  # passages, evenly spread
_CANDIDATES = 30  # passages around which a quotation is searched that does not stand in its source
_AROUND = 4000  # characters before and behind these: normalising all of a document takes a second for 2.5 MB
_EDGE = 40  # characters at the ends of such a stretch, where a word or a figure may be cut
_BESIDE = 300  # characters beside a quotation that are read to tell whether its words give orders
_PLACES_KEPT = 20  # texts
_COLUMNS = 160  # characters of columns' names in a place
_WORDINGS_KEPT = 1000  # passages; one criterion ranks many that another has ranked
_DEEPER = 4  # times as many passages are ranked as are shown: some repeat better ones, some are hidden
_REPEATED = 0.85  # of a passage's pairs of neighbouring words that a better one has too
_WHOLE = 1_000_000  # characters; a source up to this length is searched from start to end

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Words of a document: their place, and their span in its stored text.

    `header` is the first row of the table that a passage continues. `repeats` are passages that nearly repeat it.
    `cells` are cells of a sheet as they are quoted: under their headers.
    """

    document: RunDocument
    text_id: int
    start: int
    end: int
    place: str
    heading: str | None
    text: str
    header: str | None = None
    repeats: int = 0
    cells: str | None = None

    @property
    def span(self) -> tuple[str, int, int]:
        """The id of its document, and where it begins and ends in the text."""
        return self.document.document_id, self.start, self.end

    def overlaps(self, other: "Excerpt") -> bool:
        """Whether the two have a part in common."""
        (mine, start, end), (its, begins, ends) = self.span, other.span
        return mine == its and start < ends and begins < end

    @property
    def shown(self) -> "Excerpt":
        """The excerpt with a place that also names its columns and says how many passages nearly repeat it."""
        columns = f", columns {' | '.join(self.header.split())[:_COLUMNS]}" if self.header else ""
        more = f" ({self.repeats} more nearly the same)" if self.repeats else ""
        return replace(self, place=f"{self.place}{columns}{more}")

    @property
    def with_header(self) -> str:
        """The words, preceded by the names of their columns."""
        return f"{self.header}\n{self.text}" if self.header else self.text


class _Wording(NamedTuple):
    """What tells whether one passage repeats another: hashes of its pairs of neighbouring words, and its
    figures.
    """

    pairs: frozenset[int]
    figures: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Wording":
        words = word_forms(text)
        pairs = frozenset(map(hash, itertools.pairwise(words))) or frozenset(map(hash, words))
        return cls(pairs, frozenset(word for word in words if word[0].isdigit()))

    def repeats(self, other: "_Wording") -> bool:
        """Whether the other passage has most of these pairs, and all figures."""
        least = _REPEATED * len(self.pairs)
        return len(other.pairs) >= least and self.figures <= other.figures and len(self.pairs & other.pairs) >= least


class RoomTexts:
    """Texts by their ids. For a very large room, only the most recently used are in memory."""

    def __init__(self, kept: int = _KEPT_TEXTS) -> None:
        """`kept` is the most characters to keep in memory."""
        self._lengths: dict[int, int] = {}
        self._lock = Lock()  # criteria are judged side by side
        self._kept: LRUCache[int, str] = LRUCache(kept, getsizeof=len)

    def add(self, text_id: int, text: str) -> None:
        """Add a stored text of the room."""
        with self._lock:
            self._lengths[text_id] = len(text)
            self._keep(text_id, text)

    def __contains__(self, text_id: int | None) -> bool:
        return text_id in self._lengths

    def __getitem__(self, text_id: int) -> str:
        """A text of the room; empty if it has been deleted since.

        Raises:
            KeyError: the room has no such text.
        """
        with self._lock:
            if text_id in self._kept:
                return self._kept[text_id]
            if text_id not in self._lengths:
                raise KeyError(text_id)
            with database.reading() as session:
                text = dict(texts.load_words(session, [text_id])).get(text_id, "")
            self._keep(text_id, text)
            return text

    def length(self, text_id: int) -> int:
        """The length of a text of the room in characters, without loading it."""
        return self._lengths[text_id]

    def _keep(self, text_id: int, text: str) -> None:
        if len(text) <= self._kept.maxsize:
            self._kept[text_id] = text


class Evidence:
    """What the data room of a run's company says. Texts are loaded once; an index is built on first use.

    `kept` are documents of the room that are not among its `documents`, because they go to no model.
    """

    def __init__(self, company_id: int, documents: Sequence[RunDocument] | None = None) -> None:
        """Load what the documents of a company say; `documents` are all of them, if they are loaded already."""
        if documents is None:
            with database.reading() as session:
                documents = company_documents(session, company_id)
        self.documents = documents
        self.kept: Sequence[RunDocument] = ()
        self._company_id = company_id
        self._places: LRUCache[int, TextPlaces] = LRUCache(_PLACES_KEPT)
        self._texts = RoomTexts()
        self._wordings: LRUCache[tuple[int, int], _Wording] = LRUCache(_WORDINGS_KEPT)
        self._passages: list[tuple[RunDocument, PassageSpan]] = []
        self._given: set[str] | None = None
        strings: dict[str, str] = {}  # "page 1" is the place of thousands of passages
        readable = [document for document in self.documents if document.characters]
        sizes = {document.text_id: document.characters for document in readable if document.text_id is not None}
        by_text: dict[int, list[PassageSpan]] = {}
        for text_id, text, spans in load_passages(sizes, strings):
            self._texts.add(text_id, text)
            by_text[text_id] = spans
        for document in readable:
            if document.text_id in by_text:
                self._passages.extend((document, span) for span in by_text[document.text_id])

    @cached_property
    def kinds(self) -> RoomKinds:
        """The kinds of the documents."""
        return run_kinds(self.documents)

    def open_to(self, answerer: Answerer) -> "Evidence":
        """The evidence without what may not go to this answerer, or to the server that embeds passages."""
        sends_texts = EmbeddingSettings.current().sends_texts
        return self if may_read_all(answerer.model, answerer.address) and not sends_texts else self._without_privileged

    @cached_property
    def _without_privileged(self) -> "Evidence":
        texts_of = {row.document_id: row.text_id for row in self.documents if row.text_id is not None}
        with database.reading() as session:
            folder = runs.get_company(session, self._company_id).folder
        privileged = find_privileged(self.documents, texts_of, [folder])
        if not privileged:
            return self
        rest = Evidence(self._company_id, [row for row in self.documents if row.document_id not in privileged])
        rest.kept = [row for row in self.documents if row.document_id in privileged]
        return rest

    @property
    def unread(self) -> list[RunDocument]:
        """The documents that were not read, or not completely: what seems missing may be in one of them."""
        return [
            document
            for document in self.documents
            if document.text_id not in self._texts or document.pages_read != document.pages
        ]

    def find(self, question: str, k: int, wordings: Sequence[str] = ()) -> list[Excerpt]:
        """The passages that speak most to a question by their words, best first.

        `wordings` are how documents would put it. Those of hidden sheets, slides and rows come last.
        """
        ranked = self._index.rank(question, _DEEPER * k, wordings, guess=False)
        return self._record([self._excerpt(*passage) for passage in self._visible_first(ranked)[:k]])

    def find_distinct(self, question: str, k: int, wordings: Sequence[str] = (), meant: str = "") -> list[Excerpt]:
        """As `find`, by words and meaning, without passages that nearly repeat a better one, which lists them.

        One repeats another if it has most of its words in their order, and all its figures. `meant` is what is asked,
        if the question has other words besides.
        """
        if self._semantic is None:
            ranked = self._index.rank(question, _DEEPER * k, wordings, guess=False)
        else:
            ranked = self._semantic.rank(self._index, question, _DEEPER * k, wordings, meant)
        chosen: list[Excerpt] = []
        known: list[_Wording] = []
        for passage in self._visible_first(ranked):
            wording = self._find_wording(*passage)
            better = next((index for index, other in enumerate(known) if wording.repeats(other)), None)
            if better is not None:
                chosen[better] = replace(chosen[better], repeats=chosen[better].repeats + 1)
            elif len(chosen) < k:
                chosen.append(self._excerpt(*passage))
                known.append(wording)
        return self._record(chosen)

    def _find_wording(self, document: RunDocument, span: PassageSpan) -> "_Wording":
        key = document.text_id or 0, span.start
        wording = self._wordings.get(key)
        if wording is None:
            wording = self._wordings[key] = _Wording.of(self._texts[key[0]][span.start : span.end])
        return wording

    def _visible_first(self, ranked: Sequence[tuple[int, float]]) -> list[tuple[RunDocument, PassageSpan]]:
        """Ranked passages, with those of hidden sheets, slides and rows last."""
        return sorted(
            (self._passages[position] for position, _score in ranked), key=lambda passage: passage[1].is_hidden
        )

    def _record(self, found: list[Excerpt]) -> list[Excerpt]:
        self.record([excerpt.document.document_id for excerpt in found] or [row.document_id for row in self.documents])
        return found

    @contextmanager
    def recorded(self, given: set[str]) -> Iterator[None]:
        """In the block, add to `given` the ids of documents from which a result takes words or figures.

        If a question finds nothing, these are all documents. Not for blocks in several threads.
        """
        outer, self._given = self._given, given
        try:
            yield
        finally:
            self._given = outer

    def record(self, document_ids: Iterable[str]) -> None:
        """Add documents to the record, if there is one."""
        if self._given is not None:
            self._given.update(document_ids)

    @property
    def is_empty(self) -> bool:
        """Whether there are no passages that a question could find."""
        return not self._passages

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of the room by their English names, the commonest first; empty if it does not tell."""
        step = max(1, len(self._passages) // _READ_FOR_LANGUAGE)
        spans = [(document.text_id or 0, span) for document, span in self._passages[::step]]
        return detect_languages([self._texts[text_id][span.start : span.end] for text_id, span in spans])

    def others(self, excerpts: Sequence[Excerpt], k: int) -> list[Excerpt]:
        """The first `k` passages of the room, in reading order, apart from these."""
        known = {(excerpt.document.document_id, excerpt.start) for excerpt in excerpts}
        more = (passage for passage in self._passages if (passage[0].document_id, passage[1].start) not in known)
        found = [self._excerpt(*passage) for passage in islice(more, k)]
        self.record(excerpt.document.document_id for excerpt in found)
        return found

    @property
    def warning(self) -> str | None:
        """Why passages were ranked by words alone although an embedding model is set, or None."""
        if self._keeps_names:
            return (
                "Passages were ranked by their words alone: names would go to the embedding server as they are, and "
                "DILIGENCE_AI_PSEUDONYMS replaces them in prompts only."
            )
        return self._semantic.warning if self._semantic else None

    @property
    def _keeps_names(self) -> bool:
        return hides_names() and EmbeddingSettings.current().sends_texts

    def read_beginning(self, document: RunDocument, characters: int) -> str:
        """The first characters of a document's text, empty where there is none."""
        if document.text_id is None or document.text_id not in self._texts:
            return ""
        return self._texts[document.text_id][: characters + 1000].lstrip()[:characters].rstrip()

    def opening(self, document: RunDocument, characters: int, at: int = 0) -> Excerpt | None:
        """How a document begins: its title and first lines, about `characters` to the end of a sentence.

        `at` is where it begins in its text, if another document precedes it.
        """
        if document.text_id is None or document.text_id not in self._texts:
            return None
        text = self._texts[document.text_id]
        places = self._find_places(document.text_id).places
        at = max((place.end for place in places if place.kind == UNSEEN and place.start <= at < place.end), default=at)
        begins = text[at : at + characters + 1000].lstrip()[:characters].rstrip()
        if not begins:
            return None
        start = text.index(begins, at)
        end = start + len(begins)
        return self._span(document, document.text_id, start, max(end, in_sentence(text, end - 1, end)[1]))

    def line_of(self, document_id: str, text_id: int, start: int, end: int) -> Excerpt | None:
        """The table row, cell of a sheet or sentence around a span; None if the room has no such text."""
        document = next((document for document in self.documents if document.document_id == document_id), None)
        if document is None or text_id not in self._texts or end > self._texts.length(text_id):
            return None
        if self._find_places(text_id).cells(start, end) is None:
            start, end = in_sentence(self._texts[text_id], start, end)
        return self._span(document, text_id, start, end)

    def orders_in(self, excerpt: Excerpt) -> list[Excerpt]:
        """The words of an excerpt that give orders to a model."""
        spans = [(excerpt.start + order.start, excerpt.start + order.end) for order in find_orders(excerpt.text)]
        return self._spans(excerpt.document, excerpt.text_id, spans)

    def verify(self, quote: str, near: Excerpt | None = None, *, within: bool = False) -> Excerpt | None:
        """Where a quotation really stands: at or after the passage it was taken from, or in another document.

        With `within`, other documents are not searched. Orders to a model prove nothing: at least half of a quotation
        must be other words.
        """
        for document, first, last, start in self._likely(quote, near):
            assert document.text_id is not None
            if within and near is not None and document.document_id != near.document.document_id:
                continue
            text = self._texts[document.text_id]
            span = locate(quote, text[first:last], start - first)
            if span is None:
                continue
            begins, ends = first + span[0], first + span[1]
            at_edge = (first and span[0] < _EDGE) or (last < len(text) and last - ends < _EDGE)
            if not at_edge and not _gives_orders(text, begins, ends):
                return self._span(document, document.text_id, begins, ends)
        return None

    def _likely(self, quote: str, near: Excerpt | None) -> Iterator[tuple[RunDocument, int, int, int]]:
        """Where the quotation may stand, the most likely first: document, stretch of its text, offset to begin at."""
        own = near.document.document_id if near is not None else None
        if near is not None and self._texts.length(near.text_id) <= _WHOLE:
            yield near.document, 0, self._texts.length(near.text_id), near.start
        elif near is not None:
            yield self._stretch(near.document, near.start, near.end)
        ranked = [self._passages[position] for position in self._index.texts_with_words(quote, _CANDIDATES)]
        for document, span in sorted(ranked, key=lambda passage: passage[0].document_id != own):
            yield self._stretch(document, span.start, span.end)

    def _stretch(self, document: RunDocument, start: int, end: int) -> tuple[RunDocument, int, int, int]:
        return document, max(start - _AROUND, 0), min(end + _AROUND, self._texts.length(document.text_id or 0)), start

    def _candidates(self) -> Iterator[Candidate]:
        for document, span in self._passages:
            about = "\n".join(words for words in (span.heading, span.header) if words)
            text_id = document.text_id or 0
            yield Candidate(text_id, span.start, span.end, self._texts[text_id][span.start : span.end], about)

    @cached_property
    def _semantic(self) -> SemanticRanking | None:
        return None if self._keeps_names else semantic_ranking(self._candidates, self._company_id)

    def _span(self, document: RunDocument, text_id: int, start: int, end: int) -> Excerpt:
        """A span of a document's text, with its place."""
        self.record([document.document_id])
        return self._spans(document, text_id, [(start, end)])[0]

    def _spans(self, document: RunDocument, text_id: int, spans: Sequence[tuple[int, int]]) -> list[Excerpt]:
        """Spans of a document's text, with their places."""
        if not spans:
            return []
        text, places = self._texts[text_id], self._find_places(text_id)
        return [
            Excerpt(
                *(document, text_id, start, end, places.exact_place(start, end), places.label(start, "heading")),
                text[start:end],
                cells=places.cells(start, end),
            )
            for start, end in spans
        ]

    def _find_places(self, text_id: int) -> TextPlaces:
        """The places of a text. Only recently used ones are kept: those of all texts would be too many."""
        places = self._places.get(text_id)
        if places is None:
            with database.reading() as session:
                places = self._places[text_id] = TextPlaces(self._texts[text_id], texts.load_places(session, text_id))
        return places

    def _excerpt(self, document: RunDocument, span: PassageSpan) -> Excerpt:
        assert document.text_id is not None
        text = self._texts[document.text_id][span.start : span.end]
        return Excerpt(
            *(document, document.text_id, span.start, span.end, span.place, span.heading),
            *(text, span.header),
        )

    @cached_property
    def _index(self) -> WordIndex:
        """The index of passages, each with its document's name, heading and columns, which say what it is about."""
        if len(self._passages) > MANY:
            count = len(self._passages)
            log.warning(
                "This room has %d passages. Their index takes about %.1f GB in DILIGENCE_HOME while they are ranked.",
                *(count, count * _ON_DISK),
            )
        return WordIndex(  # one passage after the other: not all of them a second time
            f"{document.path} {document.name} {span.heading or ''} {span.header or ''}\n"
            + self._texts[document.text_id or 0][span.start : span.end]
            for document, span in self._passages
        )


def _gives_orders(text: str, start: int, end: int) -> bool:
    """Whether more than half of a span are words that give orders."""
    low = max(start - _BESIDE, 0)
    orders = [(low + order.start, low + order.end) for order in find_orders(text[low : end + _BESIDE])]
    return 2 * sum(max(0, min(last, end) - max(first, start)) for first, last in orders) > end - start

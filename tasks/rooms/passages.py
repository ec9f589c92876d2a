"""The passages of a data room's stored texts, made ready to be searched by words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from storage import database, texts
from tasks.ai.answerer import Answerer
from tasks.ai.names import Names, stored_names
from tasks.ai.privileged import find_privileged, may_read_all
from tasks.documents.kinds.room import IndexedDocument
from tasks.figures.ledger import LedgerText, first_by_path
from tasks.ranking import Index
from tasks.scoring.passages import PassageSpan, load_passages


@dataclass(frozen=True, slots=True)
class RoomPassage:
    """A passage of a room's document: `text` has its table's header before it."""

    document: LedgerText
    span: PassageSpan
    text: str


class RoomPassages:
    """The passages of a room's stored texts; equal documents count once.

    `kept` are the documents of the room that have none here, since they go to no model.
    """

    def __init__(self, documents: Iterable[LedgerText], above: Sequence[str] = ()) -> None:
        """Make the passages of documents ready; `above` are the known paths of the room's own folder."""
        self._documents, self._above = tuple(documents), above
        self.kept: Sequence[LedgerText] = ()
        self._spans: list[tuple[LedgerText, PassageSpan]] = []
        self._index = Index(self._shown(first_by_path(self._documents)))

    def open_to(self, answerer: Answerer) -> "RoomPassages":
        """The passages without those of documents that may not go to this answerer."""
        return self if may_read_all(answerer) else self.without_privileged

    @cached_property
    def without_privileged(self) -> "RoomPassages":
        """The passages of documents that may go to any model."""
        documents, kept = part_privileged(self._documents, self._above)
        if not kept:
            return self
        rest = RoomPassages(documents)
        rest.kept = kept
        return rest

    @cached_property
    def signed_names(self) -> Names:
        """The names of people and companies in the documents' signature blocks."""
        return stored_names([document.text_id for document in self._documents])

    def _shown(self, documents: Mapping[int, LedgerText]) -> Iterator[str]:
        """What is ranked of each passage, one after the other; where they stand is kept."""
        strings: dict[str, str] = {}
        with database.reading() as session:
            sizes = texts.text_sizes(session, list(documents))
        for text_id, text, spans in load_passages(sizes, strings):
            for span in spans:
                self._spans.append((documents[text_id], span))
                yield f"{span.header or ''}\n{text[span.start : span.end]}"

    def likeliest(self, question: str, by_query: int, by_words: int) -> Sequence[RoomPassage]:
        """The passages that are likeliest to speak of a question, best first: as it is read, then by its rarest words.

        Args:
            question: a question, a claim, or words.
            by_query: how many at most by what the question asks for.
            by_words: how many at most by the words that it has.
        """
        ranked = (at for at, _ in self._index.rank(question, by_query, guess=False))
        chosen = dict.fromkeys([*ranked, *self._index.texts_with_words(question, by_words)])
        return [self._passage(at) for at in chosen]

    def _passage(self, at: int) -> RoomPassage:
        document, span = self._spans[at]
        text = stretch(document.text_id, span.start, span.end)
        return RoomPassage(document, span, f"{span.header}\n{text}" if span.header else text)


def part_privileged(
    documents: Sequence[LedgerText], above: Iterable[str] = ()
) -> tuple[tuple[LedgerText, ...], tuple[LedgerText, ...]]:
    """The documents of a room that may go to any model, and those that may not; `above` as in `find_privileged`."""
    listed = [IndexedDocument(one.document_id, one.document_name, one.path) for one in documents]
    privileged = find_privileged(listed, {one.document_id: one.text_id for one in documents}, above)
    return (
        tuple(one for one in documents if one.document_id not in privileged),
        tuple(one for one in documents if one.document_id in privileged),
    )


def stretch(text_id: int, start: int, end: int) -> str:
    """A part of a stored text."""
    with database.reading() as session:
        return texts.find_stretch(session, text_id, start, end)

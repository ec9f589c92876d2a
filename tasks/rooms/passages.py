"""The passages of a data room's stored texts, made ready to be searched by words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from storage import database, texts
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
    """The passages of a room's stored texts; equal documents count once."""

    def __init__(self, documents: Iterable[LedgerText]) -> None:
        self._spans: list[tuple[LedgerText, PassageSpan]] = []
        self._index = Index(self._shown(first_by_path(documents)))

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


def stretch(text_id: int, start: int, end: int) -> str:
    """A part of a stored text."""
    with database.reading() as session:
        return texts.find_stretch(session, text_id, start, end)

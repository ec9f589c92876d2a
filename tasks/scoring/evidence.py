"""The evidence on one company: the passages of its data room's texts, ranked for each criterion."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from storage import database, runs, texts
from storage.runs import DocumentStatus, RunDocument
from storage.texts import Passage, StoredText
from tasks.scoring.passages import CUTTER, Ground, Index, cut
from tasks.scoring.quotes import locate


@dataclass(frozen=True, slots=True)
class Found:
    """Words of a document: where they stand, and the span that they take of its stored text."""

    document: RunDocument
    text_id: int
    start: int
    end: int
    place: str
    heading: str | None
    text: str


class Evidence:
    """What the data room of a run's company says. Texts are loaded once; an index is built on first use."""

    def __init__(self, company_id: int) -> None:
        with database.reading() as session:
            self.documents = list(runs.company_documents(session, company_id))
        self._texts: dict[int, StoredText] = {}
        self._passages: list[tuple[RunDocument, Passage]] = []
        for document in self.documents:
            if document.text_id is None or document.status in {DocumentStatus.EMPTY, DocumentStatus.FAILED}:
                continue
            text, passages = _passages(document.text_id)
            self._texts[document.text_id] = text
            self._passages.extend((document, passage) for passage in passages)

    @property
    def unread(self) -> list[RunDocument]:
        """The documents that gave no text: what is missed may stand in one of them."""
        return [document for document in self.documents if document.text_id is None or document.characters == 0]

    def fingerprint(self) -> str:
        """The same while the same documents hold the same content, in hex."""
        listed = "\n".join(f"{each.document_id} {each.content_hash} {each.status}" for each in self.documents)
        return hashlib.sha256(listed.encode()).hexdigest()

    def find(self, question: str, k: int) -> list[Found]:
        """The passages that speak most to a question, best first."""
        return [self._found(*self._passages[position]) for position, _ in self._index.rank(question, k)]

    def opening(self, document: RunDocument, characters: int) -> Found | None:
        """How a document begins: its title, its first lines."""
        if document.text_id not in self._texts:
            return None
        text = self._texts[document.text_id].text
        start = len(text) - len(text.lstrip())
        end = min(len(text), start + characters)
        return self.span(document, start, start + len(text[start:end].rstrip()))

    def span(self, document: RunDocument, start: int, end: int) -> Found:
        """A span of a document's text, with its place."""
        assert document.text_id is not None
        text = self._texts[document.text_id]
        ground = Ground(text.text, text.places)
        place, heading = ground.place(start, end), ground.label(start, "heading")
        return Found(document, document.text_id, start, end, place, heading, text.text[start:end])

    def verify(self, quote: str, likely: Sequence[RunDocument]) -> Found | None:
        """Where a quotation really stands: in the likely documents first, then in any other of the room."""
        order = [*likely, *(document for document in self.documents if document not in likely)]
        for document in order:
            if document.text_id in self._texts:
                span = locate(quote, self._texts[document.text_id].text)
                if span:
                    return self.span(document, *span)
        return None

    def _found(self, document: RunDocument, passage: Passage) -> Found:
        text = self._texts[passage.text_id].text[passage.start : passage.end]
        return Found(document, passage.text_id, passage.start, passage.end, passage.place, passage.heading, text)

    @cached_property
    def _index(self) -> Index:
        """What is ranked is the passage with its document's name and heading: they say what it is about."""
        return Index(
            [
                f"{document.path} {document.name} {passage.heading or ''}\n"
                + self._texts[passage.text_id].text[passage.start : passage.end]
                for document, passage in self._passages
            ]
        )


def _passages(text_id: int) -> tuple[StoredText, Sequence[Passage]]:
    """A text with its passages, cut and kept when they were not before."""
    with database.reading() as session:
        text = texts.get_text(session, text_id)
        kept = texts.find_passages(session, text_id, CUTTER)
    if kept is not None:
        return text, kept
    passages = [
        Passage(
            text_id=text_id, ordinal=ordinal, start=piece.start, end=piece.end, place=piece.place, heading=piece.heading
        )
        for ordinal, piece in enumerate(cut(text.text, text.places))
    ]
    with database.writing() as session:
        texts.save_passages(session, text_id, CUTTER, passages)
    return text, passages

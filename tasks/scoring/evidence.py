"""The evidence on one company: the passages of its data room's texts, ranked for each criterion.

A room of 2,000 documents and 120,000 passages (127 MB of text) takes 150 MB, and its index 400 MB more.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from storage import database, runs, texts
from storage.runs import RunDocument
from storage.texts import Passage
from tasks.scoring.passages import CUTTER, Ground, Index, Piece, cut
from tasks.scoring.quotes import locate

_CANDIDATES = 30  # passages whose documents are searched for a quotation that does not stand where it was said to


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
        self._texts: dict[int, str] = {}
        self._passages: list[tuple[RunDocument, Piece]] = []
        cuts: dict[int, list[Piece]] = {}
        known: dict[str, str] = {}  # "page 1" is the place of thousands of passages
        for document in self.documents:
            if document.text_id is None or not document.characters:
                continue
            if document.text_id not in cuts:
                self._texts[document.text_id], cuts[document.text_id] = _passages(document.text_id, known)
            self._passages.extend((document, piece) for piece in cuts[document.text_id])

    @property
    def unread(self) -> list[RunDocument]:
        """The documents that gave no text: what is missed may stand in one of them."""
        return [document for document in self.documents if document.text_id not in self._texts]

    def fingerprint(self) -> str:
        """The same while the same documents hold the same content, in hex."""
        listed = [[each.document_id, each.path, each.name, each.text_id, each.content_hash] for each in self.documents]
        return hashlib.sha256(repr(listed).encode(errors="surrogatepass")).hexdigest()

    def find(self, question: str, k: int) -> list[Found]:
        """The passages that speak most to a question, best first."""
        return [self._found(position) for position in self._ranked(question, k)]

    def beginning(self, document: RunDocument, characters: int) -> str:
        """The first characters of a document's text, empty where there is none."""
        text = self._texts.get(document.text_id or 0, "")
        return text[: characters + 1000].lstrip()[:characters].rstrip()

    def opening(self, document: RunDocument, characters: int) -> Found | None:
        """How a document begins: its title, its first lines."""
        begins = self.beginning(document, characters)
        if not begins or document.text_id is None:
            return None
        start = self._texts[document.text_id].index(begins)
        return self._span(document, document.text_id, start, start + len(begins))

    def verify(self, quote: str, near: Found | None = None) -> Found | None:
        """Where a quotation really stands: from the passage on that it was taken from, or in another document."""
        for document, start in self._likely(quote, near):
            if document.text_id in self._texts:
                span = locate(quote, self._texts[document.text_id], start)
                if span:
                    return self._span(document, document.text_id, *span)
        return None

    def _likely(self, quote: str, near: Found | None) -> Iterator[tuple[RunDocument, int]]:
        """The documents in which the quotation may stand, each with an offset to begin at, the likeliest first."""
        searched: set[str] = set()
        if near is not None:
            searched.add(near.document.document_id)
            yield near.document, near.start
        for position in self._ranked(quote, _CANDIDATES):
            document, piece = self._passages[position]
            if document.document_id not in searched:
                searched.add(document.document_id)
                yield document, piece.start

    def _ranked(self, question: str, k: int) -> list[int]:
        return [position for position, _ in self._index.rank(question, k)]

    def _span(self, document: RunDocument, text_id: int, start: int, end: int) -> Found:
        """A span of a document's text, with its place."""
        with database.reading() as session:
            text = texts.get_text(session, text_id)  # again, for its places: too many to keep those of every text
        ground = Ground(text.text, text.places)
        place, heading = ground.place(start, end), ground.label(start, "heading")
        return Found(document, text_id, start, end, place, heading, text.text[start:end])

    def _found(self, position: int) -> Found:
        document, piece = self._passages[position]
        assert document.text_id is not None
        text = self._texts[document.text_id][piece.start : piece.end]
        return Found(document, document.text_id, piece.start, piece.end, piece.place, piece.heading, text)

    @cached_property
    def _index(self) -> Index:
        """What is ranked is the passage with its document's name and heading: they say what it is about."""
        return Index(
            [
                f"{document.path} {document.name} {piece.heading or ''}\n"
                + self._texts[document.text_id or 0][piece.start : piece.end]
                for document, piece in self._passages
            ]
        )


def _passages(text_id: int, known: dict[str, str]) -> tuple[str, list[Piece]]:
    """A text with its passages, cut and kept when they were not before. `known` holds each place's words once."""
    with database.reading() as session:
        text = texts.get_text(session, text_id)
        kept = texts.find_passages(session, text_id, CUTTER)
    if kept is None:
        kept = [
            Passage(
                text_id=text_id,
                ordinal=ordinal,
                start=piece.start,
                end=piece.end,
                place=piece.place,
                heading=piece.heading,
            )
            for ordinal, piece in enumerate(cut(text.text, text.places))
        ]
        with database.writing() as session:
            texts.save_passages(session, text_id, CUTTER, kept)
    return text.text, [_piece(passage, known) for passage in kept]


def _piece(passage: Passage, known: dict[str, str]) -> Piece:
    place = known.setdefault(passage.place, passage.place)
    heading = None if passage.heading is None else known.setdefault(passage.heading, passage.heading)
    return Piece(passage.start, passage.end, place, heading)

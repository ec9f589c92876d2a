"""Searching and asking a whole data room: its passages, and answers by quotations with their places.

A question may find the room silent. Without a model, the answer consists of the room's sentences that address the
question. With one it is the model's answer, of which only what a sentence of the passages supports is kept
(`tasks.answers`); these sentences are its quotations.

Passages are those of stored texts, prepared for searching, of a run or of a folder on the drive. Of a folder they are
those that the caller may see.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import filterfalse, groupby
from pathlib import PurePath
from typing import Final, NamedTuple

from pydantic import BaseModel

from storage import database, documents, texts
from storage.documents import format_day
from storage.texts import StoredText
from tasks.ai.answerer import Answerer, Source
from tasks.ai.calls import answer_once
from tasks.ai.extractive import OPENING, best_sentences, nearby
from tasks.ai.prompt_injection import without_injections
from tasks.ai.registry import current_answerer, with_names
from tasks.answers import check_answer
from tasks.documents.drive.drive import Document, identifier
from tasks.documents.drive.local import LocalDriveSettings
from tasks.documents.drive.registry import open_drive
from tasks.documents.index import index_folder_in_pieces
from tasks.documents.kinds.catalogue import find_names, may_be_document, plain_words
from tasks.documents.kinds.room import IndexedDocument
from tasks.documents.texts import find_known_texts, load_text
from tasks.errors import DiligenceError, NotAllowed, NotFound, check_question
from tasks.figures.ledger import LedgerText, first_by_path
from tasks.language.normalise import join_first
from tasks.language.sentences import sentences
from tasks.privacy import Names, find_privileged, hides_names, may_read_all, profile_names, say_kept, stored_names
from tasks.ranking import WordIndex
from tasks.ranking.coverage import COMMON
from tasks.ranking.embedders import semantic_ranking
from tasks.ranking.semantic import Candidate, EmbeddingSettings
from tasks.scoring.passages import PassageSpan, TextPlaces, load_passages
from tasks.scoring.quotes import locate, verify
from tasks.spending.budget import make_question_ledger
from tasks.statements.answers import Ground
from tasks.table.clauses import FINDERS
from tasks.table.columns import Contract

_WITHIN: Final = 5.0
"""Seconds of a processor that embedding a room may take while somebody waits, where nobody asked for it."""


@dataclass(frozen=True, slots=True)
class RoomPassage:
    """A passage of a room's document; `text` includes the header of its table."""

    document: LedgerText
    span: PassageSpan
    text: str


class RoomPassages:
    """The passages of a room's stored texts; identical documents count once.

    `kept` are documents of the room without passages here, because they go to no model. With `by_meaning`, passages are
    also ranked by meaning, if `DILIGENCE_EMBEDDINGS` wants it and nothing that is held back would be sent.

    Raises:
        NotConfigured: as `tasks.ranking.embedders.embedder`.
    """

    def __init__(self, documents: Iterable[LedgerText], above: Sequence[str] = (), *, by_meaning: bool = False) -> None:
        """Prepare the passages of documents; `above` are the known paths of the room's own folder."""
        self._documents, self._above, self._by_meaning = tuple(documents), above, by_meaning
        self.kept: Sequence[LedgerText] = ()
        self._spans: list[tuple[LedgerText, PassageSpan]] = []
        self._index = WordIndex(self._shown(first_by_path(self._documents)))
        self._semantic = semantic_ranking(self._candidates, within=_WITHIN) if by_meaning and self._may_embed else None

    @property
    def _may_embed(self) -> bool:
        """Whether no privileged words and no names would go to the server that embeds passages."""
        return not EmbeddingSettings.current().sends_texts or (not hides_names() and self.without_privileged is self)

    def open_to(self, answerer: Answerer) -> "RoomPassages":
        """The passages without those of documents that may not go to this answerer."""
        return self if may_read_all(answerer.model, answerer.address) else self.without_privileged

    @cached_property
    def without_privileged(self) -> "RoomPassages":
        """The passages of documents that may go to any model."""
        documents, kept = part_privileged(self._documents, self._above)
        if not kept:
            return self
        rest = RoomPassages(documents, by_meaning=self._by_meaning)
        rest.kept = kept
        return rest

    @cached_property
    def signed_names(self) -> Names:
        """The names of people and companies in the documents' signature blocks."""
        return stored_names([document.text_id for document in self._documents])

    @property
    def warning(self) -> str | None:
        """Why they are ranked by words alone although an embedding model is set, or None."""
        return self._semantic.warning if self._semantic else None

    @property
    def ranks_by_meaning(self) -> bool:
        """Whether passages are also found by meaning."""
        return self._semantic is not None and self._semantic.warning is None

    def is_far(self, question: str, texts: Sequence[str]) -> bool:
        """Whether none of these texts answers a question, by what they mean; False where meaning is not looked at."""
        return self._semantic is not None and self._semantic.is_far(question, texts)

    def _candidates(self) -> Iterator[Candidate]:
        for text_id, group in groupby(self._spans, key=lambda one: one[0].text_id):
            with database.reading() as session:
                text = dict(texts.load_words(session, [text_id]))[text_id]
            for _, span in group:
                about = "\n".join(words for words in (span.heading, span.header) if words)
                yield Candidate(text_id, span.start, span.end, text[span.start : span.end], about)

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
        """The passages that are likeliest to answer a question, best first: by the question, then by its rarest words.

        Args:
            question: a question, a claim, or words.
            by_query: how many at most by what the question asks for.
            by_words: how many at most by the words that it has.
        """
        if self._semantic is None:
            ranked = self._index.rank(question, by_query, guess=False)
        else:
            ranked = self._semantic.rank(self._index, question, by_query)
        chosen = dict.fromkeys([*(at for at, _ in ranked), *self._index.texts_with_words(question, by_words)])
        return [self._passage(at) for at in chosen]

    def find_named(self, question: str, most: int) -> tuple[Sequence[RoomPassage], str]:
        """The likeliest passages of what a question calls by a word in the name of one document, or of one and its
        copies, and the question without what it calls it: "the HVAC subcontract". Its name or its title says so, too.
        A party that only one document names calls it as well: "the agreement with Alder".
        """
        documents = {text.document_id: text for text, _ in self._spans}
        names = {key: {*plain_words(PurePath(text.document_name).stem).split()} for key, text in documents.items()}
        named, called, capitals = set[str](), set[str](), set[str]()
        for noun, words in find_names(question).items():
            for word in filterfalse(COMMON.__contains__, words):
                holders = [key for key, its in names.items() if word in its]
                if not holders and (parties := self._find_parties(word, noun)):
                    named, called, capitals = {*named, *parties}, {*called, noun}, capitals.union(*parties.values())
                if not holders or set.intersection(*(held := [names[key] for key in holders])) not in held:
                    continue
                if any(noun in its for its in held) or f"{word} {noun}" in _read_titles(
                    documents[key] for key in holders
                ):
                    named, called = {*named, *holders}, {*called, noun, word}
        rest = _leave_out(called, capitals, question)
        ranked = self._index.rank(rest, len(self._spans), guess=False) if named else []
        return [self._passage(at) for at, _ in ranked if self._spans[at][0].document_id in named][:most], rest

    def _find_parties(self, word: str, noun: str) -> dict[str, set[str]]:
        """By the only document with a word, whose title ends in a noun, the words of its party that has the word."""
        holders = {self._spans[at][0] for at in self._index.texts_with_words(word, len(self._spans))}
        if len(holders) != 1 or not any(title.endswith(noun) for title in _read_titles(holders)):
            return {}
        (document,) = holders
        parties = Contract(stretch(document.text_id, 0, _OPENING), FINDERS).find("parties")
        names = (set(plain_words(name).split()) for name in (parties.value if parties else ()))
        called = next((words for words in names if word in words), None)
        return {document.document_id: called} if called else {}

    def _passage(self, at: int) -> RoomPassage:
        document, span = self._spans[at]
        text = stretch(document.text_id, span.start, span.end)
        return RoomPassage(document, span, f"{span.header}\n{text}" if span.header else text)


def _leave_out(called: set[str], capitals: set[str], question: str) -> str:
    """A question without some words, and without others where they have a capital; whole if that leaves nothing.

    "How much steel does the agreement with Alder Steel require?" asks for steel; "Is there an HVAC subcontract?" stays.
    """
    either = called | capitals
    words = (word for word in question.split() if plain_words(word) not in (either if word[0].isupper() else called))
    rest = " ".join(words)
    return rest if set(plain_words(rest).split()) - COMMON else question


def _read_titles(documents: Iterable[LedgerText]) -> set[str]:
    """The plain words of the lines at the tops of documents."""
    openings = (stretch(document.text_id, 0, _OPENING).splitlines()[:_TOP] for document in documents)
    return {plain_words(line) for lines in openings for line in lines}


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


def exact_place(text_id: int, start: int, end: int) -> str:
    """Where words of a stored text stand, those of a table with the names of their row and columns."""
    with database.reading() as session:
        text = texts.get_text(session, text_id)
        return TextPlaces(text.text, text.places).exact_place(start, end)


def stretch(text_id: int, start: int, end: int) -> str:
    """A part of a stored text."""
    with database.reading() as session:
        return texts.find_stretch(session, text_id, start, end)


_MOST_READ: Final = 200
"""Documents that one question reads at most; a run reads the rest."""


class FolderTexts(NamedTuple):
    """The texts of a room's documents, the names of those that were not read, or not whole (no files of programs), and
    how many are privileged.
    """

    texts: tuple[LedgerText, ...]
    unread: tuple[str, ...]
    kept: int


def room_texts(folder_id: str) -> FolderTexts:
    """The texts of a folder's documents that the caller sees, for a model: without privileged ones.

    Documents that have never been read are read, up to 200.

    Raises:
        BadRequest, NotFound: as `document_index`.
    """
    listing = index_folder_in_pieces.function(folder_id).listing
    listed = list(listing.documents)
    drive = open_drive()
    known = find_known_texts(drive, listed)
    new = [document for document in listed if document.id not in known][:_MOST_READ]
    for document in new:
        with suppress(DiligenceError):  # why one could not be read is kept with it
            load_text(drive, document)
    known |= find_known_texts(drive, new)
    found = [
        LedgerText(known[one.id].id, one.id, one.name, one.path, format_day(one.updated))
        for one in listed
        if one.id in known and known[one.id].characters
    ]
    have = {text.document_id for text in found}
    with database.reading() as session:
        above = [listing.folder.name, *documents.find_paths(session, listing.folder.id)]
    open_to_models, privileged = part_privileged(found, above)
    unread = (one.name for one in listed if one.id not in have or known[one.id].pages != known[one.id].pages_read)
    return FolderTexts(open_to_models, tuple(filter(may_be_document, unread)), len(privileged))


def document_with_text(document_id: str) -> tuple[Document, StoredText]:
    """A document that the caller sees and its text, for a model; the text is read now if it never was.

    Raises:
        NotAllowed: the document is privileged.
        BadRequest, NotFound, UnsupportedFormat, TooLarge, Unreadable, TookTooLong: as `document_text`.
    """
    drive = open_drive()
    document = drive.document(identifier(document_id, "document_id"))
    load_text(drive, document)
    summary = find_known_texts(drive, [document]).get(document.id)
    if summary is None:
        raise NotFound("The document is being changed. Ask again in a moment.")
    with database.reading() as session:
        above, text = documents.find_paths(session, document.id), texts.get_text(session, summary.id)
    path = drive.local_path(document.id)
    known = LedgerText(summary.id, document.id, document.name, document.path)
    root = LocalDriveSettings.current().drive_root.resolve()
    below = [str(path.relative_to(root)) if path.is_relative_to(root) else path.name] if path else []
    _, privileged = part_privileged([known], [*above, *below])
    if privileged:
        raise NotAllowed("The document is privileged: DILIGENCE_AI_PRIVILEGED keeps its words from models.")
    return document, text


_OPENING: Final = 6000  # characters in which a contract names its parties
_TOP: Final = 3  # lines at the beginning of a document, one of which is its title
_BY_NAME: Final = 6
_OF_NAMED: Final = 3  # sentences of documents that a question names, before those of the whole room
_BY_QUERY: Final = 12
_BY_WORDS: Final = 6
_QUOTES: Final = 6
_SILENT: Final = "The room does not say, or says it in other words: no passage was found that answers this."
_UNREAD: Final = "No passage was found that answers this. It may be in what could not be read: {}."
_MOST_NAMED: Final = 3


class RoomQuote(BaseModel):
    """Words of a document in the room, verified; `start` and `end` are offsets in its stored text."""

    text: str
    verified: bool
    document_id: str
    document_name: str
    place: str
    text_id: int
    start: int | None = None
    end: int | None = None


class RoomAnswer(BaseModel):
    """The answer to a question about a room. `missing`: no passage says it; then there are no quotes."""

    question: str
    answer: str
    missing: bool
    quotes: list[RoomQuote]
    notes: list[str] = []


def ask_room(question: str, room: RoomPassages, company: str = "", unread: Sequence[str] = ()) -> RoomAnswer:
    """Answer a question from a room's passages.

    Args:
        question: the question.
        room: the passages.
        company: words that name the company: a question may name it where a document says "we".
        unread: the names of the documents that could not be read, or not whole. What no passage says may be in these.

    Raises:
        BadRequest: the question is blank.
        tasks.errors.DiligenceError: the model could not be called, or gave no answer.
    """
    check_question(question)
    answerer = current_answerer()
    room = room.open_to(answerer)
    named, rest = room.find_named(question, _BY_NAME)
    likeliest = [*named, *room.likeliest(question, _BY_QUERY, _BY_WORDS)]
    passages = dict(enumerate(list(dict.fromkeys(likeliest))[: _BY_QUERY + _BY_WORDS], 1))
    sources = [Source(number, one.document.document_name, one.span.place, one.text) for number, one in passages.items()]
    if answerer.model is None:
        best = _choose_sentences(question, rest, sources, len(named), company)
        best = [] if room.is_far(question, [sentence for sentence, _ in best]) else best
        quotes = [_quote(sentence, passages[source.number]) for sentence, source in best]
        said = f"{OPENING} These words of the room address the question." if quotes else _SILENT
        answer = RoomAnswer(question=question, answer=said, missing=not quotes, quotes=quotes[:_QUOTES])
    else:
        answerer = with_names(answerer, lambda: profile_names(company, "", None) | room.signed_names)
        answer = _by_model(question, sources, passages, company, answerer)
        answer.notes += filter(None, [say_kept([document.document_name for document in room.kept])])
    if answer.missing and unread:
        answer.answer = _UNREAD.format(join_first(unread, _MOST_NAMED))
    return answer


def _choose_sentences(
    question: str, rest: str, sources: Sequence[Source], named: int, company: str
) -> Iterable[tuple[str, Source]]:
    """The sentences that address a question: first a few of the documents that it names, the first `named` sources.

    They never stand alone, as a paper on a document may bear its name. `rest` is the question without what it calls
    the document: a sentence of another one has a word of it.
    """
    first = best_sentences(rest, sources[:named], company) or ()
    asked = {word for word in plain_words(rest).split() if word not in COMMON}
    others = (
        (sentence, source)
        for sentence, source in best_sentences(question, sources, company) or ()
        if rest == question or asked & {*plain_words(sentence).split()}
    )
    return dict.fromkeys([*first[:_OF_NAMED], *others])


def _by_model(
    question: str,
    sources: Sequence[Source],
    passages: Mapping[int, RoomPassage],
    company: str,
    answerer: Answerer,
) -> RoomAnswer:
    if not sources:
        return RoomAnswer(question=question, answer=_SILENT, missing=True, quotes=[])
    ledger = make_question_ledger()
    answer = answer_once(answerer, question, sources, ledger=ledger)
    statements = sentences(answer.text)
    grounds = [
        Ground(source.number, None, nearby(statements, clean), clean)
        for source in sources
        for clean in (without_injections(source.text)[0],)
    ]
    proof = check_answer(answer.text, question, company, grounds, answerer, ledger=ledger)
    quotes: dict[str, RoomQuote] = {}
    for statement in proof.answer.statements:
        for number in statement.numbers:
            if statement.quote and number in passages:
                quote = _quote(statement.quote, passages[number])
                if quote.verified:
                    quotes.setdefault(quote.text, quote)
    is_silent = not proof.answer.shown
    return RoomAnswer(
        question=question,
        answer=_SILENT if is_silent else proof.answer.shown,
        missing=is_silent,
        quotes=[] if is_silent else list(quotes.values())[:_QUOTES],
        notes=[*proof.notes, *answer.notes],
    )


def _quote(words: str, passage: RoomPassage) -> RoomQuote:
    """Words of a passage as a quotation, where they stand in the document's text."""
    span = passage.span
    text = stretch(passage.document.text_id, span.start, span.end)
    found = locate(words, text)
    place = span.place
    if found is not None and "\t" in words:
        place = exact_place(passage.document.text_id, span.start + found[0], span.start + found[1])
    return RoomQuote(
        text=words,
        verified=verify(words, passage.text),
        document_id=passage.document.document_id,
        document_name=passage.document.document_name,
        place=place,
        text_id=passage.document.text_id,
        start=None if found is None else span.start + found[0],
        end=None if found is None else span.start + found[1],
    )

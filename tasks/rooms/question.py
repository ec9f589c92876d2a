"""A question about a whole data room: answered by quotations with their places, or by saying that the room is silent.

Without a model, the answer consists of the room's sentences that address the question. With one it is the model's
answer, of which only what a sentence of the passages supports is kept (`tasks.ai.statement_check`); these sentences are
its quotations.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel

from tasks.ai.answer_cache import answer_once
from tasks.ai.answerer import Answerer, Source
from tasks.ai.budget import make_question_ledger
from tasks.ai.extractive import OPENING, best_sentences, nearby
from tasks.ai.privileged import say_kept
from tasks.ai.prompt_injection import without_injections
from tasks.ai.pseudonyms import profile_names, with_names
from tasks.ai.registry import current_answerer
from tasks.ai.statement_check import check_answer
from tasks.errors import BadRequest
from tasks.language.sentences import sentences
from tasks.rooms.passages import RoomPassage, RoomPassages, exact_place, stretch
from tasks.scoring.quotes import locate, verify
from tasks.statements.answers import Ground

_BY_QUERY: Final = 12
_BY_WORDS: Final = 6
_QUOTES: Final = 6
_SILENT: Final = "The room does not say: no passage was found that mentions this."
_UNREAD: Final = "No passage was found that mentions this. It may be in what could not be read: {}."
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
    if not question.strip():
        raise BadRequest("The question is empty. Send the question as text.", {"question": "must not be empty"})
    answerer = current_answerer()
    room = room.open_to(answerer)
    passages = dict(enumerate(room.likeliest(question, _BY_QUERY, _BY_WORDS), 1))
    sources = [Source(number, one.document.document_name, one.span.place, one.text) for number, one in passages.items()]
    if answerer.model is None:
        answer = _without_model(question, sources, passages, company)
    else:
        answerer = with_names(answerer, lambda: profile_names(company, "", None) | room.signed_names)
        answer = _by_model(question, sources, passages, company, answerer)
        answer.notes += filter(None, [say_kept([document.document_name for document in room.kept])])
    if answer.missing and unread:
        more = f" and {len(unread) - _MOST_NAMED} more" if len(unread) > _MOST_NAMED else ""
        answer.answer = _UNREAD.format(", ".join(unread[:_MOST_NAMED]) + more)
    return answer


def _without_model(
    question: str, sources: Sequence[Source], passages: Mapping[int, RoomPassage], company: str
) -> RoomAnswer:
    best = best_sentences(question, sources, company) or ()
    quotes = [_quote(sentence, passages[source.number]) for sentence, source in best]
    answer = f"{OPENING} These words of the room address the question." if quotes else _SILENT
    return RoomAnswer(question=question, answer=answer, missing=not quotes, quotes=quotes[:_QUOTES])


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

"""Answers asked for once: kept under a hash of everything that went in, and asked again only when one of it changed.

They do not expire. What a model made of the same words, asked the same way at the same address, is as good later
as it was; a model that is replaced under its old name at the same address cannot be told from here.
"""

import json
import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from storage.caches import StoredAnswer, find_answer, save_answer
from storage.database import reading, writing
from tasks.ai import prompt_injection
from tasks.ai.answerer import Answer, Answerer, Judged, Source, T, Usage
from tasks.ai.prompts import VERSION

if TYPE_CHECKING:
    from tasks.ai.budget import Ledger

log = logging.getLogger(__name__)


def judge_once(
    answerer: Answerer,
    instructions: str,
    material: str,
    schema: type[T],
    *,
    ledger: "Ledger | None" = None,
    nth: int = 1,
) -> Judged[T]:
    """`answerer.judge(…)`, or what it said when it was asked the same before; that costs nothing, so usage is zero.

    `nth` tells apart the judgements of one question that is asked several times; it counts from 1.

    Raises:
        As `Answerer.judge`. A failure is not kept.
    """
    key = answer_key(answerer, instructions, material, schema, nth)
    if (stored := _find(key)) is not None:
        try:
            return Judged(schema.model_validate_json(json.dumps(stored.answer)), Usage())
        except ValidationError:
            log.warning("A stored judgement does not fit its schema any more and is asked for again.")
    judged = answerer.judge(instructions, material, schema, ledger=ledger)
    _keep(key, answerer, judged.value.model_dump(mode="json", by_alias=True), judged.usage)
    return judged


def answer_once(
    answerer: Answerer, question: str, sources: Sequence[Source], *, ledger: "Ledger | None" = None
) -> Answer:
    """`answerer.answer(…)`, or what it said when it was asked the same before; that costs nothing, so usage is zero.

    Where no model is asked nothing is kept.

    Raises:
        As `Answerer.answer`. A failure is not kept.
    """
    if answerer.model is None:
        return answerer.answer(question, sources, ledger=ledger)
    key = text_key(answerer, question, sources)
    if (stored := _find(key)) is not None:
        text, notes = stored.answer.get("text"), stored.answer.get("notes", [])
        if isinstance(text, str) and isinstance(notes, list):
            return Answer(text, Usage(), tuple(map(str, notes)))
    answer = answerer.answer(question, sources, ledger=ledger)
    # A NUL cannot be stored in PostgreSQL, and no model means one.
    text, notes = answer.text.replace("\0", ""), [note.replace("\0", "") for note in answer.notes]
    _keep(key, answerer, {"text": text, "notes": notes}, answer.usage)
    return Answer(text, answer.usage, tuple(notes))


def answer_key(answerer: Answerer, instructions: str, material: str, schema: type[T], nth: int = 1) -> str:
    """The SHA-256, in hex, of who is asked, where, how, what, and which time it is."""
    return _key(answerer, "judge", instructions, material, schema.__name__, schema.model_json_schema(), nth)


def text_key(answerer: Answerer, question: str, sources: Sequence[Source]) -> str:
    """The SHA-256, in hex, of who is asked, where, how and what, and of what is left out of the sources."""
    given = [[source.number, source.name, source.place, source.text] for source in sources]
    return _key(answerer, "answer", question, given, prompt_injection.VERSION)


def _key(answerer: Answerer, *asked: Any) -> str:
    whole = [VERSION, answerer.name, answerer.model, answerer.address, *asked]
    return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _find(key: str) -> StoredAnswer | None:
    with reading() as session:
        return find_answer(session, key)


def _keep(key: str, answerer: Answerer, answer: dict[str, Any], usage: Usage) -> None:
    stored = StoredAnswer(
        key=key,
        model=answerer.model or answerer.name,
        answer=answer,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )
    with writing() as session:
        save_answer(session, stored)

"""Judgements made once: kept in storage under a hash of everything that went in, and asked for only when it changed."""

import json
import logging
from hashlib import sha256

from pydantic import ValidationError

from storage.answers import StoredAnswer, find_answer, save_answer
from storage.database import reading, writing
from tasks.ai.answerer import Answerer, Judged, T, Usage
from tasks.ai.prompt import VERSION

log = logging.getLogger(__name__)


def judge_once(answerer: Answerer, instructions: str, material: str, schema: type[T]) -> Judged[T]:
    """`answerer.judge(…)`, or what it said when it was asked the same before; that costs nothing, so usage is zero.

    Raises:
        As `Answerer.judge`. A failure is not kept.
    """
    key = answer_key(answerer, instructions, material, schema)
    if (kept := _kept(key, schema)) is not None:
        return Judged(kept, Usage())
    judged = answerer.judge(instructions, material, schema)
    answer = StoredAnswer(
        key=key,
        model=answerer.model or answerer.name,
        answer=judged.value.model_dump(mode="json", by_alias=True),
        input_tokens=judged.usage.input_tokens,
        output_tokens=judged.usage.output_tokens,
    )
    with writing() as session:
        save_answer(session, answer)
    return judged


def answer_key(answerer: Answerer, instructions: str, material: str, schema: type[T]) -> str:
    """The SHA-256, in hex, of who is asked, where, how and what."""
    asked = [
        VERSION,
        answerer.name,
        answerer.model,
        answerer.address,
        instructions,
        material,
        schema.__name__,
        schema.model_json_schema(),
    ]
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _kept(key: str, schema: type[T]) -> T | None:
    with reading() as session:
        stored = find_answer(session, key)
    if stored is None:
        return None
    try:
        return schema.model_validate_json(json.dumps(stored.answer))
    except ValidationError:
        log.warning("A stored judgement does not fit its schema any more and is asked for again.")
        return None

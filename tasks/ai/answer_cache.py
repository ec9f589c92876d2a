"""The answer cache: each answer is stored under a hash of everything that was sent, so that none is paid for twice.

A process that is killed after it has paid for a reply, and before it has judged it, leaves the reply under the answer's
key (`tasks.ai.budget`). The next one judges that in place of a new one.

Answers do not expire: what a model made of the same prompt at the same address stays as good as it was. A model that is
replaced under its old name at the same address cannot be recognised here.
"""

import json
import logging
from collections.abc import Sequence
from contextlib import nullcontext
from hashlib import sha256
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from pydantic import ValidationError

from storage import model_calls
from storage.database import locked, reading, writing
from storage.model_calls import Replies, StoredAnswer
from tasks.ai import prompt_injection
from tasks.ai.answerer import Answer, Answerer, AnswererFailed, NoJson, Source, T, Verdict
from tasks.ai.budget import Ledger
from tasks.ai.money import Usage
from tasks.ai.prompts import VERSION
from tasks.counts import count_lookup
from tasks.errors import TooLarge

_MISFIT = "misfit"  # stored in place of an answer: why there is none

log = logging.getLogger(__name__)

_turns: WeakValueDictionary[str, Lock] = WeakValueDictionary()
_taking = Lock()


def _turn(key: str) -> Lock:
    """Return the lock shared by the threads of this process that ask for the answer under `key`."""
    with _taking:
        turn = _turns.get(key)
        if turn is None:
            turn = _turns[key] = Lock()
        return turn


def judge_once(
    answerer: Answerer,
    instructions: str,
    material: str,
    schema: type[T],
    *,
    ledger: Ledger | None = None,
    nth: int = 1,
    one_attempt: bool = False,
) -> Verdict[T]:
    """`answerer.judge(…)`, or the stored judgement of the same call, which costs nothing, so its usage is zero.

    Threads that want the same judgement at the same time wait for the first, as companies of a batch do for a search
    plan; processes also wait for each other if `one_attempt` is set. `nth` counts the judgements of a question that is
    judged several times, from 1. With `one_attempt`, an answer that does not fit is stored too, and not asked for
    again.

    Raises:
        As `Answerer.judge`. No other failure is stored.
    """
    key = answer_key(answerer, instructions, material, schema, nth)
    with _turn(key), locked(f"answer {key}") if one_attempt and _find(key) is None else nullcontext():
        if (stored := _find(key)) is not None:
            if one_attempt and set(stored) == {_MISFIT}:
                raise NoJson(str(stored[_MISFIT]))
            try:
                return Verdict(schema.model_validate_json(json.dumps(stored)), Usage())
            except ValidationError:
                log.warning("A stored judgement no longer fits its schema and is asked for again.")
        replies = find_replies(key, answerer.model or answerer.name)
        if ledger is not None:
            ledger = ledger.keeping(replies)
        try:
            verdict = answerer.judge(instructions, material, schema, ledger=ledger, one_attempt=one_attempt)
        except (AnswererFailed, TooLarge) as failure:
            if one_attempt and isinstance(failure, NoJson):
                _keep(key, answerer, {_MISFIT: failure.message}, failure.usage)
            elif replies.bodies:
                with writing() as session:
                    model_calls.delete_replies(session, key)
            raise
        _keep(key, answerer, verdict.value.model_dump(mode="json", by_alias=True), verdict.usage)
        return verdict


def answer_once(
    answerer: Answerer, question: str, sources: Sequence[Source], *, ledger: Ledger | None = None
) -> Answer:
    """`answerer.answer(…)`, or the stored answer of the same call, which costs nothing, so its usage is zero.

    Nothing is stored if no model is called.

    Raises:
        As `Answerer.answer`. A failure is not stored.
    """
    if answerer.model is None:
        return answerer.answer(question, sources, ledger=ledger)
    key = text_key(answerer, question, sources)
    if (stored := _find(key)) is not None:
        text, notes = stored.get("text"), stored.get("notes", [])
        if isinstance(text, str) and isinstance(notes, list):
            return Answer(text, Usage(), tuple(map(str, notes)))
    answer = answerer.answer(question, sources, ledger=ledger)
    # A NUL cannot be stored in PostgreSQL, and no model means one.
    text, notes = answer.text.replace("\0", ""), [note.replace("\0", "") for note in answer.notes]
    _keep(key, answerer, {"text": text, "notes": notes}, answer.usage)
    return Answer(text, answer.usage, tuple(notes))


def answer_key(answerer: Answerer, instructions: str, material: str, schema: type[T], nth: int = 1) -> str:
    """The SHA-256, in hex, of the model, its address, the prompt's version, the call and its number."""
    return _key(answerer, "judge", instructions, material, schema.__name__, schema.model_json_schema(), nth)


def text_key(answerer: Answerer, question: str, sources: Sequence[Source]) -> str:
    """The SHA-256, in hex, of the model, its address, both versions (prompt, prompt injection) and the call."""
    # Of a text its hash: as JSON a long one would be six times as long.
    texts = [
        [source.number, source.name, source.place, sha256(source.text.encode(errors="surrogatepass")).hexdigest()]
        for source in sources
    ]
    return _key(answerer, "answer", question, texts, prompt_injection.VERSION)


def _key(answerer: Answerer, *call: Any) -> str:
    parts = [VERSION, answerer.name, answerer.model, answerer.address, *call]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def find_answer(key: str) -> dict[str, Any] | None:
    """The answer under a key, which is noted as used, so that it is not pruned; None if there is none."""
    with reading() as session:
        stored = model_calls.find_answer(session, key)
    if stored is None or stored.replies is not None:
        return None
    if model_calls.wants_noting(stored):
        with writing() as session:
            model_calls.note_use(session, key)
    return stored.answer


def find_replies(key: str, model: str) -> Replies:
    """What a process that was killed has paid for towards the answer under a key."""
    with reading() as session:
        stored = model_calls.find_answer(session, key)
    return Replies(key, model, (stored.replies if stored else None) or {})


def keep_answer(key: str, model: str, answer: dict[str, Any], usage: Usage) -> None:
    """Store what a model's answer came to, with what it cost."""
    stored = StoredAnswer(
        key=key, model=model, answer=answer, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens
    )
    with writing() as session:
        model_calls.save_answer(session, stored)


def _find(key: str) -> dict[str, Any] | None:
    stored = find_answer(key)
    count_lookup("answers", hit=stored is not None)
    return stored


def _keep(key: str, answerer: Answerer, answer: dict[str, Any], usage: Usage) -> None:
    keep_answer(key, answerer.model or answerer.name, answer, usage)

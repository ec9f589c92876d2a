"""Finds out what a server and its model can do by asking once, and keeps the result with the answers.

A small judgement is requested in each request format, best first, until an answer keeps to its schema: a status of 200
alone says nothing, as some servers accept a schema and ignore it. The requests also show which parts of a request the
server refuses, whether it counts tokens, and how fast it reads and writes.
"""

import json
import logging
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from storage.database import locked
from tasks.ai.answer_cache import find_answer, find_replies, keep_answer
from tasks.ai.answerer import AnswererFailed
from tasks.ai.budget import BudgetSpent, Ledger
from tasks.ai.money import Usage
from tasks.ai.openai.client import Endpoint
from tasks.ai.openai.errors import ContextWindowExceeded
from tasks.ai.openai.protocols import RequestFormat
from tasks.ai.prompts import judgement_prompt

INSTRUCTIONS = "Say which bird the text names, and how many there are."
_TEXT = "Seven herons stood in the shallow water beside the mill."
_LONGEST = 256  # tokens; an answer that keeps to the schema has some thirty
_VERSION = 2  # raised when the question changes, or what is learned of it

log = logging.getLogger(__name__)
_asking = Lock()


class Sighting(BaseModel):
    """The answer: any bird will do, but nothing else."""

    model_config = ConfigDict(extra="forbid")

    bird: Literal["heron", "crane", "stork"] = Field(description="the bird")
    number: int = Field(description="how many there are")


def find_out(endpoint: Endpoint, formats: Sequence[RequestFormat], ledger: Ledger | None) -> None:
    """Learn what the server can do, from what is stored or by asking it, unless this process knows it already.

    Raises:
        tasks.errors.DiligenceError: the server cannot be asked at all.
    """
    if endpoint.capabilities.known:
        return
    key = _key(endpoint, formats)
    with _asking, locked(f"answer {key}"):  # processes that start together ask once
        if recall(endpoint, formats):
            return
        endpoint.describe()
        try:
            usage = _ask(endpoint, formats, ledger and ledger.keeping(find_replies(key, endpoint.model)))
        except BudgetSpent:
            return
        keep_answer(key, endpoint.model, endpoint.capabilities.as_json(), usage)
        endpoint.capabilities.known = True


def recall(endpoint: Endpoint, formats: Sequence[RequestFormat]) -> bool:
    """Load what is stored about the server, unless this process knows it already; False if nothing is stored."""
    if endpoint.capabilities.known:
        return True
    stored = find_answer(_key(endpoint, formats))
    if stored is None:
        return False
    endpoint.capabilities.load(stored)
    endpoint.allow_slots()
    return True


def _key(endpoint: Endpoint, formats: Sequence[RequestFormat]) -> str:
    parts = ["probe", _VERSION, endpoint.address, endpoint.model, *(request_format.name for request_format in formats)]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _ask(endpoint: Endpoint, formats: Sequence[RequestFormat], ledger: Ledger | None) -> Usage:
    """Ask in each format until one follows the schema; if none does, this is held against none of them."""
    messages = judgement_prompt(INSTRUCTIONS, _TEXT, Sighting)

    def ask(request_format: RequestFormat) -> tuple[str, Usage]:
        try:
            reply = endpoint.ask(request_format, messages, Sighting, ledger, most=_LONGEST)
        except (AnswererFailed, ContextWindowExceeded) as failure:
            return "", failure.usage
        return reply.text, reply.usage

    usage = Usage()
    ignored: list[RequestFormat] = []
    for request_format, (text, used) in endpoint.replies(formats, ask):
        usage += used
        if _fits(text):
            endpoint.capabilities.keeps = request_format
            endpoint.capabilities.loose.update(ignored)
            return usage
        if request_format.takes_schema:
            ignored.append(request_format)
    log.warning("The AI server's model followed no schema when it was tested: its answers may not be JSON.")
    return usage


def _fits(text: str) -> bool:
    try:
        Sighting.model_validate_json(text)
    except ValidationError:
        return False
    return True

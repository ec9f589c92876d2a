"""Every call of a run is written down before it is made, so that none that may have been billed is forgotten.

A call that is answered, or refused by the server, leaves the log together with what it cost. One whose answer was lost
(the process was killed, the connection broke, the time limit passed) stays: it was asked, and its answer is unknown.

When the same request is sent again, the lost call's idempotency key goes with it: a server that takes such keys gives
the lost answer then, and bills once. The header is the one of the IETF draft "The Idempotency-Key HTTP Header Field";
gateways take it. OpenAI, Azure OpenAI, llama.cpp, vLLM and Ollama document none, and a header that a server does not
know is ignored (RFC 9110, section 5.1). A request that was answered, with an error too, gets a new key: servers
repeat what they answered to a key.
"""

from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple, Protocol
from uuid import uuid4

from sqlmodel import Session

from storage import database, model_calls, runs
from tasks.ai.money import Usage

HEADER = "Idempotency-Key"


class LoggedCall(NamedTuple):
    """A call that was written down. `id` is its row; None where there is none."""

    id: int | None
    request: str
    key: str


class CallLog(Protocol):
    """Where a ledger writes its calls down. Safe to use from several threads."""

    def begin(self, request: str, ahead: Usage) -> LoggedCall:
        """A call is about to be made; `ahead` is recorded as spent until it ends."""

    def end(self, call: LoggedCall, usage: Usage, usd: float | None, *, lost: bool) -> None:
        """The call has ended; `usage` and `usd` are what is to be recorded in addition."""


class CostOnly:
    """A log that forgets calls and hands on what they cost."""

    def __init__(self, record: Callable[[Usage, float | None], None]) -> None:
        self._record = record

    def begin(self, request: str, ahead: Usage) -> LoggedCall:
        """As `CallLog.begin`."""
        if ahead != Usage():
            self._record(ahead, None)
        return LoggedCall(None, request, uuid4().hex)

    def end(self, call: LoggedCall, usage: Usage, usd: float | None, *, lost: bool) -> None:  # noqa: ARG002 - protocol
        """As `CallLog.end`."""
        if usage != Usage() or usd is not None:
            self._record(usage, usd)


class RunCallLog:
    """The log of one run, in the database."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._lost: dict[str, list[str]] = defaultdict(list)
        self._lock = Lock()
        with database.reading() as session:
            for call in model_calls.unanswered_calls(session, run_id):
                if call.key not in self._lost[call.request]:
                    self._lost[call.request].append(call.key)

    def begin(self, request: str, ahead: Usage) -> LoggedCall:
        """As `CallLog.begin`. Takes the key of a lost call of the same request, if there is one."""
        with self._lock:
            lost = self._lost[request]
            key = lost.pop(0) if lost else uuid4().hex
        with database.writing() as session:
            row = model_calls.add_call(session, self._run_id, key, request)
            self._add(session, ahead, None)
        return LoggedCall(row, request, key)

    def end(self, call: LoggedCall, usage: Usage, usd: float | None, *, lost: bool) -> None:
        """As `CallLog.end`. The call leaves the log and its cost is recorded together, or neither is."""
        if lost:
            with self._lock:
                self._lost[call.request].append(call.key)
        with database.writing() as session:
            if not lost and call.id is not None:
                model_calls.remove_call(session, call.id)
            self._add(session, usage, usd)

    def _add(self, session: Session, usage: Usage, usd: float | None) -> None:
        if usage != Usage() or usd is not None:
            runs.add_cost(session, self._run_id, usage.calls, usage.input_tokens, usage.output_tokens, usd)

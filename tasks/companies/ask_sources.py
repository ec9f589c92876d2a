"""What the sources of facts say about one company: recent answers from the database, all others asked for now.

1. The stored answers on the company are read. One is used as it is for DILIGENCE_FACTS_MAX_AGE hours.
2. The other sources are asked at the same time, each for DILIGENCE_FACTS_TIMEOUT seconds at most, and what they
   answer is stored.
3. Where a source fails, its older answer is used, and a warning gives that answer's date.

A source on this machine (its `origin` is None) is read each time, and never stored.
"""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from pydantic import ValidationError

from storage import database
from storage.columns import now
from storage.companies import AnswerSummary, SourceAnswer, answers_on, get_answer, save_answer
from storage.database import reading, writing
from tasks.companies.budget import Wait, waiting
from tasks.companies.claims import Claim, SourceClaims
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import FactSource
from tasks.counts import count_lookup
from tasks.errors import DiligenceError, SourceFailed, TookTooLong
from tasks.remote.fan_out import FanOut

log = logging.getLogger(__name__)

_MAX_PARSED: Final = 640
"""Parsed answers in memory: five sources on 128 companies, some 150 KB a company."""
_MAX_AGE_OF_NOTHING: Final = timedelta(hours=1)
"""How long at most a source that knew nothing is not asked again."""

Reply: TypeAlias = SourceClaims | DiligenceError | None
"""What came of asking a source: its claims, None where it knows nothing, or why it could not be asked."""


class SourceReply(NamedTuple):
    """A source, and what it replied."""

    source: FactSource
    reply: Reply


class _StoredAnswer(NamedTuple):
    """A source's answer on a company, when it was given, and whether it may still be used without asking again."""

    retrieved_at: datetime
    claims: SourceClaims | None
    is_fresh: bool


def ask_sources(
    sources: Sequence[FactSource], domain: str, known: Sequence[AnswerSummary] | None = None, *, patient: bool = False
) -> list[SourceReply]:
    """What each source says about the company with that registrable domain, in their order.

    Takes as long as the slowest source, and DILIGENCE_FACTS_TIMEOUT at most. A source that fails does not affect the
    others. `known` are the answers on the company that are stored now, where the caller has looked them up.
    `patient`: a source that refuses for now, or whose budget is spent, is waited for, DILIGENCE_FACTS_PATIENCE
    seconds at most, which do not count as time that it takes.
    """
    stored = _stored_answers(sources, domain, known)
    to_ask = [source for source in sources if source not in stored or not stored[source].is_fresh]
    replies: dict[FactSource, Reply] = {source: answer.claims for source, answer in stored.items()}
    for source, reply in zip(to_ask, _ask_side_by_side(to_ask, domain, patient=patient), strict=True):
        replies[source] = _or_older(reply, source, stored.get(source))
    return [SourceReply(source, replies[source]) for source in sources]


def _stored_answers(
    sources: Sequence[FactSource], domain: str, known: Sequence[AnswerSummary] | None
) -> dict[FactSource, _StoredAnswer]:
    """The stored answers of those sources.

    The database is queried each time, since another process may have stored a newer answer. An answer is parsed once:
    one that has not changed is the same object as before.
    """
    by_origin = {(source.name, source.origin): source for source in sources if source.origin is not None}
    if not by_origin:
        return {}
    max_age = timedelta(hours=CompanySettings.current().facts_max_age)
    moment = now()
    if known is None:
        with reading() as session:
            known = answers_on(session, domain)
    answers = {}
    for row in known:
        source = by_origin.get((row.source, row.origin))
        if source is None:
            continue
        limit = min(max_age / 4, _MAX_AGE_OF_NOTHING) if row.unknown else max_age
        with suppress(ValidationError, LookupError):  # written by an earlier release, or replaced just now: ask again
            claims = None
            if not row.unknown:
                claims = _parsed_answer(database.url(), row.source, row.origin, domain, row.retrieved_at)
            answers[source] = _StoredAnswer(row.retrieved_at, claims, moment - row.retrieved_at < limit)
    for source in by_origin.values():
        count_lookup("sources", hit=source in answers and answers[source].is_fresh)
    return answers


@lru_cache(maxsize=_MAX_PARSED)
def _parsed_answer(_database: str, source: str, origin: str, domain: str, retrieved_at: datetime) -> SourceClaims:
    with reading() as session:
        answer = get_answer(session, source, origin, domain)
    if answer is None or answer.claims is None or answer.retrieved_at != retrieved_at:
        raise LookupError(source)
    return SourceClaims([Claim.model_validate(claim) for claim in answer.claims], answer.warnings)


def _ask_side_by_side(sources: Sequence[FactSource], domain: str, *, patient: bool) -> list[Reply]:
    """The replies of those sources. Those on this machine are read in this thread while the others are asked."""
    settings = CompanySettings.current()
    remote = [source for source in sources if source.origin is not None]
    threads = FanOut(len(remote), "facts")
    began = time.monotonic()
    waits = {source: Wait(settings.facts_patience) if patient else None for source in remote}
    futures = {source: threads.submit(_ask_one, source, domain, waits[source]) for source in remote}
    replies = {source: _ask_one(source, domain) for source in sources if source.origin is None}
    # A source that is late ends by the limits of its own requests; its answer is stored for the next time.
    while pending := [source for source, future in futures.items() if not future.done()]:
        waited = max(wait_.seconds if (wait_ := waits[source]) else 0.0 for source in pending)
        left = began + settings.facts_timeout + waited - time.monotonic()
        if left <= 0:
            break
        wait([futures[source] for source in pending], timeout=left)
    replies |= {source: _reply_or_late(source, future) for source, future in futures.items()}
    return [replies[source] for source in sources]


def _reply_or_late(source: FactSource, future: Future[Reply]) -> Reply:
    if future.done():
        return future.result()
    seconds = CompanySettings.current().facts_timeout
    return TookTooLong(f"The source {source.name} took longer than {seconds:g} s (DILIGENCE_FACTS_TIMEOUT).")


def _ask_one(source: FactSource, domain: str, wait_: Wait | None = None) -> Reply:
    try:
        with waiting(wait_):
            claims = source.facts(domain)
    except DiligenceError as error:
        log.info("the source %s failed for %s: %s", source.name, domain, error)  # the warnings show it too
        return error
    except Exception as error:  # noqa: BLE001 - a defect in one source must not take the others with it
        # The exception's message may hold what the source sent; its type does not.
        log.error("the source %s failed for %s: %s", source.name, domain, type(error).__name__)  # noqa: TRY400
        return SourceFailed(f"The source {source.name} failed, and its answer could not be used.")
    store_answer(source, domain, claims)
    return claims


def store_answer(source: FactSource, domain: str, claims: SourceClaims | None) -> None:
    """Store what a source on the network answered now (None: it knows nothing) in place of its last answer."""
    if source.origin is None:
        return
    answer = SourceAnswer(
        source=source.name,
        origin=source.origin,
        domain=domain,
        retrieved_at=now(),
        claims=None if claims is None else [claim.model_dump(mode="json") for claim in claims.claims],
        warnings=[] if claims is None else list(claims.warnings),
    )
    with writing() as session:
        save_answer(session, answer)


def _or_older(reply: Reply, source: FactSource, stored: _StoredAnswer | None) -> Reply:
    """The reply, or the older answer with a warning where the source failed."""
    if not isinstance(reply, DiligenceError) or stored is None or stored.claims is None:
        return reply
    warning = f"{reply.message} What {source.name} said on {stored.retrieved_at:%Y-%m-%d} is used."
    return SourceClaims(stored.claims.claims, [*stored.claims.warnings, warning])

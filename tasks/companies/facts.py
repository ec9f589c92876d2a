"""Get Company Facts: ask the sources about a company, merge their claims, and store the profile.

A source that fails leaves a warning, and the others' claims count. A company is only reported as unknown if every
source could be asked.
"""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from storage import database
from storage.columns import now
from storage.database import reading, writing
from storage.scores import (
    SourceAnswer,
    StoredClaim,
    StoredProfile,
    answers_on,
    get_answer,
    latest_profile,
    profile_claims,
    save_answer,
    save_profile,
)
from tasks.cancellation import FanOut
from tasks.companies.claims import Claim, ClaimConflict, SourceClaims, find_conflicts, merge
from tasks.companies.profile import CompanyProfile, CompanySettings, registrable
from tasks.companies.sources import FactSource, choose_sources
from tasks.errors import DiligenceError, NotConfigured, NotFound, SourceFailed, TookTooLong
from tasks.operation import operation
from tasks.remote.rate_limit import Wait, waiting
from tasks.telemetry import count_lookup

log = logging.getLogger(__name__)

_MAX_PARSED: Final = 640
"""Parsed answers in memory: five sources on 128 companies, some 150 KB a company."""
_MAX_AGE_OF_NOTHING: Final = timedelta(hours=1)
"""How long at most a source that knew nothing is not asked again."""

Reply: TypeAlias = SourceClaims | DiligenceError | None
"""What came of asking a source: its claims, None where it knows nothing, or why it could not be asked."""


class SourceReply(NamedTuple):
    """A source and its reply."""

    source: FactSource
    reply: Reply


class _StoredAnswer(NamedTuple):
    """A source's answer about a company, when it was given, and whether it may be used without asking again."""

    retrieved_at: datetime
    claims: SourceClaims | None
    is_fresh: bool


def ask_sources(sources: Sequence[FactSource], domain: str, *, patient: bool = False) -> list[SourceReply]:
    """What each source says about the company with that registrable domain, in their order.

    Takes as long as the slowest source, and DILIGENCE_FACTS_TIMEOUT at most. A source that fails does not affect the
    others.
    `patient`: a source that refuses for now, or whose budget is spent, is waited for, DILIGENCE_FACTS_PATIENCE
    seconds at most, which do not count as time that it takes.
    """
    stored = _load_answers(sources, domain)
    to_ask = [source for source in sources if source not in stored or not stored[source].is_fresh]
    replies: dict[FactSource, Reply] = {source: answer.claims for source, answer in stored.items()}
    for source, reply in zip(to_ask, _ask_side_by_side(to_ask, domain, patient=patient), strict=True):
        replies[source] = _or_older(reply, source, stored.get(source))
    return [SourceReply(source, replies[source]) for source in sources]


def _load_answers(sources: Sequence[FactSource], domain: str) -> dict[FactSource, _StoredAnswer]:
    """The stored answers of those sources.

    The database is queried each time, since another process may have stored a newer answer. Each answer is parsed only
    once.
    """
    by_origin = {(source.name, source.origin): source for source in sources if source.origin is not None}
    if not by_origin:
        return {}
    max_age = timedelta(hours=CompanySettings.current().facts_max_age)
    moment = now()
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
                claims = _parse_answer(database.url(), row.source, row.origin, domain, row.retrieved_at)
            answers[source] = _StoredAnswer(row.retrieved_at, claims, moment - row.retrieved_at < limit)
    for source in by_origin.values():
        count_lookup("sources", hit=source in answers and answers[source].is_fresh)
    return answers


@lru_cache(maxsize=_MAX_PARSED)
def _parse_answer(_database: str, source: str, origin: str, domain: str, retrieved_at: datetime) -> SourceClaims:
    with reading() as session:
        answer = get_answer(session, source, origin, domain)
    if answer is None or answer.claims is None or answer.retrieved_at != retrieved_at:
        raise LookupError(source)
    return SourceClaims([Claim.model_validate(claim) for claim in answer.claims], answer.warnings)


def _ask_side_by_side(sources: Sequence[FactSource], domain: str, *, patient: bool) -> list[Reply]:
    """The replies of those sources. Local ones are read in this thread while the others are being asked."""
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
    """Store a network source's answer (None: it knows nothing) in place of its last one."""
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
    """The reply; if the source failed, its older answer with a warning."""
    if not isinstance(reply, DiligenceError) or stored is None or stored.claims is None:
        return reply
    warning = f"{reply.message} What {source.name} said on {stored.retrieved_at:%Y-%m-%d} is used."
    return SourceClaims(stored.claims.claims, [*stored.claims.warnings, warning])


class CompanyFacts(BaseModel):
    """A profile with the claims that it was merged from, in order of precedence, and the conflicts between them.

    `warnings` are sentences about sources that failed, what they left out, and possible matches that were not used.
    """

    profile: CompanyProfile
    claims: list[Claim]
    conflicts: list[ClaimConflict]
    warnings: list[str] = Field(default_factory=list)


class StoredFacts(NamedTuple):
    """Facts with the id of their stored profile."""

    profile_id: int
    facts: CompanyFacts


@operation(name="company_facts", asks_a_source=True)
def company_facts(domain: str) -> CompanyFacts:
    """What the configured sources know about the company with that web domain.

    Raises:
        BadRequest: `domain` is no registrable domain; the message says which one to send.
        NotFound: every source could be asked, and none knows the company.
        SourceFailed: no source knows it, and at least one could not be asked.
        NotConfigured: no source is configured, or a setting that it needs is missing.
    """
    return fetch_facts(domain).facts


@operation(name="company_facts_or_reason")
def facts_or_reason(domain: str) -> CompanyFacts | str:
    """`company_facts` for a batch: waits for sources that refuse; returns the reason as text if there are no facts.

    Raises:
        BadRequest: as `company_facts`.
    """
    try:
        return fetch_facts(domain, patient=True).facts
    except (NotFound, SourceFailed, NotConfigured) as error:
        return error.message


def fetch_facts(domain: str, *, patient: bool = False) -> StoredFacts:
    """`company_facts` with the id of the stored profile. Facts that have not changed are not stored again.

    `patient`: see `ask_sources`.

    Raises:
        DiligenceError: as `company_facts`.
    """
    domain = registrable(domain)
    sources = choose_sources()
    replies = ask_sources(sources, domain, patient=patient)
    failures = [reply for _, reply in replies if isinstance(reply, DiligenceError)]
    answers = [reply for _, reply in replies if isinstance(reply, SourceClaims)]
    claims = [claim for answer in answers for claim in answer.claims]
    warnings = [warning for answer in answers for warning in answer.warnings]
    warnings += [failure.message for failure in failures]
    warnings = list(dict.fromkeys(warnings))  # several sources may need the same server
    if not claims:
        raise _no_claims(domain, sources, failures, warnings)
    facts = CompanyFacts(profile=merge(claims), claims=claims, conflicts=find_conflicts(claims), warnings=warnings)
    return StoredFacts(_store(domain, facts), facts)


def _no_claims(
    domain: str, sources: Sequence[FactSource], failures: Sequence[DiligenceError], warnings: Sequence[str]
) -> DiligenceError:
    """The error that says why there is no claim at all."""
    reasons = " ".join(warnings)
    if not failures:
        names = ", ".join(source.name for source in sources)
        return NotFound(f"Company not found: no configured source ({names}) knows {domain}. {reasons}".rstrip())
    if any(isinstance(failure, NotConfigured) for failure in failures):  # what the caller can do something about
        return NotConfigured(f"No facts about {domain} were found. {reasons}")
    return SourceFailed(f"No facts about {domain} could be fetched. {reasons}")


def _store(domain: str, facts: CompanyFacts) -> int:
    """Store the facts and return their id: a new one, unless the latest profile is the same."""
    with reading() as session:
        latest = latest_profile(session, domain)
        if latest is not None and latest.id is not None and latest.warnings == facts.warnings:
            stored_claims = profile_claims(session, latest.id)
            same = [_content(claim) for claim in stored_claims] == [_content(claim) for claim in facts.claims]
            if same and _drop_date(latest.profile) == _drop_date(facts.profile.model_dump()):
                return latest.id
    profile = StoredProfile(
        domain=domain,
        retrieved_at=now(),
        profile=facts.profile.model_dump(),
        sources=list(dict.fromkeys(claim.source for claim in facts.claims)),
        warnings=facts.warnings,
    )
    with writing() as session:
        return save_profile(session, profile, [StoredClaim(**claim.model_dump(), ordinal=0) for claim in facts.claims])


def _content(claim: Claim | StoredClaim) -> tuple[Any, ...]:
    """The claim without the time when it was retrieved."""
    return claim.field, claim.value, claim.source, claim.url, claim.as_of


def _drop_date(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile without its date, which is merely a retrieval time if no claim has its own date."""
    return {name: value for name, value in profile.items() if name != "last_updated"}

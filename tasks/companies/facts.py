"""Get Company Facts: ask the sources about a company, merge what they claim, and store the profile.

A source that fails leaves a warning, and the others' claims count. A company is reported as unknown only when every
source could be asked.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, Field
from sqlalchemy.exc import NoResultFound

from storage import database
from storage.columns import now
from storage.companies import (
    StoredClaim,
    StoredProfile,
    answers_on,
    get_profile,
    latest_profile,
    latest_profile_id,
    profile_claims,
    save_profile,
)
from storage.database import reading, writing
from tasks.companies.ask_sources import SourceReply, ask_sources
from tasks.companies.claims import Claim, ClaimConflict, SourceClaims, find_conflicts, merge
from tasks.companies.domain import registrable
from tasks.companies.profile import CompanyProfile
from tasks.companies.sources import FactSource
from tasks.companies.sources.registry import configured_sources
from tasks.errors import DiligenceError, NotConfigured, NotFound, SourceFailed
from tasks.operation import operation


class CompanyFacts(BaseModel):
    """A profile with the claims it was merged from, in order of precedence, and those that disagree.

    `warnings` are sentences on sources that failed, what they left out, and possible matches that were not used.
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
    """What the configured sources know of the company with that web domain.

    Raises:
        BadRequest: `domain` is no registrable domain; the message says which one to send.
        NotFound: every source could be asked, and none knows the company.
        SourceFailed: no source knows it, and at least one could not be asked.
        NotConfigured: no source is configured, or a setting that it needs is missing.
    """
    return fetch_facts(domain).facts


@operation(name="company_facts_or_reason")
def facts_or_reason(domain: str) -> CompanyFacts | str:
    """`company_facts` for a batch: waits for sources that refuse; gives the reason as text where there are no facts.

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
    sources = configured_sources()
    with reading() as session:
        known, latest = answers_on(session, domain), latest_profile_id(session, domain)
    replies = ask_sources(sources, domain, known, patient=patient)
    recent = RECENT_FACTS.find(domain, replies, latest)
    if recent is not None:
        return recent
    failures = [reply for _, reply in replies if isinstance(reply, DiligenceError)]
    answers = [reply for _, reply in replies if isinstance(reply, SourceClaims)]
    claims = [claim for answer in answers for claim in answer.claims]
    warnings = [warning for answer in answers for warning in answer.warnings]
    warnings += [failure.message for failure in failures]
    warnings = list(dict.fromkeys(warnings))  # several sources may need the same server
    if not claims:
        raise _no_claims(domain, sources, failures, warnings)
    facts = CompanyFacts(profile=merge(claims), claims=claims, conflicts=find_conflicts(claims), warnings=warnings)
    stored = StoredFacts(_store(domain, facts), facts)
    RECENT_FACTS.put(domain, replies, stored)
    return stored


def stored_facts(profile_id: int) -> CompanyFacts:
    """The facts stored under that id, as they were fetched.

    Raises:
        NotFound: there is no such profile.
    """
    with reading() as session:
        try:
            stored = get_profile(session, profile_id)
        except NoResultFound as error:
            raise NotFound(f"No profile is stored under the id {profile_id}.") from error
        claims = [Claim.model_validate(claim) for claim in profile_claims(session, profile_id)]
    return CompanyFacts(
        profile=CompanyProfile.model_validate(stored.profile),
        claims=claims,
        conflicts=find_conflicts(claims),
        warnings=stored.warnings,
    )


def _no_claims(
    domain: str, sources: Sequence[FactSource], failures: Sequence[DiligenceError], warnings: Sequence[str]
) -> DiligenceError:
    """The error that says why there is not one claim."""
    reasons = " ".join(warnings)
    if not failures:
        names = ", ".join(source.name for source in sources)
        return NotFound(f"Company not found: no configured source ({names}) knows {domain}. {reasons}".rstrip())
    if all(isinstance(failure, NotConfigured) for failure in failures) and len(failures) == len(sources):
        return NotConfigured(reasons)
    return SourceFailed(f"No facts about {domain} could be fetched. {reasons}")


def _store(domain: str, facts: CompanyFacts) -> int:
    """The id under which these facts are stored: a new one, unless the latest profile is the same."""
    with reading() as session:
        latest = latest_profile(session, domain)
        if latest is not None and latest.id is not None and latest.warnings == facts.warnings:
            stored_claims = profile_claims(session, latest.id)
            same = [_content(claim) for claim in stored_claims] == [_content(claim) for claim in facts.claims]
            if same and _undated(latest.profile) == _undated(facts.profile.model_dump()):
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
    """The claim without the time it was retrieved."""
    return claim.field, claim.value, claim.source, claim.url, claim.as_of


def _undated(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile without its date, which is a claim's retrieval time where no claim has a date of its own."""
    return {name: value for name, value in profile.items() if name != "last_updated"}


class RecentFacts:
    """The facts that this process merged last. The same replies make the same facts: they are not merged again."""

    def __init__(self, max_companies: int) -> None:
        self._max_companies = max_companies
        self._entries: OrderedDict[tuple[str, str], tuple[Sequence[SourceReply], StoredFacts]] = OrderedDict()
        self._lock = Lock()

    def find(self, domain: str, replies: Sequence[SourceReply], latest: int | None) -> StoredFacts | None:
        """The facts made of these replies in this order; None where another profile is the `latest` now."""
        with self._lock:
            entry = self._entries.get((database.url(), domain))
        if entry is None:
            return None
        earlier, stored = entry
        if stored.profile_id != latest or len(earlier) != len(replies) or not all(map(_is_same, earlier, replies)):
            return None
        return stored

    def put(self, domain: str, replies: Sequence[SourceReply], stored: StoredFacts) -> None:
        """Add the facts made of these replies."""
        key = database.url(), domain
        with self._lock:
            self._entries[key] = replies, stored
            self._entries.move_to_end(key)
            if len(self._entries) > self._max_companies:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget all facts."""
        with self._lock:
            self._entries.clear()


RECENT_FACTS: Final = RecentFacts(128)


def _is_same(one: SourceReply, other: SourceReply) -> bool:
    """Whether two replies come from the same source and say the same; a failure says nothing."""
    first, second = one.reply, other.reply
    if one.source.name != other.source.name or isinstance(first, DiligenceError) or isinstance(second, DiligenceError):
        return False
    if first is second:
        return True
    if first is None or second is None or list(first.warnings) != list(second.warnings):
        return False
    return [_content(claim) for claim in first.claims] == [_content(claim) for claim in second.claims]

"""Get Company Facts: ask every source side by side, merge what they claim, and keep it.

A source that fails leaves a warning, not a hole in the others. That a company is unknown is said only
when every source was reached.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy.exc import NoResultFound

from storage.companies import StoredClaim, StoredProfile, get_profile, latest_profile, profile_claims, save_profile
from storage.database import now, reading, writing
from tasks.companies.asking import ask_all
from tasks.companies.domain import registrable
from tasks.companies.merge import Conflict, find_conflicts, merge
from tasks.companies.profile import CompanyProfile
from tasks.companies.sources import Claim, FactSource, Finding, configured
from tasks.errors import (
    DiligenceError,
    NotConfigured,
    NotFound,
    SourceFailed,
)
from tasks.operation import operation


class CompanyFacts(BaseModel):
    """A profile with the claims it was merged from, in order of precedence, and those that disagree.

    `warnings` tells which sources failed; it is no part of the JSON.
    """

    profile: CompanyProfile
    claims: list[Claim]
    conflicts: list[Conflict]
    warnings: list[str] = Field(default_factory=list, exclude=True)


@operation(name="company_facts", asks_a_source=True)
def company_facts(domain: str) -> CompanyFacts:
    """What the configured sources know of the company with that web domain.

    Raises:
        BadRequest: `domain` is no registrable domain; the message says which one to send.
        NotFound: every source was reached, and none knows the company.
        SourceFailed: no source knows it, and not every one could be reached.
        NotConfigured: no source is configured, or what it needs is missing.
    """
    return fetch_facts(domain)[1]


def fetch_facts(domain: str) -> tuple[int, CompanyFacts]:
    """`company_facts` with the id of the stored profile. Facts that are as they were are not stored again.

    Raises:
        DiligenceError: as `company_facts`.
    """
    domain = registrable(domain)
    sources = configured()
    words = ask_all(sources, domain)
    failures = [said for _, said in words if isinstance(said, DiligenceError)]
    found = [said for _, said in words if isinstance(said, Finding)]
    claims = [claim for finding in found for claim in finding.claims]
    warnings = [warning for finding in found for warning in finding.warnings]
    warnings += [failure.message for failure in failures]
    warnings = list(dict.fromkeys(warnings))  # several may need the same server
    if not claims:
        raise _nothing(domain, sources, failures, warnings)
    facts = CompanyFacts(profile=merge(claims), claims=claims, conflicts=find_conflicts(claims), warnings=warnings)
    return _keep(domain, facts), facts


def stored_facts(profile_id: int) -> CompanyFacts:
    """The facts kept under that id, as they were fetched.

    Raises:
        NotFound: there is no such profile.
    """
    with reading() as session:
        try:
            kept = get_profile(session, profile_id)
        except NoResultFound as error:
            raise NotFound(f"No profile is stored under the id {profile_id}.") from error
        claims = [Claim.model_validate(claim) for claim in profile_claims(session, profile_id)]
    return CompanyFacts(
        profile=CompanyProfile.model_validate(kept.profile),
        claims=claims,
        conflicts=find_conflicts(claims),
        warnings=kept.warnings,
    )


def _nothing(
    domain: str, sources: Sequence[FactSource], failures: Sequence[DiligenceError], warnings: Sequence[str]
) -> DiligenceError:
    """The error that says why there is not one claim."""
    told = " ".join(warnings)
    if not failures:
        names = ", ".join(source.name for source in sources)
        return NotFound(f"Company not found: no configured source ({names}) knows {domain}. {told}".rstrip())
    if all(isinstance(failure, NotConfigured) for failure in failures) and len(failures) == len(sources):
        return NotConfigured(told)
    return SourceFailed(f"No facts about {domain} could be fetched. {told}")


def _keep(domain: str, facts: CompanyFacts) -> int:
    """The id under which these facts are stored."""
    with reading() as session:
        latest = latest_profile(session, domain)
        if latest is not None and latest.id is not None and latest.warnings == facts.warnings:
            kept = profile_claims(session, latest.id)
            if [_said(claim) for claim in kept] == [_said(claim) for claim in facts.claims]:
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


def _said(claim: Claim | StoredClaim) -> tuple[Any, ...]:
    """The claim without the time it was retrieved."""
    return claim.field, claim.value, claim.source, claim.url, claim.as_of

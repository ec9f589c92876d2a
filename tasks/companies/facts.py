"""Get Company Facts: ask every source side by side, merge what they claim, and keep it.

A source that fails leaves a warning, not a hole in the others. That a company is unknown is said only
when every source was reached.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, Field
from sqlalchemy.exc import NoResultFound

from storage import database
from storage.companies import (
    StoredClaim,
    StoredProfile,
    get_profile,
    is_latest_profile,
    latest_profile,
    profile_claims,
    save_profile,
)
from storage.database import now, reading, writing
from tasks.companies.asking import Word, ask_all
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
    made = _made.find(domain, words)
    if made is not None:
        return made
    failures = [said for _, said in words if isinstance(said, DiligenceError)]
    found = [said for _, said in words if isinstance(said, Finding)]
    claims = [claim for finding in found for claim in finding.claims]
    warnings = [warning for finding in found for warning in finding.warnings]
    warnings += [failure.message for failure in failures]
    warnings = list(dict.fromkeys(warnings))  # several may need the same server
    if not claims:
        raise _nothing(domain, sources, failures, warnings)
    facts = CompanyFacts(profile=merge(claims), claims=claims, conflicts=find_conflicts(claims), warnings=warnings)
    kept = _keep(domain, facts), facts
    _made.put(domain, words, kept)
    return kept


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
            same = [_said(claim) for claim in kept] == [_said(claim) for claim in facts.claims]
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


def _said(claim: Claim | StoredClaim) -> tuple[Any, ...]:
    """The claim without the time it was retrieved."""
    return claim.field, claim.value, claim.source, claim.url, claim.as_of


def _undated(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile without its date, which is that of a claim's retrieval where no claim has one."""
    return {name: value for name, value in profile.items() if name != "last_updated"}


class _Made(NamedTuple):
    """The words that facts were made of, and the facts with the id of their profile."""

    words: Sequence[Word]
    kept: tuple[int, CompanyFacts]


class _MadeOfLate:
    """The facts that this process made of late. The same words make the same facts: they are not merged again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[tuple[str, str], _Made] = OrderedDict()
        self._lock = Lock()

    def find(self, domain: str, words: Sequence[Word]) -> tuple[int, CompanyFacts] | None:
        """The facts made of exactly these words in this order, unless other ones were kept since."""
        key = database.url(), domain
        with self._lock:
            made = self._made.get(key)
        if made is None or len(made.words) != len(words) or not all(map(_same, made.words, words)):
            return None
        with reading() as session:
            return made.kept if is_latest_profile(session, domain, made.kept[0]) else None

    def put(self, domain: str, words: Sequence[Word], kept: tuple[int, CompanyFacts]) -> None:
        """Remember what was made of these words."""
        key = database.url(), domain
        with self._lock:
            self._made[key] = _Made(words, kept)
            self._made.move_to_end(key)
            if len(self._made) > self._most:
                self._made.popitem(last=False)


_made: Final = _MadeOfLate(128)


def _same(one: Word, other: Word) -> bool:
    """Whether two words of the same source say the same; that it failed is no word."""
    said, again = one.said, other.said
    if one.source.name != other.source.name or isinstance(said, DiligenceError) or isinstance(again, DiligenceError):
        return False
    if said is again:
        return True
    if said is None or again is None or list(said.warnings) != list(again.warnings):
        return False
    return [_said(claim) for claim in said.claims] == [_said(claim) for claim in again.claims]

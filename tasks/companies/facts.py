"""Get Company Facts: ask every source side by side, merge what they claim, and keep it.

A source that fails leaves a warning, not a hole in the others. That a company is unknown is said only
when every source was reached.

What the sources say of a company: each asked beside the others and within its time, or taken at its last word.

A word is used again for DILIGENCE_FACTS_MAX_AGE hours. Where a source fails, an older word is better than
none: it is used, and a warning says of when it is. What lies on this machine is read anew each time.

The sources' last words: kept in the database, and those used of late at hand in this process.

Which words there are, and of when, is looked up in the database each time: another process may have heard a newer
one. What a word says is read and checked once; it is known by the moment at which it was said.
"""

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy.exc import NoResultFound

from storage import database
from storage.companies import (
    SourceAnswer,
    StoredClaim,
    StoredProfile,
    answers_on,
    get_answer,
    get_profile,
    is_latest_profile,
    latest_profile,
    profile_claims,
    save_answer,
    save_profile,
)
from storage.database import now, reading, writing
from tasks.companies.claims import Conflict, find_conflicts, merge
from tasks.companies.domain import registrable
from tasks.companies.profile import CompanyProfile
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import Claim, FactSource, Finding, configured
from tasks.errors import (
    DiligenceError,
    NotConfigured,
    NotFound,
    SourceFailed,
    TookTooLong,
)
from tasks.operation import operation
from tasks.remote.fan_out import FanOut

_MOST: Final = 640
"""Words at hand: five sources on 128 companies, some 150 KB a company."""
_UNKNOWN: Final = timedelta(hours=1)


class LastWord(NamedTuple):
    """What a source said last (None: it knew nothing), of when it is, and whether it may still be used as it is."""

    of: datetime
    said: Finding | None
    fresh: bool


def recall(sources: Sequence[FactSource], domain: str) -> dict[FactSource, LastWord]:
    """The last words of those sources that are asked over a network.

    A word is fresh for DILIGENCE_FACTS_MAX_AGE hours; that a source knows nothing for a quarter of them, and for an
    hour at most. A word that is the same as before is the same object.
    """
    origins = {(source.name, source.origin): source for source in sources if source.origin is not None}
    if not origins:
        return {}
    oldest = timedelta(hours=CompanySettings.current().facts_max_age)
    moment = now()
    with reading() as session:
        kept = answers_on(session, domain)
    found = {}
    for each in kept:
        source = origins.get((each.source, each.origin))
        if source is not None:
            age = min(oldest / 4, _UNKNOWN) if each.unknown else oldest
            with suppress(ValidationError, LookupError):  # of an earlier release, or replaced just now: asked anew
                said = (
                    None if each.unknown else _stored_answer(database.url(), each.source, each.origin, domain, each.of)
                )
                found[source] = LastWord(each.of, said, moment - each.of < age)
    return found


def remember(source: FactSource, domain: str, said: Finding | None) -> None:
    """Keep what a source of the network said; what lies on this machine needs no keeping."""
    if source.origin is None:
        return
    answer = SourceAnswer(
        source=source.name,
        origin=source.origin,
        domain=domain,
        retrieved_at=now(),
        claims=None if said is None else [claim.model_dump(mode="json") for claim in said.claims],
        warnings=[] if said is None else list(said.warnings),
    )
    with writing() as session:
        save_answer(session, answer)


@lru_cache(maxsize=_MOST)
def _stored_answer(_database: str, source: str, origin: str, domain: str, of: datetime) -> Finding:
    with reading() as session:
        kept = get_answer(session, source, origin, domain)
    if kept is None or kept.claims is None or kept.retrieved_at != of:
        raise LookupError(source)
    return Finding([Claim.model_validate(claim) for claim in kept.claims], kept.warnings)


log = logging.getLogger(__name__)


class Word(NamedTuple):
    """A source's word: a finding, None where it knows nothing, or why it could not be asked."""

    source: FactSource
    said: Finding | DiligenceError | None


def ask_all(sources: Sequence[FactSource], domain: str) -> list[Word]:
    """Every source's word on the company with that registrable domain, in their order.

    Takes as long as the slowest source, DILIGENCE_FACTS_TIMEOUT at most; one that fails leaves the others alone.
    """
    remembered = recall(sources, domain)
    to_ask = [source for source in sources if source not in remembered or not remembered[source].fresh]
    asked = dict(zip(to_ask, _ask(to_ask, domain), strict=True))
    return [Word(source, _best(source, asked, remembered)) for source in sources]


def _best(
    source: FactSource,
    asked: Mapping[FactSource, Finding | DiligenceError | None],
    remembered: Mapping[FactSource, LastWord],
) -> Finding | DiligenceError | None:
    """What the source said now, or else said last."""
    if source not in asked:
        return remembered[source].said
    said = asked[source]
    if not isinstance(said, DiligenceError) or source not in remembered:
        return said
    moment, older, _ = remembered[source]
    if older is None:
        return said
    warning = f"{said.message} What {source.name} said on {moment:%Y-%m-%d} is used."
    return Finding(older.claims, [*older.warnings, warning])


def _ask(sources: Sequence[FactSource], domain: str) -> list[Finding | DiligenceError | None]:
    """What those sources say now. What lies on this machine is read in this thread, while the others are asked."""
    remote = [source for source in sources if source.origin is not None]
    threads = FanOut(max(1, len(remote)), "facts")
    asked = {source: threads.submit(_ask_one, source, domain) for source in remote}
    said = {source: _ask_one(source, domain) for source in sources if source.origin is None}
    # Who is late ends by the limits of its own requests; its word is remembered for the next time.
    wait(asked.values(), timeout=CompanySettings.current().facts_timeout)
    said |= {source: _answer(source, each) for source, each in asked.items()}
    return [said[source] for source in sources]


def _answer(source: FactSource, asked: Future[Finding | DiligenceError | None]) -> Finding | DiligenceError | None:
    if asked.done():
        return asked.result()
    seconds = CompanySettings.current().facts_timeout
    return TookTooLong(f"The source {source.name} took longer than {seconds:g} s (DILIGENCE_FACTS_TIMEOUT).")


def _ask_one(source: FactSource, domain: str) -> Finding | DiligenceError | None:
    try:
        said = source.facts(domain)
    except DiligenceError as error:
        log.info("the source %s failed for %s: %s", source.name, domain, error)  # the answer tells it too
        return error
    except Exception as error:  # noqa: BLE001 - one source's mistake must not take the others with it
        # The message may hold what the source said; the kind of the mistake does not.
        log.error("the source %s failed for %s: %s", source.name, domain, type(error).__name__)  # noqa: TRY400
        return SourceFailed(f"The source {source.name} failed, and its answer could not be used.")
    remember(source, domain, said)
    return said


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
            same = [_content(claim) for claim in kept] == [_content(claim) for claim in facts.claims]
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
    return [_content(claim) for claim in said.claims] == [_content(claim) for claim in again.claims]

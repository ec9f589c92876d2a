"""The sources' last words: kept in the database, and those used of late at hand in this process.

Which words there are, and of when, is looked up in the database each time: another process may have heard a newer
one. What a word says is read and checked once; it is known by the moment at which it was said.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from pydantic import ValidationError

from storage import database
from storage.companies import SourceAnswer, answers_on, get_answer, save_answer
from storage.database import now, reading, writing
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import Claim, FactSource, Finding

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
                said = None if each.unknown else _said(database.url(), each.source, each.origin, domain, each.of)
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
def _said(_database: str, source: str, origin: str, domain: str, of: datetime) -> Finding:
    with reading() as session:
        kept = get_answer(session, source, origin, domain)
    if kept is None or kept.claims is None or kept.retrieved_at != of:
        raise LookupError(source)
    return Finding([Claim.model_validate(each) for each in kept.claims], kept.warnings)

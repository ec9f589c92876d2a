"""What the sources say of a company: each asked beside the others and within its time, or taken at its last word.

A word is used again for DILIGENCE_FACTS_MAX_AGE hours. Where a source fails, an older word is better than
none: it is used, and a warning says of when it is. What lies on this machine is read anew each time.
"""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import ValidationError

from storage.companies import SourceAnswer, find_answers, save_answer
from storage.database import now, reading, writing
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import Claim, FactSource, Finding
from tasks.errors import DiligenceError, SourceFailed, TookTooLong

log = logging.getLogger(__name__)


class Word(NamedTuple):
    """A source's word: a finding, None where it knows nothing, or why it could not be asked."""

    source: FactSource
    said: Finding | DiligenceError | None


def ask_all(sources: Sequence[FactSource], domain: str) -> list[Word]:
    """Every source's word on the company with that registrable domain, in their order.

    Takes as long as the slowest source, DILIGENCE_FACTS_TIMEOUT at most; one that fails leaves the others alone.
    """
    remembered = _remembered(sources, domain)
    fresh_since = now() - timedelta(hours=CompanySettings.current().facts_max_age)
    to_ask = [source for source in sources if source not in remembered or remembered[source].of <= fresh_since]
    asked = dict(zip(to_ask, _ask(to_ask, domain), strict=True))
    return [Word(source, _best(source, asked, remembered)) for source in sources]


class _Remembered(NamedTuple):
    """A source's last word, and of when it is."""

    of: datetime
    said: Finding | None


def _best(
    source: FactSource,
    asked: Mapping[FactSource, Finding | DiligenceError | None],
    remembered: Mapping[FactSource, _Remembered],
) -> Finding | DiligenceError | None:
    """What the source said now, or else said last."""
    if source not in asked:
        return remembered[source].said
    said = asked[source]
    if not isinstance(said, DiligenceError) or source not in remembered:
        return said
    moment, older = remembered[source]
    if older is None:
        return said
    warning = f"{said.message} What {source.name} said on {moment:%Y-%m-%d} is used."
    return Finding(older.claims, [*older.warnings, warning])


def _remembered(sources: Sequence[FactSource], domain: str) -> dict[FactSource, _Remembered]:
    """The last words of those sources that are asked over a network."""
    origins = {source: source.origin for source in sources if source.origin is not None}
    if not origins:
        return {}
    with reading() as session:
        kept = find_answers(session, domain)
    found = {}
    for source, origin in origins.items():
        answer = kept.get((source.name, origin))
        if answer is not None:
            with suppress(ValidationError):  # a claim of an earlier release: it is asked anew
                found[source] = _Remembered(answer.retrieved_at, _finding(answer))
    return found


def _ask(sources: Sequence[FactSource], domain: str) -> list[Finding | DiligenceError | None]:
    if not sources:
        return []
    pool = ThreadPoolExecutor(len(sources), thread_name_prefix="facts")
    asked = [pool.submit(copy_context().run, _ask_one, source, domain) for source in sources]
    wait(asked, timeout=CompanySettings.current().facts_timeout)
    # Who is late ends by the limits of its own requests; its word is remembered for the next time.
    pool.shutdown(wait=False)
    return [_answer(source, each) for source, each in zip(sources, asked, strict=True)]


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
    _remember(source, domain, said)
    return said


def _remember(source: FactSource, domain: str, said: Finding | None) -> None:
    """Keep what a source of the network said; what went wrong is not its word."""
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


def _finding(answer: SourceAnswer) -> Finding | None:
    if answer.claims is None:
        return None
    return Finding([Claim.model_validate(each) for each in answer.claims], answer.warnings)

"""What the sources say of a company: each asked beside the others and within its time, or taken at its last word.

A word is used again for DILIGENCE_FACTS_MAX_AGE hours. Where a source fails, an older word is better than
none: it is used, and a warning says of when it is. What lies on this machine is read anew each time.
"""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from typing import NamedTuple

from tasks.companies.aside import Aside
from tasks.companies.remembering import LastWord, recall, remember
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import FactSource, Finding
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
    side_by_side = Aside(max(1, len(remote)), "facts")
    asked = {source: side_by_side.begin(_ask_one, source, domain) for source in remote}
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

"""The company of a domain as Wikidata knows it: the ids under which other sources know it, found by its website.

It is asked for once, however many sources want to know at the same moment, and remembered for some minutes.
What Wikidata says of the company besides is the source `wikidata`'s business.
"""

import re
import time
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Final

from tasks.companies.domain import registrable
from tasks.companies.settings import CompanySettings
from tasks.companies.wikidata.claims import Company, company_of

_KEPT: Final = 300.0
"""Seconds that an answer is remembered, unless DILIGENCE_FACTS_MAX_AGE is less."""
_MOST: Final = 512
"""Answers that are remembered, some 20 KB each."""


@dataclass(frozen=True)
class Entity:
    """A company. `id` is Wikidata's (Q42), `wikipedia` its title in the English Wikipedia.

    `ciks` (ten digits) and `leis` are its numbers with the SEC and the GLEIF, the best first; `others` names further
    companies of that domain, as good as this one.
    """

    id: str
    name: str | None
    ciks: tuple[str, ...]
    leis: tuple[str, ...]
    wikipedia: str | None
    others: tuple[str, ...]


def entity_of(domain: str) -> Entity | None:
    """The company with that registrable domain; None: Wikidata was reached, and knows none.

    Raises:
        BadRequest: it is no registrable domain.
        DiligenceError: Wikidata cannot be asked, or answered wrongly.
    """
    company = known_company(domain)
    if company is None:
        return None
    ciks = [cik.zfill(10) for cik in company.item.texts("P5531") if re.fullmatch("[0-9]{1,10}", cik)]
    leis = [lei.upper() for lei in company.item.texts("P1278") if re.fullmatch("[0-9A-Za-z]{20}", lei)]
    return Entity(
        id=company.item.id,
        name=company.name,
        ciks=tuple(ciks),
        leis=tuple(leis),
        wikipedia=company.item.wikipedia,
        others=company.others,
    )


def known_company(domain: str) -> Company | None:
    """The company with its whole item, remembered as `entity_of` does it.

    Raises:
        DiligenceError: as `entity_of`.
    """
    domain = registrable(domain)
    settings = CompanySettings.current()
    fresh = min(_KEPT, settings.facts_max_age * 3600)
    return _answers.get((domain, settings.wikidata_url, settings.wikidata_sparql_url), fresh)


class _Answers:
    """What was found of late, and what is being looked for."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, str, str], tuple[Future[Company | None], float]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, str, str], fresh: float) -> Company | None:
        """The answer of a search that is under way or not older than so many seconds, or else of a new one.

        Raises:
            DiligenceError: the search failed; it is not remembered.
        """
        with self._lock:
            known, begun = self._found.get(key, (None, 0.0))
            mine: Future[Company | None] | None = None
            if known is None or (known.done() and time.monotonic() - begun >= fresh):
                known = mine = Future()
                self._found[key] = mine, time.monotonic()
                self._found.move_to_end(key)
                if len(self._found) > _MOST:
                    self._found.popitem(last=False)
        if mine is not None:
            self._search(key, mine)
        return known.result()

    def _search(self, key: tuple[str, str, str], search: Future[Company | None]) -> None:
        try:
            search.set_result(company_of(key[0]))
        except BaseException as error:  # noqa: BLE001 - those that wait must hear of it, whatever it is
            with self._lock:
                if self._found.get(key, (None, 0.0))[0] is search:
                    del self._found[key]
            search.set_exception(error)


_answers: Final = _Answers()

"""Facts from GLEIF, the register of legal entities: legal name, headquarters, status, parents.

An entity is found by the LEI that Wikidata has for its website. A name alone is never enough: if Wikidata has no LEI,
an entity with exactly that name is only taken if its country and another fact (town, postal code or founding year)
match what Wikidata gives for the website; other entities of that name are listed as possible matches in the warnings.

Documented: records by LEI and `filter[entity.legalName]`, paging, JSON:API and a limit of 60 requests a minute per user
("GLEIF API", https://www.gleif.org/en/lei-data/gleif-api and https://documenter.getpostman.com/view/7679680/SVYrrxuU).
GLEIF's data is in the public domain (CC0).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from tasks.cancellation import FanOut
from tasks.companies.claims import ClaimCollector, SourceClaims, a_day, dig, one_text
from tasks.companies.profile import CompanySettings, registrable
from tasks.companies.sources import FactSource
from tasks.companies.web.client import FetchOptions, Web
from tasks.companies.wikidata.client import terms
from tasks.companies.wikidata.entity import Entity, find_entity, list_references, read_values
from tasks.errors import DiligenceError, SourceFailed
from tasks.language.normalise import join_first, same_name
from tasks.remote.rate_limit import Budget, RateLimit, SourceLimiter

GLEIF: Final[FetchOptions] = {
    "headers": {"Accept": "application/vnd.api+json"},
    "trusted": True,
    "limiter": SourceLimiter(Budget("gleif", 1.25, 10), RateLimit(at_once=5), unnamed_hold=15),
    "expect": (404,),
    "name": "GLEIF",
}
"""How GLEIF is asked: at most 58 requests in any minute, for all processes together; GLEIF takes 60."""
_LEI: Final = re.compile(r"[A-Z0-9]{18}[0-9]{2}")
_MAX_RECORDS: Final = 5
"""Records read for one domain; nearly all companies have one."""
_PAGE_SIZE: Final = 50
"""Records of similar names among which the exact one is looked for."""
_PARENTS: Final = ("direct-parent", "ultimate-parent")


def open_source() -> "GleifSource":
    """The source as configured by `DILIGENCE_GLEIF_URL`."""
    return GleifSource(CompanySettings.current().gleif_url)


class GleifSource(FactSource):
    """Facts from the LEI records at `address`."""

    name = "gleif"

    def __init__(self, address: str) -> None:
        self._address = address
        self._records = f"{address}/api/v1/lei-records"

    @property
    def origin(self) -> str:
        return self._address

    def facts(self, domain: str) -> SourceClaims | None:
        """The claims about the legal entity with that website, as of its record's last update; None if there is none.

        Raises:
            BadRequest: `domain` is no registrable domain.
            DiligenceError: Wikidata, which has the LEI, or GLEIF could not be asked.
        """
        entity = find_entity(registrable(domain))
        if entity is None:
            return None
        leis = [lei for lei in dict.fromkeys(entity.leis) if _LEI.fullmatch(lei)]
        record, warnings = self._by_lei(leis[:_MAX_RECORDS]) if leis else self._by_name(entity)
        if record is None:
            return SourceClaims([], warnings) if warnings else None
        claims = _claims(record, f"{self._records}/{record['id']}")
        parents, failures = self._parents(record)
        if parents:
            claims.add("affiliated_companies", parents)
        return claims.result(*warnings, *failures)

    def _by_lei(self, leis: Sequence[str]) -> tuple[dict[str, Any] | None, list[str]]:
        """The record to use among those of one company, and a warning that names the others."""
        records = [record for lei in leis for record in self._ask(f"/{lei}")]
        if not records:
            return None, []
        # An active entity before one that was dissolved or merged, then the one that was updated last.
        best = max(records, key=lambda record: (_entity(record, "status") == "ACTIVE", _read_update(record) or ""))
        others = ", ".join(_read_name(record) for record in records if record is not best)
        several = f"GLEIF has several entities of this website: {_read_name(best)} was taken; others: {others}."
        return best, [several] if others else []

    def _by_name(self, entity: Entity) -> tuple[dict[str, Any] | None, list[str]]:
        """The only record with that name whose country and another fact agree; the others as possible matches."""
        if not entity.name:
            return None, []
        records = self._ask("", {"filter[entity.legalName]": entity.name, "page[size]": str(_PAGE_SIZE)})
        matches = [record for record in records if same_name(entity.name, _legal_name(record) or "")]
        if not matches:
            return None, []
        known = _read_known(entity)
        agreed = [(record, fact) for record in matches if (fact := _find_agreed_fact(record, known)) is not None]
        if len(agreed) == 1 and len(records) < _PAGE_SIZE:
            record, fact = agreed[0]
            warning = (
                f"No LEI is known for this website: GLEIF's {_read_name(record)} was taken by name, country and {fact}."
            )
            return record, [warning]
        listed = join_first(list(map(_describe, matches)), _MAX_RECORDS, "; ")
        matched = "Possible match" if len(matches) == 1 else "Possible matches"
        warning = (
            f"{matched} by name alone, not used: GLEIF's {listed}. Wikidata has no LEI for this website; where "
            "one of them is the company, add its LEI (P1278) there, or its facts to a facts file."
        )
        return None, [warning]

    def _parents(self, record: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
        """The companies whose accounts include this one, and a warning if they could not be requested."""
        # A parent without a record has a reason for having none (a reporting exception).
        links = ("lei-record", "related")
        kinds = [kind for kind in _PARENTS if any(dig(record, "relationships", kind, "links", link) for link in links)]
        threads = FanOut(len(kinds), "gleif")
        futures = [threads.submit(self._ask, f"/{record['id']}/{kind}") for kind in kinds]
        parents: dict[str, dict[str, Any]] = {}
        failures: list[str] = []
        for future in futures:
            try:
                records = future.result()
            except DiligenceError as error:
                failures.append(f"The parent companies are left out. {error.message}")
            else:
                parents |= {
                    parent["id"]: {
                        "name": _legal_name(parent),
                        "link": f"https://search.gleif.org/#/record/{parent['id']}",
                    }
                    for parent in records
                    if parent["id"] != record["id"]
                }
        return list(parents.values()), failures[:1]

    def _ask(self, path: str, params: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """The records at a path; an empty list if there are none."""
        answer = Web.current().get(self._records + path, params, **GLEIF)
        if answer.status == 404:
            return []
        content = answer.json()
        if not isinstance(content, dict) or "data" not in content or "errors" in content:
            raise SourceFailed("GLEIF did not return the records requested.")
        records = content["data"] if isinstance(content["data"], list) else [content["data"]]
        return [record for record in records if isinstance(record, dict) and _LEI.fullmatch(str(record.get("id")))]


def _read_known(entity: Entity) -> dict[str, str]:
    """What Wikidata has for the website that records have too: country, town, postal code, founding year."""
    item = entity.item
    values = {claim.field: claim.value for claim in read_values(entity, terms(list_references(item)))[0]}
    hq, year = values.get("hq") or {}, values.get("founded_year")
    known = {"country": hq.get("country"), "town": hq.get("city"), "postal code": hq.get("postal_code")}
    return {fact: _fold(value) for fact, value in {**known, "founding year": year}.items() if value is not None}


def _find_agreed_fact(record: Mapping[str, Any], known: Mapping[str, str]) -> str | None:
    """The fact, besides the country, on which both agree; None if the country differs or nothing else agrees."""
    place, created = _headquarters(record), _read_founding(record)
    own = {
        "country": place["country"],
        "town": place["city"],
        "postal code": place["postal_code"],
        "founding year": created["year"] if created else None,
    }
    agreed = [fact for fact, value in own.items() if value is not None and known.get(fact) == _fold(value)]
    return next((fact for fact in agreed if fact != "country"), None) if "country" in agreed else None


def _fold(value: object) -> str:
    return "".join(re.findall(r"\w", unicodedata.normalize("NFKC", str(value)).casefold()))


def _describe(record: Mapping[str, Any]) -> str:
    """Describe the record, as in `Alpha GmbH (LEI …) in München, DE`."""
    place = _headquarters(record)
    where = ", ".join(filter(None, (place["city"], place["country"])))
    return f"{_read_name(record)} in {where}" if where else _read_name(record)


def _claims(record: Mapping[str, Any], url: str) -> ClaimCollector:
    claims = ClaimCollector("gleif", url, _read_update(record))
    status = one_text(_entity(record, "status"))
    form, other = (one_text(_entity(record, "legalForm", key)) for key in ("name", "other"))
    claims.add("name", _legal_name(record))
    claims.add("hq", _headquarters(record))
    claims.add("extra.founding_date", _read_founding(record))
    claims.add("extra.operating_status", status.capitalize() if status in {"ACTIVE", "INACTIVE"} else None)
    claims.add("extra.company_type", form or other)
    return claims


def _headquarters(record: Mapping[str, Any]) -> dict[str, Any]:
    address = _entity(record, "headquartersAddress")
    country, city, code, region = (one_text(dig(address, key)) for key in ("country", "city", "postalCode", "region"))
    country = (country or "").upper()
    lines = dig(address, "addressLines")
    texts = [text for line in lines if (text := one_text(line))] if isinstance(lines, list) else []
    place = {
        "country": country if re.fullmatch("[A-Z]{2}", country) else None,
        "city": city,
        "postal_code": code,
        "line_1": ", ".join(texts) or None,
        "state": (region or "").removeprefix(f"{country}-") or None,  # ISO 3166-2: US-CA
    }
    return {**place, "is_hq": True if any(place.values()) else None}


def _read_founding(record: Mapping[str, Any]) -> dict[str, int] | None:
    """The day of a creation. Times are local midnight in UTC, such as 23:00 of the day before for Berlin."""
    moment = a_day(_entity(record, "creationDate"))
    try:
        day = datetime.fromisoformat(moment) + timedelta(hours=11) if moment else None
    except OverflowError:
        return None
    return {"day": day.day, "month": day.month, "year": day.year} if day else None


def _read_name(record: Mapping[str, Any]) -> str:
    return f"{_legal_name(record) or 'an entity'} (LEI {record['id']})"


def _legal_name(record: Mapping[str, Any]) -> str | None:
    return one_text(_entity(record, "legalName", "name"))


def _read_update(record: Mapping[str, Any]) -> str | None:
    return a_day(dig(record, "attributes", "registration", "lastUpdateDate"))


def _entity(record: Mapping[str, Any], *keys: str) -> Any:
    return dig(record, "attributes", "entity", *keys)

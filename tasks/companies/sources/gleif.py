"""Facts from GLEIF, which keeps the register of legal entities: legal name, headquarters, status, parents.

An entity is found by the LEI that Wikidata has for its website. Where Wikidata has none, it is found by the company's
exact name, if only one entity has that name; a warning then says so. GLEIF's data is in the public domain (CC0).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from tasks.companies.claims import ClaimCollector, SourceClaims, a_day, one_text
from tasks.companies.domain import registrable
from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import Web
from tasks.companies.wikidata.entity import Entity, entity_of
from tasks.errors import DiligenceError, SourceFailed
from tasks.remote.fan_out import FanOut
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tasks.text.normalise import same_name

_LIMITER: Final = RateLimiter(RateLimit(at_once=5))
"""GLEIF publishes no limit that it keeps to; where it answers 429, its Retry-After is honoured."""
_LEI: Final = re.compile(r"[A-Z0-9]{18}[0-9]{2}")
_MAX_RECORDS: Final = 5
"""Records read for one domain; nearly all companies have one."""
_PAGE_SIZE: Final = 50
"""Records of similar names among which the exact one is looked for."""
_PARENTS: Final = ("direct-parent", "ultimate-parent")


def open_source() -> "GleifSource":
    """The source as `DILIGENCE_GLEIF_URL` has it."""
    return GleifSource(CompanySettings.current().gleif_url)


class GleifSource:
    """Facts from the LEI records at `address`."""

    name = "gleif"

    def __init__(self, address: str) -> None:
        self._address = address
        self._records = f"{address}/api/v1/lei-records"

    @property
    def origin(self) -> str:
        return self._address

    def facts(self, domain: str) -> SourceClaims | None:
        """The claims of the legal entity with that website, as of its record's last update; None where there is none.

        Raises:
            BadRequest: `domain` is no registrable domain.
            DiligenceError: Wikidata, which has the LEI, or GLEIF could not be asked.
        """
        entity = entity_of(registrable(domain))
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

    def domains(self, name: str) -> Sequence[str]:  # noqa: ARG002 - the interface has it
        """None: a legal entity's record has no website."""
        return []

    def _by_lei(self, leis: Sequence[str]) -> tuple[dict[str, Any] | None, list[str]]:
        """The record to take of those of one company, and a warning that names the others."""
        records = [record for lei in leis for record in self._ask(f"/{lei}")]
        if not records:
            return None, []
        # An active entity before one that was dissolved or merged, then the one that was updated last.
        best = max(records, key=lambda record: (_entity(record).get("status") == "ACTIVE", _updated(record) or ""))
        others = [_named(record) for record in records if record is not best]
        if not others:
            return best, []
        listed = ", ".join(others)
        return best, [f"GLEIF has several entities of this website: {_named(best)} was taken; others: {listed}."]

    def _by_name(self, entity: Entity) -> tuple[dict[str, Any] | None, list[str]]:
        """The one record of exactly that name; none where several entities have it."""
        if not entity.name:
            return None, []
        records = self._ask("", {"filter[entity.legalName]": entity.name, "page[size]": str(_PAGE_SIZE)})
        matches = [record for record in records if same_name(entity.name, _legal_name(record) or "")]
        if len(matches) == 1 and len(records) < _PAGE_SIZE:
            record = matches[0]
            return record, [
                f"No LEI is known for this website: GLEIF's {_named(record)} was taken, the only one of that name."
            ]
        if matches:
            return None, [f"GLEIF has several entities of the name {entity.name}, and none was taken."]
        return None, []

    def _parents(self, record: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
        """The companies whose accounts include this one, and a warning where they could not be asked for."""
        relationships = record.get("relationships")
        relationships = relationships if isinstance(relationships, dict) else {}
        kinds = [kind for kind in _PARENTS if _has_record(relationships.get(kind))]
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
                parents |= {parent["id"]: _related(parent) for parent in records if parent["id"] != record["id"]}
        return list(parents.values()), failures[:1]

    def _ask(self, path: str, params: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """The records at a path; none where there are none."""
        headers = {"Accept": "application/vnd.api+json"}
        answer = Web.current().get(
            self._records + path, params, headers=headers, trusted=True, limiter=_LIMITER, expect=(404,), name="GLEIF"
        )
        if answer.status == 404:
            return []
        content = answer.json()
        if not isinstance(content, dict) or "data" not in content or "errors" in content:
            raise SourceFailed("GLEIF sent something else than the records that it was asked for.")
        records = content["data"] if isinstance(content["data"], list) else [content["data"]]
        return [record for record in records if isinstance(record, dict) and _LEI.fullmatch(str(record.get("id")))]


def _claims(record: Mapping[str, Any], url: str) -> ClaimCollector:
    entity = _entity(record)
    claims = ClaimCollector("gleif", url, _updated(record))
    form = _object(entity, "legalForm")
    status = one_text(entity.get("status"))
    claims.add("name", _legal_name(record))
    claims.add("hq", _headquarters(_object(entity, "headquartersAddress")))
    claims.add("extra.founding_date", _date(a_day(entity.get("creationDate"))))
    claims.add("extra.operating_status", status.capitalize() if status in {"ACTIVE", "INACTIVE"} else None)
    claims.add("extra.company_type", one_text(form.get("name")) or one_text(form.get("other")))
    return claims


def _headquarters(address: Mapping[str, Any]) -> dict[str, Any]:
    country = (one_text(address.get("country")) or "").upper()
    region = one_text(address.get("region")) or ""
    lines = address.get("addressLines")
    texts = [text for line in lines if (text := one_text(line))] if isinstance(lines, list) else []
    place = {
        "country": country if re.fullmatch("[A-Z]{2}", country) else None,
        "city": one_text(address.get("city")),
        "postal_code": one_text(address.get("postalCode")),
        "line_1": ", ".join(texts) or None,
        "state": region.removeprefix(f"{country}-") or None,  # ISO 3166-2: US-CA
    }
    return {**place, "is_hq": True if any(place.values()) else None}


def _date(moment: str | None) -> dict[str, int] | None:
    """The day of a creation. A time is local midnight in UTC: 23:00 of the day before in Berlin."""
    if moment is None:
        return None
    try:
        day = datetime.fromisoformat(moment) + timedelta(hours=11)
    except OverflowError:
        return None
    return {"day": day.day, "month": day.month, "year": day.year}


def _related(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": _legal_name(record), "link": f"https://search.gleif.org/#/record/{record['id']}"}


def _has_record(relationship: Any) -> bool:
    """Whether a parent has a record, and there is not a reason for having none (a reporting exception)."""
    links = relationship.get("links") if isinstance(relationship, dict) else None
    return isinstance(links, dict) and bool({"lei-record", "related"} & links.keys())


def _named(record: Mapping[str, Any]) -> str:
    return f"{_legal_name(record) or 'an entity'} (LEI {record['id']})"


def _legal_name(record: Mapping[str, Any]) -> str | None:
    return one_text(_object(_entity(record), "legalName").get("name"))


def _updated(record: Mapping[str, Any]) -> str | None:
    return a_day(_object(_object(record, "attributes"), "registration").get("lastUpdateDate"))


def _entity(record: Mapping[str, Any]) -> dict[str, Any]:
    return _object(_object(record, "attributes"), "entity")


def _object(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = values.get(key)
    return value if isinstance(value, dict) else {}

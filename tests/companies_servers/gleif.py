"""GLEIF's API: LEI records by LEI and by name, and their parents, as JSON:API.

with LoopbackServer(gleif(record("HWUPKR0MPOU8FGXBT394", "Apple Inc."))) as server: ...
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.web.behaviours import json_reply
from tests.web.server import Asked, Reply

_PUBLIC: Final = "https://api.gleif.org/api/v1/lei-records"
MUNICH: Final[Mapping[str, Any]] = {
    "language": "de",
    "addressLines": ["Königinstr. 28"],
    "addressNumber": None,
    "addressNumberWithinBuilding": None,
    "mailRouting": None,
    "city": "München",
    "region": "DE-BY",
    "country": "DE",
    "postalCode": "80802",
}


def record(
    lei: str,
    name: str,
    *,
    parents: Sequence[str] = (),
    headquarters: Mapping[str, Any] = MUNICH,
    updated: str = "2026-04-02T06:30:11Z",
    **entity: Any,
) -> dict[str, Any]:
    """A record. `parents` are those kinds of parents that it has; of the others it says why it has none."""
    own = f"{_PUBLIC}/{lei}"
    relationships: dict[str, Any] = {
        kind: {
            "links": {"relationship-record": f"{own}/{kind}-relationship", "lei-record": f"{own}/{kind}"}
            if kind in parents
            else {"reporting-exception": f"{own}/{kind}-reporting-exception"}
        }
        for kind in ("direct-parent", "ultimate-parent")
    }
    return {
        "type": "lei-records",
        "id": lei,
        "attributes": {
            "lei": lei,
            "entity": {
                "legalName": {"name": name, "language": "de"},
                "otherNames": [],
                "legalAddress": dict(MUNICH),
                "headquartersAddress": dict(headquarters),
                "registeredAt": {"id": "RA000304", "other": None},
                "registeredAs": "HRB 164232",
                "jurisdiction": "DE",
                "category": "GENERAL",
                "legalForm": {"id": "6QQB", "other": None},
                "status": "ACTIVE",
                "expiration": {"date": None, "reason": None},
                "creationDate": "1890-02-05T00:00:00Z",
                **entity,
            },
            "registration": {
                "initialRegistrationDate": "2012-11-15T00:00:00Z",
                "lastUpdateDate": updated,
                "status": "ISSUED",
                "nextRenewalDate": "2027-04-05T00:00:00Z",
                "corroborationLevel": "FULLY_CORROBORATED",
            },
            "bic": None,
        },
        "relationships": {"managing-lou": {"links": {"related": f"{own}/managing-lou"}}, **relationships},
        "links": {"self": own},
    }


def gleif(*records: Mapping[str, Any], parents: Mapping[str, str] | None = None) -> Callable[[Asked], Reply]:
    """A server that knows these records; `parents` maps `<LEI>/direct-parent` to the parent's LEI."""
    known = {item["id"]: item for item in records}
    above = parents or {}

    def answer(asked: Asked) -> Reply:
        path = asked.path.removeprefix("/api/v1/lei-records").strip("/")
        if path == "":
            # As GLEIF does it: a name is found where its words stand, however many more there are.
            words = asked.query["filter[entity.legalName]"].casefold().split()
            matches = [item for item in records if set(words) <= set(_name(item).casefold().split())]
            matches = matches[: int(asked.query["page[size]"])]
            return _document({"meta": {"pagination": {"total": len(matches)}}, "data": matches})
        known_record = known.get(above.get(path, path))
        if known_record is None:
            error = {"status": "404", "title": "Not Found", "detail": "The requested resource does not exist."}
            return _document({"errors": [error]}, 404)
        return _document({"meta": {"goldenCopy": {"publishDate": "2026-11-21T00:00:00Z"}}, "data": known_record})

    return answer


def _name(record: Mapping[str, Any]) -> str:
    return str(record["attributes"]["entity"]["legalName"]["name"])


def _document(value: Any, status: int = 200) -> Reply:
    reply = json_reply(value, status)
    return Reply(reply.body, status, {"Content-Type": "application/vnd.api+json"})

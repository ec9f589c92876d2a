"""Wikidata's query service, Special:EntityData and Wikipedia's summaries, in one server.

with LoopbackServer(wikidata(item("Q1", "Alpha", P856=["https://alpha.example/"]))) as server:
    settings = addresses(server)

A statement may be given as its value alone; `statement` adds a rank, qualifiers and the day that its reference
was read. `item_value`, `moment`, `quantity` and `in_language` make values that are no plain text.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote

import pytest

from tasks.companies.wikidata import client as asking
from tasks.companies.wikidata.entity import ENTITIES
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.web.behaviours import json_reply
from tests.web.server import Asked, LoopbackServer, Reply

Json = dict[str, Any]
_Of = TypeVar("_Of")
_ENTITY: Final = "http://www.wikidata.org/entity/"


def addresses(server: LoopbackServer) -> dict[str, str]:
    """The settings that lead to the server, with the contact without which it is not asked."""
    return {
        "DILIGENCE_WIKIDATA_URL": server.url,
        "DILIGENCE_WIKIDATA_SPARQL_URL": f"{server.url}/sparql",
        "DILIGENCE_WIKIPEDIA_URL": server.url,
        "DILIGENCE_CONTACT": "mailto:tests@example.org",
    }


def lead_to(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the server asked from now on."""
    for name, address in addresses(server).items():
        monkeypatch.setenv(name, address)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what earlier tests got from a server: ports are used again, and a limiter may be on hold."""
    ENTITIES.clear()
    monkeypatch.setitem(asking.WIKIDATA, "limiter", RateLimiter(RateLimit(at_once=5)))


def item_value(name: str) -> Json:
    """Another item."""
    return {"entity-type": "item", "numeric-id": int(name[1:]), "id": name}


def moment(day: str) -> Json:
    """A date; its precision is as much as is given: `2024`, `2024-03`, `2024-03-31`."""
    precision = {4: 9, 7: 10, 10: 11}[len(day)]
    padded = (day + "-00-00")[:10]
    return {
        "time": f"+{padded}T00:00:00Z",
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": precision,
        "calendarmodel": _ENTITY + "Q1985727",
    }


def quantity(amount: int) -> Json:
    """A number without a unit."""
    return {"amount": f"{amount:+}", "unit": "1"}


def money(amount: float, currency: str) -> Json:
    """An amount in a currency, which is an item: `Q4916` is the euro.

    As https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html has it (`quantity`): the unit is an address.
    """
    return {"amount": f"{amount:+}", "unit": _ENTITY + currency}


def in_language(text: str, language: str = "en") -> Json:
    """A text in a language."""
    return {"text": text, "language": language}


def statement(value: Any, rank: str = "normal", *, read: str | None = None, **qualifiers: Any) -> Json:
    """A statement; `value` None is `unknown value`. A qualifier is given as its value, or a list of them."""
    snaks = {"P813": [_snak("P813", moment(read))]} if read else {}
    return {
        "mainsnak": _snak("P0", value),
        "type": "statement",
        "id": "Q0$0",
        "rank": rank,
        **({"references": [{"hash": "a1", "snaks": snaks, "snaks-order": list(snaks)}]} if read else {}),
        **({"qualifiers": {name: _snaks(name, values) for name, values in qualifiers.items()}} if qualifiers else {}),
    }


def item(
    name: str,
    label: str | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    aliases: tuple[str, ...] = (),
    description: str | None = None,
    wikipedia: str | None = None,
    **claims: list[Any],
) -> Json:
    """An item of EntityData; its claims by property, each a list of statements or values."""
    labels = {**(labels or {}), **({"en": label} if label else {})}
    return {
        "pageid": 1,
        "ns": 0,
        "title": name,
        "lastrevid": 1,
        "modified": "2026-01-01T00:00:00Z",
        "type": "item",
        "id": name,
        "labels": {language: {"language": language, "value": text} for language, text in labels.items()},
        "descriptions": {"en": {"language": "en", "value": description}} if description else {},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else {},
        "claims": {
            property_: [value if _is_statement(value) else statement(value) for value in values]
            for property_, values in claims.items()
        },
        "sitelinks": {"enwiki": {"site": "enwiki", "title": wikipedia, "badges": []}} if wikipedia else {},
    }


def article(title: str, extract: str, about: str, **more: Any) -> Json:
    """Wikipedia's summary of an article, which is about that item."""
    return {
        "type": "standard",
        "title": title,
        "wikibase_item": about,
        "lang": "en",
        "timestamp": "2026-02-03T04:05:06Z",
        "extract": extract,
        "extract_html": f"<p>{extract}</p>",
        **more,
    }


def wikidata(
    *items: Json, articles: tuple[Json, ...] = (), merged: Mapping[str, str] | None = None
) -> Callable[[Asked], Reply]:
    """A server that knows these items and articles; `merged` maps ids of items to those they were merged into."""
    by_id = {entity["id"]: entity for entity in items}
    by_id |= {old: by_id[new] for old, new in (merged or {}).items()}
    by_site = _index((site, id_) for id_, entity in by_id.items() for site in _values(entity, "P856"))
    by_host = _index((_host(link), (id_, link)) for id_, entity in by_id.items() for link in _links(entity))
    by_title = {page["title"].replace(" ", "_"): page for page in articles}

    def answer(asked: Asked) -> Reply:
        path = unquote(asked.path)
        if path == "/sparql":
            query = asked.query if asked.method == "GET" else dict(parse_qsl(asked.body.decode()))
            return _select(query["query"], by_id, by_site)
        if match := re.fullmatch(r"/wiki/Special:EntityData/(Q\d+)\.json", path):
            known = by_id.get(match[1])
            return json_reply({"entities": {known["id"]: known}}) if known else Reply(b"<h1>Not Found</h1>", 404)
        if path == "/w/api.php":
            found = by_host.get(asked.query["euquery"], [])
            rows = [{"ns": 0, "title": id_, "url": link} for id_, link in found]
            return json_reply({"batchcomplete": True, "query": {"exturlusage": rows}})
        title = path.removeprefix("/api/rest_v1/page/summary/")
        return json_reply(by_title[title]) if title in by_title else json_reply({"type": "Internal error"}, 404)

    return answer


def _select(query: str, items: Mapping[str, Json], by_site: Mapping[str, list[str]]) -> Reply:
    """What the query service answers to the three queries that it is asked."""
    match = re.search(r"VALUES \?(site|name|item) \{(.*?)\} ", query)
    if not match or not re.search(r"LIMIT \d+$", query):
        return Reply(b"MalformedQueryException", 400)
    rows = _by_site(match[2], by_site) if match[1] == "site" else _ROWS[match[1]](match[2], items)
    variables = re.findall(r"\?(\w+)", query.partition("WHERE")[0])
    return Reply(
        json.dumps({"head": {"vars": variables}, "results": {"bindings": list(rows)}}).encode(),
        headers={"Content-Type": "application/sparql-results+json;charset=utf-8"},
    )


def _index(pairs: Iterable[tuple[str, _Of]]) -> dict[str, list[_Of]]:
    """What belongs to each key, in order: a stand-in with ten thousand items is asked ten thousand times."""
    index: dict[str, list[_Of]] = {}
    for key, value in pairs:
        index.setdefault(key, []).append(value)
    return index


def _links(entity: Json) -> Iterator[str]:
    """The addresses on the item's page, of whatever rank and property, as the API lists them."""
    for claims in entity["claims"].values():
        yield from (text for text in _strings(claims) if re.match("https?://", text))


def _host(link: str) -> str:
    """In lower case, as MediaWiki keeps it, whatever the page says."""
    return re.split("[/?#]", link.partition("://")[2], maxsplit=1)[0].lower()


def _strings(claims: list[Json]) -> list[str]:
    values = (claim["mainsnak"].get("datavalue", {}).get("value") for claim in claims)
    return [value for value in values if isinstance(value, str)]


def _by_site(values: str, by_site: Mapping[str, list[str]]) -> Iterator[Json]:
    for site in dict.fromkeys(re.findall("<(.*?)>", values)):
        for name in by_site.get(site, []):
            yield {"item": _uri(_ENTITY + name), "site": _uri(site)}


def _by_name(values: str, items: Mapping[str, Json]) -> Iterator[Json]:
    asked_for = {(json.loads(text), language) for text, language in re.findall(r'("(?:[^"\\]|\\.)*")@([\w-]+)', values)}
    for name, entity in items.items():
        called = [(label["value"], language) for language, label in entity["labels"].items()]
        called += [(alias["value"], alias["language"]) for alias in entity["aliases"].get("en", [])]
        official = [(value["text"], value["language"]) for value in _values(entity, "P1448")]
        for text, language in asked_for.intersection(called + official):
            for site in _values(entity, "P856"):
                row = {"item": _uri(_ENTITY + name), "site": _uri(site), "name": _literal(text, language)}
                yield row | ({"official": _literal(*official[0])} if official else {})


def _by_item(values: str, items: Mapping[str, Json]) -> Iterator[Json]:
    for name in re.findall(r"wd:(Q\d+)", values):
        entity = items.get(name, {"labels": {}, "claims": {}})
        countries = [items.get(value["id"], {"claims": {}}) for value in _values(entity, "P17")]
        for language in {"en", "mul"} & entity["labels"].keys() or {None}:
            row = {"item": _uri(_ENTITY + name)}
            if language:
                row["label"] = _literal(entity["labels"][language]["value"], language)
            codes_of = {"code": _values(entity, "P297"), "country": _codes(countries)}
            row |= {key: {"type": "literal", "value": codes[0]} for key, codes in codes_of.items() if codes}
            yield row


_ROWS: Final = {"name": _by_name, "item": _by_item}


def _codes(countries: list[Json]) -> list[str]:
    return [code for country in countries for code in _values(country, "P297")]


def _values(entity: Json, name: str) -> list[Any]:
    return [
        claim["mainsnak"]["datavalue"]["value"]
        for claim in entity["claims"].get(name, [])
        if "datavalue" in claim["mainsnak"]
    ]


def _uri(value: str) -> Json:
    return {"type": "uri", "value": value}


def _literal(value: str, language: str) -> Json:
    return {"xml:lang": language, "type": "literal", "value": value}


def _is_statement(value: Any) -> bool:
    return isinstance(value, dict) and "mainsnak" in value


def _snaks(name: str, values: Any) -> list[Json]:
    return [_snak(name, value) for value in (values if isinstance(values, list) else [values])]


def _snak(name: str, value: Any) -> Json:
    if value is None:
        return {"snaktype": "somevalue", "property": name, "hash": "b2"}
    kind = _kind(value) if isinstance(value, dict) else "string"
    return {"snaktype": "value", "property": name, "hash": "c3", "datavalue": {"value": value, "type": kind}}


def _kind(value: Mapping[str, Any]) -> str:
    kinds = {"id": "wikibase-entityid", "time": "time", "amount": "quantity", "text": "monolingualtext"}
    return next((kind for key, kind in kinds.items() if key in value), "string")

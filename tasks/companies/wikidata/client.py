"""Requests to Wikidata and Wikipedia.

The query service finds items, Special:EntityData gives what they say, and the English Wikipedia gives the first
paragraph of an article (CC BY-SA; the article's address is the attribution).

Queries are bounded: they look up exact values and end with `LIMIT`. What Wikimedia documents and this module keeps:

- A User-Agent with a contact (https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy,
  https://www.mediawiki.org/wiki/Wikimedia_APIs/Access_policy). Without DILIGENCE_CONTACT nothing of it is asked.
- The query service: five queries at a time, 60 s of query time and 30 errors a minute; after a 429 its `Retry-After`,
  or a minute, without any request (https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual#Query_limits).
- Reading as far as needed (https://www.mediawiki.org/wiki/API:Etiquette); the REST API at most 200 requests a second
  (https://en.wikipedia.org/api/rest_v1/). All processes together stay at 4 and 10 a second.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from tasks.companies.budget import Budget, SourceLimiter
from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import FetchLimits, FetchOptions, Web
from tasks.companies.wikidata.item import Item, read_item
from tasks.errors import NotConfigured, SourceFailed
from tasks.language.normalise import plain, plain_line
from tasks.remote.fan_out import FanOut
from tasks.remote.rate_limit import RateLimit

WIKIDATA: Final[FetchOptions] = {
    "trusted": True,
    "limiter": SourceLimiter(Budget("wikidata", 0.25, 5), RateLimit(at_once=5), unnamed_hold=60),
    "limits": FetchLimits(total=30, patience=180),
    "name": "Wikidata",
}
_WIKIPEDIA: Final[FetchOptions] = {
    "trusted": True,
    "limiter": SourceLimiter(Budget("wikipedia", 0.1, 5), RateLimit(at_once=5), unnamed_hold=60),
    "limits": FetchLimits(total=20, patience=120, packed=1 << 20, unpacked=4 << 20),
    "expect": (404, 410),
    "name": "Wikipedia",
}
_MAX_SUMMARY: Final = 4000
"""Characters; a first paragraph has some 500."""
_MAX_ROWS: Final = 200
"""Of an answer; a domain has one or two items, rarely a dozen."""
_MAX_URL: Final = 3900
"""Characters; a longer query is sent as a form, which the query service accepts too."""


class Site(NamedTuple):
    """An item and its official website (empty if the answer left it out)."""

    item: str
    url: str


@dataclass(frozen=True)
class ItemTerms:
    """The name of an item; for a country also its code, for a place also the code of its country."""

    label: str | None = None
    code: str | None = None
    country: str | None = None


def check_contact() -> None:
    """Fail unless a contact is set, which Wikimedia's User-Agent policy asks for.

    Raises:
        NotConfigured: none is.
    """
    if CompanySettings.current().contact is None:
        raise NotConfigured(
            "Wikidata and Wikipedia require a contact, so they were not asked. Set DILIGENCE_CONTACT to your e-mail or "
            "web address."
        )


def find_items(urls: Collection[str]) -> list[Site]:
    """The items that have one of these addresses as their official website, even as a deprecated one.

    Raises:
        DiligenceError: the query service cannot be asked, or sent invalid data.
    """
    sites = " ".join(f"<{url}>" for url in urls)
    rows = _ask(
        f"SELECT ?item ?site WHERE {{ VALUES ?site {{ {sites} }} "
        f"?item p:P856 ?statement . ?statement ps:P856 ?site . }} LIMIT {_MAX_ROWS}"
    )
    return [Site(item, row.get("site", "")) for row in rows if (item := _id(row.get("item")))]


def link_entry(host: str) -> list[Site]:
    """The items with a link to that host on their pages, and the link's address, whether or not it is the official
    website.

    The list of external links matches any path, while the query service only matches whole addresses
    ("API:Exturlusage", https://www.mediawiki.org/wiki/API:Exturlusage).

    Raises:
        DiligenceError: Wikidata cannot be asked, or sent invalid data.
    """
    check_contact()
    params = {
        "action": "query",
        "list": "exturlusage",
        "euquery": host,
        "eunamespace": "0",
        "euprop": "title|url",
        "eulimit": "500",
        "format": "json",
        "formatversion": "2",
    }
    answer = Web.current().get(f"{CompanySettings.current().wikidata_url}/w/api.php", params, **WIKIDATA)
    try:
        rows = [(row["title"], row["url"]) for row in answer.json()["query"]["exturlusage"]]
    except (KeyError, TypeError, AttributeError):
        raise SourceFailed("Wikidata did not return the expected list of links.") from None
    return [Site(item, url) for title, url in rows if isinstance(url, str) and (item := _id(title))]


def find_named_items(names: Collection[str], languages: Collection[str]) -> list[tuple[Site, list[str]]]:
    """The items with a website whose label, alias or official name is exactly one of `names`, and these names.

    Raises:
        DiligenceError: as `find_items`.
    """
    literals = " ".join(
        f"{json.dumps(name, ensure_ascii=False)}@{language}" for name in names for language in languages
    )
    rows = _ask(
        f"SELECT ?item ?site ?name ?official WHERE {{ VALUES ?name {{ {literals} }} "
        "{ ?item rdfs:label ?name } UNION { ?item skos:altLabel ?name } UNION { ?item wdt:P1448 ?name } "
        f"?item wdt:P856 ?site . OPTIONAL {{ ?item wdt:P1448 ?official }} }} LIMIT {_MAX_ROWS}"
    )
    return [
        (Site(item, row["site"]), [row[key] for key in ("name", "official") if key in row])
        for row in rows
        if (item := _id(row.get("item"))) and "site" in row
    ]


def terms(ids: Sequence[str]) -> dict[str, ItemTerms]:
    """The names of those items that have an English label, with codes of countries; one request.

    Raises:
        DiligenceError: as `find_items`.
    """
    if not ids:
        return {}
    rows = _ask(
        f"SELECT ?item ?label ?code ?country WHERE {{ VALUES ?item {{ {' '.join(f'wd:{id_}' for id_ in ids)} }} "
        'OPTIONAL { ?item rdfs:label ?label . FILTER(LANG(?label) IN ("en", "mul")) } '
        "OPTIONAL { ?item wdt:P297 ?code } OPTIONAL { ?item wdt:P17/wdt:P297 ?country } } LIMIT 1000"
    )
    names: dict[str, ItemTerms] = {}
    for item, values in _by_item(rows).items():
        labels, codes, countries = (values.get(key, []) for key in ("label", "code", "country"))
        if item in ids and (labels or codes):
            names[item] = ItemTerms(next(iter(labels), None), _only(codes), _only(countries))
    return names


def fetch_item(item: str) -> Item | None:
    """The item with that id; None if it no longer exists.

    Raises:
        DiligenceError: it cannot be fetched, or is no item.
    """
    check_contact()
    url = f"{CompanySettings.current().wikidata_url}/wiki/Special:EntityData/{item}.json"
    answer = Web.current().get(url, **WIKIDATA | {"expect": (404, 410)})
    gone = answer.status in {404, 410}
    return None if gone else read_item(answer.json(), item, datetime.now(UTC).replace(microsecond=0))


def fetch_items(ids: Sequence[str]) -> dict[str, Item]:
    """The items with these ids, fetched concurrently; those that no longer exist are left out.

    Raises:
        DiligenceError: as `fetch_item`.
    """
    threads = FanOut(5, "wikidata")
    futures = {id_: threads.submit(fetch_item, id_) for id_ in ids}
    items = {id_: future.result() for id_, future in futures.items()}
    return {id_: item for id_, item in items.items() if item is not None}


def page_address(item: str) -> str:
    """The address of an item's page."""
    return f"{CompanySettings.current().wikidata_url}/wiki/{item}"


def _ask(query: str) -> list[dict[str, str]]:
    """The rows of the answer, each with the variables that have a value."""
    check_contact()
    url = CompanySettings.current().wikidata_sparql_url
    headers = {"Accept": "application/sparql-results+json"}
    if len(quote(query)) + len(url) <= _MAX_URL:
        answer = Web.current().get(url, {"query": query, "format": "json"}, **WIKIDATA | {"headers": headers})
    else:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = f"query={quote(query, safe='')}&format=json".encode()
        answer = Web.current().post(url, body, **WIKIDATA | {"headers": headers})
    try:
        return [dict(_values(row)) for row in answer.json()["results"]["bindings"]]
    except (KeyError, TypeError, AttributeError):
        raise SourceFailed("Wikidata's query service did not return the expected rows.") from None


def _values(row: Any) -> Iterator[tuple[str, str]]:
    for name, binding in row.items():
        if isinstance(binding["value"], str) and len(binding["value"]) <= 4096:
            yield name, plain_line(binding["value"])


def _by_item(rows: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """The distinct values of each variable, grouped by item."""
    by_item: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if (item := _id(row.get("item"))) is None:
            continue
        for name, value in row.items():
            values = by_item.setdefault(item, {}).setdefault(name, [])
            if value not in values:
                values.append(value)
    return by_item


def _only(values: Sequence[str]) -> str | None:
    return values[0] if len(values) == 1 else None


def _id(address: str | None) -> str | None:
    """The id at the end of `http://www.wikidata.org/entity/Q42`."""
    match = re.search(r"(?:^|/)(Q[1-9][0-9]{0,11})$", address or "")
    return match[1] if match else None


@dataclass(frozen=True)
class Summary:
    """An article's first paragraph, its address, and the day of its last change if given."""

    text: str
    url: str
    as_of: str | None


def fetch_summary(title: str, item: str) -> Summary | None:
    """The summary of the article with that title, about that item of Wikidata; None if there is none.

    Raises:
        DiligenceError: Wikipedia cannot be asked, or sent invalid data.
    """
    check_contact()
    address = CompanySettings.current().wikipedia_url
    name = quote(title.replace(" ", "_"), safe="")
    answer = Web.current().get(f"{address}/api/rest_v1/page/summary/{name}", **_WIKIPEDIA)
    if answer.status in {404, 410}:
        return None
    return _summary(answer.json(), item, f"{address}/wiki/{name}")


def _summary(content: Any, item: str, url: str) -> Summary | None:
    """The summary; None for a disambiguation page, or if the article is now about something else."""
    if not isinstance(content, dict) or content.get("type", "standard") != "standard":
        return None
    text, about, changed = content.get("extract"), content.get("wikibase_item"), content.get("timestamp")
    if about not in {None, item} or not isinstance(text, str) or not (text := plain(text[:_MAX_SUMMARY]).strip()):
        return None
    day = re.match(r"\d{4}-\d{2}-\d{2}(?=T|$)", changed) if isinstance(changed, str) else None
    return Summary(text, url, day[0] if day else None)

"""Requests to Wikidata and Wikipedia, and the items that they return.

The query service finds items, Special:EntityData gives what they say, and the English Wikipedia gives the first
paragraph of an article (CC BY-SA; the article's address is the attribution).

Queries are bounded: they look up exact values and end with `LIMIT`. What Wikimedia documents and this module keeps:

- A User-Agent with a contact (https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy,
  https://www.mediawiki.org/wiki/Wikimedia_APIs/Access_policy). Without DILIGENCE_CONTACT nothing of it is asked.
- The query service: five queries at a time, 60 s of query time and 30 errors a minute; after a 429 its `Retry-After`,
  or a minute, without any request (https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual#Query_limits).
- Reading as far as needed (https://www.mediawiki.org/wiki/API:Etiquette); the REST API at most 200 requests a second
  (https://en.wikipedia.org/api/rest_v1/). All processes together stay at 4 and 10 a second.

An item is what its EntityData describes: labels, and statements with their ranks. A statement is deprecated, normal or
preferred, and may have ended; deprecated ones are left out. `Item.best` returns the statements that Wikidata itself
considers current: the preferred ones, otherwise the normal ones.
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from tasks.cancellation import FanOut
from tasks.companies.profile import CompanySettings, Date
from tasks.companies.web.client import FetchLimits, FetchOptions, Web
from tasks.errors import NotConfigured, SourceFailed
from tasks.language.normalise import plain, plain_line
from tasks.remote.rate_limit import Budget, RateLimit, SourceLimiter

START, END, MOMENT, PART = "P580", "P582", "P585", "P518"
_RETRIEVED: Final = "P813"
_LANGUAGE: Final = "P407"
KNOWN: Final[dict[str, dict[str, str]]] = tomllib.loads(Path(__file__).with_name("items.toml").read_text("utf-8"))
"""The items and properties that are known by their ids."""
_ENGLISH: Final = ("en", "mul", "en-us", "en-gb", "en-ca")
_MAX_STATEMENTS: Final = 1000
"""Of one property; the largest companies have some hundred subsidiaries."""
_MAX_CHARACTERS: Final = 2000
"""Of a text; Wikidata itself allows 1,500 for an address and 400 for a text."""


@dataclass(frozen=True)
class ItemStatement:
    """A statement of an item: its value as in Wikidata's JSON (None: explicitly unknown, or none)."""

    value: Any
    preferred: bool
    qualifiers: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    retrieved: str | None = None
    """The day on which its reference was read, where one is stated."""

    def qualifier(self, name: str) -> Any:
        """The first value of that qualifier, or None."""
        return next(iter(self.qualifiers.get(name, ())), None)

    @property
    def ended(self) -> bool:
        """Whether it has an end date, whatever the date."""
        return END in self.qualifiers

    @property
    def as_of(self) -> str | None:
        """The statement's date: its point in time, the day its reference was retrieved, or its start."""
        dates = (iso(self.qualifier(MOMENT)), self.retrieved, iso(self.qualifier(START)))
        today = datetime.now(UTC).date().isoformat()
        return next((day for day in dates if day is not None and day <= today), None)

    @property
    def since(self) -> str:
        """A key for sorting statements by time: point in time or start; empty if it has neither."""
        return iso(self.qualifier(MOMENT)) or iso(self.qualifier(START)) or ""


@dataclass(frozen=True)
class Item:
    """An item, and when it was fetched. `statements` are those that are not deprecated, in Wikidata's order."""

    id: str
    labels: Mapping[str, str]
    descriptions: Mapping[str, str]
    statements: Mapping[str, Sequence[ItemStatement]]
    wikipedia: str | None
    retrieved_at: datetime

    def all(self, name: str) -> Sequence[ItemStatement]:
        """The statements of that property."""
        return self.statements.get(name, ())

    def best(self, name: str) -> Sequence[ItemStatement]:
        """The current statements (with a value and without an end): the preferred ones if there are any, else all."""
        current = [statement for statement in self.all(name) if statement.value is not None and not statement.ended]
        return [statement for statement in current if statement.preferred] or current

    def texts(self, name: str) -> Sequence[str]:
        """The best values of a property whose values are texts or identifiers."""
        return list(dict.fromkeys(filter(None, (text(statement.value) for statement in self.best(name)))))

    def items(self, name: str) -> Sequence[str]:
        """The ids in the best values of a property whose values are items."""
        return list(dict.fromkeys(filter(None, (read_id(statement.value) for statement in self.best(name)))))

    def label(self, language: str | None = None) -> str | None:
        """The label in English or for all languages, otherwise in `language`."""
        return self._text(self.labels, language)

    def description(self) -> str | None:
        """The description in English or for all languages."""
        return self._text(self.descriptions, None)

    @staticmethod
    def _text(texts: Mapping[str, str], language: str | None) -> str | None:
        return next((texts[code] for code in (*_ENGLISH, language) if code in texts), None)  # type: ignore[index]


def read_item(data: Any, item: str, retrieved_at: datetime) -> Item:
    """The item with the id `item` in the JSON of Special:EntityData, or the one that it was merged into.

    Raises:
        SourceFailed: the JSON has no such item.
    """
    try:
        entities = data["entities"]
        entity = entities.get(item) or next(iter(entities.values()))
        return Item(
            id=_valid_id(entity["id"]),
            labels=_by_language(entity.get("labels") or {}),
            descriptions=_by_language(entity.get("descriptions") or {}),
            statements={
                name: list(_statements(statements))
                for name, statements in (entity.get("claims") or {}).items()
                if name in KNOWN["properties"]
            },
            wikipedia=text(link["title"]) if (link := (entity.get("sitelinks") or {}).get("enwiki")) else None,
            retrieved_at=retrieved_at,
        )
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration, RecursionError):
        raise SourceFailed("Wikidata did not return the expected item.") from None


def text(value: Any) -> str | None:
    """The value if it is a text, an identifier or a text with a language; on one line."""
    content = value.get("text") if isinstance(value, dict) else value
    return (plain_line(content[:_MAX_CHARACTERS]) or None) if isinstance(content, str) else None


def read_text_language(value: Any) -> str:
    """The language code of a text; empty if it has none."""
    return str(value.get("language") or "") if isinstance(value, dict) else ""


def read_id(value: Any) -> str | None:
    """The id of the item that the value refers to."""
    item = value.get("id") if isinstance(value, dict) else None
    return item if isinstance(item, str) and re.fullmatch(r"Q[1-9][0-9]{0,11}", item) else None


def number(value: Any) -> int | None:
    """The integer part of a non-negative quantity."""
    amount = value.get("amount") if isinstance(value, dict) else None
    match = re.fullmatch(r"\+?([0-9]{1,12})(?:\.[0-9]+)?", amount) if isinstance(amount, str) else None
    return int(match[1]) if match else None


def money(value: Any) -> tuple[int | float, str] | None:
    """The amount of a quantity whose unit is a currency, and the currency's code; None for other quantities."""
    unit, amount = (value.get("unit"), value.get("amount")) if isinstance(value, dict) else (None, None)
    currency = KNOWN["currencies"].get(unit.rpartition("/")[2]) if isinstance(unit, str) else None
    if (
        currency is None
        or not isinstance(amount, str)
        or not re.fullmatch(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,6})?", amount)
    ):
        return None
    number_ = float(amount)
    return int(number_) if number_.is_integer() else number_, currency


def day(value: Any) -> Date | None:
    """As much of a date as its precision covers; None if the year is uncertain or BCE."""
    if not isinstance(value, dict) or not isinstance(value.get("time"), str):
        return None
    parts = re.match(r"\+0*([0-9]{4})-([0-9]{2})-([0-9]{2})T", value["time"])
    precision = value.get("precision")
    if not parts or not isinstance(precision, int) or precision < 9:  # 8 is a decade, 9 a year, 10 a month, 11 a day
        return None
    year, month, day_of_month = (int(part) for part in parts.groups())
    try:
        date(year, month or 1, day_of_month or 1)
    except ValueError:
        return None
    known_month = month if precision >= 10 and month else None
    return Date(
        year=year, month=known_month, day=day_of_month if precision >= 11 and known_month and day_of_month else None
    )


def iso(value: Any) -> str | None:
    """`day` as `2024`, `2024-03` or `2024-03-31`."""
    known = day(value)
    if known is None:
        return None
    return "-".join(f"{part:0{width}}" for part, width in ((known.year, 4), (known.month, 2), (known.day, 2)) if part)


def read_website_language(statement: ItemStatement) -> str | None:
    """The language code of a website."""
    return KNOWN["languages"].get(read_id(statement.qualifier(_LANGUAGE)) or "")


def _statements(statements: Any) -> Iterator[ItemStatement]:
    for statement in statements[:_MAX_STATEMENTS]:
        if statement.get("rank") == "deprecated":
            continue
        yield ItemStatement(
            value=_value(statement["mainsnak"]),
            preferred=statement.get("rank") == "preferred",
            qualifiers={
                name: [_value(snak) for snak in snaks] for name, snaks in (statement.get("qualifiers") or {}).items()
            },
            retrieved=_read_retrieval_day(statement.get("references") or []),
        )


def _value(snak: Any) -> Any:
    return snak["datavalue"]["value"] if snak.get("snaktype", "value") == "value" else None


def _read_retrieval_day(references: Any) -> str | None:
    """The latest day on which a reference was retrieved."""
    days = (
        iso(_value(snak)) for reference in references for snak in (reference.get("snaks") or {}).get(_RETRIEVED, [])
    )
    return max(filter(None, days), default=None)


def _by_language(terms: Any) -> dict[str, str]:
    codes = {*_ENGLISH, *KNOWN["languages"].values()}  # a country has its name in 300 languages
    return {
        code: content for code, term in terms.items() if code in codes and (content := text(term["value"])) is not None
    }


def _valid_id(item: Any) -> str:
    if (valid := read_id({"id": item})) is None:
        raise ValueError(item)
    return valid


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
        NotConfigured: no contact is set.
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

"""Which of Wikidata's items a domain leads to, on items of companies that stand in public repositories.

python -m tests.benchmarks.websites FOLDER [OWNER/NAME=CLONE ...]    gets the items (from clones, where they are given)
DILIGENCE_BENCH_ITEMS=FOLDER python -m tests.benchmarks websites     measures

The stand-in serves all items at once, and every registrable domain of their official websites is asked for. None is
invented: the name-suggestion-index gives 11,661 with the address that Wikidata stated, and nothing else than their
names, descriptions and ends; opentapioca gives whole ones, with ranks, most of them of places. A domain is answered
rightly by the only item whose official website is its home page, and where several have it by none of them. An item
whose address has another path than usual counts as right unless `DIVISIONS` names its domain.
"""

import bz2
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import urlsplit

from tasks.companies.profile import registrable
from tasks.companies.wikidata import client as asking
from tasks.companies.wikidata.entity import ENTITIES, find_entity
from tasks.errors import BadRequest
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.companies_servers.wikidata import Json, addresses, item, moment, statement, wikidata
from tests.web.server import LoopbackServer

FOLDER: Final = "DILIGENCE_BENCH_ITEMS"
_SUGGESTIONS: Final = "name_suggestions.json"
_WHOLE: Final = "whole_items.json.bz2"
SOURCES: Final = {
    _SUGGESTIONS: (
        "osmlab/name-suggestion-index",
        "82133476674b852086ea8aed714565c674f675fa",
        "dist/wikidata.min.json",
    ),
    _WHOLE: ("opentapioca/opentapioca", "HEAD", "opentapioca/tests/data/sample_wikidata_items.json.bz2"),
}
"""The repository, commit and path of each file. Later commits of the first have no file of less than 4 MB."""
FORMS: Final = [
    f"{scheme}://{www}{{domain}}{path}"
    for scheme in ("https", "http")
    for www in ("", "www.")
    for path in ("", "/", "/en/", "/de/index.html", "/global/en", "/?lang=en")
]
RANKS: Final = ("normal", "preferred", "deprecated")
_USUAL: Final = frozenset({"en", "de", "fr", "es", "it", "global", "index.html"})
DIVISIONS: Final = frozenset({"tepco.co.jp", "tu.berlin", "zennoh.or.jp"})
"""Domains whose only item is a part of what they stand for: read by hand, among those with another path than usual."""
_EVERY: Final = 200
"""Of the items whose address is written in all its forms; the first in a while is enough for each form."""
_AT_ONCE: Final = 8


@dataclass
class Tally:
    """What domains were answered with. `wrong` holds (domain, item, what its item or items are)."""

    asked: int = 0
    known: int = 0
    """Domains that have exactly one item at their home page."""
    right: int = 0
    elsewhere: int = 0
    """Right ones whose address has another path than usual."""
    wrong: list[tuple[str, str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        right = self.right + self.elsewhere
        precision = right / self.answered if self.answered else 1.0
        recall = self.right / max(1, self.known)
        return f"{precision:.4f} ({right} of {self.answered}), {recall:.4f} ({self.right} of {self.known})"

    def add(self, other: "Tally") -> None:
        self.asked, self.known = self.asked + other.asked, self.known + other.known
        self.right, self.elsewhere = self.right + other.right, self.elsewhere + other.elsewhere
        self.wrong += other.wrong

    @property
    def answered(self) -> int:
        return self.right + self.elsewhere + len(self.wrong)


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); none where there are no items."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    items = read(Path(folder))
    as_stated = _ask(list(items.values()))
    yield f"{len(items)} items, {as_stated.asked} domains as stated: precision, recall", str(as_stated), "1.0, –"
    for domain, name, known in as_stated.wrong:
        print(f"{domain}: {name}, and not {known}", file=sys.stderr)
    for rank in RANKS:
        every = Tally()
        for form in FORMS:
            every.add(_ask(_in_form(items, form, rank)))
        # A deprecated statement is one that Wikidata takes back.
        target = "none" if rank == "deprecated" else "1.0, 1.0"
        figure = f"{every.answered} answers" if rank == "deprecated" else str(every)
        yield f"every {_EVERY}th in {len(FORMS)} forms, rank {rank}: precision, recall", figure, target


def read(folder: Path) -> dict[str, Json]:
    """The items by id, those with an official website; whole ones where there are."""
    known: Mapping[str, Any] = json.loads((folder / _SUGGESTIONS).read_bytes())["wikidata"]
    items = {id_: _suggested(id_, entry) for id_, entry in known.items() if "website" in entry.get("identities", {})}
    with bz2.open(folder / _WHOLE, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{") and "P856" in (entity := json.loads(line.rstrip(",\n")))["claims"]:
                items[entity["id"]] = entity
    return items


def fetch(folder: Path, clones: Mapping[str, str]) -> None:
    """Get the files of `SOURCES` into the folder, out of these clones or else of new ones of GitHub's."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (repository, commit, path) in SOURCES.items():
        with tempfile.TemporaryDirectory() as new:
            if not (clone := clones.get(repository)):
                url, clone = f"https://github.com/{repository}", new
                words = ["git", "clone", "--quiet", "--filter=blob:none", "--no-checkout", url, clone]
                subprocess.run(words, check=True)
            shown = subprocess.run(["git", "-C", clone, "show", f"{commit}:{path}"], check=True, capture_output=True)
        (folder / name).write_bytes(shown.stdout)


def _suggested(id_: str, entry: Mapping[str, Any]) -> Json:
    ends = [moment(end["date"][:10]) for end in entry.get("dissolutions", []) if end.get("date")]
    stated: dict[str, Any] = {"P856": [entry["identities"]["website"]], **({"P576": ends} if ends else {})}
    return item(id_, entry.get("label"), description=entry.get("description"), **stated)


def _in_form(items: Mapping[str, Json], form: str, rank: str) -> list[Json]:
    """Some of the items that have a domain for themselves, with its address written in this form."""
    alone = [(domain, ids[0]) for domain, ids in sorted(_at_home(items.values()).items()) if len(ids) == 1]
    return [
        items[id_] | {"claims": items[id_]["claims"] | {"P856": [statement(form.format(domain=domain), rank)]}}
        for domain, id_ in alone[::_EVERY]
    ]


def _ask(items: Sequence[Json]) -> Tally:
    """Ask for every registrable domain on which one of the items' websites lies."""
    at_home, labels = _at_home(items), {each["id"]: each["labels"].get("en", {}).get("value", "") for each in items}
    domains = sorted({domain for each in items for site in _websites(each) if (domain := _registrable(site))})
    tally = Tally(len(domains), sum(len(ids) == 1 for ids in at_home.values()))
    for domain, taken in zip(domains, _taken(items, domains), strict=True):
        if taken is None:
            continue
        expected = at_home.get(domain, [])
        if expected == [taken]:
            tally.right += 1
        elif not expected and domain not in DIVISIONS:
            tally.elsewhere += 1
        else:
            known = ", ".join(f"{id_} {labels[id_]}" for id_ in expected) or "any"
            tally.wrong.append((domain, f"{taken} {labels[taken]}", known))
    return tally


def _taken(items: Sequence[Json], domains: Sequence[str]) -> list[str | None]:
    """The item taken for each domain, without the pauses that Wikidata is owed."""

    def taken(domain: str) -> str | None:
        entity = find_entity(domain)
        return entity.id if entity else None

    ENTITIES.clear()
    with LoopbackServer(wikidata(*items)) as server, tempfile.TemporaryDirectory() as home:
        unpaced = patch.dict(asking.WIKIDATA, limiter=RateLimiter(RateLimit(at_once=_AT_ONCE)))
        settings = patch.dict(os.environ, addresses(server) | {"DILIGENCE_HOME": home})
        with unpaced, settings, ThreadPoolExecutor(_AT_ONCE) as threads:
            return list(threads.map(taken, domains))


def _at_home(items: Iterable[Json]) -> dict[str, list[str]]:
    """The items by the domain whose home page is their official website; of several, those that are not at an end."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for each in items:
        for site in _websites(each):
            if (domain := _registrable(site)) and _is_home(site, domain):
                found[domain][each["id"]] = "P576" in each["claims"]
    return {domain: [id_ for id_, ended in ids.items() if not ended] or list(ids) for domain, ids in found.items()}


def _websites(entity: Json) -> list[str]:
    """Those that are not taken back."""
    stated = [claim for claim in entity["claims"]["P856"] if claim["rank"] != "deprecated"]
    return [claim["mainsnak"]["datavalue"]["value"] for claim in stated if "datavalue" in claim["mainsnak"]]


def _registrable(site: str) -> str | None:
    """The registrable domain on which the address lies; None for one that is none."""
    labels = (urlsplit(site).hostname or "").split(".")
    for first in range(len(labels) - 1):
        try:
            return registrable(".".join(labels[first:]))
        except BadRequest:
            continue
    return None


def _is_home(site: str, domain: str) -> bool:
    """Whether the address is the domain's or its `www.`, and has no path, or that of a language or a usual page."""
    parts = urlsplit(site)
    steps = {step for step in parts.path.split("/") if step}
    apex = (parts.hostname or "").removeprefix("www.")
    return len(apex.split(".")) == len(domain.split(".")) and steps <= _USUAL


if __name__ == "__main__":
    fetch(Path(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:]))

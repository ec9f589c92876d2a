"""Company facts from stand-ins of the public sources on loopback: cached, uncached, and many at once.

Each stand-in answers after a pause. What all sources take together stands beside the slowest of them alone; the
cached answer is asked of the service as a process, by one client and by four.
"""

import http.client
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from tasks.companies.sources.profile_api import our_profile
from tests.benchmarks.service import post_json, running_server
from tests.companies_servers import gleif, profile_api, sec, site, wikidata
from tests.waiting import free_port
from tests.web.server import Asked, LoopbackServer, Reply

PAUSE: Final = 0.5
"""Seconds that a source takes for one request."""
ROUNDS: Final = 5
COMPANIES: Final = 200
AT_ONCE: Final = 16
REQUESTS: Final = 400
CLIENTS: Final = 4
SOURCES: Final = ("wikidata", "sec", "gleif", "website", "profile_api")
PATH: Final = "/v1/companies/get-core-fields"


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    yield from _cached()
    yield _uncached()
    yield _many()


def _cached() -> Iterator[tuple[str, str, str]]:
    """The service's answer for a company that it remembers."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        settings = _sources(servers, ["alpha.example"], 0) | {
            "DILIGENCE_HOME": f"{folder}/home",
            "DILIGENCE_FACTS": folder,
            "DILIGENCE_FACT_SOURCES": ",".join(("files", *SOURCES)),
        }
        profile, _ = our_profile(profile_api.profile("Alpha"))
        Path(folder, "alpha.example.json").write_text(json.dumps(profile))
        ours = [sys.executable, "-m", "deployments.cli", "serve", "--port", str(port)]
        with running_server(ours, _environment(settings), port):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            answer = json.loads(post_json(connection, f"{PATH}?include=claims", {"domain": "alpha.example"}))
            what = f"a cached answer of {len(answer['claims'])} claims in the service"
            alone = _seconds(port, REQUESTS)
            with ThreadPoolExecutor(CLIENTS) as clients:
                loaded = [
                    each for times in clients.map(lambda _: _seconds(port, REQUESTS), range(CLIENTS)) for each in times
                ]
    for told, times in (("one client", alone), (f"{CLIENTS} clients", loaded)):
        cuts = statistics.quantiles(times, n=100)
        yield f"{what}, {told}: median, 99th percentile", f"{cuts[49] * 1e3:.1f}, {cuts[98] * 1e3:.1f} ms", "10 ms"


def _uncached() -> tuple[str, str, str]:
    """All sources for a company that none was asked about, and the slowest of them alone for another one."""
    from tasks.companies.facts import fetch_facts

    names = [_name(what, turn) for turn in range(-1, ROUNDS) for what in ("all", *SOURCES)]
    with ExitStack() as servers:
        servers.enter_context(_settings(_sources(servers, names, PAUSE)))

        def ask(domain: str, sources: Sequence[str]) -> float:
            with _settings({"DILIGENCE_FACT_SOURCES": ",".join(sources)}):
                start = time.perf_counter()
                facts = fetch_facts(domain)[1]
                seconds = time.perf_counter() - start
            assert {claim.source for claim in facts.claims} == set(sources), facts.warnings
            return seconds

        turns = [
            ({each: ask(_name(each, turn), [each]) for each in SOURCES}, ask(_name("all", turn), SOURCES))
            for turn in range(-1, ROUNDS)
        ][1:]  # the first one loads what pages are read with
    slowest = [max(alone.values()) for alone, _ in turns]
    more = statistics.median(all_of_them - one for one, (_, all_of_them) in zip(slowest, turns, strict=True))
    together = statistics.median(seconds for _, seconds in turns)
    return (
        f"facts from {len(SOURCES)} sources, {PAUSE:g} s a request : the slowest alone, median of {ROUNDS} pairs",
        f"{more:+.2f} s ({together:.2f} : {statistics.median(slowest):.2f} s)",
        "+0.3 s",
    )


def _many() -> tuple[str, str, str]:
    """A batch against Wikidata, which wants five requests at a time at most."""
    from tasks.companies.facts import fetch_facts

    names = [f"many{number}.example" for number in range(COMPANIES)]
    with ExitStack() as servers:
        items = [_item(number, name) for number, name in enumerate(names, 1)]
        busy = Busy(wikidata.wikidata(*items), 0.2)
        paths = ["/sparql", *(f"/wiki/Special:EntityData/{item['id']}.json" for item in items)]
        server = servers.enter_context(LoopbackServer(dict.fromkeys(paths, busy)))
        home = servers.enter_context(tempfile.TemporaryDirectory())
        settings = {**wikidata.addresses(server), "DILIGENCE_HOME": home, "DILIGENCE_FACT_SOURCES": "wikidata"}
        servers.enter_context(_settings(settings))
        with ThreadPoolExecutor(AT_ONCE) as batch:
            facts = list(batch.map(lambda name: fetch_facts(name)[1], names))
    assert [fact.profile.name for fact in facts] == names
    return (
        f"{COMPANIES} companies, {AT_ONCE} at a time, from a source that allows 5 requests: all 5 under way",
        f"{busy.share(5):.0%} of the time, never more than {busy.most} ({busy.asked} requests)",
        "always, never more than 5",
    )


class Busy:
    """Answers after a pause, and keeps when how many requests were under way."""

    def __init__(self, answer: Callable[[Asked], Reply], pause: float) -> None:
        self.asked = self.most = self._running = 0
        self._answer, self._pause = answer, pause
        self._changes: list[tuple[float, int]] = []
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        self._change(1)
        time.sleep(self._pause)
        try:
            return self._answer(asked)
        finally:
            self._change(-1)

    def share(self, running: int) -> float:
        """The part of the time until the last request began in which so many were under way."""
        last = max(at for at, (_, count) in enumerate(self._changes) if count > self._changes[at - 1][1])
        steps = zip(self._changes[:last], self._changes[1:], strict=False)
        spans = [(after - at, count) for (at, count), (after, _) in steps]
        return sum(span for span, count in spans if count >= running) / sum(span for span, _ in spans)

    def _change(self, by: int) -> None:
        with self._lock:
            self._running += by
            self.asked += by > 0
            self.most = max(self.most, self._running)
            self._changes.append((time.perf_counter(), self._running))


def _sources(servers: ExitStack, domains: Sequence[str], pause: float) -> dict[str, str]:
    """The settings that lead to stand-ins which know these companies; the servers end with the stack."""
    numbered = list(enumerate(domains, 1))

    def serve(answer: Callable[[Asked], Reply]) -> str:
        return servers.enter_context(LoopbackServer(lambda asked: replace(answer(asked), delay=pause))).url

    items = serve(wikidata.wikidata(*(_item(number, name) for number, name in numbered)))
    pages = {f"/{name}": _home(name) for name in domains} | {f"/{name}/feed.xml": site.feed(1, 2) for name in domains}
    return {
        "DILIGENCE_WIKIDATA_URL": items,
        "DILIGENCE_WIKIDATA_SPARQL_URL": f"{items}/sparql",
        "DILIGENCE_WIKIPEDIA_URL": items,
        "DILIGENCE_SEC_DATA_URL": serve(sec.sec(*(sec.submission(str(number), name) for number, name in numbered))),
        "DILIGENCE_GLEIF_URL": serve(gleif.gleif(*(gleif.record(_lei(number), name) for number, name in numbered))),
        "DILIGENCE_WEBSITE_URL": serve(lambda asked: pages.get(asked.path, Reply(status=404))) + "/{domain}",
        "DILIGENCE_PROFILE_API_URL": serve(
            profile_api.ProfileApi({name: profile_api.profile(name) for name in domains})
        ),
        "DILIGENCE_PROFILE_API_KEY": profile_api.KEY,
        "DILIGENCE_CONTACT": "mailto:us@example.com",
    }


def _name(what: str, turn: int) -> str:
    return f"{what.replace('_', '')}{turn + 1}.example"


def _item(number: int, domain: str) -> wikidata.Json:
    known: dict[str, Any] = {
        "P856": [f"https://{domain}/"],
        "P5531": [str(number)],
        "P1278": [_lei(number)],
        "P571": [wikidata.moment("1902")],
        "P1128": [wikidata.quantity(1200)],
        "P2002": [f"handle{number}"],
        "P4264": [f"company-{number}"],
    }
    return wikidata.item(f"Q{number}", domain, description="maker of pumps", **known)


def _lei(number: int) -> str:
    return f"529900K9B0N5BT{number:04}47"


def _home(domain: str) -> Reply:
    described = {**site.ALPHA, "url": f"https://www.{domain}/"}
    head = f'<link rel="alternate" type="application/rss+xml" href="/{domain}/feed.xml">'
    return site.document("<p>Pumps for waterworks in nine countries.</p>" * 20, described, head=head)


def _seconds(port: int, requests: int) -> list[float]:
    """What each request took, over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(requests):
        start = time.perf_counter()
        post_json(connection, PATH, {"domain": "alpha.example"})
        times.append(time.perf_counter() - start)
    return times


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("DILIGENCE_")} | dict(settings)


@contextmanager
def _settings(settings: Mapping[str, str]) -> Iterator[None]:
    """Let these settings, and of the rest those that were given around, be in force."""
    with patch.dict(os.environ, settings), tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("DILIGENCE_HOME", home)
        yield

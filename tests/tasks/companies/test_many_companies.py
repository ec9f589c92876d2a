"""Many companies at once: a source is asked by so many at a time as it allows, and each company is asked about."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tasks.companies.facts import fetch_facts
from tests.companies_servers.wikidata import addresses, forget, item, wikidata
from tests.web.server import Asked, LoopbackServer, Reply


def test_a_batch_keeps_five_requests_under_way_and_never_more(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "wikidata")
    names = [f"company{number}.example" for number in range(60)]
    items = [item(f"Q{number}", name, P856=[f"https://{name}/"]) for number, name in enumerate(names, 1)]
    answer = wikidata(*items)

    def slow(asked: Asked) -> Reply:
        time.sleep(0.03)
        return answer(asked)

    paths = ["/sparql", *(f"/wiki/Special:EntityData/{company['id']}.json" for company in items)]
    with LoopbackServer(dict.fromkeys(paths, slow)) as server, ThreadPoolExecutor(16) as batch:
        for name, value in addresses(server).items():
            monkeypatch.setenv(name, value)
        profiles = list(batch.map(lambda name: fetch_facts(name).facts.profile.name, names))

    assert profiles == names
    assert server.most == 5
    assert len(server.asked) == 2 * len(names)

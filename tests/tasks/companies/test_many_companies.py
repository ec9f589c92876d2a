"""Many companies at once: a source is asked as often as it allows, waited for while it refuses, and never lost."""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tasks.companies.facts import facts_or_reason, fetch_facts
from tasks.companies.sources import gleif as gleif_source
from tasks.companies.sources import sec as edgar
from tasks.companies.web import client
from tasks.companies.wikidata import client as wikidata_client
from tasks.remote.rate_limit import Budget, RateLimit, SourceLimiter
from tasks.remote.retry import Backoff
from tests.companies_servers.gleif import gleif, record
from tests.companies_servers.sec import sec, submission
from tests.companies_servers.wikidata import addresses, forget, item, lead_to, wikidata
from tests.web.server import Asked, LoopbackServer, Reply

Behaviour = Callable[[Asked], Reply]
REFUSALS = (Reply(status=429), Reply(status=429, headers={"Retry-After": "0.2"}), Reply(status=503))


def test_a_batch_keeps_five_requests_under_way_and_never_more(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "wikidata")
    names = [f"company{number}.example" for number in range(60)]
    items = [item(f"Q{number}", name, P856=[f"https://{name}/"], P5531=["1"]) for number, name in enumerate(names, 1)]
    answer = wikidata(*items)

    def slow(asked: Asked) -> Reply:
        time.sleep(0.03)
        return answer(asked)

    paths = ["/sparql", *(f"/wiki/Special:EntityData/{company['id']}.json" for company in items)]
    with LoopbackServer(dict.fromkeys(paths, slow)) as server, ThreadPoolExecutor(16) as batch:
        lead_to(server, monkeypatch)
        profiles = list(batch.map(lambda name: fetch_facts(name).facts.profile.name, names))

    assert profiles == names
    assert server.most == 5
    assert len(server.asked) == 2 * len(names)


@pytest.fixture
def serve(facts: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[LoopbackServer]]]:
    """Lets Wikidata, the SEC and GLEIF know so many companies, each through a behaviour around its own answers."""
    forget(monkeypatch)
    for number, options in enumerate((edgar.SEC, gleif_source.GLEIF, wikidata_client.WIKIDATA)):
        limiter = SourceLimiter(Budget(f"source {number}", 0.002, 20), RateLimit(at_once=5), unnamed_hold=0.2)
        monkeypatch.setitem(options, "limiter", limiter)
    # As long as the holds here: a caller that is refused six times in a row would else wait for a minute.
    monkeypatch.setattr(client, "Backoff", lambda *_, **__: Backoff(0.1, longest=0.4))
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "wikidata,sec,gleif")
    with ExitStack() as servers:

        def serve(companies: int, around: Callable[[Behaviour], Behaviour]) -> list[LoopbackServer]:
            leis = {number: f"5299000000{number:08d}00" for number in range(companies)}
            known: Any = [
                item(f"Q{n + 1}", f"C{n}", P856=[f"https://company{n}.example/"], P1278=[lei], P5531=[str(n + 1)])
                for n, lei in leis.items()
            ]
            filers = sec(*(submission(str(n + 1), f"C{n}") for n in leis))
            entities = gleif(*(record(lei, f"C{n}") for n, lei in leis.items()))
            opened = [
                servers.enter_context(LoopbackServer(around(answer))) for answer in (wikidata(*known), filers, entities)
            ]
            settings = {
                **addresses(opened[0]),
                "DILIGENCE_SEC_DATA_URL": opened[1].url,
                "DILIGENCE_GLEIF_URL": opened[2].url,
            }
            for name, value in settings.items():
                monkeypatch.setenv(name, value)
            return opened

        yield serve


def refusing_now_and_then(answer: Behaviour) -> Behaviour:
    """Refuses two of seven calls, by chance: a pattern would meet the same callers again and again."""
    chance = random.Random(5)

    def behaviour(asked: Asked) -> Reply:
        return chance.choice(REFUSALS) if chance.random() < 2 / 7 else answer(asked)

    return behaviour


@pytest.mark.parametrize("companies", [6, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_a_batch_loses_no_source_while_each_refuses_now_and_then(
    serve: Callable[..., list[LoopbackServer]], companies: int
) -> None:
    serve(companies, refusing_now_and_then)

    with ThreadPoolExecutor(8) as batch:
        answers = list(batch.map(lambda n: facts_or_reason(f"company{n}.example"), range(companies)))

    lost = [answer for answer in answers if isinstance(answer, str) or answer.warnings]
    assert lost == []
    assert all(
        {claim.source for claim in answer.claims} == {"wikidata", "sec", "gleif"}
        for answer in answers
        if not isinstance(answer, str)
    )


def test_what_a_batch_waits_does_not_count_as_time_that_a_source_takes(
    serve: Callable[..., list[LoopbackServer]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_TIMEOUT", "0.9")
    calls = count(1)

    def busy_at_first(answer: Behaviour) -> Behaviour:
        return lambda asked: REFUSALS[0] if next(calls) == 1 else answer(asked)

    serve(1, busy_at_first)

    answer = facts_or_reason("company0.example")

    assert not isinstance(answer, str)
    assert answer.warnings == []


def test_a_source_that_refuses_for_longer_than_a_batch_waits_costs_the_next_company_no_wait(
    serve: Callable[..., list[LoopbackServer]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_PATIENCE", "0.1")
    entities = serve(3, lambda answer: answer)[2]
    entities.pages = lambda _: Reply(status=429)

    answers = [facts_or_reason(f"company{n}.example") for n in range(3)]

    assert all(not isinstance(answer, str) and len(answer.warnings) == 1 for answer in answers)
    assert len(entities.asked) <= 3 * 2


def test_a_source_out_of_reach_is_tried_once_and_told_once_a_company(
    serve: Callable[..., list[LoopbackServer]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "tasks.remote.retry")
    serve(4, lambda answer: answer)
    with LoopbackServer({}) as gone:
        pass
    monkeypatch.setenv("DILIGENCE_GLEIF_URL", gone.url)

    answers = [facts_or_reason(f"company{n}.example") for n in range(4)]

    assert len([line for line in caplog.messages if "Trying again" in line]) == 2
    for answer in answers:
        assert not isinstance(answer, str)
        assert answer.warnings == ["GLEIF cannot be reached."]

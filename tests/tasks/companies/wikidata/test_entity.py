"""The company of a domain: an exact join by the official website, and one search for all who ask."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tasks.companies.web.client import FetchLimits
from tasks.companies.wikidata import client as asking
from tasks.companies.wikidata.entity import ENTITIES, claimants, find_entity
from tasks.errors import BadRequest, NotConfigured, SourceFailed, TooManyRequests, Unavailable
from tests.cases import cases
from tests.companies_servers.wikidata import forget, item, item_value, lead_to, moment, statement, wikidata
from tests.web.behaviours import busy, json_reply
from tests.web.server import LoopbackServer, Reply

Serve = Callable[..., LoopbackServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Lets Wikidata know these items: `serve(item("Q1", "Alpha", P856=[...]))`."""
    forget(monkeypatch)
    with LoopbackServer() as server:

        def serve(*items: dict[str, Any], **more: Any) -> LoopbackServer:
            lead_to(server, monkeypatch)
            server.pages = wikidata(*items, **more)
            return server

        yield serve


def chosen() -> tuple[str, tuple[str, ...]]:
    """The company of the domain, and the others that might be it."""
    entity = find_entity("alpha.example")
    assert entity is not None
    return entity.id, entity.others


def taken(domain: str = "alpha.example") -> str | None:
    entity = find_entity(domain)
    return None if entity is None else entity.id


@cases(
    "site",
    [
        "https://alpha.example",
        "https://alpha.example/",
        "http://alpha.example",
        "http://alpha.example/",
        "https://www.alpha.example",
        "http://www.alpha.example/",
        "https://www.alpha.example/en/",
        "https://www.alpha.example/global/en/home.html",
        "http://alpha.example/default.aspx",
        "https://www.alpha.example/?lang=en",
        "https://www.alpha.example/de-DE",
    ],
)
def test_a_company_is_found_however_its_website_is_written(serve: Serve, site: str) -> None:
    serve(
        item(
            "Q1",
            "Alpha",
            wikipedia="Alpha (company)",
            P856=[site],
            P5531=["320193"],
            P1278=["HWUPKR0MPOU8FGXBT394", "no number"],
        )
    )

    entity = find_entity("Alpha.Example.")

    assert entity is not None
    assert (entity.id, entity.name, entity.wikipedia) == ("Q1", "Alpha", "Alpha (company)")
    assert entity.ciks == ("0000320193",)
    assert entity.leis == ("HWUPKR0MPOU8FGXBT394",)
    assert entity.others == ()


@pytest.mark.parametrize("site", ["http://www.Alpha.example", "https://alpha.example/fr/"])
def test_a_part_of_the_company_is_not_taken_because_its_address_is_the_more_usual(serve: Serve, site: str) -> None:
    part = item("Q2", "Alpha Grid", P856=["https://alpha.example/"])
    serve(item("Q1", "Alpha", P856=[site], P5531=["320193"]), part)
    assert taken() == "Q1"
    serve(item("Q1", "Alpha", P856=[site]), part)
    ENTITIES.clear()
    assert taken() is None
    assert claimants("alpha.example") == ("Alpha (Q1)", "Alpha Grid (Q2)")


@cases(
    "site",
    [
        "https://alpha.example.com/",
        "https://shop.alpha.example/",
        "https://notalpha.example/",
        "https://beta.example/alpha.example",
        "https://alpha.example:8443/",
        "https://alpha.example@beta.example/",
        "https://alpha.example/products/pump",
        "https://alpha.example/healthcare",
        "https://alpha.example/pg/",
        "https://alpha.example/ub",
        "https://alpha.example/ja-ss/",
    ],
)
def test_another_host_is_not_its_website_even_where_a_query_service_says_so(serve: Serve, site: str) -> None:
    server = serve()
    known = wikidata(item("Q1", "Alpha", P856=[site]))
    row = {
        "item": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1"},
        "site": {"type": "uri", "value": site},
    }
    server.pages = lambda asked: (
        json_reply({"results": {"bindings": [row]}}) if asked.path == "/sparql" else known(asked)
    )

    assert find_entity("alpha.example") is None


def test_what_an_item_says_counts_and_not_how_the_query_service_says_it(serve: Serve) -> None:
    server = serve(
        item("Q1", "Alpha", P856=["https://alpha.example/"]), item("Q2", "Beta", P856=["https://beta.example"])
    )
    known = server.pages
    assert callable(known)
    rows = [{"item": {"type": "uri", "value": f"http://www.wikidata.org/entity/{id_}"}} for id_ in ("Q2", "Q1", "Q7")]
    server.pages = lambda asked: (
        json_reply({"results": {"bindings": [{"item": {"value": 7}}, *rows]}})
        if asked.path == "/sparql"
        else known(asked)
    )
    assert taken() == "Q1"


def test_an_international_name_is_found_in_either_form(serve: Serve) -> None:
    serve(item("Q1", "Müller", P856=["https://www.müller.example/"]))
    assert taken("xn--mller-kva.example") == "Q1"


@pytest.mark.parametrize(
    "alone",
    [
        item("Q1", "Alpha", P856=[statement("https://alpha.example/", "deprecated"), "https://beta.example/"]),
        item("Q1", "A. Person", P31=[item_value("Q5")], P856=["https://alpha.example/"]),
        item("Q1", "Beta", P856=["https://beta.example/"], P973=["https://alpha.example/"]),
        item("Q1", "alpha.example", aliases=("Alpha",)),
    ],
    ids=["deprecated website", "person", "address in another property", "name alone"],
)
def test_what_does_not_make_an_item_the_company(serve: Serve, alone: Any) -> None:
    serve(alone)
    assert taken() is None


def test_the_preferred_website_decides_between_several(serve: Serve) -> None:
    serve(
        item("Q1", "Old Alpha", P856=["https://alpha.example/"]),
        item("Q2", "Alpha", P856=[statement("https://alpha.example/", "preferred"), "https://a.example"]),
        item("Q3", "Beta", P856=["https://alpha.example/", statement("https://beta.example/", "preferred")]),
    )
    assert chosen() == ("Q2", ())


def test_a_website_that_was_given_up_stands_behind_todays(serve: Serve) -> None:
    serve(
        item("Q1", "Gamma", P856=[statement("https://alpha.example/", "preferred", P582=moment("2019"))]),
        item("Q2", "Alpha", P856=["https://alpha.example/"]),
    )
    assert taken() == "Q2"


def test_the_top_parent_decides_between_equals(serve: Serve) -> None:
    site: dict[str, Any] = {"P856": ["https://alpha.example/"]}
    serve(
        item("Q1", "Alpha Shop", **site, P749=[item_value("Q2")]),
        item("Q2", "Alpha Retail", **site, P127=[item_value("Q3")]),
        item("Q3", "Alpha", **site, P749=[item_value("Q99")]),
    )
    assert chosen() == ("Q3", ())


def test_a_parent_of_former_times_is_none(serve: Serve) -> None:
    site: dict[str, Any] = {"P856": ["https://alpha.example/"]}
    former = statement(item_value("Q2"), P582=moment("2001"))
    serve(item("Q1", "Alpha", **site, P749=[former]), item("Q2", "Beta", **site))
    assert find_entity("alpha.example") is None
    assert claimants("alpha.example") == ("Alpha (Q1)", "Beta (Q2)")


def test_of_two_that_claim_a_domain_the_one_with_a_legal_entitys_identifier_is_taken(serve: Serve) -> None:
    company: dict[str, Any] = {"P856": ["https://alpha.example/"], "P452": [item_value("Q9")]}
    serve(item("Q1", "Alpha Brand", **company), item("Q2", "Alpha", **company, P1278=["HWUPKR0MPOU8FGXBT394"]))
    assert chosen() == ("Q2", ("Alpha Brand (Q1)",))
    assert claimants("alpha.example") == ()


def test_those_that_own_each_other_are_named_and_the_living_company_taken(serve: Serve) -> None:
    site: dict[str, Any] = {"P856": ["https://alpha.example/"], "P452": [item_value("Q9")]}
    serve(
        item("Q1", "Alpha One", **site, P576=[moment("2010")], P127=[item_value("Q2")]),
        item("Q2", "Alpha Two", **site, P127=[item_value("Q1")]),
    )
    assert chosen() == ("Q2", ("Alpha One (Q1)",))


def test_a_company_with_a_thousand_officers_is_read(serve: Serve) -> None:
    officers = [item_value(f"Q{number}") for number in range(10, 1210)]
    serve(item("Q1", "Alpha", P856=["https://alpha.example/"], P169=officers, P112=officers))
    assert taken() == "Q1"


def test_a_merged_item_is_the_one_it_was_merged_into(serve: Serve) -> None:
    serve(item("Q1", "Alpha", P856=["https://alpha.example/"]), merged={"Q2": "Q1"})
    assert chosen() == ("Q1", ())


def test_those_who_ask_at_once_and_soon_after_share_one_search(serve: Serve) -> None:
    server = serve(item("Q1", "Alpha", P856=["https://alpha.example/"], P5531=["1"]))
    with ThreadPoolExecutor(12) as pool:
        ids = list(pool.map(taken, ["alpha.example"] * 12))
    assert ids == ["Q1"] * 12
    assert server.paths() == ["/sparql", "/wiki/Special:EntityData/Q1.json"]


def test_nothing_is_remembered_where_settings_say_so(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(item("Q1", "Alpha", P856=["https://alpha.example/"]))
    monkeypatch.setenv("DILIGENCE_FACTS_MAX_AGE", "0")
    assert taken() == "Q1"
    server.pages = wikidata()
    assert taken() is None


def test_without_a_contact_wikimedia_is_not_asked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(item("Q1", "Alpha", P856=["https://alpha.example/"]))
    monkeypatch.delenv("DILIGENCE_CONTACT")

    with pytest.raises(NotConfigured, match="DILIGENCE_CONTACT"):
        find_entity("alpha.example")

    assert server.asked == []


def test_a_failure_is_not_remembered(serve: Serve) -> None:
    server = serve(item("Q1", "Alpha", P856=["https://alpha.example/"]))
    server.then(Reply(b"no", 403))
    with pytest.raises(SourceFailed, match="Wikidata"):
        find_entity("alpha.example")
    assert taken() == "Q1"


def test_a_busy_wikidata_is_asked_again_when_it_wants_to_be(serve: Serve) -> None:
    server = serve(item("Q1", "Alpha", P856=["https://alpha.example/"]))
    server.then(busy(429, "1"))
    assert taken() == "Q1"
    assert server.begun[1] - server.begun[0] >= 1


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"[]",
        b'{"results": 1}',
        b'{"results": {"bindings": [1]}}',
        b'{"results": {"bindings": [{"item": 1}]}}',
    ],
)
def test_an_answer_that_is_none_is_an_error_and_not_an_unknown_company(serve: Serve, answer: bytes) -> None:
    serve().pages = {"/sparql": Reply(answer)}
    with pytest.raises(SourceFailed, match="Wikidata"):
        find_entity("alpha.example")


@pytest.mark.parametrize(
    "answer",
    [
        b"{}",
        b'{"entities": {}}',
        b'{"entities": {"Q1": {"id": "../Q1"}}}',
        b'{"entities": {"Q1": {"id": "Q1", "labels": [], "claims": 1}}}',
        b'{"entities": {"Q1": {"id": "Q1", "claims": {"P856": [{"mainsnak": {"datavalue": 1}}]}}}}',
    ],
)
def test_an_item_that_is_none_is_an_error(serve: Serve, answer: bytes) -> None:
    server = serve(item("Q1", "Alpha", P856=["https://alpha.example/"]))
    known = server.pages
    assert callable(known)
    server.pages = lambda asked: Reply(answer) if "EntityData" in asked.path else known(asked)
    with pytest.raises(SourceFailed, match="Wikidata"):
        find_entity("alpha.example")


def test_a_subdomain_is_refused(serve: Serve) -> None:
    serve()
    with pytest.raises(BadRequest):
        find_entity("www.alpha.example")


def test_a_wikidata_that_wants_to_be_left_alone_is(serve: Serve) -> None:
    server = serve()
    server.pages = {"/sparql": busy(429, "3000")}
    for _ in range(2):
        with pytest.raises(TooManyRequests, match="Wikidata"):
            find_entity("alpha.example")
    assert len(server.asked) == 1


def test_wikidata_out_of_reach_is_an_error(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    serve()
    monkeypatch.setitem(asking.WIKIDATA, "limits", FetchLimits(attempts=1))
    with LoopbackServer() as gone:
        monkeypatch.setenv("DILIGENCE_WIKIDATA_SPARQL_URL", f"{gone.url}/sparql")
    with pytest.raises(Unavailable, match="Wikidata cannot be reached"):
        find_entity("alpha.example")

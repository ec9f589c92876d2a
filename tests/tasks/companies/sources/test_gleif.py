"""The source `gleif`: a legal entity by its LEI, or by name, country and another fact."""

from collections.abc import Callable
from typing import Any

import pytest

from tasks.companies.sources.gleif import open_source
from tasks.companies.wikidata.entity import ENTITIES
from tasks.errors import BadRequest, SourceFailed
from tests.cases import cases
from tests.companies_servers.gleif import MUNICH, record
from tests.companies_servers.gleif import gleif as register
from tests.companies_servers.wikidata import item_value, moment, statement
from tests.tasks.companies.sources.conftest import claimed, values_of
from tests.web.behaviours import json_reply, page
from tests.web.server import LoopbackServer

ALPHA, BETA, GAMMA = "529900K9B0N5BT694847", "7LTWFZYICNSX8D621K86", "213800WSGIIZCXF1P572"
Serve = Callable[..., LoopbackServer]


@pytest.fixture
def serve(
    facts: object, in_wikidata: Callable[..., None], server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> Serve:
    """Lets GLEIF know these records, and Wikidata the LEIs and the name of the company of alpha.example."""

    def serve(
        *records: dict[str, Any],
        leis: tuple[str, ...] = (ALPHA,),
        name: str | None = "Alpha",
        wikidata: Any = None,
        **more: Any,
    ) -> LoopbackServer:
        in_wikidata(name, P1278=list(leis), **(wikidata or {}))
        monkeypatch.setenv("DILIGENCE_GLEIF_URL", server.url)
        server.pages = register(*records, **more)
        return server

    return serve


def test_a_record_is_read_whole(serve: Serve) -> None:
    form = {"id": "8888", "other": "Societas Europaea"}
    server = serve(record(ALPHA, "Alpha SE", legalForm=form))

    answer = claimed(open_source())

    assert values_of(answer) == {
        "name": "Alpha SE",
        "hq": {
            "country": "DE",
            "city": "München",
            "postal_code": "80802",
            "line_1": "Königinstr. 28",
            "is_hq": True,
            "state": "BY",
        },
        "extra.founding_date": {"day": 5, "month": 2, "year": 1890},
        "extra.operating_status": "Active",
        "extra.company_type": "Societas Europaea",
    }
    assert {claim.as_of for claim in answer.claims} == {"2026-04-02T06:30:11Z"}
    assert {claim.url for claim in answer.claims} == {f"{server.url}/api/v1/lei-records/{ALPHA}"}
    assert server.asked[0].headers["accept"] == "application/vnd.api+json"
    assert len(server.asked) == 1


def test_parents_are_affiliated_companies_each_once(serve: Serve) -> None:
    both = {f"{ALPHA}/direct-parent": BETA, f"{ALPHA}/ultimate-parent": BETA}
    alpha = record(ALPHA, "Alpha GmbH", parents=["direct-parent", "ultimate-parent"])
    serve(alpha, record(BETA, "Beta Holding SE"), parents=both)

    assert values_of(claimed(open_source()))["affiliated_companies"] == [
        {
            "name": "Beta Holding SE",
            "link": f"https://search.gleif.org/#/record/{BETA}",
            "industry": None,
            "location": None,
        }
    ]


def test_a_parent_that_cannot_be_asked_does_not_take_the_record_with_it(serve: Serve) -> None:
    server = serve(record(ALPHA, "Alpha GmbH", parents=["direct-parent"]))
    own = server.pages
    assert callable(own)
    server.pages = lambda asked: page("<p>Sorry") if asked.path.endswith("parent") else own(asked)

    answer = claimed(open_source())

    assert values_of(answer)["name"] == "Alpha GmbH"
    assert len(answer.warnings) == 1
    assert answer.warnings[0].startswith("The parent companies are left out. GLEIF")


@cases(
    ("creation_date", "day"),
    [
        ("1977-01-03T00:00:00Z", {"day": 3, "month": 1, "year": 1977}),
        ("2003-12-31T23:00:00Z", {"day": 1, "month": 1, "year": 2004}),
        ("1977-01-03T08:00:00Z", {"day": 3, "month": 1, "year": 1977}),
        ("1890-02-05", {"day": 5, "month": 2, "year": 1890}),
        ("9999-12-31T23:00:00Z", None),
        ("long ago", None),
        (None, None),
    ],
)
def test_the_day_of_creation_is_the_local_one(serve: Serve, creation_date: Any, day: dict[str, int] | None) -> None:
    serve(record(ALPHA, "Alpha", creationDate=creation_date))

    assert values_of(claimed(open_source())).get("extra.founding_date") == day


IN_MUNICH: Any = {
    "P159": [statement(item_value("Q1726"), P17=item_value("Q183"), P281="80802")],
    "P571": [moment("1890")],
}
"""What Wikidata says of a company in Germany that was founded in 1890."""


@pytest.mark.parametrize(
    ("agreeing", "fact"),
    [
        (IN_MUNICH, "postal code"),
        ({**IN_MUNICH, "P159": [statement(item_value("Q5"), P17=item_value("Q183"))]}, "founding year"),
    ],
)
def test_without_an_lei_an_entity_is_taken_by_name_country_and_another_fact(
    serve: Serve, agreeing: Any, fact: str
) -> None:
    serve(record(ALPHA, "Alpha GmbH"), record(BETA, "Alpha Industries GmbH"), leis=(), wikidata=agreeing)

    answer = claimed(open_source())

    assert values_of(answer)["name"] == "Alpha GmbH"
    assert answer.warnings == [
        f"No LEI is known for this website: GLEIF's Alpha GmbH (LEI {ALPHA}) was taken by name, country and {fact}."
    ]


@pytest.mark.parametrize(
    "agreeing",
    [
        {},
        {"P571": [moment("1890")]},
        {"P159": [statement(item_value("Q5"), P17=item_value("Q183"))]},
        {"P159": [statement(item_value("Q5"), P17=item_value("Q668"), P281="80802")], "P571": [moment("1890")]},
    ],
    ids=["nothing", "year without country", "country alone", "another country"],
)
def test_an_entity_of_the_name_alone_is_a_possible_match_and_no_claim(serve: Serve, agreeing: Any) -> None:
    serve(record(ALPHA, "Alpha GmbH"), leis=(), wikidata=agreeing)

    answer = claimed(open_source())

    assert answer.claims == []
    assert answer.warnings[0].startswith(
        f"Possible match by name alone, not used: GLEIF's Alpha GmbH (LEI {ALPHA}) in München, DE. "
    )


def test_of_two_entities_of_one_name_in_one_country_none_is_taken_unless_a_fact_tells_them_apart(serve: Serve) -> None:
    elsewhere = {**MUNICH, "city": "Berlin", "postalCode": "10115"}
    in_munich, in_berlin = record(ALPHA, "Alpha GmbH"), record(BETA, "ALPHA AG", headquarters=elsewhere)
    serve(in_munich, in_berlin, leis=(), wikidata={"P159": IN_MUNICH["P159"]})
    told_apart = claimed(open_source())
    ENTITIES.clear()
    serve(in_munich, in_berlin, leis=(), wikidata={"P571": [moment("1890")], "P17": [item_value("Q183")]})
    alike = claimed(open_source())

    assert values_of(told_apart)["name"] == "Alpha GmbH"
    assert alike.claims == []
    assert f"Alpha GmbH (LEI {ALPHA}) in München, DE; ALPHA AG (LEI {BETA}) in Berlin, DE." in alike.warnings[0]


def test_a_name_with_more_likenesses_than_were_looked_through_is_not_taken(serve: Serve) -> None:
    others = [record(f"{number:018}00", f"Alpha {number} GmbH") for number in range(60)]
    serve(record(ALPHA, "Alpha GmbH"), *others, leis=(), wikidata=IN_MUNICH)

    answer = claimed(open_source())

    assert answer.claims == []


@pytest.mark.parametrize("name", ["Alph", "Alpha AG", None])
def test_a_name_that_is_only_alike_is_unknown(serve: Serve, name: str | None) -> None:
    serve(record(ALPHA, "Alpha GmbH"), leis=(), name=name)

    assert open_source().facts("alpha.example") is None


def test_a_register_that_answers_html_with_200_fails_and_is_not_unknown(serve: Serve) -> None:
    serve().pages = lambda _: page("<h1>Maintenance</h1>")

    with pytest.raises(SourceFailed, match="GLEIF did not return the expected JSON"):
        open_source().facts("alpha.example")


def test_of_several_records_the_living_one_that_was_updated_last_is_taken(serve: Serve) -> None:
    serve(
        record(ALPHA, "Alpha Old GmbH", status="INACTIVE", updated="2026-09-01T00:00:00Z"),
        record(BETA, "Alpha GmbH", updated="2026-01-01T00:00:00Z"),
        record(GAMMA, "Alpha Trading GmbH", updated="2025-01-01T00:00:00Z"),
        leis=(ALPHA, BETA, GAMMA),
    )

    answer = claimed(open_source())

    assert values_of(answer)["name"] == "Alpha GmbH"
    others = f"others: Alpha Old GmbH (LEI {ALPHA}), Alpha Trading GmbH (LEI {GAMMA})."
    assert answer.warnings[0].endswith(f"Alpha GmbH (LEI {BETA}) was taken; {others}")


def test_a_dissolved_entity_is_told_as_such(serve: Serve) -> None:
    serve(record(ALPHA, "Alpha GmbH", status="INACTIVE"))

    assert values_of(claimed(open_source()))["extra.operating_status"] == "Inactive"


def test_what_neither_wikidata_nor_gleif_knows_is_none(serve: Serve) -> None:
    server = serve(record(BETA, "Beta"), leis=(ALPHA, "../../etc", "short"))

    assert open_source().facts("unknown.example") is None
    assert open_source().facts("alpha.example") is None
    assert server.paths() == [f"/api/v1/lei-records/{ALPHA}"]


@pytest.mark.parametrize(
    "reply",
    [
        json_reply({"errors": [{"status": "500", "title": "Internal"}]}),
        json_reply({"data": 7, "errors": []}),
        json_reply([]),
        json_reply({}),
        page("<p>Sorry"),
    ],
)
def test_an_answer_without_records_is_the_sources_failure(serve: Serve, reply: Any) -> None:
    server = serve()
    server.pages = lambda _: reply

    with pytest.raises(SourceFailed, match="GLEIF"):
        open_source().facts("alpha.example")


def test_parts_of_a_wrong_kind_are_passed_over(serve: Serve) -> None:
    odd = record(ALPHA, "Alpha\u202e\u0007", legalForm="GmbH", status=["ACTIVE"], creationDate=1890)
    odd["attributes"]["entity"]["headquartersAddress"] = {"country": "Germany", "city": 5, "addressLines": "x"}
    odd["attributes"]["registration"] = None
    odd["relationships"] = [1]
    serve(odd)

    answer = claimed(open_source())

    assert values_of(answer) == {"name": "Alpha"}
    assert answer.claims[0].as_of is None


def test_what_is_no_registrable_domain_is_not_looked_up(serve: Serve) -> None:
    server = serve(record(ALPHA, "Alpha"))

    with pytest.raises(BadRequest):
        open_source().facts("www.alpha.example")

    assert server.asked == []

"""The source `sec`: a company by its CIK, in the shapes that EDGAR has."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tasks.companies.sources.sec import headquarters, open_source
from tasks.errors import BadRequest, NotConfigured, SourceFailed
from tests.cases import cases
from tests.companies_servers.sec import LONDON, sec, submission
from tests.companies_servers.wikidata import lead_to
from tests.tasks.companies.sources.conftest import claimed, values_of
from tests.web.behaviours import json_reply, page
from tests.web.server import LoopbackServer, Reply

Serve = Callable[..., LoopbackServer]


@pytest.fixture
def serve(facts: object, in_wikidata: Callable[..., None], edgar: LoopbackServer) -> Serve:
    """Lets EDGAR know these companies, and Wikidata their CIKs: `serve(submission("320193", "Apple Inc."))`."""

    def serve(*submissions: dict[str, Any], ciks: Sequence[str] | None = None) -> LoopbackServer:
        in_wikidata("Alpha", P5531=[company["cik"] for company in submissions] if ciks is None else list(ciks))
        edgar.pages = sec(*submissions)
        return edgar

    return serve


def test_a_listed_company_is_read_whole(serve: Serve) -> None:
    server = serve(submission("320193", "Apple Inc.", tickers=["AAPL"]))

    answer = claimed(open_source())

    assert values_of(answer) == {
        "name": "Apple Inc.",
        "industry": "Electronic Computers",
        "hq": {
            "country": "US",
            "city": "CUPERTINO",
            "postal_code": "95014",
            "line_1": "ONE APPLE PARK WAY",
            "is_hq": True,
            "state": "CA",
        },
        "extra.phone_number": "+1 408-996-1010",
        "company_type": "PUBLIC_COMPANY",
        "extra.ipo_status": "Public",
        "extra.stock_symbol": "AAPL",
    }
    assert {claim.as_of for claim in answer.claims} == {"2026-10-30"}
    assert {claim.url for claim in answer.claims} == {f"{server.url}/submissions/CIK0000320193.json"}
    assert answer.warnings == []


def test_a_company_without_a_ticker_is_not_called_public(serve: Serve) -> None:
    serve(submission("1", "Alpha Bonds Inc."))

    assert {"company_type", "extra.ipo_status", "extra.stock_symbol"}.isdisjoint(values_of(claimed(open_source())))


def test_a_foreign_company_lies_in_its_country(serve: Serve) -> None:
    serve(submission("1306965", "Shell plc", tickers=["SHEL"], business=LONDON, phone="44 20 7934 1234"))

    values = values_of(claimed(open_source()))

    assert values["hq"] == {
        "country": "GB",
        "city": "LONDON",
        "postal_code": "SE1 7NA",
        "line_1": "SHELL CENTRE, YORK ROAD",
        "is_hq": True,
        "state": None,
    }
    assert values["extra.phone_number"] == "44 20 7934 1234"


@cases(
    ("address", "country", "state"),
    [
        ({"stateOrCountry": "DE"}, "US", "DE"),
        ({"stateOrCountry": "PR"}, "US", "PR"),
        ({"stateOrCountry": "2M", "stateOrCountryDescription": "Germany"}, "DE", None),
        ({"stateOrCountry": "A6", "stateOrCountryDescription": "Ontario, Canada"}, "CA", "ON"),
        ({"isForeignLocation": 1, "countryCode": "A8", "foreignStateTerritory": "QUEBEC"}, "CA", "QC"),
        ({"isForeignLocation": 1, "countryCode": "Z4", "foreignStateTerritory": "ONTARIO"}, "CA", "ONTARIO"),
        ({"isForeignLocation": 1, "countryCode": "JP"}, "JP", None),
        ({"isForeignLocation": 1, "countryCode": "XX"}, None, None),
        ({"stateOrCountry": "QQ"}, None, None),
        ({"stateOrCountry": 7, "countryCode": ["X0"]}, None, None),
    ],
)
def test_edgars_codes_are_places(address: dict[str, Any], country: str | None, state: str | None) -> None:
    place = headquarters({"city": "X", **address})

    assert place is not None
    assert (place["country"], place["state"]) == (country, state)


@pytest.mark.parametrize("address", [None, {}, [], {"city": " ", "street1": None}])
def test_an_address_that_says_nothing_is_none(address: Any) -> None:
    assert headquarters(address) is None


def test_of_several_registrants_the_listed_one_is_taken_and_the_others_are_named(serve: Serve) -> None:
    serve(
        submission("1", "Alpha Finance LLC", filed=["2026-11-01"]),
        submission("2", "Alpha Inc.", tickers=["ALPH"], filed=["2026-02-01"]),
    )

    answer = claimed(open_source())

    assert values_of(answer)["name"] == "Alpha Inc."
    assert "Alpha Inc. (CIK 0000000002) was taken; others: Alpha Finance LLC (CIK 0000000001)" in answer.warnings[0]


def test_of_several_registrants_without_tickers_the_one_that_filed_last_is_taken(serve: Serve) -> None:
    serve(submission("1", "Alpha Old Inc.", filed=["2009-05-01"]), submission("2", "Alpha New Inc."))

    assert values_of(claimed(open_source()))["name"] == "Alpha New Inc."


def test_a_company_that_wikidata_or_the_sec_does_not_know_is_none(serve: Serve) -> None:
    server = serve(submission("1", "Alpha"), ciks=("0000000009", "12-34", "../x"))

    assert open_source().facts("unknown.example") is None
    assert open_source().facts("alpha.example") is None
    assert server.paths() == ["/submissions/CIK0000000009.json"]


@pytest.mark.usefixtures("facts")
def test_the_public_address_wants_a_contact(in_wikidata: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    in_wikidata("Alpha", P5531=["0000000001"])
    monkeypatch.delenv("DILIGENCE_CONTACT", raising=False)
    monkeypatch.delenv("DILIGENCE_SEC_DATA_URL", raising=False)

    with pytest.raises(NotConfigured, match="DILIGENCE_CONTACT"):
        open_source().facts("alpha.example")


def test_where_wikidata_cannot_be_asked_no_company_is_unknown(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(submission("1", "Alpha"))
    with LoopbackServer(lambda _: page("<p>Sorry")) as broken:
        lead_to(broken, monkeypatch)
        with pytest.raises(SourceFailed):
            open_source().facts("alpha.example")

    assert server.asked == []


def test_a_refusal_says_what_the_sec_wants(serve: Serve) -> None:
    server = serve(submission("1", "Alpha"))
    server.pages = lambda _: Reply(b"<title>SEC.gov | Request Rate Threshold Exceeded</title>", 403)

    with pytest.raises(SourceFailed, match=r"HTTP 403.*DILIGENCE_CONTACT"):
        open_source().facts("alpha.example")

    assert len(server.asked) == 1


@pytest.mark.parametrize("reply", [json_reply([1]), page("<p>Sorry"), json_reply("x")])
def test_an_answer_that_is_no_submission_is_the_sources_failure(serve: Serve, reply: Any) -> None:
    server = serve(submission("1", "Alpha"))
    server.pages = lambda _: reply

    with pytest.raises(SourceFailed, match="The SEC"):
        open_source().facts("alpha.example")


def test_parts_of_a_wrong_kind_are_passed_over(serve: Serve) -> None:
    odd = submission("1", "Alpha\u0000\u202e  Inc.", tickers=["ALPH"])
    odd |= {"sicDescription": 7, "addresses": [], "phone": {}, "filings": {"recent": {"filingDate": "soon"}}}
    odd |= {"tickers": [None, 5, "ALPH"], "website": "javascript:alert(1)", "description": {"deep": [1]}}
    serve(odd)

    answer = claimed(open_source())

    assert values_of(answer)["name"] == "Alpha Inc."
    assert set(values_of(answer)) == {"name", "company_type", "extra.ipo_status", "extra.stock_symbol"}
    assert {claim.as_of for claim in answer.claims} == {None}


def test_what_is_no_registrable_domain_is_not_looked_up(serve: Serve) -> None:
    server = serve(submission("1", "Alpha"))

    with pytest.raises(BadRequest):
        open_source().facts("www.alpha.example")

    assert server.asked == []

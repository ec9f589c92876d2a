"""The source `wikidata`: what an item says of a company, in the shapes that Wikidata and Wikipedia have."""

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tasks.companies.claims import Claim, SourceClaims
from tasks.companies.sources.wikidata import open_source
from tests.cases import cases
from tests.companies_servers.wikidata import (
    article,
    forget,
    in_language,
    item,
    item_value,
    lead_to,
    moment,
    money,
    quantity,
    statement,
    wikidata,
)
from tests.tasks.companies.sources.conftest import claimed, values_of
from tests.web.behaviours import busy
from tests.web.server import Asked, LoopbackServer, Reply

Serve = Callable[..., LoopbackServer]
SITE = "https://www.alpha.example/"
TERMS = (
    item("Q183", "Germany", P297=["DE"]),
    item("Q31", "Belgium", P297=["BE"]),
    item("Q64", "Berlin", P17=[item_value("Q183")]),
    item("Q70", "Ghent", P17=[item_value("Q31")]),
    item("Q880", "software industry"),
    item("Q881", labels={"mul": "logistics"}),
    item("Q882", labels={"de": "Handel"}),
    item("Q50", "Beta Holding"),
    item("Q51", "Gamma"),
)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Lets Wikidata know a company at alpha.example: `serve(P571=[moment("2015")])`, and the items of `TERMS`."""
    forget(monkeypatch)
    with LoopbackServer() as server:
        lead_to(server, monkeypatch)

        def serve(*more: Any, articles: Any = (), **claims: Any) -> LoopbackServer:
            alpha = item("Q1", **{"label": "Alpha", "P856": [SITE], **claims})
            server.pages = wikidata(alpha, *TERMS, *more, articles=articles)
            return server

        yield serve


def facts(domain: str = "alpha.example") -> SourceClaims:
    return claimed(open_source(), domain)


def claims() -> dict[str, Claim]:
    return {claim.field: claim for claim in facts().claims}


def value_of(field: str) -> Any:
    claim = claims().get(field)
    return claim and claim.value


def test_a_whole_company(serve: Serve) -> None:
    server = serve(
        label="Alpha",
        description="German software company",
        wikipedia="Alpha (company)",
        articles=(article("Alpha (company)", "Alpha GmbH is a company.\nIt is in Berlin.", "Q1"),),
        P31=[item_value("Q5621421")],
        P1448=[in_language("Alpha GmbH", "mul")],
        P452=[item_value("Q880"), item_value("Q881"), item_value("Q882")],
        P1128=[statement(quantity(240), P585=moment("2025-03")), statement(quantity(90), P585=moment("2019"))],
        P159=[statement(item_value("Q64"), P6375=in_language("Spree 1", "de"), P281="10115")],
        P571=[statement(moment("2015-04-01"), read="2025-06-07")],
        P4264=["alpha-gmbh"],
        P154=["Alpha logo, new.svg"],
        P749=[item_value("Q50")],
        P355=[item_value("Q51"), statement(item_value("Q31"), P582=moment("2020"))],
        P1329=["+49-30-1234567"],
        P2013=["alphagmbh"],
        P2002=["alpha"],
        P2088=["alpha"],
    )

    answer = facts()

    assert values_of(answer) == {
        "name": "Alpha GmbH",
        "website": SITE,
        "description": "Alpha GmbH is a company.\nIt is in Berlin.",
        "industry": "software industry",
        "categories": ["software industry", "logistics"],
        "company_size": [201, 500],
        "hq": {
            "country": "DE",
            "city": "Berlin",
            "postal_code": "10115",
            "line_1": "Spree 1",
            "is_hq": True,
            "state": None,
        },
        "company_type": "PRIVATELY_HELD",
        "founded_year": 2015,
        "extra.founding_date": {"day": 1, "month": 4, "year": 2015},
        "universal_name_id": "alpha-gmbh",
        "social_url": "https://www.linkedin.com/company/alpha-gmbh",
        "profile_pic_url": "https://commons.wikimedia.org/wiki/Special:FilePath/Alpha_logo%2C_new.svg",
        "affiliated_companies": [
            {"name": "Beta Holding", "link": f"{server.url}/wiki/Q50", "industry": None, "location": None},
            {"name": "Gamma", "link": f"{server.url}/wiki/Q51", "industry": None, "location": None},
        ],
        "extra.ipo_status": "Private",
        "extra.phone_number": "+49-30-1234567",
        "extra.network_a_id": "alphagmbh",
        "extra.network_b_id": "alpha",
        "extra.employee_count": 240,
        "extra.funding_db_profile_url": "https://www.crunchbase.com/organization/alpha",
    }
    assert answer.warnings == []


def test_a_claim_leads_to_its_page_and_says_of_when_it_is(serve: Serve) -> None:
    server = serve(
        wikipedia="Alpha",
        articles=(article("Alpha", "It is a company.", "Q1"),),
        P1128=[statement(quantity(240), P585=moment("2025-03"), read="2025-11-12")],
        P571=[statement(moment("2015"), read="2025-06-07")],
        P2002=[statement("alpha", P580=moment("2011-05-06"))],
        P2013=[statement("alpha", read="2999-01-01")],
    )
    known = claims()
    assert known["company_size"].as_of == "2025-03"
    assert known["founded_year"].as_of == "2025-06-07"
    assert known["extra.network_b_id"].as_of == "2011-05-06"
    assert known["extra.network_a_id"].as_of is None  # a day to come
    assert known["description"].as_of == "2026-02-03"
    assert known["description"].url == f"{server.url}/wiki/Alpha"
    assert {claim.url for field, claim in known.items() if field != "description"} == {f"{server.url}/wiki/Q1"}


def test_a_company_takes_a_few_requests(serve: Serve) -> None:
    server = serve(P5531=["1"], P452=[item_value("Q880")], P159=[item_value("Q64")], P355=[item_value("Q51")])
    facts()
    assert server.paths() == ["/sparql", "/wiki/Special:EntityData/Q1.json", "/sparql"]


def test_a_little_known_company_claims_little(serve: Serve) -> None:
    server = serve()
    assert {field: claim.value for field, claim in claims().items()} == {"name": "Alpha", "website": SITE}
    assert server.paths() == ["/sparql", "/wiki/Special:EntityData/Q1.json", "/w/api.php", "/w/api.php"]


def test_an_unknown_company_is_none(serve: Serve) -> None:
    serve()
    assert open_source().facts("beta.example") is None


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, [1, 1]), (2, [2, 10]), (50, [11, 50]), (10_000, [5001, 10_000]), (10_001, [10_001, None]), (0, None)],
)
def test_a_head_count_becomes_its_range(serve: Serve, count: int, size: list[int | None] | None) -> None:
    serve(P1128=[quantity(count)])
    assert value_of("company_size") == size


def test_the_latest_head_count_of_the_whole_company_counts(serve: Serve) -> None:
    serve(
        P1128=[
            statement(quantity(5), "preferred", P585=moment("2011")),
            statement(quantity(70), P585=moment("2023-12-31")),
            statement(quantity(3000), "deprecated", P585=moment("2024")),
            statement(quantity(2), P585=moment("2024"), P518=item_value("Q183")),
            statement(None, P585=moment("2025")),
            quantity(900),
        ]
    )
    assert value_of("company_size") == [51, 200]
    assert value_of("extra.employee_count") == 70


def test_revenue_is_that_of_the_last_years_in_a_currency(serve: Serve) -> None:
    serve(
        P2139=[
            statement(money(9_100_000, "Q4916"), P585=moment("2023")),
            statement(money(9_400_000, "Q4916"), "preferred", P585=moment("2024-12-31")),
            statement(money(9_999_999, "Q4916"), P585=moment("2024-12-31")),  # of a lower rank
            statement(money(7_000_000, "Q4916"), "deprecated", P585=moment("2025")),
            statement(money(2_000_000, "Q4916"), P585=moment("2025"), P518=item_value("Q183")),  # a part
            statement(quantity(5), P585=moment("2022")),  # in no currency
            money(8_000_000, "Q4916"),  # of no year
            statement(money(6_000_000, "Q4917"), P580=moment("2019-07-01"), P582=moment("2020-06-30")),
        ]
    )
    revenue = claims()["extra.annual_revenue"]
    assert [tuple(year.values()) for year in revenue.value] == [
        (9_400_000, "EUR", None, "2024-12-31"),
        (9_100_000, "EUR", None, "2023"),
        (6_000_000, "USD", "2019-07-01", "2020-06-30"),
    ]
    assert revenue.as_of == "2024-12-31"


@pytest.mark.parametrize(
    ("founded", "year", "date"),
    [
        (moment("1976-04-01"), 1976, {"day": 1, "month": 4, "year": 1976}),
        (moment("1976-04"), 1976, {"day": None, "month": 4, "year": 1976}),
        (moment("1976"), 1976, {"day": None, "month": None, "year": 1976}),
        ({**moment("1976-01-01"), "precision": 9}, 1976, {"day": None, "month": None, "year": 1976}),
        ({**moment("1970"), "precision": 8}, None, None),
        ({**moment("1970"), "time": "-0044-03-15T00:00:00Z"}, None, None),
        ({**moment("1970"), "time": "+1970-13-40T00:00:00Z", "precision": 11}, None, None),
        (None, None, None),
    ],
)
def test_a_founding_date_is_as_precise_as_it_is_known(serve: Serve, founded: Any, year: Any, date: Any) -> None:
    serve(P571=[statement(founded)])
    assert value_of("founded_year") == year
    assert value_of("extra.founding_date") == date


def test_of_several_values_the_preferred_one_counts_and_else_the_doubt_is_told(serve: Serve) -> None:
    serve(P571=[moment("1902"), statement(moment("1929"), "preferred")])
    assert value_of("founded_year") == 1929
    assert facts().warnings == []


def test_values_that_are_equally_good_are_named(serve: Serve) -> None:
    serve(P571=[moment("1902"), moment("1929")], P159=[item_value("Q64"), item_value("Q70")])
    assert value_of("founded_year") == 1902
    assert value_of("hq")["city"] == "Berlin"
    years, hqs = facts().warnings
    assert "1902 is used, not 1929" in years
    assert "several headquarters" in hqs


def test_a_headquarters_of_today_counts_and_its_town_tells_the_country(serve: Serve) -> None:
    serve(
        P17=[item_value("Q183")],
        P159=[statement(item_value("Q64"), P582=moment("2020")), statement(item_value("Q70"), P580=moment("2020"))],
    )
    assert (value_of("hq")["city"], value_of("hq")["country"]) == ("Ghent", "BE")


def test_a_country_alone_is_no_headquarters(serve: Serve) -> None:
    serve(P17=[item_value("Q183")])
    assert value_of("hq") is None


@pytest.mark.parametrize(
    ("kinds", "type_"),
    [
        (["Q891723"], "PUBLIC_COMPANY"),
        (["Q4830453", "Q163740"], "NON_PROFIT"),
        (["Q4830453", "Q6881511"], None),
        (["Q891723", "Q5621421"], None),
    ],
)
def test_the_kind_of_company_is_claimed_where_it_is_certain(serve: Serve, kinds: list[str], type_: str | None) -> None:
    serve(P31=[item_value(kind) for kind in kinds])
    assert value_of("company_type") == type_


def test_a_listed_company_has_its_symbol(serve: Serve) -> None:
    serve(
        P414=[
            statement(item_value("Q13677"), P249="OLD", P582=moment("2001")),
            statement(item_value("Q82059"), P249="ALPH", P580=moment("2001-02-03")),
        ]
    )
    assert (value_of("extra.stock_symbol"), value_of("extra.ipo_status")) == ("ALPH", "Public")
    assert value_of("company_type") == "PUBLIC_COMPANY"
    assert claims()["extra.stock_symbol"].as_of == "2001-02-03"


def test_several_symbols_are_named(serve: Serve) -> None:
    serve(P414=[statement(item_value("Q13677"), P249="ALP"), statement(item_value("Q82059"), P249="ALPH")])
    assert value_of("extra.stock_symbol") == "ALP"
    assert "ALP is used, not ALPH" in facts().warnings[0]


def test_a_former_listing_is_none(serve: Serve) -> None:
    serve(P414=[statement(item_value("Q13677"), P249="OLD", P582=moment("2001"))])
    assert not claims().keys() & {"extra.stock_symbol", "extra.ipo_status", "company_type"}


def test_a_number_is_the_social_networks_own_id(serve: Serve) -> None:
    serve(P4264=["162479"])
    assert value_of("social_internal_id") == "162479"
    assert value_of("universal_name_id") is None
    assert value_of("social_url") == "https://www.linkedin.com/company/162479"


@pytest.mark.parametrize(
    ("labels", "official", "name"),
    [
        ({"en": "Alpha", "de": "Alfa"}, [], "Alpha"),
        ({"mul": "Alpha", "de": "Alfa"}, [], "Alpha"),
        ({"de": "Alfa", "fr": "Alpha SA"}, [], "Alfa"),
        ({"en": "Alpha"}, [in_language("Alfa AG", "de"), in_language("Alpha Inc.")], "Alpha Inc."),
        ({"en": "Alpha"}, [in_language("Alpha Inc."), in_language("Alpha Corp.")], "Alpha"),
        ({"en": "Alpha"}, [in_language("阿尔法", "zh")], "Alpha"),
        ({"zh": "阿尔法"}, [in_language("阿尔法公司", "zh")], "阿尔法公司"),
        ({"en": "Alpha"}, [statement(in_language("Old Inc."), P582=moment("1999"))], "Alpha"),
    ],
)
def test_a_name_is_the_official_one_or_the_label(serve: Serve, labels: Any, official: Any, name: str) -> None:
    site = statement(SITE, P407=item_value("Q188"))
    serve(label=None, labels=labels, P1448=official, P856=[site])
    assert value_of("name") == name


def test_the_website_is_the_one_that_was_asked_for(serve: Serve) -> None:
    serve(P856=[statement("https://beta.example", "preferred"), "http://alpha.example"])
    assert value_of("website") == "http://alpha.example"


@pytest.mark.parametrize(
    "articles",
    [
        (),
        (article("Alpha", "Alpha may refer to:", "Q1", type="disambiguation"),),
        (article("Alpha", "Alpha is a letter.", "Q9887"),),
        (article("Alpha", "\u200b \x07", "Q1"),),
    ],
)
def test_without_an_article_of_its_own_the_items_description_stands(serve: Serve, articles: Any) -> None:
    serve(description="German company", wikipedia="Alpha", articles=articles)
    assert value_of("description") == "German company"
    assert facts().warnings == []


def test_a_wikipedia_that_fails_leaves_a_warning_and_the_rest(serve: Serve) -> None:
    server = serve(description="German company", wikipedia="Alpha/Ä & Co")
    known = server.pages
    assert callable(known)
    server.pages = lambda asked: Reply(status=403) if "summary" in asked.path else known(asked)
    assert value_of("description") == "German company"
    assert server.asked[-1].path.endswith("/summary/Alpha%2F%C3%84_%26_Co")
    assert facts().warnings == ["Wikipedia refuses the request (HTTP 403)."]


@pytest.mark.parametrize("silent", [b'{"head": {}, "results": {"bindings": []}}', b"<html>"])
def test_names_that_the_query_service_does_not_tell_are_taken_from_the_items(serve: Serve, silent: bytes) -> None:
    server = serve(P452=[item_value("Q880")], P159=[item_value("Q64")], P17=[item_value("Q183")])
    known = server.pages
    assert callable(known)
    server.pages = lambda asked: Reply(silent) if "rdfs" in asked.query.get("query", "") else known(asked)
    assert value_of("industry") == "software industry"
    assert (value_of("hq")["city"], value_of("hq")["country"]) == ("Berlin", "DE")


def test_names_that_cannot_be_asked_leave_a_warning_and_the_rest(serve: Serve) -> None:
    server = serve(P452=[item_value("Q880")], P571=[moment("2015")])
    known = server.pages
    assert callable(known)
    server.pages = lambda asked: busy(429, "500") if "rdfs" in asked.query.get("query", "") else known(asked)
    answer = facts()
    assert {claim.field for claim in answer.claims} >= {"founded_year", "website"}
    (warning,) = answer.warnings
    assert "could not be fetched. Wikidata accepts no more requests" in warning


def test_several_companies_of_a_website_are_told(serve: Serve) -> None:
    serve(item("Q2", "Beta", P856=[SITE]), P452=[item_value("Q880")])
    assert value_of("name") == "Alpha"
    (warning,) = facts().warnings
    assert "alpha.example" in warning
    assert "Alpha (Q1) is taken as the likeliest, not Beta (Q2)" in warning


def test_of_two_companies_that_claim_one_domain_none_is_taken_and_both_are_told(serve: Serve) -> None:
    serve(item("Q2", "Beta", P856=[SITE]))
    answer = facts()
    assert answer.claims == []
    (warning,) = answer.warnings
    assert warning.startswith("Possible matches, none used")
    assert "Alpha (Q1), Beta (Q2)" in warning


def test_hostile_texts_are_tamed(serve: Serve) -> None:
    serve(
        label="Al\u202epha\x07\n\ud800" + "a" * 100_000,
        description="b" * 100_000,
        P2002=[7, {"x": 1}],
        P1128=[{"amount": "+1e999"}],
        P159=["Berlin", item_value("Q64")],
        P1448=["Alpha"],
    )
    known = claims()
    assert known["name"].value.startswith("Alpha")
    assert len(known["name"].value) < 3000
    assert len(known["description"].value) < 3000
    known["name"].value.encode()
    assert "extra.network_b_id" not in known


@cases("name", ["Alpha", "alpha", "ALPHA  gmbh", "Alpha GmbH", "alpha GMBH", "AG Alpha"])
def test_a_company_is_found_by_its_name(serve: Serve, name: str) -> None:
    serve(
        item("Q2", "Alpha Industries", P856=["https://industries.example"]),
        item("Q3", "Alph", P856=["https://alph.example"]),
        item("Q4", "Alpha"),
        aliases=("AG Alpha",),
        P1448=[in_language("Alpha GmbH", "de")],
    )
    assert open_source().domains(name) == ["alpha.example"]


@cases(
    ("site", "domain"),
    [
        ("https://alpha.co.uk/", "alpha.co.uk"),
        ("https://www.alpha.example/en/", "alpha.example"),
        ("https://sites.google.com/view/alpha", None),
        ("https://facebook.com/alphacompany", None),
        ("https://alpha.github.io/", None),
        ("ftp://alpha.example/", None),
    ],
)
def test_a_page_on_somebody_elses_domain_names_no_domain(serve: Serve, site: str, domain: str | None) -> None:
    serve(P856=[site])
    assert open_source().domains("Alpha") == ([domain] if domain else [])


@cases("name", ["", "  ", '" } DROP', "Alpha\\", "a" * 10_000, "\ud800", "Beta"])
def test_a_name_that_nobody_has_finds_nothing(serve: Serve, name: str) -> None:
    serve()
    assert open_source().domains(name) == []


def test_a_name_cannot_leave_its_quotes(serve: Serve) -> None:
    server = serve()
    open_source().domains('x"@en } } #')
    assert '"x\\"@en } } #"@en' in server.asked[0].query["query"]


def test_a_batch_keeps_five_requests_under_way_and_no_more(serve: Serve) -> None:
    domains = [f"company-{number}.example" for number in range(200)]
    more = [item(f"Q{1000 + n}", domain, P856=[f"https://{domain}"], P5531=["1"]) for n, domain in enumerate(domains)]
    server = serve(*more)
    known = server.pages
    assert callable(known)
    arrived = itertools.count()
    five = threading.Barrier(5)

    def together(asked: Asked) -> Reply:
        if next(arrived) < 300:  # of 400: the last companies are fewer than five
            five.wait(timeout=30)  # answered only once five are under way: a place left empty breaks the barrier
        return known(asked)

    server.then(*[together] * 400)
    with ThreadPoolExecutor(24) as pool:
        assert all(pool.map(open_source().facts, domains))
    assert not five.broken
    assert server.most == 5
    assert len(server.asked) == 400


def test_items_that_were_not_looked_at_are_told_of(serve: Serve) -> None:
    serve(*(item(f"Q{number}", f"Brand {number}", P856=[SITE], P749=[item_value("Q1")]) for number in range(900, 925)))

    (warning,) = facts().warnings

    assert warning.startswith("6 more items of Wikidata have alpha.example as their official website")
    assert "Alpha (Q1) was taken" in warning

"""The source `website`: what a company's own site says of it, and what it does not."""

from collections.abc import Iterator
from typing import Any

import pytest

from tasks.companies.claims import Claim
from tasks.companies.sources.website import WebsiteSource
from tasks.errors import BadRequest, DiligenceError, NotAllowed
from tests.companies_servers.site import ALPHA, SITE, document, feed
from tests.tasks.companies.sources.conftest import claimed
from tests.web.behaviours import page, redirect
from tests.web.server import Asked, LoopbackServer, Reply


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    with LoopbackServer(dict(SITE)) as server:
        monkeypatch.setenv("DILIGENCE_WEBSITE_URL", f"{server.url}/{{domain}}")
        yield server


def _claims(domain: str = "alpha.example") -> dict[str, Claim]:
    finding = WebsiteSource().facts(domain)
    return {} if finding is None else {claim.field: claim for claim in finding.claims}


def _values(domain: str = "alpha.example") -> dict[str, Any]:
    return {field: claim.value for field, claim in _claims(domain).items()}


def test_the_home_page_says_who_the_company_is(server: LoopbackServer) -> None:
    values = _values()

    assert values.pop("updates")
    assert values == {
        "name": "Alpha GmbH",
        "website": "https://www.alpha.example/",
        "description": "Pumps for waterworks, made in Berlin.",
        "tagline": "Water, moved.",
        "hq": {
            "country": "DE", "city": "Berlin", "postal_code": "10115", "line_1": "Ring 5", "is_hq": True, "state": None,
        },
        "founded_year": 2015,
        "extra.founding_date": {"day": 1, "month": 3, "year": 2015},
        "extra.phone_number": "+49 30 1234567",
        "extra.contact_email": "info@alpha.example",
        "company_size": [51, 200],
        "profile_pic_url": f"{server.url}/logo.svg",
        "social_url": "https://www.linkedin.com/company/alpha-pumpen",
        "universal_name_id": "alpha-pumpen",
        "extra.network_a_id": "alphapumps",
        "extra.network_b_id": "alphapumps",
        "extra.funding_db_profile_url": "https://www.crunchbase.com/organization/alpha-pumpen",
    }  # fmt: skip


def test_each_claim_says_which_page_it_was_read_from(server: LoopbackServer) -> None:
    claims = _claims()

    assert claims["name"].url == f"{server.url}/alpha.example"
    assert claims["updates"].url == f"{server.url}/alpha.example/feed.xml"


def test_the_feed_gives_the_ten_newest_updates(server: LoopbackServer) -> None:
    server.pages = {**SITE, "/alpha.example/feed.xml": feed(3, 12, 1, 2, *range(4, 12))}

    updates = _values()["updates"]

    assert [update["posted_on"]["day"] for update in updates] == [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]
    assert updates[0] == {
        "article_link": "https://alpha.example/news/12",
        "image": None,
        "posted_on": {"day": 12, "month": 1, "year": 2026},
        "text": "News of day 12",
        "total_likes": None,
    }


def test_a_feed_out_of_order_costs_the_updates_only(server: LoopbackServer) -> None:
    server.pages = {**SITE, "/alpha.example/feed.xml": Reply(status=404)}

    values = _values()

    assert "updates" not in values
    assert values["name"] == "Alpha GmbH"


@pytest.mark.parametrize(
    "thing",
    [
        {**ALPHA, "url": "https://agency.example/"},
        {"@type": "Article", "publisher": ALPHA},
        {"@type": "WebSite", "parentOrganization": ALPHA},
        {**ALPHA, "@type": "Person"},
    ],
)
def test_another_organization_tells_nothing_of_this_one(server: LoopbackServer, thing: dict[str, Any]) -> None:
    server.pages = {"/alpha.example": document("<p>Pumps for all.</p>", thing)}

    assert not {"name", "founded_year", "hq", "extra.phone_number"} & _values().keys()


def test_of_several_organizations_the_one_on_the_domain_is_taken(server: LoopbackServer) -> None:
    parent = {**ALPHA, "name": "Omega Holding", "url": "https://omega.example"}
    server.pages = {"/alpha.example": document("<p>Pumps.</p>", {"@graph": [parent, ALPHA]})}

    assert _values()["name"] == "Alpha GmbH"


def test_two_organizations_without_an_address_tell_nothing(server: LoopbackServer) -> None:
    two = [{"@type": "Organization", "name": name} for name in ("Alpha", "Omega")]
    server.pages = {"/alpha.example": document("<p>Pumps.</p>", *two)}

    assert "name" not in _values()


def test_what_has_no_one_meaning_is_not_claimed(server: LoopbackServer) -> None:
    vague = {
        "@type": "Organization",
        "foundingDate": "long ago",
        "telephone": "call us",
        "email": "info at alpha",
        "numberOfEmployees": "many",
        "address": "Berlin",
        "sameAs": ["https://www.linkedin.com/in/someone", "not an address", "http://["],
        "logo": "javascript:alert(1)",
    }
    server.pages = {"/alpha.example": document("<p>Pumps.</p>", vague)}

    assert _values() == {}


def test_the_imprint_tells_what_the_home_page_leaves_open(server: LoopbackServer) -> None:
    imprint = document("<p>Impressum</p>", {**ALPHA, "name": "Other name"}, title="Impressum")
    server.pages = {
        "/alpha.example": document('<p>Pumps. <a href="/alpha.example/impressum">Impressum</a></p>', head=_SITE_NAME),
        "/alpha.example/impressum": imprint,
    }

    claims = _claims()

    assert claims["name"].value == "Alpha"
    assert claims["hq"].value["city"] == "Berlin"
    assert claims["hq"].url == f"{server.url}/alpha.example/impressum"


_SITE_NAME = '<meta property="og:site_name" content="Alpha">'


def test_at_most_two_more_pages_are_read(server: LoopbackServer) -> None:
    names = ("about", "about-us", "company", "contact", "imprint")
    links = "".join(f'<a href="/alpha.example/{name}">{name}</a>' for name in names)
    server.pages = {"/alpha.example": document(f"<p>Pumps. {links}</p>")}

    WebsiteSource().facts("alpha.example")

    assert len([path for path in server.paths() if path != "/robots.txt"]) == 3


@pytest.mark.parametrize(
    "empty",
    [
        page(""),
        page("<html><body></body></html>"),
        Reply(status=404),
        Reply(b"\x89PNG\r\n\x1a\n\x00", headers={"Content-Type": "image/png"}),
    ],
)
def test_an_empty_site_knows_nothing(server: LoopbackServer, empty: Reply) -> None:
    server.pages = {"/alpha.example": empty}

    assert WebsiteSource().facts("alpha.example") is None


@pytest.mark.parametrize(
    "words", ["This domain is for sale. Buy this domain.", "Domain parking", "Diese Domain steht zum Verkauf"]
)
def test_a_parked_domain_is_known_as_parked_and_says_nothing_of_the_company(server: LoopbackServer, words: str) -> None:
    server.pages = {"/alpha.example": document(f"<p>{words}</p>", ALPHA, title="alpha.example")}

    answer = claimed(WebsiteSource())

    assert answer.claims == []
    assert answer.warnings == ["The domain alpha.example is parked, so its page was not used."]


def test_a_site_that_leads_elsewhere_is_told_of_and_not_read(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1")
    with LoopbackServer({"/": document("<p>Names for sale.</p>", {**ALPHA, "name": "Seller"})}) as other:
        server.pages = {"/alpha.example": redirect(f"{other.url}/")}
        finding = claimed(WebsiteSource())

    assert list(finding.claims) == []
    assert "alpha.example leads to another address" in finding.warnings[0]


def test_robots_txt_is_honoured(server: LoopbackServer) -> None:
    server.pages = {**SITE, "/robots.txt": page("User-agent: *\nDisallow: /", "text/plain")}

    with pytest.raises(NotAllowed, match=r"robots\.txt"):
        WebsiteSource().facts("alpha.example")
    assert server.paths() == ["/robots.txt"]


def test_a_site_out_of_reach_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer({}) as gone:
        pass
    monkeypatch.setenv("DILIGENCE_WEBSITE_URL", f"http://127.0.0.1:{gone.port}/{{domain}}")

    with pytest.raises(DiligenceError):
        WebsiteSource().facts("alpha.example")


def test_a_domain_that_is_not_registrable_is_refused() -> None:
    with pytest.raises(BadRequest):
        WebsiteSource().facts("www.alpha.example")


def test_www_is_asked_where_the_domain_itself_does_not_answer(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = server.url.rpartition(":")[2]
    monkeypatch.setenv("DILIGENCE_WEBSITE_URL", f"http://{{domain}}:{port}")
    monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1,::1")
    home = document("<p>Pumps.</p>", {**ALPHA, "url": "http://www.alpha.localhost/"})

    def answer(asked: Asked) -> Reply:
        if not asked.headers["host"].startswith("www."):
            return Reply(status=503)
        return Reply(status=404) if asked.path == "/robots.txt" else home

    server.pages = answer

    found = claimed(WebsiteSource(), "alpha.localhost")

    assert {claim.url for claim in found.claims} == {f"http://www.alpha.localhost:{port}/"}

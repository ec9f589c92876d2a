"""Which pages are about the company that is meant."""

from typing import Any

import pytest

from tasks.companies.company_match import Identity, names_exactly
from tasks.companies.web.site import Page
from tests.cases import cases

ALPHA = Identity("Alpha", ("alpha.example",), article="https://en.wikipedia.org/wiki/Alpha_GmbH", ciks=("0000320193",))


def _page(text: str = "Alpha is a company.", **more: Any) -> Page:
    return Page(url="https://news.example/1", paragraphs=[text], **more)


@cases(
    "url",
    [
        "https://alpha.example/customers",
        "https://ir.alpha.example/",
        "https://en.wikipedia.org/wiki/Alpha_GmbH",
        "https://www.sec.gov/Archives/edgar/data/320193/000032019324000123/a10k.htm",
        "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK=0000320193",
    ],
)
def test_its_own_pages_and_those_of_a_registry_count_by_their_address(url: str) -> None:
    assert ALPHA.is_shown_by(_page(), url)


@cases(
    "url",
    [
        "https://alpha.example.evil.example/",
        "https://notalpha.example/",
        "https://evil.example/alpha.example",
        "https://en.wikipedia.org/wiki/Alpha_(perfume)",
        "https://www.sec.gov/Archives/edgar/data/3201931/a10k.htm",
        "https://sec.gov.evil.example/320193",
    ],
)
def test_an_address_that_looks_like_it_does_not(url: str) -> None:
    assert not ALPHA.is_shown_by(_page(), url)


@cases(
    ("text", "shown"),
    [
        ("Alpha (alpha.example) won a prize.", True),
        ("Write to info@alpha.example.", True),
        ("See www.Alpha.example/jobs", True),
        ("See not-alpha.example", False),
        ("See alpha.example.com", False),
        ("Alpha won a prize.", False),
    ],
)
def test_a_page_that_names_the_domain_counts(text: str, shown: bool) -> None:
    assert ALPHA.is_shown_by(_page(text), "https://news.example/1") is shown


def test_a_page_that_links_to_the_domain_counts() -> None:
    assert ALPHA.is_shown_by(_page(links=[("https://www.alpha.example/", "Alpha")]), "https://news.example/1")
    assert not ALPHA.is_shown_by(_page(links=[("https://alpha.test/", "Alpha")]), "https://news.example/1")


def test_the_own_site_of_a_namesake_does_not_count_though_it_names_the_domain() -> None:
    perfume = {"@type": "Organization", "name": "Alpha Ltd", "url": "https://alpha-perfume.example/"}
    page = _page("Alpha of alpha.example makes pumps, we make perfume.", schema_org=[perfume])

    assert not ALPHA.is_shown_by(page, "https://alpha-perfume.example/about")
    assert ALPHA.is_shown_by(page, "https://news.example/1")


@pytest.mark.parametrize(
    "text",
    [
        "Alpha Industries, called Alpha, has 5,000 people. Not to be confused with alpha.example.",
        "Alpha sells perfume and has no connection to the pump maker at www.alpha.example.",
        "Alpha Ltd is not affiliated with Alpha (alpha.example).",
        "Alpha ist nicht zu verwechseln mit alpha.example.",
    ],
)
def test_a_page_that_tells_itself_apart_is_not_about_the_company(text: str) -> None:
    link = [("https://alpha.example/", "alpha.example")]

    assert not ALPHA.is_shown_by(_page(text), "https://news.example/1")
    assert not ALPHA.is_shown_by(_page(text, links=link), "https://news.example/1")
    assert ALPHA.is_shown_by(_page(f"{text} Pumps are sold at alpha.example."), "https://news.example/1")


def test_a_page_that_only_links_to_the_company_as_another_one_is_not_about_it() -> None:
    page = _page("This is Beta. Do not mistake us; unrelated to Alpha.", links=[("https://alpha.example/", "Alpha")])

    assert not ALPHA.is_shown_by(page, "https://news.example/1")


def test_a_list_of_companies_is_not_about_one_of_them_unless_its_title_says_so() -> None:
    rows = [f"Maker {number}: maker{number}.example, 40 people" for number in range(30)]
    text = "\n".join([*rows, "Alpha: alpha.example, 120 people"])

    assert not ALPHA.is_shown_by(_page(text, title="Pump makers"), "https://news.example/1")
    assert ALPHA.is_shown_by(_page(text, title="Alpha and its thirty rivals"), "https://news.example/1")


@cases(
    ("text", "named"),
    [
        ("Alpha makes pumps.", True),
        ("The pumps of alpha, a company", True),
        ("Alpha GmbH makes pumps.", True),
        ("Alpha Industries makes pumps.", False),
        ("Alphabet makes pumps.", False),
    ],
)
def test_a_name_is_matched_exactly(text: str, named: bool) -> None:
    assert names_exactly("Alpha", _page(text)) is named

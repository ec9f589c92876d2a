"""What sites let programs fetch."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tasks.companies.web import site as module
from tasks.companies.web.client import Web
from tasks.companies.web.site import Robots, fetch_page, website
from tasks.errors import BadRequest, NotAllowed
from tests.web.behaviours import busy, endless, page, redirect, silent
from tests.web.server import LoopbackServer, Reply

RULES = """\ufeff
User-agent: *
Disallow: /private/
Allow: /private/open
Disallow: /*.cgi$

User-agent: Diligence
Disallow: /not-for-us
Disallow: /private/
Allow: /private/open
"""


def test_a_site_says_what_may_be_fetched_and_is_asked_once(web: Web, server: LoopbackServer) -> None:
    server.pages = {"/robots.txt": page(RULES, "text/plain")}
    robots = Robots(web)
    for path in ("/", "/private/open/door", "/a.cgi"):
        robots.check(server.url + path)
    for path in ("/private/", "/private/x", "/not-for-us?really=1"):
        with pytest.raises(NotAllowed, match=r"robots\.txt asks"):
            robots.check(server.url + path)
    assert server.paths() == ["/robots.txt"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_site_without_robots_txt_lets_everything_be_fetched(web: Web, server: LoopbackServer, status: int) -> None:
    server.pages = {"/robots.txt": Reply(b"User-agent: *\nDisallow: /", status)}
    Robots(web).check(server.url + "/page")


@pytest.mark.parametrize("trouble", [busy(500, "0"), busy(503, "0"), busy(429, "0"), redirect("http://10.0.0.1/")])
def test_a_site_that_is_out_of_order_is_left_alone_for_now(
    web: Web, server: LoopbackServer, trouble: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages = {"/robots.txt": trouble}
    robots = Robots(web)
    for _ in range(2):
        with pytest.raises(NotAllowed, match="not read for now"):
            robots.check(server.url + "/page")
    asked = len(server.asked)
    server.pages = {"/robots.txt": page("")}
    monkeypatch.setattr(time, "monotonic", lambda real=time.monotonic: real() + 301)
    robots.check(server.url + "/page")
    assert len(server.asked) == asked + 1


def test_what_is_known_is_asked_for_again_after_a_day(
    web: Web, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages = {"/robots.txt": page("")}
    robots = Robots(web)
    robots.check(server.url)
    server.pages = {"/robots.txt": page("User-agent: *\nDisallow: /")}
    robots.check(server.url)
    monkeypatch.setattr(time, "monotonic", lambda real=time.monotonic: real() + 25 * 3600)
    with pytest.raises(NotAllowed):
        robots.check(server.url)


def test_500_kb_are_read_and_no_more(web: Web, server: LoopbackServer) -> None:
    start = "User-agent: *\nDisallow: /early\n"
    server.pages = {"/robots.txt": page(start + "# \n" * 200_000 + "Disallow: /late\n")}
    robots = Robots(web)
    robots.check(server.url + "/late")
    with pytest.raises(NotAllowed):
        robots.check(server.url + "/early")
    with LoopbackServer({"/robots.txt": endless(start.encode())}) as other, pytest.raises(NotAllowed):
        Robots(web).check(other.url + "/early")


def test_a_page_is_fetched_when_every_site_on_its_way_allows_it(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1")
    with LoopbackServer({"/robots.txt": page("User-agent: *\nDisallow: /closed"), "/open": page("there")}) as other:
        server.pages = {"/to-open": redirect(other.url + "/open"), "/to-closed": redirect(other.url + "/closed")}
        with Web.current():
            assert fetch_page(server.url + "/to-open").content == b"there"
            with pytest.raises(NotAllowed, match=r"robots\.txt asks"):
                fetch_page(server.url + "/to-closed")
        assert other.paths() == ["/robots.txt", "/open"]


def test_a_setting_says_where_the_sites_of_companies_are(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, open_web: Callable[..., Web]
) -> None:
    monkeypatch.delenv("DILIGENCE_WEB_ALLOW", raising=False)
    monkeypatch.delenv("DILIGENCE_WEBSITE_URL", raising=False)
    assert website("alpha.example") == ("https://alpha.example/", False)
    monkeypatch.setenv("DILIGENCE_WEBSITE_URL", "http://{domain}")
    assert website("alpha.example") == ("http://alpha.example/", False)
    monkeypatch.setenv("DILIGENCE_WEBSITE_URL", server.url + "/{domain}/")
    server.pages = {"/alpha.example/": page("Alpha"), "/beta.example/": redirect("http://127.0.0.2/")}
    with Web.current():
        url, trusted = website("alpha.example")
        assert fetch_page(url, trusted=trusted).content == b"Alpha"
        with pytest.raises(NotAllowed):
            fetch_page(url)
        with pytest.raises(NotAllowed):
            fetch_page(website("beta.example")[0], trusted=True)


@pytest.mark.parametrize("domain", ["127.0.0.1", "127.0.0.1:80/", "evil.example/x", "a@b.example"])
def test_what_is_no_domain_has_no_site(domain: str) -> None:
    with pytest.raises(BadRequest):
        website(domain)


def test_a_site_that_does_not_answer_is_left_alone(
    web: Web, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROBOTS_LIMITS", replace(module.ROBOTS_LIMITS, total=0.2, attempts=1))
    server.pages = {"/robots.txt": silent()}
    with pytest.raises(NotAllowed, match="not read for now"):
        Robots(web).check(server.url)

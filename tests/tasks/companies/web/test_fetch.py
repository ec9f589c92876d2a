"""Fetching from servers that are well, busy or broken: retries, politeness, and what comes out.

The safety matrix: what a hostile page, name or server may try, and how it ends.

What sites let programs fetch.
"""

import gzip
import socket
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Event

import pytest

from tasks.companies.profile import CompanySettings
from tasks.companies.web import site as module
from tasks.companies.web.client import Web, read_body, user_agent
from tasks.companies.web.site import PAGE_LIMITS, Robots, fetch_page, website
from tasks.errors import (
    BadRequest,
    DiligenceError,
    NotAllowed,
    NotFound,
    SourceFailed,
    TookTooLong,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.tasks.companies.web.conftest import QUICK
from tests.waiting import free_port
from tests.web.behaviours import (
    busy,
    cut_off,
    deflate_bomb,
    dripping,
    dripping_headers,
    endless,
    endless_headers,
    endless_waiting,
    gzip_bomb,
    json_reply,
    page,
    redirect,
    reset,
    said,
    silent,
)
from tests.web.certificates import certified
from tests.web.server import LoopbackServer, Reply


def test_a_body_as_long_as_the_limit_is_whole() -> None:
    assert read_body([b"pa", b"ge"], "", 9, 4) == (b"page", True)
    assert read_body([b"page", b"s"], "", 9, 4) == (b"page", False)


def test_an_answer_has_what_was_sent(web: Web, server: LoopbackServer) -> None:
    server.pages = {"/": redirect("/käse?q=1"), "/k%C3%A4se": page("<p>Käse</p>")}
    answer = web.get(server.url, {"a b": "c&d"}, limits=QUICK)
    assert answer.content.decode() == "<p>Käse</p>"
    assert answer.content_type == "text/html; charset=utf-8"
    assert answer.url == server.url + "/k%C3%A4se?q=1"
    assert server.asked[0].query == {"a b": "c&d"}
    assert server.asked[0].headers["user-agent"] == "diligence/test"


@pytest.mark.parametrize(
    ("packing", "packed"),
    [
        ("gzip", gzip.compress(b"a" * 100_000)),
        ("GZIP", gzip.compress(b"a" * 50_000) + gzip.compress(b"a" * 50_000)),
        ("gzip", gzip.compress(b"a" * 100_000) + b"\0" * 100),
        ("identity, gzip", gzip.compress(b"a" * 100_000)),
        ("deflate", zlib.compress(b"a" * 100_000)),
        ("deflate", zlib.compress(b"a" * 100_000, wbits=-15)),
        ("identity", b"a" * 100_000),
    ],
    ids=[
        "gzip",
        "two members",
        "zeros behind",
        "two names",
        "deflate",
        "bare deflate",
        "identity",
    ],  # gzip holds the time
)
def test_what_is_packed_is_unpacked(web: Web, server: LoopbackServer, packing: str, packed: bytes) -> None:
    server.pages = {"/": Reply(packed, headers={"Content-Encoding": packing})}
    assert web.get(server.url, limits=QUICK).content == b"a" * 100_000


def test_who_asks_says_so_with_a_contact(monkeypatch: pytest.MonkeyPatch, server: LoopbackServer) -> None:
    monkeypatch.setenv("DILIGENCE_CONTACT", "mailto:us@example.com")
    monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1, 10.0.0.0/8")
    assert CompanySettings.current().web_allow == ("127.0.0.1", "10.0.0.0/8")
    server.pages = {"/": page("")}
    with Web.current() as web:
        assert Web.current() is web
        web.get(server.url, limits=QUICK)
    assert server.asked[0].headers["user-agent"] == user_agent("mailto:us@example.com")
    assert user_agent("x").endswith(" (+x)")
    assert user_agent(None).startswith("diligence/")


@pytest.mark.parametrize("trouble", [busy(429), busy(503, "0"), busy(500), busy(502), busy(504), reset(), cut_off()])
def test_what_may_go_better_another_time_is_asked_for_again(web: Web, server: LoopbackServer, trouble: Reply) -> None:
    server.pages = {"/": page("at last")}
    server.then(trouble, trouble)
    assert web.get(server.url, limits=QUICK).content == b"at last"
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, SourceFailed), (401, SourceFailed), (403, SourceFailed), (404, NotFound), (410, NotFound)],
)
def test_what_will_not_go_better_is_not_asked_for_again(
    web: Web, server: LoopbackServer, status: int, kind: type[DiligenceError]
) -> None:
    server.pages = {"/": Reply(b"why", status)}
    with pytest.raises(kind, match=f"^The Source .*{status}"):
        web.get(server.url, name="The Source", limits=QUICK)
    assert web.get(server.url, expect=(status,), limits=QUICK).content == b"why"
    assert len(server.asked) == 2


@pytest.mark.parametrize(("status", "kind"), [(429, TooManyRequests), (503, Unavailable)])
def test_a_server_that_stays_busy_is_given_up(
    web: Web, server: LoopbackServer, status: int, kind: type[DiligenceError]
) -> None:
    server.pages = {"/": busy(status)}
    with pytest.raises(kind):
        web.get(server.url, limits=QUICK)
    assert len(server.asked) == 3


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_is_left_alone_for_as_long_as_it_asks_for(web: Web, server: LoopbackServer, form: str) -> None:
    after = "1" if form == "seconds" else format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.pages = {"/": page("at last"), "/other": page("too")}
    server.then(busy(429, after))
    limiter = RateLimiter(RateLimit(at_once=5))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(web.get, server.url, limiter=limiter, limits=QUICK)
        while not server.begun:
            pass
        first.result()
        web.get(server.url + "/other", limiter=limiter, limits=QUICK)
    assert server.begun[1] - server.begun[0] > 0.9
    assert server.begun[2] > server.begun[1]


def test_a_server_that_wants_to_be_left_alone_for_long_is_and_so_say_those_who_come_after(
    web: Web, server: LoopbackServer
) -> None:
    server.pages = {"/": busy(429, "7200")}
    limiter = RateLimiter(RateLimit(at_once=5))
    for _ in range(3):
        with pytest.raises(TooManyRequests) as refused:
            web.get(server.url, limiter=limiter, limits=QUICK)
        assert refused.value.retry_after >= 3500
    assert len(server.asked) == 1


def test_an_odd_retry_after_is_none(web: Web, server: LoopbackServer) -> None:
    server.pages = {"/": page("at last")}
    server.then(busy(429, "soon"), busy(429, "-5"))
    assert web.get(server.url, limits=QUICK).content == b"at last"


def test_a_batch_keeps_every_place_of_a_source_busy_and_takes_no_more(web: Web) -> None:
    def slow(_: object) -> Reply:
        return Reply(b"{}", delay=0.01)

    with LoopbackServer(slow) as server, ThreadPoolExecutor(40) as pool:
        limiter = RateLimiter(RateLimit(at_once=5))
        answers = list(pool.map(lambda n: web.get(f"{server.url}/{n}", limiter=limiter, limits=QUICK), range(200)))
        assert len(answers) == 200
        assert server.most == 5
        assert server.connections <= 10


def test_a_batch_breaks_no_limit_a_second(web: Web) -> None:
    with LoopbackServer(lambda _: Reply(b"{}")) as server, ThreadPoolExecutor(25) as pool:
        limiter = RateLimiter(RateLimit(at_once=10, per_second=10))
        list(pool.map(lambda n: web.get(f"{server.url}/{n}", limiter=limiter, limits=QUICK), range(25)))
        begun = sorted(server.begun)
        assert all(later - earlier > 1 for earlier, later in zip(begun, begun[10:], strict=False))


def test_json_is_read_and_what_is_none_is_said_to_be(web: Web, server: LoopbackServer) -> None:
    server.pages = {"/": json_reply({"a": [1]}), "/page": page("<html>"), "/deep": page("[" * 200_000)}
    assert web.get(server.url, limits=QUICK).json() == {"a": [1]}
    for path in ("/page", "/deep"):
        with pytest.raises(SourceFailed, match="did not return the expected JSON"):
            web.get(server.url + path, limits=QUICK).json()


def test_what_is_sent_is_sent_once(web: Web, server: LoopbackServer) -> None:
    server.pages = {"/search": json_reply({"results": []}), "/moved": redirect("/search", 307)}
    url = server.url + "/search"
    assert web.post(url, {"query": "who"}, headers={"Authorization": "Bearer key"}, limits=QUICK).json() == {
        "results": []
    }
    assert server.asked[0].method == "POST"
    assert server.asked[0].body == b'{"query": "who"}'
    assert server.asked[0].headers["authorization"] == "Bearer key"
    for trouble, asked in ((reset(), 1), (busy(500), 1), (busy(429), 2)):
        before = len(server.asked)
        server.then(trouble)
        if asked == 1:
            with pytest.raises(DiligenceError):
                web.post(url, {}, limits=QUICK)
        else:
            web.post(url, {}, limits=QUICK)
        assert len(server.asked) - before == asked
    with pytest.raises(SourceFailed):
        web.post(server.url + "/moved", {}, limits=QUICK)


def test_who_permits_is_asked_before_every_request(web: Web, server: LoopbackServer) -> None:
    asked: list[str] = []
    server.pages = {"/": redirect("/next"), "/next": page("there")}
    web.get(server.url, permit=asked.append, limits=QUICK)
    assert asked == [server.url + "/", server.url + "/next"]


def test_a_sentence_names_a_host_and_no_ip_address(open_web: Callable[..., Web], server: LoopbackServer) -> None:
    web = open_web("127.0.0.1", resolver=lambda *_: ["127.0.0.1"])
    with pytest.raises(NotFound, match=r"^intranet\.example has no page"):
        web.get(server.at("intranet.example") + "/secret-path", limits=QUICK)
    with pytest.raises(NotFound, match=r"^The server has no page") as refused:
        web.get(server.url + "/secret-path", limits=replace(QUICK, attempts=1))
    assert "secret-path" not in str(refused.value)


ONCE = replace(QUICK, attempts=1)


def test_a_page_on_this_machine_is_not_fetched(open_web: Callable[..., Web], server: LoopbackServer) -> None:
    server.pages = {"/": page("secret")}
    for host in ("127.0.0.1", "localhost", "any.localhost", "[::ffff:127.0.0.1]", "0.0.0.0"):
        with pytest.raises(NotAllowed):
            open_web().get(server.at(host), limits=ONCE)
    assert server.connections == 0


@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.2/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fd00:ec2::254]/",
        "http://2130706434/",
        "http://printer.test/",
        "file:///etc/passwd",
        "http://user@example.com/",
    ],
)
def test_a_redirect_to_where_nothing_is_fetched_from_is_not_followed(
    open_web: Callable[..., Web], server: LoopbackServer, to: str
) -> None:
    names = {"127.0.0.1": "127.0.0.1", "printer.test": "192.168.7.9"}
    web = open_web("127.0.0.1", resolver=lambda host, _port: [names.get(host, host)])
    server.pages = {"/": redirect("/next"), "/next": redirect(to)}
    with pytest.raises(NotAllowed) as refused:
        web.get(server.url, limits=ONCE)
    for address in ("127.0.0.2", "169.254", "10.0.0.1", "fd00", "192.168.7.9", "printer", "127.0.0.1"):
        assert address not in str(refused.value)


def test_a_name_with_one_private_address_among_public_ones_is_refused(open_web: Callable[..., Web]) -> None:
    web = open_web(resolver=lambda *_: ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(NotAllowed):
        web.get("http://example.com/", limits=ONCE)


def test_a_name_that_changes_its_address_after_the_check_is_connected_to_as_checked(
    open_web: Callable[..., Web], server: LoopbackServer
) -> None:
    server.pages = {"/": page("the one that was checked")}
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    web = open_web("127.0.0.1", resolver=lambda *_: next(answers))
    with LoopbackServer({"/": page("secret")}, host="127.0.0.2", port=server.port) as inner:
        url = server.at("rebinding.test")
        assert web.get(url, headers={"Connection": "close"}, limits=ONCE).content == b"the one that was checked"
        with pytest.raises(NotAllowed):
            web.get(url, limits=ONCE)
        assert inner.connections == 0
    assert server.asked[0].headers["host"] == f"rebinding.test:{server.port}"


def test_a_public_page_on_another_port_is_not_fetched(open_web: Callable[..., Web]) -> None:
    web = open_web(resolver=lambda *_: ["93.184.216.34"])
    with pytest.raises(NotAllowed, match="port"):
        web.get("http://example.com:25/", limits=ONCE)


def test_an_address_of_a_setting_needs_no_leave_and_its_redirects_do(
    open_web: Callable[..., Web], server: LoopbackServer
) -> None:
    web = open_web()
    with LoopbackServer({"/": page("secret")}) as other:
        server.pages = {"/": page("mine"), "/on": redirect("/"), "/off": redirect(other.url)}
        assert web.get(server.url, trusted=True, limits=ONCE).content == b"mine"
        assert web.get(server.url + "/on", trusted=True, limits=ONCE).content == b"mine"
        with pytest.raises(NotAllowed):
            web.get(server.url + "/off", trusted=True, limits=ONCE)
        with pytest.raises(NotAllowed):  # the connection that is still open is not for everyone
            web.get(server.url, limits=ONCE)
        assert other.connections == 0
    assert server.paths() == ["/", "/on", "/", "/off"]


def test_redirects_end_after_five(web: Web, server: LoopbackServer) -> None:
    server.pages = {f"/{number}": redirect(f"/{number + 1}") for number in range(7)} | {"/5": page("far enough")}
    assert web.get(server.url + "/0", limits=ONCE).url == server.url + "/5"
    server.pages = {f"/{number}": redirect(f"/{number + 1}") for number in range(6)} | {"/6": page("too far")}
    with pytest.raises(SourceFailed, match="redirects more than 5 times"):
        web.get(server.url + "/0", limits=ONCE)
    server.pages = {"/": redirect("/")}
    with pytest.raises(SourceFailed, match="redirects more than 5 times"):
        web.get(server.url, limits=ONCE)


def test_the_keys_of_a_request_do_not_follow_a_redirect_to_another_server(web: Web, server: LoopbackServer) -> None:
    with LoopbackServer({"/": page("there")}) as other:
        server.pages = {"/": redirect("/here"), "/here": redirect(other.url)}
        web.get(server.url, headers={"Authorization": "Bearer key"}, limits=ONCE)
        assert [asked.headers.get("authorization") for asked in server.asked] == ["Bearer key"] * 2
        assert "authorization" not in other.asked[0].headers


@pytest.mark.parametrize(
    "make",
    [lambda: gzip_bomb(64), lambda: deflate_bomb(64), lambda: deflate_bomb(64, raw=True), endless],
    ids=["gzip", "deflate", "raw deflate", "endless"],
)
def test_a_body_beyond_the_limit_ends_there(web: Web, server: LoopbackServer, make: Callable[[], Reply]) -> None:
    server.pages = {"/": make()}
    limits = replace(ONCE, packed=2 << 20, unpacked=4 << 20)
    with pytest.raises(TooLarge, match="larger than the 2 MB"):
        web.get(server.url, limits=limits)
    cut = web.get(server.url, limits=replace(limits, cut=True))
    assert not cut.complete
    assert len(cut.content) <= 4 << 20


def test_a_bomb_within_a_bomb_and_what_was_not_asked_for_are_not_unpacked(web: Web, server: LoopbackServer) -> None:
    zstandard = Reply(b"(\xb5/\xfd", headers={"Content-Encoding": "zstd"})
    brotli = Reply(b"\x0b\x02\x80", headers={"Content-Encoding": "br"})
    for reply in (gzip_bomb(1, layers=2), zstandard, brotli):
        server.pages = {"/": reply}
        with pytest.raises(SourceFailed, match="compressed in a way"):
            web.get(server.url, limits=ONCE)
    assert server.asked[0].headers["accept-encoding"] == "gzip, deflate"


def test_broken_compression_and_endless_members_are_no_answer(web: Web, server: LoopbackServer) -> None:
    whole = gzip.compress(bytes(range(256)) * 100)
    broken = [whole[:-20], whole[:30] + b"\xff" * 30, b"\x1f", gzip.compress(b"") * 2000]
    for body in broken:
        server.pages = {"/": Reply(body, headers={"Content-Encoding": "gzip"})}
        with pytest.raises(SourceFailed, match="compression is broken"):
            web.get(server.url, limits=ONCE)


@pytest.mark.parametrize("behaviour", [dripping(), dripping_headers(), endless_waiting(), silent()])
def test_a_server_that_takes_for_ever_is_left_when_the_time_is_up(
    web: Web, server: LoopbackServer, behaviour: Reply
) -> None:
    server.pages = {"/": behaviour}
    with pytest.raises(TookTooLong):
        web.get(server.url, limits=replace(ONCE, wait=0.4, total=0.6))


def test_a_page_that_drips_is_given_up_when_its_time_is_used_and_not_begun_again(
    web: Web, server: LoopbackServer
) -> None:
    server.pages = {"/": dripping()}

    with pytest.raises(TookTooLong):
        web.get(f"{server.url}/", limits=replace(PAGE_LIMITS, total=0.3))

    assert len(server.asked) == 1
    assert PAGE_LIMITS.total == 10


def test_a_name_server_that_does_not_answer_is_not_waited_for(open_web: Callable[..., Web]) -> None:
    never = Event()
    web = open_web(resolver=lambda *_: [str(never.wait(20))])
    with pytest.raises(TookTooLong):
        web.get("http://example.com/", limits=replace(ONCE, connect=0.1))
    never.set()


def test_a_server_that_takes_the_connection_and_no_more_is_left(web: Web) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        with pytest.raises(TookTooLong):
            web.get(f"https://127.0.0.1:{port}/", limits=replace(ONCE, connect=0.2, total=0.4))


@pytest.mark.parametrize(
    "behaviour", [endless_headers(), reset(), cut_off(), said(b"220 mail.example ESMTP\r\n"), said(b"\0" * 200)]
)
def test_what_is_no_http_is_no_answer(web: Web, server: LoopbackServer, behaviour: Reply) -> None:
    server.pages = {"/": behaviour}
    with pytest.raises(SourceFailed, match="cut off its answer"):
        web.get(server.url, limits=ONCE)


def test_nobody_at_home_is_unavailable(web: Web, open_web: Callable[..., Web]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(Unavailable, match="cannot be reached"):
        web.get(f"http://127.0.0.1:{port}/", limits=ONCE)

    def unknown(*_: object) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(Unavailable, match=r"nowhere\.example cannot be reached"):
        open_web(resolver=unknown).get("http://nowhere.example/", limits=ONCE)


def test_the_next_address_of_a_host_is_tried_when_one_does_not_answer(
    open_web: Callable[..., Web], server: LoopbackServer
) -> None:
    server.pages = {"/": page("at last")}
    web = open_web("127.0.0.0/8", resolver=lambda *_: ["127.0.0.9", "127.0.0.1"])
    assert web.get(server.at("two.test"), limits=ONCE).content == b"at last"


def test_a_pinned_connection_keeps_the_name_in_host_sni_and_certificate(open_web: Callable[..., Web]) -> None:
    ours, theirs = certified("site.test")
    with LoopbackServer({"/": page("safe")}, tls=ours) as server:
        web = open_web("127.0.0.1", resolver=lambda *_: ["127.0.0.1"], trust=theirs)
        assert web.get(server.at("site.test."), limits=ONCE).content == b"safe"
        assert server.asked[0].server_name == "site.test"
        assert server.asked[0].headers["host"] == f"site.test:{server.port}"
        with pytest.raises(SourceFailed, match="certificate"):
            web.get(server.at("other.test"), limits=ONCE)


def test_a_certificate_that_no_public_authority_gave_is_not_trusted(open_web: Callable[..., Web]) -> None:
    ours, _ = certified("site.test")
    with LoopbackServer({"/": page("")}, tls=ours) as server:
        web = open_web("127.0.0.1", resolver=lambda *_: ["127.0.0.1"])
        with pytest.raises(SourceFailed, match="certificate"):
            web.get(server.at("site.test"), limits=QUICK)
        assert server.connections == 1  # asking again would not help


def test_proxies_of_the_environment_and_cookies_are_left_alone(
    web: Web, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server.pages = {"/": Reply(headers={"Set-Cookie": "session=1; Path=/"})}
    for _ in range(2):
        web.get(server.url, limits=ONCE)
    assert all("cookie" not in asked.headers for asked in server.asked)


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


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [
        (busy(500, "0"), r"is not working \(HTTP 500\)"),
        (busy(503, "0"), r"is not working \(HTTP 503\)"),
        (busy(429, "0"), "accepts no more requests"),
        (redirect("http://10.0.0.1/"), "redirects elsewhere"),
    ],
)
def test_a_site_that_is_out_of_order_is_left_alone_for_now(
    web: Web, server: LoopbackServer, trouble: Reply, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages = {"/robots.txt": trouble}
    robots = Robots(web)
    for _ in range(2):
        with pytest.raises(NotAllowed, match=f"{cause}.*not read for now"):
            robots.check(server.url + "/page")
    asked = len(server.asked)
    server.pages = {"/robots.txt": page("")}
    monkeypatch.setattr(time, "monotonic", lambda real=time.monotonic: real() + 301)
    robots.check(server.url + "/page")
    assert len(server.asked) == asked + 1


def test_a_site_that_cannot_be_reached_is_told_as_that(web: Web) -> None:
    with pytest.raises(NotAllowed, match=r"^The server cannot be reached\. "):
        Robots(web).check(f"http://127.0.0.1:{free_port()}/page")


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

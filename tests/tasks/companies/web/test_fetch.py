"""Fetching from servers that are well, busy or broken: retries, politeness, and what comes out."""

import gzip
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import Web, user_agent
from tasks.errors import DiligenceError, NotFound, SourceFailed, TooManyRequests, Unavailable
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.tasks.companies.web.conftest import QUICK
from tests.web.behaviours import busy, cut_off, json_reply, page, redirect, reset
from tests.web.server import LoopbackServer, Reply


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

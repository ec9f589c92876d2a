"""The safety matrix: what a hostile page, name or server may try, and how it ends."""

import gzip
import socket
from collections.abc import Callable
from dataclasses import replace
from threading import Event

import pytest

from tasks.companies.web.client import Web
from tasks.companies.web.site import PAGE_LIMITS
from tasks.errors import NotAllowed, SourceFailed, TookTooLong, TooLarge, Unavailable
from tests.tasks.companies.web.conftest import QUICK
from tests.web.behaviours import (
    cut_off,
    deflate_bomb,
    dripping,
    dripping_headers,
    endless,
    endless_headers,
    endless_waiting,
    gzip_bomb,
    page,
    redirect,
    reset,
    said,
    silent,
)
from tests.web.certificates import certified
from tests.web.server import LoopbackServer, Reply

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
